/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* CUDA as a source of records: of its calls, of the GPU, and of calls of libraries that use it. */

#pragma once

#include "capture/session/decode/core/source.h"
#include "capture/session/decode/cuda/state.h"

extern const LnsDecoderOps _lns_cuda_ops;

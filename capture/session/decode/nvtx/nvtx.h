/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* NVTX as a source of records. */

#pragma once

#include "capture/session/decode/core/source.h"

extern const LnsDecoderOps _lns_nvtx_ops;

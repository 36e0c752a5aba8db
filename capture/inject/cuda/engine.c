/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/engine.h"

LnsCudaEngine lns_cuda_engine;

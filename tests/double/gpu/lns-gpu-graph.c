/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/double/gpu/lns-gpu-private.h"

int
_lns_gpu_capture (CUstream stream, const LnsGpuOp *op)
{
  return CUDA_ERROR_NOT_SUPPORTED;
}

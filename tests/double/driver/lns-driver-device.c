/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The driver: initialisation, devices, contexts. */

#include "tests/double/driver/lns-driver.h"

#include <cudaProfiler.h>

#include <stdio.h>
#include <string.h>

int
_lns_driver_enter (LnsGpuCall *call, bool needs_context)
{
  int wanted = lns_gpu_call_enter (call);
  if (wanted != 0)
    return wanted;
  if (!lns_gpu_is_initialized ())
    return CUDA_ERROR_NOT_INITIALIZED;
  CUcontext context = lns_gpu_context_current ();
  if (needs_context && (context == NULL || context->destroyed))
    return context != NULL ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
  return needs_context ? context->fault : 0;
}

LNS_DRIVER_API CUresult
cuInit (unsigned flags)
{
  return (CUresult)lns_gpu_initialize ();
}

LNS_DRIVER_API CUresult
cuDriverGetVersion (int *driverVersion)
{
  int failure = lns_gpu_wanted_failure (__func__, -1);
  *driverVersion = (int)lns_gpu_option ("LNS_DOUBLE_DRIVER_VERSION", 13000);
  return (CUresult)failure;
}

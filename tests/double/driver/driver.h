/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Macros that define the functions of the stand-in for libcuda; runtime/runtime.h does the same for libcudart. */

#pragma once

#include "tests/double/gpu/gpu.h"

#include <cuda.h>
#include <cupti.h>

#define LNS_DRIVER_API  __attribute__ ((visibility ("default")))
#define LNS_UNPACK(...) __VA_ARGS__

/* Begins CALL. Returns 0, or the error that the function must return instead of doing its work. */
int _lns_driver_enter (LnsGpuCall *call, bool needs_context);

#define LNS_DRIVER_FULL(NAME, CBID, PARAMS, NEEDS_CONTEXT, ARGUMENTS, EXPRESSION)                  \
 CUresult NAME ARGUMENTS;                                                                          \
 LNS_DRIVER_API CUresult NAME ARGUMENTS                                                            \
 {                                                                                                 \
  PARAMS;                                                                                          \
  LnsGpuCall call = { .domain = CUPTI_CB_DOMAIN_DRIVER_API,                                        \
                      .cbid = CUPTI_DRIVER_TRACE_CBID_##CBID,                                      \
                      .name = #NAME,                                                               \
                      .params = params };                                                          \
  int result = _lns_driver_enter (&call, NEEDS_CONTEXT);                                           \
  if (result == 0)                                                                                 \
   result = (int)(EXPRESSION);                                                                     \
  return (CUresult)lns_gpu_call_exit (&call, result);                                              \
 }

#define LNS_DRIVER_PARAMS(NAME, VALUES)                                                            \
 NAME##_params values = { LNS_UNPACK VALUES };                                                     \
 const void *params = &values

/* Defines NAME as the library exports it (cuMemAlloc_v2): with a current context, and without. */
#define LNS_DRIVER(NAME, ARGUMENTS, VALUES, EXPRESSION)                                            \
 LNS_DRIVER_FULL (NAME, NAME, LNS_DRIVER_PARAMS (NAME, VALUES), true, ARGUMENTS, EXPRESSION)
#define LNS_DRIVER_BARE(NAME, ARGUMENTS, VALUES, EXPRESSION)                                       \
 LNS_DRIVER_FULL (NAME, NAME, LNS_DRIVER_PARAMS (NAME, VALUES), false, ARGUMENTS, EXPRESSION)
#define LNS_DRIVER_VOID(NAME, EXPRESSION)                                                          \
 LNS_DRIVER_FULL (NAME, NAME, const void *params = NULL, true, (void), EXPRESSION)

/* Defines NAME and its variant for programs that use a default stream per thread. */
#define LNS_DRIVER_STREAM(NAME, SUFFIX, ARGUMENTS, VALUES, EXPRESSION)                             \
 static int NAME##_work (LNS_UNPACK ARGUMENTS, bool per_thread) { return (int)(EXPRESSION); }      \
 LNS_DRIVER (NAME, ARGUMENTS, VALUES, NAME##_work (LNS_UNPACK VALUES, false))                      \
 LNS_DRIVER_FULL (NAME##SUFFIX, NAME##SUFFIX, LNS_DRIVER_PARAMS (NAME##SUFFIX, VALUES), true,      \
                  ARGUMENTS, NAME##_work (LNS_UNPACK VALUES, true))

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Macros that define the functions of the stand-in for libcudart. Each function is one line: its arguments, and
 * the expression that does the work between CUPTI's two callbacks. */

#pragma once

#include "tests/double/gpu/gpu.h"

#include <cuda_runtime_api.h>
#include <cupti.h>

#define LNS_RUNTIME_API __attribute__ ((visibility ("default")))

/* Loads and initialises libcuda.so.1, once. Returns cudaErrorInsufficientDriver if there is none. */
int _lns_runtime_initialize (void);

/* Begins CALL, with a current context if NEEDS_CONTEXT. Returns 0, or the error that the function must return. */
int _lns_runtime_enter (LnsGpuCall *call, bool needs_context);

/* Ends CALL with RESULT, which becomes the thread's last error unless it is a status, not an error. */
cudaError_t _lns_runtime_exit (LnsGpuCall *call, int result);

int _lns_runtime_take_last_error (bool clear);

/* Finds what was registered for the host address FUNCTION. */
CUfunction _lns_runtime_function (const void *function);
bool _lns_runtime_symbol (const void *symbol, void **ret_address, size_t *ret_size);

#define LNS_UNPACK(...) __VA_ARGS__

#define LNS_RUNTIME_FULL(NAME, CBID, PARAMS, NEEDS_CONTEXT, ARGUMENTS, EXPRESSION)                 \
 LNS_RUNTIME_API cudaError_t NAME ARGUMENTS                                                        \
 {                                                                                                 \
  PARAMS;                                                                                          \
  LnsGpuCall call = { .domain = CUPTI_CB_DOMAIN_RUNTIME_API,                                       \
                      .cbid = CUPTI_RUNTIME_TRACE_CBID_##CBID,                                     \
                      .name = #NAME,                                                               \
                      .params = params };                                                          \
  int result = _lns_runtime_enter (&call, NEEDS_CONTEXT);                                          \
  if (result == 0)                                                                                 \
   result = (EXPRESSION);                                                                          \
  return _lns_runtime_exit (&call, result);                                                        \
 }

#define LNS_RUNTIME_PARAMS(TYPE, VALUES)                                                           \
 TYPE##_params values = { LNS_UNPACK VALUES };                                                     \
 const void *params = &values

/* Defines NAME (VERSION) with ARGUMENTS; VALUES are their names. Both are in parentheses. */
#define LNS_RUNTIME(NAME, VERSION, ARGUMENTS, VALUES, EXPRESSION)                                  \
 LNS_RUNTIME_FULL (NAME, NAME##_##VERSION, LNS_RUNTIME_PARAMS (NAME##_##VERSION, VALUES), true,    \
                   ARGUMENTS, EXPRESSION)

/* The same without a context, and without arguments. */
#define LNS_RUNTIME_BARE(NAME, VERSION, ARGUMENTS, VALUES, EXPRESSION)                             \
 LNS_RUNTIME_FULL (NAME, NAME##_##VERSION, LNS_RUNTIME_PARAMS (NAME##_##VERSION, VALUES), false,   \
                   ARGUMENTS, EXPRESSION)
#define LNS_RUNTIME_VOID(NAME, VERSION, NEEDS_CONTEXT, EXPRESSION)                                 \
 LNS_RUNTIME_FULL (NAME, NAME##_##VERSION, const void *params = NULL, NEEDS_CONTEXT, (void),       \
                   EXPRESSION)

/* Defines NAME and its variant for programs that use a default stream per thread, in which `per_thread` is true
 * and the callback id differs. */
#define LNS_RUNTIME_STREAM(NAME, VERSION, SUFFIX, SUFFIX_VERSION, ARGUMENTS, VALUES, EXPRESSION)   \
 static int NAME##_work ARGUMENTS_OF_WORK (ARGUMENTS) { return (EXPRESSION); }                     \
 LNS_RUNTIME (NAME, VERSION, ARGUMENTS, VALUES, NAME##_work WORK_VALUES (VALUES, false))           \
 cudaError_t NAME##SUFFIX ARGUMENTS;                                                               \
 LNS_RUNTIME_FULL (NAME##SUFFIX, NAME##SUFFIX##_##SUFFIX_VERSION,                                  \
                   LNS_RUNTIME_PARAMS (NAME##SUFFIX##_##SUFFIX_VERSION, VALUES), true, ARGUMENTS,  \
                   NAME##_work WORK_VALUES (VALUES, true))
#define ARGUMENTS_OF_WORK(ARGUMENTS)    (LNS_UNPACK ARGUMENTS, bool per_thread)
#define WORK_VALUES(VALUES, PER_THREAD) (LNS_UNPACK VALUES, PER_THREAD)

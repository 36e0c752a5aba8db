/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Kernel launches of the runtime, through each of its launch functions. */

#include "tests/double/runtime/runtime.h"

#include <pthread.h>

#define LAUNCH_REGULAR     0 /* CUpti_ActivityLaunchType */
#define LAUNCH_COOPERATIVE 1

/* No header declares the parameter block of these two functions: the order is that of their arguments. */
typedef struct
{
  cudaKernel_t kernel;
  dim3 gridDim;
  dim3 blockDim;
  void **args;
  size_t sharedMem;
  cudaStream_t stream;
} __cudaLaunchKernel_v13000_params;

typedef struct
{
  CUfunction function;
  dim3 grid;
  dim3 block;
  size_t shared;
  cudaStream_t stream;
  bool per_thread;
  uint8_t type;
  dim3 cluster;
} Launch;

static int
submit (const Launch *launch, CUstream stream)
{
  LnsGpuKernel kernel = {
    .function = launch->function,
    .grid = { launch->grid.x, launch->grid.y, launch->grid.z },
    .block = { launch->block.x, launch->block.y, launch->block.z },
    .cluster = { launch->cluster.x, launch->cluster.y, launch->cluster.z },
    .dynamic_shared_bytes = (uint32_t)launch->shared,
    .launch_type = launch->type,
  };
  return lns_gpu_launch (stream, &kernel);
}

static pthread_once_t nested_once = PTHREAD_ONCE_INIT;
static bool is_nested;

static void
read_nested (void)
{
  is_nested = lns_gpu_option ("LNS_DOUBLE_NESTED_DRIVER", 0) != 0;
}

/* Launches through cuLaunchKernel: some drivers report it inside the runtime's call. */
static int
submit_by_driver (const Launch *launch, CUstream stream)
{
  cuLaunchKernel_params params = { .f = launch->function,
                                   .gridDimX = launch->grid.x,
                                   .gridDimY = launch->grid.y,
                                   .gridDimZ = launch->grid.z,
                                   .blockDimX = launch->block.x,
                                   .blockDimY = launch->block.y,
                                   .blockDimZ = launch->block.z,
                                   .sharedMemBytes = (unsigned)launch->shared,
                                   .hStream = launch->stream };
  LnsGpuCall call = { .domain = CUPTI_CB_DOMAIN_DRIVER_API,
                      .cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                      .name = "cuLaunchKernel",
                      .params = &params,
                      .symbol = launch->function->name };
  int result = lns_gpu_call_enter (&call);
  if (result == 0)
    result = submit (launch, stream);
  return lns_gpu_call_exit (&call, result);
}

static int
resolve_and_submit (const Launch *launch)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (launch->stream, launch->per_thread, &stream);
  pthread_once (&nested_once, read_nested);
  if (result != 0)
    return result;
  return is_nested ? submit_by_driver (launch, stream) : submit (launch, stream);
}

/* Launches between the callbacks; the entry callback already has the kernel's name. */
static cudaError_t
run (LnsGpuCall *call, const Launch *launch)
{
  call->symbol = launch->function != NULL ? launch->function->name : NULL;
  int result = _lns_runtime_enter (call, true);
  if (result == 0)
    result =
        launch->function != NULL ? resolve_and_submit (launch) : cudaErrorInvalidDeviceFunction;
  return _lns_runtime_exit (call, result);
}

#define LAUNCH(NAME, CBID, PARAMS, PER_THREAD, TYPE, HANDLE, FIND)                                 \
 cudaError_t NAME (HANDLE func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,        \
                   cudaStream_t stream);                                                           \
 LNS_RUNTIME_API cudaError_t NAME (HANDLE func, dim3 gridDim, dim3 blockDim, void **args,          \
                                   size_t sharedMem, cudaStream_t stream)                          \
 {                                                                                                 \
  PARAMS params = { func, gridDim, blockDim, args, sharedMem, stream };                            \
  LnsGpuCall call = { .domain = CUPTI_CB_DOMAIN_RUNTIME_API,                                       \
                      .cbid = CUPTI_RUNTIME_TRACE_CBID_##CBID,                                     \
                      .name = #NAME,                                                               \
                      .params = &params };                                                         \
  return run (                                                                                     \
      &call,                                                                                       \
      &(Launch){                                                                                   \
          FIND (func), gridDim, blockDim, sharedMem, stream, PER_THREAD, TYPE, { 0, 0, 0 } });     \
 }

LAUNCH (cudaLaunchKernel,
        cudaLaunchKernel_v7000,
        cudaLaunchKernel_v7000_params,
        false,
        LAUNCH_REGULAR,
        const void *,
        _lns_runtime_function)
LAUNCH (cudaLaunchKernel_ptsz,
        cudaLaunchKernel_ptsz_v7000,
        cudaLaunchKernel_ptsz_v7000_params,
        true,
        LAUNCH_REGULAR,
        const void *,
        _lns_runtime_function)
LAUNCH (cudaLaunchCooperativeKernel,
        cudaLaunchCooperativeKernel_v9000,
        cudaLaunchCooperativeKernel_v9000_params,
        false,
        LAUNCH_COOPERATIVE,
        const void *,
        _lns_runtime_function)
LAUNCH (cudaLaunchCooperativeKernel_ptsz,
        cudaLaunchCooperativeKernel_ptsz_v9000,
        cudaLaunchCooperativeKernel_ptsz_v9000_params,
        true,
        LAUNCH_COOPERATIVE,
        const void *,
        _lns_runtime_function)
LAUNCH (__cudaLaunchKernel,
        __cudaLaunchKernel_v13000,
        __cudaLaunchKernel_v13000_params,
        false,
        LAUNCH_REGULAR,
        cudaKernel_t,
        (CUfunction))
LAUNCH (__cudaLaunchKernel_ptsz,
        __cudaLaunchKernel_ptsz_v13000,
        __cudaLaunchKernel_v13000_params,
        true,
        LAUNCH_REGULAR,
        cudaKernel_t,
        (CUfunction))

static Launch
extended (const cudaLaunchConfig_t *config, const void *func, bool per_thread)
{
  Launch launch = { .function = _lns_runtime_function (func),
                    .grid = config->gridDim,
                    .block = config->blockDim,
                    .shared = config->dynamicSmemBytes,
                    .stream = config->stream,
                    .per_thread = per_thread };
  for (unsigned i = 0; i < config->numAttrs; i++)
    {
      const cudaLaunchAttribute *attribute = &config->attrs[i];
      if (attribute->id == cudaLaunchAttributeClusterDimension)
        launch.cluster = (dim3){ attribute->val.clusterDim.x, attribute->val.clusterDim.y,
                                 attribute->val.clusterDim.z };
      else if (attribute->id == cudaLaunchAttributeCooperative && attribute->val.cooperative)
        launch.type = LAUNCH_COOPERATIVE;
    }
  return launch;
}

#define LAUNCH_EX(NAME, CBID, PER_THREAD)                                                          \
 cudaError_t NAME (const cudaLaunchConfig_t *config, const void *func, void **args);               \
 LNS_RUNTIME_API cudaError_t NAME (const cudaLaunchConfig_t *config, const void *func,             \
                                   void **args)                                                    \
 {                                                                                                 \
  CBID##_params params = { config, func, args };                                                   \
  LnsGpuCall call = { .domain = CUPTI_CB_DOMAIN_RUNTIME_API,                                       \
                      .cbid = CUPTI_RUNTIME_TRACE_CBID_##CBID,                                     \
                      .name = #NAME,                                                               \
                      .params = &params };                                                         \
  Launch launch = extended (config, func, PER_THREAD);                                             \
  return run (&call, &launch);                                                                     \
 }

LAUNCH_EX (cudaLaunchKernelExC, cudaLaunchKernelExC_v11060, false)
LAUNCH_EX (cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC_ptsz_v11060, true)

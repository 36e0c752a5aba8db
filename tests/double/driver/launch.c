/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Modules, libraries and kernel launches of the driver. */

#include "tests/double/driver/driver.h"

#define LAUNCH_COOPERATIVE 1 /* CUpti_ActivityLaunchType */

static int
load (CUmodule *ret_module, const void *image)
{
  if (image == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *ret_module = lns_gpu_module_new (image);
  return 0;
}

static int
unload (CUmodule module)
{
  lns_gpu_module_free (module);
  return 0;
}

static int
find (void *ret_function, CUmodule module, const char *name)
{
  CUfunction function =
      module != NULL && name != NULL ? lns_gpu_module_function (module, name) : NULL;
  *(CUfunction *)ret_function = function;
  return function != NULL ? 0 : CUDA_ERROR_NOT_FOUND;
}

static int
answer_text (const char **ret_text, const char *text)
{
  *ret_text = text;
  return 0;
}

static int
attribute (int *ret_value, CUfunction_attribute wanted, CUfunction function)
{
  *ret_value = wanted == CU_FUNC_ATTRIBUTE_NUM_REGS            ? function->registers
               : wanted == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? (int)function->static_shared_bytes
               : wanted == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES  ? (int)function->local_bytes
               : wanted == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
                                                                   : 0;
  return 0;
}

/* Libraries share their handles with modules, kernels with functions. */
static int
get_function (CUfunction *ret_function, CUkernel kernel)
{
  *ret_function = (CUfunction)kernel;
  return kernel != NULL ? 0 : CUDA_ERROR_INVALID_HANDLE;
}

LNS_DRIVER (cuModuleLoadData,
            (CUmodule * module, const void *image),
            (module, image),
            load (module, image))
LNS_DRIVER (cuModuleLoadFatBinary,
            (CUmodule * module, const void *fatCubin),
            (module, fatCubin),
            load (module, fatCubin))
LNS_DRIVER (cuModuleLoadDataEx,
            (CUmodule * module,
             const void *image,
             unsigned numOptions,
             CUjit_option *options,
             void **optionValues),
            (module, image, numOptions, options, optionValues),
            load (module, image))
LNS_DRIVER (cuModuleUnload, (CUmodule hmod), (hmod), unload (hmod))
LNS_DRIVER (cuModuleGetFunction,
            (CUfunction * hfunc, CUmodule hmod, const char *name),
            (hfunc, hmod, name),
            find (hfunc, hmod, name))
LNS_DRIVER (cuLibraryLoadData,
            (CUlibrary * library,
             const void *code,
             CUjit_option *jitOptions,
             void **jitOptionsValues,
             unsigned numJitOptions,
             CUlibraryOption *libraryOptions,
             void **libraryOptionValues,
             unsigned numLibraryOptions),
            (library,
             code,
             jitOptions,
             jitOptionsValues,
             numJitOptions,
             libraryOptions,
             libraryOptionValues,
             numLibraryOptions),
            load ((CUmodule *)library, code))
LNS_DRIVER (cuLibraryUnload, (CUlibrary library), (library), unload ((CUmodule)library))
LNS_DRIVER (cuLibraryGetKernel,
            (CUkernel * pKernel, CUlibrary library, const char *name),
            (pKernel, library, name),
            find (pKernel, (CUmodule)library, name))
LNS_DRIVER (cuKernelGetFunction,
            (CUfunction * pFunc, CUkernel kernel),
            (pFunc, kernel),
            get_function (pFunc, kernel))
LNS_DRIVER (cuFuncGetName,
            (const char **name, CUfunction hfunc),
            (name, hfunc),
            answer_text (name, hfunc->name))
LNS_DRIVER (cuKernelGetName,
            (const char **name, CUkernel hfunc),
            (name, hfunc),
            answer_text (name, ((CUfunction)hfunc)->name))
LNS_DRIVER (cuFuncGetAttribute,
            (int *pi, CUfunction_attribute attrib, CUfunction hfunc),
            (pi, attrib, hfunc),
            attribute (pi, attrib, hfunc))
LNS_DRIVER (cuKernelGetAttribute,
            (int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev),
            (pi, attrib, kernel, dev),
            attribute (pi, attrib, (CUfunction)kernel))

/* --- launches ------------------------------------------------------------------------------------ */

/* Launches between the callbacks; the entry callback already has the kernel's name. */
static CUresult
run (LnsGpuCall *call, LnsGpuKernel kernel, CUstream handle, bool per_thread)
{
  CUstream stream;
  call->symbol = kernel.function != NULL ? kernel.function->name : NULL;
  int result = _lns_driver_enter (call, true);
  if (result == 0)
    result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  if (result == 0)
    result = lns_gpu_launch (stream, &kernel);
  return (CUresult)lns_gpu_call_exit (call, result);
}

#define CALL(NAME)                                                                                 \
 {                                                                                                 \
  .domain = CUPTI_CB_DOMAIN_DRIVER_API, .cbid = CUPTI_DRIVER_TRACE_CBID_##NAME, .name = #NAME,     \
  .params = &params                                                                                \
 }

#define GRID_ARGUMENTS                                                                             \
 CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ, unsigned blockDimX,        \
     unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes, CUstream hStream,            \
     void **kernelParams

#define GRID_VALUES                                                                                \
 f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream,        \
     kernelParams

#define GRID_KERNEL(TYPE)                                                                          \
 ((LnsGpuKernel){ .function = f,                                                                   \
                  .grid = { gridDimX, gridDimY, gridDimZ },                                        \
                  .block = { blockDimX, blockDimY, blockDimZ },                                    \
                  .dynamic_shared_bytes = sharedMemBytes,                                          \
                  .launch_type = TYPE })

#define LAUNCH(NAME, PER_THREAD)                                                                   \
 CUresult NAME (GRID_ARGUMENTS, void **extra);                                                     \
 LNS_DRIVER_API CUresult NAME (GRID_ARGUMENTS, void **extra)                                       \
 {                                                                                                 \
  NAME##_params params = { GRID_VALUES, extra };                                                   \
  LnsGpuCall call = CALL (NAME);                                                                   \
  return run (&call, GRID_KERNEL (0), hStream, PER_THREAD);                                        \
 }

LAUNCH (cuLaunchKernel, false)
LAUNCH (cuLaunchKernel_ptsz, true)

#define LAUNCH_COOPERATIVELY(NAME, PER_THREAD)                                                     \
 CUresult NAME (GRID_ARGUMENTS);                                                                   \
 LNS_DRIVER_API CUresult NAME (GRID_ARGUMENTS)                                                     \
 {                                                                                                 \
  NAME##_params params = { GRID_VALUES };                                                          \
  LnsGpuCall call = CALL (NAME);                                                                   \
  return run (&call, GRID_KERNEL (LAUNCH_COOPERATIVE), hStream, PER_THREAD);                       \
 }

LAUNCH_COOPERATIVELY (cuLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVELY (cuLaunchCooperativeKernel_ptsz, true)

static LnsGpuKernel
configured (const CUlaunchConfig *config, CUfunction function)
{
  LnsGpuKernel kernel = { .function = function,
                          .grid = { config->gridDimX, config->gridDimY, config->gridDimZ },
                          .block = { config->blockDimX, config->blockDimY, config->blockDimZ },
                          .dynamic_shared_bytes = config->sharedMemBytes };
  for (unsigned i = 0; i < config->numAttrs; i++)
    {
      const CUlaunchAttribute *each = &config->attrs[i];
      if (each->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        {
          kernel.cluster[0] = each->value.clusterDim.x;
          kernel.cluster[1] = each->value.clusterDim.y;
          kernel.cluster[2] = each->value.clusterDim.z;
        }
      else if (each->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && each->value.cooperative)
        kernel.launch_type = LAUNCH_COOPERATIVE;
    }
  return kernel;
}

#define LAUNCH_EX(NAME, PER_THREAD)                                                                \
 CUresult NAME (const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra);    \
 LNS_DRIVER_API CUresult NAME (const CUlaunchConfig *config, CUfunction f, void **kernelParams,    \
                               void **extra)                                                       \
 {                                                                                                 \
  NAME##_params params = { config, f, kernelParams, extra };                                       \
  LnsGpuCall call = CALL (NAME);                                                                   \
  return run (&call, configured (config, f), config->hStream, PER_THREAD);                         \
 }

LAUNCH_EX (cuLaunchKernelEx, false)
LAUNCH_EX (cuLaunchKernelEx_ptsz, true)

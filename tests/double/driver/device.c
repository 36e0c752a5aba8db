/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The driver: initialisation, devices, contexts. */

#include "tests/double/driver/driver.h"

#include <dlfcn.h>
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
  cuDriverGetVersion_params values = { driverVersion };
  LnsGpuCall call = { .domain = CUPTI_CB_DOMAIN_DRIVER_API,
                      .cbid = CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
                      .name = __func__,
                      .params = &values };
  *driverVersion = (int)lns_gpu_option ("LNS_DOUBLE_DRIVER_VERSION", 13000);
  /* It works before cuInit() and in the child of a fork, too. */
  if (lns_gpu_is_forked ())
    return (CUresult)lns_gpu_wanted_failure (__func__, -1);
  return (CUresult)lns_gpu_call_exit (&call, lns_gpu_call_enter (&call));
}

static int
answer (int *ret_value, int value)
{
  if (ret_value == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *ret_value = value;
  return 0;
}

static int
get_device (CUdevice *ret_device, int ordinal)
{
  return lns_gpu_device (ordinal) != NULL ? answer (ret_device, ordinal)
                                          : CUDA_ERROR_INVALID_DEVICE;
}

static int
get_name (char *text, int length, CUdevice device)
{
  const LnsGpuDevice *found = lns_gpu_device (device);
  if (found == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  snprintf (text, (size_t)length, "%s", found->name);
  return 0;
}

static int
get_bus_id (char *text, int length, CUdevice device)
{
  const LnsGpuDevice *found = lns_gpu_device (device);
  if (found == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  snprintf (text, (size_t)length, "%04X:%02X:%02X.0", found->pci_domain, found->pci_bus,
            found->pci_device);
  return 0;
}

static int
get_memory (size_t *ret_bytes, CUdevice device)
{
  const LnsGpuDevice *found = lns_gpu_device (device);
  if (found == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  *ret_bytes = found->memory_bytes;
  return 0;
}

static int
get_uuid (CUuuid *ret_uuid, CUdevice device)
{
  const LnsGpuDevice *found = lns_gpu_device (device);
  if (found == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  *ret_uuid = found->uuid;
  return 0;
}

static int
get_state (CUdevice device, unsigned *ret_flags, int *ret_active)
{
  *ret_flags = 0;
  return answer (ret_active, lns_gpu_primary_is_active (device));
}

static int
get_current (CUcontext *ret_context)
{
  *ret_context = lns_gpu_context_current ();
  return 0;
}

static int
set_current (CUcontext context)
{
  lns_gpu_context_set_current (context);
  return 0;
}

static int
get_priorities (int *ret_least, int *ret_greatest)
{
  *ret_least = 0;
  *ret_greatest = -5;
  return 0;
}

LNS_DRIVER_BARE (cuDeviceGet,
                 (CUdevice * device, int ordinal),
                 (device, ordinal),
                 get_device (device, ordinal))
LNS_DRIVER_BARE (cuDeviceGetCount, (int *count), (count), answer (count, lns_gpu_device_count ()))
LNS_DRIVER_BARE (cuDeviceGetName,
                 (char *name, int len, CUdevice dev),
                 (name, len, dev),
                 get_name (name, len, dev))
LNS_DRIVER_BARE (cuDeviceTotalMem_v2,
                 (size_t * bytes, CUdevice dev),
                 (bytes, dev),
                 get_memory (bytes, dev))
LNS_DRIVER_BARE (cuDeviceGetUuid_v2,
                 (CUuuid * uuid, CUdevice dev),
                 (uuid, dev),
                 get_uuid (uuid, dev))
LNS_DRIVER_BARE (cuDeviceGetAttribute,
                 (int *pi, CUdevice_attribute attrib, CUdevice dev),
                 (pi, attrib, dev),
                 lns_gpu_device_attribute (dev, attrib, pi))
LNS_DRIVER_BARE (cuDeviceGetPCIBusId,
                 (char *pciBusId, int len, CUdevice dev),
                 (pciBusId, len, dev),
                 get_bus_id (pciBusId, len, dev))
LNS_DRIVER_BARE (cuDevicePrimaryCtxRetain,
                 (CUcontext * pctx, CUdevice dev),
                 (pctx, dev),
                 lns_gpu_primary_retain (dev, pctx))
LNS_DRIVER_BARE (cuDevicePrimaryCtxRelease_v2, (CUdevice dev), (dev), lns_gpu_primary_release (dev))
LNS_DRIVER_BARE (cuDevicePrimaryCtxReset_v2, (CUdevice dev), (dev), lns_gpu_primary_reset (dev))
LNS_DRIVER_BARE (cuDevicePrimaryCtxSetFlags_v2, (CUdevice dev, unsigned flags), (dev, flags), 0)
LNS_DRIVER_BARE (cuDevicePrimaryCtxGetState,
                 (CUdevice dev, unsigned *flags, int *active),
                 (dev, flags, active),
                 get_state (dev, flags, active))
LNS_DRIVER_BARE (cuCtxCreate_v2,
                 (CUcontext * pctx, unsigned flags, CUdevice dev),
                 (pctx, flags, dev),
                 lns_gpu_context_create (dev, pctx))
LNS_DRIVER_BARE (
    cuCtxCreate_v4,
    (CUcontext * pctx, CUctxCreateParams *ctxCreateParams, unsigned flags, CUdevice dev),
    (pctx, ctxCreateParams, flags, dev),
    lns_gpu_context_create (dev, pctx))
LNS_DRIVER_BARE (cuCtxDestroy_v2, (CUcontext ctx), (ctx), lns_gpu_context_destroy (ctx))
LNS_DRIVER_BARE (cuCtxPushCurrent_v2, (CUcontext ctx), (ctx), lns_gpu_context_push (ctx))
LNS_DRIVER_BARE (cuCtxPopCurrent_v2, (CUcontext * pctx), (pctx), lns_gpu_context_pop (pctx))
LNS_DRIVER_BARE (cuCtxSetCurrent, (CUcontext ctx), (ctx), set_current (ctx))
LNS_DRIVER_BARE (cuCtxGetCurrent, (CUcontext * pctx), (pctx), get_current (pctx))
LNS_DRIVER (cuCtxGetDevice,
            (CUdevice * device),
            (device),
            answer (device, lns_gpu_context_current ()->device))
LNS_DRIVER (cuCtxGetStreamPriorityRange,
            (int *leastPriority, int *greatestPriority),
            (leastPriority, greatestPriority),
            get_priorities (leastPriority, greatestPriority))
LNS_DRIVER_VOID (cuCtxSynchronize, lns_gpu_context_synchronize (lns_gpu_context_current ()))
LNS_DRIVER_VOID (cuProfilerStart, 0)
LNS_DRIVER_VOID (cuProfilerStop, 0)

/* --- queries without a callback ------------------------------------------------------------- */

static const struct
{
  CUresult result;
  const char *name;
  const char *text;
} results[] = {
  { CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
  { CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
  { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
  { CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
  { CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
  { CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
  { CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
  { CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
  { CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
  { CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready" },
  { CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
    "an illegal memory access was encountered" },
};

static CUresult
describe (CUresult error, const char **ret_name, const char **ret_text)
{
  for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
    if (results[i].result == error)
      {
        *ret_name = results[i].name;
        *ret_text = results[i].text;
        return CUDA_SUCCESS;
      }
  return CUDA_ERROR_INVALID_VALUE;
}

LNS_DRIVER_API CUresult
cuGetErrorName (CUresult error, const char **pStr)
{
  const char *text;
  return describe (error, pStr, &text);
}

LNS_DRIVER_API CUresult
cuGetErrorString (CUresult error, const char **pStr)
{
  const char *name;
  return describe (error, &name, pStr);
}

/* Finds the newest version of the function that the double has. */
LNS_DRIVER_API CUresult
cuGetProcAddress_v2 (const char *symbol,
                     void **pfn,
                     int cudaVersion,
                     cuuint64_t flags,
                     CUdriverProcAddressQueryResult *symbolStatus)
{
  static const char *const versions[] = { "_v4", "_v3", "_v2", "" };
  Dl_info self;
  void *library =
      dladdr ((void *)cuInit, &self) != 0 ? dlopen (self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
  char name[128];
  *pfn = NULL;
  for (size_t i = 0; library != NULL && *pfn == NULL && i < sizeof versions / sizeof versions[0];
       i++)
    {
      snprintf (name, sizeof name, "%s%s", symbol, versions[i]);
      *pfn = dlsym (library, name);
    }
  if (symbolStatus != NULL)
    *symbolStatus =
        *pfn != NULL ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *pfn != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* The driver's private tables: a static runtime asks for them, and gives up because they are missing. */
LNS_DRIVER_API CUresult
cuGetExportTable (const void **ppExportTable, const CUuuid *pExportTableId)
{
  *ppExportTable = NULL;
  return CUDA_ERROR_NOT_FOUND;
}

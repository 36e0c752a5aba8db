/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The process, as libcudart sees it: driver, contexts, errors, devices, profiler range. */

#include "tests/double/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t driver_once = PTHREAD_ONCE_INIT;
static int driver_result;
static __thread int last_error;

static void
load_driver (void)
{
  void *driver = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  CUresult (*initialize) (unsigned) = NULL;
  if (driver != NULL)
    *(void **)&initialize = dlsym (driver, "cuInit");
  driver_result = initialize != NULL ? (int)initialize (0) : cudaErrorInsufficientDriver;
}

int
_lns_runtime_initialize (void)
{
  pthread_once (&driver_once, load_driver);
  return lns_gpu_is_forked () ? cudaErrorInitializationError : driver_result;
}

int
_lns_runtime_enter (LnsGpuCall *call, bool needs_context)
{
  int result = _lns_runtime_initialize ();
  int wanted = lns_gpu_call_enter (call);
  if (result == 0)
    result = wanted;
  CUcontext context;
  if (result == 0 && needs_context)
    result = lns_gpu_context_ensure (&context);
  return result;
}

cudaError_t
_lns_runtime_exit (LnsGpuCall *call, int result)
{
  if (result != 0 && result != cudaErrorNotReady)
    last_error = result;
  return (cudaError_t)lns_gpu_call_exit (call, result);
}

int
_lns_runtime_take_last_error (bool clear)
{
  int result = last_error;
  CUcontext context = lns_gpu_context_current ();
  if (clear && !(context != NULL && context->fault == result))
    last_error = 0;
  return result;
}

static int
device_count (int *ret_count)
{
  *ret_count = lns_gpu_device_count ();
  return 0;
}

static int
synchronize (void)
{
  return lns_gpu_context_synchronize (lns_gpu_context_current ());
}

static int
reset (void)
{
  last_error = 0;
  return lns_gpu_primary_reset (lns_gpu_runtime_device ());
}

/* Fills those properties that programs and tools read. */
static int
properties (struct cudaDeviceProp *prop, int device)
{
  const LnsGpuDevice *found = lns_gpu_device (device);
  if (found == NULL)
    return cudaErrorInvalidDevice;
  memset (prop, 0, sizeof *prop);
  snprintf (prop->name, sizeof prop->name, "%s", found->name);
  memcpy (&prop->uuid, &found->uuid, sizeof prop->uuid);
  prop->totalGlobalMem = found->memory_bytes;
  prop->multiProcessorCount = found->n_multiprocessors;
  prop->major = found->compute_major;
  prop->minor = found->compute_minor;
  prop->pciBusID = found->pci_bus;
  prop->pciDeviceID = found->pci_device;
  prop->pciDomainID = found->pci_domain;
  prop->warpSize = 32;
  prop->maxThreadsPerBlock = 1024;
  prop->maxThreadsPerMultiProcessor = 2048;
  prop->sharedMemPerBlock = 49152;
  prop->regsPerBlock = 65536;
  prop->concurrentKernels = 1;
  prop->asyncEngineCount = 3;
  prop->managedMemory = 1;
  prop->unifiedAddressing = 1;
  prop->l2CacheSize = 52428800;
  return 0;
}

static int
bus_id (char *text, int length, int device)
{
  const LnsGpuDevice *found = lns_gpu_device (device);
  if (found == NULL || text == NULL)
    return cudaErrorInvalidValue;
  snprintf (text, (size_t)length, "%04x:%02x:%02x.0", found->pci_domain, found->pci_bus,
            found->pci_device);
  return 0;
}

static int
answer (int *ret_value, int value)
{
  if (ret_value == NULL)
    return cudaErrorInvalidValue;
  *ret_value = value;
  return 0;
}

LNS_RUNTIME_BARE (cudaGetDeviceCount, v3020, (int *count), (count), device_count (count))
LNS_RUNTIME_BARE (cudaSetDevice, v3020, (int device), (device), lns_gpu_set_runtime_device (device))
LNS_RUNTIME_BARE (
    cudaGetDevice, v3020, (int *device), (device), answer (device, lns_gpu_runtime_device ()))
LNS_RUNTIME_BARE (cudaSetDeviceFlags, v3020, (unsigned flags), (flags), 0)
LNS_RUNTIME_BARE (cudaInitDevice,
                  v12000,
                  (int device, unsigned deviceFlags, unsigned flags),
                  (device, deviceFlags, flags),
                  lns_gpu_set_runtime_device (device))
LNS_RUNTIME_BARE (cudaGetDeviceProperties,
                  v12000,
                  (struct cudaDeviceProp * prop, int device),
                  (prop, device),
                  properties (prop, device))
LNS_RUNTIME_BARE (cudaDeviceGetAttribute,
                  v5000,
                  (int *value, enum cudaDeviceAttr attr, int device),
                  (value, attr, device),
                  lns_gpu_device_attribute (device, (CUdevice_attribute)attr, value))
LNS_RUNTIME_BARE (cudaDeviceGetPCIBusId,
                  v4010,
                  (char *pciBusId, int len, int device),
                  (pciBusId, len, device),
                  bus_id (pciBusId, len, device))
LNS_RUNTIME_BARE (cudaDeviceCanAccessPeer,
                  v4000,
                  (int *canAccessPeer, int device, int peerDevice),
                  (canAccessPeer, device, peerDevice),
                  answer (canAccessPeer, device != peerDevice))
LNS_RUNTIME (
    cudaDeviceEnablePeerAccess, v4000, (int peerDevice, unsigned flags), (peerDevice, flags), 0)
LNS_RUNTIME_VOID (cudaDeviceSynchronize, v3020, true, synchronize ())
LNS_RUNTIME_VOID (cudaDeviceReset, v3020, false, reset ())
LNS_RUNTIME_VOID (cudaGetLastError, v3020, false, _lns_runtime_take_last_error (true))
LNS_RUNTIME_VOID (cudaPeekAtLastError, v3020, false, _lns_runtime_take_last_error (false))
/* NVIDIA's wheels lack the header that declares these. */
cudaError_t cudaProfilerStart (void);
cudaError_t cudaProfilerStop (void);
LNS_RUNTIME_VOID (cudaProfilerStart, v4000, true, 0)
LNS_RUNTIME_VOID (cudaProfilerStop, v4000, true, 0)
LNS_RUNTIME_BARE (cudaRuntimeGetVersion,
                  v3020,
                  (int *runtimeVersion),
                  (runtimeVersion),
                  answer (runtimeVersion, 13000))
LNS_RUNTIME_BARE (cudaDriverGetVersion,
                  v3020,
                  (int *driverVersion),
                  (driverVersion),
                  answer (driverVersion, (int)lns_gpu_option ("LNS_DOUBLE_DRIVER_VERSION", 13000)))

LNS_RUNTIME_API const char *
cudaGetErrorName (cudaError_t error)
{
  switch ((int)error)
    {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInitializationError:
      return "cudaErrorInitializationError";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    default:
      return "cudaErrorUnknown";
    }
}

LNS_RUNTIME_API const char *
cudaGetErrorString (cudaError_t error)
{
  switch ((int)error)
    {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInitializationError:
      return "initialization error";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    default:
      return "unknown error";
    }
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Memory of the driver: allocation, copies, sets, pools. */

#include "tests/double/driver/driver.h"

static void *
host_address (CUdeviceptr address)
{
  return (void *)(uintptr_t)address;
}

static int
allocate (LnsGpuMemoryKind kind, size_t size, void *ret_address)
{
  return size == 0 ? CUDA_ERROR_INVALID_VALUE : lns_gpu_allocate (kind, size, ret_address);
}

static int
copy (void *dst, const void *src, size_t bytes, bool async, CUstream handle, bool per_thread)
{
  CUstream stream;
  LnsGpuCopy row = { .dst = dst, .src = src, .width_bytes = bytes, .height = 1, .async = async };
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  return result != 0 ? result : lns_gpu_copy (stream, &row);
}

static int
set (CUdeviceptr dst,
     uint32_t value,
     uint32_t element_bytes,
     size_t n,
     bool async,
     CUstream handle,
     bool per_thread)
{
  CUstream stream;
  LnsGpuSet row = { .dst = host_address (dst),
                    .width = n,
                    .height = 1,
                    .element_bytes = element_bytes,
                    .value = value,
                    .async = async };
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  return result != 0 ? result : lns_gpu_set (stream, &row);
}

static int
allocate_async (
    CUdeviceptr *ret_address, size_t size, CUmemoryPool pool, CUstream handle, bool per_thread)
{
  CUstream stream;
  void *address = NULL;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  if (result == 0 && pool == NULL)
    result = lns_gpu_pool_default (stream->context->device, &pool);
  if (result == 0)
    result = lns_gpu_pool_allocate (pool, size, stream, &address);
  *ret_address = (CUdeviceptr)(uintptr_t)address;
  return result;
}

static int
release_async (CUdeviceptr address, CUstream handle, bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  return result != 0 ? result : lns_gpu_pool_release (host_address (address), stream);
}

static int
prefetch (
    CUdeviceptr address, size_t size, CUmemLocation location, CUstream handle, bool per_thread)
{
  CUstream stream;
  int device = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : -1;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  return result != 0 ? result : lns_gpu_prefetch (host_address (address), size, device, stream);
}

LNS_DRIVER (cuMemAlloc_v2,
            (CUdeviceptr * dptr, size_t bytesize),
            (dptr, bytesize),
            allocate (LNS_GPU_MEMORY_DEVICE, bytesize, dptr))
LNS_DRIVER (cuMemAllocManaged,
            (CUdeviceptr * dptr, size_t bytesize, unsigned flags),
            (dptr, bytesize, flags),
            allocate (LNS_GPU_MEMORY_MANAGED, bytesize, dptr))
LNS_DRIVER (cuMemAllocHost_v2,
            (void **pp, size_t bytesize),
            (pp, bytesize),
            allocate (LNS_GPU_MEMORY_PINNED, bytesize, pp))
LNS_DRIVER (cuMemHostAlloc,
            (void **pp, size_t bytesize, unsigned Flags),
            (pp, bytesize, Flags),
            allocate (LNS_GPU_MEMORY_PINNED, bytesize, pp))
LNS_DRIVER (cuMemFree_v2, (CUdeviceptr dptr), (dptr), lns_gpu_release (host_address (dptr)))
LNS_DRIVER (cuMemFreeHost, (void *p), (p), lns_gpu_release (p))
LNS_DRIVER (cuMemHostRegister_v2,
            (void *p, size_t bytesize, unsigned Flags),
            (p, bytesize, Flags),
            lns_gpu_register_host (p, bytesize))
LNS_DRIVER (cuMemHostUnregister, (void *p), (p), lns_gpu_unregister_host (p))
LNS_DRIVER (cuMemGetInfo_v2,
            (size_t * free, size_t *total),
            (free, total),
            lns_gpu_memory_info (free, total))

LNS_DRIVER_STREAM (
    cuMemcpy,
    _ptds,
    (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount),
    (dst, src, ByteCount),
    copy (host_address (dst), host_address (src), ByteCount, false, NULL, per_thread))
LNS_DRIVER_STREAM (cuMemcpyHtoD_v2,
                   _ptds,
                   (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
                   (dstDevice, srcHost, ByteCount),
                   copy (host_address (dstDevice), srcHost, ByteCount, false, NULL, per_thread))
LNS_DRIVER_STREAM (cuMemcpyDtoH_v2,
                   _ptds,
                   (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
                   (dstHost, srcDevice, ByteCount),
                   copy (dstHost, host_address (srcDevice), ByteCount, false, NULL, per_thread))
LNS_DRIVER_STREAM (
    cuMemcpyDtoD_v2,
    _ptds,
    (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
    (dstDevice, srcDevice, ByteCount),
    copy (host_address (dstDevice), host_address (srcDevice), ByteCount, false, NULL, per_thread))
LNS_DRIVER_STREAM (
    cuMemcpyAsync,
    _ptsz,
    (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
    (dst, src, ByteCount, hStream),
    copy (host_address (dst), host_address (src), ByteCount, true, hStream, per_thread))
LNS_DRIVER_STREAM (cuMemcpyHtoDAsync_v2,
                   _ptsz,
                   (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
                   (dstDevice, srcHost, ByteCount, hStream),
                   copy (host_address (dstDevice), srcHost, ByteCount, true, hStream, per_thread))
LNS_DRIVER_STREAM (cuMemcpyDtoHAsync_v2,
                   _ptsz,
                   (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
                   (dstHost, srcDevice, ByteCount, hStream),
                   copy (dstHost, host_address (srcDevice), ByteCount, true, hStream, per_thread))
LNS_DRIVER_STREAM (
    cuMemcpyDtoDAsync_v2,
    _ptsz,
    (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
    (dstDevice, srcDevice, ByteCount, hStream),
    copy (host_address (dstDevice), host_address (srcDevice), ByteCount, true, hStream, per_thread))
LNS_DRIVER_STREAM (
    cuMemcpyPeer,
    _ptds,
    (CUdeviceptr dstDevice,
     CUcontext dstContext,
     CUdeviceptr srcDevice,
     CUcontext srcContext,
     size_t ByteCount),
    (dstDevice, dstContext, srcDevice, srcContext, ByteCount),
    copy (host_address (dstDevice), host_address (srcDevice), ByteCount, false, NULL, per_thread))

LNS_DRIVER_STREAM (cuMemsetD8_v2,
                   _ptds,
                   (CUdeviceptr dstDevice, unsigned char uc, size_t N),
                   (dstDevice, uc, N),
                   set (dstDevice, uc, 1, N, false, NULL, per_thread))
LNS_DRIVER_STREAM (cuMemsetD16_v2,
                   _ptds,
                   (CUdeviceptr dstDevice, unsigned short us, size_t N),
                   (dstDevice, us, N),
                   set (dstDevice, us, 2, N, false, NULL, per_thread))
LNS_DRIVER_STREAM (cuMemsetD32_v2,
                   _ptds,
                   (CUdeviceptr dstDevice, unsigned ui, size_t N),
                   (dstDevice, ui, N),
                   set (dstDevice, ui, 4, N, false, NULL, per_thread))
LNS_DRIVER_STREAM (cuMemsetD8Async,
                   _ptsz,
                   (CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream),
                   (dstDevice, uc, N, hStream),
                   set (dstDevice, uc, 1, N, true, hStream, per_thread))
LNS_DRIVER_STREAM (cuMemsetD16Async,
                   _ptsz,
                   (CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream),
                   (dstDevice, us, N, hStream),
                   set (dstDevice, us, 2, N, true, hStream, per_thread))
LNS_DRIVER_STREAM (cuMemsetD32Async,
                   _ptsz,
                   (CUdeviceptr dstDevice, unsigned ui, size_t N, CUstream hStream),
                   (dstDevice, ui, N, hStream),
                   set (dstDevice, ui, 4, N, true, hStream, per_thread))
LNS_DRIVER_STREAM (
    cuMemPrefetchAsync_v2,
    _ptsz,
    (CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned flags, CUstream hStream),
    (devPtr, count, location, flags, hStream),
    prefetch (devPtr, count, location, hStream, per_thread))

LNS_DRIVER_STREAM (cuMemAllocAsync,
                   _ptsz,
                   (CUdeviceptr * dptr, size_t bytesize, CUstream hStream),
                   (dptr, bytesize, hStream),
                   allocate_async (dptr, bytesize, NULL, hStream, per_thread))
LNS_DRIVER_STREAM (cuMemAllocFromPoolAsync,
                   _ptsz,
                   (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
                   (dptr, bytesize, pool, hStream),
                   allocate_async (dptr, bytesize, pool, hStream, per_thread))
LNS_DRIVER_STREAM (cuMemFreeAsync,
                   _ptsz,
                   (CUdeviceptr dptr, CUstream hStream),
                   (dptr, hStream),
                   release_async (dptr, hStream, per_thread))
LNS_DRIVER_BARE (cuDeviceGetDefaultMemPool,
                 (CUmemoryPool * pool_out, CUdevice dev),
                 (pool_out, dev),
                 lns_gpu_pool_default (dev, pool_out))
LNS_DRIVER (cuMemPoolCreate,
            (CUmemoryPool * pool, const CUmemPoolProps *poolProps),
            (pool, poolProps),
            lns_gpu_pool_create (poolProps->location.id, pool))
LNS_DRIVER (cuMemPoolDestroy, (CUmemoryPool pool), (pool), lns_gpu_pool_destroy (pool))
LNS_DRIVER (cuMemPoolTrimTo,
            (CUmemoryPool pool, size_t minBytesToKeep),
            (pool, minBytesToKeep),
            lns_gpu_pool_trim (pool, minBytesToKeep))

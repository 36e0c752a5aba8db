/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Memory of the runtime: allocation, copies, sets. */

#include "tests/double/runtime/runtime.h"

static int
allocate (LnsGpuMemoryKind kind, size_t size, void **ret_address)
{
  return lns_gpu_allocate (kind, size, ret_address);
}

static int
pitched (void **ret_address, size_t *ret_pitch, size_t width, size_t height)
{
  *ret_pitch = (width + 511) / 512 * 512;
  return lns_gpu_allocate (LNS_GPU_MEMORY_DEVICE, *ret_pitch * height, ret_address);
}

static int
copy_rows (LnsGpuCopy copy, cudaStream_t handle, bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  return result != 0 ? result : lns_gpu_copy (stream, &copy);
}

static int
copy (void *dst, const void *src, size_t bytes, bool async, cudaStream_t handle, bool per_thread)
{
  LnsGpuCopy rows = { .dst = dst, .src = src, .width_bytes = bytes, .height = 1, .async = async };
  return copy_rows (rows, handle, per_thread);
}

static int
set_rows (LnsGpuSet set, cudaStream_t handle, bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  return result != 0 ? result : lns_gpu_set (stream, &set);
}

static int
set (void *dst, int value, size_t bytes, bool async, cudaStream_t handle, bool per_thread)
{
  LnsGpuSet rows = { .dst = dst,
                     .width = bytes,
                     .height = 1,
                     .element_bytes = 1,
                     .value = (uint8_t)value,
                     .async = async };
  return set_rows (rows, handle, per_thread);
}

static int
copy_symbol (const void *symbol,
             size_t offset,
             void *host,
             size_t bytes,
             bool to_symbol,
             bool async,
             cudaStream_t stream,
             bool per_thread)
{
  void *address;
  size_t size;
  if (!_lns_runtime_symbol (symbol, &address, &size) || offset + bytes > size)
    return cudaErrorInvalidSymbol;
  void *device = (char *)address + offset;
  return to_symbol ? copy (device, host, bytes, async, stream, per_thread)
                   : copy (host, device, bytes, async, stream, per_thread);
}

static int
symbol_address (void **ret_address, const void *symbol)
{
  size_t size;
  return _lns_runtime_symbol (symbol, ret_address, &size) ? 0 : cudaErrorInvalidSymbol;
}

static int
pointer_attributes (struct cudaPointerAttributes *attributes, const void *pointer)
{
  LnsGpuAllocation found;
  *attributes = (struct cudaPointerAttributes){ .type = cudaMemoryTypeUnregistered,
                                                .hostPointer = (void *)pointer };
  if (!lns_gpu_find_allocation (pointer, &found))
    return 0;
  attributes->devicePointer = (void *)pointer;
  attributes->device = found.device < 0 ? 0 : found.device;
  attributes->type = found.kind == LNS_GPU_MEMORY_PINNED    ? cudaMemoryTypeHost
                     : found.kind == LNS_GPU_MEMORY_MANAGED ? cudaMemoryTypeManaged
                                                            : cudaMemoryTypeDevice;
  return 0;
}

static int
prefetch (const void *address,
          size_t bytes,
          struct cudaMemLocation location,
          cudaStream_t handle,
          bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  if (result != 0)
    return result;
  return lns_gpu_prefetch (address, bytes,
                           location.type == cudaMemLocationTypeDevice ? location.id : -1, stream);
}

LNS_RUNTIME (cudaMalloc,
             v3020,
             (void **devPtr, size_t size),
             (devPtr, size),
             allocate (LNS_GPU_MEMORY_DEVICE, size, devPtr))
LNS_RUNTIME (cudaMallocPitch,
             v3020,
             (void **devPtr, size_t *pitch, size_t width, size_t height),
             (devPtr, pitch, width, height),
             pitched (devPtr, pitch, width, height))
LNS_RUNTIME (cudaMallocHost,
             v3020,
             (void **ptr, size_t size),
             (ptr, size),
             allocate (LNS_GPU_MEMORY_PINNED, size, ptr))
LNS_RUNTIME (cudaHostAlloc,
             v3020,
             (void **pHost, size_t size, unsigned flags),
             (pHost, size, flags),
             allocate (LNS_GPU_MEMORY_PINNED, size, pHost))
LNS_RUNTIME (cudaMallocManaged,
             v6000,
             (void **devPtr, size_t size, unsigned flags),
             (devPtr, size, flags),
             allocate (LNS_GPU_MEMORY_MANAGED, size, devPtr))
LNS_RUNTIME (cudaFree, v3020, (void *devPtr), (devPtr), lns_gpu_release (devPtr))
LNS_RUNTIME (cudaFreeHost, v3020, (void *ptr), (ptr), lns_gpu_release (ptr))
LNS_RUNTIME (cudaHostRegister,
             v4000,
             (void *ptr, size_t size, unsigned flags),
             (ptr, size, flags),
             lns_gpu_register_host (ptr, size))
LNS_RUNTIME (cudaHostUnregister, v4000, (void *ptr), (ptr), lns_gpu_unregister_host (ptr))
LNS_RUNTIME (cudaMemGetInfo,
             v3020,
             (size_t * free, size_t *total),
             (free, total),
             lns_gpu_memory_info (free, total))
LNS_RUNTIME (cudaPointerGetAttributes,
             v4000,
             (struct cudaPointerAttributes * attributes, const void *ptr),
             (attributes, ptr),
             pointer_attributes (attributes, ptr))
LNS_RUNTIME (cudaGetSymbolAddress,
             v3020,
             (void **devPtr, const void *symbol),
             (devPtr, symbol),
             symbol_address (devPtr, symbol))

LNS_RUNTIME_STREAM (cudaMemcpy,
                    v3020,
                    _ptds,
                    v7000,
                    (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
                    (dst, src, count, kind),
                    copy (dst, src, count, false, NULL, per_thread))
LNS_RUNTIME_STREAM (
    cudaMemcpyAsync,
    v3020,
    _ptsz,
    v7000,
    (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream),
    (dst, src, count, kind, stream),
    copy (dst, src, count, true, stream, per_thread))
LNS_RUNTIME (cudaMemcpyPeer,
             v4000,
             (void *dst, int dstDevice, const void *src, int srcDevice, size_t count),
             (dst, dstDevice, src, srcDevice, count),
             copy (dst, src, count, false, NULL, false))
LNS_RUNTIME (
    cudaMemcpyPeerAsync,
    v4000,
    (void *dst, int dstDevice, const void *src, int srcDevice, size_t count, cudaStream_t stream),
    (dst, dstDevice, src, srcDevice, count, stream),
    copy (dst, src, count, true, stream, false))
LNS_RUNTIME_STREAM (cudaMemcpy2D,
                    v3020,
                    _ptds,
                    v7000,
                    (void *dst,
                     size_t dpitch,
                     const void *src,
                     size_t spitch,
                     size_t width,
                     size_t height,
                     enum cudaMemcpyKind kind),
                    (dst, dpitch, src, spitch, width, height, kind),
                    copy_rows ((LnsGpuCopy){ dst, src, dpitch, spitch, width, height, false },
                               NULL,
                               per_thread))
LNS_RUNTIME_STREAM (cudaMemcpy2DAsync,
                    v3020,
                    _ptsz,
                    v7000,
                    (void *dst,
                     size_t dpitch,
                     const void *src,
                     size_t spitch,
                     size_t width,
                     size_t height,
                     enum cudaMemcpyKind kind,
                     cudaStream_t stream),
                    (dst, dpitch, src, spitch, width, height, kind, stream),
                    copy_rows ((LnsGpuCopy){ dst, src, dpitch, spitch, width, height, true },
                               stream,
                               per_thread))
LNS_RUNTIME_STREAM (
    cudaMemcpyToSymbol,
    v3020,
    _ptds,
    v7000,
    (const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind),
    (symbol, src, count, offset, kind),
    copy_symbol (symbol, offset, (void *)src, count, true, false, NULL, per_thread))
LNS_RUNTIME_STREAM (
    cudaMemcpyFromSymbol,
    v3020,
    _ptds,
    v7000,
    (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind),
    (dst, symbol, count, offset, kind),
    copy_symbol (symbol, offset, dst, count, false, false, NULL, per_thread))
LNS_RUNTIME_STREAM (cudaMemset,
                    v3020,
                    _ptds,
                    v7000,
                    (void *devPtr, int value, size_t count),
                    (devPtr, value, count),
                    set (devPtr, value, count, false, NULL, per_thread))
LNS_RUNTIME_STREAM (cudaMemsetAsync,
                    v3020,
                    _ptsz,
                    v7000,
                    (void *devPtr, int value, size_t count, cudaStream_t stream),
                    (devPtr, value, count, stream),
                    set (devPtr, value, count, true, stream, per_thread))
LNS_RUNTIME_STREAM (cudaMemset2D,
                    v3020,
                    _ptds,
                    v7000,
                    (void *devPtr, size_t pitch, int value, size_t width, size_t height),
                    (devPtr, pitch, value, width, height),
                    set_rows ((LnsGpuSet){ devPtr, pitch, width, height, 1, (uint8_t)value, false },
                              NULL,
                              per_thread))
LNS_RUNTIME_STREAM (cudaMemPrefetchAsync,
                    v12020,
                    _ptsz,
                    v12020,
                    (const void *devPtr,
                     size_t count,
                     struct cudaMemLocation location,
                     unsigned flags,
                     cudaStream_t stream),
                    (devPtr, count, location, flags, stream),
                    prefetch (devPtr, count, location, stream, per_thread))

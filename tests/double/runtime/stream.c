/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Streams, events and memory pools of the runtime. */

#include "tests/double/runtime/runtime.h"

/* Looks HANDLE up as the variable `stream` and evaluates EXPRESSION with it. */
#define WITH_STREAM(HANDLE, PER_THREAD, EXPRESSION)                                                \
 CUstream stream;                                                                                  \
 int result = lns_gpu_stream_resolve (HANDLE, PER_THREAD, &stream);                                \
 return result != 0 ? result : (EXPRESSION)

static int
destroy_stream (cudaStream_t handle)
{
  WITH_STREAM (handle, false, lns_gpu_stream_destroy (stream));
}

static int
query_stream (cudaStream_t handle, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_stream_query (stream));
}

static int
synchronize_stream (cudaStream_t handle, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_stream_synchronize (stream));
}

static int
wait_event (cudaStream_t handle, cudaEvent_t event, bool per_thread)
{
  WITH_STREAM (handle, per_thread,
               event == NULL ? cudaErrorInvalidResourceHandle
                             : lns_gpu_stream_wait_event (stream, event));
}

static int
record_event (cudaEvent_t event, cudaStream_t handle, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_event_record (event, stream));
}

static int
run_on_host (cudaStream_t handle, cudaHostFn_t function, void *data, bool per_thread)
{
  LnsGpuOp op = { .kind = LNS_GPU_OP_HOST, .host = { function, data } };
  WITH_STREAM (handle, per_thread, lns_gpu_submit (stream, &op));
}

static int
is_capturing (cudaStream_t handle, enum cudaStreamCaptureStatus *status, bool per_thread)
{
  WITH_STREAM (handle, per_thread,
               (*status = stream->capture != NULL ? cudaStreamCaptureStatusActive
                                                  : cudaStreamCaptureStatusNone,
                0));
}

static int
priority_range (int *least, int *greatest)
{
  *least = 0;
  *greatest = -5;
  return 0;
}

LNS_RUNTIME (cudaStreamCreate,
             v3020,
             (cudaStream_t * pStream),
             (pStream),
             lns_gpu_stream_create (0, 0, pStream))
LNS_RUNTIME (cudaStreamCreateWithFlags,
             v5000,
             (cudaStream_t * pStream, unsigned flags),
             (pStream, flags),
             lns_gpu_stream_create (flags, 0, pStream))
LNS_RUNTIME (cudaStreamCreateWithPriority,
             v5050,
             (cudaStream_t * pStream, unsigned flags, int priority),
             (pStream, flags, priority),
             lns_gpu_stream_create (flags, priority, pStream))
LNS_RUNTIME (cudaDeviceGetStreamPriorityRange,
             v5050,
             (int *leastPriority, int *greatestPriority),
             (leastPriority, greatestPriority),
             priority_range (leastPriority, greatestPriority))
LNS_RUNTIME (cudaStreamDestroy, v5050, (cudaStream_t stream), (stream), destroy_stream (stream))
LNS_RUNTIME_STREAM (cudaStreamSynchronize,
                    v3020,
                    _ptsz,
                    v7000,
                    (cudaStream_t stream),
                    (stream),
                    synchronize_stream (stream, per_thread))
LNS_RUNTIME_STREAM (cudaStreamQuery,
                    v3020,
                    _ptsz,
                    v7000,
                    (cudaStream_t stream),
                    (stream),
                    query_stream (stream, per_thread))
LNS_RUNTIME_STREAM (cudaStreamWaitEvent,
                    v3020,
                    _ptsz,
                    v7000,
                    (cudaStream_t stream, cudaEvent_t event, unsigned flags),
                    (stream, event, flags),
                    wait_event (stream, event, per_thread))
LNS_RUNTIME_STREAM (cudaLaunchHostFunc,
                    v10000,
                    _ptsz,
                    v10000,
                    (cudaStream_t stream, cudaHostFn_t fn, void *userData),
                    (stream, fn, userData),
                    run_on_host (stream, fn, userData, per_thread))
LNS_RUNTIME_STREAM (cudaStreamIsCapturing,
                    v10000,
                    _ptsz,
                    v10000,
                    (cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus),
                    (stream, pCaptureStatus),
                    is_capturing (stream, pCaptureStatus, per_thread))

LNS_RUNTIME (
    cudaEventCreate, v3020, (cudaEvent_t * event), (event), lns_gpu_event_create (0, event))
LNS_RUNTIME (cudaEventCreateWithFlags,
             v3020,
             (cudaEvent_t * event, unsigned flags),
             (event, flags),
             lns_gpu_event_create (flags, event))
LNS_RUNTIME (cudaEventDestroy, v3020, (cudaEvent_t event), (event), lns_gpu_event_destroy (event))
LNS_RUNTIME (cudaEventQuery, v3020, (cudaEvent_t event), (event), lns_gpu_event_query (event))
LNS_RUNTIME (
    cudaEventSynchronize, v3020, (cudaEvent_t event), (event), lns_gpu_event_synchronize (event))
LNS_RUNTIME (cudaEventElapsedTime,
             v12080,
             (float *ms, cudaEvent_t start, cudaEvent_t end),
             (ms, start, end),
             lns_gpu_event_elapsed (start, end, ms))
LNS_RUNTIME_STREAM (cudaEventRecord,
                    v3020,
                    _ptsz,
                    v7000,
                    (cudaEvent_t event, cudaStream_t stream),
                    (event, stream),
                    record_event (event, stream, per_thread))
LNS_RUNTIME_STREAM (cudaEventRecordWithFlags,
                    v11010,
                    _ptsz,
                    v11010,
                    (cudaEvent_t event, cudaStream_t stream, unsigned flags),
                    (event, stream, flags),
                    record_event (event, stream, per_thread))

/* --- pools -------------------------------------------------------------------------------------- */

static int
allocate (void **ret_address, size_t size, CUmemoryPool pool, cudaStream_t handle, bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  if (result == 0 && pool == NULL)
    result = lns_gpu_pool_default (stream->context->device, &pool);
  return result != 0 ? result : lns_gpu_pool_allocate (pool, size, stream, ret_address);
}

static int
release (void *address, cudaStream_t handle, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_pool_release (address, stream));
}

static int
set_attribute (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, const void *value)
{
  if (attribute == cudaMemPoolAttrReleaseThreshold)
    pool->release_threshold = *(const uint64_t *)value;
  return 0;
}

static int
get_attribute (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *ret_value)
{
  *(uint64_t *)ret_value = attribute == cudaMemPoolAttrReleaseThreshold ? pool->release_threshold
                           : attribute == cudaMemPoolAttrUsedMemCurrent ? pool->used_bytes
                           : attribute == cudaMemPoolAttrReservedMemCurrent ? pool->reserved_bytes
                                                                            : 0;
  return 0;
}

LNS_RUNTIME_STREAM (cudaMallocAsync,
                    v11020,
                    _ptsz,
                    v11020,
                    (void **devPtr, size_t size, cudaStream_t hStream),
                    (devPtr, size, hStream),
                    allocate (devPtr, size, NULL, hStream, per_thread))
LNS_RUNTIME_STREAM (cudaMallocFromPoolAsync,
                    v11020,
                    _ptsz,
                    v11020,
                    (void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream),
                    (ptr, size, memPool, stream),
                    allocate (ptr, size, memPool, stream, per_thread))
LNS_RUNTIME_STREAM (cudaFreeAsync,
                    v11020,
                    _ptsz,
                    v11020,
                    (void *devPtr, cudaStream_t hStream),
                    (devPtr, hStream),
                    release (devPtr, hStream, per_thread))
LNS_RUNTIME (cudaDeviceGetDefaultMemPool,
             v11020,
             (cudaMemPool_t * memPool, int device),
             (memPool, device),
             lns_gpu_pool_default (device, memPool))
LNS_RUNTIME (cudaMemPoolCreate,
             v11020,
             (cudaMemPool_t * memPool, const struct cudaMemPoolProps *poolProps),
             (memPool, poolProps),
             lns_gpu_pool_create (poolProps->location.id, memPool))
LNS_RUNTIME (
    cudaMemPoolDestroy, v11020, (cudaMemPool_t memPool), (memPool), lns_gpu_pool_destroy (memPool))
LNS_RUNTIME (cudaMemPoolTrimTo,
             v11020,
             (cudaMemPool_t memPool, size_t minBytesToKeep),
             (memPool, minBytesToKeep),
             lns_gpu_pool_trim (memPool, minBytesToKeep))
LNS_RUNTIME (cudaMemPoolSetAttribute,
             v11020,
             (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
             (memPool, attr, value),
             set_attribute (memPool, attr, value))
LNS_RUNTIME (cudaMemPoolGetAttribute,
             v11020,
             (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
             (memPool, attr, value),
             get_attribute (memPool, attr, value))

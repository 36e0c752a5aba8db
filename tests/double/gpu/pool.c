/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Memory pools: stream-ordered allocation. */

#include "tests/double/gpu/private.h"

#include <stdlib.h>

#define MAX_DEVICES   16
#define GRANULE_BYTES (2u << 20) /* pools grow in multiples of it */

#define POOL_CREATED   1 /* CUpti_ActivityMemoryPoolOperationType */
#define POOL_DESTROYED 2
#define POOL_TRIMMED   3

static CUmemoryPool defaults[MAX_DEVICES];

static CUmemoryPool
pool_new (int device, bool is_default)
{
  CUmemoryPool pool = calloc (1, sizeof *pool);
  pool->device = device;
  pool->is_default = is_default;
  pool->address = (uint64_t)(uintptr_t)pool;
  LNS_GPU_TELL (pool, pool, POOL_CREATED, 0);
  return pool;
}

int
lns_gpu_pool_default (int device, CUmemoryPool *ret_pool)
{
  static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;
  if (lns_gpu_device (device) == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  pthread_mutex_lock (&creation);
  if (defaults[device] == NULL)
    defaults[device] = pool_new (device, true);
  *ret_pool = defaults[device];
  pthread_mutex_unlock (&creation);
  return 0;
}

int
lns_gpu_pool_create (int device, CUmemoryPool *ret_pool)
{
  if (lns_gpu_device (device) == NULL || ret_pool == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *ret_pool = pool_new (device, false);
  return 0;
}

/* The pool is not freed: an allocation may refer to it. */
int
lns_gpu_pool_destroy (CUmemoryPool pool)
{
  if (pool == NULL || pool->is_default)
    return CUDA_ERROR_INVALID_VALUE;
  LNS_GPU_TELL (pool, pool, POOL_DESTROYED, 0);
  return 0;
}

int
lns_gpu_pool_trim (CUmemoryPool pool, size_t min_bytes_to_keep)
{
  if (pool == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  LNS_GPU_LOCK ();
  uint64_t needed = (pool->used_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES;
  uint64_t kept = needed > min_bytes_to_keep ? needed : min_bytes_to_keep;
  if (pool->reserved_bytes > kept)
    pool->reserved_bytes = kept;
  struct CUmemPoolHandle_st trimmed = *pool;
  LNS_GPU_UNLOCK ();
  LNS_GPU_TELL (pool, &trimmed, POOL_TRIMMED, min_bytes_to_keep);
  return 0;
}

int
lns_gpu_pool_allocate (CUmemoryPool pool, size_t size, CUstream stream, void **ret_address)
{
  if (stream->capture != NULL)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (ret_address == NULL || size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  LnsGpuAllocation wanted = { .size = size,
                              .kind = LNS_GPU_MEMORY_DEVICE,
                              .device = pool->device,
                              .context = stream->context->id,
                              .pool = pool };
  LnsGpuAllocation made;
  int result = _lns_gpu_allocate (&wanted, &made);
  if (result != 0)
    return result;
  LNS_GPU_LOCK ();
  pool->used_bytes += size;
  if (pool->used_bytes > pool->reserved_bytes)
    pool->reserved_bytes = (pool->used_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES;
  made.pool_state = *pool;
  LNS_GPU_UNLOCK ();
  *ret_address = made.address;
  LNS_GPU_TELL (memory, &made, false, stream->id, true);
  return 0;
}

int
lns_gpu_pool_release (void *address, CUstream stream)
{
  LnsGpuAllocation found;
  if (!lns_gpu_find_allocation (address, &found) || found.address != address || found.registered)
    return CUDA_ERROR_INVALID_VALUE;
  if (found.pool != NULL)
    {
      LNS_GPU_LOCK ();
      found.pool->used_bytes -= found.size;
      found.pool_state = *found.pool;
      LNS_GPU_UNLOCK ();
    }
  LNS_GPU_TELL (memory, &found, true, stream->id, true);
  _lns_gpu_forget (address);
  return 0;
}

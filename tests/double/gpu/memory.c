/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Memory: allocations of each kind, and where managed memory is. */

#include "tests/double/gpu/private.h"

#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MANAGED_RATE 12 /* bytes a nanosecond */

static void *tree; /* of LnsGpuAllocation by address */
static uint64_t used_bytes[16];
static bool
    managed_on_host; /* may be out of date: a launch checks, and clears it if there is none */

/* Treats an allocation and an address inside it as equal, which finds the allocation of an address. */
static int
compare_cb (const void *a, const void *b)
{
  const LnsGpuAllocation *left = a, *right = b;
  uintptr_t left_start = (uintptr_t)left->address, right_start = (uintptr_t)right->address;
  if (left_start + left->size <= right_start)
    return -1;
  return right_start + right->size <= left_start ? 1 : 0;
}

static LnsGpuAllocation *
find_locked (const void *address)
{
  LnsGpuAllocation key = { .address = (void *)address, .size = 1 };
  LnsGpuAllocation **found = tfind (&key, &tree, compare_cb);
  return found != NULL ? *found : NULL;
}

bool
lns_gpu_find_allocation (const void *address, LnsGpuAllocation *ret_allocation)
{
  LNS_GPU_LOCK ();
  LnsGpuAllocation *found = find_locked (address);
  if (found != NULL)
    *ret_allocation = *found;
  LNS_GPU_UNLOCK ();
  return found != NULL;
}

/* Device memory counts towards the device's size; pages are not touched before the program touches them. */
int
_lns_gpu_allocate (const LnsGpuAllocation *wanted, LnsGpuAllocation *ret_made)
{
  const LnsGpuDevice *device = lns_gpu_device (wanted->device);
  size_t mapped = (wanted->size + 511) / 512 * 512;
  LNS_GPU_LOCK ();
  bool fits = device == NULL || used_bytes[wanted->device] + mapped <= device->memory_bytes;
  LNS_GPU_UNLOCK ();
  if (!fits)
    return CUDA_ERROR_OUT_OF_MEMORY;
  void *address = mmap (NULL, mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  LnsGpuAllocation *made = malloc (sizeof *made);
  *made = *wanted;
  made->address = address;
  LNS_GPU_LOCK ();
  tsearch (made, &tree, compare_cb);
  if (device != NULL)
    used_bytes[wanted->device] += mapped;
  if (wanted->kind == LNS_GPU_MEMORY_MANAGED)
    __atomic_store_n (&managed_on_host, true, __ATOMIC_RELAXED);
  *ret_made = *made;
  LNS_GPU_UNLOCK ();
  return 0;
}

static void
forget_locked (LnsGpuAllocation *allocation)
{
  size_t mapped = (allocation->size + 511) / 512 * 512;
  tdelete (allocation, &tree, compare_cb);
  if (allocation->device >= 0 && allocation->kind != LNS_GPU_MEMORY_DEVICE_STATIC)
    used_bytes[allocation->device] -= mapped;
  if (!allocation->registered && allocation->kind != LNS_GPU_MEMORY_DEVICE_STATIC)
    munmap (allocation->address, mapped);
  free (allocation);
}

void
_lns_gpu_forget (void *address)
{
  LNS_GPU_LOCK ();
  LnsGpuAllocation *allocation = find_locked (address);
  if (allocation != NULL)
    forget_locked (allocation);
  LNS_GPU_UNLOCK ();
}

int
lns_gpu_allocate (LnsGpuMemoryKind kind, size_t size, void **ret_address)
{
  CUcontext context = lns_gpu_context_current ();
  if (context == NULL)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (ret_address == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *ret_address = NULL;
  if (size == 0)
    return 0;
  LnsGpuAllocation wanted = { .size = size, .kind = kind, .context = context->id };
  wanted.device = kind == LNS_GPU_MEMORY_PINNED ? -1 : context->device;
  LnsGpuAllocation made;
  int result = _lns_gpu_allocate (&wanted, &made);
  if (result != 0)
    return result;
  *ret_address = made.address;
  LNS_GPU_TELL (memory, &made, false, context->null_stream->id, false);
  return 0;
}

/* Waits for all work of the context, as cudaFree does. */
int
lns_gpu_release (void *address)
{
  LnsGpuAllocation found;
  CUcontext context = lns_gpu_context_current ();
  if (address == NULL)
    return 0;
  if (context == NULL)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!lns_gpu_find_allocation (address, &found) || found.address != address || found.registered)
    return CUDA_ERROR_INVALID_VALUE;
  LNS_GPU_LOCK ();
  int64_t ready_ns = _lns_gpu_context_ready (context);
  LNS_GPU_UNLOCK ();
  lns_gpu_wait_until (ready_ns);
  LNS_GPU_TELL (memory, &found, true, context->null_stream->id, false);
  _lns_gpu_forget (address);
  return 0;
}

static int
add_foreign (void *address, size_t size, LnsGpuMemoryKind kind, int device)
{
  LnsGpuAllocation *made = calloc (1, sizeof *made);
  *made = (LnsGpuAllocation){
    .address = address, .size = size, .kind = kind, .device = device, .registered = true
  };
  LNS_GPU_LOCK ();
  LnsGpuAllocation **found = tsearch (made, &tree, compare_cb);
  bool is_new = found != NULL && *found == made;
  LNS_GPU_UNLOCK ();
  if (!is_new)
    free (made);
  return is_new ? 0 : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

int
lns_gpu_register_static (void *address, size_t size)
{
  return add_foreign (address, size, LNS_GPU_MEMORY_DEVICE_STATIC, 0);
}

int
lns_gpu_register_host (void *address, size_t size)
{
  if (address == NULL || size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return add_foreign (address, size, LNS_GPU_MEMORY_PINNED, -1);
}

int
lns_gpu_unregister_host (void *address)
{
  LNS_GPU_LOCK ();
  LnsGpuAllocation *found = find_locked (address);
  bool registered = found != NULL && found->registered && found->address == address;
  if (registered)
    forget_locked (found);
  LNS_GPU_UNLOCK ();
  return registered ? 0 : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

int
lns_gpu_memory_info (size_t *ret_free, size_t *ret_total)
{
  const LnsGpuDevice *device = lns_gpu_device (lns_gpu_runtime_device ());
  if (device == NULL)
    return CUDA_ERROR_INVALID_DEVICE;
  LNS_GPU_LOCK ();
  *ret_total = device->memory_bytes;
  *ret_free = device->memory_bytes - used_bytes[lns_gpu_runtime_device ()];
  LNS_GPU_UNLOCK ();
  return 0;
}

static void
migrate (const LnsGpuAllocation *allocation, int from, int to, bool is_fault, int64_t start_ns)
{
  int64_t end_ns = start_ns + 1000 + (int64_t)(allocation->size / MANAGED_RATE);
  LNS_GPU_TELL (migration, allocation, from, to, is_fault, start_ns, end_ns);
}

/* For twalk_r: the context whose managed memory moves to its device, and what was found. */
typedef struct
{
  uint32_t context;
  LnsGpuAllocation *found;
  bool managed_only;
} Search;

static void
search_cb (const void *node, VISIT visit, void *data)
{
  Search *search = data;
  LnsGpuAllocation *allocation = *(LnsGpuAllocation *const *)node;
  if (visit != preorder && visit != leaf)
    return;
  bool wanted = !search->managed_only ||
                (allocation->kind == LNS_GPU_MEMORY_MANAGED && !allocation->on_device);
  if (wanted && allocation->context == search->context && !allocation->registered)
    search->found = allocation;
}

/* Moves all managed memory that is on the host to the device, as GPUs did before pages could migrate one by one. */
void
_lns_gpu_migrate_managed (CUcontext context, int64_t start_ns)
{
  while (__atomic_load_n (&managed_on_host, __ATOMIC_RELAXED))
    {
      Search search = { .context = context->id, .managed_only = true };
      LnsGpuAllocation copy;
      LNS_GPU_LOCK ();
      twalk_r (tree, search_cb, &search);
      if (search.found != NULL)
        {
          search.found->on_device = true;
          search.found->resident = search.found->device;
          copy = *search.found;
        }
      else
        __atomic_store_n (&managed_on_host, false, __ATOMIC_RELAXED);
      LNS_GPU_UNLOCK ();
      if (search.found != NULL)
        migrate (&copy, -1, copy.device, true, start_ns);
    }
}

int
lns_gpu_prefetch (const void *address, size_t size, int device, CUstream stream)
{
  LnsGpuAllocation found;
  if (!lns_gpu_find_allocation (address, &found) || found.kind != LNS_GPU_MEMORY_MANAGED ||
      size > found.size)
    return CUDA_ERROR_INVALID_VALUE;
  bool to_device = device >= 0;
  const int from = found.on_device ? found.resident : -1;
  if (from == (to_device ? device : -1))
    return 0;
  LNS_GPU_LOCK ();
  LnsGpuAllocation *allocation = find_locked (address);
  if (allocation != NULL)
    {
      allocation->on_device = to_device;
      allocation->resident = device;
    }
  if (!to_device)
    __atomic_store_n (&managed_on_host, true, __ATOMIC_RELAXED);
  LNS_GPU_UNLOCK ();
  found.size = size;
  migrate (&found, from, to_device ? device : -1, false, lns_gpu_now ());
  return 0;
}

/* Frees the device memory of a context that is destroyed. The caller holds the lock. */
void
_lns_gpu_release_context_memory (uint32_t context)
{
  for (;;)
    {
      Search search = { .context = context };
      twalk_r (tree, search_cb, &search);
      if (search.found == NULL)
        return;
      forget_locked (search.found);
    }
}

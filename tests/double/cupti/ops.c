/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* GPU operations: kept until they end, then written as records. */

#include "tests/double/cupti/cupti.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t collected = PTHREAD_COND_INITIALIZER;
static bool collecting;
static __thread bool in_collection;
static LnsGpuOp *heap; /* by end */
static size_t n_heap, heap_room;
static LnsGpuOp *held; /* ended, but not delivered before a forced flush */
static size_t n_held;

static void
swap (size_t a, size_t b)
{
  LnsGpuOp kept = heap[a];
  heap[a] = heap[b];
  heap[b] = kept;
}

void
_lns_cupti_keep (const LnsGpuOp *op)
{
  pthread_mutex_lock (&lock);
  if (n_heap == heap_room)
    {
      heap_room = heap_room == 0 ? 256 : 2 * heap_room;
      heap = realloc (heap, heap_room * sizeof *heap);
    }
  size_t i = n_heap++;
  heap[i] = *op;
  for (; i > 0 && heap[(i - 1) / 2].end_ns > heap[i].end_ns; i = (i - 1) / 2)
    swap (i, (i - 1) / 2);
  pthread_mutex_unlock (&lock);
}

static LnsGpuOp
pop_locked (void)
{
  LnsGpuOp first = heap[0];
  heap[0] = heap[--n_heap];
  for (size_t i = 0, child; (child = 2 * i + 1) < n_heap; i = child)
    {
      if (child + 1 < n_heap && heap[child + 1].end_ns < heap[child].end_ns)
        child++;
      if (heap[i].end_ns <= heap[child].end_ns)
        break;
      swap (i, child);
    }
  return first;
}

/* Holds OP back if LNS_DOUBLE_HELD selects it: it is delivered by a forced flush only. */
static bool
hold_back_locked (const LnsGpuOp *op)
{
  static size_t n_ended;
  const size_t every = _lns_cupti_options ()->held;
  if (every == 0 || ++n_ended % every != 0)
    return false;
  held = realloc (held, (n_held + 1) * sizeof *held);
  held[n_held++] = *op;
  return true;
}

/* Takes the operations that have ended, or all of them. Returns in RET_N_COMPLETE how many have ended. */
static size_t
take_locked (LnsGpuOp **ret_taken, size_t *ret_n_complete, bool everything)
{
  size_t together = _lns_cupti_options ()->together, n = 0;
  int64_t until_ns = lns_gpu_now () - _lns_cupti_options ()->late_ns;
  *ret_n_complete = 0;
  if (n_heap + (everything ? n_held : 0) == 0 ||
      (!everything && (n_heap < together || heap[0].end_ns > until_ns)))
    return 0;
  *ret_taken = malloc ((n_heap + n_held) * sizeof **ret_taken);
  while (n_heap > 0 && (everything || heap[0].end_ns <= until_ns))
    {
      const LnsGpuOp op = pop_locked ();
      if (op.end_ns <= until_ns && hold_back_locked (&op))
        continue;
      *ret_n_complete += op.end_ns <= until_ns;
      (*ret_taken)[n++] = op;
    }
  for (size_t i = 0; everything && i < n_held; i++)
    (*ret_taken)[n++] = held[i];
  if (everything)
    n_held = 0;
  return n;
}

/* Only one thread at a time, which keeps the order of records. Writing records may call the client, so the lock
 * is not held meanwhile. */
void
_lns_cupti_collect (LnsCuptiCollect how)
{
  LnsGpuOp *taken = NULL;
  size_t n_complete;
  pthread_mutex_lock (&lock);
  while (collecting && how != LNS_CUPTI_COLLECT_IF_FREE && !in_collection)
    pthread_cond_wait (&collected, &lock);
  size_t n =
      collecting ? 0 : take_locked (&taken, &n_complete, how == LNS_CUPTI_COLLECT_EVERYTHING);
  collecting = collecting || n > 0;
  pthread_mutex_unlock (&lock);
  if (n == 0)
    {
      free (taken);
      return;
    }
  in_collection = true;
  bool reversed = _lns_cupti_options ()->together > 0;
  for (size_t i = 0; i < n; i++)
    {
      size_t at = reversed ? n - 1 - i : i;
      _lns_cupti_write_op (&taken[at], at < n_complete);
    }
  in_collection = false;
  free (taken);
  pthread_mutex_lock (&lock);
  collecting = false;
  pthread_cond_broadcast (&collected);
  pthread_mutex_unlock (&lock);
}

static void
write_kernel (const LnsGpuOp *op, uint64_t start, uint64_t end)
{
  const LnsGpuKernel *kernel = &op->kernel;
  static int64_t last_grid;
  bool latency = _lns_cupti_wants_latency ();
  CUpti_ActivityKernel10 record = {
    .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    .registersPerThread = kernel->function->registers,
    .start = start,
    .end = end,
    .completed = 0,
    .deviceId = op->device,
    .contextId = op->context,
    .streamId = op->stream,
    .gridX = (int32_t)kernel->grid[0],
    .gridY = (int32_t)kernel->grid[1],
    .gridZ = (int32_t)kernel->grid[2],
    .blockX = (int32_t)kernel->block[0],
    .blockY = (int32_t)kernel->block[1],
    .blockZ = (int32_t)kernel->block[2],
    .staticSharedMemory = (int32_t)kernel->function->static_shared_bytes,
    .dynamicSharedMemory = (int32_t)kernel->dynamic_shared_bytes,
    .localMemoryPerThread = kernel->function->local_bytes,
    .correlationId = op->correlation,
    .gridId = __atomic_add_fetch (&last_grid, 1, __ATOMIC_RELAXED),
    .name = kernel->function->name,
    .queued = latency ? _lns_cupti_time (op->queued_ns, false) : 0,
    .submitted = latency ? _lns_cupti_time (op->queued_ns + 500, false) : 0,
    .launchType = kernel->launch_type,
    .sharedMemoryExecuted = 32768,
    .graphNodeId = op->node,
    .graphId = op->graph,
    .channelID = 1 + op->stream % 8,
    .channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
    .clusterX = kernel->cluster[0],
    .clusterY = kernel->cluster[1],
    .clusterZ = kernel->cluster[2],
  };
  if (_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_KERNEL))
    record.kind = CUPTI_ACTIVITY_KIND_KERNEL;
  _lns_cupti_write (&record, true);
}

static void
write_peer_copy (const LnsGpuOp *op, uint64_t start, uint64_t end)
{
  const LnsGpuCopy *copy = &op->copy;
  CUpti_ActivityMemcpyPtoP4 record = {
    .kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
    .copyKind = copy->kind,
    .srcKind = copy->src_kind,
    .dstKind = copy->dst_kind,
    .flags = copy->async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE,
    .bytes = (uint64_t)copy->width_bytes * copy->height,
    .start = start,
    .end = end,
    .deviceId = op->device,
    .contextId = op->context,
    .streamId = op->stream,
    .srcDeviceId = (uint32_t)copy->src_device,
    .srcContextId = op->context,
    .dstDeviceId = (uint32_t)copy->dst_device,
    .dstContextId = op->context,
    .correlationId = op->correlation,
    .graphNodeId = op->node,
    .graphId = op->graph,
    .channelID = 1,
    .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
  };
  _lns_cupti_write (&record, true);
}

static void
write_copy (const LnsGpuOp *op, uint64_t start, uint64_t end)
{
  const LnsGpuCopy *copy = &op->copy;
  if (copy->kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
    {
      write_peer_copy (op, start, end);
      return;
    }
  CUpti_ActivityMemcpy6 record = {
    .kind = CUPTI_ACTIVITY_KIND_MEMCPY,
    .copyKind = copy->kind,
    .srcKind = copy->src_kind,
    .dstKind = copy->dst_kind,
    .flags = copy->async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE,
    .bytes = (uint64_t)copy->width_bytes * copy->height,
    .start = start,
    .end = end,
    .deviceId = op->device,
    .contextId = op->context,
    .streamId = op->stream,
    .correlationId = op->correlation,
    .graphNodeId = op->node,
    .graphId = op->graph,
    .channelID = 1,
    .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
    .copyCount = 1,
  };
  _lns_cupti_write (&record, true);
}

static void
write_set (const LnsGpuOp *op, uint64_t start, uint64_t end)
{
  const LnsGpuSet *set = &op->set;
  CUpti_ActivityMemset4 record = {
    .kind = CUPTI_ACTIVITY_KIND_MEMSET,
    .value = set->value,
    .bytes = (uint64_t)set->width * set->height * set->element_bytes,
    .start = start,
    .end = end,
    .deviceId = op->device,
    .contextId = op->context,
    .streamId = op->stream,
    .correlationId = op->correlation,
    .flags = set->async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : CUPTI_ACTIVITY_FLAG_NONE,
    .memoryKind = set->memory_kind,
    .graphNodeId = op->node,
    .graphId = op->graph,
    .channelID = 1,
    .channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
  };
  _lns_cupti_write (&record, true);
}

static void
write_graph (const LnsGpuOp *op, uint64_t start, uint64_t end)
{
  CUpti_ActivityGraphTrace2 record = {
    .kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
    .correlationId = op->correlation,
    .start = start,
    .end = end,
    .deviceId = op->device,
    .graphId = op->graph,
    .contextId = op->context,
    .streamId = op->stream,
    .endDeviceId = op->device,
    .endContextId = op->context,
  };
  _lns_cupti_write (&record, true);
}

void
_lns_cupti_write_op (const LnsGpuOp *op, bool is_complete)
{
  uint64_t start = is_complete ? _lns_cupti_time (op->start_ns, true) : 0;
  uint64_t end = is_complete ? _lns_cupti_time (op->end_ns, true) : 0;
  if (op->kind == LNS_GPU_OP_KERNEL)
    write_kernel (op, start, end);
  else if (op->kind == LNS_GPU_OP_COPY)
    write_copy (op, start, end);
  else if (op->kind == LNS_GPU_OP_SET)
    write_set (op, start, end);
  else if (op->kind == LNS_GPU_OP_GRAPH)
    write_graph (op, start, end);
}

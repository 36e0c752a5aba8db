/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* GPU operations: kept until they end, then written as records. */

#include "tests/double/cupti/cupti.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An operation, and its record if that was written at its launch. */
typedef struct
{
  LnsGpuOp op;
  LnsCuptiPlace place;
} Kept;

typedef enum
{
  AT_LAUNCH,
  AT_END,
  UNFINISHED,
} Moment;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t collected = PTHREAD_COND_INITIALIZER;
static bool collecting;
static __thread bool in_collection;
static Kept *heap; /* by end */
static size_t n_heap, heap_room;
static Kept *held; /* ended, but not delivered before a forced flush */
static size_t n_held;

static void
swap (size_t a, size_t b)
{
  Kept kept = heap[a];
  heap[a] = heap[b];
  heap[b] = kept;
}

static bool write_op (Kept *kept, Moment moment);

void
_lns_cupti_keep (const LnsGpuOp *op)
{
  Kept kept = { .op = *op };
  pthread_mutex_lock (&lock);
  /* Under the lock, as a forced flush must find the operation of every incomplete record. */
  if (_lns_cupti_options ()->withholds && !write_op (&kept, AT_LAUNCH))
    {
      pthread_mutex_unlock (&lock);
      return;
    }
  if (n_heap == heap_room)
    {
      heap_room = heap_room == 0 ? 256 : 2 * heap_room;
      heap = realloc (heap, heap_room * sizeof *heap);
    }
  size_t i = n_heap++;
  heap[i] = kept;
  for (; i > 0 && heap[(i - 1) / 2].op.end_ns > heap[i].op.end_ns; i = (i - 1) / 2)
    swap (i, (i - 1) / 2);
  pthread_mutex_unlock (&lock);
}

static Kept
pop_locked (void)
{
  Kept first = heap[0];
  heap[0] = heap[--n_heap];
  for (size_t i = 0, child; (child = 2 * i + 1) < n_heap; i = child)
    {
      if (child + 1 < n_heap && heap[child + 1].op.end_ns < heap[child].op.end_ns)
        child++;
      if (heap[i].op.end_ns <= heap[child].op.end_ns)
        break;
      swap (i, child);
    }
  return first;
}

void
_lns_cupti_hold (uint32_t kind, bool on)
{
  if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || !_lns_cupti_options ()->disable_holds)
    return;
  _lns_cupti_collect (LNS_CUPTI_COLLECT_ENDED);
  pthread_mutex_lock (&lock);
  const int64_t now_ns = lns_gpu_now ();
  for (size_t i = 0; i < n_heap; i++)
    if (heap[i].op.kind == LNS_GPU_OP_KERNEL && !on)
      heap[i].op.end_ns = INT64_MAX;
    else if (heap[i].op.kind == LNS_GPU_OP_KERNEL && heap[i].op.end_ns == INT64_MAX)
      heap[i].op.end_ns = now_ns;
  /* Two groups, each of one time or in its order: an insertion makes a heap of them. */
  for (size_t n = 1; n < n_heap; n++)
    for (size_t i = n; i > 0 && heap[(i - 1) / 2].op.end_ns > heap[i].op.end_ns; i = (i - 1) / 2)
      swap (i, (i - 1) / 2);
  pthread_mutex_unlock (&lock);
}

/* Holds an operation back if LNS_DOUBLE_HELD selects it: it is delivered by a forced flush only. */
static bool
hold_back_locked (const Kept *kept)
{
  static size_t n_ended;
  const size_t every = _lns_cupti_options ()->held;
  if (every == 0 || ++n_ended % every != 0)
    return false;
  held = realloc (held, (n_held + 1) * sizeof *held);
  held[n_held++] = *kept;
  return true;
}

/* Takes the operations that have ended, or all of them. Returns in RET_N_COMPLETE how many have ended. */
static size_t
take_locked (Kept **ret_taken, size_t *ret_n_complete, bool everything)
{
  size_t together = _lns_cupti_options ()->together, n = 0;
  int64_t until_ns = lns_gpu_now () - _lns_cupti_options ()->late_ns;
  *ret_n_complete = 0;
  if (n_heap + (everything ? n_held : 0) == 0 ||
      (!everything && (n_heap < together || heap[0].op.end_ns > until_ns)))
    return 0;
  *ret_taken = malloc ((n_heap + n_held) * sizeof **ret_taken);
  while (n_heap > 0 && (everything || heap[0].op.end_ns <= until_ns))
    {
      const Kept kept = pop_locked ();
      if (kept.op.end_ns <= until_ns && hold_back_locked (&kept))
        continue;
      *ret_n_complete += kept.op.end_ns <= until_ns;
      (*ret_taken)[n++] = kept;
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
  Kept *taken = NULL;
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
      (void)write_op (&taken[at], at < n_complete ? AT_END : UNFINISHED);
    }
  in_collection = false;
  free (taken);
  pthread_mutex_lock (&lock);
  collecting = false;
  pthread_cond_broadcast (&collected);
  pthread_mutex_unlock (&lock);
}

/* Writes RECORD where PLACE says. Returns false if it was dropped. */
static bool
put (Moment moment, LnsCuptiPlace *place, const void *record)
{
  if (moment == AT_LAUNCH)
    return _lns_cupti_reserve (record, place);
  if (place->is_reserved)
    _lns_cupti_complete (place, record);
  else
    _lns_cupti_write (record, true);
  return true;
}

static bool
write_kernel (Kept *kept, Moment moment, uint64_t start, uint64_t end)
{
  const LnsGpuOp *op = &kept->op;
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
  return put (moment, &kept->place, &record);
}

static bool
write_peer_copy (Kept *kept, Moment moment, uint64_t start, uint64_t end)
{
  const LnsGpuOp *op = &kept->op;
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
  return put (moment, &kept->place, &record);
}

static bool
write_copy (Kept *kept, Moment moment, uint64_t start, uint64_t end)
{
  const LnsGpuOp *op = &kept->op;
  const LnsGpuCopy *copy = &op->copy;
  if (copy->kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
    return write_peer_copy (kept, moment, start, end);
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
  return put (moment, &kept->place, &record);
}

static bool
write_set (Kept *kept, Moment moment, uint64_t start, uint64_t end)
{
  const LnsGpuOp *op = &kept->op;
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
  return put (moment, &kept->place, &record);
}

/* On the double, functions run on the thread that queues them. */
static bool
write_host (Kept *kept, Moment moment, uint64_t start, uint64_t end)
{
  const LnsGpuOp *op = &kept->op;
  const LnsCuptiHostNode node = {
    .kind = LNS_CUPTI_HOST_NODE,
    .stream = op->stream,
    .context = op->context,
    .device = op->device,
    .correlation = op->correlation,
    .graph = op->graph,
    .node = op->node,
    .pid = (uint32_t)getpid (),
    .tid = op->host.thread,
    .start = start,
    .end = end,
  };
  const LnsCuptiHostLaunch launch = {
    .kind = LNS_CUPTI_HOST_LAUNCH,
    .stream = op->stream,
    .context = op->context,
    .device = op->device,
    .correlation = op->correlation,
    .pid = (uint32_t)getpid (),
    .tid = op->host.thread,
    .start = start,
    .end = end,
  };
  return op->graph != 0 ? put (moment, &kept->place, &node) : put (moment, &kept->place, &launch);
}

static bool
write_graph (Kept *kept, Moment moment, uint64_t start, uint64_t end)
{
  const LnsGpuOp *op = &kept->op;
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
  if (_lns_cupti_options ()->host_graphs > 0)
    record.deviceId = record.contextId = INT_MAX;
  if (_lns_cupti_options ()->host_graphs > 1)
    record.endDeviceId = record.endContextId = INT_MAX;
  return put (moment, &kept->place, &record);
}

/* Spoils the times of kernels that LNS_DOUBLE_ZERO_TIMES or LNS_DOUBLE_WRONG_TIMES select. */
static void
spoil_times (uint64_t *start, uint64_t *end)
{
  static size_t n_kernels;
  const LnsCuptiOptions *options = _lns_cupti_options ();
  const size_t n = __atomic_add_fetch (&n_kernels, 1, __ATOMIC_RELAXED);
  const bool loses = options->version >= 24 && options->version < 130100;
  if (options->zero_times > 0 && n % options->zero_times == 0 && loses &&
      _lns_cupti_has_clients_clock ())
    *start = *end = 0;
  if (options->wrong_times == 0 || n % options->wrong_times != 0)
    return;
  if (n / options->wrong_times % 2 == 0)
    *start = *end = 0;
  else
    *end = *start - 1000;
}

/* Up to 13.1, graph launches after the first session have wrong correlations. */
static void
spoil_correlation (LnsGpuOp *op)
{
  if (op->graph != 0 && _lns_cupti_options ()->second_session &&
      _lns_cupti_options ()->version < 130200 && _lns_cupti_is_second_session ())
    op->correlation += 1000000;
}

static bool
write_op (Kept *kept, Moment moment)
{
  const LnsGpuOp *op = &kept->op;
  if (moment == AT_LAUNCH || !kept->place.is_reserved)
    spoil_correlation (&kept->op);
  const bool is_gpu = op->kind != LNS_GPU_OP_HOST;
  uint64_t start = moment == AT_END ? _lns_cupti_time (op->start_ns, is_gpu) : 0;
  uint64_t end = moment == AT_END ? _lns_cupti_time (op->end_ns, is_gpu) : 0;
  if (is_gpu && moment == AT_END)
    _lns_cupti_follow_switches (op->device, op->context, op->start_ns, op->end_ns);
  if (op->kind == LNS_GPU_OP_KERNEL && moment == AT_END)
    spoil_times (&start, &end);
  if (op->kind == LNS_GPU_OP_KERNEL)
    return write_kernel (kept, moment, start, end);
  if (op->kind == LNS_GPU_OP_COPY)
    return write_copy (kept, moment, start, end);
  if (op->kind == LNS_GPU_OP_SET)
    return write_set (kept, moment, start, end);
  if (op->kind == LNS_GPU_OP_HOST)
    return write_host (kept, moment, start, end);
  return op->kind == LNS_GPU_OP_GRAPH && write_graph (kept, moment, start, end);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/compact-private.h"

#include <string.h>

/* Where CUPTI 13.0 has its fields: a header that moved one would not be read by this code. */
_Static_assert(sizeof (CUpti_ActivityKernel10) == 216, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityMemcpy6) == 96, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityMemcpyPtoP4) == 96, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityMemset4) == 88, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityAPI) == 40, "as in CUPTI 11.0 to 13.0");
_Static_assert(sizeof (CUpti_ActivitySynchronization2) == 56, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityGraphTrace2) == 56, "as in CUPTI 13.0");
_Static_assert(sizeof (CUpti_ActivityMemory4) == 128, "as in CUPTI 13.0");
_Static_assert(offsetof (CUpti_ActivityKernel10, start) == 16, "as in CUPTI 11.0 to 13.0");
_Static_assert(offsetof (CUpti_ActivityKernel10, name) == 104, "as in CUPTI 11.0 to 13.0");
_Static_assert(offsetof (CUpti_ActivityKernel10, graphNodeId) == 144, "as in CUPTI 11.0 to 13.0");
_Static_assert(offsetof (CUpti_ActivityMemcpy6, graphNodeId) == 64, "as in CUPTI 11.0 to 13.0");
_Static_assert(offsetof (CUpti_ActivityMemset4, graphNodeId) == 64, "as in CUPTI 11.0 to 13.0");

static LnsCuptiResult
put_api (const LnsCuptiWork *work)
{
  const CUpti_ActivityAPI *from = &work->from->api;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  if (from->threadId == work->sink->skipped_tid && from->threadId != 0)
    return LNS_CUPTI_SKIPPED;
  bool is_runtime = from->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  uint8_t depth = is_runtime ? LNS_WIRE_CUDA_CALL_RUNTIME : 0;
  if (work->sink->roles != NULL && from->cbid < LNS_WIRE_CUPTI_CALLS)
    depth |= work->sink->roles[is_runtime][from->cbid] & LNS_WIRE_CUDA_CALL_ROLES;
  if ((depth & LNS_WIRE_CUDA_CALL_LAUNCH) && from->returnValue == 0)
    {
      work->counts->n_launched++;
      work->counts->launched_sum += from->correlationId;
    }
  uint32_t name = work->sink->call_name (work->sink->context, is_runtime, from->cbid);
  /* Where it goes at once, as the next: a busy report is of these. */
  LnsWireCudaApiBytes *to = _lns_cupti_begin (work, sizeof *to);
  if (to == NULL)
    return LNS_CUPTI_LOST;
  *to = (LnsWireCudaApiBytes){
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_API, .depth = depth, .string = name },
    .n_bytes = sizeof *to,
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .cbid = from->cbid,
    .return_value = from->returnValue,
    .tid = from->threadId,
  };
  work->sink->commit (work->sink->context, sizeof *to);
  return LNS_CUPTI_DONE;
}

/* --- Kernels. -------------------------------------------------------------------------------- */

static LnsWireCudaLaunchBytes
launch_of (const LnsCuptiWork *work)
{
  const CUpti_ActivityKernel10 *from = &work->from->kernel;
  return (LnsWireCudaLaunchBytes){
    .head.type = LNS_WIRE_CUDA_LAUNCH,
    .name = _lns_cupti_text (work, from->name, true),
    .grid = { (uint32_t)from->gridX, (uint32_t)from->gridY, (uint32_t)from->gridZ },
    .block = { (uint32_t)from->blockX, (uint32_t)from->blockY, (uint32_t)from->blockZ },
    .cluster = { from->clusterX, from->clusterY, from->clusterZ },
    .registers = from->registersPerThread,
    .static_shared_bytes = (uint32_t)from->staticSharedMemory,
    .dynamic_shared_bytes = (uint32_t)from->dynamicSharedMemory,
    .shared_executed_bytes = from->sharedMemoryExecuted,
    .local_bytes = from->localMemoryPerThread,
    .local_total_bytes = HAS (work, CUpti_ActivityKernel10, localMemoryTotal_v2)
                             ? from->localMemoryTotal_v2
                             : from->localMemoryTotal,
    .shared_carveout = from->isSharedMemoryCarveoutRequested ? from->sharedMemoryCarveoutRequested
                                                             : LNS_WIRE_CUDA_NONE,
    .max_potential_cluster = from->maxPotentialClusterSize,
    .max_active_clusters = from->maxActiveClusters,
    .launch_type = from->launchType,
    .cache_config = from->cacheConfig.both,
    .shared_config = from->sharedMemoryConfig,
    .cluster_policy = (uint8_t)from->clusterSchedulingPolicy,
  };
}

static uint64_t
word_at (const LnsCuptiWork *work, size_t offset)
{
  uint64_t word;
  memcpy (&word, (const uint8_t *)work->from + offset, sizeof word);
  return word;
}

/* All that launch_of() looks at. */
static inline LnsWireLaunch
raw_launch_of (const LnsCuptiWork *work)
{
  const uint64_t padding = UINT64_C (0xff) << 24;
  return (LnsWireLaunch){ {
      word_at (work, 0), /* kind, configurations, registers */
      word_at (work, offsetof (CUpti_ActivityKernel10, gridX)),
      word_at (work, offsetof (CUpti_ActivityKernel10, gridZ)),
      word_at (work, offsetof (CUpti_ActivityKernel10, blockY)),
      word_at (work, offsetof (CUpti_ActivityKernel10, staticSharedMemory)),
      word_at (work, offsetof (CUpti_ActivityKernel10, localMemoryPerThread)),
      word_at (work, offsetof (CUpti_ActivityKernel10, name)),
      word_at (work, offsetof (CUpti_ActivityKernel10, launchType)) & ~padding,
      word_at (work, offsetof (CUpti_ActivityKernel10, clusterX)),
      word_at (work, offsetof (CUpti_ActivityKernel10, clusterZ)),
      word_at (work, offsetof (CUpti_ActivityKernel10, localMemoryTotal_v2)),
      word_at (work, offsetof (CUpti_ActivityKernel10, maxPotentialClusterSize)),
  } };
}

static inline bool
is_same (const LnsWireLaunch *a, const LnsWireLaunch *b)
{
  uint64_t difference = 0;
  for (size_t i = 0; i < sizeof a->words / sizeof *a->words; i++)
    difference |= a->words[i] ^ b->words[i];
  return difference == 0;
}

/* The slot of LAUNCH by its shape and its name: where two want the same, the neighbour serves one. False:
 * it has to be told what is in it. */
static inline bool
find_slot (const LnsWireLaunches *launches, const LnsWireLaunch *launch, uint32_t *ret_slot)
{
  const uint64_t *words = launch->words;
  uint64_t hash = words[6] * UINT64_C (0x9e3779b97f4a7c15) ^
                  words[1] * UINT64_C (0xc2b2ae3d27d4eb4f) ^
                  words[2] * UINT64_C (0x165667b19e3779f9) ^
                  (words[3] + words[4]) * UINT64_C (0xff51afd7ed558ccd);
  const uint32_t slot = (uint32_t)((hash ^ hash >> 29) >> 32) % LNS_WIRE_CUDA_LAUNCHES;
  *ret_slot = slot;
  if (is_same (&launches->launches[slot], launch))
    return true;
  *ret_slot = slot ^ 1;
  if (is_same (&launches->launches[slot ^ 1], launch))
    return true;
  if (launches->launches[slot].words[0] == 0 || (hash & 1) != 0)
    *ret_slot = slot;
  return false;
}

/* Tells what LAUNCH in SLOT is. */
static LnsCuptiResult
define_launch (const LnsCuptiWork *work, uint32_t slot, const LnsWireLaunch *raw)
{
  LnsWireCudaLaunchBytes launch = launch_of (work);
  launch.head.string = slot;
  LnsCuptiResult result = _lns_cupti_put (work, &launch, sizeof launch);
  if (result == LNS_CUPTI_DONE)
    work->sink->launches->launches[slot] = *raw;
  return result;
}

static LnsCuptiResult
put_kernel (const LnsCuptiWork *work)
{
  const CUpti_ActivityKernel10 *from = &work->from->kernel;
  if (from->start == 0 || from->end == 0)
    {
      LnsWireCudaKernelBytes unfinished = { .head.type = LNS_WIRE_CUDA_KERNEL,
                                            .correlation = from->correlationId,
                                            .graph_node = from->graphNodeId };
      return _lns_cupti_put (work, &unfinished, sizeof unfinished);
    }
  if (from->graphNodeId == 0)
    {
      work->counts->n_run++;
      work->counts->run_sum += from->correlationId;
    }
  const LnsWireLaunch launch = raw_launch_of (work);
  uint32_t slot;
  if (!find_slot (work->sink->launches, &launch, &slot) &&
      define_launch (work, slot, &launch) != LNS_CUPTI_DONE)
    return LNS_CUPTI_LOST;
  LnsWireCudaKernelBytes *to = _lns_cupti_begin (work, sizeof *to);
  if (to == NULL)
    return LNS_CUPTI_LOST;
  *to = (LnsWireCudaKernelBytes){
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_KERNEL, .string = slot },
    .n_bytes = sizeof *to,
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .grid_id = (uint64_t)from->gridId,
    .graph_node = from->graphNodeId,
    .place = { from->deviceId, from->contextId, from->streamId },
    .graph = from->graphId,
  };
  work->sink->commit (work->sink->context, sizeof *to);
  return LNS_CUPTI_DONE;
}

#define NO_PEERS                                                                                   \
 .source_device = LNS_WIRE_CUDA_NONE, .source_context = LNS_WIRE_CUDA_NONE,                        \
 .destination_device = LNS_WIRE_CUDA_NONE, .destination_context = LNS_WIRE_CUDA_NONE

static LnsCuptiResult
put_copy (const LnsCuptiWork *work)
{
  const CUpti_ActivityMemcpy6 *from = &work->from->copy;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  LnsWireCudaMemcpyBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_MEMCPY },
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .size_bytes = from->bytes,
    .graph_node = from->graphNodeId,
    .copy_count = from->copyCount,
    .place = { from->deviceId, from->contextId, from->streamId },
    .kind = from->copyKind,
    .source_kind = from->srcKind,
    .destination_kind = from->dstKind,
    .flags = from->flags,
    NO_PEERS,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

static LnsCuptiResult
put_copy_between (const LnsCuptiWork *work)
{
  const CUpti_ActivityMemcpyPtoP4 *from = &work->from->copy_between;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  LnsWireCudaMemcpyBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_MEMCPY },
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .size_bytes = from->bytes,
    .graph_node = from->graphNodeId,
    .place = { from->deviceId, from->contextId, from->streamId },
    .kind = from->copyKind,
    .source_kind = from->srcKind,
    .destination_kind = from->dstKind,
    .flags = from->flags,
    .source_device = from->srcDeviceId,
    .source_context = from->srcContextId,
    .destination_device = from->dstDeviceId,
    .destination_context = from->dstContextId,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

static LnsCuptiResult
put_decompress (const LnsCuptiWork *work)
{
  const CUpti_ActivityMemDecompress *from = &work->from->decompress;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  LnsWireCudaMemcpyBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_DECOMPRESS },
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .size_bytes = from->sourceBytes,
    .copy_count = from->numberOfOperations,
    .place = { from->deviceId, from->contextId, from->streamId },
    NO_PEERS,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

static LnsCuptiResult
put_set (const LnsCuptiWork *work)
{
  const CUpti_ActivityMemset4 *from = &work->from->set;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  LnsWireCudaMemsetBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_MEMSET },
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .size_bytes = from->bytes,
    .graph_node = from->graphNodeId,
    .place = { from->deviceId, from->contextId, from->streamId },
    .value = from->value,
    .memory_kind = from->memoryKind,
    .flags = from->flags,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

static LnsCuptiResult
put_sync (const LnsCuptiWork *work)
{
  const CUpti_ActivitySynchronization2 *from = &work->from->sync;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  LnsWireCudaSyncBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_SYNC },
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .event_sync = from->cudaEventSyncId,
    .place = { LNS_WIRE_CUDA_NONE, from->contextId, from->streamId },
    .type = (uint32_t)from->type,
    .event = from->cudaEventId,
    .return_value = from->returnValue,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

static LnsCuptiResult
put_event (const LnsCuptiWork *work)
{
  const CUpti_ActivityCudaEvent2 *from = &work->from->event;
  LnsWireCudaEventBytes record = {
    .head = { .ticks = from->deviceTimestamp, .type = LNS_WIRE_CUDA_EVENT },
    .correlation = from->correlationId,
    .event_sync = from->cudaEventSyncId,
    .place = { HAS (work, CUpti_ActivityCudaEvent2, deviceId) ? from->deviceId : LNS_WIRE_CUDA_NONE,
               from->contextId, from->streamId },
    .event = from->eventId,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

static LnsCuptiResult
put_graph (const LnsCuptiWork *work)
{
  const CUpti_ActivityGraphTrace2 *from = &work->from->graph;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  LnsWireCudaGraphBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_GRAPH },
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .place = { from->deviceId, from->contextId, from->streamId },
    .graph = from->graphId,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

static LnsCuptiResult
put_device_graph (const LnsCuptiWork *work)
{
  const CUpti_ActivityDeviceGraphTrace *from = &work->from->device_graph;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  LnsWireCudaGraphBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_GRAPH },
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .place = { from->deviceId, from->contextId, (uint32_t)from->streamId },
    .graph = from->graphId,
    .launcher = from->launcherGraphId,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

/* By kind, with the newest struct's size, and where the times of its kind lie; of the others nothing is
 * kept. */
#define SPAN(type)                                                                                 \
 sizeof (type), { offsetof (type, start), offsetof (type, end) }
#define MOMENT(type, field)                                                                        \
 sizeof (type), { offsetof (type, field) }

static const struct
{
  LnsCuptiResult (*put) (const LnsCuptiWork *);
  size_t n_bytes;
  size_t times[2]; /* 0: none */
} writers[LNS_WIRE_CUPTI_KINDS] = {
  [CUPTI_ACTIVITY_KIND_DRIVER] = { put_api, SPAN (CUpti_ActivityAPI) },
  [CUPTI_ACTIVITY_KIND_RUNTIME] = { put_api, SPAN (CUpti_ActivityAPI) },
  [CUPTI_ACTIVITY_KIND_KERNEL] = { put_kernel, SPAN (CUpti_ActivityKernel10) },
  [CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = { put_kernel, SPAN (CUpti_ActivityKernel10) },
  [CUPTI_ACTIVITY_KIND_MEMCPY] = { put_copy, SPAN (CUpti_ActivityMemcpy6) },
  [CUPTI_ACTIVITY_KIND_MEMCPY2] = { put_copy_between, SPAN (CUpti_ActivityMemcpyPtoP4) },
  [CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS] = { put_decompress, SPAN (CUpti_ActivityMemDecompress) },
  [CUPTI_ACTIVITY_KIND_MEMSET] = { put_set, SPAN (CUpti_ActivityMemset4) },
  [CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = { put_sync, SPAN (CUpti_ActivitySynchronization2) },
  [CUPTI_ACTIVITY_KIND_CUDA_EVENT] = { put_event,
                                       MOMENT (CUpti_ActivityCudaEvent2, deviceTimestamp) },
  [CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = { put_graph, SPAN (CUpti_ActivityGraphTrace2) },
  [CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE] = { put_device_graph,
                                               SPAN (CUpti_ActivityDeviceGraphTrace) },
  [CUPTI_ACTIVITY_KIND_OVERHEAD] = { _lns_cupti_put_overhead, SPAN (CUpti_ActivityOverhead3) },
  [CUPTI_ACTIVITY_KIND_MEMORY2] = { _lns_cupti_put_memory,
                                    MOMENT (CUpti_ActivityMemory4, timestamp) },
  [CUPTI_ACTIVITY_KIND_MEMORY_POOL] = { _lns_cupti_put_pool,
                                        MOMENT (CUpti_ActivityMemoryPool3, timestamp) },
  [CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = { _lns_cupti_put_unified,
                                                   SPAN (CUpti_ActivityUnifiedMemoryCounter3) },
  [CUPTI_ACTIVITY_KIND_JIT] = { _lns_cupti_put_jit, SPAN (CUpti_ActivityJit2) },
  [CUPTI_ACTIVITY_KIND_DEVICE] = { _lns_cupti_put_device, sizeof (CUpti_ActivityDevice5), { 0 } },
  [CUPTI_ACTIVITY_KIND_CONTEXT] = { _lns_cupti_put_context,
                                    sizeof (CUpti_ActivityContext3),
                                    { 0 } },
  [CUPTI_ACTIVITY_KIND_STREAM] = { _lns_cupti_put_stream, sizeof (CUpti_ActivityStream), { 0 } },
};

void
lns_wire_cupti_compact (const LnsWireCuptiSizes *sizes,
                        const uint8_t *bytes,
                        size_t n_bytes,
                        const LnsWireCuptiSink *sink,
                        uint32_t *ret_compacted,
                        LnsWireCuptiCounts *ret_counts)
{
  if (sink->launches->names_epoch != sink->names_epoch)
    {
      memset (sink->launches, 0, sizeof *sink->launches);
      sink->launches->names_epoch = sink->names_epoch;
    }
  for (size_t at = 0; n_bytes - at >= sizeof (uint64_t);)
    {
      uint32_t kind;
      memcpy (&kind, bytes + at, sizeof kind);
      if (kind == CUPTI_ACTIVITY_KIND_INVALID)
        return;
      size_t size = kind < LNS_WIRE_CUPTI_KINDS ? sizes->record_bytes[kind] : 0;
      if (size == 0 || size % 8 != 0 || size > n_bytes - at)
        {
          ret_counts->unknown_kind = kind;
          return;
        }
      if (writers[kind].put != NULL)
        {
          LnsCuptiRecord longer;
          LnsCuptiWork work = { .sink = sink,
                                .counts = ret_counts,
                                .from = (const LnsCuptiRecord *)(bytes + at),
                                .n_bytes = size };
          if (size < writers[kind].n_bytes || sink->clock != NULL)
            {
              size_t n = size < sizeof longer ? size : sizeof longer;
              memcpy (&longer, bytes + at, n);
              memset ((uint8_t *)&longer + n, 0, sizeof longer - n);
              work.from = &longer;
            }
          for (int i = 0; i < 2 && sink->clock != NULL && writers[kind].times[i] != 0; i++)
            lns_wire_cupti_clock_convert (sink->clock, (uint8_t *)&longer + writers[kind].times[i]);
          LnsCuptiResult result = writers[kind].put (&work);
          ret_counts->n_compacted += result == LNS_CUPTI_DONE;
          ret_counts->n_lost += result == LNS_CUPTI_LOST;
          ret_counts->n_unfinished += result == LNS_CUPTI_UNFINISHED;
        }
      at += size;
      if (ret_compacted != NULL)
        __atomic_store_n (ret_compacted, (uint32_t)at, __ATOMIC_RELEASE);
    }
}

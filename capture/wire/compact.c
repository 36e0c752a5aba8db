/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/compact.h"
#include "capture/wire/cupti-records.h"
#include "capture/wire/cupti-topology.h"

#include <string.h>

/* The conversion of one record. */
typedef struct
{
  const LnsWireCuptiSink *sink;
  LnsWireCuptiCounts *counts;
  const LnsCuptiRecord *from;
  size_t n_bytes; /* size of the record in the loaded CUPTI */
} Work;

typedef enum
{
  DONE,
  SKIPPED,
  LOST,
  UNFINISHED,
  MISTIMED
} Result;

/* Whether the loaded CUPTI has FIELD. Needed only if a missing field is not the same as 0. */
#define HAS(work, type, field)                                                                     \
 (offsetof (type, field) + sizeof (((type *)NULL)->field) <= (work)->n_bytes)

#define PADDED(n_bytes)                                                                            \
 (uint32_t) (((n_bytes) + LNS_WIRE_ALIGN_BYTES - 1) & ~(size_t)(LNS_WIRE_ALIGN_BYTES - 1))

/* Returns room for a record of N_BYTES, padded. If there is none, returns null and counts the record as lost. */
static inline void *
begin (const Work *work, size_t n_bytes)
{
  uint8_t *at = work->sink->reserve (work->sink->context, PADDED (n_bytes));
  if (at == NULL)
    work->sink->lose (work->sink->context, PADDED (n_bytes));
  return at;
}

/* Writes the N_BYTES of RECORD, fills in its size, and pads it. */
static inline Result
put (const Work *work, void *record, size_t n_bytes)
{
  uint32_t n_padded = PADDED (n_bytes);
  memcpy ((uint8_t *)record + sizeof (LnsWireHead), &n_padded, sizeof n_padded);
  uint8_t *at = begin (work, n_bytes);
  if (at == NULL)
    return LOST;
  memcpy (at, record, n_bytes);
  memset (at + n_bytes, 0, n_padded - n_bytes);
  work->sink->commit (work->sink->context, n_padded);
  return DONE;
}

/* Does the same for the record of an event, unless that is not finished: then its time is 0. */
static inline Result
put_if_finished (const Work *work, void *record, size_t n_bytes)
{
  LnsWireHead head;
  memcpy (&head, record, sizeof head);
  return head.ticks != 0 ? put (work, record, n_bytes) : UNFINISHED;
}

/* The registered string of the text at ADDRESS. */
static inline uint32_t
text_of (const Work *work, const char *address, bool is_lasting)
{
  return work->sink->text (work->sink->context, (uintptr_t)address, is_lasting);
}

/* END, but no earlier than START. */
static inline uint64_t
later (uint64_t start, uint64_t end)
{
  return end > start ? end : start;
}

/* Counts FROM, a call that DEPTH describes, if it launches a kernel that runs, and follows the captures of its thread. Not
 * inline, as most calls have no role. */
static __attribute__ ((noinline)) void
follow_call (const Work *work, const CUpti_ActivityAPI *from, uint8_t depth)
{
  const bool is_begin = (depth & LNS_WIRE_CUDA_CALL_CAPTURE) && from->returnValue == 0;
  const bool is_end = (depth & LNS_WIRE_CUDA_CALL_CAPTURED) != 0;
  const bool is_captured = work->sink->capturing != NULL &&
                           lns_wire_cupti_follow_capture (work->sink->capturing, from->threadId,
                                                          from->correlationId, is_begin, is_end);
  if ((depth & LNS_WIRE_CUDA_CALL_LAUNCH) && !is_captured && from->returnValue == 0)
    {
      work->counts->n_launched++;
      work->counts->launched_sum += from->correlationId;
    }
}

/* Whether FROM is a call of the engine's own, which is not kept. */
static inline bool
is_skipped (const Work *work, const CUpti_ActivityAPI *from)
{
  const LnsWireCuptiSink *sink = work->sink;
  const uint32_t call = from->correlationId;
  if (__builtin_expect (
          (from->threadId != sink->skipped_tid || from->threadId == 0) &&
              ((call != sink->skipped_calls[0] && call != sink->skipped_calls[1]) || call == 0),
          1))
    return false;
  /* Records come in any order. */
  if (work->counts->last_skipped == 0 || (int32_t)(call - work->counts->last_skipped) > 0)
    work->counts->last_skipped = call;
  return true;
}

static Result
put_api (const Work *work)
{
  const CUpti_ActivityAPI *from = &work->from->api;
  if (from->start == 0 || from->end == 0)
    return UNFINISHED;
  if (is_skipped (work, from))
    return SKIPPED;
  bool is_runtime = from->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  uint8_t depth = is_runtime ? LNS_WIRE_CUDA_CALL_RUNTIME : 0;
  if (work->sink->roles != NULL && from->cbid < LNS_WIRE_CUPTI_CALLS)
    depth |= work->sink->roles[is_runtime][from->cbid] & LNS_WIRE_CUDA_CALL_ROLES;
  if ((depth & LNS_WIRE_CUDA_CALL_ROLES) != 0)
    follow_call (work, from, depth);
  uint32_t name = work->sink->call_name (work->sink->context, is_runtime, from->cbid);
  /* This record and kernels are written in place, without a copy, as most records are of these two kinds. */
  LnsWireCudaApiBytes *to = begin (work, sizeof *to);
  if (to == NULL)
    return LOST;
  *to = (LnsWireCudaApiBytes){
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_API, .depth = depth, .string = name },
    .n_bytes = sizeof *to,
    .correlation = from->correlationId,
    .end_ticks = later (from->start, from->end),
    .cbid = from->cbid,
    .return_value = from->returnValue,
    .tid = from->threadId,
  };
  work->sink->commit (work->sink->context, sizeof *to);
  return DONE;
}

/* --- Kernels. -------------------------------------------------------------------------------- */

static LnsWireCudaLaunchBytes
launch_of (const Work *work)
{
  const CUpti_ActivityKernel10 *from = &work->from->kernel;
  return (LnsWireCudaLaunchBytes){
    .head.type = LNS_WIRE_CUDA_LAUNCH,
    .name = text_of (work, from->name, true),
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
word_at (const Work *work, size_t offset)
{
  uint64_t word;
  memcpy (&word, (const uint8_t *)work->from + offset, sizeof word);
  return word;
}

/* The fields that launch_of() reads. */
static inline LnsWireLaunch
raw_launch_of (const Work *work)
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

/* A launch may have any slot of a group, whose tags share a cache line: programs launch some hundred kernels in several shapes
 * again and again, and with fewer choices some of these would take each other's slot each time. */
#define GROUP 8u
_Static_assert(LNS_WIRE_CUDA_LAUNCHES % GROUP == 0, "whole groups");

/* A hash of LAUNCH by its shape and its name; not 0. */
static inline uint64_t
tag_of (const LnsWireLaunch *launch)
{
  const uint64_t *words = launch->words;
  const uint64_t hash = words[6] * UINT64_C (0x9e3779b97f4a7c15) ^
                        words[1] * UINT64_C (0xc2b2ae3d27d4eb4f) ^
                        words[2] * UINT64_C (0x165667b19e3779f9) ^
                        (words[3] + words[4]) * UINT64_C (0xff51afd7ed558ccd);
  return (hash ^ hash >> 29) | 1;
}

/* Finds the slot of LAUNCH, which has TAG. Returns false if the slot must be defined first. */
static inline bool
find_slot (const LnsWireLaunches *launches,
           const LnsWireLaunch *launch,
           uint64_t tag,
           uint32_t *ret_slot)
{
  const uint32_t first = (uint32_t)(tag >> 32) % LNS_WIRE_CUDA_LAUNCHES & ~(GROUP - 1);
  for (uint32_t slot = first; slot < first + GROUP; slot++)
    if (launches->tags[slot] == tag && is_same (&launches->launches[slot], launch))
      {
        *ret_slot = slot;
        return true;
      }
  /* Slots are taken from the front of a group. */
  uint32_t slot = first;
  while (slot < first + GROUP && launches->tags[slot] != 0)
    slot++;
  *ret_slot = slot < first + GROUP ? slot : first + launches->n_replaced % GROUP;
  return false;
}

/* Writes the definition of SLOT. */
static Result
define_launch (const Work *work, uint32_t slot, const LnsWireLaunch *raw, uint64_t tag)
{
  LnsWireLaunches *launches = work->sink->launches;
  LnsWireCudaLaunchBytes launch = launch_of (work);
  launch.head.string = slot;
  Result result = put (work, &launch, sizeof launch);
  if (result == DONE)
    {
      launches->n_replaced += launches->tags[slot] != 0;
      launches->launches[slot] = *raw;
      launches->tags[slot] = tag;
    }
  return result;
}

static Result
put_kernel (const Work *work)
{
  const CUpti_ActivityKernel10 *from = &work->from->kernel;
  if (from->start == 0 || from->end == 0)
    {
      LnsWireCudaKernelBytes unfinished = { .head.type = LNS_WIRE_CUDA_KERNEL,
                                            .correlation = from->correlationId,
                                            .grid_id = work->sink->asked_ticks,
                                            .graph_node = from->graphNodeId,
                                            .place = { from->deviceId, from->contextId,
                                                       from->streamId } };
      return put (work, &unfinished, sizeof unfinished);
    }
  if (from->graphNodeId == 0)
    {
      work->counts->n_run++;
      work->counts->run_sum += from->correlationId;
    }
  const LnsWireLaunch launch = raw_launch_of (work);
  const uint64_t tag = tag_of (&launch);
  uint32_t slot;
  if (!find_slot (work->sink->launches, &launch, tag, &slot) &&
      define_launch (work, slot, &launch, tag) != DONE)
    return LOST;
  LnsWireCudaKernelBytes *to = begin (work, sizeof *to);
  if (to == NULL)
    return LOST;
  *to = (LnsWireCudaKernelBytes){
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_KERNEL, .string = slot },
    .n_bytes = sizeof *to,
    .correlation = from->correlationId,
    .end_ticks = later (from->start, from->end),
    .grid_id = (uint64_t)from->gridId,
    .graph_node = from->graphNodeId,
    .place = { from->deviceId, from->contextId, from->streamId },
    .graph = from->graphId,
  };
  work->sink->commit (work->sink->context, sizeof *to);
  return DONE;
}

/* Writes when the kernel, whose record comes next, was queued and submitted. If there is no room, neither is there any for
 * that record. */
static void
put_latency (const Work *work)
{
  const CUpti_ActivityKernel10 *from = &work->from->kernel;
  LnsWireCudaLatencyBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_LATENCY },
    .n_bytes = PADDED (sizeof record),
    .correlation = from->correlationId,
    .queued_ticks = from->queued,
    .submitted_ticks = from->submitted,
  };
  uint8_t *to = from->start != 0 && (from->queued | from->submitted) != 0
                    ? work->sink->reserve (work->sink->context, PADDED (sizeof record))
                    : NULL;
  if (to == NULL)
    return;
  memset (to, 0, PADDED (sizeof record));
  memcpy (to, &record, sizeof record);
  work->sink->commit (work->sink->context, PADDED (sizeof record));
}

/* How the record of an event begins: with its KIND, and the times and the correlation of FROM. Its time is 0 if FROM lacks
 * one of its times. */
#define EVENT_OF(from, kind)                                                                       \
 .head = { .ticks = (from)->end != 0 ? (from)->start : 0, .type = (kind) },                        \
 .correlation = (from)->correlationId, .end_ticks = later ((from)->start, (from)->end)

#define NO_PEERS                                                                                   \
 .source_device = LNS_WIRE_CUDA_NONE, .source_context = LNS_WIRE_CUDA_NONE,                        \
 .destination_device = LNS_WIRE_CUDA_NONE, .destination_context = LNS_WIRE_CUDA_NONE

static Result
put_copy (const Work *work)
{
  const CUpti_ActivityMemcpy6 *from = &work->from->copy;
  LnsWireCudaMemcpyBytes record = {
    EVENT_OF (from, LNS_WIRE_CUDA_MEMCPY),
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
  return put_if_finished (work, &record, sizeof record);
}

static Result
put_copy_between (const Work *work)
{
  const CUpti_ActivityMemcpyPtoP4 *from = &work->from->copy_between;
  LnsWireCudaMemcpyBytes record = {
    EVENT_OF (from, LNS_WIRE_CUDA_MEMCPY),
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
  return put_if_finished (work, &record, sizeof record);
}

static Result
put_decompress (const Work *work)
{
  const CUpti_ActivityMemDecompress *from = &work->from->decompress;
  LnsWireCudaMemcpyBytes record = {
    EVENT_OF (from, LNS_WIRE_CUDA_DECOMPRESS),
    .size_bytes = from->sourceBytes,
    .copy_count = from->numberOfOperations,
    .place = { from->deviceId, from->contextId, from->streamId },
    NO_PEERS,
  };
  return put_if_finished (work, &record, sizeof record);
}

static Result
put_set (const Work *work)
{
  const CUpti_ActivityMemset4 *from = &work->from->set;
  LnsWireCudaMemsetBytes record = {
    EVENT_OF (from, LNS_WIRE_CUDA_MEMSET),
    .size_bytes = from->bytes,
    .graph_node = from->graphNodeId,
    .place = { from->deviceId, from->contextId, from->streamId },
    .value = from->value,
    .memory_kind = from->memoryKind,
    .flags = from->flags,
  };
  return put_if_finished (work, &record, sizeof record);
}

static Result
put_sync (const Work *work)
{
  const CUpti_ActivitySynchronization2 *from = &work->from->sync;
  LnsWireCudaSyncBytes record = {
    EVENT_OF (from, LNS_WIRE_CUDA_SYNC),
    .event_sync = from->cudaEventSyncId,
    .place = { LNS_WIRE_CUDA_NONE, from->contextId, from->streamId },
    .type = (uint32_t)from->type,
    .event = from->cudaEventId,
    .return_value = from->returnValue,
  };
  return put_if_finished (work, &record, sizeof record);
}

static Result
put_event (const Work *work)
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
  return put (work, &record, sizeof record);
}

static Result
put_graph (const Work *work)
{
  const CUpti_ActivityGraphTrace2 *from = &work->from->graph;
  LnsWireCudaGraphBytes record = {
    EVENT_OF (from, LNS_WIRE_CUDA_GRAPH),
    .place = { from->deviceId, from->contextId, from->streamId },
    .graph = from->graphId,
  };
  /* A graph that begins with a node on the host is shown where its last node ran. */
  if (from->contextId == LNS_WIRE_CUDA_HOST && HAS (work, CUpti_ActivityGraphTrace2, endContextId))
    {
      record.place.device = from->endDeviceId;
      record.place.context = from->endContextId;
    }
  return put_if_finished (work, &record, sizeof record);
}

static Result
put_device_graph (const Work *work)
{
  const CUpti_ActivityDeviceGraphTrace *from = &work->from->device_graph;
  if (from->start == 0 || from->end == 0)
    return UNFINISHED;
  LnsWireCudaGraphBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_GRAPH },
    .end_ticks = later (from->start, from->end),
    .place = { from->deviceId, from->contextId, (uint32_t)from->streamId },
    .graph = from->graphId,
    .launcher = from->launcherGraphId,
  };
  return put (work, &record, sizeof record);
}

static Result
put_host (const Work *work)
{
  const LnsCuptiHostLaunch *launch = &work->from->host_launch;
  const LnsCuptiHostNode *node = &work->from->host_node;
  const bool is_node = node->kind == LNS_CUPTI_HOST_NODE;
  const uint64_t end = is_node ? node->end : launch->end;
  LnsWireCudaHostBytes record = {
    .head = { .ticks = is_node ? node->start : launch->start, .type = LNS_WIRE_CUDA_HOST_FUNCTION },
    .correlation = launch->correlation, /* both begin alike */
    .graph_node = is_node ? node->node : 0,
    .place = { launch->device, launch->context, launch->stream },
    .graph = is_node ? node->graph : 0,
    .tid = is_node ? node->tid : launch->tid,
  };
  record.end_ticks = later (record.head.ticks, end);
  if (end == 0)
    record.head.ticks = 0;
  return put_if_finished (work, &record, sizeof record);
}

static Result
put_switch (const Work *work)
{
  const LnsCuptiSwitch *from = &work->from->change;
  if (from->operation != 1 && from->operation != 2)
    return SKIPPED;
  LnsWireCudaSwitchBytes record = {
    .head = { .ticks = from->timestamp, .type = LNS_WIRE_CUDA_SWITCH },
    .context = from->context,
    .is_end = from->operation == 2,
  };
  return put_if_finished (work, &record, sizeof record);
}

/* --- Around the work of the device. ----------------------------------------------------------- */

/* Whether CUPTI allocated something for the record, in this process. */
static bool
has_leftover (const Work *work)
{
  const CUpti_ActivityOverhead3 *from = &work->from->overhead;
  return work->sink->leftovers != NULL && from->overheadData != NULL &&
         from->overheadKind == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
}

/* Takes that, as it is to be freed once: the header of CUPTI says so. */
static void
take_leftover (const Work *work)
{
  const CUpti_ActivityOverhead3 *from = &work->from->overhead;
  if (!has_leftover (work))
    return;
  memcpy (from->overheadData, work->sink->leftovers, sizeof (void *));
  *work->sink->leftovers = from->overheadData;
}

static Result
put_overhead (const Work *work)
{
  const CUpti_ActivityOverhead3 *from = &work->from->overhead;
  LnsWireCudaOverheadBytes record = {
    EVENT_OF (from, LNS_WIRE_CUDA_OVERHEAD),
    .kind = (uint32_t)from->overheadKind,
    .tid = from->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? from->objectId.pt.threadId : 0,
  };
  if (has_leftover (work))
    {
      const CUpti_ActivityOverheadCommandBufferFullData *full = from->overheadData;
      record.channel = full->channelID;
      record.channel_type = 1 + full->channelType;
    }
  take_leftover (work);
  return put_if_finished (work, &record, sizeof record);
}

static Result
put_memory (const Work *work)
{
  const CUpti_ActivityMemory4 *from = &work->from->memory;
  LnsWireCudaMemoryBytes record = {
    .head = { .ticks = from->timestamp,
              .type = LNS_WIRE_CUDA_MEMORY,
              .string = text_of (work, from->name, false) },
    .correlation = from->correlationId,
    .address = from->address,
    .size_bytes = from->bytes,
    .pc = from->PC,
    .pool_address = from->memoryPoolConfig.address,
    .pool_threshold = from->memoryPoolConfig.releaseThreshold,
    .pool_size = from->memoryPoolConfig.pool.size,
    .pool_utilized = from->memoryPoolConfig.utilizedSize,
    .place = { from->deviceId, from->contextId, from->streamId },
    .operation = (uint8_t)from->memoryOperationType,
    .memory_kind = (uint8_t)from->memoryKind,
    .pool_type = (uint8_t)from->memoryPoolConfig.memoryPoolType,
    .is_async = from->isAsync != 0,
    .source = text_of (work, from->source, false),
  };
  return put (work, &record, sizeof record);
}

static Result
put_pool (const Work *work)
{
  const CUpti_ActivityMemoryPool3 *from = &work->from->pool;
  LnsWireCudaPoolBytes record = {
    .head = { .ticks = from->timestamp, .type = LNS_WIRE_CUDA_POOL },
    .correlation = from->correlationId,
    .address = from->address,
    .min_bytes_to_keep = from->minBytesToKeep,
    .pool_threshold = from->releaseThreshold,
    .pool_size = from->size,
    .pool_utilized = from->utilizedSize,
    .device = from->deviceId,
    .operation = (uint8_t)from->memoryPoolOperationType,
    .pool_type = (uint8_t)from->memoryPoolType,
  };
  return put (work, &record, sizeof record);
}

/* Whether a record of the counter KIND has an end: the header of CUPTI says so. */
static bool
has_end (CUpti_ActivityUnifiedMemoryCounterKind kind)
{
  return kind != CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT &&
         kind != CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING &&
         kind != CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP;
}

static Result
put_unified (const Work *work)
{
  const CUpti_ActivityUnifiedMemoryCounter3 *from = &work->from->unified;
  LnsWireCudaUnifiedBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_UNIFIED },
    .counter = (uint32_t)from->counterKind,
    .end_ticks = has_end (from->counterKind) ? later (from->start, from->end) : from->start,
    .value = from->value,
    .address = from->address,
    .source = from->srcId,
    .destination = from->dstId,
    .stream = from->streamId,
    .flags = from->flags,
  };
  return put (work, &record, sizeof record);
}

static Result
put_jit (const Work *work)
{
  const CUpti_ActivityJit2 *from = &work->from->jit;
  if (from->start == 0 || from->end == 0)
    return UNFINISHED;
  LnsWireCudaJitBytes record = {
    .head = { .ticks = from->start,
              .type = LNS_WIRE_CUDA_JIT,
              .string = text_of (work, from->cachePath, false) },
    .correlation = from->correlationId,
    .end_ticks = later (from->start, from->end),
    .cache_bytes = from->cacheSize,
    .device = from->deviceId,
    .entry = (uint8_t)from->jitEntryType,
    .operation = (uint8_t)from->jitOperationType,
    .tid = from->threadId,
  };
  return put (work, &record, sizeof record);
}

/* --- What there is. -------------------------------------------------------------------------- */

static Result
put_device (const Work *work)
{
  const CUpti_ActivityDevice5 *from = &work->from->device;
  LnsWireCudaDeviceBytes record = {
    .head = { .type = LNS_WIRE_CUDA_DEVICE, .string = text_of (work, from->name, false) },
    .number = from->id,
    .compute_major = from->computeCapabilityMajor,
    .compute_minor = from->computeCapabilityMinor,
    .n_multiprocessors = from->numMultiprocessors,
    .core_clock = from->coreClockRate,
    .memory_bytes = from->globalMemorySize,
    .memory_bandwidth = from->globalMemoryBandwidth,
    .constant_bytes = from->constantMemorySize,
    .l2_bytes = from->l2CacheSize,
    .n_copy_engines = from->numMemcpyEngines,
    .threads_per_warp = from->numThreadsPerWarp,
    .max_ipc = from->maxIPC,
    .max_warps_per_sm = from->maxWarpsPerMultiprocessor,
    .max_blocks_per_sm = from->maxBlocksPerMultiprocessor,
    .max_registers_per_block = from->maxRegistersPerBlock,
    .max_registers_per_sm = from->maxRegistersPerMultiprocessor,
    .max_shared_per_block = from->maxSharedMemoryPerBlock,
    .max_shared_per_sm = from->maxSharedMemoryPerMultiprocessor,
    .max_threads_per_block = from->maxThreadsPerBlock,
    .max_block = { from->maxBlockDimX, from->maxBlockDimY, from->maxBlockDimZ },
    .max_grid = { from->maxGridDimX, from->maxGridDimY, from->maxGridDimZ },
    .is_mig = from->isMigEnabled,
  };
  memcpy (record.uuid, from->isMigEnabled ? &from->migUuid : &from->uuid, sizeof record.uuid);
  work->sink->bus (work->sink->context, from->id, record.bus, sizeof record.bus);
  return put (work, &record, sizeof record);
}

static Result
put_context (const Work *work)
{
  const CUpti_ActivityContext3 *from = &work->from->context.known;
  LnsWireCudaContextBytes record = {
    .head.type = LNS_WIRE_CUDA_CONTEXT,
    .number = from->contextId,
    .device = from->deviceId,
    .null_stream = from->nullStreamId,
    .parent = from->isGreenContext ? from->parentContextId : LNS_WIRE_CUDA_NONE,
    .is_green = from->isGreenContext,
    .n_multiprocessors = from->numMultiprocessors,
    .pid = (uint32_t)work->from->context.pid,
  };
  return put (work, &record, sizeof record);
}

static Result
put_green_context (const Work *work)
{
  const LnsCuptiGreenContext *from = &work->from->green_context;
  LnsWireCudaContextBytes record = {
    .head.type = LNS_WIRE_CUDA_CONTEXT,
    .number = from->context,
    .device = from->device,
    .null_stream = LNS_WIRE_CUDA_NONE,
    .parent = from->parent,
    .is_green = 1,
    .n_multiprocessors = from->n_multiprocessors,
  };
  return put (work, &record, sizeof record);
}

static Result
put_stream (const Work *work)
{
  const CUpti_ActivityStream *from = &work->from->stream;
  LnsWireCudaStreamBytes record = {
    .head.type = LNS_WIRE_CUDA_STREAM,
    .number = from->streamId,
    .context = from->contextId,
    .priority = (int32_t)from->priority,
    .flags = (uint32_t)from->flag,
  };
  return put (work, &record, sizeof record);
}

static Result
put_topology (const Work *work)
{
  LnsWireCudaTopologyBytes record;
  if (!lns_wire_cupti_topology (work->from, work->n_bytes, work->sink->leftovers, &record))
    return SKIPPED;
  return put (work, &record, sizeof record);
}

/* --- The walk. ------------------------------------------------------------------------------- */

/* By kind: what compacts its records, the size of the newest struct, where its times lie, and its correlation. Records
 * of other kinds are left out. */
#define SPAN(type)                                                                                 \
 sizeof (type), { offsetof (type, start), offsetof (type, end) }
#define MOMENT(type, field)                                                                        \
 sizeof (type), { offsetof (type, field) }
#define OF_CALL(type) offsetof (type, correlationId)

static const struct
{
  Result (*put) (const Work *);
  size_t n_bytes;
  size_t times[2];    /* 0: none */
  size_t correlation; /* 0: none */
  bool is_work;       /* of the device */
} writers[LNS_WIRE_CUPTI_KINDS] = {
  [CUPTI_ACTIVITY_KIND_DRIVER] = { put_api, SPAN (CUpti_ActivityAPI), OF_CALL (CUpti_ActivityAPI) },
  [CUPTI_ACTIVITY_KIND_RUNTIME] = { put_api, SPAN (CUpti_ActivityAPI),
                                    OF_CALL (CUpti_ActivityAPI) },
  [CUPTI_ACTIVITY_KIND_KERNEL] = { put_kernel, SPAN (CUpti_ActivityKernel10),
                                   OF_CALL (CUpti_ActivityKernel10), true },
  [CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = { put_kernel, SPAN (CUpti_ActivityKernel10),
                                              OF_CALL (CUpti_ActivityKernel10), true },
  [CUPTI_ACTIVITY_KIND_MEMCPY] = { put_copy, SPAN (CUpti_ActivityMemcpy6),
                                   OF_CALL (CUpti_ActivityMemcpy6), true },
  [CUPTI_ACTIVITY_KIND_MEMCPY2] = { put_copy_between, SPAN (CUpti_ActivityMemcpyPtoP4),
                                    OF_CALL (CUpti_ActivityMemcpyPtoP4), true },
  [CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS] = { put_decompress, SPAN (CUpti_ActivityMemDecompress),
                                           OF_CALL (CUpti_ActivityMemDecompress), true },
  [CUPTI_ACTIVITY_KIND_MEMSET] = { put_set, SPAN (CUpti_ActivityMemset4),
                                   OF_CALL (CUpti_ActivityMemset4), true },
  [CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = { put_sync, SPAN (CUpti_ActivitySynchronization2),
                                            OF_CALL (CUpti_ActivitySynchronization2) },
  [CUPTI_ACTIVITY_KIND_CUDA_EVENT] = { put_event,
                                       MOMENT (CUpti_ActivityCudaEvent2, deviceTimestamp),
                                       OF_CALL (CUpti_ActivityCudaEvent2) },
  [CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = { put_graph, SPAN (CUpti_ActivityGraphTrace2),
                                        OF_CALL (CUpti_ActivityGraphTrace2), true },
  [CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE] = { put_device_graph,
                                               SPAN (CUpti_ActivityDeviceGraphTrace), 0, true },
  [CUPTI_ACTIVITY_KIND_OVERHEAD] = { put_overhead, SPAN (CUpti_ActivityOverhead3),
                                     OF_CALL (CUpti_ActivityOverhead3) },
  [CUPTI_ACTIVITY_KIND_MEMORY2] = { put_memory, MOMENT (CUpti_ActivityMemory4, timestamp),
                                    OF_CALL (CUpti_ActivityMemory4) },
  [CUPTI_ACTIVITY_KIND_MEMORY_POOL] = { put_pool, MOMENT (CUpti_ActivityMemoryPool3, timestamp),
                                        OF_CALL (CUpti_ActivityMemoryPool3) },
  [CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = { put_unified,
                                                   SPAN (CUpti_ActivityUnifiedMemoryCounter3) },
  [CUPTI_ACTIVITY_KIND_JIT] = { put_jit, SPAN (CUpti_ActivityJit2), OF_CALL (CUpti_ActivityJit2) },
  [CUPTI_ACTIVITY_KIND_DEVICE] = { put_device, sizeof (CUpti_ActivityDevice5), { 0 } },
  [CUPTI_ACTIVITY_KIND_CONTEXT] = { put_context, sizeof (LnsCuptiContext), { 0 } },
  [LNS_CUPTI_GREEN_CONTEXT] = { put_green_context, sizeof (LnsCuptiGreenContext), { 0 } },
  [LNS_CUPTI_HOST_NODE] = { put_host, SPAN (LnsCuptiHostNode),
                            offsetof (LnsCuptiHostNode, correlation) },
  [LNS_CUPTI_HOST_LAUNCH] = { put_host, SPAN (LnsCuptiHostLaunch),
                              offsetof (LnsCuptiHostLaunch, correlation) },
  [LNS_CUPTI_SWITCH] = { put_switch, MOMENT (LnsCuptiSwitch, timestamp) },
  [LNS_CUPTI_NVLINK] = { put_topology, 0, { 0 } },
  [LNS_CUPTI_PCIE] = { put_topology, 0, { 0 } },
  [CUPTI_ACTIVITY_KIND_STREAM] = { put_stream, sizeof (CUpti_ActivityStream), { 0 } },
};

/* Whether everything so far is in one of RANGES: recording began with the process, and goes on. */
static bool
admits_all (const LnsWireCuptiRanges *ranges)
{
  const LnsWireCuptiRange *first = &ranges->ranges[0];
  return __atomic_load_n (&ranges->n, __ATOMIC_ACQUIRE) == 1 && first->first == 0 &&
         first->first_ticks == 0 &&
         __atomic_load_n (&first->last_ticks, __ATOMIC_ACQUIRE) == UINT64_MAX;
}

/* Whether RECORD, of KIND, is in one of RANGES. Definitions, which have no time, always are. */
static bool
is_admitted (const LnsWireCuptiRanges *ranges, const LnsCuptiRecord *record, uint32_t kind)
{
  uint32_t correlation = 0;
  uint64_t ticks;
  if (writers[kind].times[0] == 0)
    return true;
  if (writers[kind].correlation != 0)
    memcpy (&correlation, (const uint8_t *)record + writers[kind].correlation, sizeof correlation);
  memcpy (&ticks, (const uint8_t *)record + writers[kind].times[0], sizeof ticks);
  return lns_wire_cupti_ranges_admit (ranges, correlation, ticks);
}

/* Writes that a copy or a memset, of KIND, has no times, and where it ran. Of other work only the number is told. */
static __attribute__ ((noinline)) Result
put_untimed (const Work *work, uint32_t kind)
{
  const LnsCuptiRecord *from = work->from;
  LnsWireCudaKernelBytes untimed = { .head = { .type = LNS_WIRE_CUDA_KERNEL, .depth = 1 },
                                     .grid_id = work->sink->asked_ticks };
#define TAKE(record)                                                                               \
 do                                                                                                \
  {                                                                                                \
   untimed.correlation = record.correlationId;                                                     \
   untimed.graph_node = record.graphNodeId;                                                        \
   untimed.place = (LnsWireCudaPlace){ record.deviceId, record.contextId, record.streamId };       \
  }                                                                                                \
 while (0)
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY)
    TAKE (from->copy);
  else if (kind == CUPTI_ACTIVITY_KIND_MEMCPY2)
    TAKE (from->copy_between);
  else if (kind == CUPTI_ACTIVITY_KIND_MEMSET)
    TAKE (from->set);
  else
    return UNFINISHED;
#undef TAKE
  return put (work, &untimed, sizeof untimed);
}

/* Compacts a record of KIND, which is one of work. That has times which were measured, unless it may not have ended. */
static inline __attribute__ ((always_inline)) Result
put_work (const Work *work, uint32_t kind, bool has_latencies)
{
  const CUpti_ActivityKernel10 *kernel = &work->from->kernel;
  uint64_t start, end;
  memcpy (&start, (const uint8_t *)work->from + writers[kind].times[0], sizeof start);
  memcpy (&end, (const uint8_t *)work->from + writers[kind].times[1], sizeof end);
  const bool is_untimed = start == 0 || end == 0;
  if (has_latencies && writers[kind].put == put_kernel && start <= end)
    put_latency (work);
  if (is_untimed ? work->sink->asked_ticks != 0 : start <= end)
    return is_untimed && writers[kind].put != put_kernel ? put_untimed (work, kind)
                                                         : writers[kind].put (work);
  if (writers[kind].put == put_kernel && kernel->graphNodeId == 0)
    {
      work->counts->n_run++;
      work->counts->run_sum += kernel->correlationId;
    }
  return MISTIMED;
}

/* lns_wire_cupti_compact (), once for each value of HAS_LATENCIES: kernels and calls pay nothing for what is not asked
 * for. */
static inline __attribute__ ((always_inline)) void
walk (const LnsWireCuptiSizes *sizes,
      const uint8_t *bytes,
      size_t n_bytes,
      const LnsWireCuptiSink *sink,
      uint32_t *ret_compacted,
      LnsWireCuptiCounts *ret_counts,
      bool has_latencies)
{
  /* What is in the buffer was made before now. */
  const bool is_ranged = sink->ranges != NULL && !admits_all (sink->ranges);
  if (sink->launches->names_epoch != sink->names_epoch)
    {
      memset (sink->launches, 0, sizeof *sink->launches);
      sink->launches->names_epoch = sink->names_epoch;
    }
  for (size_t at = 0; n_bytes - at >= sizeof (uint64_t);)
    {
      uint32_t kind;
      memcpy (&kind, bytes + at, sizeof kind);
      const uint32_t marked = kind;
      const bool is_complete = (kind & LNS_WIRE_CUPTI_INCOMPLETE) == 0;
      kind &= ~LNS_WIRE_CUPTI_INCOMPLETE;
      if (kind == CUPTI_ACTIVITY_KIND_INVALID)
        return;
      size_t size = kind < LNS_WIRE_CUPTI_KINDS ? sizes->record_bytes[kind] : 0;
      if (size == 0 || size % 8 != 0 || size > n_bytes - at)
        {
          ret_counts->unknown_kind = marked;
          return;
        }
      if (writers[kind].put != NULL && (is_complete || writers[kind].is_work))
        {
          LnsCuptiRecord longer;
          Work work = { .sink = sink,
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
          if (has_latencies && sink->clock != NULL && writers[kind].put == put_kernel)
            {
              lns_wire_cupti_clock_convert (sink->clock, (uint8_t *)&longer.kernel.queued);
              lns_wire_cupti_clock_convert (sink->clock, (uint8_t *)&longer.kernel.submitted);
            }
          Result result = SKIPPED;
          if (!is_ranged || is_admitted (sink->ranges, work.from, kind))
            result = writers[kind].is_work ? put_work (&work, kind, has_latencies)
                                           : writers[kind].put (&work);
          else if (writers[kind].put == put_api)
            (void)is_skipped (&work, &work.from->api);
          else if (kind == CUPTI_ACTIVITY_KIND_OVERHEAD)
            take_leftover (&work);
          if (result == DONE)
            ret_counts->n_compacted++;
          else
            {
              ret_counts->n_lost += result == LOST;
              ret_counts->n_unfinished += result == UNFINISHED;
              ret_counts->n_mistimed += result == MISTIMED;
            }
        }
      at += size;
      if (ret_compacted != NULL)
        __atomic_store_n (ret_compacted, (uint32_t)at, __ATOMIC_RELEASE);
    }
}

void
lns_wire_cupti_compact (const LnsWireCuptiSizes *sizes,
                        const uint8_t *bytes,
                        size_t n_bytes,
                        const LnsWireCuptiSink *sink,
                        uint32_t *ret_compacted,
                        LnsWireCuptiCounts *ret_counts)
{
  if (sink->has_latencies)
    walk (sizes, bytes, n_bytes, sink, ret_compacted, ret_counts, true);
  else
    walk (sizes, bytes, n_bytes, sink, ret_compacted, ret_counts, false);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/compact.h"

#include <cupti.h>
#include <string.h>

/* A record, at least as long as the newest struct of its kind. */
typedef union __attribute__ ((may_alias))
{
  CUpti_ActivityKind kind;
  CUpti_ActivityAPI api;
  CUpti_ActivityKernel10 kernel;
  CUpti_ActivityMemcpy6 copy;
  CUpti_ActivityMemcpyPtoP4 copy_between;
  CUpti_ActivityMemset4 set;
  CUpti_ActivitySynchronization2 sync;
  CUpti_ActivityCudaEvent2 event;
  CUpti_ActivityGraphTrace2 graph;
  CUpti_ActivityDeviceGraphTrace device_graph;
  CUpti_ActivityOverhead3 overhead;
  CUpti_ActivityMemory4 memory;
  CUpti_ActivityMemoryPool3 pool;
  CUpti_ActivityUnifiedMemoryCounter3 unified;
  CUpti_ActivityJit2 jit;
  CUpti_ActivityDevice5 device;
  CUpti_ActivityContext3 context;
  CUpti_ActivityStream stream;
  CUpti_ActivityMemDecompress decompress;
} Record;

/* The conversion of one record. */
typedef struct
{
  const LnsWireCuptiSink *sink;
  LnsWireCuptiCounts *counts;
  const Record *from;
  size_t n_bytes; /* size of the record in the loaded CUPTI */
} Work;

typedef enum
{
  DONE,
  SKIPPED,
  LOST,
  UNFINISHED
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

/* The layout of CUPTI 13.0. The build fails with a header that moves a field. */
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

static Result
put_api (const Work *work)
{
  const CUpti_ActivityAPI *from = &work->from->api;
  if (from->start == 0 || from->end == 0)
    return UNFINISHED;
  if (from->threadId == work->sink->skipped_tid && from->threadId != 0)
    return SKIPPED;
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

/* Finds the slot of LAUNCH by its shape and its name; of two launches with the same slot, one may use the
 * neighbour. Returns false if the slot must be defined first. */
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

/* Writes the definition of SLOT. */
static Result
define_launch (const Work *work, uint32_t slot, const LnsWireLaunch *raw)
{
  LnsWireCudaLaunchBytes launch = launch_of (work);
  launch.head.string = slot;
  Result result = put (work, &launch, sizeof launch);
  if (result == DONE)
    work->sink->launches->launches[slot] = *raw;
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
                                            .graph_node = from->graphNodeId };
      return put (work, &unfinished, sizeof unfinished);
    }
  if (from->graphNodeId == 0)
    {
      work->counts->n_run++;
      work->counts->run_sum += from->correlationId;
    }
  const LnsWireLaunch launch = raw_launch_of (work);
  uint32_t slot;
  if (!find_slot (work->sink->launches, &launch, &slot) &&
      define_launch (work, slot, &launch) != DONE)
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

/* --- Around the work of the device. ----------------------------------------------------------- */

static Result
put_overhead (const Work *work)
{
  const CUpti_ActivityOverhead3 *from = &work->from->overhead;
  LnsWireCudaOverheadBytes record = {
    EVENT_OF (from, LNS_WIRE_CUDA_OVERHEAD),
    .kind = (uint32_t)from->overheadKind,
    .tid = from->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? from->objectId.pt.threadId : 0,
  };
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

static Result
put_unified (const Work *work)
{
  const CUpti_ActivityUnifiedMemoryCounter3 *from = &work->from->unified;
  LnsWireCudaUnifiedBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_UNIFIED },
    .counter = (uint32_t)from->counterKind,
    .end_ticks = later (from->start, from->end),
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
  const CUpti_ActivityContext3 *from = &work->from->context;
  LnsWireCudaContextBytes record = {
    .head.type = LNS_WIRE_CUDA_CONTEXT,
    .number = from->contextId,
    .device = from->deviceId,
    .null_stream = from->nullStreamId,
    .parent = from->isGreenContext ? from->parentContextId : LNS_WIRE_CUDA_NONE,
    .is_green = from->isGreenContext,
    .n_multiprocessors = from->numMultiprocessors,
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

/* --- The walk. ------------------------------------------------------------------------------- */

/* By kind: what compacts its records, the size of the newest struct, and where its times lie. Records of other kinds are
 * left out. */
#define SPAN(type)                                                                                 \
 sizeof (type), { offsetof (type, start), offsetof (type, end) }
#define MOMENT(type, field)                                                                        \
 sizeof (type), { offsetof (type, field) }

static const struct
{
  Result (*put) (const Work *);
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
  [CUPTI_ACTIVITY_KIND_OVERHEAD] = { put_overhead, SPAN (CUpti_ActivityOverhead3) },
  [CUPTI_ACTIVITY_KIND_MEMORY2] = { put_memory, MOMENT (CUpti_ActivityMemory4, timestamp) },
  [CUPTI_ACTIVITY_KIND_MEMORY_POOL] = { put_pool, MOMENT (CUpti_ActivityMemoryPool3, timestamp) },
  [CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = { put_unified,
                                                   SPAN (CUpti_ActivityUnifiedMemoryCounter3) },
  [CUPTI_ACTIVITY_KIND_JIT] = { put_jit, SPAN (CUpti_ActivityJit2) },
  [CUPTI_ACTIVITY_KIND_DEVICE] = { put_device, sizeof (CUpti_ActivityDevice5), { 0 } },
  [CUPTI_ACTIVITY_KIND_CONTEXT] = { put_context, sizeof (CUpti_ActivityContext3), { 0 } },
  [CUPTI_ACTIVITY_KIND_STREAM] = { put_stream, sizeof (CUpti_ActivityStream), { 0 } },
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
          Record longer;
          Work work = { .sink = sink,
                        .counts = ret_counts,
                        .from = (const Record *)(bytes + at),
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
          Result result = writers[kind].put (&work);
          ret_counts->n_compacted += result == DONE;
          ret_counts->n_lost += result == LOST;
          ret_counts->n_unfinished += result == UNFINISHED;
        }
      at += size;
      if (ret_compacted != NULL)
        __atomic_store_n (ret_compacted, (uint32_t)at, __ATOMIC_RELEASE);
    }
}

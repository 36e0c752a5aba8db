/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/compact-private.h"

#include <string.h>

/* --- Around it. ------------------------------------------------------------------------------ */

LnsCuptiResult
_lns_cupti_put_overhead (const LnsCuptiWork *work)
{
  const CUpti_ActivityOverhead3 *from = &work->from->overhead;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  LnsWireCudaOverheadBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_OVERHEAD },
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .kind = (uint32_t)from->overheadKind,
    .tid = from->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? from->objectId.pt.threadId : 0,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

LnsCuptiResult
_lns_cupti_put_memory (const LnsCuptiWork *work)
{
  const CUpti_ActivityMemory4 *from = &work->from->memory;
  LnsWireCudaMemoryBytes record = {
    .head = { .ticks = from->timestamp,
              .type = LNS_WIRE_CUDA_MEMORY,
              .string = _lns_cupti_text (work, from->name, false) },
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
  return _lns_cupti_put (work, &record, sizeof record);
}

LnsCuptiResult
_lns_cupti_put_pool (const LnsCuptiWork *work)
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
  return _lns_cupti_put (work, &record, sizeof record);
}

LnsCuptiResult
_lns_cupti_put_unified (const LnsCuptiWork *work)
{
  const CUpti_ActivityUnifiedMemoryCounter3 *from = &work->from->unified;
  LnsWireCudaUnifiedBytes record = {
    .head = { .ticks = from->start, .type = LNS_WIRE_CUDA_UNIFIED },
    .counter = (uint32_t)from->counterKind,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .value = from->value,
    .address = from->address,
    .source = from->srcId,
    .destination = from->dstId,
    .stream = from->streamId,
    .flags = from->flags,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

LnsCuptiResult
_lns_cupti_put_jit (const LnsCuptiWork *work)
{
  const CUpti_ActivityJit2 *from = &work->from->jit;
  if (from->start == 0 || from->end == 0)
    return LNS_CUPTI_UNFINISHED;
  LnsWireCudaJitBytes record = {
    .head = { .ticks = from->start,
              .type = LNS_WIRE_CUDA_JIT,
              .string = _lns_cupti_text (work, from->cachePath, false) },
    .correlation = from->correlationId,
    .end_ticks = _lns_cupti_later (from->start, from->end),
    .cache_bytes = from->cacheSize,
    .device = from->deviceId,
    .entry = (uint8_t)from->jitEntryType,
    .operation = (uint8_t)from->jitOperationType,
    .tid = from->threadId,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

/* --- What there is. -------------------------------------------------------------------------- */

LnsCuptiResult
_lns_cupti_put_device (const LnsCuptiWork *work)
{
  const CUpti_ActivityDevice5 *from = &work->from->device;
  LnsWireCudaDeviceBytes record = {
    .head = { .type = LNS_WIRE_CUDA_DEVICE, .string = _lns_cupti_text (work, from->name, false) },
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
  return _lns_cupti_put (work, &record, sizeof record);
}

LnsCuptiResult
_lns_cupti_put_context (const LnsCuptiWork *work)
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
  return _lns_cupti_put (work, &record, sizeof record);
}

LnsCuptiResult
_lns_cupti_put_stream (const LnsCuptiWork *work)
{
  const CUpti_ActivityStream *from = &work->from->stream;
  LnsWireCudaStreamBytes record = {
    .head.type = LNS_WIRE_CUDA_STREAM,
    .number = from->streamId,
    .context = from->contextId,
    .priority = (int32_t)from->priority,
    .flags = (uint32_t)from->flag,
  };
  return _lns_cupti_put (work, &record, sizeof record);
}

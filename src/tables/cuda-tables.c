/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tables about CUDA: names, columns, types and what each is made of. Columns and their order are those
 * of public exports of schema 3.25; of tables that none of them has, those of the reference's
 * documentation. */

#include "src/tables/event-columns-private.h"

static const LnsTableColumn CUPTI_ACTIVITY_KIND_RUNTIME[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("eventClass", CALL_CLASS),
  INTEGER ("globalTid", TID),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER_NOT_NULL ("nameId", NAME),
  INTEGER_NOT_NULL ("returnValue", BITS (RETURN_VALUE)),
  INTEGER ("callchainId", BITS_OR_NULL (CALL_CHAIN)),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_KERNEL[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("contextId", CONTEXT),
  INTEGER ("greenContextId", GREEN),
  INTEGER_NOT_NULL ("streamId", STREAM),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("globalPid", PID),
  INTEGER_NOT_NULL ("demangledName", NAME),
  INTEGER_NOT_NULL ("shortName", LAUNCH (short_name)),
  INTEGER ("mangledName", LAUNCH (mangled_name)),
  INTEGER ("launchType", LAUNCH (launch_type)),
  INTEGER ("cacheConfig", LAUNCH_FROM (cache_config, 4)),
  INTEGER_NOT_NULL ("registersPerThread", LAUNCH (registers)),
  INTEGER_NOT_NULL ("gridX", LAUNCH (grid[0])),
  INTEGER_NOT_NULL ("gridY", LAUNCH (grid[1])),
  INTEGER_NOT_NULL ("gridZ", LAUNCH (grid[2])),
  INTEGER_NOT_NULL ("blockX", LAUNCH (block[0])),
  INTEGER_NOT_NULL ("blockY", LAUNCH (block[1])),
  INTEGER_NOT_NULL ("blockZ", LAUNCH (block[2])),
  INTEGER_NOT_NULL ("staticSharedMemory", LAUNCH (static_shared_bytes)),
  INTEGER_NOT_NULL ("dynamicSharedMemory", LAUNCH (dynamic_shared_bytes)),
  INTEGER_NOT_NULL ("localMemoryPerThread", LAUNCH (local_bytes)),
  INTEGER_NOT_NULL ("localMemoryTotal", LAUNCH_WIDE (local_total_bytes)),
  INTEGER_NOT_NULL ("gridId", BITS (GRID_ID)),
  INTEGER ("sharedMemoryExecuted", LAUNCH (shared_executed_bytes)),
  INTEGER ("graphNodeId", BITS_OR_NULL (GRAPH_NODE)),
  INTEGER ("sharedMemoryLimitConfig", LAUNCH (shared_config)),
  INTEGER ("qmdBulkReleaseDone", NOTHING),
  INTEGER ("qmdPreexitDone", NOTHING),
  INTEGER ("qmdLastCtaDone", NOTHING),
  INTEGER ("graphId", BITS_OR_NULL (GRAPH)),
  INTEGER ("clusterX", LAUNCH (cluster[0])),
  INTEGER ("clusterY", LAUNCH (cluster[1])),
  INTEGER ("clusterZ", LAUNCH (cluster[2])),
  INTEGER ("clusterSchedulingPolicy", LAUNCH (cluster_policy)),
  INTEGER ("maxPotentialClusterSize", LAUNCH (max_potential_cluster)),
  INTEGER ("maxActiveClusters", LAUNCH (max_active_clusters)),
  INTEGER ("sharedMemoryRequestedPercentage", NOTHING),
  TEXT_NOT_NULL ("tensorSizeMinusOneElements", EMPTY_LIST),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_MEMCPY[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("contextId", CONTEXT),
  INTEGER ("greenContextId", GREEN),
  INTEGER_NOT_NULL ("streamId", STREAM),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("globalPid", PID),
  INTEGER_NOT_NULL ("bytes", BITS (BYTES)),
  INTEGER_NOT_NULL ("copyKind", BITS (COPY_KIND)),
  INTEGER ("deprecatedSrcId", NOTHING),
  INTEGER ("srcKind", MEMORY_KIND (MEMORY_KINDS, 0)),
  INTEGER ("dstKind", MEMORY_KIND (MEMORY_KINDS, 8)),
  INTEGER ("srcDeviceId", PEER (0, 8)),
  INTEGER ("srcContextId", PEER (8, 24)),
  INTEGER ("dstDeviceId", PEER (32, 8)),
  INTEGER ("dstContextId", PEER (40, 24)),
  INTEGER ("migrationCause", BITS_OR_NULL (MIGRATION_CAUSE)),
  INTEGER ("graphNodeId", BITS_OR_NULL (GRAPH_NODE)),
  INTEGER ("virtualAddress", BITS_OR_NULL (ADDRESS)),
  INTEGER ("copyCount", BITS_OR_NULL (COPY_COUNT)),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_MEMSET[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("contextId", CONTEXT),
  INTEGER ("greenContextId", GREEN),
  INTEGER_NOT_NULL ("streamId", STREAM),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("globalPid", PID),
  INTEGER_NOT_NULL ("value", BITS (SET_VALUE)),
  INTEGER_NOT_NULL ("bytes", BITS (BYTES)),
  INTEGER ("graphNodeId", BITS_OR_NULL (GRAPH_NODE)),
  INTEGER ("memKind", MEMORY_KIND (MEMORY_KINDS, 0)),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_SYNCHRONIZATION[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("contextId", CONTEXT),
  INTEGER ("greenContextId", NOTHING),
  INTEGER_NOT_NULL ("streamId", STREAM_OR_ALL),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("globalPid", PID),
  INTEGER ("deprecatedSyncType", NOTHING),
  INTEGER_NOT_NULL ("syncType", BITS (SYNC_TYPE)),
  INTEGER_NOT_NULL ("eventId", BITS (CUDA_EVENT)),
  INTEGER ("eventSyncId", BITS (CUDA_EVENT_SYNC)),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_CUDA_EVENT[] = {
  INTEGER ("timestamp", START),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("contextId", CONTEXT),
  INTEGER ("greenContextId", GREEN),
  INTEGER_NOT_NULL ("streamId", STREAM),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("globalPid", PID),
  INTEGER_NOT_NULL ("eventId", BITS (CUDA_EVENT)),
  INTEGER ("eventSyncId", BITS (CUDA_EVENT_SYNC)),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_GRAPH_TRACE[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("contextId", CONTEXT),
  INTEGER ("greenContextId", GREEN),
  INTEGER_NOT_NULL ("streamId", STREAM),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("globalPid", PID),
  INTEGER_NOT_NULL ("graphId", BITS (GRAPH)),
  INTEGER_NOT_NULL ("graphExecId", BITS (GRAPH_EXEC)),
};

static const LnsTableColumn CUDA_GRAPH_NODE_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("eventClass", CONSTANT (77)),
  INTEGER ("globalTid", TID),
  INTEGER_NOT_NULL ("nameId", NAME),
  INTEGER_NOT_NULL ("graphNodeId", BITS (GRAPH_NODE)),
  INTEGER ("originalGraphNodeId", BITS_OR_NULL (ORIGINAL)),
};

static const LnsTableColumn CUDA_GRAPH_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("eventClass", GRAPH_CLASS),
  INTEGER ("globalTid", TID),
  INTEGER_NOT_NULL ("nameId", NAME),
  INTEGER ("graphId", BITS_OR_NULL (GRAPH)),
  INTEGER ("originalGraphId", BITS_OR_NULL (ORIGINAL)),
  INTEGER ("graphExecId", BITS_OR_NULL (GRAPH_EXEC)),
};

static const LnsTableColumn CUDA_GPU_MEMORY_USAGE_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("globalPid", PID),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("contextId", SLICE (PLACE, 32, 32)),
  INTEGER_NOT_NULL ("address", BITS (ADDRESS)),
  INTEGER_NOT_NULL ("pc", BITS (PC)),
  INTEGER_NOT_NULL ("bytes", BITS (BYTES)),
  INTEGER_NOT_NULL ("memKind", MEMORY_KIND (OPERATION, 8)),
  INTEGER_NOT_NULL ("memoryOperationType", LESS_ONE (OPERATION)),
  TEXT ("name", NAME_TEXT),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("streamId", SLICE (PLACE, 0, 32)),
  INTEGER ("localMemoryPoolAddress", BITS_OR_NULL (POOL_ADDRESS)),
  INTEGER ("localMemoryPoolReleaseThreshold", BITS_OR_NULL (POOL_THRESHOLD)),
  INTEGER ("localMemoryPoolSize", BITS_OR_NULL (POOL_SIZE)),
  INTEGER ("localMemoryPoolUtilizedSize", BITS_OR_NULL (POOL_UTILIZED)),
  INTEGER ("importedMemoryPoolAddress", NOTHING),
  INTEGER ("importedMemoryPoolProcessId", NOTHING),
};

static const LnsTableColumn CUDA_GPU_MEMORY_POOL_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("globalPid", PID),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("address", BITS (ADDRESS)),
  INTEGER_NOT_NULL ("operationType", SLICE (OPERATION, 0, 8)),
  INTEGER_NOT_NULL ("poolType", SLICE (OPERATION, 16, 8)),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("minBytesToKeep", BITS (BYTES)),
  INTEGER ("localMemoryPoolReleaseThreshold", BITS (POOL_THRESHOLD)),
  INTEGER ("localMemoryPoolSize", BITS (POOL_SIZE)),
  INTEGER ("localMemoryPoolUtilizedSize", BITS (POOL_UTILIZED)),
};

static const LnsTableColumn CUDA_UM_CPU_PAGE_FAULT_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("globalPid", PID),
  INTEGER_NOT_NULL ("address", BITS (ADDRESS)),
  INTEGER ("originalFaultPc", BITS (PC)),
  INTEGER_NOT_NULL ("CpuInstruction", CONSTANT (0)),
  INTEGER_NOT_NULL ("module", CONSTANT (0)),
  INTEGER ("unresolvedFaultPc", NOTHING),
  INTEGER ("sourceFile", NOTHING),
  INTEGER ("sourceLine", NOTHING),
};

static const LnsTableColumn CUDA_UM_GPU_PAGE_FAULT_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("globalPid", PID),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("address", BITS (ADDRESS)),
  INTEGER_NOT_NULL ("numberOfPageFaults", BITS (FAULTS)),
  INTEGER_NOT_NULL ("faultAccessType", BITS (FAULT_ACCESS)),
};

static const LnsTableColumn PROFILER_OVERHEAD[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER ("globalTid", THREAD),
  INTEGER_NOT_NULL ("nameId", NAME),
  INTEGER_NOT_NULL ("overheadType", OVERHEAD_KIND),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_OVERHEAD[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("eventClass", CONSTANT (103)),
  INTEGER ("globalTid", THREAD),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("nameId", NAME),
  INTEGER_NOT_NULL ("overheadType", OVERHEAD_KIND),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_JIT[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("eventClass", CONSTANT (102)),
  INTEGER ("globalTid", NOTHING),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("nameId", NAME),
  INTEGER_NOT_NULL ("jitEntryType", SLICE (JIT_KIND, 0, 8)),
  INTEGER_NOT_NULL ("jitOperationType", SLICE (JIT_KIND, 8, 8)),
  INTEGER ("deviceId", DEVICE),
  INTEGER ("jitOperationCorrelationId", NOTHING),
  INTEGER ("cacheSize", BITS_OR_NULL (BYTES)),
  TEXT ("cachePath", NOTHING),
};

static const LnsTableColumn CUBLAS_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("eventClass", CONSTANT (29)),
  INTEGER ("globalTid", TID),
  INTEGER_NOT_NULL ("nameId", NAME),
};

static const LnsTableColumn CUDNN_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("eventClass", CONSTANT (28)),
  INTEGER ("globalTid", TID),
  INTEGER_NOT_NULL ("nameId", NAME),
};

static const LnsTableColumn TARGET_INFO_GPU[] = {
  INTEGER_NOT_NULL ("vmId", NOTHING),
  INTEGER_NOT_NULL ("id", NOTHING),
  TEXT ("name", NOTHING),
  TEXT ("busLocation", NOTHING),
  INTEGER ("isDiscrete", NOTHING),
  INTEGER ("l2CacheSize", NOTHING),
  INTEGER ("totalMemory", NOTHING),
  INTEGER ("memoryBandwidth", NOTHING),
  INTEGER ("clockRate", NOTHING),
  INTEGER ("smCount", NOTHING),
  INTEGER ("pwGpuId", NOTHING),
  TEXT ("uuid", NOTHING),
  INTEGER ("luid", NOTHING),
  TEXT ("chipName", NOTHING),
  INTEGER ("cuDevice", NOTHING),
  TEXT ("ctxswDevPath", NOTHING),
  TEXT ("ctrlDevPath", NOTHING),
  INTEGER ("revision", NOTHING),
  INTEGER ("nodeMask", NOTHING),
  INTEGER ("constantMemory", NOTHING),
  INTEGER ("maxIPC", NOTHING),
  INTEGER ("maxRegistersPerBlock", NOTHING),
  INTEGER ("maxShmemPerBlock", NOTHING),
  INTEGER ("maxShmemPerBlockOptin", NOTHING),
  INTEGER ("maxShmemPerSm", NOTHING),
  INTEGER ("maxRegistersPerSm", NOTHING),
  INTEGER ("threadsPerWarp", NOTHING),
  INTEGER ("asyncEngines", NOTHING),
  INTEGER ("maxWarpsPerSm", NOTHING),
  INTEGER ("maxBlocksPerSm", NOTHING),
  INTEGER ("maxThreadsPerBlock", NOTHING),
  INTEGER ("maxBlockDimX", NOTHING),
  INTEGER ("maxBlockDimY", NOTHING),
  INTEGER ("maxBlockDimZ", NOTHING),
  INTEGER ("maxGridDimX", NOTHING),
  INTEGER ("maxGridDimY", NOTHING),
  INTEGER ("maxGridDimZ", NOTHING),
  INTEGER ("computeMajor", NOTHING),
  INTEGER ("computeMinor", NOTHING),
  INTEGER ("smMajor", NOTHING),
  INTEGER ("smMinor", NOTHING),
};

static const LnsTableColumn TARGET_INFO_CUDA_DEVICE[] = {
  INTEGER ("gpuId", NOTHING),
  INTEGER_NOT_NULL ("cudaId", NOTHING),
  INTEGER_NOT_NULL ("pid", NOTHING),
  TEXT ("uuid", NOTHING),
  INTEGER ("numMultiprocessors", NOTHING),
};

static const LnsTableColumn TARGET_INFO_CUDA_CONTEXT_INFO[] = {
  INTEGER_NOT_NULL ("nullStreamId", NOTHING), INTEGER_NOT_NULL ("hwId", NOTHING),
  INTEGER_NOT_NULL ("vmId", NOTHING),         INTEGER_NOT_NULL ("processId", NOTHING),
  INTEGER_NOT_NULL ("deviceId", NOTHING),     INTEGER_NOT_NULL ("contextId", NOTHING),
  INTEGER ("parentContextId", NOTHING),       INTEGER ("isGreenContext", NOTHING),
  INTEGER ("numMultiprocessors", NOTHING),
};

static const LnsTableColumn TARGET_INFO_CUDA_STREAM[] = {
  INTEGER_NOT_NULL ("streamId", NOTHING),  INTEGER_NOT_NULL ("hwId", NOTHING),
  INTEGER_NOT_NULL ("vmId", NOTHING),      INTEGER_NOT_NULL ("processId", NOTHING),
  INTEGER_NOT_NULL ("contextId", NOTHING), INTEGER_NOT_NULL ("priority", NOTHING),
  INTEGER_NOT_NULL ("flag", NOTHING),
};

static const LnsTableColumn TARGET_INFO_NVTX_CUDA_DEVICE[] = {
  TEXT_NOT_NULL ("name", NOTHING),
  INTEGER_NOT_NULL ("hwId", NOTHING),
  INTEGER_NOT_NULL ("vmId", NOTHING),
  INTEGER_NOT_NULL ("deviceId", NOTHING),
};

static const LnsTableColumn TARGET_INFO_NVTX_CUDA_CONTEXT[] = {
  TEXT_NOT_NULL ("name", NOTHING),        INTEGER_NOT_NULL ("hwId", NOTHING),
  INTEGER_NOT_NULL ("vmId", NOTHING),     INTEGER_NOT_NULL ("processId", NOTHING),
  INTEGER_NOT_NULL ("deviceId", NOTHING), INTEGER_NOT_NULL ("contextId", NOTHING),
};

static const LnsTableColumn TARGET_INFO_NVTX_CUDA_STREAM[] = {
  TEXT_NOT_NULL ("name", NOTHING),        INTEGER_NOT_NULL ("hwId", NOTHING),
  INTEGER_NOT_NULL ("vmId", NOTHING),     INTEGER_NOT_NULL ("processId", NOTHING),
  INTEGER_NOT_NULL ("deviceId", NOTHING), INTEGER_NOT_NULL ("contextId", NOTHING),
  INTEGER_NOT_NULL ("streamId", NOTHING),
};

/* What of ENUM_CUPTI_OVERHEAD_TYPE is CUDA's own doing: compiling, loading, a full command buffer. */
#define OWN_OVERHEADS (1u << 2 | 1u << 6 | 1u << 7 | 1u << 8)

const LnsTable _lns_cuda_tables[LNS_N_CUDA_TABLES] = {
  { COLUMNS (CUPTI_ACTIVITY_KIND_RUNTIME, EVENTS),
    .kinds = 1u << LNS_LANE_CUDA_API | 1u << LNS_LANE_CUDA_BACKTRACE },
  EVENTS (CUPTI_ACTIVITY_KIND_KERNEL, CUDA_KERNEL),
  EVENTS (CUPTI_ACTIVITY_KIND_MEMCPY, CUDA_MEMCPY),
  EVENTS (CUPTI_ACTIVITY_KIND_MEMSET, CUDA_MEMSET),
  EVENTS (CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUDA_SYNC),
  EVENTS (CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUDA_EVENT),
  EVENTS (CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CUDA_GRAPH),
  EVENTS_WITH (CUDA_GRAPH_NODE_EVENTS, CUDA_GRAPH_NODE, BITS (GRAPH_NODE), ~UINT64_C (1)),
  EVENTS_WITH (CUDA_GRAPH_EVENTS, CUDA_GRAPH_NODE, BITS (GRAPH_NODE), 1),
  EVENTS (CUDA_GPU_MEMORY_USAGE_EVENTS, CUDA_MEMORY),
  EVENTS (CUDA_GPU_MEMORY_POOL_EVENTS, CUDA_POOL),
  EVENTS_OF (CUDA_UM_CPU_PAGE_FAULT_EVENTS, CUDA_FAULT, CUDA_CPU_FAULTS),
  EVENTS_OF (CUDA_UM_GPU_PAGE_FAULT_EVENTS, CUDA_FAULT, CUDA_GPU_FAULTS),
  EVENTS_WITH (PROFILER_OVERHEAD, CUDA_OVERHEAD, OVERHEAD_KIND, ~(uint64_t)OWN_OVERHEADS),
  EVENTS_WITH (CUPTI_ACTIVITY_KIND_OVERHEAD, CUDA_OVERHEAD, OVERHEAD_KIND, OWN_OVERHEADS),
  EVENTS (CUPTI_ACTIVITY_KIND_JIT, CUDA_JIT),
  EVENTS_OF (CUBLAS_EVENTS, LIBRARY_CALL, CUBLAS),
  EVENTS_OF (CUDNN_EVENTS, LIBRARY_CALL, CUDNN),
  TABLE (TARGET_INFO_GPU, DEFINITIONS),
  TABLE (TARGET_INFO_CUDA_DEVICE, DEFINITIONS),
  TABLE (TARGET_INFO_CUDA_CONTEXT_INFO, DEFINITIONS),
  TABLE (TARGET_INFO_CUDA_STREAM, DEFINITIONS),
  TABLE (TARGET_INFO_NVTX_CUDA_DEVICE, DEFINITIONS),
  TABLE (TARGET_INFO_NVTX_CUDA_CONTEXT, DEFINITIONS),
  TABLE (TARGET_INFO_NVTX_CUDA_STREAM, DEFINITIONS),
};

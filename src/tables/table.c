/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <ctype.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/memory.h"
#include "src/store/read/report.h"
#include "src/tables/enums.h"
#include "src/tables/table.h"

/* Columns and their order are those of public exports of schema 3.25, which adds to 3.24 only at the
 * end: programs index `SELECT *` by position. NVTX_EVENTS ends with eventId, which later schemas have. Of GPU_METRICS,
 * MPI_* and the tables about CUDA that no public export has, they are those of the reference's documentation. */

/* How a column is computed: an LnsCell without its braces. */
#define START               LNS_CELL_START
#define END                 LNS_CELL_END
#define END_IF_KNOWN        LNS_CELL_END_IF_KNOWN
#define ROWID               LNS_CELL_ROWID
#define NAME                LNS_CELL_NAME
#define NAME_TEXT           LNS_CELL_NAME_TEXT
#define PLAIN_NAME          LNS_CELL_PLAIN_NAME
#define REGISTERED_NAME     LNS_CELL_REGISTERED_NAME
#define EMPTY_LIST          LNS_CELL_EMPTY_LIST
#define TID                 LNS_CELL_GLOBAL_TID
#define PID                 LNS_CELL_GLOBAL_PID
#define STARTER             LNS_CELL_STARTER
#define ENDER               LNS_CELL_ENDER
#define EVENT_TYPE          LNS_CELL_EVENT_TYPE
#define DOMAIN_NUMBER       LNS_CELL_DOMAIN
#define PAYLOAD(type)       LNS_CELL_PAYLOAD, .argument = LNS_PAYLOAD_##type
#define PAYLOAD_JSON        LNS_CELL_PAYLOAD_JSON
#define PAYLOAD_BINARY      LNS_CELL_PAYLOAD_BINARY
#define DEVICE              LNS_CELL_DEVICE
#define CONTEXT             LNS_CELL_CONTEXT
#define GREEN               LNS_CELL_GREEN_CONTEXT
#define STREAM              LNS_CELL_STREAM
#define STREAM_OR_ALL       LNS_CELL_STREAM_OR_ALL
#define CALL_CLASS          LNS_CELL_CUDA_CALL_CLASS
#define GRAPH_CLASS         LNS_CELL_GRAPH_CLASS
#define DEPTH               LNS_CELL_DEPTH
#define GPU                 LNS_CELL_GPU
#define TRACK_NAME          LNS_CELL_TRACK_NAME
#define TRACK_NAME_TEXT     LNS_CELL_TRACK_NAME_TEXT
#define TRACK_UNIT          LNS_CELL_TRACK_UNIT
#define TRACK_NUMBER        LNS_CELL_TRACK_NUMBER
#define TRACK_METRIC        LNS_CELL_TRACK_METRIC
#define CONSTANT(number)    LNS_CELL_CONSTANT, .argument = number
#define BITS(id)            LNS_CELL_BITS, LNS_COLUMN_##id, 0, 64, 0
#define BITS_OR_NULL(id)    LNS_CELL_BITS_OR_NULL, LNS_COLUMN_##id, 0, 64, 0
#define BITS_PLUS(id, more) LNS_CELL_BITS_PLUS, LNS_COLUMN_##id, 0, 64, more
#define START_PLUS(id)      LNS_CELL_START_PLUS, LNS_COLUMN_##id, 0, 64, 0
#define START_LESS(id)      LNS_CELL_START_LESS, LNS_COLUMN_##id, 0, 64, 0
#define VALUE               LNS_CELL_VALUE, LNS_COLUMN_VALUE, 0, 64, 0
#define SLICE(id, shift, n) LNS_CELL_BITS, LNS_COLUMN_##id, shift, n, 0
#define PID_IN(id, shift)   LNS_CELL_BITS_PID, LNS_COLUMN_##id, shift, 32, 0
#define PEER(shift, n)      LNS_CELL_BITS_IF_ANY, LNS_COLUMN_PEERS, shift, n, 0
#define LESS_ONE(id)        LNS_CELL_BITS_LESS_ONE, LNS_COLUMN_##id, 0, 8, 0
#define MEMORY_KIND(id, at) LNS_CELL_MEMORY_KIND, LNS_COLUMN_##id, at, 8, 0
#define OVERHEAD_KIND       LNS_CELL_OVERHEAD_KIND, LNS_COLUMN_OVERHEAD_KIND, 0, 64, 0
#define THREAD              LNS_CELL_THREAD, LNS_COLUMN_THREAD, 0, 64, 0
#define FIELD_OF(rule, type, member)                                                               \
 LNS_CELL_FIELD##rule, .n_bits = 8 * sizeof ((type *)0)->member, .argument = offsetof (type, member)
#define FIELD(type, member)              FIELD_OF (, type, member)
#define FIELD_OR_NULL(type, member)      FIELD_OF (_OR_NULL, type, member)
#define FIELD_TIME(type, member)         FIELD_OF (_TIME, type, member)
#define FIELD_TEXT(type, member)         FIELD_OF (_TEXT, type, member)
#define FIELD_TEXT_OR_NULL(type, member) FIELD_OF (_TEXT_OR_NULL, type, member)
#define LAUNCH_FROM(member, bit)                                                                   \
 LNS_CELL_LAUNCH, .shift = bit, .n_bits = 8 * sizeof ((LnsCudaLaunch *)0)->member,                 \
                  .argument = offsetof (LnsCudaLaunch, member)
#define LAUNCH(member) LAUNCH_FROM (member, 0)

/* clang-format off */
#define INTEGER(name, ...)          { name, "INTEGER", LNS_COLUMN_PLAIN, { __VA_ARGS__ } }
#define INTEGER_NOT_NULL(name, ...) { name, "INTEGER", LNS_COLUMN_NOT_NULL, { __VA_ARGS__ } }
#define INTEGER_OF_OURS(name, ...)  { name, "INTEGER", LNS_COLUMN_OURS, { __VA_ARGS__ } }
#define KEY(name, ...)              { name, "INTEGER", LNS_COLUMN_KEY, { __VA_ARGS__ } }
#define REAL(name, ...)             { name, "REAL", LNS_COLUMN_PLAIN, { __VA_ARGS__ } }
#define NUMERIC(name, ...)          { name, "NUMERIC", LNS_COLUMN_PLAIN, { __VA_ARGS__ } }
#define NUMERIC_NOT_NULL(name, ...) { name, "NUMERIC", LNS_COLUMN_NOT_NULL, { __VA_ARGS__ } }
#define TEXT(name, ...)             { name, "TEXT", LNS_COLUMN_PLAIN, { __VA_ARGS__ } }
#define TEXT_OF_OURS(name, ...)     { name, "TEXT", LNS_COLUMN_OURS, { __VA_ARGS__ } }
#define TEXT_NOT_NULL(name, ...)    { name, "TEXT", LNS_COLUMN_NOT_NULL, { __VA_ARGS__ } }
/* clang-format on */

/* ---- Strings, NVTX, the session ------------------------------------------------------------- */

static const LnsTableColumn StringIds[] = {
  KEY ("id"),
  TEXT_NOT_NULL ("value"),
};

static const LnsTableColumn ThreadNames[] = {
  INTEGER_NOT_NULL ("nameId"),
  INTEGER ("priority"),
  INTEGER ("globalTid"),
};

static const LnsTableColumn ProcessStreams[] = {
  INTEGER_NOT_NULL ("globalPid"),
  INTEGER_NOT_NULL ("filenameId"),
  INTEGER_NOT_NULL ("contentId"),
};

static const LnsTableColumn PROCESSES[] = {
  INTEGER ("globalPid"),
  INTEGER ("pid"),
  TEXT ("name", FIELD_TEXT (LnsProcess, name)),
  INTEGER_OF_OURS ("parentGlobalPid", FIELD_OF (_GLOBAL_PID, LnsProcess, parent)),
  TEXT_OF_OURS ("commandLine", FIELD_TEXT_OR_NULL (LnsProcess, command_line)),
  INTEGER_OF_OURS ("exitCode"),
  INTEGER_OF_OURS ("exitSignal", FIELD_OR_NULL (LnsProcess, exit_signal)),
};

static const LnsTableColumn NVTX_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER ("end", END_IF_KNOWN),
  INTEGER_NOT_NULL ("eventType", EVENT_TYPE),
  INTEGER ("rangeId", BITS_OR_NULL (RANGE_ID)),
  INTEGER ("category", BITS_OR_NULL (CATEGORY)),
  INTEGER ("color", BITS_OR_NULL (COLOR)),
  TEXT ("text", PLAIN_NAME),
  INTEGER ("globalTid", STARTER),
  INTEGER ("endGlobalTid", ENDER),
  INTEGER ("textId", REGISTERED_NAME),
  INTEGER ("domainId", DOMAIN_NUMBER),
  INTEGER ("uint64Value", PAYLOAD (UINT64)),
  INTEGER ("int64Value", PAYLOAD (INT64)),
  REAL ("doubleValue", PAYLOAD (DOUBLE)),
  INTEGER ("uint32Value", PAYLOAD (UINT32)),
  INTEGER ("int32Value", PAYLOAD (INT32)),
  REAL ("floatValue", PAYLOAD (FLOAT)),
  INTEGER ("jsonTextId"),
  TEXT ("jsonText", PAYLOAD_JSON),
  TEXT ("binaryData", PAYLOAD_BINARY),
  KEY ("eventId", ROWID),
};

static const LnsTableColumn NVTX_PAYLOAD_SCHEMAS[] = {
  INTEGER ("domainId", FIELD_OF (_DOMAIN, LnsSchema, domain)),
  INTEGER ("schemaId", FIELD (LnsSchema, schema_id)),
  TEXT ("name", FIELD_TEXT_OR_NULL (LnsSchema, name)),
  INTEGER ("type", FIELD (LnsSchema, type)),
  INTEGER ("flags", FIELD_OR_NULL (LnsSchema, flags)),
  INTEGER ("numEntries"),
  INTEGER ("payloadSize", FIELD (LnsSchema, size_bytes)),
  INTEGER ("alignTo", FIELD_OR_NULL (LnsSchema, align_bytes)),
};

static const LnsTableColumn NVTX_PAYLOAD_SCHEMA_ENTRIES[] = {
  INTEGER_NOT_NULL ("domainId"),
  INTEGER_NOT_NULL ("schemaId"),
  INTEGER_NOT_NULL ("idx", FIELD (LnsSchemaEntry, position)),
  INTEGER ("flags", FIELD_OR_NULL (LnsSchemaEntry, flags)),
  INTEGER ("type", FIELD (LnsSchemaEntry, type)),
  TEXT ("name", FIELD_TEXT_OR_NULL (LnsSchemaEntry, name)),
  TEXT ("description", FIELD_TEXT_OR_NULL (LnsSchemaEntry, description)),
  INTEGER ("arrayOrUnionDetail", FIELD_OR_NULL (LnsSchemaEntry, array_or_union_detail)),
  INTEGER ("offset", FIELD_OR_NULL (LnsSchemaEntry, offset_bytes)),
};

static const LnsTableColumn DIAGNOSTIC_EVENT[] = {
  INTEGER_NOT_NULL ("timestamp"), INTEGER_NOT_NULL ("timestampType"),
  INTEGER_NOT_NULL ("source"),    INTEGER_NOT_NULL ("severity"),
  TEXT_NOT_NULL ("text"),         INTEGER ("globalPid"),
};

static const LnsTableColumn ANALYSIS_DETAILS[] = {
  INTEGER_NOT_NULL ("globalVid", CONSTANT (0)),
  INTEGER_NOT_NULL ("duration", FIELD (LnsReportInfo, end_ns)),
  INTEGER_NOT_NULL ("startTime", FIELD (LnsReportInfo, t0_monotonic_ns)),
  INTEGER_NOT_NULL ("stopTime"),
};

static const LnsTableColumn ANALYSIS_FILE[] = {
  KEY ("id"),
  TEXT ("filename"),
  INTEGER ("contentId"),
  INTEGER_NOT_NULL ("globalPid"),
};

static const LnsTableColumn TARGET_INFO_SESSION_START_TIME[] = {
  INTEGER ("utcEpochNs", FIELD (LnsReportInfo, t0_realtime_ns)),
  TEXT ("utcTime"),
  TEXT ("localTime"),
  INTEGER ("systemClockNs", FIELD (LnsReportInfo, t0_monotonic_ns)),
};

static const LnsTableColumn TARGET_INFO_SYSTEM_ENV[] = {
  INTEGER ("globalVid"),         TEXT_NOT_NULL ("devStateName"), TEXT_NOT_NULL ("name"),
  INTEGER_NOT_NULL ("nameEnum"), TEXT_NOT_NULL ("value"),
};

static const LnsTableColumn META_DATA_CAPTURE[] = {
  TEXT_NOT_NULL ("name"),
  TEXT ("value"),
};

static const LnsTableColumn META_DATA_EXPORT[] = {
  TEXT_NOT_NULL ("name"),
  TEXT ("value"),
};

static const LnsTableColumn NVTX_PAYLOAD_ENUMS[] = {
  INTEGER ("domainId", FIELD_OF (_DOMAIN, LnsSchema, domain)),
  INTEGER ("schemaId", FIELD (LnsSchema, schema_id)),
  TEXT ("name", FIELD_TEXT_OR_NULL (LnsSchema, name)),
  INTEGER ("numEntries"),
  INTEGER ("size", FIELD (LnsSchema, size_bytes)),
};

static const LnsTableColumn NVTX_PAYLOAD_ENUM_ENTRIES[] = {
  INTEGER_NOT_NULL ("domainId"),
  INTEGER_NOT_NULL ("schemaId"),
  INTEGER_NOT_NULL ("idx", FIELD (LnsSchemaEntry, position)),
  TEXT ("name", FIELD_TEXT_OR_NULL (LnsSchemaEntry, name)),
  INTEGER ("value", FIELD (LnsSchemaEntry, type)),
  INTEGER ("isFlag", FIELD_OR_NULL (LnsSchemaEntry, flags)),
};

static const LnsTableColumn LNS_COUNTERS[] = {
  INTEGER_NOT_NULL ("timestamp", START),
  INTEGER_NOT_NULL ("nameId", TRACK_NAME),
  TEXT_NOT_NULL ("name", TRACK_NAME_TEXT),
  NUMERIC ("value", VALUE),
  TEXT ("unit", TRACK_UNIT),
  INTEGER ("globalPid", PID),
  INTEGER ("domainId", DOMAIN_NUMBER),
  INTEGER ("counterId", TRACK_NUMBER),
};

static const LnsTableColumn LNS_LOSSES[] = {
  INTEGER ("start", FIELD_TIME (LnsLoss, first_ns)),
  INTEGER ("end", FIELD_TIME (LnsLoss, last_ns)),
  INTEGER ("globalPid", FIELD_OF (_GLOBAL_PID, LnsLoss, process)),
  INTEGER ("globalTid", FIELD_OF (_GLOBAL_TID, LnsLoss, thread)),
  INTEGER_NOT_NULL ("pushes", FIELD (LnsLoss, pushes)),
  INTEGER_NOT_NULL ("pops", FIELD (LnsLoss, pops)),
  INTEGER_NOT_NULL ("marks", FIELD (LnsLoss, marks)),
  INTEGER_NOT_NULL ("starts", FIELD (LnsLoss, starts)),
  INTEGER_NOT_NULL ("ends", FIELD (LnsLoss, ends)),
  INTEGER_NOT_NULL ("others", FIELD (LnsLoss, others)),
  INTEGER_NOT_NULL ("bytes", FIELD (LnsLoss, bytes)),
};

static const LnsTableColumn LNS_NVTX_RESOURCES[] = {
  INTEGER ("start", FIELD_TIME (LnsResource, created_ns)),
  INTEGER ("end", FIELD_TIME (LnsResource, destroyed_ns)),
  INTEGER ("globalPid"),
  INTEGER_NOT_NULL ("domainId", FIELD_OF (_DOMAIN, LnsResource, domain)),
  INTEGER_NOT_NULL ("identifierType", FIELD (LnsResource, type)),
  TEXT_NOT_NULL ("identifierTypeName"),
  INTEGER_NOT_NULL ("identifier", FIELD (LnsResource, identifier)),
  INTEGER_NOT_NULL ("textId", FIELD (LnsResource, name)),
  TEXT_NOT_NULL ("text", FIELD_TEXT (LnsResource, name)),
};

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* clang-format off */
#define SPAN                                                                                       \
  INTEGER_NOT_NULL ("start", START),                                                               \
  INTEGER_NOT_NULL ("end", END)
#define GPU_PLACE(green, stream)                                                                   \
  INTEGER_NOT_NULL ("deviceId", DEVICE),                                                           \
  INTEGER_NOT_NULL ("contextId", CONTEXT),                                                         \
  INTEGER ("greenContextId", green),                                                               \
  INTEGER_NOT_NULL ("streamId", stream),                                                           \
  INTEGER ("correlationId", BITS (CORRELATION)),                                                   \
  INTEGER ("globalPid", PID)
#define GPU_WORK SPAN, GPU_PLACE (GREEN, STREAM)
#define CALL(...)                                                                                  \
  SPAN,                                                                                            \
  INTEGER_NOT_NULL ("eventClass", __VA_ARGS__),                                                    \
  INTEGER ("globalTid", TID)
#define NAMED_CALL(...) CALL (__VA_ARGS__), INTEGER_NOT_NULL ("nameId", NAME)
#define XYZ(column, name, field, from)                                                             \
  column (name "X", field (from[0])),                                                              \
  column (name "Y", field (from[1])),                                                              \
  column (name "Z", field (from[2]))
#define DEVICE_FIELD(member) FIELD_OR_NULL (LnsCudaDevice, member)
/* The hardware and the virtual machine, of which there is one. */
#define MACHINE                                                                                    \
  INTEGER_NOT_NULL ("hwId", CONSTANT (0)),                                                         \
  INTEGER_NOT_NULL ("vmId", CONSTANT (0))
/* clang-format on */

static const LnsTableColumn CUPTI_ACTIVITY_KIND_RUNTIME[] = {
  CALL (CALL_CLASS),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER_NOT_NULL ("nameId", NAME),
  INTEGER_NOT_NULL ("returnValue", BITS (RETURN_VALUE)),
  INTEGER ("callchainId", BITS_OR_NULL (CALL_CHAIN)),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_KERNEL[] = {
  GPU_WORK,
  INTEGER_NOT_NULL ("demangledName", NAME),
  INTEGER_NOT_NULL ("shortName", LAUNCH (short_name)),
  INTEGER ("mangledName", LAUNCH (mangled_name)),
  INTEGER ("launchType", LAUNCH (launch_type)),
  INTEGER ("cacheConfig", LAUNCH_FROM (cache_config, 4)),
  INTEGER_NOT_NULL ("registersPerThread", LAUNCH (registers)),
  XYZ (INTEGER_NOT_NULL, "grid", LAUNCH, grid),
  XYZ (INTEGER_NOT_NULL, "block", LAUNCH, block),
  INTEGER_NOT_NULL ("staticSharedMemory", LAUNCH (static_shared_bytes)),
  INTEGER_NOT_NULL ("dynamicSharedMemory", LAUNCH (dynamic_shared_bytes)),
  INTEGER_NOT_NULL ("localMemoryPerThread", LAUNCH (local_bytes)),
  INTEGER_NOT_NULL ("localMemoryTotal", LAUNCH (local_total_bytes)),
  INTEGER_NOT_NULL ("gridId", BITS (GRID_ID)),
  INTEGER ("sharedMemoryExecuted", LAUNCH (shared_executed_bytes)),
  INTEGER ("graphNodeId", BITS_OR_NULL (GRAPH_NODE)),
  INTEGER ("sharedMemoryLimitConfig", LAUNCH (shared_config)),
  INTEGER ("qmdBulkReleaseDone"),
  INTEGER ("qmdPreexitDone"),
  INTEGER ("qmdLastCtaDone"),
  INTEGER ("graphId", BITS_OR_NULL (GRAPH)),
  XYZ (INTEGER, "cluster", LAUNCH, cluster),
  INTEGER ("clusterSchedulingPolicy", LAUNCH (cluster_policy)),
  INTEGER ("maxPotentialClusterSize", LAUNCH (max_potential_cluster)),
  INTEGER ("maxActiveClusters", LAUNCH (max_active_clusters)),
  INTEGER ("sharedMemoryRequestedPercentage"),
  TEXT_NOT_NULL ("tensorSizeMinusOneElements", EMPTY_LIST),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_MEMCPY[] = {
  GPU_WORK,
  INTEGER_NOT_NULL ("bytes", BITS (BYTES)),
  INTEGER_NOT_NULL ("copyKind", BITS (COPY_KIND)),
  INTEGER ("deprecatedSrcId"),
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
  GPU_WORK,
  INTEGER_NOT_NULL ("value", BITS (SET_VALUE)),
  INTEGER_NOT_NULL ("bytes", BITS (BYTES)),
  INTEGER ("graphNodeId", BITS_OR_NULL (GRAPH_NODE)),
  INTEGER ("memKind", MEMORY_KIND (MEMORY_KINDS, 0)),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_SYNCHRONIZATION[] = {
  SPAN,
  GPU_PLACE (LNS_CELL_NONE, STREAM_OR_ALL),
  INTEGER ("deprecatedSyncType"),
  INTEGER_NOT_NULL ("syncType", BITS (SYNC_TYPE)),
  INTEGER_NOT_NULL ("eventId", BITS (CUDA_EVENT)),
  INTEGER ("eventSyncId", BITS (CUDA_EVENT_SYNC)),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_CUDA_EVENT[] = {
  INTEGER ("timestamp", START),
  GPU_PLACE (GREEN, STREAM),
  INTEGER_NOT_NULL ("eventId", BITS (CUDA_EVENT)),
  INTEGER ("eventSyncId", BITS (CUDA_EVENT_SYNC)),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_GRAPH_TRACE[] = {
  GPU_WORK,
  INTEGER_NOT_NULL ("graphId", BITS (GRAPH)),
  INTEGER_NOT_NULL ("graphExecId", BITS (GRAPH_EXEC)),
};

static const LnsTableColumn CUDA_GRAPH_NODE_EVENTS[] = {
  NAMED_CALL (CONSTANT (77)),
  INTEGER_NOT_NULL ("graphNodeId", BITS (GRAPH_NODE)),
  INTEGER ("originalGraphNodeId", BITS_OR_NULL (ORIGINAL)),
};

static const LnsTableColumn CUDA_GRAPH_EVENTS[] = {
  NAMED_CALL (GRAPH_CLASS),
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
  INTEGER ("importedMemoryPoolAddress"),
  INTEGER ("importedMemoryPoolProcessId"),
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
  INTEGER ("unresolvedFaultPc"),
  INTEGER ("sourceFile"),
  INTEGER ("sourceLine"),
};

static const LnsTableColumn CUDA_UM_GPU_PAGE_FAULT_EVENTS[] = {
  SPAN,
  INTEGER_NOT_NULL ("globalPid", PID),
  INTEGER_NOT_NULL ("deviceId", DEVICE),
  INTEGER_NOT_NULL ("address", BITS (ADDRESS)),
  INTEGER_NOT_NULL ("numberOfPageFaults", BITS (FAULTS)),
  INTEGER_NOT_NULL ("faultAccessType", BITS (FAULT_ACCESS)),
};

static const LnsTableColumn PROFILER_OVERHEAD[] = {
  SPAN,
  INTEGER ("globalTid", THREAD),
  INTEGER_NOT_NULL ("nameId", NAME),
  INTEGER_NOT_NULL ("overheadType", OVERHEAD_KIND),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_OVERHEAD[] = {
  SPAN,
  INTEGER_NOT_NULL ("eventClass", CONSTANT (103)),
  INTEGER ("globalTid", THREAD),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("nameId", NAME),
  INTEGER_NOT_NULL ("overheadType", OVERHEAD_KIND),
};

static const LnsTableColumn CUPTI_ACTIVITY_KIND_JIT[] = {
  SPAN,
  INTEGER_NOT_NULL ("eventClass", CONSTANT (102)),
  INTEGER ("globalTid"),
  INTEGER ("correlationId", BITS (CORRELATION)),
  INTEGER ("nameId", NAME),
  INTEGER_NOT_NULL ("jitEntryType", SLICE (JIT_KIND, 0, 8)),
  INTEGER_NOT_NULL ("jitOperationType", SLICE (JIT_KIND, 8, 8)),
  INTEGER ("deviceId", DEVICE),
  INTEGER ("jitOperationCorrelationId"),
  INTEGER ("cacheSize", BITS_OR_NULL (BYTES)),
  TEXT ("cachePath"),
};

static const LnsTableColumn GPU_CONTEXT_SWITCH_EVENTS[] = {
  INTEGER_NOT_NULL ("tag", BITS (OPERATION)),
  INTEGER_NOT_NULL ("vmId", CONSTANT (0)),
  INTEGER_NOT_NULL ("seqNo", ROWID),
  INTEGER_NOT_NULL ("contextId", SLICE (PLACE, 32, 32)),
  INTEGER_NOT_NULL ("timestamp", START),
  INTEGER ("globalPid", PID_IN (PLACE, 0)),
  INTEGER ("gpuId", GPU),
};

static const LnsTableColumn LNS_CUDA_HOST_FUNCTIONS[] = {
  GPU_WORK,
  INTEGER ("globalTid", THREAD),
  INTEGER_NOT_NULL ("nameId", NAME),
  INTEGER ("graphNodeId", BITS_OR_NULL (GRAPH_NODE)),
  INTEGER ("graphId", BITS_OR_NULL (GRAPH)),
};

static const LnsTableColumn LNS_CUDA_UM_EVENTS[] = {
  SPAN,
  INTEGER_NOT_NULL ("globalPid", PID),
  INTEGER_NOT_NULL ("nameId", NAME),
  INTEGER_NOT_NULL ("counterKind", BITS (OPERATION)),
  INTEGER_NOT_NULL ("address", BITS (ADDRESS)),
  INTEGER_NOT_NULL ("value", BITS (BYTES)),
  INTEGER_NOT_NULL ("srcId", SLICE (PEERS, 0, 32)),
  INTEGER_NOT_NULL ("dstId", SLICE (PEERS, 32, 32)),
  INTEGER_NOT_NULL ("flags", BITS (MIGRATION_CAUSE)),
};

static const LnsTableColumn LNS_CUDA_KERNEL_LATENCIES[] = {
  GPU_WORK,
  INTEGER_NOT_NULL ("demangledName", NAME),
  INTEGER ("queued", START_LESS (QUEUED)),
  INTEGER ("submitted", START_LESS (SUBMITTED)),
};

static const LnsTableColumn CUBLAS_EVENTS[] = { NAMED_CALL (CONSTANT (29)) };
static const LnsTableColumn CUDNN_EVENTS[] = { NAMED_CALL (CONSTANT (28)) };

/* No table of the reference is known for these. */
/* clang-format off */
#define LIBRARY_CALL                                                                               \
  SPAN,                                                                                            \
  INTEGER ("globalTid", TID),                                                                      \
  INTEGER_NOT_NULL ("nameId", NAME),                                                               \
  INTEGER_NOT_NULL ("returnValue", BITS (RETURN_VALUE))
/* clang-format on */
static const LnsTableColumn LNS_CUSPARSE_EVENTS[] = { LIBRARY_CALL };
static const LnsTableColumn LNS_CUSOLVER_EVENTS[] = { LIBRARY_CALL };
#undef LIBRARY_CALL

static const LnsTableColumn TARGET_INFO_GPU[] = {
  INTEGER_NOT_NULL ("vmId", CONSTANT (0)),
  INTEGER_NOT_NULL ("id"),
  TEXT ("name", FIELD_TEXT (LnsCudaDevice, name)),
  TEXT ("busLocation", FIELD_TEXT_OR_NULL (LnsCudaDevice, bus)),
  INTEGER ("isDiscrete", CONSTANT (1)),
  INTEGER ("l2CacheSize", DEVICE_FIELD (l2_bytes)),
  INTEGER ("totalMemory", DEVICE_FIELD (memory_bytes)),
  INTEGER ("memoryBandwidth"),
  INTEGER ("clockRate"),
  INTEGER ("smCount", DEVICE_FIELD (n_multiprocessors)),
  INTEGER ("pwGpuId"),
  TEXT ("uuid", FIELD_OF (_UUID, LnsCudaDevice, uuid)),
  INTEGER ("luid"),
  TEXT ("chipName"),
  INTEGER ("cuDevice", FIELD (LnsCudaDevice, number)),
  TEXT ("ctxswDevPath"),
  TEXT ("ctrlDevPath"),
  INTEGER ("revision"),
  INTEGER ("nodeMask"),
  INTEGER ("constantMemory", DEVICE_FIELD (constant_bytes)),
  INTEGER ("maxIPC", DEVICE_FIELD (max_ipc)),
  INTEGER ("maxRegistersPerBlock", DEVICE_FIELD (max_registers_per_block)),
  INTEGER ("maxShmemPerBlock", DEVICE_FIELD (max_shared_per_block)),
  INTEGER ("maxShmemPerBlockOptin"),
  INTEGER ("maxShmemPerSm", DEVICE_FIELD (max_shared_per_sm)),
  INTEGER ("maxRegistersPerSm", DEVICE_FIELD (max_registers_per_sm)),
  INTEGER ("threadsPerWarp", DEVICE_FIELD (threads_per_warp)),
  INTEGER ("asyncEngines", DEVICE_FIELD (n_copy_engines)),
  INTEGER ("maxWarpsPerSm", DEVICE_FIELD (max_warps_per_sm)),
  INTEGER ("maxBlocksPerSm", DEVICE_FIELD (max_blocks_per_sm)),
  INTEGER ("maxThreadsPerBlock", DEVICE_FIELD (max_threads_per_block)),
  XYZ (INTEGER, "maxBlockDim", DEVICE_FIELD, max_block),
  XYZ (INTEGER, "maxGridDim", DEVICE_FIELD, max_grid),
  INTEGER ("computeMajor", DEVICE_FIELD (compute_major)),
  INTEGER ("computeMinor"),
  INTEGER ("smMajor", DEVICE_FIELD (compute_major)),
  INTEGER ("smMinor"),
};

static const LnsTableColumn TARGET_INFO_CUDA_DEVICE[] = {
  INTEGER ("gpuId"),
  INTEGER_NOT_NULL ("cudaId", FIELD (LnsCudaDevice, number)),
  INTEGER_NOT_NULL ("pid", FIELD_OF (_PID, LnsCudaDevice, process)),
  TEXT ("uuid", FIELD_OF (_UUID, LnsCudaDevice, uuid)),
  INTEGER ("numMultiprocessors", DEVICE_FIELD (n_multiprocessors)),
};

static const LnsTableColumn TARGET_INFO_CUDA_CONTEXT_INFO[] = {
  INTEGER_NOT_NULL ("nullStreamId", FIELD (LnsCudaContext, null_stream)),
  MACHINE,
  INTEGER_NOT_NULL ("processId"),
  INTEGER_NOT_NULL ("deviceId"),
  INTEGER_NOT_NULL ("contextId", FIELD (LnsCudaContext, number)),
  INTEGER ("parentContextId"),
  INTEGER ("isGreenContext", FIELD (LnsCudaContext, is_green)),
  INTEGER ("numMultiprocessors", FIELD (LnsCudaContext, n_multiprocessors)),
};

static const LnsTableColumn TARGET_INFO_CUDA_STREAM[] = {
  INTEGER_NOT_NULL ("streamId", FIELD (LnsCudaStream, number)),
  MACHINE,
  INTEGER_NOT_NULL ("processId"),
  INTEGER_NOT_NULL ("contextId"),
  INTEGER_NOT_NULL ("priority", FIELD (LnsCudaStream, priority)),
  INTEGER_NOT_NULL ("flag", FIELD (LnsCudaStream, flags)),
};

static const LnsTableColumn TARGET_INFO_NVTX_CUDA_DEVICE[] = {
  TEXT_NOT_NULL ("name", FIELD_TEXT (LnsResource, name)),
  MACHINE,
  INTEGER_NOT_NULL ("deviceId", FIELD (LnsResource, identifier)),
};

static const LnsTableColumn TARGET_INFO_NVTX_CUDA_CONTEXT[] = {
  TEXT_NOT_NULL ("name", FIELD_TEXT (LnsCudaContext, name)),
  MACHINE,
  INTEGER_NOT_NULL ("processId"),
  INTEGER_NOT_NULL ("deviceId"),
  INTEGER_NOT_NULL ("contextId", FIELD (LnsCudaContext, number)),
};

static const LnsTableColumn TARGET_INFO_NVTX_CUDA_STREAM[] = {
  TEXT_NOT_NULL ("name", FIELD_TEXT (LnsCudaStream, name)),
  MACHINE,
  INTEGER_NOT_NULL ("processId"),
  INTEGER_NOT_NULL ("deviceId"),
  INTEGER_NOT_NULL ("contextId"),
  INTEGER_NOT_NULL ("streamId", FIELD (LnsCudaStream, number)),
};

/* ---- The operating system, CPUs, GPU metrics, MPI -------------------------------------------- */

static const LnsTableColumn OSRT_API[] = {
  NAMED_CALL (BITS_PLUS (EVENT_CLASS, 27)),
  INTEGER_NOT_NULL ("returnValue", BITS (RETURN_VALUE)),
  INTEGER ("nestingLevel", DEPTH),
  INTEGER_NOT_NULL ("callchainId", BITS (CALL_CHAIN)),
  INTEGER_NOT_NULL ("argumentsId", BITS (ARGUMENTS)),
};

static const LnsTableColumn SYSCALL[] = {
  NAMED_CALL (BITS_PLUS (EVENT_CLASS, 107)),
  INTEGER_NOT_NULL ("callchainId", BITS (CALL_CHAIN)),
  INTEGER ("returnValue", BITS (RETURN_VALUE)),
};

static const LnsTableColumn SCHED_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("cpu", BITS (CPU)),
  INTEGER_NOT_NULL ("isSchedIn", BITS (SCHED_IN)),
  INTEGER ("globalTid", TID),
  INTEGER ("threadState", BITS (THREAD_STATE)),
  INTEGER ("threadBlock", BITS_OR_NULL (THREAD_BLOCK)),
};

static const LnsTableColumn COMPOSITE_EVENTS[] = {
  INTEGER_NOT_NULL ("id", BITS (CALL_CHAIN)),
  INTEGER_NOT_NULL ("start", START),
  INTEGER ("cpu", BITS (CPU)),
  INTEGER ("threadState", BITS (THREAD_STATE)),
  INTEGER ("globalTid", TID),
  INTEGER_NOT_NULL ("cpuCycles", BITS (CYCLES)),
};

static const LnsTableColumn LNS_PYTHON_SAMPLES[] = {
  INTEGER_NOT_NULL ("id", ROWID),
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("globalTid", TID),
  INTEGER_NOT_NULL ("threadState", BITS (THREAD_STATE)),
  INTEGER_NOT_NULL ("lock", BITS (OPERATION)),
};

static const LnsTableColumn GPU_METRICS[] = {
  INTEGER_NOT_NULL ("rawTimestamp", START_PLUS (RAW_TIME)),
  INTEGER_NOT_NULL ("timestamp", START),
  INTEGER_NOT_NULL ("typeId", TRACK_NUMBER),
  INTEGER_NOT_NULL ("metricId", TRACK_METRIC),
  /* The reference rounds to integers. Shares of a percent matter, so those that are sampled as fractions stay so. */
  NUMERIC_NOT_NULL ("value", VALUE),
};

static const LnsTableColumn TARGET_INFO_GPU_METRICS[] = {
  INTEGER_NOT_NULL ("typeId", FIELD (LnsTrack, number)),
  INTEGER_NOT_NULL ("sourceId", CONSTANT (1)),
  TEXT_NOT_NULL ("typeName"),
  INTEGER_NOT_NULL ("metricId", FIELD (LnsTrack, metric)),
  TEXT_NOT_NULL ("metricName"),
};

/* clang-format off */
#define MPI_BASE                                                                                   \
  INTEGER_NOT_NULL ("start", START),                                                               \
  INTEGER ("end", END_IF_KNOWN),                                                                   \
  INTEGER ("globalTid", TID),                                                                      \
  INTEGER ("textId", NAME)
#define MPI_COMMUNICATOR                                                                           \
  INTEGER ("commHandle", BITS (COMMUNICATOR)),                                                     \
  INTEGER ("commUid", BITS_OR_NULL (COMMUNICATOR_UID))
/* clang-format on */

static const LnsTableColumn MPI_P2P_EVENTS[] = {
  MPI_BASE,
  MPI_COMMUNICATOR,
  INTEGER ("tag", BITS (TAG)),
  INTEGER ("remoteRank", BITS (PEER_RANK)),
  INTEGER ("size", BITS (BYTES)),
  INTEGER ("requestHandle", BITS_OR_NULL (REQUEST)),
};

static const LnsTableColumn MPI_COLLECTIVES_EVENTS[] = {
  MPI_BASE,
  MPI_COMMUNICATOR,
  INTEGER ("rootRank", BITS (PEER_RANK)),
  INTEGER ("size", BITS (BYTES)),
  INTEGER ("recvSize", BITS (RECEIVED_BYTES)),
  INTEGER ("requestHandle", BITS_OR_NULL (REQUEST)),
};

static const LnsTableColumn MPI_START_WAIT_EVENTS[] = {
  MPI_BASE,
  INTEGER ("requestHandle", BITS_OR_NULL (REQUEST)),
};

static const LnsTableColumn MPI_OTHER_EVENTS[] = {
  MPI_BASE,
};

static const LnsTableColumn MPI_RANKS[] = {
  INTEGER_NOT_NULL ("globalTid"),
  INTEGER_NOT_NULL ("rank"),
};

/* ---- All ------------------------------------------------------------------------------------- */

#define KIND(kind) (1u << LNS_LANE_##kind)

/* Each entry of events may end with further members of LnsTable. */
/* clang-format off */
#define ROWS(name, source) #name, LNS_ROWS_##source, sizeof name / sizeof name[0], name
#define TABLE(name, source)     { ROWS (name, source) }
#define EVENTS(name, kind, ...) { ROWS (name, EVENTS), .kinds = KIND (kind), __VA_ARGS__ }
#define EVENTS_OF(name, kind, track, ...) \
  EVENTS (name, kind, .tracks = UINT64_C (1) << LNS_TRACK_##track, __VA_ARGS__)
#define EVENTS_WITH(name, kind, cell, set, ...) \
  EVENTS (name, kind, .filter = { cell }, .passes = set, __VA_ARGS__)
#define MPI(name, class) \
  EVENTS (name, MPI_CALL, .filter = { BITS (EVENT_CLASS) }, .passes = 1u << LNS_MPI_##class, \
          .is_optional = true, .trace = { "mpi", "textId", .is_told = true })
/* clang-format on */

/* What of ENUM_CUPTI_OVERHEAD_TYPE is CUDA's own doing: compiling, loading, a full command buffer. */
#define OWN_OVERHEADS (1u << 2 | 1u << 6 | 1u << 7 | 1u << 8)

static const LnsTable known[] = {
  TABLE (StringIds, STRINGS),
  TABLE (ThreadNames, DEFINITIONS),
  TABLE (ProcessStreams, NONE),
  TABLE (PROCESSES, DEFINITIONS),
  { ROWS (NVTX_EVENTS, NVTX),
    .kinds = KIND (NVTX_PUSH_POP) | KIND (NVTX_START_END) | KIND (NVTX_MARK),
    .trace = { "nvtx", "text" } },
  TABLE (NVTX_PAYLOAD_SCHEMAS, DEFINITIONS),
  TABLE (NVTX_PAYLOAD_SCHEMA_ENTRIES, DEFINITIONS),
  TABLE (NVTX_PAYLOAD_ENUMS, DEFINITIONS),
  TABLE (NVTX_PAYLOAD_ENUM_ENTRIES, DEFINITIONS),
  TABLE (DIAGNOSTIC_EVENT, DEFINITIONS),
  TABLE (ANALYSIS_DETAILS, DEFINITIONS),
  TABLE (ANALYSIS_FILE, NONE),
  TABLE (TARGET_INFO_SESSION_START_TIME, DEFINITIONS),
  TABLE (TARGET_INFO_SYSTEM_ENV, DEFINITIONS),
  TABLE (META_DATA_CAPTURE, DEFINITIONS),
  TABLE (META_DATA_EXPORT, DEFINITIONS),
  EVENTS_OF (LNS_COUNTERS, COUNTER, COUNTER, .trace = { "counter", "name", .is_sample = true }),
  TABLE (LNS_LOSSES, DEFINITIONS),
  TABLE (LNS_NVTX_RESOURCES, DEFINITIONS),
  { ROWS (CUPTI_ACTIVITY_KIND_RUNTIME, EVENTS), .kinds = KIND (CUDA_API) | KIND (CUDA_BACKTRACE),
    .call_chains = "CUDA_CALLCHAINS", .trace = { "cuda_runtime", "nameId", .is_call = true } },
  EVENTS (CUPTI_ACTIVITY_KIND_KERNEL,
          CUDA_KERNEL,
          .trace = { "kernel", "demangledName", .is_begun = true }),
  EVENTS (CUPTI_ACTIVITY_KIND_MEMCPY,
          CUDA_MEMCPY,
          .trace = { "gpu_memcpy", "copyKind", "ENUM_CUDA_MEMCPY_OPER", .is_begun = true }),
  EVENTS (CUPTI_ACTIVITY_KIND_MEMSET, CUDA_MEMSET, .trace = { "gpu_memset", .is_begun = true }),
  EVENTS (CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
          CUDA_SYNC,
          .trace = { "cuda_sync", "syncType", "ENUM_CUPTI_SYNC_TYPE" }),
  EVENTS (CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUDA_EVENT),
  EVENTS (CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
          CUDA_GRAPH,
          .trace = { "cuda_graph", .is_begun = true, .is_told = true }),
  EVENTS_WITH (CUDA_GRAPH_NODE_EVENTS, CUDA_GRAPH_NODE, BITS (GRAPH_NODE), ~UINT64_C (1)),
  EVENTS_WITH (CUDA_GRAPH_EVENTS, CUDA_GRAPH_NODE, BITS (GRAPH_NODE), 1),
  EVENTS (CUDA_GPU_MEMORY_USAGE_EVENTS, CUDA_MEMORY),
  EVENTS (CUDA_GPU_MEMORY_POOL_EVENTS, CUDA_POOL),
  EVENTS_OF (CUDA_UM_CPU_PAGE_FAULT_EVENTS, CUDA_FAULT, CUDA_CPU_FAULTS),
  EVENTS_OF (CUDA_UM_GPU_PAGE_FAULT_EVENTS, CUDA_FAULT, CUDA_GPU_FAULTS),
  EVENTS_WITH (PROFILER_OVERHEAD, CUDA_OVERHEAD, OVERHEAD_KIND, ~(uint64_t)OWN_OVERHEADS),
  EVENTS_WITH (CUPTI_ACTIVITY_KIND_OVERHEAD, CUDA_OVERHEAD, OVERHEAD_KIND, OWN_OVERHEADS),
  EVENTS (CUPTI_ACTIVITY_KIND_JIT, CUDA_JIT),
  EVENTS (GPU_CONTEXT_SWITCH_EVENTS, GPU_SWITCH, .is_optional = true),
  EVENTS (LNS_CUDA_HOST_FUNCTIONS,
          CUDA_HOST,
          .is_optional = true,
          .trace = { "cuda_host", "nameId", .is_begun = true, .is_told = true }),
  EVENTS (LNS_CUDA_UM_EVENTS, CUDA_UNIFIED, .is_optional = true),
  /* Kernels again, as the reference's table has no room for it. */
  EVENTS_WITH (LNS_CUDA_KERNEL_LATENCIES,
               CUDA_KERNEL,
               BITS_OR_NULL (QUEUED),
               ~UINT64_C (1),
               .is_optional = true),
  EVENTS_OF (CUBLAS_EVENTS, LIBRARY_CALL, CUBLAS, .trace = { "cublas", "nameId", .is_told = true }),
  EVENTS_OF (CUDNN_EVENTS, LIBRARY_CALL, CUDNN, .trace = { "cudnn", "nameId", .is_told = true }),
  EVENTS_OF (LNS_CUSPARSE_EVENTS,
             LIBRARY_CALL,
             CUSPARSE,
             .is_optional = true,
             .trace = { "cusparse", "nameId", .is_told = true }),
  EVENTS_OF (LNS_CUSOLVER_EVENTS,
             LIBRARY_CALL,
             CUSOLVER,
             .is_optional = true,
             .trace = { "cusolver", "nameId", .is_told = true }),
  TABLE (TARGET_INFO_GPU, DEFINITIONS),
  TABLE (TARGET_INFO_CUDA_DEVICE, DEFINITIONS),
  TABLE (TARGET_INFO_CUDA_CONTEXT_INFO, DEFINITIONS),
  TABLE (TARGET_INFO_CUDA_STREAM, DEFINITIONS),
  TABLE (TARGET_INFO_NVTX_CUDA_DEVICE, DEFINITIONS),
  TABLE (TARGET_INFO_NVTX_CUDA_CONTEXT, DEFINITIONS),
  TABLE (TARGET_INFO_NVTX_CUDA_STREAM, DEFINITIONS),
  EVENTS (OSRT_API,
          OS_CALL,
          .is_optional = true,
          .call_chains = "OSRT_CALLCHAINS",
          .trace = { "osrt", "nameId", .is_told = true }),
  EVENTS (
      SYSCALL, SYSTEM_CALL, .is_optional = true, .trace = { "syscall", "nameId", .is_told = true }),
  EVENTS (SCHED_EVENTS, SCHED, .is_optional = true),
  /* Readers ask for its share of threads without looking whether it is there. */
  EVENTS (COMPOSITE_EVENTS, CPU_SAMPLE, .call_chains = "SAMPLING_CALLCHAINS"),
  EVENTS (LNS_PYTHON_SAMPLES,
          PYTHON_SAMPLE,
          .is_optional = true,
          .call_chains = "LNS_PYTHON_CALLCHAINS"),
  EVENTS_OF (GPU_METRICS, COUNTER, GPU_METRIC, .is_optional = true),
  { ROWS (TARGET_INFO_GPU_METRICS, DEFINITIONS), .is_optional = true },
  MPI (MPI_P2P_EVENTS, P2P),
  MPI (MPI_COLLECTIVES_EVENTS, COLLECTIVE),
  MPI (MPI_START_WAIT_EVENTS, START_WAIT),
  MPI (MPI_OTHER_EVENTS, OTHER),
  { ROWS (MPI_RANKS, NONE), .is_optional = true },
};

#define N_KNOWN (sizeof known / sizeof known[0])

static LnsTable all[N_KNOWN + LNS_N_ENUMS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
make_all (void)
{
  static const LnsTableColumn columns[] = { KEY ("id"), TEXT ("name"), TEXT ("label") };

  memcpy (all, known, sizeof known);
  for (unsigned i = 0; i < LNS_N_ENUMS; i++)
    all[N_KNOWN + i] = (LnsTable){ lns_enums[i].name, LNS_ROWS_ENUM, 3, columns };
}

const LnsTable *
lns_table_all (unsigned *ret_n)
{
  pthread_once (&once, make_all);
  *ret_n = (unsigned)(sizeof all / sizeof all[0]);
  return all;
}

const LnsTable *
lns_table_find (const char *name)
{
  unsigned n;
  const LnsTable *tables = lns_table_all (&n);

  for (unsigned i = 0; i < n; i++)
    if (strcasecmp (tables[i].name, name) == 0)
      return &tables[i];
  return NULL;
}

int
lns_table_column (const LnsTable *table, const char *name)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    if (strcmp (table->columns[i].name, name) == 0)
      return (int)i;
  return -1;
}

static bool
is_word (const char *name)
{
  for (; *name != '\0'; name++)
    if (!isalnum ((unsigned char)*name) && *name != '_')
      return false;
  return true;
}

static void
write_name (FILE *stream, const char *name)
{
  fputc ('"', stream);
  for (; *name != '\0'; name++)
    {
      if (*name == '"')
        fputc ('"', stream);
      fputc (*name, stream);
    }
  fputc ('"', stream);
}

char *
lns_table_sql (const LnsTable *table, const char *schema)
{
  static const char *const rules[] = { "", " NOT NULL", " NOT NULL PRIMARY KEY", "" };
  char *sql = NULL;
  size_t size;
  FILE *stream = lns_memory_stream (&sql, &size);

  fprintf (stream, "CREATE TABLE %s%s", schema ? schema : "", schema ? "." : "");
  if (is_word (table->name))
    fputs (table->name, stream);
  else
    write_name (stream, table->name);
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      fputs (i > 0 ? ", " : " (", stream);
      write_name (stream, table->columns[i].name);
      fprintf (stream, " %s%s", table->columns[i].type, rules[table->columns[i].rule]);
    }
  fputs (")", stream);
  lns_memory_stream_end (stream);
  return sql;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/lane-kind.h"

#include <stddef.h>

#define COLOR                                                                                      \
 {                                                                                                 \
  LNS_COLUMN_COLOR, "color", "ARGB"                                                                \
 }
#define CATEGORY                                                                                   \
 {                                                                                                 \
  LNS_COLUMN_CATEGORY, "category", "number"                                                        \
 }
#define PAYLOAD_TYPE                                                                               \
 {                                                                                                 \
  LNS_COLUMN_PAYLOAD_TYPE, "payload-type", "type"                                                  \
 }
#define PAYLOAD                                                                                    \
 {                                                                                                 \
  LNS_COLUMN_PAYLOAD, "payload", "bits"                                                            \
 }
#define THREAD                                                                                     \
 {                                                                                                 \
  LNS_COLUMN_THREAD, "thread", "thread"                                                            \
 }

#define CORRELATION                                                                                \
 {                                                                                                 \
  LNS_COLUMN_CORRELATION, "correlation", "number"                                                  \
 }
#define RETURN_VALUE                                                                               \
 {                                                                                                 \
  LNS_COLUMN_RETURN_VALUE, "return-value", "number"                                                \
 }
#define GRAPH_NODE                                                                                 \
 {                                                                                                 \
  LNS_COLUMN_GRAPH_NODE, "graph-node", "number"                                                    \
 }
#define GRAPH                                                                                      \
 {                                                                                                 \
  LNS_COLUMN_GRAPH, "graph", "number"                                                              \
 }
#define GRAPH_EXEC                                                                                 \
 {                                                                                                 \
  LNS_COLUMN_GRAPH_EXEC, "graph-exec", "number"                                                    \
 }
#define BYTES                                                                                      \
 {                                                                                                 \
  LNS_COLUMN_BYTES, "bytes", "B"                                                                   \
 }
#define MEMORY_KINDS                                                                               \
 {                                                                                                 \
  LNS_COLUMN_MEMORY_KINDS, "memory-kinds", "bits"                                                  \
 }
#define ADDRESS                                                                                    \
 {                                                                                                 \
  LNS_COLUMN_ADDRESS, "address", "address"                                                         \
 }
#define OPERATION                                                                                  \
 {                                                                                                 \
  LNS_COLUMN_OPERATION, "operation", "bits"                                                        \
 }
#define CUDA_EVENT                                                                                 \
 {                                                                                                 \
  LNS_COLUMN_CUDA_EVENT, "cuda-event", "number"                                                    \
 }
#define CUDA_EVENT_SYNC                                                                            \
 {                                                                                                 \
  LNS_COLUMN_CUDA_EVENT_SYNC, "cuda-event-sync", "number"                                          \
 }
#define POOL_THRESHOLD                                                                             \
 {                                                                                                 \
  LNS_COLUMN_POOL_THRESHOLD, "pool-threshold", "B"                                                 \
 }
#define POOL_SIZE                                                                                  \
 {                                                                                                 \
  LNS_COLUMN_POOL_SIZE, "pool-size", "B"                                                           \
 }
#define POOL_UTILIZED                                                                              \
 {                                                                                                 \
  LNS_COLUMN_POOL_UTILIZED, "pool-utilized", "B"                                                   \
 }

#define REMAINDER                                                                                  \
 {                                                                                                 \
  LNS_COLUMN_REMAINDER, "remainder", "row"                                                         \
 }
#define EVENT_CLASS                                                                                \
 {                                                                                                 \
  LNS_COLUMN_EVENT_CLASS, "event-class", "number"                                                  \
 }
#define CALL_CHAIN                                                                                 \
 {                                                                                                 \
  LNS_COLUMN_CALL_CHAIN, "call-chain", "number"                                                    \
 }
#define CPU                                                                                        \
 {                                                                                                 \
  LNS_COLUMN_CPU, "cpu", "number"                                                                  \
 }
#define THREAD_STATE                                                                               \
 {                                                                                                 \
  LNS_COLUMN_THREAD_STATE, "thread-state", "number"                                                \
 }

static const LnsLaneKindInfo kinds[LNS_N_LANE_KINDS] = {
  [LNS_LANE_NVTX_PUSH_POP] = { LNS_LANE_NVTX_PUSH_POP,
                               "nvtx-push-pop",
                               5,
                               { COLOR, CATEGORY, PAYLOAD_TYPE, PAYLOAD, REMAINDER } },
  [LNS_LANE_NVTX_START_END] = { LNS_LANE_NVTX_START_END,
                                "nvtx-start-end",
                                8,
                                { COLOR,
                                  CATEGORY,
                                  PAYLOAD_TYPE,
                                  PAYLOAD,
                                  { LNS_COLUMN_RANGE_ID, "range-id", "number" },
                                  THREAD,
                                  { LNS_COLUMN_END_THREAD, "end-thread", "thread" },
                                  REMAINDER } },
  [LNS_LANE_NVTX_MARK] = { LNS_LANE_NVTX_MARK,
                           "nvtx-mark",
                           5,
                           { COLOR, CATEGORY, PAYLOAD_TYPE, PAYLOAD, REMAINDER } },
  [LNS_LANE_COUNTER] = { LNS_LANE_COUNTER,
                         "counter",
                         4,
                         { { LNS_COLUMN_VALUE, "value", "bits" },
                           THREAD,
                           { LNS_COLUMN_RAW_TIME, "raw-time", "ns" },
                           REMAINDER } },
  [LNS_LANE_CUDA_API] = { LNS_LANE_CUDA_API,
                          "cuda-api",
                          5,
                          { CORRELATION,
                            { LNS_COLUMN_CALLBACK, "callback", "bits" },
                            RETURN_VALUE,
                            CALL_CHAIN,
                            REMAINDER } },
  [LNS_LANE_CUDA_KERNEL] = { LNS_LANE_CUDA_KERNEL,
                             "cuda-kernel",
                             6,
                             { CORRELATION,
                               { LNS_COLUMN_LAUNCH, "launch", "launch" },
                               { LNS_COLUMN_GRID_ID, "grid-id", "number" },
                               GRAPH_NODE,
                               GRAPH,
                               REMAINDER } },
  [LNS_LANE_CUDA_MEMCPY] = { LNS_LANE_CUDA_MEMCPY,
                             "cuda-memcpy",
                             10,
                             { CORRELATION,
                               BYTES,
                               { LNS_COLUMN_COPY_KIND, "copy-kind", "number" },
                               MEMORY_KINDS,
                               { LNS_COLUMN_PEERS, "peers", "bits" },
                               GRAPH_NODE,
                               { LNS_COLUMN_COPY_COUNT, "copy-count", "number" },
                               ADDRESS,
                               { LNS_COLUMN_MIGRATION_CAUSE, "migration-cause", "number" },
                               REMAINDER } },
  [LNS_LANE_CUDA_MEMSET] = { LNS_LANE_CUDA_MEMSET,
                             "cuda-memset",
                             6,
                             { CORRELATION,
                               BYTES,
                               { LNS_COLUMN_SET_VALUE, "set-value", "number" },
                               MEMORY_KINDS,
                               GRAPH_NODE,
                               REMAINDER } },
  [LNS_LANE_CUDA_SYNC] = { LNS_LANE_CUDA_SYNC,
                           "cuda-sync",
                           5,
                           { CORRELATION,
                             { LNS_COLUMN_SYNC_TYPE, "sync-type", "number" },
                             CUDA_EVENT,
                             CUDA_EVENT_SYNC,
                             REMAINDER } },
  [LNS_LANE_CUDA_EVENT] = { LNS_LANE_CUDA_EVENT,
                            "cuda-event",
                            4,
                            { CORRELATION, CUDA_EVENT, CUDA_EVENT_SYNC, REMAINDER } },
  [LNS_LANE_CUDA_GRAPH] = { LNS_LANE_CUDA_GRAPH,
                            "cuda-graph",
                            4,
                            { CORRELATION, GRAPH, GRAPH_EXEC, REMAINDER } },
  [LNS_LANE_CUDA_GRAPH_NODE] = { LNS_LANE_CUDA_GRAPH_NODE,
                                 "cuda-graph-node",
                                 5,
                                 { GRAPH_NODE,
                                   { LNS_COLUMN_ORIGINAL, "original", "number" },
                                   GRAPH,
                                   GRAPH_EXEC,
                                   REMAINDER } },
  [LNS_LANE_CUDA_OVERHEAD] = { LNS_LANE_CUDA_OVERHEAD,
                               "cuda-overhead",
                               4,
                               { CORRELATION,
                                 { LNS_COLUMN_OVERHEAD_KIND, "overhead-kind", "number" },
                                 THREAD,
                                 REMAINDER } },
  [LNS_LANE_CUDA_MEMORY] = { LNS_LANE_CUDA_MEMORY,
                             "cuda-memory",
                             11,
                             { CORRELATION,
                               BYTES,
                               ADDRESS,
                               OPERATION,
                               { LNS_COLUMN_PC, "pc", "address" },
                               { LNS_COLUMN_PLACE, "place", "bits" },
                               { LNS_COLUMN_POOL_ADDRESS, "pool-address", "address" },
                               POOL_THRESHOLD,
                               POOL_SIZE,
                               POOL_UTILIZED,
                               REMAINDER } },
  [LNS_LANE_CUDA_POOL] = { LNS_LANE_CUDA_POOL,
                           "cuda-pool",
                           8,
                           { CORRELATION, BYTES, ADDRESS, OPERATION, POOL_THRESHOLD, POOL_SIZE,
                             POOL_UTILIZED, REMAINDER } },
  [LNS_LANE_CUDA_FAULT] = { LNS_LANE_CUDA_FAULT,
                            "cuda-fault",
                            5,
                            { ADDRESS,
                              { LNS_COLUMN_PC, "pc", "address" },
                              { LNS_COLUMN_FAULTS, "faults", "number" },
                              { LNS_COLUMN_FAULT_ACCESS, "fault-access", "number" },
                              REMAINDER } },
  [LNS_LANE_CUDA_JIT] = { LNS_LANE_CUDA_JIT,
                          "cuda-jit",
                          4,
                          { CORRELATION,
                            { LNS_COLUMN_JIT_KIND, "jit-kind", "bits" },
                            BYTES,
                            REMAINDER } },
  [LNS_LANE_LIBRARY_CALL] = { LNS_LANE_LIBRARY_CALL,
                              "library-call",
                              3,
                              { RETURN_VALUE,
                                { LNS_COLUMN_CUDA_STREAM, "cuda-stream", "handle" },
                                REMAINDER } },
  [LNS_LANE_OS_CALL] = { LNS_LANE_OS_CALL,
                         "os-call",
                         5,
                         { RETURN_VALUE,
                           EVENT_CLASS,
                           CALL_CHAIN,
                           { LNS_COLUMN_ARGUMENTS, "arguments", "number" },
                           REMAINDER } },
  [LNS_LANE_SCHED] = { LNS_LANE_SCHED,
                       "sched",
                       5,
                       { CPU,
                         { LNS_COLUMN_SCHED_IN, "sched-in", "number" },
                         THREAD_STATE,
                         { LNS_COLUMN_THREAD_BLOCK, "thread-block", "number" },
                         REMAINDER } },
  [LNS_LANE_CPU_SAMPLE] = { LNS_LANE_CPU_SAMPLE,
                            "cpu-sample",
                            5,
                            { CPU,
                              THREAD_STATE,
                              { LNS_COLUMN_CYCLES, "cycles", "number" },
                              CALL_CHAIN,
                              REMAINDER } },
  [LNS_LANE_MPI_CALL] = { LNS_LANE_MPI_CALL,
                          "mpi-call",
                          9,
                          { EVENT_CLASS,
                            BYTES,
                            { LNS_COLUMN_RECEIVED_BYTES, "received-bytes", "B" },
                            { LNS_COLUMN_PEER_RANK, "peer-rank", "number" },
                            { LNS_COLUMN_TAG, "tag", "number" },
                            { LNS_COLUMN_COMMUNICATOR, "communicator", "handle" },
                            { LNS_COLUMN_COMMUNICATOR_UID, "communicator-uid", "number" },
                            { LNS_COLUMN_REQUEST, "request", "handle" },
                            REMAINDER } },
  [LNS_LANE_NVTX_PROJECTED] = { LNS_LANE_NVTX_PROJECTED,
                                "nvtx-projected",
                                6,
                                { COLOR,
                                  THREAD,
                                  CORRELATION,
                                  { LNS_COLUMN_ORIGINAL, "range-lane", "number" },
                                  { LNS_COLUMN_COPY_COUNT, "operations", "number" },
                                  REMAINDER } },
  [LNS_LANE_CUDA_BACKTRACE] = { LNS_LANE_CUDA_BACKTRACE,
                                "cuda-backtrace",
                                5,
                                { CORRELATION,
                                  { LNS_COLUMN_CALLBACK, "callback", "bits" },
                                  RETURN_VALUE,
                                  CALL_CHAIN,
                                  REMAINDER } },
};

const LnsLaneKindInfo *
lns_lane_kind_info (LnsLaneKind kind)
{
  if ((unsigned)kind >= LNS_N_LANE_KINDS || kinds[kind].kind == LNS_LANE_NONE)
    return NULL;
  return &kinds[kind];
}

int
lns_lane_kind_extra (LnsLaneKind kind, LnsColumnId id)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  for (unsigned i = 0; info != NULL && i < info->n_extra; i++)
    if (info->extra[i].id == id)
      return (int)i;
  return -1;
}

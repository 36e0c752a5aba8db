/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/lns-lane-kind.h"

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

static const LnsLaneKindInfo kinds[LNS_N_LANE_KINDS] = {
  [LNS_LANE_NVTX_PUSH_POP] = { LNS_LANE_NVTX_PUSH_POP,
                               "nvtx-push-pop",
                               4,
                               { COLOR, CATEGORY, PAYLOAD_TYPE, PAYLOAD } },
  [LNS_LANE_NVTX_START_END] = { LNS_LANE_NVTX_START_END,
                                "nvtx-start-end",
                                7,
                                { COLOR,
                                  CATEGORY,
                                  PAYLOAD_TYPE,
                                  PAYLOAD,
                                  { LNS_COLUMN_RANGE_ID, "range-id", "number" },
                                  THREAD,
                                  { LNS_COLUMN_END_THREAD, "end-thread", "thread" } } },
  [LNS_LANE_NVTX_MARK] = { LNS_LANE_NVTX_MARK,
                           "nvtx-mark",
                           4,
                           { COLOR, CATEGORY, PAYLOAD_TYPE, PAYLOAD } },
  [LNS_LANE_COUNTER] = { LNS_LANE_COUNTER,
                         "counter",
                         2,
                         { { LNS_COLUMN_VALUE, "value", "bits" }, THREAD } },
  [LNS_LANE_CUDA_API] = { LNS_LANE_CUDA_API,
                          "cuda-api",
                          3,
                          { CORRELATION,
                            { LNS_COLUMN_CALLBACK, "callback", "bits" },
                            RETURN_VALUE } },
  [LNS_LANE_CUDA_KERNEL] = { LNS_LANE_CUDA_KERNEL,
                             "cuda-kernel",
                             5,
                             { CORRELATION,
                               { LNS_COLUMN_LAUNCH, "launch", "launch" },
                               { LNS_COLUMN_GRID_ID, "grid-id", "number" },
                               GRAPH_NODE,
                               GRAPH } },
  [LNS_LANE_CUDA_MEMCPY] = { LNS_LANE_CUDA_MEMCPY,
                             "cuda-memcpy",
                             9,
                             { CORRELATION,
                               BYTES,
                               { LNS_COLUMN_COPY_KIND, "copy-kind", "number" },
                               MEMORY_KINDS,
                               { LNS_COLUMN_PEERS, "peers", "bits" },
                               GRAPH_NODE,
                               { LNS_COLUMN_COPY_COUNT, "copy-count", "number" },
                               ADDRESS,
                               { LNS_COLUMN_MIGRATION_CAUSE, "migration-cause", "number" } } },
  [LNS_LANE_CUDA_MEMSET] = { LNS_LANE_CUDA_MEMSET,
                             "cuda-memset",
                             5,
                             { CORRELATION,
                               BYTES,
                               { LNS_COLUMN_SET_VALUE, "set-value", "number" },
                               MEMORY_KINDS,
                               GRAPH_NODE } },
  [LNS_LANE_CUDA_SYNC] = { LNS_LANE_CUDA_SYNC,
                           "cuda-sync",
                           4,
                           { CORRELATION,
                             { LNS_COLUMN_SYNC_TYPE, "sync-type", "number" },
                             CUDA_EVENT,
                             CUDA_EVENT_SYNC } },
  [LNS_LANE_CUDA_EVENT] = { LNS_LANE_CUDA_EVENT,
                            "cuda-event",
                            3,
                            { CORRELATION, CUDA_EVENT, CUDA_EVENT_SYNC } },
  [LNS_LANE_CUDA_GRAPH] = { LNS_LANE_CUDA_GRAPH,
                            "cuda-graph",
                            3,
                            { CORRELATION, GRAPH, GRAPH_EXEC } },
  [LNS_LANE_CUDA_GRAPH_NODE] = { LNS_LANE_CUDA_GRAPH_NODE,
                                 "cuda-graph-node",
                                 4,
                                 { GRAPH_NODE,
                                   { LNS_COLUMN_ORIGINAL, "original", "number" },
                                   GRAPH,
                                   GRAPH_EXEC } },
  [LNS_LANE_CUDA_OVERHEAD] = { LNS_LANE_CUDA_OVERHEAD,
                               "cuda-overhead",
                               3,
                               { CORRELATION,
                                 { LNS_COLUMN_OVERHEAD_KIND, "overhead-kind", "number" },
                                 THREAD } },
  [LNS_LANE_CUDA_MEMORY] = { LNS_LANE_CUDA_MEMORY,
                             "cuda-memory",
                             10,
                             { CORRELATION,
                               BYTES,
                               ADDRESS,
                               OPERATION,
                               { LNS_COLUMN_PC, "pc", "address" },
                               { LNS_COLUMN_PLACE, "place", "bits" },
                               { LNS_COLUMN_POOL_ADDRESS, "pool-address", "address" },
                               POOL_THRESHOLD,
                               POOL_SIZE,
                               POOL_UTILIZED } },
  [LNS_LANE_CUDA_POOL] = { LNS_LANE_CUDA_POOL,
                           "cuda-pool",
                           7,
                           { CORRELATION, BYTES, ADDRESS, OPERATION, POOL_THRESHOLD, POOL_SIZE,
                             POOL_UTILIZED } },
  [LNS_LANE_CUDA_FAULT] = { LNS_LANE_CUDA_FAULT,
                            "cuda-fault",
                            4,
                            { ADDRESS,
                              { LNS_COLUMN_PC, "pc", "address" },
                              { LNS_COLUMN_FAULTS, "faults", "number" },
                              { LNS_COLUMN_FAULT_ACCESS, "fault-access", "number" } } },
  [LNS_LANE_CUDA_JIT] = { LNS_LANE_CUDA_JIT,
                          "cuda-jit",
                          3,
                          { CORRELATION, { LNS_COLUMN_JIT_KIND, "jit-kind", "bits" }, BYTES } },
  [LNS_LANE_LIBRARY_CALL] = { LNS_LANE_LIBRARY_CALL,
                              "library-call",
                              2,
                              { RETURN_VALUE,
                                { LNS_COLUMN_CUDA_STREAM, "cuda-stream", "handle" } } },
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

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/lane-kind.h"

#include <stddef.h>

static const LnsLaneKindInfo kinds[LNS_N_LANE_KINDS] = {
  [LNS_LANE_NVTX_PUSH_POP] = { 5,
                               { LNS_COLUMN_COLOR, LNS_COLUMN_CATEGORY, LNS_COLUMN_PAYLOAD_TYPE,
                                 LNS_COLUMN_PAYLOAD, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_NVTX_START_END] = { 8,
                                { LNS_COLUMN_COLOR, LNS_COLUMN_CATEGORY, LNS_COLUMN_PAYLOAD_TYPE,
                                  LNS_COLUMN_PAYLOAD, LNS_COLUMN_RANGE_ID, LNS_COLUMN_THREAD,
                                  LNS_COLUMN_END_THREAD, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_NVTX_MARK] = { 5,
                           { LNS_COLUMN_COLOR, LNS_COLUMN_CATEGORY, LNS_COLUMN_PAYLOAD_TYPE,
                             LNS_COLUMN_PAYLOAD, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_COUNTER] = { 4,
                         { LNS_COLUMN_VALUE, LNS_COLUMN_THREAD, LNS_COLUMN_RAW_TIME,
                           LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_API] = { 5,
                          { LNS_COLUMN_CORRELATION, LNS_COLUMN_CALLBACK, LNS_COLUMN_RETURN_VALUE,
                            LNS_COLUMN_CALL_CHAIN, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_KERNEL] = { 6,
                             { LNS_COLUMN_CORRELATION, LNS_COLUMN_LAUNCH, LNS_COLUMN_GRID_ID,
                               LNS_COLUMN_GRAPH_NODE, LNS_COLUMN_GRAPH, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_MEMCPY] = { 10,
                             { LNS_COLUMN_CORRELATION, LNS_COLUMN_BYTES, LNS_COLUMN_COPY_KIND,
                               LNS_COLUMN_MEMORY_KINDS, LNS_COLUMN_PEERS, LNS_COLUMN_GRAPH_NODE,
                               LNS_COLUMN_COPY_COUNT, LNS_COLUMN_ADDRESS,
                               LNS_COLUMN_MIGRATION_CAUSE, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_MEMSET] = { 6,
                             { LNS_COLUMN_CORRELATION, LNS_COLUMN_BYTES, LNS_COLUMN_SET_VALUE,
                               LNS_COLUMN_MEMORY_KINDS, LNS_COLUMN_GRAPH_NODE,
                               LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_SYNC] = { 5,
                           { LNS_COLUMN_CORRELATION, LNS_COLUMN_SYNC_TYPE, LNS_COLUMN_CUDA_EVENT,
                             LNS_COLUMN_CUDA_EVENT_SYNC, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_EVENT] = { 4,
                            { LNS_COLUMN_CORRELATION, LNS_COLUMN_CUDA_EVENT,
                              LNS_COLUMN_CUDA_EVENT_SYNC, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_GRAPH] = { 4,
                            { LNS_COLUMN_CORRELATION, LNS_COLUMN_GRAPH, LNS_COLUMN_GRAPH_EXEC,
                              LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_GRAPH_NODE] = { 5,
                                 { LNS_COLUMN_GRAPH_NODE, LNS_COLUMN_ORIGINAL, LNS_COLUMN_GRAPH,
                                   LNS_COLUMN_GRAPH_EXEC, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_OVERHEAD] = { 4,
                               { LNS_COLUMN_CORRELATION, LNS_COLUMN_OVERHEAD_KIND,
                                 LNS_COLUMN_THREAD, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_MEMORY] = { 11,
                             { LNS_COLUMN_CORRELATION, LNS_COLUMN_BYTES, LNS_COLUMN_ADDRESS,
                               LNS_COLUMN_OPERATION, LNS_COLUMN_PC, LNS_COLUMN_PLACE,
                               LNS_COLUMN_POOL_ADDRESS, LNS_COLUMN_POOL_THRESHOLD,
                               LNS_COLUMN_POOL_SIZE, LNS_COLUMN_POOL_UTILIZED,
                               LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_POOL] = { 8,
                           { LNS_COLUMN_CORRELATION, LNS_COLUMN_BYTES, LNS_COLUMN_ADDRESS,
                             LNS_COLUMN_OPERATION, LNS_COLUMN_POOL_THRESHOLD, LNS_COLUMN_POOL_SIZE,
                             LNS_COLUMN_POOL_UTILIZED, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_FAULT] = { 5,
                            { LNS_COLUMN_ADDRESS, LNS_COLUMN_PC, LNS_COLUMN_FAULTS,
                              LNS_COLUMN_FAULT_ACCESS, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_JIT] = { 4,
                          { LNS_COLUMN_CORRELATION, LNS_COLUMN_JIT_KIND, LNS_COLUMN_BYTES,
                            LNS_COLUMN_REMAINDER } },
  [LNS_LANE_LIBRARY_CALL] = { 3,
                              { LNS_COLUMN_RETURN_VALUE, LNS_COLUMN_CUDA_STREAM,
                                LNS_COLUMN_REMAINDER } },
  [LNS_LANE_OS_CALL] = { 5,
                         { LNS_COLUMN_RETURN_VALUE, LNS_COLUMN_EVENT_CLASS, LNS_COLUMN_CALL_CHAIN,
                           LNS_COLUMN_ARGUMENTS, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_SCHED] = { 5,
                       { LNS_COLUMN_CPU, LNS_COLUMN_SCHED_IN, LNS_COLUMN_THREAD_STATE,
                         LNS_COLUMN_THREAD_BLOCK, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CPU_SAMPLE] = { 5,
                            { LNS_COLUMN_CPU, LNS_COLUMN_THREAD_STATE, LNS_COLUMN_CYCLES,
                              LNS_COLUMN_CALL_CHAIN, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_MPI_CALL] = { 9,
                          { LNS_COLUMN_EVENT_CLASS, LNS_COLUMN_BYTES, LNS_COLUMN_RECEIVED_BYTES,
                            LNS_COLUMN_PEER_RANK, LNS_COLUMN_TAG, LNS_COLUMN_COMMUNICATOR,
                            LNS_COLUMN_COMMUNICATOR_UID, LNS_COLUMN_REQUEST,
                            LNS_COLUMN_REMAINDER } },
  [LNS_LANE_NVTX_PROJECTED] = { 6,
                                { LNS_COLUMN_COLOR, LNS_COLUMN_THREAD, LNS_COLUMN_CORRELATION,
                                  LNS_COLUMN_ORIGINAL, LNS_COLUMN_COPY_COUNT,
                                  LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_BACKTRACE] = { 5,
                                { LNS_COLUMN_CORRELATION, LNS_COLUMN_CALLBACK,
                                  LNS_COLUMN_RETURN_VALUE, LNS_COLUMN_CALL_CHAIN,
                                  LNS_COLUMN_REMAINDER } },
};

const LnsLaneKindInfo *
lns_lane_kind_info (LnsLaneKind kind)
{
  if ((unsigned)kind >= LNS_N_LANE_KINDS || kinds[kind].n_extra == 0)
    return NULL;
  return &kinds[kind];
}

int
lns_lane_kind_extra (LnsLaneKind kind, LnsColumnId id)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  for (unsigned i = 0; info != NULL && i < info->n_extra; i++)
    if (info->extra[i] == id)
      return (int)i;
  return -1;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/lane-kind.h"

#include <stddef.h>

static const LnsLaneKindInfo kinds[LNS_N_LANE_KINDS] = {
  [LNS_LANE_NVTX_PUSH_POP] = { LNS_TRACK_NVTX_RANGES,
                               { LNS_COLUMN_COLOR, LNS_COLUMN_CATEGORY, LNS_COLUMN_PAYLOAD_TYPE,
                                 LNS_COLUMN_PAYLOAD, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_NVTX_START_END] = { LNS_TRACK_NVTX_START_END,
                                { LNS_COLUMN_COLOR, LNS_COLUMN_CATEGORY, LNS_COLUMN_PAYLOAD_TYPE,
                                  LNS_COLUMN_PAYLOAD, LNS_COLUMN_RANGE_ID, LNS_COLUMN_THREAD,
                                  LNS_COLUMN_END_THREAD, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_NVTX_MARK] = { LNS_TRACK_NVTX_MARKS,
                           { LNS_COLUMN_COLOR, LNS_COLUMN_CATEGORY, LNS_COLUMN_PAYLOAD_TYPE,
                             LNS_COLUMN_PAYLOAD, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_COUNTER] = { LNS_TRACK_COUNTER,
                         { LNS_COLUMN_VALUE, LNS_COLUMN_THREAD, LNS_COLUMN_RAW_TIME,
                           LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_API] = { LNS_TRACK_CUDA_API,
                          { LNS_COLUMN_CORRELATION, LNS_COLUMN_CALLBACK, LNS_COLUMN_RETURN_VALUE,
                            LNS_COLUMN_CALL_CHAIN, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_KERNEL] = { LNS_TRACK_CUDA_KERNELS,
                             { LNS_COLUMN_CORRELATION, LNS_COLUMN_LAUNCH, LNS_COLUMN_GRID_ID,
                               LNS_COLUMN_GRAPH_NODE, LNS_COLUMN_GRAPH, LNS_COLUMN_QUEUED,
                               LNS_COLUMN_SUBMITTED, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_MEMCPY] = { LNS_TRACK_CUDA_MEMCPY,
                             { LNS_COLUMN_CORRELATION, LNS_COLUMN_BYTES, LNS_COLUMN_COPY_KIND,
                               LNS_COLUMN_MEMORY_KINDS, LNS_COLUMN_PEERS, LNS_COLUMN_GRAPH_NODE,
                               LNS_COLUMN_COPY_COUNT, LNS_COLUMN_ADDRESS,
                               LNS_COLUMN_MIGRATION_CAUSE, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_MEMSET] = { LNS_TRACK_CUDA_MEMSET,
                             { LNS_COLUMN_CORRELATION, LNS_COLUMN_BYTES, LNS_COLUMN_SET_VALUE,
                               LNS_COLUMN_MEMORY_KINDS, LNS_COLUMN_GRAPH_NODE,
                               LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_SYNC] = { LNS_TRACK_CUDA_SYNC,
                           { LNS_COLUMN_CORRELATION, LNS_COLUMN_SYNC_TYPE, LNS_COLUMN_CUDA_EVENT,
                             LNS_COLUMN_CUDA_EVENT_SYNC, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_EVENT] = { LNS_TRACK_CUDA_EVENTS,
                            { LNS_COLUMN_CORRELATION, LNS_COLUMN_CUDA_EVENT,
                              LNS_COLUMN_CUDA_EVENT_SYNC, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_GRAPH] = { LNS_TRACK_CUDA_GRAPHS,
                            { LNS_COLUMN_CORRELATION, LNS_COLUMN_GRAPH, LNS_COLUMN_GRAPH_EXEC,
                              LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_GRAPH_NODE] = { LNS_TRACK_CUDA_GRAPH_NODES,
                                 { LNS_COLUMN_GRAPH_NODE, LNS_COLUMN_ORIGINAL, LNS_COLUMN_GRAPH,
                                   LNS_COLUMN_GRAPH_EXEC, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_OVERHEAD] = { LNS_TRACK_CUDA_OVERHEAD,
                               { LNS_COLUMN_CORRELATION, LNS_COLUMN_OVERHEAD_KIND,
                                 LNS_COLUMN_THREAD, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_MEMORY] = { LNS_TRACK_CUDA_MEMORY,
                             { LNS_COLUMN_CORRELATION, LNS_COLUMN_BYTES, LNS_COLUMN_ADDRESS,
                               LNS_COLUMN_OPERATION, LNS_COLUMN_PC, LNS_COLUMN_PLACE,
                               LNS_COLUMN_POOL_ADDRESS, LNS_COLUMN_POOL_THRESHOLD,
                               LNS_COLUMN_POOL_SIZE, LNS_COLUMN_POOL_UTILIZED,
                               LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_POOL] = { LNS_TRACK_CUDA_POOLS,
                           { LNS_COLUMN_CORRELATION, LNS_COLUMN_BYTES, LNS_COLUMN_ADDRESS,
                             LNS_COLUMN_OPERATION, LNS_COLUMN_POOL_THRESHOLD, LNS_COLUMN_POOL_SIZE,
                             LNS_COLUMN_POOL_UTILIZED, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_FAULT] = { LNS_TRACK_CUDA_CPU_FAULTS,
                            { LNS_COLUMN_ADDRESS, LNS_COLUMN_PC, LNS_COLUMN_FAULTS,
                              LNS_COLUMN_FAULT_ACCESS, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_JIT] = { LNS_TRACK_CUDA_JIT,
                          { LNS_COLUMN_CORRELATION, LNS_COLUMN_JIT_KIND, LNS_COLUMN_BYTES,
                            LNS_COLUMN_REMAINDER } },
  [LNS_LANE_LIBRARY_CALL] = { LNS_TRACK_CUBLAS,
                              { LNS_COLUMN_RETURN_VALUE, LNS_COLUMN_CUDA_STREAM,
                                LNS_COLUMN_REMAINDER } },
  [LNS_LANE_OS_CALL] = { LNS_TRACK_OS_CALLS,
                         { LNS_COLUMN_RETURN_VALUE, LNS_COLUMN_EVENT_CLASS, LNS_COLUMN_CALL_CHAIN,
                           LNS_COLUMN_ARGUMENTS, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_SCHED] = { LNS_TRACK_SCHED,
                       { LNS_COLUMN_CPU, LNS_COLUMN_SCHED_IN, LNS_COLUMN_THREAD_STATE,
                         LNS_COLUMN_THREAD_BLOCK, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CPU_SAMPLE] = { LNS_TRACK_CPU_SAMPLES,
                            { LNS_COLUMN_CPU, LNS_COLUMN_THREAD_STATE, LNS_COLUMN_CYCLES,
                              LNS_COLUMN_CALL_CHAIN, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_MPI_CALL] = { LNS_TRACK_MPI,
                          { LNS_COLUMN_EVENT_CLASS, LNS_COLUMN_BYTES, LNS_COLUMN_RECEIVED_BYTES,
                            LNS_COLUMN_PEER_RANK, LNS_COLUMN_TAG, LNS_COLUMN_COMMUNICATOR,
                            LNS_COLUMN_COMMUNICATOR_UID, LNS_COLUMN_REQUEST,
                            LNS_COLUMN_REMAINDER } },
  [LNS_LANE_NVTX_PROJECTED] = { LNS_TRACK_NVTX_PROJECTED,
                                { LNS_COLUMN_COLOR, LNS_COLUMN_THREAD, LNS_COLUMN_CORRELATION,
                                  LNS_COLUMN_ORIGINAL, LNS_COLUMN_COPY_COUNT,
                                  LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_BACKTRACE] = { LNS_TRACK_CUDA_BACKTRACES,
                                { LNS_COLUMN_CORRELATION, LNS_COLUMN_CALLBACK,
                                  LNS_COLUMN_RETURN_VALUE, LNS_COLUMN_CALL_CHAIN,
                                  LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_HOST] = { LNS_TRACK_CUDA_HOST,
                           { LNS_COLUMN_CORRELATION, LNS_COLUMN_THREAD, LNS_COLUMN_GRAPH_NODE,
                             LNS_COLUMN_GRAPH, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CUDA_UNIFIED] = { LNS_TRACK_CUDA_UNIFIED,
                              { LNS_COLUMN_OPERATION, LNS_COLUMN_ADDRESS, LNS_COLUMN_BYTES,
                                LNS_COLUMN_PEERS, LNS_COLUMN_MIGRATION_CAUSE,
                                LNS_COLUMN_REMAINDER } },
  [LNS_LANE_GPU_SWITCH] = { LNS_TRACK_GPU_SWITCHES,
                            { LNS_COLUMN_OPERATION, LNS_COLUMN_PLACE, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_PYTHON_SAMPLE] = { LNS_TRACK_PYTHON_SAMPLES,
                               { LNS_COLUMN_THREAD_STATE, LNS_COLUMN_OPERATION,
                                 LNS_COLUMN_CALL_CHAIN, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_CPU_RUN] = { LNS_TRACK_CPU, { LNS_COLUMN_THREAD, LNS_COLUMN_REMAINDER } },
  [LNS_LANE_SYSTEM_CALL] = { LNS_TRACK_SYSTEM_CALLS,
                             { LNS_COLUMN_RETURN_VALUE, LNS_COLUMN_EVENT_CLASS,
                               LNS_COLUMN_CALL_CHAIN, LNS_COLUMN_REMAINDER } },
};

const LnsLaneKindInfo *
lns_lane_kind_info (LnsLaneKind kind)
{
  if ((unsigned)kind >= LNS_N_LANE_KINDS || kinds[kind].track == 0)
    return NULL;
  return &kinds[kind];
}

int
lns_lane_kind_extra (LnsLaneKind kind, LnsColumnId id)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  for (unsigned i = 0; info != NULL && info->extra[i] != 0; i++)
    if (info->extra[i] == id)
      return (int)i;
  return -1;
}

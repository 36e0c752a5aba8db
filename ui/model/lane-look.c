/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/lane-look.h"

#include <glib/gi18n.h>

const LnsLaneLook *
lns_lane_look (LnsLaneKind kind)
{
  static const LnsLaneLook looks[] = {
    [LNS_LANE_NONE] = { NULL, LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_NVTX_PUSH_POP] = { N_ ("Push/pop range"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_NVTX_START_END] = { N_ ("Start/end range"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_NVTX_MARK] = { N_ ("Mark"), LNS_LOOK_MARKS, false, 3 },
    [LNS_LANE_COUNTER] = { N_ ("Counter sample"), LNS_LOOK_CURVE, false, 3 },
    [LNS_LANE_CUDA_API] = { N_ ("CUDA call"), LNS_LOOK_BARS, false, 0 },
    [LNS_LANE_CUDA_KERNEL] = { N_ ("Kernel"), LNS_LOOK_BARS, true, 0 },
    [LNS_LANE_CUDA_MEMCPY] = { N_ ("Copy"), LNS_LOOK_BARS, true, 2 },
    [LNS_LANE_CUDA_MEMSET] = { N_ ("Memset"), LNS_LOOK_BARS, true, 2 },
    [LNS_LANE_CUDA_SYNC] = { N_ ("Synchronization"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_CUDA_EVENT] = { N_ ("CUDA event"), LNS_LOOK_MARKS, false, 3 },
    [LNS_LANE_CUDA_GRAPH] = { N_ ("CUDA graph"), LNS_LOOK_BARS, false, 1 },
    [LNS_LANE_CUDA_GRAPH_NODE] = { N_ ("CUDA graph node"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_CUDA_OVERHEAD] = { N_ ("Overhead"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_CUDA_MEMORY] = { N_ ("Memory operation"), LNS_LOOK_MARKS, false, 3 },
    [LNS_LANE_CUDA_POOL] = { N_ ("Memory pool operation"), LNS_LOOK_MARKS, false, 3 },
    [LNS_LANE_CUDA_FAULT] = { N_ ("Page fault"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_CUDA_JIT] = { N_ ("Compilation"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_LIBRARY_CALL] = { N_ ("Library call"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_OS_CALL] = { N_ ("OS runtime call"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_SCHED] = { N_ ("CPU scheduling"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_CPU_SAMPLE] = { N_ ("CPU sample"), LNS_LOOK_MARKS, false, 3 },
    [LNS_LANE_MPI_CALL] = { N_ ("MPI call"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_NVTX_PROJECTED] = { N_ ("Range on the GPU"), LNS_LOOK_BARS, false, 3 },
    [LNS_LANE_CUDA_BACKTRACE] = { NULL, LNS_LOOK_BARS, false, 3 },
  };
  G_STATIC_ASSERT (G_N_ELEMENTS (looks) == LNS_N_LANE_KINDS);
  return &looks[kind < LNS_N_LANE_KINDS ? kind : LNS_LANE_NONE];
}

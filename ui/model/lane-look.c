/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/lane-look.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/base/hash.h"
#include "ui/model/palette.h"

const LnsLaneLook *
lns_lane_look (LnsLaneKind kind)
{
  static const LnsLaneLook looks[] = {
    [LNS_LANE_NVTX_PUSH_POP] = { N_ ("Push/pop range") },
    [LNS_LANE_NVTX_START_END] = { N_ ("Start/end range") },
    [LNS_LANE_NVTX_MARK] = { N_ ("Mark"), LNS_LOOK_MARKS },
    [LNS_LANE_COUNTER] = { N_ ("Counter sample"), LNS_LOOK_CURVE },
    [LNS_LANE_CUDA_API] = { N_ ("CUDA call"), LNS_LOOK_BARS, LNS_HUE_OF_CALL, false, 3 },
    [LNS_LANE_CUDA_KERNEL] = { N_ ("Kernel"), LNS_LOOK_BARS, LNS_HUE_OF_WORK, true, 3 },
    [LNS_LANE_CUDA_MEMCPY] = { N_ ("Copy"), LNS_LOOK_BARS, LNS_HUE_OF_WORK, true, 1 },
    [LNS_LANE_CUDA_MEMSET] = { N_ ("Memset"), LNS_LOOK_BARS, LNS_HUE_OF_WORK, true, 1 },
    [LNS_LANE_CUDA_SYNC] = { N_ ("Synchronization") },
    [LNS_LANE_CUDA_EVENT] = { N_ ("CUDA event"), LNS_LOOK_MARKS },
    [LNS_LANE_CUDA_GRAPH] = { N_ ("CUDA graph"), LNS_LOOK_BARS, LNS_HUE_OF_NAME, true, 2 },
    [LNS_LANE_CUDA_GRAPH_NODE] = { N_ ("CUDA graph node") },
    [LNS_LANE_CUDA_OVERHEAD] = { N_ ("Overhead") },
    [LNS_LANE_CUDA_MEMORY] = { N_ ("Memory operation"), LNS_LOOK_MARKS },
    [LNS_LANE_CUDA_POOL] = { N_ ("Memory pool operation"), LNS_LOOK_MARKS },
    [LNS_LANE_CUDA_FAULT] = { N_ ("Page fault") },
    [LNS_LANE_CUDA_JIT] = { N_ ("Compilation") },
    [LNS_LANE_LIBRARY_CALL] = { N_ ("Library call"), LNS_LOOK_BARS, LNS_HUE_OF_CALL },
    [LNS_LANE_OS_CALL] = { N_ ("OS runtime call") },
    [LNS_LANE_SYSTEM_CALL] = { N_ ("System call") },
    [LNS_LANE_SCHED] = { N_ ("CPU scheduling"), LNS_LOOK_STATES },
    [LNS_LANE_CPU_SAMPLE] = { N_ ("CPU sample"), LNS_LOOK_TICKS },
    [LNS_LANE_MPI_CALL] = { N_ ("MPI call") },
    [LNS_LANE_NVTX_PROJECTED] = { N_ ("Range on the GPU") },
    [LNS_LANE_CUDA_BACKTRACE] = { NULL, LNS_LOOK_BARS, LNS_HUE_OF_CALL },
    [LNS_LANE_CUDA_HOST] = { N_ ("Host function") },
    [LNS_LANE_CUDA_UNIFIED] = { N_ ("Unified memory event") },
    [LNS_LANE_GPU_SWITCH] = { N_ ("GPU context switch") },
    [LNS_LANE_PYTHON_SAMPLE] = { N_ ("Python sample"), LNS_LOOK_TICKS },
    [LNS_LANE_CPU_RUN] = { N_ ("Thread on the CPU"), LNS_LOOK_BARS, LNS_HUE_OF_THREAD },
  };
  G_STATIC_ASSERT (G_N_ELEMENTS (looks) == LNS_N_LANE_KINDS);
  return &looks[kind < LNS_N_LANE_KINDS ? kind : LNS_LANE_NONE];
}

unsigned
lns_lane_call_hue (LnsCudaCallKind kind)
{
  static const unsigned hues[] = { [LNS_CUDA_CALL_LAUNCH] = 0,
                                   [LNS_CUDA_CALL_MEMORY] = 1,
                                   [LNS_CUDA_CALL_SYNC] = LNS_HUE_WAITING,
                                   [LNS_CUDA_CALL_OTHER] = 8 };
  return hues[kind];
}

/* Copies and memsets by their direction: NAME is "[CUDA memcpy HtoD]" or "[CUDA memcpy Host-to-Device]". */
static bool
find_copy_hue (const char *name, size_t size_bytes, unsigned *ret_hue)
{
  static const struct
  {
    const char *short_form, *long_form;
    unsigned hue;
  } directions[] = {
    { "HtoD", "Host-to-Device", 1 },   { "DtoH", "Device-to-Host", 2 },
    { "DtoD", "Device-to-Device", 4 }, { "PtoP", "Peer-to-Peer", 3 },
    { "memset", "Memset", 6 },
  };
  if (size_bytes < strlen ("[CUDA mem") || memcmp (name, "[CUDA mem", strlen ("[CUDA mem")) != 0)
    return false;
  *ret_hue = 9;
  for (size_t i = 0; i < G_N_ELEMENTS (directions); i++)
    if (memmem (name, size_bytes, directions[i].short_form, strlen (directions[i].short_form)) ||
        memmem (name, size_bytes, directions[i].long_form, strlen (directions[i].long_form)))
      *ret_hue = directions[i].hue;
  return true;
}

bool
lns_lane_find_hue (LnsLaneKind kind, const char *name, size_t size_bytes, unsigned *ret_hue)
{
  switch (lns_lane_look (kind)->hue_of)
    {
    case LNS_HUE_OF_CALL:
      *ret_hue = lns_lane_call_hue (lns_cuda_call_kind (name, size_bytes));
      return true;
    case LNS_HUE_OF_WORK:
      return find_copy_hue (name, size_bytes, ret_hue);
    case LNS_HUE_OF_THREAD:
      *ret_hue = (unsigned)(lns_hash (name, size_bytes) % LNS_N_HUES);
      return true;
    case LNS_HUE_OF_NAME:
      break;
    }
  return false;
}

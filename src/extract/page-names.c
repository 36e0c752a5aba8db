/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/extract/page-names.h"

#include <stdlib.h>

#include "src/base/language.h"
#include "src/base/memory.h"
#include "src/tables/enums.h"
#include "src/tables/lanes.h"

#define _(text) lns_text (text)

/* Above the ids of strings, by their lanes' kind; below addresses of texts. */
#define KIND_SHIFT 32

const char *
_lns_page_track (LnsTrackKind kind)
{
  static const char *const labels[LNS_N_TRACK_KINDS] = {
    [LNS_TRACK_NVTX_RANGES] = "NVTX",
    [LNS_TRACK_NVTX_MARKS] = "NVTX",
    [LNS_TRACK_NVTX_START_END] = N_ ("NVTX start/end"),
    [LNS_TRACK_COUNTER] = N_ ("Counter"),
    [LNS_TRACK_GPU_METRIC] = N_ ("Counter"),
    [LNS_TRACK_CUDA_API] = "CUDA API",
    [LNS_TRACK_CUDA_BACKTRACES] = N_ ("CUDA API backtraces"),
    [LNS_TRACK_CUBLAS] = "cuBLAS",
    [LNS_TRACK_CUDNN] = "cuDNN",
    [LNS_TRACK_CUSPARSE] = "cuSPARSE",
    [LNS_TRACK_CUSOLVER] = "cuSOLVER",
    [LNS_TRACK_CUDA_KERNELS] = N_ ("Kernels"),
    [LNS_TRACK_CUDA_MEMCPY] = N_ ("Memcpy"),
    [LNS_TRACK_CUDA_MEMSET] = N_ ("Memset"),
    [LNS_TRACK_CUDA_SYNC] = N_ ("Synchronization"),
    [LNS_TRACK_CUDA_EVENTS] = N_ ("CUDA events"),
    [LNS_TRACK_CUDA_GRAPHS] = N_ ("CUDA graphs"),
    [LNS_TRACK_CUDA_GRAPH_NODES] = N_ ("CUDA graph nodes"),
    [LNS_TRACK_CUDA_OVERHEAD] = N_ ("Profiler overhead"),
    [LNS_TRACK_CUDA_MEMORY] = N_ ("Memory operations"),
    [LNS_TRACK_CUDA_POOLS] = N_ ("Memory pools"),
    [LNS_TRACK_CUDA_CPU_FAULTS] = N_ ("CPU page faults"),
    [LNS_TRACK_CUDA_GPU_FAULTS] = N_ ("GPU page faults"),
    [LNS_TRACK_CUDA_JIT] = N_ ("JIT compilation"),
    [LNS_TRACK_CUDA_HOST] = N_ ("Host functions"),
    [LNS_TRACK_CUDA_UNIFIED] = N_ ("Unified memory contention"),
    [LNS_TRACK_GPU_SWITCHES] = N_ ("GPU context switches"),
    [LNS_TRACK_OS_CALLS] = N_ ("OS runtime libraries"),
    [LNS_TRACK_SYSTEM_CALLS] = N_ ("System calls"),
    [LNS_TRACK_SCHED] = N_ ("Thread state"),
    [LNS_TRACK_CPU_SAMPLES] = N_ ("CPU samples"),
    [LNS_TRACK_PYTHON_SAMPLES] = N_ ("Python samples"),
    [LNS_TRACK_CPU] = N_ ("CPUs"),
    [LNS_TRACK_MPI] = "MPI",
  };
  const char *label = (unsigned)kind < LNS_N_TRACK_KINDS ? labels[kind] : NULL;

  return label != NULL ? _ (label) : _ ("Events");
}

static uint32_t
find (LnsPageNames *names, uint64_t key, const LnsPageName *name)
{
  uintptr_t place = (uintptr_t)lns_id_map_get (&names->places, key);

  if (place == 0)
    {
      *lns_array_add (&names->all) = *name;
      place = names->all.n;
      lns_id_map_set (&names->places, key, (void *)place);
    }
  return (uint32_t)place - 1;
}

uint32_t
_lns_page_names_of_text (LnsPageNames *names, const char *text)
{
  return find (names, (uint64_t)(uintptr_t)text << 8 | 1,
               &(LnsPageName){ .text = text, .kind = LNS_LANE_NONE });
}

/* What tells events without a name apart, or NULL. */
static const char *
text_of_kind (LnsLaneKind kind, const LnsEvent *event)
{
  const int copy = lns_lane_kind_extra (kind, LNS_COLUMN_COPY_KIND),
            wait = lns_lane_kind_extra (kind, LNS_COLUMN_SYNC_TYPE),
            overhead = lns_lane_kind_extra (kind, LNS_COLUMN_OVERHEAD_KIND);

  return copy >= 0   ? lns_enum_label ("ENUM_CUDA_MEMCPY_OPER", (int64_t)event->extra[copy])
         : wait >= 0 ? lns_enum_label ("ENUM_CUPTI_SYNC_TYPE", (int64_t)event->extra[wait])
         : overhead >= 0
             ? lns_enum_label ("ENUM_CUPTI_OVERHEAD_TYPE", (int64_t)event->extra[overhead])
             : NULL;
}

/* The name of the thread that ran on a CPU, or of its process. */
static uint32_t
thread_name (LnsReport *report, uint64_t thread)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (report, &n);

  if (thread >= n)
    return 0;
  return threads[thread].name != 0
             ? threads[thread].name
             : lns_report_processes (report, NULL)[threads[thread].process].name;
}

uint32_t
_lns_page_names_of_event (LnsPageNames *names, uint32_t lane, const LnsEvent *event)
{
  const LnsLaneKind kind = lns_report_lanes (names->report, NULL)[lane].kind;
  const char *text = NULL;
  uint32_t string = event->name;

  if (kind == LNS_LANE_CPU_RUN)
    string =
        thread_name (names->report, event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_THREAD)]);
  if (string == 0)
    text = text_of_kind (kind, event);
  if (string == 0)
    return _lns_page_names_of_text (
        names, text != NULL ? text : _lns_page_track (lns_track_of (names->report, lane)->kind));
  /* Keys of strings are even, those of texts odd. */
  return find (names, ((uint64_t)kind << KIND_SHIFT | string) << 1,
               &(LnsPageName){ .string = string, .kind = kind });
}

void
_lns_page_names_clear (LnsPageNames *names)
{
  lns_id_map_clear (&names->places);
  lns_array_clear (&names->all);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* gpu_gaps and gpu_time_util: when a process's GPU had nothing, or little, to do. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/device-work.h"
#include "src/analysis/ordering.h"
#include "src/analysis/rules/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"
#include "src/tables/omissions.h"

/* A time in which something was busy. */
typedef struct
{
  int64_t start_ns, end_ns;
  int64_t before_ns; /* how long it was busy before                                              */
} Span;

/* In order, none within another. */
typedef LNS_ARRAY (Span) Spans;

/* ---- The profiler ---------------------------------------------------------------------------- */

static void
add_spans (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Spans *spans = data;

  for (uint32_t i = 0; i < chunk->n; i++)
    *lns_array_add (spans) =
        (Span){ chunk->start_ns[i], chunk->start_ns[i] + chunk->duration_ns[i], 0 };
}

static int
compare_starts (const void *a, const void *b)
{
  const Span *sa = a, *sb = b;
  return LNS_COMPARE (sa->start_ns, sb->start_ns);
}

/* Finds the times in which the profiler was busy in PROCESS: it may be why a GPU had nothing to do. */
static bool
find_overhead (LnsReport *report,
               uint32_t process,
               Spans *ret_spans,
               const atomic_bool *cancel,
               LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  Spans *spans = ret_spans;
  size_t n = 0;

  for (uint32_t i = 0; i < n_lanes; i++)
    if (lanes[i].kind == LNS_LANE_CUDA_OVERHEAD && lns_track_of (report, i)->process == process &&
        !lns_read_lane (report, i, LNS_COLUMN_BIT (LNS_COLUMN_START), add_spans, spans, cancel,
                        error))
      return false;
  lns_order (spans->items, spans->n, sizeof (Span), compare_starts);
  for (size_t i = 0; i < spans->n; i++)
    {
      const Span *span = &spans->items[i];
      Span *last = n > 0 ? &spans->items[n - 1] : NULL;
      if (last != NULL && span->start_ns <= last->end_ns)
        last->end_ns = span->end_ns > last->end_ns ? span->end_ns : last->end_ns;
      else
        spans->items[n++] =
            (Span){ span->start_ns, span->end_ns,
                    last != NULL ? last->before_ns + last->end_ns - last->start_ns : 0 };
    }
  spans->n = n;
  return true;
}

/* How long the profiler was busy before TIME_NS. */
static int64_t
overhead_before (const Spans *all, int64_t time_ns)
{
  const Span at = { .start_ns = time_ns };
  const size_t n = lns_lower_bound (all->items, all->n, sizeof at, &at, compare_starts);

  if (n == 0)
    return 0;
  const Span *span = &all->items[n - 1];
  return span->before_ns + (time_ns < span->end_ns ? time_ns : span->end_ns) - span->start_ns;
}

/* Says of the rows of PROCESS, which are those from FIRST on, how much of them was overhead. */
static bool
tell_overhead (LnsRuleResult *result,
               uint32_t process,
               size_t first,
               const atomic_bool *cancel,
               LnsError *error)
{
  Spans all = { 0 };
  const bool good =
      find_overhead (lns_tables_report (result->tables), process, &all, cancel, error);

  for (size_t i = first; good && i < result->rows.n; i++)
    {
      LnsRuleRow *row = &result->rows.items[i];
      row->overhead_ns = overhead_before (&all, row->start_ns + row->duration_ns) -
                         overhead_before (&all, row->start_ns);
    }
  lns_array_clear (&all);
  return good;
}

/* Has RUN look at each GPU as each process used it. */
static bool
for_each_gpu (LnsRuleResult *result,
              bool (*run) (LnsRuleResult *, const LnsDeviceWork *, const atomic_bool *, LnsError *),
              const atomic_bool *cancel,
              LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  const LnsFilterSpan span = lns_filter_span (report);
  LnsDeviceWorks works = lns_device_works_by_process (report, &span);
  bool good = true;

  result->has_data = works.n > 0;
  for (size_t i = 0; good && i < works.n; i++)
    {
      const size_t first = result->rows.n;
      good = run (result, &works.items[i], cancel, error) &&
             (result->rows.n == first ||
              tell_overhead (result, works.items[i].process, first, cancel, error));
    }
  lns_device_works_clear (&works);
  return good;
}

/* ---- Gaps ------------------------------------------------------------------------------------ */

/* A gap that is a hundredth of a run is worth a look, however short the run; in a long run, half a second is. */
#define GAP_SHARE   100
#define LONG_GAP_NS INT64_C (500000000)

/* The longest gap of GPU that is not told. */
static int64_t
longest_untold (const LnsRuleOptions *options,
                const LnsDeviceWork *gpu,
                const LnsOmissions *omissions)
{
  const int64_t share_ns = (lns_difference (gpu->work.end_ns, gpu->work.start_ns) -
                            lns_omitted_ns (omissions, gpu->work.start_ns, gpu->work.end_ns)) /
                           GAP_SHARE;

  if (options->gap_ns != LNS_RULE_SHARE_OF_RUN)
    return options->gap_ns;
  return share_ns < LONG_GAP_NS ? share_ns : LONG_GAP_NS;
}

/* Adds what is kept of the time from START_NS to END_NS, if it lasts for more than UNTOLD_NS. */
static void
add_gap (LnsRuleResult *result,
         const LnsDeviceWork *gpu,
         const LnsOmissions *omissions,
         int64_t start_ns,
         int64_t end_ns,
         int64_t untold_ns)
{
  for (size_t i = lns_omissions_from (omissions, start_ns); start_ns < end_ns; i++)
    {
      const bool is_cut = i < omissions->n && omissions->items[i].start_ns < end_ns;
      const int64_t until_ns = is_cut ? omissions->items[i].start_ns : end_ns;
      if (lns_difference (until_ns, start_ns) > untold_ns)
        *lns_array_add (&result->rows) = (LnsRuleRow){ .start_ns = start_ns,
                                                       .duration_ns = until_ns - start_ns,
                                                       .lane = LNS_ID_NONE,
                                                       .process = gpu->process,
                                                       .device = gpu->device };
      start_ns = is_cut ? omissions->items[i].end_ns : end_ns;
    }
}

static bool
find_gaps (LnsRuleResult *result,
           const LnsDeviceWork *gpu,
           const atomic_bool *cancel,
           LnsError *error)
{
  LnsWorkWalk *walk =
      lns_work_walk_new (lns_tables_report (result->tables), gpu, UINT32_MAX, cancel);
  LnsOmissions omissions = lns_omissions_of (lns_tables_report (result->tables));
  const int64_t untold_ns = longest_untold (&result->options, gpu, &omissions);
  lns_work_walk_keep_empty (walk);
  LnsOperation before = { 0 }, busy;
  bool any = false, found = true, good = true;

  while ((good = lns_work_walk_busy (walk, &busy, &found, error)) && found)
    {
      if (any && lns_difference (busy.start_ns, before.end_ns) > untold_ns)
        add_gap (result, gpu, &omissions, before.end_ns, busy.start_ns, untold_ns);
      before = busy;
      any = true;
    }
  lns_work_walk_free (walk);
  lns_omissions_clear (&omissions);
  return good;
}

static bool
run_gaps (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error)
{
  return for_each_gpu (result, find_gaps, cancel, error);
}

/* ---- Utilization ----------------------------------------------------------------------------- */

typedef struct
{
  const LnsDeviceWork *gpu;
  int64_t n_parts;
  double *busy_ns; /* a part each; what overlaps adds up                                         */
} Parts;

/* Where part I begins. */
static int64_t
part_start (const Parts *parts, int64_t i)
{
  return parts->gpu->work.start_ns +
         (int64_t)(((__int128)parts->gpu->work.end_ns - parts->gpu->work.start_ns) * i /
                   parts->n_parts);
}

static void
add_span (const Parts *parts, int64_t start_ns, int64_t end_ns)
{
  int64_t first_ns = parts->gpu->work.start_ns, last_ns = parts->gpu->work.end_ns;

  start_ns = start_ns > first_ns ? start_ns : first_ns;
  end_ns = end_ns < last_ns ? end_ns : last_ns;
  if (end_ns <= start_ns)
    return;
  int64_t i =
      (int64_t)(((__int128)start_ns - first_ns) * parts->n_parts / ((__int128)last_ns - first_ns));
  for (; i < parts->n_parts && part_start (parts, i) < end_ns; i++)
    {
      int64_t from_ns = part_start (parts, i), to_ns = part_start (parts, i + 1);
      from_ns = start_ns > from_ns ? start_ns : from_ns;
      to_ns = end_ns < to_ns ? end_ns : to_ns;
      parts->busy_ns[i] += to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
    }
}

static void
add_to_parts (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  for (uint32_t i = 0; i < chunk->n; i++)
    add_span (data, chunk->start_ns[i], chunk->start_ns[i] + chunk->duration_ns[i]);
}

/* Adds the parts that are less busy than asked for, neighbours as one. */
static void
add_parts (LnsRuleResult *result, const Parts *parts)
{
  LnsOmissions omissions = lns_omissions_of (lns_tables_report (result->tables));
  for (int64_t from = 0, to; from < parts->n_parts; from = to)
    {
      double busy_ns = 0;
      for (to = from; to < parts->n_parts; to++)
        {
          const int64_t from_ns = part_start (parts, to), to_ns = part_start (parts, to + 1);
          const double size_ns =
              (double)(to_ns - from_ns - lns_omitted_ns (&omissions, from_ns, to_ns));
          if (size_ns <= 0 || parts->busy_ns[to] * 100 >= result->options.busy_percent * size_ns)
            break;
          busy_ns += parts->busy_ns[to];
        }
      int64_t start_ns = part_start (parts, from), duration_ns = part_start (parts, to) - start_ns;
      const int64_t kept_ns =
          duration_ns - lns_omitted_ns (&omissions, start_ns, start_ns + duration_ns);
      if (duration_ns > 0)
        *lns_array_add (&result->rows) = (LnsRuleRow){ .start_ns = start_ns,
                                                       .duration_ns = duration_ns,
                                                       .lane = LNS_ID_NONE,
                                                       .process = parts->gpu->process,
                                                       .device = parts->gpu->device,
                                                       .percent = 100 * busy_ns / (double)kept_ns };
      to += to == from;
    }
  lns_omissions_clear (&omissions);
}

static bool
find_idle_parts (LnsRuleResult *result,
                 const LnsDeviceWork *gpu,
                 const atomic_bool *cancel,
                 LnsError *error)
{
  if (gpu->work.end_ns <= gpu->work.start_ns)
    return true;
  Parts parts = { gpu, result->options.n_chunks,
                  lns_calloc ((size_t)result->options.n_chunks, sizeof *parts.busy_ns) };
  bool good = true;
  for (size_t i = 0; good && i < gpu->lanes.n; i++)
    good = lns_read_lane (lns_tables_report (result->tables), gpu->lanes.items[i],
                          LNS_COLUMN_BIT (LNS_COLUMN_START), add_to_parts, &parts, cancel, error);
  if (good)
    add_parts (result, &parts);
  free (parts.busy_ns);
  return good;
}

static bool
run_utilization (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error)
{
  return for_each_gpu (result, find_idle_parts, cancel, error);
}

static int
compare_percents (const void *a, const void *b)
{
  const LnsRuleRow *ra = a, *rb = b;

  return LNS_COMPARE (ra->percent, rb->percent) ?: LNS_COMPARE (ra->start_ns, rb->start_ns);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Duration, start, process, device and overhead. */
static void
make_span (const LnsRuleResult *result, const LnsRuleRow *row, LnsResultCell *cells)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (lns_tables_report (result->tables), &n);

  cells[0] = _lns_stats_number (row->duration_ns);
  cells[1] = _lns_stats_number (row->start_ns);
  cells[2] = _lns_stats_pid (lns_tables_global_pid (result->tables, row->process));
  cells[3] = (LnsResultCell){ .is_empty = row->device >= n };
  if (row->device < n)
    cells[3].number = devices[row->device].number;
  cells[4] = _lns_stats_number (row->overhead_ns);
}

static bool
fill_gap (const LnsRuleResult *result, size_t i, LnsResultCell *cells, LnsError *error)
{
  cells[0] = _lns_stats_number ((int64_t)i + 1);
  make_span (result, &result->rows.items[i], &cells[1]);
  return true;
}

static bool
fill_utilization (const LnsRuleResult *result, size_t i, LnsResultCell *cells, LnsError *error)
{
  cells[0] = _lns_stats_number ((int64_t)i + 1);
  cells[1] = _lns_stats_number (llround (result->rows.items[i].percent * 10));
  make_span (result, &result->rows.items[i], &cells[2]);
  return true;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static const LnsResultColumn gap_columns[] = {
  { "Row#", LNS_RESULT_ID }, { "Duration", LNS_RESULT_TIME }, { "Start", LNS_RESULT_TIME },
  { "PID", LNS_RESULT_ID },  { "Device ID", LNS_RESULT_ID },  { "Overhead", LNS_RESULT_TIME },
};

static const LnsResultColumn utilization_columns[] = {
  { "Row#", LNS_RESULT_ID },       { "In-Use (%)", LNS_RESULT_SHARE, 1 },
  { "Duration", LNS_RESULT_TIME }, { "Start", LNS_RESULT_TIME },
  { "PID", LNS_RESULT_ID },        { "Device ID", LNS_RESULT_ID },
  { "Overhead", LNS_RESULT_TIME },
};

const LnsRuleMaker _lns_rule_gaps = {
  { "gpu_gaps", "GPU Gaps", "[:gap=MILLISECONDS][:rows=N]",
    N_ ("times in which a GPU had nothing to do"),
    "In these times a GPU had nothing to do, between its first and its last operation. Look at "
    "what the CPU did meanwhile: waits and calls of the operating system, data loading; NVTX "
    "ranges tell what the program meant to do. Overhead is the part of a gap in which the "
    "profiler was busy in the process: without it the gap may be shorter by as much.",
    "No GPU was idle for longer at a time than the limit, which --gap sets (see `lanescope help "
    "analyze`).",
    "use a GPU with CUDA" },
  run_gaps,
  NULL,
  gap_columns,
  sizeof gap_columns / sizeof *gap_columns,
  fill_gap,
};

const LnsRuleMaker _lns_rule_utilization = {
  { "gpu_time_util", "GPU Time Utilization", "[:threshold=PERCENT][:chunks=N][:rows=N]",
    N_ ("times in which a GPU had little to do"),
    "In these times a GPU was busy for a small part only. Look at what the CPU did meanwhile; "
    "larger or fewer kernels, CUDA graphs and copies beside kernels fill the gaps. Overhead is "
    "how long the profiler was busy in the process.",
    "No GPU was busy for a small part of a time only.", "use a GPU with CUDA" },
  run_utilization,
  compare_percents,
  utilization_columns,
  sizeof utilization_columns / sizeof *utilization_columns,
  fill_utilization,
};

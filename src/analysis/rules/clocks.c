/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* gpu_clocks: when something held the clocks of a GPU down, and what. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/ordering.h"
#include "src/analysis/rules/maker.h"
#include "src/base/compare.h"
#include "src/store/format/gpu-metrics.h"
#include "src/tables/lanes.h"

typedef struct
{
  int64_t time_ns;
  int64_t value;
} Sample;

typedef LNS_ARRAY (Sample) Samples;

static void
add_samples (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  const int column = lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE);
  Samples *samples = data;

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    *lns_array_add (samples) = (Sample){
      chunk->start_ns[i],
      chunk->extra[column] != NULL ? (int64_t)chunk->extra[column][i] : 0,
    };
}

/* Reads LANE, whose samples come in order. Clear SAMPLES in either case. */
static bool
read_samples (
    LnsReport *report, uint32_t lane, Samples *samples, const atomic_bool *cancel, LnsError *error)
{
  *samples = (Samples){ 0 };
  return lns_read_lane (report, lane,
                        LNS_COLUMN_BIT (LNS_COLUMN_START) | LNS_COLUMN_BIT (LNS_COLUMN_VALUE),
                        add_samples, samples, cancel, error);
}

/* The metric of LANE's track, if a session sampled it; else -1. */
static int64_t
sampled_metric (LnsReport *report, uint32_t lane)
{
  const LnsTrack *track = lns_track_of (report, lane);

  return track->kind == LNS_TRACK_GPU_METRIC &&
                 (track->number & ~UINT64_C (255)) == LNS_GPU_METRICS_SAMPLED
             ? (int64_t)track->metric
             : -1;
}

static int
compare_times (const void *a, const void *b)
{
  const Sample *sa = a, *sb = b;
  return LNS_COMPARE (sa->time_ns, sb->time_ns);
}

/* Sets the clock of ROW: the lowest of CLOCKS while it lasted, or the last one before. */
static void
find_clock (const Samples *clocks, LnsRuleRow *row)
{
  const Sample from = { .time_ns = row->start_ns };
  size_t i = lns_lower_bound (clocks->items, clocks->n, sizeof from, &from, compare_times);

  row->low_mhz = i > 0 ? clocks->items[i - 1].value : -1;
  for (bool is_first = true;
       i < clocks->n && clocks->items[i].time_ns <= row->start_ns + row->duration_ns; i++)
    if (is_first || clocks->items[i].value < row->low_mhz)
      {
        row->low_mhz = clocks->items[i].value;
        is_first = false;
      }
  row->high_mhz = -1;
  for (size_t k = 0; k < clocks->n; k++)
    row->high_mhz = clocks->items[k].value > row->high_mhz ? clocks->items[k].value : row->high_mhz;
}

/* Reads the SM clocks of the GPU of TRACK. Clear CLOCKS in either case. */
static bool
read_clocks (LnsReport *report,
             const LnsTrack *track,
             Samples *clocks,
             const atomic_bool *cancel,
             LnsError *error)
{
  uint32_t n_lanes;

  *clocks = (Samples){ 0 };
  lns_report_lanes (report, &n_lanes);
  for (uint32_t i = 0; i < n_lanes; i++)
    if (sampled_metric (report, i) == LNS_GPU_METRIC_SM_CLOCK &&
        lns_track_of (report, i)->number == track->number &&
        lns_track_of (report, i)->device == track->device)
      return read_samples (report, i, clocks, cancel, error);
  return true;
}

/* Adds a row for each time in which the samples of LANE are 1: up to the first that is not, or the last of all. */
static bool
find_holds (LnsRuleResult *result, uint32_t lane, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  const LnsTrack *track = lns_track_of (report, lane);
  Samples holds, clocks = { 0 };
  bool good = read_samples (report, lane, &holds, cancel, error) &&
              read_clocks (report, track, &clocks, cancel, error);

  for (size_t from = 0, to; good && from < holds.n; from = to)
    {
      for (to = from + 1; to < holds.n && holds.items[to - 1].value != 0; to++)
        ;
      if (holds.items[from].value == 0)
        continue;
      LnsRuleRow *row = lns_array_add (&result->rows);
      *row = (LnsRuleRow){ .start_ns = holds.items[from].time_ns,
                           .duration_ns = holds.items[to - 1].time_ns - holds.items[from].time_ns,
                           .ordinal = from,
                           .lane = lane,
                           .process = track->process,
                           .device = track->device,
                           .call_name = track->name };
      find_clock (&clocks, row);
    }
  lns_array_clear (&holds);
  lns_array_clear (&clocks);
  return good;
}

static bool
run_clocks (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  uint32_t n_lanes;
  bool good = true;

  lns_report_lanes (report, &n_lanes);
  for (uint32_t i = 0; good && i < n_lanes; i++)
    {
      const int64_t metric = sampled_metric (report, i);
      result->has_data |= metric >= 0;
      if (metric >= LNS_GPU_METRIC_CLOCK_REASON && metric < LNS_GPU_METRIC_N_CLOCK_REASON)
        good = find_holds (result, i, cancel, error);
    }
  return good;
}

static bool
fill_clocks (const LnsRuleResult *result, size_t i, LnsResultCell *cells, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  const LnsRuleRow *row = &result->rows.items[i];
  uint32_t n;
  size_t size_bytes;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  const char *reason = lns_report_string (report, row->call_name, &size_bytes);

  (void)error;
  cells[0] = _lns_stats_number ((int64_t)i + 1);
  cells[1] = _lns_stats_number (row->duration_ns);
  cells[2] = _lns_stats_number (row->start_ns);
  cells[3] = _lns_stats_pid (lns_tables_global_pid (result->tables, row->process));
  cells[4] = (LnsResultCell){ .is_empty = row->device >= n };
  if (row->device < n)
    cells[4].number = devices[row->device].number;
  cells[5] = _lns_stats_text (reason, size_bytes);
  cells[6] = (LnsResultCell){ .is_empty = row->low_mhz < 0, .number = row->low_mhz };
  cells[7] = (LnsResultCell){ .is_empty = row->high_mhz < 0, .number = row->high_mhz };
  return true;
}

static const LnsResultColumn clock_columns[] = {
  { "Row#", LNS_RESULT_ID },
  { "Duration", LNS_RESULT_TIME },
  { "Start", LNS_RESULT_TIME },
  { "PID", LNS_RESULT_ID },
  { "Device ID", LNS_RESULT_ID },
  { "Reason", LNS_RESULT_TEXT },
  { "Lowest SM Clock (MHz)", LNS_RESULT_NUMBER },
  { "Highest of All (MHz)", LNS_RESULT_NUMBER },
};

const LnsRuleMaker _lns_rule_clocks = {
  { "gpu_clocks", "GPU Clocks Held Down", "[:rows=N]",
    N_ ("times in which something held the clocks of a GPU down"),
    "In these times something held the clocks of a GPU down, so that its work took longer than "
    "it could. At the power limit, the GPU draws all that it may: `nvidia-smi -q -d POWER` shows "
    "the limit, which an administrator can raise. For temperature, look at cooling and at what "
    "runs beside it; for a power brake or a hardware slowdown, at the power supply. Application "
    "settings and sync boost are somebody's choice: `nvidia-smi -rac` undoes them. The clocks "
    "are the lowest of that time, and the highest that was seen in the report.",
    "Nothing held the clocks of a GPU down.",
    "use a GPU whose clocks are sampled (--gpu-environment)" },
  run_clocks,
  NULL,
  clock_columns,
  sizeof clock_columns / sizeof *clock_columns,
  fill_clocks,
};

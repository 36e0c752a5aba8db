/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Kernels that took longer while something held the clocks of their GPU down than others of their name. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/ordering.h"
#include "src/analysis/why/maker.h"
#include "src/base/compare.h"
#include "src/store/format/gpu-metrics.h"
#include "src/tables/lanes.h"

/* So many kernels of a name tell how long one takes, with clocks held down and without. */
#define LEAST_KERNELS 5

/* Kernels that are slower by less vary by themselves. */
#define LEAST_SLOWDOWN 1.05

/* The metric of the multiprocessors' clock, in whatever unit. */
#define CLOCK "GPC Clock Frequency"

/* Clocks below this share of the highest that was seen are low. */
#define LOW_CLOCK 0.92

/* Of the kernels of one name, with the clocks free and held down. */
typedef struct
{
  uint32_t name;
  uint64_t n_free, n_held;
  int64_t free_ns, held_ns;
  LnsEvidence longest; /* while held */
} Kernels;

typedef struct
{
  const LnsDeviceWork *work;
  LnsSpans held; /* by start, none within another                                                */
  int64_t since_ns; /* of the lane at hand: when the clocks were first found held, or INT64_MIN  */
  uint32_t reason;  /* string id: what held them longest                                         */
  int64_t reason_ns;
  double highest; /* of the lane at hand: the clock                                              */
  LNS_ARRAY (Kernels) kernels;
  LnsIdMap index; /* name -> 1 + index                                                           */
} Clocks;

/* Notes that from TIME_NS on the clocks were held down, or were not. */
static void
add_sample (Clocks *clocks, int64_t time_ns, bool is_held)
{
  if (is_held && clocks->since_ns == INT64_MIN)
    clocks->since_ns = time_ns;
  else if (!is_held && clocks->since_ns != INT64_MIN)
    {
      *lns_array_add (&clocks->held) = (LnsSpan){ clocks->since_ns, time_ns };
      clocks->since_ns = INT64_MIN;
    }
}

static void
add_samples (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  const int column = lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE);

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    add_sample (data, chunk->start_ns[i], lns_chunk_extra (chunk, column, i) != 0);
}

static double
clock_at (const LnsTrack *track, const LnsChunk *chunk, uint32_t i)
{
  const int column = lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE);
  return lns_payload_number (track->value_type, lns_chunk_extra (chunk, column, i));
}

static void
find_highest (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Clocks *clocks = data;

  for (uint32_t i = 0; i < chunk->n; i++)
    clocks->highest =
        clock_at (track, chunk, i) > clocks->highest ? clock_at (track, chunk, i) : clocks->highest;
}

static void
add_clocks (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Clocks *clocks = data;

  for (uint32_t i = 0; i < chunk->n; i++)
    add_sample (clocks, chunk->start_ns[i],
                clock_at (track, chunk, i) < LOW_CLOCK * clocks->highest);
}

/* Reads with FUNCTION when one reason held the clocks down: LANE's. */
static bool
read_reason (
    LnsWhyMaker *maker, uint32_t lane, LnsChunkFunc function, Clocks *clocks, LnsError *error)
{
  const size_t first = clocks->held.n;
  int64_t ns = 0;

  clocks->since_ns = INT64_MIN;
  if (!lns_read_lane (maker->report, lane, LNS_COLUMN_BIT (LNS_COLUMN_VALUE), function, clocks,
                      maker->cancel, error))
    return false;
  if (clocks->since_ns != INT64_MIN)
    *lns_array_add (&clocks->held) =
        (LnsSpan){ clocks->since_ns, lns_report_lane_info (maker->report, lane)->end_ns };
  for (size_t i = first; i < clocks->held.n; i++)
    ns += clocks->held.items[i].end_ns - clocks->held.items[i].start_ns;
  if (ns > clocks->reason_ns)
    {
      clocks->reason_ns = ns;
      clocks->reason = lns_track_of (maker->report, lane)->name;
    }
  return true;
}

static int
compare_starts (const void *a, const void *b)
{
  const LnsSpan *sa = a, *sb = b;
  return LNS_COMPARE (sa->start_ns, sb->start_ns);
}

/* Where the reasons were not recorded: reads when the clock itself was low, if it was recorded. */
static bool
read_clock (LnsWhyMaker *maker, Clocks *clocks, LnsError *error)
{
  uint32_t n_lanes;
  lns_report_lanes (maker->report, &n_lanes);

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrack *track = lns_track_of (maker->report, i);
      if (track->kind != LNS_TRACK_GPU_METRIC ||
          strncmp (lns_report_string (maker->report, track->name, NULL), CLOCK, strlen (CLOCK)) !=
              0 ||
          (track->device != LNS_ID_NONE &&
           !lns_is_same_gpu (maker->report, track->device, clocks->work->device)))
        continue;
      clocks->highest = 0;
      return lns_read_lane (maker->report, i, LNS_COLUMN_BIT (LNS_COLUMN_VALUE), find_highest,
                            clocks, maker->cancel, error) &&
             read_reason (maker, i, add_clocks, clocks, error);
    }
  return true;
}

/* Reads when anything held the clocks of the GPU down. */
static bool
read_reasons (LnsWhyMaker *maker, Clocks *clocks, LnsError *error)
{
  uint32_t n_lanes;
  lns_report_lanes (maker->report, &n_lanes);

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrack *track = lns_track_of (maker->report, i);
      if (track->kind == LNS_TRACK_GPU_METRIC && track->metric >= LNS_GPU_METRIC_CLOCK_REASON &&
          track->metric < LNS_GPU_METRIC_N_CLOCK_REASON &&
          (track->number & ~UINT64_C (255)) == LNS_GPU_METRICS_SAMPLED &&
          lns_is_same_gpu (maker->report, track->device, clocks->work->device) &&
          !read_reason (maker, i, add_samples, clocks, error))
        return false;
    }
  if (clocks->held.n == 0 && !read_clock (maker, clocks, error))
    return false;
  lns_order (clocks->held.items, clocks->held.n, sizeof (LnsSpan), compare_starts);
  LnsSpans merged = { .items = clocks->held.items, .n_allocated = clocks->held.n_allocated };
  for (size_t i = 0; i < clocks->held.n; i++)
    {
      const LnsSpan span = clocks->held.items[i];
      LnsSpan *last = merged.n > 0 ? &merged.items[merged.n - 1] : NULL;
      if (last != NULL && span.start_ns <= last->end_ns)
        last->end_ns = span.end_ns > last->end_ns ? span.end_ns : last->end_ns;
      else
        merged.items[merged.n++] = span;
    }
  clocks->held = merged;
  return true;
}

static bool
is_held (const Clocks *clocks, int64_t time_ns)
{
  const LnsSpan wanted = { .start_ns = time_ns + 1 };
  const size_t n =
      lns_lower_bound (clocks->held.items, clocks->held.n, sizeof wanted, &wanted, compare_starts);
  return n > 0 && time_ns < clocks->held.items[n - 1].end_ns;
}

static void
add_kernels (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Clocks *clocks = data;
  const LnsSpan *span = &clocks->work->span;

  (void)track;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const int64_t start_ns = chunk->start_ns[i], ns = chunk->duration_ns[i];
      if (chunk->name[i] == 0 || !lns_event_has_length (chunk->flags[i]) ||
          start_ns < span->start_ns || start_ns + ns > span->end_ns)
        continue;
      uint64_t at = lns_id_map_number (&clocks->index, chunk->name[i]);
      if (at == 0)
        {
          *lns_array_add (&clocks->kernels) =
              (Kernels){ .name = chunk->name[i], .longest = { .lane = LNS_ID_NONE } };
          at = clocks->kernels.n;
          lns_id_map_set_number (&clocks->index, chunk->name[i], at);
        }
      Kernels *kernels = &clocks->kernels.items[at - 1];
      if (!is_held (clocks, start_ns))
        {
          kernels->n_free++;
          kernels->free_ns += ns;
          continue;
        }
      kernels->n_held++;
      kernels->held_ns += ns;
      if (ns > kernels->longest.end_ns - kernels->longest.start_ns)
        kernels->longest = (LnsEvidence){ start_ns, start_ns + ns, chunk->lane, chunk->first + i };
    }
}

/* What the kernels that were held lost. */
static int64_t
lost_ns (const Kernels *kernels)
{
  if (kernels->n_free < LEAST_KERNELS || kernels->n_held < LEAST_KERNELS)
    return 0;
  const double expected_ns =
      (double)kernels->free_ns / (double)kernels->n_free * (double)kernels->n_held;
  return (double)kernels->held_ns > LEAST_SLOWDOWN * expected_ns
             ? kernels->held_ns - (int64_t)expected_ns
             : 0;
}

static void
tell (LnsWhyMaker *maker, size_t ledger, const Clocks *clocks)
{
  const LnsSpan *span = &maker->why->ledgers.items[ledger].span;
  const Kernels *worst = NULL;
  int64_t ns = 0;
  uint64_t n = 0;
  LnsWhyCosts costs = { 0 }; /* of all kernels of a name                                       */

  for (size_t i = 0; i < clocks->kernels.n; i++)
    {
      const Kernels *kernels = &clocks->kernels.items[i];
      const int64_t lost = lost_ns (kernels);
      _lns_why_note_cost (maker, &costs, kernels->longest.start_ns, kernels->longest.end_ns, lost);
      ns += lost;
      n += lost > 0 ? kernels->n_held : 0;
      if (lost > 0 && (worst == NULL || lost > lost_ns (worst)))
        worst = kernels;
    }
  if (worst == NULL || ns <= (span->end_ns - span->start_ns) / 100)
    {
      lns_array_clear (&costs);
      return;
    }
  LnsWhyFinding *finding = _lns_why_add_finding (maker, LNS_CAUSE_SLOW_CLOCKS, ledger, ns, n);
  finding->confidence = LNS_CONFIDENCE_LIKELY;
  _lns_why_give_costs (maker, finding, &costs);
  finding->own.call = worst->name;
  finding->own.function = clocks->reason;
  finding->longest = finding->evidence[finding->n_evidence++] = worst->longest;
  const int64_t worst_ns =
      worst->longest.end_ns - worst->longest.start_ns - worst->free_ns / (int64_t)worst->n_free;
  finding->longest_ns = worst_ns < ns ? worst_ns : ns;
}

bool
_lns_why_clocks (LnsWhyMaker *maker, const LnsDeviceWorks *works, LnsError *error)
{
  const LnsLane *lanes = lns_report_lanes (maker->report, NULL);
  bool good = true;

  for (size_t w = 0; good && w < works->n; w++)
    {
      Clocks clocks = { .work = &works->items[w] };
      good = read_reasons (maker, &clocks, error);
      for (size_t i = 0; good && clocks.held.n > 0 && i < works->items[w].lanes.n; i++)
        if (lanes[works->items[w].lanes.items[i]].kind == LNS_LANE_CUDA_KERNEL)
          good =
              lns_read_lane (maker->report, works->items[w].lanes.items[i],
                             LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
                             add_kernels, &clocks, maker->cancel, error);
      if (good)
        tell (maker, w, &clocks);
      lns_array_clear (&clocks.held);
      lns_array_clear (&clocks.kernels);
      lns_id_map_clear (&clocks.index);
    }
  return good;
}

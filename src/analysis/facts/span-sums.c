/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/span-sums.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

/* A median takes 8 bytes for each event. */
#define MOST_MEASURED 8000000

/* What lanes of a kind tell of a time. */
typedef enum
{
  SORT_NONE,    /* only that there were events                                                   */
  SORT_THREADS, /* what a thread was in                                                          */
  SORT_GPUS,
  SORT_RUNNING, /* that a thread was on a CPU                                                    */
  SORT_NOTHING  /* derived: lists of events leave it out, too                                    */
} Sort;

static Sort
sort_of (LnsLaneKind kind)
{
  switch (kind)
    {
    case LNS_LANE_NVTX_PUSH_POP:
    case LNS_LANE_NVTX_START_END:
    case LNS_LANE_CUDA_API:
    case LNS_LANE_LIBRARY_CALL:
    case LNS_LANE_OS_CALL:
    case LNS_LANE_MPI_CALL:
    case LNS_LANE_SYSTEM_CALL:
      return SORT_THREADS;
    case LNS_LANE_CUDA_KERNEL:
    case LNS_LANE_CUDA_MEMCPY:
    case LNS_LANE_CUDA_MEMSET:
    case LNS_LANE_CUDA_GRAPH:
      return SORT_GPUS;
    case LNS_LANE_SCHED:
      return SORT_RUNNING;
    case LNS_LANE_NVTX_PROJECTED:
      return SORT_NOTHING;
    default:
      return SORT_NONE;
    }
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Looks at the events FIRST … END - 1 of CHUNK of LANE, which touch the span. */
typedef void (*TouchFunc) (
    void *data, uint32_t lane, const LnsChunk *chunk, uint32_t first, uint32_t end);

/* Whether event I of CHUNK touches SPAN. */
static inline bool
touches (const LnsChunk *chunk, uint32_t i, const LnsSpan *span)
{
  const int64_t start_ns = chunk->start_ns[i];

  return start_ns < span->end_ns &&
         (start_ns >= span->start_ns ||
          chunk->duration_ns[i] > lns_difference (span->start_ns, start_ns));
}

/* Has FUNCTION look at the events of LANE that may touch SPAN. */
static bool
read_lane (LnsReport *report,
           uint32_t lane,
           const LnsSpan *span,
           TouchFunc function,
           void *data,
           const atomic_bool *cancel,
           LnsError *error)
{
  const LnsLaneInfo *info = lns_report_lane_info (report, lane);
  uint64_t first = 0;
  LnsError local = { 0 };

  if (info->n_events == 0 || info->start_ns >= span->end_ns || info->end_ns < span->start_ns)
    return true;
  if (!lns_report_find (report, lane, span->start_ns, &first, error))
    return false;
  if (first >= info->n_events)
    return true;
  LnsChunkWalker *walker = lns_chunk_walker_new (report, lane, LNS_COLUMN_BIT (LNS_COLUMN_NAME));
  const LnsChunk *chunk;
  lns_chunk_walker_seek (walker, lns_report_chunk_of (report, lane, first));
  while (lns_go_on (cancel, &local) && (chunk = lns_chunk_walker_next (walker, &local)) != NULL &&
         chunk->n > 0 && chunk->start_ns[0] < span->end_ns)
    function (data, lane, chunk, 0, chunk->n);
  lns_chunk_walker_free (walker);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

/* --- Sums ------------------------------------------------------------------------------------- */

typedef struct
{
  const LnsSpan *span;
  LnsSpanSums *sums;
  Sort sort;        /* of the lane at hand                                                       */
  LnsSpanName *all; /* by string id, of the sort at hand                                         */
  uint32_t n_all;
  int64_t ns; /* of the lane at hand, added up                                             */
} Summing;

static void
sum_chunk (void *data, uint32_t lane, const LnsChunk *chunk, uint32_t first, uint32_t end)
{
  Summing *it = data;
  const LnsSpan *span = it->span;
  uint64_t n = 0;

  for (uint32_t i = first; i < end; i++)
    {
      if (!touches (chunk, i, span))
        continue;
      n++;
      if (it->sort == SORT_NONE)
        continue;
      const int64_t start_ns = chunk->start_ns[i],
                    end_ns = lns_sum (start_ns, chunk->duration_ns[i]),
                    ns = lns_difference (end_ns < span->end_ns ? end_ns : span->end_ns,
                                         start_ns > span->start_ns ? start_ns : span->start_ns);
      if (it->sort == SORT_RUNNING)
        {
          it->ns = lns_sum (it->ns, ns);
          continue;
        }
      if (chunk->name[i] >= it->n_all)
        continue;
      LnsSpanName *name = &it->all[chunk->name[i]];
      name->n++;
      name->ns = lns_sum (name->ns, ns);
      name->lane = lane;
    }
  it->sums->n_events += n;
}

static int
compare_names (const void *a, const void *b)
{
  const LnsSpanName *x = a, *y = b;
  return LNS_COMPARE (y->ns, x->ns) ?: LNS_COMPARE (x->name, y->name);
}

static int
compare_shares (const void *a, const void *b)
{
  const LnsSpanShare *x = a, *y = b;
  return LNS_COMPARE (y->ns, x->ns) ?: LNS_COMPARE (x->thread, y->thread);
}

/* Keeps the MAX_NAMES of the N of ALL that took longest in RET_NAMES. O(n), and O(k log k) for the k that took any time. */
static void
keep_longest (const LnsSpanName *all, uint32_t n, size_t max_names, LnsSpanNames *ret_names)
{
  for (uint32_t i = 0; i < n; i++)
    if (all[i].ns > 0)
      {
        LnsSpanName *name = lns_array_add (ret_names);
        *name = all[i];
        name->name = i;
      }
  if (ret_names->n > 1)
    qsort (ret_names->items, ret_names->n, sizeof *ret_names->items, compare_names);
  ret_names->n = ret_names->n < max_names ? ret_names->n : max_names;
}

/* Sums up the lanes of SORT. */
static bool
sum_sort (LnsReport *report,
          Summing *it,
          Sort sort,
          size_t max_names,
          const atomic_bool *cancel,
          LnsError *error)
{
  uint32_t n_lanes, n_strings = lns_report_n_strings (report);
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const bool has_names = sort == SORT_THREADS || sort == SORT_GPUS;
  bool good = true;

  it->sort = sort;
  it->n_all = n_strings + 1;
  it->all = has_names ? lns_calloc (it->n_all, sizeof *it->all) : NULL;
  for (uint32_t i = 0; good && i < n_lanes; i++)
    {
      if (sort_of (lanes[i].kind) != sort)
        continue;
      it->ns = 0;
      good = read_lane (report, i, it->span, sum_chunk, it, cancel, error);
      if (good && sort == SORT_RUNNING)
        *lns_array_add (&it->sums->running) =
            (LnsSpanShare){ .device = LNS_ID_NONE,
                            .process = LNS_ID_NONE,
                            .thread = lns_track_of (report, i)->thread,
                            .ns = it->ns };
    }
  if (good && has_names)
    keep_longest (it->all, it->n_all, max_names,
                  sort == SORT_THREADS ? &it->sums->threads : &it->sums->gpus);
  free (it->all);
  return good;
}

/* How long each GPU worked in SPAN, whatever worked side by side. */
static bool
sum_devices (LnsReport *report,
             const LnsSpan *span,
             const atomic_bool *cancel,
             LnsSpanSums *sums,
             LnsError *error)
{
  const LnsFilterSpan filter = { span->start_ns, span->end_ns, LNS_ID_NONE };
  LnsDeviceWorks works = lns_device_works (report, &filter);
  bool good = true;

  for (size_t i = 0; good && i < works.n; i++)
    {
      LnsWorkWalk *walk = lns_work_walk_new (report, &works.items[i], UINT32_MAX, cancel);
      LnsSpanShare share = { .device = works.items[i].device,
                             .process = works.items[i].process,
                             .thread = LNS_ID_NONE };
      LnsOperation busy;
      bool found = true;
      while (good && found)
        {
          good = lns_work_walk_busy (walk, &busy, &found, error);
          if (good && found)
            share.ns = lns_sum (share.ns, lns_difference (busy.end_ns, busy.start_ns));
        }
      lns_work_walk_free (walk);
      *lns_array_add (&sums->devices) = share;
    }
  lns_device_works_clear (&works);
  return good;
}

bool
lns_span_sums_make (LnsReport *report,
                    const LnsSpan *span,
                    size_t max_names,
                    const atomic_bool *cancel,
                    LnsSpanSums *ret_sums,
                    LnsError *error)
{
  Summing it = { .span = span, .sums = ret_sums };
  bool good = true;

  *ret_sums = (LnsSpanSums){ 0 };
  for (Sort sort = SORT_NONE; good && sort < SORT_NOTHING; sort++)
    good = sum_sort (report, &it, sort, max_names, cancel, error);
  good = good && sum_devices (report, span, cancel, ret_sums, error);
  if (good && ret_sums->running.n > 1)
    qsort (ret_sums->running.items, ret_sums->running.n, sizeof (LnsSpanShare), compare_shares);
  if (!good)
    lns_span_sums_clear (ret_sums);
  return good;
}

void
lns_span_sums_clear (LnsSpanSums *sums)
{
  lns_array_clear (&sums->threads);
  lns_array_clear (&sums->gpus);
  lns_array_clear (&sums->devices);
  lns_array_clear (&sums->running);
}

/* --- Percentiles ------------------------------------------------------------------------------ */

typedef LNS_ARRAY (int64_t) Durations;

typedef struct
{
  const LnsSpan *span;
  uint32_t *place; /* by string id: 1 + the name of the sort at hand, or 0                   */
  uint32_t n_place;
  Durations *durations; /* of each of its names                                                  */
} Measuring;

static void
measure_chunk (void *data, uint32_t lane, const LnsChunk *chunk, uint32_t first, uint32_t end)
{
  Measuring *it = data;

  for (uint32_t i = first; i < end; i++)
    {
      const uint32_t place = chunk->name[i] < it->n_place ? it->place[chunk->name[i]] : 0;
      if (place == 0 || !touches (chunk, i, it->span) || it->durations[place - 1].n > MOST_MEASURED)
        continue;
      *lns_array_add (&it->durations[place - 1]) = chunk->duration_ns[i];
    }
}

/* The P-th percentile of OF. */
static int64_t
percentile (Durations *of, unsigned p)
{
  const size_t k = (of->n * p + 99) / 100 - 1;

  lns_select (of->items, of->n, k);
  return of->items[k];
}

static bool
measure_sort (LnsReport *report,
              Measuring *it,
              Sort sort,
              LnsSpanNames *names,
              const atomic_bool *cancel,
              LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  bool good = true;

  if (names->n == 0)
    return true;
  it->n_place = lns_report_n_strings (report) + 1;
  it->place = lns_calloc (it->n_place, sizeof *it->place);
  it->durations = lns_calloc (names->n, sizeof *it->durations);
  for (size_t i = 0; i < names->n; i++)
    it->place[names->items[i].name] = (uint32_t)i + 1;
  for (uint32_t i = 0; good && i < n_lanes; i++)
    if (sort_of (lanes[i].kind) == sort)
      good = read_lane (report, i, it->span, measure_chunk, it, cancel, error);
  for (size_t i = 0; i < names->n; i++)
    {
      Durations *of = &it->durations[i];
      LnsSpanName *name = &names->items[i];
      if (good && of->n > 0 && of->n <= MOST_MEASURED)
        {
          name->p50_ns = percentile (of, 50);
          name->p90_ns = percentile (of, 90);
          name->p99_ns = percentile (of, 99);
        }
      lns_array_clear (of);
    }
  free (it->durations);
  free (it->place);
  return good;
}

bool
lns_span_sums_measure (LnsReport *report,
                       const LnsSpan *span,
                       const atomic_bool *cancel,
                       LnsSpanSums *sums,
                       LnsError *error)
{
  Measuring it = { .span = span };

  return measure_sort (report, &it, SORT_THREADS, &sums->threads, cancel, error) &&
         measure_sort (report, &it, SORT_GPUS, &sums->gpus, cancel, error);
}

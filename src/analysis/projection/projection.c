/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/projection-private.h"

#include <stdlib.h>

#include "src/analysis/lanes.h"
#include "src/analysis/ordering.h"
#include "src/base/memory.h"

/* ---- Work ------------------------------------------------------------------------------------ */

static void
add_work (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  LnsProjection *projection = data;
  const int index =
      lns_lane_kind_extra (projection->lanes[chunk->lane].kind, LNS_COLUMN_CORRELATION);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t correlation = lns_chunk_extra (chunk, index, i);
      if (correlation != 0)
        *lns_array_add (&projection->work) =
            (LnsProjectionWork){ correlation, chunk->start_ns[i],
                                 chunk->start_ns[i] + chunk->duration_ns[i], 1, track->stream };
    }
}

static int
compare_work (const void *a, const void *b)
{
  const LnsProjectionWork *wa = a, *wb = b;
  if (wa->correlation != wb->correlation)
    return wa->correlation < wb->correlation ? -1 : 1;
  return wa->stream < wb->stream ? -1 : wa->stream > wb->stream;
}

/* Brings what has one correlation and stream together. */
static void
merge_work (LnsProjection *projection)
{
  LnsProjectionWork *work = projection->work.items;
  size_t n = 0;

  lns_order (work, projection->work.n, sizeof *work, compare_work);
  for (size_t i = 0; i < projection->work.n; i++)
    if (n == 0 || compare_work (&work[n - 1], &work[i]) != 0)
      work[n++] = work[i];
    else
      {
        LnsProjectionWork *same = &work[n - 1];
        same->start_ns = work[i].start_ns < same->start_ns ? work[i].start_ns : same->start_ns;
        same->end_ns = work[i].end_ns > same->end_ns ? work[i].end_ns : same->end_ns;
        same->n++;
      }
  projection->work.n = n;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Where the work with CORRELATION would begin. Ids mostly ascend: AT, the place after the last hit, comes first. */
static size_t
find_work (const LnsProjection *projection, uint64_t correlation, size_t at)
{
  const LnsProjectionWork *work = projection->work.items, wanted = { .correlation = correlation };
  const size_t n = projection->work.n;

  return at < n && work[at].correlation == correlation
             ? at
             : lns_lower_bound (work, n, sizeof wanted, &wanted, compare_work);
}

static void
add_launches (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  LnsProjection *projection = data;
  const int index = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);
  const LnsProjectionWork *work = projection->work.items;
  const size_t n_work = projection->work.n;
  size_t at = 0;

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t correlation = lns_chunk_extra (chunk, index, i);
      size_t w = correlation != 0 ? find_work (projection, correlation, at) : n_work;
      for (; w < n_work && work[w].correlation == correlation; at = ++w)
        *lns_array_add (&projection->launches) =
            (LnsProjectionLaunch){ .correlation = correlation,
                                   .thread = track->thread,
                                   .n = work[w].n,
                                   .stream = work[w].stream,
                                   .call_start_ns = chunk->start_ns[i],
                                   .call_end_ns = chunk->start_ns[i] + chunk->duration_ns[i],
                                   .start_ns = work[w].start_ns,
                                   .end_ns = work[w].end_ns };
    }
}

static int
compare_launches (const void *a, const void *b)
{
  const LnsProjectionLaunch *la = a, *lb = b;

  if (la->thread != lb->thread)
    return la->thread < lb->thread ? -1 : 1;
  if (la->call_start_ns != lb->call_start_ns)
    return la->call_start_ns < lb->call_start_ns ? -1 : 1;
  return la->call_end_ns > lb->call_end_ns ? -1 : la->call_end_ns < lb->call_end_ns;
}

/* Whether the launch at I is by a call within one that began the same: the driver's in the runtime's. */
static bool
is_inner (const LnsProjectionLaunch *launches, size_t i)
{
  for (size_t outer = i; outer > 0 && launches[outer - 1].thread == launches[i].thread &&
                         launches[outer - 1].call_end_ns >= launches[i].call_end_ns;
       outer--)
    if (launches[outer - 1].correlation == launches[i].correlation &&
        launches[outer - 1].stream == launches[i].stream)
      return true;
  return false;
}

/* Orders the launches, and drops those that are told by an outer call. */
static void
order_launches (LnsProjection *projection)
{
  LnsProjectionLaunch *launches = projection->launches.items;
  size_t n = 0;

  lns_order (launches, projection->launches.n, sizeof *launches, compare_launches);
  for (size_t i = 0; i < projection->launches.n; i++)
    {
      launches[n] = launches[i];
      n += !is_inner (launches, n);
    }
  projection->launches.n = n;
}

size_t
_lns_projection_first (const LnsProjection *projection, uint32_t thread, int64_t start_ns)
{
  const LnsProjectionLaunch wanted = { .thread = thread,
                                       .call_start_ns = start_ns,
                                       .call_end_ns = INT64_MAX };

  return lns_lower_bound (projection->launches.items, projection->launches.n, sizeof wanted,
                          &wanted, compare_launches);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* Projects RANGE, whose start, duration and thread are set. False where it began nothing. */
static bool
project (const LnsProjection *projection, LnsProjectedRange *range)
{
  const LnsProjectionLaunch *launches = projection->launches.items;
  int64_t range_end_ns = range->range_start_ns + range->range_duration_ns, end_ns = INT64_MIN;

  range->start_ns = INT64_MAX;
  for (size_t i = _lns_projection_first (projection, range->thread, range->range_start_ns);
       i < projection->launches.n && launches[i].thread == range->thread &&
       launches[i].call_start_ns <= range_end_ns;
       i++)
    if (launches[i].call_end_ns <= range_end_ns)
      {
        range->start_ns =
            launches[i].start_ns < range->start_ns ? launches[i].start_ns : range->start_ns;
        end_ns = launches[i].end_ns > end_ns ? launches[i].end_ns : end_ns;
        range->n_operations += launches[i].n;
      }
  if (range->n_operations == 0)
    return false;
  range->duration_ns = end_ns - range->start_ns;
  return true;
}

static void
add_ranges (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  LnsProjection *projection = data;
  const LnsLaneKind kind = projection->lanes[chunk->lane].kind;
  const int thread = lns_lane_kind_extra (kind, LNS_COLUMN_THREAD),
            end_thread = lns_lane_kind_extra (kind, LNS_COLUMN_END_THREAD),
            color = lns_lane_kind_extra (kind, LNS_COLUMN_COLOR);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      if (!lns_event_has_length (chunk->flags[i]) ||
          lns_chunk_extra (chunk, thread, i) != lns_chunk_extra (chunk, end_thread, i))
        continue;
      LnsProjectedRange range = { .range_start_ns = chunk->start_ns[i],
                                  .range_duration_ns = chunk->duration_ns[i],
                                  .ordinal = chunk->first + i,
                                  .lane = chunk->lane,
                                  .name = chunk->name[i],
                                  .thread = thread >= 0
                                                ? (uint32_t)lns_chunk_extra (chunk, thread, i)
                                                : track->thread };
      projection->add_range (projection, &range, (uint32_t)lns_chunk_extra (chunk, color, i));
    }
}

int
_lns_projection_compare (const void *a, const void *b)
{
  const LnsProjectedRange *ra = a, *rb = b;

  if (ra->thread != rb->thread)
    return ra->thread < rb->thread ? -1 : 1;
  if (ra->range_start_ns != rb->range_start_ns)
    return ra->range_start_ns < rb->range_start_ns ? -1 : 1;
  if (ra->range_duration_ns != rb->range_duration_ns)
    return ra->range_duration_ns > rb->range_duration_ns ? -1 : 1;
  if (ra->lane != rb->lane)
    return ra->lane < rb->lane ? -1 : 1;
  return ra->ordinal < rb->ordinal ? -1 : ra->ordinal > rb->ordinal;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static bool
is_call (LnsLaneKind kind)
{
  return kind == LNS_LANE_CUDA_API;
}

static bool
is_range (LnsLaneKind kind)
{
  return kind == LNS_LANE_NVTX_PUSH_POP || kind == LNS_LANE_NVTX_START_END;
}

/* Has the function of this walk look at CHUNK, and tells how far it is. */
static void
look_at (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  LnsProjection *projection = data;

  projection->function (projection, track, chunk);
  projection->n_chunks_read++;
  if (projection->permille != NULL)
    atomic_store_explicit (
        projection->permille,
        (unsigned)(projection->n_chunks_read * 1000 / (projection->n_chunks + 1)),
        memory_order_relaxed);
}

/* Reads those of the N lanes of by_process from FIRST on that are of a KIND. */
static bool
walk (LnsProjection *projection,
      uint32_t first,
      uint32_t n,
      bool (*is_kind) (LnsLaneKind),
      LnsChunkFunc function,
      LnsError *error)
{
  const LnsColumnMask columns =
      LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
      LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) | LNS_COLUMN_BIT (LNS_COLUMN_THREAD) |
      LNS_COLUMN_BIT (LNS_COLUMN_END_THREAD) | LNS_COLUMN_BIT (LNS_COLUMN_COLOR);

  projection->function = function;
  for (uint32_t i = first; i < first + n; i++)
    {
      const uint32_t lane = projection->by_process[i];
      if (is_kind (projection->lanes[lane].kind) &&
          !lns_read_lane (projection->report, lane, columns, look_at, projection,
                          projection->cancel, error))
        return false;
    }
  return true;
}

static bool
project_process (LnsProjection *projection, uint32_t first, uint32_t n, LnsError *error)
{
  projection->work.n = projection->launches.n = 0;
  if (!walk (projection, first, n, lns_is_gpu_operation, add_work, error))
    return false;
  merge_work (projection);
  if (projection->work.n == 0)
    return true;
  if (!walk (projection, first, n, is_call, add_launches, error))
    return false;
  order_launches (projection);
  return walk (projection, first, n, is_range, add_ranges, error);
}

/* Whether LANE matters. */
static bool
is_asked (const void *data, uint32_t lane)
{
  const LnsProjection *projection = data;
  const LnsLaneKind kind = projection->lanes[lane].kind;

  if (lns_is_gpu_operation (kind))
    return projection->stream == LNS_ID_NONE ||
           projection->stream == lns_track_of (projection->report, lane)->stream;
  return is_call (kind) || is_range (kind);
}

bool
_lns_projection_run (LnsProjection *projection, LnsError *error)
{
  uint32_t n, end;

  projection->lanes = lns_report_lanes (projection->report, NULL);
  projection->by_process = lns_lanes_by_process (projection->report, is_asked, projection, &n);
  for (uint32_t i = 0; i < n; i++)
    projection->n_chunks +=
        lns_report_lane_info (projection->report, projection->by_process[i])->n_chunks;
  bool good = true;
  for (uint32_t first = 0; good && first < n; first = end)
    {
      const uint32_t *lanes = projection->by_process,
                     process = lns_track_of (projection->report, lanes[first])->process;
      for (end = first + 1; end < n; end++)
        if (lns_track_of (projection->report, lanes[end])->process != process)
          break;
      good = project_process (projection, first, end - first, error);
    }
  free (projection->by_process);
  lns_array_clear (&projection->work);
  lns_array_clear (&projection->launches);
  return good;
}

typedef struct
{
  LnsProjection base;
  LNS_ARRAY (LnsProjectedRange) ranges;
} WithRanges;

static void
add_range (LnsProjection *projection, LnsProjectedRange *range, uint32_t color)
{
  WithRanges *self = (WithRanges *)projection; /* whose first member it is */

  (void)color;
  if (project (projection, range))
    *lns_array_add (&self->ranges) = *range;
}

bool
lns_projection (LnsReport *report,
                uint32_t stream,
                const atomic_bool *cancel,
                LnsProjectedRange **ret_ranges,
                size_t *ret_n,
                LnsError *error)
{
  WithRanges self = {
    .base = { .report = report, .stream = stream, .cancel = cancel, .add_range = add_range }
  };

  if (!_lns_projection_run (&self.base, error))
    {
      lns_array_clear (&self.ranges);
      return false;
    }
  lns_order (self.ranges.items, self.ranges.n, sizeof *self.ranges.items, _lns_projection_compare);
  *ret_ranges = self.ranges.items;
  *ret_n = self.ranges.n;
  return true;
}

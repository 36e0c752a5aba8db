/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/projection.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* The operations of one correlation in one stream. */
typedef struct
{
  uint64_t correlation;
  int64_t start_ns, end_ns;
  uint32_t n, stream;
} Work;

/* A call and the operations that it launched in one stream. */
typedef struct
{
  uint64_t correlation;
  uint32_t thread, n, stream;
  int64_t call_start_ns, call_end_ns;
  int64_t start_ns, end_ns;
} Launch;

/* The operations that a range launched: all, or those in one stream, or in all streams of one context. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint32_t n;
} Part;

typedef struct
{
  LnsReport *report;
  const LnsLane *lanes;
  const atomic_bool *cancel;
  atomic_uint *permille; /* or NULL                                                              */
  uint64_t n_chunks, n_chunks_read;
  uint32_t *by_process;        /* lanes, ascending by process                                  */
  LNS_ARRAY (Work) work;       /* of a process, ascending by correlation and stream, one each  */
  LNS_ARRAY (Launch) launches; /* of a process, ascending by thread and start of the call      */
  LnsChunkFunc function;       /* of the walk under way                                        */
  LNS_ARRAY (LnsProjectedRange) ranges; /* the result                                            */
  bool by_stream;
  const LnsCudaStream *streams;
  uint32_t n_streams;
  uint32_t *n_streams_of; /* per context: streams with work                                      */
  Part *parts;            /* one, or per stream, then per context; n = 0 but in add_range ()     */
  uint32_t *touched;      /* those with n > 0                                                    */
} Projection;

/* ---- Work ------------------------------------------------------------------------------------ */

static void
add_work (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Projection *projection = data;
  const int index =
      lns_lane_kind_extra (projection->lanes[chunk->lane].kind, LNS_COLUMN_CORRELATION);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t correlation = lns_chunk_extra (chunk, index, i);
      if (correlation != 0)
        *lns_array_add (&projection->work) =
            (Work){ correlation, chunk->start_ns[i], chunk->start_ns[i] + chunk->duration_ns[i], 1,
                    track->stream };
    }
}

static int
compare_work (const void *a, const void *b)
{
  const Work *wa = a, *wb = b;
  return LNS_COMPARE (wa->correlation, wb->correlation) ?: LNS_COMPARE (wa->stream, wb->stream);
}

/* Joins the operations of one correlation and stream. */
static void
merge_work (Projection *projection)
{
  Work *work = projection->work.items;
  size_t n = 0;

  lns_order (work, projection->work.n, sizeof *work, compare_work);
  for (size_t i = 0; i < projection->work.n; i++)
    if (n == 0 || compare_work (&work[n - 1], &work[i]) != 0)
      work[n++] = work[i];
    else
      {
        Work *same = &work[n - 1];
        same->start_ns = work[i].start_ns < same->start_ns ? work[i].start_ns : same->start_ns;
        same->end_ns = work[i].end_ns > same->end_ns ? work[i].end_ns : same->end_ns;
        same->n++;
      }
  projection->work.n = n;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Where the work with CORRELATION would begin. Ids mostly ascend: AT, the place after the last hit, comes first. */
static size_t
find_work (const Projection *projection, uint64_t correlation, size_t at)
{
  const Work *work = projection->work.items, wanted = { .correlation = correlation };
  const size_t n = projection->work.n;

  return at < n && work[at].correlation == correlation
             ? at
             : lns_lower_bound (work, n, sizeof wanted, &wanted, compare_work);
}

static void
add_launches (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Projection *projection = data;
  const int index = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);
  const Work *work = projection->work.items;
  const size_t n_work = projection->work.n;
  size_t at = 0;

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t correlation = lns_chunk_extra (chunk, index, i);
      size_t w = correlation != 0 ? find_work (projection, correlation, at) : n_work;
      for (; w < n_work && work[w].correlation == correlation; at = ++w)
        *lns_array_add (&projection->launches) =
            (Launch){ .correlation = correlation,
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
  const Launch *la = a, *lb = b;

  return LNS_COMPARE (la->thread, lb->thread)
             ?: LNS_COMPARE (la->call_start_ns, lb->call_start_ns)
             ?: LNS_COMPARE (lb->call_end_ns, la->call_end_ns);
}

/* Whether the launch at I is by a call within another call that launched the same operations: a call of the driver within
 * a call of the runtime. */
static bool
is_inner (const Launch *launches, size_t i)
{
  for (size_t outer = i; outer > 0 && launches[outer - 1].thread == launches[i].thread &&
                         launches[outer - 1].call_end_ns >= launches[i].call_end_ns;
       outer--)
    if (launches[outer - 1].correlation == launches[i].correlation &&
        launches[outer - 1].stream == launches[i].stream)
      return true;
  return false;
}

/* Sorts the launches, and drops those that an outer call has, too. */
static void
order_launches (Projection *projection)
{
  Launch *launches = projection->launches.items;
  size_t n = 0;

  lns_order (launches, projection->launches.n, sizeof *launches, compare_launches);
  for (size_t i = 0; i < projection->launches.n; i++)
    {
      launches[n] = launches[i];
      n += !is_inner (launches, n);
    }
  projection->launches.n = n;
}

/* The first launch of THREAD whose call does not start before START_NS. O(log n). */
static size_t
first_launch (const Projection *projection, uint32_t thread, int64_t start_ns)
{
  const Launch wanted = { .thread = thread, .call_start_ns = start_ns, .call_end_ns = INT64_MAX };

  return lns_lower_bound (projection->launches.items, projection->launches.n, sizeof wanted,
                          &wanted, compare_launches);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

static void
add_to_part (Projection *projection, uint32_t at, const Launch *launch, uint32_t *n_touched)
{
  Part *part = &projection->parts[at];

  if (part->n == 0)
    {
      *part = (Part){ INT64_MAX, INT64_MIN, 0 };
      projection->touched[(*n_touched)++] = at;
    }
  part->start_ns = launch->start_ns < part->start_ns ? launch->start_ns : part->start_ns;
  part->end_ns = launch->end_ns > part->end_ns ? launch->end_ns : part->end_ns;
  part->n += launch->n;
}

/* Adds RANGE, whose start, duration and thread are set, to `ranges` if it launched anything, or for each stream and context
 * in which it did. */
static void
add_range (Projection *projection, LnsProjectedRange *range)
{
  const Launch *launches = projection->launches.items;
  const uint32_t n_streams = projection->n_streams;
  int64_t range_end_ns = range->range_start_ns + range->range_duration_ns;
  uint32_t n_touched = 0;

  for (size_t i = first_launch (projection, range->thread, range->range_start_ns);
       i < projection->launches.n && launches[i].thread == range->thread &&
       launches[i].call_start_ns <= range_end_ns;
       i++)
    {
      if (launches[i].call_end_ns > range_end_ns)
        continue;
      if (!projection->by_stream)
        add_to_part (projection, 0, &launches[i], &n_touched);
      if (launches[i].stream >= n_streams)
        continue;
      uint32_t context = projection->streams[launches[i].stream].context;
      add_to_part (projection, launches[i].stream, &launches[i], &n_touched);
      if (projection->n_streams_of[context] > 1)
        add_to_part (projection, n_streams + context, &launches[i], &n_touched);
    }
  for (uint32_t i = 0; i < n_touched; i++)
    {
      const uint32_t at = projection->touched[i];
      Part *part = &projection->parts[at];
      range->stream = at < n_streams ? at : LNS_ID_NONE;
      range->context = at < n_streams ? projection->streams[at].context : at - n_streams;
      range->start_ns = part->start_ns;
      range->duration_ns = part->end_ns - part->start_ns;
      range->n_operations = part->n;
      *lns_array_add (&projection->ranges) = *range;
      part->n = 0;
    }
}

static void
add_ranges (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Projection *projection = data;
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
                                                : track->thread,
                                  .color = (uint32_t)lns_chunk_extra (chunk, color, i) };
      add_range (projection, &range);
    }
}

/* By thread, then by start of the range, outer ones first. */
static int
compare_ranges (const void *a, const void *b)
{
  const LnsProjectedRange *ra = a, *rb = b;

  return LNS_COMPARE (ra->thread, rb->thread)
             ?: LNS_COMPARE (ra->range_start_ns, rb->range_start_ns)
             ?: LNS_COMPARE (rb->range_duration_ns, ra->range_duration_ns)
             ?: LNS_COMPARE (ra->lane, rb->lane)
             ?: LNS_COMPARE (ra->ordinal, rb->ordinal);
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

/* Calls the function of this walk for CHUNK and reports the progress. */
static void
look_at (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Projection *projection = data;

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
walk (Projection *projection,
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
project_process (Projection *projection, uint32_t first, uint32_t n, LnsError *error)
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

/* Whether the projection needs LANE. */
static bool
is_asked (const void *data, uint32_t lane)
{
  const LnsLaneKind kind = ((const Projection *)data)->lanes[lane].kind;

  return lns_is_gpu_operation (kind) || is_call (kind) || is_range (kind);
}

/* Projects the ranges of all processes, in no order. False and ERROR where a chunk is damaged, or
 * cancelled. */
static bool
run (Projection *projection, LnsError *error)
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
  if (!good)
    lns_array_clear (&projection->ranges);
  return good;
}

/* The same, in the order of COMPARE, with room for N_PARTS. */
static bool
run_in_order (Projection *self,
              size_t n_parts,
              int (*compare) (const void *, const void *),
              LnsProjectedRange **ret_ranges,
              size_t *ret_n,
              LnsError *error)
{
  self->touched = lns_calloc (n_parts, sizeof *self->touched);
  self->parts = lns_calloc (n_parts, sizeof *self->parts);
  const bool good = run (self, error);
  free (self->touched);
  free (self->parts);
  if (!good)
    return false;
  lns_order (self->ranges.items, self->ranges.n, sizeof *self->ranges.items, compare);
  *ret_ranges = self->ranges.items;
  *ret_n = self->ranges.n;
  return true;
}

bool
lns_projection (LnsReport *report,
                const atomic_bool *cancel,
                LnsProjectedRange **ret_ranges,
                size_t *ret_n,
                LnsError *error)
{
  Projection self = { .report = report, .cancel = cancel };

  return run_in_order (&self, 1, compare_ranges, ret_ranges, ret_n, error);
}

/* ---- By stream ------------------------------------------------------------------------------- */

static int
compare_by_stream (const void *a, const void *b)
{
  const LnsProjectedRange *pa = a, *pb = b;

  return LNS_COMPARE (pa->context, pb->context)
             ?: LNS_COMPARE (pa->stream, pb->stream)
             ?: compare_ranges (pa, pb);
}

/* Counts the streams with work of each context. */
static void
count_streams (Projection *self)
{
  const uint32_t n_streams = self->n_streams;
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (self->report, &n_lanes);
  bool *seen = lns_calloc (n_streams, sizeof *seen);

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const uint32_t stream = lns_track_of (self->report, i)->stream;
      if (stream >= n_streams || seen[stream] || !lns_is_gpu_operation (lanes[i].kind))
        continue;
      seen[stream] = true;
      self->n_streams_of[self->streams[stream].context]++;
    }
  free (seen);
}

bool
lns_projection_by_stream (LnsReport *report,
                          const atomic_bool *cancel,
                          atomic_uint *ret_permille,
                          LnsProjectedRange **ret_ranges,
                          size_t *ret_n,
                          LnsError *error)
{
  Projection self = {
    .report = report, .cancel = cancel, .permille = ret_permille, .by_stream = true
  };
  uint32_t n_contexts;

  lns_report_contexts (report, &n_contexts);
  self.streams = lns_report_streams (report, &self.n_streams);
  self.n_streams_of = lns_calloc (n_contexts, sizeof (uint32_t));
  count_streams (&self);
  const bool good = run_in_order (&self, (size_t)self.n_streams + n_contexts, compare_by_stream,
                                  ret_ranges, ret_n, error);
  free (self.n_streams_of);
  return good;
}

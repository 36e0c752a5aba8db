/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/projection-private.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"

/* What one correlation began in one stream. */
typedef struct
{
  uint64_t correlation;
  int64_t start_ns, end_ns;
  uint32_t n, stream;
} Work;

/* Looks at CHUNK. False without memory. */
typedef bool (*ChunkFunc) (LnsProjection *projection, const LnsTrack *track, const LnsChunk *chunk);

void *
_lns_array_add (LnsArray *array, size_t size)
{
  if (array->n == array->n_allocated)
    {
      size_t n = array->n_allocated * 2 + 1024;
      void *larger = realloc (array->items, n * size);
      if (larger == NULL)
        return NULL;
      array->items = larger;
      array->n_allocated = n;
    }
  return (char *)array->items + array->n++ * size;
}

static uint64_t
extra (const LnsChunk *chunk, int column, uint32_t i)
{
  return column >= 0 && chunk->extra[column] != NULL ? chunk->extra[column][i] : 0;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static bool
add_work (LnsProjection *projection, const LnsTrack *track, const LnsChunk *chunk)
{
  int correlation =
      lns_lane_kind_extra (projection->lanes[chunk->lane].kind, LNS_COLUMN_CORRELATION);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      uint64_t id = extra (chunk, correlation, i);
      Work *work = id != 0 ? _lns_array_add (&projection->work, sizeof *work) : NULL;
      if (work != NULL)
        *work = (Work){ id, chunk->start_ns[i], chunk->start_ns[i] + chunk->duration_ns[i], 1,
                        track->stream };
      else if (id != 0)
        return false;
    }
  return true;
}

static int
compare_work (const void *a, const void *b)
{
  const Work *wa = a, *wb = b;
  if (wa->correlation != wb->correlation)
    return wa->correlation < wb->correlation ? -1 : 1;
  return wa->stream < wb->stream ? -1 : wa->stream > wb->stream;
}

/* Brings what has one correlation and stream together. */
static void
merge_work (LnsArray *array)
{
  Work *work = array->items;
  size_t n = 0;

  lns_order (work, array->n, sizeof *work, compare_work);
  for (size_t i = 0; i < array->n; i++)
    if (n == 0 || compare_work (&work[n - 1], &work[i]) != 0)
      work[n++] = work[i];
    else
      {
        Work *same = &work[n - 1];
        same->start_ns = work[i].start_ns < same->start_ns ? work[i].start_ns : same->start_ns;
        same->end_ns = work[i].end_ns > same->end_ns ? work[i].end_ns : same->end_ns;
        same->n++;
      }
  array->n = n;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Where the work with CORRELATION begins, or array->n. Ids mostly ascend: AT, the place after the last
 * hit, comes first. */
static size_t
find_work (const LnsArray *array, uint64_t correlation, size_t at)
{
  const Work *work = array->items;
  size_t low = 0, high = array->n;

  if (at < array->n && work[at].correlation == correlation)
    return at;
  while (low < high)
    {
      size_t middle = low + (high - low) / 2;
      if (work[middle].correlation < correlation)
        low = middle + 1;
      else
        high = middle;
    }
  return low < array->n && work[low].correlation == correlation ? low : array->n;
}

static bool
add_launches (LnsProjection *projection, const LnsTrack *track, const LnsChunk *chunk)
{
  int correlation = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);
  size_t at = 0;

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      uint64_t id = extra (chunk, correlation, i);
      size_t first = id != 0 ? find_work (&projection->work, id, at) : projection->work.n;
      for (const Work *work = (const Work *)projection->work.items + first;
           first < projection->work.n && work->correlation == id; work++, at = ++first)
        {
          LnsProjectionLaunch *launch = _lns_array_add (&projection->launches, sizeof *launch);
          if (launch == NULL)
            return false;
          *launch =
              (LnsProjectionLaunch){ .correlation = id,
                                     .thread = track->thread,
                                     .n = work->n,
                                     .stream = work->stream,
                                     .call_start_ns = chunk->start_ns[i],
                                     .call_end_ns = chunk->start_ns[i] + chunk->duration_ns[i],
                                     .start_ns = work->start_ns,
                                     .end_ns = work->end_ns };
        }
    }
  return true;
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
order_launches (LnsArray *array)
{
  LnsProjectionLaunch *launches = array->items;
  size_t n = 0;

  lns_order (launches, array->n, sizeof *launches, compare_launches);
  for (size_t i = 0; i < array->n; i++)
    {
      launches[n] = launches[i];
      n += !is_inner (launches, n);
    }
  array->n = n;
}

size_t
_lns_projection_first (const LnsProjection *projection, uint32_t thread, int64_t start_ns)
{
  const LnsProjectionLaunch *launches = projection->launches.items;
  const LnsProjectionLaunch wanted = { .thread = thread,
                                       .call_start_ns = start_ns,
                                       .call_end_ns = INT64_MAX };
  size_t low = 0, high = projection->launches.n;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;
      if (compare_launches (&launches[middle], &wanted) < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
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

static bool
add_range (LnsProjection *projection, LnsProjectedRange *range, uint32_t color)
{
  (void)color;
  if (!project (projection, range))
    return true;
  LnsProjectedRange *added = _lns_array_add (&projection->ranges, sizeof *range);
  if (added != NULL)
    *added = *range;
  return added != NULL;
}

static bool
add_ranges (LnsProjection *projection, const LnsTrack *track, const LnsChunk *chunk)
{
  LnsLaneKind kind = projection->lanes[chunk->lane].kind;
  int thread = lns_lane_kind_extra (kind, LNS_COLUMN_THREAD),
      end_thread = lns_lane_kind_extra (kind, LNS_COLUMN_END_THREAD),
      color = lns_lane_kind_extra (kind, LNS_COLUMN_COLOR);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      if (!lns_event_has_length (chunk->flags[i]) ||
          extra (chunk, thread, i) != extra (chunk, end_thread, i))
        continue;
      LnsProjectedRange range = { .range_start_ns = chunk->start_ns[i],
                                  .range_duration_ns = chunk->duration_ns[i],
                                  .ordinal = chunk->first + i,
                                  .lane = chunk->lane,
                                  .name = chunk->name[i] };
      range.thread = thread >= 0 ? (uint32_t)extra (chunk, thread, i) : track->thread;
      if (!projection->add_range (projection, &range, (uint32_t)extra (chunk, color, i)))
        return false;
    }
  return true;
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
is_work (LnsLaneKind kind)
{
  return kind == LNS_LANE_CUDA_KERNEL || kind == LNS_LANE_CUDA_MEMCPY ||
         kind == LNS_LANE_CUDA_MEMSET || kind == LNS_LANE_CUDA_GRAPH;
}

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

static bool
walk_lane (LnsProjection *projection, uint32_t lane, ChunkFunc function, LnsError *error)
{
  const LnsColumnMask columns =
      LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
      LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) | LNS_COLUMN_BIT (LNS_COLUMN_THREAD) |
      LNS_COLUMN_BIT (LNS_COLUMN_END_THREAD) | LNS_COLUMN_BIT (LNS_COLUMN_COLOR);
  LnsChunkWalker *walker = lns_chunk_walker_new (projection->report, lane, columns);
  const LnsTrack *track = &projection->tracks[projection->lanes[lane].track];
  const LnsChunk *chunk;
  LnsError local = { 0 };
  bool good = walker != NULL;

  while (good && (chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    {
      good = function (projection, track, chunk);
      projection->n_chunks_read++;
      if (projection->permille != NULL)
        atomic_store_explicit (
            projection->permille,
            (unsigned)(projection->n_chunks_read * 1000 / (projection->n_chunks + 1)),
            memory_order_relaxed);
      if (projection->cancel != NULL &&
          atomic_load_explicit (projection->cancel, memory_order_relaxed))
        lns_error_set (&local, LNS_ERROR_CANCELLED, 0, "interrupted");
      if (local.domain != LNS_ERROR_NONE)
        break;
    }
  lns_chunk_walker_free (walker);
  if (!good)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory to project so many ranges; close other programs");
  if (local.domain != LNS_ERROR_NONE)
    return lns_error_set (error, local.domain, local.code, "%s", local.message);
  return true;
}

/* Has FUNCTION look at all chunks of the N lanes of by_process from FIRST on that are of a KIND. */
static bool
walk (LnsProjection *projection,
      uint32_t first,
      uint32_t n,
      bool (*is_kind) (LnsLaneKind),
      ChunkFunc function,
      LnsError *error)
{
  for (uint32_t i = first; i < first + n; i++)
    {
      uint32_t lane = projection->by_process[i];
      if (is_kind (projection->lanes[lane].kind) && !walk_lane (projection, lane, function, error))
        return false;
    }
  return true;
}

static bool
project_process (LnsProjection *projection, uint32_t first, uint32_t n, LnsError *error)
{
  projection->work.n = projection->launches.n = 0;
  if (!walk (projection, first, n, is_work, add_work, error))
    return false;
  merge_work (&projection->work);
  if (projection->work.n == 0)
    return true;
  if (!walk (projection, first, n, is_call, add_launches, error))
    return false;
  order_launches (&projection->launches);
  return walk (projection, first, n, is_range, add_ranges, error);
}

static int
compare_lanes (const void *a, const void *b, void *data)
{
  const LnsProjection *projection = data;
  uint32_t la = *(const uint32_t *)a, lb = *(const uint32_t *)b;
  uint32_t pa = projection->tracks[projection->lanes[la].track].process,
           pb = projection->tracks[projection->lanes[lb].track].process;

  if (pa != pb)
    return pa < pb ? -1 : 1;
  return la < lb ? -1 : la > lb;
}

/* The lanes that matter, by process. Returns how many. */
static uint32_t
collect_lanes (LnsProjection *projection)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < projection->n_lanes; i++)
    {
      LnsLaneKind kind = projection->lanes[i].kind;
      if (projection->lanes[i].track >= projection->n_tracks)
        continue;
      uint32_t stream = projection->tracks[projection->lanes[i].track].stream;
      bool counts = projection->stream == LNS_ID_NONE || projection->stream == stream;
      if ((!is_work (kind) || !counts) && !is_call (kind) && !is_range (kind))
        continue;
      projection->by_process[n++] = i;
      projection->n_chunks += lns_report_lane_info (projection->report, i)->n_chunks;
    }
  qsort_r (projection->by_process, n, sizeof *projection->by_process, compare_lanes, projection);
  return n;
}

bool
_lns_projection_run (LnsProjection *projection, LnsError *error)
{
  uint32_t n, end;

  projection->lanes = lns_report_lanes (projection->report, &projection->n_lanes);
  projection->tracks = lns_report_tracks (projection->report, &projection->n_tracks);
  projection->by_process = calloc ((size_t)projection->n_lanes + 1, sizeof (uint32_t));
  if (projection->by_process == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory to project ranges; close other programs");
  n = collect_lanes (projection);
  bool good = true;
  for (uint32_t first = 0; good && first < n; first = end)
    {
      uint32_t *lanes = projection->by_process,
               process = projection->tracks[projection->lanes[lanes[first]].track].process;
      for (end = first + 1; end < n; end++)
        if (projection->tracks[projection->lanes[lanes[end]].track].process != process)
          break;
      good = project_process (projection, first, end - first, error);
    }
  free (projection->by_process);
  free (projection->work.items);
  free (projection->launches.items);
  if (!good)
    free (projection->ranges.items);
  return good;
}

bool
lns_projection (LnsReport *report,
                uint32_t stream,
                const atomic_bool *cancel,
                LnsProjectedRange **ret_ranges,
                size_t *ret_n,
                LnsError *error)
{
  LnsProjection projection = {
    .report = report, .stream = stream, .cancel = cancel, .add_range = add_range
  };

  if (!_lns_projection_run (&projection, error))
    return false;
  lns_order (projection.ranges.items, projection.ranges.n, sizeof (LnsProjectedRange),
             _lns_projection_compare);
  *ret_ranges = projection.ranges.items;
  *ret_n = projection.ranges.n;
  return true;
}

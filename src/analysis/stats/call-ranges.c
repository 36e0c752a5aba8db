/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/call-ranges.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"

typedef struct
{
  uint64_t correlation;
  int64_t start_ns, end_ns;
  int64_t range_start_ns, range_end_ns; /* INT64_MIN = none yet                                 */
  uint32_t process, thread, depth;
  LnsCallRange range;
} Call;

struct LnsCallRanges
{
  Call *calls; /* by thread and start, and in the end by process and correlation                 */
  size_t n;
};

/* Reads a lane. */
typedef struct
{
  LnsReport *report;
  const LnsLane *lanes;
  const LnsTrack *tracks;
  const atomic_bool *cancel;
  LnsCallRanges *ranges;
} Reading;

typedef void (*ChunkFunc) (Reading *reading, uint32_t lane, const LnsChunk *chunk);

static bool
no_memory (LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "not enough memory to find the ranges of calls; close other programs");
}

static bool
read_lane (
    Reading *reading, uint32_t lane, LnsColumnMask columns, ChunkFunc function, LnsError *error)
{
  LnsChunkWalker *walker = lns_chunk_walker_new (reading->report, lane, columns);
  const LnsChunk *chunk;
  LnsError local = { 0 };

  if (walker == NULL)
    return no_memory (error);
  while ((chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    {
      function (reading, lane, chunk);
      if (reading->cancel != NULL && atomic_load_explicit (reading->cancel, memory_order_relaxed))
        {
          lns_error_set (&local, LNS_ERROR_CANCELLED, 0, "interrupted");
          break;
        }
    }
  lns_chunk_walker_free (walker);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

/* There is room for all. */
static void
add_calls (Reading *reading, uint32_t lane, const LnsChunk *chunk)
{
  const LnsTrack *track = &reading->tracks[reading->lanes[lane].track];
  int index = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);

  for (uint32_t i = 0; chunk->extra[index] != NULL && i < chunk->n; i++)
    if (chunk->extra[index][i] != 0)
      reading->ranges->calls[reading->ranges->n++] =
          (Call){ .correlation = chunk->extra[index][i],
                  .start_ns = chunk->start_ns[i],
                  .end_ns = chunk->start_ns[i] + chunk->duration_ns[i],
                  .range_start_ns = INT64_MIN,
                  .process = track->process,
                  .thread = track->thread,
                  .depth = reading->lanes[lane].ordinal };
}

static int
compare_by_thread (const void *a, const void *b)
{
  const Call *ca = a, *cb = b;

  if (ca->thread != cb->thread)
    return ca->thread < cb->thread ? -1 : 1;
  return ca->start_ns < cb->start_ns ? -1 : ca->start_ns > cb->start_ns;
}

static int
compare_by_correlation (const void *a, const void *b)
{
  const Call *ca = a, *cb = b;

  if (ca->process != cb->process)
    return ca->process < cb->process ? -1 : 1;
  if (ca->correlation != cb->correlation)
    return ca->correlation < cb->correlation ? -1 : 1;
  return ca->depth < cb->depth ? -1 : ca->depth > cb->depth;
}

/* The first of the calls that is not before WANTED. */
static size_t
lower_bound (const LnsCallRanges *ranges,
             const Call *wanted,
             int (*compare) (const void *, const void *))
{
  size_t low = 0, high = ranges->n;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;
      if (compare (&ranges->calls[middle], wanted) < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Gives the calls within the ranges of CHUNK these, where they began later than those that they have.
 * Ranges of one lane do not overlap, so that each call is in one at most. */
static void
add_ranges (Reading *reading, uint32_t lane, const LnsChunk *chunk)
{
  const LnsTrack *track = &reading->tracks[reading->lanes[lane].track];
  uint32_t n_domains;
  const LnsDomain *domains = lns_report_domains (reading->report, &n_domains);
  const Call from = { .thread = track->thread, .start_ns = chunk->start_ns[0] };
  LnsCallRanges *ranges = reading->ranges;
  size_t call = lower_bound (ranges, &from, compare_by_thread);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      int64_t start_ns = chunk->start_ns[i], end_ns = start_ns + chunk->duration_ns[i];
      if (!lns_event_has_length (chunk->flags[i]))
        continue;
      while (call < ranges->n && ranges->calls[call].thread == track->thread &&
             ranges->calls[call].start_ns < start_ns)
        call++;
      for (size_t c = call; c < ranges->n && ranges->calls[c].thread == track->thread &&
                            ranges->calls[c].start_ns <= end_ns;
           c++)
        {
          Call *inside = &ranges->calls[c];
          if (inside->end_ns > end_ns || inside->range_start_ns > start_ns ||
              (inside->range_start_ns == start_ns && inside->range_end_ns < end_ns))
            continue;
          inside->range_start_ns = start_ns;
          inside->range_end_ns = end_ns;
          inside->range =
              (LnsCallRange){ track->domain < n_domains ? domains[track->domain].name : 0,
                              chunk->name[i] };
        }
    }
}

/* Has FUNCTION look at all lanes of KIND. */
static bool
read_lanes (
    Reading *reading, LnsLaneKind kind, LnsColumnMask columns, ChunkFunc function, LnsError *error)
{
  uint32_t n;
  bool good = true;

  lns_report_lanes (reading->report, &n);
  for (uint32_t i = 0; good && i < n; i++)
    if (reading->lanes[i].kind == kind)
      good = read_lane (reading, i, columns, function, error);
  return good;
}

LnsCallRanges *
lns_call_ranges_new (LnsReport *report, const atomic_bool *cancel, LnsError *error)
{
  LnsCallRanges *ranges = calloc (1, sizeof *ranges);
  Reading reading = { .report = report, .cancel = cancel, .ranges = ranges };
  uint32_t n_lanes;
  uint64_t n_calls = 0;

  reading.lanes = lns_report_lanes (report, &n_lanes);
  reading.tracks = lns_report_tracks (report, NULL);
  for (uint32_t i = 0; i < n_lanes; i++)
    if (reading.lanes[i].kind == LNS_LANE_CUDA_API)
      n_calls += lns_report_lane_info (report, i)->n_events;
  if (ranges != NULL)
    ranges->calls = calloc (n_calls + 1, sizeof *ranges->calls);
  bool good = (ranges != NULL && ranges->calls != NULL) || no_memory (error);
  good = good && read_lanes (&reading, LNS_LANE_CUDA_API, LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION),
                             add_calls, error);
  if (good)
    lns_order (ranges->calls, ranges->n, sizeof *ranges->calls, compare_by_thread);
  good = good && read_lanes (&reading, LNS_LANE_NVTX_PUSH_POP,
                             LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
                             add_ranges, error);
  if (good)
    {
      lns_order (ranges->calls, ranges->n, sizeof *ranges->calls, compare_by_correlation);
      return ranges;
    }
  lns_call_ranges_free (ranges);
  return NULL;
}

void
lns_call_ranges_free (LnsCallRanges *ranges)
{
  if (ranges == NULL)
    return;
  free (ranges->calls);
  free (ranges);
}

const LnsCallRange *
lns_call_ranges_find (const LnsCallRanges *ranges, uint32_t process, uint64_t correlation)
{
  const Call wanted = { .process = process, .correlation = correlation };
  size_t i = lower_bound (ranges, &wanted, compare_by_correlation);
  const Call *call = i < ranges->n ? &ranges->calls[i] : NULL;

  return call != NULL && call->process == process && call->correlation == correlation &&
                 call->range_start_ns != INT64_MIN
             ? &call->range
             : NULL;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/call-ranges.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

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
  LnsReport *report;
  Call *calls; /* by thread and start, and in the end by process and correlation                 */
  size_t n;
};

/* There is room for all. */
static void
add_calls (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  LnsCallRanges *ranges = data;
  const int index = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t correlation = lns_chunk_extra (chunk, index, i);
      if (correlation != 0)
        ranges->calls[ranges->n++] =
            (Call){ .correlation = correlation,
                    .start_ns = chunk->start_ns[i],
                    .end_ns = chunk->start_ns[i] + chunk->duration_ns[i],
                    .range_start_ns = INT64_MIN,
                    .process = track->process,
                    .thread = track->thread,
                    .depth = lns_report_lanes (ranges->report, NULL)[chunk->lane].ordinal };
    }
}

static int
compare_by_thread (const void *a, const void *b)
{
  const Call *ca = a, *cb = b;

  return LNS_COMPARE (ca->thread, cb->thread) ?: LNS_COMPARE (ca->start_ns, cb->start_ns);
}

static int
compare_by_correlation (const void *a, const void *b)
{
  const Call *ca = a, *cb = b;

  return LNS_COMPARE (ca->process, cb->process)
             ?: LNS_COMPARE (ca->correlation, cb->correlation)
             ?: LNS_COMPARE (ca->depth, cb->depth);
}

/* Gives the calls within the ranges of CHUNK these, where they began later than those that they have.
 * Ranges of one lane do not overlap, so that each call is in one at most. */
static void
add_ranges (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  LnsCallRanges *ranges = data;
  const uint32_t domain_name = lns_domain_name_of (ranges->report, chunk->lane);
  const Call from = { .thread = track->thread, .start_ns = chunk->start_ns[0] };
  size_t call = lns_lower_bound (ranges->calls, ranges->n, sizeof from, &from, compare_by_thread);

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
          inside->range = (LnsCallRange){ domain_name, chunk->name[i] };
        }
    }
}

LnsCallRanges *
lns_call_ranges_new (LnsReport *report, const atomic_bool *cancel, LnsError *error)
{
  LnsCallRanges *ranges = lns_calloc (1, sizeof *ranges);

  ranges->report = report;
  ranges->calls = lns_calloc (lns_count_events (report, LNS_LANE_CUDA_API), sizeof *ranges->calls);
  bool good = lns_read_lanes (report, LNS_LANE_CUDA_API, LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION),
                              add_calls, ranges, cancel, error);
  lns_order (ranges->calls, ranges->n, sizeof *ranges->calls, compare_by_thread);
  good =
      good && lns_read_lanes (report, LNS_LANE_NVTX_PUSH_POP,
                              LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
                              add_ranges, ranges, cancel, error);
  lns_order (ranges->calls, ranges->n, sizeof *ranges->calls, compare_by_correlation);
  if (good)
    return ranges;
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
  const size_t i =
      lns_lower_bound (ranges->calls, ranges->n, sizeof wanted, &wanted, compare_by_correlation);
  const Call *call = i < ranges->n ? &ranges->calls[i] : NULL;

  return call != NULL && call->process == process && call->correlation == correlation &&
                 call->range_start_ns != INT64_MIN
             ? &call->range
             : NULL;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/lane-cursor.h"

#include "src/base/search.h"

/* Whether event I of CHUNK is over at TIME_NS. */
static bool
is_before (const LnsChunk *chunk, uint32_t i, int64_t time_ns)
{
  return chunk->start_ns[i] < time_ns && chunk->start_ns[i] + chunk->duration_ns[i] <= time_ns;
}

void
lns_lane_cursor_clear (LnsLaneCursor *cursor)
{
  lns_chunk_unref (cursor->chunk);
  cursor->chunk = NULL;
}

bool
lns_lane_cursor_go (LnsLaneCursor *cursor, uint64_t ordinal, LnsError *error)
{
  const LnsChunk *chunk = cursor->chunk;

  if (chunk == NULL || ordinal < chunk->first || ordinal - chunk->first >= chunk->n)
    {
      lns_lane_cursor_clear (cursor);
      if (cursor->lane == LNS_ID_NONE ||
          ordinal >= lns_report_lane_info (cursor->report, cursor->lane)->n_events)
        return true;
      const uint32_t index = lns_report_chunk_of (cursor->report, cursor->lane, ordinal);
      cursor->chunk = lns_report_chunk (cursor->report, cursor->lane, index,
                                        cursor->columns | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS), error);
      if (cursor->chunk == NULL)
        return false;
    }
  cursor->i = (uint32_t)(ordinal - cursor->chunk->first);
  return true;
}

bool
lns_lane_cursor_next (LnsLaneCursor *cursor, LnsError *error)
{
  if (cursor->i + 1 < cursor->chunk->n)
    {
      cursor->i++;
      return true;
    }
  return lns_lane_cursor_go (cursor, cursor->chunk->first + cursor->chunk->n, error);
}

/* Goes to the first event of the chunk at hand that is not over at TIME_NS: one is not. Few steps where it is near, before or
 * behind. */
static void
seek_in_chunk (LnsLaneCursor *cursor, int64_t time_ns)
{
  const LnsChunk *chunk = cursor->chunk;
  uint32_t from = cursor->i, to = cursor->i, step = 1;

  if (is_before (chunk, from, time_ns))
    {
      for (; from + step < chunk->n && is_before (chunk, from + step, time_ns); step *= 2)
        from += step;
      to = from + step < chunk->n ? from + step : chunk->n;
    }
  else
    {
      for (; to >= step && !is_before (chunk, to - step, time_ns); step *= 2)
        to -= step;
      from = to >= step ? to - step : 0;
    }
  cursor->i = from + (uint32_t)LNS_LOWER_BOUND (to - from, k,
                                                is_before (chunk, from + (uint32_t)k, time_ns));
}

bool
lns_lane_cursor_seek (LnsLaneCursor *cursor, int64_t time_ns, LnsError *error)
{
  const LnsChunk *chunk = cursor->chunk;
  uint64_t ordinal;

  if (cursor->lane == LNS_ID_NONE)
    return true;
  if (chunk != NULL && !is_before (chunk, chunk->n - 1, time_ns) &&
      (chunk->first == 0 || is_before (chunk, 0, time_ns)))
    {
      seek_in_chunk (cursor, time_ns);
      return true;
    }
  return lns_report_find (cursor->report, cursor->lane, time_ns, &ordinal, error) &&
         lns_lane_cursor_go (cursor, ordinal, error);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Goes through the events of one lane by time, mostly forward: what a thread was in at a time, and what came next.
 *
 *   LnsLaneCursor cursor = { .report = report, .lane = lane, .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) };
 *   if (!lns_lane_cursor_seek (&cursor, from_ns, error)) …
 *   while (lns_lane_cursor_has (&cursor) && lns_lane_cursor_start (&cursor) < to_ns)
 *     … lns_lane_cursor_next (&cursor, error) …
 *   lns_lane_cursor_clear (&cursor); */

#pragma once

#include "src/store/read/report.h"

/* Zero, with the first three set, before first use. One thread. */
typedef struct
{
  LnsReport *report;
  uint32_t lane; /* or LNS_ID_NONE: a lane without events */
  LnsColumnMask columns;
  const LnsChunk *chunk; /* of the event at hand, or NULL: there is none */
  uint32_t i;            /* the event in it */
} LnsLaneCursor;

/* Goes to the first event that ends after TIME_NS, or starts at or after it. False and ERROR where a chunk is damaged.
 * O(log events); O(1) on average where TIME_NS ascends slowly. */
bool lns_lane_cursor_seek (LnsLaneCursor *cursor, int64_t time_ns, LnsError *error);

/* Goes to the next event. There must be one at hand. */
bool lns_lane_cursor_next (LnsLaneCursor *cursor, LnsError *error);

/* Goes to event ORDINAL, or behind the last. */
bool lns_lane_cursor_go (LnsLaneCursor *cursor, uint64_t ordinal, LnsError *error);

/* Frees what the cursor holds. */
void lns_lane_cursor_clear (LnsLaneCursor *cursor);

static inline bool
lns_lane_cursor_has (const LnsLaneCursor *cursor)
{
  return cursor->chunk != NULL;
}

static inline int64_t
lns_lane_cursor_start (const LnsLaneCursor *cursor)
{
  return cursor->chunk->start_ns[cursor->i];
}

/* When the event at hand ended; where that was lost, when it began. */
static inline int64_t
lns_lane_cursor_end (const LnsLaneCursor *cursor)
{
  const bool is_whole =
      cursor->chunk->flags == NULL || lns_event_has_length (cursor->chunk->flags[cursor->i]);
  return lns_lane_cursor_start (cursor) + (is_whole ? cursor->chunk->duration_ns[cursor->i] : 0);
}

static inline uint64_t
lns_lane_cursor_ordinal (const LnsLaneCursor *cursor)
{
  return cursor->chunk->first + cursor->i;
}

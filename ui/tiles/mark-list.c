/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/mark-list.h"

bool
lns_mark_list_read (LnsReport *report,
                    uint32_t lane,
                    int64_t start_ns,
                    int64_t end_ns,
                    LnsPixelEvent **ret_events,
                    uint32_t *ret_n,
                    LnsError *error)
{
  uint64_t ordinal, n = lns_report_lane_info (report, lane)->n_events;
  if (!lns_report_find (report, lane, start_ns, &ordinal, error))
    return false;
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (LnsPixelEvent));
  LnsLaneKind kind = lns_report_lanes (report, NULL)[lane].kind;
  int color = lns_lane_kind_extra (kind, LNS_COLUMN_COLOR);
  for (gboolean more = TRUE; more && ordinal < n;)
    {
      uint32_t index = lns_report_chunk_of (report, lane, ordinal);
      LnsColumnMask columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
                              LNS_COLUMN_BIT (LNS_COLUMN_COLOR);
      const LnsChunk *chunk = lns_report_chunk (report, lane, index, columns, error);
      if (chunk == NULL)
        return false;
      uint64_t before = ordinal;
      for (uint64_t i = ordinal - chunk->first; i < chunk->n && more; i++, ordinal++)
        {
          LnsPixelEvent event = { .ordinal = ordinal,
                                  .start_ns = chunk->start_ns[i],
                                  .name = chunk->name[i],
                                  .flags = chunk->flags[i],
                                  .lane = lane };
          if (color >= 0 && chunk->extra[color] != NULL)
            event.color = (uint32_t)chunk->extra[color][i];
          more = event.start_ns < end_ns;
          if (more)
            g_array_append_val (events, event);
        }
      lns_chunk_unref (chunk);
      if (ordinal == before)
        break; /* a chunk that does not hold what the directory says */
    }
  *ret_n = events->len;
  *ret_events = (LnsPixelEvent *)(void *)g_array_free (g_steal_pointer (&events), FALSE);
  return true;
}

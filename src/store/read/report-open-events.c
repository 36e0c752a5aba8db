/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/read/detail-walk.h"

static bool
opens_node (void *data, const LnsNode *node, uint64_t n_events)
{
  return (node->flags & LNS_EVENT_OPEN_END) != 0;
}

static void
count_events (void *data, const LnsChunk *chunk, uint32_t first, uint32_t end)
{
  uint64_t *n = data;

  for (uint32_t i = first; i < end; i++)
    *n += (chunk->flags[i] & LNS_EVENT_OPEN_END) != 0;
}

/* A node's flags are those of its events, or-ed: only nodes that hold an open event are read. */
bool
lns_report_count_open (LnsReport *report, uint64_t *ret_n, LnsError *error)
{
  const LnsDetailVisitor visitor = { .node = opens_node,
                                     .events = count_events,
                                     .data = ret_n,
                                     .column_mask = LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) };

  *ret_n = report->info.n_open;
  for (uint32_t lane = 0; lane < report->n_lanes; lane++)
    if (!_lns_detail_walk (report, lane, &visitor, error))
      return false;
  return true;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/thread-runs.h"

#include "ui/tiles/tile-labels.h"

/* A pause in which a thread still counts as running, as far as its name goes. */
#define PAUSE_PX 2

bool *
lns_thread_runs_find (const LnsTile *tile)
{
  const int n_px = LNS_TILE_PX * tile->key.scale;
  bool *runs = g_new0 (bool, n_px + 1);
  int last = -1;
  for (int p = 0; p < n_px; p++)
    {
      if (tile->pixels[p].busy < 0.5f)
        continue;
      for (int q = last >= 0 && p - last <= PAUSE_PX * tile->key.scale ? last + 1 : p; q <= p; q++)
        runs[q] = true;
      last = p;
    }
  for (uint32_t i = 0; i < tile->n_events; i++)
    {
      LnsTileEdges at;
      lns_tile_edges_of (tile, &tile->events[i], &at.x0, &at.x1);
      if (tile->edges != NULL)
        at = tile->edges[i];
      const bool is_named = at.x1 - at.x0 >= LNS_LABEL_MIN_PX * tile->key.scale;
      if (tile->spans[i].state != LNS_STATE_NONE && !is_named)
        continue;
      for (int p = MAX (at.x0, 0); p < MIN (at.x1, n_px); p++)
        runs[p] = false;
    }
  return runs;
}

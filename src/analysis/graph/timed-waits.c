/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/timed-waits.h"

void
lns_timed_waits_add (LnsTimedWaits *waits, uint32_t name, uint32_t point, bool is_timed)
{
  if (waits->name != name)
    waits->points.n = 0;
  waits->name = name;
  if (is_timed)
    *lns_array_add (&waits->points) = point;
}

void
lns_timed_waits_forget (LnsTimedWaits *waits, uint32_t name, LnsGraph *graph)
{
  if (waits->name == name)
    for (size_t i = 0; i < waits->points.n; i++)
      {
        const uint32_t point = waits->points.items[i];
        graph->ns[point] = graph->own[point] = 0;
        graph->source[point] = LNS_POINT_NONE;
        graph->marks[point] = LNS_EDGE_NONE;
      }
  waits->points.n = 0;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/collectives.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/saturate.h"

void
lns_collectives_clear (LnsCollectives *collectives)
{
  void *collective;
  size_t at = 0;

  while ((collective = lns_id_map_next (&collectives->collectives, &at)) != NULL)
    free (collective);
  lns_id_map_clear (&collectives->collectives);
  lns_id_map_clear (&collectives->times);
}

const LnsCollective *
lns_collectives_begin (
    LnsCollectives *collectives, uint32_t agent, uint32_t name, uint32_t start, int64_t start_ns)
{
  const uint64_t of_agent = (uint64_t)agent << 32 | name;
  const uint64_t time = lns_id_map_number (&collectives->times, of_agent);
  const uint64_t key = (uint64_t)name << 32 | (uint32_t)time;
  LnsCollective *collective = lns_id_map_get (&collectives->collectives, key);

  lns_id_map_set_number (&collectives->times, of_agent, time + 1);
  if (collective == NULL)
    {
      collective = lns_calloc (1, sizeof *collective);
      if (!lns_id_map_set (&collectives->collectives, key, collective))
        lns_out_of_memory ();
    }
  if (collective->n < LNS_MOST_MEMBERS)
    collective->members[collective->n++] = (LnsCollectiveMember){ agent, start, start_ns };
  return collective;
}

uint32_t
lns_collective_end (const LnsCollective *collective,
                    LnsPoints *points,
                    uint32_t agent,
                    uint32_t start,
                    int64_t end_ns,
                    uint32_t label)
{
  LnsGraph *graph = points->graph;
  const int64_t start_ns = lns_points_time (points, start);
  int64_t last_ns = start_ns;
  uint32_t point = LNS_POINT_NONE;

  for (unsigned i = 0; i < collective->n; i++)
    if (collective->members[i].start_ns <= end_ns && collective->members[i].start_ns > last_ns)
      last_ns = collective->members[i].start_ns;
  const int64_t own_ns = lns_difference (end_ns, last_ns);
  for (unsigned i = 0; i < collective->n; i++)
    {
      const LnsCollectiveMember *member = &collective->members[i];
      if (member->agent == agent || member->start_ns > end_ns)
        continue;
      const bool is_first = point == LNS_POINT_NONE;
      point = lns_points_add (points, is_first ? start : point,
                              is_first ? start_ns + own_ns : end_ns, label);
      points->times.items[point] = end_ns;
      graph->own[point] = (uint32_t)(own_ns < UINT32_MAX ? own_ns : UINT32_MAX);
      graph->labels.items[label].n -= !is_first;
      lns_graph_set_source (
          graph, point, member->start, own_ns,
          LNS_EDGE_COLLECTIVE | LNS_POINT_INFERRED |
              (member->start_ns == last_ns ? LNS_POINT_BY_SOURCE : LNS_POINT_NOT_BOUND));
    }
  if (point == LNS_POINT_NONE)
    return lns_points_add (points, start, end_ns, label);
  graph->labels.items[label].ns += last_ns - start_ns;
  return point;
}

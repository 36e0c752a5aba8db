/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/points.h"

#include "src/base/saturate.h"

/* A point so long before a time stands for that. */
#define NEAR_NS INT64_C (20000)

uint32_t
lns_points_add (LnsPoints *points, uint32_t before, int64_t time_ns, uint32_t label)
{
  LnsGraph *graph = points->graph;
  const int64_t before_ns = before != LNS_POINT_NONE ? lns_points_time (points, before) : time_ns;
  const int64_t ns = time_ns > before_ns ? lns_difference (time_ns, before_ns) : 0;
  const uint32_t point = lns_graph_add (graph, before, ns, label);

  while (points->times.n < graph->n)
    *lns_array_add (&points->times) = lns_sum (before_ns, ns);
  /* Of one that is longer than a point can be, those between. */
  for (uint32_t i = point; i > 0 && graph->before[i] != before && before != LNS_POINT_NONE; i--)
    points->times.items[i - 1] = points->times.items[i] - graph->ns[i];
  return point;
}

uint32_t
lns_points_add_own (LnsPoints *points,
                    uint32_t before,
                    int64_t time_ns,
                    int64_t own_ns,
                    uint32_t label,
                    uint32_t rest)
{
  const int64_t way_ns = lns_difference (time_ns, lns_points_time (points, before));
  const int64_t ns = way_ns > own_ns ? way_ns : own_ns;

  if (ns > UINT32_MAX)
    {
      before = lns_points_add (points, before, time_ns - own_ns, rest);
      return lns_points_add (points, before, time_ns, label);
    }
  const uint32_t point = lns_graph_add_own (points->graph, before, ns, own_ns, label, rest);
  while (points->times.n < points->graph->n)
    *lns_array_add (&points->times) = time_ns;
  return point;
}

uint32_t
lns_points_back (const LnsPoints *points, uint32_t point, int64_t time_ns)
{
  const LnsGraph *graph = points->graph;
  const uint32_t agent = lns_graph_label_of (graph, point)->agent;
  uint32_t back = point;

  while (lns_points_time (points, back) > time_ns && graph->before[back] != LNS_POINT_NONE &&
         lns_graph_label_of (graph, graph->before[back])->agent == agent)
    back = graph->before[back];
  const int64_t ns = time_ns - lns_points_time (points, back);
  return ns >= 0 && ns <= NEAR_NS ? back : point;
}

bool
lns_points_only_ran (const LnsPoints *points, uint32_t from, uint32_t to)
{
  const LnsGraph *graph = points->graph;

  for (uint32_t i = to; i != from && i > from; i = graph->before[i])
    {
      const LnsGraphLabel *label = lns_graph_label_of (graph, i);
      const bool is_run = label->kind == LNS_PIECE_RUN && label->name == 0,
                 is_rest = label->kind == LNS_PIECE_WAIT && graph->label[i] == graph->label[from];
      if (!is_run && !is_rest && label->kind != LNS_PIECE_NO_CPU)
        return false;
    }
  return true;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/graph.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/base/compare.h"
#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

/* The first so many points are allocated at once; then a third more each time. */
#define FIRST_POINTS 4096

/* No piece is longer than this, some five hours: what only a made-up report has would be many points. */
#define MOST_NS (INT64_C (1) << 44)

uint32_t
lns_graph_label (LnsGraph *graph, LnsPieceKind kind, uint32_t agent, uint32_t name, uint32_t more)
{
  const uint32_t key[] = { kind, agent, name, more };
  uint64_t hash = lns_hash (key, sizeof key);

  for (;; hash++)
    {
      const uint64_t found = lns_id_map_number (&graph->label_of, hash);
      if (found == 0)
        break;
      const LnsGraphLabel *label = &graph->labels.items[found - 1];
      if (label->kind == kind && label->agent == agent && label->name == name &&
          label->more == more)
        return (uint32_t)found - 1;
    }
  *lns_array_add (&graph->labels) =
      (LnsGraphLabel){ .kind = kind, .agent = agent, .name = name, .more = more };
  lns_id_map_set_number (&graph->label_of, hash, graph->labels.n);
  return (uint32_t)graph->labels.n - 1;
}

static void
grow (LnsGraph *graph)
{
  const uint32_t n = graph->n_allocated < FIRST_POINTS             ? FIRST_POINTS
                     : graph->n_allocated > LNS_POINT_NONE / 4 * 3 ? LNS_POINT_NONE
                                                                   : graph->n_allocated / 3 * 4;

  graph->before = lns_realloc (graph->before, n, sizeof *graph->before);
  graph->source = lns_realloc (graph->source, n, sizeof *graph->source);
  graph->ns = lns_realloc (graph->ns, n, sizeof *graph->ns);
  graph->own = lns_realloc (graph->own, n, sizeof *graph->own);
  graph->label = lns_realloc (graph->label, n, sizeof *graph->label);
  graph->lag = lns_realloc (graph->lag, n, sizeof *graph->lag);
  graph->marks = lns_realloc (graph->marks, n, sizeof *graph->marks);
  graph->n_allocated = n;
}

static uint32_t
add (LnsGraph *graph, uint32_t before, uint32_t ns, uint32_t label)
{
  if (graph->n == LNS_POINT_NONE - 1)
    {
      graph->is_full = true;
      return graph->n - 1;
    }
  if (graph->n == graph->n_allocated)
    grow (graph);
  const uint32_t point = graph->n++;
  graph->before[point] = before;
  graph->source[point] = LNS_POINT_NONE;
  graph->ns[point] = graph->own[point] = ns;
  graph->label[point] = label;
  graph->lag[point] = 0;
  graph->marks[point] = LNS_EDGE_NONE;
  return point;
}

uint32_t
lns_graph_add (LnsGraph *graph, uint32_t before, int64_t ns, uint32_t label)
{
  ns = ns > MOST_NS ? MOST_NS : ns;
  graph->labels.items[label].n++;
  graph->labels.items[label].ns += ns;
  while (ns > UINT32_MAX && !graph->is_full)
    {
      before = add (graph, before, UINT32_MAX, label);
      ns -= UINT32_MAX;
    }
  return add (graph, before, ns < 0 ? 0 : (uint32_t)ns, label);
}

uint32_t
lns_graph_add_own (
    LnsGraph *graph, uint32_t before, int64_t ns, int64_t own_ns, uint32_t label, uint32_t rest)
{
  const uint32_t point = lns_graph_add (graph, before, ns, label);
  graph->own[point] = (uint32_t)own_ns;
  graph->labels.items[label].ns -= ns - own_ns;
  graph->labels.items[rest].ns += ns - own_ns;
  graph->labels.items[rest].n += ns > own_ns;
  return point;
}

bool
lns_graph_extend (LnsGraph *graph, uint32_t point, int64_t ns, uint32_t rest)
{
  if (ns < 0 || ns > UINT32_MAX - graph->ns[point])
    return false;
  graph->ns[point] += (uint32_t)ns;
  graph->labels.items[rest].ns += ns;
  graph->labels.items[rest].n++;
  return true;
}

void
lns_graph_set_source (
    LnsGraph *graph, uint32_t point, uint32_t source, int64_t lag_ns, unsigned marks)
{
  if (source >= point)
    return;
  graph->source[point] = source;
  graph->lag[point] = lag_ns > INT32_MAX   ? INT32_MAX
                      : lag_ns < INT32_MIN ? INT32_MIN
                                           : (int32_t)lag_ns;
  graph->marks[point] = (uint8_t)marks;
}

void
lns_graph_choose_ends (LnsGraph *graph, const uint32_t *mains, uint32_t n, const int64_t *times)
{
  const LnsProcess *processes = lns_report_processes (graph->report, NULL);
  bool has_ranks = false, has_main = false;

  for (uint32_t i = 0; i < n; i++)
    has_ranks |= processes[i].mpi_rank != 0 && mains[i] != LNS_ID_NONE;
  for (size_t i = 0; i < graph->agents.n; i++)
    {
      LnsGraphAgent *agent = &graph->agents.items[i];
      const bool is_main = agent->thread != LNS_ID_NONE && mains[agent->process] == agent->thread &&
                           (has_ranks ? processes[agent->process].mpi_rank != 0
                                      : processes[agent->process].parent >= n);
      agent->ends_run = agent->last != LNS_POINT_NONE && (agent->thread == LNS_ID_NONE || is_main);
      has_main |= agent->ends_run && is_main;
    }
  for (size_t i = 0; i < graph->agents.n; i++)
    {
      LnsGraphAgent *agent = &graph->agents.items[i];
      agent->ends_run |= !has_main && agent->last != LNS_POINT_NONE;
      const int64_t ns = agent->ends_run ? lns_difference (times[agent->last], graph->start_ns) : 0;
      graph->measured_ns = ns > graph->measured_ns ? ns : graph->measured_ns;
    }
}

static int
compare_overlaps (const void *a, const void *b)
{
  const LnsGraphOverlap *oa = a, *ob = b;
  return LNS_COMPARE (oa->point, ob->point);
}

void
lns_graph_sort_overlaps (LnsGraph *graph)
{
  lns_order (graph->overlaps.items, graph->overlaps.n, sizeof *graph->overlaps.items,
             compare_overlaps);
}

size_t
lns_graph_points_bytes (const LnsGraph *graph)
{
  return (size_t)graph->n_allocated *
         (sizeof *graph->before + sizeof *graph->source + sizeof *graph->ns + sizeof *graph->own +
          sizeof *graph->label + sizeof *graph->lag + sizeof *graph->marks);
}

void
lns_graph_forget_points (LnsGraph *graph)
{
  free (graph->before);
  free (graph->source);
  free (graph->ns);
  free (graph->own);
  free (graph->label);
  free (graph->lag);
  free (graph->marks);
  graph->before = graph->source = graph->ns = graph->own = graph->label = NULL;
  graph->lag = NULL;
  graph->marks = NULL;
  graph->n = graph->n_allocated = 0;
}

void
lns_graph_free (LnsGraph *graph)
{
  if (graph == NULL)
    return;
  lns_graph_forget_points (graph);
  lns_array_clear (&graph->labels);
  lns_array_clear (&graph->agents);
  lns_array_clear (&graph->overlaps);
  lns_array_clear (&graph->moves);
  lns_id_map_clear (&graph->label_of);
  free (graph);
}

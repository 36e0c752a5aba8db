/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/typical.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/base/memory.h"

/* An operation that was launched so long before the one before it ended was queued. */
#define QUEUED_NS INT64_C (20000)

/* What a point is later than its edges take for certain. */
#define LATE_NS INT64_C (20000)

/* Of each value the last so many are known. */
#define N_KEPT 63

typedef struct
{
  int64_t ns[N_KEPT];
  unsigned n; /* in all                                                                          */
} Values;

static void
take (Values *values, int64_t ns)
{
  values->ns[values->n++ % N_KEPT] = ns;
}

/* The median of VALUES, or OTHERWISE if there are none. */
static int64_t
median (Values *values, int64_t otherwise)
{
  const size_t n = values->n < N_KEPT ? values->n : N_KEPT;

  if (n == 0)
    return otherwise;
  lns_select (values->ns, n, n / 2);
  return values->ns[n / 2];
}

/* What is typical for a label: of streams the gaps between operations, and how long they take from their call; of calls how long they
 * take without a wait, and how long after what they waited for. */
typedef struct
{
  Values first, second;
} Typical;

static int64_t
least (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static void
take_launch (Typical *typical, int64_t before_ns, int64_t source_ns)
{
  if (source_ns - before_ns > QUEUED_NS)
    take (&typical->first, before_ns);
  else if (source_ns <= before_ns)
    take (&typical->second, source_ns);
}

static void
take_sync (Typical *typical, int64_t before_ns, int64_t source_ns)
{
  if (source_ns < before_ns)
    take (&typical->second, source_ns > 0 ? source_ns : 0);
  else
    take (&typical->first, before_ns);
}

/* Settles point I, an operation that begins. */
static void
settle_launch (LnsGraph *graph, uint32_t i, int64_t gap_ns, int64_t latency_ns)
{
  const int64_t before_ns = graph->ns[i], source_ns = graph->lag[i];
  const bool is_free = (graph->marks[i] & LNS_POINT_NOT_BOUND) != 0,
             by_source = source_ns - latency_ns < before_ns - gap_ns;
  const int64_t rest_ns = by_source ? source_ns - latency_ns : before_ns - gap_ns;

  if (is_free || by_source)
    graph->ns[i] = (uint32_t)least (before_ns, gap_ns);
  if (is_free || !by_source)
    graph->lag[i] = (int32_t)least (source_ns, latency_ns);
  if (by_source && !is_free)
    graph->marks[i] |= LNS_POINT_BY_SOURCE;
  if (rest_ns > LATE_NS && !is_free)
    graph->marks[i] |= LNS_POINT_LATE;
}

/* Settles point I, a call that may have waited, or what else it waited for. */
static void
settle_sync (LnsGraph *graph, uint32_t i, int64_t call_ns, int64_t return_ns)
{
  const int64_t before_ns = graph->ns[i], source_ns = graph->lag[i];

  if ((graph->marks[i] & LNS_POINT_NOT_BOUND) != 0 || source_ns >= before_ns)
    {
      graph->lag[i] = (int32_t)least (source_ns, return_ns);
      return;
    }
  graph->ns[i] = (uint32_t)least (before_ns, call_ns);
  graph->marks[i] |= LNS_POINT_BY_SOURCE;
}

/* Whether labels of KIND have values of their own. */
static bool
has_values (LnsPieceKind kind)
{
  return kind == LNS_PIECE_QUEUED || kind == LNS_PIECE_SYNC;
}

/* Collects what the edges of GRAPH take, for the label I at TYPICAL[INDEX[I]] and for all launches and waits at its end. */
static void
collect (const LnsGraph *graph, const uint32_t *index, Typical *typical, Typical all[2])
{
  for (uint32_t i = 0; i < graph->n; i++)
    {
      const LnsEdgeKind edge = lns_graph_edge (graph, i);
      Typical *own = &typical[index[graph->label[i]]];
      if (graph->source[i] == LNS_POINT_NONE || (graph->marks[i] & LNS_POINT_NOT_BOUND) != 0 ||
          !has_values (lns_graph_label_of (graph, i)->kind))
        continue;
      if (edge == LNS_EDGE_LAUNCH)
        {
          take_launch (own, graph->ns[i], graph->lag[i]);
          take_launch (&all[0], graph->ns[i], graph->lag[i]);
        }
      else if (edge == LNS_EDGE_SYNC || edge == LNS_EDGE_QUEUE)
        {
          take_sync (own, graph->ns[i], graph->lag[i]);
          take_sync (&all[1], graph->ns[i], graph->lag[i]);
        }
    }
}

void
lns_graph_settle (LnsGraph *graph)
{
  uint32_t *index = lns_calloc (graph->labels.n + 1, sizeof *index), n = 0;
  Typical all[2] = { 0 };

  for (size_t i = 0; i < graph->labels.n; i++)
    if (has_values (graph->labels.items[i].kind))
      index[i] = n++;
  Typical *typical = lns_calloc ((size_t)n + 1, sizeof *typical);
  collect (graph, index, typical, all);
  /* From here on the medians alone count: the first place of the values has them. */
  for (unsigned i = 0; i < 2; i++)
    {
      all[i].first.ns[0] = median (&all[i].first, 0);
      all[i].second.ns[0] = median (&all[i].second, 0);
    }
  for (size_t i = 0; i < graph->labels.n; i++)
    if (has_values (graph->labels.items[i].kind))
      {
        const Typical *both = &all[graph->labels.items[i].kind == LNS_PIECE_SYNC];
        Typical *own = &typical[index[i]];
        own->first.ns[0] = median (&own->first, both->first.ns[0]);
        own->second.ns[0] = median (&own->second, both->second.ns[0]);
      }
  for (uint32_t i = 0; i < graph->n; i++)
    {
      const LnsEdgeKind edge = lns_graph_edge (graph, i);
      const Typical *own = &typical[index[graph->label[i]]];
      if (graph->source[i] == LNS_POINT_NONE || !has_values (lns_graph_label_of (graph, i)->kind))
        continue;
      if (edge == LNS_EDGE_LAUNCH)
        settle_launch (graph, i, own->first.ns[0], own->second.ns[0]);
      else if (edge == LNS_EDGE_SYNC || edge == LNS_EDGE_QUEUE)
        settle_sync (graph, i, own->first.ns[0], own->second.ns[0]);
      else if (edge == LNS_EDGE_EVENT && (graph->marks[i] & LNS_POINT_NOT_BOUND) != 0)
        graph->lag[i] = (int32_t)least (graph->lag[i], own->first.ns[0]);
    }
  free (typical);
  free (index);
}

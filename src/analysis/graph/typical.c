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

/* What of the edges of point I is the operation itself. */
static int64_t
own_of (const LnsGraph *graph, uint32_t i)
{
  return lns_graph_label_of (graph, i)->kind > LNS_PIECE_QUEUED ? graph->own[i] : 0;
}

/* Settles point I, an operation. */
static void
settle_launch (LnsGraph *graph, uint32_t i, int64_t gap_ns, int64_t latency_ns)
{
  const int64_t own_ns = own_of (graph, i), before_ns = graph->ns[i] - own_ns,
                source_ns = graph->lag[i] - own_ns;
  const bool is_free = (graph->marks[i] & LNS_POINT_NOT_BOUND) != 0,
             by_source = source_ns - latency_ns < before_ns - gap_ns;
  const int64_t rest_ns = by_source ? source_ns - latency_ns : before_ns - gap_ns;

  if (is_free || by_source)
    graph->ns[i] = (uint32_t)(own_ns + least (before_ns, gap_ns));
  if (is_free || !by_source)
    graph->lag[i] = (int32_t)(own_ns + least (source_ns, latency_ns));
  if (by_source && !is_free)
    graph->marks[i] |= LNS_POINT_BY_SOURCE;
  if (rest_ns > LATE_NS && !is_free)
    graph->marks[i] |= LNS_POINT_LATE;
}

/* Settles point I without a source: the first operation of a stream comes after its call alone. */
static void
settle_first (LnsGraph *graph, uint32_t i, int64_t latency_ns)
{
  const int64_t own_ns = own_of (graph, i);

  if (lns_graph_edge (graph, i) == LNS_EDGE_LAUNCH && (graph->marks[i] & LNS_POINT_NOT_BOUND) != 0)
    graph->ns[i] = (uint32_t)(own_ns + least (graph->ns[i] - own_ns, latency_ns));
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
  return kind >= LNS_PIECE_QUEUED || kind == LNS_PIECE_SYNC;
}

/* Where the values of each label of GRAPH are, of so many places as are returned: of operations, those of their stream. To be freed. */
static uint32_t *
places_of (const LnsGraph *graph, uint32_t *ret_n)
{
  uint32_t *index = lns_calloc (graph->labels.n + 1, sizeof *index), n = 0,
           *of_agents = lns_calloc (graph->agents.n + 1, sizeof *of_agents);

  for (size_t i = 0; i < graph->labels.n; i++)
    {
      const LnsGraphLabel *label = &graph->labels.items[i];
      uint32_t *of_agent = &of_agents[label->agent];
      if (label->kind == LNS_PIECE_SYNC)
        index[i] = n++;
      else if (has_values (label->kind))
        {
          if (*of_agent == 0)
            *of_agent = ++n;
          index[i] = *of_agent - 1;
        }
    }
  free (of_agents);
  *ret_n = n;
  return index;
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
          const int64_t before_ns = graph->ns[i] - own_of (graph, i),
                        source_ns = graph->lag[i] - own_of (graph, i);
          take_launch (own, before_ns, source_ns);
          take_launch (&all[0], before_ns, source_ns);
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
  uint32_t n, *index = places_of (graph, &n);
  bool *is_done = lns_calloc ((size_t)n + 1, sizeof *is_done);
  Typical all[2] = { 0 };

  Typical *typical = lns_calloc ((size_t)n + 1, sizeof *typical);
  collect (graph, index, typical, all);
  /* From here on the medians alone count: the first place of the values has them. */
  for (unsigned i = 0; i < 2; i++)
    {
      all[i].first.ns[0] = median (&all[i].first, 0);
      all[i].second.ns[0] = median (&all[i].second, 0);
    }
  for (size_t i = 0; i < graph->labels.n; i++)
    if (has_values (graph->labels.items[i].kind) && !is_done[index[i]])
      {
        is_done[index[i]] = true;
        const Typical *both = &all[graph->labels.items[i].kind == LNS_PIECE_SYNC];
        Typical *own = &typical[index[i]];
        own->first.ns[0] = median (&own->first, both->first.ns[0]);
        own->second.ns[0] = median (&own->second, both->second.ns[0]);
      }
  for (uint32_t i = 0; i < graph->n; i++)
    {
      const LnsEdgeKind edge = lns_graph_edge (graph, i);
      const Typical *own = &typical[index[graph->label[i]]];
      if (!has_values (lns_graph_label_of (graph, i)->kind))
        continue;
      if (graph->source[i] == LNS_POINT_NONE)
        settle_first (graph, i, own->second.ns[0]);
      else if (edge == LNS_EDGE_LAUNCH)
        settle_launch (graph, i, own->first.ns[0], own->second.ns[0]);
      else if (edge == LNS_EDGE_SYNC || edge == LNS_EDGE_QUEUE)
        settle_sync (graph, i, own->first.ns[0], own->second.ns[0]);
      else if (edge == LNS_EDGE_EVENT && (graph->marks[i] & LNS_POINT_NOT_BOUND) != 0)
        graph->lag[i] = (int32_t)(own_of (graph, i) +
                                  least (graph->lag[i] - own_of (graph, i), own->first.ns[0]));
    }
  free (typical);
  free (is_done);
  free (index);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/path.h"

#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/base/search.h"

/* If more than this share is not known, nothing is foretold. */
#define MOST_UNKNOWN 0.25

static int
compare_parts (const void *a, const void *b)
{
  const LnsPathPart *pa = a, *pb = b;
  return LNS_COMPARE (pb->ns, pa->ns) ?: LNS_COMPARE (pa->label, pb->label);
}

static int
compare_links (const void *a, const void *b)
{
  const LnsPathLink *la = a, *lb = b;
  return LNS_COMPARE (lb->end_ns - lb->start_ns, la->end_ns - la->start_ns)
             ?: LNS_COMPARE (la->start_ns, lb->start_ns);
}

/* Keeps LINK if it is among the N longest: twice as many are kept until the shorter half goes. */
static void
keep (LnsPath *path, const LnsPathLink *link, size_t n)
{
  if (n == 0)
    return;
  *lns_array_add (&path->longest) = *link;
  if (path->longest.n < 2 * n)
    return;
  qsort (path->longest.items, path->longest.n, sizeof *path->longest.items, compare_links);
  path->longest.n = n;
}

/* Whether nobody knows what the piece of POINT was. */
static bool
is_unknown (const LnsGraph *graph, uint32_t point)
{
  const LnsGraphLabel *label = lns_graph_label_of (graph, point);

  return label->kind == LNS_PIECE_UNKNOWN || (graph->marks[point] & LNS_POINT_LATE) != 0 ||
         (label->kind == LNS_PIECE_OUTSIDE && label->name == 0 && !graph->has_wakers);
}

/* A walk back along the path. */
typedef struct
{
  const LnsGraph *graph;
  LnsPath *path;
  int64_t reached_ns; /* what is later was told                                                  */
  int64_t *ns;        /* by label                                                                */
  uint64_t *n;
  size_t n_longest;
  bool keeps_links;
  LnsPathLink last; /* which may go on to the left; without length: there is none                */
} Walk;

/* Whether LINK and what was told last, which it leads to, are one: the thread did the same all the time, and was looked at in between; or a
 * piece was too long for one point. */
static bool
is_one (const Walk *walk, const LnsPathLink *link)
{
  const LnsPathLink *last = &walk->last;
  const LnsPieceKind kind = walk->graph->labels.items[link->label].kind;
  const bool is_cut = kind == LNS_PIECE_RUN || kind == LNS_PIECE_OUTSIDE ||
                      kind == LNS_PIECE_NO_CPU || kind == LNS_PIECE_UNKNOWN;

  return last->end_ns > last->start_ns && last->start_ns == link->end_ns &&
         last->label == link->label && last->edge == LNS_EDGE_NONE &&
         last->is_unknown == link->is_unknown &&
         (is_cut || link->end_ns - link->start_ns == UINT32_MAX);
}

/* Nothing goes on with what was told last. */
static void
finish (Walk *walk)
{
  const LnsPathLink link = walk->last;

  if (link.end_ns <= link.start_ns)
    return;
  walk->n[link.label]++;
  walk->path->n++;
  keep (walk->path, &link, walk->n_longest);
  if (walk->keeps_links)
    *lns_array_add (&walk->path->links) = link;
}

/* Tells LINK, of LABEL, as far as it is earlier than what was told. */
static void
tell (Walk *walk, LnsPathLink link, uint32_t label)
{
  LnsPath *path = walk->path;

  if (link.start_ns < path->start_ns)
    link.start_ns = path->start_ns;
  if (link.end_ns > walk->reached_ns)
    link.end_ns = walk->reached_ns;
  if (link.start_ns >= link.end_ns)
    return;
  walk->reached_ns = link.start_ns;
  link.label = label;
  walk->ns[label] += link.end_ns - link.start_ns;
  path->unknown_ns += link.is_unknown ? link.end_ns - link.start_ns : 0;
  if (is_one (walk, &link))
    {
      link.end_ns = walk->last.end_ns;
      walk->last = link;
      return;
    }
  finish (walk);
  walk->last = link;
}

/* Tells the way from NEXT to point I: what the piece takes itself, and the rest. */
static void
tell_way (Walk *walk, const int64_t *times, uint32_t next, uint32_t i, bool by_source)
{
  const LnsGraph *graph = walk->graph;
  const LnsGraphLabel *label = lns_graph_label_of (graph, i);
  const bool is_operation = label->kind > LNS_PIECE_QUEUED;
  const uint32_t rest = graph->agents.items[label->agent].rest;
  LnsPathLink link = { .start_ns = times[next],
                       .end_ns = times[i],
                       .edge = by_source ? (uint8_t)lns_graph_edge (graph, i) : LNS_EDGE_NONE,
                       .is_inferred = by_source && (graph->marks[i] & LNS_POINT_INFERRED) != 0,
                       .is_unknown = is_unknown (graph, i) };

  if (graph->own[i] == graph->ns[i] && !is_operation)
    {
      tell (walk, link, graph->label[i]);
      return;
    }
  /* An operation waits first; a call is followed by what its thread does. Why it waited may not be known, but what it did is. */
  LnsPathLink first = link;
  first.end_ns = link.start_ns =
      is_operation ? times[i] - graph->own[i] : times[next] + graph->own[i];
  if (link.start_ns < times[next])
    link.start_ns = first.end_ns = times[next];
  if (is_operation)
    link.is_unknown = false;
  tell (walk, link, is_operation ? graph->label[i] : rest);
  tell (walk, first, is_operation ? rest : graph->label[i]);
}

void
lns_path_find (const LnsGraph *graph,
               const int64_t *times,
               uint32_t end,
               int64_t from_ns,
               int64_t to_ns,
               size_t n_longest,
               bool keeps_links,
               LnsPath *ret_path)
{
  Walk walk = { .graph = graph,
                .path = ret_path,
                .reached_ns = to_ns,
                .ns = lns_calloc (graph->labels.n + 1, sizeof *walk.ns),
                .n = lns_calloc (graph->labels.n + 1, sizeof *walk.n),
                .n_longest = n_longest,
                .keeps_links = keeps_links };

  *ret_path = (LnsPath){ .start_ns = from_ns, .end_ns = to_ns };
  for (uint32_t i = end; i > 0 && times[i] > from_ns;)
    {
      const uint32_t before = graph->before[i], source = graph->source[i];
      const bool by_source = source != LNS_POINT_NONE && lns_sum (times[source], graph->lag[i]) >=
                                                             lns_sum (times[before], graph->ns[i]);
      const uint32_t next = by_source ? source : before;
      tell_way (&walk, times, next, i, by_source);
      /* What the edge explains is how long the other one waited. */
      if (by_source && (graph->marks[i] & LNS_POINT_INFERRED) != 0 && times[i] <= to_ns)
        ret_path->inferred_ns += times[i] - (times[before] > from_ns ? times[before] : from_ns);
      i = next;
    }
  finish (&walk);
  for (size_t i = 0, n = ret_path->links.n; i < n / 2; i++)
    {
      const LnsPathLink link = ret_path->links.items[i];
      ret_path->links.items[i] = ret_path->links.items[n - 1 - i];
      ret_path->links.items[n - 1 - i] = link;
    }
  for (size_t k = 0; k < graph->labels.n; k++)
    if (walk.n[k] > 0)
      *lns_array_add (&ret_path->parts) = (LnsPathPart){ (uint32_t)k, walk.n[k], walk.ns[k] };
  if (ret_path->parts.n > 0)
    qsort (ret_path->parts.items, ret_path->parts.n, sizeof *ret_path->parts.items, compare_parts);
  if (ret_path->longest.n > 0)
    qsort (ret_path->longest.items, ret_path->longest.n, sizeof *ret_path->longest.items,
           compare_links);
  if (ret_path->longest.n > n_longest)
    ret_path->longest.n = n_longest;
  if (ret_path->inferred_ns > to_ns - from_ns)
    ret_path->inferred_ns = to_ns - from_ns;
  free (walk.ns);
  free (walk.n);
}

void
lns_path_clear (LnsPath *path)
{
  lns_array_clear (&path->parts);
  lns_array_clear (&path->longest);
  lns_array_clear (&path->links);
}

size_t
lns_path_link_at (const LnsPath *path, int64_t time_ns)
{
  const size_t i = LNS_LOWER_BOUND (path->links.n, k, path->links.items[k].end_ns <= time_ns);

  return i < path->links.n && path->links.items[i].start_ns <= time_ns ? i : SIZE_MAX;
}

LnsPathShares
lns_path_shares (const LnsGraph *graph, const LnsPath *path)
{
  const double all = path->end_ns > path->start_ns ? (double)(path->end_ns - path->start_ns) : 1;
  LnsPathShares shares = { .inferred = (double)path->inferred_ns / all,
                           .unknown = (double)path->unknown_ns / all };

  for (size_t i = 0; i < path->parts.n; i++)
    if (graph->labels.items[path->parts.items[i].label].has_branches)
      shares.branches += (double)path->parts.items[i].ns / all;
  if (graph->n_operations > 0)
    shares.unlaunched = (double)graph->n_unlaunched / (double)graph->n_operations;
  shares.is_known = shares.unknown <= MOST_UNKNOWN && shares.unlaunched <= MOST_UNKNOWN &&
                    path->end_ns > path->start_ns && !graph->is_full;
  return shares;
}

LnsPathShares
lns_path_shares_without_branches (const LnsPathShares *shares)
{
  LnsPathShares without = *shares;

  without.unknown = without.unknown + without.branches < 1 ? without.unknown + without.branches : 1;
  without.is_known &= without.unknown <= MOST_UNKNOWN;
  return without;
}

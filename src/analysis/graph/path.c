/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/path.h"

#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

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

void
lns_path_find (const LnsGraph *graph,
               const int64_t *times,
               uint32_t end,
               int64_t from_ns,
               int64_t to_ns,
               size_t n_longest,
               LnsPath *ret_path)
{
  int64_t *ns = lns_calloc (graph->labels.n + 1, sizeof *ns);
  uint64_t *n = lns_calloc (graph->labels.n + 1, sizeof *n);

  int64_t reached_ns = to_ns;

  *ret_path = (LnsPath){ .start_ns = from_ns, .end_ns = to_ns };
  for (uint32_t i = end; i > 0 && times[i] > from_ns;)
    {
      const uint32_t before = graph->before[i], source = graph->source[i];
      const bool by_source = source != LNS_POINT_NONE && lns_sum (times[source], graph->lag[i]) >=
                                                             lns_sum (times[before], graph->ns[i]);
      const uint32_t next = by_source ? source : before;
      const int64_t start_ns = times[next] > from_ns ? times[next] : from_ns,
                    end_ns = times[i] < reached_ns ? times[i] : reached_ns;
      if (start_ns < end_ns)
        {
          const LnsPathLink link = { .point = i,
                                     .start_ns = start_ns,
                                     .end_ns = end_ns,
                                     .edge = by_source ? lns_graph_edge (graph, i) : LNS_EDGE_NONE,
                                     .is_inferred =
                                         by_source && (graph->marks[i] & LNS_POINT_INFERRED) != 0,
                                     .is_unknown = is_unknown (graph, i) };
          ns[graph->label[i]] += end_ns - start_ns;
          n[graph->label[i]]++;
          ret_path->n++;
          ret_path->unknown_ns += link.is_unknown ? end_ns - start_ns : 0;
          keep (ret_path, &link, n_longest);
        }
      /* By clocks that differ, what comes first may be told to be later. */
      reached_ns = start_ns < reached_ns ? start_ns : reached_ns;
      /* What the edge explains is how long the other one waited. */
      if (by_source && (graph->marks[i] & LNS_POINT_INFERRED) != 0 && times[i] <= to_ns)
        ret_path->inferred_ns += times[i] - (times[before] > from_ns ? times[before] : from_ns);
      i = next;
    }
  for (size_t k = 0; k < graph->labels.n; k++)
    if (n[k] > 0)
      *lns_array_add (&ret_path->parts) = (LnsPathPart){ (uint32_t)k, n[k], ns[k] };
  if (ret_path->parts.n > 0)
    qsort (ret_path->parts.items, ret_path->parts.n, sizeof *ret_path->parts.items, compare_parts);
  if (ret_path->longest.n > 0)
    qsort (ret_path->longest.items, ret_path->longest.n, sizeof *ret_path->longest.items,
           compare_links);
  if (ret_path->longest.n > n_longest)
    ret_path->longest.n = n_longest;
  if (ret_path->inferred_ns > to_ns - from_ns)
    ret_path->inferred_ns = to_ns - from_ns;
  free (ns);
  free (n);
}

void
lns_path_clear (LnsPath *path)
{
  lns_array_clear (&path->parts);
  lns_array_clear (&path->longest);
}

LnsPathShares
lns_path_shares (const LnsGraph *graph, const LnsPath *path)
{
  const double all = path->end_ns > path->start_ns ? (double)(path->end_ns - path->start_ns) : 1;
  LnsPathShares shares = { .inferred = (double)path->inferred_ns / all,
                           .unknown = (double)path->unknown_ns / all };

  if (graph->n_operations > 0)
    shares.unlaunched = (double)graph->n_unlaunched / (double)graph->n_operations;
  shares.is_known = shares.unknown <= MOST_UNKNOWN && shares.unlaunched <= MOST_UNKNOWN &&
                    path->end_ns > path->start_ns && !graph->is_full;
  return shares;
}

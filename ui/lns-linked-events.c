/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/lns-linked-events.h"

#include <stdlib.h>

typedef struct
{
  LnsEventRun run;
  int rank;
} Ranked;

/* How soon a person looks for an event of LANE: the smallest first. */
static int
rank_of (LnsReport *report, uint32_t lane)
{
  uint32_t n;
  const LnsLane *it = &lns_report_lanes (report, &n)[lane];
  switch (it->kind)
    {
    case LNS_LANE_CUDA_API:
      return (int)MIN (it->ordinal, 100);
    case LNS_LANE_CUDA_KERNEL:
      return 0;
    case LNS_LANE_CUDA_GRAPH:
      return 1;
    case LNS_LANE_CUDA_MEMCPY:
    case LNS_LANE_CUDA_MEMSET:
      return 2;
    default:
      return 3;
    }
}

static int
compare_ranked (const void *a, const void *b)
{
  const Ranked *x = a, *y = b;
  if (x->rank != y->rank)
    return x->rank < y->rank ? -1 : 1;
  if (x->run.lane != y->run.lane)
    return x->run.lane < y->run.lane ? -1 : 1;
  return (x->run.ordinal > y->run.ordinal) - (x->run.ordinal < y->run.ordinal);
}

GArray *
lns_linked_events_new (LnsReport *report, const LnsCudaLinks *links, LnsEventId id)
{
  GArray *events = g_array_new (FALSE, FALSE, sizeof (LnsLinkedEvent));
  LnsEventRun *runs = NULL;
  size_t n_runs = 0;
  LnsError error = { 0 };
  /* Where a chunk is damaged, its own row says so; there is no other end then. */
  if (links == NULL || !lns_cuda_links_find (links, id.lane, id.ordinal, &runs, &n_runs, &error))
    return events;
  g_autofree Ranked *ranked = g_new (Ranked, n_runs + 1);
  for (size_t i = 0; i < n_runs; i++)
    ranked[i] = (Ranked){ runs[i], rank_of (report, runs[i].lane) };
  free (runs);
  qsort (ranked, n_runs, sizeof *ranked, compare_ranked);
  for (size_t i = 0; i < n_runs; i++)
    for (uint64_t k = 0; k < ranked[i].run.n && events->len < LNS_LINKED_EVENTS_MAX; k++)
      {
        LnsLinkedEvent linked = { .id = { ranked[i].run.lane, ranked[i].run.ordinal + k } };
        if (lns_report_event (report, linked.id.lane, linked.id.ordinal, &linked.event, NULL))
          g_array_append_val (events, linked);
      }
  return events;
}

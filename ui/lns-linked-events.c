/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/lns-linked-events.h"

#include <stdlib.h>

#include "ui/lns-event-text.h"

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

/* --- Ranges and their work on the GPU -------------------------------------------------------- */

LnsEventId
lns_projected_range (LnsReport *report, uint32_t lane, const LnsEvent *event)
{
  uint64_t place = lns_event_extra (report, lane, event, LNS_COLUMN_CORRELATION);
  uint64_t range_lane = lns_event_extra (report, lane, event, LNS_COLUMN_ORIGINAL);
  return place == 0 || range_lane >= LNS_ID_NONE ? LNS_EVENT_NONE
                                                 : (LnsEventId){ (uint32_t)range_lane, place - 1 };
}

/* Adds where RANGE was on the GPU according to the projections in LANE. */
static void
add_projected (GArray *events, LnsReport *report, uint32_t lane, LnsEventId range)
{
  uint64_t ordinal = 0, n = lns_report_lane_info (report, lane)->n_events;
  for (LnsLinkedEvent it = { .id = { lane, 0 } };
       lns_report_find_correlation (report, lane, range.ordinal + 1, ordinal, &ordinal, NULL) &&
       ordinal < n;
       ordinal++)
    {
      it.id.ordinal = ordinal;
      if (lns_report_event (report, lane, ordinal, &it.event, NULL) &&
          lns_event_id_equal (lns_projected_range (report, lane, &it.event), range))
        g_array_append_val (events, it);
    }
}

/* Streams before all of them, of streams the one with the most work first. */
static int
compare_projected (gconstpointer a, gconstpointer b, gpointer data)
{
  const LnsLinkedEvent *x = a, *y = b;
  bool x_is_all = lns_event_track (data, x->id.lane)->stream == LNS_ID_NONE;
  bool y_is_all = lns_event_track (data, y->id.lane)->stream == LNS_ID_NONE;
  uint64_t nx = lns_event_extra (data, x->id.lane, &x->event, LNS_COLUMN_COPY_COUNT);
  uint64_t ny = lns_event_extra (data, y->id.lane, &y->event, LNS_COLUMN_COPY_COUNT);
  if (x_is_all != y_is_all)
    return x_is_all ? 1 : -1;
  return nx != ny ? (nx > ny ? -1 : 1) : x->id.lane < y->id.lane ? -1 : x->id.lane > y->id.lane;
}

static bool
is_range (LnsLaneKind kind)
{
  return kind == LNS_LANE_NVTX_PUSH_POP || kind == LNS_LANE_NVTX_START_END;
}

static GArray *
projected_events (LnsReport *report, LnsEventId range)
{
  GArray *events = g_array_new (FALSE, FALSE, sizeof (LnsLinkedEvent));
  const LnsTrack *of = lns_event_track (report, range.lane);
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  for (uint32_t lane = 0; lane < n; lane++)
    {
      const LnsTrack *track = lns_event_track (report, lane);
      if (lanes[lane].kind == LNS_LANE_NVTX_PROJECTED && track->process == of->process &&
          track->domain == of->domain)
        add_projected (events, report, lane, range);
    }
  g_array_sort_with_data (events, compare_projected, report);
  return events;
}

static GArray *
range_of_projected (LnsReport *report, LnsEventId id)
{
  GArray *events = g_array_new (FALSE, FALSE, sizeof (LnsLinkedEvent));
  LnsEvent event;
  if (!lns_report_event (report, id.lane, id.ordinal, &event, NULL))
    return events;
  LnsLinkedEvent range = { .id = lns_projected_range (report, id.lane, &event) };
  if (lns_report_event (report, range.id.lane, range.id.ordinal, &range.event, NULL))
    g_array_append_val (events, range);
  return events;
}

bool
lns_linked_events_possible (LnsReport *report, uint32_t lane)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  /* Projections stand last. */
  return is_range (lanes[lane].kind)
             ? lanes[n - 1].kind == LNS_LANE_NVTX_PROJECTED
             : lns_lane_kind_extra (lanes[lane].kind, LNS_COLUMN_CORRELATION) >= 0;
}

/* --- Calls and what they began --------------------------------------------------------------- */

GArray *
lns_linked_events_new (LnsReport *report, const LnsCudaLinks *links, LnsEventId id)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  if (id.lane < n_lanes && lanes[id.lane].kind == LNS_LANE_NVTX_PROJECTED)
    return range_of_projected (report, id);
  if (id.lane < n_lanes && is_range (lanes[id.lane].kind))
    return projected_events (report, id);
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

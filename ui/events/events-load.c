/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-load.h"

#include <glib/gi18n.h>

LnsEventsRequest *
lns_events_request_new (const char *title,
                        const uint32_t *lanes,
                        unsigned n_lanes,
                        const LnsFacetSet *facets,
                        uint32_t facet)
{
  LnsEventsRequest *self = g_rc_box_new0 (LnsEventsRequest);

  self->title = g_strdup (title);
  self->lanes = g_memdup2 (lanes, n_lanes * sizeof *lanes);
  self->n_lanes = n_lanes;
  self->facets = facets != NULL ? lns_facet_set_ref ((LnsFacetSet *)facets) : NULL;
  self->facet = facet;
  return self;
}

LnsEventsRequest *
lns_events_request_new_whole (LnsReport *report)
{
  uint32_t n_lanes;
  const LnsLane *all = lns_report_lanes (report, &n_lanes);
  g_autoptr (GArray) lanes = g_array_sized_new (FALSE, FALSE, sizeof (uint32_t), n_lanes);

  for (uint32_t lane = 0; lane < n_lanes; lane++)
    if (all[lane].kind != LNS_LANE_NVTX_PROJECTED &&
        lns_report_lane_info (report, lane)->n_events > 0)
      g_array_append_val (lanes, lane);
  return lns_events_request_new (_ ("All Events"), (const uint32_t *)(void *)lanes->data,
                                 lanes->len, NULL, 0);
}

LnsEventsRequest *
lns_events_request_ref (LnsEventsRequest *self)
{
  return g_rc_box_acquire (self);
}

static void
clear (gpointer data)
{
  LnsEventsRequest *self = data;

  lns_facet_set_unref (self->facets);
  g_free (self->lanes);
  g_free (self->title);
}

void
lns_events_request_unref (LnsEventsRequest *self)
{
  if (self != NULL)
    g_rc_box_release_full (self, clear);
}

uint64_t
lns_events_request_n_events (const LnsEventsRequest *self, LnsReport *report)
{
  uint64_t n = 0;

  if (self->facets != NULL)
    return lns_facet_set_facets (self->facets, NULL)[self->facet].n_events;
  for (unsigned i = 0; i < self->n_lanes; i++)
    n += lns_report_lane_info (report, self->lanes[i])->n_events;
  return n;
}

LnsEventsLoad *
lns_events_load_new (LnsEventsRequest *request, int64_t from_ns, int64_t to_ns)
{
  LnsEventsLoad *self = g_new0 (LnsEventsLoad, 1);

  self->request = lns_events_request_ref (request);
  self->from_ns = from_ns;
  self->to_ns = to_ns;
  return self;
}

void
lns_events_load_work (LnsWorker *worker, gpointer job)
{
  LnsEventsLoad *self = job;
  const LnsEventsRequest *request = self->request;

  self->set = lns_event_set_load (worker->report, request->lanes, request->n_lanes, self->from_ns,
                                  self->to_ns, request->facets, request->facet, &worker->permille,
                                  worker->cancellable, &self->error);
}

void
lns_events_load_free (gpointer job)
{
  LnsEventsLoad *self = job;

  lns_events_request_unref (self->request);
  lns_event_set_unref (self->set);
  g_clear_error (&self->error);
  g_free (self);
}

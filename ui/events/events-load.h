/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the events table was asked for, and the job that loads it. */

#pragma once

#include "ui/events/event-set.h"
#include "ui/model/job.h"

/* The events of some lanes; where `facets` is not NULL, those of its `facet` alone. Immutable. */
typedef struct
{
  char *title; /* owned, as all of it is */
  uint32_t *lanes;
  unsigned n_lanes;
  LnsFacetSet *facets;
  uint32_t facet;
} LnsEventsRequest;

/* Copies TITLE and LANES, and holds a reference on FACETS (may be NULL). */
LnsEventsRequest *lns_events_request_new (const char *title,
                                          const uint32_t *lanes,
                                          unsigned n_lanes,
                                          const LnsFacetSet *facets,
                                          uint32_t facet) G_GNUC_WARN_UNUSED_RESULT;

/* All events that REPORT was recorded with: not the ranges on GPUs, which are worked out. */
LnsEventsRequest *lns_events_request_new_whole (LnsReport *report) G_GNUC_WARN_UNUSED_RESULT;
LnsEventsRequest *lns_events_request_ref (LnsEventsRequest *self);
void lns_events_request_unref (LnsEventsRequest *self); /* NULL is fine */

/* How many events of REPORT it is of, at any time. O(lanes). */
uint64_t lns_events_request_n_events (const LnsEventsRequest *self, LnsReport *report);

/* A job (ui/model/job.h): the events of a request that touch a time. */
typedef struct
{
  LnsEventsRequest *request; /* owned */
  int64_t from_ns, to_ns;
  LnsEventSet *set; /* owned; or NULL and ERROR */
  GError *error;
} LnsEventsLoad;

/* Holds a reference on REQUEST. */
LnsEventsLoad *lns_events_load_new (LnsEventsRequest *request,
                                    int64_t from_ns,
                                    int64_t to_ns) G_GNUC_WARN_UNUSED_RESULT;

/* The functions of the job. */
void lns_events_load_work (LnsWorker *worker, gpointer job);
void lns_events_load_free (gpointer job);

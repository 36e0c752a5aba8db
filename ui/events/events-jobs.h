/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Loads a set of events and answers queries about it, on workers: one load and one query at a time.
 * All functions and callbacks run on the main thread. */

#pragma once

#include "ui/events/event-order.h"
#include "ui/model/view.h"

typedef struct LnsEventsJobs LnsEventsJobs;

/* Whom the jobs tell. None is called after the job was cancelled. */
typedef struct
{
  /* The load has done FRACTION (0–1) of its work. */
  void (*progressed) (double fraction, gpointer data);

  /* The load has ended with SET (borrowed), or with ERROR and NULL. */
  void (*loaded) (LnsEventSet *set, const GError *error, gpointer data);

  /* The query knows the first page of its answer (borrowed), before the whole. */
  void (*found_first_page) (LnsEventSet *set, LnsEventOrder *first, gpointer data);

  /* The query has ended with ORDER (borrowed), or with ERROR and NULL. COMPLETES: its first page was
   * told of before. */
  void (*queried) (LnsEventSet *set,
                   LnsEventOrder *order,
                   gboolean completes,
                   const GError *error,
                   gpointer data);
} LnsEventsJobsFuncs;

/* For events of VIEW's report. Holds a reference on VIEW; FUNCS is kept, not copied. */
LnsEventsJobs *lns_events_jobs_new (LnsView *view,
                                    const LnsEventsJobsFuncs *funcs,
                                    gpointer data) G_GNUC_WARN_UNUSED_RESULT;

/* Cancels what is under way. NULL is fine. */
void lns_events_jobs_free (LnsEventsJobs *self);

/* Loads the events of LANES in the selected time, or at any time if none is selected; where FACETS is
 * not NULL, those of its FACET alone. No load may be under way. */
void lns_events_jobs_load (LnsEventsJobs *self,
                           const uint32_t *lanes,
                           unsigned n_lanes,
                           const LnsFacetSet *facets,
                           uint32_t facet);

/* Asks for the events of SET whose name holds FILTER, by COLUMN. Takes the place of the query that is
 * under way. A filter that changes is answered without sorting again. */
void lns_events_jobs_query (LnsEventsJobs *self,
                            LnsEventSet *set,
                            LnsEventColumn column,
                            gboolean descending,
                            const char *filter);

gboolean lns_events_jobs_is_querying (LnsEventsJobs *self);

/* Cancels what is under way, and forgets what the last query sorted. */
void lns_events_jobs_cancel (LnsEventsJobs *self);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Asks which rows of a set are to be shown, and in which order, on a worker. Main thread only. */

#pragma once

#include "ui/events/event-order.h"
#include "ui/model/view.h"

typedef struct
{
  LnsEventQuery query;
  LnsEventOrder *order;  /* NULL: ERROR says why */
  LnsEventOrder *sorted; /* of the same rows without the filter */
  GError *error;
} LnsEventsAnswer;

/* Both run on the main thread, unless the query was cancelled. What they are given is not theirs. */
typedef struct
{
  void (*first) (LnsEventOrder *first,
                 gpointer owner); /* the first page, if the answer is not there yet */
  void (*answered) (const LnsEventsAnswer *answer, gpointer owner);
} LnsEventsQueryFuncs;

/* Asks QUERY of SET, in place of the query of *RUNNING, as lns_job_start () does. The filter of QUERY is taken over; a reference on its
 * order and on SET is held. FUNCS is kept, not copied. */
void lns_events_query_start (GCancellable **running,
                             LnsView *view,
                             LnsEventSet *set,
                             const LnsEventQuery *query,
                             const LnsEventsQueryFuncs *funcs,
                             gpointer owner);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-query.h"

#include "ui/model/job.h"

typedef struct
{
  GCancellable **running; /* the owner's, who is alive unless the query was cancelled */
  GCancellable *cancellable;
  LnsEventSet *set; /* owned */
  LnsEventsAnswer answer;
  const LnsEventsQueryFuncs *funcs;
  gpointer owner;
} Query;

static void
query_free (gpointer data)
{
  Query *query = data;
  LnsEventsAnswer *answer = &query->answer;

  lns_event_set_unref (query->set);
  lns_event_order_unref (answer->query.sorted);
  lns_event_filter_free ((LnsEventFilter *)answer->query.filter);
  lns_event_order_unref (answer->sorted);
  lns_event_order_unref (answer->order);
  g_clear_error (&answer->error);
  g_free (query);
}

/* A first page on its way to the main thread. */
typedef struct
{
  GCancellable **running; /* alive unless cancelled */
  GCancellable *cancellable;
  LnsEventOrder *order;
  const LnsEventsQueryFuncs *funcs;
  gpointer owner;
} FirstPage;

static void
first_page_free (gpointer data)
{
  FirstPage *page = data;

  g_object_unref (page->cancellable);
  lns_event_order_unref (page->order);
  g_free (page);
}

static gboolean
show_first_page_cb (gpointer data)
{
  FirstPage *page = data;

  /* Unless the whole answer came first. */
  if (!g_cancellable_is_cancelled (page->cancellable) && *page->running == page->cancellable)
    page->funcs->first (page->order, page->owner);
  return G_SOURCE_REMOVE;
}

static void
first_page_cb (LnsEventOrder *first, void *data)
{
  const Query *query = data;
  FirstPage *page = g_new (FirstPage, 1);

  *page = (FirstPage){ query->running, g_object_ref (query->cancellable),
                       lns_event_order_ref (first), query->funcs, query->owner };
  g_idle_add_full (G_PRIORITY_DEFAULT, show_first_page_cb, page, first_page_free);
}

static void
answer (LnsWorker *worker, gpointer job)
{
  Query *query = job;
  LnsEventsAnswer *it = &query->answer;

  query->cancellable = worker->cancellable;
  it->order = lns_event_order_query (query->set, &it->query, first_page_cb, query, &it->sorted,
                                     worker->cancellable, &it->error);
}

static void
answered_cb (gpointer job, gpointer owner)
{
  Query *query = job;

  query->funcs->answered (&query->answer, owner);
}

static const LnsJobFuncs job_funcs = { answer, answered_cb, query_free };

void
lns_events_query_start (GCancellable **running,
                        LnsView *view,
                        LnsEventSet *set,
                        const LnsEventQuery *query,
                        const LnsEventsQueryFuncs *funcs,
                        gpointer owner)
{
  Query *job = g_new0 (Query, 1);

  *job = (Query){ .running = running,
                  .set = lns_event_set_ref (set),
                  .answer = { .query = *query },
                  .funcs = funcs,
                  .owner = owner };
  if (query->sorted != NULL)
    lns_event_order_ref (query->sorted);
  lns_job_start (running, view, &job_funcs, job, owner);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-jobs.h"

#define PROGRESS_MS 60

struct LnsEventsJobs
{
  LnsView *view; /* owned */
  const LnsEventsJobsFuncs *funcs;
  gpointer data;

  GCancellable *loading;      /* of the load under way, or NULL */
  atomic_uint *load_permille; /* of it */
  guint load_timer;

  GCancellable *querying;  /* of the query under way, or NULL */
  gboolean has_first_page; /* its first page was told of */

  LnsEventOrder *sorted;   /* owned; the order without the filter, or NULL: not known */
  LnsEventSet *sorted_set; /* of these events (owned), by this column: */
  LnsEventColumn sorted_column;
  gboolean sorted_descending;
};

/* --- Loading ------------------------------------------------------------------------------- */

typedef struct
{
  LnsView *view; /* keeps the report open; given up on the main thread */
  uint32_t *lanes;
  unsigned n_lanes;
  LnsFacetSet *facets; /* owned, or NULL */
  uint32_t facet;
  int64_t from_ns, to_ns;
  atomic_uint permille;
} Load;

static void
load_free (gpointer data)
{
  Load *load = data;
  lns_facet_set_unref (load->facets);
  g_free (load->lanes);
  g_free (load);
}

static void
load_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Load *load = data;
  GError *error = NULL;
  LnsEventSet *set = lns_event_set_load (lns_view_get_report (load->view), load->lanes,
                                         load->n_lanes, load->from_ns, load->to_ns, load->facets,
                                         load->facet, &load->permille, cancellable, &error);
  if (set != NULL)
    g_task_return_pointer (task, set, (GDestroyNotify)lns_event_set_unref);
  else
    g_task_return_error (task, error);
}

static void
end_load (LnsEventsJobs *self)
{
  g_clear_handle_id (&self->load_timer, g_source_remove);
  g_clear_object (&self->loading);
  self->load_permille = NULL;
}

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  Load *load = g_task_get_task_data (G_TASK (result));
  g_autoptr (LnsView) view = g_steal_pointer (&load->view);
  g_autoptr (LnsEventSet) set = g_task_propagate_pointer (G_TASK (result), &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the jobs may be gone */

  LnsEventsJobs *self = data;
  end_load (self);
  self->funcs->loaded (set, error, self->data);
}

static gboolean
progress_cb (gpointer data)
{
  LnsEventsJobs *self = data;
  self->funcs->progressed (atomic_load (self->load_permille) / 1000.0, self->data);
  return G_SOURCE_CONTINUE;
}

void
lns_events_jobs_load (LnsEventsJobs *self,
                      const uint32_t *lanes,
                      unsigned n_lanes,
                      const LnsFacetSet *facets,
                      uint32_t facet)
{
  Load *load = g_new0 (Load, 1);
  load->view = g_object_ref (self->view);
  load->lanes = g_memdup2 (lanes, n_lanes * sizeof *lanes);
  load->n_lanes = n_lanes;
  load->facets = facets != NULL ? lns_facet_set_ref ((LnsFacetSet *)facets) : NULL;
  load->facet = facet;
  if (!lns_view_get_time_selection (self->view, &load->from_ns, &load->to_ns))
    {
      load->from_ns = INT64_MIN;
      load->to_ns = INT64_MAX;
    }

  self->loading = g_cancellable_new ();
  self->load_permille = &load->permille;
  self->load_timer = g_timeout_add (PROGRESS_MS, progress_cb, self);

  g_autoptr (GTask) task = g_task_new (NULL, self->loading, loaded_cb, self);
  g_task_set_task_data (task, load, load_free);
  g_task_run_in_thread (task, load_thread);
}

/* --- Sorting and filtering ----------------------------------------------------------------- */

typedef struct
{
  LnsView *view; /* as above */
  LnsEventsJobs *jobs;
  LnsEventSet *set;
  LnsEventQuery query;
  char *filter;
  LnsEventOrder *sorted;     /* what is known before the query … */
  LnsEventOrder *new_sorted; /* … and after it */
  GCancellable *cancellable;
} Query;

static void
query_free (gpointer data)
{
  Query *query = data;
  lns_event_set_unref (query->set);
  lns_event_order_unref (query->sorted);
  lns_event_order_unref (query->new_sorted);
  g_object_unref (query->cancellable);
  g_free (query->filter);
  g_free (query);
}

/* A first page on its way to the main thread. */
typedef struct
{
  LnsEventsJobs *jobs; /* alive unless cancelled */
  GCancellable *cancellable;
  LnsEventSet *set;
  LnsEventOrder *order;
} FirstPage;

static void
first_page_free (gpointer data)
{
  FirstPage *page = data;
  g_object_unref (page->cancellable);
  lns_event_set_unref (page->set);
  lns_event_order_unref (page->order);
  g_free (page);
}

static gboolean
show_first_page_cb (gpointer data)
{
  FirstPage *page = data;
  if (g_cancellable_is_cancelled (page->cancellable))
    return G_SOURCE_REMOVE;
  LnsEventsJobs *self = page->jobs;
  if (self->querying != page->cancellable)
    return G_SOURCE_REMOVE; /* the whole came first */
  self->has_first_page = TRUE;
  self->funcs->found_first_page (page->set, page->order, self->data);
  return G_SOURCE_REMOVE;
}

static void
first_page_cb (LnsEventOrder *first, void *data)
{
  const Query *query = data;
  FirstPage *page = g_new (FirstPage, 1);
  *page = (FirstPage){ query->jobs, g_object_ref (query->cancellable),
                       lns_event_set_ref (query->set), lns_event_order_ref (first) };
  g_idle_add_full (G_PRIORITY_DEFAULT, show_first_page_cb, page, first_page_free);
}

static void
query_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Query *query = data;
  GError *error = NULL;
  LnsEventOrder *order = lns_event_order_query (query->set, &query->query, first_page_cb, query,
                                                &query->new_sorted, cancellable, &error);
  if (order != NULL)
    g_task_return_pointer (task, order, (GDestroyNotify)lns_event_order_unref);
  else
    g_task_return_error (task, error);
}

static void
forget_sorted (LnsEventsJobs *self)
{
  g_clear_pointer (&self->sorted, lns_event_order_unref);
  g_clear_pointer (&self->sorted_set, lns_event_set_unref);
}

static void
queried_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  Query *query = g_task_get_task_data (G_TASK (result));
  g_autoptr (LnsView) view = g_steal_pointer (&query->view);
  g_autoptr (LnsEventOrder) order = g_task_propagate_pointer (G_TASK (result), &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the jobs may be gone */

  LnsEventsJobs *self = data;
  g_clear_object (&self->querying);
  if (order != NULL)
    {
      forget_sorted (self);
      self->sorted = g_steal_pointer (&query->new_sorted);
      self->sorted_set = lns_event_set_ref (query->set);
      self->sorted_column = query->query.column;
      self->sorted_descending = query->query.descending;
    }
  self->funcs->queried (query->set, order, self->has_first_page, error, self->data);
}

static void
cancel_job (GCancellable **job)
{
  g_cancellable_cancel (*job);
  g_clear_object (job);
}

void
lns_events_jobs_query (LnsEventsJobs *self,
                       LnsEventSet *set,
                       LnsEventColumn column,
                       gboolean descending,
                       const char *filter)
{
  cancel_job (&self->querying);
  if (self->sorted_set != set || self->sorted_column != column ||
      self->sorted_descending != descending)
    forget_sorted (self);

  Query *query = g_new0 (Query, 1);
  self->querying = g_cancellable_new ();
  self->has_first_page = FALSE;
  query->view = g_object_ref (self->view);
  query->jobs = self;
  query->cancellable = g_object_ref (self->querying);
  query->set = lns_event_set_ref (set);
  query->sorted = self->sorted != NULL ? lns_event_order_ref (self->sorted) : NULL;
  query->filter = g_strdup (filter);
  query->query = (LnsEventQuery){ column, descending, query->filter, query->sorted };

  g_autoptr (GTask) task = g_task_new (NULL, self->querying, queried_cb, self);
  g_task_set_task_data (task, query, query_free);
  g_task_run_in_thread (task, query_thread);
}

gboolean
lns_events_jobs_is_querying (LnsEventsJobs *self)
{
  return self->querying != NULL;
}

/* --- Life ---------------------------------------------------------------------------------- */

void
lns_events_jobs_cancel (LnsEventsJobs *self)
{
  cancel_job (&self->loading);
  cancel_job (&self->querying);
  end_load (self);
  forget_sorted (self);
}

LnsEventsJobs *
lns_events_jobs_new (LnsView *view, const LnsEventsJobsFuncs *funcs, gpointer data)
{
  LnsEventsJobs *self = g_new0 (LnsEventsJobs, 1);
  self->view = g_object_ref (view);
  self->funcs = funcs;
  self->data = data;
  return self;
}

void
lns_events_jobs_free (LnsEventsJobs *self)
{
  if (self == NULL)
    return;
  lns_events_jobs_cancel (self);
  g_object_unref (self->view);
  g_free (self);
}

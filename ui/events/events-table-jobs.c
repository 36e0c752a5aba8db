/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-table-private.h"

#include <glib/gi18n.h>

#define PROGRESS_MS 60

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
end_load (LnsEventsTable *self)
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
    return; /* the table may be gone */

  LnsEventsTable *self = LNS_EVENTS_TABLE (data);
  end_load (self);
  if (set == NULL)
    {
      _lns_events_table_show_error (self, error->message);
      return;
    }
  self->set = g_steal_pointer (&set);
  self->is_new = TRUE;
  _lns_events_table_update_columns (self);
  _lns_events_table_query (self);
}

static gboolean
progress_cb (gpointer data)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (data);
  gtk_progress_bar_set_fraction (self->progress, atomic_load (self->load_permille) / 1000.0);
  return G_SOURCE_CONTINUE;
}

void
_lns_events_table_load (LnsEventsTable *self,
                        const uint32_t *lanes,
                        unsigned n_lanes,
                        const LnsFacetSet *set,
                        uint32_t facet)
{
  Load *load = g_new0 (Load, 1);
  load->view = g_object_ref (self->view);
  load->lanes = g_memdup2 (lanes, n_lanes * sizeof *lanes);
  load->n_lanes = n_lanes;
  load->facets = set != NULL ? lns_facet_set_ref ((LnsFacetSet *)set) : NULL;
  load->facet = facet;
  if (!lns_view_get_time_selection (self->view, &load->from_ns, &load->to_ns))
    {
      load->from_ns = INT64_MIN;
      load->to_ns = INT64_MAX;
    }

  self->loading = g_cancellable_new ();
  self->load_permille = &load->permille;
  gtk_progress_bar_set_fraction (self->progress, 0);
  self->load_timer = g_timeout_add (PROGRESS_MS, progress_cb, self);

  g_autoptr (GTask) task = g_task_new (NULL, self->loading, loaded_cb, self);
  g_task_set_task_data (task, load, load_free);
  g_task_run_in_thread (task, load_thread);
}

/* --- Sorting and filtering ----------------------------------------------------------------- */

typedef struct
{
  LnsView *view; /* as above */
  LnsEventsTable *table;
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
  LnsEventsTable *table; /* alive unless cancelled */
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
  LnsEventsTable *self = page->table;
  if (self->querying != page->cancellable)
    return G_SOURCE_REMOVE; /* the whole came first */
  lns_events_model_set (self->model, page->set, page->order, FALSE);
  self->has_first_page = TRUE;
  _lns_events_table_update (self);
  return G_SOURCE_REMOVE;
}

static void
first_page_cb (LnsEventOrder *first, void *data)
{
  const Query *query = data;
  FirstPage *page = g_new (FirstPage, 1);
  *page = (FirstPage){ query->table, g_object_ref (query->cancellable),
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
queried_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  Query *query = g_task_get_task_data (G_TASK (result));
  g_autoptr (LnsView) view = g_steal_pointer (&query->view);
  g_autoptr (LnsEventOrder) order = g_task_propagate_pointer (G_TASK (result), &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the table may be gone */

  LnsEventsTable *self = LNS_EVENTS_TABLE (data);
  g_clear_object (&self->querying);
  gtk_spinner_stop (self->spinner);
  if (order == NULL)
    {
      _lns_events_table_show_error (self, error->message);
      return;
    }
  g_clear_pointer (&self->sorted, lns_event_order_unref);
  self->sorted = g_steal_pointer (&query->new_sorted);
  lns_events_model_set (self->model, self->set, order, self->has_first_page);
  _lns_events_table_update (self);
  /* Who sorts or filters wants to see what comes first. */
  _lns_events_table_follow (self, self->is_new);
  self->is_new = FALSE;
}

void
_lns_events_table_query (LnsEventsTable *self)
{
  if (self->querying != NULL)
    g_cancellable_cancel (self->querying);
  g_clear_object (&self->querying);
  if (self->set == NULL)
    return;

  Query *query = g_new0 (Query, 1);
  self->querying = g_cancellable_new ();
  self->has_first_page = FALSE;
  query->view = g_object_ref (self->view);
  query->table = self;
  query->cancellable = g_object_ref (self->querying);
  query->set = lns_event_set_ref (self->set);
  query->sorted = self->sorted != NULL ? lns_event_order_ref (self->sorted) : NULL;
  query->filter = g_strdup (gtk_editable_get_text (self->filter));
  query->query = (LnsEventQuery){ self->column, self->descending, query->filter, query->sorted };
  gtk_spinner_start (self->spinner);

  g_autoptr (GTask) task = g_task_new (NULL, self->querying, queried_cb, self);
  g_task_set_task_data (task, query, query_free);
  g_task_run_in_thread (task, query_thread);
}

void
_lns_events_table_cancel_jobs (LnsEventsTable *self)
{
  GCancellable **jobs[] = { &self->loading, &self->querying };
  for (gsize i = 0; i < G_N_ELEMENTS (jobs); i++)
    {
      if (*jobs[i] != NULL)
        g_cancellable_cancel (*jobs[i]);
      g_clear_object (jobs[i]);
    }
  end_load (self);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows that have to be read first (a stream's kernels by name, streams together): a worker reads what
 * the rows in view want, one after the other; then the rows are there. */

#include "ui/timeline/timeline-private.h"

typedef struct
{
  LnsView *view; /* owned: the report stays open */
  LnsRowWant want;
  uint32_t *lanes; /* owned */
  uint32_t n_lanes;
  atomic_bool cancel;
} Reading;

static void
reading_free (gpointer data)
{
  Reading *reading = data;
  g_object_unref (reading->view);
  g_free (reading->lanes);
  g_free (reading);
}

static void
cancelled_cb (GCancellable *cancellable, gpointer data)
{
  atomic_store (&((Reading *)data)->cancel, true);
}

static void
read_set (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Reading *reading = data;
  LnsError error = { 0 };
  LnsFacetSet *set =
      lns_facet_set_new (lns_view_get_report (reading->view), reading->lanes, reading->n_lanes,
                         reading->want.by, &reading->cancel, &error);
  if (set != NULL)
    g_task_return_pointer (task, set, (GDestroyNotify)lns_facet_set_unref);
  else
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", error.message);
}

void
_lns_timeline_replace_tree (LnsTimeline *self, LnsRowTree *tree)
{
  LnsRowTree *old = self->context.tree;
  lns_tile_set_replace_tree (self->context.tiles, tree);
  for (uint32_t row = 0; row < lns_row_tree_n_rows (old); row++)
    if (lns_row_tree_row (old, row)->set != lns_row_tree_row (tree, row)->set)
      lns_tile_set_forget_row (self->context.tiles, row);
  self->context.tree = tree;
  lns_row_tree_unref (old);
}

static void
read_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  Reading *reading = g_task_get_task_data (G_TASK (result));
  LnsFacetSet *set = g_task_propagate_pointer (G_TASK (result), &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the timeline may be gone */
  LnsTimeline *self = data;
  g_clear_object (&self->reading);
  if (set == NULL)
    {
      /* Nothing better comes: the row stays as it is, and its neighbours with it. */
      g_warning ("%s", error->message);
      return;
    }
  _lns_timeline_replace_tree (self, lns_row_tree_with (self->context.tree,
                                                       lns_view_get_report (self->context.view),
                                                       &reading->want, set));
  lns_facet_set_unref (set);
  _lns_timeline_rows_changed (self);
}

void
_lns_timeline_read_wanted (LnsTimeline *self)
{
  LnsRowWant want;
  LnsReport *report = lns_view_get_report (self->context.view);
  if (self->reading != NULL || !lns_row_tree_wanted (self->context.tree, report, &want))
    return;
  Reading *reading = g_new0 (Reading, 1);
  reading->view = g_object_ref (self->context.view);
  reading->want = want;
  reading->lanes = g_new (uint32_t, lns_row_tree_row (self->context.tree, want.row)->n_lanes);
  reading->n_lanes = lns_row_tree_wanted_lanes (self->context.tree, report, &want, reading->lanes);
  self->reading = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (NULL, self->reading, read_cb, self);
  g_task_set_task_data (task, reading, reading_free);
  g_cancellable_connect (self->reading, G_CALLBACK (cancelled_cb), reading, NULL);
  g_task_run_in_thread (task, read_set);
}

void
_lns_timeline_stop_reading (LnsTimeline *self)
{
  if (self->reading != NULL)
    g_cancellable_cancel (self->reading);
  g_clear_object (&self->reading);
}

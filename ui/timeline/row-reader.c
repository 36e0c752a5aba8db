/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/row-reader.h"

#include <gio/gio.h>

struct LnsRowReader
{
  LnsView *view; /* owned */
  LnsRowReadFunc read;
  gpointer data;
  GCancellable *reading; /* or NULL */
};

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

static void
read_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  Reading *reading = g_task_get_task_data (G_TASK (result));
  LnsFacetSet *set = g_task_propagate_pointer (G_TASK (result), &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the reader may be gone */
  LnsRowReader *self = data;
  g_clear_object (&self->reading);
  if (set == NULL)
    {
      /* Nothing better comes: the row stays as it is, and its neighbours with it. */
      g_warning ("%s", error->message);
      return;
    }
  self->read (&reading->want, set, self->data);
  lns_facet_set_unref (set);
}

void
lns_row_reader_read_wanted (LnsRowReader *self, const LnsRowTree *tree)
{
  LnsRowWant want;
  LnsReport *report = lns_view_get_report (self->view);
  if (self->reading != NULL || !lns_row_tree_wanted (tree, report, &want))
    return;
  Reading *reading = g_new0 (Reading, 1);
  reading->view = g_object_ref (self->view);
  reading->want = want;
  reading->lanes = g_new (uint32_t, lns_row_tree_row (tree, want.row)->n_lanes);
  reading->n_lanes = lns_row_tree_wanted_lanes (tree, report, &want, reading->lanes);
  self->reading = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (NULL, self->reading, read_cb, self);
  g_task_set_task_data (task, reading, reading_free);
  g_cancellable_connect (self->reading, G_CALLBACK (cancelled_cb), reading, NULL);
  g_task_run_in_thread (task, read_set);
}

gboolean
lns_row_reader_is_reading (LnsRowReader *self)
{
  return self->reading != NULL;
}

LnsRowReader *
lns_row_reader_new (LnsView *view, LnsRowReadFunc read, gpointer data)
{
  LnsRowReader *self = g_new0 (LnsRowReader, 1);
  self->view = g_object_ref (view);
  self->read = read;
  self->data = data;
  return self;
}

void
lns_row_reader_free (LnsRowReader *self)
{
  if (self == NULL)
    return;
  g_cancellable_cancel (self->reading);
  g_clear_object (&self->reading);
  g_object_unref (self->view);
  g_free (self);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/lns-events-table-private.h"

#include "ui/lns-shortcuts.h"

/* More rows than a clipboard is good for are cut. */
#define COPY_ROWS 1000000u

void
_lns_events_table_zoom_to (LnsEventsTable *self, guint position)
{
  g_autoptr (LnsEventItem) item = g_list_model_get_item (G_LIST_MODEL (self->model), position);
  LnsEventSet *set;
  uint32_t row;

  if (item == NULL || !lns_event_item_get (item, &set, &row))
    return;
  LnsEventId id;
  lns_event_set_id (set, row, &id.lane, &id.ordinal);
  lns_view_select_event (self->view, id);
  /* A tenth of its length beside it, to see what it stands between. */
  int64_t margin_ns = MAX (set->duration_ns[row] / 10, 5);
  lns_view_show_span (self->view, set->start_ns[row] - margin_ns,
                      set->start_ns[row] + set->duration_ns[row] + margin_ns);
}

static void
zoom_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  g_autoptr (GtkBitset) selected =
      gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));

  if (!gtk_bitset_is_empty (selected))
    _lns_events_table_zoom_to (self, gtk_bitset_get_minimum (selected));
}

typedef struct
{
  LnsView *view; /* keeps the report open; given up on the main thread */
  LnsEventSet *set;
  LnsEventOrder *order;
  GArray *positions; /* of uint32_t */
} Copy;

static void
copy_free (gpointer data)
{
  Copy *copy = data;
  lns_event_set_unref (copy->set);
  lns_event_order_unref (copy->order);
  g_array_unref (copy->positions);
  g_free (copy);
}

static void
copy_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Copy *copy = data;
  GBytes *bytes =
      lns_event_cell_copy (copy->set, copy->order, (const uint32_t *)(void *)copy->positions->data,
                           copy->positions->len, cancellable);
  if (bytes != NULL)
    g_task_return_pointer (task, bytes, (GDestroyNotify)g_bytes_unref);
  else
    g_task_return_error_if_cancelled (task);
}

static void
copied_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Copy *copy = g_task_get_task_data (G_TASK (result));
  g_autoptr (LnsView) view = g_steal_pointer (&copy->view);
  g_autoptr (GBytes) bytes = g_task_propagate_pointer (G_TASK (result), NULL);
  if (bytes == NULL)
    return; /* cancelled: the table may be gone */

  /* Bytes, not a string: names need not be UTF-8. */
  LnsEventsTable *self = LNS_EVENTS_TABLE (data);
  GdkContentProvider *providers[] = {
    gdk_content_provider_new_for_bytes ("text/plain;charset=utf-8", bytes),
    gdk_content_provider_new_for_bytes ("text/tab-separated-values", bytes),
  };
  g_autoptr (GdkContentProvider) all =
      gdk_content_provider_new_union (providers, G_N_ELEMENTS (providers));
  gdk_clipboard_set_content (gtk_widget_get_clipboard (GTK_WIDGET (self)), all);
  g_clear_object (&self->copying);
}

static void
copy_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  g_autoptr (GtkBitset) selected =
      gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));
  LnsEventOrder *order = lns_events_model_get_order (self->model);
  GtkBitsetIter iter;
  guint position;

  if (order == NULL || !gtk_bitset_iter_init_first (&iter, selected, &position))
    return;
  if (self->copying != NULL)
    g_cancellable_cancel (self->copying);
  g_clear_object (&self->copying);
  self->copying = g_cancellable_new ();

  Copy *copy = g_new0 (Copy, 1);
  copy->view = g_object_ref (self->view);
  copy->set = lns_event_set_ref (self->set);
  copy->order = lns_event_order_ref (order);
  copy->positions = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  do
    {
      uint32_t whole = lns_events_model_get_first (self->model) + position;
      g_array_append_val (copy->positions, whole);
    }
  while (copy->positions->len < COPY_ROWS && gtk_bitset_iter_next (&iter, &position));

  g_autoptr (GTask) task = g_task_new (NULL, self->copying, copied_cb, self);
  g_task_set_task_data (task, copy, copy_free);
  g_task_run_in_thread (task, copy_thread);
}

static void
filter_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_widget_grab_focus (GTK_WIDGET (LNS_EVENTS_TABLE (widget)->filter));
}

static void
cancel_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);

  _lns_events_table_cancel_jobs (self);
  gtk_widget_set_visible (self->header, FALSE);
  gtk_stack_set_visible_child_name (self->stack, "empty");
}

static void
turn_page (LnsEventsTable *self, int step)
{
  lns_events_model_set_page (self->model, lns_events_model_get_page (self->model) + (unsigned)step);
  _lns_events_table_update (self);
}

static void
previous_page_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  turn_page (LNS_EVENTS_TABLE (widget), -1);
}

static void
next_page_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  turn_page (LNS_EVENTS_TABLE (widget), 1);
}

void
_lns_events_table_install_actions (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "events.copy", NULL, copy_cb);
  gtk_widget_class_install_action (widget_class, "events.zoom", NULL, zoom_cb);
  gtk_widget_class_install_action (widget_class, "events.filter", NULL, filter_cb);
  gtk_widget_class_install_action (widget_class, "events.cancel", NULL, cancel_cb);
  gtk_widget_class_install_action (widget_class, "events.previous-page", NULL, previous_page_cb);
  gtk_widget_class_install_action (widget_class, "events.next-page", NULL, next_page_cb);
  lns_shortcuts_add_to_class (widget_class, "events.");
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-table-private.h"

#include "ui/events/events-copy.h"
#include "ui/model/shortcuts.h"

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
  int64_t margin_ns = MAX (lns_event_set_duration (set, row) / 10, 5);
  lns_view_show_span (self->view, lns_event_set_start (set, row) - margin_ns,
                      lns_event_set_start (set, row) + lns_event_set_duration (set, row) +
                          margin_ns);
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

static void
copy_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsEventsTable *self = LNS_EVENTS_TABLE (widget);
  g_autoptr (GtkBitset) selected =
      gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));
  LnsEventOrder *order = lns_events_model_get_order (self->model);

  if (order == NULL || gtk_bitset_is_empty (selected))
    return;
  g_autoptr (GdkContentProvider) copy = lns_events_copy_new (
      self->view, self->set, order, lns_events_model_get_first (self->model), selected);
  gdk_clipboard_set_content (gtk_widget_get_clipboard (widget), copy);
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

/* Home and End go to the first and the last row of all, whichever page that is on. On the page the
 * list does it by itself. */
static gboolean
key_cb (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType state,
        LnsEventsTable *self)
{
  gboolean home = key == GDK_KEY_Home || key == GDK_KEY_KP_Home;
  gboolean end = key == GDK_KEY_End || key == GDK_KEY_KP_End;
  unsigned page = home ? 0 : lns_events_model_n_pages (self->model) - 1;

  if (!(home || end) || (state & gtk_accelerator_get_default_mod_mask ()) != 0)
    return GDK_EVENT_PROPAGATE;
  /* The last row that the list knows of must be the last one. */
  lns_events_model_tell_all (self->model);
  if (page == lns_events_model_get_page (self->model))
    return GDK_EVENT_PROPAGATE;
  lns_events_model_set_page (self->model, page);
  lns_events_model_tell_all (self->model);
  _lns_events_table_update (self);
  guint position = home ? 0 : lns_events_model_n_rows (self->model) - 1;
  gtk_selection_model_select_item (GTK_SELECTION_MODEL (self->selection), position, TRUE);
  self->refocus = TRUE;
  _lns_events_table_scroll_to (self, position);
  return GDK_EVENT_STOP;
}

void
_lns_events_table_add_keys (LnsEventsTable *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();

  /* Before the list takes them. */
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self->columns), keys);
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

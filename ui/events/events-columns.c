/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-columns.h"

#include <glib/gi18n.h>

#include "ui/events/event-cell.h"
#include "ui/events/events-model.h"
#include "ui/model/column-view.h"
#include "ui/model/display-text.h"

#define MIN_CHARS 20 /* of the column that takes the remaining width */

static const char *const column_key = "lns-event-column";

static LnsEventColumn
column_of (gpointer object)
{
  return GPOINTER_TO_UINT (g_object_get_data (object, column_key));
}

static gboolean
tooltip_cb (GtkWidget *cell, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  const char *text = gtk_inscription_get_text (GTK_INSCRIPTION (cell));
  g_autofree char *cut = text != NULL ? lns_display_cut (text) : NULL;
  gtk_tooltip_set_text (tooltip, cut);
  return cut != NULL && *cut != '\0';
}

/* Inscriptions, not labels: they are several times cheaper to bind. */
static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  const LnsEventColumnInfo *info = lns_event_column_info (column_of (factory));
  GtkWidget *cell = gtk_inscription_new (NULL);

  gtk_inscription_set_text_overflow (GTK_INSCRIPTION (cell),
                                     GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
  if (info->width_px == 0)
    gtk_inscription_set_min_chars (GTK_INSCRIPTION (cell), MIN_CHARS);
  if (info->is_number)
    {
      gtk_inscription_set_xalign (GTK_INSCRIPTION (cell), 1);
      gtk_widget_add_css_class (cell, "numeric");
    }
  gtk_widget_set_has_tooltip (cell, TRUE);
  g_signal_connect (cell, "query-tooltip", G_CALLBACK (tooltip_cb), NULL);
  gtk_list_item_set_child (item, cell);
}

static void
fill_cell (GtkListItem *item, LnsEventColumn column)
{
  LnsEventSet *set;
  uint32_t row;
  g_autofree char *text = NULL;

  if (lns_events_model_get_row (gtk_list_item_get_item (item), &set, &row))
    text = lns_event_cell_text (set, row, column);
  gtk_inscription_set_text (GTK_INSCRIPTION (gtk_list_item_get_child (item)),
                            text != NULL ? text : "…");
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, LnsEventsColumns *self)
{
  g_hash_table_insert (self->cells, item, GUINT_TO_POINTER (column_of (factory)));
  fill_cell (item, column_of (factory));
}

static void
unbind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, LnsEventsColumns *self)
{
  g_hash_table_remove (self->cells, item);
}

void
lns_events_columns_update_cells (LnsEventsColumns *self)
{
  GHashTableIter iter;
  gpointer item, column;

  g_hash_table_iter_init (&iter, self->cells);
  while (g_hash_table_iter_next (&iter, &item, &column))
    fill_cell (item, GPOINTER_TO_UINT (column));
}

/* Reads the column and direction that the user chose. Returns whether they have changed. */
static gboolean
read_sorting (LnsEventsColumns *self)
{
  LnsEventColumn column = self->sorted;
  gboolean descending = self->descending;
  GtkColumnViewColumn *sorted = lns_column_view_get_sorted (self->view, &self->descending);

  self->sorted = sorted != NULL ? column_of (sorted) : LNS_EVENT_COLUMN_NUMBER;
  return self->sorted != column || self->descending != descending;
}

static void
sorter_changed_cb (GtkSorter *sorter, GtkSorterChange change, LnsEventsColumns *self)
{
  if (read_sorting (self))
    self->sorting_changed (self->data);
}

static void
add_column (LnsEventsColumns *self, LnsEventColumn id)
{
  const LnsEventColumnInfo *info = lns_event_column_info (id);
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *column = gtk_column_view_column_new (_ (info->title), factory);

  g_object_set_data (G_OBJECT (factory), column_key, GUINT_TO_POINTER (id));
  g_object_set_data (G_OBJECT (column), column_key, GUINT_TO_POINTER (id));
  g_signal_connect (factory, "setup", G_CALLBACK (setup_cb), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cb), self);
  g_signal_connect (factory, "unbind", G_CALLBACK (unbind_cb), self);
  lns_column_view_make_sortable (column);
  gtk_column_view_column_set_resizable (column, TRUE);
  if (info->width_px > 0)
    gtk_column_view_column_set_fixed_width (column, info->width_px);
  else
    gtk_column_view_column_set_expand (column, TRUE);
  gtk_column_view_append_column (self->view, column);
  self->column_of[id] = column;
}

static void
align_titles (LnsEventsColumns *self)
{
  for (LnsEventColumn id = 0; id < LNS_N_EVENT_COLUMNS; id++)
    if (lns_event_column_info (id)->is_number &&
        gtk_column_view_column_get_column_view (self->column_of[id]) != NULL)
      lns_column_view_align_title (self->column_of[id]);
}

/* Removes unused columns: a hidden column still takes its width from the one that expands (GTK 4.8). */
void
lns_events_columns_show_used (LnsEventsColumns *self, const LnsEventSet *set)
{
  guint position = 0;
  for (LnsEventColumn id = 0; id < LNS_N_EVENT_COLUMNS; id++)
    {
      GtkColumnViewColumn *column = self->column_of[id];
      gboolean is_there = gtk_column_view_column_get_column_view (column) != NULL;
      gboolean is_used = lns_event_column_is_used (set, id);
      if (is_there && !is_used)
        gtk_column_view_remove_column (self->view, column);
      else if (!is_there && is_used)
        gtk_column_view_insert_column (self->view, position, column);
      position += is_used;
    }
  align_titles (self);
}

LnsEventsColumns *
lns_events_columns_new (GtkColumnView *view, void (*sorting_changed) (gpointer data), gpointer data)
{
  LnsEventsColumns *self = g_new0 (LnsEventsColumns, 1);

  self->view = g_object_ref (view);
  self->sorting_changed = sorting_changed;
  self->data = data;
  self->sorted = LNS_EVENT_COLUMN_NUMBER;
  self->cells = g_hash_table_new (NULL, NULL);
  for (LnsEventColumn id = 0; id < LNS_N_EVENT_COLUMNS; id++)
    add_column (self, id);
  align_titles (self);
  g_signal_connect (gtk_column_view_get_sorter (view), "changed", G_CALLBACK (sorter_changed_cb),
                    self);
  return self;
}

/* Others may hold the view, its sorter and its columns for longer. */
void
lns_events_columns_free (LnsEventsColumns *self)
{
  g_signal_handlers_disconnect_by_data (gtk_column_view_get_sorter (self->view), self);
  for (LnsEventColumn id = 0; id < LNS_N_EVENT_COLUMNS; id++)
    {
      g_signal_handlers_disconnect_by_data (
          gtk_column_view_column_get_factory (self->column_of[id]), self);
      g_object_unref (self->column_of[id]);
    }
  g_hash_table_unref (self->cells);
  g_object_unref (self->view);
  g_free (self);
}

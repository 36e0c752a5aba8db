/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-columns.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/events/events-model.h"
#include "ui/model/column-view.h"
#include "ui/model/text-cell.h"
#include "ui/model/text-size.h"

#define MIN_CHARS 30 /* of the column that takes the remaining width */

/* What is kept of the columns; the title of one that is hidden stands behind a sign. */
#define SETTING "events-columns"
#define HIDDEN  "-"

static const char *const column_key = "lns-event-column";

static LnsEventColumn
column_of (gpointer object)
{
  return GPOINTER_TO_UINT (g_object_get_data (object, column_key));
}

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  const LnsEventColumnInfo *info = lns_event_column_info (column_of (factory));

  gtk_list_item_set_child (
      item, lns_text_cell_new (info->is_number, info->width_px == 0 ? MIN_CHARS : 0));
}

static void
fill_cell (GtkListItem *item, LnsEventColumn column)
{
  LnsEventSet *set;
  uint32_t row;
  g_autofree char *text = NULL;

  if (lns_events_model_get_row (gtk_list_item_get_item (item), &set, &row))
    text = lns_event_cell_text (set, row, column);
  lns_text_cell_set (LNS_TEXT_CELL (gtk_list_item_get_child (item)), text != NULL ? text : "…");
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

bool
lns_events_columns_position (LnsEventsColumns *self, GtkWidget *cell, guint *ret_position)
{
  GHashTableIter iter;
  gpointer item;

  g_hash_table_iter_init (&iter, self->cells);
  while (g_hash_table_iter_next (&iter, &item, NULL))
    if (gtk_list_item_get_child (item) == cell)
      {
        *ret_position = gtk_list_item_get_position (item);
        return true;
      }
  return false;
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
    gtk_column_view_column_set_fixed_width (
        column, lns_text_scaled_px (GTK_WIDGET (self->view), info->width_px));
  else
    gtk_column_view_column_set_expand (column, TRUE);
  gtk_column_view_column_set_header_menu (column, G_MENU_MODEL (self->menu));
  gtk_column_view_append_column (self->view, column);
  self->is_used[id] = true;
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

/* --- Which are shown --------------------------------------------------------------------------- */

/* The name stays: without it, nobody knows what a row is. */
static bool
may_hide (LnsEventColumn id)
{
  return id != LNS_EVENT_COLUMN_NAME;
}

static bool
is_shown (const LnsEventsColumns *self, LnsEventColumn id)
{
  return self->is_used[id] && !self->is_hidden[id];
}

/* Removes columns that are not to be seen: a hidden column still takes its width from the one that expands (GTK 4.8). */
static void
arrange (LnsEventsColumns *self)
{
  guint position = 0;

  self->arranges = true;
  for (unsigned i = 0; i < self->order.n; i++)
    {
      GtkColumnViewColumn *column = self->column_of[self->order.of[i]];
      const gboolean is_there = gtk_column_view_column_get_column_view (column) != NULL;
      const gboolean is_wanted = is_shown (self, self->order.of[i]);
      if (is_there && !is_wanted)
        gtk_column_view_remove_column (self->view, column);
      else if (!is_there && is_wanted)
        gtk_column_view_insert_column (self->view, position, column);
      position += is_wanted;
    }
  self->arranges = false;
  align_titles (self);
}

/* Keeps which columns are shown, and in which order, for the next table. */
static void
keep (const LnsEventsColumns *self)
{
  g_autoptr (GStrvBuilder) titles = g_strv_builder_new ();

  for (unsigned i = 0; i < self->order.n; i++)
    {
      const LnsEventColumn id = self->order.of[i];
      g_autofree char *title =
          g_strconcat (self->is_hidden[id] ? HIDDEN : "", lns_event_column_info (id)->title, NULL);
      g_strv_builder_add (titles, title);
    }
  g_auto (GStrv) kept = g_strv_builder_end (titles);
  g_settings_set_strv (self->settings, SETTING, (const char *const *)kept);
}

/* Moves columns as they were kept; those that were not known then stay behind the others. */
static void
restore (LnsEventsColumns *self)
{
  g_auto (GStrv) kept = g_settings_get_strv (self->settings, SETTING);
  unsigned next = 0;

  for (char **title = kept; *title != NULL; title++)
    {
      const gboolean is_hidden = g_str_has_prefix (*title, HIDDEN);
      const char *shown = *title + (is_hidden ? strlen (HIDDEN) : 0);
      for (unsigned i = next; i < self->order.n; i++)
        {
          const LnsEventColumn id = self->order.of[i];
          if (strcmp (lns_event_column_info (id)->title, shown) != 0)
            continue;
          memmove (&self->order.of[next + 1], &self->order.of[next],
                   (i - next) * sizeof *self->order.of);
          self->order.of[next++] = id;
          self->is_hidden[id] = is_hidden && may_hide (id);
          break;
        }
    }
}

/* After the user moved a column: those that are not shown stay behind what they stood behind. */
static void
columns_changed_cb (
    GListModel *columns, guint position, guint removed, guint added, LnsEventsColumns *self)
{
  const guint n = g_list_model_get_n_items (columns);
  unsigned next = 0;

  if (self->arranges)
    return;
  for (unsigned i = 0; i < self->order.n && next < n; i++)
    if (is_shown (self, self->order.of[i]))
      {
        g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, next++);
        self->order.of[i] = column_of (column);
      }
  if (next == n && added > 0)
    keep (self);
}

static void
show_cb (GSimpleAction *action, GVariant *state, LnsEventsColumns *self)
{
  const LnsEventColumn id = column_of (action);

  self->is_hidden[id] = !g_variant_get_boolean (state);
  g_simple_action_set_state (action, state);
  arrange (self);
  keep (self);
}

void
lns_events_columns_move (LnsEventsColumns *self, int by)
{
  GListModel *columns = gtk_column_view_get_columns (self->view);
  const int n = (int)g_list_model_get_n_items (columns);

  for (int i = 0; i < n; i++)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, (guint)i);
      if (column_of (column) != self->sorted || i + by < 0 || i + by >= n)
        continue;
      gtk_column_view_insert_column (self->view, (guint)(i + by), column);
      align_titles (self);
      return;
    }
}

static void
add_actions (LnsEventsColumns *self)
{
  self->actions = g_simple_action_group_new ();
  self->menu = g_menu_new ();
  for (LnsEventColumn id = 0; id < LNS_N_EVENT_COLUMNS; id++)
    {
      g_autofree char *name = g_strdup_printf ("show-%u", id);
      g_autoptr (GSimpleAction) action =
          g_simple_action_new_stateful (name, NULL, g_variant_new_boolean (!self->is_hidden[id]));
      g_object_set_data (G_OBJECT (action), column_key, GUINT_TO_POINTER (id));
      g_signal_connect (action, "change-state", G_CALLBACK (show_cb), self);
      g_action_map_add_action (G_ACTION_MAP (self->actions), G_ACTION (action));
    }
}

static void
fill_menu (LnsEventsColumns *self)
{
  g_menu_remove_all (self->menu);
  for (LnsEventColumn id = 0; id < LNS_N_EVENT_COLUMNS; id++)
    if (self->is_used[id] && may_hide (id))
      {
        g_autofree char *action = g_strdup_printf ("column.show-%u", id);
        g_menu_append (self->menu, _ (lns_event_column_info (id)->title), action);
      }
}

void
lns_events_columns_show_used (LnsEventsColumns *self, const LnsEventSet *set)
{
  for (LnsEventColumn id = 0; id < LNS_N_EVENT_COLUMNS; id++)
    self->is_used[id] = lns_event_column_is_used (set, id);
  fill_menu (self);
  arrange (self);
}

void
lns_events_columns_list (const LnsEventsColumns *self, LnsEventColumnList *ret_columns)
{
  ret_columns->n = 0;
  for (unsigned i = 0; i < self->order.n; i++)
    if (is_shown (self, self->order.of[i]))
      ret_columns->of[ret_columns->n++] = self->order.of[i];
}

GMenuModel *
lns_events_columns_menu (LnsEventsColumns *self)
{
  return G_MENU_MODEL (self->menu);
}

/* --- Life --------------------------------------------------------------------------------------- */

LnsEventsColumns *
lns_events_columns_new (GtkColumnView *view,
                        GSettings *settings,
                        void (*sorting_changed) (gpointer data),
                        gpointer data)
{
  LnsEventsColumns *self = g_new0 (LnsEventsColumns, 1);

  self->view = g_object_ref (view);
  self->sorting_changed = sorting_changed;
  self->data = data;
  self->sorted = LNS_EVENT_COLUMN_NUMBER;
  self->cells = g_hash_table_new (NULL, NULL);
  self->settings = g_object_ref (settings);
  for (LnsEventColumn id = 0; id < LNS_N_EVENT_COLUMNS; id++)
    self->order.of[self->order.n++] = id;
  restore (self);
  add_actions (self);
  for (unsigned i = 0; i < self->order.n; i++)
    add_column (self, self->order.of[i]);
  align_titles (self);
  g_signal_connect (gtk_column_view_get_columns (view), "items-changed",
                    G_CALLBACK (columns_changed_cb), self);
  g_signal_connect (gtk_column_view_get_sorter (view), "changed", G_CALLBACK (sorter_changed_cb),
                    self);
  return self;
}

/* Others may hold the view, its sorter and its columns for longer. */
void
lns_events_columns_free (LnsEventsColumns *self)
{
  g_signal_handlers_disconnect_by_data (gtk_column_view_get_sorter (self->view), self);
  g_signal_handlers_disconnect_by_data (gtk_column_view_get_columns (self->view), self);
  for (LnsEventColumn id = 0; id < LNS_N_EVENT_COLUMNS; id++)
    {
      g_autofree char *name = g_strdup_printf ("show-%u", id);
      g_signal_handlers_disconnect_by_data (
          g_action_map_lookup_action (G_ACTION_MAP (self->actions), name), self);
      g_signal_handlers_disconnect_by_data (
          gtk_column_view_column_get_factory (self->column_of[id]), self);
      g_object_unref (self->column_of[id]);
    }
  g_object_unref (self->settings);
  g_object_unref (self->actions);
  g_object_unref (self->menu);
  g_hash_table_unref (self->cells);
  g_object_unref (self->view);
  g_free (self);
}

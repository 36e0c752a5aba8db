/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/column-view.h"

#include <glib/gi18n.h>

#include "ui/model/text-size.h"

/* --- Scrolling ----------------------------------------------------------------------------- */

/* The list inside VIEW. */
static GtkWidget *
list_of (GtkColumnView *view)
{
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (view));

  while (!GTK_IS_LIST_VIEW (child))
    child = gtk_widget_get_next_sibling (child);
  return child;
}

/* GTK 4.8 has no gtk_column_view_scroll_to (). Its list has an action for it that is not part of the API; without it,
 * assumes that all rows have the same height. */
void
lns_column_view_scroll_to (GtkColumnView *view, guint position)
{
  if (gtk_widget_activate_action (list_of (view), "list.scroll-to-item", "u", position))
    return;

  GtkAdjustment *adjustment = gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (view));
  guint n = g_list_model_get_n_items (G_LIST_MODEL (gtk_column_view_get_model (view)));
  double row_px = gtk_adjustment_get_upper (adjustment) / MAX (n, 1);
  gtk_adjustment_set_value (adjustment,
                            position * row_px - gtk_adjustment_get_page_size (adjustment) / 3);
}

void
lns_column_view_go_to_top (GtkColumnView *view)
{
  GtkWidget *list = list_of (view);

  gtk_widget_activate_action (list, "list.select-item", "(ubb)", 0, FALSE, FALSE);
  gtk_selection_model_unselect_all (gtk_column_view_get_model (view));
  lns_column_view_scroll_to (view, 0);
  GtkWidget *first = gtk_widget_get_first_child (list);
  if (gtk_widget_get_focus_child (list) != NULL)
    gtk_widget_grab_focus (first);
  else
    {
      /* The list remembers where the focus is to come back to. */
      gtk_widget_set_focus_child (list, first);
      gtk_widget_set_focus_child (list, NULL);
    }
}

/* --- Titles -------------------------------------------------------------------------------- */

/* The first label below WIDGET. */
static GtkWidget *
find_label (GtkWidget *widget)
{
  if (GTK_IS_LABEL (widget))
    return widget;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *label = find_label (child);
      if (label != NULL)
        return label;
    }
  return NULL;
}

/* The widget of the title of COLUMN, or NULL. */
static GtkWidget *
title_of (GtkColumnViewColumn *column)
{
  GtkColumnView *view = gtk_column_view_column_get_column_view (column);
  GListModel *columns = gtk_column_view_get_columns (view);
  GtkWidget *title = gtk_widget_get_first_child (GTK_WIDGET (view));
  title = title != NULL ? gtk_widget_get_first_child (title) : NULL;
  for (guint i = 0; title != NULL; i++, title = gtk_widget_get_next_sibling (title))
    {
      g_autoptr (GObject) at = g_list_model_get_item (columns, i);
      if (at == NULL || at == (gpointer)column)
        return at != NULL ? title : NULL;
    }
  return NULL;
}

/* GTK offers no API for it; if its children are not those expected, the title stays at the left. */
void
lns_column_view_align_title (GtkColumnViewColumn *column)
{
  GtkWidget *title = title_of (column);
  GtkWidget *label = title != NULL ? find_label (title) : NULL;
  if (label == NULL)
    return;
  gtk_widget_set_hexpand (label, TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 1);
  /* Puts the arrow to the left of the title. Numbers go from left to right in any language. */
  GtkWidget *box = gtk_widget_get_parent (label);
  gtk_widget_set_direction (label, GTK_TEXT_DIR_LTR);
  gtk_widget_set_direction (box, GTK_TEXT_DIR_LTR);
  if (GTK_IS_BOX (box) && gtk_widget_get_last_child (box) != label)
    gtk_box_reorder_child_after (GTK_BOX (box), label, gtk_widget_get_last_child (box));
}

/* --- Sorting ------------------------------------------------------------------------------- */

/* While a view's sorter is probed: the column whose sorter was asked first, or NULL. */
static gboolean is_probing;
static GtkColumnViewColumn *probed;

/* Does not sort anything. GTK 4.8 does not tell by which column a view is sorted, but the view's sorter asks the
 * sorters of the columns in turn, and the first one that it asks is that of the column. */
static int
probe_cb (gconstpointer a, gconstpointer b, gpointer data)
{
  if (!is_probing || probed != NULL)
    return 0;
  probed = data;
  return -1;
}

void
lns_column_view_make_sortable (GtkColumnViewColumn *column)
{
  g_autoptr (GtkSorter) sorter = GTK_SORTER (gtk_custom_sorter_new (probe_cb, column, NULL));

  gtk_column_view_column_set_sorter (column, sorter);
}

GtkColumnViewColumn *
lns_column_view_get_sorted (GtkColumnView *view, gboolean *ret_is_descending)
{
  GtkSorter *sorter = gtk_column_view_get_sorter (view);

  probed = NULL;
  is_probing = TRUE;
  /* Any two objects will do. They must differ: if they are the same, no sorter is asked. */
  GtkOrdering ordering = gtk_sorter_compare (sorter, sorter, view);
  is_probing = FALSE;
  *ret_is_descending = ordering == GTK_ORDERING_LARGER;
  return probed;
}

void
lns_column_view_sort_next (GtkColumnView *view)
{
  gboolean is_descending;
  const GtkColumnViewColumn *sorted = lns_column_view_get_sorted (view, &is_descending);
  GListModel *columns = gtk_column_view_get_columns (view);
  guint n = g_list_model_get_n_items (columns), next = 0;

  for (guint i = 0; i < n && sorted != NULL; i++)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);
      if (column == sorted)
        next = i + 1;
    }
  g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, next); /* or NULL */
  /* Otherwise the title of the column before would keep its arrow (GTK 4.8). */
  gtk_column_view_sort_by_column (view, NULL, GTK_SORT_ASCENDING);
  if (column != NULL)
    gtk_column_view_sort_by_column (view, column, GTK_SORT_ASCENDING);
}

void
lns_column_view_sort_reverse (GtkColumnView *view)
{
  gboolean is_descending;
  GtkColumnViewColumn *sorted = lns_column_view_get_sorted (view, &is_descending);

  if (sorted != NULL)
    gtk_column_view_sort_by_column (view, sorted,
                                    is_descending ? GTK_SORT_ASCENDING : GTK_SORT_DESCENDING);
}

#define OWNER "lns-owner"

GtkColumnViewColumn *
lns_column_view_add (
    GtkColumnView *view, const LnsColumn *column, GCallback setup, GCallback bind, gpointer owner)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_autoptr (GtkColumnViewColumn) added = gtk_column_view_column_new (_ (column->title), factory);

  g_object_set_data (G_OBJECT (factory), OWNER, owner);
  g_signal_connect (factory, "setup", setup, (gpointer)column);
  g_signal_connect (factory, "bind", bind, (gpointer)column);
  gtk_column_view_column_set_resizable (added, TRUE);
  if (column->width_px > 0)
    gtk_column_view_column_set_fixed_width (
        added, lns_text_scaled_px (GTK_WIDGET (view), column->width_px));
  else
    gtk_column_view_column_set_expand (added, TRUE);
  gtk_column_view_append_column (view, added);
  return added;
}

gpointer
lns_column_owner (GtkSignalListItemFactory *factory)
{
  return g_object_get_data (G_OBJECT (factory), OWNER);
}

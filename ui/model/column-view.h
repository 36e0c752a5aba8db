/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What GTK 4.8 does not offer for column views. Main thread only. */

#pragma once

#include <gtk/gtk.h>

/* Scrolls until the row at POSITION is in view. The list must have been laid out with it. */
void lns_column_view_scroll_to (GtkColumnView *view, guint position);

/* Selects no row and moves the view, the focus and the anchor of the selection to the first row. All widgets are at
 * the top of the list then, so that rows at its end can be removed: GTK 4.8 removes too few rows if the first of them
 * has no widget but a later one has, such as the row with the focus, and the widget of that row stays at the end of
 * the list (gtk_list_item_manager_remove_items () ignores the place within a run of rows without widgets). The list must
 * not be empty. */
void lns_column_view_go_to_top (GtkColumnView *view);

/* A column of a view whose columns are a table. */
typedef struct
{
  int id;            /* the owner's */
  const char *title; /* to be translated */
  int width_px;      /* with text of the usual size; 0: what is left */
} LnsColumn;

/* Appends COLUMN, which must outlive VIEW; the result is VIEW's. SETUP and BIND are handlers of those signals of a
 * GtkSignalListItemFactory, and get COLUMN as data; lns_column_owner () of the factory is OWNER, which is borrowed. */
GtkColumnViewColumn *lns_column_view_add (
    GtkColumnView *view, const LnsColumn *column, GCallback setup, GCallback bind, gpointer owner);
gpointer lns_column_owner (GtkSignalListItemFactory *factory);

/* Aligns the title of COLUMN, which must be in its view, to the right. */
void lns_column_view_align_title (GtkColumnViewColumn *column);

/* Lets the user sort by COLUMN. Nothing is sorted: whoever shows the rows connects to "changed" of the view's sorter and
 * asks lns_column_view_get_sorted (). */
void lns_column_view_make_sortable (GtkColumnViewColumn *column);

/* Sorts VIEW by the column after the one that it is sorted by, as a click on its title would; after the last one by none. */
void lns_column_view_sort_next (GtkColumnView *view);

/* Turns the order of VIEW round; does nothing if it is sorted by no column. */
void lns_column_view_sort_reverse (GtkColumnView *view);

/* The column that the user chose to sort VIEW by, or NULL. */
GtkColumnViewColumn *lns_column_view_get_sorted (GtkColumnView *view, gboolean *ret_is_descending);

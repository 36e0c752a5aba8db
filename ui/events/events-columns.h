/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gtk/gtk.h>

#include "ui/events/event-cell.h"

/* The columns of a GtkColumnView over an LnsEventsModel: their cells show what is at the places of the model, and their
 * titles let the user sort. Callers read the first three fields. */
typedef struct
{
  LnsEventColumn sorted;
  gboolean descending;
  GHashTable *cells; /* owned; for tests: the columns of the GtkListItems that are bound */

  GtkColumnView *view;                                 /* owned */
  GSettings *settings;                                 /* owned */
  GtkColumnViewColumn *column_of[LNS_N_EVENT_COLUMNS]; /* owned */
  GSimpleActionGroup *actions;                         /* owned */
  GMenu *menu;                                         /* owned */
  LnsEventColumnList order; /* of all, as the user arranged those that were shown */
  bool is_used[LNS_N_EVENT_COLUMNS], is_hidden[LNS_N_EVENT_COLUMNS];
  bool arranges; /* the program moves the columns, not the user */
  void (*sorting_changed) (gpointer data);
  gpointer data;
} LnsEventsColumns;

/* Gives VIEW a column for each LnsEventColumn, in the order that SETTINGS ("events-columns") keep. Calls SORTING_CHANGED with DATA when the user sorts by another column or
 * in the other direction. */
LnsEventsColumns *lns_events_columns_new (GtkColumnView *view,
                                          GSettings *settings,
                                          void (*sorting_changed) (gpointer data),
                                          gpointer data) G_GNUC_WARN_UNUSED_RESULT;
void lns_events_columns_free (LnsEventsColumns *self);

/* Shows the columns that SET has values for and that the user has not hidden, and no others. */
void lns_events_columns_show_used (LnsEventsColumns *self, const LnsEventSet *set);

/* Moves the column that the table is sorted by BY places to the right; to the left if BY < 0. Does nothing at the edge. */
void lns_events_columns_move (LnsEventsColumns *self, int by);

/* The columns that are shown, from left to right. */
void lns_events_columns_list (const LnsEventsColumns *self, LnsEventColumnList *ret_columns);

/* Finds which item of the view's model CELL, a widget that shows one, stands for. Returns false if it shows none. O(cells). */
bool lns_events_columns_position (LnsEventsColumns *self, GtkWidget *cell, guint *ret_position);

/* A menu of which columns are shown, of those that have values. Owned by the columns. Its actions are those of `actions`, as
 * the group "column". */
GMenuModel *lns_events_columns_menu (LnsEventsColumns *self);

/* Shows in the cells what is at their places now. */
void lns_events_columns_update_cells (LnsEventsColumns *self);

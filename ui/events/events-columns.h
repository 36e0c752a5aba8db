/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gtk/gtk.h>

#include "ui/events/event-order.h"

#define LNS_TYPE_EVENTS_COLUMNS (lns_events_columns_get_type ())

/* The columns of a GtkColumnView over an LnsEventsModel: their cells show what stands at the places
 * of the model, and their titles let the user sort.
 *
 * Signal: sorting-changed (): the user sorts by another column, or in the other direction. */
G_DECLARE_FINAL_TYPE (LnsEventsColumns, lns_events_columns, LNS, EVENTS_COLUMNS, GObject)

/* Gives VIEW, which outlives the columns, a column for each LnsEventColumn. */
LnsEventsColumns *lns_events_columns_new (GtkColumnView *view) G_GNUC_WARN_UNUSED_RESULT;

/* Shows the columns that SET has values for, and no others. */
void lns_events_columns_show_used (LnsEventsColumns *self, const LnsEventSet *set);

/* Shows in the cells what stands at their places now. */
void lns_events_columns_update_cells (LnsEventsColumns *self);

LnsEventColumn lns_events_columns_get_sorted (LnsEventsColumns *self);
gboolean lns_events_columns_get_descending (LnsEventsColumns *self);

/* For tests: the columns of the GtkListItems that are bound. */
GHashTable *lns_events_columns_get_cells (LnsEventsColumns *self);

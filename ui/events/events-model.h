/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gio/gio.h>

#include "ui/events/event-order.h"

/* GTK 4.8 sums row heights in an int, which ends near 107 million rows of 20 px: a model shows one
 * page of this many rows at most. */
#define LNS_EVENTS_PAGE_ROWS 50000000u

#define LNS_TYPE_EVENT_ITEM (lns_event_item_get_type ())

/* A place in the list. Items are created on demand and freed when they scroll away. */
G_DECLARE_FINAL_TYPE (LnsEventItem, lns_event_item, LNS, EVENT_ITEM, GObject)

/* Gets the event set, which the model owns, and the row that are at the place now. Returns false if there is no row
 * or it is not known yet. */
gboolean lns_event_item_get (LnsEventItem *self, LnsEventSet **ret_set, uint32_t *ret_row);

#define LNS_TYPE_EVENTS_MODEL (lns_events_model_get_type ())

/* A GListModel over the rows of an event set in some order. The items are places: other rows come to
 * stand at them, which the list is not told of, as it would make all widgets anew, but who shows them
 * is, by the signal "rows-changed" (gboolean COMPLETES: what was known stayed). After it, items come
 * or go at the list's end, where that takes GTK long in steps of the main loop. */
G_DECLARE_FINAL_TYPE (LnsEventsModel, lns_events_model, LNS, EVENTS_MODEL, GObject)

LnsEventsModel *lns_events_model_new (void);

/* Shows the first page of ORDER of SET; both may be NULL for nothing. COMPLETES: the model shows the first page of
 * the same query already, and only the rest is new. */
void lns_events_model_set (LnsEventsModel *self,
                           LnsEventSet *set,
                           LnsEventOrder *order,
                           gboolean completes);

/* Owned by the model, or NULL. */
LnsEventOrder *lns_events_model_get_order (LnsEventsModel *self);

/* The number of rows of the page. The list may have been told of fewer or more so far. */
guint lns_events_model_n_rows (LnsEventsModel *self);
gboolean lns_events_model_is_told (LnsEventsModel *self);
/* Tells the list of all rows at once, which takes GTK a while. */
void lns_events_model_tell_all (LnsEventsModel *self);

/* Pages count from 0; there is at least one. */
unsigned lns_events_model_n_pages (LnsEventsModel *self);
unsigned lns_events_model_get_page (LnsEventsModel *self);
unsigned lns_events_model_page_of (LnsEventsModel *self, uint32_t position);
void lns_events_model_set_page (LnsEventsModel *self, unsigned page);

/* For tests: how many rows a page has. */
void lns_events_model_set_page_rows (LnsEventsModel *self, uint32_t page_rows);

/* The position in the whole order of item 0. */
uint32_t lns_events_model_get_first (LnsEventsModel *self);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gio/gio.h>

#include "ui/lns-event-order.h"

G_BEGIN_DECLS

/* GTK 4.8 sums row heights in an int, which ends near 107 million rows of 20 px: a model shows one
 * page of this many rows at most. */
#define LNS_EVENTS_PAGE_ROWS 50000000u

#define LNS_TYPE_EVENT_ITEM (lns_event_item_get_type ())

/* A row that is on the screen: made when asked for, and gone when it scrolls away. */
G_DECLARE_FINAL_TYPE (LnsEventItem, lns_event_item, LNS, EVENT_ITEM, GObject)

/* The event set that the row belongs to (owned by the item) and the row; false where that is not
 * known yet. */
gboolean lns_event_item_get (LnsEventItem *self, LnsEventSet **ret_set, uint32_t *ret_row);

#define LNS_TYPE_EVENTS_MODEL (lns_events_model_get_type ())

/* A GListModel over the rows of an event set in some order. */
G_DECLARE_FINAL_TYPE (LnsEventsModel, lns_events_model, LNS, EVENTS_MODEL, GObject)

LnsEventsModel *lns_events_model_new (void);

/* Shows the first page of ORDER of SET (both may be NULL: nothing). Where the model shows the same
 * set's first page of the same query already (COMPLETES), only what is new changes. */
void lns_events_model_set (LnsEventsModel *self,
                           LnsEventSet *set,
                           LnsEventOrder *order,
                           gboolean completes);

/* Owned by the model, or NULL. */
LnsEventSet *lns_events_model_get_set (LnsEventsModel *self);
LnsEventOrder *lns_events_model_get_order (LnsEventsModel *self);

/* Pages count from 0; there is at least one. */
unsigned lns_events_model_n_pages (LnsEventsModel *self);
unsigned lns_events_model_get_page (LnsEventsModel *self);
void lns_events_model_set_page (LnsEventsModel *self, unsigned page);

/* For tests: how many rows a page has. */
void lns_events_model_set_page_rows (LnsEventsModel *self, uint32_t page_rows);

/* The position in the whole order of item 0. */
uint32_t lns_events_model_get_first (LnsEventsModel *self);

G_END_DECLS

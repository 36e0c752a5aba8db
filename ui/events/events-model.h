/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gio/gio.h>

#include "ui/events/event-order.h"
#include "ui/model/place-list.h"

/* GTK 4.8 sums row heights in an int, which ends near 107 million rows of 20 px: a model shows one
 * page of this many rows at most. */
#define LNS_EVENTS_PAGE_ROWS 50000000u

#define LNS_TYPE_EVENTS_MODEL (lns_events_model_get_type ())

/* A list of the rows of an event set in some order. */
G_DECLARE_FINAL_TYPE (LnsEventsModel, lns_events_model, LNS, EVENTS_MODEL, LnsPlaceList)

/* Gets the event set, which the model owns, and the row that are at PLACE of a model now. Returns false if there is no row
 * or it is not known yet. */
gboolean lns_events_model_get_row (LnsPlace *place, LnsEventSet **ret_set, uint32_t *ret_row);

LnsEventsModel *lns_events_model_new (void);

/* Shows the first page of ORDER of SET; both may be NULL for nothing. COMPLETES: the model shows the first page of
 * the same query already, and only the rest is new. */
void lns_events_model_set (LnsEventsModel *self,
                           LnsEventSet *set,
                           LnsEventOrder *order,
                           gboolean completes);

/* Owned by the model, or NULL. */
LnsEventOrder *lns_events_model_get_order (LnsEventsModel *self);

/* Pages count from 0; there is at least one. */
unsigned lns_events_model_n_pages (LnsEventsModel *self);
unsigned lns_events_model_get_page (LnsEventsModel *self);
unsigned lns_events_model_page_of (LnsEventsModel *self, uint32_t position);
void lns_events_model_set_page (LnsEventsModel *self, unsigned page);

/* For tests: how many rows a page has. */
void lns_events_model_set_page_rows (LnsEventsModel *self, uint32_t page_rows);

/* The position in the whole order of item 0. */
uint32_t lns_events_model_get_first (LnsEventsModel *self);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tells how long events of the table are: together, on average, in the middle and at most, summed up on a worker. Main thread
 * only. */

#pragma once

#include <adwaita.h>

#include "ui/events/event-rows.h"
#include "ui/model/view.h"

#define LNS_TYPE_EVENTS_TOTAL (lns_events_total_get_type ())
G_DECLARE_FINAL_TYPE (LnsEventsTotal, lns_events_total, LNS, EVENTS_TOTAL, AdwBin)

/* VIEW keeps the report open meanwhile. A reference is held. */
void lns_events_total_set_view (LnsEventsTotal *self, LnsView *view);

/* Tells of ROWS, which are taken over, in place of what was told or summed up; NULL: tells nothing. If these are all rows of the order
 * that is told of, nothing is done. */
void lns_events_total_show (LnsEventsTotal *self, LnsEventRows *rows);

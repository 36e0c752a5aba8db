/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The events of the table by name: how many there are of each, and how long they are, summed up on a worker. Main thread only.
 *
 * Signal:
 *
 *   name-chosen (guint label)
 *       the events of that name are wanted: lns_event_set_label () of the set that is shown */

#pragma once

#include <adwaita.h>

#include "ui/events/event-rows.h"
#include "ui/model/view.h"

#define LNS_TYPE_EVENTS_GROUPS (lns_events_groups_get_type ())
G_DECLARE_FINAL_TYPE (LnsEventsGroups, lns_events_groups, LNS, EVENTS_GROUPS, AdwBin)

/* VIEW keeps the report open meanwhile. A reference is held. To be called once, before anything is shown. */
void lns_events_groups_set_view (LnsEventsGroups *self, LnsView *view);

/* Sums up ROWS, which are taken over, and shows them in place of what was shown; NULL: shows nothing. Rows of the order that is shown
 * already are not summed up again. */
void lns_events_groups_show (LnsEventsGroups *self, LnsEventRows *rows);

/* Puts what is shown into the clipboard: lns_result_view_copy (). */
void lns_events_groups_copy (LnsEventsGroups *self);

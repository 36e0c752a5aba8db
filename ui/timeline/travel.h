/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Ways from what is selected to what comes next or before: DIRECTION is 1 or -1. Main thread. */

#pragma once

#include <gio/gio.h>

#include "ui/model/answer.h"

/* Selects and reveals the next event of the selected one's lane, with SAME_NAME the next that is called as it is. It is looked for on a
 * worker; *RUNNING is the search under way, for OWNER to cancel. Nothing happens where there is none. */
void lns_travel_event (
    LnsView *view, int direction, gboolean same_name, GCancellable **running, gpointer owner);

/* Selects and reveals the longest event that is called as the selected one, in whatever lane of its kind; from one of the longest five
 * (alike-events.h), the next shorter one of them, or with DIRECTION -1 the next longer one. Else as before. */
void lns_travel_longest (LnsView *view, int direction, GCancellable **running, gpointer owner);

/* Selects and shows the next long stretch in which the first GPU, or the thread that is judged, was idle: at least a tenth of the longest.
 * From the selected time on, or from the middle of the view. */
void lns_travel_idle (LnsAnswer *answer, LnsView *view, int direction);

/* The same for steps, … */
void lns_travel_step (LnsAnswer *answer, LnsView *view, int direction);

/* … and for the places of all findings. */
void lns_travel_finding (LnsAnswer *answer, LnsView *view, int direction);

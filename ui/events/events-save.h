/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Saves rows of the events table as a file, on a worker. The widget tells how far that is, lets the user cancel it, and tells
 * what became of it; it is hidden until there is something to tell. Main thread only. */

#pragma once

#include <adwaita.h>

#include "ui/events/event-cell.h"
#include "ui/events/event-rows.h"
#include "ui/model/view.h"

#define LNS_TYPE_EVENTS_SAVE (lns_events_save_get_type ())
G_DECLARE_FINAL_TYPE (LnsEventsSave, lns_events_save, LNS, EVENTS_SAVE, AdwBin)

/* VIEW keeps the report open meanwhile. A reference is held. */
void lns_events_save_set_view (LnsEventsSave *self, LnsView *view);

/* Asks for a file, and saves the COLUMNS of ROWS, which are taken over, in it. */
void
lns_events_save_ask (LnsEventsSave *self, LnsEventRows *rows, const LnsEventColumnList *columns);

/* Saves the COLUMNS of ROWS, which are taken over, in FILE: separated by tabs if its name ends in ".tsv", else by commas. Cancels
 * what is being saved. If it fails or is cancelled, FILE stays as it was. */
void lns_events_save_start (LnsEventsSave *self,
                            GFile *file,
                            LnsEventRows *rows,
                            const LnsEventColumnList *columns);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gtk/gtk.h>

#include "ui/events/event-cell.h"
#include "ui/events/event-rows.h"
#include "ui/model/view.h"

#define LNS_TYPE_EVENTS_COPY (lns_events_copy_get_type ())

/* Rows of the events table for the clipboard, as tab-separated text. A worker writes the text when it is pasted, one
 * piece at a time, so that ten million rows take little memory. */
G_DECLARE_FINAL_TYPE (LnsEventsCopy, lns_events_copy, LNS, EVENTS_COPY, GdkContentProvider)

/* Copies the COLUMNS of ROWS, which are taken over. VIEW, of which a reference is held, keeps their report open. */
GdkContentProvider *lns_events_copy_new (
    LnsView *view, LnsEventRows *rows, const LnsEventColumnList *columns) G_GNUC_WARN_UNUSED_RESULT;

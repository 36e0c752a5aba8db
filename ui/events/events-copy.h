/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gtk/gtk.h>

#include "ui/events/event-order.h"
#include "ui/model/view.h"

#define LNS_TYPE_EVENTS_COPY (lns_events_copy_get_type ())

/* Rows of the events table for the clipboard, as tab-separated text. A worker writes the text when it is pasted, one
 * piece at a time, so that ten million rows take little memory. */
G_DECLARE_FINAL_TYPE (LnsEventsCopy, lns_events_copy, LNS, EVENTS_COPY, GdkContentProvider)

/* Copies the known rows of ORDER of SET at FIRST plus each of POSITIONS, which are copied. Holds references on the
 * others; VIEW keeps the set's report open. */
GdkContentProvider *lns_events_copy_new (LnsView *view,
                                         LnsEventSet *set,
                                         LnsEventOrder *order,
                                         uint32_t first,
                                         GtkBitset *positions) G_GNUC_WARN_UNUSED_RESULT;

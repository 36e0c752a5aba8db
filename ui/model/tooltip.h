/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tooltips of widgets that are filled again and again: rows and cells. Main thread only. */

#pragma once

#include <gtk/gtk.h>

/* Gives WIDGET the tooltip TEXT (copied), or none if it is NULL. gtk_widget_set_tooltip_text () also asks the display server what
 * is under the pointer, and waits for the answer: a table of 200 rows stood still for half a second for that. A tooltip that is
 * open keeps its text until the pointer moves. */
void lns_tooltip_set (GtkWidget *widget, const char *text);

/* What lns_tooltip_set () gave WIDGET last, or NULL. */
const char *lns_tooltip_get (GtkWidget *widget);

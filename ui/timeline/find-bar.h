/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_FIND_BAR (lns_find_bar_get_type ())

/* Finds events by name in all rows, as text or as a regular expression, and counts the matches while the user types.
 * Selects the next or the previous match in time and reveals it in the timeline. Hidden until lns_find_bar_open (). */
G_DECLARE_FINAL_TYPE (LnsFindBar, lns_find_bar, LNS, FIND_BAR, AdwBin)

/* Holds a reference on VIEW. */
GtkWidget *lns_find_bar_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

/* Shows the bar and gives its entry the focus. */
void lns_find_bar_open (LnsFindBar *self);

/* Shows the bar, looks for TEXT (UTF-8), and goes to the first match. */
void lns_find_bar_search (LnsFindBar *self, const char *text);

/* Goes to the match after the selected event or, if not FORWARD, before it, as soon as the matches are known. Opens
 * the bar if its entry is empty. */
void lns_find_bar_step (LnsFindBar *self, gboolean forward);

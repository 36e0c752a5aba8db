/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_FIND_BAR (lns_find_bar_get_type ())

/* Finds events of all rows by name: as text or regular expression, counted while one types; the next or previous
 * match in time is selected and revealed in the timeline. Folded until opened. */
G_DECLARE_FINAL_TYPE (LnsFindBar, lns_find_bar, LNS, FIND_BAR, AdwBin)

/* Holds a reference on VIEW. */
GtkWidget *lns_find_bar_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

/* Unfolds the bar, with the keyboard in its entry. */
void lns_find_bar_open (LnsFindBar *self);

/* Goes to the match after (before) the selected event, as soon as matches are known. Opens the bar where it has
 * nothing to look for. */
void lns_find_bar_step (LnsFindBar *self, gboolean forward);

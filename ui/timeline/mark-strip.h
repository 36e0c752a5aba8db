/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shows the bookmarks below the ruler, each at its time: a flag, and its name where there is room. Without bookmarks it has no height. A
 * click goes to one, and a click on one that was gone to asks for what to do with it: it activates "win.edit-bookmark" with its number. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/bookmarks.h"

#define LNS_TYPE_MARK_STRIP (lns_mark_strip_get_type ())
G_DECLARE_FINAL_TYPE (LnsMarkStrip, lns_mark_strip, LNS, MARK_STRIP, GtkWidget)

/* Holds references on VIEW and its bookmarks. */
void lns_mark_strip_set_view (LnsMarkStrip *self, LnsView *view);

/* The bookmark that is drawn at X_PX, or -1. */
int lns_mark_strip_at (LnsMarkStrip *self, double x_px);

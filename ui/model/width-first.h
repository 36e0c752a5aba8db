/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A layout that gives each child all of the widget, and says how wide it is without regard to a height. For what is around text that
 * wraps: asked for a width at some height, as boxes and panes do of what stands beside other things, a GtkLabel lays its text out again and
 * again until it has found the least width, which takes longer than several frames; and the answer serves nobody, as the text gets the
 * width that there is. */

#pragma once

#include <gtk/gtk.h>

#define LNS_TYPE_WIDTH_FIRST (lns_width_first_get_type ())
G_DECLARE_FINAL_TYPE (LnsWidthFirst, lns_width_first, LNS, WIDTH_FIRST, GtkLayoutManager)

GtkLayoutManager *lns_width_first_new (void) G_GNUC_WARN_UNUSED_RESULT;

/* LABEL, which wraps, in a widget of this layout, which takes it over and expands as it does. */
GtkWidget *lns_width_first_wrap (GtkWidget *label) G_GNUC_WARN_UNUSED_RESULT;

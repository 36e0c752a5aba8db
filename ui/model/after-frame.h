/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What one input changes is too much for one frame where a table, a timeline and what is told of an event all follow it: each lays out and
 * draws some hundred widgets. What the person looks at changes in the next frame, and what follows it in the one after. */

#pragma once

#include <gtk/gtk.h>

/* Zero before first use; a member of the widget that waits. */
typedef struct
{
  guint tick; /* 0: nothing waits */
  guint n_frames;
  void (*change) (GtkWidget *widget);
} LnsAfterFrame;

/* Has CHANGE called with WIDGET, which SELF is a member of, in the frame after the next one: once, however many times that is asked for until then. At
 * once if WIDGET is not mapped, as there are no frames then. */
void lns_after_frame (LnsAfterFrame *self, GtkWidget *widget, void (*change) (GtkWidget *widget));

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/after-frame.h"

static gboolean
tick_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  LnsAfterFrame *self = data;

  if (self->n_frames++ == 0)
    return G_SOURCE_CONTINUE;
  self->tick = 0;
  self->change (widget);
  return G_SOURCE_REMOVE;
}

void
lns_after_frame (LnsAfterFrame *self, GtkWidget *widget, void (*change) (GtkWidget *widget))
{
  if (!gtk_widget_get_mapped (widget))
    {
      change (widget);
      return;
    }
  if (self->tick != 0)
    return;
  self->n_frames = 0;
  self->change = change;
  /* GTK removes it with the widget, which has SELF. */
  self->tick = gtk_widget_add_tick_callback (widget, tick_cb, self, NULL);
}

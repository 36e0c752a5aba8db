/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/glide.h"

#include <math.h>

/* The velocity falls to 1/e in 1 / FRICTION seconds, so that it goes on for 1 / FRICTION times the velocity. */
#define FRICTION 4.0
#define REST_PX  0.5 /* what is less than that away is there */

void
lns_glide_stop (LnsGlide *self)
{
  if (self->tick != 0)
    gtk_widget_remove_tick_callback (self->widget, self->tick);
  self->tick = 0;
}

static gboolean
tick_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  LnsGlide *self = data;
  const gint64 now_usec = gdk_frame_clock_get_frame_time (clock);

  if (self->begun_usec == 0)
    self->begun_usec = now_usec;
  const double passed_s = (double)(now_usec - self->begun_usec) / G_USEC_PER_SEC;
  const double share = 1 - exp (-FRICTION * passed_s);
  const double dx = share * self->end_x_px - self->x_px, dy = share * self->end_y_px - self->y_px;
  self->x_px += dx;
  self->y_px += dy;
  self->move (dx, dy, self->data);
  if (fabs (self->end_x_px - self->x_px) > REST_PX || fabs (self->end_y_px - self->y_px) > REST_PX)
    return G_SOURCE_CONTINUE;
  self->tick = 0;
  return G_SOURCE_REMOVE;
}

void
lns_glide_start (LnsGlide *self,
                 GtkWidget *widget,
                 double x_px_per_s,
                 double y_px_per_s,
                 LnsGlideFunc move,
                 gpointer data)
{
  lns_glide_stop (self);
  *self = (LnsGlide){ .widget = widget,
                      .move = move,
                      .data = data,
                      .end_x_px = x_px_per_s / FRICTION,
                      .end_y_px = y_px_per_s / FRICTION };
  self->tick = gtk_widget_add_tick_callback (widget, tick_cb, self, NULL);
}

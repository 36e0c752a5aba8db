/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Lets a movement by touchpad run out after the fingers left it. Main thread. */

#pragma once

#include <gtk/gtk.h>

/* Moves by (DX, DY) pixels. */
typedef void (*LnsGlideFunc) (double dx, double dy, gpointer data);

typedef struct
{
  GtkWidget *widget; /* whose frames it follows */
  LnsGlideFunc move;
  gpointer data;
  guint tick;        /* 0: it does not glide    */
  gint64 begun_usec; /* 0 until the first frame */
  double x_px, y_px; /* from the begin to where it has come */
  double end_x_px, end_y_px;
} LnsGlide;

/* Glides from a velocity in pixels a second until that has run out. WIDGET must outlive SELF; whoever owns SELF stops it before it goes. */
void lns_glide_start (LnsGlide *self,
                      GtkWidget *widget,
                      double x_px_per_s,
                      double y_px_per_s,
                      LnsGlideFunc move,
                      gpointer data);

/* Stops at once. Does nothing if it does not glide. */
void lns_glide_stop (LnsGlide *self);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Charts over time: how busy a process or thread is, and counters. */

#include <math.h>

#include "ui/tiles/tile-painter-private.h"

#define MARGIN_PX 2 /* above and below a chart */

/* The upper edge of column P at HEIGHT, joined to that of the column before it at LAST. */
static void
paint_edge (LnsTilePainter *self, int p, int bottom, int height, int last)
{
  int scale = self->tile->key.scale, low = height - scale;
  if (p > 0 && last < low)
    low = last;
  lns_raster_fill (&self->raster, p, p + 1, bottom - height, bottom - low,
                   self->palette->chart_line);
  if (p > 0 && last > height)
    lns_raster_fill (&self->raster, p - 1, p, bottom - last, bottom - height,
                     self->palette->chart_line);
}

void
_lns_tile_paint_chart (LnsTilePainter *self, const float *shares)
{
  int scale = self->tile->key.scale;
  int bottom = self->raster.height_px - MARGIN_PX * scale;
  int room = bottom - MARGIN_PX * scale, last = 0;
  for (int p = 0; p < self->n_px; p++)
    {
      int height = shares[p] > 0 ? MAX ((int)lroundf (shares[p] * (float)room), scale) : 0;
      lns_raster_fill (&self->raster, p, p + 1, bottom - height, bottom, self->palette->chart);
      if (height > 0 || last > 0)
        paint_edge (self, p, bottom, height, last);
      last = height;
    }
  _lns_tile_paint_losses (self);
}

void
_lns_tile_paint_counter (LnsTilePainter *self, double low, double high)
{
  int scale = self->tile->key.scale;
  int bottom = self->raster.height_px - MARGIN_PX * scale;
  int room = bottom - MARGIN_PX * scale - scale;
  low = fmin (low, 0);
  high = fmax (high, 0);
  if (!(high > low)) /* also where there is no sample */
    high = low + 1;
#define HEIGHT(value) ((int)lround (((value)-low) / (high - low) * room))
  int zero = HEIGHT (0), last = -1;
  for (int p = 0; p < self->n_px; p++)
    {
      const LnsCounterPixel *sample = &self->tile->samples[p];
      if (!isfinite (sample->last) || !isfinite (sample->min) || !isfinite (sample->max))
        continue;
      int height = HEIGHT (sample->last);
      lns_raster_fill (&self->raster, p, p + 1, bottom - MAX (height, zero),
                       bottom - MIN (height, zero), self->palette->chart);
      lns_raster_fill (&self->raster, p, p + 1, bottom - HEIGHT (sample->max) - scale,
                       bottom - HEIGHT (sample->min), self->palette->chart_line);
      paint_edge (self, p, bottom, height + scale, last < 0 ? height + scale : last);
      last = height + scale;
    }
#undef HEIGHT
}

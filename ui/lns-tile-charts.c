/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Charts over time: how busy a process or thread is, and counters. */

#include <math.h>

#include "ui/lns-tile-painter-private.h"

#define MARGIN_PX 2 /* above and below a chart */

void
_lns_tile_paint_chart (LnsTilePainter *self, const float *shares)
{
  int scale = self->tile->key.scale;
  int bottom = self->raster.height_px - MARGIN_PX * scale;
  int room = bottom - MARGIN_PX * scale;
  for (int p = 0; p < self->n_px; p++)
    {
      if (shares[p] <= 0)
        continue;
      int height = MAX ((int)lroundf (shares[p] * (float)room), scale);
      lns_raster_fill (&self->raster, p, p + 1, bottom - height, bottom, self->palette->chart);
      lns_raster_fill (&self->raster, p, p + 1, bottom - height, bottom - height + scale,
                       self->palette->chart_line);
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
  int zero = HEIGHT (0);
  for (int p = 0; p < self->n_px; p++)
    {
      const LnsCounterPixel *sample = &self->tile->samples[p];
      if (!isfinite (sample->last) || !isfinite (sample->min) || !isfinite (sample->max))
        continue;
      int last = HEIGHT (sample->last);
      lns_raster_fill (&self->raster, p, p + 1, bottom - MAX (last, zero),
                       bottom - MIN (last, zero), self->palette->chart);
      lns_raster_fill (&self->raster, p, p + 1, bottom - HEIGHT (sample->max) - scale,
                       bottom - HEIGHT (sample->min), self->palette->chart_line);
    }
#undef HEIGHT
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/chart-painter.h"

#include <math.h>

#define MARGIN_PX 2 /* above and below a chart */

typedef struct
{
  const LnsRaster *raster;
  const LnsPalette *palette;
  int scale;
} Chart;

/* The upper edge of column P at HEIGHT, joined to that of the column before it at LAST. */
static void
paint_edge (const Chart *self, int p, int bottom, int height, int last)
{
  int low = height - self->scale;
  if (p > 0 && last < low)
    low = last;
  lns_raster_fill (self->raster, p, p + 1, bottom - height, bottom - low,
                   self->palette->chart_line);
  if (p > 0 && last > height)
    lns_raster_fill (self->raster, p - 1, p, bottom - last, bottom - height,
                     self->palette->chart_line);
}

void
lns_chart_paint_shares (const LnsRaster *raster,
                        const LnsPalette *palette,
                        int scale,
                        const float *shares)
{
  const Chart chart = { raster, palette, scale };
  int bottom = raster->height_px - MARGIN_PX * scale;
  int room = bottom - MARGIN_PX * scale, last = 0;
  for (int p = 0; p < raster->width_px; p++)
    {
      const float share = fminf (shares[p], 1); /* a process may have several CPUs */
      int height = share > 0 ? MAX ((int)lroundf (share * (float)room), scale) : 0;
      lns_raster_fill (raster, p, p + 1, bottom - height, bottom, palette->chart);
      if (height > 0 || last > 0)
        paint_edge (&chart, p, bottom, height, last);
      last = height;
    }
}

void
lns_chart_paint_counter (const LnsRaster *raster,
                         const LnsPalette *palette,
                         int scale,
                         const LnsCounterPixel *samples,
                         double low,
                         double high)
{
  const Chart chart = { raster, palette, scale };
  int bottom = raster->height_px - MARGIN_PX * scale;
  int room = bottom - MARGIN_PX * scale - scale;
  low = fmin (low, 0);
  high = fmax (high, 0);
  if (!(high > low)) /* also where there is no sample */
    high = low + 1;
#define HEIGHT(value) ((int)lround (((value)-low) / (high - low) * room))
  int zero = HEIGHT (0), last = -1;
  for (int p = 0; p < raster->width_px; p++)
    {
      const LnsCounterPixel *sample = &samples[p];
      if (!isfinite (sample->last) || !isfinite (sample->min) || !isfinite (sample->max))
        continue;
      int height = HEIGHT (sample->last);
      lns_raster_fill (raster, p, p + 1, bottom - MAX (height, zero), bottom - MIN (height, zero),
                       palette->chart);
      lns_raster_fill (raster, p, p + 1, bottom - HEIGHT (sample->max) - scale,
                       bottom - HEIGHT (sample->min), palette->chart_line);
      paint_edge (&chart, p, bottom, height + scale, last < 0 ? height + scale : last);
      last = height + scale;
    }
#undef HEIGHT
}

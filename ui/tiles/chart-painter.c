/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/chart-painter.h"

#include <glib.h>
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

#define QUIET_SHADE 0.25

void
lns_chart_paint_quiet_shares (const LnsRaster *raster,
                              const LnsPalette *palette,
                              uint32_t background,
                              int scale,
                              const float *shares)
{
  const uint32_t rgb = lns_palette_mix (background, palette->chart, QUIET_SHADE);
  const int bottom = raster->height_px - MARGIN_PX * scale, room = bottom - MARGIN_PX * scale;
  for (int p = 0; p < raster->width_px; p++)
    lns_raster_fill (raster, p, p + 1, bottom - (int)lroundf (fminf (shares[p], 1) * (float)room),
                     bottom, rgb);
}

void
lns_chart_paint_counter (const LnsRaster *raster,
                         const LnsPalette *palette,
                         uint32_t background,
                         int scale,
                         const LnsCounterPixel *samples,
                         double low,
                         double high)
{
  const Chart chart = { raster, palette, scale };
  const uint32_t rgb = lns_palette_mix (background, palette->chart, QUIET_SHADE);
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
                       rgb);
      lns_raster_fill (raster, p, p + 1, bottom - HEIGHT (sample->max) - scale,
                       bottom - HEIGHT (sample->min), palette->chart_line);
      paint_edge (&chart, p, bottom, height + scale, last < 0 ? height + scale : last);
      last = height + scale;
    }
#undef HEIGHT
}

/* --- Ticks --------------------------------------------------------------------------------- */

/* Ticks that are further apart than this, on average, stand for themselves. */
#define APART_PX 4

/* A tick this narrow is seen. */
#define TICK_PX 1

/* The density of ticks that is drawn at full height, in ticks per pixel of the device: a thousand a second, which is usual, or the
 * greatest of the N here where that is less. */
static double
full_density (const double *density, int n, double ns_per_px)
{
  const double usual = ns_per_px / 1e6;
  double most = 0;
  for (int p = 0; p < n; p++)
    most = MAX (most, density[p]);
  return most < usual / 2 ? most : usual;
}

void
lns_chart_paint_ticks (const LnsRaster *raster,
                       const LnsPalette *palette,
                       int scale,
                       int height,
                       const LnsPixel *pixels,
                       double ns_per_px)
{
  const int around = APART_PX * scale, n_px = raster->width_px;
  g_autofree double *density = g_new0 (double, n_px);
  double sum = 0;

  for (int p = -around; p < n_px; p++)
    {
      sum += p + around < n_px ? pixels[p + around].count : 0;
      sum -= p - around - 1 >= 0 ? pixels[p - around - 1].count : 0;
      if (p >= 0)
        density[p] = sum / (MIN (p + around, n_px - 1) - MAX (p - around, 0) + 1);
    }
  const double full = full_density (density, n_px, ns_per_px);
  for (int p = 0; p < n_px; p++)
    {
      const bool is_dense = density[p] * APART_PX >= 1;
      if (!is_dense && pixels[p].count == 0)
        continue;
      const double share = is_dense && full > 0 ? MIN (1, density[p] / full) : 1;
      const int bar = MAX (scale, (int)lround (share * (height - 2 * scale)));
      lns_raster_fill (raster, p, p + (is_dense ? 1 : TICK_PX * scale), height - bar, height,
                       palette->sample);
    }
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/tile-raster.h"

#include "ui/model/palette.h"

/* Everything below clips with this first. */
static void
clip (const LnsRaster *raster, int *x0, int *x1, int *y0, int *y1)
{
  *x0 = CLAMP (*x0, 0, raster->width_px);
  *x1 = CLAMP (*x1, 0, raster->width_px);
  *y0 = CLAMP (*y0, 0, raster->height_px);
  *y1 = CLAMP (*y1, 0, raster->height_px);
}

void
lns_raster_fill (const LnsRaster *raster, int x0, int x1, int y0, int y1, uint32_t rgb)
{
  clip (raster, &x0, &x1, &y0, &y1);
  for (int y = y0; y < y1; y++)
    {
      uint32_t *line = raster->pixels + (int64_t)y * raster->stride;
      for (int x = x0; x < x1; x++)
        line[x] = rgb;
    }
}

void
lns_raster_blend (const LnsRaster *raster,
                  int x0,
                  int x1,
                  int y0,
                  int y1,
                  uint32_t rgb,
                  double share_from,
                  double share_to)
{
  int left = x0, span = x1 - x0;
  clip (raster, &x0, &x1, &y0, &y1);
  for (int x = x0; x < x1; x++)
    {
      double share = share_from + (share_to - share_from) * (x - left + 0.5) / span;
      for (int y = y0; y < y1; y++)
        {
          uint32_t *pixel = raster->pixels + (int64_t)y * raster->stride + x;
          *pixel = lns_palette_mix (*pixel, rgb, share);
        }
    }
}

void
lns_raster_hatch (const LnsRaster *raster,
                  int x0,
                  int x1,
                  int y0,
                  int y1,
                  uint32_t rgb,
                  int unit_px,
                  int64_t offset_px)
{
  clip (raster, &x0, &x1, &y0, &y1);
  int period = 6 * unit_px;
  int phase = (int)(((offset_px % period) + period) % period);
  for (int y = y0; y < y1; y++)
    {
      uint32_t *line = raster->pixels + (int64_t)y * raster->stride;
      for (int x = x0; x < x1; x++)
        if ((x + phase + y) % period < 2 * unit_px)
          line[x] = rgb;
    }
}

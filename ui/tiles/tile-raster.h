/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Draws clipped rectangles into memory of 32-bit pixels, without anti-aliasing. Any thread. */

#pragma once

#include <stdint.h>

typedef struct
{
  uint32_t *pixels; /* 0x00RRGGBB */
  int stride;       /* pixels a line */
  int width_px, height_px;
} LnsRaster;

/* Fills a rectangle. Coordinates are pixels of the raster; x1 and y1 are exclusive. Rectangles may be empty or
 * outside. */
void lns_raster_fill (const LnsRaster *raster, int x0, int x1, int y0, int y1, uint32_t rgb);

/* Blends RGB over the pixels, with a share that goes from SHARE_FROM at x0 to SHARE_TO at x1. */
void lns_raster_blend (const LnsRaster *raster,
                       int x0,
                       int x1,
                       int y0,
                       int y1,
                       uint32_t rgb,
                       double share_from,
                       double share_to);

/* Draws diagonal stripes of RGB, 2 × UNIT_PX wide, every 6 × UNIT_PX. OFFSET_PX is the place of x = 0 in the strip,
 * so that the stripes of neighbouring tiles meet. */
void lns_raster_hatch (const LnsRaster *raster,
                       int x0,
                       int x1,
                       int y0,
                       int y1,
                       uint32_t rgb,
                       int unit_px,
                       int64_t offset_px);

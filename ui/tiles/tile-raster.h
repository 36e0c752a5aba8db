/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rectangles into 32-bit pixels, clipped. Plain memory: no anti-aliasing, any thread. */

#pragma once

#include <stdint.h>

typedef struct
{
  uint32_t *pixels; /* 0x00RRGGBB */
  int stride;       /* pixels a line */
  int width_px, height_px;
} LnsRaster;

/* Coordinates are pixels of the raster; x1 and y1 are exclusive; empty and outside is fine. */
void lns_raster_fill (const LnsRaster *raster, int x0, int x1, int y0, int y1, uint32_t rgb);

/* Blends RGB at SHARE_FROM at x0 going to SHARE_TO at x1 over what is there. */
void lns_raster_blend (const LnsRaster *raster,
                       int x0,
                       int x1,
                       int y0,
                       int y1,
                       uint32_t rgb,
                       double share_from,
                       double share_to);

/* Diagonal stripes of RGB, 2 × UNIT_PX wide every 6 × UNIT_PX. OFFSET_PX is where x = 0 lies, so that stripes meet
 * between tiles. */
void lns_raster_hatch (const LnsRaster *raster,
                       int x0,
                       int x1,
                       int y0,
                       int y1,
                       uint32_t rgb,
                       int unit_px,
                       int64_t offset_px);

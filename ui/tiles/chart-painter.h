/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Paints charts: how busy something is, counters, and how many samples there are. Any thread. */

#pragma once

#include "src/store/read/pixels.h"
#include "ui/model/palette.h"
#include "ui/tiles/tile-raster.h"

/* Paints SHARES, one for each pixel of RASTER's width, of which 1 and more are as high as RASTER allows. SCALE: device pixels a
 * pixel. */
void lns_chart_paint_shares (const LnsRaster *raster,
                             const LnsPalette *palette,
                             int scale,
                             const float *shares);

/* The same where rows below show it in full: paler on BACKGROUND (0xRRGGBB), and without an edge. */
void lns_chart_paint_quiet_shares (const LnsRaster *raster,
                                   const LnsPalette *palette,
                                   uint32_t background,
                                   int scale,
                                   const float *shares);

/* The same for SAMPLES of a counter whose values lie from LOW to HIGH; 0 is always there. */
void lns_chart_paint_counter (const LnsRaster *raster,
                              const LnsPalette *palette,
                              uint32_t background,
                              int scale,
                              const LnsCounterPixel *samples,
                              double low,
                              double high);

/* The same for PIXELS of marks that are all alike, in HEIGHT device pixels from the top: those that are far apart stand for
 * themselves; of closer ones the height tells how many there are. */
void lns_chart_paint_ticks (const LnsRaster *raster,
                            const LnsPalette *palette,
                            int scale,
                            int height,
                            const LnsPixel *pixels,
                            double ns_per_px);

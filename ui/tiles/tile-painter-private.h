/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* State shared by tile-painter.c (queries), tile-bars.c (lanes) and tile-charts.c (summaries and counters). */

#pragma once

#include "ui/model/palette.h"
#include "ui/tiles/tile-labels.h"
#include "ui/tiles/tile-painter.h"
#include "ui/tiles/tile-raster.h"

#define LNS_KEPT_HUES 4096

typedef struct
{
  uint32_t name, row;
  uint64_t hash;
} LnsKeptHue;

struct LnsTilePainter
{
  LnsReport *report;
  const LnsRowTree *tree;
  LnsTileLabels *labels; /* owned */

  LnsPixelResult result; /* reused from query to query */
  LnsKeptHue hues[LNS_KEPT_HUES];

  /* Of the tile under way. */
  LnsTile *tile;
  LnsRaster raster;
  const LnsPalette *palette;
  uint32_t background;
  int n_px; /* device pixels, LNS_TILE_PX × scale */
  int64_t origin_ns;
  double ns_per_px; /* of device pixels */
  LnsPixelQuery query;
};

/* All of these paint the tile under way from its data. */
void _lns_tile_paint_ranges (LnsTilePainter *self);
void _lns_tile_paint_marks (LnsTilePainter *self);
void _lns_tile_paint_losses (LnsTilePainter *self);
void _lns_tile_paint_chart (LnsTilePainter *self, const float *shares);
/* LOW and HIGH: the least and largest sample of the whole counter. */
void _lns_tile_paint_counter (LnsTilePainter *self, double low, double high);

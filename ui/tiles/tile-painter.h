/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Paints tiles. Not thread-safe: each worker has its own. */

#pragma once

#include "ui/tiles/tile.h"

typedef struct LnsTilePainter LnsTilePainter;

/* REPORT and TREE must outlive the painter. */
LnsTilePainter *
lns_tile_painter_new (LnsReport *report, const LnsRowTree *tree, const PangoFontDescription *font);
void lns_tile_painter_free (LnsTilePainter *self);

/* Paints the tile of KEY. The caller owns it. EXACT reads from the file what is not in memory; without it the tile
 * may be LNS_TILE_COARSE. Returns NULL as soon as *GENERATION is not EXPECTED. */
LnsTile *lns_tile_painter_paint (LnsTilePainter *self,
                                 const LnsTileKey *key,
                                 gboolean exact,
                                 const atomic_uint *generation,
                                 unsigned expected);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tiles of a timeline. Workers paint those of the rows in view; the set keeps them and draws strips from them.
 * Where an exact tile is missing, it stretches the tiles of the last zoom. Main thread; never reads the report. */

#pragma once

#include "ui/tiles/tile.h"
#include "ui/model/view.h"

typedef struct LnsTileSet LnsTileSet;

/* Calls CHANGED for each row that got a tile. TREE must outlive the set. */
LnsTileSet *lns_tile_set_new (LnsView *view,
                              const LnsRowTree *tree,
                              const PangoFontDescription *font,
                              void (*changed) (uint32_t row, gpointer data),
                              gpointer data);
void lns_tile_set_free (LnsTileSet *self); /* NULL is fine */

/* Replaces the tree by TREE, in which rows have kept their numbers and which must outlive the set. Tiles of rows that show
 * another facet set are painted again. Cancels the tiles under way and waits for the workers. */
void lns_tile_set_replace_tree (LnsTileSet *self, const LnsRowTree *tree);

/* Goes on with TREE, of a newer snapshot of the report, which is the view's; BEFORE is the one so far. What tiles show of before
 * stays until workers have painted what has grown. Otherwise as lns_tile_set_replace_tree (). */
void lns_tile_set_grow (LnsTileSet *self, LnsReport *before, const LnsRowTree *tree);

/* Strips FIRST … FIRST + N - 1 of a row. */
typedef struct
{
  uint32_t row, first, n;
} LnsStripSpan;

/* Before each frame: the strips of SPANS are in view, on a screen of SCALE device pixels a pixel, in the colours of THEME and COLORING. Lets workers
 * paint what is missing, then what is coarse, then a tile to the left and right. O(tiles in view). */
void lns_tile_set_prepare (LnsTileSet *self,
                           const LnsStripSpan *spans,
                           guint n_spans,
                           int scale,
                           LnsTheme theme,
                           const LnsColoring *coloring);

/* Draws STRIP from (0, 0) on, as wide as the view, with BACKGROUND where no tile is painted yet. CR must have the
 * operator SOURCE; its source is changed. O(tiles in view). */
void
lns_tile_set_draw (LnsTileSet *self, cairo_t *cr, const LnsStrip *strip, const GdkRGBA *background);

/* The tile of STRIP at X_PX from the left edge of the view, and the place within it; NULL if it is not painted yet.
 * The set owns it, until the main loop runs again. */
const LnsTile *
lns_tile_set_at (LnsTileSet *self, const LnsStrip *strip, double x_px, double *ret_tile_x_px);

/* Whether, at the last prepare, every tile in view was there and none was coarse. */
gboolean lns_tile_set_is_complete (LnsTileSet *self);

guint64 lns_tile_set_n_painted (LnsTileSet *self);

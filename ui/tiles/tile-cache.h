/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A least-recently-used cache of tiles, bounded in bytes. Main thread. */

#pragma once

#include "ui/tiles/tile.h"

typedef struct LnsTileCache LnsTileCache;

LnsTileCache *lns_tile_cache_new (gsize max_bytes);
void lns_tile_cache_free (LnsTileCache *self); /* NULL is fine */

/* The tile of KEY, or NULL. The cache owns it, until the next put. O(1). */
LnsTile *lns_tile_cache_get (LnsTileCache *self, const LnsTileKey *key);

/* Takes TILE over; frees another one with the same key. */
void lns_tile_cache_put (LnsTileCache *self, LnsTile *tile);

/* Frees the tiles of ROW, when the row shows something else. O(tiles). */
void lns_tile_cache_forget_row (LnsTileCache *self, uint32_t row);

/* Makes the tiles coarse that reach beyond the time that FROM_NS, of N_ROWS, has for their row: what they show has changed since, and
 * others are to replace them. O(tiles). */
void lns_tile_cache_age (LnsTileCache *self, const int64_t *from_ns, uint32_t n_rows);

/* Changes the bound, from the next put on. */
void lns_tile_cache_set_max (LnsTileCache *self, gsize max_bytes);

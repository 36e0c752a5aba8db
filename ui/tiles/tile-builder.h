/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The worker threads that paint tiles. Each frame says anew which tiles it wants. Tiles that are no longer wanted
 * are not started, and tiles of another zoom that were started are cancelled. Main thread. */

#pragma once

#include "ui/tiles/tile.h"
#include "ui/model/view.h"

typedef struct
{
  LnsTileKey key;
  gboolean exact; /* reads the file where memory does not have the data */
} LnsTileRequest;

typedef struct LnsTileBuilder LnsTileBuilder;

/* Calls READY on the main thread when lns_tile_builder_take () has tiles. Holds a reference on VIEW; TREE must
 * outlive the builder. */
LnsTileBuilder *lns_tile_builder_new (LnsView *view,
                                      const LnsRowTree *tree,
                                      const PangoFontDescription *font,
                                      void (*ready) (gpointer data),
                                      gpointer data);
/* Cancels the tiles under way and waits for the workers. READY is not called any more. NULL is fine. */
void lns_tile_builder_free (LnsTileBuilder *self);

/* Asks for these tiles, the first ones first, in place of those asked for before. Tiles that are under way or wait to
 * be taken are not painted again. */
void lns_tile_builder_want (LnsTileBuilder *self, const LnsTileRequest *requests, guint n_requests);

/* Cancels the tiles under way. */
void lns_tile_builder_cancel (LnsTileBuilder *self);

/* The tiles painted since the last call, owned by the caller, or NULL. */
GPtrArray *lns_tile_builder_take (LnsTileBuilder *self);

/* The number of tiles painted so far, for tests and benchmarks. */
guint64 lns_tile_builder_n_painted (LnsTileBuilder *self);

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
  gboolean exact; /* read the file where memory does not have it */
} LnsTileRequest;

typedef struct LnsTileBuilder LnsTileBuilder;

/* READY is called on the main thread when lns_tile_builder_take () has something. The builder holds a reference on
 * VIEW; TREE must outlive it. */
LnsTileBuilder *lns_tile_builder_new (LnsView *view,
                                      const LnsRowTree *tree,
                                      const PangoFontDescription *font,
                                      void (*ready) (gpointer data),
                                      gpointer data);
/* Waits for tiles under way, which are broken off. READY is not called any more. NULL is fine. */
void lns_tile_builder_free (LnsTileBuilder *self);

/* Wants these, the first ones first, and nothing else. What is under way or waits to be taken is not painted again. */
void lns_tile_builder_want (LnsTileBuilder *self, const LnsTileRequest *requests, guint n_requests);

/* Breaks off what is under way. */
void lns_tile_builder_cancel (LnsTileBuilder *self);

/* The tiles painted since the last call, owned by the caller, or NULL. */
GPtrArray *lns_tile_builder_take (LnsTileBuilder *self);

/* Tiles painted so far: for tests and benches. */
guint64 lns_tile_builder_n_painted (LnsTileBuilder *self);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/lns-tile-set.h"

#include <math.h>

#include "ui/lns-tile-builder.h"
#include "ui/lns-tile-cache.h"

#define CACHE_BYTES (96 << 20)
/* A stretched picture that is this many times too coarse or too fine tells nothing any more. */
#define MAX_STRETCH 64.0
/* More tiles of another zoom than this are not squeezed into a frame. */
#define MAX_STALE_TILES 64

struct LnsTileSet
{
  LnsView *view;
  LnsReport *report;
  const LnsRowTree *tree;
  LnsTileCache *cache;
  LnsTileBuilder *builder;
  void (*changed) (uint32_t row, gpointer data);
  gpointer data;

  GArray *requests; /* of LnsTileRequest, reused */
  int scale;
  gboolean dark;
  int64_t ns_per_tile;       /* at the last prepare */
  int64_t first, last;       /* the tiles in view then */
  int64_t stale_ns_per_tile; /* the last zoom whose tiles in view were all there, or 0 */
  gboolean complete;
};

static int64_t
tile_of (int64_t px)
{
  return px >= 0 ? px / LNS_TILE_PX : -((-(px + 1)) / LNS_TILE_PX) - 1;
}

static LnsTileKey
key_of (LnsTileSet *self, const LnsStrip *strip, int64_t ns_per_tile, int64_t index)
{
  return (LnsTileKey){ *strip, ns_per_tile, index, self->scale, self->dark };
}

static void
ready_cb (gpointer data)
{
  LnsTileSet *self = data;
  g_autoptr (GPtrArray) tiles = lns_tile_builder_take (self->builder);
  if (tiles == NULL)
    return;
  g_ptr_array_set_free_func (tiles, NULL);
  for (guint i = 0; i < tiles->len; i++)
    {
      LnsTile *tile = g_ptr_array_index (tiles, i);
      LnsTileKey key = tile->key;
      lns_tile_cache_put (self->cache, tile);
      if (key.ns_per_tile == self->ns_per_tile && key.index >= self->first &&
          key.index <= self->last)
        self->changed (key.strip.row, self->data);
    }
}

LnsTileSet *
lns_tile_set_new (LnsView *view,
                  const LnsRowTree *tree,
                  const PangoFontDescription *font,
                  void (*changed) (uint32_t row, gpointer data),
                  gpointer data)
{
  LnsTileSet *self = g_new0 (LnsTileSet, 1);
  self->view = view;
  self->report = lns_view_get_report (view);
  self->tree = tree;
  self->changed = changed;
  self->data = data;
  self->scale = 1;
  self->requests = g_array_new (FALSE, FALSE, sizeof (LnsTileRequest));
  self->cache = lns_tile_cache_new (CACHE_BYTES);
  self->builder = lns_tile_builder_new (view, tree, font, ready_cb, self);
  return self;
}

void
lns_tile_set_free (LnsTileSet *self)
{
  if (self == NULL)
    return;
  lns_tile_builder_free (self->builder);
  lns_tile_cache_free (self->cache);
  g_array_unref (self->requests);
  g_free (self);
}

/* --- What is wanted ------------------------------------------------------------------------ */

typedef enum
{
  PASS_MISSING, /* from memory, so that something is there at once */
  PASS_COARSE,  /* again, exact                                    */
  PASS_AHEAD    /* what a pan would need next                      */
} Pass;

/* Requests those of the tiles FIRST … LAST of SPAN that PASS is for. Returns their number. */
static guint
request (LnsTileSet *self, const LnsStripSpan *span, int64_t first, int64_t last, Pass pass)
{
  guint n_before = self->requests->len;
  for (uint32_t i = span->first; i < span->first + span->n; i++)
    {
      LnsStrip strip = lns_strip_of (self->report, self->tree, span->row, i);
      for (int64_t index = first; index <= last; index++)
        {
          LnsTileRequest it = { key_of (self, &strip, self->ns_per_tile, index),
                                pass != PASS_MISSING };
          const LnsTile *tile = lns_tile_cache_get (self->cache, &it.key);
          gboolean wanted =
              pass == PASS_COARSE ? tile != NULL && tile->state == LNS_TILE_COARSE : tile == NULL;
          if (wanted)
            g_array_append_val (self->requests, it);
        }
    }
  return self->requests->len - n_before;
}

void
lns_tile_set_prepare (
    LnsTileSet *self, const LnsStripSpan *spans, guint n_spans, int scale, gboolean dark)
{
  const LnsScale *now = lns_view_get_scale (self->view);
  if (now->ns_per_tile != self->ns_per_tile || scale != self->scale || dark != self->dark)
    lns_tile_builder_cancel (self->builder);
  if (scale != self->scale || dark != self->dark)
    self->stale_ns_per_tile = 0;
  self->ns_per_tile = now->ns_per_tile;
  self->scale = scale;
  self->dark = dark;
  self->first = tile_of (now->first_px);
  self->last = tile_of (now->first_px + lns_view_get_width_px (self->view) - 1);

  g_array_set_size (self->requests, 0);
  guint n_missing = 0, n_strips = 0;
  for (guint i = 0; i < n_spans; i++)
    {
      n_missing += request (self, &spans[i], self->first, self->last, PASS_MISSING);
      n_strips += spans[i].n;
    }
  for (guint i = 0; i < n_spans; i++)
    request (self, &spans[i], self->first, self->last, PASS_COARSE);
  if (n_missing == 0)
    self->stale_ns_per_tile = self->ns_per_tile;
  self->complete = self->requests->len == 0;
  for (guint i = 0; i < n_spans; i++)
    {
      request (self, &spans[i], self->last + 1, self->last + 1, PASS_AHEAD);
      request (self, &spans[i], self->first - 1, self->first - 1, PASS_AHEAD);
    }
  /* Room for what is in view and ahead, and as much again to stretch; else tiles would drive each
   * other out for ever. */
  gsize tile_bytes = (gsize)LNS_TILE_PX * LNS_LANE_PX * 4 * scale * scale * 2;
  gsize view_bytes = tile_bytes * n_strips * (gsize)(self->last - self->first + 3);
  lns_tile_cache_set_max (self->cache, MAX (CACHE_BYTES, 2 * view_bytes));
  lns_tile_builder_want (self->builder, (const LnsTileRequest *)(void *)self->requests->data,
                         self->requests->len);
}

/* --- Pictures ------------------------------------------------------------------------------ */

static void
append_tile (GtkSnapshot *snapshot, LnsTile *tile, double x_px, double stretch)
{
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT ((float)x_px, 0));
  if (stretch != 1)
    gtk_snapshot_scale (snapshot, (float)stretch, 1);
  gtk_snapshot_append_node (snapshot, lns_tile_node (tile));
  gtk_snapshot_restore (snapshot);
}

static void
snapshot_stale (LnsTileSet *self, GtkSnapshot *snapshot, const LnsStrip *strip)
{
  const LnsScale *now = lns_view_get_scale (self->view);
  if (self->stale_ns_per_tile == 0 || self->stale_ns_per_tile == now->ns_per_tile)
    return;
  double stretch = (double)self->stale_ns_per_tile / (double)now->ns_per_tile;
  if (stretch > MAX_STRETCH || stretch < 1 / MAX_STRETCH)
    return;
  LnsScale stale = { .ns_per_tile = self->stale_ns_per_tile };
  int64_t first = tile_of (lns_scale_px_of (&stale, lns_view_get_start_ns (self->view)));
  int64_t last = tile_of (lns_scale_px_of (&stale, lns_view_get_end_ns (self->view)));
  last = MIN (last, first + MAX_STALE_TILES);
  for (int64_t index = first; index <= last; index++)
    {
      LnsTileKey key = key_of (self, strip, self->stale_ns_per_tile, index);
      LnsTile *tile = lns_tile_cache_get (self->cache, &key);
      if (tile != NULL)
        append_tile (snapshot, tile, lns_scale_x_of (now, lns_tile_origin_ns (&key)), stretch);
    }
}

void
lns_tile_set_snapshot (LnsTileSet *self,
                       GtkSnapshot *snapshot,
                       const LnsStrip *strip,
                       const GdkRGBA *background)
{
  const LnsScale *now = lns_view_get_scale (self->view);
  int64_t first = tile_of (now->first_px);
  int64_t last = tile_of (now->first_px + lns_view_get_width_px (self->view) - 1);
  gboolean missing = FALSE;
  for (int64_t index = first; index <= last && !missing; index++)
    {
      LnsTileKey key = key_of (self, strip, now->ns_per_tile, index);
      missing = lns_tile_cache_get (self->cache, &key) == NULL;
    }
  if (missing)
    {
      gtk_snapshot_append_color (snapshot, background,
                                 &GRAPHENE_RECT_INIT (0, 0,
                                                      (float)lns_view_get_width_px (self->view),
                                                      (float)lns_strip_height_px (strip->kind)));
      snapshot_stale (self, snapshot, strip);
    }
  for (int64_t index = first; index <= last; index++)
    {
      LnsTileKey key = key_of (self, strip, now->ns_per_tile, index);
      LnsTile *tile = lns_tile_cache_get (self->cache, &key);
      if (tile != NULL)
        append_tile (snapshot, tile, (double)(index * LNS_TILE_PX - now->first_px), 1);
    }
}

const LnsTile *
lns_tile_set_at (LnsTileSet *self, const LnsStrip *strip, double x_px, double *ret_tile_x_px)
{
  const LnsScale *now = lns_view_get_scale (self->view);
  int64_t index = tile_of (now->first_px + (int64_t)floor (x_px));
  LnsTileKey key = key_of (self, strip, now->ns_per_tile, index);
  *ret_tile_x_px = x_px + (double)(now->first_px - index * LNS_TILE_PX);
  return lns_tile_cache_get (self->cache, &key);
}

gboolean
lns_tile_set_is_complete (LnsTileSet *self)
{
  return self->complete;
}

guint64
lns_tile_set_n_painted (LnsTileSet *self)
{
  return lns_tile_builder_n_painted (self->builder);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/tile-set.h"

#include <math.h>

#include "ui/tiles/tile-builder.h"
#include "ui/tiles/tile-cache.h"

#define CACHE_BYTES (96 << 20)
/* Tiles that would have to be stretched or squeezed by more than this are not used. */
#define MAX_STRETCH 64.0
/* At most this many tiles of another zoom are drawn into one strip. */
#define MAX_STALE_TILES 64

struct LnsTileSet
{
  LnsView *view;
  LnsReport *report;
  const LnsRowTree *tree;
  LnsTileCache *cache;
  LnsTileBuilder *builder;
  PangoFontDescription *font; /* owned */
  void (*changed) (uint32_t row, gpointer data);
  gpointer data;

  GArray *requests; /* of LnsTileRequest, reused */
  int scale;
  LnsTheme theme;
  LnsColoring coloring;
  int64_t ns_per_tile;       /* at the last prepare */
  int64_t first, last;       /* the tiles in view then */
  int64_t stale_ns_per_tile; /* the last zoom whose tiles in view were all there, or 0 */
  gboolean complete;
  guint64 n_painted_before; /* by earlier builders */
};

static int64_t
tile_of (int64_t px)
{
  return px >= 0 ? px / LNS_TILE_PX : -((-(px + 1)) / LNS_TILE_PX) - 1;
}

static LnsTileKey
key_of (LnsTileSet *self, const LnsStrip *strip, int64_t ns_per_tile, int64_t index)
{
  return (LnsTileKey){ *strip, ns_per_tile, index, self->scale, self->theme, self->coloring };
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
  self->font = pango_font_description_copy (font);
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
  pango_font_description_free (self->font);
  g_free (self);
}

void
lns_tile_set_replace_tree (LnsTileSet *self, const LnsRowTree *tree)
{
  self->n_painted_before += lns_tile_builder_n_painted (self->builder);
  lns_tile_builder_free (self->builder);
  for (uint32_t row = 0; row < lns_row_tree_n_rows (self->tree); row++)
    if (lns_row_tree_row (self->tree, row)->set != lns_row_tree_row (tree, row)->set)
      lns_tile_cache_forget_row (self->cache, row);
  self->tree = tree;
  self->builder = lns_tile_builder_new (self->view, tree, self->font, ready_cb, self);
}

/* From when on LANE may show something else than in the snapshot BEFORE; INT64_MAX: never. */
static int64_t
changed_from_ns (LnsReport *before, LnsReport *now, uint32_t lane)
{
  const LnsLaneInfo *was = lns_report_lane_info (before, lane),
                    *is = lns_report_lane_info (now, lane);
  LnsEvent open;
  if (is == NULL || is->n_events == 0)
    return INT64_MAX;
  if (was == NULL || was->n_events == 0)
    return INT64_MIN;
  if (was->has_open) /* which is in memory */
    return lns_report_event (before, lane, was->n_events - 1, &open, NULL) ? open.start_ns
                                                                           : INT64_MIN;
  return was->n_events != is->n_events || is->has_open ? was->end_ns : INT64_MAX;
}

/* The same for ROW. What is not recorded yet is told apart, so each row shows more of that. */
static int64_t
row_changed_from_ns (LnsTileSet *self, LnsReport *before, const LnsRow *row)
{
  int64_t from_ns = lns_report_info (before)->known_ns;
  for (uint32_t i = 0; i < row->n_lanes; i++)
    {
      const int64_t lane_ns =
          changed_from_ns (before, self->report, lns_row_tree_lanes (self->tree)[row->lanes + i]);
      /* The scale of a counter is that of all its samples. */
      if (lane_ns != INT64_MAX && row->kind == LNS_ROW_COUNTER)
        return INT64_MIN;
      from_ns = MIN (from_ns, lane_ns);
    }
  return from_ns;
}

void
lns_tile_set_grow (LnsTileSet *self, LnsReport *before, const LnsRowTree *tree)
{
  lns_tile_set_replace_tree (self, tree);
  self->report = lns_view_get_report (self->view);
  const uint32_t n_rows = lns_row_tree_n_rows (tree);
  g_autofree int64_t *from_ns = g_new (int64_t, n_rows + 1);
  for (uint32_t row = 0; row < n_rows; row++)
    from_ns[row] = row_changed_from_ns (self, before, lns_row_tree_row (tree, row));
  lns_tile_cache_age (self->cache, from_ns, n_rows);
}

/* --- What is wanted ------------------------------------------------------------------------ */

typedef enum
{
  PASS_MISSING, /* from memory, so that there is a picture at once */
  PASS_COARSE,  /* again, exact                                    */
  PASS_AHEAD    /* tiles that a pan would need next */
} Pass;

/* Requests the tiles of PASS among FIRST … LAST of SPAN. Returns their number. */
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
lns_tile_set_prepare (LnsTileSet *self,
                      const LnsStripSpan *spans,
                      guint n_spans,
                      int scale,
                      LnsTheme theme,
                      const LnsColoring *coloring)
{
  const LnsScale *now = lns_view_get_scale (self->view);
  const gboolean is_other_look = scale != self->scale || theme != self->theme ||
                                 coloring->mode != self->coloring.mode ||
                                 coloring->only_name != self->coloring.only_name;
  if (now->ns_per_tile != self->ns_per_tile || is_other_look)
    lns_tile_builder_cancel (self->builder);
  if (is_other_look)
    self->stale_ns_per_tile = 0;
  self->ns_per_tile = now->ns_per_tile;
  self->scale = scale;
  self->theme = theme;
  self->coloring = *coloring;
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
  /* Makes room for the tiles in view and ahead, and for as many of another zoom. With less, tiles would evict each
   * other for ever. */
  gsize tile_bytes =
      (gsize)LNS_TILE_PX * (gsize)lns_row_tree_lane_px (self->tree) * 4 * scale * scale * 2;
  gsize view_bytes = tile_bytes * n_strips * (gsize)(self->last - self->first + 3);
  lns_tile_cache_set_max (self->cache, MAX (CACHE_BYTES, 2 * view_bytes));
  lns_tile_builder_want (self->builder, (const LnsTileRequest *)(void *)self->requests->data,
                         self->requests->len);
}

/* --- Pictures ------------------------------------------------------------------------------ */

/* The tiles of another zoom in [LEFT_PX, RIGHT_PX); none if the zooms differ too much. */
static void
stale_tiles (LnsTileSet *self, int left_px, int right_px, int64_t *ret_first, int64_t *ret_end)
{
  const LnsScale *now = lns_view_get_scale (self->view);
  double stretch = (double)self->stale_ns_per_tile / (double)now->ns_per_tile;
  *ret_first = *ret_end = 0;
  if (stretch > MAX_STRETCH || stretch < 1 / MAX_STRETCH)
    return;
  LnsScale stale = { .ns_per_tile = self->stale_ns_per_tile };
  int64_t left_ns = lns_scale_time_of (now, now->first_px + left_px);
  int64_t right_ns = lns_scale_time_of (now, now->first_px + right_px);
  *ret_first = tile_of (lns_scale_px_of (&stale, left_ns));
  *ret_end = MIN (tile_of (lns_scale_px_of (&stale, right_ns)), *ret_first + MAX_STALE_TILES) + 1;
}

static void
fill (cairo_t *cr, double left_px, double right_px, double height_px)
{
  cairo_rectangle (cr, left_px, 0, right_px - left_px, height_px);
  cairo_fill (cr);
}

/* Copies TILE, stretched, with its left edge at X_PX, to [LEFT_PX, RIGHT_PX). Copies whole, opaque pixels, as
 * blending or filtering would cost three times as much. */
static void
copy (cairo_t *cr,
      const LnsTile *tile,
      double x_px,
      double stretch,
      double left_px,
      double right_px,
      double height_px)
{
  cairo_matrix_t matrix;
  cairo_matrix_init (&matrix, 1 / stretch, 0, 0, 1, -x_px / stretch, 0);
  cairo_set_source_surface (cr, tile->surface, 0, 0);
  cairo_pattern_set_matrix (cairo_get_source (cr), &matrix);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_pattern_set_extend (cairo_get_source (cr), CAIRO_EXTEND_PAD);
  fill (cr, left_px, right_px, height_px);
}

/* Draws [LEFT_PX, RIGHT_PX) of STRIP, where tiles are blank or, if MISSING, from stretched tiles of another zoom. */
static void
draw_rest (LnsTileSet *self,
           cairo_t *cr,
           const LnsStrip *strip,
           const GdkRGBA *background,
           int left_px,
           int right_px,
           gboolean missing)
{
  const LnsScale *now = lns_view_get_scale (self->view);
  double stretch = (double)self->stale_ns_per_tile / (double)now->ns_per_tile;
  int height_px = lns_strip_height_px (strip);
  double filled_px = left_px;
  int64_t first = 0, end = 0;
  if (missing)
    stale_tiles (self, left_px, right_px, &first, &end);
  for (int64_t index = first; index < end; index++)
    {
      LnsTileKey key = key_of (self, strip, self->stale_ns_per_tile, index);
      const LnsTile *tile = lns_tile_cache_get (self->cache, &key);
      double x_px = lns_scale_x_of (now, lns_tile_origin_ns (&key));
      double from_px = fmax (round (x_px), filled_px);
      double to_px = fmin (round (x_px + stretch * LNS_TILE_PX), right_px);
      if (tile == NULL || tile->surface == NULL || from_px >= to_px)
        continue;
      if (from_px > filled_px)
        {
          gdk_cairo_set_source_rgba (cr, background);
          fill (cr, filled_px, from_px, height_px);
        }
      copy (cr, tile, x_px, stretch, from_px, to_px, height_px);
      filled_px = to_px;
    }
  if (filled_px < right_px)
    {
      gdk_cairo_set_source_rgba (cr, background);
      fill (cr, filled_px, right_px, height_px);
    }
}

void
lns_tile_set_draw (LnsTileSet *self, cairo_t *cr, const LnsStrip *strip, const GdkRGBA *background)
{
  const LnsScale *now = lns_view_get_scale (self->view);
  int width_px = lns_view_get_width_px (self->view), rest_px = 0;
  int height_px = lns_strip_height_px (strip);
  gboolean missing = FALSE; /* from REST_PX on; else it is blank */
  int64_t last = tile_of (now->first_px + width_px - 1);
  for (int64_t index = tile_of (now->first_px); index <= last; index++)
    {
      LnsTileKey key = key_of (self, strip, now->ns_per_tile, index);
      LnsTile *tile = lns_tile_cache_get (self->cache, &key);
      int x_px = (int)(index * LNS_TILE_PX - now->first_px), left_px = MAX (x_px, 0);
      if (left_px > rest_px && (tile == NULL) != missing)
        {
          draw_rest (self, cr, strip, background, rest_px, left_px, missing);
          rest_px = left_px;
        }
      missing = tile == NULL;
      if (tile == NULL || tile->surface == NULL)
        continue;
      if (left_px > rest_px)
        draw_rest (self, cr, strip, background, rest_px, left_px, missing);
      rest_px = MIN (x_px + LNS_TILE_PX, width_px);
      copy (cr, tile, x_px, 1, left_px, rest_px, height_px);
    }
  if (rest_px < width_px)
    draw_rest (self, cr, strip, background, rest_px, width_px, missing);
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
  return self->n_painted_before + lns_tile_builder_n_painted (self->builder);
}

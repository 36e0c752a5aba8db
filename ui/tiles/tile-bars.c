/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Draws lanes as bars: one bar per range or, where ranges are too narrow, bars whose height is the part of the time
 * that is covered. */

#include <math.h>

#include "ui/tiles/tile-painter-private.h"

#define BAR_PX       (LNS_LANE_PX - 1) /* a hairline between depths */
#define MIN_COVERAGE 0.3f              /* so that a lone short event never vanishes */
#define EDGE_SHADE   0.28              /* how much darker a bar's last pixel is */
#define EDGE_MIN_PX  3
#define FADE_PX      24
#define MARK_PX      3 /* half the width of a mark's flag */
#define MIN_LOSS_PX  3

static uint64_t
hash_of (LnsTilePainter *self, uint32_t name)
{
  uint32_t row = self->tile->key.strip.row;
  LnsKeptHue *kept = &self->hues[(name * 31 + row) % LNS_KEPT_HUES];
  if (kept->hash != 0 && kept->name == name && kept->row == row)
    return kept->hash;
  /* Not 0, which is nothing kept. */
  uint64_t hash = LNS_N_HUES + lns_event_hue (self->report, self->tree,
                                              lns_row_tree_row (self->tree, row), name);
  *kept = (LnsKeptHue){ name, row, hash };
  return hash;
}

static uint32_t
color_of (LnsTilePainter *self, uint32_t own_argb, uint32_t name)
{
  return lns_palette_color (self->palette, own_argb, own_argb != 0 ? 0 : hash_of (self, name));
}

/* Device pixels from the tile's left edge. */
static double
x_of (LnsTilePainter *self, int64_t time_ns)
{
  return (double)lns_difference (time_ns, self->origin_ns) / self->ns_per_px;
}

/* Bars end where the next one begins: both are rounded alike. At least a pixel wide. */
static void
edges_of (LnsTilePainter *self, const LnsPixelEvent *event, int *ret_x0, int *ret_x1)
{
  int64_t end_ns = lns_sum (event->start_ns, event->duration_ns);
  double x0 = CLAMP (x_of (self, event->start_ns), -1e6, 1e6);
  double x1 = CLAMP (x_of (self, end_ns), -1e6, 1e6);
  *ret_x0 = (int)lround (x0);
  *ret_x1 = MAX ((int)lround (x1), *ret_x0 + 1);
}

/* --- Coverage ------------------------------------------------------------------------------ */

/* Pixels under listed events, of which only what else starts in them is left to show. */
static uint32_t *
narrow_counts (LnsTilePainter *self, gboolean **ret_under)
{
  uint32_t *counts = g_new (uint32_t, self->n_px);
  gboolean *under = g_new0 (gboolean, self->n_px);
  for (int p = 0; p < self->n_px; p++)
    counts[p] = self->tile->pixels[p].count;
  for (uint32_t i = 0; i < self->tile->n_events; i++)
    {
      const LnsPixelEvent *event = &self->tile->events[i];
      double x0 = x_of (self, event->start_ns);
      double x1 = x_of (self, lns_sum (event->start_ns, event->duration_ns));
      int first = (int)CLAMP (floor (x0), 0.0, (double)self->n_px);
      int last = (int)CLAMP (ceil (x1), 0.0, (double)self->n_px);
      if (x0 >= 0 && first < self->n_px && counts[first] > 0)
        counts[first]--;
      for (int p = first; p < last; p++)
        under[p] = TRUE;
    }
  *ret_under = under;
  return counts;
}

/* A name dominates where the pixels beside it show no other. */
static gboolean
dominates (const LnsPixel *pixels, int p, int n_px)
{
  for (int q = MAX (p - 1, 0); q <= MIN (p + 1, n_px - 1); q++)
    if ((pixels[q].busy > 0 || pixels[q].count > 0) && pixels[q].name != pixels[p].name)
      return FALSE;
  return TRUE;
}

static void
paint_coverage (LnsTilePainter *self)
{
  const LnsPixel *pixels = self->tile->pixels;
  int bar_px = BAR_PX * self->tile->key.scale;
  gboolean *under;
  g_autofree uint32_t *counts = narrow_counts (self, &under);
  for (int p = 0; p < self->n_px; p++)
    {
      gboolean empty = under[p] ? counts[p] == 0 : pixels[p].count == 0 && pixels[p].busy <= 0;
      if (empty)
        continue;
      float share = under[p] ? MIN_COVERAGE : CLAMP (pixels[p].busy, MIN_COVERAGE, 1);
      uint32_t rgb = pixels[p].flags & LNS_EVENT_END_UNKNOWN ? self->palette->lost
                     : dominates (pixels, p, self->n_px)
                         ? color_of (self, pixels[p].color, pixels[p].name)
                         : self->palette->coverage;
      int height_px = MAX ((int)lroundf (share * bar_px), self->tile->key.scale);
      lns_raster_fill (&self->raster, p, p + 1, bar_px - height_px, bar_px, rgb);
    }
  g_free (under);
}

/* --- Bars ---------------------------------------------------------------------------------- */

static void
paint_bar (LnsTilePainter *self, const LnsPixelEvent *event)
{
  int scale = self->tile->key.scale, bar_px = BAR_PX * scale, x0, x1;
  edges_of (self, event, &x0, &x1);
  uint32_t rgb = color_of (self, event->color, event->name);
  lns_raster_fill (&self->raster, x0, x1, 0, bar_px, rgb);
  if (x1 - x0 >= EDGE_MIN_PX * scale)
    lns_raster_fill (&self->raster, x1 - scale, x1, 0, bar_px,
                     lns_palette_mix (rgb, 0x000000, EDGE_SHADE));
  int fade_px = MIN (FADE_PX * scale, (x1 - x0) / 2);
  if (event->flags & LNS_EVENT_OPEN_START)
    lns_raster_blend (&self->raster, x0, x0 + fade_px, 0, bar_px, self->background, 1, 0);
  if (event->flags & LNS_EVENT_OPEN_END)
    lns_raster_blend (&self->raster, x1 - fade_px, x1, 0, bar_px, self->background, 0, 1);
}

static void
set_rgb (cairo_t *cr, uint32_t rgb)
{
  cairo_set_source_rgb (cr, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                        (rgb & 255) / 255.0);
}

/* Writes NAME from X_PX on, in at most WIDTH_PX; nothing is drawn outside [X_PX, X_PX + WIDTH_PX).
 * Logical pixels. */
static void
write_name (
    LnsTilePainter *self, cairo_t *cr, uint32_t name, double x_px, double width_px, uint32_t rgb)
{
  int text_px, line_px;
  const LnsRow *row = lns_row_tree_row (self->tree, self->tile->key.strip.row);
  PangoLayout *layout = lns_tile_labels_layout (self->labels, name, lns_row_names (row), width_px,
                                                &text_px, &line_px);
  if (layout == NULL || x_px + text_px <= 0)
    return;
  cairo_move_to (cr, x_px, (BAR_PX - line_px) / 2);
  set_rgb (cr, rgb);
  pango_cairo_show_layout (cr, layout);
}

/* A context for text, in logical pixels. */
static cairo_t *
text_context (LnsTilePainter *self)
{
  cairo_surface_mark_dirty (self->tile->surface);
  cairo_t *cr = cairo_create (self->tile->surface);
  cairo_scale (cr, self->tile->key.scale, self->tile->key.scale);
  return cr;
}

static void
paint_labels (LnsTilePainter *self)
{
  double scale = self->tile->key.scale;
  cairo_t *cr = text_context (self);
  for (uint32_t i = 0; i < self->tile->n_events; i++)
    {
      const LnsPixelEvent *event = &self->tile->events[i];
      double x_px = x_of (self, event->start_ns) / scale;
      double width_px = (double)event->duration_ns / self->ns_per_px / scale;
      if (width_px < LNS_LABEL_MIN_PX)
        continue;
      write_name (self, cr, event->name, round (x_px) + LNS_LABEL_PAD_PX,
                  width_px - 2 * LNS_LABEL_PAD_PX,
                  lns_palette_text_on (color_of (self, event->color, event->name)));
    }
  cairo_destroy (cr);
  cairo_surface_flush (self->tile->surface);
}

void
_lns_tile_paint_ranges (LnsTilePainter *self)
{
  paint_coverage (self);
  for (uint32_t i = 0; i < self->tile->n_events; i++)
    paint_bar (self, &self->tile->events[i]);
  paint_labels (self);
  _lns_tile_paint_losses (self);
}

/* --- Marks --------------------------------------------------------------------------------- */

static void
paint_flag (LnsTilePainter *self, double x, uint32_t rgb)
{
  int scale = self->tile->key.scale, left = (int)floor (x);
  lns_raster_fill (&self->raster, left, left + scale, 0, BAR_PX * scale, rgb);
  for (int i = 0; i <= MARK_PX * scale; i++)
    lns_raster_fill (&self->raster, left - i, left + i + 1, 2 * MARK_PX * scale - 2 * i,
                     2 * MARK_PX * scale - 2 * i + 2, rgb);
}

void
_lns_tile_paint_marks (LnsTilePainter *self)
{
  LnsTile *tile = self->tile;
  if (tile->n_events == 0)
    {
      paint_coverage (self);
      return;
    }
  double scale = tile->key.scale;
  for (uint32_t i = 0; i < tile->n_events; i++)
    paint_flag (self, x_of (self, tile->events[i].start_ns),
                color_of (self, tile->events[i].color, tile->events[i].name));
  cairo_t *cr = text_context (self);
  for (uint32_t i = 0; i < tile->n_events; i++)
    {
      double x_px = x_of (self, tile->events[i].start_ns) / scale;
      double next_px = i + 1 < tile->n_events
                           ? x_of (self, tile->events[i + 1].start_ns) / scale - MARK_PX
                           : LNS_TILE_PX;
      if (next_px - x_px >= LNS_LABEL_MIN_PX)
        write_name (self, cr, tile->events[i].name, round (x_px) + LNS_LABEL_PAD_PX,
                    next_px - x_px - 2 * LNS_LABEL_PAD_PX, self->palette->text);
    }
  cairo_destroy (cr);
  cairo_surface_flush (tile->surface);
}

/* --- Losses -------------------------------------------------------------------------------- */

void
_lns_tile_paint_losses (LnsTilePainter *self)
{
  const LnsRow *row = lns_row_tree_row (self->tree, self->tile->key.strip.row);
  int scale = self->tile->key.scale;
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (self->report, &n);
  for (uint32_t i = 0; i < n; i++)
    {
      const LnsLoss *loss = &losses[i];
      gboolean here = loss->process == row->process &&
                      (loss->thread == row->thread || loss->thread == LNS_ID_NONE);
      if (!here || loss->first_ns == LNS_TIME_UNKNOWN || loss->last_ns == LNS_TIME_UNKNOWN)
        continue;
      double x0 = CLAMP (x_of (self, loss->first_ns), -1e6, 1e6);
      double x1 = CLAMP (x_of (self, loss->last_ns), -1e6, 1e6);
      lns_raster_hatch (&self->raster, (int)floor (x0),
                        (int)fmax (ceil (x1), floor (x0) + MIN_LOSS_PX), 0, self->raster.height_px,
                        self->palette->lost, scale, self->tile->key.index * self->n_px);
    }
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/row-difference.h"

#include <math.h>

#include "ui/model/palette.h"

/* As tiles/chart-painter.c has it: above and below a chart. */
#define MARGIN_PX 2

#define TINT_ALPHA 0.5f
#define EDGE_ALPHA 0.8f

/* Less differs by chance of where pixels begin. */
#define LEAST_PX 1

/* Where one reads a strip, pixel by pixel. */
typedef struct
{
  const LnsRowContext *context;
  LnsStrip strip;
  const LnsTile *tile; /* of the last pixel, or NULL */
  double tile_x;
} Reader;

/* The share at the next pixel, X of the view, 0 – 1; or -1 where no tile knows it. */
static double
next_share (Reader *self, int x)
{
  self->tile_x++;
  if (self->tile == NULL || self->tile_x >= LNS_TILE_PX)
    self->tile = lns_tile_set_at (self->context->tiles, &self->strip, x, &self->tile_x);
  return self->tile != NULL && self->tile->pixels != NULL
             ? fmin (self->tile->pixels[(int)self->tile_x * self->tile->key.scale].busy, 1)
             : -1;
}

/* Adds column X from Y_FROM to Y_TO to the path of CR. */
static void
add_column (cairo_t *cr, int x, double y_from, double y_to)
{
  cairo_rectangle (cr, x, fmin (y_from, y_to), 1, fabs (y_to - y_from));
}

/* Adds to EDGE the upper edge of the chart that A reads, from pixel FROM to before END, and to LESS what is between the two where that of B
 * is lower. */
static void
trace (Reader *a_reader,
       Reader *b_reader,
       int from,
       int end,
       double bottom_px,
       double room_px,
       cairo_t *edge,
       cairo_t *less)
{
  double last_px = bottom_px;

  for (int x = from; x < end; x++)
    {
      const double a = next_share (a_reader, x), b = next_share (b_reader, x);
      const double a_px = bottom_px - round (fmax (a, 0) * room_px),
                   b_px = bottom_px - round (fmax (b, 0) * room_px);
      if (a >= 0 && b >= 0 && a_px < bottom_px)
        add_column (edge, x, a_px, a_px + 1);
      if (a >= 0 && b >= 0 && fabs (last_px - a_px) > 1)
        add_column (edge, x, last_px, a_px);
      if (a >= 0 && b >= 0 && b_px - a_px > LEAST_PX)
        add_column (less, x, a_px, b_px);
      last_px = a_px;
    }
}

/* Narrows the pixels from FROM to before END to those in which the report of CONTEXT is. */
static void
clip_to_report (const LnsRowContext *context, int *from, int *end)
{
  const LnsScale *scale = lns_view_get_scale (context->view);
  int64_t first_ns, last_ns;

  lns_view_get_whole (context->view, &first_ns, &last_ns);
  *from = (int)CLAMP (floor (lns_scale_x_of (scale, first_ns)), *from, *end);
  *end = (int)CLAMP (ceil (lns_scale_x_of (scale, last_ns)), *from, *end);
}

void
lns_row_difference_snapshot (const LnsRowContext *context,
                             uint32_t row,
                             GtkSnapshot *snapshot,
                             const graphene_rect_t *body)
{
  const uint32_t other = context->side == 1 && context->other != NULL
                             ? lns_row_pairs_other (context->pairs, 1, row)
                             : LNS_ID_NONE;
  if (other == LNS_ID_NONE || !lns_row_is_chart (lns_row_tree_row (context->tree, row)) ||
      !lns_row_is_chart (lns_row_tree_row (context->other->tree, other)))
    return;
  LnsReport *report = lns_view_get_report (context->view);
  Reader a = { .context = context->other,
               .strip = lns_strip_of (lns_view_get_report (context->other->view),
                                      context->other->tree, other, 0) },
         b = { .context = context, .strip = lns_strip_of (report, context->tree, row, 0) };
  int from = 0, end = (int)body->size.width;

  clip_to_report (context->other, &from, &end);
  clip_to_report (context, &from, &end);
  /* What is shown below says more. */
  if (a.strip.quiet || b.strip.quiet)
    return;
  const LnsPalette *palette = lns_palette_get (context->theme);
  const gboolean is_of_gpu =
      lns_strip_activity (report, context->tree, &b.strip) == LNS_ACTIVITY_WORK;
  const GdkRGBA tint = lns_palette_rgba (is_of_gpu ? palette->finding : palette->text,
                                         is_of_gpu ? TINT_ALPHA : TINT_ALPHA / 2),
                line = lns_palette_rgba (palette->text, EDGE_ALPHA);
  const double bottom_px = body->size.height - MARGIN_PX;
  cairo_t *less = gtk_snapshot_append_cairo (snapshot, body),
          *edge = gtk_snapshot_append_cairo (snapshot, body);

  trace (&a, &b, from, end, bottom_px, bottom_px - MARGIN_PX, edge, less);
  gdk_cairo_set_source_rgba (less, &tint);
  cairo_fill (less);
  gdk_cairo_set_source_rgba (edge, &line);
  cairo_fill (edge);
  cairo_destroy (edge);
  cairo_destroy (less);
}

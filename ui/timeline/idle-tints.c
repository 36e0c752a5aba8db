/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/idle-tints.h"

#include <math.h>

#include "src/base/saturate.h"
#include "ui/model/palette.h"

/* Narrower stretches are not drawn, and names only into wider ones. */
#define LEAST_PX       2
#define LEAST_NAMED_PX 36

/* So many at most in one frame. */
#define MOST_NAMED 200

#define TINT_ALPHA 0.16f

/* The ledger of the answer that ROW is of, or -1. */
static gssize
ledger_of (const LnsWhy *why, const LnsRow *row)
{
  for (size_t l = 0; l < why->ledgers.n; l++)
    {
      const LnsLedger *ledger = &why->ledgers.items[l];
      if (row->kind == LNS_ROW_DEVICE
              ? ledger->is_device && ledger->device == row->device &&
                    ledger->process == row->process
              : row->kind == LNS_ROW_THREAD && !ledger->is_device && ledger->thread == row->thread)
        return (gssize)l;
    }
  return -1;
}

/* The colour of what time was lost to: warm, unless it accuses nobody. */
static uint32_t
color_of (const LnsPalette *palette, LnsCause cause)
{
  return cause == LNS_CAUSE_START_UP || cause == LNS_CAUSE_TEAR_DOWN ||
                 cause == LNS_CAUSE_NOT_RECORDED || cause == LNS_CAUSE_UNKNOWN ||
                 cause == LNS_CAUSE_PROFILER
             ? palette->blocked_edge
             : palette->finding;
}

static void
snapshot_name (GtkWidget *widget,
               GtkSnapshot *snapshot,
               const char *name,
               uint32_t rgb,
               float x_px,
               float room_px,
               float height_px)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, name);
  const GdkRGBA color = lns_palette_rgba (rgb, 1);
  int text_px, line_px;

  pango_layout_set_width (layout, (int)(room_px * PANGO_SCALE));
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_get_pixel_size (layout, &text_px, &line_px);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot,
                          &GRAPHENE_POINT_INIT (x_px, floorf ((height_px - (float)line_px) / 2)));
  gtk_snapshot_append_layout (snapshot, layout, &color);
  gtk_snapshot_restore (snapshot);
}

void
lns_idle_tints_snapshot (const LnsRowContext *context,
                         const LnsRow *row,
                         GtkWidget *widget,
                         GtkSnapshot *snapshot,
                         const graphene_rect_t *body)
{
  const LnsWhy *why = lns_answer_get_why (context->answer);
  const gssize ledger = why != NULL ? ledger_of (why, row) : -1;
  const LnsScale *scale = lns_view_get_scale (context->view);
  const LnsPalette *palette = lns_palette_get (context->theme);
  const int64_t start_ns = lns_view_get_start_ns (context->view),
                end_ns = lns_view_get_end_ns (context->view);
  size_t n, first = 0;
  if (ledger < 0)
    return;
  const LnsIdle *idle = lns_answer_get_idle (context->answer, (size_t)ledger, &n);
  for (size_t end = n; first < end;)
    {
      const size_t middle = first + (end - first) / 2;
      if (idle[middle].end_ns <= start_ns)
        first = middle + 1;
      else
        end = middle;
    }
  const double least_ns = (double)lns_difference (end_ns, start_ns) /
                          MAX (1, lns_view_get_width_px (context->view)) * LEAST_PX;
  const float height_px = body->size.height - 1;
  unsigned n_named = 0;
  for (size_t i = first; i < n && idle[i].start_ns < end_ns; i++)
    {
      if ((double)(idle[i].end_ns - idle[i].start_ns) < least_ns)
        continue;
      const float from_px = (float)MAX (0, lns_scale_x_of (scale, idle[i].start_ns)),
                  to_px = (float)MIN (body->size.width, lns_scale_x_of (scale, idle[i].end_ns));
      const uint32_t rgb = color_of (palette, idle[i].cause);
      const GdkRGBA tint = lns_palette_rgba (rgb, TINT_ALPHA);
      gtk_snapshot_append_color (snapshot, &tint,
                                 &GRAPHENE_RECT_INIT (from_px, 0, to_px - from_px, height_px));
      if (to_px - from_px >= LEAST_NAMED_PX && n_named++ < MOST_NAMED)
        snapshot_name (widget, snapshot, lns_answer_get_label (context->answer, &idle[i]),
                       palette->text, from_px + LNS_LABEL_PAD_PX,
                       to_px - from_px - 2 * LNS_LABEL_PAD_PX, height_px);
    }
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/timeline-layout.h"

#include <math.h>

#define TILE_SLACK_PX 3
#define SNAP_PX       6

static gboolean
rows_at (const LnsTimelineLayout *self, double y, LnsTimelineRows **ret_rows, double *ret_y)
{
  LnsTimelineRows *both[] = { self->pinned, self->rows };
  for (int i = 0; i < 2; i++)
    {
      graphene_rect_t bounds;
      GtkWidget *widget = GTK_WIDGET (both[i]);
      if (!gtk_widget_get_child_visible (widget) ||
          !gtk_widget_compute_bounds (widget, self->timeline, &bounds))
        continue;
      *ret_y = y - bounds.origin.y;
      *ret_rows = both[i];
      if (*ret_y >= 0 && *ret_y < bounds.size.height)
        return TRUE;
    }
  return FALSE;
}

LnsTimelineHit
lns_timeline_layout_hit (const LnsTimelineLayout *self, double x, double y)
{
  LnsTimelineHit hit = { .context = self->context };
  LnsTimelineRows *rows;
  double rows_y, row_y, body_x = x - self->context->header_px;
  if (!rows_at (self, y, &rows, &rows_y))
    return hit;
  hit.row = lns_timeline_rows_row_at (rows, rows_y, &row_y);
  if (hit.row != NULL)
    hit.context = lns_timeline_row_get_context (hit.row);
  if (hit.row == NULL || body_x < 0 || body_x >= lns_view_get_width_px (self->context->view))
    return hit;
  hit.has_strip = lns_timeline_row_strip_at (hit.row, row_y, &hit.strip);
  if (!hit.has_strip)
    return hit;
  hit.tile = lns_tile_set_at (hit.context->tiles, &hit.strip, body_x, &hit.tile_x_px);
  double slack = hit.strip.kind == LNS_STRIP_MARKS ? TILE_SLACK_PX : 0.5;
  const LnsPixelEvent *event =
      hit.tile != NULL ? lns_tile_event_at (hit.tile, hit.tile_x_px, slack) : NULL;
  hit.has_event = event != NULL;
  if (event != NULL)
    {
      hit.event = *event;
      hit.state = hit.tile->spans != NULL ? hit.tile->spans[event - hit.tile->events].state
                                          : LNS_STATE_NONE;
      hit.has_state = hit.state != LNS_STATE_NONE;
      hit.function = hit.has_state ? hit.tile->spans[event - hit.tile->events].function : 0;
    }
  return hit;
}

/* The row that shows events of LANE as the rows are folded: that of a thread which combines them, or their own. */
static uint32_t
row_showing (const LnsRowTree *tree, uint32_t lane)
{
  const uint32_t own = lns_row_tree_row_of_lane (tree, lane);
  for (uint32_t row = own; row != LNS_ID_NONE; row = lns_row_tree_row (tree, row)->parent)
    {
      const LnsRow *it = lns_row_tree_row (tree, row);
      if (lns_row_is_combined (it) && !it->expanded)
        return row;
    }
  return own;
}

gboolean
lns_timeline_layout_lane_area (const LnsTimelineLayout *self,
                               uint32_t lane,
                               graphene_rect_t *ret_area)
{
  uint32_t id = row_showing (self->context->tree, lane);
  LnsTimelineRows *both[] = { self->rows, self->pinned };
  for (int i = 0; i < 2 && id != LNS_ID_NONE; i++)
    {
      int row_top_px, top_px, height_px;
      graphene_rect_t bounds;
      LnsTimelineRow *row = lns_timeline_rows_find (both[i], self->context->side, id, &row_top_px);
      if (row == NULL || !lns_timeline_row_strip_of_lane (row, lane, &top_px, &height_px) ||
          !gtk_widget_compute_bounds (GTK_WIDGET (both[i]), self->timeline, &bounds))
        continue;
      *ret_area = GRAPHENE_RECT_INIT (
          (float)self->context->header_px, bounds.origin.y + (float)(row_top_px + top_px),
          (float)lns_view_get_width_px (self->context->view), (float)height_px);
      return TRUE;
    }
  return FALSE;
}

graphene_rect_t
lns_timeline_layout_body (const LnsTimelineLayout *self)
{
  GtkWidget *const strips[] = { self->marks, self->critical };
  float top_px =
      (float)(gtk_widget_get_height (self->overview) + gtk_widget_get_height (self->ruler));
  for (size_t i = 0; i < G_N_ELEMENTS (strips); i++)
    if (gtk_widget_get_child_visible (strips[i]))
      top_px += (float)gtk_widget_get_height (strips[i]);
  return GRAPHENE_RECT_INIT ((float)self->context->header_px, top_px,
                             (float)lns_view_get_width_px (self->context->view),
                             (float)gtk_widget_get_height (self->timeline) - top_px);
}

/* --- Edges that attract ---------------------------------------------------------------------- */

typedef struct
{
  const LnsScale *scale; /* of the layout's report */
  int64_t shift_ns;      /* from the times of the report at hand to those of the layout's */
  double x_px;           /* of the area that shows time */
  double nearest_px;
  int64_t *time_ns; /* the nearest edge so far     */
} Snap;

static void
attract (Snap *snap, int64_t own_ns)
{
  const int64_t edge_ns = lns_sum (own_ns, snap->shift_ns);
  const double away_px = fabs (lns_scale_x_of (snap->scale, edge_ns) - snap->x_px);
  if (away_px >= snap->nearest_px)
    return;
  snap->nearest_px = away_px;
  *snap->time_ns = edge_ns;
}

void
lns_timeline_layout_snap (const LnsTimelineLayout *self, double x, double y, int64_t *time_ns)
{
  LnsView *view = self->context->view;
  int64_t start_ns, end_ns;
  const LnsTile *last = NULL;
  Snap snap = { lns_view_get_scale (view), 0, x - self->context->header_px, SNAP_PX, time_ns };
  if (lns_view_get_selected_event (view, NULL).lane != LNS_ID_NONE)
    {
      lns_view_get_selected_times (view, &start_ns, &end_ns);
      attract (&snap, start_ns);
      attract (&snap, end_ns);
    }
  const LnsTimelineHit hit = lns_timeline_layout_hit (self, x, y);
  snap.shift_ns =
      lns_difference (lns_view_get_shift_ns (hit.context->view), lns_view_get_shift_ns (view));
  /* The nearest edge may lie in the next tile. */
  for (int side = -1; side <= 1 && hit.has_strip; side++)
    {
      double tile_x;
      const LnsTile *tile =
          lns_tile_set_at (hit.context->tiles, &hit.strip, snap.x_px + side * SNAP_PX, &tile_x);
      for (uint32_t i = 0; tile != NULL && tile != last && i < tile->n_events; i++)
        {
          attract (&snap, tile->events[i].start_ns);
          attract (&snap, lns_sum (tile->events[i].start_ns, tile->events[i].duration_ns));
        }
      last = tile;
    }
}

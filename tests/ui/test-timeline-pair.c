/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the timeline with a second report: what is under the pointer, what is folded, what differs, and that the report goes again. */

#include <math.h>

#include "ui/model/pair.h"
#include "ui/timeline/row-difference.h"
#include "ui/timeline/timeline-actions.h"

#include "tests/ui/pair-fixture.h"
#include "tests/ui/timeline-fixture.h"

#define MS INT64_C (1000000)

static gboolean
is_beside (gpointer pair)
{
  return lns_pair_get_state (pair) == LNS_PAIR_BESIDE;
}

/* A timeline of two runs of a program, in the second of which the kernel takes half as long; both begin at one time. */
static LnsTimeline *
show_pair (void)
{
  const Made a[] = { { 10, "train", 0, 400 * MS } }, b[] = { { 20, "train", 0, 200 * MS } };
  g_autofree char *path_a = make ("a.rep", a, 1, 1000), *path_b = make ("b.rep", b, 1, 5000);
  g_autoptr (GFile) file = g_file_new_for_path (path_b);
  LnsTimeline *timeline = show_timeline (path_a);

  lns_pair_open (timeline->pair, file, FALSE);
  wait_for (is_beside, timeline->pair);
  lns_pair_align (timeline->pair, LNS_ALIGN_START);
  LNS_CHECK (timeline->guest != NULL);
  wait_for (is_complete, timeline);
  return timeline;
}

/* The first row of KIND of SIDE. */
static uint32_t
row_of_kind (LnsTimeline *timeline, int side, LnsRowKind kind)
{
  const LnsRowTree *tree = _lns_timeline_context_of (timeline, (guint)side)->tree;

  for (uint32_t v = 0; v < lns_row_tree_n_visible (tree); v++)
    if (lns_row_tree_row (tree, lns_row_tree_visible (tree, v))->kind == kind)
      return lns_row_tree_visible (tree, v);
  LNS_FAIL ("no row of kind %d", (int)kind);
}

/* What is in ROW of SIDE at TIME_NS of the axis. */
static LnsTimelineHit
hit (LnsTimeline *timeline, int side, uint32_t row, int64_t time_ns)
{
  int top_px;
  graphene_rect_t bounds;

  LNS_CHECK (lns_timeline_rows_find (timeline->rows, side, row, &top_px) != NULL);
  LNS_CHECK (
      gtk_widget_compute_bounds (GTK_WIDGET (timeline->rows), GTK_WIDGET (timeline), &bounds));
  return lns_timeline_layout_hit (
      &timeline->layout,
      timeline->context.header_px +
          lns_scale_x_of (lns_view_get_scale (timeline->context.view), time_ns),
      bounds.origin.y + (float)top_px + 8);
}

static void
each_row_has_the_events_of_its_report (void)
{
  LnsTimeline *timeline = show_pair ();
  const uint32_t rows[] = { row_of_kind (timeline, 0, LNS_ROW_KERNELS),
                            row_of_kind (timeline, 1, LNS_ROW_KERNELS) };

  for (int side = 0; side < 2; side++)
    {
      LnsTimelineHit both = hit (timeline, side, rows[side], 1000 + 100 * MS),
                     late = hit (timeline, side, rows[side], 1000 + 300 * MS);
      LNS_CHECK (both.has_event &&
                 both.context == _lns_timeline_context_of (timeline, (guint)side));
      LNS_CHECK_INT (both.event.duration_ns, (side == 0 ? 400 : 200) * MS);
      LNS_CHECK_INT (late.has_event, side == 0);
    }
  close_timeline (timeline);
}

static gboolean
is_selected (gpointer view)
{
  return lns_view_get_selected_event (view, NULL).lane != LNS_ID_NONE;
}

static void
an_event_of_b_is_selected_in_b (void)
{
  LnsTimeline *timeline = show_pair ();
  LnsView *a = timeline->context.view, *b = timeline->guest->context.view;
  const LnsTimelineHit found =
      hit (timeline, 1, row_of_kind (timeline, 1, LNS_ROW_KERNELS), 1000 + 100 * MS);

  lns_view_select_event (b, lns_view_event (b, found.event.lane, found.event.ordinal));
  wait_for (is_selected, b);
  LNS_CHECK_INT (lns_view_get_selected_event (b, NULL).source, 1);
  LNS_CHECK_INT (lns_view_get_selected_event (a, NULL).lane, LNS_ID_NONE);
  LNS_CHECK_INT (timeline->active, 1);
  /* Keys are about it: its time is selected, on the axis. */
  int64_t start_ns, end_ns;
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.select-event-time", NULL);
  LNS_CHECK (lns_view_get_time_selection (a, &start_ns, &end_ns));
  LNS_CHECK_INT (end_ns - start_ns, 200 * MS);
  LNS_CHECK_INT (start_ns, 1000 + 100);
  close_timeline (timeline);
}

static void
rows_of_b_follow_those_of_a (void)
{
  LnsTimeline *timeline = show_pair ();
  const LnsRowTree *a = timeline->context.tree, *b = timeline->guest->context.tree;
  const uint32_t device = row_of_kind (timeline, 0, LNS_ROW_DEVICE),
                 other = row_of_kind (timeline, 1, LNS_ROW_DEVICE);
  const guint n = lns_row_plan_n (&timeline->plan);

  LNS_CHECK (lns_row_tree_row (a, device)->expanded && lns_row_tree_row (b, other)->expanded);
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.change-row", "(sui)", "row.expand",
                              other, 1);
  LNS_CHECK (!lns_row_tree_row (a, device)->expanded && !lns_row_tree_row (b, other)->expanded);
  LNS_CHECK (lns_row_plan_n (&timeline->plan) < n && lns_row_plan_n (&timeline->plan) % 2 == 0);
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.change-row", "(sui)", "row.pin",
                              other, 1);
  LNS_CHECK_INT (lns_row_plan_n (&timeline->pinned_plan), 2);
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.change-row", "(sui)", "row.hide",
                              device, 0);
  LNS_CHECK (lns_row_tree_row (b, other)->is_hidden);
  close_timeline (timeline);
}

/* What of the difference in ROW of B is drawn Y_PX below its upper edge at TIME_NS of the axis, as ARGB. */
static uint32_t
difference_at (LnsTimeline *timeline, uint32_t row, int64_t time_ns, int y_px)
{
  const int width_px = lns_view_get_width_px (timeline->context.view), height_px = LNS_SUMMARY_PX;
  const double x_px = lns_scale_x_of (lns_view_get_scale (timeline->context.view), time_ns);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width_px, height_px);
  cairo_t *cr = cairo_create (surface);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  uint32_t argb;

  lns_row_difference_snapshot (&timeline->guest->context, row, snapshot,
                               &GRAPHENE_RECT_INIT (0, 0, (float)width_px, (float)height_px));
  g_autoptr (GskRenderNode) node = gtk_snapshot_free_to_node (snapshot);
  LNS_CHECK (node != NULL);
  gsk_render_node_draw (node, cr);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  memcpy (&argb,
          cairo_image_surface_get_data (surface) +
              (gssize)y_px * cairo_image_surface_get_stride (surface) + 4 * (gssize)x_px,
          sizeof argb);
  cairo_surface_destroy (surface);
  return argb;
}

static void
what_b_lacks_is_tinted (void)
{
  LnsTimeline *timeline = show_pair ();
  const uint32_t device = row_of_kind (timeline, 1, LNS_ROW_DEVICE);
  const int middle_px = LNS_SUMMARY_PX / 2, top_px = 2;

  LNS_CHECK_INT (difference_at (timeline, device, 1000 + 100 * MS, middle_px), 0);
  LNS_CHECK (difference_at (timeline, device, 1000 + 100 * MS, top_px) != 0);
  LNS_CHECK (difference_at (timeline, device, 1000 + 300 * MS, middle_px) != 0);
  LNS_CHECK (difference_at (timeline, device, 1000 + 300 * MS, top_px) != 0);
  LNS_CHECK_INT (difference_at (timeline, device, 1000 + 600 * MS, middle_px), 0);
  LNS_CHECK_INT (difference_at (timeline, device, 1000 + 600 * MS, top_px), 0);
  close_timeline (timeline);
}

static void
b_goes_again (void)
{
  LnsTimeline *timeline = show_pair ();
  const uint32_t n_rows = lns_row_tree_n_visible (timeline->context.tree);

  lns_pair_close (timeline->pair);
  LNS_CHECK (timeline->guest == NULL && timeline->context.other == NULL);
  LNS_CHECK_INT (lns_row_plan_n (&timeline->plan), n_rows);
  wait_for (is_complete, timeline);
  LNS_CHECK (lns_view_shows_all (timeline->context.view));
  close_timeline (timeline);
}

int
main (int argc, char **argv)
{
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  adw_init ();
  LNS_TEST (each_row_has_the_events_of_its_report);
  LNS_TEST (an_event_of_b_is_selected_in_b);
  LNS_TEST (rows_of_b_follow_those_of_a);
  LNS_TEST (what_b_lacks_is_tinted);
  LNS_TEST (b_goes_again);
  return lns_tap_done ();
}

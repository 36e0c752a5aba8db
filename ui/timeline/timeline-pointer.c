/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/timeline-pointer.h"

#include <math.h>

#include "ui/model/job.h"
#include "ui/timeline/timeline-overlay.h"

#define EDGE_PX         5
#define MIN_HEADER_PX   120
#define WHEEL_ZOOM      1.25
#define WHEEL_PAN_PX    90
#define WHEEL_SCROLL_PX 54
#define CLICK_SLACK_PX  3
#define MOVE_OTHER                                                                                 \
 (GDK_CONTROL_MASK | GDK_SHIFT_MASK) /* what is held down to drag the other report */

/* --- Pointing ------------------------------------------------------------------------------ */

/* Has EVENT, of what HIT is in, be the one under the pointer, and none in the other report. */
static void
set_hovered (LnsTimelinePointer *self, const LnsTimelineHit *hit)
{
  const LnsRowContext *contexts[] = { self->layout->context, self->layout->context->other };
  for (int i = 0; i < 2 && contexts[i] != NULL; i++)
    {
      LnsView *view = contexts[i]->view;
      const gboolean is_in = hit->has_event && hit->context == contexts[i];
      lns_view_set_hovered_event (view,
                                  is_in ? lns_view_event (view, hit->event.lane, hit->event.ordinal)
                                        : LNS_EVENT_NONE);
    }
}

void
lns_timeline_pointer_point (LnsTimelinePointer *self, double x, double y)
{
  self->x = x;
  self->y = y;
  LnsTimelineHit hit = { 0 };
  if (x >= 0 && self->drag == LNS_DRAG_NONE)
    hit = lns_timeline_layout_hit (self->layout, x, y);
  if (hit.has_event)
    self->hovered = hit.event;
  set_hovered (self, &hit);
  self->funcs->pointed (&hit, self->data);
}

static gboolean
at_header_edge (LnsTimelinePointer *self, double x)
{
  return fabs (x - self->layout->context->header_px) < EDGE_PX;
}

/* Whether X is at an edge of the selected time; then RET_OTHER_NS is the other one. */
static gboolean
at_band_edge (LnsTimelinePointer *self, double x, double y, int64_t *ret_other_ns)
{
  int64_t start_ns, end_ns;
  LnsView *view = self->layout->context->view;
  const graphene_rect_t body = lns_timeline_layout_body (self->layout);
  if (x < body.origin.x || y < body.origin.y ||
      !lns_view_get_time_selection (view, &start_ns, &end_ns))
    return FALSE;
  const LnsScale *scale = lns_view_get_scale (view);
  const double from_start_px = fabs (lns_scale_x_of (scale, start_ns) + body.origin.x - x);
  const double from_end_px = fabs (lns_scale_x_of (scale, end_ns) + body.origin.x - x);
  if (MIN (from_start_px, from_end_px) >= EDGE_PX)
    return FALSE;
  *ret_other_ns = from_start_px < from_end_px ? end_ns : start_ns;
  return TRUE;
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LnsTimelinePointer *self)
{
  if (x == self->x && y == self->y)
    return;
  int64_t other_ns;
  const gboolean at_edge = at_header_edge (self, x) || self->drag == LNS_DRAG_HEADER ||
                           self->drag == LNS_DRAG_EDGE || at_band_edge (self, x, y, &other_ns);
  gtk_widget_set_cursor_from_name (self->layout->timeline, at_edge ? "col-resize" : NULL);
  lns_timeline_pointer_point (self, x, y);
}

static void
leave_cb (GtkEventControllerMotion *controller, LnsTimelinePointer *self)
{
  lns_timeline_pointer_point (self, -1, -1);
}

/* Moves the view by (DX, DY) pixels. */
static void
move_by (double dx, double dy, gpointer data)
{
  LnsTimelinePointer *self = data;
  self->rest_px += dx;
  const double whole_px = round (self->rest_px);
  self->rest_px -= whole_px;
  if (whole_px != 0)
    lns_view_pan (self->layout->context->view, llround (whole_px));
  if (dy != 0)
    gtk_adjustment_set_value (self->adjustment, gtk_adjustment_get_value (self->adjustment) + dy);
  lns_timeline_pointer_point (self, self->x, self->y);
}

static void
zoom_by (LnsTimelinePointer *self, double x, double factor)
{
  LnsView *view = self->layout->context->view;
  lns_view_zoom_at (
      view, CLAMP (x - self->layout->context->header_px, 0, lns_view_get_width_px (view)), factor);
  lns_timeline_pointer_point (self, self->x, self->y);
}

static gboolean
scroll_cb (GtkEventControllerScroll *controller, double dx, double dy, LnsTimelinePointer *self)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  lns_glide_stop (&self->glide);
  self->scrolled = state;
  if (state & GDK_CONTROL_MASK)
    zoom_by (self, self->x, pow (WHEEL_ZOOM, -dy));
  else if (state & GDK_SHIFT_MASK)
    move_by ((dy != 0 ? dy : dx) * WHEEL_PAN_PX, 0, self);
  else
    move_by (dx * WHEEL_PAN_PX, dy * WHEEL_SCROLL_PX, self);
  return GDK_EVENT_STOP;
}

/* The fingers left the touchpad while they moved by (DX, DY) a second. */
static void
decelerate_cb (GtkEventControllerScroll *controller, double dx, double dy, LnsTimelinePointer *self)
{
  if (self->scrolled & GDK_CONTROL_MASK)
    return;
  const gboolean sideways = (self->scrolled & GDK_SHIFT_MASK) != 0;
  lns_glide_start (&self->glide, self->layout->timeline,
                   (sideways && dy != 0 ? dy : dx) * WHEEL_PAN_PX,
                   sideways ? 0 : dy * WHEEL_SCROLL_PX, move_by, self);
}

static void
pinch_begin_cb (GtkGesture *gesture, GdkEventSequence *sequence, LnsTimelinePointer *self)
{
  lns_glide_stop (&self->glide);
  self->pinched = 1;
}

static void
pinch_cb (GtkGestureZoom *gesture, double scale, LnsTimelinePointer *self)
{
  double x, y;
  if (scale <= 0 || scale == self->pinched)
    return;
  if (!gtk_gesture_is_active (GTK_GESTURE (gesture)) ||
      !gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &x, &y))
    x = self->x;
  zoom_by (self, x, scale / self->pinched);
  self->pinched = scale;
}

/* --- Dragging ------------------------------------------------------------------------------ */

static int64_t
time_at (LnsTimelinePointer *self, double x)
{
  const LnsScale *scale = lns_view_get_scale (self->layout->context->view);
  double body_x = CLAMP (x - self->layout->context->header_px, 0.0,
                         (double)lns_view_get_width_px (self->layout->context->view));
  return lns_scale_time_of (scale, scale->first_px + llround (body_x));
}

/* The same, or the edge of an event at (X, Y) that is near. */
static int64_t
snapped_time_at (LnsTimelinePointer *self, double x, double y)
{
  int64_t time_ns = time_at (self, x);
  lns_timeline_layout_snap (self->layout, x, y, &time_ns);
  return time_ns;
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LnsTimelinePointer *self)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  gboolean is_primary =
      gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (gesture)) == GDK_BUTTON_PRIMARY;
  float overview_px = (float)gtk_widget_get_height (self->layout->overview);
  gtk_widget_grab_focus (self->layout->timeline);
  self->drag_first_px = lns_view_get_scale (self->layout->context->view)->first_px;
  self->drag_start_ns = snapped_time_at (self, x, y);
  self->drag_adds = (state & GDK_CONTROL_MASK) != 0;
  self->drag_has_band = FALSE;
  self->drag_header_px = self->layout->context->header_px;
  if (is_primary && at_header_edge (self, x))
    self->drag = LNS_DRAG_HEADER;
  /* With Alt, window managers move the window. */
  else if (is_primary && (state & MOVE_OTHER) == MOVE_OTHER && self->layout->context->other != NULL)
    {
      self->drag = LNS_DRAG_OTHER;
      self->funcs->other_dragged (TRUE, 0, self->data);
    }
  else if (x < self->layout->context->header_px || y < overview_px)
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
  else if (!is_primary || state & GDK_SHIFT_MASK)
    self->drag = LNS_DRAG_PAN;
  else if (!self->drag_adds && at_band_edge (self, x, y, &self->drag_start_ns))
    self->drag = LNS_DRAG_EDGE;
  else
    self->drag = LNS_DRAG_BAND;
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LnsTimelinePointer *self)
{
  double x, y;
  LnsView *view = self->layout->context->view;
  if (self->drag == LNS_DRAG_NONE || !gtk_gesture_drag_get_start_point (gesture, &x, &y))
    return;
  if (self->drag == LNS_DRAG_PAN)
    lns_view_pan (view, self->drag_first_px - llround (dx) - lns_view_get_scale (view)->first_px);
  else if (self->drag == LNS_DRAG_OTHER)
    self->funcs->other_dragged (FALSE, dx, self->data);
  else if (self->drag == LNS_DRAG_EDGE)
    lns_view_move_time_selection (view, self->drag_start_ns,
                                  snapped_time_at (self, x + dx, y + dy));
  else if (self->drag == LNS_DRAG_BAND && fabs (dx) > CLICK_SLACK_PX)
    {
      const int64_t end_ns = snapped_time_at (self, x + dx, y + dy);
      if (self->drag_adds)
        lns_view_add_time_selection (view, self->drag_start_ns, end_ns);
      else if (self->drag_has_band)
        lns_view_move_time_selection (view, self->drag_start_ns, end_ns);
      else
        lns_view_set_time_selection (view, self->drag_start_ns, end_ns);
      self->drag_adds = FALSE;
      self->drag_has_band = TRUE;
    }
  else if (self->drag == LNS_DRAG_HEADER)
    {
      int most = gtk_widget_get_width (self->layout->timeline) / 2;
      self->funcs->header_dragged (
          (int)CLAMP (self->drag_header_px + dx, MIN_HEADER_PX, MAX (most, MIN_HEADER_PX)),
          self->data);
    }
}

typedef struct
{
  LnsView *view; /* owned */
  uint32_t lane;
  int64_t time_ns, before_ns;
  LnsFacetSet *set; /* owned; where lanes are merged, else NULL */
  uint32_t facet;
  gboolean found;
  LnsEventId id; /* if found */
} Nearest;

static void
nearest_free (gpointer data)
{
  Nearest *wanted = data;
  lns_facet_set_unref (wanted->set);
  g_object_unref (wanted->view);
  g_free (wanted);
}

/* Finds the first event of the facet that touches the wanted time. */
static gboolean
find_in_facet (LnsReport *report, Nearest *wanted)
{
  LnsFacetEvent events[LNS_FACET_BLOCK];
  LnsEvent event = { 0 };
  uint64_t number = lns_facet_find (wanted->set, wanted->facet, wanted->time_ns);
  for (unsigned n = 1; n > 0 && event.start_ns < wanted->before_ns; number += n)
    {
      n = lns_facet_events (wanted->set, wanted->facet, number, events);
      for (unsigned i = 0; i < n && event.start_ns < wanted->before_ns; i++)
        {
          wanted->id = (LnsEventId){ .lane = events[i].lane, .ordinal = events[i].ordinal };
          if (!lns_report_event (report, events[i].lane, events[i].ordinal, &event, NULL))
            return FALSE;
          if (event.start_ns < wanted->before_ns &&
              lns_sum (event.start_ns, event.duration_ns) >= wanted->time_ns)
            return TRUE;
        }
    }
  return FALSE;
}

static void
find_nearest (LnsWorker *worker, gpointer job)
{
  Nearest *wanted = job;
  LnsReport *report = worker->report;
  LnsEvent event;
  LnsEventId *id = &wanted->id;
  id->lane = wanted->lane;
  wanted->found = wanted->set != NULL
                      ? find_in_facet (report, wanted)
                      : lns_report_find (report, id->lane, wanted->time_ns, &id->ordinal, NULL) &&
                            id->ordinal < lns_report_lane_info (report, id->lane)->n_events &&
                            lns_report_event (report, id->lane, id->ordinal, &event, NULL) &&
                            event.start_ns < wanted->before_ns;
}

static void
nearest_found_cb (gpointer job, gpointer owner)
{
  const Nearest *wanted = job;
  if (wanted->found)
    lns_view_select_event (wanted->view,
                           lns_view_event (wanted->view, wanted->id.lane, wanted->id.ordinal));
}

static const LnsJobFuncs nearest_funcs = { find_nearest, nearest_found_cb, nearest_free };

/* Has a worker find the event under a pixel where events are too narrow to be drawn one by one. */
static void
select_narrow (LnsTimelinePointer *self, const LnsTimelineHit *hit, double x)
{
  const LnsPixel *pixels = hit->tile != NULL ? hit->tile->pixels : NULL;
  int p = (int)(hit->tile_x_px * (hit->tile != NULL ? hit->tile->key.scale : 1));
  const LnsRow *row = lns_row_tree_row (hit->context->tree, hit->has_strip ? hit->strip.row : 0);
  const uint32_t lane = pixels == NULL              ? LNS_ID_NONE
                        : hit->tile->narrow != NULL ? hit->tile->narrow[p]
                                                    : hit->strip.lane;
  if (pixels == NULL || (lane == LNS_ID_NONE && row->set == NULL) ||
      hit->strip.kind == LNS_STRIP_SUMMARY || (pixels[p].count == 0 && pixels[p].busy <= 0))
    {
      lns_view_select_event (hit->context->view, LNS_EVENT_NONE);
      return;
    }
  const LnsScale *scale = lns_view_get_scale (hit->context->view);
  int64_t px = scale->first_px + (int64_t)floor (x - self->layout->context->header_px);
  Nearest *wanted = g_new (Nearest, 1);
  *wanted = (Nearest){ .view = g_object_ref (hit->context->view),
                       .lane = lane,
                       .time_ns = lns_scale_time_of (scale, px),
                       .before_ns = lns_sum (lns_scale_time_of (scale, px + 1), 1),
                       .facet = row->facet };
  if (lane == LNS_ID_NONE)
    wanted->set = lns_facet_set_ref ((LnsFacetSet *)row->set);
  lns_job_start (&self->finding, hit->context->view, &nearest_funcs, wanted, self);
}

static void
click (LnsTimelinePointer *self, double x, double y)
{
  LnsTimelineHit hit = lns_timeline_layout_hit (self->layout, x, y);
  lns_job_cancel (&self->finding);
  for (const LnsRowContext *it = self->layout->context; it != NULL;
       it = it == self->layout->context ? it->other : NULL)
    {
      LnsTimelineLayout layout = *self->layout;
      layout.context = it;
      if (!lns_timeline_overlay_is_hint (&layout, x, y))
        continue;
      lns_view_reveal_other_end (it->view, lns_view_get_selected_event (it->view, NULL));
      return;
    }
  lns_view_clear_time_selection (self->layout->context->view);
  if (hit.row != NULL)
    gtk_widget_grab_focus (GTK_WIDGET (hit.row));
  if (hit.has_event)
    lns_view_select_event_at (hit.context->view,
                              lns_view_event (hit.context->view, hit.event.lane, hit.event.ordinal),
                              hit.event.start_ns);
  else
    select_narrow (self, &hit, x);
}

static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LnsTimelinePointer *self)
{
  double x, y;
  LnsDragMode mode = self->drag;
  self->drag = LNS_DRAG_NONE;
  if (mode == LNS_DRAG_BAND && fabs (dx) <= CLICK_SLACK_PX &&
      gtk_gesture_drag_get_start_point (gesture, &x, &y))
    click (self, x, y);
}

/* --- Controllers --------------------------------------------------------------------------- */

static void
menu_pressed_cb (
    GtkGestureClick *gesture, int n_press, double x, double y, LnsTimelinePointer *self)
{
  LnsTimelineHit hit = lns_timeline_layout_hit (self->layout, x, y);
  graphene_point_t at;
  if (hit.row != NULL && gtk_widget_compute_point (self->layout->timeline, GTK_WIDGET (hit.row),
                                                   &GRAPHENE_POINT_INIT ((float)x, (float)y), &at))
    self->funcs->menu_wanted (hit.row, &hit, (int)at.x, (int)at.y, self->data);
}

/* Each button has a gesture of its own. A gesture for all buttons would see the press that opens a menu but not its
 * release, which goes to the menu, and would take the next press for an interruption. */
static void
add_drag (LnsTimelinePointer *self, GtkWidget *timeline, guint button)
{
  GtkGesture *drag = gtk_gesture_drag_new ();
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (drag), button);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  gtk_widget_add_controller (timeline, GTK_EVENT_CONTROLLER (drag));
}

void
lns_timeline_pointer_init (LnsTimelinePointer *self,
                           GtkWidget *timeline,
                           const LnsTimelineLayout *layout,
                           GtkAdjustment *adjustment,
                           const LnsTimelinePointerFuncs *funcs,
                           gpointer data)
{
  *self = (LnsTimelinePointer){ .x = -1,
                                .y = -1,
                                .layout = layout,
                                .adjustment = adjustment,
                                .funcs = funcs,
                                .data = data,
                                .pinched = 1 };

  GtkEventController *motion = gtk_event_controller_motion_new ();
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (timeline, motion);

  GtkEventController *scroll = gtk_event_controller_scroll_new (
      GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES | GTK_EVENT_CONTROLLER_SCROLL_KINETIC);
  g_signal_connect (scroll, "scroll", G_CALLBACK (scroll_cb), self);
  g_signal_connect (scroll, "decelerate", G_CALLBACK (decelerate_cb), self);
  gtk_widget_add_controller (timeline, scroll);

  GtkGesture *pinch = gtk_gesture_zoom_new ();
  g_signal_connect (pinch, "begin", G_CALLBACK (pinch_begin_cb), self);
  g_signal_connect (pinch, "scale-changed", G_CALLBACK (pinch_cb), self);
  gtk_widget_add_controller (timeline, GTK_EVENT_CONTROLLER (pinch));

  add_drag (self, timeline, GDK_BUTTON_PRIMARY);
  add_drag (self, timeline, GDK_BUTTON_MIDDLE);

  GtkGesture *menu = gtk_gesture_click_new ();
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (menu), GDK_BUTTON_SECONDARY);
  g_signal_connect (menu, "pressed", G_CALLBACK (menu_pressed_cb), self);
  gtk_widget_add_controller (timeline, GTK_EVENT_CONTROLLER (menu));
}

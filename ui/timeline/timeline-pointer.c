/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The mouse: a drag selects time, with Shift or the middle button it moves the view; a click
 * selects an event; Ctrl+wheel zooms at the pointer, Shift+wheel moves; the right button has the
 * menu, which keys open too. The edge of the headers is dragged to make them wider. */

#include <glib/gi18n.h>
#include <math.h>

#include "ui/timeline/timeline-private.h"

#define EDGE_PX         5
#define MIN_HEADER_PX   120
#define WHEEL_ZOOM      1.25
#define WHEEL_PAN_PX    90
#define WHEEL_SCROLL_PX 54
#define CLICK_SLACK_PX  3
#define TILE_SLACK_PX   3
#define KEY_MENU_PX     20 /* below a row's top: where a key opens its menu */

/* --- What is where ------------------------------------------------------------------------- */

static gboolean
rows_at (LnsTimeline *self, double y, LnsTimelineRows **ret_rows, double *ret_y)
{
  LnsTimelineRows *both[] = { self->pinned, self->rows };
  for (int i = 0; i < 2; i++)
    {
      graphene_rect_t bounds;
      GtkWidget *widget = GTK_WIDGET (both[i]);
      if (!gtk_widget_get_child_visible (widget) ||
          !gtk_widget_compute_bounds (widget, GTK_WIDGET (self), &bounds))
        continue;
      *ret_y = y - bounds.origin.y;
      *ret_rows = both[i];
      if (*ret_y >= 0 && *ret_y < bounds.size.height)
        return TRUE;
    }
  return FALSE;
}

LnsTimelineHit
_lns_timeline_hit (LnsTimeline *self, double x, double y)
{
  LnsTimelineHit hit = { 0 };
  LnsTimelineRows *rows;
  double rows_y, row_y, body_x = x - self->context.header_px;
  int top_px, height_px;
  if (!rows_at (self, y, &rows, &rows_y))
    return hit;
  hit.row = lns_timeline_rows_row_at (rows, rows_y, &row_y);
  if (hit.row == NULL || body_x < 0 || body_x >= lns_view_get_width_px (self->context.view))
    return hit;
  hit.has_strip = lns_timeline_row_strip_at (hit.row, row_y, &hit.strip, &top_px, &height_px);
  if (!hit.has_strip)
    return hit;
  hit.tile = lns_tile_set_at (self->context.tiles, &hit.strip, body_x, &hit.tile_x_px);
  double slack = hit.strip.kind == LNS_STRIP_MARKS ? TILE_SLACK_PX : 0.5;
  const LnsPixelEvent *event =
      hit.tile != NULL ? lns_tile_event_at (hit.tile, hit.tile_x_px, slack) : NULL;
  hit.has_event = event != NULL;
  if (event != NULL)
    hit.event = *event;
  return hit;
}

gboolean
_lns_timeline_lane_area (LnsTimeline *self, uint32_t lane, graphene_rect_t *ret_area)
{
  uint32_t id = lns_row_tree_row_of_lane (self->context.tree, lane);
  LnsTimelineRows *both[] = { self->rows, self->pinned };
  for (int i = 0; i < 2 && id != LNS_ID_NONE; i++)
    {
      int row_top_px, top_px, height_px;
      graphene_rect_t bounds;
      LnsTimelineRow *row = lns_timeline_rows_find (both[i], id, &row_top_px);
      if (row == NULL || !lns_timeline_row_strip_of_lane (row, lane, &top_px, &height_px) ||
          !gtk_widget_compute_bounds (GTK_WIDGET (both[i]), GTK_WIDGET (self), &bounds))
        continue;
      *ret_area = GRAPHENE_RECT_INIT (
          (float)self->context.header_px, bounds.origin.y + (float)(row_top_px + top_px),
          (float)lns_view_get_width_px (self->context.view), (float)height_px);
      return TRUE;
    }
  return FALSE;
}

/* --- Pointing ------------------------------------------------------------------------------ */

void
_lns_timeline_point (LnsTimeline *self, double x, double y)
{
  self->pointer_x = x;
  self->pointer_y = y;
  lns_ruler_set_pointer (self->ruler, x - self->context.header_px);
  LnsTimelineHit hit = { 0 };
  if (x >= 0 && self->drag == LNS_DRAG_NONE)
    hit = _lns_timeline_hit (self, x, y);
  if (hit.has_event)
    self->hovered = hit.event;
  lns_view_set_hovered_event (self->context.view,
                              hit.has_event ? (LnsEventId){ hit.event.lane, hit.event.ordinal }
                                            : LNS_EVENT_NONE);
  _lns_timeline_update_tooltip (self, &hit);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static gboolean
at_header_edge (LnsTimeline *self, double x)
{
  return fabs (x - self->context.header_px) < EDGE_PX;
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LnsTimeline *self)
{
  if (x == self->pointer_x && y == self->pointer_y)
    return;
  gtk_widget_set_cursor_from_name (
      GTK_WIDGET (self),
      at_header_edge (self, x) || self->drag == LNS_DRAG_HEADER ? "col-resize" : NULL);
  _lns_timeline_point (self, x, y);
}

static void
leave_cb (GtkEventControllerMotion *controller, LnsTimeline *self)
{
  _lns_timeline_point (self, -1, -1);
}

static gboolean
scroll_cb (GtkEventControllerScroll *controller, double dx, double dy, LnsTimeline *self)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  LnsView *view = self->context.view;
  double x = self->pointer_x - self->context.header_px;
  if (state & GDK_CONTROL_MASK)
    lns_view_zoom_at (view, CLAMP (x, 0, lns_view_get_width_px (view)), pow (WHEEL_ZOOM, -dy));
  else if (state & GDK_SHIFT_MASK)
    lns_view_pan (view, llround ((dy != 0 ? dy : dx) * WHEEL_PAN_PX));
  else
    {
      if (dx != 0)
        lns_view_pan (view, llround (dx * WHEEL_PAN_PX));
      gtk_adjustment_set_value (self->adjustment,
                                gtk_adjustment_get_value (self->adjustment) + dy * WHEEL_SCROLL_PX);
    }
  _lns_timeline_point (self, self->pointer_x, self->pointer_y);
  return GDK_EVENT_STOP;
}

/* --- Dragging ------------------------------------------------------------------------------ */

static int64_t
time_at (LnsTimeline *self, double x)
{
  const LnsScale *scale = lns_view_get_scale (self->context.view);
  double body_x =
      CLAMP (x - self->context.header_px, 0.0, (double)lns_view_get_width_px (self->context.view));
  return lns_scale_time_of (scale, scale->first_px + llround (body_x));
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LnsTimeline *self)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  gboolean is_primary =
      gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (gesture)) == GDK_BUTTON_PRIMARY;
  float overview_px = (float)gtk_widget_get_height (GTK_WIDGET (self->overview));
  gtk_widget_grab_focus (GTK_WIDGET (self));
  self->drag_first_px = lns_view_get_scale (self->context.view)->first_px;
  self->drag_start_ns = time_at (self, x);
  self->drag_header_px = self->context.header_px;
  if (is_primary && at_header_edge (self, x))
    self->drag = LNS_DRAG_HEADER;
  else if (x < self->context.header_px || y < overview_px)
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
  else if (!is_primary || state & GDK_SHIFT_MASK)
    self->drag = LNS_DRAG_PAN;
  else
    self->drag = LNS_DRAG_BAND;
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LnsTimeline *self)
{
  double x, y;
  LnsView *view = self->context.view;
  if (self->drag == LNS_DRAG_NONE || !gtk_gesture_drag_get_start_point (gesture, &x, &y))
    return;
  if (self->drag == LNS_DRAG_PAN)
    lns_view_pan (view, self->drag_first_px - llround (dx) - lns_view_get_scale (view)->first_px);
  else if (self->drag == LNS_DRAG_BAND && fabs (dx) > CLICK_SLACK_PX)
    lns_view_set_time_selection (view, self->drag_start_ns, time_at (self, x + dx));
  else if (self->drag == LNS_DRAG_HEADER)
    {
      int most = gtk_widget_get_width (GTK_WIDGET (self)) / 2;
      self->context.header_px =
          (int)CLAMP (self->drag_header_px + dx, MIN_HEADER_PX, MAX (most, MIN_HEADER_PX));
      _lns_timeline_rows_changed (self);
      gtk_widget_queue_allocate (GTK_WIDGET (self));
    }
}

static void
nearest_found_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  LnsEventId *id = g_task_propagate_pointer (G_TASK (result), NULL);
  if (id != NULL)
    lns_view_select_event (LNS_VIEW (source), *id);
  g_free (id);
}

typedef struct
{
  uint32_t lane;
  int64_t time_ns, before_ns;
  LnsFacetSet *set; /* owned; where lanes are merged, else NULL */
  uint32_t facet;
} Nearest;

static void
nearest_free (gpointer data)
{
  lns_facet_set_unref (((Nearest *)data)->set);
  g_free (data);
}

/* The first event of the facet that touches the wanted time. */
static gboolean
find_in_facet (LnsReport *report, const Nearest *wanted, LnsEventId *ret_id)
{
  LnsFacetEvent events[LNS_FACET_BLOCK];
  LnsEvent event = { 0 };
  uint64_t number = lns_facet_find (wanted->set, wanted->facet, wanted->time_ns);
  for (unsigned n = 1; n > 0 && event.start_ns < wanted->before_ns; number += n)
    {
      n = lns_facet_events (wanted->set, wanted->facet, number, events);
      for (unsigned i = 0; i < n && event.start_ns < wanted->before_ns; i++)
        {
          *ret_id = (LnsEventId){ events[i].lane, events[i].ordinal };
          if (!lns_report_event (report, events[i].lane, events[i].ordinal, &event, NULL))
            return FALSE;
          if (event.start_ns < wanted->before_ns &&
              lns_time_add (event.start_ns, event.duration_ns) >= wanted->time_ns)
            return TRUE;
        }
    }
  return FALSE;
}

static void
find_nearest (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Nearest *wanted = data;
  LnsReport *report = lns_view_get_report (source);
  LnsEvent event;
  LnsEventId id = { wanted->lane, 0 };
  gboolean found = wanted->set != NULL
                       ? find_in_facet (report, wanted, &id)
                       : lns_report_find (report, id.lane, wanted->time_ns, &id.ordinal, NULL) &&
                             id.ordinal < lns_report_lane_info (report, id.lane)->n_events &&
                             lns_report_event (report, id.lane, id.ordinal, &event, NULL) &&
                             event.start_ns < wanted->before_ns;
  g_task_return_pointer (task, found ? g_memdup2 (&id, sizeof id) : NULL, g_free);
}

/* An event too narrow to be drawn by itself: a worker looks which one lies under the pixel. */
static void
select_narrow (LnsTimeline *self, const LnsTimelineHit *hit, double x)
{
  const LnsPixel *pixels = hit->tile != NULL ? hit->tile->pixels : NULL;
  int p = (int)(hit->tile_x_px * (hit->tile != NULL ? hit->tile->key.scale : 1));
  const LnsRow *row = lns_row_tree_row (self->context.tree, hit->has_strip ? hit->strip.row : 0);
  if (pixels == NULL || (hit->strip.lane == LNS_ID_NONE && row->set == NULL) ||
      hit->strip.kind == LNS_STRIP_SUMMARY || (pixels[p].count == 0 && pixels[p].busy <= 0))
    {
      lns_view_select_event (self->context.view, LNS_EVENT_NONE);
      return;
    }
  const LnsScale *scale = lns_view_get_scale (self->context.view);
  int64_t px = scale->first_px + (int64_t)floor (x - self->context.header_px);
  Nearest *wanted = g_new (Nearest, 1);
  *wanted = (Nearest){ hit->strip.lane, lns_scale_time_of (scale, px),
                       lns_time_add (lns_scale_time_of (scale, px + 1), 1), NULL, row->facet };
  if (hit->strip.lane == LNS_ID_NONE)
    wanted->set = lns_facet_set_ref ((LnsFacetSet *)row->set);
  g_autoptr (GTask) task = g_task_new (self->context.view, NULL, nearest_found_cb, NULL);
  g_task_set_task_data (task, wanted, nearest_free);
  g_task_run_in_thread (task, find_nearest);
}

static void
click (LnsTimeline *self, double x, double y)
{
  LnsTimelineHit hit = _lns_timeline_hit (self, x, y);
  lns_view_clear_time_selection (self->context.view);
  if (hit.row != NULL)
    gtk_widget_grab_focus (GTK_WIDGET (hit.row));
  if (hit.has_event)
    lns_view_select_event (self->context.view, (LnsEventId){ hit.event.lane, hit.event.ordinal });
  else
    select_narrow (self, &hit, x);
}

static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LnsTimeline *self)
{
  double x, y;
  LnsDragMode mode = self->drag;
  self->drag = LNS_DRAG_NONE;
  if (mode == LNS_DRAG_BAND && fabs (dx) <= CLICK_SLACK_PX &&
      gtk_gesture_drag_get_start_point (gesture, &x, &y))
    click (self, x, y);
}

/* --- Menu ---------------------------------------------------------------------------------- */

static GMenuModel *
menu_model (LnsTimeline *self, LnsTimelineRow *row)
{
  GMenu *menu = g_menu_new (), *section = g_menu_new ();
  g_menu_append (section, _ ("_Show in Events View"), "row.show-in-events");
  g_menu_append (section, _ ("_Zoom to Row"), "row.zoom-to");
  g_menu_append (section, lns_timeline_row_is_pinned (row) ? _ ("Un_pin Row") : _ ("_Pin Row"),
                 "row.pin");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
  g_object_unref (section);
  section = g_menu_new ();
  g_menu_append (section, _ ("Zoom to _Event"), "timeline.zoom-to-event");
  if (_lns_timeline_has_other_end (self))
    g_menu_append (section, _ ("_Go to the Other End"), "timeline.go-to-other-end");
  g_menu_append (section, _ ("_Copy Name"), "timeline.copy-name");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
  g_object_unref (section);
  section = g_menu_new ();
  g_menu_append (section, _ ("Un_fold All Rows"), "timeline.expand-all");
  g_menu_append (section, _ ("Fold _All Rows"), "timeline.collapse-all");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
  g_object_unref (section);
  return G_MENU_MODEL (menu);
}

static gboolean
drop_menu_cb (gpointer data)
{
  gtk_widget_unparent (data);
  return G_SOURCE_REMOVE;
}

/* The chosen item acts after the menu has closed: what it is about is forgotten after that. GTK would
 * give the focus to the first widget of the window. */
static void
menu_closed_cb (GtkPopover *popover, LnsTimeline *self)
{
  gtk_widget_grab_focus (gtk_widget_get_parent (GTK_WIDGET (popover)));
  g_idle_add_full (G_PRIORITY_LOW, drop_menu_cb, g_object_ref (popover), g_object_unref);
}

/* The menu of ROW at (X, Y) of it, about HIT's event, if there is one. */
static void
show_menu (LnsTimeline *self, LnsTimelineRow *row, const LnsTimelineHit *hit, int x, int y)
{
  self->menu_event =
      hit->has_event ? (LnsEventId){ hit->event.lane, hit->event.ordinal } : LNS_EVENT_NONE;
  self->menu_name = hit->has_event ? hit->event.name : 0;
  _lns_timeline_update_actions (self);
  _lns_timeline_hide_tooltip (self);

  g_autoptr (GMenuModel) model = menu_model (self, row);
  GtkWidget *menu = gtk_popover_menu_new_from_model (model);
  gtk_widget_set_parent (menu, GTK_WIDGET (row));
  gtk_popover_set_has_arrow (GTK_POPOVER (menu), FALSE);
  gtk_widget_set_halign (menu, GTK_ALIGN_START);
  gtk_popover_set_pointing_to (GTK_POPOVER (menu), &(GdkRectangle){ x, y, 1, 1 });
  g_signal_connect_object (menu, "closed", G_CALLBACK (menu_closed_cb), self, 0);
  gtk_popover_popup (GTK_POPOVER (menu));
}

static void
menu_pressed_cb (GtkGestureClick *gesture, int n_press, double x, double y, LnsTimeline *self)
{
  LnsTimelineHit hit = _lns_timeline_hit (self, x, y);
  graphene_point_t at;
  if (hit.row != NULL && gtk_widget_compute_point (GTK_WIDGET (self), GTK_WIDGET (hit.row),
                                                   &GRAPHENE_POINT_INIT ((float)x, (float)y), &at))
    show_menu (self, hit.row, &hit, (int)at.x, (int)at.y);
}

void
_lns_timeline_show_menu (LnsTimeline *self)
{
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (GTK_WIDGET (self)));
  GtkWidget *row = focus != NULL ? gtk_widget_get_ancestor (focus, LNS_TYPE_TIMELINE_ROW) : NULL;
  LnsTimelineHit nothing = { 0 };
  if (row != NULL)
    show_menu (self, LNS_TIMELINE_ROW (row), &nothing, self->context.header_px,
               MIN (gtk_widget_get_height (row), KEY_MENU_PX));
}

/* --- Controllers --------------------------------------------------------------------------- */

/* A gesture for each button, none for all of them: a gesture that sees the press of a menu never
 * sees its release, which goes to the menu, and takes the next press for an interruption. */
static void
add_drag (LnsTimeline *self, guint button)
{
  GtkGesture *drag = gtk_gesture_drag_new ();
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (drag), button);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
}

void
_lns_timeline_add_pointer (LnsTimeline *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);

  GtkEventController *scroll =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect (scroll, "scroll", G_CALLBACK (scroll_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), scroll);

  add_drag (self, GDK_BUTTON_PRIMARY);
  add_drag (self, GDK_BUTTON_MIDDLE);

  GtkGesture *menu = gtk_gesture_click_new ();
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (menu), GDK_BUTTON_SECONDARY);
  g_signal_connect (menu, "pressed", G_CALLBACK (menu_pressed_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (menu));
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/timeline-actions.h"

#include <glib/gi18n.h>

#include "ui/model/context-menu.h"
#include "ui/model/linked-events.h"
#include "ui/timeline/travel.h"

#define KEY_MENU_PX 20 /* from a row's upper edge to the menu that a key opens */
#define PIN_ITEM    3  /* the last one of row_section in timeline.ui */
#define ZOOM_STEP   1.5
#define PAN_SHARE   0.125                     /* of the width in one step */
#define EDGE_SHARE  (1.0 / 64)                /* of the width, by which keys move an edge */
#define MAX_PAN_PX  ((double)(INT64_MAX / 4)) /* longer than any report */

/* The timeline whose class the actions were given to. */
static LnsTimeline *
of (GtkWidget *widget)
{
  return (LnsTimeline *)widget;
}

static LnsView *
view_of (LnsTimeline *self, LnsEventId id)
{
  return _lns_timeline_context_of (self, id.source)->view;
}

/* --- Which actions can do something -------------------------------------------------------- */

/* Exact for the selected event. For others, tells whether events of their kind can be linked. */
static gboolean
has_other_end (LnsTimeline *self)
{
  guint n;
  LnsEventId id = _lns_timeline_subject (self);
  LnsView *view = view_of (self, id);
  if (id.lane == LNS_ID_NONE)
    return FALSE;
  lns_view_get_linked_events (view, &n);
  if (lns_event_id_equal (id, lns_view_get_selected_event (view, NULL)))
    return n > 0;
  return lns_linked_events_possible (lns_view_get_report (view), id.lane);
}

void
lns_timeline_actions_update (LnsTimeline *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gboolean band = lns_view_get_time_selection (self->context.view, NULL, NULL);
  gboolean event = _lns_timeline_subject (self).lane != LNS_ID_NONE;
  gboolean rows = lns_row_tree_n_rows (self->context.tree) > 0;
  gtk_widget_action_set_enabled (widget, "timeline.zoom-to-selection", band);
  gtk_widget_action_set_enabled (widget, "timeline.zoom-to-event", event);
  gtk_widget_action_set_enabled (widget, "timeline.go-to-other-end", has_other_end (self));
  gtk_widget_action_set_enabled (widget, "timeline.undo-zoom",
                                 lns_view_can_undo_zoom (self->context.view));
  gtk_widget_action_set_enabled (widget, "timeline.redo-zoom",
                                 lns_view_can_redo_zoom (self->context.view));
  gtk_widget_action_set_enabled (widget, "timeline.expand-all", rows);
  gtk_widget_action_set_enabled (widget, "timeline.collapse-all", rows);
  const gboolean is_gray = self->context.coloring.only_name != 0;
  gtk_widget_action_set_enabled (widget, "timeline.clear-selection", band || event || is_gray);
  gtk_widget_action_set_enabled (widget, "timeline.gray-others", event);
  gtk_widget_action_set_enabled (widget, "timeline.filter", band || event);
  gtk_widget_action_set_enabled (widget, "timeline.undo-filter", band);
  gtk_widget_action_set_enabled (widget, "timeline.color-all", is_gray);
  gtk_widget_action_set_enabled (widget, "timeline.copy-name", event || self->menu_name != 0);
}

/* --- Menu ---------------------------------------------------------------------------------- */

void
lns_timeline_actions_show_menu (
    LnsTimeline *self, LnsTimelineRow *row, const LnsTimelineHit *hit, int x, int y)
{
  self->menu_event = hit->has_event
                         ? lns_view_event (hit->context->view, hit->event.lane, hit->event.ordinal)
                         : LNS_EVENT_NONE;
  self->menu_name = hit->has_event ? hit->event.name : 0;
  self->menu_start_ns = hit->event.start_ns;
  self->menu_end_ns = lns_sum (hit->event.start_ns, hit->event.duration_ns);
  lns_timeline_actions_update (self);
  lns_timeline_tooltip_hide (self->words);

  g_menu_remove (self->row_section, PIN_ITEM);
  g_menu_append (self->row_section,
                 lns_timeline_row_is_pinned (row) ? _ ("Un_pin Row") : _ ("_Pin Row"), "row.pin");
  lns_context_menu_open (GTK_WIDGET (row), GTK_WIDGET (row), self->row_menu, x, y);
}

/* Opens the menu of the row that has the focus. */
static void
show_focus_menu (LnsTimeline *self, double unused)
{
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (GTK_WIDGET (self)));
  GtkWidget *row = focus != NULL ? gtk_widget_get_ancestor (focus, LNS_TYPE_TIMELINE_ROW) : NULL;
  LnsTimelineHit nothing = { 0 };
  if (row != NULL)
    lns_timeline_actions_show_menu (self, LNS_TIMELINE_ROW (row), &nothing, self->context.header_px,
                                    MIN (gtk_widget_get_height (row), KEY_MENU_PX));
}

/* --- Actions ------------------------------------------------------------------------------- */

/* The place where keys zoom: the pointer, or else the middle. */
static double
zoom_x_px (LnsTimeline *self)
{
  double x_px = self->pointer.x - self->context.header_px;
  double width_px = lns_view_get_width_px (self->context.view);
  return x_px >= 0 && x_px < width_px ? x_px : width_px / 2;
}

static void
zoom (LnsTimeline *self, double factor)
{
  lns_view_zoom_at (self->context.view, zoom_x_px (self), factor);
}

static void
zoom_fit (LnsTimeline *self, double unused)
{
  lns_view_fit (self->context.view);
}

static void
zoom_to_selection (LnsTimeline *self, double unused)
{
  lns_view_zoom_to_selection (self->context.view);
}

/* Shows the event with half its length on each side. Reveals an event first if its times are not known yet. */
static void
zoom_to_event (LnsTimeline *self, double unused)
{
  LnsEventId id = _lns_timeline_subject (self);
  LnsView *view = view_of (self, id);
  if (!lns_event_id_equal (lns_view_get_selected_event (view, NULL), id))
    {
      lns_view_reveal_event (view, id);
      return;
    }
  int64_t start_ns, end_ns;
  lns_view_get_selected_times (view, &start_ns, &end_ns);
  int64_t around_ns = MAX (lns_difference (end_ns, start_ns) / 2, 10);
  lns_view_show_span (view, lns_difference (start_ns, around_ns), lns_sum (end_ns, around_ns));
}

static void
go_to_other_end (LnsTimeline *self, double unused)
{
  lns_view_reveal_other_end (view_of (self, _lns_timeline_subject (self)),
                             _lns_timeline_subject (self));
}

static void
walk_linked (LnsTimeline *self, double direction)
{
  lns_view_walk_linked (_lns_timeline_active_view (self), (int)direction);
}

/* Selects the time of the selected event; beside what is selected, if ADDS. */
static void
select_event_time (LnsTimeline *self, double adds)
{
  int64_t start_ns, end_ns;
  LnsView *view = _lns_timeline_active_view (self);
  if (lns_view_get_selected_event (view, NULL).lane == LNS_ID_NONE)
    return;
  lns_view_get_selected_times (view, &start_ns, &end_ns);
  if (adds != 0)
    lns_view_add_time_selection (view, start_ns, end_ns);
  else
    lns_view_set_time_selection (view, start_ns, end_ns);
}

/* How far an edge of the selected time moves by a key: SHARE of what is in view. */
static int64_t
edge_step_ns (LnsTimeline *self, double share)
{
  return (int64_t)(share * lns_scale_ns_per_px (lns_view_get_scale (self->context.view)) *
                   lns_view_get_width_px (self->context.view));
}

static void
move_start (LnsTimeline *self, double share)
{
  int64_t start_ns, end_ns;
  if (lns_view_get_time_selection (self->context.view, &start_ns, &end_ns))
    lns_view_move_time_selection (
        self->context.view, MIN (lns_sum (start_ns, edge_step_ns (self, share)), end_ns), end_ns);
}

/* Where no time is selected, one begins in the middle of the view. */
static void
move_end (LnsTimeline *self, double share)
{
  int64_t start_ns, end_ns;
  LnsView *view = self->context.view;
  if (!lns_view_get_time_selection (view, &start_ns, &end_ns))
    start_ns = end_ns = lns_view_get_start_ns (view) / 2 + lns_view_get_end_ns (view) / 2;
  lns_view_move_time_selection (view, start_ns,
                                MAX (lns_sum (end_ns, edge_step_ns (self, share)), start_ns));
}

static void
go_to_event (LnsTimeline *self, double direction)
{
  lns_travel_event (_lns_timeline_active_view (self), (int)direction, FALSE, &self->travelling,
                    self);
}

static void
go_to_alike (LnsTimeline *self, double direction)
{
  lns_travel_event (_lns_timeline_active_view (self), (int)direction, TRUE, &self->travelling,
                    self);
}

static void
go_to_longest (LnsTimeline *self, double direction)
{
  lns_travel_longest (_lns_timeline_active_view (self), (int)direction, &self->travelling, self);
}

static void
go_to_finding (LnsTimeline *self, double direction)
{
  lns_travel_finding (self->context.answer, self->context.view, (int)direction);
}

static void
go_to_idle (LnsTimeline *self, double direction)
{
  lns_travel_idle (self->context.answer, self->context.view, (int)direction);
}

static void
go_to_step (LnsTimeline *self, double direction)
{
  lns_travel_step (self->context.answer, self->context.view, (int)direction);
}

static void
go_along_path (LnsTimeline *self, double direction)
{
  lns_critical_walk (self->path, (int)direction);
}

static void
go_to_bookmark (LnsTimeline *self, double direction)
{
  lns_bookmarks_step (self->bookmarks, (int)direction);
}

static void
undo_zoom (LnsTimeline *self, double unused)
{
  lns_view_undo_zoom (self->context.view);
}

static void
redo_zoom (LnsTimeline *self, double unused)
{
  lns_view_redo_zoom (self->context.view);
}

/* Moves by SHARE of the span in view, at most to an end of the report. */
static void
pan (LnsTimeline *self, double share)
{
  lns_view_pan (
      self->context.view,
      (int64_t)CLAMP (share * lns_view_get_width_px (self->context.view), -MAX_PAN_PX, MAX_PAN_PX));
}

static void
set_all_expanded (LnsTimeline *self, double expanded)
{
  lns_timeline_tree_set_all_expanded (&self->rows_of, expanded != 0);
  if (self->guest != NULL)
    lns_timeline_tree_set_all_expanded (&self->guest->rows_of, expanded != 0);
}

static void
unfold_depth (LnsTimeline *self, double depth)
{
  lns_timeline_tree_unfold_depth (&self->rows_of, (uint32_t)depth);
  if (self->guest != NULL)
    lns_timeline_tree_unfold_depth (&self->guest->rows_of, (uint32_t)depth);
}

static void
show_hidden (LnsTimeline *self, double unused)
{
  lns_timeline_tree_show_hidden (&self->rows_of);
  if (self->guest != NULL)
    lns_timeline_tree_show_hidden (&self->guest->rows_of);
}

static void
reset_view (LnsTimeline *self, double unused)
{
  lns_timeline_tree_reset (&self->rows_of);
  if (self->guest != NULL)
    lns_timeline_tree_reset (&self->guest->rows_of);
  lns_view_clear_time_selection (self->context.view);
  lns_view_fit (self->context.view);
}

/* What came last goes first. */
static void
clear_selection (LnsTimeline *self, double unused)
{
  if (self->context.coloring.only_name != 0)
    {
      _lns_timeline_color_all (self, 0);
      return;
    }
  lns_view_clear_time_selection (self->context.view);
  lns_view_select_event (self->context.view, LNS_EVENT_NONE);
  if (self->guest != NULL)
    lns_view_select_event (self->guest->context.view, LNS_EVENT_NONE);
}

static const struct
{
  const char *name;
  void (*act) (LnsTimeline *self, double amount);
  double amount;
} actions[] = {
  { "timeline.zoom-in", zoom, ZOOM_STEP },
  { "timeline.zoom-out", zoom, 1 / ZOOM_STEP },
  { "timeline.zoom-fit", zoom_fit, 0 },
  { "timeline.zoom-to-selection", zoom_to_selection, 0 },
  { "timeline.zoom-to-event", zoom_to_event, 0 },
  { "timeline.go-to-other-end", go_to_other_end, 0 },
  { "timeline.next-linked", walk_linked, 1 },
  { "timeline.previous-linked", walk_linked, -1 },
  { "timeline.select-event-time", select_event_time, FALSE },
  { "timeline.add-event-time", select_event_time, TRUE },
  { "timeline.start-earlier", move_start, -EDGE_SHARE },
  { "timeline.start-later", move_start, EDGE_SHARE },
  { "timeline.end-earlier", move_end, -EDGE_SHARE },
  { "timeline.end-later", move_end, EDGE_SHARE },
  { "timeline.next-event", go_to_event, 1 },
  { "timeline.previous-event", go_to_event, -1 },
  { "timeline.next-alike", go_to_alike, 1 },
  { "timeline.previous-alike", go_to_alike, -1 },
  { "timeline.next-longest", go_to_longest, 1 },
  { "timeline.previous-longest", go_to_longest, -1 },
  { "timeline.next-finding", go_to_finding, 1 },
  { "timeline.previous-finding", go_to_finding, -1 },
  { "timeline.next-idle", go_to_idle, 1 },
  { "timeline.previous-idle", go_to_idle, -1 },
  { "timeline.next-step", go_to_step, 1 },
  { "timeline.previous-step", go_to_step, -1 },
  { "timeline.next-link", go_along_path, 1 },
  { "timeline.previous-link", go_along_path, -1 },
  { "timeline.next-bookmark", go_to_bookmark, 1 },
  { "timeline.previous-bookmark", go_to_bookmark, -1 },
  { "timeline.undo-zoom", undo_zoom, 0 },
  { "timeline.redo-zoom", redo_zoom, 0 },
  { "timeline.pan-left", pan, -PAN_SHARE },
  { "timeline.pan-right", pan, PAN_SHARE },
  { "timeline.go-start", pan, -MAX_PAN_PX },
  { "timeline.go-end", pan, MAX_PAN_PX },
  { "timeline.expand-all", set_all_expanded, TRUE },
  { "timeline.collapse-all", set_all_expanded, FALSE },
  { "timeline.unfold-1", unfold_depth, 1 },
  { "timeline.unfold-2", unfold_depth, 2 },
  { "timeline.unfold-3", unfold_depth, 3 },
  { "timeline.unfold-4", unfold_depth, 4 },
  { "timeline.show-hidden", show_hidden, 0 },
  { "timeline.reset-view", reset_view, 0 },
  { "timeline.clear-selection", clear_selection, 0 },
  { "timeline.copy-name", _lns_timeline_copy_name, 0 },
  { "timeline.filter", _lns_timeline_filter, 0 },
  { "timeline.undo-filter", _lns_timeline_undo_filter, 0 },
  { "timeline.gray-others", _lns_timeline_gray_others, 0 },
  { "timeline.color-all", _lns_timeline_color_all, 0 },
  { "timeline.show-menu", show_focus_menu, 0 },
};

static void
act_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  for (size_t i = 0; i < G_N_ELEMENTS (actions); i++)
    if (g_str_equal (actions[i].name, name))
      actions[i].act (of (widget), actions[i].amount);
}

/* What is done to a row: the name of its action, the row, and of which report it is. What is done to one of B is done to that of A with
 * the same role, which B follows. */
static void
change_row_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsTimeline *self = of (widget);
  const char *action;
  uint32_t row;
  int side;
  g_variant_get (parameter, "(&sui)", &action, &row, &side);
  const uint32_t other = side == 1 && self->guest != NULL
                             ? lns_row_pairs_other (&self->guest->pairs, 1, row)
                             : LNS_ID_NONE;
  if (side == 0 || other != LNS_ID_NONE)
    lns_timeline_tree_change_row (&self->rows_of, action, side == 0 ? row : other);
  else if (self->guest != NULL)
    lns_timeline_tree_change_row (&self->guest->rows_of, action, row);
}

void
lns_timeline_actions_install (GtkWidgetClass *widget_class)
{
  for (size_t i = 0; i < G_N_ELEMENTS (actions); i++)
    gtk_widget_class_install_action (widget_class, actions[i].name, NULL, act_cb);
  gtk_widget_class_install_action (widget_class, "timeline.change-row", "(sui)", change_row_cb);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/display-text.h"
#include "ui/model/linked-events.h"
#include "ui/timeline/timeline-private.h"

#define ZOOM_STEP 1.5
#define PAN_SHARE 8 /* of the width, a step */

typedef void (*Act) (LnsTimeline *self);

/* Keys zoom where the pointer is, or else in the middle. */
static double
zoom_x_px (LnsTimeline *self)
{
  double x_px = self->pointer_x - self->context.header_px;
  double width_px = lns_view_get_width_px (self->context.view);
  return x_px >= 0 && x_px < width_px ? x_px : width_px / 2;
}

static void
zoom_in (LnsTimeline *self)
{
  lns_view_zoom_at (self->context.view, zoom_x_px (self), ZOOM_STEP);
}

static void
zoom_out (LnsTimeline *self)
{
  lns_view_zoom_at (self->context.view, zoom_x_px (self), 1 / ZOOM_STEP);
}

static void
zoom_fit (LnsTimeline *self)
{
  lns_view_fit (self->context.view);
}

static void
zoom_to_selection (LnsTimeline *self)
{
  lns_view_zoom_to_selection (self->context.view);
}

/* The event that the menu is about, or else the selected one. */
static LnsEventId
subject (LnsTimeline *self)
{
  return self->menu_event.lane != LNS_ID_NONE
             ? self->menu_event
             : lns_view_get_selected_event (self->context.view, NULL);
}

/* The event with as much again around it; one whose values are not known yet is found first. */
static void
zoom_to_event (LnsTimeline *self)
{
  LnsEvent event;
  LnsEventId id = subject (self);
  if (!lns_event_id_equal (lns_view_get_selected_event (self->context.view, &event), id))
    {
      lns_view_reveal_event (self->context.view, id);
      return;
    }
  int64_t around_ns = MAX (event.duration_ns / 2, 10);
  lns_view_show_span (self->context.view, event.start_ns - around_ns,
                      lns_time_add (lns_time_add (event.start_ns, event.duration_ns), around_ns));
}

static void
go_to_other_end (LnsTimeline *self)
{
  lns_view_reveal_other_end (self->context.view, subject (self));
}

/* Of the selected event it is known, of another one only whether events of its kind can be tied. */
gboolean
_lns_timeline_has_other_end (LnsTimeline *self)
{
  guint n;
  LnsReport *report = lns_view_get_report (self->context.view);
  LnsEventId id = subject (self);
  if (id.lane == LNS_ID_NONE)
    return FALSE;
  lns_view_get_linked_events (self->context.view, &n);
  if (lns_event_id_equal (id, lns_view_get_selected_event (self->context.view, NULL)))
    return n > 0;
  return lns_linked_events_possible (report, id.lane);
}

static void
undo_zoom (LnsTimeline *self)
{
  lns_view_undo_zoom (self->context.view);
}

static void
pan_left (LnsTimeline *self)
{
  lns_view_pan (self->context.view, -lns_view_get_width_px (self->context.view) / PAN_SHARE);
}

static void
pan_right (LnsTimeline *self)
{
  lns_view_pan (self->context.view, lns_view_get_width_px (self->context.view) / PAN_SHARE);
}

static void
go_start (LnsTimeline *self)
{
  lns_view_pan (self->context.view, INT64_MIN / 4);
}

static void
go_end (LnsTimeline *self)
{
  lns_view_pan (self->context.view, INT64_MAX / 4);
}

static void
set_all_expanded (LnsTimeline *self, gboolean expanded)
{
  if (lns_row_tree_set_all_expanded (self->context.tree, expanded))
    _lns_timeline_rows_changed (self);
}

static void
expand_all (LnsTimeline *self)
{
  set_all_expanded (self, TRUE);
}

static void
collapse_all (LnsTimeline *self)
{
  set_all_expanded (self, FALSE);
}

static void
clear_selection (LnsTimeline *self)
{
  lns_view_clear_time_selection (self->context.view);
  lns_view_select_event (self->context.view, LNS_EVENT_NONE);
}

static void
copy_name (LnsTimeline *self)
{
  LnsEvent event;
  uint32_t name = self->menu_name;
  if (name == 0 && lns_view_get_selected_event (self->context.view, &event).lane != LNS_ID_NONE)
    name = event.name;
  size_t size_bytes;
  const char *bytes =
      lns_report_string (lns_view_get_report (self->context.view), name, &size_bytes);
  /* The name as it is where the clipboard can hold it: text is UTF-8 without a zero. */
  g_autofree char *text = g_utf8_validate_len (bytes, size_bytes, NULL)
                              ? g_strndup (bytes, size_bytes)
                              : lns_display_text (bytes, size_bytes, FALSE);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text);
}

static const struct
{
  const char *name;
  Act act;
} actions[] = {
  { "timeline.zoom-in", zoom_in },
  { "timeline.zoom-out", zoom_out },
  { "timeline.zoom-fit", zoom_fit },
  { "timeline.zoom-to-selection", zoom_to_selection },
  { "timeline.zoom-to-event", zoom_to_event },
  { "timeline.go-to-other-end", go_to_other_end },
  { "timeline.undo-zoom", undo_zoom },
  { "timeline.pan-left", pan_left },
  { "timeline.pan-right", pan_right },
  { "timeline.go-start", go_start },
  { "timeline.go-end", go_end },
  { "timeline.expand-all", expand_all },
  { "timeline.collapse-all", collapse_all },
  { "timeline.clear-selection", clear_selection },
  { "timeline.copy-name", copy_name },
  { "timeline.show-menu", _lns_timeline_show_menu },
};

static void
act_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  for (size_t i = 0; i < G_N_ELEMENTS (actions); i++)
    if (g_str_equal (actions[i].name, name))
      actions[i].act (LNS_TIMELINE (widget));
}

void
_lns_timeline_install_actions (GtkWidgetClass *widget_class)
{
  for (size_t i = 0; i < G_N_ELEMENTS (actions); i++)
    gtk_widget_class_install_action (widget_class, actions[i].name, NULL, act_cb);
}

void
_lns_timeline_update_actions (LnsTimeline *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gboolean band = lns_view_get_time_selection (self->context.view, NULL, NULL);
  gboolean event = subject (self).lane != LNS_ID_NONE;
  gboolean rows = lns_row_tree_n_rows (self->context.tree) > 0;
  gtk_widget_action_set_enabled (widget, "timeline.zoom-to-selection", band);
  gtk_widget_action_set_enabled (widget, "timeline.zoom-to-event", event);
  gtk_widget_action_set_enabled (widget, "timeline.go-to-other-end",
                                 _lns_timeline_has_other_end (self));
  gtk_widget_action_set_enabled (widget, "timeline.undo-zoom",
                                 lns_view_can_undo_zoom (self->context.view));
  gtk_widget_action_set_enabled (widget, "timeline.expand-all", rows);
  gtk_widget_action_set_enabled (widget, "timeline.collapse-all", rows);
  gtk_widget_action_set_enabled (widget, "timeline.clear-selection", band || event);
  gtk_widget_action_set_enabled (widget, "timeline.copy-name", event || self->menu_name != 0);
}

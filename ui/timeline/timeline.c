/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <adwaita.h>
#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/model/theme.h"
#include "ui/model/context-menu.h"
#include "ui/model/display-text.h"
#include "ui/model/job.h"
#include "ui/model/linked-events.h"
#include "ui/model/shortcuts.h"
#include "ui/timeline/timeline-private.h"
#include "ui/timeline/travel.h"

#define MAX_HEADER_SHARE    0.4 /* of the width, unless the user drags them wider */
#define MAX_PINNED_SHARE    0.5
#define DESCRIBE_AFTER_MSEC 50
#define TOOLTIP_DX_PX       14
#define TOOLTIP_DY_PX       18
#define KEY_MENU_PX         20 /* from a row's upper edge to the menu that a key opens */
#define HIDDEN_PAD_PX       8  /* around the words that tell of hidden rows */
#define DIVIDER_PX          3  /* between the pinned rows and the others */
#define PIN_ITEM            3  /* the last one of row_section in timeline.ui */
#define ZOOM_STEP           1.5
#define PAN_SHARE           0.125                     /* of the width in one step */
#define EDGE_SHARE          (1.0 / 64)                /* of the width, by which keys move an edge */
#define MAX_PAN_PX          ((double)(INT64_MAX / 4)) /* longer than any report */

G_DEFINE_FINAL_TYPE (LnsTimeline, lns_timeline, GTK_TYPE_WIDGET)

static guint rows_changed_signal;

static gboolean
describe_cb (gpointer data)
{
  LnsTimeline *self = data;
  self->describing = 0;
  lns_timeline_rows_update_descriptions (self->pinned);
  lns_timeline_rows_update_descriptions (self->rows);
  return G_SOURCE_REMOVE;
}

/* Updates descriptions once a movement has ended, because each update costs a message. */
static void
describe_later (LnsTimeline *self)
{
  g_clear_handle_id (&self->describing, g_source_remove);
  self->describing = g_timeout_add (DESCRIBE_AFTER_MSEC, describe_cb, self);
}

static void
redraw_rows (LnsTimeline *self)
{
  lns_timeline_rows_redraw (self->pinned);
  lns_timeline_rows_redraw (self->rows);
}

/* Makes the next frame ask for the tiles that are missing. */
static void
prepare_tiles (LnsTimeline *self)
{
  self->unprepared = TRUE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- Which actions can do something -------------------------------------------------------- */

/* The event of the open menu, or else the selected one. */
static LnsEventId
subject (LnsTimeline *self)
{
  return self->menu_event.lane != LNS_ID_NONE
             ? self->menu_event
             : lns_view_get_selected_event (self->context.view, NULL);
}

/* Exact for the selected event. For others, tells whether events of their kind can be linked. */
static gboolean
has_other_end (LnsTimeline *self)
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
update_actions (LnsTimeline *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gboolean band = lns_view_get_time_selection (self->context.view, NULL, NULL);
  gboolean event = subject (self).lane != LNS_ID_NONE;
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
  gtk_widget_action_set_enabled (widget, "timeline.clear-selection", band || event);
  gtk_widget_action_set_enabled (widget, "timeline.copy-name", event || self->menu_name != 0);
}

/* --- What the view tells ------------------------------------------------------------------- */

/* Tells what the overview is of, and how much of it is in view. */
static void
update_corner (LnsTimeline *self)
{
  char text[LNS_FORMAT_SIZE], whole[LNS_FORMAT_SIZE];
  LnsView *view = self->context.view;
  int64_t first_ns, last_ns;
  lns_view_get_whole (view, &first_ns, &last_ns);
  lns_format_duration (MAX (lns_difference (last_ns, first_ns), 0), whole);
  first_ns = MAX (first_ns, lns_view_get_start_ns (view));
  last_ns = MIN (last_ns, lns_view_get_end_ns (view));
  lns_format_duration (MAX (lns_difference (last_ns, first_ns), 0), text);
  g_autofree char *label =
      lns_view_shows_all (view)
          ? g_strdup_printf (_ ("%s in view"), text) /* Translators: "1.052 s in view" */
          : g_strdup_printf (_ ("%s of %s in view"), text, whole); /* "3 ms of 1.052 s in view" */
  g_autofree char *above = lns_overview_get_text (self->overview);
  g_autofree char *all = g_strjoin (*above != '\0' ? "\n" : "", above, label, NULL);
  gtk_inscription_set_text (self->corner,
                            lns_row_tree_n_rows (self->context.tree) > 0 ? all : NULL);
}

static void
span_changed_cb (LnsTimeline *self)
{
  update_corner (self);
  if (self->words != NULL)
    lns_timeline_tooltip_hide (self->words); /* the event has moved away from the pointer */
  redraw_rows (self);
  prepare_tiles (self);
  update_actions (self);
  describe_later (self);
}

static void
selection_changed_cb (LnsTimeline *self)
{
  gtk_widget_queue_draw (GTK_WIDGET (self));
  update_actions (self);
}

static void
event_selected_cb (LnsTimeline *self, gboolean reveal)
{
  LnsEvent event;
  LnsEventId id = lns_view_get_selected_event (self->context.view, &event);
  uint32_t row = lns_row_tree_row_of_lane (self->context.tree, id.lane);
  selection_changed_cb (self);
  if (!reveal || row == LNS_ID_NONE)
    return;
  if (lns_row_tree_unfold_to (self->context.tree, row))
    _lns_timeline_rows_changed (self);
  const LnsRow *it = lns_row_tree_row (self->context.tree, row);
  const uint32_t *lanes = lns_row_tree_lanes (self->context.tree) + it->lanes;
  for (uint32_t i = 0; i < it->n_own; i++)
    if (lanes[i] == id.lane)
      {
        uint32_t n = lns_row_kind_is_merged (it->kind) ? 0 : i;
        LnsStrip strip =
            lns_strip_of (lns_view_get_report (self->context.view), self->context.tree, row, n);
        int top_px = lns_strip_top_px (&strip, n);
        lns_timeline_rows_scroll_to (self->rows, row, top_px - strip.lane_px,
                                     top_px + lns_strip_height_px (&strip) + strip.lane_px);
      }
}

const LnsRowTree *
lns_timeline_get_tree (LnsTimeline *self)
{
  return self->context.tree;
}

void
lns_timeline_reveal_row (LnsTimeline *self, uint32_t row)
{
  LnsRowTree *tree = self->context.tree;
  const uint32_t parent = lns_row_tree_row (tree, row)->parent;
  int top_px;

  const gboolean was_hidden = lns_row_tree_set_hidden (tree, row, false);
  if ((parent != LNS_ID_NONE && lns_row_tree_unfold_to (tree, parent)) || was_hidden)
    _lns_timeline_rows_changed (self);
  lns_timeline_rows_scroll_to (self->rows, row, 0, lns_row_tree_height_px (tree, row));
  LnsTimelineRow *widget = lns_timeline_rows_find (self->rows, row, &top_px);
  if (widget != NULL)
    gtk_widget_grab_focus (GTK_WIDGET (widget));
}

static void
tile_changed_cb (uint32_t row, gpointer data)
{
  LnsTimeline *self = data;
  lns_timeline_rows_redraw_row (self->pinned, row);
  lns_timeline_rows_redraw_row (self->rows, row);
  prepare_tiles (self);
  describe_later (self);
}

static void
theme_changed_cb (LnsTimeline *self)
{
  self->context.theme = lns_theme_now ();
  redraw_rows (self);
  gtk_widget_queue_draw (GTK_WIDGET (self->overview));
  prepare_tiles (self);
}

/* --- Rows ----------------------------------------------------------------------------------- */

void
lns_timeline_restore_rows (LnsTimeline *self, LnsKeptView *view)
{
  lns_timeline_tree_restore (&self->rows_of, view);
}

void
lns_timeline_tell_rows (LnsTimeline *self, LnsKeptView *view)
{
  lns_row_state_tell (&self->rows_of.state, self->context.tree,
                      lns_view_get_report (self->context.view), self->rows_of.pinned, view);
}

gboolean
lns_timeline_has_hidden_rows (LnsTimeline *self)
{
  return lns_timeline_tree_n_hidden (&self->rows_of) > 0;
}

/* Says under the last row how many are hidden. */
static void
update_hidden (LnsTimeline *self)
{
  const guint n = lns_timeline_tree_n_hidden (&self->rows_of);
  g_autofree char *text =
      n > 0 ? g_strdup_printf (ngettext ("%u row is hidden", "%u rows are hidden", n), n) : NULL;
  gtk_inscription_set_text (self->hidden, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->hidden), text);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "timeline.show-hidden", n > 0);
}

void
_lns_timeline_rows_changed (LnsTimeline *self)
{
  lns_timeline_rows_sync (self->pinned);
  lns_timeline_rows_sync (self->rows);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  prepare_tiles (self);
  update_actions (self);
  update_hidden (self);
  describe_later (self);
  lns_timeline_tree_read (&self->rows_of);
  g_signal_emit (self, rows_changed_signal, 0);
}

static void
rows_changed_cb (gpointer owner)
{
  _lns_timeline_rows_changed (owner);
}

static void
redraw_cb (gpointer owner)
{
  redraw_rows (owner);
}

static const LnsTimelineTreeFuncs tree_funcs = { rows_changed_cb, redraw_cb };

/* The view's report is a newer snapshot of BEFORE: there is more of it, or names were added to what had ended. */
static void
grown_cb (LnsTimeline *self, LnsReport *before)
{
  LnsRowContext *context = &self->context;
  LnsReport *report = lns_view_get_report (context->view);
  LnsRowTree *old = context->tree;
  PangoContext *pango = gtk_widget_get_pango_context (GTK_WIDGET (self));
  if (lns_report_info (before)->state == LNS_STATE_RECORDING)
    context->tree = lns_row_state_grow (&self->rows_of.state, old, report, self->rows_of.pinned);
  lns_tile_set_grow (context->tiles, before, context->tree);
  if (context->tree != old)
    lns_row_tree_unref (old);
  lns_tile_labels_free (context->labels);
  context->labels = lns_tile_labels_new (report, pango_context_get_font_description (pango));
  _lns_timeline_fit_lanes (self);
  _lns_timeline_find_functions (self);
  lns_timeline_tree_follow (&self->rows_of);
  self->fitting_header_px = _lns_timeline_fitting_header_px (self);
  lns_overview_grow (self->overview, context->tree);
  gtk_widget_set_visible (self->empty, lns_row_tree_n_rows (context->tree) == 0);
  _lns_timeline_rows_changed (self);
  update_corner (self);
}

/* What is done to a row: the name of its action, and the row. */
static void
change_row_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const char *action;
  uint32_t row;
  g_variant_get (parameter, "(&su)", &action, &row);
  lns_timeline_tree_change_row (&LNS_TIMELINE (widget)->rows_of, action, row);
}

/* --- What its parts tell ------------------------------------------------------------------- */

static void
pointed_cb (const LnsTimelineHit *hit, gpointer data)
{
  LnsTimeline *self = data;
  lns_ruler_set_pointer (self->ruler, self->pointer.x - self->context.header_px);
  if (self->words != NULL)
    lns_timeline_tooltip_update (self->words, hit);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
header_dragged_cb (int header_px, gpointer data)
{
  LnsTimeline *self = data;
  self->context.header_px = header_px;
  self->has_own_header = TRUE;
  _lns_timeline_rows_changed (self);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

/* --- Menu ---------------------------------------------------------------------------------- */

/* Opens the menu of ROW at (X, Y) of the row, for the event of HIT if there is one. */
static void
show_menu (LnsTimelineRow *row, const LnsTimelineHit *hit, int x, int y, gpointer data)
{
  LnsTimeline *self = data;
  self->menu_event =
      hit->has_event ? (LnsEventId){ hit->event.lane, hit->event.ordinal } : LNS_EVENT_NONE;
  self->menu_name = hit->has_event ? hit->event.name : 0;
  update_actions (self);
  lns_timeline_tooltip_hide (self->words);

  g_menu_remove (self->row_section, PIN_ITEM);
  g_menu_append (self->row_section,
                 lns_timeline_row_is_pinned (row) ? _ ("Un_pin Row") : _ ("_Pin Row"), "row.pin");
  lns_context_menu_open (GTK_WIDGET (row), GTK_WIDGET (row), self->row_menu, x, y);
}

static const LnsTimelinePointerFuncs pointer_funcs = { pointed_cb, header_dragged_cb, show_menu };

/* Opens the menu of the row that has the focus. */
static void
show_focus_menu (LnsTimeline *self, double unused)
{
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (GTK_WIDGET (self)));
  GtkWidget *row = focus != NULL ? gtk_widget_get_ancestor (focus, LNS_TYPE_TIMELINE_ROW) : NULL;
  LnsTimelineHit nothing = { 0 };
  if (row != NULL)
    show_menu (LNS_TIMELINE_ROW (row), &nothing, self->context.header_px,
               MIN (gtk_widget_get_height (row), KEY_MENU_PX), self);
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
  LnsEventId id = subject (self);
  if (!lns_event_id_equal (lns_view_get_selected_event (self->context.view, NULL), id))
    {
      lns_view_reveal_event (self->context.view, id);
      return;
    }
  int64_t start_ns, end_ns;
  lns_view_get_selected_times (self->context.view, &start_ns, &end_ns);
  int64_t around_ns = MAX (lns_difference (end_ns, start_ns) / 2, 10);
  lns_view_show_span (self->context.view, lns_difference (start_ns, around_ns),
                      lns_sum (end_ns, around_ns));
}

static void
go_to_other_end (LnsTimeline *self, double unused)
{
  lns_view_reveal_other_end (self->context.view, subject (self));
}

static void
walk_linked (LnsTimeline *self, double direction)
{
  lns_view_walk_linked (self->context.view, (int)direction);
}

/* Selects the time of the selected event; beside what is selected, if ADDS. */
static void
select_event_time (LnsTimeline *self, double adds)
{
  int64_t start_ns, end_ns;
  LnsView *view = self->context.view;
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
  lns_travel_event (self->context.view, (int)direction, FALSE, &self->travelling, self);
}

static void
go_to_alike (LnsTimeline *self, double direction)
{
  lns_travel_event (self->context.view, (int)direction, TRUE, &self->travelling, self);
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
}

static void
unfold_depth (LnsTimeline *self, double depth)
{
  lns_timeline_tree_unfold_depth (&self->rows_of, (uint32_t)depth);
}

static void
show_hidden (LnsTimeline *self, double unused)
{
  lns_timeline_tree_show_hidden (&self->rows_of);
}

static void
reset_view (LnsTimeline *self, double unused)
{
  lns_timeline_tree_reset (&self->rows_of);
  lns_view_clear_time_selection (self->context.view);
  lns_view_fit (self->context.view);
}

static void
clear_selection (LnsTimeline *self, double unused)
{
  lns_view_clear_time_selection (self->context.view);
  lns_view_select_event (self->context.view, LNS_EVENT_NONE);
}

static void
copy_name (LnsTimeline *self, double unused)
{
  LnsEvent event;
  uint32_t name = self->menu_name;
  if (name == 0 && lns_view_get_selected_event (self->context.view, &event).lane != LNS_ID_NONE)
    name = event.name;
  size_t size_bytes;
  const char *bytes =
      lns_report_string (lns_view_get_report (self->context.view), name, &size_bytes);
  /* The clipboard holds UTF-8 without NUL; other bytes are escaped. */
  g_autofree char *text = g_utf8_validate_len (bytes, size_bytes, NULL)
                              ? g_strndup (bytes, size_bytes)
                              : lns_display_text (bytes, size_bytes, FALSE);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text);
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
  { "timeline.next-idle", go_to_idle, 1 },
  { "timeline.previous-idle", go_to_idle, -1 },
  { "timeline.next-step", go_to_step, 1 },
  { "timeline.previous-step", go_to_step, -1 },
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
  { "timeline.copy-name", copy_name, 0 },
  { "timeline.show-menu", show_focus_menu, 0 },
};

static void
act_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  for (size_t i = 0; i < G_N_ELEMENTS (actions); i++)
    if (g_str_equal (actions[i].name, name))
      actions[i].act (LNS_TIMELINE (widget), actions[i].amount);
}

static void
install_actions (GtkWidgetClass *widget_class)
{
  for (size_t i = 0; i < G_N_ELEMENTS (actions); i++)
    gtk_widget_class_install_action (widget_class, actions[i].name, NULL, act_cb);
  gtk_widget_class_install_action (widget_class, "timeline.change-row", "(su)", change_row_cb);
}

/* --- Layout and picture -------------------------------------------------------------------- */

static void
allocate (GtkWidget *child, int x, int y, int width, int height)
{
  int unused;
  gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, &unused, &unused, NULL, NULL);
  gtk_widget_size_allocate (child, &(GtkAllocation){ x, y, MAX (width, 1), MAX (height, 1) }, -1);
}

static int
minimum_of (GtkWidget *child, GtkOrientation orientation)
{
  int minimum;
  gtk_widget_measure (child, orientation, -1, &minimum, NULL, NULL, NULL);
  return minimum;
}

static void
allocate_tooltip (LnsTimeline *self, int width, int height)
{
  if (!gtk_widget_get_child_visible (self->tooltip))
    return;
  int natural_w, natural_h, minimum;
  gtk_widget_measure (self->tooltip, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, &natural_w, NULL,
                      NULL);
  natural_w = MAX (MIN (natural_w, width), minimum);
  gtk_widget_measure (self->tooltip, GTK_ORIENTATION_VERTICAL, natural_w, &minimum, &natural_h,
                      NULL, NULL);
  int x = (int)self->pointer.x + TOOLTIP_DX_PX, y = (int)self->pointer.y + TOOLTIP_DY_PX;
  if (x + natural_w > width)
    x = MAX ((int)self->pointer.x - TOOLTIP_DX_PX - natural_w, 0);
  if (y + natural_h > height)
    y = MAX ((int)self->pointer.y - TOOLTIP_DY_PX - natural_h, 0);
  gtk_widget_size_allocate (self->tooltip, &(GtkAllocation){ x, y, natural_w, natural_h }, -1);
}

static void
lns_timeline_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LnsTimeline *self = LNS_TIMELINE (widget);
  int bar_px = minimum_of (self->scrollbar, GTK_ORIENTATION_HORIZONTAL);
  int overview_px = minimum_of (GTK_WIDGET (self->overview), GTK_ORIENTATION_VERTICAL);
  int ruler_px = minimum_of (GTK_WIDGET (self->ruler), GTK_ORIENTATION_VERTICAL);
  int marks_px = minimum_of (GTK_WIDGET (self->marks), GTK_ORIENTATION_VERTICAL);
  int top_px = overview_px + ruler_px + marks_px;
  int pinned_px =
      MIN (lns_timeline_rows_total_px (self->pinned), (int)((height - top_px) * MAX_PINNED_SHARE));
  if (!self->has_own_header && self->context.tree != NULL)
    self->context.header_px =
        MIN (self->fitting_header_px, MAX ((int)(width * MAX_HEADER_SHARE), LNS_HEADER_PX));
  int header_px = self->context.header_px, body_px = MAX (width - header_px - bar_px, 1);

  lns_view_set_width_px (self->context.view, body_px);
  allocate (GTK_WIDGET (self->corner), 0, 0, header_px, top_px);
  allocate (GTK_WIDGET (self->overview), header_px, 0, body_px, overview_px);
  allocate (GTK_WIDGET (self->ruler), header_px, overview_px, body_px, ruler_px);
  gtk_widget_set_child_visible (GTK_WIDGET (self->marks), marks_px > 0);
  allocate (GTK_WIDGET (self->marks), header_px, overview_px + ruler_px, body_px, marks_px);
  gtk_widget_set_child_visible (GTK_WIDGET (self->pinned), pinned_px > 0);
  allocate (GTK_WIDGET (self->pinned), 0, top_px, width - bar_px, pinned_px);
  top_px += pinned_px;
  self->divider_px = pinned_px > 0 ? top_px : 0;
  top_px += pinned_px > 0 ? DIVIDER_PX : 0;
  allocate (GTK_WIDGET (self->rows), 0, top_px, width - bar_px, height - top_px);
  /* Its place stays, so that nothing moves when rows unfold. */
  gtk_widget_set_child_visible (self->scrollbar,
                                lns_timeline_rows_total_px (self->rows) > height - top_px);
  allocate (self->scrollbar, width - bar_px, top_px, bar_px, height - top_px);
  self->rows_end_px = MIN (top_px + lns_timeline_rows_total_px (self->rows), height);
  allocate (self->gutter, 0, self->rows_end_px, header_px, height - self->rows_end_px);
  const int hidden_px = minimum_of (GTK_WIDGET (self->hidden), GTK_ORIENTATION_VERTICAL);
  const gboolean has_room = height - self->rows_end_px >= hidden_px + 2 * HIDDEN_PAD_PX;
  gtk_widget_set_child_visible (GTK_WIDGET (self->hidden), has_room);
  if (has_room)
    allocate (GTK_WIDGET (self->hidden), 2 * HIDDEN_PAD_PX, self->rows_end_px + HIDDEN_PAD_PX,
              header_px - 4 * HIDDEN_PAD_PX, hidden_px);
  if (gtk_widget_get_visible (self->empty))
    allocate (self->empty, header_px, top_px, body_px, height - top_px);
  allocate_tooltip (self, width, height);
}

static void
lns_timeline_measure (GtkWidget *widget,
                      GtkOrientation orientation,
                      int for_size,
                      int *minimum,
                      int *natural,
                      int *minimum_baseline,
                      int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 360 : 120;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 1200 : 480;
}

/* Fills the area below the last row. A background under the rows, which are opaque, would cost a fifth of a frame. */
static void
snapshot_floor (LnsTimeline *self, GtkSnapshot *snapshot)
{
  GdkRGBA color;
  int width_px = gtk_widget_get_width (GTK_WIDGET (self));
  int height_px = gtk_widget_get_height (GTK_WIDGET (self)) - self->rows_end_px;
  if (height_px > 0 &&
      gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                                      "view_bg_color", &color))
    gtk_snapshot_append_color (
        snapshot, &color,
        &GRAPHENE_RECT_INIT (0, (float)self->rows_end_px, (float)width_px, (float)height_px));
}

/* Draws the line below the pinned rows. */
static void
snapshot_divider (LnsTimeline *self, GtkSnapshot *snapshot)
{
  GdkRGBA color;
  if (self->divider_px > 0 &&
      gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self)), "borders",
                                      &color))
    gtk_snapshot_append_color (snapshot, &color,
                               &GRAPHENE_RECT_INIT (0, (float)self->divider_px,
                                                    (float)gtk_widget_get_width (GTK_WIDGET (self)),
                                                    DIVIDER_PX));
}

/* Asks for the tiles in view that are missing. */
static void
prepare (LnsTimeline *self)
{
  self->unprepared = FALSE;
  g_array_set_size (self->spans, 0);
  lns_timeline_rows_append_spans (self->pinned, self->spans);
  lns_timeline_rows_append_spans (self->rows, self->spans);
  lns_tile_set_prepare (self->context.tiles, (const LnsStripSpan *)(void *)self->spans->data,
                        self->spans->len, gtk_widget_get_scale_factor (GTK_WIDGET (self)),
                        self->context.theme);
  lns_timeline_tree_find_ranges (&self->rows_of, self->spans);
}

static void
lns_timeline_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsTimeline *self = LNS_TIMELINE (widget);
  if (self->unprepared)
    prepare (self);
  snapshot_floor (self, snapshot);
  snapshot_divider (self, snapshot);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (child != self->tooltip && !GTK_IS_NATIVE (child))
      gtk_widget_snapshot_child (widget, child, snapshot);
  lns_timeline_overlay_snapshot (&self->layout, &self->pointer.hovered, self->pointer.x, snapshot);
  gtk_widget_snapshot_child (widget, self->tooltip, snapshot);
}

/* --- The object ---------------------------------------------------------------------------- */

gboolean
lns_timeline_is_complete (LnsTimeline *self)
{
  return self->rows_of.reading == NULL && self->rows_of.gpu_ranges.finding == NULL &&
         lns_tile_set_is_complete (self->context.tiles) &&
         lns_overview_is_complete (self->overview);
}

static LnsTimelineRows *
add_rows (LnsTimeline *self, GtkAdjustment *adjustment)
{
  LnsTimelineRows *rows = lns_timeline_rows_new (&self->context, self->rows_of.pinned, adjustment);
  gtk_widget_insert_before (GTK_WIDGET (rows), GTK_WIDGET (self), self->scrollbar);
  return rows;
}

/* The font may have changed. */
static void
lns_timeline_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  LnsTimeline *self = LNS_TIMELINE (widget);
  GTK_WIDGET_CLASS (lns_timeline_parent_class)->css_changed (widget, change);
  if (self->context.tree == NULL || !_lns_timeline_fit_lanes (self))
    return;
  self->fitting_header_px = _lns_timeline_fitting_header_px (self);
  _lns_timeline_rows_changed (self);
}

static void
set_view (LnsTimeline *self, LnsView *view)
{
  LnsRowContext *context = &self->context;
  PangoContext *pango = gtk_widget_get_pango_context (GTK_WIDGET (self));
  const PangoFontDescription *font = pango_context_get_font_description (pango);
  context->view = g_object_ref (view);
  context->tree = lns_row_tree_new (lns_view_get_report (view));
  context->tiles = lns_tile_set_new (view, context->tree, font, tile_changed_cb, self);
  context->labels = lns_tile_labels_new (lns_view_get_report (view), font);
  context->header_px = self->fitting_header_px = _lns_timeline_fitting_header_px (self);
  _lns_timeline_fit_lanes (self);
  context->answer = lns_answer_of (view);
  g_signal_connect_object (context->answer, "changed", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
  _lns_timeline_find_functions (self);
  context->theme = lns_theme_now ();

  self->pinned = add_rows (self, NULL);
  self->rows = add_rows (self, self->adjustment);
  self->layout = (LnsTimelineLayout){ GTK_WIDGET (self),
                                      context,
                                      GTK_WIDGET (self->overview),
                                      GTK_WIDGET (self->ruler),
                                      GTK_WIDGET (self->marks),
                                      self->pinned,
                                      self->rows };
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->pinned), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Pinned rows"), -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->rows), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Rows"), -1);
  lns_overview_set_view (self->overview, view, context->tree);
  g_signal_connect_object (self->overview, "text-changed", G_CALLBACK (update_corner), self,
                           G_CONNECT_SWAPPED);
  lns_ruler_set_view (self->ruler, view);
  lns_mark_strip_set_view (self->marks, view);
  self->bookmarks = lns_bookmarks_of (view);
  gtk_widget_set_visible (self->empty, lns_row_tree_n_rows (context->tree) == 0);

  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "span-changed", G_CALLBACK (span_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (selection_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "event-selected", G_CALLBACK (event_selected_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->adjustment, "changed", G_CALLBACK (prepare_tiles), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->adjustment, "value-changed", G_CALLBACK (prepare_tiles), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self, "notify::scale-factor", G_CALLBACK (prepare_tiles), self,
                           G_CONNECT_SWAPPED);
  lns_theme_connect (G_CALLBACK (theme_changed_cb), self);
  lns_timeline_tree_restore (&self->rows_of, NULL);
  span_changed_cb (self);
}

GtkWidget *
lns_timeline_new (LnsView *view)
{
  LnsTimeline *self = g_object_new (LNS_TYPE_TIMELINE, NULL);
  set_view (self, view);
  return GTK_WIDGET (self);
}

static void
lns_timeline_dispose (GObject *object)
{
  LnsTimeline *self = LNS_TIMELINE (object);
  g_clear_handle_id (&self->describing, g_source_remove);
  lns_timeline_tree_stop (&self->rows_of);
  lns_job_cancel (&self->pointer.finding);
  lns_glide_stop (&self->pointer.glide);
  g_clear_pointer (&self->words, lns_timeline_tooltip_free);
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
  G_OBJECT_CLASS (lns_timeline_parent_class)->dispose (object);
}

static void
lns_timeline_finalize (GObject *object)
{
  LnsTimeline *self = LNS_TIMELINE (object);
  lns_tile_set_free (self->context.tiles);
  lns_tile_labels_free (self->context.labels);
  lns_row_tree_unref (self->context.tree);
  lns_job_cancel (&self->travelling);
  g_clear_object (&self->bookmarks);
  g_clear_object (&self->context.answer);
  g_clear_object (&self->context.view);
  g_free (self->context.waiting_text);
  lns_timeline_tree_clear (&self->rows_of);
  g_array_unref (self->spans);
  G_OBJECT_CLASS (lns_timeline_parent_class)->finalize (object);
}

static void
lns_timeline_class_init (LnsTimelineClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  object_class->dispose = lns_timeline_dispose;
  object_class->finalize = lns_timeline_finalize;
  widget_class->size_allocate = lns_timeline_size_allocate;
  widget_class->measure = lns_timeline_measure;
  widget_class->snapshot = lns_timeline_snapshot;
  widget_class->css_changed = lns_timeline_css_changed;
  rows_changed_signal = g_signal_new ("rows-changed", LNS_TYPE_TIMELINE, G_SIGNAL_RUN_LAST, 0, NULL,
                                      NULL, NULL, G_TYPE_NONE, 0);
  g_type_ensure (LNS_TYPE_OVERVIEW);
  g_type_ensure (LNS_TYPE_RULER);
  g_type_ensure (LNS_TYPE_MARK_STRIP);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/timeline.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, adjustment);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, gutter);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, corner);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, hidden);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, overview);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, ruler);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, marks);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, scrollbar);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, empty);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, tooltip);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, tooltip_label);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, row_menu);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, row_section);
  install_actions (widget_class);
  lns_shortcuts_add_to_class (widget_class, "timeline.");
  gtk_widget_class_set_css_name (widget_class, "timeline");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lns_timeline_init (LnsTimeline *self)
{
  lns_timeline_tree_init (&self->rows_of, &self->context, &tree_funcs, self);
  self->spans = g_array_new (FALSE, FALSE, sizeof (LnsStripSpan));
  self->menu_event = LNS_EVENT_NONE;
  gtk_widget_init_template (GTK_WIDGET (self));
  self->words = lns_timeline_tooltip_new (&self->context, self->tooltip, self->tooltip_label);
  lns_timeline_pointer_init (&self->pointer, GTK_WIDGET (self), &self->layout, self->adjustment,
                             &pointer_funcs, self);
}

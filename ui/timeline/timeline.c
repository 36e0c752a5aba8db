/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <adwaita.h>
#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/model/theme.h"
#include "ui/model/job.h"
#include "ui/model/shortcuts.h"
#include "ui/model/tooltip.h"
#include "ui/timeline/timeline-actions.h"

#define MAX_HEADER_SHARE    0.4 /* of the width, unless the user drags them wider */
#define MAX_PINNED_SHARE    0.5
#define DESCRIBE_AFTER_MSEC 50
#define TOOLTIP_DX_PX       14
#define TOOLTIP_DY_PX       18
#define HIDDEN_PAD_PX       8 /* around the words that tell of hidden rows */
#define DIVIDER_PX          3 /* between the pinned rows and the others */

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
  g_auto (GStrv) lines = g_strsplit (all, "\n", -1);
  gtk_inscription_set_text (self->corner,
                            lns_row_tree_n_rows (self->context.tree) > 0 ? all : NULL);
  gtk_inscription_set_min_lines (self->corner, (guint)g_strv_length (lines));
}

/* Tells what the lanes of the critical path are, and what it consists of. */
static void
update_path_corner (LnsTimeline *self)
{
  const LnsCriticalPath *path = lns_critical_get_path (self->path);
  g_autofree char *text = lns_critical_strip_get_text (self->critical);
  g_autofree char *sentence = path != NULL ? lns_critical_get_sentence (self->path, path)
                                           : lns_critical_get_excuse (self->path);
  gtk_inscription_set_text (self->critical_corner, text);
  lns_tooltip_set (GTK_WIDGET (self->critical_corner), sentence);
}

void
lns_timeline_set_shows_path (LnsTimeline *self, gboolean shows_path)
{
  lns_critical_strip_set_shown (self->critical, shows_path);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

static void
span_changed_cb (LnsTimeline *self)
{
  update_corner (self);
  if (self->words != NULL)
    lns_timeline_tooltip_hide (self->words); /* the event has moved away from the pointer */
  redraw_rows (self);
  prepare_tiles (self);
  lns_timeline_actions_update (self);
  describe_later (self);
}

static void
selection_changed_cb (LnsTimeline *self)
{
  gtk_widget_queue_draw (GTK_WIDGET (self));
  lns_timeline_actions_update (self);
}

/* Unfolds what the row of LANE of CONTEXT is below: B's rows are folded as A's are. */
static void
unfold_to (LnsTimeline *self, LnsRowContext *context, uint32_t row)
{
  const uint32_t other =
      context->side == 1 ? lns_row_pairs_other (context->pairs, 1, row) : LNS_ID_NONE;
  const gboolean is_changed = other != LNS_ID_NONE
                                  ? lns_row_tree_unfold_to (self->context.tree, other)
                                  : lns_row_tree_unfold_to (context->tree, row);
  if (is_changed)
    _lns_timeline_rows_changed (self);
}

static void
event_selected_cb (LnsView *view, gboolean reveal, LnsTimeline *self)
{
  LnsEvent event;
  LnsEventId id = lns_view_get_selected_event (view, &event);
  LnsRowContext *context = _lns_timeline_context_of (self, lns_view_get_source (view));
  uint32_t row = lns_row_tree_row_of_lane (context->tree, id.lane);
  if (id.lane != LNS_ID_NONE)
    self->active = id.source;
  selection_changed_cb (self);
  if (!reveal || row == LNS_ID_NONE)
    return;
  unfold_to (self, context, row);
  const LnsRow *it = lns_row_tree_row (context->tree, row);
  const uint32_t *lanes = lns_row_tree_lanes (context->tree) + it->lanes;
  for (uint32_t i = 0; i < it->n_own; i++)
    if (lanes[i] == id.lane)
      {
        uint32_t n = lns_row_kind_is_merged (it->kind) ? 0 : i;
        LnsStrip strip = lns_strip_of (lns_view_get_report (view), context->tree, row, n);
        int top_px = lns_strip_top_px (&strip, n);
        lns_timeline_rows_scroll_to (self->rows, context->side, row, top_px - strip.lane_px,
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
  lns_timeline_rows_scroll_to (self->rows, 0, row, 0, lns_row_tree_height_px (tree, row));
  LnsTimelineRow *widget = lns_timeline_rows_find (self->rows, 0, row, &top_px);
  if (widget != NULL)
    gtk_widget_grab_focus (GTK_WIDGET (widget));
}

static void
tile_changed (LnsTimeline *self, int side, uint32_t row)
{
  lns_timeline_rows_redraw_row (self->pinned, side, row);
  lns_timeline_rows_redraw_row (self->rows, side, row);
  prepare_tiles (self);
  describe_later (self);
}

static void
tile_changed_cb (uint32_t row, gpointer data)
{
  LnsTimeline *self = data;
  tile_changed (self, 0, row);
  /* What differs from it is drawn in the other one. */
  const uint32_t other =
      self->guest != NULL ? lns_row_pairs_other (&self->guest->pairs, 0, row) : LNS_ID_NONE;
  if (other != LNS_ID_NONE)
    tile_changed (self, 1, other);
}

static void
guest_tile_changed_cb (uint32_t row, gpointer data)
{
  tile_changed (data, 1, row);
}

static void
colors_changed (LnsTimeline *self)
{
  redraw_rows (self);
  prepare_tiles (self);
  lns_timeline_actions_update (self);
}

static void
theme_changed_cb (LnsTimeline *self)
{
  self->context.theme = lns_theme_now ();
  if (self->guest != NULL)
    self->guest->context.theme = self->context.theme;
  gtk_widget_queue_draw (GTK_WIDGET (self->overview));
  colors_changed (self);
}

/* --- Rows ----------------------------------------------------------------------------------- */

void
lns_timeline_restore_rows (LnsTimeline *self, LnsKeptView *view)
{
  lns_timeline_tree_restore (&self->rows_of, view);
}

gboolean
lns_timeline_identify_rows (LnsTimeline *self)
{
  return lns_row_state_identify (&self->rows_of.state, self->context.tree,
                                 lns_view_get_report (self->context.view));
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
  const guint n = lns_timeline_tree_n_hidden (&self->rows_of) +
                  (self->guest != NULL ? lns_timeline_guest_n_hidden (self->guest) : 0);
  g_autofree char *text =
      n > 0 ? g_strdup_printf (ngettext ("%u row is hidden", "%u rows are hidden", n), n) : NULL;
  gtk_inscription_set_text (self->hidden, text);
  lns_tooltip_set (GTK_WIDGET (self->hidden), text);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "timeline.show-hidden", n > 0);
}

/* Puts the rows into their order. */
static void
plan_rows (LnsTimeline *self)
{
  LnsRowContext *other = self->guest != NULL ? &self->guest->context : NULL;
  const LnsRowPairs *pairs = self->guest != NULL ? &self->guest->pairs : NULL;
  if (self->guest != NULL)
    lns_timeline_guest_follow (self->guest);
  lns_row_plan_fill (&self->plan, &self->context, other, pairs);
  lns_row_plan_fill_pinned (&self->pinned_plan, &self->context, other, pairs, self->rows_of.pinned);
}

void
_lns_timeline_rows_changed (LnsTimeline *self)
{
  plan_rows (self);
  lns_timeline_rows_sync (self->pinned);
  lns_timeline_rows_sync (self->rows);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  prepare_tiles (self);
  lns_timeline_actions_update (self);
  update_hidden (self);
  describe_later (self);
  lns_timeline_tree_read (&self->rows_of);
  if (self->guest != NULL)
    lns_timeline_tree_read (&self->guest->rows_of);
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

#define LETTER_PX 26 /* of the report, before the label */

/* Makes headers as wide as the labels of GPUs and threads. */
static void
fit_header (LnsTimeline *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  self->fitting_header_px = lns_row_context_fitting_header_px (&self->context, widget);
  if (self->guest != NULL)
    self->fitting_header_px =
        LETTER_PX + MAX (self->fitting_header_px,
                         lns_row_context_fitting_header_px (&self->guest->context, widget));
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
  lns_row_context_fit_lanes (context, GTK_WIDGET (self));
  lns_row_context_read_report (context);
  lns_timeline_tree_follow (&self->rows_of);
  fit_header (self);
  lns_overview_grow (self->overview, context->tree);
  lns_critical_strip_set_hues (self->critical, lns_row_tree_hues (context->tree));
  gtk_widget_set_visible (self->empty, lns_row_tree_n_rows (context->tree) == 0);
  _lns_timeline_rows_changed (self);
  update_corner (self);
}

/* --- The other report -------------------------------------------------------------------------- */

static void
guest_moved_cb (LnsTimeline *self)
{
  redraw_rows (self);
  prepare_tiles (self);
}

/* Shows the other report of the pair, or no longer. */
static void
pair_changed_cb (LnsTimeline *self)
{
  LnsView *view = lns_pair_get_view (self->pair, 1);
  LnsTimelineGuest *old = self->guest;
  if (view == (old != NULL ? old->context.view : NULL))
    return;
  lns_job_cancel (&self->pointer.finding);
  lns_job_cancel (&self->travelling);
  lns_timeline_tooltip_set_context (self->words, &self->context);
  self->menu_event = LNS_EVENT_NONE;
  self->active = 0;
  self->guest = NULL;
  if (old != NULL)
    g_signal_handlers_disconnect_by_data (old->context.view, self);
  self->context.other = NULL;
  _lns_timeline_rows_changed (self);
  lns_timeline_guest_free (old);
  if (view != NULL)
    {
      self->guest = lns_timeline_guest_new (&self->context, view, GTK_WIDGET (self),
                                            guest_tile_changed_cb, &tree_funcs, self);
      self->guest_layout = self->layout;
      self->guest_layout.context = &self->guest->context;
      g_signal_connect_object (view, "span-changed", G_CALLBACK (guest_moved_cb), self,
                               G_CONNECT_SWAPPED);
      g_signal_connect_object (view, "event-selected", G_CALLBACK (event_selected_cb), self, 0);
      g_signal_connect_object (self->guest->context.answer, "changed",
                               G_CALLBACK (gtk_widget_queue_draw), self, G_CONNECT_SWAPPED);
      lns_timeline_tree_restore (&self->guest->rows_of, NULL);
    }
  fit_header (self);
  _lns_timeline_rows_changed (self);
}

/* Moves the other report by DX_PX from where it was. */
static void
other_dragged_cb (gboolean begins, double dx_px, gpointer data)
{
  LnsTimeline *self = data;
  if (self->guest == NULL)
    return;
  if (begins)
    self->dragged_ns = lns_view_get_shift_ns (self->guest->context.view);
  const double ns_per_px = lns_scale_ns_per_px (lns_view_get_scale (self->context.view));
  if (!begins)
    lns_pair_align_by_hand (self->pair, lns_sum (self->dragged_ns, (int64_t)(dx_px * ns_per_px)));
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

static void
show_menu (LnsTimelineRow *row, const LnsTimelineHit *hit, int x, int y, gpointer data)
{
  lns_timeline_actions_show_menu (data, row, hit, x, y);
}

static const LnsTimelinePointerFuncs pointer_funcs = { pointed_cb, header_dragged_cb,
                                                       other_dragged_cb, show_menu };

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
  int ruler_px = minimum_of (GTK_WIDGET (self->ruler), GTK_ORIENTATION_VERTICAL);
  int marks_px = minimum_of (GTK_WIDGET (self->marks), GTK_ORIENTATION_VERTICAL);
  int path_px = minimum_of (GTK_WIDGET (self->critical), GTK_ORIENTATION_VERTICAL);
  /* What stands in the corner has room beside the overview and the ruler. */
  int overview_px =
      MAX (minimum_of (GTK_WIDGET (self->overview), GTK_ORIENTATION_VERTICAL),
           minimum_of (GTK_WIDGET (self->corner), GTK_ORIENTATION_VERTICAL) - ruler_px);
  int top_px = overview_px + ruler_px + marks_px;
  int pinned_px = MIN (lns_timeline_rows_total_px (self->pinned),
                       (int)((height - top_px - path_px) * MAX_PINNED_SHARE));
  if (!self->has_own_header && self->context.tree != NULL)
    self->context.header_px =
        MIN (self->fitting_header_px, MAX ((int)(width * MAX_HEADER_SHARE), LNS_HEADER_PX));
  if (self->guest != NULL)
    self->guest->context.header_px = self->context.header_px;
  int header_px = self->context.header_px, body_px = MAX (width - header_px - bar_px, 1);

  lns_view_set_width_px (self->context.view, body_px);
  allocate (GTK_WIDGET (self->corner), 0, 0, header_px, top_px);
  allocate (GTK_WIDGET (self->overview), header_px, 0, body_px, overview_px);
  allocate (GTK_WIDGET (self->ruler), header_px, overview_px, body_px, ruler_px);
  gtk_widget_set_child_visible (GTK_WIDGET (self->marks), marks_px > 0);
  allocate (GTK_WIDGET (self->marks), header_px, overview_px + ruler_px, body_px, marks_px);
  gtk_widget_set_child_visible (GTK_WIDGET (self->critical), path_px > 0);
  gtk_widget_set_child_visible (GTK_WIDGET (self->critical_corner), path_px > 0);
  allocate (GTK_WIDGET (self->critical_corner), 0, top_px, header_px, path_px);
  allocate (GTK_WIDGET (self->critical), header_px, top_px, body_px, path_px);
  top_px += path_px;
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

/* Fills the area below the last row, and the place of the scrollbar beside the rows while there is none. A background under the rows, which are
 * opaque, would cost a fifth of a frame. */
static void
snapshot_floor (LnsTimeline *self, GtkSnapshot *snapshot)
{
  GdkRGBA color;
  int width_px = gtk_widget_get_width (GTK_WIDGET (self));
  int height_px = gtk_widget_get_height (GTK_WIDGET (self)) - self->rows_end_px;
  graphene_rect_t rows;
  if (height_px <= 0 ||
      !gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                                       "view_bg_color", &color))
    return;
  gtk_snapshot_append_color (
      snapshot, &color,
      &GRAPHENE_RECT_INIT (0, (float)self->rows_end_px, (float)width_px, (float)height_px));
  if (!gtk_widget_get_child_visible (self->scrollbar) &&
      gtk_widget_compute_bounds (GTK_WIDGET (self->rows), GTK_WIDGET (self), &rows))
    {
      const float end_px = rows.origin.x + rows.size.width;
      gtk_snapshot_append_color (snapshot, &color,
                                 &GRAPHENE_RECT_INIT (end_px, rows.origin.y,
                                                      (float)width_px - end_px,
                                                      (float)self->rows_end_px - rows.origin.y));
    }
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

/* Adds what CONTEXT shows of the rows whose pairs SPANS are of: what differs is drawn from both. */
static void
append_others (const LnsRowContext *context, const GArray *others, GArray *spans)
{
  for (guint i = 0; i < others->len; i++)
    {
      const uint32_t row = lns_row_pairs_other (context->pairs, 1 - context->side,
                                                g_array_index (others, LnsStripSpan, i).row);
      const LnsStripSpan span = { row, 0, row != LNS_ID_NONE };
      if (row != LNS_ID_NONE && lns_row_is_chart (lns_row_tree_row (context->tree, row)))
        g_array_append_val (spans, span);
    }
}

/* Asks for the tiles of CONTEXT in view that are missing. */
static void
prepare_of (LnsTimeline *self, LnsRowContext *context, LnsTimelineTree *rows_of, GArray *spans)
{
  lns_tile_set_prepare (context->tiles, (const LnsStripSpan *)(void *)spans->data, spans->len,
                        gtk_widget_get_scale_factor (GTK_WIDGET (self)), context->theme,
                        &context->coloring);
  lns_timeline_tree_find_ranges (rows_of, spans);
}

static void
list_spans (LnsTimeline *self, int side, GArray *spans)
{
  g_array_set_size (spans, 0);
  lns_timeline_rows_append_spans (self->pinned, side, spans);
  lns_timeline_rows_append_spans (self->rows, side, spans);
}

/* Asks for the tiles in view that are missing. */
static void
prepare (LnsTimeline *self)
{
  self->unprepared = FALSE;
  list_spans (self, 0, self->spans);
  if (self->guest != NULL)
    {
      list_spans (self, 1, self->guest->spans);
      append_others (&self->context, self->guest->spans, self->spans);
      prepare_of (self, &self->guest->context, &self->guest->rows_of, self->guest->spans);
    }
  prepare_of (self, &self->context, &self->rows_of, self->spans);
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
  lns_timeline_overlay_snapshot (&self->layout, self->guest != NULL ? &self->guest_layout : NULL,
                                 &self->pointer.hovered, self->pointer.x, snapshot);
  gtk_widget_snapshot_child (widget, self->tooltip, snapshot);
}

static void
begin (GtkWidget *widget)
{
  LnsTimeline *self = LNS_TIMELINE (widget);

  self->has_begun = TRUE;
  lns_timeline_rows_begin (self->pinned);
  lns_timeline_rows_begin (self->rows);
  prepare_tiles (self);
}

/* The first frame is drawn without rows: with them it would take twice as long. */
static void
lns_timeline_map (GtkWidget *widget)
{
  LnsTimeline *self = LNS_TIMELINE (widget);

  GTK_WIDGET_CLASS (lns_timeline_parent_class)->map (widget);
  if (!self->has_begun)
    lns_after_frame (&self->opening, widget, begin);
}

/* --- The object ---------------------------------------------------------------------------- */

static gboolean
is_complete (const LnsRowContext *context, const LnsTimelineTree *rows_of)
{
  return rows_of->reading == NULL && rows_of->gpu_ranges.finding == NULL &&
         lns_tile_set_is_complete (context->tiles);
}

gboolean
lns_timeline_is_complete (LnsTimeline *self)
{
  return self->has_begun && !self->unprepared && is_complete (&self->context, &self->rows_of) &&
         (self->guest == NULL || is_complete (&self->guest->context, &self->guest->rows_of)) &&
         lns_overview_is_complete (self->overview);
}

static LnsTimelineRows *
add_rows (LnsTimeline *self, const LnsRowPlan *plan, GtkAdjustment *adjustment)
{
  LnsTimelineRows *rows =
      lns_timeline_rows_new (plan, &self->context, self->rows_of.pinned, adjustment);
  gtk_widget_insert_before (GTK_WIDGET (rows), GTK_WIDGET (self), self->scrollbar);
  return rows;
}

/* The font may have changed. */
static void
lns_timeline_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  LnsTimeline *self = LNS_TIMELINE (widget);
  GTK_WIDGET_CLASS (lns_timeline_parent_class)->css_changed (widget, change);
  if (self->context.tree == NULL || !lns_row_context_fit_lanes (&self->context, widget))
    return;
  if (self->guest != NULL)
    lns_row_context_fit_lanes (&self->guest->context, widget);
  fit_header (self);
  _lns_timeline_rows_changed (self);
}

static void
set_view (LnsTimeline *self, LnsView *view)
{
  LnsRowContext *context = &self->context;
  lns_row_context_init (context, view, 0, GTK_WIDGET (self), tile_changed_cb, self);
  fit_header (self);
  context->header_px = self->fitting_header_px;
  g_signal_connect_object (context->answer, "changed", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);

  self->pinned = add_rows (self, &self->pinned_plan, NULL);
  self->rows = add_rows (self, &self->plan, self->adjustment);
  self->layout = (LnsTimelineLayout){ GTK_WIDGET (self),
                                      context,
                                      GTK_WIDGET (self->overview),
                                      GTK_WIDGET (self->ruler),
                                      GTK_WIDGET (self->marks),
                                      GTK_WIDGET (self->critical),
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
  lns_critical_strip_set_view (self->critical, view);
  lns_critical_strip_set_hues (self->critical, lns_row_tree_hues (context->tree));
  self->path = lns_critical_of (view);
  g_signal_connect_object (self->path, "changed", G_CALLBACK (update_path_corner), self,
                           G_CONNECT_SWAPPED);
  update_path_corner (self);
  self->bookmarks = lns_bookmarks_of (view);
  gtk_widget_set_visible (self->empty, lns_row_tree_n_rows (context->tree) == 0);

  g_signal_connect_object (view, "grown", G_CALLBACK (grown_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "span-changed", G_CALLBACK (span_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (selection_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "event-selected", G_CALLBACK (event_selected_cb), self, 0);
  g_signal_connect_object (self->adjustment, "changed", G_CALLBACK (prepare_tiles), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->adjustment, "value-changed", G_CALLBACK (prepare_tiles), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self, "notify::scale-factor", G_CALLBACK (prepare_tiles), self,
                           G_CONNECT_SWAPPED);
  lns_theme_connect (G_CALLBACK (theme_changed_cb), self);
  lns_timeline_tree_restore (&self->rows_of, NULL);
  self->pair = lns_pair_of (view);
  g_signal_connect_object (self->pair, "changed", G_CALLBACK (pair_changed_cb), self,
                           G_CONNECT_SWAPPED);
  pair_changed_cb (self);
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
  if (self->guest != NULL)
    lns_timeline_tree_stop (&self->guest->rows_of);
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
  lns_timeline_guest_free (self->guest);
  lns_row_context_clear (&self->context);
  lns_row_plan_clear (&self->plan);
  lns_row_plan_clear (&self->pinned_plan);
  lns_job_cancel (&self->travelling);
  g_clear_object (&self->bookmarks);
  g_clear_object (&self->path);
  g_clear_object (&self->pair);
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
  widget_class->map = lns_timeline_map;
  widget_class->measure = lns_timeline_measure;
  widget_class->snapshot = lns_timeline_snapshot;
  widget_class->css_changed = lns_timeline_css_changed;
  rows_changed_signal = g_signal_new ("rows-changed", LNS_TYPE_TIMELINE, G_SIGNAL_RUN_LAST, 0, NULL,
                                      NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new_class_handler ("colors-changed", LNS_TYPE_TIMELINE, G_SIGNAL_RUN_FIRST,
                              G_CALLBACK (colors_changed), NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_type_ensure (LNS_TYPE_OVERVIEW);
  g_type_ensure (LNS_TYPE_RULER);
  g_type_ensure (LNS_TYPE_MARK_STRIP);
  g_type_ensure (LNS_TYPE_CRITICAL_STRIP);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/timeline.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, adjustment);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, gutter);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, corner);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, hidden);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, overview);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, ruler);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, marks);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, critical);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, critical_corner);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, scrollbar);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, empty);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, tooltip);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, tooltip_label);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, row_menu);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, row_section);
  lns_timeline_actions_install (widget_class);
  lns_shortcuts_add_to_class (widget_class, "timeline.");
  gtk_widget_class_set_css_name (widget_class, "timeline");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lns_timeline_init (LnsTimeline *self)
{
  lns_timeline_tree_init (&self->rows_of, &self->context, &tree_funcs, self);
  lns_row_plan_init (&self->plan);
  lns_row_plan_init (&self->pinned_plan);
  self->spans = g_array_new (FALSE, FALSE, sizeof (LnsStripSpan));
  self->menu_event = LNS_EVENT_NONE;
  gtk_widget_init_template (GTK_WIDGET (self));
  self->words = lns_timeline_tooltip_new (&self->context, self->tooltip, self->tooltip_label);
  lns_timeline_pointer_init (&self->pointer, GTK_WIDGET (self), &self->layout, self->adjustment,
                             &pointer_funcs, self);
}

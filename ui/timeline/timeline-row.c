/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/timeline-row.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/model/context-menu.h"
#include "ui/model/palette.h"
#include "ui/model/shortcuts.h"
#include "ui/model/text-cell.h"
#include "ui/model/tooltip.h"
#include "ui/tiles/event-color.h"
#include "ui/timeline/idle-tints.h"
#include "ui/timeline/row-difference.h"

#define INDENT_PX   14
#define MIN_BODY_PX 100

#define COUNTER_DIGITS     6
#define COUNTER_TEXT_ALPHA 0.75f
#define PAIR_ALPHA         0.25f

struct _LnsTimelineRow
{
  GtkWidget parent_instance;

  const LnsRowContext *context;
  uint32_t row;
  gboolean pinned;
  gboolean is_paired; /* it was told that there are two reports */
  LnsStripSpan shown; /* the visible strips */
  char *description;  /* owned */

  GtkWidget *header;
  GtkWidget *expander;
  LnsTextCell *label;
  /* NULL until they are needed, which few rows do: a widget takes as long to make as a row takes to draw. */
  GtkWidget *letter; /* of the report, where there are two */
  GtkWidget *pill;   /* how busy it was in the span in view, while that is known */
  GtkWidget *pin;    /* is there while the row is pinned */
};

G_DEFINE_FINAL_TYPE (LnsTimelineRow, lns_timeline_row, GTK_TYPE_WIDGET)

static const LnsRow *
model_row (LnsTimelineRow *self)
{
  return lns_row_tree_row (self->context->tree, self->row);
}

uint32_t
lns_timeline_row_get_row (LnsTimelineRow *self)
{
  return self->row;
}

const LnsRowContext *
lns_timeline_row_get_context (LnsTimelineRow *self)
{
  return self->context;
}

gboolean
lns_timeline_row_is_pinned (LnsTimelineRow *self)
{
  return self->pinned;
}

/* "NVTX — main (4711) — python3 (4711)". Free with g_free (). */
static char *
label_with_path (const LnsRowTree *tree, uint32_t row)
{
  GString *label = g_string_new (lns_row_tree_row (tree, row)->label);
  for (uint32_t up = lns_row_tree_row (tree, row)->parent; up != LNS_ID_NONE;
       up = lns_row_tree_row (tree, up)->parent)
    g_string_append_printf (label, " — %s", lns_row_tree_row (tree, up)->label);
  return g_string_free (label, FALSE);
}

/* A text of CHARS characters in the header, behind BEFORE. */
static GtkWidget *
add_text (LnsTimelineRow *self, GtkWidget *before, guint chars, const char *css_class)
{
  GtkWidget *text = g_object_new (GTK_TYPE_INSCRIPTION, "valign", GTK_ALIGN_START, "xalign", 0.5,
                                  "min-chars", chars, NULL);

  gtk_widget_add_css_class (text, css_class);
  gtk_box_insert_child_after (GTK_BOX (self->header), text, before);
  return text;
}

/* Says of which report the row is, where there are two. */
static void
show_side (LnsTimelineRow *self)
{
  static const char *const letters[] = { "A", "B" };
  const gboolean is_paired = self->context->other != NULL;

  if (is_paired && self->letter == NULL)
    self->letter = add_text (self, self->expander, 2, "timeline-letter");
  if (self->letter != NULL)
    gtk_widget_set_visible (self->letter, is_paired);
  if (is_paired)
    gtk_inscription_set_text (GTK_INSCRIPTION (self->letter), letters[self->context->side]);
  if (is_paired && self->context->side == 1)
    gtk_widget_add_css_class (GTK_WIDGET (self), "other");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self), "other");
}

/* Shows the button that takes the pin away, if IS_SHOWN. */
static void
show_pin (LnsTimelineRow *self, gboolean is_shown)
{
  if (is_shown && self->pin == NULL)
    {
      self->pin = g_object_new (GTK_TYPE_BUTTON, "valign", GTK_ALIGN_START, "focusable", FALSE,
                                "icon-name", "view-pin-symbolic", "tooltip-text", _ ("Unpin"),
                                "action-name", "row.pin", NULL);
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->pin), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      _ ("Unpin"), -1);
      gtk_widget_add_css_class (self->pin, "flat");
      gtk_widget_add_css_class (self->pin, "timeline-expander");
      gtk_box_append (GTK_BOX (self->header), self->pin);
    }
  if (self->pin != NULL)
    gtk_widget_set_visible (self->pin, is_shown);
}

/* What ROW is called for assistive technology: where there are two reports, with the letter of its own. Free with g_free (). */
static char *
name_of (LnsTimelineRow *self, const char *label)
{
  return self->context->other == NULL
             ? g_strdup (label)
             : g_strdup_printf ("%s: %s", self->context->side == 0 ? "A" : "B", label);
}

void
lns_timeline_row_bind (LnsTimelineRow *self,
                       const LnsRowContext *context,
                       uint32_t row,
                       gboolean pinned,
                       gboolean alone)
{
  const gboolean is_other = self->context != context || self->is_paired != (context->other != NULL);
  self->context = context;
  const LnsRow *it = lns_row_tree_row (self->context->tree, row);
  g_autofree char *label =
      alone ? label_with_path (self->context->tree, row) : g_strdup (it->label);
  gboolean can_fold = lns_row_tree_can_fold (self->context->tree, row);
  if (is_other || self->row != row || g_strcmp0 (lns_text_cell_get (self->label), label) != 0)
    {
      lns_text_cell_set (self->label, label);
      lns_tooltip_set (GTK_WIDGET (self->label), label);
      gtk_widget_set_margin_start (self->expander,
                                   4 + (alone ? 0 : (int)MIN (it->depth, 8) * INDENT_PX));
      gtk_widget_remove_css_class (GTK_WIDGET (self), "group");
      if (lns_row_kind_is_group (it->kind))
        gtk_widget_add_css_class (GTK_WIDGET (self), "group");
      g_autofree char *name = name_of (self, label);
      gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                      -1);
      show_side (self);
      g_clear_pointer (&self->description, g_free);
      if (self->pill != NULL)
        gtk_widget_set_visible (self->pill, FALSE);
      gtk_widget_queue_resize (GTK_WIDGET (self));
    }
  self->is_paired = context->other != NULL;
  self->row = row;
  self->pinned = pinned;
  gtk_widget_set_size_request (self->expander, -1, lns_row_tree_lane_px (self->context->tree));
  gtk_widget_set_opacity (self->expander, can_fold ? 1 : 0);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "row.expand", can_fold);
  /* What is pinned are rows of A, with their pairs. */
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "row.pin",
                                 context->side == 0 ||
                                     lns_row_pairs_other (context->pairs, 1, row) != LNS_ID_NONE);
  /* The panes tell of A. */
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "row.show-in-events", context->side == 0);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "row.show-in-functions",
                                 context->side == 0 && self->context->has_functions &&
                                     (it->thread != LNS_ID_NONE || it->process != LNS_ID_NONE));
  /* An image that is set again wants to be laid out again. */
  const char *icon = it->expanded ? "pan-down-symbolic" : "pan-end-symbolic";
  if (g_strcmp0 (gtk_button_get_icon_name (GTK_BUTTON (self->expander)), icon) != 0)
    gtk_button_set_icon_name (GTK_BUTTON (self->expander), icon);
  const char *folding = it->expanded ? _ ("Fold") : _ ("Unfold");
  lns_tooltip_set (self->expander, can_fold ? folding : NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->expander), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  folding, -1);
  if (can_fold)
    gtk_accessible_update_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_EXPANDED, it->expanded,
                                 -1);
  else
    gtk_accessible_reset_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_EXPANDED);
  show_pin (self, pinned);
}

void
lns_timeline_row_release (LnsTimelineRow *self, const LnsRowContext *context)
{
  self->context = context;
  self->row = LNS_ID_NONE;
  self->shown = (LnsStripSpan){ 0 };
}

/* --- Strips -------------------------------------------------------------------------------- */

static LnsStrip
strip_of (LnsTimelineRow *self, uint32_t i)
{
  LnsReport *report = lns_view_get_report (self->context->view);
  return lns_strip_of (report, self->context->tree, self->row, i);
}

static LnsStripSpan
strips_between (LnsTimelineRow *self, int top_px, int bottom_px)
{
  uint32_t n = lns_strip_count (self->context->tree, self->row);
  if (n <= 1)
    return (LnsStripSpan){ self->row, 0, n };
  const int lane_px = lns_row_tree_row_lane_px (self->context->tree, self->row);
  int first = CLAMP ((top_px - LNS_ROW_PAD_PX) / lane_px, 0, (int)n);
  int end = CLAMP ((bottom_px - LNS_ROW_PAD_PX) / lane_px + 1, first, (int)n);
  return (LnsStripSpan){ self->row, (uint32_t)first, (uint32_t)(end - first) };
}

LnsStripSpan
lns_timeline_row_set_shown (LnsTimelineRow *self, int top_px, int bottom_px)
{
  LnsStripSpan shown = strips_between (self, top_px, bottom_px);
  if (shown.first != self->shown.first || shown.n != self->shown.n || shown.row != self->shown.row)
    gtk_widget_queue_draw (GTK_WIDGET (self));
  self->shown = shown;
  return shown;
}

gboolean
lns_timeline_row_strip_at (LnsTimelineRow *self, double y_px, LnsStrip *ret_strip)
{
  LnsStripSpan span = strips_between (self, (int)y_px, (int)y_px);
  if (span.n == 0)
    return FALSE;
  *ret_strip = strip_of (self, span.first);
  int top_px = lns_strip_top_px (ret_strip, span.first);
  return y_px >= top_px && y_px < top_px + lns_strip_height_px (ret_strip);
}

gboolean
lns_timeline_row_strip_of_lane (LnsTimelineRow *self,
                                uint32_t lane,
                                int *ret_top_px,
                                int *ret_height_px)
{
  const LnsRow *it = model_row (self);
  const uint32_t *lanes = lns_row_tree_lanes (self->context->tree) + it->lanes;
  const bool is_combined = lns_row_is_combined (it);
  bool is_merged = lns_row_kind_is_merged (it->kind) || is_combined;
  uint32_t n = MIN (lns_strip_count (self->context->tree, self->row), it->n_own);
  for (uint32_t k = 0; k < (is_combined ? it->n_lanes : is_merged ? it->n_own : n); k++)
    if (lanes[k] == lane)
      {
        uint32_t i = is_merged ? 0 : k;
        const LnsStrip strip = strip_of (self, i);
        *ret_top_px = lns_strip_top_px (&strip, i);
        *ret_height_px = lns_strip_height_px (&strip);
        return TRUE;
      }
  return FALSE;
}

/* --- For assistive technology -------------------------------------------------------------- */

/* The mean busy share, which is one of ACTIVITY, of the span in view, as far as that is known, in STRIP of CONTEXT, or -1 if it is not. */
static double
busy_share (const LnsRowContext *context, const LnsStrip *strip, LnsActivity activity)
{
  const LnsScale *scale = lns_view_get_scale (context->view);
  const int64_t known_ns = lns_report_info (lns_view_get_report (context->view))->known_ns;
  int width_px = lns_view_get_width_px (context->view);
  int64_t first_ns, last_ns;
  double sum = 0;
  int n = 0;
  if (strip->kind != LNS_STRIP_RANGES && strip->kind != LNS_STRIP_STATES &&
      strip->kind != LNS_STRIP_COMBINED && strip->kind != LNS_STRIP_SUMMARY)
    return -1;
  /* Where streams of a process work at once, its picture has more of it than its GPUs, whose own rows tell how much. */
  if (activity == LNS_ACTIVITY_WORK &&
      lns_row_tree_row (context->tree, strip->row)->kind == LNS_ROW_PROCESS)
    return -1;
  if (lns_activity_is_of_cpus (activity))
    width_px = (int)CLAMP (ceil (lns_scale_x_of (scale, known_ns)), 0, width_px);
  /* Beside what there is to see is nothing that could be busy. */
  lns_view_get_whole (context->view, &first_ns, &last_ns);
  width_px = (int)CLAMP (ceil (lns_scale_x_of (scale, last_ns)), 0, width_px);
  for (int x = (int)CLAMP (floor (lns_scale_x_of (scale, first_ns)), 0, width_px); x < width_px;)
    {
      double tile_x;
      const LnsTile *tile = lns_tile_set_at (context->tiles, strip, x, &tile_x);
      if (tile == NULL || tile->pixels == NULL)
        return -1;
      for (int t = (int)tile_x; t < LNS_TILE_PX && x < width_px; t++, x++, n++)
        sum += tile->pixels[t * tile->key.scale].busy;
    }
  /* Nobody was idle in what the report leaves out. */
  const int64_t start_ns = MAX (first_ns, lns_view_get_start_ns (context->view)),
                end_ns = MIN (last_ns, lns_view_get_end_ns (context->view));
  const double all_ns = (double)end_ns - (double)start_ns,
               kept_ns = all_ns - (double)lns_omitted_ns (&context->omissions, start_ns, end_ns);
  return n > 0 && kept_ns > 0 ? sum / n * all_ns / kept_ns : -1;
}

/* Shows SHARE, which is one of ACTIVITY and is TEXT in words (or NULL), beside the label of a group: of time in ranges and calls
 * nothing follows. */
static void
update_pill (LnsTimelineRow *self, LnsActivity activity, double share, const char *text)
{
  char number[LNS_FORMAT_SIZE];
  const gboolean is_shown = text != NULL && lns_row_kind_is_group (model_row (self)->kind) &&
                            (activity == LNS_ACTIVITY_WORK || lns_activity_is_of_cpus (activity));
  if (is_shown && self->pill == NULL)
    {
      self->pill = add_text (self, GTK_WIDGET (self->label), 6, "timeline-pill");
      lns_text_set_numeric (self->pill);
    }
  if (self->pill != NULL)
    gtk_widget_set_visible (self->pill, is_shown);
  if (!is_shown)
    return;
  g_autofree char *percent = g_strdup_printf (
      "%s %%", lns_format_fixed (100 * share, share >= 0.0005 && share < 0.0995 ? 1 : 0, number));
  gtk_inscription_set_text (GTK_INSCRIPTION (self->pill), percent);
  lns_tooltip_set (self->pill, text);
}

/* What ACTIVITY is with SHARE, and of B what that of the row of A with the same role is; NULL if it is not known. Free with g_free (). */
static char *
share_text (LnsTimelineRow *self, LnsActivity activity, double share)
{
  const LnsRowContext *other = self->context->side == 1 ? self->context->other : NULL;
  const uint32_t row =
      other != NULL ? lns_row_pairs_other (self->context->pairs, 1, self->row) : LNS_ID_NONE;
  g_autofree char *own = share < 0 ? NULL : lns_summary_text (activity, share);
  if (own == NULL || row == LNS_ID_NONE)
    return g_steal_pointer (&own);
  LnsReport *report = lns_view_get_report (other->view);
  const LnsStrip strip = lns_strip_of (report, other->tree, row, 0);
  const double others = busy_share (other, &strip, activity);
  char number[LNS_FORMAT_SIZE];
  return others < 0 || lns_strip_activity (report, other->tree, &strip) != activity
             ? g_steal_pointer (&own)
             /* Translators: of a row of report B, "85 % GPU work; A: 91 %" */
             : g_strdup_printf (_ ("%s; A: %s %%"), own,
                                lns_format_fixed (100 * others, 1, number));
}

void
lns_timeline_row_update_description (LnsTimelineRow *self)
{
  LnsView *view = self->context->view;
  char count[LNS_FORMAT_SIZE], start[LNS_FORMAT_SIZE], end[LNS_FORMAT_SIZE];
  lns_format_unsigned (model_row (self)->n_events, count);
  lns_format_duration_exact (lns_view_get_start_ns (view), start);
  lns_format_duration_exact (lns_view_get_end_ns (view), end);
  const LnsStrip strip = strip_of (self, 0);
  const LnsActivity activity =
      lns_strip_activity (lns_view_get_report (view), self->context->tree, &strip);
  const double busy = busy_share (self->context, &strip, activity);
  g_autofree char *share = share_text (self, activity, busy);
  update_pill (self, activity, busy, share);
  /* Translators: "1,200 events; view 0 ns – 2.5 s; 37.5 % on a CPU" */
  g_autofree char *description =
      busy < 0 ? g_strdup_printf (_ ("%s events; view %s – %s"), count, start, end)
               : g_strdup_printf (_ ("%s events; view %s – %s; %s"), count, start, end, share);
  if (g_strcmp0 (description, self->description) == 0)
    return;
  g_free (self->description);
  self->description = g_steal_pointer (&description);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  self->description, -1);
}

/* The title of the events table when it shows this row: "NVTX — main (4711)". */
static char *
title_of (LnsTimelineRow *self)
{
  const LnsRow *it = model_row (self);
  if (it->parent == LNS_ID_NONE)
    return g_strdup (it->label);
  return g_strdup_printf ("%s — %s", it->label,
                          lns_row_tree_row (self->context->tree, it->parent)->label);
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
show_in_events_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsTimelineRow *self = LNS_TIMELINE_ROW (widget);
  const LnsRow *it = model_row (self);
  g_autofree char *title = title_of (self);
  /* A row of all streams draws only a part of the events below it. */
  const LnsFacetSet *set = it->kind == LNS_ROW_FACET ? it->set : NULL;
  lns_view_show_in_events (self->context->view, title,
                           lns_row_tree_lanes (self->context->tree) + it->lanes, it->n_lanes, set,
                           it->facet);
}

/* The threads of the row: the one that it is of, or all of its process. */
static void
show_in_functions_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsTimelineRow *self = LNS_TIMELINE_ROW (widget);
  const LnsRow *it = model_row (self);
  LnsReport *report = lns_view_get_report (self->context->view);
  uint32_t n_threads;
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  g_autofree bool *is_wanted = g_new0 (bool, n_threads);
  g_autofree char *title = it->thread != LNS_ID_NONE
                               ? lns_event_text_thread_or (report, it->thread, _ ("Thread"))
                               : lns_event_text_process (report, it->process);

  for (uint32_t i = 0; i < n_threads; i++)
    is_wanted[i] = it->thread != LNS_ID_NONE ? i == it->thread : threads[i].process == it->process;
  lns_view_show_in_functions (self->context->view, title, is_wanted);
}

static void
zoom_to_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsTimelineRow *self = LNS_TIMELINE_ROW (widget);
  const LnsRow *it = model_row (self);
  const uint32_t *lanes = lns_row_tree_lanes (self->context->tree) + it->lanes;
  LnsReport *report = lns_view_get_report (self->context->view);
  int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
  if (it->n_lanes == 0)
    return;
  if (it->kind == LNS_ROW_FACET)
    {
      const LnsFacet *facet = &lns_facet_set_facets (it->set, NULL)[it->facet];
      lns_view_show_span (self->context->view, facet->start_ns, facet->end_ns);
      return;
    }
  for (uint32_t i = 0; i < it->n_lanes; i++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, lanes[i]);
      start_ns = MIN (start_ns, info->start_ns);
      end_ns = MAX (end_ns, info->end_ns);
    }
  lns_view_show_span (self->context->view, start_ns, end_ns);
}

/* The timeline does it, as other rows may change with this one. */
static void
change_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsTimelineRow *self = LNS_TIMELINE_ROW (widget);
  gtk_widget_activate_action (widget, "timeline.change-row", "(sui)", name, self->row,
                              self->context->side);
}

/* --- Layout and picture -------------------------------------------------------------------- */

static void
lns_timeline_row_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  LnsTimelineRow *self = LNS_TIMELINE_ROW (widget);
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    *minimum = self->context->header_px + MIN_BODY_PX;
  else
    *minimum =
        self->row == LNS_ID_NONE ? 0 : lns_row_tree_height_px (self->context->tree, self->row);
  *natural = *minimum;
}

static void
lns_timeline_row_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LnsTimelineRow *self = LNS_TIMELINE_ROW (widget);
  int needed_px, unused;
  gtk_widget_measure (self->header, GTK_ORIENTATION_HORIZONTAL, -1, &needed_px, &unused, NULL,
                      NULL);
  gtk_widget_measure (self->header, GTK_ORIENTATION_VERTICAL, -1, &unused, &unused, NULL, NULL);
  gtk_widget_size_allocate (
      self->header,
      &(GtkAllocation){ 0, 0, MAX (self->context->header_px, needed_px), MAX (height, unused) },
      -1);
  lns_context_menu_present (widget);
}

/* Writes the name of a range that began left of the view at the left edge, where it can be read. */
static void
snapshot_held_name (LnsTimelineRow *self, GtkSnapshot *snapshot, const LnsStrip *strip, int top_px)
{
  const LnsScale *scale = lns_view_get_scale (self->context->view);
  double tile_x;
  const LnsTile *tile = lns_tile_set_at (self->context->tiles, strip, 0, &tile_x);
  const LnsPixelEvent *event = tile != NULL ? lns_tile_event_at (tile, tile_x, 0) : NULL;
  if (event == NULL || lns_scale_x_of (scale, event->start_ns) > -1)
    return;
  double right_px = lns_scale_x_of (scale, lns_sum (event->start_ns, event->duration_ns)) - 1;
  if (tile->edges != NULL)
    {
      const LnsTileEdges *edges = &tile->edges[event - tile->events];
      if ((double)edges->x0 / tile->key.scale > tile_x - 1)
        return;
      right_px = MIN (right_px, (double)edges->x1 / tile->key.scale - tile_x - 1);
    }
  right_px = MIN (right_px, lns_view_get_width_px (self->context->view));
  int text_px, line_px;
  double room_px = right_px - 2 * LNS_LABEL_PAD_PX;
  const LnsThreadSpan *span = tile->spans != NULL ? &tile->spans[event - tile->events] : NULL;
  if (span != NULL && span->state == LNS_STATE_NONE)
    span = NULL;
  const uint32_t row_of = lns_strip_row_of (self->context->tree, strip, event->lane);
  const LnsRow *row = lns_row_tree_row (self->context->tree, row_of);
  PangoLayout *layout =
      right_px < LNS_LABEL_MIN_PX ? NULL
      : span != NULL
          ? lns_tile_labels_span (self->context->labels, span, room_px, &text_px, &line_px)
          : lns_tile_labels_layout (self->context->labels, event->name, lns_row_names (row),
                                    room_px, &text_px, &line_px);
  if (layout == NULL)
    return;
  LnsReport *report = lns_view_get_report (self->context->view);
  const LnsPalette *palette = lns_palette_get (self->context->theme);
  uint32_t rgb = span != NULL ? lns_palette_state (palette, span->state)
                              : lns_event_color (report, self->context->tree, self->context->theme,
                                                 &self->context->coloring, row_of, event->color,
                                                 event->name, event->duration_ns);
  GdkRGBA back = lns_palette_rgba (rgb, 1), front = lns_palette_rgba (lns_palette_text_on (rgb), 1);
  /* What shows the state stays. */
  float under_px = tile->edges != NULL && span == NULL && strip->lane != LNS_ID_NONE
                       ? LNS_STATE_UNDERLINE_PX
                   : span != NULL ? LNS_STATE_EDGE_PX
                                  : 0;
  float box_px = (float)MIN (text_px + 2 * LNS_LABEL_PAD_PX, right_px);
  const int bar_px = strip->lane_px - 1;
  gtk_snapshot_append_color (
      snapshot, &back, &GRAPHENE_RECT_INIT (0, (float)top_px, box_px, (float)bar_px - under_px));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT (LNS_LABEL_PAD_PX, (float)(top_px + (bar_px - line_px) / 2)));
  gtk_snapshot_append_layout (snapshot, layout, &front);
  gtk_snapshot_restore (snapshot);
}

/* Writes the greatest value of the counter that STRIP shows, with its unit, where its curve is as high as that. */
static void
snapshot_most (LnsTimelineRow *self, GtkSnapshot *snapshot, const LnsStrip *strip)
{
  double tile_x;
  char number[LNS_FORMAT_SIZE];
  LnsReport *report = lns_view_get_report (self->context->view);
  const LnsTrack *track = lns_event_track (report, strip->lane);
  const LnsTile *tile = lns_tile_set_at (self->context->tiles, strip, 0, &tile_x);
  if (tile == NULL || tile->samples == NULL || track == NULL || !isfinite (tile->most) ||
      tile->most <= 0)
    return;
  int text_px, line_px;
  const LnsPalette *palette = lns_palette_get (self->context->theme);
  const GdkRGBA front = lns_palette_rgba (palette->text, COUNTER_TEXT_ALPHA);
  const GdkRGBA back = lns_palette_rgba (palette->background[strip->odd], COUNTER_TEXT_ALPHA);
  g_autofree char *unit = lns_event_text_string (report, track->unit, true);
  const gboolean is_power = strcmp (unit, "mW") == 0 && tile->most >= 1000; /* read in watts */
  g_autofree char *text = g_strdup_printf (
      "%s%s%s", lns_format_real (is_power ? tile->most / 1000 : tile->most, COUNTER_DIGITS, number),
      *unit != '\0' ? " " : "", is_power ? "W" : unit);
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  PangoAttrList *attributes = pango_attr_list_new ();
  pango_attr_list_insert (attributes, pango_attr_scale_new (PANGO_SCALE_SMALL));
  pango_layout_set_attributes (layout, attributes);
  pango_attr_list_unref (attributes);
  pango_layout_get_pixel_size (layout, &text_px, &line_px);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (LNS_LABEL_PAD_PX, 0));
  gtk_snapshot_append_color (snapshot, &back,
                             &GRAPHENE_RECT_INIT (0, 0, (float)text_px, (float)line_px));
  gtk_snapshot_append_layout (snapshot, layout, &front);
  gtk_snapshot_restore (snapshot);
}

/* Draws the text of a row that waits for its lanes. */
static void
snapshot_waiting (LnsTimelineRow *self, GtkSnapshot *snapshot, const graphene_rect_t *body)
{
  const LnsPalette *palette = lns_palette_get (self->context->theme);
  GdkRGBA back =
      lns_palette_rgba (palette->background[lns_row_is_odd (self->context->tree, self->row)], 1);
  GdkRGBA front = lns_palette_rgba (palette->text, 1);
  const char *text =
      self->context->waiting_text != NULL ? self->context->waiting_text : _ ("Finding ranges…");
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  int text_px, line_px;
  pango_layout_set_width (layout, (int)(body->size.width - 2 * LNS_LABEL_PAD_PX) * PANGO_SCALE);
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_get_pixel_size (layout, &text_px, &line_px);
  gtk_snapshot_append_color (snapshot, &back, body);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot,
      &GRAPHENE_POINT_INIT (LNS_LABEL_PAD_PX, floorf ((body->size.height - (float)line_px) / 2)));
  gtk_snapshot_append_layout (snapshot, layout, &front);
  gtk_snapshot_restore (snapshot);
}

/* Draws all strips into one node, because GTK walks the nodes of every row whenever the pointer moves. */
static void
snapshot_strips (LnsTimelineRow *self, GtkSnapshot *snapshot, const graphene_rect_t *body)
{
  const LnsPalette *palette = lns_palette_get (self->context->theme);
  GdkRGBA background =
      lns_palette_rgba (palette->background[lns_row_is_odd (self->context->tree, self->row)], 1);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, body);
  cairo_set_operator (cr, CAIRO_OPERATOR_SOURCE);
  /* Tiles are opaque. To fill the area under them would cost as much as to copy them. */
  const LnsStrip first = strip_of (self, 0);
  int pad_px = lns_strip_top_px (&first, 0);
  if (pad_px > 0)
    {
      gdk_cairo_set_source_rgba (cr, &background);
      cairo_rectangle (cr, 0, 0, body->size.width, pad_px);
      cairo_rectangle (cr, 0, body->size.height - LNS_ROW_PAD_PX, body->size.width, LNS_ROW_PAD_PX);
      cairo_fill (cr);
    }
  for (uint32_t i = self->shown.first; i < self->shown.first + self->shown.n; i++)
    {
      LnsStrip strip = strip_of (self, i);
      cairo_save (cr);
      cairo_translate (cr, 0, lns_strip_top_px (&strip, i));
      lns_tile_set_draw (self->context->tiles, cr, &strip, &background);
      cairo_restore (cr);
    }
  cairo_destroy (cr);
}

/* Draws a line below two rows that are a pair, and below one that is none. */
static void
snapshot_end_of_pair (LnsTimelineRow *self, GtkSnapshot *snapshot)
{
  const LnsRowContext *context = self->context;
  const int height_px = gtk_widget_get_height (GTK_WIDGET (self));
  if (context->other == NULL ||
      (context->side == 0 && lns_row_pairs_other (context->pairs, 0, self->row) != LNS_ID_NONE))
    return;
  const GdkRGBA color = lns_palette_rgba (lns_palette_get (context->theme)->text, PAIR_ALPHA);
  gtk_snapshot_append_color (snapshot, &color,
                             &GRAPHENE_RECT_INIT (0, (float)height_px - 1,
                                                  (float)gtk_widget_get_width (GTK_WIDGET (self)),
                                                  1));
}

static void
lns_timeline_row_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsTimelineRow *self = LNS_TIMELINE_ROW (widget);
  if (self->row == LNS_ID_NONE)
    return;
  graphene_rect_t body =
      GRAPHENE_RECT_INIT (0, 0, (float)lns_view_get_width_px (self->context->view),
                          (float)gtk_widget_get_height (widget));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT ((float)self->context->header_px, 0));
  if (lns_row_is_waiting (model_row (self)))
    snapshot_waiting (self, snapshot, &body);
  else
    snapshot_strips (self, snapshot, &body);
  gtk_snapshot_push_clip (snapshot, &body);
  lns_idle_tints_snapshot (self->context, model_row (self), widget, snapshot, &body);
  lns_row_difference_snapshot (self->context, self->row, snapshot, &body);
  for (uint32_t i = self->shown.first; i < self->shown.first + self->shown.n; i++)
    {
      LnsStrip strip = strip_of (self, i);
      if (strip.kind == LNS_STRIP_RANGES || strip.kind == LNS_STRIP_STATES ||
          strip.kind == LNS_STRIP_COMBINED)
        snapshot_held_name (self, snapshot, &strip, lns_strip_top_px (&strip, i));
      else if (strip.kind == LNS_STRIP_COUNTER)
        snapshot_most (self, snapshot, &strip);
    }
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_restore (snapshot);
  gtk_widget_snapshot_child (widget, self->header, snapshot);
  snapshot_end_of_pair (self, snapshot);
}

static void
lns_timeline_row_unmap (GtkWidget *widget)
{
  lns_context_menu_close (widget);
  GTK_WIDGET_CLASS (lns_timeline_row_parent_class)->unmap (widget);
}

LnsTimelineRow *
lns_timeline_row_new (const LnsRowContext *context)
{
  LnsTimelineRow *self = g_object_new (LNS_TYPE_TIMELINE_ROW, NULL);
  self->context = context;
  return self;
}

static void
lns_timeline_row_dispose (GObject *object)
{
  LnsTimelineRow *self = LNS_TIMELINE_ROW (object);
  g_clear_pointer (&self->header, gtk_widget_unparent);
  g_clear_pointer (&self->description, g_free);
  G_OBJECT_CLASS (lns_timeline_row_parent_class)->dispose (object);
}

/* What people do with a row: see timeline-tree.c. */
static const char *const changes[] = {
  "row.expand",    "row.pin",        "row.hide",         "row.hide-others",
  "row.move-up",   "row.move-down",  "row.higher",       "row.lower",
  "row.pin-alike", "row.hide-alike", "row.unfold-alike", "row.fold-alike",
};

static void
lns_timeline_row_class_init (LnsTimelineRowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  object_class->dispose = lns_timeline_row_dispose;
  widget_class->measure = lns_timeline_row_measure;
  widget_class->size_allocate = lns_timeline_row_size_allocate;
  widget_class->snapshot = lns_timeline_row_snapshot;
  widget_class->unmap = lns_timeline_row_unmap;

  gtk_widget_class_install_action (widget_class, "row.show-in-events", NULL, show_in_events_cb);
  gtk_widget_class_install_action (widget_class, "row.show-in-functions", NULL,
                                   show_in_functions_cb);
  gtk_widget_class_install_action (widget_class, "row.zoom-to", NULL, zoom_to_cb);
  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    gtk_widget_class_install_action (widget_class, changes[i], NULL, change_cb);
  lns_shortcuts_add_to_class (widget_class, "row.");
  gtk_widget_class_set_css_name (widget_class, "timelinerow");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_ROW);
}

static void
lns_timeline_row_init (LnsTimelineRow *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  /* By hand: dozens are made at once, and a template takes twice as long. */
  self->row = LNS_ID_NONE;
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class (widget, "timeline-row");
  self->header = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (self->header, "timeline-header");
  self->expander = gtk_button_new_from_icon_name ("pan-down-symbolic");
  gtk_widget_set_valign (self->expander, GTK_ALIGN_START);
  gtk_widget_set_focusable (self->expander, FALSE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->expander), "row.expand");
  gtk_widget_add_css_class (self->expander, "flat");
  gtk_widget_add_css_class (self->expander, "timeline-expander");
  /* No GtkLabel: that lays its text out three times to say how wide it is, and each of its new texts lays the whole window out. */
  self->label = LNS_TEXT_CELL (lns_text_cell_new (FALSE, 0));
  gtk_widget_set_has_tooltip (GTK_WIDGET (self->label), FALSE); /* the timeline shows it */
  gtk_widget_set_hexpand (GTK_WIDGET (self->label), TRUE);
  gtk_widget_set_valign (GTK_WIDGET (self->label), GTK_ALIGN_START);
  gtk_box_append (GTK_BOX (self->header), self->expander);
  gtk_box_append (GTK_BOX (self->header), GTK_WIDGET (self->label));
  gtk_widget_set_parent (self->header, widget);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#include "src/base/format.h"
#include "ui/model/palette.h"
#include "ui/model/shortcuts.h"
#include "ui/timeline/timeline-private.h"

#define HEADER_PX           240
#define MAX_HEADER_PX       480  /* wider ones are dragged to be so */
#define HEADER_SCALE        0.88 /* of the font, as in shell/style.css */
#define HEADER_EXTRA_PX     56   /* what a GPU's label has beside it: indents, expander, margins */
#define MAX_PINNED_SHARE    0.5
#define DESCRIBE_AFTER_MSEC 200
#define TOOLTIP_DX_PX       14
#define TOOLTIP_DY_PX       18

G_DEFINE_FINAL_TYPE (LnsTimeline, lns_timeline, GTK_TYPE_WIDGET)

/* --- What the view tells ------------------------------------------------------------------- */

static gboolean
describe_cb (gpointer data)
{
  LnsTimeline *self = data;
  self->describing = 0;
  lns_timeline_rows_update_descriptions (self->pinned);
  lns_timeline_rows_update_descriptions (self->rows);
  return G_SOURCE_REMOVE;
}

/* Telling assistive technology costs messages: it hears where a movement ended. */
static void
describe_later (LnsTimeline *self)
{
  g_clear_handle_id (&self->describing, g_source_remove);
  self->describing = g_timeout_add (DESCRIBE_AFTER_MSEC, describe_cb, self);
}

/* The next frame asks for the tiles that it lacks. */
static void
prepare_tiles (LnsTimeline *self)
{
  self->unprepared = TRUE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
span_changed_cb (LnsTimeline *self)
{
  char text[LNS_FORMAT_SIZE];
  LnsView *view = self->context.view;
  lns_format_duration (lns_time_sub (lns_view_get_end_ns (view), lns_view_get_start_ns (view)),
                       text);
  /* Translators: a duration, "1.052 ms in view" */
  g_autofree char *label = g_strdup_printf (_ ("%s in view"), text);
  gtk_inscription_set_text (self->corner, label);
  if (self->tooltip != NULL)
    _lns_timeline_hide_tooltip (self); /* what it is about has moved away from the pointer */
  lns_timeline_rows_redraw (self->pinned);
  lns_timeline_rows_redraw (self->rows);
  prepare_tiles (self);
  _lns_timeline_update_actions (self);
  describe_later (self);
}

static void
selection_changed_cb (LnsTimeline *self)
{
  gtk_widget_queue_draw (GTK_WIDGET (self));
  _lns_timeline_update_actions (self);
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
        int top_px = lns_strip_top_px (strip.kind, n);
        lns_timeline_rows_scroll_to (self->rows, row, top_px - LNS_LANE_PX,
                                     top_px + lns_strip_height_px (strip.kind) + LNS_LANE_PX);
      }
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
dark_changed_cb (LnsTimeline *self)
{
  self->context.dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  lns_timeline_rows_redraw (self->pinned);
  lns_timeline_rows_redraw (self->rows);
  gtk_widget_queue_draw (GTK_WIDGET (self->overview));
  prepare_tiles (self);
}

/* --- What the rows tell -------------------------------------------------------------------- */

void
_lns_timeline_rows_changed (LnsTimeline *self)
{
  lns_timeline_rows_sync (self->pinned);
  lns_timeline_rows_sync (self->rows);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  prepare_tiles (self);
  _lns_timeline_update_actions (self);
  describe_later (self);
  _lns_timeline_read_wanted (self);
  _lns_timeline_stop_unwanted_projecting (self);
}

static void
expand_toggled_cb (LnsTimeline *self, guint row)
{
  gboolean expanded = lns_row_tree_row (self->context.tree, row)->expanded;
  lns_row_tree_set_expanded (self->context.tree, row, !expanded);
  _lns_timeline_rows_changed (self);
}

static void
pin_toggled_cb (LnsTimeline *self, guint row)
{
  uint32_t id = row;
  for (guint i = 0; i < self->pinned_rows->len; i++)
    if (g_array_index (self->pinned_rows, uint32_t, i) == id)
      {
        g_array_remove_index (self->pinned_rows, i);
        _lns_timeline_rows_changed (self);
        return;
      }
  g_array_append_val (self->pinned_rows, id);
  _lns_timeline_rows_changed (self);
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
  int x = (int)self->pointer_x + TOOLTIP_DX_PX, y = (int)self->pointer_y + TOOLTIP_DY_PX;
  if (x + natural_w > width)
    x = MAX ((int)self->pointer_x - TOOLTIP_DX_PX - natural_w, 0);
  if (y + natural_h > height)
    y = MAX ((int)self->pointer_y - TOOLTIP_DY_PX - natural_h, 0);
  gtk_widget_size_allocate (self->tooltip, &(GtkAllocation){ x, y, natural_w, natural_h }, -1);
}

static void
lns_timeline_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LnsTimeline *self = LNS_TIMELINE (widget);
  int bar_px = minimum_of (self->scrollbar, GTK_ORIENTATION_HORIZONTAL);
  int overview_px = minimum_of (GTK_WIDGET (self->overview), GTK_ORIENTATION_VERTICAL);
  int ruler_px = minimum_of (GTK_WIDGET (self->ruler), GTK_ORIENTATION_VERTICAL);
  int top_px = overview_px + ruler_px;
  int pinned_px =
      MIN (lns_timeline_rows_total_px (self->pinned), (int)((height - top_px) * MAX_PINNED_SHARE));
  int header_px = self->context.header_px, body_px = MAX (width - header_px - bar_px, 1);

  lns_view_set_width_px (self->context.view, body_px);
  allocate (GTK_WIDGET (self->corner), 0, 0, header_px, top_px);
  allocate (GTK_WIDGET (self->overview), header_px, 0, body_px, overview_px);
  allocate (GTK_WIDGET (self->ruler), header_px, overview_px, body_px, ruler_px);
  gtk_widget_set_child_visible (GTK_WIDGET (self->pinned), pinned_px > 0);
  allocate (GTK_WIDGET (self->pinned), 0, top_px, width - bar_px, pinned_px);
  top_px += pinned_px;
  allocate (GTK_WIDGET (self->rows), 0, top_px, width - bar_px, height - top_px);
  allocate (self->scrollbar, width - bar_px, top_px, bar_px, height - top_px);
  self->rows_end_px = MIN (top_px + lns_timeline_rows_total_px (self->rows), height);
  allocate (self->gutter, 0, self->rows_end_px, header_px, height - self->rows_end_px);
  if (gtk_widget_get_visible (self->empty))
    allocate (self->empty, 0, top_px, width, height - top_px);
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

graphene_rect_t
_lns_timeline_body (LnsTimeline *self)
{
  float top_px = (float)(gtk_widget_get_height (GTK_WIDGET (self->overview)) +
                         gtk_widget_get_height (GTK_WIDGET (self->ruler)));
  return GRAPHENE_RECT_INIT ((float)self->context.header_px, top_px,
                             (float)lns_view_get_width_px (self->context.view),
                             (float)gtk_widget_get_height (GTK_WIDGET (self)) - top_px);
}

/* Below the last row. The rows fill themselves: a background under them all would be a fifth of what
 * a frame costs. */
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

/* Asks for the tiles that what is in view lacks. */
static void
prepare (LnsTimeline *self)
{
  self->unprepared = FALSE;
  g_array_set_size (self->spans, 0);
  lns_timeline_rows_append_spans (self->pinned, self->spans);
  lns_timeline_rows_append_spans (self->rows, self->spans);
  lns_tile_set_prepare (self->context.tiles, (const LnsStripSpan *)(void *)self->spans->data,
                        self->spans->len, gtk_widget_get_scale_factor (GTK_WIDGET (self)),
                        self->context.dark);
  _lns_timeline_project_wanted (self);
}

static void
lns_timeline_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsTimeline *self = LNS_TIMELINE (widget);
  if (self->unprepared)
    prepare (self);
  snapshot_floor (self, snapshot);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (child != self->tooltip && !GTK_IS_NATIVE (child))
      gtk_widget_snapshot_child (widget, child, snapshot);
  _lns_timeline_snapshot_overlay (self, snapshot);
  gtk_widget_snapshot_child (widget, self->tooltip, snapshot);
}

/* --- The object ---------------------------------------------------------------------------- */

gboolean
lns_timeline_is_complete (LnsTimeline *self)
{
  return self->reading == NULL && self->projecting == NULL &&
         lns_tile_set_is_complete (self->context.tiles) &&
         lns_overview_is_complete (self->overview);
}

guint64
lns_timeline_n_tiles_painted (LnsTimeline *self)
{
  return lns_tile_set_n_painted (self->context.tiles);
}

guint
lns_timeline_n_rows (LnsTimeline *self)
{
  return lns_row_tree_n_visible (self->context.tree);
}

static LnsTimelineRows *
add_rows (LnsTimeline *self, GtkAdjustment *adjustment)
{
  LnsTimelineRows *rows = lns_timeline_rows_new (&self->context, adjustment);
  gtk_widget_insert_before (GTK_WIDGET (rows), GTK_WIDGET (self), self->scrollbar);
  lns_timeline_rows_set_pinned (rows, self->pinned_rows);
  g_signal_connect_object (rows, "expand-toggled", G_CALLBACK (expand_toggled_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (rows, "pin-toggled", G_CALLBACK (pin_toggled_cb), self,
                           G_CONNECT_SWAPPED);
  return rows;
}

/* Where GPUs are told apart by their labels: "CUDA HW (0000:b2:00.0 - NVIDIA H100 80GB HBM3)". */
static int
fitting_header_px (LnsTimeline *self)
{
  int header_px = HEADER_PX;
  for (uint32_t row = 0; row < lns_row_tree_n_rows (self->context.tree); row++)
    {
      int width_px;
      const LnsRow *it = lns_row_tree_row (self->context.tree, row);
      if (it->kind != LNS_ROW_DEVICE)
        continue;
      g_autoptr (PangoLayout) layout =
          gtk_widget_create_pango_layout (GTK_WIDGET (self), it->label);
      g_autoptr (PangoAttrList) bold = pango_attr_list_new ();
      pango_attr_list_insert (bold, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
      pango_attr_list_insert (bold, pango_attr_scale_new (HEADER_SCALE));
      pango_layout_set_attributes (layout, bold);
      pango_layout_get_pixel_size (layout, &width_px, NULL);
      header_px = MAX (header_px, width_px + HEADER_EXTRA_PX);
    }
  return MIN (header_px, MAX_HEADER_PX);
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
  context->header_px = fitting_header_px (self);
  context->dark = adw_style_manager_get_dark (adw_style_manager_get_default ());

  self->pinned = add_rows (self, NULL);
  self->rows = add_rows (self, self->adjustment);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->pinned), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Pinned rows"), -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->rows), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Rows"), -1);
  lns_overview_set_view (self->overview, view, context->tree);
  lns_ruler_set_view (self->ruler, view);
  gtk_widget_set_visible (self->empty, lns_row_tree_n_rows (context->tree) == 0);

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
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark",
                           G_CALLBACK (dark_changed_cb), self, G_CONNECT_SWAPPED);
  span_changed_cb (self);
  _lns_timeline_read_wanted (self);
}

GtkWidget *
lns_timeline_new (LnsView *view)
{
  g_return_val_if_fail (LNS_IS_VIEW (view), NULL);
  LnsTimeline *self = g_object_new (LNS_TYPE_TIMELINE, NULL);
  set_view (self, view);
  return GTK_WIDGET (self);
}

static void
lns_timeline_dispose (GObject *object)
{
  LnsTimeline *self = LNS_TIMELINE (object);
  g_clear_handle_id (&self->describing, g_source_remove);
  _lns_timeline_stop_reading (self);
  _lns_timeline_stop_projecting (self);
  if (self->tooltip != NULL)
    _lns_timeline_hide_tooltip (self);
  self->tooltip = NULL;
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
  g_clear_object (&self->context.view);
  g_free (self->tooltip_about);
  g_free (self->context.waiting_text);
  g_array_unref (self->pinned_rows);
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
  g_type_ensure (LNS_TYPE_OVERVIEW);
  g_type_ensure (LNS_TYPE_RULER);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/timeline.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, adjustment);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, gutter);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, corner);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, overview);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, ruler);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, scrollbar);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, empty);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, tooltip);
  gtk_widget_class_bind_template_child (widget_class, LnsTimeline, tooltip_label);
  _lns_timeline_install_actions (widget_class);
  lns_shortcuts_add_to_class (widget_class, "timeline.");
  gtk_widget_class_set_css_name (widget_class, "timeline");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lns_timeline_init (LnsTimeline *self)
{
  self->pinned_rows = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  self->spans = g_array_new (FALSE, FALSE, sizeof (LnsStripSpan));
  self->pointer_x = self->pointer_y = -1;
  self->menu_event = LNS_EVENT_NONE;
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_set_child_visible (self->tooltip, FALSE);
  _lns_timeline_add_pointer (self);
}

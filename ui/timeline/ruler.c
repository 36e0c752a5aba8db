/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/ruler.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ui/model/display-text.h"
#include "ui/model/tooltip.h"
#include "ui/timeline/ruler-ticks.h"

#define HEIGHT_PX   28 /* at least */
#define TEXT_TOP_PX 2
#define TICK_PX     7
#define MINOR_PX    4
#define MIN_STEP_PX 110
#define PAD_PX      4
#define MINOR_ALPHA 0.5f

struct _LnsRuler
{
  GtkWidget parent_instance;

  LnsView *view;             /* owned, or NULL */
  PangoLayout *layout;       /* owned, reused for every text; or NULL */
  GskRenderNode *ticks;      /* owned; all but the pointer's time, or NULL */
  GtkWidget *before, *after; /* owned; lead to what the view was not opened at */
  double pointer_px;
  int height_px; /* for a line, and the ticks below it */
};

G_DEFINE_FINAL_TYPE (LnsRuler, lns_ruler, GTK_TYPE_WIDGET)

static void
redraw (LnsRuler *self)
{
  g_clear_pointer (&self->ticks, gsk_render_node_unref);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- What lies before and after where the view was opened --------------------------------- */

/* Says on BUTTON how much time lies out of view on its side, if any does. */
static void
say_away (GtkWidget *button, gboolean is_at_opening, int64_t away_ns, gboolean is_after)
{
  char away[LNS_FORMAT_SIZE];
  const gboolean says = is_at_opening && away_ns > 0;
  gtk_widget_set_visible (button, says);
  if (!says)
    return;
  lns_format_duration (away_ns, away);
  g_autofree char *text = is_after ? g_strdup_printf (_ ("%s later ▸"), away)
                                   : g_strdup_printf (_ ("◂ %s earlier"), away);
  gtk_button_set_label (GTK_BUTTON (button), text);
}

static void
point_away (LnsRuler *self)
{
  int64_t first_ns, last_ns, start_ns, end_ns;
  const gboolean is_at_opening = lns_view_get_opening (self->view, &start_ns, &end_ns);
  lns_view_get_whole (self->view, &first_ns, &last_ns);
  /* Nothing here depends on the width: a label that changed while widgets get their places would have none. */
  say_away (self->before, is_at_opening, lns_difference (start_ns, first_ns), FALSE);
  say_away (self->after, is_at_opening, lns_difference (last_ns, end_ns), TRUE);
  redraw (self);
}

void
lns_ruler_set_view (LnsRuler *self, LnsView *view)
{
  g_set_object (&self->view, view);
  g_signal_connect_object (view, "span-changed", G_CALLBACK (point_away), self, G_CONNECT_SWAPPED);
}

static GtkWidget *
add_button (LnsRuler *self)
{
  GtkWidget *button = gtk_button_new ();
  gtk_widget_add_css_class (button, "edge");
  lns_tooltip_set (button, _ ("Zoom to the whole run"));
  gtk_widget_set_focusable (button, FALSE); /* the key of the action is for the keyboard */
  gtk_widget_set_visible (button, FALSE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "timeline.zoom-fit");
  gtk_widget_set_parent (button, GTK_WIDGET (self));
  return button;
}

/* The width of BUTTON while it is there, in pixels. */
static int
button_px (GtkWidget *button)
{
  int width_px = 0;
  if (gtk_widget_get_visible (button))
    gtk_widget_measure (button, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &width_px, NULL, NULL);
  return width_px;
}

static void
place (GtkWidget *button, int x_px, int width_px, int height_px)
{
  if (gtk_widget_should_layout (button))
    gtk_widget_size_allocate (button, &(GtkAllocation){ x_px, 0, width_px, height_px }, -1);
}

static void
lns_ruler_size_allocate (GtkWidget *widget, int width_px, int height_px, int baseline)
{
  LnsRuler *self = LNS_RULER (widget);
  const int after_px = button_px (self->after);
  place (self->before, 0, button_px (self->before), height_px);
  place (self->after, width_px - after_px, after_px, height_px);
}

/* Of the buttons nothing but their height: the ruler is as wide as what it is above. */
static void
lns_ruler_measure (GtkWidget *widget,
                   GtkOrientation orientation,
                   int for_px,
                   int *least_px,
                   int *natural_px,
                   int *least_baseline,
                   int *natural_baseline)
{
  LnsRuler *self = LNS_RULER (widget);
  *least_px = *natural_px = orientation == GTK_ORIENTATION_VERTICAL ? self->height_px : 0;
}

void
lns_ruler_set_pointer (LnsRuler *self, double x_px)
{
  if (self->pointer_px == x_px)
    return;
  self->pointer_px = x_px;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- Picture ------------------------------------------------------------------------------- */

/* Sets TEXT, in bold if BOLD; returns its width. */
static int
set_text (LnsRuler *self, const char *text, gboolean bold)
{
  if (self->layout == NULL)
    self->layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), NULL);
  PangoAttrList *attributes = NULL;
  if (bold)
    {
      attributes = pango_attr_list_new ();
      pango_attr_list_insert (attributes, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
    }
  pango_layout_set_attributes (self->layout, attributes);
  g_clear_pointer (&attributes, pango_attr_list_unref);
  g_autofree char *shown = lns_display_signed (text);
  pango_layout_set_text (self->layout, shown, -1);
  int width_px;
  pango_layout_get_pixel_size (self->layout, &width_px, NULL);
  return width_px;
}

static void
append_text (LnsRuler *self, GtkSnapshot *snapshot, double x_px, const GdkRGBA *color)
{
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT ((float)floor (x_px), TEXT_TOP_PX));
  gtk_snapshot_append_layout (snapshot, self->layout, color);
  gtk_snapshot_restore (snapshot);
}

static void
append_tick (
    LnsRuler *self, GtkSnapshot *snapshot, double x_px, float height_px, const GdkRGBA *color)
{
  gtk_snapshot_append_color (
      snapshot, color,
      &GRAPHENE_RECT_INIT ((float)floor (x_px), (float)self->height_px - height_px, 1, height_px));
}

static void
snapshot_minor_ticks (LnsRuler *self,
                      GtkSnapshot *snapshot,
                      const LnsRulerTicks *ticks,
                      const GdkRGBA *color)
{
  const LnsScale *scale = lns_view_get_scale (self->view);
  LnsRulerTicks minor = { .step_ns = ticks->minor_ns };
  int64_t end_ns = lns_view_get_end_ns (self->view);
  for (int64_t t = lns_ruler_first_tick (&minor, lns_view_get_start_ns (self->view)); t <= end_ns;
       t = lns_sum (t, minor.step_ns))
    {
      append_tick (self, snapshot, lns_scale_x_of (scale, t), MINOR_PX, color);
      if (t == INT64_MAX)
        break;
    }
}

/* Where labels are offsets, writes the time that they are relative to at the left edge. Returns where the ticks' labels may
 * begin. */
static double
snapshot_base (LnsRuler *self,
               GtkSnapshot *snapshot,
               const LnsRulerTicks *ticks,
               const GdkRGBA *color)
{
  const int from_px = button_px (self->before);
  if (ticks->base_ns == 0)
    return from_px;
  char text[LNS_FORMAT_SIZE];
  int64_t base_ns = lns_ruler_base_of (ticks, lns_view_get_start_ns (self->view));
  int width_px = set_text (self, lns_format_duration_exact (base_ns, text), TRUE);
  append_text (self, snapshot, from_px + PAD_PX, color);
  return from_px + width_px + 3 * PAD_PX;
}

static void
snapshot_major_ticks (LnsRuler *self,
                      GtkSnapshot *snapshot,
                      const LnsRulerTicks *ticks,
                      double from_px,
                      const GdkRGBA *color)
{
  const LnsScale *scale = lns_view_get_scale (self->view);
  const double to_px = gtk_widget_get_width (GTK_WIDGET (self)) - button_px (self->after);
  int64_t end_ns = lns_view_get_end_ns (self->view);
  int64_t start_ns = lns_difference (lns_view_get_start_ns (self->view), ticks->step_ns);
  char text[LNS_FORMAT_SIZE];
  for (int64_t t = lns_ruler_first_tick (ticks, start_ns); t <= end_ns;
       t = lns_sum (t, ticks->step_ns))
    {
      double x_px = lns_scale_x_of (scale, t);
      bool is_base;
      lns_ruler_label (ticks, t, &is_base, text);
      double end_px = x_px + PAD_PX + set_text (self, text, is_base);
      append_tick (self, snapshot, x_px, TICK_PX, color);
      if (x_px + PAD_PX >= from_px && end_px <= to_px)
        append_text (self, snapshot, x_px + PAD_PX, color);
      if (t == INT64_MAX)
        break;
    }
}

/* The time under the pointer, to the digit that a pixel can show, in a box over the ticks. */
static void
snapshot_pointer (LnsRuler *self, GtkSnapshot *snapshot, const GdkRGBA *color)
{
  int width_px = gtk_widget_get_width (GTK_WIDGET (self));
  if (self->pointer_px < 0 || self->pointer_px >= width_px)
    return;
  const LnsScale *scale = lns_view_get_scale (self->view);
  int64_t time_ns = lns_scale_time_of (scale, scale->first_px + (int64_t)self->pointer_px);
  int64_t digit_ns = 1;
  while ((double)digit_ns * 10 <= lns_scale_ns_per_px (scale))
    digit_ns *= 10;
  char text[LNS_FORMAT_SIZE];
  int text_px =
      set_text (self, lns_format_duration_exact (time_ns - time_ns % digit_ns, text), FALSE);
  float box_px = (float)(text_px + 4 * PAD_PX);
  float left_px = (float)CLAMP (self->pointer_px - box_px / 2, 0, MAX (width_px - box_px, 0));
  GskRoundedRect box;
  gsk_rounded_rect_init_from_rect (&box, &GRAPHENE_RECT_INIT (floorf (left_px), 1, box_px, 19), 4);
  GdkRGBA back;
  if (!gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                                       "popover_bg_color", &back))
    back = (GdkRGBA){ 0.5f, 0.5f, 0.5f, 1 };
  gtk_snapshot_push_rounded_clip (snapshot, &box);
  gtk_snapshot_append_color (snapshot, &back, &box.bounds);
  gtk_snapshot_pop (snapshot);
  append_text (self, snapshot, left_px + 2 * PAD_PX, color);
}

static GskRenderNode *
ticks_node (LnsRuler *self, const GdkRGBA *color)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GdkRGBA faint = *color;
  faint.alpha *= MINOR_ALPHA;
  double ns_per_px = lns_scale_ns_per_px (lns_view_get_scale (self->view));
  LnsRulerTicks ticks = lns_ruler_ticks (ns_per_px, MIN_STEP_PX, lns_view_get_end_ns (self->view));
  snapshot_minor_ticks (self, snapshot, &ticks, &faint);
  double from_px = snapshot_base (self, snapshot, &ticks, color);
  snapshot_major_ticks (self, snapshot, &ticks, from_px, color);
  return gtk_snapshot_free_to_node (snapshot);
}

static void
lns_ruler_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsRuler *self = LNS_RULER (widget);
  if (self->view == NULL)
    return;
  GdkRGBA color;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  if (self->ticks == NULL)
    self->ticks = ticks_node (self, &color);
  if (self->ticks != NULL)
    gtk_snapshot_append_node (snapshot, self->ticks);
  gtk_widget_snapshot_child (widget, self->before, snapshot);
  gtk_widget_snapshot_child (widget, self->after, snapshot);
  snapshot_pointer (self, snapshot, &color);
}

/* Makes the widget as high as its text and ticks. */
static void
fit_height (LnsRuler *self)
{
  int line_px;
  set_text (self, "0", TRUE);
  pango_layout_get_pixel_size (self->layout, NULL, &line_px);
  self->height_px = MAX (TEXT_TOP_PX + line_px + TICK_PX, HEIGHT_PX);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

/* The font or a colour has changed. */
static void
lns_ruler_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (lns_ruler_parent_class)->css_changed (widget, change);
  g_clear_object (&LNS_RULER (widget)->layout);
  fit_height (LNS_RULER (widget));
  redraw (LNS_RULER (widget));
}

static void
lns_ruler_dispose (GObject *object)
{
  LnsRuler *self = LNS_RULER (object);
  g_clear_pointer (&self->ticks, gsk_render_node_unref);
  g_clear_object (&self->layout);
  g_clear_object (&self->view);
  g_clear_pointer (&self->before, gtk_widget_unparent);
  g_clear_pointer (&self->after, gtk_widget_unparent);
  G_OBJECT_CLASS (lns_ruler_parent_class)->dispose (object);
}

static void
lns_ruler_class_init (LnsRulerClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lns_ruler_dispose;
  widget_class->measure = lns_ruler_measure;
  widget_class->size_allocate = lns_ruler_size_allocate;
  widget_class->snapshot = lns_ruler_snapshot;
  widget_class->css_changed = lns_ruler_css_changed;
  gtk_widget_class_set_css_name (widget_class, "timelineruler");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lns_ruler_init (LnsRuler *self)
{
  self->pointer_px = -1;
  self->before = add_button (self);
  self->after = add_button (self);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  fit_height (self);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/mark-strip.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/model/palette.h"
#include "ui/model/theme.h"

#define FLAG_PX     8
#define PAD_PX      4
#define SLACK_PX    4
#define MAX_TEXT_PX 220
#define SPAN_ALPHA  0.28f

struct _LnsMarkStrip
{
  GtkWidget parent_instance;

  LnsView *view;           /* owned, or NULL */
  LnsBookmarks *bookmarks; /* owned, or NULL */
  PangoLayout *layout;     /* owned, or NULL */
};

G_DEFINE_FINAL_TYPE (LnsMarkStrip, lns_mark_strip, GTK_TYPE_WIDGET)

/* Where mark I begins and ends, in pixels, with its name, up to the next one. */
static void
extent (LnsMarkStrip *self, guint i, double *ret_left_px, double *ret_right_px)
{
  guint n;
  const LnsMark *marks = lns_bookmarks_get (self->bookmarks, &n);
  const LnsScale *scale = lns_view_get_scale (self->view);
  *ret_left_px = floor (lns_scale_x_of (scale, marks[i].start_ns));
  double limit_px = *ret_left_px + MAX_TEXT_PX;
  if (i + 1 < n)
    limit_px = MIN (limit_px, floor (lns_scale_x_of (scale, marks[i + 1].start_ns)));
  *ret_right_px = MAX (limit_px, *ret_left_px + FLAG_PX);
}

int
lns_mark_strip_at (LnsMarkStrip *self, double x_px)
{
  guint n;
  const LnsMark *marks = lns_bookmarks_get (self->bookmarks, &n);
  const LnsScale *scale = lns_view_get_scale (self->view);
  int found = -1;
  for (guint i = 0; i < n; i++)
    {
      double left_px, right_px;
      extent (self, i, &left_px, &right_px);
      right_px = MAX (right_px, lns_scale_x_of (scale, marks[i].end_ns));
      if (x_px >= left_px - SLACK_PX && x_px < right_px)
        found = (int)i;
    }
  return found;
}

/* The first line of the name of MARK: the others are a note. Free with g_free (). */
static char *
title_of (const LnsMark *mark)
{
  const char *end = strchr (mark->name, '\n');
  return g_strndup (mark->name, end != NULL ? (gsize)(end - mark->name) : strlen (mark->name));
}

static void
snapshot_mark (LnsMarkStrip *self, GtkSnapshot *snapshot, guint i, const GdkRGBA *text)
{
  guint n;
  double left_px, right_px;
  const LnsMark *mark = &lns_bookmarks_get (self->bookmarks, &n)[i];
  const LnsScale *scale = lns_view_get_scale (self->view);
  const float height_px = (float)gtk_widget_get_height (GTK_WIDGET (self));
  const double width_px = gtk_widget_get_width (GTK_WIDGET (self));
  const double end_px = CLAMP (lns_scale_x_of (scale, mark->end_ns), -1, width_px + 1);
  const uint32_t accent = lns_palette_get (lns_theme_now ())->accent;
  const GdkRGBA flag = lns_palette_rgba (accent, 1), span = lns_palette_rgba (accent, SPAN_ALPHA);
  extent (self, i, &left_px, &right_px);
  if (end_px > left_px && end_px > 0)
    gtk_snapshot_append_color (snapshot, &span,
                               &GRAPHENE_RECT_INIT ((float)MAX (left_px, 0), 0,
                                                    (float)(end_px - MAX (left_px, 0)), height_px));
  if (left_px > width_px || right_px < 0)
    return;
  gtk_snapshot_append_color (snapshot, &flag,
                             &GRAPHENE_RECT_INIT ((float)left_px, 0, 2, height_px));
  for (int y = 0; y < FLAG_PX; y++)
    gtk_snapshot_append_color (
        snapshot, &flag,
        &GRAPHENE_RECT_INIT ((float)left_px, 2 + (float)y,
                             (float)(FLAG_PX - abs (2 * y - FLAG_PX) / 2 - 2), 1));
  const double room_px = right_px - left_px - FLAG_PX - 2 * PAD_PX;
  if (room_px < 3 * PAD_PX)
    return;
  g_autofree char *title = title_of (mark);
  pango_layout_set_text (self->layout, title, -1);
  pango_layout_set_width (self->layout, (int)(room_px * PANGO_SCALE));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT ((float)left_px + FLAG_PX + PAD_PX, 0));
  gtk_snapshot_append_layout (snapshot, self->layout, text);
  gtk_snapshot_restore (snapshot);
}

static void
lns_mark_strip_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsMarkStrip *self = LNS_MARK_STRIP (widget);
  GdkRGBA text;
  guint n;
  if (self->bookmarks == NULL)
    return;
  lns_bookmarks_get (self->bookmarks, &n);
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &text);
  for (guint i = 0; i < n; i++)
    snapshot_mark (self, snapshot, i, &text);
}

/* A line of text is as high as the font wants it. */
static void
lns_mark_strip_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  LnsMarkStrip *self = LNS_MARK_STRIP (widget);
  guint n = 0;
  int line_px = 0;
  if (self->layout == NULL)
    {
      self->layout = gtk_widget_create_pango_layout (widget, "X");
      pango_layout_set_ellipsize (self->layout, PANGO_ELLIPSIZE_END);
      pango_layout_set_single_paragraph_mode (self->layout, TRUE);
    }
  if (self->bookmarks != NULL)
    lns_bookmarks_get (self->bookmarks, &n);
  pango_layout_get_pixel_size (self->layout, NULL, &line_px);
  *minimum = *natural = orientation == GTK_ORIENTATION_VERTICAL && n > 0 ? line_px + 2 : 0;
}

static void
clicked_cb (GtkGestureClick *gesture, int n_press, double x, double y, LnsMarkStrip *self)
{
  const int i = lns_mark_strip_at (self, x);
  if (i < 0)
    return;
  if (i == lns_bookmarks_get_current (self->bookmarks))
    gtk_widget_activate_action (GTK_WIDGET (self), "win.edit-bookmark", "i", i);
  else
    lns_bookmarks_go (self->bookmarks, (guint)i);
}

static gboolean
query_tooltip_cb (LnsMarkStrip *self, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  const int i = self->bookmarks != NULL && !keyboard ? lns_mark_strip_at (self, x) : -1;
  guint n;
  if (i < 0)
    return FALSE;
  g_autofree char *when = lns_bookmarks_time_text (self->bookmarks, (guint)i);
  g_autofree char *text =
      g_strdup_printf ("%s\n%s", lns_bookmarks_get (self->bookmarks, &n)[i].name, when);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

void
lns_mark_strip_set_view (LnsMarkStrip *self, LnsView *view)
{
  g_return_if_fail (self->view == NULL);
  self->view = g_object_ref (view);
  self->bookmarks = lns_bookmarks_of (view);
  g_signal_connect_object (view, "span-changed", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->bookmarks, "changed", G_CALLBACK (gtk_widget_queue_resize), self,
                           G_CONNECT_SWAPPED);
}

static void
lns_mark_strip_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (lns_mark_strip_parent_class)->css_changed (widget, change);
  g_clear_object (&LNS_MARK_STRIP (widget)->layout);
  gtk_widget_queue_resize (widget);
}

static void
lns_mark_strip_dispose (GObject *object)
{
  LnsMarkStrip *self = LNS_MARK_STRIP (object);
  g_clear_object (&self->layout);
  g_clear_object (&self->bookmarks);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_mark_strip_parent_class)->dispose (object);
}

static void
lns_mark_strip_class_init (LnsMarkStripClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lns_mark_strip_dispose;
  widget_class->snapshot = lns_mark_strip_snapshot;
  widget_class->measure = lns_mark_strip_measure;
  widget_class->css_changed = lns_mark_strip_css_changed;
  gtk_widget_class_set_css_name (widget_class, "markstrip");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
lns_mark_strip_init (LnsMarkStrip *self)
{
  GtkGesture *click = gtk_gesture_click_new ();
  g_signal_connect (click, "released", G_CALLBACK (clicked_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (query_tooltip_cb), NULL);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
}

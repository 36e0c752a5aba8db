/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/name-bar.h"

#include "ui/model/palette.h"
#include "ui/model/text-cell.h"
#include "ui/model/theme.h"
#include "ui/model/tooltip.h"

#define BAR_PX    18
#define RADIUS_PX 2.0F

struct _LnsNameBar
{
  GtkBox parent_instance;

  GtkWidget *bar;
  GtkLabel *words; /* below it */
  double share;
  unsigned hue;
};

G_DEFINE_FINAL_TYPE (LnsNameBar, lns_name_bar, GTK_TYPE_BOX)

static void
draw_cb (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
  const LnsNameBar *self = data;
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  /* Text stands upon the bar and beside it: as pale as both allow. */
  const GdkRGBA color =
      lns_palette_rgba (lns_palette_mix (palette->background[0], palette->hues[self->hue], 0.6), 1);
  const double right = MAX (2, self->share * width);

  gdk_cairo_set_source_rgba (cr, &color);
  /* From where the name begins. */
  if (gtk_widget_get_direction (GTK_WIDGET (area)) == GTK_TEXT_DIR_RTL)
    {
      cairo_translate (cr, width, 0);
      cairo_scale (cr, -1, 1);
    }
  if (right <= 2 * (double)RADIUS_PX)
    cairo_rectangle (cr, 0, 0, right, height);
  else
    {
      const double r = (double)RADIUS_PX;
      cairo_new_sub_path (cr);
      cairo_arc (cr, right - r, r, r, -G_PI / 2, 0);
      cairo_arc (cr, right - r, height - r, r, 0, G_PI / 2);
      cairo_arc (cr, r, height - r, r, G_PI / 2, G_PI);
      cairo_arc (cr, r, r, r, G_PI, 1.5 * G_PI);
    }
  cairo_fill (cr);
}

GtkWidget *
lns_name_bar_new (const char *name, double share, const char *time, unsigned hue)
{
  LnsNameBar *self =
      g_object_new (LNS_TYPE_NAME_BAR, "orientation", GTK_ORIENTATION_VERTICAL, NULL);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *overlay = gtk_overlay_new (),
            *label = g_object_new (GTK_TYPE_LABEL, "label", name, "xalign", 0.0, "ellipsize",
                                   PANGO_ELLIPSIZE_MIDDLE, "margin-start", 5, NULL),
            *text = g_object_new (GTK_TYPE_LABEL, "label", time, "xalign", 1.0, "width-chars", 10,
                                  NULL);

  self->share = share;
  lns_tooltip_set (GTK_WIDGET (self), name);
  self->hue = hue;
  lns_text_set_numeric (text);
  gtk_overlay_set_child (GTK_OVERLAY (overlay), self->bar);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), label);
  gtk_widget_set_hexpand (overlay, TRUE);
  gtk_box_append (GTK_BOX (line), overlay);
  gtk_box_append (GTK_BOX (line), text);
  gtk_box_prepend (GTK_BOX (self), line);
  return GTK_WIDGET (self);
}

void
lns_name_bar_set_words (LnsNameBar *self, const char *words, const char *help)
{
  g_autofree char *tooltip = g_strdup_printf ("%s\n%s", words, help);

  gtk_label_set_text (self->words, words);
  lns_tooltip_set (GTK_WIDGET (self->words), tooltip);
  gtk_widget_set_visible (GTK_WIDGET (self->words), TRUE);
}

static void
lns_name_bar_class_init (LnsNameBarClass *klass)
{
}

static void
lns_name_bar_init (LnsNameBar *self)
{
  GtkWidget *words = g_object_new (GTK_TYPE_LABEL, "xalign", 0.0, "ellipsize", PANGO_ELLIPSIZE_END,
                                   "margin-start", 5, "visible", FALSE, NULL);

  self->bar = gtk_drawing_area_new ();
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (self->bar), BAR_PX);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->bar), draw_cb, self, NULL);
  self->words = GTK_LABEL (words);
  gtk_widget_add_css_class (words, "name-bar-words");
  lns_text_set_numeric (words);
  gtk_box_append (GTK_BOX (self), words);
  lns_theme_connect (G_CALLBACK (gtk_widget_queue_draw), self->bar);
}

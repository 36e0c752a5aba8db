/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/text-cell.h"

#include "ui/model/display-text.h"

struct _LnsTextCell
{
  GtkWidget parent_instance;

  char *text;
  PangoLayout *layout; /* NULL until it is drawn for the first time */
  gboolean is_stale;   /* the layout has another text */
  gboolean is_number;
  guint min_chars;
  guint natural_chars;
};

G_DEFINE_FINAL_TYPE (LnsTextCell, lns_text_cell, GTK_TYPE_WIDGET)

void
lns_text_set_numeric (GtkWidget *text)
{
  float xalign;

  gtk_widget_add_css_class (text, "numeric");
  if (gtk_widget_get_direction (text) != GTK_TEXT_DIR_RTL)
    return;
  gtk_widget_set_direction (text, GTK_TEXT_DIR_LTR);
  if (LNS_IS_TEXT_CELL (text))
    return;
  g_object_get (text, "xalign", &xalign, NULL);
  if (xalign < 0.5f)
    g_object_set (text, "xalign", 1.0f, NULL);
}

float
lns_text_start (GtkWidget *widget)
{
  return gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL ? 1 : 0;
}

/* --- Size --------------------------------------------------------------------------------------- */

typedef struct
{
  int char_units;
  int line_px;
} FontSize;

/* The size of CONTEXT's font. That of the last one is kept, as cells of a window have one font: Pango keeps it by context, of which each
 * cell has its own, and shapes a text to find it. */
static FontSize
font_size (PangoContext *context)
{
  static PangoFontDescription *last;
  static PangoLanguage *last_language;
  static guint last_serial;
  static double last_resolution;
  static FontSize size;
  PangoFontMap *map = pango_context_get_font_map (context);
  const PangoFontDescription *font = pango_context_get_font_description (context);
  PangoLanguage *language = pango_context_get_language (context);
  const double resolution = pango_cairo_context_get_resolution (context);

  if (last != NULL && last_language == language && last_serial == pango_font_map_get_serial (map) &&
      last_resolution == resolution && pango_font_description_equal (last, font))
    return size;
  PangoFontMetrics *metrics = pango_context_get_metrics (context, NULL, NULL);
  size = (FontSize){
    .char_units = MAX (pango_font_metrics_get_approximate_char_width (metrics),
                       pango_font_metrics_get_approximate_digit_width (metrics)),
    .line_px = PANGO_PIXELS_CEIL (
        MAX (pango_font_metrics_get_height (metrics),
             pango_font_metrics_get_ascent (metrics) + pango_font_metrics_get_descent (metrics))),
  };
  pango_font_metrics_unref (metrics);
  if (last != NULL)
    pango_font_description_free (last);
  last = pango_font_description_copy (font);
  last_language = language;
  last_serial = pango_font_map_get_serial (map);
  last_resolution = resolution;
  return size;
}

static void
lns_text_cell_measure (GtkWidget *widget,
                       GtkOrientation orientation,
                       int for_size,
                       int *minimum,
                       int *natural,
                       int *minimum_baseline,
                       int *natural_baseline)
{
  const LnsTextCell *self = LNS_TEXT_CELL (widget);
  const FontSize size = font_size (gtk_widget_get_pango_context (widget));

  if (orientation == GTK_ORIENTATION_VERTICAL)
    {
      *minimum = *natural = size.line_px;
      return;
    }
  *minimum = PANGO_PIXELS_CEIL ((int)self->min_chars * size.char_units);
  *natural = MAX (*minimum, PANGO_PIXELS_CEIL ((int)self->natural_chars * size.char_units));
}

/* --- Text --------------------------------------------------------------------------------------- */

/* Digits of one width, as GTK takes features of fonts from its style sheets for its own widgets alone. */
static PangoAttrList *
number_attributes (void)
{
  static PangoAttrList *attributes;

  if (attributes == NULL)
    {
      attributes = pango_attr_list_new ();
      pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum=1"));
    }
  return attributes;
}

static PangoLayout *
layout_of (LnsTextCell *self)
{
  if (self->layout == NULL)
    {
      self->layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), NULL);
      pango_layout_set_ellipsize (self->layout, PANGO_ELLIPSIZE_END);
      pango_layout_set_single_paragraph_mode (self->layout, TRUE);
      if (self->is_number)
        pango_layout_set_attributes (self->layout, number_attributes ());
    }
  if (self->is_stale)
    pango_layout_set_text (self->layout, self->text != NULL ? self->text : "", -1);
  self->is_stale = FALSE;
  return self->layout;
}

gboolean
lns_text_cell_is_at_right (LnsTextCell *self)
{
  return self->is_number || gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL;
}

static void
lns_text_cell_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsTextCell *self = LNS_TEXT_CELL (widget);
  const int width_px = gtk_widget_get_width (widget);
  PangoRectangle line;

  if (width_px <= 0 || self->text == NULL || *self->text == '\0')
    return;
  PangoLayout *layout = layout_of (self);
  pango_layout_set_width (layout, width_px * PANGO_SCALE);
  pango_layout_get_pixel_extents (layout, NULL, &line);
  const int x = (lns_text_cell_is_at_right (self) ? width_px - line.width : 0) - line.x;
  const int y = (gtk_widget_get_height (widget) - line.height) / 2;
  gtk_snapshot_render_layout (snapshot, gtk_widget_get_style_context (widget), x, y, layout);
}

static gboolean
lns_text_cell_query_tooltip (
    GtkWidget *widget, int x, int y, gboolean is_keyboard, GtkTooltip *tooltip)
{
  const LnsTextCell *self = LNS_TEXT_CELL (widget);
  g_autofree char *cut = self->text != NULL ? lns_display_cut (self->text) : NULL;

  gtk_tooltip_set_text (tooltip, cut);
  return cut != NULL && *cut != '\0';
}

void
lns_text_cell_set (LnsTextCell *self, const char *text)
{
  if (g_strcmp0 (self->text, text) == 0)
    return;
  g_free (self->text);
  self->text = g_strdup (text);
  self->is_stale = TRUE;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  text != NULL ? text : "", -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

const char *
lns_text_cell_get (LnsTextCell *self)
{
  return self->text;
}

void
lns_text_cell_set_natural_chars (LnsTextCell *self, guint chars)
{
  self->natural_chars = chars;
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

/* --- Life --------------------------------------------------------------------------------------- */

GtkWidget *
lns_text_cell_new (gboolean is_number, guint min_chars)
{
  LnsTextCell *self = g_object_new (LNS_TYPE_TEXT_CELL, NULL);

  self->min_chars = min_chars;
  self->is_number = is_number;
  if (is_number)
    lns_text_set_numeric (GTK_WIDGET (self));
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  return GTK_WIDGET (self);
}

static void
lns_text_cell_finalize (GObject *object)
{
  LnsTextCell *self = LNS_TEXT_CELL (object);

  g_free (self->text);
  g_clear_object (&self->layout);
  G_OBJECT_CLASS (lns_text_cell_parent_class)->finalize (object);
}

static void
lns_text_cell_class_init (LnsTextCellClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = lns_text_cell_finalize;
  widget_class->measure = lns_text_cell_measure;
  widget_class->snapshot = lns_text_cell_snapshot;
  widget_class->query_tooltip = lns_text_cell_query_tooltip;
  gtk_widget_class_set_css_name (widget_class, "label");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LABEL);
}

static void
lns_text_cell_init (LnsTextCell *self)
{
}

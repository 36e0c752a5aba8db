/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/text-size.h"

#include <pango/pangocairo.h>

#define USUAL_TEXT_PX (11 * 96 / 72.0) /* 11 pt at 96 dpi */

int
lns_text_scaled_px (GtkWidget *widget, int px)
{
  PangoContext *context = gtk_widget_get_pango_context (widget);
  const PangoFontDescription *font = pango_context_get_font_description (context);
  const double size = (double)pango_font_description_get_size (font) / PANGO_SCALE;
  const double resolution = pango_cairo_context_get_resolution (context);
  const double size_px = pango_font_description_get_size_is_absolute (font)
                             ? size
                             : size * (resolution > 0 ? resolution : 96) / 72;

  return (int)(px * MAX (1, size_px / USUAL_TEXT_PX));
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/text-cell.h"

#include "ui/model/display-text.h"

static gboolean
tooltip_cb (GtkWidget *cell, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  const char *text = gtk_inscription_get_text (GTK_INSCRIPTION (cell));
  g_autofree char *cut = text != NULL ? lns_display_cut (text) : NULL;
  gtk_tooltip_set_text (tooltip, cut);
  return cut != NULL && *cut != '\0';
}

void
lns_text_set_numeric (GtkWidget *text)
{
  float xalign;

  gtk_widget_add_css_class (text, "numeric");
  if (gtk_widget_get_direction (text) != GTK_TEXT_DIR_RTL)
    return;
  gtk_widget_set_direction (text, GTK_TEXT_DIR_LTR);
  g_object_get (text, "xalign", &xalign, NULL);
  if (xalign < 0.5f)
    g_object_set (text, "xalign", 1.0f, NULL);
}

float
lns_text_start (GtkWidget *widget)
{
  return gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL ? 1 : 0;
}

GtkWidget *
lns_text_cell_new (gboolean is_number, guint min_chars)
{
  GtkWidget *cell = gtk_inscription_new (NULL);

  gtk_inscription_set_text_overflow (GTK_INSCRIPTION (cell),
                                     GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
  if (min_chars > 0)
    gtk_inscription_set_min_chars (GTK_INSCRIPTION (cell), min_chars);
  gtk_inscription_set_xalign (GTK_INSCRIPTION (cell), is_number ? 1 : lns_text_start (cell));
  if (is_number)
    lns_text_set_numeric (cell);
  gtk_widget_set_has_tooltip (cell, TRUE);
  g_signal_connect (cell, "query-tooltip", G_CALLBACK (tooltip_cb), NULL);
  return cell;
}

void
lns_text_cell_set (GtkWidget *cell, const char *text)
{
  gtk_inscription_set_text (GTK_INSCRIPTION (cell), text);
}

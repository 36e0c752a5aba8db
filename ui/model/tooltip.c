/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/tooltip.h"

static GQuark
text_quark (void)
{
  static GQuark quark;
  if (quark == 0)
    quark = g_quark_from_static_string ("lns-tooltip");
  return quark;
}

static gboolean
query_cb (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  gtk_tooltip_set_text (tooltip, lns_tooltip_get (widget));
  return lns_tooltip_get (widget) != NULL;
}

void
lns_tooltip_set (GtkWidget *widget, const char *text)
{
  const char *before = lns_tooltip_get (widget);

  if (g_strcmp0 (before, text) == 0)
    return;
  if (before == NULL)
    g_signal_connect (widget, "query-tooltip", G_CALLBACK (query_cb), NULL);
  else if (text == NULL)
    g_signal_handlers_disconnect_by_func (widget, query_cb, NULL);
  g_object_set_qdata_full (G_OBJECT (widget), text_quark (), g_strdup (text), g_free);
  gtk_widget_set_has_tooltip (widget, text != NULL);
}

const char *
lns_tooltip_get (GtkWidget *widget)
{
  return g_object_get_qdata (G_OBJECT (widget), text_quark ());
}

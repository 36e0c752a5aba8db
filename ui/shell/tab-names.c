/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/tab-names.h"

#include <string.h>

/* The widget at or below WIDGET that is the tab of PAGE, or NULL. Its class is libadwaita's own, and known by its name alone. */
static GtkWidget *
find_tab (GtkWidget *widget, AdwTabPage *page)
{
  if (strcmp (G_OBJECT_TYPE_NAME (widget), "AdwTab") == 0)
    {
      g_autoptr (AdwTabPage) its = NULL;
      if (g_object_class_find_property (G_OBJECT_GET_CLASS (widget), "page") != NULL)
        g_object_get (widget, "page", &its, NULL);
      return its == page ? widget : NULL;
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_tab (child, page);
      if (found != NULL)
        return found;
    }
  return NULL;
}

static void
update (AdwTabPage *page, GParamSpec *pspec, GtkAccessible *tab)
{
  gtk_accessible_update_property (tab, GTK_ACCESSIBLE_PROPERTY_LABEL, adw_tab_page_get_title (page),
                                  -1);
  gtk_accessible_update_state (tab, GTK_ACCESSIBLE_STATE_SELECTED, adw_tab_page_get_selected (page),
                               -1);
}

static void
attached_cb (AdwTabView *view, AdwTabPage *page, int position, AdwTabBar *bar)
{
  GtkWidget *tab = find_tab (GTK_WIDGET (bar), page);

  if (tab == NULL)
    return;
  g_signal_connect_object (page, "notify::title", G_CALLBACK (update), tab, 0);
  g_signal_connect_object (page, "notify::selected", G_CALLBACK (update), tab, 0);
  update (page, NULL, GTK_ACCESSIBLE (tab));
}

void
lns_tab_names_follow (AdwTabBar *bar)
{
  g_signal_connect_object (adw_tab_bar_get_view (bar), "page-attached", G_CALLBACK (attached_cb),
                           bar, 0);
}

/* The role of a widget is that of its class. There is a class once there was a tab. */
void
lns_tab_names_prepare (void)
{
  g_autoptr (AdwTabView) view = g_object_ref_sink (adw_tab_view_new ());
  g_autoptr (AdwTabBar) bar = g_object_ref_sink (adw_tab_bar_new ());

  adw_tab_bar_set_view (bar, view);
  GtkWidget *tab = find_tab (GTK_WIDGET (bar), adw_tab_view_append (view, adw_bin_new ()));
  if (tab != NULL)
    gtk_widget_class_set_accessible_role (GTK_WIDGET_GET_CLASS (tab), GTK_ACCESSIBLE_ROLE_TAB);
  adw_tab_bar_set_view (bar, NULL);
}

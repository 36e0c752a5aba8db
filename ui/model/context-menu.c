/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/context-menu.h"

static gboolean
drop_menu_cb (gpointer data)
{
  if (gtk_widget_get_parent (data) != NULL)
    gtk_widget_unparent (data);
  return G_SOURCE_REMOVE;
}

/* Drops the menu when it is idle, because the chosen item acts after the menu has closed. Moves the focus, as GTK would
 * give it to the first widget of the window. */
static void
closed_cb (GtkWidget *focus, GtkPopover *menu)
{
  gtk_widget_grab_focus (focus);
  g_idle_add_full (G_PRIORITY_LOW, drop_menu_cb, g_object_ref (menu), g_object_unref);
}

/* Makes the pointer find, or find no longer, what is in the window of MENU. A menu is a surface of its own. */
static void
set_can_target (GtkWidget *menu, gboolean can_target)
{
  GtkWidget *window = GTK_WIDGET (gtk_widget_get_root (menu));

  for (GtkWidget *child = gtk_widget_get_first_child (window); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    gtk_widget_set_can_target (child, can_target);
}

/* A tooltip would open above the menu, for whatever is under the pointer beside it. */
static void
mapped_cb (GtkWidget *menu, gpointer data)
{
  set_can_target (menu, FALSE);
  gtk_widget_trigger_tooltip_query (gtk_widget_get_parent (menu)); /* hides the one that shows */
}

static void
unmapped_cb (GtkWidget *menu, gpointer data)
{
  set_can_target (menu, TRUE);
}

static GtkWidget *
menu_of (GtkWidget *parent)
{
  GtkWidget *last = gtk_widget_get_last_child (parent);

  return GTK_IS_POPOVER (last) ? last : NULL;
}

void
lns_context_menu_open (GtkWidget *parent, GtkWidget *focus, GMenuModel *model, int x, int y)
{
  GtkWidget *menu = gtk_popover_menu_new_from_model (model);

  gtk_widget_set_parent (menu, parent);
  gtk_popover_set_has_arrow (GTK_POPOVER (menu), FALSE);
  gtk_widget_set_halign (menu, GTK_ALIGN_START);
  gtk_popover_set_pointing_to (GTK_POPOVER (menu), &(GdkRectangle){ x, y, 1, 1 });
  g_signal_connect (menu, "map", G_CALLBACK (mapped_cb), NULL);
  g_signal_connect (menu, "unmap", G_CALLBACK (unmapped_cb), NULL);
  g_signal_connect_object (menu, "closed", G_CALLBACK (closed_cb), focus, G_CONNECT_SWAPPED);
  gtk_popover_popup (GTK_POPOVER (menu));
}

void
lns_context_menu_present (GtkWidget *parent)
{
  if (menu_of (parent) != NULL)
    gtk_popover_present (GTK_POPOVER (menu_of (parent)));
}

void
lns_context_menu_close (GtkWidget *parent)
{
  if (menu_of (parent) != NULL)
    gtk_widget_unparent (menu_of (parent));
}

void
lns_menu_button_set_name (GtkMenuButton *button, const char *name)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (gtk_widget_get_first_child (GTK_WIDGET (button))),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/width-first.h"

#include <adwaita.h>

struct _LnsWidthFirst
{
  GtkLayoutManager parent_instance;
};

G_DEFINE_FINAL_TYPE (LnsWidthFirst, lns_width_first, GTK_TYPE_LAYOUT_MANAGER)

GtkLayoutManager *
lns_width_first_new (void)
{
  return g_object_new (LNS_TYPE_WIDTH_FIRST, NULL);
}

GtkWidget *
lns_width_first_wrap (GtkWidget *label)
{
  GtkWidget *bin = adw_bin_new ();

  gtk_widget_set_layout_manager (bin, lns_width_first_new ());
  gtk_widget_set_hexpand (bin, gtk_widget_get_hexpand (label));
  adw_bin_set_child (ADW_BIN (bin), label);
  return bin;
}

static GtkSizeRequestMode
lns_width_first_get_request_mode (GtkLayoutManager *self, GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
lns_width_first_measure (GtkLayoutManager *self,
                         GtkWidget *widget,
                         GtkOrientation orientation,
                         int for_size,
                         int *minimum,
                         int *natural,
                         int *minimum_baseline,
                         int *natural_baseline)
{
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int least, liked;

      if (!gtk_widget_should_layout (child))
        continue;
      gtk_widget_measure (child, orientation,
                          orientation == GTK_ORIENTATION_HORIZONTAL ? -1 : for_size, &least, &liked,
                          NULL, NULL);
      *minimum = MAX (*minimum, least);
      *natural = MAX (*natural, liked);
    }
}

static void
lns_width_first_allocate (
    GtkLayoutManager *self, GtkWidget *widget, int width, int height, int baseline)
{
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (gtk_widget_should_layout (child))
      gtk_widget_allocate (child, width, height, baseline, NULL);
}

static void
lns_width_first_class_init (LnsWidthFirstClass *klass)
{
  GTK_LAYOUT_MANAGER_CLASS (klass)->get_request_mode = lns_width_first_get_request_mode;
  GTK_LAYOUT_MANAGER_CLASS (klass)->measure = lns_width_first_measure;
  GTK_LAYOUT_MANAGER_CLASS (klass)->allocate = lns_width_first_allocate;
}

static void
lns_width_first_init (LnsWidthFirst *self)
{
}

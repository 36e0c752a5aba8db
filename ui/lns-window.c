/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/lns-window-private.h"

#include "ui/lns-start-page.h"

G_DEFINE_FINAL_TYPE (LnsWindow, lns_window, ADW_TYPE_APPLICATION_WINDOW)

LnsWindow *
lns_window_new (GtkApplication *application, GSettings *settings)
{
  LnsWindow *self = g_object_new (LNS_TYPE_WINDOW, "application", application, NULL);

  self->settings = g_object_ref (settings);
  gtk_window_set_default_size (GTK_WINDOW (self), g_settings_get_int (settings, "window-width"),
                               g_settings_get_int (settings, "window-height"));
  if (g_settings_get_boolean (settings, "window-maximized"))
    gtk_window_maximize (GTK_WINDOW (self));
  gtk_popover_menu_bar_set_menu_model (self->menu_bar, gtk_application_get_menubar (application));
  return self;
}

gboolean
lns_window_is_empty (LnsWindow *self)
{
  const char *page = gtk_stack_get_visible_child_name (self->stack);

  return strcmp (page, "start") == 0 || strcmp (page, "error") == 0;
}

void
_lns_window_show_page (LnsWindow *self, const char *name)
{
  gtk_stack_set_visible_child_name (self->stack, name);
  _lns_window_update_actions (self);
}

static void
save_size (LnsWindow *self)
{
  int width_px, height_px;

  g_settings_set_boolean (self->settings, "window-maximized",
                          gtk_window_is_maximized (GTK_WINDOW (self)));
  if (gtk_window_is_maximized (GTK_WINDOW (self)))
    return;
  gtk_window_get_default_size (GTK_WINDOW (self), &width_px, &height_px);
  g_settings_set_int (self->settings, "window-width", MAX (width_px, 640));
  g_settings_set_int (self->settings, "window-height", MAX (height_px, 400));
}

static gboolean
lns_window_close_request (GtkWindow *window)
{
  save_size (LNS_WINDOW (window));
  return GTK_WINDOW_CLASS (lns_window_parent_class)->close_request (window);
}

static void
lns_window_dispose (GObject *object)
{
  LnsWindow *self = LNS_WINDOW (object);

  g_clear_object (&self->settings);
  g_clear_object (&self->file);
  G_OBJECT_CLASS (lns_window_parent_class)->dispose (object);
}

static void
lns_window_class_init (LnsWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_window_dispose;
  GTK_WINDOW_CLASS (klass)->close_request = lns_window_close_request;

  g_type_ensure (LNS_TYPE_START_PAGE);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/lns-window.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, menu_bar);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, title);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, loading_page);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, progress);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, error_page);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, recover_button);
}

static void
lns_window_init (LnsWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  _lns_window_add_actions (self);
  _lns_window_update_actions (self);
}

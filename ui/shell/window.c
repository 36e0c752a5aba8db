/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/window-private.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/shell/start-page.h"

G_DEFINE_FINAL_TYPE (LnsWindow, lns_window, ADW_TYPE_APPLICATION_WINDOW)

LnsWindow *
lns_window_new (GtkApplication *application, GSettings *settings)
{
  LnsWindow *self = g_object_new (LNS_TYPE_WINDOW, "application", application, NULL);

  self->settings = g_object_ref (settings);
  _lns_window_add_actions (self);
  gtk_window_set_default_size (GTK_WINDOW (self), g_settings_get_int (settings, "window-width"),
                               g_settings_get_int (settings, "window-height"));
  if (g_settings_get_boolean (settings, "window-maximized"))
    gtk_window_maximize (GTK_WINDOW (self));
  _lns_window_show_page (self, "start");
  gtk_popover_menu_bar_set_menu_model (self->menu_bar, gtk_application_get_menubar (application));
  return self;
}

gboolean
lns_window_is_empty (LnsWindow *self)
{
  return self->report_page == NULL && self->opening == NULL;
}

void
_lns_window_show_page (LnsWindow *self, const char *name)
{
  gboolean start = strcmp (name, "start") == 0;

  gtk_stack_set_visible_child_name (self->stack, name);
  /* The start page has these in the middle. */
  gtk_widget_set_visible (self->open_button, !start);
  gtk_widget_set_visible (self->launch_button, !start);
  gtk_widget_set_visible (self->find_button, strcmp (name, "report") == 0);
  _lns_window_update_actions (self);
  /* Else the focus of what went falls to the menu bar, which looks as if it were being used. */
  if (strcmp (name, "report") == 0)
    gtk_widget_grab_focus (GTK_WIDGET (lns_report_page_get_timeline (self->report_page)));
  else if (strcmp (name, "error") == 0)
    gtk_widget_grab_focus (self->recoverable ? self->recover_button : self->another_button);
  else
    gtk_widget_child_focus (gtk_stack_get_visible_child (self->stack), GTK_DIR_TAB_FORWARD);
}

void
_lns_window_drop_report (LnsWindow *self)
{
  _lns_window_cancel_opening (self);
  if (self->report_page == NULL)
    return;
  gtk_stack_remove (self->stack, GTK_WIDGET (self->report_page));
  self->report_page = NULL;
  gtk_widget_set_visible (self->diagnostics_button, FALSE);
}

/* "1,234,567 events · 12.346 s", which is how long was recorded, as `lanescope info` says. */
static void
set_subtitle (LnsWindow *self, const LnsReportInfo *info)
{
  char count[LNS_FORMAT_SIZE], duration[LNS_FORMAT_SIZE];
  g_autofree char *events = g_strdup_printf (ngettext ("%s event", "%s events", info->n_events),
                                             lns_format_unsigned (info->n_events, count));
  g_autofree char *subtitle = g_strdup_printf (
      "%s · %s", events, lns_format_duration (info->end_ns - MIN (info->start_ns, 0), duration));

  adw_window_title_set_subtitle (self->title, subtitle);
}

/* Warnings and errors only: who opens a report need not be told what went well. */
static void
update_diagnostics_button (LnsWindow *self, LnsReport *report)
{
  uint32_t n, n_bad = 0;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n);

  for (uint32_t i = 0; i < n; i++)
    n_bad += diagnostics[i].severity != LNS_SEVERITY_INFO;
  g_autofree char *label = g_strdup_printf ("%u", n_bad);
  g_autofree char *tooltip =
      g_strdup_printf (ngettext ("%u diagnostic", "%u diagnostics", n_bad), n_bad);
  adw_button_content_set_label (self->diagnostics_content, label);
  gtk_widget_set_tooltip_text (self->diagnostics_button, tooltip);
  gtk_widget_set_visible (self->diagnostics_button, n_bad > 0);
}

void
_lns_window_show_report (LnsWindow *self, LnsReport *report)
{
  static const char *const changes[] = { "span-changed", "time-selection-changed",
                                         "event-selected" };
  g_autoptr (LnsView) view = lns_view_new (report);
  GtkWidget *page = lns_report_page_new (view, self->settings);

  for (size_t i = 0; i < G_N_ELEMENTS (changes); i++)
    g_signal_connect_object (view, changes[i], G_CALLBACK (_lns_window_update_actions), self,
                             G_CONNECT_SWAPPED);
  self->report_page = LNS_REPORT_PAGE (page);
  gtk_stack_add_named (self->stack, page, "report");
  set_subtitle (self, lns_report_info (report));
  update_diagnostics_button (self, report);
  _lns_window_show_page (self, "report");
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
  LnsWindow *self = LNS_WINDOW (window);

  /* The dialog asks, if it is recording, and is gone otherwise. */
  if (self->launch_dialog != NULL)
    gtk_window_close (GTK_WINDOW (self->launch_dialog));
  if (self->launch_dialog != NULL)
    return TRUE;
  save_size (self);
  return GTK_WINDOW_CLASS (lns_window_parent_class)->close_request (window);
}

static void
lns_window_dispose (GObject *object)
{
  LnsWindow *self = LNS_WINDOW (object);

  _lns_window_cancel_opening (self);
  g_clear_weak_pointer (&self->launch_dialog);
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
                                               "/io/github/lanescope/Lanescope/window.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, menu_bar);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, open_button);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, launch_button);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, find_button);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, title);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, loading_page);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, progress);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, error_page);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, recover_button);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, another_button);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, diagnostics_button);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, diagnostics_content);
}

static void
lns_window_init (LnsWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  _lns_window_add_drop_target (self);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Every "win." action. An action is enabled exactly while it can do something. */

#include <glib/gi18n.h>
#include <string.h>

#include "ui/shell/application.h"
#include "ui/launch/launch-dialog.h"
#include "ui/model/shortcuts.h"
#include "ui/shell/window-private.h"

static void
file_chosen_cb (GtkNativeDialog *dialog, int response, LnsWindow *self)
{
  g_autoptr (GListModel) files = NULL;
  guint n_files = 0;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      files = gtk_file_chooser_get_files (GTK_FILE_CHOOSER (dialog));
      n_files = g_list_model_get_n_items (files);
    }
  for (guint i = 0; i < n_files; i++)
    {
      g_autoptr (GFile) file = g_list_model_get_item (files, i);
      lns_application_open_file (LNS_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))),
                                 file, GTK_WINDOW (self));
    }
  gtk_native_dialog_destroy (dialog);
  g_object_unref (dialog);
}

static void
open_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  static const char *const patterns[] = { "*.rep",  "*.nsys-rep", "*.qdrep",  "*.sqlite",
                                          "*.json", "*.json.gz",  "*.sqlite3" };
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Open Reports"), GTK_WINDOW (data),
                                   GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"), _ ("_Cancel"));
  g_autoptr (GtkFileFilter) reports = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();

  gtk_file_filter_set_name (reports, _ ("Reports"));
  for (size_t i = 0; i < G_N_ELEMENTS (patterns); i++)
    gtk_file_filter_add_pattern (reports, patterns[i]);
  gtk_file_filter_set_name (all, _ ("All Files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), reports);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), all);
  gtk_file_chooser_set_select_multiple (GTK_FILE_CHOOSER (dialog), TRUE);
  g_signal_connect_object (dialog, "response", G_CALLBACK (file_chosen_cb), data, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
open_uri_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));

  lns_application_open_file (LNS_APPLICATION (gtk_window_get_application (GTK_WINDOW (data))), file,
                             GTK_WINDOW (data));
}

static void
launch_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);

  if (self->launch_dialog == NULL)
    g_set_weak_pointer (&self->launch_dialog,
                        lns_launch_dialog_new (GTK_WINDOW (self), self->settings));
  gtk_window_present (GTK_WINDOW (self->launch_dialog));
}

static void
reload_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GFile) file = g_object_ref (LNS_WINDOW (data)->file);

  lns_window_open_file (LNS_WINDOW (data), file);
}

static void
recover_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  _lns_window_recover (LNS_WINDOW (data));
}

static void
cancel_opening_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  _lns_window_show_start_page (LNS_WINDOW (data));
}

static void
close_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_window_close (GTK_WINDOW (data));
}

static void
find_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_find_bar_open (lns_report_page_get_find_bar (LNS_WINDOW (data)->report_page));
}

static void
copy_details_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_widget_activate_action (lns_report_page_get_details (LNS_WINDOW (data)->report_page),
                              "details.copy", NULL);
}

static void
find_step_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_find_bar_step (lns_report_page_get_find_bar (LNS_WINDOW (data)->report_page),
                     g_str_equal (g_action_get_name (G_ACTION (action)), "find-next"));
}

/* "win.zoom-in" and the like are the timeline's own actions for who is not inside it. */
static void
timeline_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsTimeline *timeline = lns_report_page_get_timeline (LNS_WINDOW (data)->report_page);
  g_autofree char *name = g_strconcat ("timeline.", g_action_get_name (G_ACTION (action)), NULL);

  gtk_widget_activate_action (GTK_WIDGET (timeline), name, NULL);
}

/* The pane below the timeline that an action shows, by the names of the "bottom-page" setting. */
static const char *
bottom_page_of (const char *action)
{
  return strcmp (action, "show-events") == 0 ? "events" : "diagnostics";
}

static void
change_bottom_page_cb (GSimpleAction *action, GVariant *state, gpointer data)
{
  const char *page = bottom_page_of (g_action_get_name (G_ACTION (action)));

  g_settings_set_string (LNS_WINDOW (data)->settings, "bottom-page",
                         g_variant_get_boolean (state) ? page : "none");
}

static void
change_details_cb (GSimpleAction *action, GVariant *state, gpointer data)
{
  g_settings_set_value (LNS_WINDOW (data)->settings, "show-details", state);
}

/* The states of the pane actions are what the settings say. */
static void
update_states_cb (GSettings *settings, const char *key, LnsWindow *self)
{
  static const char *const names[] = { "show-events", "show-diagnostics" };
  g_autofree char *page = g_settings_get_string (settings, "bottom-page");

  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    g_simple_action_set_state (
        G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), names[i])),
        g_variant_new_boolean (strcmp (bottom_page_of (names[i]), page) == 0));
  g_simple_action_set_state (
      G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), "show-details")),
      g_variant_new_boolean (g_settings_get_boolean (settings, "show-details")));
}

static void
show_help_overlay_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWidget *window = lns_shortcuts_window_new ();

  gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (data));
  gtk_window_present (GTK_WINDOW (window));
}

void
_lns_window_add_actions (LnsWindow *self)
{
  static const GActionEntry entries[] = {
    { "open", open_cb },
    { "open-uri", open_uri_cb, "s" },
    { "launch", launch_cb },
    { "reload", reload_cb },
    { "recover", recover_cb },
    { "cancel-opening", cancel_opening_cb },
    { "close", close_cb },
    { "find", find_cb },
    { "find-next", find_step_cb },
    { "find-previous", find_step_cb },
    { "copy-details", copy_details_cb },
    { "zoom-in", timeline_cb },
    { "zoom-out", timeline_cb },
    { "zoom-to-selection", timeline_cb },
    { "zoom-to-event", timeline_cb },
    { "go-to-other-end", timeline_cb },
    { "zoom-fit", timeline_cb },
    { "undo-zoom", timeline_cb },
    { "expand-all", timeline_cb },
    { "collapse-all", timeline_cb },
    { "show-events", NULL, NULL, "false", change_bottom_page_cb },
    { "show-diagnostics", NULL, NULL, "false", change_bottom_page_cb },
    { "show-details", NULL, NULL, "false", change_details_cb },
    { "show-help-overlay", show_help_overlay_cb },
  };

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  g_signal_connect_object (self->settings, "changed::bottom-page", G_CALLBACK (update_states_cb),
                           self, 0);
  g_signal_connect_object (self->settings, "changed::show-details", G_CALLBACK (update_states_cb),
                           self, 0);
  update_states_cb (self->settings, NULL, self);
}

static void
set_enabled (LnsWindow *self, const char *name, gboolean enabled)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), name);

  g_simple_action_set_enabled (G_SIMPLE_ACTION (action), enabled);
}

void
_lns_window_update_actions (LnsWindow *self)
{
  gboolean report = self->report_page != NULL;
  LnsView *view = report ? lns_report_page_get_view (self->report_page) : NULL;
  gboolean whole = report && lns_view_shows_all (view);
  guint n_linked = 0;
  if (report)
    lns_view_get_linked_events (view, &n_linked);

  set_enabled (self, "reload", report || (self->file != NULL && self->opening == NULL));
  set_enabled (self, "recover", self->recoverable);
  set_enabled (self, "cancel-opening", self->opening != NULL);
  set_enabled (self, "find", report);
  set_enabled (self, "find-next", report);
  set_enabled (self, "find-previous", report);
  set_enabled (self, "copy-details", report);
  set_enabled (self, "zoom-in", report);
  set_enabled (self, "zoom-out", report && !whole);
  set_enabled (self, "zoom-fit", report && !whole);
  set_enabled (self, "zoom-to-selection", report && lns_view_get_time_selection (view, NULL, NULL));
  set_enabled (self, "zoom-to-event",
               report && lns_view_get_selected_event (view, NULL).lane != LNS_ID_NONE);
  set_enabled (self, "go-to-other-end", n_linked > 0);
  set_enabled (self, "undo-zoom", report && lns_view_can_undo_zoom (view));
  set_enabled (self, "expand-all", report);
  set_enabled (self, "collapse-all", report);
  set_enabled (self, "show-events", report);
  set_enabled (self, "show-details", report);
  set_enabled (self, "show-diagnostics", report);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a window does with dropped files, with openings that are given up, with panes that nobody has opened, and with tabs that are
 * closed; run by harness.py.
 *
 * usage: test-window REPORT */

#include "ui/shell/application.h"
#include "ui/model/critical.h"
#include "ui/model/report-loader.h"
#include "ui/events/events-table.h"
#include "ui/functions/functions-pane.h"
#include "ui/shell/pane-slot.h"
#include "ui/shell/report-tab.h"
#include "ui/shell/several.h"
#include "ui/shell/window.h"
#include "ui/sql/sql-pane.h"
#include "ui/stats/stats-pane.h"

#include "widget-test.h"

static LnsApplication *application;
static const char *report_path;

/* Runs the main loop until the active window's title is TITLE. */
static void
wait_for_title (const char *title)
{
  gint64 end_us = g_get_monotonic_time () + (gint64)(15 * lns_tap_patience () * G_USEC_PER_SEC);

  for (;;)
    {
      GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));
      if (g_strcmp0 (gtk_window_get_title (window), title) == 0)
        return;
      LNS_CHECK (g_get_monotonic_time () < end_us);
      g_main_context_iteration (NULL, FALSE);
    }
}

static LnsWindow *
active_window (void)
{
  g_application_activate (G_APPLICATION (application));
  return LNS_WINDOW (gtk_application_get_active_window (GTK_APPLICATION (application)));
}

/* Whether the window has no opening to cancel. */
static gboolean
is_idle (LnsWindow *window)
{
  return !g_action_get_enabled (
      g_action_map_lookup_action (G_ACTION_MAP (window), "cancel-opening"));
}

/* The tabs of WINDOW. */
static AdwTabView *
tabs_of (LnsWindow *window)
{
  return ADW_TAB_VIEW (find_widget (GTK_WIDGET (window), ADW_TYPE_TAB_VIEW));
}

static int
n_tabs (LnsWindow *window)
{
  return adw_tab_view_get_n_pages (tabs_of (window));
}

static guint
n_windows (void)
{
  return g_list_length (gtk_application_get_windows (GTK_APPLICATION (application)));
}

/* Before the loop runs once, the opening is given up: its answer must not come back. */
static void
a_cancelled_opening_leaves_the_start_page (void)
{
  LnsWindow *window = active_window ();
  g_autoptr (GFile) file = g_file_new_for_path (report_path);

  lns_window_open_file (window, file);
  LNS_CHECK_INT (n_tabs (window), 1);
  LNS_CHECK (!is_idle (window));
  g_action_group_activate_action (G_ACTION_GROUP (window), "cancel-opening", NULL);
  LNS_CHECK_INT (n_tabs (window), 0);
  for (int i = 0; i < 200; i++)
    {
      g_main_context_iteration (NULL, FALSE);
      g_usleep (1000);
    }
  LNS_CHECK_INT (n_tabs (window), 0);
  LNS_CHECK (is_idle (window));
  LNS_CHECK_STR (gtk_window_get_title (GTK_WINDOW (window)), "Lanescope");
}

static void
store_result_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **)data = g_object_ref (result);
}

static void
a_cancelled_load_says_so (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GFile) file = g_file_new_for_path (report_path);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) opened = NULL;
  gboolean may_recover = FALSE;
  LnsStoredView stored = { 0 };

  g_cancellable_cancel (cancellable);
  lns_report_load_async (file, FALSE, cancellable, store_result_cb, &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  LNS_CHECK (lns_report_load_finish (result, &opened, &may_recover, &stored, &error) == NULL);
  LNS_CHECK (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
}

static void
a_report_elsewhere_is_refused (void)
{
  g_autoptr (GFile) file = g_file_new_for_uri ("sftp://elsewhere/demo.rep");
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) opened = NULL;
  gboolean may_recover = FALSE;
  LnsStoredView stored = { 0 };

  lns_report_load_async (file, FALSE, NULL, store_result_cb, &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  LNS_CHECK (lns_report_load_finish (result, &opened, &may_recover, &stored, &error) == NULL);
  LNS_CHECK (g_error_matches (error, LNS_LOAD_ERROR, LNS_ERROR_UNSUPPORTED));
  LNS_CHECK (strstr (error->message, "copy it") != NULL);
  LNS_CHECK (!may_recover);
}

/* Drops PATHS on WINDOW as its drop target would see them. */
static gboolean
drop (LnsWindow *window, GSList *files)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (GTK_WIDGET (window));
  g_auto (GValue) value = G_VALUE_INIT;
  gboolean taken = FALSE;

  g_value_init (&value, GDK_TYPE_FILE_LIST);
  g_value_take_boxed (&value, gdk_file_list_new_from_list (files));
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GObject) controller = g_list_model_get_item (controllers, i);
      if (GTK_IS_DROP_TARGET (controller))
        g_signal_emit_by_name (controller, "drop", &value, 10.0, 10.0, &taken);
    }
  return taken;
}

/* Gives RESPONSE to the question that is asked. */
static void
answer (const char *response)
{
  GListModel *windows = gtk_window_get_toplevels (); /* static */

  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr (GtkWindow) window = g_list_model_get_item (windows, i);
      if (!ADW_IS_MESSAGE_DIALOG (window))
        continue;
      LNS_CHECK (adw_message_dialog_has_response (ADW_MESSAGE_DIALOG (window), response));
      adw_message_dialog_response (ADW_MESSAGE_DIALOG (window), response);
      gtk_window_destroy (window);
      return;
    }
  LNS_FAIL ("%s", "nothing is asked");
}

static void
dropped_files_open (void)
{
  LnsWindow *window = active_window ();
  g_autofree char *copy_path = g_build_filename (g_get_home_dir (), "copy.rep", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (report_path);
  g_autoptr (GFile) copy = g_file_new_for_path (copy_path);
  GSList *files = g_slist_append (g_slist_append (NULL, file), copy);
  g_autofree char *copy_name = g_path_get_basename (copy_path);

  LNS_CHECK (g_file_copy (file, copy, 0, NULL, NULL, NULL, NULL));
  LNS_CHECK_INT (n_windows (), 1);
  LNS_CHECK (drop (window, files));
  answer ("separate");
  LNS_CHECK_INT (n_windows (), 1);
  LNS_CHECK_INT (n_tabs (window), 2);
  wait_for_title (copy_name);
  adw_tab_view_select_previous_page (tabs_of (window));
  g_autofree char *name = g_path_get_basename (report_path);
  wait_for_title (name);
  WAIT_FOR (is_idle (window));
  g_slist_free (files);
  LNS_CHECK (!drop (window, NULL));
}

static void
hints_tell_the_way_and_the_window (void)
{
  static const LnsSeveral ways[] = { LNS_SEVERAL_SEPARATE, LNS_SEVERAL_TOGETHER,
                                     LNS_SEVERAL_COMPARE };
  guint id;

  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *hint = lns_several_hint (ways[i], 7);
      LNS_CHECK_INT (lns_several_of_hint (hint, &id), ways[i]);
      LNS_CHECK_INT (id, 7);
    }
  /* As other programs open files, and as one window opens a file in another. */
  LNS_CHECK_INT (lns_several_of_hint ("", &id), LNS_SEVERAL_SEPARATE);
  LNS_CHECK_INT (id, 0);
  LNS_CHECK_INT (lns_several_of_hint ("3", &id), LNS_SEVERAL_SEPARATE);
  LNS_CHECK_INT (id, 3);
}

/* --- Panes ---------------------------------------------------------------------------------- */

/* How many panes at or below WIDGET have been made. */
static int
n_panes (GtkWidget *widget)
{
  int n = LNS_IS_PANE_SLOT (widget) && adw_bin_get_child (ADW_BIN (widget)) != NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n += n_panes (child);
  return n;
}

static gboolean
is_shown (GtkWidget *page, GType pane)
{
  GtkWidget *found = find_widget (page, pane);

  return found != NULL && gtk_widget_get_mapped (found);
}

/* The title of the tab of the pane that is called NAME. */
static const char *
tab_title (GtkWidget *page, const char *name)
{
  GtkWidget *slot = find_widget (page, LNS_TYPE_PANE_SLOT);
  GtkStack *stack = GTK_STACK (gtk_widget_get_parent (slot));

  return gtk_stack_page_get_title (
      gtk_stack_get_page (stack, gtk_stack_get_child_by_name (stack, name)));
}

/* Opens the report in the active window, whose page and view it gives. */
static LnsWindow *
open_report (GtkWidget **ret_page, LnsView **ret_view)
{
  LnsWindow *window = active_window ();
  g_autoptr (GFile) file = g_file_new_for_path (report_path);

  lns_window_open_file (window, file);
  WAIT_FOR (is_idle (window) && find_widget (GTK_WIDGET (window), LNS_TYPE_REPORT_PAGE) != NULL);
  *ret_page = find_widget (GTK_WIDGET (window), LNS_TYPE_REPORT_PAGE);
  *ret_view = lns_report_page_get_parts (LNS_REPORT_PAGE (*ret_page))->view;
  return window;
}

static void
panes_are_made_when_they_are_shown (void)
{
  static const bool threads[] = { true };
  static const uint32_t lane = 0;
  GtkWidget *page;
  LnsView *view;
  LnsWindow *window = open_report (&page, &view);

  LNS_CHECK_INT (n_panes (page), 0);
  /* The tabs say what is in the panes all the same. */
  WAIT_FOR (g_str_has_prefix (tab_title (page, "diagnostics"), "Diagnostics  "));
  LNS_CHECK_INT (n_panes (page), 0);
  g_action_group_activate_action (G_ACTION_GROUP (window), "show-stats", NULL);
  LNS_CHECK (is_shown (page, LNS_TYPE_STATS_PANE));
  LNS_CHECK_INT (n_panes (page), 1);
  /* What is asked of a pane reaches it. */
  lns_view_show_in_events (view, "Lane 0", &lane, 1, NULL, 0);
  LNS_CHECK (is_shown (page, LNS_TYPE_EVENTS_TABLE));
  LNS_CHECK_INT (n_panes (page), 2);
  lns_view_show_in_functions (view, "main (1)", threads);
  LNS_CHECK (is_shown (page, LNS_TYPE_FUNCTIONS_PANE));
  g_action_group_activate_action (G_ACTION_GROUP (window), "run-sql",
                                  g_variant_new_string ("SELECT 7 AS seven"));
  LNS_CHECK (is_shown (page, LNS_TYPE_SQL_PANE));
  LNS_CHECK_INT (n_panes (page), 4);
  /* So does the focus. */
  g_action_group_activate_action (G_ACTION_GROUP (window), "focus-sql", NULL);
  GtkWidget *focus = gtk_root_get_focus (GTK_ROOT (window));
  LNS_CHECK (focus != NULL && gtk_widget_get_ancestor (focus, LNS_TYPE_SQL_PANE) != NULL);
  /* A pane that was made stays. */
  g_action_group_activate_action (G_ACTION_GROUP (window), "show-sql", NULL);
  LNS_CHECK (!is_shown (page, LNS_TYPE_SQL_PANE));
  LNS_CHECK_INT (n_panes (page), 4);
}

/* Opens a copy of the report, called NAME, in a tab of its own. */
static LnsReportTab *
open_copy (LnsWindow *window, const char *name)
{
  g_autofree char *path = g_build_filename (g_get_home_dir (), name, NULL);
  g_autoptr (GFile) report = g_file_new_for_path (report_path);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  AdwTabView *tabs = tabs_of (window);

  LNS_CHECK (g_file_copy (report, file, 0, NULL, NULL, NULL, NULL));
  lns_window_open_file (window, file);
  LnsReportTab *tab =
      LNS_REPORT_TAB (adw_tab_page_get_child (adw_tab_view_get_selected_page (tabs)));
  WAIT_FOR (lns_report_tab_get_page (tab) != NULL);
  return tab;
}

static LnsView *
view_of (LnsReportTab *tab)
{
  return lns_report_page_get_parts (lns_report_tab_get_page (tab))->view;
}

static void
a_tab_that_is_not_seen_looks_for_no_path (void)
{
  LnsWindow *window = active_window ();
  LnsReportTab *hidden = open_copy (window, "hidden.rep"), *seen = open_copy (window, "seen.rep");
  g_autoptr (LnsCritical) path_of_hidden = lns_critical_of (view_of (hidden));
  g_autoptr (LnsCritical) path_of_seen = lns_critical_of (view_of (seen));

  WAIT_FOR (gtk_widget_get_mapped (GTK_WIDGET (seen)));
  g_action_group_activate_action (G_ACTION_GROUP (window), "show-path", NULL);
  WAIT_FOR (lns_critical_get_state (path_of_seen) != LNS_CRITICAL_UNWANTED);
  LNS_CHECK_INT (lns_critical_get_state (path_of_hidden), LNS_CRITICAL_UNWANTED);
  adw_tab_view_select_previous_page (tabs_of (window));
  WAIT_FOR (lns_critical_get_state (path_of_hidden) != LNS_CRITICAL_UNWANTED);
}

static void
a_closed_tab_frees_its_report (void)
{
  LnsWindow *window = active_window ();
  AdwTabView *tabs = tabs_of (window);
  gpointer tab = open_copy (window, "closed.rep"), view = view_of (tab);

  g_action_group_activate_action (G_ACTION_GROUP (window), "show-stats", NULL);
  g_object_add_weak_pointer (tab, &tab);
  g_object_add_weak_pointer (view, &view);
  adw_tab_view_close_page (tabs, adw_tab_view_get_selected_page (tabs));
  /* Workers may have the view for a while. */
  WAIT_FOR (tab == NULL && view == NULL);
}

int
main (int argc, char **argv)
{
  report_path = argv[argc - 1];
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  application = lns_application_new ();
  g_application_set_flags (G_APPLICATION (application),
                           g_application_get_flags (G_APPLICATION (application)) |
                               G_APPLICATION_NON_UNIQUE);
  if (!g_application_register (G_APPLICATION (application), NULL, NULL))
    return 1;
  LNS_TEST (a_cancelled_load_says_so);
  LNS_TEST (a_report_elsewhere_is_refused);
  LNS_TEST (a_cancelled_opening_leaves_the_start_page);
  LNS_TEST (dropped_files_open);
  LNS_TEST (hints_tell_the_way_and_the_window);
  LNS_TEST (panes_are_made_when_they_are_shown);
  LNS_TEST (a_tab_that_is_not_seen_looks_for_no_path);
  LNS_TEST (a_closed_tab_frees_its_report);
  return lns_tap_done ();
}

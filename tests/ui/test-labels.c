/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* In each state of a window that is too small for it: a text that is cut has a tooltip, a text of a report's page that wraps is not
 * asked how wide it would be at some height, and a button without a text has a tooltip and a name; run by harness.py.
 *
 * usage: test-labels REPORT (of known-report) */

#include "ui/launch/launch-setup.h"
#include "ui/shell/application.h"
#include "ui/events/events-table-private.h"
#include "ui/model/text-cell.h"
#include "ui/model/width-first.h"
#include "ui/shell/report-page.h"
#include "ui/shell/window.h"

#include "tests/ui/widget-test.h"

#define LONG_NAME                                                                                  \
 "a-report-with-a-name-that-is-far-too-long-for-the-width-of-any-window-of-this-size-"

static LnsApplication *application;
static GtkWindow *window;
static char *report_path; /* of a long name */
static unsigned n_cut;    /* texts that were found cut */
static unsigned n_icons;  /* buttons without a text */
static unsigned n_wraps;  /* texts of the page that wrap */

static void
run_for (guint msec)
{
  gint64 end_us = g_get_monotonic_time () + (gint64)msec * 1000;

  while (g_get_monotonic_time () < end_us)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
}

/* Whether hovering WIDGET tells something: its own tooltip, or that of what it stands in. */
static gboolean
has_tooltip (GtkWidget *widget)
{
  for (; widget != NULL && !GTK_IS_WINDOW (widget); widget = gtk_widget_get_parent (widget))
    if (gtk_widget_get_has_tooltip (widget))
      return TRUE;
  return FALSE;
}

static gboolean
has_text (GtkWidget *widget)
{
  if (GTK_IS_LABEL (widget))
    return *gtk_label_get_text (GTK_LABEL (widget)) != '\0';
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (has_text (child))
      return TRUE;
  return FALSE;
}

static gboolean
is_cut (GtkWidget *widget)
{
  return GTK_IS_LABEL (widget) &&
         pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (widget)));
}

static unsigned
count_cut (GtkWidget *widget)
{
  if (!gtk_widget_get_mapped (widget))
    return 0;
  unsigned n = is_cut (widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n += count_cut (child);
  return n;
}

/* Waits until N texts are there and cut, as panes fill when what they show was read. */
static void
wait_for_cut (unsigned n)
{
  for (int i = 0; i < 1000 && count_cut (GTK_WIDGET (window)) < n; i++)
    run_for (20);
}

/* Whether a box has LABEL, which wraps, say how wide it would be at the box's height, which takes it long (ui/model/width-first.h). */
static gboolean
is_asked_at_a_height (GtkWidget *label)
{
  for (GtkWidget *box = gtk_widget_get_parent (label);
       box != NULL && !LNS_IS_WIDTH_FIRST (gtk_widget_get_layout_manager (box));
       box = gtk_widget_get_parent (box))
    if (GTK_IS_BOX (box) &&
        gtk_orientable_get_orientation (GTK_ORIENTABLE (box)) == GTK_ORIENTATION_HORIZONTAL)
      return TRUE;
  return FALSE;
}

static void
check_widget (GtkWidget *widget)
{
  if (GTK_IS_LABEL (widget) && gtk_label_get_wrap (GTK_LABEL (widget)) &&
      gtk_widget_get_ancestor (widget, LNS_TYPE_REPORT_PAGE) != NULL)
    {
      n_wraps++;
      if (is_asked_at_a_height (widget))
        LNS_FAIL ("“%s” is asked how wide it is at a height",
                  gtk_label_get_text (GTK_LABEL (widget)));
    }
  if (is_cut (widget))
    {
      n_cut++;
      if (!has_tooltip (widget))
        LNS_FAIL ("“%s” is cut and has no tooltip", gtk_label_get_text (GTK_LABEL (widget)));
    }
  const char *text = GTK_IS_INSCRIPTION (widget)
                         ? gtk_inscription_get_text (GTK_INSCRIPTION (widget))
                     : LNS_IS_TEXT_CELL (widget) ? lns_text_cell_get (LNS_TEXT_CELL (widget))
                                                 : NULL;
  if (text != NULL && !has_tooltip (widget))
    LNS_FAIL ("“%s” may be cut and has no tooltip", text);
  /* The buttons of a window's frame, and of its search, are the toolkit's. */
  if (GTK_IS_BUTTON (widget) && !has_text (widget) && gtk_widget_get_opacity (widget) > 0 &&
      gtk_widget_get_ancestor (widget, GTK_TYPE_WINDOW_CONTROLS) == NULL &&
      !ADW_IS_PREFERENCES_WINDOW (gtk_widget_get_root (widget)))
    {
      n_icons++;
      const char *icon = gtk_button_get_icon_name (GTK_BUTTON (widget));
      if (!has_tooltip (widget))
        LNS_FAIL ("the button %s has no tooltip", icon);
      if (!gtk_test_accessible_has_property (GTK_ACCESSIBLE (widget),
                                             GTK_ACCESSIBLE_PROPERTY_LABEL))
        LNS_FAIL ("the button %s has no name", icon);
    }
}

static void
check_tree (GtkWidget *widget)
{
  if (!gtk_widget_get_mapped (widget))
    return;
  check_widget (widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    check_tree (child);
}

static void
activate (const char *action)
{
  LNS_CHECK (gtk_widget_activate_action (GTK_WIDGET (window), action, NULL));
}

/* Opens the report, with all panes and the find bar, an event chosen and its row in the table. */
static void
open_everything (void)
{
  g_autoptr (GFile) file = g_file_new_for_path (report_path);
  GtkWidget *page = NULL;

  lns_window_open_file (LNS_WINDOW (window), file);
  for (int i = 0; i < 200 && page == NULL; i++)
    {
      run_for (20);
      page = find_widget (GTK_WIDGET (window), LNS_TYPE_REPORT_PAGE);
    }
  LNS_CHECK (page != NULL);
  LnsView *view = lns_report_page_get_parts (LNS_REPORT_PAGE (page))->view;
  uint32_t n_lanes;
  lns_report_lanes (lns_view_get_report (view), &n_lanes);
  g_autofree uint32_t *lanes = g_new (uint32_t, n_lanes);
  for (uint32_t i = 0; i < n_lanes; i++)
    lanes[i] = i;
  activate ("win.find");
  activate ("win.show-events");
  LnsEventsTable *table = LNS_EVENTS_TABLE (find_widget (page, LNS_TYPE_EVENTS_TABLE));
  lns_events_table_show_lanes (table, LONG_NAME, lanes, n_lanes, NULL, 0);
  for (int i = 0; i < 200 && table->set == NULL; i++)
    run_for (20);
  lns_view_reveal_event (view, (LnsEventId){ n_lanes - 1, 0 });
  run_for (400);
}

static void
a_report_and_its_panes (void)
{
  open_everything ();
  wait_for_cut (2);
  n_cut = n_icons = n_wraps = 0;
  check_tree (GTK_WIDGET (window));
  LNS_CHECK (n_cut >= 2);
  LNS_CHECK (n_icons >= 5);
  LNS_CHECK (n_wraps >= 3);
  activate ("win.show-diagnostics");
  run_for (300);
  check_tree (GTK_WIDGET (window));
  activate ("win.show-findings");
  run_for (300);
  check_tree (GTK_WIDGET (window));
}

static void
the_start_page (void)
{
  GtkWindow *first = window;

  open_everything (); /* is a recent report then */
  g_action_group_activate_action (G_ACTION_GROUP (first), "close", NULL);
  run_for (100);
  g_application_activate (G_APPLICATION (application));
  window = gtk_application_get_active_window (GTK_APPLICATION (application));
  LNS_CHECK (window != NULL);
  gtk_window_set_default_size (window, 480, 500);
  run_for (500);
  wait_for_cut (1);
  n_cut = n_icons = n_wraps = 0;
  check_tree (GTK_WIDGET (window));
  LNS_CHECK (n_cut >= 1); /* the report that was opened */
}

/* The window that is seen beside `window`. */
static GtkWindow *
other_window (void)
{
  GListModel *windows = gtk_window_get_toplevels ();

  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr (GtkWindow) other = g_list_model_get_item (windows, i);
      if (other != window && gtk_widget_get_mapped (GTK_WIDGET (other)))
        return other; /* GTK holds it */
    }
  LNS_FAIL ("no other window is there");
}

/* The first widget of TYPE in WIDGET, or NULL. */
static GtkWidget *
find_of_type (GtkWidget *widget, GType type)
{
  GtkWidget *found = G_TYPE_CHECK_INSTANCE_TYPE (widget, type) ? widget : NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling (child))
    found = find_of_type (child, type);
  return found;
}

static void
the_launch_dialog (void)
{
  activate ("win.launch");
  run_for (500);
  n_cut = n_icons = n_wraps = 0;
  GtkWindow *dialog = other_window ();
  GtkWidget *setup = find_of_type (GTK_WIDGET (dialog), LNS_TYPE_LAUNCH_SETUP);
  LNS_CHECK (setup != NULL && gtk_widget_activate_action (setup, "launch.add-variable", NULL));
  run_for (100);
  check_tree (GTK_WIDGET (dialog));
  LNS_CHECK (n_icons >= 3);
  gtk_window_close (dialog);
  run_for (100);
}

static void
the_keyboard_shortcuts (void)
{
  activate ("win.show-help-overlay");
  run_for (500);
  GtkWindow *shortcuts = other_window ();
  check_tree (GTK_WIDGET (shortcuts));
  gtk_window_close (shortcuts);
}

int
main (int argc, char **argv)
{
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  application = lns_application_new ();
  g_autoptr (GFile) file = g_file_new_for_path (argv[argc - 1]);
  g_autofree char *name = g_strconcat (LONG_NAME, LONG_NAME, ".rep", NULL);
  report_path = g_build_filename (g_get_home_dir (), name, NULL);
  g_autoptr (GFile) copy = g_file_new_for_path (report_path);

  g_application_set_flags (G_APPLICATION (application),
                           g_application_get_flags (G_APPLICATION (application)) |
                               G_APPLICATION_NON_UNIQUE);
  if (!g_file_copy (file, copy, 0, NULL, NULL, NULL, NULL) ||
      !g_application_register (G_APPLICATION (application), NULL, NULL))
    return 1;
  g_application_hold (G_APPLICATION (application));
  g_application_activate (G_APPLICATION (application));
  window = gtk_application_get_active_window (GTK_APPLICATION (application));
  gtk_window_set_default_size (window, 620, 620);
  LNS_TEST (a_report_and_its_panes);
  LNS_TEST (the_start_page);
  LNS_TEST (the_launch_dialog);
  LNS_TEST (the_keyboard_shortcuts);
  g_free (report_path);
  return lns_tap_done ();
}

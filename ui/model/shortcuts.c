/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/shortcuts.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <stdbool.h>

typedef struct
{
  const char *group;
  const char *title;
  const char *action; /* detailed name; NULL for what only the mouse or libadwaita does */
  const char *keys;   /* GTK accelerators, separated by spaces, or NULL           */
  const char *mouse;  /* what the mouse does, in words, or NULL                   */
} Shortcut;

/* In the order of the Keyboard Shortcuts window. Rows of one group stand together, and so do rows of
 * one title, which share a line there. */
static const Shortcut shortcuts[] = {
  { N_ ("General"), N_ ("Open a report"), "win.open", "<Control>o", NULL },
  { N_ ("General"), N_ ("Compare with another report"), "win.compare-with", "<Control><Shift>o",
    NULL },
  { N_ ("General"), N_ ("Launch a program"), "win.launch", "<Control>l", NULL },
  { N_ ("General"), N_ ("Reload the report"), "win.reload", "<Control>r F5", NULL },
  { N_ ("General"), N_ ("Export a part of the report, or a page for browsers"), "win.export",
    "<Control><Shift>e", NULL },
  { N_ ("General"), N_ ("Save a picture of what is shown"), "win.save-picture", "<Control>p",
    NULL },
  { N_ ("General"), N_ ("Close the window"), "win.close", "<Control><Shift>w", NULL },
  { N_ ("General"), N_ ("Quit"), "app.quit", "<Control>q", NULL },
  { N_ ("General"), N_ ("What the colors mean"), "win.show-legend", "<Shift>F1", NULL },
  { N_ ("General"), N_ ("Keyboard shortcuts"), "win.show-help-overlay", "<Control>question F1",
    NULL },

  { N_ ("Tabs"), N_ ("Close the tab, and with the last one the window"), "win.close-tab",
    "<Control>w", NULL },
  { N_ ("Tabs"), N_ ("Move the tab to a new window"), "win.move-tab", "<Control><Shift>m",
    N_ ("Drag") },
  /* AdwTabView does these, see window.ui. */
  { N_ ("Tabs"), N_ ("Next tab"), NULL, "<Control>Tab", NULL },
  { N_ ("Tabs"), N_ ("Next tab"), NULL, "<Control>Page_Down", NULL },
  { N_ ("Tabs"), N_ ("Previous tab"), NULL, "<Control><Shift>Tab", NULL },
  { N_ ("Tabs"), N_ ("Previous tab"), NULL, "<Control>Page_Up", NULL },
  { N_ ("Tabs"), N_ ("First tab, and so on to the ninth"), NULL, "<Alt>1", NULL },
  { N_ ("Tabs"), N_ ("Move the tab to the right"), NULL, "<Control><Shift>Page_Down", N_ ("Drag") },
  { N_ ("Tabs"), N_ ("Move the tab to the left"), NULL, "<Control><Shift>Page_Up", N_ ("Drag") },

  { N_ ("Panes"), N_ ("Events View"), "win.focus-events", "<Control>1", NULL },
  { N_ ("Panes"), N_ ("Details"), "win.focus-details", "<Control>2", NULL },
  { N_ ("Panes"), N_ ("Diagnostics"), "win.focus-diagnostics", "<Control>3", NULL },
  { N_ ("Panes"), N_ ("Functions"), "win.focus-functions", "<Control>4", NULL },
  { N_ ("Panes"), N_ ("Findings"), "win.focus-findings", "<Control>5", NULL },
  { N_ ("Panes"), N_ ("Stats"), "win.focus-stats", "<Control>6", NULL },
  { N_ ("Panes"), N_ ("Steps"), "win.focus-steps", "<Control>7", NULL },
  { N_ ("Panes"), N_ ("SQL"), "win.focus-sql", "<Control>8", NULL },
  { N_ ("Panes"), N_ ("Files"), "win.focus-files", "<Control>9", NULL },

  { N_ ("Find"), N_ ("Search for commands, rows and events"), "win.search", "<Control>k", NULL },
  { N_ ("Find"), N_ ("Find events by name"), "win.find", "<Control>f", NULL },
  { N_ ("Find"), N_ ("Next match"), "win.find-next", "F3 <Control>g", NULL },
  { N_ ("Find"), N_ ("Previous match"), "win.find-previous", "<Shift>F3 <Control><Shift>g", NULL },
  { N_ ("Find"), N_ ("Previous match"), "find.previous", "<Shift>Return <Shift>KP_Enter", NULL },
  { N_ ("Find"), N_ ("Close the search"), "find.close", "Escape", NULL },

  { N_ ("Zoom"), N_ ("Zoom in"), "win.zoom-in", "<Control>plus <Control>equal <Control>KP_Add",
    NULL },
  { N_ ("Zoom"), N_ ("Zoom in"), "timeline.zoom-in", "plus equal KP_Add w", NULL },
  { N_ ("Zoom"), N_ ("Zoom out"), "win.zoom-out", "<Control>minus <Control>KP_Subtract", NULL },
  { N_ ("Zoom"), N_ ("Zoom out"), "timeline.zoom-out", "minus KP_Subtract s", NULL },
  { N_ ("Zoom"), N_ ("Zoom at the pointer"), NULL, NULL, N_ ("Ctrl and wheel, pinch") },
  { N_ ("Zoom"), N_ ("Zoom to the whole run"), "win.zoom-fit", "<Control>0 <Control>KP_0", NULL },
  { N_ ("Zoom"), N_ ("Zoom to the whole run"), "timeline.zoom-fit", "0 KP_0", NULL },
  { N_ ("Zoom"), N_ ("Zoom to the selected time"), "timeline.zoom-to-selection", "z <Shift>z",
    NULL },
  { N_ ("Zoom"), N_ ("Zoom to the selected event"), "timeline.zoom-to-event", "e", NULL },
  { N_ ("Zoom"),
    N_ ("Go to the call of a kernel or copy, the range of one on the GPU, or what ended a wait, "
        "and back"),
    "timeline.go-to-other-end", "o", NULL },
  { N_ ("Zoom"), N_ ("Undo zoom"), "timeline.undo-zoom", "BackSpace <Alt>Left", NULL },
  { N_ ("Zoom"), N_ ("Redo zoom"), "timeline.redo-zoom", "<Shift>BackSpace <Alt>Right", NULL },

  { N_ ("Go"), N_ ("Next event of the row"), "timeline.next-event", "period", NULL },
  { N_ ("Go"), N_ ("Previous event of the row"), "timeline.previous-event", "comma", NULL },
  { N_ ("Go"), N_ ("Next event of this name"), "timeline.next-alike", "greater", NULL },
  { N_ ("Go"), N_ ("Previous event of this name"), "timeline.previous-alike", "less", NULL },
  { N_ ("Go"), N_ ("The longest event of this name, and those after it in length"),
    "timeline.next-longest", "l", NULL },
  { N_ ("Go"), N_ ("Back to the longer event of this name"), "timeline.previous-longest",
    "<Shift>l", NULL },
  { N_ ("Go"), N_ ("Next event that is linked to this one"), "timeline.next-linked", "bracketright",
    NULL },
  { N_ ("Go"), N_ ("Previous event that is linked to this one"), "timeline.previous-linked",
    "bracketleft", NULL },
  { N_ ("Go"), N_ ("Next place of a finding"), "timeline.next-finding", "v", NULL },
  { N_ ("Go"), N_ ("Previous place of a finding"), "timeline.previous-finding", "<Shift>v", NULL },
  { N_ ("Go"), N_ ("Next long idle time"), "timeline.next-idle", "g", NULL },
  { N_ ("Go"), N_ ("Previous long idle time"), "timeline.previous-idle", "<Shift>g", NULL },
  { N_ ("Go"), N_ ("Next step"), "timeline.next-step", "n", NULL },
  { N_ ("Go"), N_ ("Previous step"), "timeline.previous-step", "<Shift>n", NULL },
  { N_ ("Go"), N_ ("Next link of the critical path"), "timeline.next-link", "k", NULL },
  { N_ ("Go"), N_ ("Previous link of the critical path"), "timeline.previous-link", "<Shift>k",
    NULL },
  { N_ ("Go"), N_ ("Go to a time"), "win.go-to-time", "<Control>j", NULL },
  { N_ ("Go"), N_ ("Next bookmark"), "timeline.next-bookmark", "m", NULL },
  { N_ ("Go"), N_ ("Previous bookmark"), "timeline.previous-bookmark", "<Shift>m", NULL },
  { N_ ("Go"), N_ ("Bookmark the selected time or event"), "win.add-bookmark", "<Control>d", NULL },
  { N_ ("Go"), N_ ("List the bookmarks"), "win.list-bookmarks", "<Control>b", NULL },

  { N_ ("Timeline"), N_ ("Move earlier"), "timeline.pan-left", "Left KP_Left a", NULL },
  { N_ ("Timeline"), N_ ("Move later"), "timeline.pan-right", "Right KP_Right d", NULL },
  { N_ ("Timeline"), N_ ("Move in time"), NULL, NULL,
    N_ ("Shift and wheel, Shift and drag, middle button") },
  { N_ ("Timeline"), N_ ("Move report B in time"), NULL, NULL, N_ ("Ctrl, Shift and drag") },
  { N_ ("Timeline"), N_ ("Go to the start"), "timeline.go-start", "Home KP_Home", NULL },
  { N_ ("Timeline"), N_ ("Go to the end"), "timeline.go-end", "End KP_End", NULL },
  { N_ ("Timeline"), N_ ("Select time"), NULL, NULL, N_ ("Drag") },
  { N_ ("Timeline"), N_ ("Select a further time, to compare"), NULL, NULL, N_ ("Ctrl and drag") },
  { N_ ("Timeline"), N_ ("Select the time of the event"), "timeline.select-event-time", "t", NULL },
  { N_ ("Timeline"), N_ ("Select the time of the event as a further one"),
    "timeline.add-event-time", "<Shift>t", NULL },
  { N_ ("Timeline"), N_ ("Move the end of the selected time"), "timeline.end-earlier",
    "<Shift>Left", N_ ("Drag an edge") },
  { N_ ("Timeline"), N_ ("Move the end of the selected time"), "timeline.end-later", "<Shift>Right",
    NULL },
  { N_ ("Timeline"), N_ ("Move the start of the selected time"), "timeline.start-earlier",
    "<Control>Left", NULL },
  { N_ ("Timeline"), N_ ("Move the start of the selected time"), "timeline.start-later",
    "<Control>Right", NULL },
  { N_ ("Timeline"), N_ ("Select an event"), NULL, NULL, N_ ("Click") },
  { N_ ("Timeline"), N_ ("Clear the selection"), "timeline.clear-selection", "Escape", NULL },
  { N_ ("Timeline"), N_ ("Filter the panes by the selected time or event, and zoom to it"),
    "timeline.filter", "f", NULL },
  { N_ ("Timeline"), N_ ("Undo the filter"), "timeline.undo-filter", "<Shift>f", NULL },
  { N_ ("Timeline"), N_ ("Gray all events of other names, or color them again"),
    "timeline.gray-others", "c", NULL },
  { N_ ("Timeline"), N_ ("Copy the event's name"), "timeline.copy-name", "<Control>c", NULL },
  { N_ ("Timeline"), N_ ("Unfold or fold the row"), "row.expand", "Return KP_Enter space", NULL },
  { N_ ("Timeline"), N_ ("Unfold all rows"), "timeline.expand-all", "asterisk KP_Multiply", NULL },
  { N_ ("Timeline"), N_ ("Fold all rows"), "timeline.collapse-all", "slash KP_Divide", NULL },
  { N_ ("Timeline"), N_ ("Unfold one level"), "timeline.unfold-1", "1 KP_1", NULL },
  { N_ ("Timeline"), N_ ("Unfold two levels"), "timeline.unfold-2", "2 KP_2", NULL },
  { N_ ("Timeline"), N_ ("Unfold three levels"), "timeline.unfold-3", "3 KP_3", NULL },
  { N_ ("Timeline"), N_ ("Unfold four levels"), "timeline.unfold-4", "4 KP_4", NULL },
  { N_ ("Timeline"), N_ ("Pin or unpin the row"), "row.pin", "p", NULL },
  { N_ ("Timeline"), N_ ("Hide the row"), "row.hide", "Delete", NULL },
  { N_ ("Timeline"), N_ ("Hide all other rows"), "row.hide-others", "<Shift>Delete", NULL },
  { N_ ("Timeline"), N_ ("Show hidden rows"), "timeline.show-hidden", "Insert", NULL },
  { N_ ("Timeline"), N_ ("Move the row up"), "row.move-up", "<Alt>Up <Alt>KP_Up", NULL },
  { N_ ("Timeline"), N_ ("Move the row down"), "row.move-down", "<Alt>Down <Alt>KP_Down", NULL },
  { N_ ("Timeline"), N_ ("Make the row higher"), "row.higher", "<Alt>plus <Alt>equal <Alt>KP_Add",
    NULL },
  { N_ ("Timeline"), N_ ("Make the row lower"), "row.lower", "<Alt>minus <Alt>KP_Subtract", NULL },
  { N_ ("Timeline"), N_ ("Show or hide the critical path"), "win.show-path", "<Control>i", NULL },
  { N_ ("Timeline"), N_ ("Menu of a row"), "timeline.show-menu", "<Shift>F10 Menu",
    N_ ("Right click") },

  { N_ ("Events View"), N_ ("Filter the events"), "events.filter", "<Control><Shift>f", NULL },
  { N_ ("Events View"), N_ ("Sort by the next column"), "events.sort-next", "s", NULL },
  { N_ ("Events View"), N_ ("Sort the other way round"), "events.sort-reverse", "<Shift>s", NULL },
  { N_ ("Events View"), N_ ("Move the column of the order to the left"), "events.move-column-left",
    "<Alt>Left", NULL },
  { N_ ("Events View"), N_ ("Move the column of the order to the right"),
    "events.move-column-right", "<Alt>Right", NULL },
  { N_ ("Events View"), N_ ("Group by name"), "events.group", "g", NULL },
  { N_ ("Events View"), N_ ("Only events of this name"), "events.only-name", "o", NULL },
  { N_ ("Events View"), N_ ("Copy the events"), "events.copy", "<Control>c", NULL },
  { N_ ("Events View"), N_ ("Save the events as CSV"), "events.save", "<Control>s", NULL },
  { N_ ("Events View"), N_ ("Menu of the events"), "events.show-menu", "<Shift>F10 Menu",
    N_ ("Right click") },
  { N_ ("Events View"), N_ ("Zoom to the event"), "events.zoom", "<Control>Return", NULL },

  { N_ ("Functions"), N_ ("Filter by name"), "functions-pane.filter", "<Control><Shift>f", NULL },
  { N_ ("Functions"), N_ ("Show the next event on the timeline"), "functions.show-next",
    "<Control>Return", NULL },
  { N_ ("Functions"), N_ ("Sort by the next column"), "functions.sort-next", "s", NULL },
  { N_ ("Functions"), N_ ("Sort the other way round"), "functions.sort-reverse", "<Shift>s", NULL },
  { N_ ("Functions"), N_ ("Unfold the heaviest path"), "functions.expand-heaviest", "h", NULL },
  { N_ ("Functions"), N_ ("Copy the function's name"), "functions.copy-name", "<Control>c", NULL },
  { N_ ("Functions"), N_ ("Flame graph: zoom to a function"), "flame.zoom-in", "Return",
    N_ ("Click") },
  { N_ ("Functions"), N_ ("Flame graph: zoom out"), "flame.zoom-out", "BackSpace", NULL },
  { N_ ("Functions"), N_ ("Flame graph: show all functions"), "flame.zoom-all", "0", NULL },

  { N_ ("Findings"), N_ ("Next place of the finding"), "findings.next-place", "Right KP_Right",
    NULL },
  { N_ ("Findings"), N_ ("Previous place of the finding"), "findings.previous-place",
    "Left KP_Left", NULL },

  { N_ ("SQL"), N_ ("Run the statement"), "sql.run", "<Control>Return <Control>KP_Enter", NULL },

  { N_ ("Details"), N_ ("Copy the event as text"), "win.copy-details", "<Control><Shift>c", NULL },
};

void
lns_shortcuts_add_to_application (GtkApplication *application)
{
  for (size_t i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    {
      const Shortcut *shortcut = &shortcuts[i];
      if (shortcut->action == NULL || shortcut->keys == NULL ||
          !(g_str_has_prefix (shortcut->action, "app.") ||
            g_str_has_prefix (shortcut->action, "win.")))
        continue;
      g_auto (GStrv) keys = g_strsplit (shortcut->keys, " ", -1);
      gtk_application_set_accels_for_action (application, shortcut->action,
                                             (const char *const *)keys);
    }
}

void
lns_shortcuts_add_to_class (GtkWidgetClass *widget_class, const char *prefix)
{
  for (size_t i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    {
      const Shortcut *shortcut = &shortcuts[i];
      if (shortcut->action == NULL || !g_str_has_prefix (shortcut->action, prefix))
        continue;
      g_auto (GStrv) keys = g_strsplit (shortcut->keys, " ", -1);
      /* Menus show the key that was added last. */
      for (guint key = g_strv_length (keys); key-- > 0;)
        {
          g_autoptr (GtkShortcut) binding =
              gtk_shortcut_new (gtk_shortcut_trigger_parse_string (keys[key]),
                                gtk_named_action_new (shortcut->action));
          gtk_widget_class_add_shortcut (widget_class, binding);
        }
    }
}

const char *
lns_shortcuts_keys (const char *action)
{
  for (size_t i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    if (g_strcmp0 (shortcuts[i].action, action) == 0)
      return shortcuts[i].keys;
  return NULL;
}

void
lns_shortcuts_capture (GtkWidget *widget, const char *action)
{
  GtkEventController *controller = gtk_shortcut_controller_new ();
  g_auto (GStrv) keys = g_strsplit (lns_shortcuts_keys (action), " ", -1);

  for (char **key = keys; *key != NULL; key++)
    gtk_shortcut_controller_add_shortcut (
        GTK_SHORTCUT_CONTROLLER (controller),
        gtk_shortcut_new (gtk_shortcut_trigger_parse_string (*key), gtk_named_action_new (action)));
  gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_CAPTURE);
  gtk_widget_add_controller (widget, controller);
}

bool
lns_shortcuts_at (size_t i,
                  const char **ret_group,
                  const char **ret_title,
                  const char **ret_action,
                  const char **ret_keys)
{
  if (i >= G_N_ELEMENTS (shortcuts))
    return false;
  *ret_group = shortcuts[i].group;
  *ret_title = shortcuts[i].title;
  *ret_action = shortcuts[i].action;
  *ret_keys = shortcuts[i].keys;
  return true;
}

/* One line of the window: the first key of each of N rows, and what the mouse does. */
static GtkWidget *
line_new (const Shortcut *rows, size_t n)
{
  GtkWidget *line = g_object_new (ADW_TYPE_ACTION_ROW, "title", _ (rows->title), NULL);

  if (rows->mouse != NULL)
    adw_action_row_add_suffix (
        ADW_ACTION_ROW (line),
        g_object_new (GTK_TYPE_LABEL, "label", _ (rows->mouse), "wrap", TRUE, NULL));
  for (size_t i = 0; i < n && rows[i].keys != NULL; i++)
    {
      g_auto (GStrv) each = g_strsplit (rows[i].keys, " ", -1);
      GtkWidget *keys = gtk_shortcut_label_new (each[0]);
      gtk_widget_set_valign (keys, GTK_ALIGN_CENTER);
      if (i > 0)
        adw_action_row_add_suffix (ADW_ACTION_ROW (line), gtk_label_new (_ ("or")));
      adw_action_row_add_suffix (ADW_ACTION_ROW (line), keys);
    }
  return line;
}

/* How many rows from FIRST on are of the same group, and with SAME_TITLE of the same title too. */
static size_t
run_length (size_t first, bool same_title)
{
  size_t end = first + 1;

  while (end < G_N_ELEMENTS (shortcuts) &&
         strcmp (shortcuts[end].group, shortcuts[first].group) == 0 &&
         (!same_title || strcmp (shortcuts[end].title, shortcuts[first].title) == 0))
    end++;
  return end - first;
}

/* Not a GtkShortcutsWindow: GTK 4.8 lays out more than two columns with negative widths, and two are
 * higher than a small screen. This one scrolls, and can be searched as well. */
GtkWidget *
lns_shortcuts_window_new (void)
{
  GtkWidget *window = g_object_new (ADW_TYPE_PREFERENCES_WINDOW, "title", _ ("Keyboard Shortcuts"),
                                    "modal", TRUE, NULL);
  GtkWidget *page = adw_preferences_page_new ();

  for (size_t i = 0, n; i < G_N_ELEMENTS (shortcuts); i += n)
    {
      GtkWidget *group =
          g_object_new (ADW_TYPE_PREFERENCES_GROUP, "title", _ (shortcuts[i].group), NULL);
      n = run_length (i, false);
      for (size_t row = i, n_rows; row < i + n; row += n_rows)
        {
          n_rows = run_length (row, true);
          adw_preferences_group_add (ADW_PREFERENCES_GROUP (group),
                                     line_new (&shortcuts[row], n_rows));
        }
      adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group));
    }
  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (window), ADW_PREFERENCES_PAGE (page));
  return window;
}

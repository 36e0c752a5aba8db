/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/report-actions.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/shell/bookmark-dialog.h"
#include "ui/shell/export.h"
#include "ui/shell/panes.h"
#include "ui/shell/picture.h"
#include "ui/shell/report-chooser.h"
#include "ui/shell/time-dialog.h"

struct LnsReportActions
{
  AdwApplicationWindow *window; /* has the actions, and this as its data */
  GSettings *settings;          /* owned                                 */
  LnsReportTab *tab;            /* what they act on, or NULL             */
};

/* The window's data. */
#define KEY "lns-report-actions"

/* The parts of the report that is shown. There must be one. */
static const LnsReportParts *
parts_of (LnsReportActions *self)
{
  return lns_report_page_get_parts (lns_report_tab_get_page (self->tab));
}

/* --- The report as a file ------------------------------------------------------------------ */

static void
reload_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_tab_reload (((LnsReportActions *)data)->tab);
}

static void
recover_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_tab_recover (((LnsReportActions *)data)->tab);
}

/* The name of the file, without folders and ending. */
static char *
plain_name (LnsReportActions *self)
{
  char *name = g_file_get_basename (lns_report_tab_get_file (self->tab));
  char *ending = strrchr (name, '.');

  if (ending != NULL && ending != name)
    *ending = '\0';
  return name;
}

static void
save_picture_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsReportActions *self = data;
  g_autofree char *name = plain_name (self);

  lns_picture_save (GTK_WINDOW (self->window), GTK_WIDGET (lns_report_tab_get_page (self->tab)),
                    name);
}

static void
export_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsReportActions *self = data;
  g_autofree char *name = plain_name (self);

  lns_export_ask (GTK_WINDOW (self->window), parts_of (self)->view, name);
}

/* --- Another report beside it -------------------------------------------------------------- */

/* Meanwhile the report may have gone. */
static void
other_chosen_cb (GPtrArray *files, gpointer window)
{
  LnsReportActions *self = g_object_get_data (G_OBJECT (window), KEY);

  if (self->tab != NULL && lns_report_tab_get_page (self->tab) != NULL)
    lns_report_tab_compare_with (self->tab, g_ptr_array_index (files, 0));
}

static void
compare_with_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_chooser_show (GTK_WINDOW (((LnsReportActions *)data)->window),
                           _ ("Compare with a Report"), FALSE, other_chosen_cb);
}

static void
compare_with_uri_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));

  lns_report_tab_compare_with (((LnsReportActions *)data)->tab, file);
}

static void
compare_spans_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_tab_compare_spans (((LnsReportActions *)data)->tab);
}

static void
swap_reports_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_tab_swap (((LnsReportActions *)data)->tab);
}

/* --- The timeline, and what is in it ------------------------------------------------------- */

/* "win.zoom-in" and the like are the timeline's own actions for who is not inside it. */
static void
timeline_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autofree char *name = g_strconcat ("timeline.", g_action_get_name (G_ACTION (action)), NULL);

  gtk_widget_activate_action (GTK_WIDGET (parts_of (data)->timeline), name, NULL);
}

static LnsFindBar *
find_bar_of (LnsReportActions *self)
{
  return lns_report_page_get_find_bar (lns_report_tab_get_page (self->tab));
}

static void
find_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_find_bar_open (find_bar_of (data));
}

static void
find_step_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_find_bar_step (find_bar_of (data),
                     g_str_equal (g_action_get_name (G_ACTION (action)), "find-next"));
}

static void
go_to_time_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_time_dialog_show (GTK_WINDOW (((LnsReportActions *)data)->window), parts_of (data)->view);
}

static void
add_bookmark_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_bookmark_dialog_add (GTK_WINDOW (((LnsReportActions *)data)->window), parts_of (data)->view);
}

static void
list_bookmarks_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_bookmark_dialog_list (GTK_WINDOW (((LnsReportActions *)data)->window), parts_of (data)->view);
}

static void
edit_bookmark_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  const int i = g_variant_get_int32 (parameter);

  if (i >= 0)
    lns_bookmark_dialog_edit (GTK_WINDOW (((LnsReportActions *)data)->window),
                              parts_of (data)->view, (guint)i);
}

/* --- Panes --------------------------------------------------------------------------------- */

/* "focus-PANE" goes to that pane, or hides it if one is there. */
static void
focus_pane_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_page_focus_pane (lns_report_tab_get_page (((LnsReportActions *)data)->tab),
                              g_action_get_name (G_ACTION (action)) + strlen ("focus-"));
}

/* "run-sql" runs the statement that it is given in the pane of SQL. */
static void
run_sql_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_page_run_sql (lns_report_tab_get_page (((LnsReportActions *)data)->tab),
                           g_variant_get_string (parameter, NULL));
}

static void
copy_details_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_widget_activate_action (parts_of (data)->details, "details.copy", NULL);
}

/* "show-PAGE" shows that page below the timeline, as the "bottom-page" setting calls it. */
static void
change_bottom_page_cb (GSimpleAction *action, GVariant *state, gpointer data)
{
  const char *page = g_action_get_name (G_ACTION (action)) + strlen ("show-");

  g_settings_set_string (((LnsReportActions *)data)->settings, "bottom-page",
                         g_variant_get_boolean (state) ? page : "none");
}

/* "show-details" and "show-path" are called as their settings. */
static void
change_setting_cb (GSimpleAction *action, GVariant *state, gpointer data)
{
  g_settings_set_value (((LnsReportActions *)data)->settings, g_action_get_name (G_ACTION (action)),
                        state);
}

/* --- When they can do something: asked only while a report is shown ------------------------ */

static gboolean
is_zoomed (LnsReportActions *self)
{
  return !lns_view_shows_all (parts_of (self)->view);
}

static gboolean
has_time (LnsReportActions *self)
{
  return lns_view_get_time_selection (parts_of (self)->view, NULL, NULL);
}

static gboolean
has_two_times (LnsReportActions *self)
{
  return lns_view_get_further_span (parts_of (self)->view, 0, NULL, NULL);
}

static gboolean
has_event (LnsReportActions *self)
{
  return lns_view_get_selected_event (parts_of (self)->view, NULL).lane != LNS_ID_NONE;
}

static gboolean
has_other_end (LnsReportActions *self)
{
  guint n = 0;

  lns_view_get_linked_events (parts_of (self)->view, &n);
  return n > 0;
}

static gboolean
has_hidden_rows (LnsReportActions *self)
{
  return lns_timeline_has_hidden_rows (parts_of (self)->timeline);
}

static gboolean
can_undo (LnsReportActions *self)
{
  return lns_view_can_undo_zoom (parts_of (self)->view);
}

static gboolean
can_redo (LnsReportActions *self)
{
  return lns_view_can_redo_zoom (parts_of (self)->view);
}

/* --- All of them --------------------------------------------------------------------------- */

/* Of a report that is shown. There are "show-PANE" and "focus-PANE" for each pane, too. */
static const struct
{
  GActionEntry entry;
  gboolean (*can) (LnsReportActions *self); /* NULL: always */
} actions[] = {
  { { "compare-with", compare_with_cb }, NULL },
  { { "compare-with-uri", compare_with_uri_cb, "s" }, NULL },
  { { "compare-spans", compare_spans_cb }, has_two_times },
  { { "swap-reports", swap_reports_cb }, NULL },
  { { "save-picture", save_picture_cb }, NULL },
  { { "export", export_cb }, NULL },
  { { "find", find_cb }, NULL },
  { { "find-next", find_step_cb }, NULL },
  { { "find-previous", find_step_cb }, NULL },
  { { "zoom-in", timeline_cb }, NULL },
  { { "zoom-out", timeline_cb }, is_zoomed },
  { { "zoom-fit", timeline_cb }, is_zoomed },
  { { "zoom-to-selection", timeline_cb }, has_time },
  { { "zoom-to-event", timeline_cb }, has_event },
  { { "undo-zoom", timeline_cb }, can_undo },
  { { "redo-zoom", timeline_cb }, can_redo },
  { { "go-to-other-end", timeline_cb }, has_other_end },
  { { "go-to-time", go_to_time_cb }, NULL },
  { { "next-event", timeline_cb }, has_event },
  { { "previous-event", timeline_cb }, has_event },
  { { "next-alike", timeline_cb }, has_event },
  { { "previous-alike", timeline_cb }, has_event },
  { { "next-longest", timeline_cb }, has_event },
  { { "previous-longest", timeline_cb }, has_event },
  { { "next-finding", timeline_cb }, NULL },
  { { "previous-finding", timeline_cb }, NULL },
  { { "next-idle", timeline_cb }, NULL },
  { { "previous-idle", timeline_cb }, NULL },
  { { "next-step", timeline_cb }, NULL },
  { { "previous-step", timeline_cb }, NULL },
  { { "next-link", timeline_cb }, NULL },
  { { "previous-link", timeline_cb }, NULL },
  { { "add-bookmark", add_bookmark_cb }, NULL },
  { { "edit-bookmark", edit_bookmark_cb, "i" }, NULL },
  { { "list-bookmarks", list_bookmarks_cb }, NULL },
  { { "next-bookmark", timeline_cb }, NULL },
  { { "previous-bookmark", timeline_cb }, NULL },
  { { "expand-all", timeline_cb }, NULL },
  { { "collapse-all", timeline_cb }, NULL },
  { { "unfold-1", timeline_cb }, NULL },
  { { "unfold-2", timeline_cb }, NULL },
  { { "unfold-3", timeline_cb }, NULL },
  { { "unfold-4", timeline_cb }, NULL },
  { { "show-hidden", timeline_cb }, has_hidden_rows },
  { { "reset-view", timeline_cb }, NULL },
  { { "show-path", NULL, NULL, "false", change_setting_cb }, NULL },
  { { "show-details", NULL, NULL, "false", change_setting_cb }, NULL },
  { { "focus-details", focus_pane_cb }, NULL },
  { { "copy-details", copy_details_cb }, NULL },
  { { "run-sql", run_sql_cb, "s" }, NULL },
};

static GSimpleAction *
look_up (LnsReportActions *self, const char *name)
{
  return G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self->window), name));
}

/* Has FUNCTION look at each pane and the names of its actions. */
static void
for_each_pane (LnsReportActions *self,
               void (*function) (LnsReportActions *self,
                                 const LnsPaneType *pane,
                                 const char *show,
                                 const char *focus,
                                 gpointer data),
               gpointer data)
{
  size_t n;
  const LnsPaneType *panes = lns_panes (&n);

  for (size_t i = 0; i < n; i++)
    {
      g_autofree char *show = g_strconcat ("show-", panes[i].name, NULL);
      g_autofree char *focus = g_strconcat ("focus-", panes[i].name, NULL);
      function (self, &panes[i], show, focus, data);
    }
}

static void
enable_pane (LnsReportActions *self,
             const LnsPaneType *pane,
             const char *show,
             const char *focus,
             gpointer is_enabled)
{
  g_simple_action_set_enabled (look_up (self, show), *(const gboolean *)is_enabled);
  g_simple_action_set_enabled (look_up (self, focus), *(const gboolean *)is_enabled);
}

static void
update (LnsReportActions *self)
{
  LnsReportTab *tab = self->tab;
  gboolean is_shown = tab != NULL && lns_report_tab_get_page (tab) != NULL;

  g_simple_action_set_enabled (look_up (self, "reload"),
                               is_shown || (tab != NULL && lns_report_tab_has_failed (tab)));
  g_simple_action_set_enabled (look_up (self, "recover"),
                               tab != NULL && lns_report_tab_can_recover (tab));
  for (size_t i = 0; i < G_N_ELEMENTS (actions); i++)
    g_simple_action_set_enabled (look_up (self, actions[i].entry.name),
                                 is_shown && (actions[i].can == NULL || actions[i].can (self)));
  for_each_pane (self, enable_pane, &is_shown);
}

static void
set_pane_state (LnsReportActions *self,
                const LnsPaneType *pane,
                const char *show,
                const char *focus,
                gpointer open)
{
  g_simple_action_set_state (look_up (self, show),
                             g_variant_new_boolean (strcmp (pane->name, open) == 0));
}

/* Sets the states of the actions that show something from the settings. */
static void
update_states (LnsReportActions *self)
{
  g_autofree char *page = g_settings_get_string (self->settings, "bottom-page");
  static const char *const settings[] = { "show-details", "show-path" };

  for_each_pane (self, set_pane_state, page);
  for (size_t i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr (GVariant) state = g_settings_get_value (self->settings, settings[i]);
      g_simple_action_set_state (look_up (self, settings[i]), state);
    }
}

static void
add_pane_actions (LnsReportActions *self,
                  const LnsPaneType *pane,
                  const char *show,
                  const char *focus,
                  gpointer data)
{
  const GActionEntry entries[] = { { show, NULL, NULL, "false", change_bottom_page_cb },
                                   { focus, focus_pane_cb } };

  g_action_map_add_action_entries (G_ACTION_MAP (self->window), entries, G_N_ELEMENTS (entries),
                                   self);
}

LnsReportActions *
lns_report_actions_new (AdwApplicationWindow *window, GSettings *settings)
{
  static const GActionEntry of_file[] = { { "reload", reload_cb }, { "recover", recover_cb } };
  static const char *const changes[] = { "changed::bottom-page", "changed::show-details",
                                         "changed::show-path" };
  LnsReportActions *self = g_new0 (LnsReportActions, 1);

  self->window = window;
  self->settings = g_object_ref (settings);
  g_object_set_data (G_OBJECT (window), KEY, self);
  g_action_map_add_action_entries (G_ACTION_MAP (window), of_file, G_N_ELEMENTS (of_file), self);
  for (size_t i = 0; i < G_N_ELEMENTS (actions); i++)
    g_action_map_add_action_entries (G_ACTION_MAP (window), &actions[i].entry, 1, self);
  for_each_pane (self, add_pane_actions, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (changes); i++)
    g_signal_connect_swapped (settings, changes[i], G_CALLBACK (update_states), self);
  update_states (self);
  update (self);
  return self;
}

void
lns_report_actions_set_tab (LnsReportActions *self, LnsReportTab *tab)
{
  if (self->tab != NULL)
    g_signal_handlers_disconnect_by_data (self->tab, self);
  self->tab = tab;
  if (tab != NULL)
    g_signal_connect_swapped (tab, "changed", G_CALLBACK (update), self);
  update (self);
}

void
lns_report_actions_free (LnsReportActions *self)
{
  if (self == NULL)
    return;
  if (self->tab != NULL)
    g_signal_handlers_disconnect_by_data (self->tab, self);
  g_signal_handlers_disconnect_by_data (self->settings, self);
  g_object_unref (self->settings);
  g_free (self);
}

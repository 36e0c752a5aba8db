/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/window.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/analysis/filter.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "ui/launch/launch-dialog.h"
#include "ui/model/display-text.h"
#include "ui/model/pair.h"
#include "ui/model/report-loader.h"
#include "ui/model/shortcuts.h"
#include "ui/shell/bookmark-dialog.h"
#include "ui/shell/panes.h"
#include "ui/shell/export.h"
#include "ui/shell/legend.h"
#include "ui/shell/picture.h"
#include "ui/shell/problem-count.h"
#include "ui/shell/recents.h"
#include "ui/shell/report-chooser.h"
#include "ui/shell/report-page.h"
#include "ui/shell/search-dialog.h"
#include "ui/shell/several.h"
#include "ui/shell/start-page.h"
#include "ui/shell/subtitle.h"

/* How often progress is shown. Files that open faster show no progress page, which would only flash by. */
#define PROGRESS_MS 150

struct _LnsWindow
{
  AdwApplicationWindow parent_instance;

  GSettings *settings;   /* owned                                                        */
  GFile *file;           /* owned; shown, being opened, or not to be opened; or NULL      */
  GFile *other;          /* owned; that is to be shown beside it once it is open, or NULL … */
  gboolean compares;     /* … and compared with it */
  GCancellable *opening; /* owned; NULL while nothing is being opened                     */
  gboolean recovering;   /* with recovery                                                */
  const LnsLoadProgress *load; /* of the opening                                               */
  guint progress_timer;        /* shows it; or 0                                               */
  gboolean recoverable;        /* the error page's file                                        */
  LnsReportPage *report_page;  /* child of stack, or NULL                                      */

  GtkWidget *launch_dialog; /* weak; or NULL                                                */

  GtkPopoverMenuBar *menu_bar;
  GtkWidget *open_button;
  GtkWidget *find_button;
  AdwWindowTitle *title;
  GtkStack *stack; /* pages "start", "loading", "error", "report" */
  AdwStatusPage *loading_page;
  GtkProgressBar *progress;
  AdwStatusPage *error_page;
  GtkWidget *recover_button;
  GtkWidget *another_button;
  GtkWidget *diagnostics_button;
  AdwButtonContent *diagnostics_content;
};

G_DEFINE_FINAL_TYPE (LnsWindow, lns_window, ADW_TYPE_APPLICATION_WINDOW)

/* --- What it shows ------------------------------------------------------------------------- */

static void
set_enabled (LnsWindow *self, const char *name, gboolean enabled)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), name);

  g_simple_action_set_enabled (G_SIMPLE_ACTION (action), enabled);
}

/* Has FUNCTION look at each pane and the names of its actions. */
static void
for_each_pane (LnsWindow *self,
               void (*function) (LnsWindow *self,
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
enable_pane (
    LnsWindow *self, const LnsPaneType *pane, const char *show, const char *focus, gpointer data)
{
  const gboolean *is_enabled = data;

  set_enabled (self, show, *is_enabled);
  set_enabled (self, focus, *is_enabled);
}

/* Enables the actions that apply to what the window now shows, and no others. */
static void
update_actions (LnsWindow *self)
{
  static const char *const of_report[] = {
    "find",           "find-next",        "find-previous",     "copy-details",
    "zoom-in",        "expand-all",       "collapse-all",      "show-details",
    "focus-details",  "run-sql",          "next-finding",      "previous-finding",
    "next-idle",      "previous-idle",    "next-step",         "previous-step",
    "next-link",      "previous-link",    "show-path",         "go-to-time",
    "save-picture",   "reset-view",       "add-bookmark",      "edit-bookmark",
    "list-bookmarks", "next-bookmark",    "previous-bookmark", "unfold-1",
    "unfold-2",       "unfold-3",         "unfold-4",          "export",
    "compare-with",   "compare-with-uri", "swap-reports",
  };
  static const char *const of_event[] = { "next-event",     "previous-event", "next-alike",
                                          "previous-alike", "next-longest",   "previous-longest" };
  gboolean report = self->report_page != NULL;
  LnsView *view = report ? lns_report_page_get_parts (self->report_page)->view : NULL;
  gboolean whole = report && lns_view_shows_all (view);
  guint n_linked = 0;
  if (report)
    lns_view_get_linked_events (view, &n_linked);

  set_enabled (self, "reload", report || (self->file != NULL && self->opening == NULL));
  set_enabled (self, "recover", self->recoverable);
  set_enabled (self, "cancel-opening", self->opening != NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (of_report); i++)
    set_enabled (self, of_report[i], report);
  for_each_pane (self, enable_pane, &report);
  set_enabled (self, "zoom-out", report && !whole);
  set_enabled (self, "zoom-fit", report && !whole);
  set_enabled (self, "zoom-to-selection", report && lns_view_get_time_selection (view, NULL, NULL));
  set_enabled (self, "zoom-to-event",
               report && lns_view_get_selected_event (view, NULL).lane != LNS_ID_NONE);
  set_enabled (self, "go-to-other-end", n_linked > 0);
  for (size_t i = 0; i < G_N_ELEMENTS (of_event); i++)
    set_enabled (self, of_event[i],
                 report && lns_view_get_selected_event (view, NULL).lane != LNS_ID_NONE);
  set_enabled (self, "show-hidden",
               report && lns_timeline_has_hidden_rows (
                             lns_report_page_get_parts (self->report_page)->timeline));
  set_enabled (self, "compare-spans", report && lns_view_get_further_span (view, 0, NULL, NULL));
  set_enabled (self, "undo-zoom", report && lns_view_can_undo_zoom (view));
  set_enabled (self, "redo-zoom", report && lns_view_can_redo_zoom (view));
}

/* Shows page NAME of the stack, and enables the actions that apply to it. */
static void
show_page (LnsWindow *self, const char *name)
{
  gboolean start = strcmp (name, "start") == 0;

  gtk_stack_set_visible_child_name (self->stack, name);
  /* The start page has these buttons itself. */
  gtk_widget_set_visible (self->open_button, !start);
  gtk_widget_set_visible (self->find_button, strcmp (name, "report") == 0);
  update_actions (self);
  /* Otherwise the menu bar would get the focus and look as if it were in use. */
  if (strcmp (name, "report") == 0)
    gtk_widget_grab_focus (GTK_WIDGET (lns_report_page_get_parts (self->report_page)->timeline));
  else if (strcmp (name, "error") == 0)
    gtk_widget_grab_focus (self->recoverable ? self->recover_button : self->another_button);
  else
    gtk_widget_child_focus (gtk_stack_get_visible_child (self->stack), GTK_DIR_TAB_FORWARD);
}

/* Cancels the opening under way, if there is one. */
static void
cancel_opening (LnsWindow *self)
{
  g_autoptr (GCancellable) opening = g_steal_pointer (&self->opening);

  g_clear_handle_id (&self->progress_timer, g_source_remove);
  g_cancellable_cancel (opening);
}

/* Drops the report that is shown or being opened. The caller shows another page. */
static void
drop_report (LnsWindow *self)
{
  cancel_opening (self);
  if (self->report_page == NULL)
    return;
  gtk_stack_remove (self->stack, GTK_WIDGET (self->report_page));
  self->report_page = NULL;
  lns_subtitle_follow (self->title, NULL);
  lns_problem_count_follow (self->diagnostics_button, self->diagnostics_content, NULL);
}

/* Shows REPORT as STORED says, and takes them over. */
static void
show_report (LnsWindow *self, LnsReport *report, LnsStoredView *stored)
{
  static const char *const changes[] = { "span-changed", "time-selection-changed",
                                         "event-selected" };
  g_autoptr (LnsView) view = lns_view_new (report);
  lns_view_set_file (view, self->file);
  GtkWidget *page = lns_report_page_new (view, self->settings, stored);

  for (size_t i = 0; i < G_N_ELEMENTS (changes); i++)
    g_signal_connect_object (view, changes[i], G_CALLBACK (update_actions), self,
                             G_CONNECT_SWAPPED);
  self->report_page = LNS_REPORT_PAGE (page);
  g_signal_connect_object (lns_report_page_get_parts (self->report_page)->timeline, "rows-changed",
                           G_CALLBACK (update_actions), self, G_CONNECT_SWAPPED);
  gtk_stack_add_named (self->stack, page, "report");
  lns_subtitle_follow (self->title, view);
  lns_problem_count_follow (self->diagnostics_button, self->diagnostics_content, view);
  show_page (self, "report");
}

/* Names the file, if there is one. */
static void
set_title (LnsWindow *self)
{
  g_autofree char *path = self->file != NULL ? lns_display_file (self->file, TRUE) : NULL;
  g_autofree char *name =
      self->file != NULL ? lns_display_file (self->file, FALSE) : g_strdup ("Lanescope");

  adw_window_title_set_title (self->title, name);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), path);
  gtk_window_set_title (GTK_WINDOW (self), name);
}

static void
show_start_page (LnsWindow *self)
{
  drop_report (self);
  g_clear_object (&self->file);
  set_title (self);
  show_page (self, "start");
}

/* --- Opening a report ---------------------------------------------------------------------- */

static void
show_error (LnsWindow *self, const GError *error, gboolean may_recover)
{
  g_autofree char *text = lns_display_text (error->message, strlen (error->message), FALSE);
  g_autofree char *markup = g_markup_escape_text (text, -1);

  adw_status_page_set_title (self->error_page, _ ("The Report Could Not Be Opened"));
  adw_status_page_set_description (self->error_page, markup);
  self->recoverable = may_recover;
  gtk_widget_set_visible (self->recover_button, self->recoverable);
  show_page (self, "error");
}

/* A new reference on the pair of the report that is shown. */
static LnsPair *
own_pair (LnsWindow *self)
{
  return lns_pair_of (lns_report_page_get_parts (self->report_page)->view);
}

/* Compares the report that is shown with that of FILE, and shows the pane that tells of it. */
static void
compare_with (LnsWindow *self, GFile *file)
{
  g_autoptr (LnsPair) pair = own_pair (self);

  lns_pair_open (pair, file, TRUE);
  g_settings_set_string (self->settings, "bottom-page", "compare");
}

/* Shows the report of FILE on the axis of the one that is shown. */
static void
show_together (LnsWindow *self, GFile *file)
{
  g_autoptr (LnsPair) pair = own_pair (self);

  lns_pair_open (pair, file, FALSE);
}

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsWindow) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = NULL;
  gboolean may_recover = FALSE;
  LnsStoredView stored = { 0 };
  LnsReport *report = lns_report_load_finish (result, &file, &may_recover, &stored, &error);

  /* Another file is being opened, or the window was closed: nobody waits for this answer. */
  if (g_task_get_cancellable (G_TASK (result)) != self->opening)
    {
      lns_stored_view_clear (&stored);
      lns_report_close (report);
      return;
    }
  g_clear_object (&self->opening);
  g_clear_handle_id (&self->progress_timer, g_source_remove);
  if (file != NULL && g_set_object (&self->file, file))
    set_title (self);
  if (report == NULL)
    {
      show_error (self, error, may_recover);
      return;
    }
  lns_recents_add (self->file);
  show_report (self, report, &stored);
  if (self->other != NULL && self->compares)
    compare_with (self, self->other);
  else if (self->other != NULL)
    show_together (self, self->other);
  g_clear_object (&self->other);
}

static gboolean
show_progress_cb (gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);

  adw_status_page_set_title (self->loading_page, self->recovering ? _ ("Recovering…")
                                                 : atomic_load (&self->load->imports)
                                                     ? _ ("Importing…")
                                                     : _ ("Opening…"));
  /* Once the page of a report has gone, the stack may show none. */
  if (g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), "loading") != 0)
    show_page (self, "loading");
  gtk_progress_bar_set_fraction (self->progress, atomic_load (&self->load->permille) / 1000.0);
  return G_SOURCE_CONTINUE;
}

static void
open_file (LnsWindow *self, gboolean recover)
{
  g_autofree char *path = lns_display_file (self->file, TRUE);
  g_autofree char *markup = g_markup_escape_text (path, -1);

  drop_report (self);
  self->opening = g_cancellable_new ();
  set_title (self);
  adw_status_page_set_description (self->loading_page, markup);
  self->recovering = recover;
  self->progress_timer = g_timeout_add (PROGRESS_MS, show_progress_cb, self);
  update_actions (self);
  self->load =
      lns_report_load_async (self->file, recover, self->opening, loaded_cb, g_object_ref (self));
}

gboolean
lns_window_is_empty (LnsWindow *self)
{
  return self->report_page == NULL && self->opening == NULL;
}

void
lns_window_open_file (LnsWindow *self, GFile *file)
{
  lns_window_open_pair (self, file, NULL, FALSE);
}

void
lns_window_open_pair (LnsWindow *self, GFile *file, GFile *other, gboolean compares)
{
  self->compares = compares;
  g_set_object (&self->file, file);
  g_set_object (&self->other, other);
  open_file (self, FALSE);
}

/* --- Actions: each is enabled exactly while it can do something ---------------------------- */

/* Has the application open FILE: here if this window is empty, or else in another window. */
static void
ask_to_open (LnsWindow *self, GFile *file)
{
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  g_autofree char *id =
      g_strdup_printf ("%u", gtk_application_window_get_id (GTK_APPLICATION_WINDOW (self)));

  g_application_open (G_APPLICATION (application), &file, 1, id);
}

/* Has the application open FILES, of GFile, as HOW says: in this window if it is empty. */
static void
open_several (LnsSeveral how, GPtrArray *files, gpointer data)
{
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (data));
  const guint id = gtk_application_window_get_id (GTK_APPLICATION_WINDOW (data));
  g_autofree char *hint = lns_several_hint (how, id);

  g_application_open (G_APPLICATION (application), (GFile **)files->pdata, (int)files->len, hint);
}

/* Has FILES, of GFile, opened; asks how, if there are several. */
static void
ask_to_open_all (LnsWindow *self, GPtrArray *files)
{
  if (files->len == 1)
    ask_to_open (self, g_ptr_array_index (files, 0));
  else if (files->len > 1)
    lns_several_ask (GTK_WINDOW (self), files, open_several, self);
}

static void
opened_cb (GPtrArray *files, gpointer data)
{
  ask_to_open_all (LNS_WINDOW (data), files);
}

static void
open_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_chooser_show (GTK_WINDOW (data), _ ("Open Reports"), TRUE, opened_cb);
}

static void
other_chosen_cb (GPtrArray *files, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);

  if (self->report_page != NULL)
    compare_with (self, g_ptr_array_index (files, 0));
}

static void
compare_with_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_chooser_show (GTK_WINDOW (data), _ ("Compare with a Report"), FALSE, other_chosen_cb);
}

/* Compares the two times that are selected. */
static void
compare_spans_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);
  g_autoptr (LnsPair) pair = own_pair (self);

  lns_pair_open_spans (pair);
  g_settings_set_string (self->settings, "bottom-page", "compare");
}

static void
compare_with_uri_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));

  compare_with (LNS_WINDOW (data), file);
}

static void
open_uri_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));

  ask_to_open (LNS_WINDOW (data), file);
}

/* Whether the window shows FILE while that grows, or is opening it. */
static gboolean
shows_growing (LnsWindow *self, GFile *file)
{
  return self->file != NULL && g_file_equal (self->file, file) &&
         (self->report_page == NULL ||
          lns_view_is_live (lns_report_page_get_parts (self->report_page)->view));
}

/* A report that was growing is dropped: no window shows it any longer. One that was opened for it closes. */
static void
drop_uri_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));
  g_autoptr (GList) windows =
      g_list_copy (gtk_application_get_windows (gtk_window_get_application (GTK_WINDOW (self))));

  for (GList *window = windows; window != NULL; window = window->next)
    if (!LNS_IS_WINDOW (window->data) || !shows_growing (window->data, file))
      continue;
    else if (window->data == self)
      show_start_page (self);
    else
      gtk_window_close (window->data);
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

/* The name of the file that is shown, without folders and ending. */
static char *
plain_name (LnsWindow *self)
{
  char *name = g_file_get_basename (self->file), *ending = strrchr (name, '.');

  if (ending != NULL && ending != name)
    *ending = '\0';
  return name;
}

static void
save_picture_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);
  g_autofree char *name = plain_name (self);

  lns_picture_save (GTK_WINDOW (self), GTK_WIDGET (self->report_page), name);
}

static void
export_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);
  g_autofree char *name = plain_name (self);

  lns_export_ask (GTK_WINDOW (self), lns_report_page_get_parts (self->report_page)->view, name);
}

static void
reload_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);
  g_autoptr (GFile) file = g_object_ref (self->file);
  g_autoptr (LnsPair) pair = self->report_page != NULL ? own_pair (self) : NULL;
  GFile *with = pair != NULL ? lns_pair_get_file (pair) : NULL;
  g_autoptr (GFile) other = with != NULL ? g_object_ref (with) : NULL;

  lns_window_open_pair (self, file, other, other != NULL && lns_pair_compares (pair));
}

/* Has the report that is B be A, and the other way round. */
static void
swap_reports_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);
  g_autoptr (LnsPair) pair = own_pair (self);
  g_autoptr (GFile) a = g_object_ref (self->file), b = NULL;

  if (lns_pair_get_file (pair) == NULL)
    return;
  b = g_object_ref (lns_pair_get_file (pair));
  lns_window_open_pair (self, b, a, lns_pair_compares (pair));
}

static void
recover_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  open_file (LNS_WINDOW (data), TRUE);
}

static void
cancel_opening_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  show_start_page (LNS_WINDOW (data));
}

static void
close_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_window_close (GTK_WINDOW (data));
}

static void
search_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_window_present (
      GTK_WINDOW (lns_search_dialog_new (GTK_WINDOW (data), LNS_WINDOW (data)->report_page)));
}

static void
find_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_find_bar_open (lns_report_page_get_parts (LNS_WINDOW (data)->report_page)->find_bar);
}

static void
copy_details_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_widget_activate_action (lns_report_page_get_parts (LNS_WINDOW (data)->report_page)->details,
                              "details.copy", NULL);
}

static void
find_step_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_find_bar_step (lns_report_page_get_parts (LNS_WINDOW (data)->report_page)->find_bar,
                     g_str_equal (g_action_get_name (G_ACTION (action)), "find-next"));
}

/* "win.zoom-in" and the like are the timeline's own actions for who is not inside it. */
static void
timeline_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsTimeline *timeline = lns_report_page_get_parts (LNS_WINDOW (data)->report_page)->timeline;
  g_autofree char *name = g_strconcat ("timeline.", g_action_get_name (G_ACTION (action)), NULL);

  gtk_widget_activate_action (GTK_WIDGET (timeline), name, NULL);
}

/* "show-PAGE" shows that page below the timeline, as the "bottom-page" setting calls it. */
static void
change_bottom_page_cb (GSimpleAction *action, GVariant *state, gpointer data)
{
  const char *page = g_action_get_name (G_ACTION (action)) + strlen ("show-");

  g_settings_set_string (LNS_WINDOW (data)->settings, "bottom-page",
                         g_variant_get_boolean (state) ? page : "none");
}

/* "focus-PANE" goes to that pane, or hides it if one is there. */
static void
focus_pane_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_page_focus_pane (LNS_WINDOW (data)->report_page,
                              g_action_get_name (G_ACTION (action)) + strlen ("focus-"));
}

/* Where the user wants to go, as TEXT: "1.204 s", "37.4ms", or a number of ns. False if it is no time. */
static gboolean
parse_time (const char *text, int64_t *ret_ns)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_autofree char *plain = g_strjoinv ("", words);
  g_autofree char *span_text = g_strdup_printf ("%s/", plain);
  LnsFilterSpan span;
  const gboolean good = *plain != '\0' && strchr (plain, '/') == NULL &&
                        lns_filter_parse_time (span_text, &span, NULL);

  if (good)
    *ret_ns = span.start_ns;
  return good;
}

static void
time_changed_cb (GtkEditable *entry, AdwMessageDialog *dialog)
{
  int64_t time_ns;

  adw_message_dialog_set_response_enabled (dialog, "go",
                                           parse_time (gtk_editable_get_text (entry), &time_ns));
}

/* Has the time that was asked for in the middle of the view, at the zoom at hand. */
static void
time_response_cb (AdwMessageDialog *dialog, const char *response, LnsWindow *self)
{
  GtkEditable *entry = GTK_EDITABLE (adw_message_dialog_get_extra_child (dialog));
  int64_t time_ns;

  if (strcmp (response, "go") != 0 || self->report_page == NULL ||
      !parse_time (gtk_editable_get_text (entry), &time_ns))
    return;
  LnsView *view = lns_report_page_get_parts (self->report_page)->view;
  const int64_t half_ns =
      lns_difference (lns_view_get_end_ns (view), lns_view_get_start_ns (view)) / 2;
  lns_view_show_span (view, lns_difference (time_ns, half_ns), lns_sum (time_ns, half_ns));
}

static void
go_to_time_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWidget *dialog =
      adw_message_dialog_new (GTK_WINDOW (data), _ ("Go to a Time"),
                              _ ("A time of the ruler, such as “1.204 s” or “37.4 ms”."));
  GtkWidget *entry = gtk_entry_new ();

  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Time"),
                                  -1);
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), entry);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "go",
                                    _ ("_Go"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "go",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "go");
  adw_message_dialog_set_response_enabled (ADW_MESSAGE_DIALOG (dialog), "go", FALSE);
  g_signal_connect (entry, "changed", G_CALLBACK (time_changed_cb), dialog);
  g_signal_connect (dialog, "response", G_CALLBACK (time_response_cb), data);
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
add_bookmark_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_bookmark_dialog_add (GTK_WINDOW (data),
                           lns_report_page_get_parts (LNS_WINDOW (data)->report_page)->view);
}

static void
list_bookmarks_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_bookmark_dialog_list (GTK_WINDOW (data),
                            lns_report_page_get_parts (LNS_WINDOW (data)->report_page)->view);
}

static void
edit_bookmark_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  const int i = g_variant_get_int32 (parameter);

  if (i >= 0)
    lns_bookmark_dialog_edit (GTK_WINDOW (data),
                              lns_report_page_get_parts (LNS_WINDOW (data)->report_page)->view,
                              (guint)i);
}

/* "run-sql" runs the statement that it is given in the pane of SQL. */
static void
run_sql_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_page_run_sql (LNS_WINDOW (data)->report_page, g_variant_get_string (parameter, NULL));
}

static void
change_details_cb (GSimpleAction *action, GVariant *state, gpointer data)
{
  g_settings_set_value (LNS_WINDOW (data)->settings, "show-details", state);
}

static void
change_path_cb (GSimpleAction *action, GVariant *state, gpointer data)
{
  g_settings_set_value (LNS_WINDOW (data)->settings, "show-path", state);
}

static void
update_pane_state (
    LnsWindow *self, const LnsPaneType *pane, const char *show, const char *focus, gpointer data)
{
  g_simple_action_set_state (
      G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), show)),
      g_variant_new_boolean (strcmp (pane->name, data) == 0));
}

/* Sets the states of the actions for panes from the settings. */
static void
update_states_cb (GSettings *settings, const char *key, LnsWindow *self)
{
  g_autofree char *page = g_settings_get_string (settings, "bottom-page");

  for_each_pane (self, update_pane_state, page);
  g_simple_action_set_state (
      G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), "show-details")),
      g_variant_new_boolean (g_settings_get_boolean (settings, "show-details")));
  g_simple_action_set_state (
      G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), "show-path")),
      g_variant_new_boolean (g_settings_get_boolean (settings, "show-path")));
}

static void
show_help_overlay_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWidget *window = lns_shortcuts_window_new ();

  gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (data));
  gtk_window_present (GTK_WINDOW (window));
}

static void
show_legend_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = data;
  GtkWidget *window =
      lns_legend_new ((LnsColorMode)g_settings_get_enum (self->settings, "timeline-colors"));

  gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (data));
  gtk_window_present (GTK_WINDOW (window));
}

static void
add_pane_actions (
    LnsWindow *self, const LnsPaneType *pane, const char *show, const char *focus, gpointer data)
{
  const GActionEntry entries[] = { { show, NULL, NULL, "false", change_bottom_page_cb },
                                   { focus, focus_pane_cb } };

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
}

static void
add_actions (LnsWindow *self)
{
  static const GActionEntry entries[] = {
    { "open", open_cb },
    { "open-uri", open_uri_cb, "s" },
    { "compare-with", compare_with_cb },
    { "compare-spans", compare_spans_cb },
    { "swap-reports", swap_reports_cb },
    { "compare-with-uri", compare_with_uri_cb, "s" },
    { "drop-uri", drop_uri_cb, "s" },
    { "launch", launch_cb },
    { "reload", reload_cb },
    { "recover", recover_cb },
    { "cancel-opening", cancel_opening_cb },
    { "save-picture", save_picture_cb },
    { "export", export_cb },
    { "close", close_cb },
    { "search", search_cb },
    { "find", find_cb },
    { "find-next", find_step_cb },
    { "find-previous", find_step_cb },
    { "copy-details", copy_details_cb },
    { "zoom-in", timeline_cb },
    { "zoom-out", timeline_cb },
    { "zoom-to-selection", timeline_cb },
    { "zoom-to-event", timeline_cb },
    { "go-to-other-end", timeline_cb },
    { "next-event", timeline_cb },
    { "previous-event", timeline_cb },
    { "next-alike", timeline_cb },
    { "previous-alike", timeline_cb },
    { "next-longest", timeline_cb },
    { "previous-longest", timeline_cb },
    { "next-finding", timeline_cb },
    { "previous-finding", timeline_cb },
    { "next-idle", timeline_cb },
    { "previous-idle", timeline_cb },
    { "next-step", timeline_cb },
    { "previous-step", timeline_cb },
    { "next-link", timeline_cb },
    { "previous-link", timeline_cb },
    { "go-to-time", go_to_time_cb },
    { "add-bookmark", add_bookmark_cb },
    { "edit-bookmark", edit_bookmark_cb, "i" },
    { "list-bookmarks", list_bookmarks_cb },
    { "next-bookmark", timeline_cb },
    { "previous-bookmark", timeline_cb },
    { "zoom-fit", timeline_cb },
    { "undo-zoom", timeline_cb },
    { "redo-zoom", timeline_cb },
    { "expand-all", timeline_cb },
    { "collapse-all", timeline_cb },
    { "reset-view", timeline_cb },
    { "unfold-1", timeline_cb },
    { "unfold-2", timeline_cb },
    { "unfold-3", timeline_cb },
    { "unfold-4", timeline_cb },
    { "show-hidden", timeline_cb },
    { "show-details", NULL, NULL, "false", change_details_cb },
    { "show-path", NULL, NULL, "false", change_path_cb },
    { "focus-details", focus_pane_cb },
    { "run-sql", run_sql_cb, "s" },
    { "show-help-overlay", show_help_overlay_cb },
    { "show-legend", show_legend_cb },
  };

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  for_each_pane (self, add_pane_actions, NULL);
  g_signal_connect_object (self->settings, "changed::bottom-page", G_CALLBACK (update_states_cb),
                           self, 0);
  g_signal_connect_object (self->settings, "changed::show-details", G_CALLBACK (update_states_cb),
                           self, 0);
  g_signal_connect_object (self->settings, "changed::show-path", G_CALLBACK (update_states_cb),
                           self, 0);
  update_states_cb (self->settings, NULL, self);
}

/* Files may be dropped anywhere on the window. */
static gboolean
drop_cb (GtkDropTarget *target, const GValue *value, double x, double y, gpointer data)
{
  g_autoptr (GSList) dropped = gdk_file_list_get_files (g_value_get_boxed (value));
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);

  for (GSList *file = dropped; file != NULL; file = file->next)
    g_ptr_array_add (files, g_object_ref (file->data));
  ask_to_open_all (LNS_WINDOW (data), files);
  return files->len > 0;
}

static void
add_drop_target (LnsWindow *self)
{
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  g_signal_connect (target, "drop", G_CALLBACK (drop_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (target));
}

/* --- The object ---------------------------------------------------------------------------- */

LnsWindow *
lns_window_new (GtkApplication *application, GSettings *settings)
{
  /* A new window is like the one that changed last; those that are open stay as they are. */
  static const struct
  {
    const char *key, *property;
  } kept[] = { { "window-width", "default-width" },
               { "window-height", "default-height" },
               { "window-maximized", "maximized" } };
  LnsWindow *self = g_object_new (LNS_TYPE_WINDOW, "application", application, NULL);

  self->settings = g_object_ref (settings);
  add_actions (self);
  for (size_t i = 0; i < G_N_ELEMENTS (kept); i++)
    g_settings_bind (settings, kept[i].key, self, kept[i].property,
                     G_SETTINGS_BIND_GET | G_SETTINGS_BIND_SET | G_SETTINGS_BIND_GET_NO_CHANGES);
  show_page (self, "start");
  gtk_popover_menu_bar_set_menu_model (self->menu_bar, gtk_application_get_menubar (application));
  return self;
}

static gboolean
lns_window_close_request (GtkWindow *window)
{
  LnsWindow *self = LNS_WINDOW (window);

  /* The dialog asks first if it is recording; otherwise it closes. */
  if (self->launch_dialog != NULL)
    gtk_window_close (GTK_WINDOW (self->launch_dialog));
  if (self->launch_dialog != NULL)
    return TRUE;
  return GTK_WINDOW_CLASS (lns_window_parent_class)->close_request (window);
}

static void
lns_window_dispose (GObject *object)
{
  LnsWindow *self = LNS_WINDOW (object);

  cancel_opening (self);
  g_clear_weak_pointer (&self->launch_dialog);
  g_clear_object (&self->settings);
  g_clear_object (&self->file);
  g_clear_object (&self->other);
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
  add_drop_target (self);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/window.h"

#include <glib/gi18n.h>

#include "ui/launch/launch-dialog.h"
#include "ui/model/display-text.h"
#include "ui/model/shortcuts.h"
#include "ui/model/tooltip.h"
#include "ui/shell/legend.h"
#include "ui/shell/problem-count.h"
#include "ui/shell/report-actions.h"
#include "ui/shell/report-chooser.h"
#include "ui/shell/report-tab.h"
#include "ui/shell/search-dialog.h"
#include "ui/shell/several.h"
#include "ui/shell/start-page.h"
#include "ui/shell/subtitle.h"
#include "ui/shell/tab-names.h"

struct _LnsWindow
{
  AdwApplicationWindow parent_instance;

  GSettings *settings;       /* owned                                            */
  LnsReportActions *actions; /* owned; act on tab                                */
  LnsReportTab *tab;         /* that is selected, or NULL on the start page      */
  GSignalGroup *of_tab;      /* owned; signals of tab                            */
  AdwTabPage *menu_page;     /* weak; of the tab whose menu is open, or NULL     */
  GtkWidget *launch_dialog;  /* weak; or NULL                                    */

  GtkPopoverMenuBar *menu_bar;
  GtkWidget *open_button;
  GtkWidget *find_button;
  AdwWindowTitle *title;
  AdwTabBar *tab_bar; /* shows only while there are several */
  GtkStack *stack;    /* pages "start", "tabs" */
  AdwTabView *tab_view;
  GtkWidget *diagnostics_button;
  AdwButtonContent *diagnostics_content;
};

G_DEFINE_FINAL_TYPE (LnsWindow, lns_window, ADW_TYPE_APPLICATION_WINDOW)

/* --- What it shows of the tab that is selected --------------------------------------------- */

/* Names the file, if there is one. */
static void
update_title (LnsWindow *self)
{
  const char *name = self->tab != NULL ? lns_report_tab_get_title (self->tab) : NULL;
  const char *path = self->tab != NULL ? lns_report_tab_get_path (self->tab) : NULL;

  adw_window_title_set_title (self->title, name != NULL ? name : "Lanescope");
  lns_tooltip_set (GTK_WIDGET (self->title), path);
  gtk_window_set_title (GTK_WINDOW (self), name != NULL ? name : "Lanescope");
}

/* Tells of the report, if one is shown. */
static void
update_page (LnsWindow *self)
{
  LnsReportPage *page = self->tab != NULL ? lns_report_tab_get_page (self->tab) : NULL;
  LnsView *view = page != NULL ? lns_report_page_get_parts (page)->view : NULL;

  lns_subtitle_follow (self->title, view);
  lns_problem_count_follow (self->diagnostics_button, self->diagnostics_content, view);
  gtk_widget_set_visible (self->find_button, page != NULL);
}

/* Takes TAB, which may be NULL, for the one that is selected. */
static void
set_tab (LnsWindow *self, LnsReportTab *tab)
{
  self->tab = tab;
  g_signal_group_set_target (self->of_tab, tab);
  lns_report_actions_set_tab (self->actions, tab);
  update_title (self);
  update_page (self);
}

static void
set_enabled (LnsWindow *self, const char *name, gboolean enabled)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), name);

  g_simple_action_set_enabled (G_SIMPLE_ACTION (action), enabled);
}

/* Enables the actions that apply to the tabs there are, and no others. */
static void
update_tab_actions (LnsWindow *self)
{
  const gboolean has_others = adw_tab_view_get_n_pages (self->tab_view) > 1;

  set_enabled (self, "cancel-opening", self->tab != NULL && lns_report_tab_is_opening (self->tab));
  set_enabled (self, "close-other-tabs", has_others);
  set_enabled (self, "move-tab", has_others);
  set_enabled (self, "compare-tab",
               self->menu_page != NULL && !adw_tab_page_get_selected (self->menu_page) &&
                   self->tab != NULL && lns_report_tab_get_page (self->tab) != NULL);
}

static LnsReportTab *
tab_of (AdwTabPage *page)
{
  return LNS_REPORT_TAB (adw_tab_page_get_child (page));
}

/* Another tab was selected, the first one has come, or the last one has gone. */
static void
selected_cb (LnsWindow *self)
{
  AdwTabPage *page = adw_tab_view_get_selected_page (self->tab_view);

  set_tab (self, page != NULL ? tab_of (page) : NULL);
  update_tab_actions (self);
  gtk_stack_set_visible_child_name (self->stack, page != NULL ? "tabs" : "start");
  /* The start page has these buttons itself. */
  gtk_widget_set_visible (self->open_button, page != NULL);
  /* Otherwise the menu bar would get the focus and look as if it were in use. */
  if (page != NULL)
    lns_report_tab_focus (self->tab);
  else
    gtk_widget_child_focus (gtk_stack_get_visible_child (self->stack), GTK_DIR_TAB_FORWARD);
}

/* --- Tabs ---------------------------------------------------------------------------------- */

/* Whether another tab of the window has the same title as PAGE. */
static gboolean
has_twin (LnsWindow *self, AdwTabPage *page)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tab_view); i++)
    {
      AdwTabPage *other = adw_tab_view_get_nth_page (self->tab_view, i);
      if (other != page && g_strcmp0 (lns_report_tab_get_title (tab_of (other)),
                                      lns_report_tab_get_title (tab_of (page))) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Names the tabs by their files, and those whose files are called the same by their folders, too. */
static void
name_tabs (LnsWindow *self)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tab_view); i++)
    {
      AdwTabPage *page = adw_tab_view_get_nth_page (self->tab_view, i);
      GFile *file = lns_report_tab_get_file (tab_of (page));
      g_autoptr (GFile) folder = file != NULL ? g_file_get_parent (file) : NULL;
      const char *title = lns_report_tab_get_title (tab_of (page));
      g_autofree char *place = folder != NULL ? lns_display_file (folder, FALSE) : NULL;
      g_autofree char *both = g_strdup_printf ("%s/%s", place, title);
      if (title != NULL)
        adw_tab_page_set_title (page, place != NULL && has_twin (self, page) ? both : title);
    }
}

static void
attached_cb (AdwTabView *view, AdwTabPage *page, int position, LnsWindow *self)
{
  g_signal_connect_object (tab_of (page), "notify::title", G_CALLBACK (name_tabs), self,
                           G_CONNECT_SWAPPED);
  name_tabs (self);
}

static void
detached_cb (AdwTabView *view, AdwTabPage *page, int position, LnsWindow *self)
{
  g_signal_handlers_disconnect_by_func (tab_of (page), name_tabs, self);
  if (self->menu_page == page)
    g_clear_weak_pointer (&self->menu_page);
  name_tabs (self);
}

/* A tooltip of a tab is markup. */
static gboolean
to_markup (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  const char *text = g_value_get_string (from);

  g_value_take_string (to, text != NULL ? g_markup_escape_text (text, -1) : NULL);
  return TRUE;
}

/* Adds a tab at the end. */
static AdwTabPage *
add_tab (LnsWindow *self)
{
  GtkWidget *tab = lns_report_tab_new (self->settings);
  AdwTabPage *page = adw_tab_view_append (self->tab_view, tab);

  g_object_bind_property_full (tab, "path", page, "tooltip", G_BINDING_SYNC_CREATE, to_markup, NULL,
                               NULL, NULL);
  g_object_bind_property (tab, "is-opening", page, "loading", G_BINDING_SYNC_CREATE);
  return page;
}

/* The tab with FILE, or NULL. */
static AdwTabPage *
find_tab (LnsWindow *self, GFile *file)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tab_view); i++)
    {
      AdwTabPage *page = adw_tab_view_get_nth_page (self->tab_view, i);
      GFile *its = lns_report_tab_get_file (tab_of (page));
      if (its != NULL && g_file_equal (its, file))
        return page;
    }
  return NULL;
}

void
lns_window_open_file (LnsWindow *self, GFile *file)
{
  lns_window_open_pair (self, file, NULL, FALSE);
}

void
lns_window_open_pair (LnsWindow *self, GFile *file, GFile *other, gboolean compares)
{
  AdwTabPage *page = other == NULL ? find_tab (self, file) : NULL;

  if (page != NULL)
    lns_report_tab_renew (tab_of (page));
  else
    {
      page = self->tab != NULL && lns_report_tab_has_failed (self->tab)
                 ? adw_tab_view_get_selected_page (self->tab_view)
                 : add_tab (self);
      lns_report_tab_open (tab_of (page), file, other, compares);
    }
  adw_tab_view_set_selected_page (self->tab_view, page);
}

/* The tab that an action is about: that whose menu is open, or else the one that is selected; NULL on the start page. */
static AdwTabPage *
meant_page (LnsWindow *self)
{
  return self->menu_page != NULL ? self->menu_page
                                 : adw_tab_view_get_selected_page (self->tab_view);
}

static void
setup_menu_cb (AdwTabView *view, AdwTabPage *page, LnsWindow *self)
{
  g_set_weak_pointer (&self->menu_page, page);
  update_tab_actions (self);
}

/* An empty window like this one, for a tab to be moved to. */
static AdwTabView *
create_window_cb (AdwTabView *view, LnsWindow *self)
{
  LnsWindow *window =
      lns_window_new (gtk_window_get_application (GTK_WINDOW (self)), self->settings);

  gtk_window_present (GTK_WINDOW (window));
  return window->tab_view;
}

static void
move_tab_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);
  AdwTabPage *page = meant_page (self);

  adw_tab_view_transfer_page (self->tab_view, page, create_window_cb (self->tab_view, self), 0);
}

static void
compare_tab_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);

  lns_report_tab_compare_with (self->tab, lns_report_tab_get_file (tab_of (self->menu_page)));
}

/* Closes the window with its last tab. */
static void
close_tab_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);

  if (adw_tab_view_get_n_pages (self->tab_view) > 1)
    adw_tab_view_close_page (self->tab_view, meant_page (self));
  else
    gtk_window_close (GTK_WINDOW (self));
}

static void
close_other_tabs_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);

  adw_tab_view_close_other_pages (self->tab_view, meant_page (self));
}

static void
cancel_opening_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);

  adw_tab_view_close_page (self->tab_view, adw_tab_view_get_selected_page (self->tab_view));
}

/* Closes the tab that shows FILE while that grows, or is opening it. Whether there was one. */
static gboolean
close_growing (LnsWindow *self, GFile *file)
{
  AdwTabPage *page = find_tab (self, file);

  if (page == NULL || !lns_report_tab_may_grow (tab_of (page)))
    return FALSE;
  adw_tab_view_close_page (self->tab_view, page);
  return TRUE;
}

/* A report that was growing is dropped: no window shows it any longer. A window that had nothing else closes, but not this one. */
static void
drop_uri_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsWindow *self = LNS_WINDOW (data);
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));
  g_autoptr (GList) windows =
      g_list_copy (gtk_application_get_windows (gtk_window_get_application (GTK_WINDOW (self))));

  for (GList *window = windows; window != NULL; window = window->next)
    if (LNS_IS_WINDOW (window->data) && close_growing (window->data, file) &&
        window->data != self && LNS_WINDOW (window->data)->tab == NULL)
      gtk_window_close (window->data);
}

/* --- Opening ------------------------------------------------------------------------------- */

/* Has the application open FILES, of GFile, as HOW says, in this window. */
static void
ask_to_open (LnsSeveral how, GPtrArray *files, gpointer data)
{
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (data));
  const guint id = gtk_application_window_get_id (GTK_APPLICATION_WINDOW (data));
  g_autofree char *hint = lns_several_hint (how, id);

  g_application_open (G_APPLICATION (application), (GFile **)files->pdata, (int)files->len, hint);
}

/* Has FILES, of GFile, opened; asks how, if there are several. */
static void
ask_to_open_all (GPtrArray *files, gpointer window)
{
  if (files->len == 1)
    ask_to_open (LNS_SEVERAL_SEPARATE, files, window);
  else if (files->len > 1)
    lns_several_ask (GTK_WINDOW (window), files, ask_to_open, window);
}

static void
open_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lns_report_chooser_show (GTK_WINDOW (data), _ ("Open Reports"), TRUE, ask_to_open_all);
}

static void
open_uri_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);

  g_ptr_array_add (files, g_file_new_for_uri (g_variant_get_string (parameter, NULL)));
  ask_to_open_all (files, data);
}

/* Files may be dropped anywhere on the window. */
static gboolean
drop_cb (GtkDropTarget *target, const GValue *value, double x, double y, gpointer data)
{
  g_autoptr (GSList) dropped = gdk_file_list_get_files (g_value_get_boxed (value));
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);

  for (GSList *file = dropped; file != NULL; file = file->next)
    g_ptr_array_add (files, g_object_ref (file->data));
  ask_to_open_all (files, data);
  return files->len > 0;
}

static void
add_drop_target (LnsWindow *self)
{
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  g_signal_connect (target, "drop", G_CALLBACK (drop_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (target));
}

/* --- Other actions ------------------------------------------------------------------------- */

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
close_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_window_close (GTK_WINDOW (data));
}

static void
search_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LnsReportTab *tab = LNS_WINDOW (data)->tab;

  gtk_window_present (GTK_WINDOW (lns_search_dialog_new (
      GTK_WINDOW (data), tab != NULL ? lns_report_tab_get_page (tab) : NULL)));
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
add_actions (LnsWindow *self)
{
  static const GActionEntry entries[] = {
    { "open", open_cb },
    { "open-uri", open_uri_cb, "s" },
    { "drop-uri", drop_uri_cb, "s" },
    { "cancel-opening", cancel_opening_cb },
    { "launch", launch_cb },
    { "move-tab", move_tab_cb },
    { "compare-tab", compare_tab_cb },
    { "close-tab", close_tab_cb },
    { "close-other-tabs", close_other_tabs_cb },
    { "close", close_cb },
    { "search", search_cb },
    { "show-help-overlay", show_help_overlay_cb },
    { "show-legend", show_legend_cb },
  };

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  self->actions = lns_report_actions_new (ADW_APPLICATION_WINDOW (self), self->settings);
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
  g_signal_connect_swapped (self->tab_view, "notify::selected-page", G_CALLBACK (selected_cb),
                            self);
  g_signal_connect_swapped (self->tab_view, "notify::n-pages", G_CALLBACK (update_tab_actions),
                            self);
  g_signal_connect (self->tab_view, "page-attached", G_CALLBACK (attached_cb), self);
  g_signal_connect (self->tab_view, "page-detached", G_CALLBACK (detached_cb), self);
  g_signal_connect (self->tab_view, "setup-menu", G_CALLBACK (setup_menu_cb), self);
  g_signal_connect (self->tab_view, "create-window", G_CALLBACK (create_window_cb), self);
  selected_cb (self);
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

  if (self->of_tab != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->tab_view, self);
      set_tab (self, NULL);
    }
  g_clear_weak_pointer (&self->menu_page);
  g_clear_weak_pointer (&self->launch_dialog);
  g_clear_object (&self->of_tab);
  g_clear_object (&self->settings);
  G_OBJECT_CLASS (lns_window_parent_class)->dispose (object);
}

static void
lns_window_finalize (GObject *object)
{
  lns_report_actions_free (LNS_WINDOW (object)->actions);
  G_OBJECT_CLASS (lns_window_parent_class)->finalize (object);
}

static void
lns_window_class_init (LnsWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_window_dispose;
  G_OBJECT_CLASS (klass)->finalize = lns_window_finalize;
  GTK_WINDOW_CLASS (klass)->close_request = lns_window_close_request;

  g_type_ensure (LNS_TYPE_START_PAGE);
  lns_tab_names_prepare ();
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/window.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, menu_bar);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, open_button);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, find_button);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, title);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, tab_bar);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, tab_view);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, diagnostics_button);
  gtk_widget_class_bind_template_child (widget_class, LnsWindow, diagnostics_content);
}

static void
lns_window_init (LnsWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  add_drop_target (self);
  lns_tab_names_follow (self->tab_bar);
  self->of_tab = g_signal_group_new (LNS_TYPE_REPORT_TAB);
  g_signal_group_connect_swapped (self->of_tab, "notify::title", G_CALLBACK (update_title), self);
  g_signal_group_connect_swapped (self->of_tab, "notify::page", G_CALLBACK (update_page), self);
  g_signal_group_connect_swapped (self->of_tab, "notify::is-opening",
                                  G_CALLBACK (update_tab_actions), self);
}

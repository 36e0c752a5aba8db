/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/application.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lns-config.h"
#include "ui/launch/launch-folder.h"
#include "ui/shell/panes.h"
#include "ui/shell/recents.h"
#include "ui/model/shortcuts.h"
#include "ui/shell/several.h"
#include "ui/shell/window.h"

struct _LnsApplication
{
  AdwApplication parent_instance;

  GSettings *settings; /* owned */
};

G_DEFINE_FINAL_TYPE (LnsApplication, lns_application, ADW_TYPE_APPLICATION)

LnsApplication *
lns_application_new (void)
{
  return g_object_new (LNS_TYPE_APPLICATION, "application-id", LNS_APP_ID, "flags",
                       G_APPLICATION_HANDLES_OPEN, "resource-base-path",
                       "/io/github/lanescope/Lanescope", NULL);
}

/* Closes each window as its close button would, because a window with a recording asks first. Dialogs are closed with
 * their windows, so the list changes meanwhile. */
static void
quit_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GList *windows = g_list_copy (gtk_application_get_windows (GTK_APPLICATION (data)));

  g_list_foreach (windows, (GFunc)(void (*) (void))g_object_ref, NULL);
  for (GList *window = windows; window != NULL; window = window->next)
    if (LNS_IS_WINDOW (window->data))
      gtk_window_close (window->data);
  g_list_free_full (windows, g_object_unref);
}

static void
about_cb (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  adw_show_about_window (gtk_application_get_active_window (GTK_APPLICATION (data)),
                         "application-name", "Lanescope", "application-icon", LNS_APP_ID, "version",
                         LNS_VERSION, "developer-name", _ ("The Lanescope authors"), "comments",
                         _ ("Shows what the threads and GPUs of a program did, and when."),
                         "license-type", GTK_LICENSE_APACHE_2_0, NULL);
}

/* Follows the "theme" setting, which the menu's radio items write. */
static void
apply_theme_cb (GSettings *settings, const char *key, gpointer data)
{
  static const AdwColorScheme schemes[] = { ADW_COLOR_SCHEME_DEFAULT, ADW_COLOR_SCHEME_FORCE_LIGHT,
                                            ADW_COLOR_SCHEME_FORCE_DARK };
  g_autofree char *theme = g_settings_get_string (settings, "theme");
  int index = strcmp (theme, "light") == 0 ? 1 : strcmp (theme, "dark") == 0 ? 2 : 0;

  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), schemes[index]);
}

/* The schema is looked up where it is installed, then in the build tree, so that the viewer runs before it is installed. */
static GSettings *
new_settings (void)
{
  GSettingsSchemaSource *installed = g_settings_schema_source_get_default ();
  g_autoptr (GSettingsSchema) schema = NULL;

  if (installed != NULL)
    schema = g_settings_schema_source_lookup (installed, LNS_APP_ID, TRUE);
  if (schema == NULL)
    {
      g_autoptr (GSettingsSchemaSource) built =
          g_settings_schema_source_new_from_directory (LNS_BUILDDIR "/data", installed, TRUE, NULL);
      if (built != NULL)
        schema = g_settings_schema_source_lookup (built, LNS_APP_ID, TRUE);
    }
  if (schema == NULL)
    g_error ("The settings schema %s is not installed: run `meson install` again", LNS_APP_ID);
  return g_settings_new_full (schema, NULL, NULL);
}

/* Has programs launched in PATH, which may be NULL, unless no shell can have started the viewer there. */
static void
take_folder (const char *path)
{
  if (path != NULL && strcmp (path, "/") != 0)
    lns_launch_folder_set (path);
}

/* Takes the folder of this process, unless a desktop started it. */
static void
take_own_folder (void)
{
  const char *launched = g_getenv ("GIO_LAUNCHED_DESKTOP_FILE_PID");
  /* Not g_get_current_dir (), which looks at $PWD and waits for its disk. */
  char *path = getcwd (NULL, 0);

  if (launched == NULL || atoi (launched) != getpid ())
    take_folder (path);
  free (path);
}

/* Another process of the viewer has this one show its window, and ends. */
static void
lns_application_before_emit (GApplication *application, GVariant *platform_data)
{
  const char *folder = NULL;

  g_variant_lookup (platform_data, "cwd", "^&ay", &folder);
  take_folder (folder);
  G_APPLICATION_CLASS (lns_application_parent_class)->before_emit (application, platform_data);
}

static void
lns_application_startup (GApplication *application)
{
  static const GActionEntry entries[] = { { "quit", quit_cb }, { "about", about_cb } };
  LnsApplication *self = LNS_APPLICATION (application);

  if (!gtk_init_check ())
    {
      g_printerr ("lanescope: error: %s\n",
                  _ ("cannot open a display; set DISPLAY or WAYLAND_DISPLAY, or use `lanescope "
                     "info` and `lanescope stats`"));
      exit (125);
    }
  G_APPLICATION_CLASS (lns_application_parent_class)->startup (application);
  g_set_application_name ("Lanescope");
  gtk_window_set_default_icon_name (LNS_APP_ID);

  take_own_folder ();
  self->settings = new_settings ();
  g_signal_connect_object (self->settings, "changed::theme", G_CALLBACK (apply_theme_cb), self, 0);
  apply_theme_cb (self->settings, "theme", self);

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  g_autoptr (GAction) theme = g_settings_create_action (self->settings, "theme");
  g_action_map_add_action (G_ACTION_MAP (self), theme);
  g_autoptr (GAction) colors = g_settings_create_action (self->settings, "timeline-colors");
  g_action_map_add_action (G_ACTION_MAP (self), colors);
  lns_shortcuts_add_to_application (GTK_APPLICATION (self));

  g_autoptr (GtkBuilder) builder =
      gtk_builder_new_from_resource ("/io/github/lanescope/Lanescope/menu.ui");
  lns_recents_fill_menu (G_MENU (gtk_builder_get_object (builder, "open-section")));
  lns_panes_fill_menu (G_MENU (gtk_builder_get_object (builder, "panes-section")));
  gtk_application_set_menubar (GTK_APPLICATION (self),
                               G_MENU_MODEL (gtk_builder_get_object (builder, "menu-bar")));
}

static void
lns_application_activate (GApplication *application)
{
  LnsApplication *self = LNS_APPLICATION (application);
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (self));

  if (window == NULL)
    window = GTK_WINDOW (lns_window_new (GTK_APPLICATION (self), self->settings));
  gtk_window_present (window);
}

/* Opens each file in a tab of its own, or the first two in one, as HINT says (shell/several.h): in the window that HINT names, or else in
 * the active one, or in a new one. */
static void
lns_application_open (GApplication *application, GFile **files, int n_files, const char *hint)
{
  GtkApplication *self = GTK_APPLICATION (application);
  guint id;
  const LnsSeveral how = lns_several_of_hint (hint, &id);
  GtkWindow *named = id != 0 ? gtk_application_get_window_by_id (self, id)
                             : gtk_application_get_active_window (self);
  LnsWindow *window = LNS_IS_WINDOW (named)
                          ? LNS_WINDOW (named)
                          : lns_window_new (self, LNS_APPLICATION (application)->settings);
  const gboolean is_pair = how != LNS_SEVERAL_SEPARATE && n_files == 2;

  for (int i = 0; i < (is_pair ? 1 : n_files); i++)
    lns_window_open_pair (window, files[i], is_pair ? files[1] : NULL, how == LNS_SEVERAL_COMPARE);
  gtk_window_present (GTK_WINDOW (window));
}

/* Opens the two reports that follow "--compare" in ARGUMENTS in one window. Whether there is that switch. */
static gboolean
lns_application_local_command_line (GApplication *application, char ***arguments, int *status)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);
  g_autofree char *hint = lns_several_hint (LNS_SEVERAL_COMPARE, 0);
  g_autoptr (GError) error = NULL;

  if (!g_strv_contains ((const char *const *)*arguments, "--compare"))
    return G_APPLICATION_CLASS (lns_application_parent_class)
        ->local_command_line (application, arguments, status);
  for (char **argument = *arguments + 1; *argument != NULL; argument++)
    if (strcmp (*argument, "--compare") != 0)
      g_ptr_array_add (files, g_file_new_for_commandline_arg (*argument));
  *status = 125;
  if (files->len != 2)
    g_printerr ("lanescope: error: %s\n",
                _ ("--compare takes two reports; usage: lanescope-ui --compare A B"));
  else if (!g_application_register (application, NULL, &error))
    g_printerr ("lanescope: error: %s\n", error->message);
  else
    {
      g_application_open (application, (GFile **)files->pdata, 2, hint);
      *status = 0;
    }
  return TRUE;
}

static void
lns_application_finalize (GObject *object)
{
  g_clear_object (&LNS_APPLICATION (object)->settings);
  G_OBJECT_CLASS (lns_application_parent_class)->finalize (object);
}

static void
lns_application_class_init (LnsApplicationClass *klass)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = lns_application_finalize;
  application_class->startup = lns_application_startup;
  application_class->activate = lns_application_activate;
  application_class->open = lns_application_open;
  application_class->local_command_line = lns_application_local_command_line;
  application_class->before_emit = lns_application_before_emit;
}

static void
lns_application_init (LnsApplication *self)
{
}

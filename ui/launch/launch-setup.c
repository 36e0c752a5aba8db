/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-setup.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ui/launch/capabilities.h"
#include "ui/launch/launch-command.h"
#include "ui/launch/launch-presets.h"
#include "ui/launch/launch-switches.h"
#include "ui/launch/launch-variables.h"
#include "ui/launch/machine.h"
#include "ui/launch/recent-commands.h"
#include "ui/launch/recorder.h"
#include "ui/model/context-menu.h"
#include "ui/model/display-text.h"

/* How long nothing changes before the tool is asked where the report goes. */
#define ASK_PATH_MS 150

struct _LnsLaunchSetup
{
  AdwBin parent_instance;

  GFile *folder; /* owned; the program's working directory, or NULL while what is typed is none */
  GFile *first_folder;           /* owned; what is typed may be relative to it */
  LnsLaunchLine *line;           /* owned; NULL while the command line cannot be split */
  LnsLaunchVariables *variables; /* owned */
  LnsLaunchSwitches *switches;   /* owned; NULL until capabilities are known */
  LnsLaunchPresets *presets;     /* owned; so */
  LnsCapabilities *capabilities; /* owned; NULL until the recorder has answered */
  LnsMachine *machine;           /* owned; so */
  GCancellable *asking;          /* owned; cancels questions */
  guint ask_path_source;         /* asks soon for the path of the report; 0: it does not */
  GSubprocess *path_asked;       /* owned; is asked for it; NULL: nobody is */
  gboolean is_complete;
  gboolean is_setting;        /* the text changes, and is not whole yet */
  gboolean is_showing_preset; /* what changes in the list of presets does so by the line */

  GtkTextView *command;
  GtkMenuButton *recents_button;
  LnsRecentCommands *recents;
  AdwComboRow *preset_row;
  GtkEditable *folder_row;
  AdwActionRow *report_row;
  AdwActionRow *terminal_row;
  GtkLabel *command_error;
  GtkLabel *remark;
  AdwPreferencesGroup *trace_group;
  AdwPreferencesGroup *switches_group;
  AdwPreferencesGroup *environment_group;
  AdwPreferencesGroup *machine_group;
  AdwExpanderRow *machine_row;
};

G_DEFINE_FINAL_TYPE (LnsLaunchSetup, lns_launch_setup, ADW_TYPE_BIN)

static guint changed_signal, activated_signal;

static void validate (LnsLaunchSetup *self);

static void
set_error_style (GtkWidget *widget, gboolean error)
{
  if (error)
    gtk_widget_add_css_class (widget, "error");
  else
    gtk_widget_remove_css_class (widget, "error");
}

const char *const *
lns_launch_setup_get_flags (LnsLaunchSetup *self)
{
  return self->capabilities != NULL ? (const char *const *)self->capabilities->flags : NULL;
}

gboolean
lns_launch_setup_is_complete (LnsLaunchSetup *self)
{
  return self->is_complete;
}

GFile *
lns_launch_setup_get_folder (LnsLaunchSetup *self)
{
  return self->folder;
}

/* --- The command line ---------------------------------------------------------------------- */

char *
lns_launch_setup_get_text (LnsLaunchSetup *self)
{
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (gtk_text_view_get_buffer (self->command), &start, &end);
  return gtk_text_buffer_get_text (gtk_text_view_get_buffer (self->command), &start, &end, FALSE);
}

/* Makes TEXT the command line, by one change that can be undone. What stays is not touched: the cursor is where it was. */
static void
set_text (LnsLaunchSetup *self, const char *text)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->command);
  g_autofree char *before = lns_launch_setup_get_text (self);
  const glong n_before = g_utf8_strlen (before, -1), n_text = g_utf8_strlen (text, -1);
  glong n_same = 0, n_end = 0;
  const char *a = before, *b = text, *a_end = before + strlen (before),
             *b_end = text + strlen (text);
  GtkTextIter start, end;

  if (strcmp (before, text) == 0)
    return;
  for (; *a != '\0' && g_utf8_get_char (a) == g_utf8_get_char (b); n_same++)
    {
      a = g_utf8_next_char (a);
      b = g_utf8_next_char (b);
    }
  while (a_end > a && b_end > b &&
         g_utf8_get_char (g_utf8_prev_char (a_end)) == g_utf8_get_char (g_utf8_prev_char (b_end)))
    {
      a_end = g_utf8_prev_char (a_end);
      b_end = g_utf8_prev_char (b_end);
      n_end++;
    }
  self->is_setting = TRUE;
  gtk_text_buffer_begin_user_action (buffer);
  gtk_text_buffer_get_iter_at_offset (buffer, &start, (int)n_same);
  gtk_text_buffer_get_iter_at_offset (buffer, &end, (int)(n_before - n_end));
  gtk_text_buffer_delete (buffer, &start, &end);
  if (n_text - n_end > n_same)
    gtk_text_buffer_insert (buffer, &start, b, (int)(b_end - b));
  gtk_text_buffer_end_user_action (buffer);
  self->is_setting = FALSE;
}

/* Makes TEXT, which is taken over, the command line, for a control. */
static void
take_text (LnsLaunchSetup *self, char *text)
{
  set_text (self, text);
  validate (self);
  g_free (text);
}

static void
switch_changed_cb (gpointer owner, const LnsSwitch *option, const char *value)
{
  LnsLaunchSetup *self = owner;

  if (self->line != NULL)
    take_text (self, lns_launch_line_set_switch (self->line, option->letter, option->name, value));
}

static void
variables_changed_cb (gpointer owner, const char *const *settings)
{
  LnsLaunchSetup *self = owner;

  if (self->line != NULL)
    take_text (self, lns_launch_line_set_settings (self->line, settings));
}

/* --- Where the report goes ----------------------------------------------------------------- */

/* Shows the path of the report, or PROBLEM, for which there would be none; both NULL: it is not known. */
static void
show_path (LnsLaunchSetup *self, GFile *path, const char *problem)
{
  g_autofree char *name = path != NULL ? lns_display_file (path, TRUE) : g_strdup (problem);

  adw_action_row_set_subtitle (self->report_row, name != NULL ? name : _ ("Not known yet"));
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->report_row), name);
  set_error_style (GTK_WIDGET (self->report_row), problem != NULL);
}

/* Shows what the recorder would leave out, and what the dialog does. */
static void
show_remark (LnsLaunchSetup *self, const char *words)
{
  g_autofree char *remarks = lns_launch_recorder_find_remarks (words);
  const gboolean has_sudo = self->line != NULL && self->line->has_sudo;
  g_autofree char *text = g_strconcat (
      has_sudo ? _ ("Without sudo: the program is recorded as the user who runs this window.") : "",
      has_sudo && *remarks != '\0' ? "\n" : "", remarks, NULL);

  gtk_label_set_text (self->remark, text);
  gtk_widget_set_visible (GTK_WIDGET (self->remark), *text != '\0');
}

static void
path_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsLaunchSetup) self = data;
  g_autoptr (GBytes) path = NULL, words = NULL;
  gsize n_path = 0, n_words = 0;

  if (!g_subprocess_communicate_finish (G_SUBPROCESS (source), result, &path, &words, NULL) ||
      self->path_asked != G_SUBPROCESS (source))
    return;
  const char *path_bytes = g_bytes_get_data (path, &n_path);
  const char *words_bytes = g_bytes_get_data (words, &n_words);
  g_clear_object (&self->path_asked);
  g_autofree char *name = g_strndup (n_path > 0 ? path_bytes : "", n_path);
  g_autofree char *said = g_utf8_make_valid (n_words > 0 ? words_bytes : "", (gssize)n_words);
  g_autofree char *problem = lns_launch_recorder_find_refusal (g_strchomp (said));
  g_autoptr (GFile) file = *name != '\0' ? g_file_new_for_path (name) : NULL;
  show_path (self, file, file == NULL ? problem : NULL);
  show_remark (self, said);
}

/* Nobody waits for the answer any more. */
static void
forget_path (LnsLaunchSetup *self)
{
  g_clear_handle_id (&self->ask_path_source, g_source_remove);
  if (self->path_asked != NULL)
    g_subprocess_force_exit (self->path_asked);
  g_clear_object (&self->path_asked);
}

/* Asks the tool, which looks which names are taken. It need not answer: a mount may not. */
static gboolean
ask_path_cb (gpointer data)
{
  LnsLaunchSetup *self = data;
  g_autofree char *tool = lns_launch_recorder_find_tool ();
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();

  self->ask_path_source = 0;
  if (tool == NULL)
    return G_SOURCE_REMOVE;
  g_strv_builder_add_many (words, tool, "name-report", g_file_peek_path (self->folder), NULL);
  g_strv_builder_addv (words, (const char **)lns_launch_line_get_arguments (self->line));
  g_auto (GStrv) arguments = g_strv_builder_end (words);
  self->path_asked =
      g_subprocess_newv ((const char *const *)arguments,
                         G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, NULL);
  if (self->path_asked != NULL)
    g_subprocess_communicate_async (self->path_asked, NULL, self->asking, path_cb,
                                    g_object_ref (self));
  return G_SOURCE_REMOVE;
}

/* Something has changed that the path may depend on. */
static void
ask_path_soon (LnsLaunchSetup *self)
{
  forget_path (self);
  show_path (self, NULL, NULL);
  show_remark (self, "");
  if (self->is_complete)
    self->ask_path_source = g_timeout_add (ASK_PATH_MS, ask_path_cb, self);
}

/* --- What the line says -------------------------------------------------------------------- */

/* Shows the preset that the line has. The item behind the presets says that it is none of them. */
static void
show_preset (LnsLaunchSetup *self)
{
  gtk_widget_set_sensitive (GTK_WIDGET (self->preset_row), self->line != NULL);
  if (self->presets == NULL || self->line == NULL)
    return;
  self->is_showing_preset = TRUE;
  adw_combo_row_set_selected (self->preset_row,
                              lns_launch_presets_find (self->presets, self->line));
  self->is_showing_preset = FALSE;
}

static char *
terminal_command (LnsLaunchSetup *self)
{
  return self->is_complete
             ? lns_launch_line_write_command (self->line, g_file_peek_path (self->folder))
             : NULL;
}

static void
show_terminal (LnsLaunchSetup *self)
{
  g_autofree char *command = terminal_command (self);

  gtk_widget_set_visible (GTK_WIDGET (self->terminal_row), command != NULL);
  adw_action_row_set_subtitle (self->terminal_row, command != NULL ? command : "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->terminal_row), command);
}

/* Shows what is wrong with the line. Returns FALSE if something is. */
static gboolean
check_line (LnsLaunchSetup *self, const char *problem)
{
  const gboolean is_empty = self->line != NULL && self->line->words[0] == NULL;
  const gboolean has_program = self->line != NULL && self->line->words[self->line->program] != NULL;

  if (problem == NULL && !has_program)
    problem = _ ("The command line has only switches; add the program to launch");
  gtk_label_set_text (self->command_error, problem != NULL ? problem : "");
  gtk_widget_set_visible (GTK_WIDGET (self->command_error), problem != NULL && !is_empty);
  return has_program;
}

/* Reads the command line again, has the controls show what it says, and tells whether all is well. */
static void
validate (LnsLaunchSetup *self)
{
  g_autofree char *text = lns_launch_setup_get_text (self);
  g_autoptr (GError) error = NULL;

  lns_launch_line_free (self->line);
  self->line = lns_launch_line_parse (text, lns_launch_setup_get_flags (self), &error);
  gboolean ok = check_line (self, error != NULL ? error->message : NULL);
  ok = lns_launch_variables_show (self->variables, self->line) && ok;
  const gboolean has_folder = self->folder != NULL && g_file_peek_path (self->folder) != NULL;
  set_error_style (GTK_WIDGET (self->folder_row), !has_folder);
  self->is_complete = ok && has_folder;
  if (self->switches != NULL)
    lns_launch_switches_show (self->switches, self->line);
  show_preset (self);
  show_terminal (self);
  ask_path_soon (self);
  g_signal_emit (self, changed_signal, 0);
}

/* --- What a person does -------------------------------------------------------------------- */

static void
text_changed_cb (LnsLaunchSetup *self)
{
  if (!self->is_setting)
    validate (self);
}

static void
set_folder (LnsLaunchSetup *self, GFile *folder)
{
  g_autofree char *name = lns_display_file (folder, TRUE);

  g_set_object (&self->folder, folder);
  gtk_editable_set_text (self->folder_row, name);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->folder_row), name);
}

/* A command for a shell was pasted: the folder that it goes to is that of the row below. */
static void
pasted_cb (LnsLaunchSetup *self)
{
  g_autofree char *text = lns_launch_setup_get_text (self);
  const char *rest;
  g_autofree char *path = lns_launch_line_find_folder (text, &rest);

  if (path == NULL)
    return;
  g_autoptr (GFile) folder = g_file_resolve_relative_path (self->first_folder, path);
  set_folder (self, folder);
  take_text (self, g_strdup (rest));
}

static void
preset_chosen_cb (LnsLaunchSetup *self)
{
  const guint chosen = adw_combo_row_get_selected (self->preset_row);

  if (self->is_showing_preset || self->presets == NULL || self->line == NULL)
    return;
  if (lns_launch_presets_get_titles (self->presets)[chosen] != NULL)
    take_text (self, lns_launch_presets_apply (self->presets, chosen, self->line));
  show_preset (self);
}

/* Return launches, as in an entry; with Shift it parts the line. */
static gboolean
key_cb (
    GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state, LnsLaunchSetup *self)
{
  const gboolean is_return =
      key == GDK_KEY_Return || key == GDK_KEY_KP_Enter || key == GDK_KEY_ISO_Enter;

  if (!is_return || (state & GDK_SHIFT_MASK) != 0)
    return GDK_EVENT_PROPAGATE;
  g_signal_emit (self, activated_signal, 0);
  return GDK_EVENT_STOP;
}

static void
activated_cb (LnsLaunchSetup *self)
{
  g_signal_emit (self, activated_signal, 0);
}

static void
recent_chosen_cb (LnsRecentCommands *recents, const char *line, GFile *folder, LnsLaunchSetup *self)
{
  if (folder != NULL)
    set_folder (self, folder);
  take_text (self, g_strdup (line));
  gtk_widget_grab_focus (GTK_WIDGET (self->command));
}

void
lns_launch_setup_remember (LnsLaunchSetup *self)
{
  g_autofree char *text = lns_launch_setup_get_text (self);

  lns_recent_commands_add (self->recents, text, self->folder);
}

/* Takes what is typed. A name that is shown need not be what its bytes are, so one that nobody has changed stands for the
 * folder that it was made of. */
static void
folder_typed_cb (LnsLaunchSetup *self)
{
  const char *text = gtk_editable_get_text (self->folder_row);
  g_autofree char *shown = self->folder != NULL ? lns_display_file (self->folder, TRUE) : NULL;

  if (g_strcmp0 (shown, text) != 0)
    {
      g_clear_object (&self->folder);
      if (*text == '~' || g_path_is_absolute (text) || g_uri_peek_scheme (text) != NULL)
        self->folder = g_file_parse_name (text);
      else if (*text != '\0')
        self->folder = g_file_resolve_relative_path (self->first_folder, text);
      gtk_widget_set_tooltip_text (GTK_WIDGET (self->folder_row), text);
    }
  validate (self);
}

static void
folder_chosen_cb (GtkNativeDialog *dialog, int response, LnsLaunchSetup *self)
{
  g_autoptr (GFile) folder = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    folder = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  if (folder != NULL)
    set_folder (self, folder);
  g_object_unref (dialog);
}

static void
choose_folder (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchSetup *self = LNS_LAUNCH_SETUP (widget);
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      _ ("Working Directory"), GTK_WINDOW (gtk_widget_get_root (widget)),
      GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, _ ("_Choose"), _ ("_Cancel"));

  if (self->folder != NULL)
    gtk_file_chooser_set_file (GTK_FILE_CHOOSER (dialog), self->folder, NULL);
  g_signal_connect_object (dialog, "response", G_CALLBACK (folder_chosen_cb), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

/* Inserts the path at the cursor, quoted; its bytes need not be UTF-8. */
static void
path_chosen_cb (GtkNativeDialog *dialog, int response, LnsLaunchSetup *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->command);
  g_autoptr (GFile) file = NULL;
  GtkTextIter cursor;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  gtk_text_buffer_get_iter_at_mark (buffer, &cursor, gtk_text_buffer_get_insert (buffer));
  if (file != NULL && g_file_peek_path (file) != NULL)
    {
      g_autofree char *path = lns_launch_command_quote (g_file_peek_path (file));
      g_autofree char *word =
          g_strconcat (gtk_text_iter_is_start (&cursor) ? "" : " ", path, " ", NULL);
      gtk_text_buffer_insert (buffer, &cursor, word, -1);
    }
  g_object_unref (dialog);
}

static void
insert_path (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchSetup *self = LNS_LAUNCH_SETUP (widget);
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Insert a Path"), GTK_WINDOW (gtk_widget_get_root (widget)),
                                   GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Choose"), _ ("_Cancel"));

  if (self->folder != NULL)
    gtk_file_chooser_set_current_folder (GTK_FILE_CHOOSER (dialog), self->folder, NULL);
  g_signal_connect_object (dialog, "response", G_CALLBACK (path_chosen_cb), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
copy_command (GtkWidget *widget, const char *action, GVariant *parameter)
{
  g_autofree char *command = terminal_command (LNS_LAUNCH_SETUP (widget));

  if (command != NULL)
    gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), command);
}

static void
add_variable (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_launch_variables_add (LNS_LAUNCH_SETUP (widget)->variables);
}

/* --- What the recorder says of itself ------------------------------------------------------ */

/* Makes the list of presets, anew once it is known what the machine can record. */
static void
fill_presets (LnsLaunchSetup *self)
{
  if (self->capabilities == NULL)
    return;
  lns_launch_presets_free (self->presets);
  self->presets = lns_launch_presets_new (self->capabilities, self->machine);
  g_autoptr (GtkStringList) model =
      gtk_string_list_new (lns_launch_presets_get_titles (self->presets));
  gtk_string_list_append (model, C_ ("preset", "Custom"));
  self->is_showing_preset = TRUE;
  adw_combo_row_set_model (self->preset_row, G_LIST_MODEL (model));
  self->is_showing_preset = FALSE;
  gtk_widget_set_visible (GTK_WIDGET (self->preset_row), TRUE);
  show_preset (self);
  if (self->machine != NULL)
    lns_launch_switches_show_machine (self->switches, self->machine);
}

/* The tool's answer, or NULL: there is none, or nobody waits for it any more. */
static char *
answer (LnsLaunchSetup *self, GObject *source, GAsyncResult *result)
{
  char *text = NULL;

  g_subprocess_communicate_utf8_finish (G_SUBPROCESS (source), result, &text, NULL, NULL);
  if (text != NULL && g_cancellable_is_cancelled (self->asking))
    g_clear_pointer (&text, g_free);
  return text;
}

static void
capabilities_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsLaunchSetup) self = data;
  g_autofree char *text = answer (self, source, result);

  if (text != NULL)
    self->capabilities = lns_capabilities_parse (text);
  if (self->capabilities == NULL)
    return;
  self->switches = lns_launch_switches_new (self->trace_group, self->switches_group,
                                            self->capabilities, switch_changed_cb, self);
  fill_presets (self);
  validate (self);
}

static void
machine_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsLaunchSetup) self = data;
  g_autofree char *text = answer (self, source, result);

  if (text != NULL)
    self->machine = lns_machine_parse (text);
  if (self->machine == NULL)
    return;
  lns_machine_show (self->machine, self->machine_row);
  gtk_widget_set_visible (GTK_WIDGET (self->machine_group), TRUE);
  fill_presets (self);
}

/* Asks the tool, with WORDS. Without an answer its own defaults hold, and a start will tell what is wrong with it. */
static void
ask_tool (LnsLaunchSetup *self, const char *const *words, GAsyncReadyCallback answered)
{
  g_autofree char *tool = lns_launch_recorder_find_tool ();
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr (GSubprocess) process = NULL;

  if (tool == NULL)
    return;
  g_strv_builder_add (builder, tool);
  g_strv_builder_addv (builder, (const char **)words);
  g_auto (GStrv) arguments = g_strv_builder_end (builder);
  process =
      g_subprocess_newv ((const char *const *)arguments,
                         G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL);
  if (process != NULL)
    g_subprocess_communicate_utf8_async (process, NULL, self->asking, answered,
                                         g_object_ref (self));
}

/* --- Life ---------------------------------------------------------------------------------- */

void
lns_launch_setup_begin (LnsLaunchSetup *self, const char *line, GFile *folder)
{
  static const char *const capabilities[] = { "--capabilities=json", NULL };
  static const char *const machine[] = { "status", "-e", "-f", "json", NULL };

  g_set_object (&self->first_folder, folder);
  set_folder (self, folder);
  take_text (self, g_strdup (line));
  ask_tool (self, capabilities, capabilities_cb);
  ask_tool (self, machine, machine_cb);
}

void
lns_launch_setup_show (LnsLaunchSetup *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->command);
  GtkTextIter start, end;

  ask_path_soon (self);
  gtk_widget_set_can_focus (GTK_WIDGET (self), TRUE);
  gtk_widget_grab_focus (GTK_WIDGET (self->command));
  gtk_text_buffer_get_bounds (buffer, &start, &end);
  gtk_text_buffer_select_range (buffer, &end, &start);
}

static void
lns_launch_setup_dispose (GObject *object)
{
  LnsLaunchSetup *self = LNS_LAUNCH_SETUP (object);

  g_cancellable_cancel (self->asking);
  forget_path (self);
  g_clear_object (&self->folder);
  g_clear_object (&self->first_folder);
  g_clear_object (&self->asking);
  G_OBJECT_CLASS (lns_launch_setup_parent_class)->dispose (object);
}

static void
lns_launch_setup_finalize (GObject *object)
{
  LnsLaunchSetup *self = LNS_LAUNCH_SETUP (object);

  lns_launch_line_free (self->line);
  lns_launch_variables_free (self->variables);
  lns_launch_presets_free (self->presets);
  g_clear_pointer (&self->switches, lns_launch_switches_free);
  g_clear_pointer (&self->capabilities, lns_capabilities_free);
  g_clear_pointer (&self->machine, lns_machine_free);
  G_OBJECT_CLASS (lns_launch_setup_parent_class)->finalize (object);
}

static void
lns_launch_setup_class_init (LnsLaunchSetupClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_launch_setup_dispose;
  G_OBJECT_CLASS (klass)->finalize = lns_launch_setup_finalize;
  changed_signal = g_signal_new ("changed", LNS_TYPE_LAUNCH_SETUP, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
  activated_signal = g_signal_new ("activated", LNS_TYPE_LAUNCH_SETUP, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);

  gtk_widget_class_install_action (widget_class, "launch.choose-folder", NULL, choose_folder);
  gtk_widget_class_install_action (widget_class, "launch.insert-path", NULL, insert_path);
  gtk_widget_class_install_action (widget_class, "launch.add-variable", NULL, add_variable);
  gtk_widget_class_install_action (widget_class, "launch.copy-command", NULL, copy_command);

  g_type_ensure (LNS_TYPE_RECENT_COMMANDS);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/launch-setup.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, command);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, recents);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, recents_button);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, preset_row);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, folder_row);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, report_row);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, terminal_row);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, command_error);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, remark);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, trace_group);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, switches_group);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, environment_group);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, machine_group);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchSetup, machine_row);
  gtk_widget_class_bind_template_callback (widget_class, folder_typed_cb);
  gtk_widget_class_bind_template_callback (widget_class, activated_cb);
  gtk_widget_class_bind_template_callback (widget_class, preset_chosen_cb);
  gtk_widget_class_bind_template_callback (widget_class, recent_chosen_cb);
  gtk_widget_class_bind_template_callback (widget_class, key_cb);
}

static void
lns_launch_setup_init (LnsLaunchSetup *self)
{
  self->asking = g_cancellable_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  lns_menu_button_set_name (self->recents_button, _ ("Recent commands"));
  g_signal_connect_swapped (gtk_text_view_get_buffer (self->command), "changed",
                            G_CALLBACK (text_changed_cb), self);
  g_signal_connect_swapped (gtk_text_view_get_buffer (self->command), "paste-done",
                            G_CALLBACK (pasted_cb), self);
  self->variables = lns_launch_variables_new (self->environment_group, variables_changed_cb, self);
}

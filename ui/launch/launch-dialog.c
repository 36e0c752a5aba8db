/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-dialog.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/launch/capabilities.h"
#include "ui/model/display-text.h"
#include "ui/launch/launch-command.h"
#include "ui/launch/launch-folder.h"
#include "ui/launch/launch-switches.h"
#include "ui/launch/recorder.h"

/* How long nothing changes before the tool is asked where the report goes. */
#define ASK_PATH_MS 150

/* The size of the dialog, as in its template, and while it stands before the report that grows. */
#define SETUP_WIDTH_PX    640
#define SETUP_HEIGHT_PX   720
#define RUNNING_WIDTH_PX  440
#define RUNNING_HEIGHT_PX 480

struct _LnsLaunchDialog
{
  AdwWindow parent_instance;

  GSettings *settings; /* owned                                                           */
  GFile *folder; /* owned; the program's working directory, or NULL while what is typed is none */
  GFile *first_folder;  /* owned; what is typed may be relative to it */
  GStrv words;          /* owned; the words of the command line, or NULL while it cannot be split */
  GPtrArray *variables; /* of AdwEntryRow, borrowed: "NAME=VALUE"                          */
  GPtrArray *traces;    /* of GtkCheckButton, borrowed; their "word" is the choice's name  */
  gboolean given;       /* the command line sets them */
  GPtrArray *switches;  /* owned: rows of further switches, or NULL                        */
  LnsCapabilities *capabilities; /* owned; NULL until the recorder has answered */
  GCancellable *asking;          /* owned; cancels the question for capabilities */
  guint ask_path_source;         /* asks soon for the path of the report; 0: it does not */
  GSubprocess *path_asked;       /* owned; is asked for it; NULL: nobody is */
  gboolean is_complete;          /* what is needed for a start is there and right */
  LnsLaunchRecorder *recorder;   /* owned; NULL until the first start */
  GStrv launched;         /* owned; the tool's arguments, of the last start                   */
  gboolean shows_growing; /* a window shows the report of the last start since it began to grow */
  gboolean is_cancelled;  /* the last start was cancelled */

  GtkStack *stack; /* pages "setup", "running", "failed" */
  GtkEditable *command_row;
  GtkEditable *folder_row;
  AdwActionRow *report_row;
  GtkLabel *command_error;
  AdwPreferencesGroup *trace_group;
  AdwPreferencesGroup *switches_group;
  AdwPreferencesGroup *environment_group;
  AdwStatusPage *running_page;
  GtkLabel *elapsed_value;
  GtkLabel *bytes_value;
  GtkLabel *events_value;
  GtkLabel *dropped_value;
  GtkWidget *begin_button;
  GtkWidget *output_scroller;
  GtkTextView *output;
  GtkLabel *problem;
  GtkWidget *last_words_scroller;
  GtkTextView *last_words;
  GtkWidget *number_button;
  GtkWidget *open_report_button;
};

G_DEFINE_FINAL_TYPE (LnsLaunchDialog, lns_launch_dialog, ADW_TYPE_WINDOW)

static void
show_page (LnsLaunchDialog *self, const char *name)
{
  gtk_stack_set_visible_child_name (self->stack, name);
}

/* --- The setup page ------------------------------------------------------------------------ */

/* Whether TEXT is "NAME=VALUE". */
static gboolean
is_setting (const char *text)
{
  const char *at = text;

  while (g_ascii_isalnum (*at) || *at == '_')
    at++;
  return at > text && !g_ascii_isdigit (*text) && *at == '=';
}

static void
set_error_style (GtkWidget *widget, gboolean error)
{
  if (error)
    gtk_widget_add_css_class (widget, "error");
  else
    gtk_widget_remove_css_class (widget, "error");
}

/* The recorder's switches that take no value, or NULL until they are known. */
static const char *const *
get_flags (LnsLaunchDialog *self)
{
  return self->capabilities != NULL ? (const char *const *)self->capabilities->flags : NULL;
}

/* Shows VALUE, that of -t in the command line, in the check buttons; or, for NULL, the user's own choice. */
static void
show_traces (LnsLaunchDialog *self, const char *value)
{
  g_auto (GStrv) words = g_strsplit (value != NULL ? value : "", ",", -1);

  for (guint i = 0; i < self->traces->len; i++)
    {
      GtkCheckButton *check = g_ptr_array_index (self->traces, i);
      const char *word = g_object_get_data (G_OBJECT (check), "word");
      gboolean active = gtk_check_button_get_active (check);
      if (value != NULL && !self->given)
        g_object_set_data (G_OBJECT (check), "own", GINT_TO_POINTER (active));
      if (value != NULL)
        active = g_strv_contains ((const char *const *)words, word);
      else if (self->given)
        active = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (check), "own"));
      gtk_check_button_set_active (check, active);
    }
  self->given = value != NULL && self->traces->len > 0;
  gtk_widget_set_sensitive (GTK_WIDGET (self->trace_group), value == NULL);
  adw_preferences_group_set_description (
      self->trace_group, value != NULL ? _ ("Set on the command line by -t or --trace.") : "");
}

/* Shows the switches of the command line in the controls: the command line takes precedence. */
static void
show_given (LnsLaunchDialog *self)
{
  const char *const *words = (const char *const *)self->words;
  const char *traces =
      words != NULL ? lns_launch_command_get_switch (words, get_flags (self), 't', "trace") : NULL;

  show_traces (self, traces);
  if (self->switches != NULL)
    lns_launch_switches_show_given (self->switches, words, get_flags (self));
}

/* The value of -t for the check buttons, or NULL if the command line has its own or the tool's choices are not known. */
static char *
chosen_traces (LnsLaunchDialog *self)
{
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();

  if (self->traces->len == 0 || !gtk_widget_get_sensitive (GTK_WIDGET (self->trace_group)))
    return NULL;
  for (guint i = 0; i < self->traces->len; i++)
    {
      GtkCheckButton *check = g_ptr_array_index (self->traces, i);
      if (gtk_check_button_get_active (check))
        g_strv_builder_add (words, g_object_get_data (G_OBJECT (check), "word"));
    }
  g_auto (GStrv) each = g_strv_builder_end (words);
  return each[0] != NULL ? g_strjoinv (",", each) : g_strdup ("none");
}

/* Adds the switches and the program to WORDS. */
static void
add_words (LnsLaunchDialog *self, GStrvBuilder *words)
{
  g_autofree char *traces = chosen_traces (self);

  if (traces != NULL)
    g_strv_builder_add_many (words, "-t", traces, NULL);
  if (self->switches != NULL)
    lns_launch_switches_add_words (self->switches, (const char *const *)self->words,
                                   get_flags (self), words);
  g_strv_builder_addv (words, (const char **)self->words);
}

/* --- Where the report goes ----------------------------------------------------------------- */

/* Shows the path of the report, or PROBLEM, for which there would be none; both NULL: it is not known. */
static void
show_path (LnsLaunchDialog *self, GFile *path, const char *problem)
{
  g_autofree char *name = path != NULL ? lns_display_file (path, TRUE) : g_strdup (problem);

  adw_action_row_set_subtitle (self->report_row, name != NULL ? name : _ ("Not known yet"));
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->report_row), name);
  set_error_style (GTK_WIDGET (self->report_row), problem != NULL);
}

static void
path_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsLaunchDialog) self = data;
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
}

/* Nobody waits for the answer any more. */
static void
forget_path (LnsLaunchDialog *self)
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
  LnsLaunchDialog *self = data;
  g_autofree char *tool = lns_launch_recorder_find_tool ();
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();

  self->ask_path_source = 0;
  if (tool == NULL)
    return G_SOURCE_REMOVE;
  g_strv_builder_add_many (words, tool, "name-report", g_file_peek_path (self->folder), NULL);
  add_words (self, words);
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
ask_path_soon (LnsLaunchDialog *self)
{
  forget_path (self);
  show_path (self, NULL, NULL);
  if (self->is_complete)
    self->ask_path_source = g_timeout_add (ASK_PATH_MS, ask_path_cb, self);
}

/* --- The setup page, further ---------------------------------------------------------------- */

/* Splits the command line again, shows what is wrong with it, and enables Start if all is well. */
static void
validate (LnsLaunchDialog *self)
{
  g_autoptr (GError) error = NULL;
  gboolean ok;

  g_clear_pointer (&self->words, g_strfreev);
  self->words = lns_launch_command_split (gtk_editable_get_text (self->command_row), &error);
  if (self->words != NULL)
    self->words = lns_launch_command_drop_tool (self->words);
  ok = self->words != NULL && self->words[lns_launch_command_find_program (
                                  (const char *const *)self->words, get_flags (self))] != NULL;
  if (self->words != NULL && !ok)
    g_set_error_literal (&error, LNS_LAUNCH_COMMAND_ERROR, LNS_LAUNCH_COMMAND_ERROR_NO_PROGRAM,
                         _ ("The command line has only switches; add the program to launch"));
  gtk_label_set_text (self->command_error, error != NULL ? error->message : "");
  gtk_widget_set_visible (GTK_WIDGET (self->command_error),
                          error != NULL && !g_error_matches (error, LNS_LAUNCH_COMMAND_ERROR,
                                                             LNS_LAUNCH_COMMAND_ERROR_EMPTY));

  for (guint i = 0; i < self->variables->len; i++)
    {
      GtkWidget *row = g_ptr_array_index (self->variables, i);
      const char *text = gtk_editable_get_text (GTK_EDITABLE (row));
      gboolean fine = *text == '\0' || is_setting (text);
      set_error_style (row, !fine);
      ok = ok && fine;
    }
  const gboolean has_folder = self->folder != NULL && g_file_peek_path (self->folder) != NULL;
  set_error_style (GTK_WIDGET (self->folder_row), !has_folder);
  self->is_complete = ok && has_folder;
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "launch.start", self->is_complete);
  /* A long command line does not fit the entry. */
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->command_row),
                               gtk_editable_get_text (self->command_row));
  show_given (self);
  ask_path_soon (self);
}

static void
command_activated_cb (LnsLaunchDialog *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "launch.start", NULL);
}

static void
remove_variable_cb (GtkButton *button, LnsLaunchDialog *self)
{
  GtkWidget *row = gtk_widget_get_ancestor (GTK_WIDGET (button), ADW_TYPE_ENTRY_ROW);

  g_ptr_array_remove (self->variables, row);
  adw_preferences_group_remove (self->environment_group, row);
  validate (self);
}

static void
add_variable (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (widget);
  g_autoptr (GtkBuilder) builder =
      gtk_builder_new_from_resource ("/io/github/lanescope/Lanescope/variable-row.ui");
  GtkWidget *row = GTK_WIDGET (gtk_builder_get_object (builder, "row"));

  g_signal_connect (gtk_builder_get_object (builder, "remove"), "clicked",
                    G_CALLBACK (remove_variable_cb), self);
  g_signal_connect_swapped (row, "changed", G_CALLBACK (validate), self);
  adw_preferences_group_add (self->environment_group, row);
  g_ptr_array_add (self->variables, row);
  gtk_widget_grab_focus (row);
}

static void
set_folder (LnsLaunchDialog *self, GFile *folder)
{
  g_autofree char *name = lns_display_file (folder, TRUE);

  g_set_object (&self->folder, folder);
  gtk_editable_set_text (self->folder_row, name);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->folder_row), name);
}

/* Takes what is typed. A name that is shown need not be what its bytes are, so one that nobody has changed stands for the
 * folder that it was made of. */
static void
folder_typed_cb (LnsLaunchDialog *self)
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
folder_chosen_cb (GtkNativeDialog *dialog, int response, LnsLaunchDialog *self)
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
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (widget);
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      _ ("Working Directory"), GTK_WINDOW (self), GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
      _ ("_Choose"), _ ("_Cancel"));

  if (self->folder != NULL)
    gtk_file_chooser_set_file (GTK_FILE_CHOOSER (dialog), self->folder, NULL);
  g_signal_connect_object (dialog, "response", G_CALLBACK (folder_chosen_cb), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

/* Inserts the path at the cursor, quoted; its bytes need not be UTF-8. */
static void
path_chosen_cb (GtkNativeDialog *dialog, int response, LnsLaunchDialog *self)
{
  g_autoptr (GFile) file = NULL;
  int position = gtk_editable_get_position (self->command_row);

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  if (file != NULL && g_file_peek_path (file) != NULL)
    {
      g_autofree char *path = lns_launch_command_quote (g_file_peek_path (file));
      g_autofree char *word = g_strconcat (position > 0 ? " " : "", path, " ", NULL);
      gtk_editable_insert_text (self->command_row, word, -1, &position);
      gtk_editable_set_position (self->command_row, position);
    }
  g_object_unref (dialog);
}

static void
insert_path (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (widget);
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Insert a Path"), GTK_WINDOW (self),
                                   GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Choose"), _ ("_Cancel"));

  if (self->folder != NULL)
    gtk_file_chooser_set_current_folder (GTK_FILE_CHOOSER (dialog), self->folder, NULL);
  g_signal_connect_object (dialog, "response", G_CALLBACK (path_chosen_cb), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static const char *
trace_title (const char *word)
{
  static const struct
  {
    const char *word, *title;
  } titles[] = {
    { "nvtx", N_ ("NVTX: the program's own ranges, marks and counters") },
    { "cuda", N_ ("CUDA: calls, kernels and copies") },
    { "cublas", N_ ("cuBLAS: the program's calls") },
    { "cublas-verbose", N_ ("cuBLAS: also the calls that the library makes itself") },
    { "cudnn", N_ ("cuDNN: the program's calls") },
    { "cusparse", N_ ("cuSPARSE: the program's calls") },
    { "cusparse-verbose", N_ ("cuSPARSE: also the calls that libraries make of it") },
    { "cusolver", N_ ("cuSOLVER: the program's calls") },
    { "cusolver-verbose", N_ ("cuSOLVER: also the calls that libraries make of it") },
    { "mpi", N_ ("MPI: the program's calls") },
    { "osrt", N_ ("Operating system calls: files, locks, waits") },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (titles); i++)
    if (strcmp (titles[i].word, word) == 0)
      return _ (titles[i].title);
  return word;
}

/* Adds a check button for each choice of OPTION, which is --trace. */
static void
add_traces (LnsLaunchDialog *self, const LnsSwitch *option)
{
  g_auto (GStrv) defaults =
      g_strsplit (option->default_text != NULL ? option->default_text : "", ",", -1);

  for (const char **word = option->choices; *word != NULL; word++)
    {
      if (strcmp (*word, "none") == 0)
        continue;
      GtkWidget *check = gtk_check_button_new ();
      GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "title", trace_title (*word),
                                     "activatable-widget", check, NULL);
      gtk_check_button_set_active (GTK_CHECK_BUTTON (check),
                                   g_strv_contains ((const char *const *)defaults, *word));
      g_object_set_data_full (G_OBJECT (check), "word", g_strdup (*word), g_free);
      adw_action_row_add_prefix (ADW_ACTION_ROW (row), check);
      adw_preferences_group_add (self->trace_group, row);
      g_ptr_array_add (self->traces, check);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->trace_group), self->traces->len > 0);
}

static void
capabilities_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsLaunchDialog) self = data;
  g_autofree char *text = NULL;

  g_subprocess_communicate_utf8_finish (G_SUBPROCESS (source), result, &text, NULL, NULL);
  if (text != NULL && self->traces != NULL)
    self->capabilities = lns_capabilities_parse (text);
  if (self->capabilities == NULL)
    return;
  const LnsSwitch *trace = lns_capabilities_find (self->capabilities, "trace");
  if (trace != NULL)
    add_traces (self, trace);
  self->switches = lns_launch_switches_new (self->switches_group, self->capabilities,
                                            G_CALLBACK (ask_path_soon), self);
  gtk_widget_set_visible (GTK_WIDGET (self->switches_group), self->switches->len > 0);
  validate (self);
}

/* Asks the tool what it can do. Without an answer its own defaults hold, and Start will tell what is wrong with it. */
static void
ask_capabilities (LnsLaunchDialog *self)
{
  g_autofree char *tool = lns_launch_recorder_find_tool ();
  g_autoptr (GSubprocess) process = NULL;

  if (tool != NULL)
    process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                                NULL, tool, "--capabilities=json", NULL);
  if (process != NULL)
    g_subprocess_communicate_utf8_async (process, NULL, self->asking, capabilities_cb,
                                         g_object_ref (self));
}

/* Typing replaces the command line. */
static void
focus_command (LnsLaunchDialog *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->command_row));
  gtk_editable_select_region (self->command_row, 0, -1);
}

/* Lets another program be launched, after one that failed or was cancelled. */
static void
show_setup (LnsLaunchDialog *self)
{
  gtk_window_set_default_size (GTK_WINDOW (self), SETUP_WIDTH_PX, SETUP_HEIGHT_PX);
  show_page (self, "setup");
  ask_path_soon (self);
  focus_command (self);
}

/* --- The recording ------------------------------------------------------------------------- */

static void
show_problem (LnsLaunchDialog *self, const char *problem, const char *last_words)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->last_words);
  const LnsLaunchRun *run = lns_launch_recorder_get_run (self->recorder);

  if (run->exists)
    last_words = ""; /* they would repeat the problem */
  gtk_label_set_text (self->problem, problem);
  gtk_text_buffer_set_text (buffer, last_words, -1);
  gtk_widget_set_visible (self->last_words_scroller, *last_words != '\0');
  gtk_widget_set_visible (self->open_report_button, run->report != NULL);
  gtk_widget_set_visible (self->number_button, run->exists);
  show_page (self, "failed");
}

static void
open_in_window (LnsLaunchDialog *self, GFile *file)
{
  GtkWindow *parent = gtk_window_get_transient_for (GTK_WINDOW (self));
  g_autofree char *uri = g_file_get_uri (file);

  gtk_widget_activate_action (GTK_WIDGET (parent), "win.open-uri", "s", uri);
}

/* Opens the report, unless a window has shown it since it began to grow. */
static void
open_report (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (widget);
  const LnsLaunchRun *run = lns_launch_recorder_get_run (self->recorder);

  if (!self->shows_growing || !g_file_equal (run->report, run->growing))
    open_in_window (self, run->report);
  gtk_window_destroy (GTK_WINDOW (self));
}

/* Shows how the report grows, and makes room to see it. */
static void
show_growing (LnsLaunchDialog *self, GFile *file)
{
  self->shows_growing = TRUE;
  gtk_window_set_modal (GTK_WINDOW (self), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (self), RUNNING_WIDTH_PX, RUNNING_HEIGHT_PX);
  open_in_window (self, file);
}

/* Shows what the program has printed. */
static void
show_output (LnsLaunchDialog *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->output);
  g_autofree char *text = lns_launch_recorder_get_output (self->recorder);
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (buffer, &start, &end);
  g_autofree char *before = gtk_text_buffer_get_text (buffer, &start, &end, FALSE);
  gtk_widget_set_visible (self->output_scroller, *text != '\0');
  if (strcmp (before, text) == 0)
    return;
  gtk_text_buffer_set_text (buffer, text, -1);
  gtk_text_buffer_get_end_iter (buffer, &end);
  gtk_text_buffer_place_cursor (buffer, &end);
  gtk_text_view_scroll_mark_onscreen (self->output, gtk_text_buffer_get_insert (buffer));
}

static void
show_tick (LnsLaunchDialog *self)
{
  static const char *const titles[] = { [LNS_LAUNCH_RECORDER_STARTING] = N_ ("Starting…"),
                                        [LNS_LAUNCH_RECORDER_RUNNING] = N_ ("Recording"),
                                        [LNS_LAUNCH_RECORDER_STOPPING] =
                                            N_ ("Finishing the Report…") };
  const LnsLaunchRun *run = lns_launch_recorder_get_run (self->recorder);
  char text[LNS_FORMAT_SIZE];

  const gboolean waits = run->state == LNS_LAUNCH_RECORDER_RUNNING && !run->collects;
  adw_status_page_set_title (self->running_page,
                             waits ? _ ("Waiting to Record") : _ (titles[run->state]));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "launch.stop",
                                 run->state != LNS_LAUNCH_RECORDER_STOPPING);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "launch.cancel",
                                 run->state != LNS_LAUNCH_RECORDER_STOPPING);
  gtk_widget_set_visible (self->begin_button, waits);
  show_output (self);
  lns_format_fixed ((double)run->elapsed_ns / 1e9, 1, text);
  g_autofree char *elapsed = g_strdup_printf (_ ("%s s"), text);
  gtk_label_set_text (self->elapsed_value, elapsed);
  gtk_label_set_text (self->bytes_value, lns_format_bytes (run->bytes, text));
  gtk_label_set_text (self->events_value, lns_format_unsigned (run->events, text));
  gtk_label_set_text (self->dropped_value, lns_format_unsigned (run->dropped, text));
  set_error_style (GTK_WIDGET (self->dropped_value), run->dropped > 0);
}

static void
recorder_changed_cb (LnsLaunchRecorder *recorder, LnsLaunchDialog *self)
{
  const LnsLaunchRun *run = lns_launch_recorder_get_run (recorder);
  if (run->state != LNS_LAUNCH_RECORDER_FINISHED)
    {
      show_tick (self);
      if (run->collects && run->growing != NULL && !self->shows_growing)
        show_growing (self, run->growing);
      return;
    }
  if (self->is_cancelled)
    {
      show_setup (self);
      return;
    }
  const char *problem = run->problem;
  if (problem == NULL && run->report == NULL)
    problem = _ ("The recorder ended without a report.");
  g_autofree char *words = problem == NULL ? lns_launch_recorder_get_remarks (recorder)
                                           : lns_launch_recorder_get_last_words (recorder);
  if (problem == NULL && *words != '\0')
    problem = _ ("The report was written, but parts of what you asked for are missing.");
  if (problem != NULL)
    show_problem (self, problem, words);
  else
    open_report (GTK_WIDGET (self), NULL, NULL);
}

static void
remember (LnsLaunchDialog *self)
{
  const char *folder = self->folder != NULL ? g_file_peek_path (self->folder) : NULL;

  g_settings_set_string (self->settings, "launch-command",
                         gtk_editable_get_text (self->command_row));
  if (folder == NULL)
    return;
  lns_launch_folder_set (folder);
  g_settings_set_value (self->settings, "launch-folder", g_variant_new_bytestring (folder));
}

/* Starts the recorder with the arguments WORDS, which are taken over, and the variables of the rows. */
static void
run (LnsLaunchDialog *self, GStrv words)
{
  g_autoptr (GStrvBuilder) settings = g_strv_builder_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < self->variables->len; i++)
    {
      const char *text = gtk_editable_get_text (g_ptr_array_index (self->variables, i));
      if (is_setting (text))
        g_strv_builder_add (settings, text);
    }
  g_auto (GStrv) all_settings = g_strv_builder_end (settings);
  g_strfreev (self->launched);
  self->launched = words;
  LnsLaunchRequest launch = { (const char *const *)words, g_file_peek_path (self->folder),
                              (const char *const *)all_settings };

  g_clear_object (&self->recorder);
  self->shows_growing = self->is_cancelled = FALSE;
  self->recorder = lns_launch_recorder_new ();
  g_signal_connect_object (self->recorder, "changed", G_CALLBACK (recorder_changed_cb), self, 0);
  g_autofree char *markup = g_markup_escape_text (gtk_editable_get_text (self->command_row), -1);
  adw_status_page_set_description (self->running_page, markup);
  if (lns_launch_recorder_start (self->recorder, &launch, &error))
    show_page (self, "running");
  else
    show_problem (self, error->message, "");
}

static void
start (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (widget);
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();

  remember (self);
  add_words (self, words);
  run (self, g_strv_builder_end (words));
}

/* These two go on after a report of the same name was found. */
static void
replace_report (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (widget);

  run (self, lns_launch_command_set_switch ((const char *const *)self->launched, get_flags (self),
                                            'f', "force-overwrite", "true"));
}

static void
number_report (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (widget);
  const char *const *words = (const char *const *)self->launched;
  g_autofree char *output = lns_launch_command_number_output (
      lns_launch_command_get_switch (words, get_flags (self), 'o', "output"));

  if (output != NULL)
    run (self, lns_launch_command_set_switch (words, get_flags (self), 'o', "output", output));
}

static void
stop (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_launch_recorder_stop (LNS_LAUNCH_DIALOG (widget)->recorder);
}

static void
cancel (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LNS_LAUNCH_DIALOG (widget)->is_cancelled = TRUE;
  lns_launch_recorder_cancel (LNS_LAUNCH_DIALOG (widget)->recorder);
}

static void
begin (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lns_launch_recorder_begin (LNS_LAUNCH_DIALOG (widget)->recorder);
}

static void
back (GtkWidget *widget, const char *action, GVariant *parameter)
{
  show_setup (LNS_LAUNCH_DIALOG (widget));
}

/* --- Life ---------------------------------------------------------------------------------- */

static gboolean
is_recording (LnsLaunchDialog *self)
{
  LnsLaunchRecorderState state = self->recorder != NULL
                                     ? lns_launch_recorder_get_run (self->recorder)->state
                                     : LNS_LAUNCH_RECORDER_IDLE;

  return state != LNS_LAUNCH_RECORDER_IDLE && state != LNS_LAUNCH_RECORDER_FINISHED;
}

static void
close_answer_cb (AdwMessageDialog *question, const char *response, LnsLaunchDialog *self)
{
  if (strcmp (response, "stop") == 0 && is_recording (self))
    lns_launch_recorder_stop (self->recorder);
}

/* Start would get the focus. It cannot be moved earlier: a widget with the focus hides a window that is not shown yet
 * from assistive technology (GTK 4.8). */
static void
lns_launch_dialog_show (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lns_launch_dialog_parent_class)->show (widget);
  focus_command (LNS_LAUNCH_DIALOG (widget));
}

static gboolean
lns_launch_dialog_close_request (GtkWindow *window)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (window);

  remember (self);
  if (!is_recording (self))
    return GTK_WINDOW_CLASS (lns_launch_dialog_parent_class)->close_request (window);
  g_autoptr (GtkBuilder) builder =
      gtk_builder_new_from_resource ("/io/github/lanescope/Lanescope/stop-question.ui");
  GtkWindow *question = GTK_WINDOW (gtk_builder_get_object (builder, "question"));
  gtk_window_set_transient_for (question, window);
  g_signal_connect_object (question, "response", G_CALLBACK (close_answer_cb), self, 0);
  gtk_window_present (question);
  return TRUE;
}

GtkWidget *
lns_launch_dialog_new (GtkWindow *parent, GSettings *settings)
{
  LnsLaunchDialog *self = g_object_new (LNS_TYPE_LAUNCH_DIALOG, "transient-for", parent,
                                        "destroy-with-parent", TRUE, NULL);
  g_autoptr (GVariant) folder = g_settings_get_value (settings, "launch-folder");
  g_autofree char *command = g_settings_get_string (settings, "launch-command");

  self->settings = g_object_ref (settings);
  self->first_folder = lns_launch_folder_get (g_variant_get_bytestring (folder));
  set_folder (self, self->first_folder);
  gtk_editable_set_text (self->command_row, command);
  validate (self);
  ask_capabilities (self);
  return GTK_WIDGET (self);
}

static void
lns_launch_dialog_dispose (GObject *object)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (object);

  g_cancellable_cancel (self->asking);
  forget_path (self);
  /* Without its dialog nobody could stop a recording. */
  if (is_recording (self))
    lns_launch_recorder_stop (self->recorder);
  g_clear_object (&self->recorder);
  g_clear_object (&self->settings);
  g_clear_object (&self->folder);
  g_clear_object (&self->first_folder);
  g_clear_object (&self->asking);
  g_clear_pointer (&self->words, g_strfreev);
  g_clear_pointer (&self->launched, g_strfreev);
  g_clear_pointer (&self->variables, g_ptr_array_unref);
  g_clear_pointer (&self->traces, g_ptr_array_unref);
  g_clear_pointer (&self->switches, g_ptr_array_unref);
  g_clear_pointer (&self->capabilities, lns_capabilities_free);
  G_OBJECT_CLASS (lns_launch_dialog_parent_class)->dispose (object);
}

static void
lns_launch_dialog_class_init (LnsLaunchDialogClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_launch_dialog_dispose;
  widget_class->show = lns_launch_dialog_show;
  GTK_WINDOW_CLASS (klass)->close_request = lns_launch_dialog_close_request;

  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
  gtk_widget_class_install_action (widget_class, "launch.start", NULL, start);
  gtk_widget_class_install_action (widget_class, "launch.stop", NULL, stop);
  gtk_widget_class_install_action (widget_class, "launch.cancel", NULL, cancel);
  gtk_widget_class_install_action (widget_class, "launch.begin", NULL, begin);
  gtk_widget_class_install_action (widget_class, "launch.back", NULL, back);
  gtk_widget_class_install_action (widget_class, "launch.open-report", NULL, open_report);
  gtk_widget_class_install_action (widget_class, "launch.replace", NULL, replace_report);
  gtk_widget_class_install_action (widget_class, "launch.number", NULL, number_report);
  gtk_widget_class_install_action (widget_class, "launch.choose-folder", NULL, choose_folder);
  gtk_widget_class_install_action (widget_class, "launch.insert-path", NULL, insert_path);
  gtk_widget_class_install_action (widget_class, "launch.add-variable", NULL, add_variable);

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/launch-dialog.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, command_row);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, folder_row);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, report_row);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, command_error);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, trace_group);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, switches_group);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, environment_group);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, running_page);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, elapsed_value);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, bytes_value);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, events_value);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, dropped_value);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, begin_button);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, output_scroller);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, output);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, problem);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, last_words_scroller);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, last_words);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, number_button);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, open_report_button);
  gtk_widget_class_bind_template_callback (widget_class, validate);
  gtk_widget_class_bind_template_callback (widget_class, folder_typed_cb);
  gtk_widget_class_bind_template_callback (widget_class, command_activated_cb);
}

static void
lns_launch_dialog_init (LnsLaunchDialog *self)
{
  self->variables = g_ptr_array_new ();
  self->traces = g_ptr_array_new ();
  self->asking = g_cancellable_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-dialog.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/launch/launch-command.h"
#include "ui/launch/launch-folder.h"
#include "ui/launch/launch-line.h"
#include "ui/launch/launch-setup.h"
#include "ui/launch/recorder.h"

/* The size of the dialog, as in its template, and while it stands before the report that grows. */
#define SETUP_WIDTH_PX    640
#define SETUP_HEIGHT_PX   720
#define RUNNING_WIDTH_PX  440
#define RUNNING_HEIGHT_PX 480

struct _LnsLaunchDialog
{
  AdwWindow parent_instance;

  GSettings *settings;         /* owned                                       */
  LnsLaunchRecorder *recorder; /* owned; NULL until the first start           */
  char *launched;              /* owned; the command line of the last start, or NULL */
  gboolean shows_growing; /* a window shows the report of the last start since it began to grow */
  gboolean is_cancelled;  /* the last start was cancelled */

  GtkStack *stack; /* pages "setup", "running", "failed" */
  LnsLaunchSetup *setup;
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

static void
set_error_style (GtkWidget *widget, gboolean error)
{
  if (error)
    gtk_widget_add_css_class (widget, "error");
  else
    gtk_widget_remove_css_class (widget, "error");
}

/* --- The setup page ------------------------------------------------------------------------ */

static void
setup_changed_cb (LnsLaunchDialog *self)
{
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "launch.start",
                                 lns_launch_setup_is_complete (self->setup));
}

static void
setup_activated_cb (LnsLaunchDialog *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "launch.start", NULL);
}

/* Lets another program be launched, after one that failed or was cancelled. */
static void
show_setup (LnsLaunchDialog *self)
{
  gtk_window_set_default_size (GTK_WINDOW (self), SETUP_WIDTH_PX, SETUP_HEIGHT_PX);
  show_page (self, "setup");
  lns_launch_setup_show (self->setup);
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

/* Has the parent window do ACTION, which takes a URI, with FILE. */
static void
activate_with (LnsLaunchDialog *self, const char *action, GFile *file)
{
  GtkWindow *parent = gtk_window_get_transient_for (GTK_WINDOW (self));
  g_autofree char *uri = g_file_get_uri (file);

  gtk_widget_activate_action (GTK_WIDGET (parent), action, "s", uri);
}

/* Opens the report, unless a window has shown it since it began to grow. */
static void
open_report (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (widget);
  const LnsLaunchRun *run = lns_launch_recorder_get_run (self->recorder);

  if (!self->shows_growing || !g_file_equal (run->report, run->growing))
    activate_with (self, "win.open-uri", run->report);
  gtk_window_destroy (GTK_WINDOW (self));
}

/* Shows how the report grows, and makes room to see it. */
static void
show_growing (LnsLaunchDialog *self, GFile *file)
{
  self->shows_growing = TRUE;
  gtk_window_set_modal (GTK_WINDOW (self), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (self), RUNNING_WIDTH_PX, RUNNING_HEIGHT_PX);
  activate_with (self, "win.open-uri", file);
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
      if (self->shows_growing)
        activate_with (self, "win.drop-uri", run->growing);
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
  g_autofree char *text = lns_launch_setup_get_text (self->setup);
  GFile *file = lns_launch_setup_get_folder (self->setup);
  const char *folder = file != NULL ? g_file_peek_path (file) : NULL;

  g_settings_set_string (self->settings, "launch-command", text);
  if (folder == NULL)
    return;
  lns_launch_folder_set (folder);
  g_settings_set_value (self->settings, "launch-folder", g_variant_new_bytestring (folder));
}

/* Launches the command line TEXT, which is taken over. */
static void
run (LnsLaunchDialog *self, char *text)
{
  g_autoptr (LnsLaunchLine) line =
      lns_launch_line_parse (text, lns_launch_setup_get_flags (self->setup), NULL);
  g_auto (GStrv) settings = lns_launch_line_get_settings (line);
  g_autoptr (GError) error = NULL;

  g_free (self->launched);
  self->launched = text;
  LnsLaunchRequest launch = { lns_launch_line_get_arguments (line),
                              g_file_peek_path (lns_launch_setup_get_folder (self->setup)),
                              (const char *const *)settings };

  g_clear_object (&self->recorder);
  self->shows_growing = self->is_cancelled = FALSE;
  self->recorder = lns_launch_recorder_new ();
  g_signal_connect_object (self->recorder, "changed", G_CALLBACK (recorder_changed_cb), self, 0);
  g_autofree char *markup = g_markup_escape_text (text, -1);
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

  remember (self);
  lns_launch_setup_remember (self->setup);
  run (self, lns_launch_setup_get_text (self->setup));
}

/* Launches the line of the last start again, with VALUE for a switch. */
static void
run_with (LnsLaunchDialog *self, char letter, const char *name, const char *value)
{
  g_autoptr (LnsLaunchLine) line =
      lns_launch_line_parse (self->launched, lns_launch_setup_get_flags (self->setup), NULL);

  run (self, lns_launch_line_set_switch (line, letter, name, value));
}

/* These two go on after a report of the same name was found. */
static void
replace_report (GtkWidget *widget, const char *action, GVariant *parameter)
{
  run_with (LNS_LAUNCH_DIALOG (widget), 'f', "force-overwrite", "true");
}

static void
number_report (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (widget);
  g_autoptr (LnsLaunchLine) line =
      lns_launch_line_parse (self->launched, lns_launch_setup_get_flags (self->setup), NULL);
  g_autofree char *output =
      lns_launch_command_number_output (lns_launch_line_get_switch (line, 'o', "output"));

  if (output != NULL)
    run_with (self, 'o', "output", output);
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
first_active_cb (LnsLaunchDialog *self)
{
  g_signal_handlers_disconnect_by_func (self, first_active_cb, NULL);
  lns_launch_setup_show (self->setup);
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
  g_autoptr (GFile) first = lns_launch_folder_get (g_variant_get_bytestring (folder));
  lns_launch_setup_begin (self->setup, command, first);
  return GTK_WIDGET (self);
}

static void
lns_launch_dialog_dispose (GObject *object)
{
  LnsLaunchDialog *self = LNS_LAUNCH_DIALOG (object);

  /* Without its dialog nobody could stop a recording. */
  if (is_recording (self))
    lns_launch_recorder_stop (self->recorder);
  g_clear_object (&self->recorder);
  g_clear_object (&self->settings);
  g_clear_pointer (&self->launched, g_free);
  G_OBJECT_CLASS (lns_launch_dialog_parent_class)->dispose (object);
}

static void
lns_launch_dialog_class_init (LnsLaunchDialogClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_launch_dialog_dispose;
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

  g_type_ensure (LNS_TYPE_LAUNCH_SETUP);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/launch-dialog.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsLaunchDialog, setup);
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
  gtk_widget_class_bind_template_callback (widget_class, setup_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, setup_activated_cb);
}

static void
lns_launch_dialog_init (LnsLaunchDialog *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect (self, "notify::is-active", G_CALLBACK (first_active_cb), NULL);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lns-config.h"

#define PROGRESS_FD      3
#define CONTROL_FD       4
#define LAST_WORDS_BYTES 4096
#define LAST_WORDS_LINES 16

struct _LnsLaunchRecorder
{
  GObject parent_instance;

  LnsLaunchRun run;
  GSubprocess *tool;          /* owned; NULL before the start                                    */
  GDataInputStream *progress; /* owned; NULL before the start                                    */
  int control_fd;             /* owned; -1 while the tool does not run */
  int stdout_fd, stderr_fd;   /* owned; files without a name that take standard output and error */
  gboolean stop_asked;
  gboolean progress_ended; /* the tool has closed its end */
  gboolean tool_ended;
  char *folder; /* owned; the tool's working directory, for relative paths */

  GSubprocessLauncher
      *launcher;         /* owned; the tool is to start when `folder` has answered; else NULL */
  GStrv arguments;       /* owned; its */
  GCancellable *waiting; /* owned; cancels that */
};

G_DEFINE_FINAL_TYPE (LnsLaunchRecorder, lns_launch_recorder, G_TYPE_OBJECT)

static guint changed_signal;

LnsLaunchRecorder *
lns_launch_recorder_new (void)
{
  return g_object_new (LNS_TYPE_LAUNCH_RECORDER, NULL);
}

char *
lns_launch_recorder_find_tool (void)
{
  const char *given = g_getenv ("LNS_LANESCOPE");
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = self != NULL ? g_path_get_dirname (self) : NULL;
  g_autofree char *beside = folder != NULL ? g_build_filename (folder, "lanescope", NULL) : NULL;

  if (given != NULL)
    return g_strdup (given);
  if (beside != NULL && g_file_test (beside, G_FILE_TEST_IS_EXECUTABLE))
    return g_steal_pointer (&beside);
  if (g_file_test (LNS_BUILDDIR "/src/cli/lanescope", G_FILE_TEST_IS_EXECUTABLE))
    return g_strdup (LNS_BUILDDIR "/src/cli/lanescope");
  return g_find_program_in_path ("lanescope");
}

static void
close_fd (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

static void
set_state (LnsLaunchRecorder *self, LnsLaunchRecorderState state)
{
  self->run.state = state;
  g_signal_emit (self, changed_signal, 0);
}

/* Keeps the first problem. */
static void
set_problem (LnsLaunchRecorder *self, char *problem)
{
  if (self->run.problem == NULL)
    self->run.problem = problem;
  else
    g_free (problem);
}

static gint64
get_integer (json_t *object, const char *key)
{
  return json_integer_value (json_object_get (object, key));
}

static void
take_tick (LnsLaunchRecorder *self, json_t *message)
{
  self->run.elapsed_ns = get_integer (message, "elapsed_ns");
  self->run.bytes = (guint64)get_integer (message, "bytes");
  self->run.events = (guint64)get_integer (message, "events");
  self->run.dropped = (guint64)get_integer (message, "dropped");
  g_signal_emit (self, changed_signal, 0);
}

static void
take_finished (LnsLaunchRecorder *self, json_t *message)
{
  gint64 exit_code = get_integer (message, "exit");
  gint64 number = get_integer (message, "signal");

  /* A program that the tool was told to stop ends by a signal. */
  if (self->stop_asked)
    return;
  if (number != 0)
    set_problem (self, g_strdup_printf (_ ("The program was ended by signal %d (%s)."), (int)number,
                                        g_strsignal ((int)number)));
  else if (exit_code != 0)
    set_problem (self, g_strdup_printf (_ ("The program ended with code %d."), (int)exit_code));
}

/* The file whose path MESSAGE has under KEY, or NULL. JSON holds only UTF-8, so a path with other bytes is under KEY_hex too, in
 * hexadecimal. */
static GFile *
get_file (LnsLaunchRecorder *self, json_t *message, const char *key)
{
  g_autofree char *hex_key = g_strconcat (key, "_hex", NULL);
  const char *path = json_string_value (json_object_get (message, key));
  const char *hex = json_string_value (json_object_get (message, hex_key));
  g_autoptr (GString) bytes = g_string_new (hex != NULL ? NULL : path);

  for (; hex != NULL && g_ascii_isxdigit (hex[0]) && g_ascii_isxdigit (hex[1]); hex += 2)
    g_string_append_c (bytes,
                       (char)(16 * g_ascii_xdigit_value (hex[0]) + g_ascii_xdigit_value (hex[1])));
  if (bytes->len == 0)
    return NULL;
  g_autoptr (GFile) folder = g_file_new_for_path (self->folder != NULL ? self->folder : ".");
  return g_file_resolve_relative_path (folder, bytes->str);
}

static void
take_range (LnsLaunchRecorder *self, json_t *message)
{
  const char *what = json_string_value (json_object_get (message, "what"));

  self->run.collects = g_strcmp0 (what, "start") == 0;
  g_signal_emit (self, changed_signal, 0);
}

/* Reads one line of the tool, a JSON object with a "type". Types that this version does not know are ignored. */
static void
take_line (LnsLaunchRecorder *self, const char *line)
{
  json_t *message = json_loads (line, 0, NULL);
  const char *type = json_string_value (json_object_get (message, "type"));

  if (g_strcmp0 (type, "hello") == 0)
    {
      g_clear_object (&self->run.growing);
      self->run.growing = get_file (self, message, "report");
    }
  else if (g_strcmp0 (type, "range") == 0)
    take_range (self, message);
  else if (g_strcmp0 (type, "started") == 0 && self->run.state == LNS_LAUNCH_RECORDER_STARTING)
    set_state (self, LNS_LAUNCH_RECORDER_RUNNING);
  else if (g_strcmp0 (type, "tick") == 0)
    take_tick (self, message);
  else if (g_strcmp0 (type, "finished") == 0)
    {
      take_finished (self, message);
      set_state (self, LNS_LAUNCH_RECORDER_STOPPING);
    }
  else if (g_strcmp0 (type, "generated") == 0)
    {
      g_autoptr (GFile) report = get_file (self, message, "path");
      if (report != NULL)
        g_set_object (&self->run.report, report);
    }
  else if (g_strcmp0 (type, "error") == 0)
    {
      const char *code = json_string_value (json_object_get (message, "code"));
      self->run.exists = g_strcmp0 (code, "LNS-RUN-002") == 0;
      set_problem (self, g_strdup (json_string_value (json_object_get (message, "text"))));
    }
  json_decref (message);
}

/* The beginning of the tool's own messages. */
#define ERROR_PREFIX   "lanescope: error: "
#define WARNING_PREFIX "lanescope: warning: "

/* The first or the last LAST_WORDS_BYTES of what FD, which may be -1, has taken. */
static char *
read_words (int fd, gboolean first)
{
  char bytes[LAST_WORDS_BYTES];
  struct stat status;

  if (fd < 0 || fstat (fd, &status) != 0)
    return g_strdup ("");
  off_t from = first ? 0 : MAX (0, status.st_size - (off_t)sizeof bytes);
  ssize_t n_read = pread (fd, bytes, sizeof bytes, from);
  return g_strchomp (g_utf8_make_valid (bytes, MAX (0, n_read)));
}

static char *
read_last_words (int fd)
{
  g_autofree char *text = read_words (fd, FALSE);
  char *line = text + strlen (text);
  for (int n_lines = 0; line > text; line--)
    if (line[-1] == '\n' && ++n_lines == LAST_WORDS_LINES)
      break;
  return g_strdup (line);
}

char *
lns_launch_recorder_get_last_words (LnsLaunchRecorder *self)
{
  return read_last_words (self->stderr_fd);
}

char *
lns_launch_recorder_get_output (LnsLaunchRecorder *self)
{
  g_autofree char *output = read_last_words (self->stdout_fd);
  g_autofree char *errors = read_last_words (self->stderr_fd);

  return g_strconcat (errors, *output != '\0' && *errors != '\0' ? "\n" : "", output, NULL);
}

char *
lns_launch_recorder_find_remarks (const char *words)
{
  g_auto (GStrv) lines = g_strsplit (words, "\n", -1);
  GString *remarks = g_string_new (NULL);

  for (gsize i = 0; lines[i] != NULL && g_str_has_prefix (lines[i], WARNING_PREFIX); i++)
    if (g_str_has_suffix (lines[i], "[LNS-SWITCH-001]") ||
        g_str_has_suffix (lines[i], "[LNS-TRACE-001]"))
      g_string_append_printf (remarks, "%s%s", remarks->len > 0 ? "\n" : "",
                              lines[i] + strlen (WARNING_PREFIX));
  return g_string_free (remarks, FALSE);
}

char *
lns_launch_recorder_get_remarks (LnsLaunchRecorder *self)
{
  g_autofree char *words = read_words (self->stderr_fd, TRUE);

  return lns_launch_recorder_find_remarks (words);
}

char *
lns_launch_recorder_find_refusal (const char *words)
{
  const char *newline = strrchr (words, '\n');
  const char *last = newline != NULL ? newline + 1 : words;

  return g_str_has_prefix (last, ERROR_PREFIX) ? g_strdup (last + strlen (ERROR_PREFIX)) : NULL;
}

/* The tool's error if it refused to start the program, or NULL. */
static char *
refusal (LnsLaunchRecorder *self)
{
  g_autofree char *words = lns_launch_recorder_get_last_words (self);

  return lns_launch_recorder_find_refusal (words);
}

static void
finish_if_over (LnsLaunchRecorder *self)
{
  if (!self->progress_ended || !self->tool_ended || self->run.state == LNS_LAUNCH_RECORDER_FINISHED)
    return;
  if (g_subprocess_get_if_signaled (self->tool))
    set_problem (self, g_strdup_printf (_ ("The recorder was ended by signal %d (%s). The last "
                                           "second before that may be missing from the report."),
                                        g_subprocess_get_term_sig (self->tool),
                                        g_strsignal (g_subprocess_get_term_sig (self->tool))));
  else if (g_subprocess_get_exit_status (self->tool) != 0 &&
           !(self->stop_asked && self->run.report != NULL))
    {
      set_problem (self, refusal (self));
      set_problem (self, g_strdup_printf (_ ("The recorder ended with code %d."),
                                          g_subprocess_get_exit_status (self->tool)));
    }
  set_state (self, LNS_LAUNCH_RECORDER_FINISHED);
}

static void
line_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsLaunchRecorder) self = data;
  gsize length;
  g_autofree char *line =
      g_data_input_stream_read_line_finish (self->progress, result, &length, NULL);

  if (line == NULL)
    {
      self->progress_ended = TRUE;
      finish_if_over (self);
      return;
    }
  take_line (self, line);
  g_data_input_stream_read_line_async (self->progress, G_PRIORITY_DEFAULT, NULL, line_cb,
                                       g_object_ref (self));
}

static void
tool_ended_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LnsLaunchRecorder) self = data;

  g_subprocess_wait_finish (self->tool, result, NULL);
  close_fd (&self->control_fd);
  self->tool_ended = TRUE;
  finish_if_over (self);
}

/* Makes a launcher with the tool's environment, folder and standard error. Takes the two descriptors over. */
static GSubprocessLauncher *
prepare_launcher (LnsLaunchRecorder *self,
                  const LnsLaunchRequest *launch,
                  int progress_fd,
                  int control_fd)
{
  GSubprocessLauncher *launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);

  g_subprocess_launcher_take_fd (launcher, progress_fd, PROGRESS_FD);
  g_subprocess_launcher_take_fd (launcher, control_fd, CONTROL_FD);
  /* A pipe would make the program wait for this process to read, or end it when this process ends. */
  g_subprocess_launcher_take_stdout_fd (launcher, dup (self->stdout_fd));
  g_subprocess_launcher_take_stderr_fd (launcher, dup (self->stderr_fd));
  if (launch->folder != NULL)
    g_subprocess_launcher_set_cwd (launcher, launch->folder);
  for (guint i = 0; launch->settings != NULL && launch->settings[i] != NULL; i++)
    {
      const char *value = strchr (launch->settings[i], '=');
      g_autofree char *name = g_strndup (launch->settings[i], (gsize)(value - launch->settings[i]));
      g_subprocess_launcher_setenv (launcher, name, value + 1, TRUE);
    }
  return launcher;
}

static GStrv
tool_arguments (const char *tool, const LnsLaunchRequest *launch)
{
  g_autoptr (GStrvBuilder) arguments = g_strv_builder_new ();

  g_strv_builder_add_many (arguments, tool, "profile", "--progress-fd=" G_STRINGIFY (PROGRESS_FD),
                           "--control-fd=" G_STRINGIFY (CONTROL_FD), NULL);
  g_strv_builder_addv (arguments, (const char **)launch->words);
  return g_strv_builder_end (arguments);
}

/* Opens a file without a name for the program's output. Returns -1 and sets ERROR if that fails. */
static int
open_output_file (GError **error)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("lanescope-XXXXXX", &path, error);

  if (fd < 0)
    return -1;
  g_unlink (path);
  fcntl (fd, F_SETFD, FD_CLOEXEC);
  fcntl (fd, F_SETFL, O_APPEND);
  return fd;
}

/* Opens a pipe to read from the tool and a socket to write to it: writing to a socket that nobody reads need not
 * raise SIGPIPE. [0] of each is this process's end. */
static gboolean
open_descriptors (LnsLaunchRecorder *self, int progress[2], int control[2], GError **error)
{
  self->stdout_fd = open_output_file (error);
  self->stderr_fd = self->stdout_fd >= 0 ? open_output_file (error) : -1;
  if (self->stderr_fd < 0 || !g_unix_open_pipe (progress, FD_CLOEXEC, error))
    return FALSE;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) == 0)
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (errno), g_strerror (errno));
  close_fd (&progress[0]);
  close_fd (&progress[1]);
  return FALSE;
}

/* Starts the tool. Sets the problem if it cannot be started. */
static void
spawn (LnsLaunchRecorder *self)
{
  g_autoptr (GError) error = NULL;

  self->tool =
      g_subprocess_launcher_spawnv (self->launcher, (const char *const *)self->arguments, &error);
  /* Closes the tool's ends here, so that this process sees when the tool closes them. */
  g_subprocess_launcher_close (self->launcher);
  if (self->tool == NULL)
    {
      set_problem (self, g_strdup (error->message));
      set_state (self, LNS_LAUNCH_RECORDER_FINISHED);
      return;
    }
  g_data_input_stream_read_line_async (self->progress, G_PRIORITY_DEFAULT, NULL, line_cb,
                                       g_object_ref (self));
  g_subprocess_wait_async (self->tool, NULL, tool_ended_cb, g_object_ref (self));
}

/* On a worker: returns when the folder PATH has answered, whatever it said. */
static void
look (GTask *task, gpointer source, gpointer path, GCancellable *cancellable)
{
  struct stat status;

  g_task_return_boolean (task, path == NULL || stat (path, &status) == 0);
}

static void
looked_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  LnsLaunchRecorder *self = LNS_LAUNCH_RECORDER (source);

  if (g_cancellable_is_cancelled (self->waiting))
    set_state (self, LNS_LAUNCH_RECORDER_FINISHED);
  else
    spawn (self);
}

gboolean
lns_launch_recorder_start (LnsLaunchRecorder *self, const LnsLaunchRequest *launch, GError **error)
{
  g_autofree char *tool = lns_launch_recorder_find_tool ();
  int progress[2], control[2];

  g_return_val_if_fail (self->launcher == NULL, FALSE);
  if (tool == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                           _ ("Cannot find the program lanescope, which records; install it beside "
                              "lanescope-ui or on the PATH"));
      return FALSE;
    }
  if (!open_descriptors (self, progress, control, error))
    return FALSE;
  self->launcher = prepare_launcher (self, launch, progress[1], control[1]);
  self->arguments = tool_arguments (tool, launch);
  self->folder = g_strdup (launch->folder);
  self->control_fd = control[0];
  g_autoptr (GInputStream) stream = g_unix_input_stream_new (progress[0], TRUE);
  self->progress = g_data_input_stream_new (stream);
  /* A new process enters the folder before its program runs, and this one waits until then: without end, if the folder is
   * on a mount that does not answer. */
  self->waiting = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, self->waiting, looked_cb, NULL);
  g_task_set_return_on_cancel (task, TRUE);
  g_task_set_task_data (task, g_strdup (launch->folder), g_free);
  g_task_run_in_thread (task, look);
  set_state (self, LNS_LAUNCH_RECORDER_STARTING);
  return TRUE;
}

static void
tell_tool (LnsLaunchRecorder *self, const char *line)
{
  if (send (self->control_fd, line, strlen (line), MSG_NOSIGNAL) < 0)
    g_debug ("The recorder does not listen: %s", g_strerror (errno));
}

/* Tells the tool to end the program, by LINE. */
static void
end (LnsLaunchRecorder *self, const char *line)
{
  if (self->control_fd < 0 || self->run.state == LNS_LAUNCH_RECORDER_STOPPING)
    return;
  self->stop_asked = TRUE;
  if (self->tool == NULL)
    g_cancellable_cancel (self->waiting);
  tell_tool (self, line);
  set_state (self, LNS_LAUNCH_RECORDER_STOPPING);
}

void
lns_launch_recorder_stop (LnsLaunchRecorder *self)
{
  end (self, "stop\n");
}

void
lns_launch_recorder_cancel (LnsLaunchRecorder *self)
{
  end (self, "cancel\n");
}

void
lns_launch_recorder_begin (LnsLaunchRecorder *self)
{
  if (self->control_fd >= 0)
    tell_tool (self, "start\n");
}

const LnsLaunchRun *
lns_launch_recorder_get_run (LnsLaunchRecorder *self)
{
  return &self->run;
}

static void
lns_launch_recorder_finalize (GObject *object)
{
  LnsLaunchRecorder *self = LNS_LAUNCH_RECORDER (object);

  close_fd (&self->control_fd);
  close_fd (&self->stdout_fd);
  close_fd (&self->stderr_fd);
  g_clear_object (&self->progress);
  g_clear_object (&self->tool);
  g_clear_object (&self->run.report);
  g_clear_object (&self->run.growing);
  g_clear_object (&self->launcher);
  g_clear_object (&self->waiting);
  g_strfreev (self->arguments);
  g_free (self->folder);
  g_free (self->run.problem);
  G_OBJECT_CLASS (lns_launch_recorder_parent_class)->finalize (object);
}

static void
lns_launch_recorder_class_init (LnsLaunchRecorderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_launch_recorder_finalize;
  changed_signal = g_signal_new ("changed", LNS_TYPE_LAUNCH_RECORDER, G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

static void
lns_launch_recorder_init (LnsLaunchRecorder *self)
{
  self->control_fd = -1;
  self->stdout_fd = -1;
  self->stderr_fd = -1;
}

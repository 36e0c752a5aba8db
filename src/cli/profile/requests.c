/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/profile/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- Switches --------------------------------------------------------------------------------- */

/* The values of `stop`, `cancel`, `keep` and `shutdown`. */
typedef struct
{
  const char *session, *kill;
  int64_t keep_ns;
  bool defer_report;
} EndOptions;

static const LnsOption start_options[] = {
  { LNS_PROFILE_SWITCH ("session-new", TEXT, session_new), .value_name = "NAME",
    .default_text = "start-ID",
    .help = N_ ("Begin a session with this name, which waits for `lanescope launch`.") },
  LNS_SESSION_SWITCH (LnsProfileOptions),
};

static const LnsOptionGroup *const start_groups[] = {
  &lns_profile_switches_report, &lns_profile_switches_range,    &lns_profile_switches_collection,
  &lns_profile_switches_cpu,    &lns_profile_switches_hardware, NULL,
};

static const LnsOption stop_options[] = {
  { LNS_SWITCH ("defer-report", FLAG, EndOptions, defer_report),
    .help = N_ ("Accepted for compatibility; has no effect. The report is readable while it is "
                "recorded.") },
  { LNS_SWITCH ("keep", SECONDS, EndOptions, keep_ns), .value_name = "SECONDS",
    .default_text = N_ ("all that `lanescope start` keeps"),
    .help = N_ ("Keep only this many of the last seconds.") },
  LNS_SESSION_SWITCH (EndOptions),
};

static const LnsOption shutdown_options[] = {
  { LNS_SWITCH ("kill", TEXT, EndOptions, kill), .choices = "none,sigterm,sigkill",
    .open_choices = true, .value_name = "none|sigterm|sigkill|N", .default_text = "sigterm",
    .help = N_ ("Signal for the program and its recorded processes.") },
  LNS_SESSION_SWITCH (EndOptions),
};

static const LnsOption session_options[] = { LNS_SESSION_SWITCH (EndOptions) };

/* --- The terminal that asks ------------------------------------------------------------------- */

bool
lns_cli_find_session (const char *text, LnsSessionEntry *ret_entry, LnsError *error)
{
  char *name = text != NULL ? lns_cli_session_name (text, error) : NULL;
  const bool found = (text == NULL || name != NULL) && lns_session_find (name, ret_entry, error);
  free (name);
  return found;
}

/* Says what became of ENTRY, which nobody owns any more; and forgets it. */
static int
tell_fate (const LnsSessionEntry *entry)
{
  const char *name = entry->name, *report = entry->report;
  LnsError error = { 0 };
  lns_session_forget (entry);
  if (entry->state == LNS_SESSION_ENDED && report[0] != '\0')
    {
      lns_cli_tell ("Session “%s” has ended with its program.", name);
      fprintf (stderr, "Generated:\n    %s\n", report);
      return 0;
    }
  if (entry->state == LNS_SESSION_ENDED)
    lns_cli_usage (&error, "session “%s” has ended with its program, and nothing was collected",
                   name);
  else if (entry->keeps)
    lns_error_set (&error, LNS_ERROR_IO, 0,
                   "the owner of session “%s” (process %d) was killed, and the seconds that --keep "
                   "held in its memory are lost; %s is empty, and the program runs on unrecorded",
                   name, entry->owner_pid, report);
  else if (report[0] != '\0')
    lns_error_set (&error, LNS_ERROR_IO, 0,
                   "the owner of session “%s” (process %d) was killed; the program runs on "
                   "unrecorded, and %s holds what was collected before",
                   name, entry->owner_pid, report);
  else
    lns_error_set (&error, LNS_ERROR_IO, 0,
                   "the owner of session “%s” (process %d) was killed; the program runs on "
                   "unrecorded, and nothing was collected",
                   name, entry->owner_pid);
  return lns_cli_fail (&error);
}

/* Has the owner of ENTRY do what ARGV says; prints its answer and returns its code. */
static int
ask (LnsSessionEntry *entry, const char *bytes, size_t n_bytes)
{
  LnsError error = { 0 };
  char *text = NULL;
  int code;
  if (entry->state == LNS_SESSION_LOST || entry->state == LNS_SESSION_ENDED)
    return tell_fate (entry);
  if (!lns_session_request_send (entry, bytes, n_bytes, &code, &text, &error))
    {
      /* It may have ended just now. */
      LnsSessionEntry now;
      if (lns_session_find (entry->name, &now, NULL) && now.id == entry->id &&
          (now.state == LNS_SESSION_LOST || now.state == LNS_SESSION_ENDED))
        return tell_fate (&now);
      return lns_cli_fail (&error);
    }
  fputs (text != NULL ? text : "", stderr);
  free (text);
  return code;
}

/* --- start ------------------------------------------------------------------------------------ */

/* Leaves the request for `launch`, in a session called as TEXT says, or NULL. */
static int
leave_start (const char *text, const char *bytes, size_t n_bytes)
{
  LnsSessionEntry entry;
  LnsError error = { 0 };
  char *name = text != NULL ? lns_cli_session_name (text, &error) : NULL;
  const bool done = (text == NULL || (name != NULL && lns_session_check_name (name, &error))) &&
                    lns_session_place_leave (name, bytes, n_bytes, &entry, &error);
  free (name);
  if (!done)
    return lns_cli_fail (&error);
  lns_cli_tell ("Session “%s” waits for `lanescope launch`.", entry.name);
  return 0;
}

/* Refuses here what would be refused there, and only when `launch` comes. */
static bool
check_start (const LnsProfileOptions *options, int argc, char **argv, LnsError *error)
{
  LnsProfile profile = { .options = *options };
  if (argc > 1)
    return lns_cli_usage (error, "start does not run a program; use `lanescope launch %s`",
                          argv[1]);
  if (!options->stop_on_exit && options->duration_ns < 0)
    lns_cli_say ("note", "--stop-on-exit=false: the report still ends with the program, because "
                         "nothing can be collected after it");
  const bool done =
      lns_profile_check_trace (&profile, error) && lns_profile_check_exports (&profile, error);
  free (profile.exports);
  return done;
}

/* Has the session that is meant begin its report, or the one to come. */
static int
ask_to_start (const LnsProfileOptions *options, const char *bytes, size_t n_bytes)
{
  LnsSessionEntry entry;
  LnsError error = { 0 };
  if (options->session_new != NULL)
    return leave_start (options->session_new, bytes, n_bytes);
  const bool is_there = lns_cli_find_session (options->session, &entry, &error);
  const bool is_over = is_there && lns_session_is_over (&entry);
  if (options->session == NULL && (is_over || error.code == ENOENT))
    return leave_start (NULL, bytes, n_bytes);
  if (is_there && entry.state != LNS_SESSION_WAITING)
    return ask (&entry, bytes, n_bytes);
  if (is_there)
    lns_cli_usage (
        &error,
        "session “%s” already waits for `lanescope launch`; use `lanescope cancel` to end it",
        entry.name);
  return lns_cli_fail (&error);
}

static int
start (const LnsCommand *command, int argc, char **argv)
{
  LnsProfileOptions options = LNS_PROFILE_DEFAULTS;
  LnsError error = { 0 };
  size_t n_bytes;
  int code = 0;
  /* As it was given: parsing takes the switches away. */
  char *bytes = lns_session_request_pack (argv, argc, &n_bytes, &error);
  if (bytes == NULL)
    return lns_cli_fail (&error);
  if (lns_cli_parse (command, &argc, argv, &options, &code))
    code = check_start (&options, argc, argv, &error) ? ask_to_start (&options, bytes, n_bytes)
                                                      : lns_cli_fail (&error);
  lns_cli_clear_lists (command, &options);
  free (bytes);
  return code;
}

const LnsCommand lns_command_start = {
  .name = "start",
  LNS_COMMAND_OPTIONS (start_options),
  .groups = start_groups,
  .refusals = lns_profile_refusals,
  .n_refusals = LNS_PROFILE_N_REFUSALS,
  .usage = N_ ("[switches]"),
  .summary = N_ ("begin a report of a program that `launch` runs, or is going to"),
  .run = start,
};

/* --- stop, cancel, keep, shutdown ------------------------------------------------------------- */

/* What a session that only waits for `launch` is asked. */
static int
obey_for_waiting (const LnsCommand *command, const LnsSessionEntry *entry)
{
  if (command == &lns_command_stop || command == &lns_command_keep)
    return lns_cli_refuse ("session “%s” is not collecting yet; it waits for `lanescope launch`",
                           entry->name);
  lns_session_forget (entry);
  lns_cli_tell ("Session “%s”, which waited for `lanescope launch`, has ended.", entry->name);
  return 0;
}

static int
end (const LnsCommand *command, int argc, char **argv)
{
  EndOptions values = { .kill = "sigterm" };
  LnsSessionEntry entry;
  LnsError error = { 0 };
  size_t n_bytes;
  int code = 0, signal_number;
  char *bytes = lns_session_request_pack (argv, argc, &n_bytes, &error);
  if (bytes == NULL)
    return lns_cli_fail (&error);
  if (!lns_cli_parse (command, &argc, argv, &values, &code))
    ;
  else if (!lns_profile_parse_kill (values.kill, &signal_number, &error) ||
           !lns_cli_find_session (values.session, &entry, &error))
    code = lns_cli_fail (&error);
  else if (entry.state == LNS_SESSION_WAITING)
    code = obey_for_waiting (command, &entry);
  else
    code = ask (&entry, bytes, n_bytes);
  free (bytes);
  return code;
}

const LnsCommand lns_command_stop = {
  .name = "stop",
  LNS_COMMAND_OPTIONS (stop_options),
  .usage = N_ ("[switches]"),
  .summary = N_ ("end the report that `start` began; the program goes on"),
  .details = N_ (
      "Returns when the report is written. The report of a `profile` ends as by its --duration."),
  .run = end,
};

const LnsCommand lns_command_cancel = {
  .name = "cancel",
  .usage = N_ ("[switches]"),
  .summary = N_ ("throw away the report that `start` began; the program goes on"),
  LNS_COMMAND_OPTIONS (session_options),
  .run = end,
};

const LnsCommand lns_command_keep = {
  .name = "keep",
  .usage = N_ ("[switches]"),
  .summary = N_ ("keep the seconds around now in a report that keeps only what is asked for"),
  .details = N_ ("For what begins with `--keep=SECONDS` and `--keep-on` or `--keep-steps`: half of "
                 "the seconds lie before now, "
                 "and the rest of the run is counted. May be repeated."),
  LNS_COMMAND_OPTIONS (session_options),
  .run = end,
};

const LnsCommand lns_command_shutdown = {
  .name = "shutdown",
  LNS_COMMAND_OPTIONS (shutdown_options),
  .usage = N_ ("[switches]"),
  .summary = N_ ("end a session and its program; a report that was begun is written"),
  .run = end,
};

/* --- The session ------------------------------------------------------------------------------ */

bool
lns_profile_take_start (LnsProfile *profile, LnsSessionRequest *request, LnsError *error)
{
  const LnsProfileOptions defaults = LNS_PROFILE_DEFAULTS;
  LnsProfileOptions *values = &profile->options;
  const char *help;
  int argc = request->argc;
  *lns_array_add (&profile->words) = request->bytes;
  request->bytes = NULL;
  if (profile->is_launch)
    {
      values->output = values->output_dir = values->mode = NULL;
      lns_option_list_clear (&values->export);
      values->stats = defaults.stats;
      values->force_overwrite = defaults.force_overwrite;
      values->stop_on_exit = defaults.stop_on_exit;
      values->duration_ns = defaults.duration_ns;
      values->delay_ns = defaults.delay_ns;
      values->keep_ns = defaults.keep_ns;
      values->after_collection_start = values->after_report_ready = NULL;
      values->capture_range = defaults.capture_range;
      values->capture_range_end = values->stop_on_range_end = values->nvtx_capture = NULL;
    }
  profile->folder = request->folder;
  return lns_options_parse (&lns_command_start, &argc, request->argv, values, &help, error) &&
         lns_profile_check_exports (profile, error);
}

bool
lns_stop_parse (int argc, char **argv, int64_t *ret_keep_ns, LnsError *error)
{
  EndOptions values = { 0 };
  const char *help;
  const bool done = lns_options_parse (&lns_command_stop, &argc, argv, &values, &help, error);
  *ret_keep_ns = values.keep_ns;
  return done;
}

bool
lns_shutdown_parse (int argc, char **argv, int *ret_signal, LnsError *error)
{
  EndOptions values = { .kill = "sigterm" };
  const char *help;
  return lns_options_parse (&lns_command_shutdown, &argc, argv, &values, &help, error) &&
         lns_profile_parse_kill (values.kill, ret_signal, error);
}

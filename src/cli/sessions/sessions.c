/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The commands by which other terminals have sessions begin reports and end
 * them. What a session is, and who owns it: capture/session/control/place.h. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "src/base/json.h"
#include "src/cli/profile/profile.h"
#include "src/cli/profile/requests.h"
#include "src/cli/sessions/sessions.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/terminal/language.h"

/* --- What the others have in common ----------------------------------------------------------- */

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
    lns_error_set (
        &error, LNS_ERROR_IO, 0,
        _ ("the owner of session “%s” (process %d) was killed, and the seconds that --keep "
           "held in its memory are lost; %s is empty, and the program runs on unrecorded"),
        name, entry->owner_pid, report);
  else if (report[0] != '\0')
    lns_error_set (&error, LNS_ERROR_IO, 0,
                   _ ("the owner of session “%s” (process %d) was killed; the program runs on "
                      "unrecorded, and %s holds what was collected before"),
                   name, entry->owner_pid, report);
  else
    lns_error_set (&error, LNS_ERROR_IO, 0,
                   _ ("the owner of session “%s” (process %d) was killed; the program runs on "
                      "unrecorded, and nothing was collected"),
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
  lns_profile_options_clear (&options);
  free (bytes);
  return code;
}

const LnsCommand lns_command_start = {
  LNS_START_SWITCHES,
  .usage = N_ ("[switches]"),
  .summary = N_ ("begin a report of a program that `launch` runs, or is going to"),
  .run = start,
};

/* --- stop, cancel, shutdown ------------------------------------------------------------------- */

static const LnsOption cancel_options[] = { LNS_SESSION_SWITCH (LnsEndOptions) };

/* What a session that only waits for `launch` is asked. */
static int
obey_for_waiting (const LnsCommand *command, const LnsSessionEntry *entry)
{
  if (command == &lns_command_stop)
    return lns_cli_refuse ("session “%s” is not collecting yet; it waits for `lanescope launch`",
                           entry->name);
  lns_session_forget (entry);
  lns_cli_tell ("Session “%s”, which waited for `lanescope launch`, has ended.", entry->name);
  return 0;
}

static int
end (const LnsCommand *command, int argc, char **argv)
{
  LnsEndOptions values = { .kill = "sigterm" };
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
  LNS_STOP_SWITCHES,
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
  .options = cancel_options,
  .n_options = sizeof cancel_options / sizeof *cancel_options,
  .run = end,
};

const LnsCommand lns_command_shutdown = {
  LNS_SHUTDOWN_SWITCHES,
  .usage = N_ ("[switches]"),
  .summary = N_ ("end a session and its program; a report that was begun is written"),
  .run = end,
};

/* --- sessions --------------------------------------------------------------------------------- */

typedef struct
{
  bool show_header;
  const char *format;
} ListValues;

static const LnsOption list_options[] = {
  { LNS_SWITCH ("show-header", BOOL, ListValues, show_header), .letter = 'p',
    .default_text = "true", .help = N_ ("Print the names of the columns first.") },
  { LNS_SWITCH ("output-format", CHOICE, ListValues, format), .letter = 'f',
    .choices = "plain,json", .default_text = "plain",
    .help = N_ ("Print columns for people, or an array of JSON objects.") },
};

static void
print_plain (const LnsSessionEntry *entry, int64_t seconds)
{
  char time[24];
  snprintf (time, sizeof time, "%02" PRId64 ":%02" PRId64, seconds / 60, seconds % 60);
  printf ("%16u %12s %27s %6d ", entry->id, time, lns_session_state_name (entry->state),
          entry->program_pid != 0);
  lns_cli_print_name (stdout, entry->name, strlen (entry->name));
  putchar ('\n');
}

static void
print_json (const LnsSessionEntry *entry, int64_t seconds, bool is_first)
{
  printf ("%s\n  {\"id\": %u, \"name\": ", is_first ? "" : ",", entry->id);
  lns_json_write_string (stdout, entry->name, strlen (entry->name));
  printf (", \"state\": \"%s\", \"seconds\": %" PRId64 ", \"owner\": %d, \"program\": %d"
          ", \"reports\": %u, \"report\": ",
          lns_session_state_name (entry->state), seconds, entry->owner_pid, entry->program_pid,
          entry->n_reports);
  if (entry->report[0] != '\0')
    lns_json_write_string (stdout, entry->report, strlen (entry->report));
  else
    fputs ("null", stdout);
  putchar ('}');
}

static int
sessions (const LnsCommand *command, int argc, char **argv)
{
  ListValues values = { .show_header = true, .format = "plain" };
  int code = 0;
  if (!lns_cli_parse (command, &argc, argv, &values, &code))
    return code;
  if (argc != 2 || strcmp (argv[1], "list") != 0)
    return lns_cli_refuse ("sessions takes one argument; use `lanescope sessions list`");
  struct timespec now;
  clock_gettime (CLOCK_REALTIME, &now);
  size_t n;
  LnsSessionEntry *entries = lns_session_list (&n);
  const bool is_json = strcasecmp (values.format, "json") == 0;
  bool is_first = true;
  if (is_json)
    putchar ('[');
  else if (values.show_header)
    printf ("%16s %12s %27s %6s %s\n", "ID", "TIME", "STATE", "LAUNCH", "NAME");
  for (size_t i = 0; i < n; i++)
    {
      const int64_t seconds =
          (now.tv_sec * INT64_C (1000000000) + now.tv_nsec - entries[i].began_ns) / 1000000000;
      if (entries[i].state == LNS_SESSION_ENDED)
        continue;
      if (is_json)
        print_json (&entries[i], seconds, is_first);
      else
        print_plain (&entries[i], seconds);
      is_first = false;
    }
  if (is_json)
    puts (is_first ? "]" : "\n]");
  free (entries);
  return 0;
}

const LnsCommand lns_command_sessions = {
  .name = "sessions",
  .usage = N_ ("list [switches]"),
  .summary = N_ ("list the sessions that run"),
  .details =
      N_ ("States: WaitingForLaunch (`start` came first), Launched (nothing is collected now),\n"
          "DelayedCollection, Collection, Generation (a report is being written), and Lost (its\n"
          "owner was killed; `lanescope stop` says where the report is)."),
  .options = list_options,
  .n_options = sizeof list_options / sizeof *list_options,
  .run = sessions,
};

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the run is asked to do while it lasts: by lines of --control-fd, and by the commands start, stop,
 * cancel and shutdown in other terminals, whose switches are read here as they were there. */

#include "src/cli/lns-cli-profile-run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- Lines of --control-fd -------------------------------------------------------------------- */

static void
obey_line (LnsRun *run, const char *line)
{
  if (strcmp (line, "start") == 0)
    lns_run_start (run);
  else if (strcmp (line, "stop") == 0)
    lns_run_cut_short (run);
  else if (strcmp (line, "cancel") == 0)
    {
      lns_run_cancel (run);
      lns_run_end_processes (run, run->profile->kill_signal);
    }
  else if (strcmp (line, "kill") == 0)
    lns_run_end_processes (run, SIGKILL);
  else
    lns_cli_say ("warning", "--control-fd: “%s” is not start, stop, cancel or kill", line);
}

void
lns_run_take_control (LnsRun *run)
{
  char bytes[256];
  ssize_t n = read (run->control_fd, bytes, sizeof bytes);
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
    run->control_fd = -1;
  for (ssize_t i = 0; i < n; i++)
    if (bytes[i] == '\n')
      {
        run->control[run->n_control] = '\0';
        run->n_control = 0;
        obey_line (run, run->control);
      }
    else if (run->n_control < sizeof run->control - 1)
      run->control[run->n_control++] = bytes[i];
}

/* --- Requests of other terminals -------------------------------------------------------------- */

/* What a request is told where it cannot be; a sentence. */
static bool
refuse (const LnsRun *run, LnsError *error, const char *why)
{
  return lns_error_set (error, LNS_ERROR_USAGE, 0, "the session “%s” %s",
                        run->profile->place.entry.name, why);
}

/* Whether there is a report, or one to come, that can be ended. */
static bool
check_collects (const LnsRun *run, LnsError *error)
{
  return run->is_collecting ||
         refuse (run, error, "collects nothing now: `lanescope start` begins a report");
}

static bool
obey_start (LnsRun *run, LnsSessionRequest *request, LnsError *error)
{
  LnsProfile *profile = run->profile;
  const char *output = profile->options.output;
  const bool is_created = lns_session_report (profile->session) != NULL;
  if (run->is_collecting)
    return refuse (run, error, "collects already: `lanescope stop` ends its report");
  if (profile->target.range_kind != LNS_WIRE_RANGE_NONE)
    return refuse (run, error, "had a capture range, which is over: launch the program again");
  profile->options.output = NULL;
  if (!lns_profile_take_start (profile, request, error))
    return false;
  if (strcmp (profile->options.capture_range, "none") != 0)
    {
      profile->options.capture_range = "none";
      return refuse (run, error,
                     "runs its program already, which looks for capture ranges from its start "
                     "only: give --capture-range to a `lanescope start` before `lanescope launch`");
    }
  if (is_created && profile->options.output == NULL)
    {
      profile->options.output = output;
      lns_session_set_keep (profile->session, profile->options.keep_ns);
    }
  else
    {
      lns_session_cancel_report (profile->session);
      if (!lns_profile_create_report (profile, error))
        return false;
    }
  lns_run_start_in_time (run);
  return true;
}

static bool
obey_stop (LnsRun *run, LnsSessionRequest *request, LnsError *error)
{
  const int64_t kept_ns = run->profile->options.keep_ns;
  int64_t keep_ns;
  if (!check_collects (run, error) ||
      !lns_stop_parse (request->argc, request->argv, &keep_ns, error))
    return false;
  if (keep_ns > 0 && (kept_ns == 0 || keep_ns > kept_ns))
    lns_run_print (run,
                   "lanescope: warning: --keep: the report holds %s: give --keep=%g to "
                   "`lanescope start` next time\n",
                   kept_ns == 0 ? "all that was collected" : "less, which `start` asked for",
                   (double)keep_ns / 1e9);
  else if (keep_ns > 0)
    lns_session_set_keep (run->profile->session, keep_ns);
  lns_run_cut_short (run);
  return true;
}

static bool
obey_shutdown (LnsRun *run, LnsSessionRequest *request, LnsError *error)
{
  int signal_number;
  if (!lns_shutdown_parse (request->argc, request->argv, &signal_number, error))
    return false;
  if (run->is_collecting)
    lns_run_stop (run);
  else if (lns_session_report (run->profile->session) != NULL)
    lns_run_cancel (run);
  lns_run_print (run, "The session “%s” has ended.\n", run->profile->place.entry.name);
  run->is_over = true;
  lns_session_set_recording (run->profile->session, false);
  lns_run_end_processes (run, signal_number);
  return true;
}

/* Does what REQUEST asks for. */
static bool
obey (LnsRun *run, LnsSessionRequest *request, LnsError *error)
{
  const char *verb = request->argv[0];
  if (strcmp (verb, "start") == 0)
    return obey_start (run, request, error);
  if (strcmp (verb, "shutdown") == 0)
    return obey_shutdown (run, request, error);
  if (strcmp (verb, "stop") == 0)
    return obey_stop (run, request, error);
  if (strcmp (verb, "cancel") != 0)
    return refuse (run, error, "was asked for what this version does not know");
  if (lns_session_report (run->profile->session) == NULL && !check_collects (run, error))
    return false;
  lns_run_cancel (run);
  if (!run->profile->is_launch)
    lns_run_end_processes (run, run->profile->kill_signal);
  return true;
}

void
lns_run_take_requests (LnsRun *run)
{
  LnsSessionRequest request;
  while (!run->is_over && lns_session_request_receive (run->profile->place.socket_fd, &request))
    {
      LnsError error = { 0 };
      char *text = NULL;
      size_t n_bytes;
      run->answer = open_memstream (&text, &n_bytes);
      /* What fails now is the asker's; what failed before was another's. */
      LnsProfile *profile = run->profile;
      const bool has_failed = profile->report_failed;
      profile->report_failed = false;
      const bool done = obey (run, &request, &error), is_whole = done && !profile->report_failed;
      profile->report_failed |= has_failed;
      if (run->answer != NULL && !done)
        fprintf (run->answer, "lanescope: error: %s\n", error.message);
      if (run->answer != NULL)
        fclose (run->answer);
      run->answer = NULL;
      lns_session_request_answer (&request, is_whole ? 0 : LNS_EXIT_FAILED,
                                  text != NULL ? text : "");
      free (text);
    }
}

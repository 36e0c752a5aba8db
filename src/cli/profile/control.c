/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the run is asked to do while it lasts: by lines of --control-fd, and by the commands start, stop,
 * cancel and shutdown in other terminals, whose switches are read here as they were there. */

#include "src/cli/profile/run.h"

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

/* Whether the program's processes can tell of the range that is asked for. */
static bool
check_range_is_traced (const LnsRun *run, LnsError *error)
{
  const LnsWireOptions *target = &run->profile->target;
  const bool is_nvtx = target->range_kind == LNS_WIRE_RANGE_NVTX;
  const uint32_t trace = is_nvtx ? LNS_WIRE_TRACE_NVTX : LNS_WIRE_TRACE_CUDA;
  return target->range_kind == LNS_WIRE_RANGE_NONE || (target->traces & trace) != 0 ||
         lns_error_set (error, LNS_ERROR_USAGE, 0,
                        "--capture-range=%s needs --trace=%s of `lanescope %s`, which runs the "
                        "program of session “%s”: run it again with both",
                        is_nvtx ? "nvtx" : "cudaProfilerApi", is_nvtx ? "nvtx" : "cuda",
                        run->profile->command->name, run->profile->place.entry.name);
}

/* Makes ready the report, or those of capture ranges, that are to begin. OUTPUT is what they were to be
 * called before this was asked for. */
static bool
prepare_start (LnsRun *run, const char *output, LnsError *error)
{
  LnsProfile *profile = run->profile;
  const bool has_ranges = profile->target.range_kind != LNS_WIRE_RANGE_NONE;
  const bool is_created = lns_session_report (profile->session) != NULL;
  const bool is_named = profile->options.output != NULL;
  if (!is_named && (is_created || !profile->is_launch))
    profile->options.output = output;
  if (is_created && !is_named && !has_ranges)
    {
      lns_session_set_keep (profile->session, profile->options.keep_ns);
      return true;
    }
  lns_session_cancel_report (profile->session);
  return has_ranges ? lns_profile_prepare_ranges (profile, error)
                    : lns_profile_create_report (profile, error);
}

static bool
obey_start (LnsRun *run, LnsSessionRequest *request, LnsError *error)
{
  LnsProfile *profile = run->profile;
  const char *output = profile->options.output;
  const bool had_ranges = profile->target.range_kind != LNS_WIRE_RANGE_NONE;
  if (run->is_collecting)
    return refuse (run, error, "collects already: `lanescope stop` ends its report");
  profile->options.output = NULL;
  if (had_ranges)
    lns_session_forget_ranges (profile->session);
  if (!lns_profile_take_start (profile, request, error) ||
      !lns_profile_check_range (profile, error) || !check_range_is_traced (run, error) ||
      !prepare_start (run, output, error))
    {
      profile->target.range_kind = LNS_WIRE_RANGE_NONE;
      profile->options.output = output;
      return false;
    }
  run->n_ranges = 0;
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
      /* Whoever is told that the session has ended finds none. */
      if (run->is_over)
        lns_session_place_close (&profile->place, profile->is_launch);
      lns_session_request_answer (&request, is_whole ? 0 : LNS_EXIT_FAILED,
                                  text != NULL ? text : "");
      free (text);
    }
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The run of `profile` and `launch`: from the program's start to its end. One thread waits for signals,
 * processes, control lines, requests of other terminals and times, whichever comes first. `profile`
 * collects once, and the end of the report is the end of the run; `launch` collects as often as it is
 * asked to, and each time makes a report of its own. */

#include "src/cli/profile/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/session/control/request.h"
#include "src/base/array.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/cli/profile/children.h"
#include "src/cli/profile/requests.h"
#include "src/cli/terminal/signals.h"
#include "src/cli/terminal/terminal.h"

#define NEVER INT64_MAX

#define TICK_NS INT64_C (250000000)

/* How long after Ctrl-C a program may take to end by itself. */
#define GRACE_NS INT64_C (5000000000)

/* How often hidden output is looked at. */
#define TRIM_MS 1000

/* What the run does now. Capture ranges come and go while it collects: Run.range_path tells of them. */
typedef enum
{
  STATE_IDLE = 1,   /* nothing is collected until `start` asks for it             */
  STATE_DELAYED,    /* collecting begins at a time, Run.start_at_ns               */
  STATE_COLLECTING, /* a report grows, or a capture range is waited for or in one */
  STATE_STOPPING,   /* the report is being written                                */
  STATE_OVER,       /* nothing is collected any more; the program may run on      */
} State;

typedef enum
{
  EVENT_DELAY,    /* collecting is asked for, after the time that --delay gives   */
  EVENT_START,    /* it is asked for now, or that time has passed                 */
  EVENT_STOP,     /* the report is to end with what it has                        */
  EVENT_WRITTEN,  /* it is written                                                */
  EVENT_GIVE_UP,  /* the report is thrown away, or the last capture range is over */
  EVENT_SHUTDOWN, /* the session ends, or all its processes have ended            */
} Event;

typedef struct
{
  LnsProfile *profile;
  LnsChildren children;
  LnsHooks hooks;
  State state;
  int64_t start_at_ns, stop_at_ns, tick_at_ns; /* CLOCK_MONOTONIC, or NEVER */
  int control_fd;                              /* -1: none, or its writer is gone */
  char control[64];
  size_t n_control;      /* bytes of an unfinished line */
  unsigned n_interrupts; /* Ctrl-C */
  int interrupt;         /* the last signal that asked to end the run; 0: none did */
  bool is_cut_off;       /* such a signal came when the program had ended */
  unsigned n_ranges;     /* capture ranges that began; none where there are none */
  char *range_path;      /* of the report of the one that is open; NULL: none is */
  bool has_ended_ranges; /* the last of them has its report; what belongs to it may still come */
  LNS_ARRAY (char *) unexamined; /* paths of reports that are written; owned */
  LnsReportResult result;
  double lag_ms; /* from the last process's end to the written report */
} Run;

/* --- States ----------------------------------------------------------------------------------- */

/* In the table below: `launch` is idle and may be asked for more; `profile` is over. */
#define REST (STATE_OVER + 1)

/* Moves RUN to the state that EVENT leads to. False where it means nothing in the state that it is in. */
static bool
move (Run *run, Event event)
{
  static const unsigned char states[][EVENT_SHUTDOWN + 1] = {
    [STATE_IDLE] = { [EVENT_DELAY] = STATE_DELAYED,
                     [EVENT_START] = STATE_COLLECTING,
                     [EVENT_STOP] = STATE_STOPPING,
                     [EVENT_GIVE_UP] = REST,
                     [EVENT_SHUTDOWN] = STATE_OVER },
    [STATE_DELAYED] = { [EVENT_DELAY] = STATE_DELAYED,
                        [EVENT_START] = STATE_COLLECTING,
                        [EVENT_STOP] = STATE_STOPPING,
                        [EVENT_GIVE_UP] = REST,
                        [EVENT_SHUTDOWN] = STATE_OVER },
    [STATE_COLLECTING] = { [EVENT_STOP] = STATE_STOPPING,
                           [EVENT_GIVE_UP] = REST,
                           [EVENT_SHUTDOWN] = STATE_OVER },
    [STATE_STOPPING] = { [EVENT_WRITTEN] = REST },
    [STATE_OVER] = { [EVENT_SHUTDOWN] = STATE_OVER },
  };
  const bool is_launch = run->profile->is_launch;
  const unsigned next = states[run->state][event];
  /* The report of `profile` is there from the beginning; that of `launch` only while it collects. */
  if (next == 0 || (event == EVENT_STOP && is_launch && run->state != STATE_COLLECTING))
    return false;
  run->state = next != REST ? (State)next : is_launch ? STATE_IDLE : STATE_OVER;
  if (run->state != STATE_DELAYED)
    run->start_at_ns = NEVER;
  if (event == EVENT_STOP || event == EVENT_GIVE_UP || event == EVENT_SHUTDOWN)
    run->stop_at_ns = NEVER;
  return true;
}

/* --- Reports ---------------------------------------------------------------------------------- */

static bool
has_ranges (const Run *run)
{
  return run->profile->target.range_kind != LNS_WIRE_RANGE_NONE;
}

/* Tells other terminals how far the run is. */
static void
tell_state (Run *run)
{
  LnsProfile *profile = run->profile;
  LnsSessionEntry *entry = &profile->place.entry;
  const char *path = run->range_path != NULL ? run->range_path : profile->path;
  const bool collects = has_ranges (run) ? run->range_path != NULL : run->state == STATE_COLLECTING;
  entry->program_pid = profile->pid;
  entry->keeps = collects && profile->options.keep_ns > 0;
  const bool is_to_come =
      !profile->is_launch || run->state == STATE_COLLECTING || run->state == STATE_DELAYED;
  entry->state = collects     ? LNS_SESSION_COLLECTING
                 : is_to_come ? LNS_SESSION_DELAYED
                              : LNS_SESSION_LAUNCHED;
  if (collects && path != NULL)
    snprintf (entry->report, sizeof entry->report, "%s", path);
  lns_session_place_tell (&profile->place);
}

/* Begins to collect into the report that was created. */
static void
start (Run *run)
{
  LnsProfile *profile = run->profile;
  if (!move (run, EVENT_START))
    return;
  run->n_interrupts = 0; /* those before were the program's alone */
  if (profile->options.duration_ns >= 0 && !has_ranges (run))
    run->stop_at_ns = lns_children_now_ns () + profile->options.duration_ns;
  lns_session_start_report (profile->session);
  if (!has_ranges (run))
    {
      if (profile->is_launch || profile->options.start_later)
        lns_session_set_recording (profile->session, true);
      lns_progress_range (profile, "start");
      lns_hooks_call (&run->hooks, profile, "after-collection-start",
                      profile->options.after_collection_start, NULL);
    }
  lns_profile_print (profile, "Collecting data...\n");
  tell_state (run);
}

/* The same, when the delay is over that the switches ask for. */
static void
start_in_time (Run *run)
{
  const int64_t delay_ns = run->profile->options.delay_ns;
  if (delay_ns == 0)
    start (run);
  else if (move (run, EVENT_DELAY))
    run->start_at_ns = lns_children_now_ns () + delay_ns;
  tell_state (run);
}

static void
tell_diagnostics (Run *run, const LnsReportResult *result)
{
  for (size_t i = 0; i < result->n_diagnostics; i++)
    {
      const LnsReportDiagnostic *item = &result->diagnostics[i];
      lns_profile_say (run->profile, item->severity, item->code, item->text);
    }
}

/* Examines the reports that wait for it, unless more is being recorded: the doctor ends this process if memory runs
 * out, and must not end a recording. Hooks may have moved reports meanwhile. */
static void
examine (Run *run)
{
  if (run->state == STATE_COLLECTING)
    return;
  for (size_t i = 0; i < run->unexamined.n; i++)
    {
      if (access (run->unexamined.items[i], F_OK) == 0)
        lns_profile_examine (run->profile, run->unexamined.items[i]);
      free (run->unexamined.items[i]);
    }
  lns_array_clear (&run->unexamined);
}

static void
examine_in_time (Run *run, const char *path)
{
  char *copy = strdup (path);
  char **item = copy != NULL ? lns_array_try_add (&run->unexamined) : NULL;
  if (item != NULL)
    *item = copy;
  else
    {
      free (copy);
      lns_profile_tell (run->profile, "warning", "cannot examine the report: %s", "out of memory");
    }
  examine (run);
}

/* What there is to say of the report at PATH. */
static void
tell (Run *run, const char *path, const LnsReportResult *result)
{
  LnsProfile *profile = run->profile;
  tell_diagnostics (run, result);
  if (result->is_written)
    {
      char events[LNS_FORMAT_SIZE], lost[LNS_FORMAT_SIZE], processes[LNS_FORMAT_SIZE];
      lns_profile_finish_report (profile, path);
      lns_profile_print (
          profile, "%s event%s, %s lost, %s %s\n", lns_format_unsigned (result->n_events, events),
          lns_plural (result->n_events, "", "s"), lns_format_unsigned (result->n_lost, lost),
          lns_format_unsigned (result->n_processes, processes),
          lns_plural (result->n_processes, "process", "processes"));
      if (result->kept_bytes > 0)
        lns_profile_tell (profile, NULL, "The last seconds took %s of memory",
                          lns_format_bytes (result->kept_bytes, events));
      lns_progress_generated (profile, path, result);
      examine_in_time (run, path);
      profile->place.entry.n_reports++;
      snprintf (profile->place.entry.report, sizeof profile->place.entry.report, "%s", path);
      lns_hooks_call (&run->hooks, profile, "after-report-ready",
                      profile->options.after_report_ready, path);
    }
  const bool failed = !result->is_written || result->error.domain != LNS_ERROR_NONE;
  profile->report_failed |= failed;
  if (failed)
    {
      lns_profile_tell (profile, "error", "%s", result->error.message);
      lns_progress_error (profile, "LNS-REP-001", result->error.message);
    }
}

/* Says what keeps the report from being written. */
static void
take_trouble (Run *run)
{
  LnsError trouble;
  if (!lns_session_next_trouble (run->profile->session, &trouble))
    return;
  lns_profile_say (run->profile, LNS_SEVERITY_WARNING, LNS_TROUBLE_CODE, trouble.message);
}

/* No range began. Who could not be recorded was not heard of it either, and is told of before. */
static void
tell_no_range (Run *run)
{
  const LnsCollectorCounters processes = lns_session_processes (run->profile->session);
  const char *text =
      processes.n_late + processes.n_refused > 0
          ? LNS_SENTENCE ("no report: the capture range did not begin in any recorded process")
          : LNS_SENTENCE ("no report: the capture range never began; the program did not make "
                          "that call, or ended before it");
  tell_diagnostics (run, &run->result);
  run->profile->lacks_data = true;
  lns_profile_say (run->profile, LNS_SEVERITY_WARNING, "LNS-RANGE-001", text);
}

static void
forget_range (Run *run)
{
  free (run->range_path);
  run->range_path = NULL;
}

/* --- Capture ranges --------------------------------------------------------------------------- */

static void
begin_range (Run *run, LnsRangeNews *news)
{
  run->n_ranges++;
  forget_range (run);
  run->range_path = news->path;
  if (run->state == STATE_COLLECTING && run->profile->options.duration_ns >= 0)
    run->stop_at_ns = lns_children_now_ns () + run->profile->options.duration_ns;
  lns_profile_print (run->profile, "Capture range started in the application.\n");
  lns_progress_range (run->profile, "start");
  lns_hooks_call (&run->hooks, run->profile, "after-collection-start",
                  run->profile->options.after_collection_start, NULL);
  tell_state (run);
}

/* A range has ended, or its report could not be made. */
static void
end_range (Run *run, LnsRangeNews *news)
{
  LnsProfile *profile = run->profile;
  const LnsWireOptions *target = &profile->target;
  const bool repeats = target->range_end == LNS_WIRE_RANGE_END_REPEAT ||
                       target->range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN;
  if (run->range_path != NULL)
    {
      lns_profile_print (profile, "Capture range ended in the application.\nGenerating '%s'\n",
                         run->range_path);
      lns_progress_range (profile, "stop");
    }
  tell (run, run->range_path != NULL ? run->range_path : news->path, &news->result);
  forget_range (run);
  free (news->path);
  run->stop_at_ns = NEVER;
  lns_report_result_clear (&news->result);
  tell_state (run);
  if (run->state != STATE_COLLECTING ||
      (repeats && (target->n_ranges == 0 || news->number < target->n_ranges)))
    return;
  move (run, EVENT_GIVE_UP);
  run->has_ended_ranges = true;
  lns_session_set_recording (profile->session, false);
  tell_state (run);
  if (target->range_end == LNS_WIRE_RANGE_END_STOP_SHUTDOWN ||
      target->range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN)
    lns_children_end (&run->children, profile, profile->kill_signal);
}

/* Does what is to be done for capture ranges that began or ended. */
static void
take_ranges (Run *run)
{
  LnsRangeNews news;
  while (lns_session_next_range (run->profile->session, &news))
    if (news.is_end)
      end_range (run, &news);
    else
      begin_range (run, &news);
}

/* --- Ends of reports --------------------------------------------------------------------------- */

/* Ends the report with what there is, and the run but of `launch`. */
static void
stop (Run *run)
{
  LnsProfile *profile = run->profile;
  if (!move (run, EVENT_STOP))
    return;
  if (!has_ranges (run))
    lns_profile_print (profile, "Generating '%s'\n", profile->path);
  profile->place.entry.state = LNS_SESSION_GENERATING;
  lns_session_place_tell (&profile->place);
  lns_report_result_clear (&run->result);
  lns_session_stop_report (profile->session, &run->result);
  lns_session_set_recording (profile->session, false);
  take_trouble (run);
  take_ranges (run);
  lns_progress_range (profile, "stop");
  int64_t end_ns = lns_session_processes (profile->session).last_end_ns;
  if (run->children.last_end_ns > end_ns)
    end_ns = run->children.last_end_ns;
  run->lag_ms = end_ns > 0 ? (double)(lns_children_now_ns () - end_ns) / 1e6 : 0;
  if (!has_ranges (run))
    tell (run, profile->path, &run->result);
  else if (run->range_path != NULL)
    {
      lns_profile_print (profile, "Generating '%s'\n", run->range_path);
      tell (run, run->range_path, &run->result);
    }
  else if (run->n_ranges == 0)
    tell_no_range (run);
  else
    tell_diagnostics (run, &run->result); /* what no report was there for */
  forget_range (run);
  move (run, EVENT_WRITTEN);
  tell_state (run);
}

/* The same, and ends the program, but not that of `launch`. */
static void
cut_short (Run *run)
{
  stop (run);
  if (!run->profile->is_launch)
    lns_children_end (&run->children, run->profile, run->profile->kill_signal);
}

/* Throws the report away. */
static void
cancel (Run *run)
{
  if (!move (run, EVENT_GIVE_UP))
    return;
  forget_range (run);
  lns_session_set_recording (run->profile->session, false);
  lns_session_cancel_report (run->profile->session);
  lns_profile_tell (run->profile, NULL, "Cancelled: no report was written");
  tell_state (run);
}

/* Says, at the program's end, what of the last capture range came after its report. */
static void
tell_late (Run *run)
{
  LnsReportResult late;
  if (!run->has_ended_ranges)
    return;
  lns_session_stop_report (run->profile->session, &late);
  tell_diagnostics (run, &late);
  lns_report_result_clear (&late);
}

/* --- Lines of --control-fd -------------------------------------------------------------------- */

static void
obey_line (Run *run, const char *line)
{
  if (strcmp (line, "start") == 0)
    start (run);
  else if (strcmp (line, "stop") == 0)
    cut_short (run);
  else if (strcmp (line, "cancel") == 0)
    {
      cancel (run);
      lns_children_end (&run->children, run->profile, run->profile->kill_signal);
    }
  else if (strcmp (line, "kill") == 0)
    lns_children_end (&run->children, run->profile, SIGKILL);
  else
    lns_cli_say ("warning", "--control-fd: “%s” is not start, stop, cancel or kill", line);
}

static void
take_control (Run *run)
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

/* Whether there is a report, or one to come, that can be ended. */
static bool
check_collects (const Run *run, LnsError *error)
{
  return run->state == STATE_COLLECTING ||
         lns_cli_usage (error,
                        "session “%s” is not collecting; use `lanescope start` to begin a report",
                        run->profile->place.entry.name);
}

/* Whether the program's processes can tell of the range that is asked for. */
static bool
check_range_is_traced (const Run *run, LnsError *error)
{
  const LnsWireOptions *target = &run->profile->target;
  const bool is_nvtx = target->range_kind == LNS_WIRE_RANGE_NVTX;
  const uint32_t trace = is_nvtx ? LNS_WIRE_TRACE_NVTX : LNS_WIRE_TRACE_CUDA;
  return target->range_kind == LNS_WIRE_RANGE_NONE || (target->traces & trace) != 0 ||
         lns_cli_usage (error,
                        "--capture-range=%s needs --trace=%s, without which `lanescope %s` runs "
                        "session “%s”; run it again with both",
                        is_nvtx ? "nvtx" : "cudaProfilerApi", is_nvtx ? "nvtx" : "cuda",
                        run->profile->command->name, run->profile->place.entry.name);
}

/* Makes ready the report, or those of capture ranges, that are to begin. OUTPUT is what they were to be
 * called before this was asked for. */
static bool
prepare_start (Run *run, const char *output, LnsError *error)
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
obey_start (Run *run, LnsSessionRequest *request, LnsError *error)
{
  LnsProfile *profile = run->profile;
  const char *output = profile->options.output;
  const bool had_ranges = profile->target.range_kind != LNS_WIRE_RANGE_NONE;
  if (run->state == STATE_COLLECTING)
    return lns_cli_usage (error,
                          "session “%s” is already collecting; `lanescope stop` ends its report",
                          profile->place.entry.name);
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
  start_in_time (run);
  return true;
}

static bool
obey_stop (Run *run, LnsSessionRequest *request, LnsError *error)
{
  const int64_t kept_ns = run->profile->options.keep_ns;
  int64_t keep_ns;
  if (!check_collects (run, error) ||
      !lns_stop_parse (request->argc, request->argv, &keep_ns, error))
    return false;
  if (keep_ns > 0 && kept_ns == 0)
    lns_profile_tell (run->profile, "warning",
                      "--keep: the report holds all that was collected; next time, use `lanescope "
                      "start --keep=%g`",
                      (double)keep_ns / 1e9);
  else if (keep_ns > kept_ns)
    lns_profile_tell (run->profile, "warning",
                      "--keep: the report holds less, as `lanescope start` asked; next time, use "
                      "`lanescope start --keep=%g`",
                      (double)keep_ns / 1e9);
  else if (keep_ns > 0)
    lns_session_set_keep (run->profile->session, keep_ns);
  cut_short (run);
  return true;
}

static bool
obey_shutdown (Run *run, LnsSessionRequest *request, LnsError *error)
{
  int signal_number;
  if (!lns_shutdown_parse (request->argc, request->argv, &signal_number, error))
    return false;
  if (run->state == STATE_COLLECTING)
    stop (run);
  else if (lns_session_report (run->profile->session) != NULL)
    cancel (run);
  lns_profile_tell (run->profile, NULL, "Session “%s” has ended", run->profile->place.entry.name);
  move (run, EVENT_SHUTDOWN);
  lns_session_set_recording (run->profile->session, false);
  lns_children_end (&run->children, run->profile, signal_number);
  return true;
}

/* Does what REQUEST asks for. */
static bool
obey (Run *run, LnsSessionRequest *request, LnsError *error)
{
  const char *verb = request->argv[0];
  if (strcmp (verb, "start") == 0)
    return obey_start (run, request, error);
  if (strcmp (verb, "shutdown") == 0)
    return obey_shutdown (run, request, error);
  if (strcmp (verb, "stop") == 0)
    return obey_stop (run, request, error);
  if (strcmp (verb, "cancel") != 0)
    return lns_cli_usage (
        error, "session “%s” does not know the request “%s”; its Lanescope is of another version",
        run->profile->place.entry.name, verb);
  if (lns_session_report (run->profile->session) == NULL && !check_collects (run, error))
    return false;
  cancel (run);
  if (!run->profile->is_launch)
    lns_children_end (&run->children, run->profile, run->profile->kill_signal);
  return true;
}

static void
take_requests (Run *run)
{
  LnsProfile *profile = run->profile;
  LnsSessionRequest request;
  while (run->state != STATE_OVER &&
         lns_session_request_receive (profile->place.socket_fd, &request))
    {
      LnsError error = { 0 };
      char *text = NULL;
      size_t n_bytes;
      profile->answer = lns_memory_stream (&text, &n_bytes);
      /* What fails now is the asker's; what failed before was another's. */
      const bool has_failed = profile->report_failed;
      profile->report_failed = false;
      const bool done = obey (run, &request, &error), is_whole = done && !profile->report_failed;
      profile->report_failed |= has_failed;
      if (!done)
        {
          lns_text_make_plain (error.message);
          fprintf (profile->answer, "lanescope: error: %s\n", error.message);
        }
      lns_memory_stream_end (profile->answer);
      profile->answer = NULL;
      /* Whoever is told that the session has ended finds none. */
      if (run->state == STATE_OVER)
        lns_session_place_close (&profile->place, profile->is_launch);
      lns_session_request_answer (&request, is_whole ? 0 : LNS_EXIT_FAILED, text);
      free (text);
    }
}

/* --- Signals ---------------------------------------------------------------------------------- */

/* Ctrl-C has reached the program as well. It may end by itself; if it takes long, or at a second
 * one, the report ends without it; a third leaves it no choice. */
static void
interrupt (Run *run)
{
  run->n_interrupts++;
  if (run->profile->is_launch && run->state != STATE_COLLECTING && run->state != STATE_OVER)
    return; /* there is no report to end, and the program is nobody's but its own */
  if (run->n_interrupts == 1 && run->state != STATE_OVER)
    {
      int64_t until_ns = lns_children_now_ns () + GRACE_NS;
      if (until_ns < run->stop_at_ns)
        run->stop_at_ns = until_ns;
    }
  else if (run->n_interrupts < 3)
    cut_short (run);
  else
    lns_children_end (&run->children, run->profile, SIGKILL);
}

/* Whether SIGNAL_NUMBER asks to end the run. The program decides what such a signal means as long as it
 * runs, but for those of the keyboard. */
static bool
is_interrupt (const Run *run, int signal_number)
{
  const bool is_of_keyboard = signal_number == SIGINT || signal_number == SIGQUIT;
  const bool is_to_end = signal_number == SIGTERM || signal_number == SIGHUP;
  return (is_of_keyboard || (is_to_end && run->profile->has_exited)) &&
         !lns_signals_was_ignored (signal_number);
}

static void
take_signal (Run *run, const siginfo_t *info)
{
  LnsProfile *profile = run->profile;
  const int number = info->si_signo;
  const bool had_exited = profile->has_exited;
  /* Before anything is sent: nothing is sent to a process that is none. */
  lns_children_reap (&run->children, &run->hooks, profile);
  if (number == SIGCHLD)
    return;
  /* What the terminal sends, it sends to the program too: one that has ended meanwhile may have done so
   * because of it, in its own way. */
  bool is_sent = info->si_code != SI_KERNEL && info->si_pid != getpid ();
  if (is_sent && !profile->has_exited)
    kill (profile->pid, number);
  if (is_interrupt (run, number))
    {
      run->interrupt = number;
      run->is_cut_off |= is_sent ? profile->has_exited : had_exited;
      interrupt (run);
    }
  if (number == SIGTSTP)
    lns_signals_stop_self (number);
}

static void
take_signals (Run *run)
{
  siginfo_t info;
  while (lns_signals_next (&info))
    take_signal (run, &info);
}

/* The signal that this process ends by, as the program would have without us: the one that killed the
 * program, if that was not our doing, or the one that ended the run. Who waits for us sees by it that a
 * loop around us is to stop. 0: none, as the program ended by itself, whatever was sent. */
static int
end_signal (const Run *run)
{
  if (run->profile->exit_signal != 0 && !run->children.has_killed)
    return run->profile->exit_signal;
  return run->children.has_killed || run->is_cut_off ? run->interrupt : 0;
}

/* --- The loop --------------------------------------------------------------------------------- */

/* Whether the processes that the report waits for have ended. */
static bool
has_ended (Run *run)
{
  const LnsProfile *profile = run->profile;
  if (!profile->has_exited)
    return false;
  /* After Ctrl-C nobody waits for what has left the terminal. */
  if (!lns_profile_waits_for_all (profile) || run->n_interrupts > 0)
    return true;
  if (lns_session_processes (profile->session).n_alive > 0 ||
      lns_children_has_left (&run->hooks, profile))
    return false;
  lns_session_all_ended (profile->session);
  return true;
}

/* When it is to be said who is waited for. */
static int64_t
tell_left_at_ns (const Run *run)
{
  return run->state != STATE_OVER ? lns_children_tell_at_ns (&run->children, run->profile) : NEVER;
}

static int
wait_for_times_ms (const Run *run)
{
  int64_t at_ns = run->start_at_ns < run->stop_at_ns ? run->start_at_ns : run->stop_at_ns;
  if (run->tick_at_ns < at_ns)
    at_ns = run->tick_at_ns;
  if (tell_left_at_ns (run) < at_ns)
    at_ns = tell_left_at_ns (run);
  if (at_ns == NEVER)
    return -1;
  int64_t ns = at_ns - lns_children_now_ns ();
  return ns <= 0 ? 0 : (int)((ns + 999999) / 1000000 < 60000 ? (ns + 999999) / 1000000 : 60000);
}

static int
wait_ms (const Run *run)
{
  const int ms = wait_for_times_ms (run);
  return run->profile->options.show_output || (ms >= 0 && ms < TRIM_MS) ? ms : TRIM_MS;
}

static void
take_times (Run *run)
{
  int64_t now_ns = lns_children_now_ns ();
  if (now_ns >= run->start_at_ns)
    start (run);
  if (now_ns >= run->stop_at_ns)
    cut_short (run);
  if (now_ns >= tell_left_at_ns (run))
    lns_children_tell (&run->children, &run->hooks, run->profile);
  if (now_ns < run->tick_at_ns)
    return;
  lns_progress_tick (run->profile);
  run->tick_at_ns = now_ns + TICK_NS;
}

void
lns_profile_run (LnsProfile *profile)
{
  sigset_t signals;
  lns_signals_shared (&signals);
  lns_signals_catch (&signals);
  Run run = {
    .profile = profile,
    .state = STATE_IDLE,
    .control_fd = (int)profile->options.control_fd,
    .start_at_ns = NEVER,
    .stop_at_ns = NEVER,
    .tick_at_ns = profile->progress_fd >= 0 ? lns_children_now_ns () : NEVER,
  };
  if (profile->begins_by_itself)
    start_in_time (&run);
  tell_state (&run);
  while (!profile->has_exited || run.state != STATE_OVER)
    {
      struct pollfd fds[] = {
        { .fd = lns_session_changed_fd (profile->session), .events = POLLIN },
        { .fd = run.control_fd, .events = POLLIN },
        { .fd = profile->place.socket_fd, .events = POLLIN },
      };
      lns_signals_poll (fds, 3, wait_ms (&run));
      take_signals (&run);
      if (fds[0].revents != 0)
        lns_session_clear_changed (profile->session);
      take_trouble (&run);
      take_ranges (&run);
      if (fds[1].revents != 0)
        take_control (&run);
      if (fds[2].revents != 0)
        take_requests (&run);
      take_times (&run);
      lns_program_output_trim (&profile->output);
      if (has_ended (&run) &&
          (profile->is_launch || profile->options.stop_on_exit || run.n_interrupts > 0))
        {
          stop (&run);
          if (lns_session_report (profile->session) != NULL)
            cancel (&run);
          move (&run, EVENT_SHUTDOWN);
        }
      examine (&run);
      if (run.state == STATE_OVER)
        lns_session_place_close (&profile->place, profile->is_launch);
    }
  tell_late (&run);
  lns_hooks_reap (&run.hooks, profile, true);
  lns_progress_finished (profile, &run.result, run.lag_ms);
  lns_report_result_clear (&run.result);
  forget_range (&run);
  lns_array_clear (&run.hooks.pids);
  profile->end_signal = end_signal (&run);
}

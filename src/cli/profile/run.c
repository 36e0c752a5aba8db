/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The run of `profile`, `launch` and `attach`, from the start of the program to its end. One thread waits for signals,
 * processes, control lines, requests of other terminals and deadlines. `profile` collects once, and the end of the
 * report is the end of the run. `launch` collects each time that it is asked to, and writes a report each time. */

#include "src/cli/profile/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/session/control/request.h"
#include "src/analysis/filter.h"
#include "src/base/format.h"
#include "src/base/monotonic.h"
#include "src/cli/profile/attached.h"
#include "src/cli/profile/children.h"
#include "src/cli/profile/requests.h"
#include "src/cli/terminal/signals.h"
#include "src/cli/terminal/terminal.h"

#define NEVER INT64_MAX

#define TICK_NS INT64_C (250000000)

/* Time that a program has to end by itself after Ctrl-C. */
#define GRACE_NS INT64_C (5000000000)

/* Interval at which hidden output is trimmed, and at which ends of processes are looked for that nothing tells of. */
#define POLL_MS 1000

/* What the run does now. Capture ranges begin and end while it collects; see Run.range_path. */
typedef enum
{
  STATE_IDLE,       /* collects nothing until `start` asks for it */
  STATE_DELAYED,    /* collecting begins at Run.start_at_ns */
  STATE_COLLECTING, /* records into a report, or waits for a capture range or is in one */
  STATE_STOPPING,   /* the report is being written                                */
  STATE_OVER,       /* collects nothing any more; the program may run on */
} State;

typedef enum
{
  EVENT_DELAY,    /* collecting is to begin after the time of --delay */
  EVENT_START,    /* collecting is to begin now */
  EVENT_STOP,     /* the report is to end with what has been collected */
  EVENT_WRITTEN,  /* the report has been written */
  EVENT_GIVE_UP,  /* the report is discarded, or the last capture range has ended */
  EVENT_SHUTDOWN, /* the session ends, or all its processes have ended            */
} Event;

typedef struct
{
  LnsProfile *profile;
  LnsChildren children;
  LnsHooks hooks;
  State state;
  int64_t start_at_ns, stop_at_ns, tick_at_ns; /* CLOCK_MONOTONIC, or NEVER */
  int control_fd;                              /* -1: none, or the other end was closed */
  char control[64];
  size_t n_control;      /* bytes of an unfinished line */
  unsigned n_interrupts; /* Ctrl-C */
  int interrupt;         /* the last signal that asked to end the run; 0: none */
  bool is_cut_off;       /* such a signal came after the program had ended */
  unsigned n_ranges;     /* number of capture ranges that have begun */
  char *range_path;      /* of the report of the open capture range; NULL: none is open */
  bool
      has_ended_ranges; /* the last capture range has its report; late records of it may still come */
  int64_t
      cut_ns; /* `stop` asked for this many of the last ns, and all was recorded; 0: it did not */
  LnsReportResult result;
  double lag_ms; /* time from the end of the last process to the complete report */
} Run;

/* --- States ----------------------------------------------------------------------------------- */

/* In the table below: STATE_IDLE for `launch`, which may be asked for another report, and STATE_OVER for `profile`. */
#define REST (STATE_OVER + 1)

/* The states before a report begins, as bits. */
#define WAITING (1 << STATE_IDLE | 1 << STATE_DELAYED)

/* Moves RUN to the state that EVENT leads to. False if EVENT has no meaning in the present state. */
static bool
move (Run *run, Event event)
{
  static const struct
  {
    unsigned from;
    int to;
  } moves[] = {
    [EVENT_DELAY] = { WAITING, STATE_DELAYED },
    [EVENT_START] = { WAITING, STATE_COLLECTING },
    [EVENT_STOP] = { WAITING | 1 << STATE_COLLECTING, STATE_STOPPING },
    [EVENT_WRITTEN] = { 1 << STATE_STOPPING, REST },
    [EVENT_GIVE_UP] = { WAITING | 1 << STATE_COLLECTING, REST },
    [EVENT_SHUTDOWN] = { WAITING | 1 << STATE_COLLECTING | 1 << STATE_OVER, STATE_OVER },
  };
  const bool is_launch = run->profile->is_launch;
  const int next = moves[event].to;
  /* The report of `profile` exists from the beginning, that of `launch` only while it collects. */
  if ((moves[event].from & 1u << run->state) == 0 ||
      (event == EVENT_STOP && is_launch && run->state != STATE_COLLECTING))
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

/* Publishes the state of the run to other terminals. */
static void
tell_state (Run *run)
{
  LnsProfile *profile = run->profile;
  LnsSessionEntry *entry = &profile->place.entry;
  const char *path = run->range_path != NULL ? run->range_path : profile->path;
  const bool collects = has_ranges (run) ? run->range_path != NULL : run->state == STATE_COLLECTING;
  entry->program_pid = profile->pid;
  entry->keeps = collects && lns_profile_keep_ns (profile) > 0;
  const bool is_to_come =
      !profile->is_launch || run->state == STATE_COLLECTING || run->state == STATE_DELAYED;
  entry->state = collects     ? LNS_SESSION_COLLECTING
                 : is_to_come ? LNS_SESSION_DELAYED
                              : LNS_SESSION_LAUNCHED;
  if (collects && path != NULL)
    snprintf (entry->report, sizeof entry->report, "%s", path);
  lns_session_place_tell (&profile->place);
}

/* Begins to collect into the report, which has been created. */
static void
start (Run *run)
{
  LnsProfile *profile = run->profile;
  if (!move (run, EVENT_START))
    return;
  run->n_interrupts = 0; /* earlier ones were meant for the program */
  if (profile->options.duration_ns >= 0 && !has_ranges (run))
    run->stop_at_ns = lns_monotonic_ns () + profile->options.duration_ns;
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

/* The same, after the time of --delay. */
static void
start_in_time (Run *run)
{
  const int64_t delay_ns = run->profile->options.delay_ns;
  if (delay_ns == 0)
    start (run);
  else if (move (run, EVENT_DELAY))
    run->start_at_ns = lns_monotonic_ns () + delay_ns;
  tell_state (run);
}

/* Whether TEXT was said when the run began. */
static bool
was_said (const LnsProfile *profile, const char *text)
{
  for (size_t i = 0; i < profile->told.n; i++)
    if (strcmp (profile->told.items[i], text) == 0)
      return true;
  return false;
}

/* Whether ITEM says that nothing came of what nobody asked for: beside events, that is no news. */
static bool
is_no_news (const LnsReportDiagnostic *item, const LnsReportResult *result)
{
  return item->severity == LNS_SEVERITY_INFO && result->n_events > 0 &&
         strcmp (item->code, "LNS-NVTX-002") == 0;
}

static void
tell_diagnostics (Run *run, const LnsReportResult *result)
{
  for (size_t i = 0; i < result->n_diagnostics; i++)
    {
      const LnsReportDiagnostic *item = &result->diagnostics[i];
      if (!was_said (run->profile, item->text) && !is_no_news (item, result))
        lns_profile_say (run->profile, item->severity, item->code, item->text);
    }
}

/* Whether a diagnostic has told why the report of RESULT is empty, so that the doctor has nothing to add. Opening the report
 * for it would take a seventh of the time that recording costs a short program. */
static bool
is_empty_as_told (const LnsProfile *profile, const LnsReportResult *result)
{
  bool is_told = false;
  for (size_t i = 0; i < result->n_diagnostics; i++)
    is_told |= strcmp (result->diagnostics[i].code, "LNS-NVTX-002") == 0;
  return is_told && result->n_events == 0 && result->n_lost == 0 && !profile->wants_cuda;
}

/* Prints the outcome of the report at PATH, and runs what follows it. */
static void
tell (Run *run, const char *path, const LnsReportResult *result)
{
  LnsProfile *profile = run->profile;
  const bool records_more = run->state == STATE_COLLECTING;
  tell_diagnostics (run, result);
  if (result->is_written)
    {
      char events[LNS_FORMAT_SIZE], lost[LNS_FORMAT_SIZE], processes[LNS_FORMAT_SIZE];
      lns_profile_finish_report (profile, path, records_more);
      lns_profile_print (
          profile, "%s event%s, %s lost, %s %s\n", lns_format_unsigned (result->n_events, events),
          lns_plural (result->n_events, "", "s"), lns_format_unsigned (result->n_lost, lost),
          lns_format_unsigned (result->n_processes, processes),
          lns_plural (result->n_processes, "process", "processes"));
      if (result->kept_bytes > 0)
        lns_profile_tell (profile, NULL, "The last seconds took %s of memory",
                          lns_format_bytes (result->kept_bytes, events));
      lns_progress_generated (profile, path, result);
      if (!is_empty_as_told (profile, result))
        lns_profile_examine (profile, path, records_more);
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

/* Cuts the report at PATH to the last seconds if `stop` has asked for them only now. */
static void
cut (Run *run, const char *path)
{
  LnsReportResult *result = &run->result;
  char duration[LNS_FORMAT_SIZE], text[512];
  LnsWriterCounts counts;
  LnsError error = { 0 };
  bool is_cut;
  if (run->cut_ns == 0 || !result->is_written || result->error.domain != LNS_ERROR_NONE)
    return;
  snprintf (text, sizeof text,
            LNS_SENTENCE ("the report holds the last %s of what was recorded, as `lanescope stop "
                          "--keep` asked; what lies before is gone, and other diagnostics may tell "
                          "of it"),
            lns_format_duration (run->cut_ns, duration));
  const LnsFilterCut wanted = { result->keep_from_ns, run->cut_ns, "LNS-KEEP-002", text };
  if (!lns_filter_cut (path, &wanted, &counts, &is_cut, &error))
    lns_profile_tell (run->profile, "warning",
                      "--keep: the report holds all that was collected: %s", error.message);
  else if (is_cut)
    {
      result->n_events = counts.n_events;
      result->n_lost = counts.n_lost;
      result->n_bytes = counts.file_bytes;
      lns_profile_say (run->profile, LNS_SEVERITY_INFO, wanted.code, text);
    }
}

/* Warns if the report cannot be written at present. */
static void
take_trouble (Run *run)
{
  LnsError trouble;
  if (!lns_recorder_next_trouble (lns_session_recorder (run->profile->session), &trouble))
    return;
  lns_profile_say (run->profile, LNS_SEVERITY_WARNING, LNS_TROUBLE_CODE, trouble.message);
}

/* Warns that no capture range began. A process that could not be recorded cannot announce one either; its diagnostic
 * comes first. Nor can an event that is lost. */
static void
tell_no_range (Run *run)
{
  const LnsCollectorCounters processes =
      lns_peers_counters (lns_session_peers (run->profile->session));
  const char *text =
      processes.n_late + processes.n_refused > 0
          ? LNS_SENTENCE ("no report: the capture range did not begin in any recorded process")
      : processes.n_lost > 0
          ? LNS_SENTENCE ("no report: events are lost, and no other began the capture range; free "
                          "memory, or record with a larger --buffer-size")
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
    run->stop_at_ns = lns_monotonic_ns () + run->profile->options.duration_ns;
  lns_profile_print (run->profile, "Capture range started in the application.\n");
  lns_progress_range (run->profile, "start");
  lns_hooks_call (&run->hooks, run->profile, "after-collection-start",
                  run->profile->options.after_collection_start, NULL);
  tell_state (run);
}

/* Handles the end of a capture range, or the failure to create its report. */
static void
end_range (Run *run, LnsRangeNews *news)
{
  LnsProfile *profile = run->profile;
  const LnsWireOptions *target = &profile->target;
  const bool repeats = target->range_end == LNS_WIRE_RANGE_END_REPEAT ||
                       target->range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN;
  const bool is_last = run->state == STATE_COLLECTING &&
                       !(repeats && (target->n_ranges == 0 || news->number < target->n_ranges));
  if (is_last)
    {
      move (run, EVENT_GIVE_UP);
      run->has_ended_ranges = true;
      lns_session_set_recording (profile->session, false);
    }
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
  if (is_last && (target->range_end == LNS_WIRE_RANGE_END_STOP_SHUTDOWN ||
                  target->range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN))
    lns_children_end (&run->children, profile, profile->kill_signal);
}

/* Handles capture ranges that began or ended. */
static void
take_ranges (Run *run)
{
  LnsRangeNews news;
  while (lns_recorder_next_range (lns_session_recorder (run->profile->session), &news))
    if (news.is_end)
      end_range (run, &news);
    else
      begin_range (run, &news);
}

/* --- Ends of reports --------------------------------------------------------------------------- */

/* Ends the report with what has been collected, and for `profile` the run. */
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
  int64_t end_ns = lns_peers_counters (lns_session_peers (profile->session)).last_end_ns;
  if (run->children.last_end_ns > end_ns)
    end_ns = run->children.last_end_ns;
  run->lag_ms = end_ns > 0 ? (double)(lns_monotonic_ns () - end_ns) / 1e6 : 0;
  if (!has_ranges (run))
    {
      cut (run, profile->path);
      tell (run, profile->path, &run->result);
    }
  else if (run->range_path != NULL)
    {
      lns_profile_print (profile, "Generating '%s'\n", run->range_path);
      cut (run, run->range_path);
      tell (run, run->range_path, &run->result);
    }
  else if (run->n_ranges == 0)
    tell_no_range (run);
  else
    tell_diagnostics (run, &run->result); /* records that belong to no report */
  forget_range (run);
  move (run, EVENT_WRITTEN);
  tell_state (run);
}

/* The same, and ends the program of `profile`. */
static void
cut_short (Run *run)
{
  stop (run);
  if (!run->profile->is_launch)
    lns_children_end (&run->children, run->profile, run->profile->kill_signal);
}

/* Discards the report. */
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

/* Prints, at the end of the program, the diagnostics about records of the last capture range that came after its
 * report. */
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

/* Checks that the run collects, so that there is a report to end. */
static bool
check_collects (const Run *run, LnsError *error)
{
  return run->state == STATE_COLLECTING ||
         lns_cli_usage (error,
                        "session “%s” is not collecting; use `lanescope start` to begin a report",
                        run->profile->place.entry.name);
}

/* Checks that the program was started with the trace that announces the capture range. */
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

/* Prepares the report, or the reports of capture ranges, that `start` asks for. OUTPUT is the value of --output before
 * that. */
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
      lns_session_set_keep (profile->session, lns_profile_keep_ns (profile));
      lns_session_set_keep_steps (profile->session,
                                  profile->keeps_steps ? &profile->step_rule : NULL);
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
  LnsProfile *profile = run->profile;
  const int64_t kept_ns = lns_profile_keep_ns (profile);
  int64_t keep_ns;
  if (!check_collects (run, error) ||
      !lns_stop_parse (request->argc, request->argv, &keep_ns, error))
    return false;
  if (kept_ns > 0 && keep_ns > kept_ns)
    lns_profile_tell (profile, "warning",
                      "--keep: the report holds less, as `lanescope start` asked; next time, use "
                      "`lanescope start --keep=%g`",
                      (double)keep_ns / 1e9);
  else if (keep_ns > 0)
    lns_session_set_keep (profile->session, keep_ns);
  run->cut_ns = kept_ns == 0 ? keep_ns : 0;
  cut_short (run);
  run->cut_ns = 0;
  lns_session_set_keep (profile->session, kept_ns);
  return true;
}

static bool
obey_keep (Run *run, LnsError *error)
{
  LnsProfile *profile = run->profile;
  if (!check_collects (run, error))
    return false;
  if (!profile->keeps_steps || profile->step_rule.around_ns == 0)
    return lns_cli_usage (error,
                          "session “%s” keeps all; begin it with --keep=SECONDS and "
                          "--keep-on=command",
                          profile->place.entry.name);
  lns_session_keep_now (profile->session);
  lns_profile_tell (profile, NULL, "The report keeps %g seconds before now and %g after it",
                    (double)profile->step_rule.around_ns / 1e9,
                    (double)profile->step_rule.around_ns / 1e9);
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

/* Carries REQUEST out. */
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
  if (strcmp (verb, "keep") == 0)
    return obey_keep (run, error);
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
      /* A program may be recorded, which a lack of memory must not end: the answer is then empty. */
      profile->answer = open_memstream (&text, &n_bytes);
      /* A failure now concerns this request; an earlier one concerned another. */
      const bool has_failed = profile->report_failed;
      profile->report_failed = false;
      const bool done = obey (run, &request, &error), is_whole = done && !profile->report_failed;
      profile->report_failed |= has_failed;
      if (!done && profile->answer != NULL)
        {
          lns_text_make_plain (error.message);
          fprintf (profile->answer, "lanescope: error: %s\n", error.message);
        }
      if (profile->answer != NULL)
        fclose (profile->answer);
      profile->answer = NULL;
      /* Close it before answering: after the answer, nobody may find the session. */
      if (run->state == STATE_OVER)
        lns_session_place_close (&profile->place, profile->is_launch);
      lns_session_request_answer (&request, is_whole ? 0 : LNS_EXIT_FAILED,
                                  text != NULL ? text : "");
      free (text);
    }
}

/* --- Signals ---------------------------------------------------------------------------------- */

/* Handles Ctrl-C, which the program gets, too. At the first one, the program has time to end by itself. After that
 * time, or at the second one, the report ends. The third one kills the program. A program of `attach` gets none: the report ends. */
static void
interrupt (Run *run)
{
  run->n_interrupts++;
  if (run->profile->is_attach)
    {
      stop (run);
      return;
    }
  if (run->profile->is_launch && run->state != STATE_COLLECTING && run->state != STATE_OVER)
    return; /* there is no report to end, and the program decides for itself */
  if (run->n_interrupts == 1 && run->state != STATE_OVER)
    {
      int64_t until_ns = lns_monotonic_ns () + GRACE_NS;
      if (until_ns < run->stop_at_ns)
        run->stop_at_ns = until_ns;
    }
  else if (run->n_interrupts < 3)
    cut_short (run);
  else
    lns_children_end (&run->children, run->profile, SIGKILL);
}

/* Whether SIGNAL_NUMBER asks to end the run: signals of the keyboard always do, others only when the program has
 * ended. Until then the program decides what they mean. */
static bool
is_interrupt (const Run *run, int signal_number)
{
  const bool is_of_keyboard = signal_number == SIGINT || signal_number == SIGQUIT;
  const bool is_to_end = signal_number == SIGTERM || signal_number == SIGHUP;
  return (is_of_keyboard || (is_to_end && (run->profile->has_exited || run->profile->is_attach))) &&
         !lns_signals_was_ignored (signal_number);
}

static void
take_signal (Run *run, const siginfo_t *info)
{
  LnsProfile *profile = run->profile;
  const int number = info->si_signo;
  const bool had_exited = profile->has_exited;
  /* Reap first, so that no signal is sent to a process that has ended. */
  lns_children_reap (&run->children, &run->hooks, profile);
  if (number == SIGCHLD)
    return;
  /* The terminal sends its signals to the program, too. A program that has ended since may have handled it. */
  bool is_sent = info->si_code != SI_KERNEL && info->si_pid != getpid ();
  if (is_sent && number == profile->keep_signal)
    {
      lns_session_keep_now (profile->session);
      return;
    }
  if (is_sent && !profile->has_exited && !profile->is_attach)
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

/* The signal by which this process ends, so that the caller sees what it would see without Lanescope and, for example,
 * stops a loop: the signal that killed the program, unless we sent it, or the one that ended the run. 0: none; the
 * program ended by itself. */
static int
end_signal (const Run *run)
{
  if (run->profile->is_attach)
    return 0; /* a signal is how its report ends */
  if (run->profile->exit_signal != 0 && !run->children.has_killed)
    return run->profile->exit_signal;
  return run->children.has_killed || run->is_cut_off ? run->interrupt : 0;
}

/* --- The loop --------------------------------------------------------------------------------- */

/* Whether the processes that the report waits for have ended. */
static bool
has_ended (Run *run)
{
  LnsProfile *profile = run->profile;
  if (profile->is_attach && lns_attached_have_ended (&profile->attached))
    profile->has_exited = true;
  if (!profile->has_exited)
    return false;
  /* After Ctrl-C, processes that left the terminal are not waited for. */
  if (!lns_profile_waits_for_all (profile) || run->n_interrupts > 0)
    return true;
  if (lns_peers_counters (lns_session_peers (profile->session)).n_alive > 0 ||
      lns_children_has_left (&run->hooks, profile))
    return false;
  lns_session_all_ended (profile->session);
  return true;
}

/* When to print which processes are waited for. */
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
  int64_t ns = at_ns - lns_monotonic_ns ();
  return ns <= 0 ? 0 : (int)((ns + 999999) / 1000000 < 60000 ? (ns + 999999) / 1000000 : 60000);
}

static int
wait_ms (const Run *run)
{
  const int ms = wait_for_times_ms (run);
  const bool looks = !run->profile->options.show_output || run->profile->attached.polled.n > 0;
  return !looks || (ms >= 0 && ms < POLL_MS) ? ms : POLL_MS;
}

static void
take_times (Run *run)
{
  int64_t now_ns = lns_monotonic_ns ();
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

int
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
    .tick_at_ns = profile->progress_fd >= 0 ? lns_monotonic_ns () : NEVER,
  };
  if (profile->begins_by_itself)
    start_in_time (&run);
  tell_state (&run);
  while ((!profile->has_exited && !profile->is_attach) || run.state != STATE_OVER)
    {
      struct pollfd fds[] = {
        { .fd = lns_session_changed_fd (profile->session), .events = POLLIN },
        { .fd = run.control_fd, .events = POLLIN },
        { .fd = profile->place.socket_fd, .events = POLLIN },
        { .fd = profile->is_attach ? profile->attached.fd : -1, .events = POLLIN },
      };
      lns_signals_poll (fds, 4, wait_ms (&run));
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
  if (profile->exit_code != 0)
    return profile->exit_code;
  if (profile->report_failed)
    return LNS_EXIT_FAILED;
  const bool lacks_data = profile->lacks_data || lns_cli_n_warnings () > 0;
  return profile->options.strict && lacks_data ? LNS_EXIT_INCOMPLETE : 0;
}

void
lns_profile_clear (LnsProfile *profile)
{
  lns_session_free (profile->session);
  lns_program_output_close (&profile->output);
  for (size_t i = 0; i < profile->words.n; i++)
    free (profile->words.items[i]);
  lns_array_clear (&profile->words);
  for (size_t i = 0; i < profile->told.n; i++)
    free (profile->told.items[i]);
  lns_array_clear (&profile->told);
  free (profile->exports);
  free (profile->domains);
  free (profile->path);
}

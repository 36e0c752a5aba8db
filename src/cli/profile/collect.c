/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports of the run: their beginnings and ends, and what is said of them. */

#include "src/cli/profile/run.h"

#include <stdarg.h>
#include <stdlib.h>

#include "src/base/format.h"

void
lns_run_print (LnsRun *run, const char *format, ...)
{
  FILE *streams[] = { stderr, run->answer };
  for (int i = 0; i < 2 && streams[i] != NULL; i++)
    {
      va_list arguments;
      va_start (arguments, format);
      vfprintf (streams[i], format, arguments);
      va_end (arguments);
    }
}

void
lns_run_say (LnsRun *run, const char *word, const char *code, const char *text)
{
  lns_cli_say (word, "%s [%s]", text, code);
  if (run->answer != NULL)
    fprintf (run->answer, "lanescope: %s: %s [%s]\n", word, text, code);
}

static bool
has_ranges (const LnsRun *run)
{
  return run->profile->target.range_kind != LNS_WIRE_RANGE_NONE;
}

void
lns_run_tell_state (LnsRun *run)
{
  const LnsProfile *profile = run->profile;
  LnsSessionEntry *entry = &run->profile->place.entry;
  const char *path = run->is_in_range ? run->range_path : profile->path;
  const bool collects = has_ranges (run) ? run->is_in_range : run->is_collecting;
  entry->program_pid = profile->pid;
  entry->keeps = collects && profile->options.keep_ns > 0;
  const bool is_to_come =
      !profile->is_launch || run->is_collecting || run->start_at_ns != LNS_NEVER;
  entry->state = collects     ? LNS_SESSION_COLLECTING
                 : is_to_come ? LNS_SESSION_DELAYED
                              : LNS_SESSION_LAUNCHED;
  if (collects && path != NULL)
    snprintf (entry->report, sizeof entry->report, "%s", path);
  lns_session_place_tell (&run->profile->place);
}

void
lns_run_start (LnsRun *run)
{
  LnsProfile *profile = run->profile;
  if (run->is_collecting || run->is_over)
    return;
  run->is_collecting = true;
  run->start_at_ns = LNS_NEVER;
  run->n_interrupts = 0; /* those before were the program's alone */
  if (profile->options.duration_ns >= 0 && !has_ranges (run))
    run->stop_at_ns = lns_run_now_ns () + profile->options.duration_ns;
  lns_session_start_report (profile->session);
  if (!has_ranges (run))
    {
      if (profile->is_launch || profile->options.start_later)
        lns_session_set_recording (profile->session, true);
      lns_progress_range (profile, "start");
      lns_run_call (run, "after-collection-start", profile->options.after_collection_start, NULL);
    }
  lns_run_print (run, "Collecting data...\n");
  lns_run_tell_state (run);
}

void
lns_run_start_in_time (LnsRun *run)
{
  const int64_t delay_ns = run->profile->options.delay_ns;
  if (delay_ns > 0)
    run->start_at_ns = lns_run_now_ns () + delay_ns;
  else
    lns_run_start (run);
  lns_run_tell_state (run);
}

static void
tell_diagnostics (LnsRun *run, const LnsReportResult *result)
{
  static const char *const words[] = { "note", "warning", "error" };
  for (size_t i = 0; i < result->n_diagnostics; i++)
    {
      const LnsReportDiagnostic *item = &result->diagnostics[i];
      lns_run_say (run, words[item->severity], item->code, item->text);
      lns_progress_diagnostic (run->profile, item->code, item->severity, item->text);
    }
}

/* What there is to say of the report at PATH. */
static void
tell (LnsRun *run, const char *path, const LnsReportResult *result)
{
  LnsProfile *profile = run->profile;
  tell_diagnostics (run, result);
  if (result->is_written)
    {
      char events[LNS_FORMAT_SIZE], lost[LNS_FORMAT_SIZE], processes[LNS_FORMAT_SIZE];
      lns_run_finish_report (run, path);
      lns_run_print (
          run, "%s event%s, %s lost, %s %s\n", lns_format_unsigned (result->n_events, events),
          lns_plural (result->n_events, "", "s"), lns_format_unsigned (result->n_lost, lost),
          lns_format_unsigned (result->n_processes, processes),
          lns_plural (result->n_processes, "process", "processes"));
      if (result->kept_bytes > 0)
        lns_run_print (run, "The last seconds took %s of memory\n",
                       lns_format_bytes (result->kept_bytes, events));
      lns_progress_generated (profile, path, result);
      lns_run_examine (run, path);
      profile->place.entry.n_reports++;
      snprintf (profile->place.entry.report, sizeof profile->place.entry.report, "%s", path);
      lns_run_call (run, "after-report-ready", profile->options.after_report_ready, path);
    }
  const bool failed = !result->is_written || result->error.domain != LNS_ERROR_NONE;
  profile->report_failed |= failed;
  if (failed)
    {
      lns_run_print (run, "lanescope: error: %s\n", result->error.message);
      lns_progress_error (profile, "LNS-REP-001", result->error.message);
    }
}

void
lns_run_take_trouble (LnsRun *run)
{
  LnsError trouble;
  if (!lns_session_next_trouble (run->profile->session, &trouble))
    return;
  lns_run_say (run, "warning", LNS_TROUBLE_CODE, trouble.message);
  lns_progress_diagnostic (run->profile, LNS_TROUBLE_CODE, LNS_SEVERITY_WARNING, trouble.message);
}

/* No range began. Who could not be recorded was not heard of it either, and is told of before. */
static void
tell_no_range (LnsRun *run)
{
  const LnsCollectorCounters processes = lns_session_processes (run->profile->session);
  const char *text = processes.n_late + processes.n_refused > 0
                         ? "no report: the capture range began in no process that is recorded"
                         : "no report: the capture range never began; the program made no such "
                           "call, or ended before";
  tell_diagnostics (run, &run->result);
  run->profile->lacks_data = true;
  lns_run_say (run, "warning", "LNS-RANGE-001", text);
  lns_progress_diagnostic (run->profile, "LNS-RANGE-001", LNS_SEVERITY_WARNING, text);
}

/* No report is written from now on, and none will be but of `launch`, which is asked for more. */
static void
rest (LnsRun *run)
{
  run->is_collecting = false;
  run->is_over = !run->profile->is_launch;
  run->start_at_ns = run->stop_at_ns = LNS_NEVER;
}

void
lns_run_stop (LnsRun *run)
{
  LnsProfile *profile = run->profile;
  if (run->is_over || (profile->is_launch && !run->is_collecting))
    return;
  rest (run);
  if (!has_ranges (run))
    lns_run_print (run, "Generating '%s'\n", profile->path);
  profile->place.entry.state = LNS_SESSION_GENERATING;
  lns_session_place_tell (&profile->place);
  lns_report_result_clear (&run->result);
  lns_session_stop_report (profile->session, &run->result);
  lns_session_set_recording (profile->session, false);
  lns_run_take_trouble (run);
  lns_run_take_ranges (run);
  lns_progress_range (profile, "stop");
  int64_t end_ns = lns_session_processes (profile->session).last_end_ns;
  if (run->last_end_ns > end_ns)
    end_ns = run->last_end_ns;
  run->lag_ms = end_ns > 0 ? (double)(lns_run_now_ns () - end_ns) / 1e6 : 0;
  if (!has_ranges (run))
    tell (run, profile->path, &run->result);
  else if (run->is_in_range)
    {
      lns_run_print (run, "Generating '%s'\n", run->range_path);
      tell (run, run->range_path, &run->result);
    }
  else if (run->n_ranges == 0)
    tell_no_range (run);
  else
    tell_diagnostics (run, &run->result); /* what no report was there for */
  run->is_in_range = false;
  lns_run_tell_state (run);
}

void
lns_run_cut_short (LnsRun *run)
{
  lns_run_stop (run);
  if (!run->profile->is_launch)
    lns_run_end_processes (run, run->profile->kill_signal);
}

void
lns_run_cancel (LnsRun *run)
{
  if (run->is_over)
    return;
  rest (run);
  run->is_in_range = false;
  lns_session_set_recording (run->profile->session, false);
  lns_session_cancel_report (run->profile->session);
  lns_run_print (run, "Cancelled: there is no report.\n");
  lns_run_tell_state (run);
}

/* --- Capture ranges --------------------------------------------------------------------------- */

static void
begin_range (LnsRun *run, LnsRangeNews *news)
{
  run->n_ranges++;
  run->is_in_range = true;
  run->range_path = news->path;
  if (!run->is_over && run->profile->options.duration_ns >= 0)
    run->stop_at_ns = lns_run_now_ns () + run->profile->options.duration_ns;
  lns_run_print (run, "Capture range started in the application.\n");
  lns_progress_range (run->profile, "start");
  lns_run_call (run, "after-collection-start", run->profile->options.after_collection_start, NULL);
  lns_run_tell_state (run);
}

/* A range has ended, or its report could not be made. */
static void
end_range (LnsRun *run, LnsRangeNews *news)
{
  LnsProfile *profile = run->profile;
  const LnsWireOptions *target = &profile->target;
  const bool repeats = target->range_end == LNS_WIRE_RANGE_END_REPEAT ||
                       target->range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN;
  if (run->is_in_range)
    {
      lns_run_print (run, "Capture range ended in the application.\nGenerating '%s'\n",
                     run->range_path);
      lns_progress_range (profile, "stop");
    }
  tell (run, run->is_in_range ? run->range_path : news->path, &news->result);
  free (run->range_path);
  free (news->path);
  run->range_path = NULL;
  run->is_in_range = false;
  run->stop_at_ns = LNS_NEVER;
  lns_report_result_clear (&news->result);
  lns_run_tell_state (run);
  if (!run->is_collecting ||
      (repeats && (target->n_ranges == 0 || news->number < target->n_ranges)))
    return;
  rest (run);
  run->has_ended_ranges = true;
  lns_session_set_recording (profile->session, false);
  lns_run_tell_state (run);
  if (target->range_end == LNS_WIRE_RANGE_END_STOP_SHUTDOWN ||
      target->range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN)
    lns_run_end_processes (run, profile->kill_signal);
}

void
lns_run_take_ranges (LnsRun *run)
{
  LnsRangeNews news;
  while (lns_session_next_range (run->profile->session, &news))
    if (news.is_end)
      end_range (run, &news);
    else
      begin_range (run, &news);
}

void
lns_run_tell_late (LnsRun *run)
{
  LnsReportResult late;
  if (!run->has_ended_ranges)
    return;
  lns_session_stop_report (run->profile->session, &late);
  tell_diagnostics (run, &late);
  lns_report_result_clear (&late);
}

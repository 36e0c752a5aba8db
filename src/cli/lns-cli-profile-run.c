/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The run: from the program's start to the finished report. One thread waits for signals, processes,
 * control lines and times, whichever comes first. */

#include "src/cli/lns-cli-profile.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS INT64_C (250000000)

/* How long after Ctrl-C a program may take to end by itself. */
#define GRACE_NS INT64_C (5000000000)

/* How long after the last process's end others may still join, and how often they are looked for. */
#define LINGER_NS      INT64_C (300000000)
#define LINGER_STEP_MS 20

#define NEVER INT64_MAX

typedef struct
{
  LnsProfile *profile;
  int signal_fd;
  int control_fd; /* -1: none, or its writer is gone */
  char control[64];
  size_t n_control;                            /* bytes of an unfinished line */
  int64_t start_at_ns, stop_at_ns, tick_at_ns; /* CLOCK_MONOTONIC, or NEVER */
  bool is_collecting;
  bool is_lingering;
  bool is_over;          /* the report is written, or thrown away */
  unsigned n_interrupts; /* Ctrl-C */
  int64_t exited_at_ns;
  unsigned n_ranges; /* that began: none where there are none */
  bool is_in_range;  /* one has a report now */
  char *range_path;  /* of that */
  LnsReportResult result;
  double lag_ms; /* from the last process's end to the written report */
} Run;

static int64_t
monotonic_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

void
lns_profile_signals (sigset_t *ret_signals)
{
  static const int signals[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP, SIGTSTP,
                                 SIGCONT, SIGUSR1, SIGUSR2, SIGCHLD };
  sigemptyset (ret_signals);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaddset (ret_signals, signals[i]);
}

/* --- The report ------------------------------------------------------------------------------- */

static bool
has_ranges (const Run *run)
{
  return run->profile->target.range_kind != LNS_WIRE_RANGE_NONE;
}

static void
start_collecting (Run *run)
{
  if (run->is_collecting || run->is_over)
    return;
  run->is_collecting = true;
  run->start_at_ns = NEVER;
  if (run->profile->options.duration_ns >= 0 && !has_ranges (run))
    run->stop_at_ns = monotonic_ns () + run->profile->options.duration_ns;
  lns_session_start_report (run->profile->session);
  if (!has_ranges (run))
    lns_progress_range (run->profile, "start");
  fputs ("Collecting data...\n", stderr);
}

/* What there is to say of the report at PATH. */
static void
tell (LnsProfile *profile, const char *path, const LnsReportResult *result)
{
  static const char *const words[] = { "note", "warning", "error" };
  for (size_t i = 0; i < result->n_diagnostics; i++)
    {
      const LnsReportDiagnostic *item = &result->diagnostics[i];
      lns_cli_say (words[item->severity], "%s [%s]", item->text, item->code);
      lns_progress_diagnostic (profile, item->code, item->severity, item->text);
    }
  if (result->is_written)
    {
      fprintf (stderr, "Generated:\n    %s\n", path);
      fprintf (stderr, "%llu events, %llu lost, %llu %s\n", (unsigned long long)result->n_events,
               (unsigned long long)result->n_lost, (unsigned long long)result->n_processes,
               result->n_processes == 1 ? "process" : "processes");
      lns_progress_generated (profile, path, result);
    }
  const bool failed = !result->is_written || result->error.domain != LNS_ERROR_NONE;
  profile->report_failed |= failed;
  if (failed)
    {
      lns_cli_fail (&result->error);
      lns_progress_error (profile, "LNS-REP-001", result->error.message);
    }
}

static void take_ranges (Run *run);

/* No range began. */
static void
tell_no_range (Run *run)
{
  static const char text[] =
      "no report: the capture range never began; the program made no such call, or ended before";
  lns_cli_say ("warning", "%s [LNS-RANGE-001]", text);
  lns_progress_diagnostic (run->profile, "LNS-RANGE-001", LNS_SEVERITY_WARNING, text);
}

/* Ends the report with what there is. */
static void
stop_collecting (Run *run)
{
  LnsProfile *profile = run->profile;
  if (run->is_over)
    return;
  run->is_over = true;
  run->start_at_ns = run->stop_at_ns = NEVER;
  if (!has_ranges (run))
    fprintf (stderr, "Generating '%s'\n", profile->path);
  lns_session_stop_report (profile->session, &run->result);
  lns_session_set_recording (profile->session, false);
  take_ranges (run);
  lns_progress_range (profile, "stop");
  int64_t end_ns = lns_session_processes (profile->session).last_end_ns;
  if (run->exited_at_ns > end_ns)
    end_ns = run->exited_at_ns;
  run->lag_ms = end_ns > 0 ? (double)(monotonic_ns () - end_ns) / 1e6 : 0;
  if (!has_ranges (run))
    tell (profile, profile->path, &run->result);
  else if (run->is_in_range)
    tell (profile, run->range_path, &run->result);
  else if (run->n_ranges == 0)
    tell_no_range (run);
}

/* Sends SIGNAL to the program and to all other processes that are recorded. */
static void
end_processes (Run *run, int signal_number)
{
  LnsProfile *profile = run->profile;
  if (signal_number == 0)
    return;
  if (!profile->has_exited)
    kill (profile->pid, signal_number);
  lns_session_signal (profile->session, signal_number, profile->pid);
}

/* --- Capture ranges --------------------------------------------------------------------------- */

static void
begin_range (Run *run, LnsRangeNews *news)
{
  run->n_ranges++;
  run->is_in_range = true;
  run->range_path = news->path;
  if (!run->is_over && run->profile->options.duration_ns >= 0)
    run->stop_at_ns = monotonic_ns () + run->profile->options.duration_ns;
  fputs ("Capture range started in the application.\n", stderr);
  lns_progress_range (run->profile, "start");
}

/* A range has ended, or its report could not be made. */
static void
end_range (Run *run, LnsRangeNews *news)
{
  LnsProfile *profile = run->profile;
  const LnsWireOptions *target = &profile->target;
  const bool repeats = target->range_end == LNS_WIRE_RANGE_END_REPEAT ||
                       target->range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN;
  if (run->is_in_range)
    {
      fputs ("Capture range ended in the application.\n", stderr);
      lns_progress_range (profile, "stop");
    }
  tell (profile, run->is_in_range ? run->range_path : news->path, &news->result);
  free (run->range_path);
  free (news->path);
  run->range_path = NULL;
  run->is_in_range = false;
  run->stop_at_ns = NEVER;
  lns_report_result_clear (&news->result);
  if (run->is_over || (repeats && (target->n_ranges == 0 || news->number < target->n_ranges)))
    return;
  run->is_over = true;
  lns_session_set_recording (profile->session, false);
  if (target->range_end == LNS_WIRE_RANGE_END_STOP_SHUTDOWN ||
      target->range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN)
    end_processes (run, profile->kill_signal);
}

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

static void
cut_short (Run *run)
{
  stop_collecting (run);
  end_processes (run, run->profile->kill_signal);
}

static void
cancel (Run *run)
{
  if (run->is_over)
    return;
  run->is_over = true;
  run->start_at_ns = run->stop_at_ns = NEVER;
  lns_session_set_recording (run->profile->session, false);
  lns_session_cancel_report (run->profile->session);
  fputs ("Cancelled: there is no report.\n", stderr);
}

/* --- Signals ---------------------------------------------------------------------------------- */

static void
reap (Run *run)
{
  LnsProfile *profile = run->profile;
  int status;
  if (profile->has_exited || waitpid (profile->pid, &status, WNOHANG) != profile->pid ||
      !(WIFEXITED (status) || WIFSIGNALED (status)))
    return;
  profile->has_exited = true;
  profile->exit_signal = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
  profile->exit_code = WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
  run->exited_at_ns = monotonic_ns ();
  lns_session_root_exited (profile->session, profile->process, profile->exit_code);
}

/* Stops this process as the terminal asked for: by the signal itself, so that the kernel's rules for
 * orphaned process groups hold. */
static void
stop_self (void)
{
  sigset_t mask;
  sigemptyset (&mask);
  sigaddset (&mask, SIGTSTP);
  raise (SIGTSTP);
  sigprocmask (SIG_UNBLOCK, &mask, NULL);
  sigprocmask (SIG_BLOCK, &mask, NULL);
}

/* Ctrl-C has reached the program as well. It may end by itself; if it takes long, or at a second
 * one, the report ends without it; a third leaves it no choice. */
static void
interrupt (Run *run)
{
  run->n_interrupts++;
  if (run->n_interrupts == 1 && !run->is_over)
    {
      int64_t until_ns = monotonic_ns () + GRACE_NS;
      if (until_ns < run->stop_at_ns)
        run->stop_at_ns = until_ns;
    }
  else if (run->n_interrupts < 3)
    cut_short (run);
  else
    end_processes (run, SIGKILL);
}

static void
take_signal (Run *run, const struct signalfd_siginfo *info)
{
  LnsProfile *profile = run->profile;
  int number = (int)info->ssi_signo;
  if (number == SIGCHLD)
    {
      reap (run);
      return;
    }
  /* What the terminal sends, it sends to the program too. */
  bool is_sent = info->ssi_code != SI_KERNEL && info->ssi_pid != (uint32_t)getpid ();
  if (is_sent && !profile->has_exited)
    kill (profile->pid, number);
  if (number == SIGINT || number == SIGQUIT)
    interrupt (run);
  if (number == SIGTSTP)
    stop_self ();
}

static void
take_signals (Run *run)
{
  struct signalfd_siginfo info;
  while (read (run->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
    take_signal (run, &info);
}

/* --- Control ---------------------------------------------------------------------------------- */

static void
obey (Run *run, const char *line)
{
  if (strcmp (line, "start") == 0)
    start_collecting (run);
  else if (strcmp (line, "stop") == 0)
    cut_short (run);
  else if (strcmp (line, "cancel") == 0)
    {
      cancel (run);
      end_processes (run, run->profile->kill_signal);
    }
  else if (strcmp (line, "kill") == 0)
    end_processes (run, SIGKILL);
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
        obey (run, run->control);
      }
    else if (run->n_control < sizeof run->control - 1)
      run->control[run->n_control++] = bytes[i];
}

/* --- The loop --------------------------------------------------------------------------------- */

/* Whether the processes that the report waits for have ended. One that was started just before its
 * parent's end, as servers are, gets a moment to make itself known. */
static bool
has_ended (Run *run)
{
  const LnsProfile *profile = run->profile;
  if (!profile->has_exited)
    return false;
  /* After Ctrl-C nobody waits for what has left the terminal. */
  if (strcmp (profile->options.wait, "primary") == 0 || run->n_interrupts > 0)
    return true;
  LnsCollectorCounters processes = lns_session_processes (profile->session);
  if (processes.n_alive > 0)
    return false;
  int64_t last_end_ns =
      processes.last_end_ns > run->exited_at_ns ? processes.last_end_ns : run->exited_at_ns;
  run->is_lingering =
      monotonic_ns () < last_end_ns + LINGER_NS && lns_session_may_be_joined (profile->session);
  return !run->is_lingering;
}

static int
wait_ms (const Run *run)
{
  int64_t at_ns = run->start_at_ns < run->stop_at_ns ? run->start_at_ns : run->stop_at_ns;
  if (run->tick_at_ns < at_ns)
    at_ns = run->tick_at_ns;
  if (run->is_lingering)
    return LINGER_STEP_MS;
  if (at_ns == NEVER)
    return -1;
  int64_t ns = at_ns - monotonic_ns ();
  return ns <= 0 ? 0 : (int)((ns + 999999) / 1000000 < 60000 ? (ns + 999999) / 1000000 : 60000);
}

static void
take_times (Run *run)
{
  int64_t now_ns = monotonic_ns ();
  if (now_ns >= run->start_at_ns)
    start_collecting (run);
  if (now_ns >= run->stop_at_ns)
    cut_short (run);
  if (now_ns < run->tick_at_ns)
    return;
  lns_progress_tick (run->profile);
  run->tick_at_ns = now_ns + TICK_NS;
}

void
lns_profile_run (LnsProfile *profile)
{
  sigset_t signals;
  lns_profile_signals (&signals);
  Run run = {
    .profile = profile,
    .signal_fd = signalfd (-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK),
    .control_fd = (int)profile->options.control_fd,
    .start_at_ns = NEVER,
    .stop_at_ns = NEVER,
    .tick_at_ns = profile->progress_fd >= 0 ? monotonic_ns () : NEVER,
  };
  if (profile->options.delay_ns > 0)
    run.start_at_ns = monotonic_ns () + profile->options.delay_ns;
  else
    start_collecting (&run);
  while (!profile->has_exited || !run.is_over)
    {
      struct pollfd fds[] = {
        { .fd = run.signal_fd, .events = POLLIN },
        { .fd = lns_session_changed_fd (profile->session), .events = POLLIN },
        { .fd = run.control_fd, .events = POLLIN },
      };
      poll (fds, 3, wait_ms (&run));
      if (fds[0].revents != 0)
        take_signals (&run);
      if (fds[1].revents != 0)
        lns_session_clear_changed (profile->session);
      take_ranges (&run);
      if (fds[2].revents != 0)
        take_control (&run);
      take_times (&run);
      if (has_ended (&run) && (profile->options.stop_on_exit || run.n_interrupts > 0))
        stop_collecting (&run);
    }
  lns_progress_finished (profile, &run.result, run.lag_ms);
  lns_report_result_clear (&run.result);
  free (run.range_path);
  close (run.signal_fd);
}

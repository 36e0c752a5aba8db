/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/profile/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/cli/terminal/signals.h"

#define TICK_NS INT64_C (250000000)

/* How long after Ctrl-C a program may take to end by itself. */
#define GRACE_NS INT64_C (5000000000)

/* How often hidden output is looked at. */
#define TRIM_MS 1000

int64_t
lns_run_now_ns (void)
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

void
lns_run_end_processes (LnsRun *run, int signal_number)
{
  LnsProfile *profile = run->profile;
  if (signal_number == 0)
    return;
  if (!profile->has_exited)
    {
      kill (profile->pid, signal_number);
      run->has_killed = true;
    }
  lns_session_signal (profile->session, signal_number, profile->pid);
}

/* --- Signals ---------------------------------------------------------------------------------- */

/* Ctrl-C has reached the program as well. It may end by itself; if it takes long, or at a second
 * one, the report ends without it; a third leaves it no choice. */
static void
interrupt (LnsRun *run)
{
  run->n_interrupts++;
  if (run->profile->is_launch && !run->is_collecting && !run->is_over)
    return; /* there is no report to end, and the program is nobody's but its own */
  if (run->n_interrupts == 1 && !run->is_over)
    {
      int64_t until_ns = lns_run_now_ns () + GRACE_NS;
      if (until_ns < run->stop_at_ns)
        run->stop_at_ns = until_ns;
    }
  else if (run->n_interrupts < 3)
    lns_run_cut_short (run);
  else
    lns_run_end_processes (run, SIGKILL);
}

/* Whether SIGNAL_NUMBER asks to end the run. The program decides what such a signal means as long as it
 * runs, but for those of the keyboard. */
static bool
is_interrupt (const LnsRun *run, int signal_number)
{
  const bool is_of_keyboard = signal_number == SIGINT || signal_number == SIGQUIT;
  const bool is_to_end = signal_number == SIGTERM || signal_number == SIGHUP;
  return (is_of_keyboard || (is_to_end && run->profile->has_exited)) &&
         !lns_signals_was_ignored (signal_number);
}

static void
take_signal (LnsRun *run, const siginfo_t *info)
{
  LnsProfile *profile = run->profile;
  const int number = info->si_signo;
  const bool had_exited = profile->has_exited;
  lns_run_reap (run); /* nothing is sent to a process that is none */
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
take_signals (LnsRun *run)
{
  siginfo_t info;
  while (lns_signals_next (&info))
    take_signal (run, &info);
}

/* The signal that this process ends by, as the program would have without us: the one that killed the
 * program, if that was not our doing, or the one that ended the run. Who waits for us sees by it that a
 * loop around us is to stop. 0: none, as the program ended by itself, whatever was sent. */
static int
end_signal (const LnsRun *run)
{
  if (run->profile->exit_signal != 0 && !run->has_killed)
    return run->profile->exit_signal;
  return run->has_killed || run->is_cut_off ? run->interrupt : 0;
}

/* --- The loop --------------------------------------------------------------------------------- */

/* Whether the processes that the report waits for have ended. */
static bool
has_ended (LnsRun *run)
{
  const LnsProfile *profile = run->profile;
  if (!profile->has_exited)
    return false;
  /* After Ctrl-C nobody waits for what has left the terminal. */
  if (!lns_run_waits_for_all (profile) || run->n_interrupts > 0)
    return true;
  if (lns_session_processes (profile->session).n_alive > 0 || lns_run_has_left (run))
    return false;
  lns_session_all_ended (profile->session);
  return true;
}

static int
wait_for_times_ms (const LnsRun *run)
{
  int64_t at_ns = run->start_at_ns < run->stop_at_ns ? run->start_at_ns : run->stop_at_ns;
  if (run->tick_at_ns < at_ns)
    at_ns = run->tick_at_ns;
  if (lns_run_tell_left_at_ns (run) < at_ns)
    at_ns = lns_run_tell_left_at_ns (run);
  if (at_ns == LNS_NEVER)
    return -1;
  int64_t ns = at_ns - lns_run_now_ns ();
  return ns <= 0 ? 0 : (int)((ns + 999999) / 1000000 < 60000 ? (ns + 999999) / 1000000 : 60000);
}

static int
wait_ms (const LnsRun *run)
{
  const int ms = wait_for_times_ms (run);
  return run->profile->options.show_output || (ms >= 0 && ms < TRIM_MS) ? ms : TRIM_MS;
}

static void
take_times (LnsRun *run)
{
  int64_t now_ns = lns_run_now_ns ();
  if (now_ns >= run->start_at_ns)
    lns_run_start (run);
  if (now_ns >= run->stop_at_ns)
    lns_run_cut_short (run);
  if (now_ns >= lns_run_tell_left_at_ns (run))
    lns_run_tell_left (run);
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
  lns_signals_catch (&signals);
  LnsRun run = {
    .profile = profile,
    .control_fd = (int)profile->options.control_fd,
    .start_at_ns = LNS_NEVER,
    .stop_at_ns = LNS_NEVER,
    .tick_at_ns = profile->progress_fd >= 0 ? lns_run_now_ns () : LNS_NEVER,
  };
  if (profile->begins_by_itself)
    lns_run_start_in_time (&run);
  lns_run_tell_state (&run);
  while (!profile->has_exited || !run.is_over)
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
      lns_run_take_trouble (&run);
      lns_run_take_ranges (&run);
      if (fds[1].revents != 0)
        lns_run_take_control (&run);
      if (fds[2].revents != 0)
        lns_run_take_requests (&run);
      take_times (&run);
      lns_program_output_trim (&profile->output);
      if (has_ended (&run) &&
          (profile->is_launch || profile->options.stop_on_exit || run.n_interrupts > 0))
        {
          lns_run_stop (&run);
          if (lns_session_report (profile->session) != NULL)
            lns_run_cancel (&run);
          run.is_over = true;
        }
      if (run.is_over)
        lns_session_place_close (&profile->place, profile->is_launch);
    }
  lns_run_tell_late (&run);
  lns_run_reap_hooks (&run, true);
  lns_progress_finished (profile, &run.result, run.lag_ms);
  lns_report_result_clear (&run.result);
  free (run.range_path);
  free (run.hooks);
  profile->end_signal = end_signal (&run);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/lns-cli-profile-run.h"

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
    kill (profile->pid, signal_number);
  lns_session_signal (profile->session, signal_number, profile->pid);
}

/* --- Signals ---------------------------------------------------------------------------------- */

static void
reap (LnsRun *run)
{
  LnsProfile *profile = run->profile;
  int status;
  lns_run_reap_hooks (run, false);
  if (profile->has_exited || waitpid (profile->pid, &status, WNOHANG) != profile->pid ||
      !(WIFEXITED (status) || WIFSIGNALED (status)))
    return;
  profile->has_exited = true;
  profile->exit_signal = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
  profile->exit_code = WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
  run->exited_at_ns = lns_run_now_ns ();
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

static void
take_signal (LnsRun *run, const struct signalfd_siginfo *info)
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
take_signals (LnsRun *run)
{
  struct signalfd_siginfo info;
  while (read (run->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
    take_signal (run, &info);
}

/* --- The loop --------------------------------------------------------------------------------- */

/* Whether the processes that the report waits for have ended. One that was started just before its
 * parent's end, as servers are, gets a moment to make itself known. */
static bool
has_ended (LnsRun *run)
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
      lns_run_now_ns () < last_end_ns + LINGER_NS && lns_session_may_be_joined (profile->session);
  return !run->is_lingering;
}

static int
wait_for_times_ms (const LnsRun *run)
{
  int64_t at_ns = run->start_at_ns < run->stop_at_ns ? run->start_at_ns : run->stop_at_ns;
  if (run->tick_at_ns < at_ns)
    at_ns = run->tick_at_ns;
  if (run->is_lingering)
    return LINGER_STEP_MS;
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
  LnsRun run = {
    .profile = profile,
    .signal_fd = signalfd (-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK),
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
        { .fd = run.signal_fd, .events = POLLIN },
        { .fd = lns_session_changed_fd (profile->session), .events = POLLIN },
        { .fd = run.control_fd, .events = POLLIN },
        { .fd = profile->place.socket_fd, .events = POLLIN },
      };
      poll (fds, 4, wait_ms (&run));
      if (fds[0].revents != 0)
        take_signals (&run);
      if (fds[1].revents != 0)
        lns_session_clear_changed (profile->session);
      lns_run_take_ranges (&run);
      if (fds[2].revents != 0)
        lns_run_take_control (&run);
      if (fds[3].revents != 0)
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
  lns_run_reap_hooks (&run, true);
  lns_progress_finished (profile, &run.result, run.lag_ms);
  lns_report_result_clear (&run.result);
  free (run.range_path);
  free (run.hooks);
  close (run.signal_fd);
}

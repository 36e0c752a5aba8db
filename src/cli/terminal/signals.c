/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/terminal/signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

/* Real-time signals are not among those that are caught. */
#define N_SIGNALS 32

static sigset_t caught;
static sigset_t while_polling;
static struct sigaction before[N_SIGNALS];
static bool has_before;

/* The last signal that ppoll () let through; si_signo is 0 if there was none. */
static siginfo_t arrived;

static void
arrive_cb (int signal_number, siginfo_t *info, void *context)
{
  arrived = *info;
}

void
lns_signals_shared (sigset_t *ret_signals)
{
  static const int signals[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP, SIGTSTP,
                                 SIGCONT, SIGUSR1, SIGUSR2, SIGCHLD };
  sigemptyset (ret_signals);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaddset (ret_signals, signals[i]);
}

void
lns_signals_catch (const sigset_t *signals)
{
  /* A handler blocks the other signals: ppoll () ends with one of them at a time. */
  struct sigaction action = { .sa_sigaction = arrive_cb, .sa_flags = SA_SIGINFO };
  action.sa_mask = caught = *signals;
  sigprocmask (SIG_BLOCK, NULL, &while_polling);
  for (int number = 1; number < N_SIGNALS; number++)
    if (sigismember (signals, number) == 1)
      {
        sigdelset (&while_polling, number);
        sigaction (number, &action, has_before ? NULL : &before[number]);
      }
  /* A pending SIGCHLD was discarded when it got its default action, which is to ignore it: sigaction(2) of POSIX.
   * Without this line, the end of a child would never be noticed. */
  if (has_before && sigismember (signals, SIGCHLD) == 1)
    raise (SIGCHLD);
  has_before = true;
}

void
lns_signals_release (void)
{
  for (int number = 1; number < N_SIGNALS && has_before; number++)
    if (sigismember (&caught, number) == 1)
      sigaction (number, &before[number], NULL);
}

void
lns_signals_poll (struct pollfd *fds, nfds_t n_fds, int timeout_ms)
{
  const struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
  if (ppoll (fds, n_fds, timeout_ms < 0 ? NULL : &timeout, &while_polling) < 0)
    for (nfds_t i = 0; i < n_fds; i++)
      fds[i].revents = 0;
}

bool
lns_signals_next (siginfo_t *ret_info)
{
  /* With a ready descriptor, ppoll () does not deliver a pending signal. Without descriptors it does. */
  if (arrived.si_signo == 0)
    ppoll (NULL, 0, &(struct timespec){ 0 }, &while_polling);
  *ret_info = arrived;
  arrived.si_signo = 0;
  return ret_info->si_signo != 0;
}

bool
lns_signals_was_ignored (int signal_number)
{
  return has_before && before[signal_number].sa_handler == SIG_IGN;
}

static void
raise_unblocked (int signal_number)
{
  sigset_t mask, old;
  sigemptyset (&mask);
  sigaddset (&mask, signal_number);
  raise (signal_number);
  sigprocmask (SIG_UNBLOCK, &mask, &old);
  sigprocmask (SIG_SETMASK, &old, NULL);
}

void
lns_signals_stop_self (int signal_number)
{
  struct sigaction ours;
  sigset_t waiting;
  /* A stop signal discards a pending SIGCONT, and nobody would send another one. */
  sigpending (&waiting);
  if (sigismember (&waiting, SIGCONT) == 1)
    return;
  sigaction (signal_number, &before[signal_number], &ours);
  raise_unblocked (signal_number);
  sigaction (signal_number, &ours, NULL);
}

void
lns_signals_end_self (int signal_number)
{
  const struct rlimit nothing = { 0 };
  /* The limit does not apply if cores are piped into a program: core(5). */
  prctl (PR_SET_DUMPABLE, 0);
  setrlimit (RLIMIT_CORE, &nothing);
  fflush (NULL);
  signal (signal_number, SIG_DFL);
  raise_unblocked (signal_number);
}

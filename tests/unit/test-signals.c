/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests that no signal is lost of those that the program handles where it waits. */

#include "src/cli/terminal/signals.h"
#include "tests/tap.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void catch (sigset_t *ret_signals)
{
  sigemptyset (ret_signals);
  sigaddset (ret_signals, SIGCHLD);
  sigaddset (ret_signals, SIGTERM);
  sigprocmask (SIG_BLOCK, ret_signals, NULL);
  lns_signals_catch (ret_signals);
}

/* While other code has the signals as they were, the end of a child comes, or waits to be seen. */
static void
test_a_childs_end_outlasts_a_release (void)
{
  sigset_t signals;
  siginfo_t info;
  catch (&signals);
  LNS_CHECK (!lns_signals_next (&info));
  raise (SIGCHLD);
  raise (SIGTERM);
  lns_signals_release ();
  lns_signals_catch (&signals);
  unsigned n_childs_ends = 0, n_others = 0;
  while (lns_signals_next (&info))
    if (info.si_signo == SIGCHLD)
      n_childs_ends++;
    else
      n_others += info.si_signo == SIGTERM;
  LNS_CHECK_INT (n_childs_ends, 1);
  LNS_CHECK_INT (n_others, 1);
}

/* Who was asked to stop and then to continue does not stop: SIGCONT waits to be forwarded. */
static void
test_a_continuation_outlasts_a_stop (void)
{
  sigset_t signals, waiting;
  siginfo_t info;
  sigemptyset (&signals);
  sigaddset (&signals, SIGCONT);
  sigaddset (&signals, SIGTSTP);
  sigprocmask (SIG_BLOCK, &signals, NULL);
  const pid_t pid = fork ();
  if (pid == 0)
    {
      lns_signals_catch (&signals);
      raise (SIGCONT);
      lns_signals_stop_self (SIGTSTP);
      sigpending (&waiting);
      const bool waits = sigismember (&waiting, SIGCONT) == 1;
      _exit (waits && lns_signals_next (&info) && info.si_signo == SIGCONT ? 0 : 1);
    }
  int status = 0;
  LNS_CHECK_INT (waitpid (pid, &status, WUNTRACED), pid);
  LNS_CHECK_INT (status, 0);
  if (WIFSTOPPED (status))
    kill (pid, SIGKILL);
}

int
main (void)
{
  LNS_TEST (test_a_childs_end_outlasts_a_release);
  LNS_TEST (test_a_continuation_outlasts_a_stop);
  return lns_tap_done ();
}

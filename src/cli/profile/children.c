/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Processes of the run: the program, and with --wait=all those that it leaves behind, which become children
 * of this process. */

#include "src/cli/profile/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/system/process-info.h"
#include "src/base/format.h"

/* How long after the program's end it is said that others are waited for. */
#define TELL_NS INT64_C (1000000000)

/* How many of them are named. */
#define NAMES_MAX 4

bool
lns_run_waits_for_all (const LnsProfile *profile)
{
  return strcmp (profile->options.wait, "all") == 0 && profile->target.traces != 0;
}

void
lns_profile_adopt (const LnsProfile *profile)
{
  /* A process that outlives its parent finds us in its place instead of process 1. Only so can its end be
   * seen before it is recorded. */
  if (lns_run_waits_for_all (profile))
    prctl (PR_SET_CHILD_SUBREAPER, 1);
}

/* --- Ends ------------------------------------------------------------------------------------- */

static void
reap_program (LnsRun *run)
{
  LnsProfile *profile = run->profile;
  int status;
  if (waitpid (profile->pid, &status, WNOHANG) != profile->pid)
    return;
  profile->has_exited = true;
  profile->exit_signal = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
  profile->exit_code = WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
  run->exited_at_ns = run->last_end_ns = lns_run_now_ns ();
  if (profile->exit_signal != 0 && !run->has_killed)
    {
      char name[LNS_FORMAT_SIZE];
      lns_run_print (run, "The program was killed by %s.\n",
                     lns_format_signal (profile->exit_signal, name));
    }
  lns_session_root_exited (profile->session, profile->process, profile->exit_code,
                           profile->exit_signal);
}

static bool
is_hook (const LnsRun *run, pid_t pid)
{
  for (size_t i = 0; i < run->n_hooks; i++)
    if (run->hooks[i] == pid)
      return true;
  return false;
}

void
lns_run_reap (LnsRun *run)
{
  siginfo_t ended = { 0 };
  while (waitid (P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0)
    {
      if (ended.si_pid == run->profile->pid && !run->profile->has_exited)
        reap_program (run);
      else if (is_hook (run, ended.si_pid))
        lns_run_reap_hooks (run, false);
      else
        {
          waitpid (ended.si_pid, NULL, WNOHANG);
          run->last_end_ns = lns_run_now_ns ();
        }
      ended.si_pid = 0;
    }
}

/* --- Those that are left ---------------------------------------------------------------------- */

/* Whether PID belongs to a command of --after-…, which nobody waits for: see lns_run_call (). */
static bool
is_of_hook (const LnsRun *run, pid_t pid)
{
  return is_hook (run, pid) ||
         (run->has_called && lns_process_has_variable (pid, LNS_RUN_CALLBACK));
}

/* The next child in the list STREAM that the program has left; 0: there is none. */
static pid_t
next_left (const LnsRun *run, FILE *stream)
{
  int pid;
  while (stream != NULL && fscanf (stream, "%d", &pid) == 1)
    if (pid != run->profile->pid && !is_of_hook (run, pid))
      return pid;
  return 0;
}

/* Children come to the first thread of this process, which is the only one that makes any. */
static FILE *
open_children (void)
{
  char path[64];
  snprintf (path, sizeof path, "/proc/self/task/%d/children", getpid ());
  return fopen (path, "re");
}

bool
lns_run_has_left (const LnsRun *run)
{
  siginfo_t ended;
  /* Without a child there is no need for the list. */
  if (waitid (P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0)
    return false;
  FILE *stream = open_children ();
  const bool has_left = next_left (run, stream) != 0;
  if (stream != NULL)
    fclose (stream);
  return has_left;
}

int64_t
lns_run_tell_left_at_ns (const LnsRun *run)
{
  return run->profile->has_exited && !run->is_over && !run->has_told_left
             ? run->exited_at_ns + TELL_NS
             : LNS_NEVER;
}

void
lns_run_tell_left (LnsRun *run)
{
  char names[512] = "";
  unsigned n = 0;
  pid_t pid;
  FILE *stream = open_children ();
  run->has_told_left = true;
  while ((pid = next_left (run, stream)) != 0)
    {
      LnsProcessInfo info;
      const size_t used = strlen (names);
      lns_process_info_read (pid, &info);
      if (n++ < NAMES_MAX)
        snprintf (names + used, sizeof names - used, "%s%s (process %d)", used > 0 ? ", " : "",
                  info.name != NULL ? info.name : "?", pid);
      lns_process_info_clear (&info);
    }
  if (stream != NULL)
    fclose (stream);
  if (n > 0)
    lns_run_print (run,
                   "The program has ended; waiting for what it left running: %s%s. Ctrl-C ends the "
                   "report now, --wait=primary does not wait.\n",
                   names, n > NAMES_MAX ? ", …" : "");
}

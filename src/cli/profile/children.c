/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/profile/children.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/system/process-info.h"
#include "src/base/format.h"
#include "src/base/monotonic.h"

/* Time from the end of the program to the message that the run waits for others. */
#define TELL_NS INT64_C (1000000000)

/* Maximum number of processes that the message names. */
#define NAMES_MAX 4

bool
lns_profile_waits_for_all (const LnsProfile *profile)
{
  return strcmp (profile->options.wait, "all") == 0 && profile->target.traces != 0;
}

void
lns_profile_adopt (const LnsProfile *profile)
{
  /* A process that outlives its parent becomes our child instead of that of process 1. Only then can its end be
   * noticed before it is recorded. */
  if (lns_profile_waits_for_all (profile))
    prctl (PR_SET_CHILD_SUBREAPER, 1);
}

/* --- Ends ------------------------------------------------------------------------------------- */

/* Reads for how long the main thread of PID, which has ended and is still there, was on a CPU and had none that it could have used, in ns
 * (proc_pid_schedstat(5)); 0 where the kernel does not count that. */
static void
read_cpu_times (pid_t pid, int64_t *ret_on_cpu_ns, int64_t *ret_waited_ns)
{
  char path[64];
  long long on_cpu_ns = 0, waited_ns = 0;
  snprintf (path, sizeof path, "/proc/%d/schedstat", (int)pid);
  FILE *file = fopen (path, "re");
  if (file == NULL || fscanf (file, "%lld %lld", &on_cpu_ns, &waited_ns) != 2)
    on_cpu_ns = waited_ns = 0;
  if (file != NULL)
    fclose (file);
  *ret_on_cpu_ns = on_cpu_ns;
  *ret_waited_ns = waited_ns;
}

static void
reap_program (LnsChildren *children, LnsProfile *profile)
{
  int status;
  int64_t on_cpu_ns, waited_ns;
  read_cpu_times (profile->pid, &on_cpu_ns, &waited_ns);
  if (waitpid (profile->pid, &status, WNOHANG) != profile->pid)
    return;
  profile->has_exited = true;
  profile->exit_signal = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
  profile->exit_code = WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
  children->exited_at_ns = children->last_end_ns = lns_monotonic_ns ();
  if (profile->exit_signal != 0 && !children->has_killed)
    {
      char name[LNS_FORMAT_SIZE];
      lns_profile_tell (profile, NULL, "The program was killed by %s",
                        lns_format_signal (profile->exit_signal, name));
    }
  lns_session_root_exited (profile->session, profile->process, profile->exit_code,
                           profile->exit_signal, on_cpu_ns, waited_ns);
}

bool
lns_children_can_be_reaped (LnsError *error)
{
  siginfo_t ended;
  if (waitid (P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 || errno == ECHILD)
    return true;
  return lns_error_set (error, LNS_ERROR_UNSUPPORTED, errno,
                        "cannot wait for the program to end (waitid: %s); allow waitid in the "
                        "container's seccomp profile, or run outside the container",
                        strerror (errno));
}

void
lns_children_reap (LnsChildren *children, LnsHooks *hooks, LnsProfile *profile)
{
  siginfo_t ended = { 0 };
  while (waitid (P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0)
    {
      if (ended.si_pid == profile->pid && !profile->has_exited && !profile->is_attach)
        reap_program (children, profile);
      else if (lns_hooks_has (hooks, ended.si_pid))
        lns_hooks_reap (hooks, profile, false);
      else
        {
          waitpid (ended.si_pid, NULL, WNOHANG);
          children->last_end_ns = lns_monotonic_ns ();
        }
      ended.si_pid = 0;
    }
}

void
lns_children_end (LnsChildren *children, const LnsProfile *profile, int signal_number)
{
  if (signal_number == 0 || profile->is_attach)
    return;
  if (!profile->has_exited)
    {
      kill (profile->pid, signal_number);
      children->has_killed = true;
    }
  lns_peers_signal (lns_session_peers (profile->session), signal_number, profile->pid);
}

/* --- Those that are left ---------------------------------------------------------------------- */

/* The next child in the list STREAM that outlived the program; 0: none. */
static pid_t
next_left (const LnsHooks *hooks, const LnsProfile *profile, FILE *stream)
{
  int pid;
  while (stream != NULL && fscanf (stream, "%d", &pid) == 1)
    if (pid != profile->pid && !lns_hooks_began (hooks, pid))
      return pid;
  return 0;
}

/* Processes whose parent has ended come to the first thread of this process, and it makes all others but the sampler of
 * GPUs, which another thread starts: that one is not in this list. */
static FILE *
open_children (void)
{
  char path[64];
  snprintf (path, sizeof path, "/proc/self/task/%d/children", getpid ());
  return fopen (path, "re");
}

bool
lns_children_has_left (const LnsHooks *hooks, const LnsProfile *profile)
{
  siginfo_t ended;
  /* Without a child, the list is not needed. */
  if (waitid (P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0)
    return false;
  FILE *stream = open_children ();
  const bool has_left = next_left (hooks, profile, stream) != 0;
  if (stream != NULL)
    fclose (stream);
  return has_left;
}

int64_t
lns_children_tell_at_ns (const LnsChildren *children, const LnsProfile *profile)
{
  return profile->has_exited && !children->has_told ? children->exited_at_ns + TELL_NS : INT64_MAX;
}

/* Names of processes for a message; the first few. */
typedef struct
{
  char text[512];
  unsigned n;
} Names;

static void
add_name (Names *names, pid_t pid)
{
  LnsProcessInfo info;
  const size_t used = strlen (names->text);
  if (names->n++ >= NAMES_MAX)
    return;
  lns_process_info_read (pid, &info);
  snprintf (names->text + used, sizeof names->text - used, "%s%s (process %d)",
            used > 0 ? ", " : "", info.name != NULL ? info.name : "?", pid);
  lns_process_info_clear (&info);
}

static const char *
more (const Names *names)
{
  return names->n > NAMES_MAX ? ", …" : "";
}

void
lns_children_tell (LnsChildren *children, const LnsHooks *hooks, LnsProfile *profile)
{
  Names left = { 0 }, others = { 0 };
  pid_t pid;
  FILE *stream = open_children ();
  children->has_told = true;
  while ((pid = next_left (hooks, profile, stream)) != 0)
    add_name (&left, pid);
  if (stream != NULL)
    fclose (stream);
  int32_t alive[64];
  const size_t n_alive =
      lns_peers_alive (lns_session_peers (profile->session), alive, sizeof alive / sizeof *alive);
  for (size_t i = 0; i < n_alive; i++)
    if (!lns_process_descends (alive[i], getpid ()))
      add_name (&others, alive[i]);
  if (left.n > 0)
    lns_profile_tell (profile, NULL,
                      "The program has ended; waiting for processes that it left running: %s%s. "
                      "Press Ctrl-C to end the report now; with --wait=primary, it would not wait",
                      left.text, more (&left));
  if (others.n > 0)
    lns_profile_tell (profile, NULL,
                      "The program has ended; waiting for recorded processes that others started: "
                      "%s%s. Press Ctrl-C to end the report now; with --wait=primary, it would not "
                      "wait",
                      others.text, more (&others));
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/profile/hook.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/system/process-info.h"
#include "src/base/memory.h"

/* The variable that tells commands, and what they start, for which switch they run. */
#define CALLBACK "LANESCOPE_CALLBACK_NAME"

/* Variables that scripts for Nsight Systems read, and the same under our own names. */
static bool
add_variables (LnsEnvironment *environment,
               const LnsProfile *profile,
               const char *when,
               const char *path)
{
  const struct
  {
    const char *name, *value;
  } variables[] = { { "LANESCOPE_SESSION_NAME", profile->place.entry.name },
                    { "NSYS_SESSION_NAME", profile->place.entry.name },
                    { CALLBACK, when },
                    { "NSYS_CALLBACK_NAME", when },
                    { "LANESCOPE_REPORT_PATH", path },
                    { "NSYS_REPORT_PATH", path } };
  bool good = lns_environment_add_all (environment, environ);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    good = good && (variables[i].value == NULL ||
                    lns_environment_set (environment, variables[i].name, variables[i].value));
  return good;
}

void
lns_hooks_call (
    LnsHooks *hooks, LnsProfile *profile, const char *when, const char *command, const char *path)
{
  if (command == NULL)
    return;
  char shell[] = "/bin/sh", flag[] = "-c";
  char *const argv[] = { shell, flag, (char *)command, NULL };
  LnsEnvironment environment = { 0 };
  LnsHeldLaunch held;
  LnsError error = { 0 };
  /* A program may be recorded, which a lack of memory must not end. */
  pid_t *slot = lns_array_try_add (&hooks->pids);
  if (slot != NULL)
    *slot = 0;
  if (slot == NULL || !add_variables (&environment, profile, when, path))
    lns_profile_tell (profile, "warning", "--%s: %s", when, "out of memory");
  else if (lns_launch_hold (argv, &environment, &profile->caller, NULL, &held, &error) &&
           (*slot = lns_launch_release (&held, argv[0], &error)) > 0)
    hooks->has_called = true;
  else
    lns_profile_tell (profile, "warning", "--%s: %s", when, error.message);
  if (slot != NULL && *slot <= 0)
    hooks->pids.n--;
  lns_environment_clear (&environment);
}

void
lns_hooks_reap (LnsHooks *hooks, LnsProfile *profile, bool wait)
{
  for (size_t i = hooks->pids.n; i-- > 0;)
    {
      int status;
      pid_t pid;
      while ((pid = waitpid (hooks->pids.items[i], &status, wait ? 0 : WNOHANG)) < 0 &&
             errno == EINTR)
        ;
      if (pid == 0)
        continue;
      hooks->pids.items[i] = hooks->pids.items[--hooks->pids.n];
      if (pid > 0 && WIFEXITED (status) && WEXITSTATUS (status) != 0)
        lns_profile_tell (profile, "warning", "a command that the session ran exited with code %d",
                          WEXITSTATUS (status));
      else if (pid > 0 && WIFSIGNALED (status))
        lns_profile_tell (profile, "warning",
                          "a command that the session ran was killed by signal %d",
                          WTERMSIG (status));
    }
}

bool
lns_hooks_has (const LnsHooks *hooks, pid_t pid)
{
  for (size_t i = 0; i < hooks->pids.n; i++)
    if (hooks->pids.items[i] == pid)
      return true;
  return false;
}

bool
lns_hooks_began (const LnsHooks *hooks, pid_t pid)
{
  return lns_hooks_has (hooks, pid) ||
         (hooks->has_called && lns_process_has_variable (pid, CALLBACK));
}

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
#include "src/cli/terminal/language.h"

/* The variable that tells commands, and what they start, for which switch they run. */
#define CALLBACK "LANESCOPE_CALLBACK_NAME"

/* Variables that scripts for Nsight Systems read, and the same under our own names. */
static bool
add_variables (LnsEnvironment *environment,
               const LnsProfile *profile,
               const char *when,
               const char *path)
{
  return lns_environment_add_all (environment, environ) &&
         lns_environment_set (environment, "LANESCOPE_SESSION_NAME", profile->place.entry.name) &&
         lns_environment_set (environment, "NSYS_SESSION_NAME", profile->place.entry.name) &&
         lns_environment_set (environment, CALLBACK, when) &&
         lns_environment_set (environment, "NSYS_CALLBACK_NAME", when) &&
         (path == NULL || (lns_environment_set (environment, "LANESCOPE_REPORT_PATH", path) &&
                           lns_environment_set (environment, "NSYS_REPORT_PATH", path)));
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
  LnsError error = { 0 };
  pid_t *pids = realloc (hooks->pids, (hooks->n + 1) * sizeof *pids);
  if (pids != NULL)
    hooks->pids = pids;
  if (pids == NULL || !add_variables (&environment, profile, when, path))
    lns_error_set (&error, LNS_ERROR_NO_MEMORY, 0,
                   _ ("not enough memory; close other programs and try again"));
  else if ((pids[hooks->n] = lns_launch (argv, &environment, &profile->caller, NULL, &error)) > 0)
    {
      hooks->n++;
      hooks->has_called = true;
    }
  if (error.domain != LNS_ERROR_NONE)
    lns_profile_tell (profile, "warning", "--%s: %s", when, error.message);
  lns_environment_clear (&environment);
}

void
lns_hooks_reap (LnsHooks *hooks, LnsProfile *profile, bool wait)
{
  for (size_t i = hooks->n; i-- > 0;)
    {
      int status;
      pid_t pid;
      while ((pid = waitpid (hooks->pids[i], &status, wait ? 0 : WNOHANG)) < 0 && errno == EINTR)
        ;
      if (pid == 0)
        continue;
      hooks->pids[i] = hooks->pids[--hooks->n];
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
  for (size_t i = 0; i < hooks->n; i++)
    if (hooks->pids[i] == pid)
      return true;
  return false;
}

bool
lns_hooks_began (const LnsHooks *hooks, pid_t pid)
{
  return lns_hooks_has (hooks, pid) ||
         (hooks->has_called && lns_process_has_variable (pid, CALLBACK));
}

void
lns_hooks_clear (LnsHooks *hooks)
{
  free (hooks->pids);
  *hooks = (LnsHooks){ 0 };
}

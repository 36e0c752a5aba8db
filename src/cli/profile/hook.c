/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Commands of the user's that run at moments of a session. */

#include "src/cli/profile/run.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What scripts written for Nsight Systems read, and the same under our own name. */
static bool
add_variables (LnsEnvironment *environment, const LnsRun *run, const char *when, const char *path)
{
  return lns_environment_add_all (environment, environ) &&
         lns_environment_set (environment, "LANESCOPE_SESSION_NAME",
                              run->profile->place.entry.name) &&
         lns_environment_set (environment, "NSYS_SESSION_NAME", run->profile->place.entry.name) &&
         lns_environment_set (environment, LNS_RUN_CALLBACK, when) &&
         lns_environment_set (environment, "NSYS_CALLBACK_NAME", when) &&
         (path == NULL || (lns_environment_set (environment, "LANESCOPE_REPORT_PATH", path) &&
                           lns_environment_set (environment, "NSYS_REPORT_PATH", path)));
}

void
lns_run_call (LnsRun *run, const char *when, const char *command, const char *path)
{
  if (command == NULL)
    return;
  char shell[] = "/bin/sh", flag[] = "-c";
  char *const argv[] = { shell, flag, (char *)command, NULL };
  LnsEnvironment environment = { 0 };
  LnsError error = { 0 };
  pid_t *hooks = realloc (run->hooks, (run->n_hooks + 1) * sizeof *hooks);
  if (hooks != NULL)
    run->hooks = hooks;
  if (hooks == NULL || !add_variables (&environment, run, when, path))
    lns_error_set (&error, LNS_ERROR_NO_MEMORY, 0, "memory is short");
  else if ((hooks[run->n_hooks] =
                lns_launch (argv, &environment, &run->profile->caller, NULL, &error)) > 0)
    {
      run->n_hooks++;
      run->has_called = true;
    }
  if (error.domain != LNS_ERROR_NONE)
    lns_run_print (run, "lanescope: warning: --%s: %s\n", when, error.message);
  lns_environment_clear (&environment);
}

void
lns_run_reap_hooks (LnsRun *run, bool wait)
{
  for (size_t i = run->n_hooks; i-- > 0;)
    {
      int status;
      pid_t pid;
      while ((pid = waitpid (run->hooks[i], &status, wait ? 0 : WNOHANG)) < 0 && errno == EINTR)
        ;
      if (pid == 0)
        continue;
      run->hooks[i] = run->hooks[--run->n_hooks];
      if (pid > 0 && WIFEXITED (status) && WEXITSTATUS (status) != 0)
        lns_run_print (run, "lanescope: warning: a command of the session's ended with code %d\n",
                       WEXITSTATUS (status));
      else if (pid > 0 && WIFSIGNALED (status))
        lns_run_print (run,
                       "lanescope: warning: a command of the session's was ended by signal %d\n",
                       WTERMSIG (status));
    }
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/control/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void
lns_caller_save (LnsCaller *ret_caller, const sigset_t *masked)
{
  sigprocmask (SIG_BLOCK, masked, &ret_caller->mask);
  ret_caller->masked = *masked;
  sigemptyset (&ret_caller->ignored);
  for (int number = 1; number < SIGRTMIN; number++)
    {
      struct sigaction now;
      if (sigismember (masked, number) == 1 && sigaction (number, NULL, &now) == 0 &&
          now.sa_handler == SIG_IGN)
        sigaddset (&ret_caller->ignored, number);
    }
  struct sigaction ignore = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL };
  sigaction (SIGPIPE, &ignore, &ret_caller->on_pipe);
  sigaction (SIGXFSZ, &ignore, &ret_caller->on_file_size);
  sigaction (SIGCHLD, &normal, &ret_caller->on_child);
  if (getrlimit (RLIMIT_NOFILE, &ret_caller->files) == 0)
    {
      struct rlimit most = ret_caller->files;
      most.rlim_cur = most.rlim_max;
      setrlimit (RLIMIT_NOFILE, &most);
    }
  ret_caller->is_saved = true;
}

/* --- Environment ------------------------------------------------------------------------------ */

static bool
add_item (LnsEnvironment *environment, char *item)
{
  char **items = item != NULL
                     ? realloc (environment->items, (environment->n_items + 2) * sizeof *items)
                     : NULL;
  if (items == NULL)
    {
      free (item);
      return false;
    }
  environment->items = items;
  items[environment->n_items++] = item;
  items[environment->n_items] = NULL;
  return true;
}

bool
lns_environment_add_all (LnsEnvironment *environment, char *const *environ_items)
{
  for (; *environ_items != NULL; environ_items++)
    if (!add_item (environment, strdup (*environ_items)))
      return false;
  return true;
}

static char **
find_item (const LnsEnvironment *environment, const char *name)
{
  size_t n = strlen (name);
  for (size_t i = 0; i < environment->n_items; i++)
    if (strncmp (environment->items[i], name, n) == 0 && environment->items[i][n] == '=')
      return &environment->items[i];
  return NULL;
}

bool
lns_environment_set (LnsEnvironment *environment, const char *name, const char *value)
{
  char *item;
  if (asprintf (&item, "%s=%s", name, value) < 0)
    return false;
  char **old = find_item (environment, name);
  if (old == NULL)
    return add_item (environment, item);
  free (*old);
  *old = item;
  return true;
}

bool
lns_environment_prepend (LnsEnvironment *environment, const char *name, const char *item)
{
  const char *old = lns_environment_get (environment, name);
  const bool has_old = old != NULL && old[0] != '\0';
  char *whole = NULL;
  const bool done =
      asprintf (&whole, "%s%s%s", item, has_old ? ":" : "", has_old ? old : "") >= 0 &&
      lns_environment_set (environment, name, whole);
  free (whole);
  return done;
}

const char *
lns_environment_get (const LnsEnvironment *environment, const char *name)
{
  char **item = find_item (environment, name);
  return item != NULL ? *item + strlen (name) + 1 : NULL;
}

void
lns_environment_clear (LnsEnvironment *environment)
{
  for (size_t i = 0; i < environment->n_items; i++)
    free (environment->items[i]);
  free (environment->items);
  *environment = (LnsEnvironment){ 0 };
}

/* --- Start ------------------------------------------------------------------------------------ */

/* Restores the caller's signal actions. The handlers that this process has set since are not for the program. */
static void
restore_actions (const LnsCaller *caller)
{
  const struct sigaction ignore = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL };
  for (int number = 1; number < SIGRTMIN; number++)
    if (sigismember (&caller->masked, number) == 1)
      sigaction (number, sigismember (&caller->ignored, number) == 1 ? &ignore : &normal, NULL);
  sigaction (SIGPIPE, &caller->on_pipe, NULL);
  sigaction (SIGXFSZ, &caller->on_file_size, NULL);
  sigaction (SIGCHLD, &caller->on_child, NULL);
}

void
lns_caller_restore (const LnsCaller *caller)
{
  if (!caller->is_saved)
    return;
  setrlimit (RLIMIT_NOFILE, &caller->files);
  restore_actions (caller);
  sigprocmask (SIG_SETMASK, &caller->mask, NULL);
}

/* In the child, where other threads of the session may have held any lock at the fork: only
 * async-signal-safe calls. Waits for a byte from GO_FD; writes an errno to REPORT_FD if the program
 * cannot be started. */
static void __attribute__ ((noreturn)) become (char *const *argv,
                                               char *const *environment,
                                               const LnsCaller *caller,
                                               const int *outputs,
                                               int go_fd,
                                               int report_fd)
{
  int failed = 0;
  char go;
  ssize_t got;
  while ((got = read (go_fd, &go, 1)) < 0 && errno == EINTR)
    ;
  if (got != 1)
    _exit (127);
  lns_caller_restore (caller);
  if (outputs != NULL && (dup2 (outputs[0], 1) < 0 || dup2 (outputs[1], 2) < 0))
    failed = errno;
  if (failed == 0)
    {
      execvpe (argv[0], argv, environment);
      failed = errno;
    }
  ssize_t written = write (report_fd, &failed, sizeof failed);
  (void)written;
  _exit (127);
}

bool
lns_launch_hold (char *const *argv,
                 const LnsEnvironment *environment,
                 const LnsCaller *caller,
                 const int *outputs,
                 LnsHeldLaunch *ret_held,
                 LnsError *error)
{
  static char *const nothing[] = { NULL };
  int go[2], report[2];
  if (pipe2 (report, O_CLOEXEC) != 0)
    return lns_error_set_errno (error, errno, "cannot start %s", argv[0]);
  if (pipe2 (go, O_CLOEXEC) != 0)
    {
      lns_error_set_errno (error, errno, "cannot start %s", argv[0]);
      close (report[0]);
      close (report[1]);
      return false;
    }
  const pid_t pid = fork ();
  if (pid == 0)
    {
      close (go[1]); /* else it would wait for itself after our end */
      become (argv, environment->items != NULL ? environment->items : nothing, caller, outputs,
              go[0], report[1]);
    }
  const int failed = errno;
  close (go[0]);
  close (report[1]);
  if (pid > 0)
    {
      *ret_held = (LnsHeldLaunch){ .pid = pid, .go_fd = go[1], .report_fd = report[0] };
      return true;
    }
  close (go[1]);
  close (report[0]);
  return lns_error_set_errno (error, failed, "cannot start %s", argv[0]);
}

void
lns_launch_abandon (LnsHeldLaunch *held)
{
  if (held->pid <= 0)
    return;
  close (held->go_fd);
  close (held->report_fd);
  waitpid (held->pid, NULL, 0);
  *held = (LnsHeldLaunch){ 0 };
}

pid_t
lns_launch_release (LnsHeldLaunch *held, const char *program, LnsError *error)
{
  const pid_t pid = held->pid;
  int failed = 0;
  ssize_t n;
  while ((n = write (held->go_fd, "", 1)) < 0 && errno == EINTR)
    ;
  while ((n = read (held->report_fd, &failed, sizeof failed)) < 0 && errno == EINTR)
    ;
  if (failed == 0)
    {
      close (held->go_fd);
      close (held->report_fd);
      *held = (LnsHeldLaunch){ 0 };
      return pid;
    }
  lns_launch_abandon (held);
  struct stat status;
  if (failed == ENOENT && program[strspn (program, " \t\n")] == '\0')
    lns_error_set (
        error, LNS_ERROR_IO, failed,
        "“%s” is not the name of a program; the backslash that joins two lines of a shell must be "
        "the last character of its line",
        program);
  else if (failed == ENOENT)
    lns_error_set (error, LNS_ERROR_IO, failed,
                   "cannot find program “%s”; check the name or give its full path", program);
  else if (failed == EACCES && stat (program, &status) == 0 && S_ISDIR (status.st_mode))
    lns_error_set (error, LNS_ERROR_IO, failed, "%s is a folder; name a program in it", program);
  else if (failed == EACCES)
    lns_error_set (error, LNS_ERROR_IO, failed,
                   "%s is not executable; use `chmod +x`, or name its interpreter before it",
                   program);
  else if (failed == ENOEXEC)
    lns_error_set (
        error, LNS_ERROR_IO, failed,
        "%s is not a program for this machine; a script needs a first line that names its "
        "interpreter",
        program);
  else
    lns_error_set_errno (error, failed, "cannot start %s", program);
  return -1;
}

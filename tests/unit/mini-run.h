/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by tests that start processes: runs that must succeed, and what their target processes
 * do. */

#pragma once

#include <sys/wait.h>

#include "tests/tap.h"
#include "tests/unit/mini-session.h"

static inline MiniSession *
run_with (const MiniOptions *options, int (*target) (void))
{
  MiniSession *session = mini_session_run (options, target);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (session->n_bad_records, 0);
  LNS_CHECK_INT (session->n_wrong_times, 0);
  LNS_CHECK_INT (session->n_wrong_depths, 0);
  LNS_CHECK_INT (session->n_unknown_names, 0);
  return session;
}

static inline MiniSession *
run (int (*target) (void))
{
  MiniOptions options = { .keep_events = true };
  return run_with (&options, target);
}

/* Whether the process INDEX of SESSION has exactly N marks, all named NAME, and no other events but
 * pushes and pops. */
static inline void
check_marks (const MiniSession *session, uint32_t process, uint64_t n, const char *name)
{
  uint64_t found = 0;
  for (size_t i = 0; i < session->n_events; i++)
    if (session->events[i].process == process && session->events[i].type == LNS_WIRE_MARK)
      {
        LNS_CHECK_STR (session->events[i].name, name);
        found++;
      }
  LNS_CHECK_INT (found, n);
}

static inline int
wait_for_child (pid_t pid)
{
  int status;
  if (pid < 0 || waitpid (pid, &status, 0) != pid)
    return 1;
  return WIFEXITED (status) ? WEXITSTATUS (status) : 1;
}

static inline void
mark_often (const char *name, int n)
{
  for (int i = 0; i < n; i++)
    nvtx_mark (name);
}

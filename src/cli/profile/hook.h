/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shell commands of the user that a session runs: --after-collection-start, --after-report-ready. */

#pragma once

#include "src/cli/profile/profile.h"

typedef struct
{
  LNS_ARRAY (pid_t) pids; /* of those that run */
  bool has_called;        /* one was run */
} LnsHooks;

/* Runs COMMAND (NULL: nothing) with the shell, without waiting for it. WHEN is its switch; PATH is the finished report,
 * or NULL. */
void lns_hooks_call (
    LnsHooks *hooks, LnsProfile *profile, const char *when, const char *command, const char *path);

/* Warns about commands that failed. WAIT waits for the end of all. */
void lns_hooks_reap (LnsHooks *hooks, LnsProfile *profile, bool wait);

/* Whether PID is such a command, still running. */
bool lns_hooks_has (const LnsHooks *hooks, pid_t pid);

/* Whether PID is such a command, or was started by one. */
bool lns_hooks_began (const LnsHooks *hooks, pid_t pid);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Commands of the user's that run at moments of a session: --after-collection-start, --after-report-ready. */

#pragma once

#include "src/cli/profile/profile.h"

typedef struct
{
  pid_t *pids; /* of those that run */
  size_t n;
  bool has_called; /* one was run */
} LnsHooks;

/* Runs COMMAND (NULL: none) by the shell and does not wait for it. WHEN is its switch; PATH a report that is
 * ready, or NULL. */
void lns_hooks_call (
    LnsHooks *hooks, LnsProfile *profile, const char *when, const char *command, const char *path);

/* Says which commands have failed; with WAIT, when all have ended. */
void lns_hooks_reap (LnsHooks *hooks, LnsProfile *profile, bool wait);

/* Whether PID is a command that runs. */
bool lns_hooks_has (const LnsHooks *hooks, pid_t pid);

/* Whether PID is such a command, or was started by one. */
bool lns_hooks_began (const LnsHooks *hooks, pid_t pid);

void lns_hooks_clear (LnsHooks *hooks);

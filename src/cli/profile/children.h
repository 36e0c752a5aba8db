/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The processes of a run: the program and, with --wait=all, the processes that outlive it, which become children of this
 * process. */

#pragma once

#include "src/cli/profile/hook.h"
#include "src/cli/profile/profile.h"

typedef struct
{
  bool has_killed;      /* the program was sent a signal of ours */
  int64_t exited_at_ns; /* the program; CLOCK_MONOTONIC, as all here */
  int64_t last_end_ns;  /* of it, and of those that it left and nobody records; 0: none has ended */
  bool has_told;        /* who is waited for */
} LnsChildren;

/* Whether the run waits for all processes that the program started. */
bool lns_profile_waits_for_all (const LnsProfile *profile);

/* Makes this process the parent of orphans of the program, if the run waits for them. */
void lns_profile_adopt (const LnsProfile *profile);

/* Whether the kernel tells which children have ended. Called before there is any. */
bool lns_children_can_be_reaped (LnsError *error);

/* Collects the children that have ended. HOOKS are those that the program did not start. */
void lns_children_reap (LnsChildren *children, LnsHooks *hooks, LnsProfile *profile);

/* Sends SIGNAL_NUMBER to the program and to all other processes that are recorded; 0: nothing. Programs of `attach` get none. */
void lns_children_end (LnsChildren *children, const LnsProfile *profile, int signal_number);

/* Whether processes that outlived the program still run. */
bool lns_children_has_left (const LnsHooks *hooks, const LnsProfile *profile);

/* Prints once which processes the run waits for; and when to print that (INT64_MAX: never). */
void lns_children_tell (LnsChildren *children, const LnsHooks *hooks, LnsProfile *profile);
int64_t lns_children_tell_at_ns (const LnsChildren *children, const LnsProfile *profile);

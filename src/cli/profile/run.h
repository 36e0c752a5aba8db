/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The run of `profile`, `launch` and `attach`. */

#pragma once

#include "src/cli/profile/profile.h"

/* Runs until the program of PROFILE has ended and its reports are written. Of `attach`: until the report is written. Returns the exit
 * code: that of the program if it is not 0. */
int lns_profile_run (LnsProfile *profile);

/* What lns_profile_try () is asked for, and how that went. */
typedef struct
{
  uint64_t report_max_bytes; /* in: where writing the report ends, as on a full disk; 0: nowhere */
  bool is_started;           /* the program was */
  int exit_code;             /* of the program: 0–255, 128+N after signal N */
  LnsCaller caller;          /* what to restore before this process executes the program itself */
} LnsProfileTrial;

/* `profile` with the words ARGV, of which the first is its name, and which are put into another order. Returns
 * the exit code and fills TRIAL. If the program was not started, errors are printed, and this process has become nobody's session and may execute the program. */
int lns_profile_try (int argc, char **argv, LnsProfileTrial *trial);

/* Frees what a run of any of the commands leaves in PROFILE, except lists of switches. */
void lns_profile_clear (LnsProfile *profile);

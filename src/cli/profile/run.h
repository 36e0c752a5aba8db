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

/* Frees what a run of any of the commands leaves in PROFILE, except lists of switches. */
void lns_profile_clear (LnsProfile *profile);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The run of `profile`, `launch` and `attach`. */

#pragma once

#include "src/cli/profile/profile.h"

/* Runs until the program of PROFILE has ended and its reports are written. Of `attach`: until the report is written. */
void lns_profile_run (LnsProfile *profile);

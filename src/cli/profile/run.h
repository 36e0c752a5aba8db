/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The run of `profile` and `launch`. */

#pragma once

#include "src/cli/profile/profile.h"

/* Runs until the program of PROFILE has ended and its reports are written. */
void lns_profile_run (LnsProfile *profile);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The run of `profile` and `launch`. */

#pragma once

#include "src/cli/profile/profile.h"

/* Sees the started program of PROFILE to its end and the report to its. */
void lns_profile_run (LnsProfile *profile);

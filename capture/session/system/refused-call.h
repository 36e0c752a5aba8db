/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Calls of the kernel without which there is no session. */

#pragma once

#include <stdbool.h>

#include "src/base/error.h"

/* Sets ERROR to what CALL, which failed with ERRNO_CODE, keeps from working, and what to do. Returns false. */
bool lns_refused_call (LnsError *error, int errno_code, const char *call);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How the commands about sessions find the one that is meant. */

#pragma once

#include "capture/session/control/place.h"
#include "src/base/error.h"

/* lns_session_find () for what was written after --session; NULL: nothing. */
bool lns_cli_find_session (const char *text, LnsSessionEntry *ret_entry, LnsError *error);

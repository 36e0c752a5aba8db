/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finding the session that a command names. */

#pragma once

#include "capture/session/control/place.h"
#include "src/base/error.h"

/* lns_session_find () for the value of --session, whose macros are replaced. NULL: the switch was not given. */
bool lns_cli_find_session (const char *text, LnsSessionEntry *ret_entry, LnsError *error);

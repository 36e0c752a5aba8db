/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The requests by which other terminals have a session begin and end reports: the commands `start`, `stop`, `cancel` and
 * `shutdown`, and how the session reads them. Their switches are parsed twice: in the terminal where they are given, and
 * by the session. */

#pragma once

#include "src/cli/profile/profile.h"

/* Row of the table of switches, for VALUES with `const char *session`. */
#define LNS_SESSION_SWITCH(Values)                                                                 \
 {                                                                                                 \
  LNS_SWITCH ("session", TEXT, Values, session),                                                   \
      .value_name = "NAME", .default_text = N_ ("the only one there is"),                          \
      .help = N_ ("Name or id of the session, as `lanescope sessions list` shows them.")           \
 }

/* lns_session_find () for the value of --session, whose macros are replaced. NULL: the switch was not given. */
bool lns_cli_find_session (const char *text, LnsSessionEntry *ret_entry, LnsError *error);

/* Applies the switches of REQUEST, a `start`, and takes over its words. For `launch`, the switches of an earlier `start`
 * are forgotten. */
bool lns_profile_take_start (LnsProfile *profile, LnsSessionRequest *request, LnsError *error);

/* The time in ns that the `stop` in ARGV keeps; 0: all. */
bool lns_stop_parse (int argc, char **argv, int64_t *ret_keep_ns, LnsError *error);

/* The signal that the `shutdown` in ARGV asks for; 0: none. */
bool lns_shutdown_parse (int argc, char **argv, int *ret_signal, LnsError *error);

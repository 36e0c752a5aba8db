/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The requests of `start`, `stop` and `shutdown`. Their switches are parsed twice: in the terminal where they are given,
 * and by the session. */

#pragma once

#include "src/cli/profile/profile.h"

/* Row of the table of switches, for VALUES with `const char *session`. */
#define LNS_SESSION_SWITCH(Values)                                                                 \
 {                                                                                                 \
  LNS_SWITCH ("session", TEXT, Values, session),                                                   \
      .value_name = "NAME", .default_text = N_ ("the only one there is"),                          \
      .help = N_ ("Name or id of the session, as `lanescope sessions list` shows them.")           \
 }

/* The values of `stop`, `cancel` and `shutdown`. */
typedef struct
{
  const char *session, *kill;
  int64_t keep_ns;
  bool defer_report;
} LnsEndOptions;

#define LNS_START_N_OPTIONS    2
#define LNS_STOP_N_OPTIONS     3
#define LNS_SHUTDOWN_N_OPTIONS 2

extern const LnsOption lns_start_options[LNS_START_N_OPTIONS]; /* of LnsProfileOptions */
extern const LnsOptionGroup *const lns_start_groups[];
extern const LnsOption lns_stop_options[LNS_STOP_N_OPTIONS];
extern const LnsOption lns_shutdown_options[LNS_SHUTDOWN_N_OPTIONS];

/* The part of an LnsCommand that parsing needs. */
#define LNS_START_SWITCHES                                                                         \
 .name = "start", .options = lns_start_options, .n_options = LNS_START_N_OPTIONS,                  \
 .groups = lns_start_groups, .refusals = lns_profile_refusals,                                     \
 .n_refusals = LNS_PROFILE_N_REFUSALS
#define LNS_STOP_SWITCHES                                                                          \
 .name = "stop", .options = lns_stop_options, .n_options = LNS_STOP_N_OPTIONS
#define LNS_SHUTDOWN_SWITCHES                                                                      \
 .name = "shutdown", .options = lns_shutdown_options, .n_options = LNS_SHUTDOWN_N_OPTIONS

/* Applies the switches of REQUEST, a `start`, and takes over its words. For `launch`, the switches of an earlier `start`
 * are forgotten. */
bool lns_profile_take_start (LnsProfile *profile, LnsSessionRequest *request, LnsError *error);

/* The time in ns that the `stop` in ARGV keeps; 0: all. */
bool lns_stop_parse (int argc, char **argv, int64_t *ret_keep_ns, LnsError *error);

/* The signal that the `shutdown` in ARGV asks for; 0: none. */
bool lns_shutdown_parse (int argc, char **argv, int *ret_signal, LnsError *error);

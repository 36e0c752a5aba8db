/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* SQL of the user (src/analysis/why/query.h) on the command line: Ctrl-C or a time limit ends it. */

#pragma once

#include "src/analysis/why/query.h"
#include "src/cli/reports/report.h"

/* Row of the table of switches, for VALUES with `int64_t timeout_ns`. TEXT_OF_DEFAULT is the default, for people. */
#define LNS_CLI_TIMEOUT(Values, text_of_default)                                                   \
 {                                                                                                 \
  LNS_SWITCH ("timeout", SECONDS, Values, timeout_ns),                                             \
      .value_name = "SECONDS", .default_text = text_of_default,                                    \
      .help = N_ ("Maximum time for queries, in seconds; 0 is unlimited.")                         \
 }

/* lns_query_new (), which Ctrl-C ends. To be freed with lns_query_free (). */
LnsQuery *lns_cli_query_new (LnsReport *report, int64_t timeout_ns, LnsError *error);

/* Fills ERROR with the reason why the last call of SQLite failed, and what to do. Returns false. */
bool lns_cli_query_fail (LnsQuery *query, LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs SQL of the user over the tables of a report. Statements can only read. Ctrl-C or a time limit ends them. */

#pragma once

#include <sqlite3.h>

#include "src/cli/reports/report.h"

typedef struct
{
  sqlite3 *db; /* to prepare statements in */
  const atomic_bool *cancel;
  int64_t timeout_ns, deadline_ns;
  bool is_late;
} LnsCliQuery;

/* Row of the table of switches, for VALUES with `int64_t timeout_ns`. TEXT_OF_DEFAULT is the default, for people. */
#define LNS_CLI_TIMEOUT(Values, text_of_default)                                                   \
 {                                                                                                 \
  LNS_SWITCH ("timeout", SECONDS, Values, timeout_ns),                                             \
      .value_name = "SECONDS", .default_text = text_of_default,                                    \
      .help = N_ ("Maximum time for queries, in seconds; 0 is unlimited.")                         \
 }

/* A new query over the tables of REPORT, which is borrowed. All its statements together may take TIMEOUT_NS (0 = no limit)
 * from its creation on. Owned; NULL with ERROR if the tables cannot be read. */
LnsCliQuery *lns_cli_query_new (LnsReport *report, int64_t timeout_ns, LnsError *error);
void lns_cli_query_free (LnsCliQuery *query); /* NULL is fine                                   */

/* Fills ERROR with the reason why the last call of SQLite failed, and what to do. Returns false. */
bool lns_cli_query_fail (LnsCliQuery *query, LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* SQL of the user over the tables of a report. It can only read, and ends at Ctrl-C or after a time limit. */

#pragma once

#include <sqlite3.h>

#include "src/cli/reports/report.h"

typedef struct LnsCliQuery LnsCliQuery;

/* Row of the table of switches, for VALUES with `int64_t timeout_ns`; DEFAULT_TEXT says what holds
 * without it. */
#define LNS_CLI_TIMEOUT(Values, text_of_default)                                                   \
 {                                                                                                 \
  LNS_SWITCH ("timeout", SECONDS, Values, timeout_ns),                                             \
      .value_name = "SECONDS", .default_text = text_of_default,                                    \
      .help = N_ ("Maximum time for queries, in seconds; 0 is unlimited.")                         \
 }

/* The tables of REPORT, which is borrowed, to be freed. From its creation on all its statements together
 * may take TIMEOUT_NS (0 = any time). NULL and ERROR where the tables cannot be read. */
LnsCliQuery *lns_cli_query_new (LnsReport *report, int64_t timeout_ns, LnsError *error);
void lns_cli_query_free (LnsCliQuery *query); /* NULL is fine                                   */

/* The database to prepare statements in. Owned by QUERY. */
sqlite3 *lns_cli_query_database (LnsCliQuery *query);

/* Fills ERROR with the reason why the last call of SQLite failed, and the remedy. Returns false. */
bool lns_cli_query_fail (LnsCliQuery *query, LnsError *error);

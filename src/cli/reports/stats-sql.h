/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The user's own reports for `stats`: files with one query. A first line "-- TEXT" is the title. ":NAME=VALUE" after the
 * report's name sets the parameter :NAME. */

#pragma once

#include "src/analysis/stats/style.h"
#include "src/cli/options/options.h"
#include "src/cli/reports/query.h"

/* The path of the file that NAME (with arguments) means: NAME itself if it has a slash or ends in .sql, else NAME.sql in
 * one of FOLDERS or of those in LANESCOPE_STATS_REPORT_PATH. Owned; NULL if there is none. */
char *lns_stats_sql_find (const char *name, const LnsOptionList *folders);

typedef struct
{
  LnsQuery *query;
  sqlite3_stmt *statement;
  char *text; /* of the file */
  char *title;
  char unset[256]; /* parameters without a value, which are NULL: ":least, :most" */
  bool has_rows;
} LnsStatsSql;

/* Reads the query in the file at PATH, binds the arguments of NAME and runs it up to its first row. REPORT is borrowed.
 * TIMEOUT_NS is that of lns_cli_query_new (). Owned; NULL with ERROR if the file cannot be read or the query is
 * wrong. */
LnsStatsSql *lns_stats_sql_run (
    const char *path, const char *name, LnsReport *report, int64_t timeout_ns, LnsError *error);
void lns_stats_sql_free (LnsStatsSql *sql); /* NULL is fine                                     */

/* Writes the rows to STREAM; may be called once. False with ERROR if the query fails. */
bool
lns_stats_sql_write (LnsStatsSql *sql, FILE *stream, const LnsStatsStyle *style, LnsError *error);

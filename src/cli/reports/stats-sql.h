/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A person's own reports for `stats`: files that hold one query. A first line "-- TEXT" gives the title;
 * what follows the report's name as ":NAME=VALUE" is bound to :NAME. */

#pragma once

#include "src/analysis/stats/style.h"
#include "src/cli/options/options.h"
#include "src/store/read/report.h"

/* The path of the file that NAME (with arguments) means, to be freed: itself where it has a slash or ends in .sql,
 * or NAME.sql in one of FOLDERS or of those that LANESCOPE_STATS_REPORT_PATH lists between colons. NULL where there
 * is none. */
char *lns_stats_sql_find (const char *name, const LnsOptionList *folders);

typedef struct LnsStatsSql LnsStatsSql;

/* Reads the query in the file at PATH, binds the arguments of NAME and goes to its first row. REPORT is
 * borrowed; to be freed. TIMEOUT_NS as lns_cli_query_new () has it. NULL and ERROR where the file cannot be
 * read, or the query is wrong. */
LnsStatsSql *lns_stats_sql_run (
    const char *path, const char *name, LnsReport *report, int64_t timeout_ns, LnsError *error);
void lns_stats_sql_free (LnsStatsSql *sql); /* NULL is fine                                     */

const char *lns_stats_sql_title (const LnsStatsSql *sql);
bool lns_stats_sql_has_rows (const LnsStatsSql *sql);

/* The parameters of the query that NAME gave no value, which are NULL in it: ":least, :most"; "" where there are
 * none. As long as SQL. */
const char *lns_stats_sql_unset (const LnsStatsSql *sql);

/* Writes the rows to STREAM; once. False and ERROR where the query fails. */
bool
lns_stats_sql_write (LnsStatsSql *sql, FILE *stream, const LnsStatsStyle *style, LnsError *error);

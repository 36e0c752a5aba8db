/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* SQL over the tables that `lanescope sql` has, for reports that are not worth a walk over lanes of their own. Beside
 * SQLite's functions there are
 *
 *   text(ID)           the string of the report with this id;
 *   difference(A, B)   A - B, or the least or greatest number where that does not fit;
 *   saturated_sum(N)   the sum of a group, which ends at these, too; 0 where all is NULL. */

#pragma once

#include <sqlite3.h>

#include "src/store/read/report.h"

typedef struct LnsStatsQuery LnsStatsQuery;

/* The tables of REPORT. REPORT and CANCEL (may be NULL) are borrowed. To be freed. NULL and ERROR where a chunk is
 * damaged. */
LnsStatsQuery *_lns_stats_query_new (LnsReport *report, const atomic_bool *cancel, LnsError *error);
void _lns_stats_query_free (LnsStatsQuery *query); /* NULL is fine                              */

/* Starts SQL: statements, of which the last one has rows. The statement that is returned is the query's, until the next
 * call; its parameters may be bound. NULL and ERROR where it fails. */
sqlite3_stmt *_lns_stats_query_start (LnsStatsQuery *query, const char *sql, LnsError *error);

/* Goes to the next row of the statement: RET_ROW gets whether there is one. False and ERROR where a chunk is damaged, or
 * cancelled. */
bool _lns_stats_query_next (LnsStatsQuery *query, bool *ret_row, LnsError *error);

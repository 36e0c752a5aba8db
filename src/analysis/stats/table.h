/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes the tables of `stats` and `analyze`: columns for people, in the layout that they know from nsys' summaries, or
 * formats for programs. Rows are written as they come; columns take their widths
 * from the first 100. */

#pragma once

#include <stdio.h>

#include "src/analysis/result.h"
#include "src/analysis/stats/style.h"

typedef struct LnsStatsTable LnsStatsTable;

/* Begins a table of N_COLUMNS COLUMNS on STREAM (all borrowed). lns_stats_table_finish () ends it. */
LnsStatsTable *lns_stats_table_new (FILE *stream,
                                    const LnsStatsStyle *style,
                                    const LnsResultColumn *columns,
                                    unsigned n_columns);

/* What writes the rows that it is given to TABLE, which owns it. Places are not written. */
LnsRows *lns_stats_table_rows (LnsStatsTable *table);

/* Writes what is left and frees TABLE. */
void lns_stats_table_finish (LnsStatsTable *table);

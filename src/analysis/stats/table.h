/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes the tables of `stats` and `analyze`: columns for people, in the layout that they know from nsys' summaries, or
 * formats for programs. Rows are written as they come; columns take their widths
 * from the first 100. */

#pragma once

#include <stdint.h>
#include <stdio.h>

#include "src/analysis/stats/style.h"

typedef struct
{
  const char *title; /* without unit: "Total Time"                                              */
  bool is_time;      /* in ns                                                                   */
  bool is_text;
  unsigned decimals; /* of numbers                                                              */
} LnsStatsColumn;

/* A value: text of SIZE_BYTES, NUMBER / 10^decimals of its column, or nothing. */
typedef struct
{
  bool is_empty;
  bool is_written; /* in a text column: the bytes are those of a number                         */
  int64_t number;
  const char *bytes;
  size_t size_bytes;
} LnsStatsCell;

typedef struct LnsStatsTable LnsStatsTable;

/* Begins a table of N_COLUMNS COLUMNS on STREAM (all borrowed). lns_stats_table_finish () ends it. */
LnsStatsTable *lns_stats_table_new (FILE *stream,
                                    const LnsStatsStyle *style,
                                    const LnsStatsColumn *columns,
                                    unsigned n_columns);

/* Adds a row of n_columns cells. */
void lns_stats_table_add (LnsStatsTable *table, const LnsStatsCell *cells);

/* Writes what is left and frees TABLE. */
void lns_stats_table_finish (LnsStatsTable *table);

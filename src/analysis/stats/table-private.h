/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the formats of tables: table.c, layout.c and markup.c. */

#pragma once

#include "src/analysis/stats/table.h"

#define LNS_STATS_NUMBER_SIZE 96

/* A cell as it is to be written, before a format escapes what it must. */
typedef struct
{
  const char *bytes;
  size_t size;
  bool is_number, is_empty;
} LnsStatsText;

/* A format. */
typedef struct
{
  /* Before the first row. */
  void (*begin) (LnsStatsTable *table);
  /* N_COLUMNS texts. */
  void (*row) (LnsStatsTable *table, const LnsStatsText *texts);
  /* After the last one. */
  void (*end) (LnsStatsTable *table);
} LnsStatsWriter;

typedef struct LnsStatsLayout LnsStatsLayout;

struct LnsStatsTable
{
  FILE *stream;
  const LnsStatsStyle *style;
  const LnsStatsColumn *columns;
  unsigned n_columns;
  const LnsStatsWriter *writer;
  char **titles;                          /* of the columns, with their units */
  LnsStatsText *texts;                    /* of the row being added                               */
  char (*numbers)[LNS_STATS_NUMBER_SIZE]; /* where its numbers stand                              */
  uint64_t n_rows;
  LnsStatsLayout *layout; /* of column and table, or NULL                                       */
};

extern const LnsStatsWriter _lns_stats_layout_writer; /* column and table                       */
extern const LnsStatsWriter _lns_stats_lines_writer;  /* csv and tsv                            */
extern const LnsStatsWriter _lns_stats_json_writer;
extern const LnsStatsWriter _lns_stats_html_writer; /* hdoc and htable                          */

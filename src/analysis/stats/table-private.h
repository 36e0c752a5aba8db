/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the formats of tables share: table.c, layout.c and markup.c. */

#pragma once

#include "src/analysis/stats/table.h"

#define LNS_STATS_TITLE_SIZE 96

/* A cell as it is to be written, but for what a format has to escape. */
typedef struct
{
  const char *bytes;
  size_t size;
  bool is_number, is_empty;
} LnsStatsText;

/* A format. */
typedef struct
{
  /* Before the first row. False without memory. */
  bool (*begin) (LnsStatsTable *table);
  /* N_COLUMNS texts. False without memory. */
  bool (*row) (LnsStatsTable *table, const LnsStatsText *texts);
  /* After the last one, also where `begin` or a row failed. */
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
  LnsStatsText *texts;                   /* of the row being added                               */
  char (*numbers)[LNS_STATS_TITLE_SIZE]; /* where its numbers stand                              */
  uint64_t n_rows;
  LnsStatsLayout *layout; /* of column and table, or NULL                                       */
};

extern const LnsStatsWriter _lns_stats_layout_writer; /* column and table                       */
extern const LnsStatsWriter _lns_stats_lines_writer;  /* csv and tsv                            */
extern const LnsStatsWriter _lns_stats_json_writer;
extern const LnsStatsWriter _lns_stats_html_writer; /* hdoc and htable                          */

/* The title of column I with its unit: RET_TITLE, or the column's own where that is longer. */
const char *
_lns_stats_title (const LnsStatsTable *table, unsigned i, char ret_title[LNS_STATS_TITLE_SIZE]);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tables as data: what statistics, rules and findings are made of. Whoever computes a table gives its rows, one by one, to an
 * LnsRows and keeps none of them. An LnsStatsTable (stats/table.h) writes them as text, CSV, JSON or HTML; an LnsResult keeps
 * them for a program that shows or sends them. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the values of a column are. Those of all types but text are numbers. */
typedef enum
{
  LNS_RESULT_TEXT,
  LNS_RESULT_TIME,      /* a point on the report's clock, or a duration, in ns                   */
  LNS_RESULT_CHANGE,    /* a difference of two durations, in ns                                  */
  LNS_RESULT_BYTES,     /* a size, in bytes                                                      */
  LNS_RESULT_MEGABYTES, /* a size, in 1,000,000 bytes                                            */
  LNS_RESULT_COUNT,     /* how many                                                              */
  LNS_RESULT_SHARE,     /* percent                                                               */
  LNS_RESULT_ID,        /* names something and is not calculated with: a thread, a stream, a row */
  LNS_RESULT_NUMBER     /* anything else; the title has the unit                                 */
} LnsResultType;

/* Whether values of TYPE are in ns. */
static inline bool
lns_result_type_is_time (LnsResultType type)
{
  return type == LNS_RESULT_TIME || type == LNS_RESULT_CHANGE;
}

typedef struct
{
  const char *title; /* of times without the unit: "Total Time"                                 */
  LnsResultType type;
  unsigned decimals; /* of numbers                                                              */
} LnsResultColumn;

/* A value: text of SIZE_BYTES, NUMBER / 10^decimals of its column, or nothing. */
typedef struct
{
  bool is_empty;
  bool is_written; /* in a text column: the bytes are those of a number                         */
  int64_t number;
  const char *bytes; /* not terminated; NULs may be among them                                  */
  size_t size_bytes;
} LnsResultCell;

/* Where a row is in the report whose tables were read. */
typedef struct
{
  uint32_t lane;    /* LNS_ID_NONE: the row is about a time, not about an event                  */
  uint64_t ordinal; /* the event of the lane; the first one where the row is about several       */
  int64_t start_ns, end_ns; /* on the report's clock; start_ns ≤ end_ns                          */
} LnsPlace;

/* The place of event ORDINAL of LANE, or of a time (LNS_ID_NONE). Negative durations count as 0; an end that does not fit is
 * the greatest number. */
LnsPlace lns_place (uint32_t lane, uint64_t ordinal, int64_t start_ns, int64_t duration_ns);

/* --- Taking rows ------------------------------------------------------------------------------ */

typedef struct LnsRows LnsRows;

/* Takes the rows of a table. Whatever does so has this as its first member. One thread at a time. */
struct LnsRows
{
  void (*add) (LnsRows *rows, const LnsResultCell *cells, const LnsPlace *place);
  bool wants_places; /* if not, a place that takes time to find need not be given                */
};

/* Adds a row of a cell for each column. PLACE is NULL where the row is about no one place; a sum's is that of the longest event. Nothing
 * is borrowed after the call. */
static inline void
lns_rows_add (LnsRows *rows, const LnsResultCell *cells, const LnsPlace *place)
{
  rows->add (rows, cells, place);
}

/* --- Keeping rows ----------------------------------------------------------------------------- */

typedef struct LnsResult LnsResult;

/* A result without rows, of N_COLUMNS COLUMNS (copied with their titles), that keeps the first MAX_ROWS rows it is given
 * (SIZE_MAX = all). The caller frees it. Never NULL. A row takes 40 bytes, 24 a cell, and its texts. */
LnsResult *lns_result_new (const LnsResultColumn *columns, unsigned n_columns, size_t max_rows)
    __attribute__ ((returns_nonnull, warn_unused_result));
void lns_result_free (LnsResult *result); /* NULL is fine                                       */

/* What adds rows to RESULT, which owns it. Amortised O(cells + bytes) a row. */
LnsRows *lns_result_rows (LnsResult *result);

/* Owned by RESULT. Any thread while nobody adds; so may all that follows. */
const LnsResultColumn *lns_result_columns (const LnsResult *result, unsigned *ret_n);

/* How many rows are kept, and how many more were added. */
size_t lns_result_n_rows (const LnsResult *result);
uint64_t lns_result_n_left_out (const LnsResult *result);

/* The value of COLUMN in ROW; both must be there. Its bytes are RESULT's, until the next row is added. O(1). */
LnsResultCell lns_result_cell (const LnsResult *result, size_t row, unsigned column);

/* Gives the least and the greatest number that COLUMN has in the rows that are kept, before its decimals are taken into account; false:
 * it has none, as it is one of text or all its cells are empty. O(1). */
bool
lns_result_range (const LnsResult *result, unsigned column, int64_t *ret_least, int64_t *ret_most);

/* Where ROW is, or NULL. RESULT's, until the next row is added. O(1). */
const LnsPlace *lns_result_place (const LnsResult *result, size_t row);

/* Adds the rows that RESULT keeps to ROWS, which has the same columns. */
void lns_result_give (const LnsResult *result, LnsRows *rows);

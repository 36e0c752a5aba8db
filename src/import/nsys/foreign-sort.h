/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sorts rows by time in bounded memory: by start, those of equal starts by end from the last one on, then as they came.
 * Most tables are nearly in order: their rows wait in a window, and nothing is written. Rows of other tables are sorted
 * in runs, which a thread writes to the temporary folder, and merged. (SQLite's own sorter takes three times as long.)
 * One thread owns the sort. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buffer.h"
#include "src/base/error.h"

typedef struct
{
  int64_t start, end;
} LnsForeignKey;

/* The head of a row. The record follows it. */
typedef struct
{
  LnsForeignKey key;
  int64_t rowid;
  uint64_t size_bytes; /* of the record                                                         */
} LnsForeignHead;

/* Returns whether A belongs before B. */
static inline bool
_lns_foreign_key_precedes (LnsForeignKey a, LnsForeignKey b)
{
  return a.start < b.start || (a.start == b.start && a.end > b.end);
}

/* Returns the bytes that a record of SIZE_BYTES takes with the padding that aligns the next head. */
static inline size_t
_lns_foreign_padded (uint64_t size_bytes)
{
  return (size_t)(size_bytes + 7) & ~(size_t)7;
}

/* Appends a row to ROWS. */
void _lns_foreign_put_row (LnsBuffer *rows, const LnsForeignHead *head, const uint8_t *record);

/* --- How much order there is ------------------------------------------------------------------ */

/* The most rows that wait in memory for one that belongs before them. */
#define LNS_SORT_WINDOW       65536u
#define LNS_SORT_WINDOW_STEPS 64u

/* Learns from all keys in turn how much order there is. Zero it before first use. */
typedef struct
{
  uint32_t
      window; /* at most so many rows lie before one that belongs before them; UINT32_MAX: more  */
  uint64_t n_rows;
  LnsForeignKey highest;
  LnsForeignKey
      before[LNS_SORT_WINDOW_STEPS]; /* the highest at the end of each step of the last window */
} LnsRowsLook;

void _lns_rows_look (LnsRowsLook *look, LnsForeignKey key);

/* --- The order that is wanted ----------------------------------------------------------------- */

/* Called with each row in order. Returns false to end the sort. */
typedef bool (*LnsForeignGiveFunc) (void *data, const LnsForeignHead *head, const uint8_t *record);

typedef struct LnsForeignSort LnsForeignSort;

/* Makes a sort for rows of the file at PATH, which errors name and which must stay; WINDOW is what LnsRowsLook found. To
 * be freed. */
LnsForeignSort *
_lns_foreign_sort_new (uint32_t window, const char *path, LnsForeignGiveFunc give, void *data)
    __attribute__ ((warn_unused_result));
void _lns_foreign_sort_free (LnsForeignSort *sort); /* NULL is fine                              */

/* Takes a copy of a row. Returns false if it cannot go on; ERROR has the reason, unless GIVE ended the sort. */
bool _lns_foreign_sort_add (LnsForeignSort *sort,
                            const LnsForeignHead *head,
                            const uint8_t *record,
                            LnsError *error);

/* Gives the remaining rows. */
bool _lns_foreign_sort_finish (LnsForeignSort *sort, LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A table's rows off the pages of its file (https://www.sqlite.org/fileformat2.html#b_tree_pages), as records. SQLite
 * itself takes 15 ns for each value, most of which are NULL in nsys' tables; this takes a third of that for each row.
 *
 * Tables that are more than a tree of rows are left to SQLite, and so are files with a write-ahead log or texts that
 * are not UTF-8. The file is read by SQLite's own handle, under the lock that its transaction holds. */

#pragma once

#include "src/import/nsys/foreign-private.h"

#define LNS_PAGES_LEVELS_MAX 20

typedef struct
{
  uint8_t *bytes; /* owned                                                                       */
  unsigned n_cells, next;
  bool is_leaf;
} LnsForeignPage;

typedef struct
{
  sqlite3_file *file;
  unsigned page_bytes, usable_bytes;
  uint64_t n_pages, n_read;
  LnsForeignPage levels[LNS_PAGES_LEVELS_MAX]; /* from the root to the leaf                      */
  unsigned n_levels;
  LnsBuffer whole; /* a row that lies on several pages                                           */
} LnsForeignPages;

/* A row; lives until the next is asked for. */
typedef struct
{
  int64_t rowid;
  const uint8_t *record;
  size_t size_bytes;
} LnsForeignRow;

/* Begins at the first row of TABLE. False where the table is to be read by SQLite. To be cleared in any case. */
bool _lns_foreign_pages_begin (LnsForeignPages *pages,
                               LnsForeign *foreign,
                               const LnsForeignTable *table);
void _lns_foreign_pages_clear (LnsForeignPages *pages);

/* The next row. SQLITE_ROW, SQLITE_DONE behind the last one, or another code of SQLite: the file is damaged or cannot
 * be read. Amortised O(size). */
int _lns_foreign_pages_next (LnsForeignPages *pages, LnsForeignRow *ret_row);

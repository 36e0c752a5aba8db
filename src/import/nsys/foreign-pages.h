/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads a table's rows, as records, off the pages of its file (https://www.sqlite.org/fileformat2.html#b_tree_pages).
 * SQLite takes 15 ns for each value, and most values of nsys' tables are NULL; this takes 5 ns for each row.
 *
 * Tables that are not plain rowid B-trees are left to SQLite, and so are files with a write-ahead log or texts that are
 * not UTF-8. The file is read through SQLite's own handle, under the lock that its transaction holds. */

#pragma once

#include <sqlite3.h>

#include "src/import/nsys/foreign.h"

/* The limit of the size of a text or blob. */
#define LNS_FOREIGN_VALUE_BYTES (64 << 20)

/* A foreign file, as foreign.c and this reader know it. */
struct LnsForeign
{
  sqlite3 *db;
  char *name; /* in errors                                                                       */
  const atomic_bool *cancel;
  LNS_ARRAY (LnsForeignTable) tables;
};

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

/* A row. It is valid until the next one is read. */
typedef struct
{
  int64_t rowid;
  const uint8_t *record;
  size_t size_bytes;
} LnsForeignRow;

/* Begins at the first row of TABLE. False where SQLite must read the table. Clear PAGES in both cases. */
bool _lns_foreign_pages_begin (LnsForeignPages *pages,
                               LnsForeign *foreign,
                               const LnsForeignTable *table);
void _lns_foreign_pages_clear (LnsForeignPages *pages);

/* Reads the next row. Returns SQLITE_ROW, SQLITE_DONE after the last one, or another code of SQLite where the file is
 * damaged or cannot be read. Amortised O(size). */
int _lns_foreign_pages_next (LnsForeignPages *pages, LnsForeignRow *ret_row);

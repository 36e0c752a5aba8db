/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads an SQLite file that another program wrote, with distrust: read-only, without running its views, triggers and
 * functions, and only tables and columns that the file is known to have. One thread owns it. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/array.h"
#include "src/base/error.h"
#include "src/store/format/kept-codec.h"

typedef struct LnsForeign LnsForeign;

typedef struct
{
  char *name;       /* owned                                                                     */
  char *type;       /* owned; as declared; "" where none is                                      */
  bool is_not_null; /* as declared                                                               */
  bool is_real;     /* whole numbers in it are real ones                                         */
  bool is_rowid;    /* it is the row's id                                                        */
  bool is_used;     /* set where it is read                                                      */
} LnsForeignColumn;

typedef struct
{
  char *name; /* owned                                                                           */
  LNS_ARRAY (LnsForeignColumn) columns;
  uint32_t root_page;
  bool is_plain;   /* its tree holds all values of its rows                                     */
  bool is_known;   /* set where it is read                                                       */
  uint64_t n_rows; /* UINT64_MAX: not known yet                                                  */
} LnsForeignTable;

/* Opens PATH, which errors call NAME. Returns NULL and fills ERROR if it is not an SQLite file or cannot be read.
 * CANCEL (may be NULL) ends every reading with LNS_ERROR_CANCELLED. */
LnsForeign *
lns_foreign_open (const char *path, const char *name, const atomic_bool *cancel, LnsError *error)
    __attribute__ ((warn_unused_result));
void lns_foreign_close (LnsForeign *foreign); /* NULL is fine                                   */

/* Returns the tables in the file's order, without those of SQLite itself. O(1). */
LnsForeignTable *lns_foreign_tables (LnsForeign *foreign, unsigned *ret_n);

/* Returns the table called NAME, or NULL. O(tables). */
LnsForeignTable *lns_foreign_find (LnsForeign *foreign, const char *name);

/* Returns the column of TABLE called NAME, or NULL. O(columns). */
LnsForeignColumn *lns_foreign_column (const LnsForeignTable *table, const char *name);

/* Marks the column as used, so that the import does not list it as unknown. Returns false if TABLE does not have it. */
bool lns_foreign_use_column (LnsForeignTable *table, const char *name);

/* Called with the values of a row, one for each column that was asked for. Texts and blobs live until it returns.
 * Returns false to end the reading. */
typedef bool (*LnsForeignRowFunc) (void *data, const LnsKeptValue *values);

/* The number of leading columns by which rows are ordered: by start, ascending; those of equal starts by end,
 * descending, with NULL first; then in the order of the table. */
typedef enum
{
  LNS_FOREIGN_AS_IT_LIES,
  LNS_FOREIGN_BY_START,
  LNS_FOREIGN_BY_START_AND_END
} LnsForeignOrder;

/* Calls FUNC for each row of TABLE with the N_COLUMNS (at most 100) called COLUMNS, each of which is named once. Values
 * of columns that TABLE lacks are NULL. Returns false and fills ERROR if the file is damaged or the reading was
 * cancelled; returns false alone if FUNC ended it. Rows that are out of order and do not fit into memory are sorted in
 * the temporary folder. */
bool lns_foreign_read (LnsForeign *foreign,
                       LnsForeignTable *table,
                       const char *const *columns,
                       unsigned n_columns,
                       LnsForeignOrder order,
                       LnsForeignRowFunc func,
                       void *data,
                       LnsError *error);

/* Returns about how many rows TABLE has: its largest rowid. O(log rows). */
uint64_t lns_foreign_estimate (LnsForeign *foreign, const LnsForeignTable *table);

/* Counts the rows of TABLE. Returns false and fills ERROR as lns_foreign_read () does. O(pages); O(1) once all were
 * read. */
bool
lns_foreign_count (LnsForeign *foreign, LnsForeignTable *table, uint64_t *ret_n, LnsError *error);

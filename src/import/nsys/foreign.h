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

/* Opens PATH, which errors call NAME. NULL and ERROR where it is not an SQLite file or cannot be read. CANCEL (may be
 * NULL) ends every reading with LNS_ERROR_CANCELLED. */
LnsForeign *
lns_foreign_open (const char *path, const char *name, const atomic_bool *cancel, LnsError *error)
    __attribute__ ((warn_unused_result));
void lns_foreign_close (LnsForeign *foreign); /* NULL is fine                                   */

/* Its tables in the file's order, without those of SQLite itself. O(1). */
LnsForeignTable *lns_foreign_tables (LnsForeign *foreign, unsigned *ret_n);

/* The table called NAME, or NULL. O(tables). */
LnsForeignTable *lns_foreign_find (LnsForeign *foreign, const char *name);

/* The column of TABLE called NAME, or NULL. O(columns). */
LnsForeignColumn *lns_foreign_column (const LnsForeignTable *table, const char *name);

/* Marks the column as used, so that the import does not list it as unknown. Returns false if TABLE does not have it. */
bool lns_foreign_use_column (LnsForeignTable *table, const char *name);

/* Gets a row: as many values as columns were asked for; text and blobs live until it returns. False ends
 * the reading. */
typedef bool (*LnsForeignRowFunc) (void *data, const LnsKeptValue *values);

/* By so many of the first columns rows are ordered: the start; where that is equal the end, from the last on, with NULL
 * before all; then as they lie. */
typedef enum
{
  LNS_FOREIGN_AS_IT_LIES,
  LNS_FOREIGN_BY_START,
  LNS_FOREIGN_BY_START_AND_END
} LnsForeignOrder;

/* Calls FUNC for each row of TABLE with the N_COLUMNS (at most 100) called COLUMNS, each once, NULL for those
 * that it does not have. False and ERROR where the file is damaged or it was cancelled; false alone where FUNC ended
 * it. Rows that are out of order, and do not fit into memory, are sorted in the temporary folder. */
bool lns_foreign_read (LnsForeign *foreign,
                       LnsForeignTable *table,
                       const char *const *columns,
                       unsigned n_columns,
                       LnsForeignOrder order,
                       LnsForeignRowFunc func,
                       void *data,
                       LnsError *error);

/* About how many rows TABLE has: its largest rowid. O(log rows). */
uint64_t lns_foreign_estimate (LnsForeign *foreign, const LnsForeignTable *table);

/* The number of rows of TABLE; false and ERROR as above. O(pages), O(1) once all were read. */
bool
lns_foreign_count (LnsForeign *foreign, LnsForeignTable *table, uint64_t *ret_n, LnsError *error);

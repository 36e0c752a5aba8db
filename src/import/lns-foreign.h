/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* An SQLite file that another program wrote, read with distrust: opened read-only, its views, triggers
 * and functions never run, its tables and columns looked up before they are asked for. One thread
 * owns it. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/lns-error.h"
#include "src/store/lns-kept-codec.h"

typedef struct LnsForeign LnsForeign;

typedef struct
{
  char *name;
  char **columns;
  char **types;      /* of the columns, as declared; "" where none is                            */
  bool *is_not_null; /* the columns, as declared                                                 */
  bool *is_used; /* by column: set by who reads it                                              */
  unsigned n_columns;
  bool is_known; /* set by who reads it                                                         */
} LnsForeignTable;

/* NULL and ERROR where PATH is no SQLite file or cannot be read. CANCEL (may be NULL) ends whatever
 * reads with LNS_ERROR_CANCELLED. */
LnsForeign *lns_foreign_open (const char *path, const atomic_bool *cancel, LnsError *error)
    __attribute__ ((warn_unused_result));
void lns_foreign_close (LnsForeign *foreign); /* NULL is fine                                   */

/* Its tables, in its own order; those of SQLite itself left out. O(1). */
LnsForeignTable *lns_foreign_tables (LnsForeign *foreign, unsigned *ret_n);

/* The table called NAME, or NULL. O(tables). */
LnsForeignTable *lns_foreign_find (LnsForeign *foreign, const char *name);

/* Whether TABLE (may be NULL) has the column; that it is used from now on is noted. O(columns). */
bool lns_foreign_has_column (LnsForeignTable *table, const char *column);

/* Gets a row: as many values as columns were asked for; text and blobs live until it returns. False ends
 * the reading. */
typedef bool (*LnsForeignRowFunc) (void *data, const LnsKeptValue *values);

/* Calls FUNC for each row of TABLE with the N_COLUMNS (at most 100) called COLUMNS, NULL for those
 * that it does not have; ORDER ("ORDER BY …") or NULL. False and ERROR where the file is damaged or
 * it was cancelled; false alone where FUNC ended it. */
bool lns_foreign_read (LnsForeign *foreign,
                       LnsForeignTable *table,
                       const char *const *columns,
                       unsigned n_columns,
                       const char *order,
                       LnsForeignRowFunc func,
                       void *data,
                       LnsError *error);

/* Whether the rows of TABLE lie by START, those of equal starts by END from the last on. False and ERROR as
 * above. O(rows). */
bool lns_foreign_is_ordered (LnsForeign *foreign,
                             LnsForeignTable *table,
                             const char *start,
                             const char *end,
                             bool *ret_is_ordered,
                             LnsError *error);

/* About how many rows TABLE has: its largest rowid. O(log rows). */
uint64_t lns_foreign_estimate (LnsForeign *foreign, const LnsForeignTable *table);

/* The number of rows of TABLE; false and ERROR as above. O(pages). */
bool lns_foreign_count (LnsForeign *foreign,
                        const LnsForeignTable *table,
                        uint64_t *ret_n,
                        LnsError *error);

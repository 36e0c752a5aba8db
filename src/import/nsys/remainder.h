/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Keeps values of rows that their events cannot hold beside the events (LNS_COLUMN_REMAINDER). */

#pragma once

#include "src/import/nsys/import-private.h"
#include "src/store/write/kept-table.h"

typedef struct
{
  LnsImport *import; /* borrowed                                                                 */
  unsigned n_columns;
  LnsKeptTableMaker *maker; /* owned                                                             */
  LnsKeptValue told[LNS_KEPT_MAX_COLUMNS];
  bool is_string[LNS_KEPT_MAX_COLUMNS]; /* the column holds ids of StringIds                    */
  bool has_told;
} LnsImportRemainder;

/* Begins the remainders of the schema's TABLE: rows come from SOURCE with N_COLUMNS COLUMNS, all of which it has. An export
 * knows from them which columns the source had, even where no row has a remainder. */
void _lns_import_remainder_init (LnsImportRemainder *remainder,
                                 LnsImport *import,
                                 const char *table,
                                 const char *const *columns,
                                 unsigned n_columns,
                                 const LnsForeignTable *source);
void _lns_import_remainder_clear (LnsImportRemainder *remainder);

/* Begins a row. */
void _lns_import_remainder_begin (LnsImportRemainder *remainder);

/* Keeps VALUE of COLUMN. Its bytes must live until the row ends. */
void _lns_import_remainder_tell (LnsImportRemainder *remainder,
                                 unsigned column,
                                 const LnsKeptValue *value);

/* Returns the LNS_COLUMN_REMAINDER of the row's event. */
uint64_t _lns_import_remainder_id (LnsImportRemainder *remainder);

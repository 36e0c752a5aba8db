/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What rows of a table say and their events do not: kept beside them (LNS_COLUMN_REMAINDER). */

#pragma once

#include "src/import/nsys/import-private.h"
#include "src/store/write/kept-table.h"

typedef struct
{
  LnsImport *import;
  const char *table;
  const char *const *columns; /* borrowed                                                       */
  const LnsForeignTable *source;
  unsigned n_columns;
  LnsKeptTableMaker *maker; /* NULL until one is needed                                          */
  LnsKeptValue told[LNS_KEPT_MAX_COLUMNS];
  bool has_told;
} LnsImportRemainder;

/* For rows of the schema's TABLE, which come from SOURCE, with N_COLUMNS COLUMNS; these must stay as long as
 * it does. */
void _lns_import_remainder_init (LnsImportRemainder *remainder,
                                 LnsImport *import,
                                 const char *table,
                                 const char *const *columns,
                                 unsigned n_columns,
                                 const LnsForeignTable *source);
void _lns_import_remainder_clear (LnsImportRemainder *remainder);

/* Makes the columns known, though no row may say anything in them: what else the table has is NULL. */
void _lns_import_remainder_define (LnsImportRemainder *remainder);

/* Begins a row. */
void _lns_import_remainder_begin (LnsImportRemainder *remainder);

/* Keeps VALUE of COLUMN, which lives until the row's end. */
void _lns_import_remainder_tell (LnsImportRemainder *remainder,
                                 unsigned column,
                                 const LnsKeptValue *value);

/* The LNS_COLUMN_REMAINDER of the row's event. */
uint64_t _lns_import_remainder_id (LnsImportRemainder *remainder);

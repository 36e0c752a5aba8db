/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/remainder.h"

#include "src/base/memory.h"

static void
forget (LnsImportRemainder *remainder)
{
  for (unsigned i = 0; i < remainder->n_columns; i++)
    remainder->told[i] = (LnsKeptValue){ .type = LNS_KEPT_UNSET };
  remainder->has_told = false;
}

void
_lns_import_remainder_init (LnsImportRemainder *remainder,
                            LnsImport *import,
                            const char *table,
                            const char *const *columns,
                            unsigned n_columns,
                            const LnsForeignTable *source)
{
  LnsKeptColumn kept[LNS_KEPT_MAX_COLUMNS];

  *remainder = (LnsImportRemainder){ .import = import, .n_columns = n_columns };
  for (unsigned i = 0; i < n_columns; i++)
    {
      const LnsForeignColumn *column = lns_foreign_column (source, columns[i]);
      kept[i] = (LnsKeptColumn){ columns[i], column->type, column->is_not_null };
      remainder->is_string[i] = _lns_import_is_string_id (columns[i]);
    }
  remainder->maker = lns_kept_table_maker_new (import->writer, table, kept, n_columns, true);
  if (remainder->maker == NULL)
    lns_out_of_memory ();
  forget (remainder);
}

void
_lns_import_remainder_clear (LnsImportRemainder *remainder)
{
  lns_kept_table_maker_free (remainder->maker);
}

void
_lns_import_remainder_begin (LnsImportRemainder *remainder)
{
  if (remainder->has_told)
    forget (remainder);
}

void
_lns_import_remainder_tell (LnsImportRemainder *remainder,
                            unsigned column,
                            const LnsKeptValue *value)
{
  remainder->told[column] =
      _lns_import_keep (remainder->import, value, remainder->is_string[column]);
  remainder->has_told = true;
}

uint64_t
_lns_import_remainder_id (LnsImportRemainder *remainder)
{
  return remainder->has_told ? lns_kept_table_maker_remainder (remainder->maker, remainder->told)
                             : 0;
}

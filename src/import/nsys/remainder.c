/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/remainder.h"

#include <strings.h>

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
  *remainder = (LnsImportRemainder){
    .import = import, .table = table, .columns = columns, .n_columns = n_columns, .source = source
  };
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
  remainder->told[column] = *value;
  remainder->has_told = true;
}

/* The column called NAME as SOURCE declares it. One that it does not have is never told.            */
static LnsKeptColumn
describe (const LnsForeignTable *source, const char *name)
{
  for (unsigned i = 0; i < source->n_columns; i++)
    if (strcasecmp (source->columns[i], name) == 0)
      return (LnsKeptColumn){ name, source->types[i], source->is_not_null[i] };
  return (LnsKeptColumn){ name, "", true };
}

void
_lns_import_remainder_define (LnsImportRemainder *remainder)
{
  LnsKeptColumn columns[LNS_KEPT_MAX_COLUMNS];

  if (remainder->maker != NULL)
    return;
  for (unsigned i = 0; i < remainder->n_columns; i++)
    columns[i] = describe (remainder->source, remainder->columns[i]);
  remainder->maker = lns_kept_table_maker_new (remainder->import->writer, remainder->table, columns,
                                               remainder->n_columns, true);
}

uint64_t
_lns_import_remainder_id (LnsImportRemainder *remainder)
{
  if (!remainder->has_told)
    return 0;
  _lns_import_remainder_define (remainder);
  return remainder->maker != NULL
             ? lns_kept_table_maker_remainder (remainder->maker, remainder->told)
             : 0;
}

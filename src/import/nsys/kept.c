/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Keeps tables that do not hold events as they are (LnsKeptTable), even if definitions are made of them too. An export
 * then has everything that the file had. */

#include <string.h>
#include <strings.h>

#include "src/base/memory.h"
#include "src/import/nsys/remainder.h"
#include "src/tables/enums.h"

/* Half of the kept tables are left to remainders, of which each table of events has at most one. */
#define MAX_TABLES (LNS_KEPT_MAX_TABLES / 2)

typedef struct
{
  LnsImport *import;
  LnsKeptTableMaker *maker;
  unsigned n_columns;
  bool is_string[LNS_KEPT_MAX_COLUMNS]; /* the column holds ids of StringIds                    */
} Rows;

static bool
row_cb (void *data, const LnsKeptValue *values)
{
  Rows *rows = data;
  LnsKeptValue kept[LNS_KEPT_MAX_COLUMNS];

  for (unsigned i = 0; i < rows->n_columns; i++)
    kept[i] = _lns_import_keep (rows->import, &values[i], rows->is_string[i]);
  lns_kept_table_maker_add (rows->maker, kept);
  rows->import->n_done++;
  return _lns_import_look_up (rows->import);
}

static bool
keep_table (LnsImport *import, LnsForeignTable *table)
{
  LnsKeptColumn columns[LNS_KEPT_MAX_COLUMNS];
  const char *names[LNS_KEPT_MAX_COLUMNS];
  Rows rows = { .import = import, .n_columns = (unsigned)table->columns.n };

  if (table->columns.n > LNS_KEPT_MAX_COLUMNS)
    return true;
  for (unsigned i = 0; i < rows.n_columns; i++)
    {
      const LnsForeignColumn *column = &table->columns.items[i];
      names[i] = column->name;
      columns[i] = (LnsKeptColumn){ column->name, column->type, column->is_not_null };
      rows.is_string[i] = _lns_import_is_string_id (column->name);
    }
  rows.maker =
      lns_kept_table_maker_new (import->writer, table->name, columns, rows.n_columns, false);
  if (rows.maker == NULL)
    lns_out_of_memory ();
  table->is_known = true;
  bool good = lns_foreign_read (import->foreign, table, names, rows.n_columns,
                                LNS_FOREIGN_AS_IT_LIES, row_cb, &rows, import->error);
  lns_kept_table_maker_free (rows.maker);
  return good;
}

/* ---- Which tables ---------------------------------------------------------------------------- */

typedef struct
{
  const LnsEnum *constants;
  bool is_known;
} Constants;

static bool
is_text (const LnsKeptValue *value, const char *text)
{
  if (value->type == LNS_KEPT_NULL)
    return text[0] == '\0';
  return value->type == LNS_KEPT_TEXT && value->size_bytes == strlen (text) &&
         memcmp (value->bytes, text, value->size_bytes) == 0;
}

static bool
constant_cb (void *data, const LnsKeptValue *values)
{
  Constants *look = data;
  bool found = false;

  for (unsigned i = 0; i < look->constants->n_values && !found; i++)
    {
      const LnsEnumValue *value = &look->constants->values[i];
      found = _lns_import_number (&values[0]) == value->id && is_text (&values[1], value->name) &&
              is_text (&values[2], value->label);
    }
  look->is_known = found;
  return found;
}

/* Returns whether TABLE holds only constants that every export has. */
static bool
has_only_known_constants (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "id", "name", "label" };
  Constants look = { .is_known = true };

  look.constants = lns_enum_find (table->name);
  if (look.constants == NULL)
    return false;
  lns_foreign_read (import->foreign, table, columns, 3, LNS_FOREIGN_AS_IT_LIES, constant_cb, &look,
                    NULL);
  return look.is_known;
}

/* Returns whether TABLE must be kept because the report does not hold its rows in another way, as it holds events and
 * strings. */
static bool
is_to_be_kept (LnsImport *import, LnsForeignTable *table)
{
  const LnsTable *schema = lns_table_find (table->name);
  uint64_t n_rows;

  if (schema != NULL && (lns_table_has_events (schema) || schema->source == LNS_ROWS_STRINGS))
    return false;
  return lns_foreign_count (import->foreign, table, &n_rows, NULL) && n_rows > 0 &&
         !has_only_known_constants (import, table);
}

bool
_lns_import_keep_tables (LnsImport *import)
{
  unsigned n;
  LnsForeignTable *tables = lns_foreign_tables (import->foreign, &n);

  for (unsigned i = 0, n_kept = 0; i < n && n_kept < MAX_TABLES; i++)
    if (is_to_be_kept (import, &tables[i]))
      {
        n_kept++;
        if (!keep_table (import, &tables[i]))
          return false;
      }
  return true;
}

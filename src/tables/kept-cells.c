/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows that a report keeps as they came. */

#include <stdlib.h>
#include <string.h>

#include "src/tables/cell-builder.h"

LnsValue
_lns_kept_value (const LnsKeptValue *kept)
{
  LnsValue value = { 0 };

  switch (kept->type)
    {
    case LNS_KEPT_INTEGER:
    case LNS_KEPT_STRING:
      value.type = LNS_VALUE_INTEGER;
      value.integer = kept->integer;
      break;
    case LNS_KEPT_REAL:
      value.type = LNS_VALUE_REAL;
      value.real = kept->real;
      break;
    case LNS_KEPT_TEXT:
    case LNS_KEPT_BLOB:
      value = lns_value_text (kept->bytes, kept->size_bytes);
      value.type = kept->type == LNS_KEPT_TEXT ? LNS_VALUE_TEXT : LNS_VALUE_BLOB;
      break;
    default:
      break;
    }
  return value;
}

/* The rows of one block behind those that are there. */
static void
add_block (LnsCellBuilder *builder, const LnsTable *table, const LnsKeptRows *rows)
{
  const LnsRemainder *places = &builder->tables->remainders[table->kept];
  const uint32_t n_columns = places->n_columns;
  size_t size;
  const char *bytes = lns_report_string (builder->report, rows->rows, &size);
  LnsKeptValue *values = lns_kept_decode_as (bytes, size, rows->n_rows, n_columns);

  for (uint32_t i = 0; values != NULL && i < rows->n_rows; i++)
    {
      LnsValue *row = _lns_builder_add_row (builder);
      for (uint32_t column = 0; row != NULL && column < n_columns; column++)
        if (places->column[column] >= 0)
          row[places->column[column]] = _lns_kept_value (&values[(size_t)i * n_columns + column]);
    }
  free (values);
}

/* Leaves out, of the rows from N on, those whose name one of the first N has: what this export says of
 * itself holds. */
static void
drop_known_names (LnsCellBuilder *builder, uint64_t n)
{
  LnsTableCells *cells = builder->cells;
  uint64_t n_rows = n;

  for (uint64_t i = n; i < cells->n_rows; i++)
    {
      const LnsValue *row = &cells->values[i * builder->n_columns];
      bool known = false;
      for (uint64_t k = 0; k < n && !known; k++)
        {
          const LnsValue *own = &cells->values[k * builder->n_columns];
          known = row->type == own->type && row->size_bytes == own->size_bytes &&
                  memcmp (row->bytes, own->bytes, own->size_bytes) == 0;
        }
      if (!known)
        memmove (&cells->values[n_rows++ * builder->n_columns], row,
                 builder->n_columns * sizeof *row);
    }
  cells->n_rows = n_rows;
}

static bool
is_version (const LnsValue *row)
{
  static const char prefix[] = "EXPORT_SCHEMA_VERSION";

  return row->type == LNS_VALUE_TEXT && row->size_bytes >= sizeof prefix - 1 &&
         memcmp (row->bytes, prefix, sizeof prefix - 1) == 0;
}

/* Whether the tables have all columns that the report keeps. */
static bool
has_kept_columns (const LnsTables *tables)
{
  uint32_t n;

  lns_report_kept_tables (tables->report, &n);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t column = 0; column < tables->remainders[i].n_columns; column++)
      if (tables->remainders[i].column[column] < 0)
        return false;
  return true;
}

/* Leaves out, of the first N rows, those of the version of our own tables where the rows behind them have that of
 * the file that the columns are of. Returns how many of the N are left. */
static uint64_t
drop_own_version (LnsCellBuilder *builder, uint64_t n)
{
  LnsTableCells *cells = builder->cells;
  const unsigned n_columns = builder->n_columns;
  bool has_version = false;
  uint64_t n_rows = 0;

  for (uint64_t i = n; i < cells->n_rows; i++)
    has_version |= is_version (&cells->values[i * n_columns]);
  if (!has_version || !has_kept_columns (builder->tables))
    return n;
  for (uint64_t i = 0; i < cells->n_rows; i++)
    if (i >= n || !is_version (&cells->values[i * n_columns]))
      memmove (&cells->values[n_rows++ * n_columns], &cells->values[i * n_columns],
               n_columns * sizeof *cells->values);
  n -= cells->n_rows - n_rows;
  cells->n_rows = n_rows;
  return n;
}

void
_lns_builder_kept (LnsCellBuilder *builder, const LnsTable *table)
{
  const bool is_of_export = strcmp (table->name, "META_DATA_EXPORT") == 0;
  uint32_t n;
  const LnsKeptRows *rows = lns_report_kept_rows (builder->report, &n);

  if (is_of_export)
    _lns_builder_session (builder, table->name);
  LnsTableCells *cells = builder->cells;
  const uint64_t n_own = cells->n_rows, n_all = n_own + builder->tables->n_kept_rows[table->kept];
  /* Room that doubles would pass what tables may hold together.                                  */
  LnsValue *values = reallocarray (cells->values, n_all + 1, builder->n_columns * sizeof *values);
  if (values == NULL)
    {
      builder->good = false;
      return;
    }
  cells->values = values;
  cells->n_allocated = n_all + 1;
  for (uint32_t i = 0; i < n; i++)
    if (rows[i].table == table->kept)
      add_block (builder, table, &rows[i]);
  if (is_of_export)
    drop_known_names (builder, drop_own_version (builder, n_own));
}

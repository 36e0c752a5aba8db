/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes the rows that a report keeps as they came. */

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/tables/tables-private.h"

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

/* Appends the rows of one block, for which there is room. */
static void
add_block (const LnsTables *tables,
           const LnsTable *table,
           const LnsKeptRows *rows,
           LnsTableCells *cells)
{
  const LnsTableKept *places = &tables->kept[table->kept];
  const uint32_t n_columns = places->n_columns;
  size_t size;
  const char *bytes = lns_report_string (tables->report, rows->rows, &size);
  LnsKeptValue *values = lns_kept_decode_as (bytes, size, rows->n_rows, n_columns);

  for (uint32_t i = 0; values != NULL && i < rows->n_rows; i++)
    {
      LnsValue *row = &cells->values[cells->n_rows++ * table->n_columns];
      memset (row, 0, table->n_columns * sizeof *row);
      for (uint32_t column = 0; column < n_columns; column++)
        if (places->column[column] >= 0)
          row[places->column[column]] = _lns_kept_value (&values[(size_t)i * n_columns + column]);
    }
  free (values);
}

/* Whether one of the N rows at ROWS has the name of ROW. */
static bool
is_known (const LnsValue *rows, uint64_t n, unsigned n_columns, const LnsValue *row)
{
  for (uint64_t i = 0; i < n; i++)
    {
      const LnsValue *own = &rows[i * n_columns];
      if (row->type == own->type && row->size_bytes == own->size_bytes &&
          memcmp (row->bytes, own->bytes, own->size_bytes) == 0)
        return true;
    }
  return false;
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
    for (uint32_t column = 0; column < tables->kept[i].n_columns; column++)
      if (tables->kept[i].column[column] < 0)
        return false;
  return true;
}

/* Leaves one row of each name in META_DATA_EXPORT, whose first N_OWN rows describe this export and whose others describe
 * the file that the report comes from. Ours stay, but for the version of the tables where the columns are those of that
 * file. */
static void
choose_rows (const LnsTables *tables, LnsTableCells *cells, unsigned n_columns, uint64_t n_own)
{
  bool has_version = false;
  uint64_t n_rows = 0, n_ours = 0;

  for (uint64_t i = n_own; i < cells->n_rows; i++)
    has_version |= is_version (&cells->values[i * n_columns]);
  has_version = has_version && has_kept_columns (tables);
  for (uint64_t i = 0; i < cells->n_rows; i++)
    {
      const LnsValue *row = &cells->values[i * n_columns];
      const bool is_own = i < n_own;
      if (is_own ? has_version && is_version (row)
                 : is_known (cells->values, n_ours, n_columns, row))
        continue;
      memmove (&cells->values[n_rows++ * n_columns], row, n_columns * sizeof *row);
      n_ours += is_own;
    }
  cells->n_rows = n_rows;
}

void
_lns_kept_cells_build (LnsTables *tables, const LnsTable *table, LnsTableCells *cells)
{
  const bool is_of_export = strcmp (table->name, "META_DATA_EXPORT") == 0;
  uint32_t n;
  const LnsKeptRows *rows = lns_report_kept_rows (tables->report, &n);

  if (is_of_export)
    {
      LnsTable own = *table;
      own.source = LNS_ROWS_DEFINITIONS;
      _lns_cells_build (tables, &own, cells);
    }
  const uint64_t n_own = cells->n_rows;
  /* Exactly: growing by half would exceed what all tables may hold together. */
  cells->n_allocated = n_own + tables->kept[table->kept].n_rows;
  cells->values =
      lns_realloc (cells->values, cells->n_allocated, table->n_columns * sizeof *cells->values);
  for (uint32_t i = 0; i < n; i++)
    if (rows[i].table == table->kept)
      add_block (tables, table, &rows[i], cells);
  if (is_of_export)
    choose_rows (tables, cells, table->n_columns, n_own);
  for (uint64_t i = 0; i < cells->n_rows * table->n_columns; i++)
    if (cells->values[i].type != LNS_VALUE_INTEGER && cells->values[i].type != LNS_VALUE_NULL)
      cells->mixed |= UINT64_C (1) << i % table->n_columns;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/cell-builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

LnsValue *
_lns_builder_add_row (LnsCellBuilder *builder)
{
  LnsTableCells *cells = builder->cells;

  if (cells->n_rows == cells->n_allocated)
    {
      uint64_t n = cells->n_allocated * 2 + 16;
      LnsValue *values = realloc (cells->values, n * builder->n_columns * sizeof *values);
      if (values == NULL)
        {
          builder->good = false;
          return NULL;
        }
      cells->values = values;
      cells->n_allocated = n;
    }
  LnsValue *row = &cells->values[cells->n_rows++ * builder->n_columns];
  memset (row, 0, builder->n_columns * sizeof *row);
  return row;
}

LnsValue
_lns_cell_integer (int64_t value)
{
  return (LnsValue){ .type = LNS_VALUE_INTEGER, .integer = value };
}

LnsValue
_lns_cell_integer_or_null (int64_t value)
{
  return value != 0 ? _lns_cell_integer (value) : (LnsValue){ 0 };
}

LnsValue
_lns_cell_constant (const char *text)
{
  return lns_value_text (text, strlen (text));
}

LnsValue
_lns_builder_string (LnsCellBuilder *builder, uint32_t id)
{
  return _lns_string_value (builder->report, id);
}

LnsValue
_lns_builder_string_or_null (LnsCellBuilder *builder, uint32_t id)
{
  return id != 0 ? _lns_builder_string (builder, id) : (LnsValue){ 0 };
}

LnsValue
_lns_builder_keep (LnsCellBuilder *builder, char *text)
{
  text = _lns_tables_own (builder->tables, text);
  builder->good = builder->good && text != NULL;
  return text != NULL ? _lns_cell_constant (text) : (LnsValue){ 0 };
}

LnsValue
_lns_builder_format (LnsCellBuilder *builder, const char *text, ...)
{
  va_list arguments;
  char *result;

  va_start (arguments, text);
  if (vasprintf (&result, text, arguments) < 0)
    result = NULL;
  va_end (arguments);
  return _lns_builder_keep (builder, result);
}

/* ---- Processes and threads ------------------------------------------------------------------ */

static int
compare_keyed (const void *a, const void *b)
{
  const LnsKeyedId *ka = a, *kb = b;

  if (ka->key != kb->key)
    return ka->key < kb->key ? -1 : 1;
  return ka->id < kb->id ? -1 : ka->id > kb->id;
}

uint32_t
_lns_builder_keep_last (LnsKeyedId *items, uint32_t n)
{
  uint32_t n_kept = 0;

  qsort (items, n, sizeof *items, compare_keyed);
  for (uint32_t i = 0; i < n; i++)
    if (i + 1 == n || items[i + 1].key != items[i].key)
      items[n_kept++] = items[i];
  return n_kept;
}

bool
_lns_builder_is_import (const LnsCellBuilder *builder)
{
  return lns_report_meta (builder->report, "imported_from") != NULL;
}

LnsKeyedId *
_lns_builder_named_threads (LnsCellBuilder *builder, uint32_t *ret_n, uint32_t *ret_n_reused)
{
  uint32_t n_threads, n_processes, n = 0;
  const LnsThread *threads = lns_report_threads (builder->report, &n_threads);
  const LnsProcess *processes = lns_report_processes (builder->report, &n_processes);
  LnsKeyedId *items = calloc (n_threads + 1, sizeof *items);
  /* Those of another program have the names that it gave, and no others.                          */
  bool is_imported = _lns_builder_is_import (builder);

  for (uint32_t i = 0; items != NULL && i < n_threads; i++)
    if (is_imported ? threads[i].listed != 0
                    : threads[i].name != 0 || (threads[i].process < n_processes &&
                                               processes[threads[i].process].name != 0))
      items[n++] = (LnsKeyedId){ lns_tables_global_tid (builder->tables, i), i };
  *ret_n = items != NULL ? _lns_builder_keep_last (items, n) : 0;
  *ret_n_reused = n - *ret_n;
  builder->good = builder->good && items != NULL;
  return items;
}

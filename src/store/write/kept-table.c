/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/kept-table.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/string-table.h"
#include "src/store/write/writer-private.h"

/* A block is written when it has this many rows or bytes of text, so that it fits into one string piece. */
#define BLOCK_ROWS  1024
#define BLOCK_BYTES ((size_t)16 << 10)

struct LnsKeptTableMaker
{
  LnsWriter *writer;
  uint32_t id;
  unsigned n_columns;
  LnsKeptValue *values; /* n_rows × n_columns; room for BLOCK_ROWS; owned, and so are texts */
  uint32_t n_rows;
  size_t text_bytes;
  LnsBuffer block;
  LnsStringTable *remainders; /* block → id of its LnsKeptRows; owned, or NULL */
};

static uint32_t
write_columns (LnsWriter *writer, const LnsKeptColumn *columns, unsigned n_columns)
{
  LnsKeptValue values[LNS_KEPT_MAX_COLUMNS * 3];
  LnsBuffer block = { 0 };

  for (unsigned i = 0; i < n_columns; i++)
    {
      const LnsKeptColumn *column = &columns[i];
      values[3 * i] = (LnsKeptValue){ .type = LNS_KEPT_TEXT,
                                      .bytes = column->name,
                                      .size_bytes = strlen (column->name) };
      values[3 * i + 1] = (LnsKeptValue){ .type = LNS_KEPT_TEXT,
                                          .bytes = column->type,
                                          .size_bytes = strlen (column->type) };
      values[3 * i + 2] =
          (LnsKeptValue){ .type = LNS_KEPT_INTEGER, .integer = column->is_not_null };
    }
  lns_kept_encode (&block, values, n_columns, 3);
  uint32_t id = lns_writer_bytes (writer, block.bytes, block.size_bytes);
  lns_buffer_clear (&block);
  return id;
}

LnsKeptTableMaker *
lns_kept_table_maker_new (LnsWriter *writer,
                          const char *name,
                          const LnsKeptColumn *columns,
                          unsigned n_columns,
                          bool is_remainder)
{
  LnsKeptTableMaker *maker = calloc (1, sizeof *maker);

  if (maker == NULL)
    return NULL;
  maker->writer = writer;
  maker->n_columns = n_columns;
  maker->values = calloc ((size_t)BLOCK_ROWS * n_columns, sizeof *maker->values);
  maker->remainders = is_remainder ? lns_string_table_new () : NULL;
  if (maker->values == NULL || (is_remainder && maker->remainders == NULL))
    {
      lns_kept_table_maker_free (maker);
      return NULL;
    }
  maker->id = lns_writer_add_kept_table (
      writer, &(LnsKeptTable){ .name = lns_writer_string (writer, name, strlen (name)),
                               .columns = write_columns (writer, columns, n_columns),
                               .is_remainder = is_remainder });
  return maker;
}

/* Sets the range of the first column's integers, by which readers skip blocks. */
static void
find_span (const LnsKeptTableMaker *maker, LnsKeptRows *rows)
{
  rows->min = INT64_MAX;
  rows->max = INT64_MIN;
  for (uint32_t i = 0; i < maker->n_rows; i++)
    {
      const LnsKeptValue *value = &maker->values[(size_t)i * maker->n_columns];
      /* Not of string ids, which change when a report is recovered. */
      if (value->type != LNS_KEPT_INTEGER)
        {
          rows->min = INT64_MIN;
          rows->max = INT64_MAX;
          return;
        }
      rows->min = value->integer < rows->min ? value->integer : rows->min;
      rows->max = value->integer > rows->max ? value->integer : rows->max;
    }
}

void
lns_kept_table_maker_flush (LnsKeptTableMaker *maker)
{
  LnsKeptRows rows = { .table = maker->id, .n_rows = maker->n_rows };

  if (maker->n_rows == 0)
    return;
  find_span (maker, &rows);
  lns_buffer_reset (&maker->block);
  lns_kept_encode (&maker->block, maker->values, maker->n_rows, maker->n_columns);
  rows.rows = lns_writer_bytes (maker->writer, maker->block.bytes, maker->block.size_bytes);
  lns_writer_add_kept_rows (maker->writer, &rows);
  for (size_t i = 0; i < (size_t)maker->n_rows * maker->n_columns; i++)
    if (maker->values[i].size_bytes > 0)
      free ((char *)maker->values[i].bytes);
  maker->n_rows = 0;
  maker->text_bytes = 0;
}

void
lns_kept_table_maker_add (LnsKeptTableMaker *maker, const LnsKeptValue *values)
{
  LnsKeptValue *row = &maker->values[(size_t)maker->n_rows++ * maker->n_columns];

  for (unsigned i = 0; i < maker->n_columns; i++)
    {
      row[i] = values[i];
      if (values[i].type != LNS_KEPT_TEXT && values[i].type != LNS_KEPT_BLOB)
        {
          row[i].size_bytes = 0;
          continue;
        }
      char *copy = values[i].size_bytes > 0 ? malloc (values[i].size_bytes) : NULL;
      if (copy != NULL)
        memcpy (copy, values[i].bytes, values[i].size_bytes);
      row[i].bytes = copy;
      row[i].size_bytes = copy != NULL ? values[i].size_bytes : 0;
      maker->text_bytes += row[i].size_bytes;
    }
  if (maker->n_rows == BLOCK_ROWS || maker->text_bytes > BLOCK_BYTES)
    lns_kept_table_maker_flush (maker);
}

uint64_t
lns_kept_table_maker_remainder (LnsKeptTableMaker *maker, const LnsKeptValue *values)
{
  lns_buffer_reset (&maker->block);
  lns_kept_encode (&maker->block, values, 1, maker->n_columns);
  if (maker->block.failed)
    return 0;
  uint32_t new_id = maker->writer->n_defined[LNS_DEFINITION_KEPT_ROWS];
  uint32_t id = lns_string_table_intern (maker->remainders, maker->block.bytes,
                                         maker->block.size_bytes, new_id);
  if (id != new_id)
    return id + UINT64_C (1);
  LnsKeptRows rows = { .table = maker->id, .n_rows = 1, .min = INT64_MIN, .max = INT64_MAX };
  rows.rows = lns_writer_bytes (maker->writer, maker->block.bytes, maker->block.size_bytes);
  return lns_writer_add_kept_rows (maker->writer, &rows) + UINT64_C (1);
}

void
lns_kept_table_maker_free (LnsKeptTableMaker *maker)
{
  if (maker == NULL)
    return;
  if (maker->values != NULL)
    lns_kept_table_maker_flush (maker);
  free (maker->values);
  lns_buffer_clear (&maker->block);
  lns_string_table_free (maker->remainders);
  free (maker);
}

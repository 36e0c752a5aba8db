/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/table-fixture.h"

#include <stdio.h>
#include <stdlib.h>

void
table_append (LnsWriter *writer,
              uint32_t lane,
              LnsLaneKind kind,
              int64_t start_ns,
              int64_t duration_ns,
              const LnsTableValue *values)
{
  LnsEvent event = { .start_ns = start_ns,
                     .duration_ns = duration_ns,
                     .name = lns_writer_string (writer, "name", 4) };

  for (; values->column != 0; values++)
    event.extra[lns_lane_kind_extra (kind, values->column)] = values->value;
  lns_writer_append (writer, lane, &event);
}

const char *
table_text (LnsTables *tables, const char *name)
{
  static char *text;
  size_t size;
  const LnsTable *table = lns_tables_find (tables, name);
  LnsRowCursor *rows = lns_row_cursor_new (tables, table);
  bool row = true;

  free (text);
  FILE *stream = open_memstream (&text, &size);
  bool started = lns_row_cursor_start (rows, NULL, 0, false, NULL);
  while (started && lns_row_cursor_next (rows, &row, NULL) && row)
    {
      fprintf (stream, "%ld:", (long)lns_row_cursor_rowid (rows));
      for (unsigned i = 0; i < table->n_columns; i++)
        {
          LnsValue value = lns_row_cursor_value (rows, i);
          if (i > 0)
            fputc (',', stream);
          if (value.type == LNS_VALUE_INTEGER)
            fprintf (stream, "%ld", (long)value.integer);
          else if (value.type == LNS_VALUE_REAL)
            fprintf (stream, "%g", value.real);
          else if (value.type == LNS_VALUE_NULL)
            fputc ('-', stream);
          else
            fwrite (value.bytes, 1, value.size_bytes, stream);
        }
      fputc (' ', stream);
    }
  fclose (stream);
  lns_row_cursor_free (rows);
  return text;
}

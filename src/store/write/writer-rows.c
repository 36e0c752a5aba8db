/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/writer-rows.h"

#include <stdlib.h>

void
_lns_writer_rows_add (LnsWriterRows *rows,
                      const LnsChunkHeader *header,
                      int64_t end_ns,
                      LnsBuffer *blob)
{
  if (rows->n_rows == rows->n_allocated)
    {
      uint32_t n = rows->n_allocated == 0 ? 64 : rows->n_allocated * 2;
      LnsWriterRow *grown = realloc (rows->rows, n * sizeof *grown);
      if (grown != NULL)
        {
          rows->rows = grown;
          rows->n_allocated = n;
        }
    }
  if (blob->failed || rows->n_rows == rows->n_allocated)
    {
      rows->failed = true;
      return;
    }
  rows->bytes += blob->size_bytes;
  rows->rows[rows->n_rows++] = (LnsWriterRow){ *header, end_ns, *blob };
  *blob = (LnsBuffer){ 0 };
}

void
_lns_writer_rows_drop (LnsWriterRows *rows, LnsChunkKind kind)
{
  uint32_t n_kept = 0;
  for (uint32_t i = 0; i < rows->n_rows; i++)
    if (rows->rows[i].header.kind == kind)
      lns_buffer_clear (&rows->rows[i].blob);
    else
      rows->rows[n_kept++] = rows->rows[i];
  rows->n_rows = n_kept;
}

void
_lns_writer_rows_reset (LnsWriterRows *rows)
{
  for (uint32_t i = 0; i < rows->n_rows; i++)
    lns_buffer_clear (&rows->rows[i].blob);
  rows->n_rows = rows->n_inserted = 0;
  rows->bytes = 0;
}

void
_lns_writer_rows_clear (LnsWriterRows *rows)
{
  _lns_writer_rows_reset (rows);
  free (rows->rows);
  *rows = (LnsWriterRows){ 0 };
}

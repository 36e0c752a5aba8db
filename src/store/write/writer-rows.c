/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/writer-rows.h"

void
_lns_writer_rows_add (LnsWriterRows *rows,
                      const LnsChunkHeader *header,
                      int64_t end_ns,
                      LnsBuffer *blob)
{
  LnsWriterRow *row = !blob->failed ? lns_array_try_add (&rows->list) : NULL;
  if (row == NULL)
    {
      rows->failed = true;
      return;
    }
  *row = (LnsWriterRow){ *header, end_ns, *blob };
  rows->bytes += blob->size_bytes;
  *blob = (LnsBuffer){ 0 };
}

void
_lns_writer_rows_drop (LnsWriterRows *rows, LnsChunkKind kind)
{
  size_t n_kept = 0;
  for (size_t i = 0; i < rows->list.n; i++)
    if (rows->list.items[i].header.kind == kind)
      lns_buffer_clear (&rows->list.items[i].blob);
    else
      rows->list.items[n_kept++] = rows->list.items[i];
  rows->list.n = n_kept;
}

void
_lns_writer_rows_reset (LnsWriterRows *rows)
{
  for (size_t i = 0; i < rows->list.n; i++)
    lns_buffer_clear (&rows->list.items[i].blob);
  rows->list.n = rows->n_inserted = 0;
  rows->bytes = 0;
}

void
_lns_writer_rows_clear (LnsWriterRows *rows)
{
  _lns_writer_rows_reset (rows);
  lns_array_clear (&rows->list);
  *rows = (LnsWriterRows){ 0 };
}

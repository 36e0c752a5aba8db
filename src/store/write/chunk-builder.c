/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/chunk-builder.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ALLOCATED  16
#define ZERO_BLOCK_BYTES 2 /* a block of zeros, and no other, has this size */

void
lns_chunk_builder_init (LnsChunkBuilder *builder,
                        const LnsChunkHeader *header,
                        const LnsBuilderColumnKind *columns,
                        unsigned n_columns)
{
  *builder = (LnsChunkBuilder){ .header = *header };
  builder->columns = calloc (n_columns, sizeof *builder->columns);
  builder->failed = builder->columns == NULL;
  if (builder->failed)
    return;
  builder->n_columns = (uint16_t)n_columns;
  for (unsigned i = 0; i < n_columns; i++)
    builder->columns[i].kind = columns[i];
}

void
lns_chunk_builder_clear (LnsChunkBuilder *builder)
{
  for (unsigned i = 0; i < builder->n_columns; i++)
    {
      lns_buffer_clear (&builder->columns[i].encoded);
      free (builder->columns[i].pending);
    }
  free (builder->columns);
  *builder = (LnsChunkBuilder){ 0 };
}

/* Makes room for more pending rows. */
static bool
grow (LnsChunkBuilder *builder)
{
  unsigned n = builder->n_allocated == 0 ? FIRST_ALLOCATED : LNS_BLOCK;
  for (unsigned i = 0; i < builder->n_columns; i++)
    {
      if (builder->columns[i].pending == NULL)
        continue;
      uint64_t *pending = realloc (builder->columns[i].pending, n * sizeof *pending);
      if (pending == NULL)
        return false;
      builder->columns[i].pending = pending;
    }
  builder->n_allocated = (uint16_t)n;
  return true;
}

bool
lns_chunk_builder_add (LnsChunkBuilder *builder, int64_t start_ns, int64_t end_ns, uint64_t *values)
{
  if (builder->n_pending == builder->n_allocated && (builder->failed || !grow (builder)))
    {
      builder->failed = true;
      return false;
    }
  if (lns_chunk_builder_n (builder) == 0)
    builder->header.start_ns = builder->end_ns = start_ns;
  if (builder->n_pending == 0)
    {
      builder->block_start_ns = start_ns;
      builder->block_before_ns = builder->end_ns;
    }
  values[0] = (uint64_t)start_ns - (uint64_t)builder->end_ns;
  builder->end_ns = end_ns;
  for (unsigned i = 0; i < builder->n_columns; i++)
    {
      LnsBuilderColumn *column = &builder->columns[i];
      if (column->pending == NULL)
        {
          if (values[i] == 0)
            continue;
          column->pending = calloc (builder->n_allocated, sizeof *column->pending);
          builder->failed |= column->pending == NULL;
          if (column->pending == NULL)
            continue;
        }
      column->pending[builder->n_pending] = values[i];
    }
  builder->n_pending++;
  return !builder->failed;
}

void
lns_chunk_builder_remove (LnsChunkBuilder *builder, int64_t end_before_ns)
{
  builder->n_pending--;
  builder->end_ns = end_before_ns;
}

/* Lists the columns of N_BLOCKS whole blocks that are not all zeros. Returns how many there are. */
static unsigned
list_columns (const LnsChunkBuilder *builder,
              bool without_last_block,
              unsigned n_blocks,
              LnsChunkColumn *ret_columns)
{
  unsigned n = 0;
  for (unsigned i = 0; i < builder->n_columns; i++)
    {
      const LnsBuilderColumn *column = &builder->columns[i];
      size_t size_bytes = without_last_block ? column->block_at : column->encoded.size_bytes;
      if (size_bytes > (size_t)ZERO_BLOCK_BYTES * n_blocks)
        ret_columns[n++] = (LnsChunkColumn){ column->kind.id, LNS_ENCODING_BLOCKS,
                                             column->encoded.bytes, size_bytes };
    }
  return n;
}

/* Passes the chunk of all whole blocks, or of all but the last one, to SINK, and begins the next chunk. */
static void
close_chunk (LnsChunkBuilder *builder,
             bool without_last_block,
             uint64_t revision,
             LnsChunkSink sink,
             void *sink_data)
{
  LnsChunkHeader header = builder->header;
  header.n -= without_last_block ? LNS_BLOCK : 0;
  header.revision = revision;

  LnsChunkColumn columns[LNS_CHUNK_MAX_COLUMNS];
  LnsBuffer blob = { 0 };
  unsigned n = list_columns (builder, without_last_block, header.n / LNS_BLOCK, columns);
  lns_chunk_build (&blob, &header, columns, n);
  builder->failed |= blob.failed;
  if (!blob.failed)
    sink (sink_data, &header, without_last_block ? builder->block_before_ns : builder->end_ns,
          &blob);
  lns_buffer_clear (&blob);

  builder->header.sequence++;
  builder->header.first += header.n;
  builder->header.n -= header.n;
  builder->header.start_ns = builder->block_start_ns;
  for (unsigned i = 0; i < builder->n_columns; i++)
    {
      LnsBuffer *encoded = &builder->columns[i].encoded;
      size_t kept = without_last_block ? encoded->size_bytes - builder->columns[i].block_at : 0;
      if (kept > 0)
        memmove (encoded->bytes, encoded->bytes + builder->columns[i].block_at, kept);
      encoded->size_bytes = kept;
    }
}

void
lns_chunk_builder_close_block (LnsChunkBuilder *builder,
                               uint64_t revision,
                               LnsChunkSink sink,
                               void *sink_data)
{
  size_t length_bytes =
      LNS_CHUNK_HEADER_BYTES + LNS_CHUNK_DIRECTORY_BYTES * (size_t)builder->n_columns;
  for (unsigned i = 0; i < builder->n_columns; i++)
    {
      LnsBuilderColumn *column = &builder->columns[i];
      if (column->pending == NULL)
        continue;
      if (column->encoded.size_bytes == 0)
        for (unsigned k = 0; k < builder->header.n / LNS_BLOCK; k++)
          lns_buffer_append_int (&column->encoded, 0, ZERO_BLOCK_BYTES);
      column->block_at = (uint32_t)column->encoded.size_bytes;
      lns_codec_encode_block (&column->encoded, column->pending, LNS_BLOCK, column->kind.tries);
      length_bytes += column->encoded.size_bytes;
      builder->failed |= column->encoded.failed;
    }
  builder->header.n += LNS_BLOCK;
  builder->n_pending = 0;

  if (length_bytes > LNS_CHUNK_MAX_CLOSED_BYTES)
    close_chunk (builder, true, revision, sink, sink_data);
  else if (builder->header.n == LNS_CHUNK_MAX_EVENTS)
    close_chunk (builder, false, revision, sink, sink_data);
}

void
lns_chunk_builder_tail (const LnsChunkBuilder *builder, uint64_t revision, LnsBuffer *out)
{
  LnsChunkColumn columns[LNS_CHUNK_MAX_COLUMNS];
  LnsBuffer whole = { 0 };
  size_t ends[LNS_CHUNK_MAX_COLUMNS];
  unsigned n_blocks = builder->header.n / LNS_BLOCK;
  for (unsigned i = 0; i < builder->n_columns; i++)
    {
      const LnsBuilderColumn *column = &builder->columns[i];
      if (column->encoded.size_bytes > 0)
        lns_buffer_append (&whole, column->encoded.bytes, column->encoded.size_bytes);
      else if (column->pending != NULL)
        for (unsigned k = 0; k < n_blocks; k++)
          lns_buffer_append_int (&whole, 0, ZERO_BLOCK_BYTES);
      if (column->pending != NULL && builder->n_pending > 0)
        lns_codec_encode_block (&whole, column->pending, builder->n_pending, column->kind.tries);
      ends[i] = whole.size_bytes;
    }

  unsigned n = 0;
  size_t zeros_bytes = (size_t)ZERO_BLOCK_BYTES * (n_blocks + (builder->n_pending > 0));
  for (unsigned i = 0; i < builder->n_columns; i++)
    {
      size_t begin = i == 0 ? 0 : ends[i - 1];
      if (ends[i] - begin > zeros_bytes)
        columns[n++] = (LnsChunkColumn){ builder->columns[i].kind.id, LNS_ENCODING_BLOCKS,
                                         whole.bytes + begin, ends[i] - begin };
    }
  LnsChunkHeader header = builder->header;
  header.n = lns_chunk_builder_n (builder);
  header.revision = revision;
  lns_chunk_build (out, &header, columns, n);
  out->failed |= whole.failed;
  lns_buffer_clear (&whole);
}

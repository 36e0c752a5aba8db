/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/chunk-format.h"

#include <string.h>

#include "src/base/hash.h"
#include "src/store/format/codec.h"

#define CHECKSUM_AT 64

/* XXH3 of the chunk with zeros in place of its checksum. Does not copy the chunk. */
static uint64_t
checksum_of (const uint8_t *bytes, size_t size_bytes)
{
  uint8_t header[LNS_CHUNK_HEADER_BYTES];
  memcpy (header, bytes, sizeof header);
  memset (header + CHECKSUM_AT, 0, 8);
  return XXH3_64bits_withSeed (bytes + sizeof header, size_bytes - sizeof header,
                               lns_hash (header, sizeof header));
}

void
lns_chunk_build (LnsBuffer *out,
                 const LnsChunkHeader *header,
                 const LnsChunkColumn *columns,
                 unsigned n_columns)
{
  unsigned n_full = 0;
  size_t columns_bytes = 0;
  for (unsigned i = 0; i < n_columns; i++)
    {
      n_full += columns[i].size_bytes > 0;
      columns_bytes += columns[i].size_bytes;
    }
  size_t offset = LNS_CHUNK_HEADER_BYTES + LNS_CHUNK_DIRECTORY_BYTES * n_full;
  size_t length_bytes = offset + columns_bytes;

  lns_buffer_reset (out);
  lns_buffer_append (out, LNS_CHUNK_MAGIC, 8);
  lns_buffer_append (out, header->uuid, sizeof header->uuid);
  lns_buffer_append_int (out, LNS_CHUNK_VERSION, 2);
  lns_buffer_append_int (out, header->kind, 1);
  lns_buffer_append_int (out, header->lane_kind, 1);
  lns_buffer_append_int (out, header->lane, 4);
  lns_buffer_append_int (out, header->level, 2);
  lns_buffer_append_int (out, n_full, 2);
  lns_buffer_append_int (out, header->sequence, 4);
  lns_buffer_append_int (out, header->revision, 8);
  lns_buffer_append_int (out, header->first, 8);
  lns_buffer_append_int (out, header->n, 4);
  lns_buffer_append_int (out, length_bytes, 4);
  lns_buffer_append_int (out, 0, 8);
  lns_buffer_append_int (out, (uint64_t)header->start_ns, 8);
  for (unsigned i = 0; i < n_columns; i++)
    {
      if (columns[i].size_bytes == 0)
        continue;
      lns_buffer_append_int (out, columns[i].id, 2);
      lns_buffer_append_int (out, columns[i].encoding, 2);
      lns_buffer_append_int (out, offset, 4);
      lns_buffer_append_int (out, columns[i].size_bytes, 4);
      offset += columns[i].size_bytes;
    }
  for (unsigned i = 0; i < n_columns; i++)
    lns_buffer_append (out, columns[i].bytes, columns[i].size_bytes);
  if (!out->failed)
    lns_buffer_set_int (out, CHECKSUM_AT, checksum_of (out->bytes, out->size_bytes), 8);
}

bool
lns_chunk_parse_header (const uint8_t *bytes, size_t size_bytes, LnsChunkHeader *ret_header)
{
  if (size_bytes < LNS_CHUNK_HEADER_BYTES || memcmp (bytes, LNS_CHUNK_MAGIC, 8) != 0)
    return false;
  LnsChunkHeader header = {
    .kind = (LnsChunkKind)bytes[26],
    .lane_kind = bytes[27],
    .lane = (uint32_t)lns_load_int (bytes + 28, 4),
    .level = (uint16_t)lns_load_int (bytes + 32, 2),
    .n_columns = (uint16_t)lns_load_int (bytes + 34, 2),
    .sequence = (uint32_t)lns_load_int (bytes + 36, 4),
    .revision = lns_load_int (bytes + 40, 8),
    .first = lns_load_int (bytes + 48, 8),
    .n = (uint32_t)lns_load_int (bytes + 56, 4),
    .length_bytes = (uint32_t)lns_load_int (bytes + 60, 4),
    .checksum = lns_load_int (bytes + CHECKSUM_AT, 8),
    .start_ns = (int64_t)lns_load_int (bytes + 72, 8),
  };
  memcpy (header.uuid, bytes + 8, sizeof header.uuid);
  *ret_header = header;

  bool has_events = header.kind == LNS_CHUNK_EVENTS || header.kind == LNS_CHUNK_NODES ||
                    header.kind == LNS_CHUNK_OPEN_EVENT;
  return lns_load_int (bytes + 24, 2) == LNS_CHUNK_VERSION && header.kind >= LNS_CHUNK_EVENTS &&
         header.kind < LNS_N_CHUNK_KINDS && header.n_columns <= LNS_CHUNK_MAX_COLUMNS &&
         header.length_bytes <= LNS_CHUNK_MAX_BYTES &&
         header.length_bytes >=
             LNS_CHUNK_HEADER_BYTES + LNS_CHUNK_DIRECTORY_BYTES * (size_t)header.n_columns &&
         header.n <= (has_events ? LNS_CHUNK_MAX_EVENTS : LNS_CHUNK_MAX_BYTES) &&
         header.first <= INT64_MAX && (header.kind != LNS_CHUNK_OPEN_EVENT || header.n == 1);
}

bool
lns_chunk_parse (const uint8_t *bytes, size_t size_bytes, LnsChunkView *ret_view, LnsError *error)
{
  LnsChunkView *view = ret_view;
  view->bytes = bytes;
  if (!lns_chunk_parse_header (bytes, size_bytes, &view->header) ||
      view->header.length_bytes != size_bytes)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0, "a chunk's header is damaged");
  if (checksum_of (bytes, size_bytes) != view->header.checksum)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0, "a chunk's checksum is wrong");

  const uint8_t *entry = bytes + LNS_CHUNK_HEADER_BYTES;
  const size_t body_at =
      LNS_CHUNK_HEADER_BYTES + LNS_CHUNK_DIRECTORY_BYTES * (size_t)view->header.n_columns;
  for (unsigned i = 0; i < view->header.n_columns; i++, entry += LNS_CHUNK_DIRECTORY_BYTES)
    {
      size_t offset = lns_load_int (entry + 4, 4), length_bytes = lns_load_int (entry + 8, 4);
      if (offset < body_at || offset > size_bytes || length_bytes > size_bytes - offset)
        return lns_error_set (error, LNS_ERROR_FORMAT, 0, "a chunk's directory is damaged");
      view->columns[i] =
          (LnsChunkColumn){ (uint16_t)lns_load_int (entry, 2),
                            (uint16_t)lns_load_int (entry + 2, 2), bytes + offset, length_bytes };
    }
  return true;
}

const LnsChunkColumn *
lns_chunk_column (const LnsChunkView *view, unsigned id)
{
  for (unsigned i = 0; i < view->header.n_columns; i++)
    if (view->columns[i].id == id)
      return &view->columns[i];
  return NULL;
}

bool
lns_chunk_decode_u64 (const LnsChunkView *view, unsigned id, uint64_t *ret_values)
{
  const LnsChunkColumn *column = lns_chunk_column (view, id);
  if (column == NULL)
    {
      memset (ret_values, 0, view->header.n * sizeof *ret_values);
      return true;
    }
  return column->encoding == LNS_ENCODING_BLOCKS &&
         lns_codec_decode_u64 (column->bytes, column->size_bytes, ret_values, view->header.n);
}

bool
lns_chunk_decode_u32 (const LnsChunkView *view, unsigned id, uint32_t *ret_values)
{
  const LnsChunkColumn *column = lns_chunk_column (view, id);
  if (column == NULL)
    {
      memset (ret_values, 0, view->header.n * sizeof *ret_values);
      return true;
    }
  return column->encoding == LNS_ENCODING_BLOCKS &&
         lns_codec_decode_u32 (column->bytes, column->size_bytes, ret_values, view->header.n);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/codec.h"
#include "src/store/format/definition-codec.h"

void
lns_strings_build (LnsBuffer *out,
                   LnsChunkHeader header,
                   uint32_t first_id,
                   uint32_t n,
                   const uint64_t *lengths,
                   const uint8_t *bytes,
                   size_t bytes_size,
                   uint64_t total_bytes)
{
  LnsBuffer encoded = { 0 }, total = { 0 };
  for (uint32_t i = 0; i < n; i += LNS_BLOCK)
    lns_codec_encode_block (&encoded, lengths + i, n - i < LNS_BLOCK ? n - i : LNS_BLOCK,
                            LNS_CODEC_PLAIN);
  if (total_bytes > 0)
    lns_codec_encode_block (&total, &total_bytes, 1, LNS_CODEC_PLAIN);
  header.kind = LNS_CHUNK_STRINGS;
  header.lane = first_id;
  header.n = n;
  const LnsChunkColumn columns[] = {
    { LNS_STRING_COLUMN_LENGTH, LNS_ENCODING_BLOCKS, encoded.bytes, encoded.size_bytes },
    { LNS_STRING_COLUMN_TOTAL, LNS_ENCODING_BLOCKS, total.bytes, total.size_bytes },
    { LNS_STRING_COLUMN_BYTES, LNS_ENCODING_BYTES, bytes, bytes_size },
  };
  lns_chunk_build (out, &header, columns, 3);
  out->failed = out->failed || encoded.failed || total.failed;
  lns_buffer_clear (&encoded);
  lns_buffer_clear (&total);
}

/* Sums LENGTHS into offsets. Returns false if a string reaches beyond COLUMN or has no NUL after it. */
static bool
place_strings (const LnsChunkColumn *column,
               const uint64_t *lengths,
               uint32_t n,
               uint32_t *ret_offsets)
{
  size_t offset = 0;
  for (uint32_t i = 0; i < n; i++)
    {
      ret_offsets[i] = (uint32_t)offset;
      if (lengths[i] >= column->size_bytes - offset || column->bytes[offset + lengths[i]] != 0)
        return false;
      offset += lengths[i] + 1;
    }
  ret_offsets[n] = (uint32_t)offset;
  return offset == column->size_bytes;
}

bool
lns_strings_parse (const LnsChunkView *view,
                   uint32_t *ret_offsets,
                   const uint8_t **ret_bytes,
                   uint64_t *ret_total_bytes,
                   LnsError *error)
{
  uint64_t lengths[LNS_STRING_CHUNK_MAX];
  const uint32_t n = view->header.n;
  const LnsChunkColumn *column = lns_chunk_column (view, LNS_STRING_COLUMN_BYTES);
  *ret_total_bytes = 0;
  if (view->header.kind != LNS_CHUNK_STRINGS || n == 0 || n > LNS_STRING_CHUNK_MAX ||
      column == NULL || column->encoding != LNS_ENCODING_BYTES ||
      !lns_chunk_decode_u64 (view, LNS_STRING_COLUMN_LENGTH, lengths) ||
      !place_strings (column, lengths, n, ret_offsets) ||
      (n == 1 && !lns_chunk_decode_u64 (view, LNS_STRING_COLUMN_TOTAL, ret_total_bytes)))
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "the string chunk of ids from %u on is damaged", view->header.lane);
  *ret_bytes = column->bytes;
  return true;
}

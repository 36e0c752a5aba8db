/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/read/correlation.h"

#include "src/store/format/codec.h"
#include "src/store/format/lane-kind.h"

LnsCorrelationSpan
lns_correlation_span (const uint8_t *bytes, size_t size_bytes)
{
  LnsCorrelationSpan span = LNS_CORRELATION_SPAN_EMPTY;
  uint64_t ids[LNS_CHUNK_MAX_EVENTS];
  LnsChunkHeader header;
  LnsChunkView view;
  if (!lns_chunk_parse_header (bytes, size_bytes, &header) || header.kind != LNS_CHUNK_EVENTS ||
      lns_lane_kind_extra ((LnsLaneKind)header.lane_kind, LNS_COLUMN_CORRELATION) < 0 ||
      !lns_chunk_parse (bytes, size_bytes, &view, NULL))
    return span;
  const LnsChunkColumn *column = lns_chunk_column (&view, LNS_COLUMN_CORRELATION);
  if (column == NULL || column->encoding != LNS_ENCODING_BLOCKS ||
      !lns_codec_decode_u64 (column->bytes, column->size_bytes, ids, header.n))
    return span;
  for (uint32_t i = 0; i < header.n; i++)
    if (ids[i] != 0)
      {
        span.min = ids[i] < span.min ? ids[i] : span.min;
        span.max = ids[i] > span.max ? ids[i] : span.max;
      }
  return span;
}

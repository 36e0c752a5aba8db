/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/read/correlation.h"

#include "src/store/format/codec.h"
#include "src/store/read/report-private.h"

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

/* Looks for CORRELATION in chunk INDEX of LANE, from ordinal FROM on. False where it is damaged. */
static bool
find_in_chunk (LnsReport *report,
               uint32_t lane,
               uint32_t index,
               uint64_t correlation,
               uint64_t from,
               uint64_t *ret_ordinal,
               LnsError *error)
{
  const int at = lns_lane_kind_extra (report->lanes[lane].kind, LNS_COLUMN_CORRELATION);
  const LnsChunk *chunk =
      lns_report_chunk (report, lane, index, LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION), error);
  if (chunk == NULL)
    return false;
  const uint64_t *ids = chunk->extra[at];
  uint32_t first = from > chunk->first ? (uint32_t)(from - chunk->first) : 0;
  for (uint32_t i = first; ids != NULL && i < chunk->n; i++)
    if (ids[i] == correlation)
      {
        *ret_ordinal = chunk->first + i;
        break;
      }
  lns_chunk_unref (chunk);
  return true;
}

bool
lns_report_find_correlation (LnsReport *report,
                             uint32_t lane,
                             uint64_t correlation,
                             uint64_t from,
                             uint64_t *ret_ordinal,
                             LnsError *error)
{
  report = _lns_report_of (report, lane);
  const LnsLaneIndex *index = _lns_report_lane_index (report, lane, error);
  if (index == NULL)
    return false;
  const uint64_t n_events = report->lanes[lane].info.n_events;
  *ret_ordinal = n_events;
  if (correlation == 0 || from >= n_events ||
      lns_lane_kind_extra (report->lanes[lane].kind, LNS_COLUMN_CORRELATION) < 0)
    return true;
  /* The first chunk that, with those before it, reaches up to the id. */
  const LnsLevelIndex *events = &index->levels[0];
  uint32_t low = lns_report_chunk_of (report, lane, from), high = events->n_entries;
  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;
      if (events->entries[middle].up_to < correlation)
        low = middle + 1;
      else
        high = middle;
    }
  for (; low < events->n_entries && events->entries[low].from <= correlation; low++)
    if (!find_in_chunk (report, lane, low, correlation, from, ret_ordinal, error) ||
        *ret_ordinal != n_events)
      return *ret_ordinal != n_events;
  return true;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/event-codec.h"

/* Turns the gaps in START_NS into starts: an event starts its gap after the end of the event before it. The first start is
 * in the header. */
static bool
sum_gaps (const LnsChunkView *view, int64_t *start_ns, const int64_t *duration_ns)
{
  int64_t end_ns = view->header.start_ns;
  bool damaged = false;
  start_ns[0] = 0;
  for (uint32_t i = 0; i < view->header.n; i++)
    {
      int64_t gap_ns = start_ns[i];
      damaged |= (gap_ns | duration_ns[i]) < 0;
      damaged |= __builtin_add_overflow (end_ns, gap_ns, &start_ns[i]);
      damaged |= __builtin_add_overflow (start_ns[i], duration_ns[i], &end_ns);
    }
  return !damaged && view->header.start_ns >= LNS_TIME_MIN && end_ns <= LNS_TIME_MAX;
}

bool
lns_events_decode (const LnsChunkView *view, const LnsEventColumns *columns, LnsError *error)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info ((LnsLaneKind)view->header.lane_kind);
  bool right = info != NULL && view->header.n > 0 &&
               (view->header.kind == LNS_CHUNK_EVENTS || view->header.kind == LNS_CHUNK_OPEN_EVENT);
  right = right &&
          lns_chunk_decode_u64 (view, LNS_COLUMN_DURATION, (uint64_t *)columns->duration_ns) &&
          lns_chunk_decode_u64 (view, LNS_COLUMN_START, (uint64_t *)columns->start_ns) &&
          sum_gaps (view, columns->start_ns, columns->duration_ns);
  if (right && columns->name != NULL)
    right = lns_chunk_decode_u32 (view, LNS_COLUMN_NAME, columns->name);
  if (right && columns->flags != NULL)
    right = lns_chunk_decode_u32 (view, LNS_COLUMN_FLAGS, columns->flags);
  for (unsigned i = 0; right && info->extra[i] != 0; i++)
    if (columns->extra[i] != NULL)
      right = lns_chunk_decode_u64 (view, info->extra[i], columns->extra[i]);
  if (!right)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0, "an event chunk of lane %u is damaged",
                          view->header.lane);
  return true;
}

LnsCorrelationSpan
lns_correlation_span (const uint8_t *bytes, size_t size_bytes)
{
  LnsCorrelationSpan span = LNS_CORRELATION_SPAN_EMPTY;
  uint64_t ids[LNS_CHUNK_MAX_EVENTS];
  LnsChunkHeader header;
  LnsChunkView view;
  if (!lns_chunk_parse_header (bytes, size_bytes, &header) || header.kind != LNS_CHUNK_EVENTS ||
      lns_lane_kind_extra ((LnsLaneKind)header.lane_kind, LNS_COLUMN_CORRELATION) < 0 ||
      !lns_chunk_parse (bytes, size_bytes, &view, NULL) ||
      !lns_chunk_decode_u64 (&view, LNS_COLUMN_CORRELATION, ids))
    return span;
  for (uint32_t i = 0; i < header.n; i++)
    if (ids[i] != 0)
      {
        span.min = ids[i] < span.min ? ids[i] : span.min;
        span.max = ids[i] > span.max ? ids[i] : span.max;
      }
  return span;
}

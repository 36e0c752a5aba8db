/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Event chunks to columns (FORMAT.md, "Events"). Thread-safe, no state. */

#pragma once

#include "src/store/format/chunk-format.h"
#include "src/store/format/lane-kind.h"

/* Where decoded columns go: arrays of header.n values each; NULL = not wanted, but for start and
 * duration, which must be there. */
typedef struct
{
  int64_t *start_ns;
  int64_t *duration_ns;
  uint32_t *name;
  uint32_t *flags;
  uint64_t *extra[LNS_EXTRA_MAX]; /* by the lane kind's table                                    */
} LnsEventColumns;

/* Decodes the events of VIEW, of kind LNS_CHUNK_EVENTS or LNS_CHUNK_OPEN_EVENT, into COLUMNS;
 * columns that the chunk lacks get zeros. Checked: starts ascend, durations are ≥ 0, no event
 * reaches into the next, no time overflows. O(n). */
bool lns_events_decode (const LnsChunkView *view, const LnsEventColumns *columns, LnsError *error);

/* Correlations from min to max, 0 left out; min > max where there are none. */
typedef struct
{
  uint64_t min, max;
} LnsCorrelationSpan;

#define LNS_CORRELATION_SPAN_EMPTY ((LnsCorrelationSpan){ UINT64_MAX, 0 })

/* The correlation ids that the event chunk in BYTES holds, so that an id is found without reading the lane: ids mostly
 * ascend along a lane, so that few chunks have an id in their span. Empty where its kind has no correlations or it is
 * damaged. O(events). */
LnsCorrelationSpan lns_correlation_span (const uint8_t *bytes, size_t size_bytes);

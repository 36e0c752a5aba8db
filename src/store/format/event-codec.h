/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Event chunks to columns (FORMAT.md, "Events"). Thread-safe, no state. */

#pragma once

#include "src/store/format/chunk-format.h"
#include "src/store/format/lane-kind.h"

/* Where decoded columns go: arrays of header.n values each. Start and duration are required; NULL leaves out any other
 * column. */
typedef struct
{
  int64_t *start_ns;
  int64_t *duration_ns;
  uint32_t *name;
  uint32_t *flags;
  uint64_t *extra[LNS_EXTRA_MAX]; /* by the lane kind's table */
} LnsEventColumns;

/* Decodes the events of VIEW, of kind LNS_CHUNK_EVENTS or LNS_CHUNK_OPEN_EVENT, into COLUMNS. Columns that the chunk lacks
 * become 0. Checks that starts ascend, durations are ≥ 0, events do not overlap, and times do not overflow. O(n). */
bool lns_events_decode (const LnsChunkView *view, const LnsEventColumns *columns, LnsError *error);

/* The smallest and the largest correlation id, without 0; min > max if there are none. */
typedef struct
{
  uint64_t min, max;
} LnsCorrelationSpan;

#define LNS_CORRELATION_SPAN_EMPTY ((LnsCorrelationSpan){ UINT64_MAX, 0 })

/* The correlation ids that the event chunk in BYTES holds, so that an id is found without reading the lane: ids mostly
 * ascend along a lane, so that few chunks have an id in their span. Empty where its kind has no correlations or it is
 * damaged. O(events). */
LnsCorrelationSpan lns_correlation_span (const uint8_t *bytes, size_t size_bytes);

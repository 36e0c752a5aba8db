/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Correlation ids in chunks: which of them a chunk may hold, so that an id is found without reading
 * the lane. Ids mostly ascend along a lane, so that few chunks have an id in their span. */

#pragma once

#include "src/store/format/chunk-format.h"

/* Correlations from min to max, 0 left out; min > max where there are none. */
typedef struct
{
  uint64_t min, max;
} LnsCorrelationSpan;

#define LNS_CORRELATION_SPAN_EMPTY ((LnsCorrelationSpan){ UINT64_MAX, 0 })

/* The span of the event chunk in BYTES; empty where its kind has no correlations or it is damaged.
 * O(events). */
LnsCorrelationSpan lns_correlation_span (const uint8_t *bytes, size_t size_bytes);

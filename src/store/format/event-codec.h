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

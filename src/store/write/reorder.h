/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sorts finished events that arrive in any order: a heap by start, bounded in bytes. Events leave it when the watermark
 * passes their ends, each with a lane that is free for it. An event that arrives too late is flagged LNS_EVENT_LATE; if no lane
 * is free for it, it gets a new one. Not thread-safe. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "src/store/format/lane-kind.h"

typedef struct LnsReorder LnsReorder;

/* A heap of at most MAX_BYTES, but at least one event. NULL if memory runs out. */
LnsReorder *lns_reorder_new (size_t max_bytes) __attribute__ ((warn_unused_result));
void lns_reorder_free (LnsReorder *reorder); /* NULL is fine */

/* Adds EVENT. Returns false, without adding it, if memory runs out. Pop until that returns false after each push.
 * O(log n). */
bool lns_reorder_push (LnsReorder *reorder, const LnsEvent *event);

/* The number of events in the heap. RET_START_NS gets the start of the earliest, if there is one. */
size_t lns_reorder_waiting (const LnsReorder *reorder, int64_t *ret_start_ns);

/* Removes the earliest event (equal starts in the order of arrival) if it ends at WATERMARK_NS or before, or the heap is
 * full. RET_ORDINAL gets its lane. Returns false if there is no such event. At the end, WATERMARK_NS = INT64_MAX empties
 * the heap. O(log n). */
bool lns_reorder_pop (LnsReorder *reorder,
                      int64_t watermark_ns,
                      LnsEvent *ret_event,
                      uint32_t *ret_ordinal);

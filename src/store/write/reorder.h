/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finished events that come in any order, put into order: a heap by start, bounded in bytes, from
 * which events leave as the watermark passes them, each with the lane where it fits. One that comes
 * after its time is flagged LNS_EVENT_LATE, and takes one more lane where none is free for it. Not
 * thread-safe. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "src/store/format/lane-kind.h"

typedef struct LnsReorder LnsReorder;

/* A heap of at most MAX_BYTES (at least room for one event). NULL where memory ran out. */
LnsReorder *lns_reorder_new (size_t max_bytes) __attribute__ ((warn_unused_result));
void lns_reorder_free (LnsReorder *reorder); /* NULL is fine                                    */

/* Puts EVENT in. False where memory ran out: it is not in. O(log n). Pop until false after it. */
bool lns_reorder_push (LnsReorder *reorder, const LnsEvent *event);

/* Takes the earliest event out (equal starts in the order they came) where it starts at
 * WATERMARK_NS or before, or where the heap is at its bound. RET_ORDINAL gets its lane. False where
 * there is none to take. At the end, WATERMARK_NS = INT64_MAX empties it. O(log n). */
bool lns_reorder_pop (LnsReorder *reorder,
                      int64_t watermark_ns,
                      LnsEvent *ret_event,
                      uint32_t *ret_ordinal);

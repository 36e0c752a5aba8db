/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Puts the records of the kernel's rings, each of which is in order, into one order. Used by one thread, but for
 * lns_cpu_order_collect (), which another may call meanwhile. */

#pragma once

#include "capture/session/cpu/events.h"

/* What each record tells about itself. */
typedef struct
{
  int64_t time_ns; /* CLOCK_MONOTONIC */
  uint32_t pid, tid, cpu;
  int64_t before_ns; /* the time of the record before it in its ring, or INT64_MIN */
  int tracepoint;    /* a sample: LnsTracepointKind, or -1: of a CPU */
  uint64_t event;    /* id of the event that made it, or of the one from which that was inherited */
} LnsCpuRecordIds;

typedef void (*LnsCpuTake) (void *data,
                            const struct perf_event_header *record,
                            const LnsCpuRecordIds *ids);

typedef struct LnsCpuOrder LnsCpuOrder;

/* Returns NULL if memory is short. */
LnsCpuOrder *lns_cpu_order_new (const LnsCpuEvents *events);
void lns_cpu_order_free (LnsCpuOrder *order); /* accepts NULL */

/* Takes what is in the rings, so that the kernel has room again, and keeps it for the two functions below.
 * Returns false if more than LIMIT bytes are kept, and the rest is left. Any thread, as long as the events are open. */
bool lns_cpu_order_collect (LnsCpuOrder *order, size_t limit);

/* Takes what is in the rings, and calls TAKE, in the order of their times, for the records that are not later than UNTIL_NS.
 * The others wait. A record may come into its ring a moment later than its time: one that is later than the call is left
 * out of order. If memory is short, records stay in the rings. */
void lns_cpu_order_read (LnsCpuOrder *order, int64_t until_ns, LnsCpuTake take, void *data);

/* Takes what is in the rings, and calls TAKE for all records that wait, in the order of their rings. They go on waiting. */
void lns_cpu_order_look (LnsCpuOrder *order, LnsCpuTake take, void *data);

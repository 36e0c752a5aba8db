/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Events of which the report does not tell where they were recorded. That a stream waits for an event is recorded by default; in which stream that
 * stands for what was launched before, is not. Where work began when another stream's had just ended, and neither its own stream nor its
 * launch explains that, it waited for that stream. What is learned so of an event, or of a stream that waits, is taken to hold for
 * its other waits, too, in which the other stream was done early. A rule that was broken is none. */

#pragma once

#include "src/analysis/graph/gpu-order.h"
#include "src/analysis/graph/graph.h"

typedef struct LnsEventStreams LnsEventStreams;

LnsEventStreams *lns_event_streams_new (void);
void lns_event_streams_free (LnsEventStreams *events); /* NULL is fine                           */

/* An operation of stream number STREAM begins at START_NS, could have begun at KNOWN_NS by its own stream and its launch, and had to WAIT for an
 * event that was recorded somewhere in ORDER. Returns the number of the wait, LNS_ID_NONE: there are too many. O(streams). */
uint32_t lns_event_streams_add (LnsEventStreams *events,
                                const LnsGpuOrder *order,
                                const LnsGpuWait *wait,
                                uint32_t stream,
                                int64_t start_ns,
                                int64_t known_ns);

/* The operation of WAIT, a number, cannot come before POINT, which has no source. */
void lns_event_streams_set_point (LnsEventStreams *events, uint32_t wait, uint32_t point);

/* Adds edges to GRAPH, in which points were at TIMES: marked as inferred, and as not bound. O(waits × streams). */
void lns_event_streams_apply (LnsEventStreams *events, LnsGraph *graph, const int64_t *times);

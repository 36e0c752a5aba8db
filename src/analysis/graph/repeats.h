/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Waits that were none. A thread that takes from a queue waits where the queue is empty; where something is in it, nothing is recorded,
 * and yet it could not have gone on earlier. A thread that was
 * seen to wait before a place of its program, until another one had passed a place of its own, is taken to depend on that each time: its third time there on the other's
 * third, say. Places are the begins and ends of ranges. A rule counts where it was never broken. */

#pragma once

#include "src/analysis/graph/graph.h"

typedef struct LnsRepeats LnsRepeats;

/* A place that was passed. */
typedef struct
{
  uint32_t name;     /* << 1 | whether it is an end                                              */
  uint32_t time;     /* the how many-th time, from 0                                             */
  uint32_t point, n; /* the first, and how many there are: each may have an edge                 */
} LnsPlace;

/* A point of PLACE that has no edge in GRAPH, or LNS_POINT_NONE. */
uint32_t lns_place_free_point (const LnsPlace *place, const LnsGraph *graph);

/* The places that THREAD passed, RET_N of them in order of time. Valid until it passes the next. */
const LnsPlace *lns_repeats_places (const LnsRepeats *repeats, uint32_t thread, size_t *ret_n);
uint32_t lns_repeats_n_threads (const LnsRepeats *repeats);

/* The index of the last place that THREAD had passed at TIME_NS in RET_PLACE; of several at one time the first. False if it had passed none. */
bool lns_repeats_last_place (const LnsRepeats *repeats,
                             uint32_t thread,
                             int64_t time_ns,
                             const int64_t *times,
                             uint32_t *ret_place);

LnsRepeats *lns_repeats_new (uint32_t n_threads);
void lns_repeats_free (LnsRepeats *repeats); /* NULL is fine                                     */

/* THREAD is at a place of its program called NAME, a string id, at its BEGIN or not: at POINT, and at those behind it that join edges
 * there, N in all. In order of time. Amortised O(1). */
void lns_repeats_pass (
    LnsRepeats *repeats, uint32_t thread, uint32_t name, bool begins, uint32_t point, uint32_t n);

/* THREAD waited from START_NS until OTHER had it go on at WOKEN_NS, between the last place that it passed and the next. TIMES: of points. Amortised
 * O(1). */
void lns_repeats_wait (LnsRepeats *repeats,
                       uint32_t thread,
                       uint32_t other,
                       int64_t start_ns,
                       int64_t woken_ns,
                       const int64_t *times);

/* The last wait of THREAD that was told was none. */
void lns_repeats_take_back (LnsRepeats *repeats, uint32_t thread);

/* Adds edges to GRAPH, in which points were at TIMES: marked as inferred, and as not bound. Returns how many. O(places + waits log waits). */
size_t lns_repeats_apply (LnsRepeats *repeats, LnsGraph *graph, const int64_t *times);

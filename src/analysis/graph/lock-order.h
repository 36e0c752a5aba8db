/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Locks that were free. Who takes a lock that nobody has does not wait, and nothing is recorded of it; yet somebody else may have it if others
 * are faster. Where threads were seen to wait for a lock before one place of the program, until others had passed another one, the lock
 * is taken to be held from the one to the other, by whoever passes them; and who holds it next goes on after who held it before, in
 * the order in which they did. A lock counts where no two had it at a time. */

#pragma once

#include "src/analysis/graph/repeats.h"

typedef struct LnsLockOrder LnsLockOrder;

/* Of the threads whose places PLACES has (borrowed). To be freed. */
LnsLockOrder *lns_lock_order_new (const LnsRepeats *places);
void lns_lock_order_free (LnsLockOrder *order); /* NULL is fine                                  */

/* THREAD waited for LOCK, an address, until OTHER let it go at WOKEN_NS, between the last place that it passed and the next. TIMES: of points. */
void lns_lock_order_wait (LnsLockOrder *order,
                          uint64_t lock,
                          uint32_t thread,
                          uint32_t other,
                          int64_t woken_ns,
                          const int64_t *times);

/* Adds edges to GRAPH, in which points were at TIMES: marked as inferred, and as not bound. O(locks × places log places). */
void lns_lock_order_apply (LnsLockOrder *order, LnsGraph *graph, const int64_t *times);

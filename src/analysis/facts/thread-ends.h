/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Whose end a thread waited for, in pthread_join (), waitpid () or the like. Linux wakes that thread as another one, or a child process, ends,
 * and takes the events of tracing from a process before that, and since 6.16 also from a thread, so that no record tells of it. */

#pragma once

#include "src/store/read/report.h"

typedef struct LnsThreadEnds LnsThreadEnds;

/* When the threads of REPORT (borrowed) ended. To be freed. O(threads log threads). */
LnsThreadEnds *lns_thread_ends_new (LnsReport *report);
void lns_thread_ends_free (LnsThreadEnds *ends); /* NULL is fine */

/* The thread of its process, or the last one of a child process, that ended last while THREAD waited from START_NS to END_NS, if it did so near the end: so near that one of all
 * that ended meanwhile would be there by chance once in a hundred times. LNS_ID_NONE: there is none. O(log threads). */
uint32_t
lns_thread_ends_find (const LnsThreadEnds *ends, uint32_t thread, int64_t start_ns, int64_t end_ns);

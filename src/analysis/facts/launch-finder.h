/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the CUDA calls that launched GPU work, for many operations one after the other; and the launches of which no work
 * was recorded. Replaces: SELECT … FROM RUNTIME JOIN KERNEL USING (globalPid, correlationId). */

#pragma once

#include "src/analysis/facts/call-class.h"

/* A call of the CUDA API. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint32_t thread, name; /* thread instance, string id                                           */
  uint32_t lane;
  uint64_t ordinal;
} LnsLaunchCall;

typedef struct LnsLaunchFinder LnsLaunchFinder;

/* The finder for REPORT, CLASSES its calls' (both borrowed), whose functions end with an error when CANCEL (may be NULL) turns
 * true. To be freed. O(lanes log lanes). One thread at a time. */
LnsLaunchFinder *
lns_launch_finder_new (LnsReport *report, LnsCallClasses *classes, const atomic_bool *cancel);
void lns_launch_finder_free (LnsLaunchFinder *finder); /* NULL is fine                          */

/* Finds the call that launched operation ORDINAL of LANE. RET_FOUND gets whether there is one. O(1) on average where
 * operations come in the order of their calls; else O(log n). Where many threads make calls, the first time is O(calls of the
 * process), for an index that takes 4 to 32 bytes a call. */
bool lns_launch_finder_find (LnsLaunchFinder *finder,
                             uint32_t lane,
                             uint64_t ordinal,
                             bool *ret_found,
                             LnsLaunchCall *ret_call,
                             LnsError *error);

/* What the CUDA calls of a process were. */
typedef struct
{
  size_t n_launches;       /* queued work                                                        */
  size_t n_missing_graphs; /* launched graphs of which the report has no work                    */
  size_t n_waits;          /* have a stream wait for an event or for a host function             */
} LnsLaunchCounts;

/* Calls of PROCESS that queued work, as they say, of which the report has none: when they began, ascending, RET_N of
 * them, in RET_TIMES_NS (to be freed, NULL where there are none). O(calls and operations of the process). */
bool lns_launch_finder_missing (LnsLaunchFinder *finder,
                                uint32_t process,
                                int64_t **ret_times_ns,
                                size_t *ret_n,
                                LnsLaunchCounts *ret_counts,
                                LnsError *error);

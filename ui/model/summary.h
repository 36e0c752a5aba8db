/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Computes what a row that is a chart shows, for each pixel: how busy a thread, a process, the CPUs or a GPU is. */

#pragma once

#include "src/store/read/pixels.h"
#include "ui/model/row-tree.h"

/* What the share of a row is one of. */
typedef enum
{
  LNS_ACTIVITY_NONE,    /* of the time, in which a row has events of its own                */
  LNS_ACTIVITY_ON_CPU,  /* of the time, in which a thread was on a CPU                      */
  LNS_ACTIVITY_ON_CPUS, /* the sum of those of several threads: 2 are two CPUs              */
  LNS_ACTIVITY_OF_CPUS, /* of all CPUs that what is recorded ran on                         */
  LNS_ACTIVITY_RANGES, /* of the time, in which a thread was in an NVTX range; of several threads: */
  LNS_ACTIVITY_CALLS, /* the mean over those that have begun and not ended. The same for calls … */
  LNS_ACTIVITY_RANGES_AND_CALLS, /* … of CUDA or a library, and for either                           */
  LNS_ACTIVITY_WORK /* of the time, in which a GPU worked: kernels, copies, memsets     */
} LnsActivity;

/* Whether ACTIVITY is one of CPUs, which is known up to LnsReportInfo.known_ns. */
static inline bool
lns_activity_is_of_cpus (LnsActivity activity)
{
  return activity >= LNS_ACTIVITY_ON_CPU && activity <= LNS_ACTIVITY_OF_CPUS;
}

/* What lns_summary_query () or lns_work_query () gives for ROW (LNS_ID_NONE: for the whole report). Threads are judged by their
 * times on CPUs where any of them has these; else a process by the work of its GPUs; else by push/pop ranges and calls; else by start/end
 * ranges. O(lanes of ROW). */
LnsActivity lns_summary_activity (LnsReport *report, const LnsRowTree *tree, uint32_t row);

/* "3.7 % on a CPU": what ACTIVITY is with SHARE. Free with g_free (). */
char *lns_summary_text (LnsActivity activity, double share) __attribute__ ((warn_unused_result));

/* The share of each pixel of QUERY that lns_summary_activity () tells of, from 0 to 1, with ON_CPUS more. Of one thread's domains
 * the one with most counts. SCRATCH is zeroed before first use and reused; it tells whether the shares are coarse. RET_SHARES holds
 * n_px. Any thread. O(lanes that overlap the query × their pixel query). */
bool lns_summary_query (LnsReport *report,
                        const LnsRowTree *tree,
                        uint32_t row,
                        const LnsPixelQuery *query,
                        LnsPixelResult *scratch,
                        float *ret_shares,
                        LnsError *error);

/* What of QUERY the GPU works on for ROW, which merges lanes: its facet's pixels, exact. Where that is
 * not read yet, the sum over its lanes, which counts time twice in which several of them are busy;
 * no event is listed then. Any thread. */
bool lns_work_query (LnsReport *report,
                     const LnsRowTree *tree,
                     uint32_t row,
                     const LnsPixelQuery *query,
                     LnsPixelResult *result,
                     LnsError *error);

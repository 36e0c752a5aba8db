/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the GPU work that a call of the CUDA API launched, and the call that launched GPU work: events of one process that
 * have the same correlation. Replaces: SELECT … FROM RUNTIME JOIN KERNEL USING (globalPid, correlationId). */

#pragma once

#include "src/store/read/report.h"

/* Events ORDINAL … ORDINAL + N - 1 of LANE. */
typedef struct
{
  uint32_t lane;
  uint64_t ordinal, n;
} LnsEventRun;

typedef struct LnsCudaLinks LnsCudaLinks;

/* The links of REPORT, which is borrowed and must outlive the result, which is to be freed. O(lanes). All functions but
 * free may be called from any thread. */
LnsCudaLinks *lns_cuda_links_new (LnsReport *report);
void lns_cuda_links_free (LnsCudaLinks *links); /* NULL is fine                                 */

/* The events linked to event ORDINAL of LANE. For a call, they are what it launched: kernels, copies, sets, graphs, waits,
 * CUDA events, allocations … (the lane's kind tells which), with the many kernels of a graph as runs. For other events,
 * they are the calls that launched them, mostly one. RET_RUNS (to be freed) gets RET_N by lane, then by ordinal; none (NULL) where the event has no
 * correlation or the linked events were not recorded. False and ERROR where a chunk is damaged. O(log n) a lane of the
 * process, plus what is found. */
bool lns_cuda_links_find (const LnsCudaLinks *links,
                          uint32_t lane,
                          uint64_t ordinal,
                          LnsEventRun **ret_runs,
                          size_t *ret_n,
                          LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* When each GPU worked. Processes that used the same GPU count as one, unless they are asked for: it is the GPU that is busy or
 * idle. */

#pragma once

#include "src/analysis/filter.h"
#include "src/base/array.h"

typedef struct
{
  int64_t start_ns, end_ns;
} LnsSpan;

typedef LNS_ARRAY (LnsSpan) LnsSpans;

/* A GPU, and the lanes of what it did. */
typedef struct
{
  uint32_t device;  /* LnsCudaDevice of the first process that used it, or LNS_ID_NONE           */
  uint32_t process; /* that process                                                              */
  LNS_ARRAY (uint32_t) processes; /* all that used it                                            */
  LNS_ARRAY (uint32_t) lanes;     /* of its operations                                           */
  LnsSpan
      span; /* that the ledger is about: from the first thing known of its processes to the last */
  LnsSpan work;   /* from its first operation to its last, within the span                     */
  int64_t sum_ns; /* of the durations of all operations                                        */
} LnsDeviceWork;

typedef LNS_ARRAY (LnsDeviceWork) LnsDeviceWorks;

/* Whether A and B, LnsCudaDevices of processes that may differ, or LNS_ID_NONE, are one GPU. */
bool lns_is_same_gpu (LnsReport *report, uint32_t a, uint32_t b);

/* Finds the GPUs that REPORT has work of within SPAN, those with the most first. To be cleared. O(lanes × GPUs). */
LnsDeviceWorks lns_device_works (LnsReport *report, const LnsFilterSpan *span);

/* The same for each GPU as each process used it. O(lanes × GPUs × processes). */
LnsDeviceWorks lns_device_works_by_process (LnsReport *report, const LnsFilterSpan *span);

void lns_device_works_clear (LnsDeviceWorks *works);

/* An operation of a GPU, or a time in which operations left no gap: then it is the one that began it. */
typedef struct
{
  int64_t start_ns, end_ns; /* cut to the ledger's span                                          */
  uint32_t lane;
  uint64_t ordinal;
  bool is_after_loss; /* records of its lane were dropped before it                              */
} LnsOperation;

/* Goes through the operations of a GPU by start. */
typedef struct LnsWorkWalk LnsWorkWalk;

/* A walk over the operations of WORK in lanes of KINDS (1 << LnsLaneKind each). REPORT and WORK are borrowed; CANCEL may be
 * NULL. To be freed. Takes memory for some 100,000 operations at a time, however many there are. */
LnsWorkWalk *lns_work_walk_new (LnsReport *report,
                                const LnsDeviceWork *work,
                                uint32_t kinds,
                                const atomic_bool *cancel);

/* Has the walk, which has not begun, keep operations without length: they end a gap, too. */
void lns_work_walk_keep_empty (LnsWorkWalk *walk);
void lns_work_walk_free (LnsWorkWalk *walk); /* NULL is fine                                    */

/* The next operation in RET_OPERATION; RET_FOUND gets whether there was one. Operations outside the span, and those without
 * length where they are not kept, are left out. False and ERROR where a chunk is damaged, or cancelled. */
bool lns_work_walk_next (LnsWorkWalk *walk,
                         LnsOperation *ret_operation,
                         bool *ret_found,
                         LnsError *error);

/* The next time in which operations leave no gap. Not to be mixed with the former. */
bool
lns_work_walk_busy (LnsWorkWalk *walk, LnsOperation *ret_busy, bool *ret_found, LnsError *error);

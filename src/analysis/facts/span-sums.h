/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What happened in a part of a report's time: how long GPUs worked, how long threads ran, what they were in. */

#pragma once

#include "src/analysis/facts/device-work.h"

/* Events of one name. */
typedef struct
{
  uint32_t name; /* string id                                                                   */
  uint32_t lane; /* of one of them                                                              */
  uint64_t n;    /* how many touch the span                                                     */
  int64_t ns;    /* the parts of them in the span, added up: nested and parallel ones, too      */
  int64_t p50_ns, p90_ns, p99_ns; /* of their whole durations, once lns_span_sums_measure () ran */
} LnsSpanName;

typedef LNS_ARRAY (LnsSpanName) LnsSpanNames;

/* How long a GPU worked, or a thread ran. */
typedef struct
{
  uint32_t device, process; /* as LnsDeviceWork has them; LNS_ID_NONE of threads                 */
  uint32_t thread;          /* instance, or LNS_ID_NONE                                          */
  int64_t ns;
} LnsSpanShare;

typedef struct
{
  uint64_t n_events;    /* that touch the span                                                   */
  LnsSpanNames threads; /* what threads were in, ranges and calls: what took longest first       */
  LnsSpanNames gpus;    /* what GPUs did                                                         */
  LNS_ARRAY (LnsSpanShare) devices; /* each GPU that has work at any time                        */
  LNS_ARRAY (LnsSpanShare)
  running; /* each thread whose times on CPUs are known: what ran longest first */
} LnsSpanSums;

/* Sums up the events of REPORT in SPAN; of names at most MAX_NAMES of each sort are kept. CANCEL may be NULL. False and ERROR where a
 * chunk is damaged, or cancelled; RET_SUMS is then empty. To be cleared. O(log n) a lane, and the events within. Any thread. */
bool lns_span_sums_make (LnsReport *report,
                         const LnsSpan *span,
                         size_t max_names,
                         const atomic_bool *cancel,
                         LnsSpanSums *ret_sums,
                         LnsError *error);
void lns_span_sums_clear (LnsSpanSums *sums);

/* Finds the percentiles of SUMS, which SPAN gave: of names with more than 8,000,000 events they stay 0. Takes 8 bytes for each event of the
 * names. Else as before. */
bool lns_span_sums_measure (LnsReport *report,
                            const LnsSpan *span,
                            const atomic_bool *cancel,
                            LnsSpanSums *sums,
                            LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* When each GPU worked, and when it had nothing to do. Processes that used the same GPU count as one: it is the GPU that is
 * busy or idle. */

#pragma once

#include "src/analysis/filter.h"
#include "src/base/array.h"

typedef struct
{
  int64_t start_ns, end_ns;
} LnsSpan;

typedef LNS_ARRAY (LnsSpan) LnsSpans;

/* An operation of a GPU: an event of a lane. */
typedef struct
{
  uint32_t lane; /* LNS_ID_NONE: none                                                            */
  uint64_t ordinal;
} LnsWorkPlace;

typedef struct
{
  uint32_t device;  /* LnsCudaDevice of the first process that used it, or LNS_ID_NONE           */
  uint32_t process; /* that process                                                              */
  LNS_ARRAY (uint32_t) processes; /* all that used it                                            */
  LNS_ARRAY (uint32_t) lanes;     /* of its operations                                           */
  LnsSpan span;                   /* that the ledger is about                                    */
  LnsSpans busy; /* within the span, in order; neither overlap nor touch                         */
  uint32_t *next_lane; /* for each busy span: the lane of an operation that begins it, or NONE   */
  uint32_t *next_ordinal; /* the operation                                                       */
  bool *is_after_loss;    /* for each busy span: records of that lane were dropped before it     */
  int64_t busy_ns;
} LnsDeviceWork;

typedef LNS_ARRAY (LnsDeviceWork) LnsDeviceWorks;

/* Finds the GPUs that REPORT has work of, in WORKS (to be cleared whatever is returned), within SPAN. Each one's span is from
 * the first thing that is known of its processes to the last, within SPAN. CANCEL may be NULL. False and ERROR where a chunk
 * is damaged, or cancelled. O(operations log lanes) and 32 bytes for each time that a GPU was busy. */
bool lns_device_works_find (LnsReport *report,
                            const LnsFilterSpan *span,
                            const atomic_bool *cancel,
                            LnsDeviceWorks *works,
                            LnsError *error);
void lns_device_works_clear (LnsDeviceWorks *works);

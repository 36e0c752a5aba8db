/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What copies between a host and a device: an engine for each direction, on which copies of all streams come one after the other. The report
 * does not tell of engines; where two copies of one direction ever were at work at a time, there are several, and nothing is assumed. */

#pragma once

#include "src/analysis/graph/gpu-order.h"
#include "src/analysis/graph/graph.h"

typedef struct
{
  uint32_t device, kind; /* LnsCudaDevice, CUpti_ActivityMemcpyKind                              */
  uint32_t stream;       /* number, of the last copy                                             */
  LnsEnded last;
  bool has_last, is_parallel;
  int64_t busy_to_ns;          /* the last one that began ends                                   */
  LNS_ARRAY (uint32_t) points; /* that come after a copy of another stream                       */
} LnsCopyEngine;

/* Of one process. Zero before first use. */
typedef struct
{
  LNS_ARRAY (LnsCopyEngine) engines;
} LnsCopyEngines;

void lns_copy_engines_clear (LnsCopyEngines *engines);

/* A copy to or from DEVICE begins, from START_NS to END_NS, in stream number STREAM; MORE as LnsGraphLabel has it. Returns the copy of another stream that
 * it comes after, or NULL; it is valid until the next one begins or ends. O(engines). */
const LnsEnded *lns_copy_engines_begin (LnsCopyEngines *engines,
                                        uint32_t device,
                                        uint32_t more,
                                        uint32_t stream,
                                        int64_t start_ns,
                                        int64_t end_ns);

/* The same has ended as ENDED. O(engines). */
void lns_copy_engines_end (LnsCopyEngines *engines,
                           uint32_t device,
                           uint32_t more,
                           uint32_t stream,
                           const LnsEnded *ended);

/* POINT of GRAPH comes after a copy that lns_copy_engines_begin () returned for DEVICE and MORE. */
void lns_copy_engines_set_point (LnsCopyEngines *engines,
                                 uint32_t device,
                                 uint32_t more,
                                 uint32_t point);

/* Takes the edges of GRAPH back where copies turned out to be at work at a time. */
void lns_copy_engines_settle (LnsCopyEngines *engines, LnsGraph *graph);

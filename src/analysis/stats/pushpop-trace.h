/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Lists push/pop ranges one by one with their place in the stack: by start, and on each thread under the innermost range
 * of any domain that encloses them. Ranges without an end are left out. */

#pragma once

#include "src/base/array.h"
#include "src/base/id-map.h"
#include "src/tables/tables.h"

#define LNS_TRACE_NO_PARENT UINT32_MAX

typedef struct
{
  int64_t start_ns, duration_ns;
  int64_t children_ns; /* time within direct children                                           */
  int64_t id; /* the RangeId: the number of its row in NVTX_EVENTS of an export, from 1 on        */
  int64_t global_tid;
  uint32_t name; /* string id                                                            */
  uint32_t lane;
  uint32_t ordinal; /* of the range in its lane; fits wherever the ranges do                    */
  uint32_t parent;  /* number of its parent in the trace, or LNS_TRACE_NO_PARENT            */
  uint32_t level;   /* 0 = outermost                                                        */
  uint32_t n_children; /* direct ones                                                          */
} LnsTraceRange;

/* Ranges and how they nest. Zero it before first use. */
typedef struct
{
  LNS_ARRAY (LnsTraceRange) ranges;
  LnsIdMap tops; /* the innermost open range of each thread: its number, and 1 */
} LnsTrace;

/* Appends RANGE, an event of REPORT, below the innermost range that encloses it and has the same THREAD (any number that
 * tells threads apart). It does not start before those. */
void lns_trace_add (LnsTrace *trace, LnsReport *report, uint64_t thread, LnsTraceRange range);

/* Gives each range of TRACE, whose id is its row in TABLES, the number of that row in an export, where the rows of NVTX_EVENTS
 * come in the order of their starts. O(rows log lanes) in time, 24 bytes a range. */
bool
lns_trace_number (LnsTrace *trace, LnsTables *tables, const atomic_bool *cancel, LnsError *error);

/* The trace of TABLES' report: RET_RANGES (to be freed) gets RET_N of them. False and ERROR where a chunk is damaged, or
 * CANCEL (may be NULL) turned true. O(n log lanes) in time, 64 bytes a range. */
bool lns_pushpop_trace (LnsTables *tables,
                        const atomic_bool *cancel,
                        LnsTraceRange **ret_ranges,
                        uint32_t *ret_n,
                        LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Projects NVTX ranges onto the GPU. A range projects from the first start to the last end of the GPU's operations
 * (kernels, copies, sets, graphs) that were launched by calls of the CUDA API within the range, on its thread. Ranges that
 * launched nothing have no projection. Neither have ranges that one thread starts and another ends, and ranges without an
 * end. An operation counts in each of the nested ranges around its call.
 * Replaces: a join of ranges with calls by thread and time, and of calls with operations by correlation. */

#pragma once

#include "src/store/read/report.h"

typedef struct
{
  int64_t start_ns, duration_ns; /* on the GPU                                                    */
  int64_t range_start_ns, range_duration_ns;
  uint64_t ordinal; /* the range: an event of the lane                                          */
  uint32_t lane;
  uint32_t name;   /* string id                                                                */
  uint32_t thread; /* thread instance                                                          */
  uint32_t n_operations;
  uint32_t color; /* the range's own 0xAARRGGBB, or 0                                          */
  /* By stream: on one stream, or on all streams of one context that has more than one with work. */
  uint32_t stream; /* stream id, or LNS_ID_NONE                                                */
  uint32_t context;
} LnsProjectedRange;

/* Projects the ranges of REPORT on all streams. CANCEL may be NULL. RET_RANGES (to be freed; NULL where there are none)
 * gets RET_N by thread, then by start of the range, outer ones first. False and ERROR where a chunk is damaged, or
 * cancelled. O(operations + calls + lanes of a thread × its calls) in time where ids ascend, 72 bytes an operation. Any
 * thread. */
bool lns_projection (LnsReport *report,
                     const atomic_bool *cancel,
                     LnsProjectedRange **ret_ranges,
                     size_t *ret_n,
                     LnsError *error);

/* The same for each stream and context at once, by context, stream (all of them last), thread and start
 * of the range, outer ones first. RET_PERMILLE (may be NULL) gets the progress. Time as above, with
 * each operation looked at once for each range around its call; 72 bytes a result. Any thread. */
bool lns_projection_by_stream (LnsReport *report,
                               const atomic_bool *cancel,
                               atomic_uint *ret_permille,
                               LnsProjectedRange **ret_ranges,
                               size_t *ret_n,
                               LnsError *error);

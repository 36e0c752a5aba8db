/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How much of a critical path was in which functions, by samples, and in which NVTX ranges. Any thread. */

#pragma once

#include "src/analysis/what-if/critical-path.h"

typedef struct
{
  uint32_t name; /* string id; 0: in none, or that is not known                                  */
  int64_t ns;    /* on the path                                                                  */
  uint64_t n;    /* samples; links that are in the range, or that its work is                    */
} LnsPathName;

/* What has most of the path first. */
typedef LNS_ARRAY (LnsPathName) LnsPathNames;

/* Fills RET_NAMES, which is empty, with the functions in which threads were, where CRITICAL, of REPORT and with its links, runs on them: each link is shared out evenly
 * to the innermost functions of its samples, those of Python where the thread has such. Time of links without samples has the name 0. CANCEL may be NULL. False and ERROR where a chunk is damaged, or cancelled.
 * O(links × log samples + samples of the threads). */
bool lns_path_functions (LnsReport *report,
                         const LnsCriticalPath *critical,
                         const atomic_bool *cancel,
                         LnsPathNames *ret_names,
                         LnsError *error);

/* The same with the innermost push/pop ranges in which the path was: of threads, and, of operations of GPUs, those in which they were launched. O(links × log events). */
bool lns_path_ranges (LnsReport *report,
                      const LnsCriticalPath *critical,
                      const atomic_bool *cancel,
                      LnsPathNames *ret_names,
                      LnsError *error);

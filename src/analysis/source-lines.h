/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples by the lines of the source that they were taken in. */

#pragma once

#include "src/base/array.h"
#include "src/store/read/report.h"

typedef struct
{
  uint32_t file;  /* string id of its path                                                        */
  uint32_t line;  /* from 1 on; 0 = which line is not known                                       */
  uint64_t self;  /* samples taken in it                                                         */
  uint64_t total; /* … and in what it called: a sample counts once for a line                    */
} LnsSourceLine;

typedef LNS_ARRAY (LnsSourceLine) LnsSourceLines;

/* Counts the samples of REPORT in lanes of KIND (LNS_LANE_CPU_SAMPLE or LNS_LANE_PYTHON_SAMPLE) by line: by file, then by line. Those
 * whose source is not known are in none; RET_N_SAMPLES counts them, too. CANCEL may be NULL. False and ERROR where a chunk is damaged,
 * or cancelled. The caller clears the array, which is empty then. Any thread. O(samples, and call nodes × their depth). */
bool lns_source_lines (LnsReport *report,
                       LnsLaneKind kind,
                       const atomic_bool *cancel,
                       LnsSourceLines *ret_lines,
                       uint64_t *ret_n_samples,
                       LnsError *error);

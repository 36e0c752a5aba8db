/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How long a step and its parts take in each of several runs: runs of one program differ from their beginning to their end, by where their memory
 * lies for instance, and only further runs tell by how much. */

#pragma once

#include "src/analysis/compare/parts.h"
#include "src/analysis/compare/shift.h"

/* So many runs of each are enough to tell all by them alone. */
#define LNS_LEAST_RUNS 3

/* Of one part: medians in ns, by run; those that have no such part after the last that has are left out. */
typedef struct
{
  uint64_t key;
  bool is_on_gpu;  /* a kernel's                                                                  */
  bool tells_pace; /* it is of work whose time is that of the machine                             */
  LNS_ARRAY (double) ns;
} LnsRunLevel;

/* Of all runs of one side. Zero before first use. */
typedef struct
{
  size_t n;          /* runs                                                                      */
  LnsIdMap level_of; /* key -> 1 + index                                                          */
  LNS_ARRAY (LnsRunLevel) levels;
} LnsRunLevels;

/* Which part of TIMES is meant: PART (1 + index; 0: the step), or, IS_SELF, what of it is in none of its own parts. The same in each run. */
uint64_t lns_run_level_key (const LnsStepTimes *times, size_t part, bool is_self);

/* Adds a run with TIMES, whose steps that count take P50_NS. O(parts² × steps). */
void lns_run_levels_add (LnsRunLevels *levels, const LnsStepTimes *times, double p50_ns);

/* Fills PACE, of as many values as each side has runs, with how slow the GPUs (IS_ON_GPU) or the CPUs were in each run, as the median of what all runs
 * have tells: 1 = as in most runs. False where that is of too few parts. O(parts × runs log). */
bool lns_run_levels_pace (const LnsRunLevels sides[2], bool is_on_gpu, double *const pace[2]);

/* Compares what has the keys KEYS (0: none has it) in the runs of A with that of B, by Student's t with the variance of both together; PACE is what
 * their times are divided by, or NULL. False where both sides have fewer than four runs. */
bool lns_run_levels_shift (const LnsRunLevels sides[2],
                           const uint64_t keys[2],
                           double *const pace[2],
                           LnsShift *ret_shift);

void lns_run_levels_clear (LnsRunLevels *levels);

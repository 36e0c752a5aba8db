/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Exact medians of many groups in bounded memory. Replaces: sort each group's durations.
 *
 * The first pass over the ranges counts them by group and by bins an eighth of an octave wide
 * (lns_median_bin ()). That tells for each group the bin of its median; a second pass collects the
 * values of that bin, some 5 % of all, and selects. Groups whose bin holds too much for that are
 * counted again in 4,096 parts of the bin, until the rest fits or a part is one value. Where the
 * two middle values lie in different bins, they are the largest below and the least above. */

#pragma once

#include "src/analysis/lns-range-groups.h"
#include "src/analysis/lns-range-walk.h"
#include "src/analysis/lns-value-counts.h"

#define LNS_MEDIAN_BIN_BITS 9
#define LNS_MEDIAN_BINS     (1u << LNS_MEDIAN_BIN_BITS)

/* Only groups below this are counted in the first pass, as key and bin share 32 bits. */
#define LNS_MEDIAN_MAX_GROUPS (UINT32_C (1) << (32 - LNS_MEDIAN_BIN_BITS))

/* The bin of a duration ≥ 0. */
static inline uint32_t
lns_median_bin (int64_t duration_ns)
{
  uint64_t value = (uint64_t)duration_ns;
  if (value < 8)
    return (uint32_t)value;
  unsigned exponent = 63 - (unsigned)__builtin_clzll (value);
  return (exponent - 2) * 8 + (uint32_t)(value >> (exponent - 3) & 7);
}

/* What a worker counted in the first pass: keys are own group << LNS_MEDIAN_BIN_BITS | bin. */
typedef struct
{
  LnsValueCounts counts;
  const uint32_t *groups; /* the worker's group → the common one                                */
} LnsMedianCounts;

/* Finds twice the median of each of GROUPS: RET_DOUBLED gets groups->n_groups of them. COUNTS are
 * those of the first pass, one a worker; they are cleared on the way. A pass collects up to
 * MAX_COLLECTED values of 8 bytes (0 = 8 Mi). */
bool lns_range_medians (LnsRangeWalk *walk,
                        const LnsRangeGroups *groups,
                        LnsMedianCounts *counts,
                        unsigned n_counts,
                        uint64_t max_collected,
                        int64_t *ret_doubled,
                        LnsError *error);

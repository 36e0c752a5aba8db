/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Exact medians of many groups in bounded memory. Replaces: sort each group's durations.
 *
 * A group's bins tell in which one its median lies; a pass over the ranges collects the values of
 * those bins, some 5 % of all, and selects. Groups whose bin holds too much for that are counted
 * again in 256 parts of the bin, until the rest fits or a part is one value. Where the two middle
 * values lie in different bins, they are the largest below and the least above. */

#pragma once

#include "src/analysis/stats/range-groups.h"
#include "src/analysis/range-walk.h"

/* Finds twice the median of each of GROUPS, which WALK has been counted into: RET_DOUBLED gets
 * groups->n_groups of them. A pass collects up to MAX_COLLECTED values of 8 bytes (0 = 8 Mi). */
bool lns_range_medians (LnsRangeWalk *walk,
                        const LnsRangeGroups *groups,
                        uint64_t max_collected,
                        int64_t *ret_doubled,
                        LnsError *error);

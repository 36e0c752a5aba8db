/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sums up ranges by name, straight from lanes. Replaces: SELECT domain || ':' || text, count(*), sum, avg, median, min,
 * max, stddev … GROUP BY style, domain, text. Ranges without an end are left out. */

#pragma once

#include "src/analysis/stats/call-ranges.h"
#include "src/analysis/range-walk.h"

typedef struct
{
  LnsRangeStyle style;
  uint32_t domain_name; /* string id; 0 = default domain                                        */
  uint32_t name;        /* string id, or the query's key                                        */
  uint32_t source;      /* number of the source; 0 from lns_range_stats () */
  const LnsCallRange *range; /* around the call that began it; NULL from lns_range_stats () */
  uint64_t n;
  uint64_t total_ns;
  int64_t min_ns, max_ns;
  int64_t doubled_median_ns; /* twice the exact median                                          */
  double deviation_ns;       /* of the sample (n - 1); 0 for one                                */
  uint32_t max_lane;         /* of the longest one, or LNS_ID_NONE if that is not known …       */
  uint64_t max_ordinal;      /* … and its number there                                          */
} LnsRangeStat;

/* Sums up what QUERY asks of REPORT, on all cores. RET_STATS (to be freed) gets RET_N sums by total, the largest first,
 * then by name. CANCEL may be NULL. False and ERROR where a chunk is damaged, or cancelled. O(ranges), in memory that
 * grows with names and not with ranges. */
bool lns_range_stats (LnsReport *report,
                      const LnsRangeQuery *query,
                      const atomic_bool *cancel,
                      LnsRangeStat **ret_stats,
                      size_t *ret_n,
                      LnsError *error);

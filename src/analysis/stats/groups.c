/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "src/analysis/stats/maker.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

static int
compare_groups (const void *a, const void *b)
{
  const LnsStatsGroup *ga = a, *gb = b;

  if (ga->total_ns != gb->total_ns)
    return ga->total_ns > gb->total_ns ? -1 : 1;
  return ga->first < gb->first ? -1 : ga->first > gb->first;
}

LnsStatsGroup *
_lns_stats_groups (const void *items,
                   size_t n,
                   size_t size,
                   int (*compare) (const void *a, const void *b),
                   int64_t (*value_ns) (const void *item),
                   size_t *ret_n)
{
  LnsStatsGroup *groups = lns_calloc (n, sizeof *groups);
  size_t n_groups = 0;

  for (size_t i = 0; i < n; i++)
    {
      const char *item = (const char *)items + i * size;
      if (i == 0 || compare (item - size, item) != 0)
        groups[n_groups++] = (LnsStatsGroup){ .first = i };
      groups[n_groups - 1].n++;
      groups[n_groups - 1].total_ns = lns_sum (groups[n_groups - 1].total_ns, value_ns (item));
    }
  qsort (groups, n_groups, sizeof *groups, compare_groups);
  *ret_n = n_groups;
  return groups;
}

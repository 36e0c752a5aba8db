/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/range-medians.h"
#include "src/analysis/stats/range-stats.h"
#include "src/base/compare.h"
#include "src/base/memory.h"

/* Longer durations would overflow the sum of their squares; they count as this long there. */
#define MAX_SQUARED ((UINT64_C (1) << 50) - 1)

/* Events are looked at in blocks, so that what they need is asked for ahead. */
#define BLOCK 128

typedef struct
{
  LnsReport *report;
  const LnsRangeQuery *query;
  LnsRangeWalk *walk;
  unsigned n_workers;
  LnsRangeGroups workers[LNS_RANGE_MAX_WORKERS];
  LnsRangeGroups groups; /* those of all workers                                                */
} Sums;

static void
count_duration (LnsRangeGroup *group, int64_t duration, uint32_t lane, uint64_t ordinal)
{
  uint64_t squared = (uint64_t)duration < MAX_SQUARED ? (uint64_t)duration : MAX_SQUARED;

  group->n++;
  group->total_ns += (uint64_t)duration;
  group->min_ns = duration < group->min_ns ? duration : group->min_ns;
  lns_range_group_lengthen (group, duration, lane, ordinal);
  group->squares += (unsigned __int128)squared * squared;
  lns_range_group_count (group, lns_range_bin (duration), 1);
}

/* Names come in any order, and the counts of a large report do not fit into the nearest cache: those
 * of later events are asked for ahead. */
static void
prefetch_count (const LnsRangeGroups *groups, uint32_t index, int64_t duration)
{
  const LnsRangeGroup *group = &groups->array.items[index];
  uint32_t bin = lns_range_bin (duration) - group->first_bin;

  if (bin < group->n_bins)
    __builtin_prefetch (&group->bins[bin], 1);
}

static void
count_chunk (void *data, unsigned worker, uint32_t family, const LnsChunk *chunk)
{
  Sums *sums = data;
  LnsRangeGroups *groups = &sums->workers[worker];
  uint32_t indices[BLOCK], events[BLOCK];

  for (uint32_t first = 0, n = 0; first < chunk->n; first += BLOCK, n = 0)
    {
      for (uint32_t i = first; i < chunk->n && i < first + BLOCK; i++)
        {
          if (!lns_range_is_whole (chunk, i))
            continue;
          uint32_t index = lns_range_groups_find (groups, family, chunk->name[i]);
          if (index == LNS_GROUP_NONE)
            index = lns_range_groups_add (groups, family, chunk->name[i]);
          prefetch_count (groups, index, chunk->duration_ns[i]);
          events[n] = i;
          indices[n++] = index;
        }
      for (uint32_t i = 0; i < n; i++)
        count_duration (&groups->array.items[indices[i]], chunk->duration_ns[events[i]],
                        chunk->lane, chunk->first + events[i]);
    }
}

/* Brings the workers' groups together. */
static void
merge_groups (Sums *sums)
{
  for (unsigned i = 0; i < sums->n_workers; i++)
    {
      LnsRangeGroups *worker = &sums->workers[i];
      for (size_t g = 0; g < worker->array.n; g++)
        {
          const LnsRangeGroup *group = &worker->array.items[g];
          uint32_t common = lns_range_groups_add (&sums->groups, group->family, group->name);
          lns_range_group_merge (&sums->groups.array.items[common], group);
        }
      lns_range_groups_clear (worker);
    }
}

/* The sample's standard deviation, from exact sums: Σd² - (Σd)²/n loses nothing in integers. */
static double
deviation (const LnsRangeGroup *group)
{
  if (group->n < 2)
    return 0;
  unsigned __int128 square_of_sum = (unsigned __int128)group->total_ns * group->total_ns;
  unsigned __int128 whole = square_of_sum / group->n;
  long double rest = (long double)(square_of_sum % group->n) / (long double)group->n;
  long double sum = group->squares > whole ? (long double)(group->squares - whole) - rest : 0;
  return (double)sqrtl ((sum > 0 ? sum : 0) / (long double)(group->n - 1));
}

static int
compare_bytes (LnsReport *report, uint32_t a, uint32_t b)
{
  size_t size_a, size_b;
  const char *bytes_a = lns_report_string (report, a, &size_a),
             *bytes_b = lns_report_string (report, b, &size_b);

  return memcmp (bytes_a, bytes_b, size_a < size_b ? size_a : size_b)
             ?: LNS_COMPARE (size_a, size_b);
}

/* The string id of STAT's name. */
static uint32_t
name_of (const LnsRangeQuery *query, const LnsRangeStat *stat)
{
  const LnsKernelKeys *kernels = query->keys.kernels;
  return kernels != NULL && stat->style == LNS_STYLE_KERNEL && stat->name < kernels->kinds.n
             ? kernels->kinds.items[stat->name].shown
             : stat->name;
}

static int
compare_stats (const void *a, const void *b, void *data)
{
  const LnsRangeStat *sa = a, *sb = b;
  const Sums *sums = data;
  LnsReport *report = sums->report;
  uint32_t na = name_of (sums->query, sa), nb = name_of (sums->query, sb);

  return LNS_COMPARE (sb->total_ns, sa->total_ns)
             ?: compare_bytes (report, sa->domain_name, sb->domain_name)
             ?: compare_bytes (report, na, nb)
             ?: LNS_COMPARE (sa->style, sb->style)
             ?: LNS_COMPARE (sa->name, sb->name);
}

static bool
make_stats (Sums *sums, LnsRangeStat **ret_stats, size_t *ret_n, LnsError *error)
{
  const uint32_t n = (uint32_t)sums->groups.array.n;
  uint32_t n_families;
  const LnsRangeFamily *families = lns_range_walk_families (sums->walk, &n_families);
  LnsRangeStat *stats = lns_calloc (n, sizeof *stats);
  int64_t *doubled = lns_calloc (n, sizeof *doubled);
  const bool good = lns_range_medians (sums->walk, &sums->groups, 0, doubled, error);

  for (uint32_t i = 0; good && i < n; i++)
    {
      const LnsRangeGroup *group = &sums->groups.array.items[i];
      stats[i] = (LnsRangeStat){
        .style = families[group->family].style,
        .domain_name = families[group->family].domain_name,
        .name = group->name,
        .n = group->n,
        .total_ns = group->total_ns,
        .min_ns = group->min_ns,
        .max_ns = group->max_ns,
        .doubled_median_ns = doubled[i],
        .deviation_ns = deviation (group),
        .max_lane = group->max_lane,
        .max_ordinal = group->max_ordinal,
      };
    }
  free (doubled);
  if (!good)
    {
      free (stats);
      return false;
    }
  qsort_r (stats, n, sizeof *stats, compare_stats, sums);
  *ret_stats = stats;
  *ret_n = n;
  return true;
}

bool
lns_range_stats (LnsReport *report,
                 const LnsRangeQuery *query,
                 const atomic_bool *cancel,
                 LnsRangeStat **ret_stats,
                 size_t *ret_n,
                 LnsError *error)
{
  Sums sums = { .report = report,
                .query = query,
                .walk = lns_range_walk_new (report, query, cancel, error) };
  uint32_t n_families, n_names = lns_report_n_strings (report) + 1;

  if (sums.walk == NULL)
    return false;

  if (query->keys.kernels != NULL && query->keys.kernels->kinds.n > n_names)
    n_names = (uint32_t)query->keys.kernels->kinds.n;
  lns_range_walk_families (sums.walk, &n_families);
  lns_range_groups_init (&sums.groups, n_families, n_names);
  sums.n_workers = lns_range_walk_n_workers (sums.walk);
  for (unsigned i = 0; i < sums.n_workers; i++)
    lns_range_groups_init (&sums.workers[i], n_families, n_names);
  bool good = lns_range_walk_run (sums.walk, count_chunk, &sums, error);
  if (good)
    {
      merge_groups (&sums);
      good = make_stats (&sums, ret_stats, ret_n, error);
    }
  for (unsigned i = 0; i < sums.n_workers; i++)
    lns_range_groups_clear (&sums.workers[i]);
  lns_range_groups_clear (&sums.groups);
  lns_range_walk_free (sums.walk);
  return good;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/lns-range-medians.h"

#define DEFAULT_MAX_COLLECTED (UINT64_C (8) << 20)

#define PART_BITS 12

/* Each narrows a group 4,096-fold: more are never needed while passes see the same ranges. */
#define MAX_PASSES 12

#define MAX_PARTED (UINT32_C (1) << (32 - PART_BITS))

typedef enum
{
  FOUND,
  WAIT,    /* for a later pass                                                                  */
  COLLECT, /* the values in [low, high)                                                         */
  PART,    /* count them by parts                                                               */
  SPLIT    /* the largest value below `low` and the least from it on                            */
} Step;

typedef struct
{
  Step step;
  int64_t low, high;      /* the median's values are within                                      */
  uint64_t below, inside; /* how many values are less than `low`, and within                    */
  uint64_t offset;        /* COLLECT: of its first value in `values`                             */
  atomic_ullong n_collected;
  uint32_t part;  /* PART: its number among those                                                */
  unsigned shift; /* PART: a part is 1 << shift wide                                            */
  _Atomic int64_t largest_below, least_above; /* SPLIT                                          */
} Selection;

typedef struct
{
  LnsRangeWalk *walk;
  const LnsRangeGroups *groups;
  Selection *selections;
  int64_t *values;
  LnsValueCounts *counts; /* by worker, for PART                                                */
  uint32_t *parted;       /* groups by `part`                                                   */
  uint64_t max_collected;
  int64_t *ret_doubled;
} Search;

/* ---- From counts to narrower bounds ---------------------------------------------------------- */

static int64_t
bin_low (uint32_t bin)
{
  /* Bin 488 would begin at 2^63. */
  return bin < 16 ? bin : bin >= 488 ? INT64_MAX : (int64_t)(8 + bin % 8) << (bin / 8 - 1);
}

/* The ranks of the two middle values: the same where n is odd. */
static uint64_t
lower_rank (const LnsRangeGroup *group)
{
  return (group->n - 1) / 2;
}

static uint64_t
upper_rank (const LnsRangeGroup *group)
{
  return group->n / 2;
}

static void
found (Search *search, uint32_t group, int64_t lower, int64_t upper)
{
  search->selections[group].step = FOUND;
  search->ret_doubled[group] = lower + upper;
}

/* COUNTS[i] values lie in [LOWS (i), LOWS (i + 1)): keeps the bin of the median. */
static void
narrow (Search *search, uint32_t group, const uint64_t *counts, uint32_t n, int64_t base, int shift)
{
  const LnsRangeGroup *numbers = &search->groups->groups[group];
  Selection *selection = &search->selections[group];
  uint64_t below = selection->below, before_lower = below;
  uint32_t lower, upper;

#define LOW(i) (shift < 0 ? bin_low (i) : base + ((int64_t)(i) << shift))
  for (lower = 0; lower < n && below + counts[lower] <= lower_rank (numbers); lower++)
    below += counts[lower];
  before_lower = below;
  for (upper = lower; upper < n && below + counts[upper] <= upper_rank (numbers); upper++)
    below += counts[upper];
  selection->step = WAIT;
  if (lower >= n || upper >= n) /* counts that do not add up: look at everything                */
    return;
  if (lower != upper)
    {
      selection->step = SPLIT;
      selection->low = LOW (lower + 1);
      atomic_store (&selection->largest_below, numbers->min_ns);
      atomic_store (&selection->least_above, numbers->max_ns);
      return;
    }
  selection->low = LOW (lower);
  selection->high = LOW (lower + 1);
  selection->below = before_lower;
  selection->inside = counts[lower];
  if (selection->high - selection->low == 1)
    found (search, group, selection->low, selection->low);
#undef LOW
}

typedef struct
{
  uint32_t bin, count;
} BinCount;

/* Brings the counts of all workers together by group, then narrows each. KEY_BITS of a key are the
 * bin; GROUP_OF maps the rest of it to a group. Clears the counts. */
static bool
narrow_all (Search *search,
            LnsValueCounts **counts,
            const uint32_t *const *group_of,
            unsigned n_counts,
            unsigned bin_bits)
{
  uint32_t n_groups = search->groups->n_groups, n_bins = UINT32_C (1) << bin_bits;
  uint64_t *first = calloc ((size_t)n_groups + 2, sizeof *first),
           *sums = calloc (n_bins, sizeof *sums), n = 0;
  BinCount *bins = NULL;

  for (unsigned worker = 0; first != NULL && worker < n_counts; worker++)
    for (uint64_t i = 0; counts[worker]->slots != NULL && i < UINT64_C (1) << counts[worker]->bits;
         i++)
      if (counts[worker]->slots[i].count != 0)
        first[group_of[worker][counts[worker]->slots[i].key >> bin_bits] + 2]++, n++;
  bins = malloc ((n + 1) * sizeof *bins);
  if (first == NULL || sums == NULL || bins == NULL)
    {
      free (first);
      free (sums);
      free (bins);
      return false;
    }
  for (uint32_t i = 0; i < n_groups; i++)
    first[i + 2] += first[i + 1];
  for (unsigned worker = 0; worker < n_counts; worker++)
    {
      for (uint64_t i = 0;
           counts[worker]->slots != NULL && i < UINT64_C (1) << counts[worker]->bits; i++)
        {
          LnsValueCount slot = counts[worker]->slots[i];
          if (slot.count != 0)
            bins[first[group_of[worker][slot.key >> bin_bits] + 1]++] =
                (BinCount){ slot.key & (n_bins - 1), slot.count };
        }
      lns_value_counts_clear (counts[worker]);
    }
  for (uint32_t group = 0; group < n_groups; group++)
    {
      Selection *selection = &search->selections[group];
      if (first[group] == first[group + 1])
        continue;
      memset (sums, 0, n_bins * sizeof *sums);
      for (uint64_t i = first[group]; i < first[group + 1]; i++)
        sums[bins[i].bin] += bins[i].count;
      narrow (search, group, sums, n_bins, selection->low,
              bin_bits == PART_BITS ? (int)selection->shift : -1);
    }
  free (first);
  free (sums);
  free (bins);
  return true;
}

/* ---- A pass ---------------------------------------------------------------------------------- */

static void
keep_extremes (Selection *selection, int64_t value)
{
  _Atomic int64_t *kept =
      value < selection->low ? &selection->largest_below : &selection->least_above;
  int64_t seen = atomic_load_explicit (kept, memory_order_relaxed);

  while ((value < selection->low ? value > seen : value < seen) &&
         !atomic_compare_exchange_weak_explicit (kept, &seen, value, memory_order_relaxed,
                                                 memory_order_relaxed))
    ;
}

static bool
look_at (void *data, unsigned worker, uint32_t family, const LnsChunk *chunk)
{
  Search *search = data;
  uint32_t n_names = search->groups->n_pages * LNS_GROUP_PAGE_NAMES;

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      uint32_t name = chunk->name[i] < n_names ? chunk->name[i] : 0;
      uint32_t group = lns_range_groups_find (search->groups, family, name);
      if (group == LNS_GROUP_NONE || !lns_range_is_whole (chunk, i))
        continue;
      Selection *selection = &search->selections[group];
      int64_t value = chunk->duration_ns[i];
      if (selection->step == SPLIT)
        keep_extremes (selection, value);
      else if (selection->step <= WAIT || value < selection->low || value >= selection->high)
        continue;
      else if (selection->step == COLLECT)
        {
          uint64_t k = atomic_fetch_add_explicit (&selection->n_collected, 1, memory_order_relaxed);
          if (k < selection->inside)
            search->values[selection->offset + k] = value;
        }
      else if (!lns_value_counts_add (&search->counts[worker],
                                      selection->part << PART_BITS |
                                          (uint32_t)((value - selection->low) >> selection->shift),
                                      1))
        return false;
    }
  return true;
}

/* Moves the K-th least of N values to VALUES[K], with none greater before it (Hoare's selection). */
static void
select_value (int64_t *values, uint64_t n, uint64_t k)
{
  uint64_t left = 0, right = n - 1;

  while (left < right)
    {
      int64_t pivot = values[left + (right - left) / 2];
      uint64_t i = left - 1, j = right + 1;
      for (;;)
        {
          do
            i++;
          while (values[i] < pivot);
          do
            j--;
          while (values[j] > pivot);
          if (i >= j)
            break;
          int64_t value = values[i];
          values[i] = values[j];
          values[j] = value;
        }
      if (k <= j)
        right = j;
      else
        left = j + 1;
    }
}

static void
select_collected (Search *search, uint32_t group)
{
  const LnsRangeGroup *numbers = &search->groups->groups[group];
  Selection *selection = &search->selections[group];
  int64_t *values = search->values + selection->offset;
  uint64_t upper = upper_rank (numbers) - selection->below,
           lower = lower_rank (numbers) - selection->below;

  select_value (values, selection->inside, upper);
  int64_t lower_value = values[upper];
  if (lower != upper)
    {
      lower_value = values[0];
      for (uint64_t i = 1; i < upper; i++)
        lower_value = values[i] > lower_value ? values[i] : lower_value;
    }
  found (search, group, lower_value, values[upper]);
}

static int
compare_inside (const void *a, const void *b, void *data)
{
  const Selection *selections = data, *sa = &selections[*(const uint32_t *)a],
                  *sb = &selections[*(const uint32_t *)b];
  return sa->inside < sb->inside ? -1 : sa->inside > sb->inside;
}

/* Says what the next pass does for each group that waits. Returns how many groups need it. */
static uint32_t
plan_pass (Search *search, uint32_t *waiting, uint64_t *ret_n_values, uint32_t *ret_n_parted)
{
  uint32_t n_groups = search->groups->n_groups, n_waiting = 0, n_open = 0;

  *ret_n_values = 0;
  *ret_n_parted = 0;
  for (uint32_t group = 0; group < n_groups; group++)
    {
      n_open += search->selections[group].step != FOUND;
      if (search->selections[group].step == WAIT)
        waiting[n_waiting++] = group;
    }
  qsort_r (waiting, n_waiting, sizeof *waiting, compare_inside, search->selections);
  for (uint32_t i = 0; i < n_waiting; i++)
    {
      Selection *selection = &search->selections[waiting[i]];
      if (*ret_n_values + selection->inside <= search->max_collected)
        {
          selection->step = COLLECT;
          selection->offset = *ret_n_values;
          *ret_n_values += selection->inside;
        }
      else if (*ret_n_parted < MAX_PARTED)
        {
          selection->step = PART;
          selection->part = *ret_n_parted;
          search->parted[(*ret_n_parted)++] = waiting[i];
          for (selection->shift = 0;
               (selection->high - selection->low - 1) >> selection->shift >> PART_BITS > 0;)
            selection->shift++;
        }
    }
  return n_open;
}

static bool
finish_pass (Search *search, unsigned n_workers)
{
  LnsValueCounts *counts[LNS_RANGE_MAX_WORKERS];
  const uint32_t *group_of[LNS_RANGE_MAX_WORKERS] = { NULL };

  for (uint32_t group = 0; group < search->groups->n_groups; group++)
    {
      Selection *selection = &search->selections[group];
      if (selection->step == COLLECT)
        select_collected (search, group);
      else if (selection->step == SPLIT)
        found (search, group, atomic_load (&selection->largest_below),
               atomic_load (&selection->least_above));
    }
  for (unsigned i = 0; i < n_workers; i++)
    {
      counts[i] = &search->counts[i];
      group_of[i] = search->parted;
    }
  return narrow_all (search, counts, group_of, n_workers, PART_BITS);
}

static bool
run_passes (Search *search, uint32_t *waiting, LnsError *error)
{
  unsigned n_workers = lns_range_walk_n_workers (search->walk);
  uint64_t n_values;
  uint32_t n_parted;

  for (unsigned pass = 0; plan_pass (search, waiting, &n_values, &n_parted) > 0; pass++)
    {
      if (pass == MAX_PASSES)
        return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                              "the report changed while it was read; try again");
      search->values = malloc ((n_values + 1) * sizeof *search->values);
      bool good = search->values != NULL &&
                  lns_range_walk_run (search->walk, look_at, search, error) &&
                  finish_pass (search, n_workers);
      free (search->values);
      if (!good)
        return false;
    }
  return true;
}

bool
lns_range_medians (LnsRangeWalk *walk,
                   const LnsRangeGroups *groups,
                   LnsMedianCounts *counts,
                   unsigned n_counts,
                   uint64_t max_collected,
                   int64_t *ret_doubled,
                   LnsError *error)
{
  Search search = { .walk = walk, .groups = groups, .ret_doubled = ret_doubled };

  uint32_t *waiting = calloc ((size_t)groups->n_groups + 1, sizeof *waiting);
  LnsValueCounts *first_counts[LNS_RANGE_MAX_WORKERS];
  const uint32_t *group_of[LNS_RANGE_MAX_WORKERS] = { NULL };

  search.max_collected = max_collected > 0 ? max_collected : DEFAULT_MAX_COLLECTED;
  search.selections = calloc ((size_t)groups->n_groups + 1, sizeof *search.selections);
  search.parted = calloc ((size_t)groups->n_groups + 1, sizeof *search.parted);
  search.counts = calloc (n_counts, sizeof *search.counts);
  bool good = waiting != NULL && search.selections != NULL && search.parted != NULL &&
              search.counts != NULL;
  for (uint32_t i = 0; good && i < groups->n_groups; i++)
    {
      const LnsRangeGroup *group = &groups->groups[i];
      search.selections[i].step = WAIT;
      search.selections[i].low = group->min_ns;
      search.selections[i].high = group->max_ns + 1;
      search.selections[i].inside = group->n;
    }
  for (unsigned i = 0; i < n_counts; i++)
    {
      first_counts[i] = &counts[i].counts;
      group_of[i] = counts[i].groups;
    }
  good = good && narrow_all (&search, first_counts, group_of, n_counts, LNS_MEDIAN_BIN_BITS) &&
         run_passes (&search, waiting, error);
  for (unsigned i = 0; search.counts != NULL && i < n_counts; i++)
    lns_value_counts_clear (&search.counts[i]);
  free (search.selections);
  free (search.parted);
  free (search.counts);
  free (waiting);
  if (!good)
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                   "not enough memory to find the medians; close other programs");
  return good;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "src/analysis/stats/range-medians.h"
#include "src/analysis/ordering.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

#define DEFAULT_MAX_COLLECTED (UINT64_C (8) << 20)

/* So many groups are counted in parts a pass, each with 1 KiB a worker. */
#define PART_BITS  8
#define MAX_PARTED 16384

/* Each narrows a group 256-fold; far fewer are needed while passes see the same ranges. */
#define MAX_PASSES 1000

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

/* Nearly all values are outside these bounds. They are apart from Selection so that they stay in the cache. */
typedef struct
{
  int64_t low;
  uint64_t width; /* the values in [low, low + width)                                           */
} Bounds;

typedef struct
{
  LnsRangeWalk *walk;
  const LnsRangeGroups *groups;
  Selection *selections;
  Bounds *bounds; /* which values of a group this pass looks at                                  */
  int64_t *values;
  uint32_t *parts[LNS_RANGE_MAX_WORKERS]; /* PART: counts, 1 << PART_BITS a group                 */
  uint32_t *parted; /* groups by `part`                                                         */
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
  search->ret_doubled[group] = lns_sum (lower, upper);
}

/* COUNTS[i] values lie from LOW (i) up to LOW (i + 1) - 1: keeps the part that the median is in. With
 * SHIFT < 0 parts are the bins from FIRST on, else 1 << SHIFT wide, from the selection's `low` on. */
static void
narrow (
    Search *search, uint32_t group, const uint32_t *counts, uint32_t n, uint32_t first, int shift)
{
  const LnsRangeGroup *numbers = &search->groups->array.items[group];
  Selection *selection = &search->selections[group];
  uint64_t below = selection->below, before_lower;
  int64_t base = selection->low;
  uint32_t lower, upper;

#define LOW(i) (shift < 0 ? bin_low (first + (i)) : base + ((int64_t)(i) << shift))
  for (lower = 0; lower < n && below + counts[lower] <= lower_rank (numbers); lower++)
    below += counts[lower];
  before_lower = below;
  for (upper = lower; upper < n && below + counts[upper] <= upper_rank (numbers); upper++)
    below += counts[upper];
  selection->step = WAIT;
  if (upper >= n) /* counts that do not add up                                                  */
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

static void
look_at_value (Search *search, unsigned worker, Selection *selection, int64_t value)
{
  if (selection->step == SPLIT)
    keep_extremes (selection, value);
  else if (selection->step == COLLECT)
    {
      uint64_t k = atomic_fetch_add_explicit (&selection->n_collected, 1, memory_order_relaxed);
      if (k < selection->inside)
        search->values[selection->offset + k] = value;
    }
  else
    search->parts[worker][(selection->part << PART_BITS) +
                          (uint32_t)((value - selection->low) >> selection->shift)]++;
}

static void
look_at (void *data, unsigned worker, uint32_t family, const LnsChunk *chunk)
{
  Search *search = data;

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      uint32_t group = lns_range_groups_find (search->groups, family, chunk->name[i]);
      if (group == LNS_GROUP_NONE)
        continue;
      const Bounds *bounds = &search->bounds[group];
      if ((uint64_t)chunk->duration_ns[i] - (uint64_t)bounds->low < bounds->width &&
          lns_range_is_whole (chunk, i))
        look_at_value (search, worker, &search->selections[group], chunk->duration_ns[i]);
    }
}

static void
select_collected (Search *search, uint32_t group)
{
  const LnsRangeGroup *numbers = &search->groups->array.items[group];
  Selection *selection = &search->selections[group];
  int64_t *values = search->values + selection->offset;
  uint64_t upper = upper_rank (numbers) - selection->below,
           lower = lower_rank (numbers) - selection->below;

  lns_select (values, selection->inside, upper);
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
  return LNS_COMPARE (sa->inside, sb->inside);
}

static Bounds
bounds_of (const Selection *selection)
{
  if (selection->step == SPLIT)
    return (Bounds){ 0, UINT64_MAX };
  if (selection->step <= WAIT)
    return (Bounds){ 0, 0 };
  return (Bounds){ selection->low, (uint64_t)selection->high - (uint64_t)selection->low };
}

/* Plans the next pass for each group that waits. Returns how many groups need one. */
static uint32_t
plan_pass (Search *search, uint32_t *waiting, uint64_t *ret_n_values, uint32_t *ret_n_parted)
{
  uint32_t n_groups = (uint32_t)search->groups->array.n, n_waiting = 0, n_open = 0;

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
  for (uint32_t group = 0; group < n_groups; group++)
    search->bounds[group] = bounds_of (&search->selections[group]);
  return n_open;
}

static void
finish_pass (Search *search, uint32_t n_parted)
{
  unsigned n_workers = lns_range_walk_n_workers (search->walk);

  for (uint32_t group = 0; group < search->groups->array.n; group++)
    {
      Selection *selection = &search->selections[group];
      if (selection->step == COLLECT)
        select_collected (search, group);
      else if (selection->step == SPLIT)
        found (search, group, atomic_load (&selection->largest_below),
               atomic_load (&selection->least_above));
    }
  for (uint32_t i = 0; i < n_parted; i++)
    {
      uint32_t *sums = search->parts[0] + ((size_t)i << PART_BITS);
      for (unsigned worker = 1; worker < n_workers; worker++)
        for (uint32_t part = 0; part < 1 << PART_BITS; part++)
          sums[part] += search->parts[worker][((size_t)i << PART_BITS) + part];
      uint32_t group = search->parted[i];
      narrow (search, group, sums, 1 << PART_BITS, 0, (int)search->selections[group].shift);
    }
}

static bool
run_pass (Search *search, uint64_t n_values, uint32_t n_parted, LnsError *error)
{
  unsigned n_workers = lns_range_walk_n_workers (search->walk);

  search->values = lns_realloc (NULL, n_values, sizeof *search->values);
  for (unsigned i = 0; i < n_workers; i++)
    search->parts[i] = lns_calloc ((size_t)n_parted << PART_BITS, sizeof *search->parts[i]);
  const bool good = lns_range_walk_run (search->walk, look_at, search, error);
  if (good)
    finish_pass (search, n_parted);
  for (unsigned i = 0; i < n_workers; i++)
    free (search->parts[i]);
  free (search->values);
  return good;
}

/* What the bins of a group tell, if it has any. */
static void
start_group (Search *search, uint32_t group)
{
  const LnsRangeGroup *numbers = &search->groups->array.items[group];
  Selection *selection = &search->selections[group];

  selection->step = WAIT;
  selection->low = numbers->min_ns;
  selection->high = numbers->max_ns < INT64_MAX ? numbers->max_ns + 1 : INT64_MAX;
  selection->inside = numbers->n;
  if (numbers->min_ns == numbers->max_ns)
    found (search, group, numbers->min_ns, numbers->min_ns);
  else if (numbers->n_bins > 0)
    narrow (search, group, numbers->bins, numbers->n_bins, numbers->first_bin, -1);
}

bool
lns_range_medians (LnsRangeWalk *walk,
                   const LnsRangeGroups *groups,
                   uint64_t max_collected,
                   int64_t *ret_doubled,
                   LnsError *error)
{
  Search search = { .walk = walk, .groups = groups, .ret_doubled = ret_doubled };
  uint32_t *waiting = lns_calloc (groups->array.n, sizeof *waiting), n_parted;
  uint64_t n_values;
  bool good = true;

  search.max_collected = max_collected > 0 ? max_collected : DEFAULT_MAX_COLLECTED;
  search.selections = lns_calloc (groups->array.n, sizeof *search.selections);
  search.bounds = lns_calloc (groups->array.n, sizeof *search.bounds);
  search.parted = lns_calloc (MAX_PARTED, sizeof *search.parted);
  for (uint32_t i = 0; i < groups->array.n; i++)
    start_group (&search, i);
  for (unsigned pass = 0; good && plan_pass (&search, waiting, &n_values, &n_parted) > 0; pass++)
    good = pass < MAX_PASSES ? run_pass (&search, n_values, n_parted, error)
                             : lns_error_set (error, LNS_ERROR_FORMAT, 0,
                                              "the report changed while it was read; try again");
  free (search.selections);
  free (search.bounds);
  free (search.parted);
  free (waiting);
  return good;
}

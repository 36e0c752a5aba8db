/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/run-levels.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/hash.h"
#include "src/base/memory.h"

/* With so many degrees of freedom, which is four runs, it is known how far runs lie apart. */
#define LEAST_FREEDOM 2

/* So many parts tell how fast the machine was: what changed is not most of them. */
#define LEAST_WITNESSES 4

uint64_t
lns_run_level_key (const LnsStepTimes *times, size_t part, bool is_self)
{
  const uint64_t keys[] = { part == 0 ? 0 : times->parts.items[part - 1].key, is_self };
  return lns_hash (keys, sizeof keys) | 1;
}

/* Notes that the last run has NS of what has KEY; runs before that had none of it have 0. */
static void
add (LnsRunLevels *levels, uint64_t key, const LnsStepPart *part, double ns)
{
  uint64_t at = lns_id_map_number (&levels->level_of, key);

  if (at == 0)
    {
      *lns_array_add (&levels->levels) = (LnsRunLevel){
        .key = key,
        .is_on_gpu = part != NULL && part->kind == LNS_PART_KERNEL,
        .tells_pace = part != NULL && !part->is_wait && !part->is_total &&
                      (part->kind == LNS_PART_KERNEL || part->kind == LNS_PART_RANGE ||
                       part->kind == LNS_PART_CALL),
      };
      at = levels->levels.n;
      lns_id_map_set_number (&levels->level_of, key, at);
    }
  LnsRunLevel *level = &levels->levels.items[at - 1];
  if (level->ns.n == levels->n)
    return;
  while (level->ns.n + 1 < levels->n)
    *lns_array_add (&level->ns) = 0;
  *lns_array_add (&level->ns) = ns;
}

void
lns_run_levels_add (LnsRunLevels *levels, const LnsStepTimes *times, double p50_ns)
{
  levels->n++;
  add (levels, lns_run_level_key (times, 0, false), NULL, p50_ns);
  for (size_t part = 0; part <= times->parts.n; part++)
    {
      bool ignored;
      if (part > 0)
        add (levels, lns_run_level_key (times, part, false), &times->parts.items[part - 1],
             lns_quantile (times->parts.items[part - 1].ns, times->n, 0.5));
      if (part > 0 && times->parts.items[part - 1].kind != LNS_PART_RANGE)
        continue;
      double *own = _lns_step_own (times, part, &ignored);
      add (levels, lns_run_level_key (times, part, true), NULL, lns_quantile (own, times->n, 0.5));
      free (own);
    }
}

static double
level_at (const LnsRunLevels *levels, uint64_t key, size_t run)
{
  const uint64_t at = key == 0 ? 0 : lns_id_map_number (&levels->level_of, key);
  const LnsRunLevel *level = at == 0 ? NULL : &levels->levels.items[at - 1];
  return level != NULL && run < level->ns.n ? level->ns.items[run] : 0;
}

static double
time_of (const LnsRunLevels *levels, uint64_t key, size_t run, const double *pace)
{
  return level_at (levels, key, run) / (pace != NULL ? pace[run] : 1);
}

/* The levels of KEY in all runs, those of A first, into RET_NS. False if one has none. */
static bool
all_levels (const LnsRunLevels sides[2], uint64_t key, double *ret_ns)
{
  size_t at = 0;

  for (int side = 0; side < 2; side++)
    for (size_t run = 0; run < sides[side].n; run++)
      {
        ret_ns[at] = level_at (&sides[side], key, run);
        if (ret_ns[at++] <= 0)
          return false;
      }
  return true;
}

bool
lns_run_levels_pace (const LnsRunLevels sides[2], bool is_on_gpu, double *const pace[2])
{
  const size_t n_runs = sides[0].n + sides[1].n;
  double *ns = lns_calloc (n_runs + 1, sizeof *ns),
         *shares = lns_calloc (sides[0].levels.n * n_runs + 1, sizeof *shares); /* run by run */
  size_t n_parts = 0;

  for (size_t i = 0; i < sides[0].levels.n; i++)
    {
      const LnsRunLevel *level = &sides[0].levels.items[i];
      if (!level->tells_pace || level->is_on_gpu != is_on_gpu ||
          !all_levels (sides, level->key, ns))
        continue;
      const double usual = lns_quantile (ns, n_runs, 0.5);
      for (size_t run = 0; run < n_runs; run++)
        shares[run * sides[0].levels.n + n_parts] = ns[run] / usual;
      n_parts++;
    }
  const bool good = n_parts >= LEAST_WITNESSES;
  for (size_t run = 0; good && run < n_runs; run++)
    {
      const int side = run < sides[0].n ? 0 : 1;
      pace[side][side == 0 ? run : run - sides[0].n] =
          lns_quantile (shares + run * sides[0].levels.n, n_parts, 0.5);
    }
  free (ns);
  free (shares);
  return good;
}

bool
lns_run_levels_shift (const LnsRunLevels sides[2],
                      const uint64_t keys[2],
                      double *const pace[2],
                      LnsShift *ret_shift)
{
  const size_t n_a = sides[0].n, n_b = sides[1].n;
  double means[2] = { 0 }, squares = 0;

  if (n_a == 0 || n_b == 0 || n_a + n_b < LEAST_FREEDOM + 2)
    return false;
  for (int side = 0; side < 2; side++)
    {
      for (size_t run = 0; run < sides[side].n; run++)
        means[side] += time_of (&sides[side], keys[side], run, pace != NULL ? pace[side] : NULL) /
                       (double)sides[side].n;
      for (size_t run = 0; run < sides[side].n; run++)
        {
          const double off =
              time_of (&sides[side], keys[side], run, pace != NULL ? pace[side] : NULL) -
              means[side];
          squares += off * off;
        }
    }
  const double freedom = (double)(n_a + n_b - 2),
               error = sqrt (squares / freedom * (1 / (double)n_a + 1 / (double)n_b)),
               change = means[1] - means[0], reach = error * lns_student_limit (freedom);
  *ret_shift = (LnsShift){ .a = means[0],
                           .b = means[1],
                           .change = change,
                           .low = change - reach,
                           .high = change + reach,
                           .p = error > 0     ? lns_student_tails (change / error, freedom)
                                : change != 0 ? 0
                                              : 1 };
  return true;
}

void
lns_run_levels_clear (LnsRunLevels *levels)
{
  for (size_t i = 0; i < levels->levels.n; i++)
    lns_array_clear (&levels->levels.items[i].ns);
  lns_array_clear (&levels->levels);
  lns_id_map_clear (&levels->level_of);
}

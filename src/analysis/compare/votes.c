/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/votes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/compare/sentences.h"
#include "src/base/hash.h"

static uint64_t
key_of (const LnsComparison *comparison, const LnsChange *change)
{
  const int side = change->b != 0 ? 1 : 0;
  const size_t part = change->b != 0 ? change->b : change->a;
  const uint64_t keys[] = { part == 0 ? 0 : comparison->runs[side].times->parts.items[part - 1].key,
                            change->is_self, change->change_ns > 0 };
  return lns_hash (keys, sizeof keys) | 1;
}

void
lns_votes_add (LnsVotes *votes, const LnsComparison *comparison, const bool is_new[2])
{
  const LnsChangesFound *found = &comparison->found;

  for (int side = 0; side < 2; side++)
    {
      LnsVotesSide *of = &votes->sides[side];
      const size_t index = of->n_added;
      of->n_added += is_new[side];
      if (!is_new[side] || !comparison->has_steps[side])
        continue;
      *lns_array_add (&of->p50_ns) = comparison->p50_ns[side];
      *lns_array_add (&of->index_of) = index;
      lns_run_levels_add (&votes->levels[side], comparison->runs[side].times,
                          comparison->p50_ns[side]);
    }
  if (!comparison->is_known)
    return;
  votes->n++;
  votes->n_slower += found->is_sure && comparison->change > 0;
  votes->n_faster += found->is_sure && comparison->change < 0;
  for (size_t i = 0; i < found->changes.n; i++)
    {
      const uint64_t key = key_of (comparison, &found->changes.items[i]);
      lns_id_map_set_number (&votes->changes, key, 1 + lns_id_map_number (&votes->changes, key));
    }
}

size_t
lns_votes_typical (const LnsVotes *votes, int side)
{
  const LnsVotesSide *of = &votes->sides[side];
  const double median_ns = lns_quantile (of->p50_ns.items, of->p50_ns.n, 0.5);

  for (size_t i = 0; i < of->p50_ns.n; i++)
    if (of->p50_ns.items[i] == median_ns)
      return of->index_of.items[i];
  return 0;
}

const LnsRunLevels *
lns_votes_levels (const LnsVotes *votes)
{
  return votes->levels[0].n >= LNS_LEAST_RUNS && votes->levels[1].n >= LNS_LEAST_RUNS
             ? votes->levels
             : NULL;
}

/* --- Few runs --------------------------------------------------------------------------------- */

/* Whether CHANGE is still sure, beside all runs; its probability becomes theirs. Of one that not both sides have, only the comparisons tell. */
static bool
stays (const LnsVotes *votes, const LnsComparison *comparison, LnsChange *change)
{
  const size_t parts[] = { change->a, change->b };
  uint64_t keys[2];
  LnsShift shift;

  if (2 * lns_id_map_number (&votes->changes, key_of (comparison, change)) <= votes->n)
    return false;
  for (int side = 0; side < 2; side++)
    {
      if (parts[side] == 0 && !change->is_step)
        return true;
      keys[side] = lns_run_level_key (comparison->runs[side].times, parts[side], change->is_self);
    }
  if (!lns_run_levels_shift (votes->levels, keys, NULL, &shift))
    return true;
  change->p = fmax (change->p, shift.p);
  return shift.p < LNS_SURE && (shift.change > 0) == (change->change_ns > 0);
}

/* Whether the steps of all B take longer than those of all A, or all less, as CHANGE has it. */
static bool
is_beyond (const LnsVotes *votes, double change)
{
  const LnsVotesSide *a = &votes->sides[0], *b = &votes->sides[1];

  for (size_t i = 0; i < a->p50_ns.n; i++)
    for (size_t j = 0; j < b->p50_ns.n; j++)
      if ((b->p50_ns.items[j] > a->p50_ns.items[i]) != (change > 0))
        return false;
  return true;
}

static void
apply_to_steps (const LnsVotes *votes, LnsComparison *comparison)
{
  LnsChangesFound *found = &comparison->found;
  const uint64_t key = lns_run_level_key (comparison->runs[0].times, 0, false);
  LnsShift shift;

  comparison->tells_runs =
      lns_run_levels_shift (votes->levels, (const uint64_t[]){ key, key }, NULL, &shift);
  found->is_sure &= 2 * (comparison->change > 0 ? votes->n_slower : votes->n_faster) > votes->n;
  if (!comparison->tells_runs)
    {
      found->is_sure &= is_beyond (votes, comparison->change);
      return;
    }
  found->is_sure &= shift.p < LNS_SURE && (shift.change > 0) == (comparison->change > 0);
  found->p = fmax (found->p, shift.p);
  if (shift.a <= 0)
    return;
  const double reach = (shift.high - shift.low) / 2 / shift.a;
  comparison->low = fmin (comparison->low, comparison->change - reach);
  comparison->high = fmax (comparison->high, comparison->change + reach);
}

void
lns_votes_apply (const LnsVotes *votes, LnsComparison *comparison, bool in_language)
{
  LnsChangesFound *found = &comparison->found;
  size_t n = 0;

  for (size_t i = 0; i < found->changes.n; i++)
    if (stays (votes, comparison, &found->changes.items[i]))
      found->changes.items[n++] = found->changes.items[i];
  found->changes.n = n;
  found->has_suspect = false;
  apply_to_steps (votes, comparison);
  for (int side = 0; side < 2; side++)
    comparison->n_runs[side] = votes->levels[side].n;
  _lns_comparison_write_sentences (comparison, in_language);
}

/* --- Life ------------------------------------------------------------------------------------- */

void
lns_votes_clear (LnsVotes *votes)
{
  for (int side = 0; side < 2; side++)
    {
      lns_run_levels_clear (&votes->levels[side]);
      lns_array_clear (&votes->sides[side].p50_ns);
      lns_array_clear (&votes->sides[side].index_of);
    }
  lns_id_map_clear (&votes->changes);
}

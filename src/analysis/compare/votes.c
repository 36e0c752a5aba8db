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

/* With so many degrees of freedom, which is four runs, it is known how far runs lie apart. */
#define LEAST_FREEDOM 2

static uint64_t
key_of (const LnsComparison *comparison, const LnsChange *change)
{
  const int side = change->b != 0 ? 1 : 0;
  const size_t part = change->b != 0 ? change->b : change->a;
  const uint64_t keys[] = { part == 0 ? 0 : comparison->runs[side].times->parts.items[part - 1].key,
                            change->is_self, change->change_ns > 0 };
  return lns_hash (keys, sizeof keys) | 1;
}

/* --- How far runs lie apart ------------------------------------------------------------------- */

/* How far the mean of the runs B lies from that of the runs A. */
typedef struct
{
  bool is_known;
  double a, change; /* the mean of A; by how much that of B is more                             */
  double p;         /* that runs of one program lie that far apart                                */
  double reach;     /* with 95 % confidence, the change lies within it                            */
} Apart;

static Apart
compare_runs (const double *const values[2], const size_t n[2])
{
  double means[2] = { 0 }, squares = 0;

  if (n[0] == 0 || n[1] == 0 || n[0] + n[1] < LEAST_FREEDOM + 2)
    return (Apart){ .is_known = false };
  for (int side = 0; side < 2; side++)
    {
      for (size_t i = 0; i < n[side]; i++)
        means[side] += values[side][i] / (double)n[side];
      for (size_t i = 0; i < n[side]; i++)
        squares += (values[side][i] - means[side]) * (values[side][i] - means[side]);
    }
  const double freedom = (double)(n[0] + n[1] - 2);
  const double error = sqrt (squares / freedom * (1 / (double)n[0] + 1 / (double)n[1]));
  const double change = means[1] - means[0];
  return (Apart){ .is_known = true,
                  .a = means[0],
                  .change = change,
                  .p = error > 0     ? lns_student_tails (change / error, freedom)
                       : change != 0 ? 0
                                     : 1,
                  .reach = error * lns_student_limit (freedom) };
}

/* The key of the level of PART (1 + index; 0: the step) or, IS_SELF, of what is in none of its own parts. */
static uint64_t
level_key (const LnsStepTimes *times, size_t part, bool is_self)
{
  const uint64_t keys[] = { part == 0 ? 0 : times->parts.items[part - 1].key, is_self };
  return lns_hash (keys, sizeof keys) | 1;
}

static void
add_level (LnsVotesSide *side, uint64_t key, const double *ns, size_t n_steps)
{
  uint64_t at = lns_id_map_number (&side->level_of, key);

  if (at == 0)
    {
      *lns_array_add (&side->levels) = (LnsVotesLevels){ 0 };
      at = side->levels.n;
      lns_id_map_set_number (&side->level_of, key, at);
    }
  *lns_array_add (&side->levels.items[at - 1].ns) = lns_quantile (ns, n_steps, 0.5);
}

static void
add_run (LnsVotesSide *side, const LnsStepTimes *times, double p50_ns)
{
  *lns_array_add (&side->p50_ns) = p50_ns;
  *lns_array_add (&side->index_of) = side->n_added;
  for (size_t part = 0; part <= times->parts.n; part++)
    {
      bool ignored;
      if (part > 0)
        add_level (side, level_key (times, part, false), times->parts.items[part - 1].ns, times->n);
      if (part > 0 && times->parts.items[part - 1].kind != LNS_PART_RANGE)
        continue;
      double *own = _lns_step_own (times, part, &ignored);
      add_level (side, level_key (times, part, true), own, times->n);
      free (own);
    }
}

/* What runs say of the part that CHANGE is of; nothing of one that not both have. */
static Apart
compare_part (const LnsVotes *votes, const LnsComparison *comparison, const LnsChange *change)
{
  const size_t parts[] = { change->a, change->b };
  const double *values[2];
  size_t n[2];

  for (int side = 0; side < 2; side++)
    {
      if (parts[side] == 0 && !change->is_step)
        return (Apart){ .is_known = false };
      const uint64_t at = lns_id_map_number (
          &votes->sides[side].level_of,
          level_key (comparison->runs[side].times, parts[side], change->is_self));
      if (at == 0)
        return (Apart){ .is_known = false };
      values[side] = votes->sides[side].levels.items[at - 1].ns.items;
      n[side] = votes->sides[side].levels.items[at - 1].ns.n;
    }
  return compare_runs (values, n);
}

static Apart
compare_steps (const LnsVotes *votes)
{
  const LnsVotesSide *sides = votes->sides;
  return compare_runs ((const double *[]){ sides[0].p50_ns.items, sides[1].p50_ns.items },
                       (const size_t[]){ sides[0].p50_ns.n, sides[1].p50_ns.n });
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

/* --- All -------------------------------------------------------------------------------------- */

void
lns_votes_add (LnsVotes *votes, const LnsComparison *comparison, const bool is_new[2])
{
  const LnsChangesFound *found = &comparison->found;

  for (int side = 0; side < 2; side++)
    {
      if (is_new[side] && comparison->is_known)
        add_run (&votes->sides[side], comparison->runs[side].times, comparison->p50_ns[side]);
      votes->sides[side].n_added += is_new[side];
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

/* Whether CHANGE is still sure, beside all runs, one of N of which any may be so by chance; its probability becomes theirs. */
static bool
stays (const LnsVotes *votes, const LnsComparison *comparison, LnsChange *change, size_t n)
{
  const Apart apart = compare_part (votes, comparison, change);

  if (2 * lns_id_map_number (&votes->changes, key_of (comparison, change)) <= votes->n)
    return false;
  if (!apart.is_known)
    return true;
  change->p = fmin (1, fmax (change->p, apart.p * (double)n));
  return change->p < LNS_SURE && (apart.change > 0) == (change->change_ns > 0);
}

/* Sets whether the steps of COMPARISON are sure to have changed beside those of all runs. That is one question and which part changed the
 * other: half of the chance to err is of each. */
static void
apply_to_steps (const LnsVotes *votes, LnsComparison *comparison)
{
  LnsChangesFound *found = &comparison->found;
  const Apart steps = compare_steps (votes);

  comparison->tells_runs = steps.is_known;
  found->is_sure &= 2 * (comparison->change > 0 ? votes->n_slower : votes->n_faster) > votes->n;
  if (!steps.is_known)
    {
      found->is_sure &= is_beyond (votes, comparison->change);
      return;
    }
  found->p = fmin (1, fmax (found->p, 2 * steps.p));
  found->is_sure &= found->p < LNS_SURE && (steps.change > 0) == (comparison->change > 0);
  if (steps.a <= 0)
    return;
  comparison->low = fmin (comparison->low, comparison->change - steps.reach / steps.a);
  comparison->high = fmax (comparison->high, comparison->change + steps.reach / steps.a);
}

void
lns_votes_apply (const LnsVotes *votes, LnsComparison *comparison, bool in_language)
{
  LnsChangesFound *found = &comparison->found;
  size_t n = 0;

  apply_to_steps (votes, comparison);
  /* Where the steps changed, the question is which of what a pair tells is the reason; else, whether any part did. */
  const size_t n_asked = found->is_sure ? found->changes.n : 2 * found->n_compared;
  for (size_t i = 0; i < found->changes.n; i++)
    if (stays (votes, comparison, &found->changes.items[i], n_asked))
      found->changes.items[n++] = found->changes.items[i];
  found->changes.n = n;
  found->has_suspect = false;
  for (int side = 0; side < 2; side++)
    comparison->n_runs[side] = votes->sides[side].p50_ns.n;
  _lns_comparison_write_sentences (comparison, in_language);
}

void
lns_votes_clear (LnsVotes *votes)
{
  for (int i = 0; i < 2; i++)
    {
      LnsVotesSide *side = &votes->sides[i];
      for (size_t j = 0; j < side->levels.n; j++)
        lns_array_clear (&side->levels.items[j].ns);
      lns_array_clear (&side->levels);
      lns_id_map_clear (&side->level_of);
      lns_array_clear (&side->p50_ns);
      lns_array_clear (&side->index_of);
    }
  lns_id_map_clear (&votes->changes);
}

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

/* From so many runs on it is known how far they lie apart. */
#define LEAST_RUNS 3

static double
level_of (const LnsStepTimes *times, const LnsStepPart *part)
{
  return lns_quantile (part->ns, times->n, 0.5);
}

static void
add_levels (LnsVotes *votes, const LnsStepTimes *times)
{
  for (size_t i = 0; i < times->parts.n; i++)
    {
      const LnsStepPart *part = &times->parts.items[i];
      const uint64_t key = part->key | 1;
      uint64_t at = lns_id_map_number (&votes->level_of, key);
      if (at == 0)
        {
          *lns_array_add (&votes->levels) = (LnsVotesLevels){ 0 };
          at = votes->levels.n;
          lns_id_map_set_number (&votes->level_of, key, at);
        }
      *lns_array_add (&votes->levels.items[at - 1].ns) = level_of (times, part);
    }
}

/* Whether B_NS lies so far from the N values A_NS that a further one of them lies there in less than LNS_SURE of cases; also where they
 * are too few to tell. */
static bool
is_apart (const double *a_ns, size_t n, double b_ns)
{
  double mean = 0, squares = 0;

  if (n < LEAST_RUNS)
    return true;
  for (size_t i = 0; i < n; i++)
    mean += a_ns[i] / (double)n;
  for (size_t i = 0; i < n; i++)
    squares += (a_ns[i] - mean) * (a_ns[i] - mean);
  const double error = sqrt (squares / (double)(n - 1) * (1 + 1 / (double)n));
  return error <= 0 || lns_student_tails ((b_ns - mean) / error, (double)(n - 1)) < LNS_SURE;
}

/* The same of what CHANGE is of. Of what is in none of the parts of a range nothing is known. */
static bool
is_part_apart (const LnsVotes *votes, const LnsComparison *comparison, const LnsChange *change)
{
  const LnsStepTimes *times = comparison->runs[1].times;

  if (change->is_self || change->b == 0)
    return true;
  const LnsStepPart *part = &times->parts.items[change->b - 1];
  const uint64_t at = lns_id_map_number (&votes->level_of, part->key | 1);
  if (at == 0)
    return true;
  const LnsVotesLevels *levels = &votes->levels.items[at - 1];
  return is_apart (levels->ns.items, levels->ns.n, level_of (times, part));
}

void
lns_votes_add (LnsVotes *votes, const LnsComparison *comparison)
{
  const LnsChangesFound *found = &comparison->found;

  const size_t index = votes->n_added++;
  if (comparison->p50_ns[0] <= 0)
    return;
  add_levels (votes, comparison->runs[0].times);

  votes->n++;
  *lns_array_add (&votes->p50_ns) = comparison->p50_ns[0];
  *lns_array_add (&votes->index_of) = index;
  votes->n_slower += found->is_sure && comparison->change > 0;
  votes->n_faster += found->is_sure && comparison->change < 0;
  for (size_t i = 0; i < found->changes.n; i++)
    {
      const uint64_t key = key_of (comparison, &found->changes.items[i]);
      lns_id_map_set_number (&votes->changes, key, 1 + lns_id_map_number (&votes->changes, key));
    }
}

size_t
lns_votes_typical (const LnsVotes *votes)
{
  const double median_ns = lns_quantile (votes->p50_ns.items, votes->p50_ns.n, 0.5);

  for (size_t i = 0; i < votes->p50_ns.n; i++)
    if (votes->p50_ns.items[i] == median_ns)
      return votes->index_of.items[i];
  return votes->n > 0 ? votes->index_of.items[0] : 0;
}

void
lns_votes_apply (const LnsVotes *votes, LnsComparison *comparison, bool in_language)
{
  LnsChangesFound *found = &comparison->found;
  bool is_outside = true;
  size_t n = 0;

  for (size_t i = 0; i < found->changes.n; i++)
    if (2 * lns_id_map_number (&votes->changes, key_of (comparison, &found->changes.items[i])) >
            votes->n &&
        is_part_apart (votes, comparison, &found->changes.items[i]))
      found->changes.items[n++] = found->changes.items[i];
  found->changes.n = n;
  for (size_t i = 0; i < votes->p50_ns.n; i++)
    is_outside &= (comparison->p50_ns[1] > votes->p50_ns.items[i]) == (comparison->change > 0);
  found->is_sure &= is_outside &&
                    is_apart (votes->p50_ns.items, votes->p50_ns.n, comparison->p50_ns[1]) &&
                    2 * (comparison->change > 0 ? votes->n_slower : votes->n_faster) > votes->n;
  found->has_suspect = false;
  _lns_comparison_write_sentences (comparison, in_language);
}

void
lns_votes_clear (LnsVotes *votes)
{
  for (size_t i = 0; i < votes->levels.n; i++)
    lns_array_clear (&votes->levels.items[i].ns);
  lns_array_clear (&votes->levels);
  lns_id_map_clear (&votes->level_of);
  lns_id_map_clear (&votes->changes);
  lns_array_clear (&votes->p50_ns);
  lns_array_clear (&votes->index_of);
}

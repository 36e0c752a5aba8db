/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/votes.h"

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
lns_votes_add (LnsVotes *votes, const LnsComparison *comparison)
{
  const LnsChangesFound *found = &comparison->found;

  votes->n++;
  *lns_array_add (&votes->p50_ns) = comparison->p50_ns[0];
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
      return i;
  return 0;
}

void
lns_votes_apply (const LnsVotes *votes, LnsComparison *comparison, bool in_language)
{
  LnsChangesFound *found = &comparison->found;
  bool is_outside = true;
  size_t n = 0;

  for (size_t i = 0; i < found->changes.n; i++)
    if (2 * lns_id_map_number (&votes->changes, key_of (comparison, &found->changes.items[i])) >
        votes->n)
      found->changes.items[n++] = found->changes.items[i];
  found->changes.n = n;
  for (size_t i = 0; i < votes->p50_ns.n; i++)
    is_outside &= (comparison->p50_ns[1] > votes->p50_ns.items[i]) == (comparison->change > 0);
  found->is_sure &=
      is_outside && 2 * (comparison->change > 0 ? votes->n_slower : votes->n_faster) > votes->n;
  found->has_suspect = false;
  _lns_comparison_write_sentences (comparison, in_language);
}

void
lns_votes_clear (LnsVotes *votes)
{
  lns_id_map_clear (&votes->changes);
  lns_array_clear (&votes->p50_ns);
}

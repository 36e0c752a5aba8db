/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares a run with several others: one of them may be an odd one. */

#pragma once

#include "src/analysis/compare/compare.h"

/* How long a part of the step takes in each A that has it: medians, in ns. */
typedef struct
{
  LNS_ARRAY (double) ns;
} LnsVotesLevels;

/* What comparisons with several runs A of one run B said. Zero before first use. */
typedef struct
{
  LnsIdMap level_of; /* key of the part -> 1 + index of its levels                                */
  LNS_ARRAY (LnsVotesLevels) levels;
  LnsIdMap changes; /* by part and direction: how many told it                                   */
  unsigned n, n_slower,
      n_faster;                /* comparisons whose A has steps; those that are sure of the steps */
  LNS_ARRAY (double) p50_ns;   /* of each such A …                                             */
  LNS_ARRAY (size_t) index_of; /* … and which comparison it is                                 */
  size_t n_added;
} LnsVotes;

/* Counts what COMPARISON, which need not be known, is sure of. One whose A has no steps says nothing. */
void lns_votes_add (LnsVotes *votes, const LnsComparison *comparison);

/* The index of the comparison whose A has the median step; 0 if none has steps. */
size_t lns_votes_typical (const LnsVotes *votes);

/* Has COMPARISON, which was counted, be sure only of what more than half of them are, and of the steps only if B's lie
 * outside what those of all A are; and with three A or more only of what lies so far from these that a further one of them lies there in less
 * than LNS_SURE of cases (Student's t of the next of a sample): runs of one program differ. Its verdict is written again. */
void lns_votes_apply (const LnsVotes *votes, LnsComparison *comparison, bool in_language);

void lns_votes_clear (LnsVotes *votes);

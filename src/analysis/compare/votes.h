/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares several runs of one program with one or several of another: one of them may be an odd one. */

#pragma once

#include "src/analysis/compare/compare.h"

/* The runs of one side that have steps enough. */
typedef struct
{
  LNS_ARRAY (double) p50_ns;   /* of the steps of each …                                       */
  LNS_ARRAY (size_t) index_of; /* … and which one of its side it is                            */
  size_t n_added;
} LnsVotesSide;

/* What comparisons of runs A with runs B said. Zero before first use. */
typedef struct
{
  LnsVotesSide sides[2];
  LnsRunLevels levels[2];
  LnsIdMap changes; /* by part and direction: how many comparisons told it                       */
  unsigned n, n_slower,
      n_faster; /* comparisons that know something; those that are sure of the steps */
} LnsVotes;

/* Counts what COMPARISON is sure of; if it is not known, it says nothing. IS_NEW: whether its A and its B have not been in an earlier one. */
void lns_votes_add (LnsVotes *votes, const LnsComparison *comparison, const bool is_new[2]);

/* The index, in the order in which they were new, of the run of SIDE (0: A) whose step is the median; 0 if none has steps. */
size_t lns_votes_typical (const LnsVotes *votes, int side);

/* What to compare the typical runs by, if LNS_LEAST_RUNS of each or more have steps; or NULL. Borrowed. */
const LnsRunLevels *lns_votes_levels (const LnsVotes *votes);

/* Where they are fewer: has COMPARISON, of the typical runs, be sure only of what more than half of the comparisons are. With four runs or more
 * it tells moreover only what lies so far apart that runs of one program do in less than LNS_SURE of cases, its probabilities are at least
 * those, and the interval of its change is that of runs; with fewer, steps of all B must lie beyond those of all A. Its sentences are written
 * again. */
void lns_votes_apply (const LnsVotes *votes, LnsComparison *comparison, bool in_language);

void lns_votes_clear (LnsVotes *votes);

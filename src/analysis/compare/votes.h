/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares several runs of one program with one or several of another: runs of one program differ from their beginning to their end, by where
 * their memory lies for instance, and only further runs tell by how much. */

#pragma once

#include "src/analysis/compare/compare.h"

/* How long a part of the step takes in each run that has it: medians, in ns. */
typedef struct
{
  LNS_ARRAY (double) ns;
} LnsVotesLevels;

/* What is known of the runs of one side. */
typedef struct
{
  LnsIdMap level_of; /* key of the part, or of its own time -> 1 + index of its levels            */
  LNS_ARRAY (LnsVotesLevels) levels;
  LNS_ARRAY (double) p50_ns;   /* of the steps of each run …                                   */
  LNS_ARRAY (size_t) index_of; /* … and which one of its side it is                            */
  size_t n_added;
} LnsVotesSide;

/* What comparisons of runs A with runs B said. Zero before first use. */
typedef struct
{
  LnsVotesSide sides[2];
  LnsIdMap changes; /* by part and direction: how many comparisons told it                       */
  unsigned n, n_slower,
      n_faster; /* comparisons that know something; those that are sure of the steps */
} LnsVotes;

/* Counts what COMPARISON is sure of; if it is not known, it says nothing. IS_NEW: whether its A and its B have not been in an earlier one. */
void lns_votes_add (LnsVotes *votes, const LnsComparison *comparison, const bool is_new[2]);

/* The index, in the order in which they were new, of the run of SIDE (0: A) whose step is the median; 0 if none has steps. */
size_t lns_votes_typical (const LnsVotes *votes, int side);

/* Has COMPARISON, of the typical runs, be sure only of what more than half of the comparisons are. With four runs or more it tells moreover only what
 * lies so far apart that runs of one program do in less than LNS_SURE of cases (Student's t with the variance of both sides together, corrected for
 * how many parts may do so by Bonferroni's inequality), its probabilities are at least those, and the interval of its change is that of
 * runs; with fewer, steps of all B must lie beyond those of all A. Its
 * sentences are written again. */
void lns_votes_apply (const LnsVotes *votes, LnsComparison *comparison, bool in_language);

void lns_votes_clear (LnsVotes *votes);

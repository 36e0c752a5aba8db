/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The samples of a call tree as tables and pictures show them: from the outermost functions down to what they called, or
 * from the functions in which samples were taken up to their callers; by function or by module.
 *
 * A branch is a function, or a module, below the branch that called it, or which it called if callers are below. What is
 * below a branch is worked out when it is asked for, because a report has more than anybody looks at. */

#pragma once

#include "src/analysis/call-tree.h"
#include "src/base/array.h"

typedef struct
{
  uint32_t parent;      /* LNS_ID_NONE for branch 0, the whole, alone */
  uint32_t depth;       /* of the whole 0 */
  uint32_t function;    /* of a module, the first; of the whole LNS_ID_NONE */
  uint32_t first_below; /* what is below stands together, that with the greatest total first */
  uint32_t n_below;
  bool is_grown;      /* the two above are known */
  LnsCallCount count; /* total > 0, but for the whole */
  size_t first_place; /* of the places of the tree that it stands for */
  size_t n_places;
} LnsCallBranch;

/* A node of the tree, and the samples that a branch counts for it. */
typedef struct
{
  uint32_t node;
  uint64_t n_samples;
} LnsCallPlace;

/* One thread at a time. */
typedef struct
{
  const LnsCallTree *tree; /* borrowed */
  const LnsCallSums *sums; /* borrowed */
  bool is_bottom_up;       /* callers are below what they called */
  bool is_by_module;
  LNS_ARRAY (LnsCallBranch) branches;
  LNS_ARRAY (LnsCallPlace) places;
  uint32_t *found; /* by function: 1 + the new branch of it while one grows, else 0 */
} LnsCallBranches;

/* The whole: its total is of all samples with a call chain. TREE and SUMS must outlive it. lns_call_branches_free ()
 * frees it. O(functions). */
LnsCallBranches *lns_call_branches_new (const LnsCallTree *tree,
                                        const LnsCallSums *sums,
                                        bool is_bottom_up,
                                        bool is_by_module) __attribute__ ((warn_unused_result));
void lns_call_branches_free (LnsCallBranches *self); /* NULL is fine */

/* Makes the branches below BRANCH unless they are there already, and returns it; pointers to branches from before are
 * invalid then. O(calls that the branch stands for and those below them by one). */
const LnsCallBranch *lns_call_branches_grow (LnsCallBranches *self, uint32_t branch);

/* Makes those below all branches of at least N_LEAST samples: what a picture shows in which a narrower one cannot be seen.
 * CANCEL may be NULL. */
void
lns_call_branches_grow_wide (LnsCallBranches *self, uint64_t n_least, const atomic_bool *cancel);

/* Marks in RET_NODES, which has room for all of the tree's, the nodes whose samples BRANCH counts: those that were taken in
 * them, whatever the time. O(nodes × depth of the branch). */
void lns_call_branches_mark (const LnsCallBranches *self, uint32_t branch, bool *ret_nodes);

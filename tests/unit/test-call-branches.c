/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Branches of random call trees, against a sum over every chain. */

#include "src/analysis/call-branches.h"

#include "src/base/memory.h"
#include "tests/tap.h"

#define N_FUNCTIONS 7
#define N_MODULES   3
#define MAX_NODES   60
#define MAX_DEPTH   64

static uint64_t seed = 88172645463325252ULL;

static uint32_t
random_below (uint32_t n)
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed % n);
}

/* --- Trees ------------------------------------------------------------------------------------ */

static LnsCallFunction functions[N_FUNCTIONS];
static uint32_t first_of_module[N_FUNCTIONS];
static LnsCallTreeNode nodes[MAX_NODES];
static LnsCallCount counts[MAX_NODES];
static LnsCallTree tree;
static LnsCallSums sums;

/* The child of PARENT with FUNCTION, or LNS_ID_NONE. */
static uint32_t
child_of (uint32_t parent, uint32_t function)
{
  for (uint32_t i = 0; i < tree.n_nodes; i++)
    if (nodes[i].parent == parent && nodes[i].function == function)
      return i;
  return LNS_ID_NONE;
}

static void
add_node (uint32_t parent, uint32_t function)
{
  const uint32_t node = tree.n_nodes++;
  nodes[node] = (LnsCallTreeNode){
    .parent = parent, .function = function, .first_child = LNS_ID_NONE, .next_sibling = LNS_ID_NONE
  };
  /* Behind the other children: node 0 must stay the first root. */
  for (uint32_t i = 0; i < node; i++)
    if (nodes[i].parent == parent && nodes[i].next_sibling == LNS_ID_NONE)
      {
        nodes[i].next_sibling = node;
        return;
      }
  if (parent != LNS_ID_NONE)
    nodes[parent].first_child = node;
}

static void
make_tree (void)
{
  tree = (LnsCallTree){ .functions = functions,
                        .first_of_module = first_of_module,
                        .nodes = nodes,
                        .n_functions = N_FUNCTIONS };
  sums = (LnsCallSums){ .nodes = counts };
  for (uint32_t i = 0; i < N_FUNCTIONS; i++)
    {
      functions[i] = (LnsCallFunction){ .symbol = 1 + i, .module = random_below (N_MODULES) };
      first_of_module[i] = i;
      for (uint32_t j = i; j-- > 0;)
        if (functions[j].module == functions[i].module)
          first_of_module[i] = j;
    }
  const uint32_t n = 1 + random_below (MAX_NODES);
  for (uint32_t i = 0; i < n; i++)
    {
      const uint32_t parent =
          tree.n_nodes > 0 && random_below (5) > 0 ? random_below (tree.n_nodes) : LNS_ID_NONE;
      const uint32_t function = random_below (N_FUNCTIONS);
      if (child_of (parent, function) == LNS_ID_NONE)
        add_node (parent, function);
    }
  for (uint32_t i = 0; i < tree.n_nodes; i++)
    {
      counts[i] = (LnsCallCount){ .self = random_below (3) > 0 ? random_below (9) : 0 };
      sums.n_samples += counts[i].self;
    }
  for (uint32_t i = tree.n_nodes; i-- > 0;)
    {
      counts[i].total += counts[i].self;
      if (nodes[i].parent != LNS_ID_NONE)
        counts[nodes[i].parent].total += counts[i].total;
    }
}

/* --- What is wanted --------------------------------------------------------------------------- */

/* The chain of NODE as it is shown, the function at the root of the branches first; returns how many there are. */
static uint32_t
chain_of (uint32_t node, bool is_bottom_up, bool is_by_module, uint32_t chain[MAX_DEPTH])
{
  uint32_t n = 0;
  for (; node != LNS_ID_NONE; node = nodes[node].parent)
    {
      const uint32_t function =
          is_by_module ? first_of_module[nodes[node].function] : nodes[node].function;
      if (!is_by_module || n == 0 || chain[n - 1] != function)
        chain[n++] = function;
    }
  for (uint32_t i = 0; !is_bottom_up && i < n / 2; i++)
    {
      const uint32_t other = chain[i];
      chain[i] = chain[n - 1 - i];
      chain[n - 1 - i] = other;
    }
  return n;
}

/* The samples whose chain begins with the N functions of PATH; RET_MARKS: of which nodes. */
static LnsCallCount
count_path (const LnsCallBranches *branches, const uint32_t *path, uint32_t n, bool *ret_marks)
{
  LnsCallCount count = { 0 };
  uint32_t chain[MAX_DEPTH];

  for (uint32_t i = 0; i < tree.n_nodes; i++)
    {
      const uint32_t n_chain = chain_of (i, branches->is_bottom_up, branches->is_by_module, chain);
      ret_marks[i] = n_chain >= n && memcmp (chain, path, n * sizeof *path) == 0;
      if (!ret_marks[i])
        continue;
      count.total += counts[i].self;
      /* In the function of the path's end itself: top-down where the chain ends, bottom-up only outermost branches. */
      if (branches->is_bottom_up ? n == 1 : n_chain == n)
        count.self += counts[i].self;
    }
  return count;
}

/* --- Checks ----------------------------------------------------------------------------------- */

static void
check_branch (LnsCallBranches *branches, uint32_t branch)
{
  const LnsCallBranch it = *lns_call_branches_grow (branches, branch);
  uint32_t path[MAX_DEPTH];
  bool wanted[MAX_NODES], marks[MAX_NODES];

  for (uint32_t at = branch, i = it.depth; i > 0; at = branches->branches.items[at].parent)
    path[--i] = branches->branches.items[at].function;
  const LnsCallCount count = count_path (branches, path, it.depth, wanted);
  LNS_CHECK_INT (it.count.total, count.total);
  if (branch != 0)
    LNS_CHECK_INT (it.count.self, count.self);
  lns_call_branches_mark (branches, branch, marks);
  for (uint32_t i = 0; i < tree.n_nodes; i++)
    LNS_CHECK (counts[i].self == 0 || marks[i] == wanted[i]);

  /* What is below: sorted, each function once, and no sample is missing. */
  uint64_t below = 0;
  for (uint32_t i = 0; i < it.n_below; i++)
    {
      const LnsCallBranch *child = &branches->branches.items[it.first_below + i];
      LNS_CHECK_INT (child->parent, branch);
      LNS_CHECK (child->count.total > 0);
      LNS_CHECK (i == 0 || child[-1].count.total >= child->count.total);
      for (uint32_t j = 0; j < i; j++)
        LNS_CHECK (child[-1 - (int)j].function != child->function);
      below += child->count.total;
    }
  if (!branches->is_bottom_up)
    LNS_CHECK_INT (below, it.count.total - it.count.self);
  else
    LNS_CHECK (below <= it.count.total);
}

static void
branches_are_sums_of_chains (void)
{
  for (int round = 0; round < 400; round++)
    {
      make_tree ();
      LnsCallBranches *branches = lns_call_branches_new (&tree, &sums, round & 1, (round & 2) != 0);
      for (uint32_t i = 0; i < branches->branches.n; i++)
        check_branch (branches, i);
      lns_call_branches_free (branches);
    }
}

/* In whatever order they are asked for. */
static void
branches_do_not_depend_on_the_order (void)
{
  make_tree ();
  while (sums.n_samples < 50)
    make_tree ();
  LnsCallBranches *branches = lns_call_branches_new (&tree, &sums, false, false);
  lns_call_branches_grow (branches, 0);
  for (size_t i = branches->branches.n; i-- > 0;)
    check_branch (branches, (uint32_t)i);
  lns_call_branches_free (branches);
}

static void
kept_samples_are_those_of_the_nodes (void)
{
  for (int round = 0; round < 100; round++)
    {
      bool marked[MAX_NODES];
      make_tree ();
      for (uint32_t i = 0; i < tree.n_nodes; i++)
        marked[i] = nodes[i].function == 0;
      lns_call_tree_mark_below (&tree, marked);
      uint64_t n = 0;
      for (uint32_t i = 0; i < tree.n_nodes; i++)
        {
          bool is_below = false;
          for (uint32_t at = i; at != LNS_ID_NONE; at = nodes[at].parent)
            is_below |= nodes[at].function == 0;
          LNS_CHECK (marked[i] == is_below);
          n += is_below ? counts[i].self : 0;
        }
      lns_call_sums_keep (&tree, marked, &sums);
      LNS_CHECK_INT (sums.n_samples, n);
      uint64_t n_roots = 0;
      for (uint32_t i = 0; i < tree.n_nodes; i++)
        n_roots += nodes[i].parent == LNS_ID_NONE ? counts[i].total : 0;
      LNS_CHECK_INT (n_roots, n);
    }
}

static void
a_tree_without_nodes_has_no_branches (void)
{
  tree = (LnsCallTree){ 0 };
  sums = (LnsCallSums){ .n_samples = 3, .n_without_chain = 3 };
  for (int way = 0; way < 4; way++)
    {
      LnsCallBranches *branches = lns_call_branches_new (&tree, &sums, way & 1, way >> 1);
      LNS_CHECK_INT (lns_call_branches_grow (branches, 0)->n_below, 0);
      LNS_CHECK_INT (branches->branches.items[0].count.total, 0);
      lns_call_branches_free (branches);
    }
}

int
main (void)
{
  LNS_TEST (branches_are_sums_of_chains);
  LNS_TEST (branches_do_not_depend_on_the_order);
  LNS_TEST (kept_samples_are_those_of_the_nodes);
  LNS_TEST (a_tree_without_nodes_has_no_branches);
  return lns_tap_done ();
}

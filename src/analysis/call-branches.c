/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/call-branches.h"

#include "src/base/compare.h"
#include "src/base/memory.h"

/* A place that goes to a new branch. */
typedef struct
{
  LnsCallPlace place;
  uint32_t branch;
} Step;

/* The branches below one that grows. */
typedef struct
{
  LnsCallBranches *self;
  LNS_ARRAY (LnsCallBranch) branches;
  LNS_ARRAY (Step) steps;
} Growth;

/* As which function FUNCTION counts. */
static uint32_t
shown (const LnsCallBranches *self, uint32_t function)
{
  return self->is_by_module ? self->tree->first_of_module[function] : function;
}

static uint32_t
shown_at (const LnsCallBranches *self, uint32_t node)
{
  return shown (self, self->tree->nodes[node].function);
}

/* The new branch of FUNCTION. */
static uint32_t
branch_of (Growth *growth, uint32_t function)
{
  uint32_t *found = &growth->self->found[function];
  if (*found == 0)
    {
      lns_array_add (&growth->branches)->function = function;
      *found = (uint32_t)growth->branches.n;
    }
  return *found - 1;
}

static void
add_step (Growth *growth, uint32_t branch, uint32_t node, uint64_t n_samples)
{
  *lns_array_add (&growth->steps) = (Step){ { node, n_samples }, branch };
}

/* ---- Down: to what was called ------------------------------------------------------------------ */

/* The place after AT of the subtree of TOP, or LNS_ID_NONE; what is below AT only if INTO. */
static uint32_t
next_in_subtree (const LnsCallTree *tree, uint32_t top, uint32_t at, bool into)
{
  if (into && tree->nodes[at].first_child != LNS_ID_NONE)
    return tree->nodes[at].first_child;
  while (at != top)
    {
      if (tree->nodes[at].next_sibling != LNS_ID_NONE)
        return tree->nodes[at].next_sibling;
      at = tree->nodes[at].parent;
    }
  return LNS_ID_NONE;
}

/* Goes from a place of FUNCTION, or from the whole, to the calls FIRST and its siblings. Calls within a module are no step:
 * their places belong to the branch that the module was entered in. */
static void
go_down (Growth *growth, uint32_t function, uint32_t first)
{
  const LnsCallBranches *self = growth->self;
  const LnsCallTree *tree = self->tree;

  for (uint32_t top = first; top != LNS_ID_NONE; top = tree->nodes[top].next_sibling)
    {
      const uint32_t called = shown_at (self, top);
      if (self->sums->nodes[top].total == 0 || (self->is_by_module && called == function))
        continue;
      const uint32_t branch = branch_of (growth, called);
      growth->branches.items[branch].count.total += self->sums->nodes[top].total;
      for (uint32_t at = top; at != LNS_ID_NONE;)
        {
          const bool belongs = at == top || (self->is_by_module && shown_at (self, at) == called);
          if (belongs && self->sums->nodes[at].total > 0)
            {
              growth->branches.items[branch].count.self += self->sums->nodes[at].self;
              add_step (growth, branch, at, self->sums->nodes[at].total);
            }
          at = next_in_subtree (tree, top, at, belongs && self->is_by_module);
        }
    }
}

/* ---- Up: to the callers ----------------------------------------------------------------------- */

/* Goes to NODE, in which N samples are or from which N samples came. */
static void
go_up_to (Growth *growth, uint32_t node, uint64_t n)
{
  const LnsCallBranches *self = growth->self;
  const uint32_t caller = shown_at (self, node);
  const uint32_t branch = branch_of (growth, caller);
  uint32_t above = self->tree->nodes[node].parent;

  while (self->is_by_module && above != LNS_ID_NONE && shown_at (self, above) == caller)
    {
      node = above;
      above = self->tree->nodes[node].parent;
    }
  growth->branches.items[branch].count.total += n;
  add_step (growth, branch, node, n);
}

static void
go_up_from_samples (Growth *growth)
{
  for (uint32_t i = 0; i < growth->self->tree->n_nodes; i++)
    if (growth->self->sums->nodes[i].self > 0)
      go_up_to (growth, i, growth->self->sums->nodes[i].self);
  for (size_t i = 0; i < growth->branches.n; i++)
    growth->branches.items[i].count.self = growth->branches.items[i].count.total;
}

/* ---- What is below ---------------------------------------------------------------------------- */

static void
find_below (Growth *growth, const LnsCallBranch *branch)
{
  const LnsCallBranches *self = growth->self;
  const bool is_whole = branch->parent == LNS_ID_NONE;

  if (is_whole && self->is_bottom_up)
    go_up_from_samples (growth);
  else if (is_whole && self->tree->n_nodes > 0)
    go_down (growth, LNS_ID_NONE, 0);
  for (size_t i = 0; i < branch->n_places; i++)
    {
      const LnsCallPlace *place = &self->places.items[branch->first_place + i];
      const LnsCallTreeNode *node = &self->tree->nodes[place->node];
      if (!self->is_bottom_up)
        go_down (growth, branch->function, node->first_child);
      else if (node->parent != LNS_ID_NONE)
        go_up_to (growth, node->parent, place->n_samples);
    }
}

static int
compare_branches (const void *a, const void *b)
{
  const LnsCallBranch *ba = a, *bb = b;
  return LNS_COMPARE (bb->count.total, ba->count.total) ?: LNS_COMPARE (ba->function, bb->function);
}

/* Appends the new branches below PARENT, and their places, each branch's together. */
static void
append (Growth *growth, uint32_t parent)
{
  LnsCallBranches *self = growth->self;
  const uint32_t first = (uint32_t)self->branches.n;
  const uint32_t depth = self->branches.items[parent].depth + 1;
  size_t n_places = self->places.n;

  if (growth->branches.n > 0)
    qsort (growth->branches.items, growth->branches.n, sizeof *growth->branches.items,
           compare_branches);
  /* Steps know branches by the order in which these were found. */
  uint32_t *sorted = lns_calloc (growth->branches.n, sizeof *sorted);
  for (uint32_t i = 0; i < growth->branches.n; i++)
    {
      uint32_t *found = &self->found[growth->branches.items[i].function];
      sorted[*found - 1] = i;
      *found = 0;
    }
  for (size_t i = 0; i < growth->steps.n; i++)
    {
      lns_array_add (&self->places);
      growth->branches.items[sorted[growth->steps.items[i].branch]].n_places++;
    }
  for (size_t i = 0; i < growth->branches.n; i++)
    {
      LnsCallBranch *branch = lns_array_add (&self->branches);
      *branch = growth->branches.items[i];
      branch->parent = parent;
      branch->depth = depth;
      branch->first_place = n_places;
      n_places += branch->n_places;
      branch->n_places = 0; /* until they are there */
    }
  for (size_t i = 0; i < growth->steps.n; i++)
    {
      const Step *step = &growth->steps.items[i];
      LnsCallBranch *branch = &self->branches.items[first + sorted[step->branch]];
      self->places.items[branch->first_place + branch->n_places++] = step->place;
    }
  free (sorted);
  self->branches.items[parent].first_below = first;
  self->branches.items[parent].n_below = (uint32_t)growth->branches.n;
  self->branches.items[parent].is_grown = true;
}

const LnsCallBranch *
lns_call_branches_grow (LnsCallBranches *self, uint32_t branch)
{
  Growth growth = { .self = self };

  if (!self->branches.items[branch].is_grown)
    {
      find_below (&growth, &self->branches.items[branch]);
      append (&growth, branch);
      lns_array_clear (&growth.branches);
      lns_array_clear (&growth.steps);
    }
  return &self->branches.items[branch];
}

void
lns_call_branches_grow_wide (LnsCallBranches *self, uint64_t n_least, const atomic_bool *cancel)
{
  /* New ones come behind. */
  for (uint32_t i = 0; i < self->branches.n; i++)
    {
      if (cancel != NULL && atomic_load_explicit (cancel, memory_order_relaxed))
        return;
      if (self->branches.items[i].count.total >= n_least)
        lns_call_branches_grow (self, i);
    }
}

/* ---- Samples ---------------------------------------------------------------------------------- */

/* Whether samples of NODE count for the first N of FUNCTIONS, the function that was sampled first. */
static bool
is_path_from (const LnsCallBranches *self, uint32_t node, const uint32_t *functions, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    {
      if (node == LNS_ID_NONE || shown_at (self, node) != functions[i])
        return false;
      do
        node = self->tree->nodes[node].parent;
      while (self->is_by_module && node != LNS_ID_NONE && shown_at (self, node) == functions[i]);
    }
  return true;
}

static void
mark_up (const LnsCallBranches *self, uint32_t branch, bool *nodes)
{
  const uint32_t n = self->branches.items[branch].depth;
  uint32_t *functions = lns_calloc (n, sizeof *functions);

  for (uint32_t at = branch, i = n; i > 0; at = self->branches.items[at].parent)
    functions[--i] = self->branches.items[at].function;
  for (uint32_t i = 0; i < self->tree->n_nodes; i++)
    nodes[i] = is_path_from (self, i, functions, n);
  free (functions);
}

void
lns_call_branches_mark (const LnsCallBranches *self, uint32_t branch, bool *ret_nodes)
{
  const LnsCallBranch *it = &self->branches.items[branch];

  for (uint32_t i = 0; i < self->tree->n_nodes; i++)
    ret_nodes[i] = branch == 0;
  if (self->is_bottom_up)
    mark_up (self, branch, ret_nodes);
  else
    for (size_t i = 0; i < it->n_places; i++)
      ret_nodes[self->places.items[it->first_place + i].node] = true;
  if (!self->is_bottom_up)
    lns_call_tree_mark_below (self->tree, ret_nodes);
}

LnsCallBranches *
lns_call_branches_new (const LnsCallTree *tree,
                       const LnsCallSums *sums,
                       bool is_bottom_up,
                       bool is_by_module)
{
  LnsCallBranches *self = lns_calloc (1, sizeof *self);

  self->tree = tree;
  self->sums = sums;
  self->is_bottom_up = is_bottom_up;
  self->is_by_module = is_by_module;
  self->found = lns_calloc (tree->n_functions, sizeof *self->found);
  *lns_array_add (&self->branches) =
      (LnsCallBranch){ .parent = LNS_ID_NONE,
                       .function = LNS_ID_NONE,
                       .count.total = sums->n_samples - sums->n_without_chain };
  return self;
}

void
lns_call_branches_free (LnsCallBranches *self)
{
  if (self == NULL)
    return;
  lns_array_clear (&self->branches);
  lns_array_clear (&self->places);
  free (self->found);
  free (self);
}

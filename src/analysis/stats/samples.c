/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* sample_sum and sample_tree: samples of CPUs by function, and by who called it. */

#include <stdlib.h>

#include "src/analysis/call-tree.h"
#include "src/analysis/stats/maker.h"
#include "src/base/id-map.h"
#include "src/base/memory.h"

/* Deeper rows are indented no further, because chains may be as long as the file says. The column "Depth" has no limit. */
#define MAX_INDENT 64

/* A row of either report. */
typedef struct
{
  uint32_t
      symbol; /* string id, or LNS_ID_NONE: samples without a call chain, or rows that are left out */
  uint32_t module;
  uint32_t depth;
  uint32_t n_left_out;
  LnsCallCount count;
  uint64_t n_samples; /* that are 100 % */
} Row;

typedef LNS_ARRAY (Row) Rows;

/* A node of the tree that is shown: a function below its callers or its callees, or a module. Those behind a branch are below
 * it or beside it. */
typedef struct
{
  uint32_t parent, first_child, next_sibling;
  uint32_t function; /* of a module, the first */
  LnsCallCount count;
} Branch;

typedef LNS_ARRAY (Branch) Branches;

typedef struct
{
  const LnsStatsArguments *arguments;
  const atomic_bool *cancel; /* or NULL */
  LnsCallTree *tree;
  LnsCallSums sums;
  Branches branches;
  uint32_t first_branch; /* of those without a parent, the last that was made */
  LnsIdMap branch_ids;   /* 1 + branch by parent and function */
  uint32_t *shown;       /* by function: which one it counts as */
  Rows rows;
} Work;

static Row *
add_row (Work *work, uint32_t function, uint32_t depth, LnsCallCount count)
{
  Row *row = lns_array_add (&work->rows);
  *row = (Row){
    .symbol = LNS_ID_NONE, .depth = depth, .count = count, .n_samples = work->sums.n_samples
  };
  if (function != LNS_ID_NONE)
    {
      row->module = work->tree->functions[function].module;
      row->symbol =
          work->arguments->is_by_module ? row->module : work->tree->functions[function].symbol;
    }
  return row;
}

/* --- The tree that is shown -------------------------------------------------------------------- */

/* Finds as which function each one counts. */
static void
choose_shown (Work *work)
{
  const LnsCallTree *tree = work->tree;
  LnsIdMap firsts = { 0 }; /* 1 + function by module */
  work->shown = lns_calloc (tree->n_functions + 1, sizeof *work->shown);
  for (uint32_t i = 0; i < tree->n_functions; i++)
    {
      work->shown[i] = i;
      if (!work->arguments->is_by_module)
        continue;
      const uint64_t key = 1 + (uint64_t)tree->functions[i].module;
      if (lns_id_map_number (&firsts, key) == 0)
        lns_id_map_set_number (&firsts, key, 1 + (uint64_t)i);
      work->shown[i] = (uint32_t)lns_id_map_number (&firsts, key) - 1;
    }
  lns_id_map_clear (&firsts);
}

/* The branch of FUNCTION below PARENT, which may be LNS_ID_NONE. Calls within a module are one branch. */
static uint32_t
branch_below (Work *work, uint32_t parent, uint32_t function)
{
  const uint32_t shown = work->shown[function];
  if (work->arguments->is_by_module && parent != LNS_ID_NONE &&
      work->branches.items[parent].function == shown)
    return parent;
  const uint64_t key = ((uint64_t)parent + 1) << 32 | shown;
  const uint64_t known = lns_id_map_number (&work->branch_ids, key + 1);
  if (known != 0)
    return (uint32_t)known - 1;
  const uint32_t id = (uint32_t)work->branches.n;
  Branch *branch = lns_array_add (&work->branches);
  uint32_t *first =
      parent == LNS_ID_NONE ? &work->first_branch : &work->branches.items[parent].first_child;
  *branch = (Branch){
    .parent = parent, .first_child = LNS_ID_NONE, .next_sibling = *first, .function = shown
  };
  *first = id;
  lns_id_map_set_number (&work->branch_ids, key + 1, 1 + (uint64_t)id);
  return id;
}

static bool
is_cancelled (const Work *work)
{
  return work->cancel != NULL && atomic_load_explicit (work->cancel, memory_order_relaxed);
}

/* Makes a branch of each call: callees below their callers. */
static void
grow_down (Work *work)
{
  const LnsCallTree *tree = work->tree;
  uint32_t *branch_of = lns_calloc ((size_t)tree->n_nodes + 1, sizeof *branch_of);
  for (uint32_t i = 0; i < tree->n_nodes && !is_cancelled (work); i++)
    {
      const uint32_t above = tree->nodes[i].parent;
      branch_of[i] = branch_below (work, above == LNS_ID_NONE ? LNS_ID_NONE : branch_of[above],
                                   tree->nodes[i].function);
      work->branches.items[branch_of[i]].count.self += work->sums.nodes[i].self;
    }
  for (size_t i = work->branches.n; i-- > 0;)
    {
      Branch *branch = &work->branches.items[i];
      branch->count.total += branch->count.self;
      if (branch->parent != LNS_ID_NONE)
        work->branches.items[branch->parent].count.total += branch->count.total;
    }
  free (branch_of);
}

/* Makes branches of what samples were taken in, with callers below. */
static void
grow_up (Work *work)
{
  const LnsCallTree *tree = work->tree;
  for (uint32_t i = 0; i < tree->n_nodes && !is_cancelled (work); i++)
    {
      const uint64_t n = work->sums.nodes[i].self;
      uint32_t last = LNS_ID_NONE;
      for (uint32_t at = i; n > 0 && at != LNS_ID_NONE; at = tree->nodes[at].parent)
        {
          const uint32_t branch = branch_below (work, last, tree->nodes[at].function);
          if (branch != last)
            work->branches.items[branch].count.total += n;
          if (last == LNS_ID_NONE)
            work->branches.items[branch].count.self += n;
          last = branch;
        }
    }
}

static void
grow (Work *work)
{
  choose_shown (work);
  if (work->arguments->is_bottom_up)
    grow_up (work);
  else
    grow_down (work);
}

/* Whether a branch above BRANCH is of the same function. */
static bool
is_recursive (const Work *work, uint32_t branch)
{
  const uint32_t function = work->branches.items[branch].function;
  uint32_t at = work->branches.items[branch].parent;
  while (at != LNS_ID_NONE && work->branches.items[at].function != function)
    at = work->branches.items[at].parent;
  return at != LNS_ID_NONE;
}

/* Has LIST make the rows of all samples. */
static bool
run (LnsStatsResult *result, void (*list) (Work *work), const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  const LnsCallQuery query = { .kind = lns_call_sample_kind (report),
                               .start_ns = INT64_MIN,
                               .end_ns = INT64_MAX };
  Work work = { .arguments = &result->arguments,
                .cancel = cancel,
                .tree = lns_call_tree_new (report, cancel, error),
                .first_branch = LNS_ID_NONE };

  if (work.tree == NULL)
    return false;
  bool good = lns_call_tree_sum (work.tree, &query, cancel, &work.sums, error);
  if (good)
    {
      const LnsCallCount without = { work.sums.n_without_chain, work.sums.n_without_chain };
      list (&work);
      if (without.total > 0)
        add_row (&work, LNS_ID_NONE, 0, without);
      good = !is_cancelled (&work) || lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
    }
  result->rows = work.rows.items;
  result->n = work.rows.n;
  lns_array_clear (&work.branches);
  lns_id_map_clear (&work.branch_ids);
  free (work.shown);
  lns_call_sums_clear (&work.sums);
  lns_call_tree_free (work.tree);
  return good;
}

static LnsStatsCell
percent (uint64_t n, const Row *row)
{
  return _lns_stats_number (_lns_stats_rounded (100.0 * (double)n / (double)row->n_samples, 1));
}

/* Appends what ROW is of. */
static void
append_name (const LnsStatsResult *result, const Row *row, LnsBuffer *text)
{
  static const char nameless[] = "[no call chain]", elsewhere[] = "[no module]";
  char left_out[80];
  LnsStatsCell cell = { 0 };
  if (row->n_left_out > 0)
    cell = _lns_stats_text (
        left_out, (size_t)snprintf (left_out, sizeof left_out, "[%u more, each below %g %%]",
                                    row->n_left_out, result->arguments.min_percent));
  else if (row->symbol == LNS_ID_NONE)
    cell = _lns_stats_text (nameless, sizeof nameless - 1);
  else if (row->symbol == 0 && result->arguments.is_by_module)
    cell = _lns_stats_text (elsewhere, sizeof elsewhere - 1);
  else
    cell = _lns_stats_string (result, row->symbol);
  lns_buffer_append (text, cell.bytes, cell.size_bytes);
}

/* ---- By function ------------------------------------------------------------------------------ */

static const LnsStatsColumn columns[] = {
  { "Self (%)", .decimals = 1 },   { "Self" },
  { "Total (%)", .decimals = 1 },  { "Total" },
  { "Function", .is_text = true }, { "Module", .is_text = true },
};

static int
compare_functions (const void *a, const void *b)
{
  const Row *ra = a, *rb = b;
  return LNS_COMPARE (rb->count.self, ra->count.self)
             ?: LNS_COMPARE (rb->count.total, ra->count.total)
             ?: LNS_COMPARE (ra->symbol, rb->symbol)
             ?: LNS_COMPARE (ra->module, rb->module);
}

/* A sample counts once for each function, or module, of its chain. */
static void
list_functions (Work *work)
{
  LnsCallCount *counts = lns_calloc ((size_t)work->tree->n_functions + 1, sizeof *counts);

  if (work->arguments->is_by_module)
    grow (work);
  else
    lns_call_tree_functions (work->tree, &work->sums, counts);
  for (uint32_t i = 0; i < work->branches.n; i++)
    {
      const Branch *branch = &work->branches.items[i];
      counts[branch->function].self += branch->count.self;
      if (!is_recursive (work, i))
        counts[branch->function].total += branch->count.total;
    }
  for (uint32_t i = 0; i < work->tree->n_functions; i++)
    if (counts[i].total > 0)
      add_row (work, i, 0, counts[i]);
  free (counts);
  if (work->rows.n > 0)
    qsort (work->rows.items, work->rows.n, sizeof *work->rows.items, compare_functions);
}

static bool
run_sum (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  return run (result, list_functions, cancel, error);
}

static void
add_function (const LnsStatsResult *result, size_t i, LnsStatsTable *table, LnsBuffer *text)
{
  const Row *row = &((const Row *)result->rows)[i];
  append_name (result, row, text);
  const LnsStatsCell cells[] = {
    percent (row->count.self, row),  _lns_stats_number ((int64_t)row->count.self),
    percent (row->count.total, row), _lns_stats_number ((int64_t)row->count.total),
    _lns_stats_appended (text, 0),   _lns_stats_string (result, row->module),
  };
  lns_stats_table_add (table, cells);
}

const LnsStatsWay _lns_stats_samples = { run_sum, add_function, NULL, columns,
                                         sizeof columns / sizeof *columns };

/* ---- By caller -------------------------------------------------------------------------------- */

static const LnsStatsColumn tree_columns[] = {
  { "Total (%)", .decimals = 1 },
  { "Total" },
  { "Self (%)", .decimals = 1 },
  { "Self" },
  { "Depth" },
  { "Function", .is_text = true },
  { "Module", .is_text = true },
};

typedef struct
{
  uint32_t branch, depth;
  LnsCallCount count;
  uint32_t n_left_out; /* this many siblings instead of a branch */
} Place;

typedef LNS_ARRAY (Place) Places;

/* The last one is looked at first: it has the greatest total. Those that are left out come last. */
static int
compare_places (const void *a, const void *b)
{
  const Place *pa = a, *pb = b;
  return LNS_COMPARE (pb->n_left_out, pa->n_left_out)
             ?: LNS_COMPARE (pa->count.total, pb->count.total)
             ?: LNS_COMPARE (pb->branch, pa->branch);
}

/* Adds the branch FIRST and its siblings that have samples. */
static void
push_siblings (const Work *work, Places *places, uint32_t first, uint32_t depth)
{
  const size_t n_before = places->n;
  const double least = work->arguments->min_percent / 100 * (double)work->sums.n_samples;
  Place rest = { .branch = LNS_ID_NONE, .depth = depth };

  for (uint32_t i = first; i != LNS_ID_NONE; i = work->branches.items[i].next_sibling)
    {
      const LnsCallCount count = work->branches.items[i].count;
      if (count.total == 0)
        continue;
      if ((double)count.total >= least)
        *lns_array_add (places) = (Place){ .branch = i, .depth = depth, .count = count };
      else
        {
          rest.n_left_out++;
          rest.count.total += count.total;
          /* What is below is left out, too. */
          rest.count.self += work->arguments->is_bottom_up ? count.self : count.total;
        }
    }
  if (rest.n_left_out > 0)
    *lns_array_add (places) = rest;
  if (places->n > n_before)
    qsort (&places->items[n_before], places->n - n_before, sizeof *places->items, compare_places);
}

static void
list_tree (Work *work)
{
  Places places = { 0 };

  grow (work);
  push_siblings (work, &places, work->first_branch, 0);
  while (places.n > 0)
    {
      const Place at = places.items[--places.n];
      const Branch *branch = at.branch != LNS_ID_NONE ? &work->branches.items[at.branch] : NULL;
      add_row (work, branch != NULL ? branch->function : LNS_ID_NONE, at.depth, at.count)
          ->n_left_out = at.n_left_out;
      if (branch != NULL)
        push_siblings (work, &places, branch->first_child, at.depth + 1);
    }
  lns_array_clear (&places);
}

static bool
run_tree (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  return run (result, list_tree, cancel, error);
}

static void
add_call (const LnsStatsResult *result, size_t i, LnsStatsTable *table, LnsBuffer *text)
{
  const Row *row = &((const Row *)result->rows)[i];

  for (uint32_t depth = 0; depth < row->depth && depth < MAX_INDENT; depth++)
    lns_buffer_append (text, "  ", 2);
  append_name (result, row, text);
  const LnsStatsCell cells[] = {
    percent (row->count.total, row),         _lns_stats_number ((int64_t)row->count.total),
    percent (row->count.self, row),          _lns_stats_number ((int64_t)row->count.self),
    _lns_stats_number (row->depth),          _lns_stats_appended (text, 0),
    _lns_stats_string (result, row->module),
  };
  lns_stats_table_add (table, cells);
}

const LnsStatsWay _lns_stats_sample_tree = { run_tree, add_call, NULL, tree_columns,
                                             sizeof tree_columns / sizeof *tree_columns };

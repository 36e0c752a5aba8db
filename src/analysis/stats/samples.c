/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* sample_sum and sample_tree: samples of CPUs by function, and by who called it. */

#include <stdlib.h>

#include "src/analysis/call-tree.h"
#include "src/analysis/stats/maker.h"
#include "src/base/memory.h"

/* Deeper rows are indented no further, because chains may be as long as the file says. The column "Depth" has no limit. */
#define MAX_INDENT 64

/* A row of either report. */
typedef struct
{
  uint32_t symbol; /* string id, or LNS_ID_NONE: samples without a call chain */
  uint32_t module;
  uint32_t depth;
  LnsCallCount count;
  uint64_t n_samples; /* that are 100 % */
} Row;

typedef LNS_ARRAY (Row) Rows;

typedef struct
{
  LnsCallTree *tree;
  LnsCallSums sums;
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
      row->symbol = work->tree->functions[function].symbol;
      row->module = work->tree->functions[function].module;
    }
  return row;
}

/* Has LIST make the rows of all samples. */
static bool
run (LnsStatsResult *result, void (*list) (Work *work), const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  const LnsCallQuery query = { .kind = lns_call_sample_kind (report),
                               .start_ns = INT64_MIN,
                               .end_ns = INT64_MAX };
  Work work = { .tree = lns_call_tree_new (report, cancel, error) };

  if (work.tree == NULL)
    return false;
  const bool good = lns_call_tree_sum (work.tree, &query, cancel, &work.sums, error);
  if (good)
    {
      const LnsCallCount without = { work.sums.n_without_chain, work.sums.n_without_chain };
      list (&work);
      if (without.total > 0)
        add_row (&work, LNS_ID_NONE, 0, without);
    }
  result->rows = work.rows.items;
  result->n = work.rows.n;
  lns_call_sums_clear (&work.sums);
  lns_call_tree_free (work.tree);
  return good;
}

static LnsStatsCell
percent (uint64_t n, const Row *row)
{
  return _lns_stats_number (_lns_stats_rounded (100.0 * (double)n / (double)row->n_samples, 1));
}

static LnsStatsCell
name (const LnsStatsResult *result, const Row *row)
{
  static const char nameless[] = "[no call chain]";
  return row->symbol == LNS_ID_NONE ? _lns_stats_text (nameless, sizeof nameless - 1)
                                    : _lns_stats_string (result, row->symbol);
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

static void
list_functions (Work *work)
{
  LnsCallCount *counts = lns_calloc (work->tree->n_functions, sizeof *counts);

  lns_call_tree_functions (work->tree, &work->sums, counts);
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
  const LnsStatsCell cells[] = {
    percent (row->count.self, row),
    _lns_stats_number ((int64_t)row->count.self),
    percent (row->count.total, row),
    _lns_stats_number ((int64_t)row->count.total),
    name (result, row),
    _lns_stats_string (result, row->module),
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
  uint32_t node, depth;
  uint64_t total;
} Place;

typedef LNS_ARRAY (Place) Places;

/* The last one is looked at first: it has the greatest total. */
static int
compare_places (const void *a, const void *b)
{
  const Place *pa = a, *pb = b;
  return LNS_COMPARE (pa->total, pb->total) ?: LNS_COMPARE (pb->node, pa->node);
}

/* Adds NODE and its siblings that have samples. */
static void
push_siblings (const Work *work, Places *places, uint32_t node, uint32_t depth)
{
  const size_t first = places->n;

  for (; node != LNS_ID_NONE; node = work->tree->nodes[node].next_sibling)
    if (work->sums.nodes[node].total > 0)
      *lns_array_add (places) = (Place){ node, depth, work->sums.nodes[node].total };
  if (places->n > first)
    qsort (&places->items[first], places->n - first, sizeof *places->items, compare_places);
}

static void
list_tree (Work *work)
{
  Places places = { 0 };

  push_siblings (work, &places, work->tree->n_nodes > 0 ? 0 : LNS_ID_NONE, 0);
  while (places.n > 0)
    {
      const Place at = places.items[--places.n];
      const LnsCallTreeNode *node = &work->tree->nodes[at.node];
      add_row (work, node->function, at.depth, work->sums.nodes[at.node]);
      push_siblings (work, &places, node->first_child, at.depth + 1);
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
  const LnsStatsCell function = name (result, row);

  for (uint32_t depth = 0; depth < row->depth && depth < MAX_INDENT; depth++)
    lns_buffer_append (text, "  ", 2);
  lns_buffer_append (text, function.bytes, function.size_bytes);
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

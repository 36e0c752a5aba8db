/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* sample_sum and sample_tree: samples of CPUs by function, and by who called it. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/call-branches.h"
#include "src/analysis/stats/maker.h"
#include "src/base/memory.h"

/* Deeper rows are indented no further, because chains may be as long as the file says. The column "Depth" has no limit. */
#define MAX_INDENT 64

/* A row of either report. */
typedef struct
{
  uint32_t
      symbol; /* string id, or LNS_ID_NONE: samples without a call chain, or rows that are left out */
  uint32_t module;
  LnsCallSort sort; /* of a process or thread the symbol is its instance */
  uint32_t depth;
  uint32_t n_left_out;
  LnsCallCount count;
  uint64_t n_samples; /* that are 100 % */
} Row;

typedef LNS_ARRAY (Row) Rows;

typedef struct
{
  const LnsStatsArguments *arguments;
  const atomic_bool *cancel; /* or NULL */
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
      const LnsCallFunction *it = &work->tree->functions[function];
      row->module = it->module;
      row->sort = it->sort;
      row->symbol =
          work->arguments->is_by_module && it->sort == LNS_CALL_CODE ? it->module : it->symbol;
    }
  return row;
}

static bool
is_cancelled (const Work *work)
{
  return work->cancel != NULL && atomic_load_explicit (work->cancel, memory_order_relaxed);
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
                .tree = result->arguments.is_by_thread
                            ? lns_call_tree_new_by_thread (report, query.kind, cancel, error)
                            : lns_call_tree_new (report, cancel, error) };

  if (work.tree == NULL)
    return false;
  bool good = lns_call_tree_sum (work.tree, &query, cancel, &work.sums, error);
  if (good)
    {
      const LnsCallCount without = { work.sums.n_without_chain, work.sums.n_without_chain };
      list (&work);
      if (work.sums.n_whole < work.sums.n_samples - work.sums.n_without_chain)
        lns_call_sums_share_whole (work.tree, &work.sums, query.kind, result->share_whole);
      if (without.total > 0)
        add_row (&work, LNS_ID_NONE, 0, without);
      good = !is_cancelled (&work) || lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
    }
  result->rows = work.rows.items;
  result->n = work.rows.n;
  lns_call_sums_clear (&work.sums);
  lns_call_tree_free (work.tree);
  return good;
}

static LnsResultCell
percent (uint64_t n, const Row *row)
{
  return _lns_stats_number (_lns_stats_rounded (100.0 * (double)n / (double)row->n_samples, 1));
}

/* Appends the process or thread that ROW is of: "loader (4715)". */
static void
append_owner (const LnsStatsResult *result, const Row *row, LnsBuffer *text)
{
  LnsReport *report = lns_tables_report (result->tables);
  uint32_t n_processes, n_threads;
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  LnsResultCell name = { 0 };
  int32_t id = 0;
  char number[32];

  if (row->sort == LNS_CALL_PROCESS && row->symbol < n_processes)
    {
      name = _lns_stats_string (result, processes[row->symbol].name);
      id = processes[row->symbol].pid;
    }
  else if (row->sort == LNS_CALL_THREAD && row->symbol < n_threads)
    {
      const LnsThread *thread = &threads[row->symbol];
      name = _lns_stats_string (result, thread->name);
      id = thread->tid != 0 ? thread->tid : thread->target_tid;
    }
  lns_buffer_append (text, name.bytes, name.size_bytes);
  const int n =
      snprintf (number, sizeof number, "%s(%" PRId32 ")", name.size_bytes > 0 ? " " : "", id);
  lns_buffer_append (text, number, (size_t)n);
}

/* Appends what ROW is of. */
static void
append_name (const LnsStatsResult *result, const Row *row, LnsBuffer *text)
{
  static const char nameless[] = "[no call chain]", elsewhere[] = "[no module]";
  char left_out[80], *place = NULL;
  LnsResultCell cell = { 0 };
  if (row->sort != LNS_CALL_CODE)
    {
      append_owner (result, row, text);
      return;
    }
  if (row->n_left_out > 0)
    cell = _lns_stats_text (
        left_out, (size_t)snprintf (left_out, sizeof left_out, "[%u more, each below %g %%]",
                                    row->n_left_out, result->arguments.min_percent));
  else if (row->symbol == LNS_ID_NONE)
    cell = _lns_stats_text (nameless, sizeof nameless - 1);
  else if (row->symbol == 0 && result->arguments.is_by_module)
    cell = _lns_stats_text (elsewhere, sizeof elsewhere - 1);
  else if (row->symbol == row->module && row->symbol != 0 && !result->arguments.is_by_module)
    {
      /* The functions of an import that are not known are summed up by their module. */
      cell = _lns_stats_string (result, row->module);
      const char *slash = memrchr (cell.bytes, '/', cell.size_bytes);
      const size_t n_folder = slash != NULL ? (size_t)(slash + 1 - (const char *)cell.bytes) : 0;
      place = lns_asprintf ("%.*s+0x…", (int)(cell.size_bytes - n_folder),
                            (const char *)cell.bytes + n_folder);
      cell = _lns_stats_text (place, strlen (place));
    }
  else
    cell = _lns_stats_string (result, row->symbol);
  lns_buffer_append (text, cell.bytes, cell.size_bytes);
  free (place);
}

/* ---- By function ------------------------------------------------------------------------------ */

static const LnsResultColumn columns[] = {
  { N_ ("Self (%)"), LNS_RESULT_SHARE, 1 },  { "Self", LNS_RESULT_COUNT },
  { N_ ("Total (%)"), LNS_RESULT_SHARE, 1 }, { "Total", LNS_RESULT_COUNT },
  { "Function", LNS_RESULT_TEXT },           { "Module", LNS_RESULT_TEXT },
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

  lns_call_tree_functions (work->tree, &work->sums, work->arguments->is_by_module, counts);
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
add_function (const LnsStatsResult *result, size_t i, LnsRows *rows, LnsBuffer *text)
{
  const Row *row = &((const Row *)result->rows)[i];
  append_name (result, row, text);
  const LnsResultCell cells[] = {
    percent (row->count.self, row),  _lns_stats_number ((int64_t)row->count.self),
    percent (row->count.total, row), _lns_stats_number ((int64_t)row->count.total),
    _lns_stats_appended (text, 0),   _lns_stats_string (result, row->module),
  };
  lns_rows_add (rows, cells, NULL);
}

const LnsStatsWay _lns_stats_samples = { run_sum, add_function, NULL, columns,
                                         sizeof columns / sizeof *columns };

/* ---- By caller -------------------------------------------------------------------------------- */

static const LnsResultColumn tree_columns[] = {
  { N_ ("Total (%)"), LNS_RESULT_SHARE, 1 },
  { "Total", LNS_RESULT_COUNT },
  { N_ ("Self (%)"), LNS_RESULT_SHARE, 1 },
  { "Self", LNS_RESULT_COUNT },
  { "Depth", LNS_RESULT_NUMBER },
  { "Function", LNS_RESULT_TEXT },
  { "Module", LNS_RESULT_TEXT },
};

/* A branch whose row comes later, or N_LEFT_OUT siblings instead of one. */
typedef struct
{
  uint32_t branch;
  uint32_t n_left_out;
  LnsCallCount count; /* of those that are left out */
} Later;

typedef LNS_ARRAY (Later) Laters;

/* Adds what is below BRANCH, the greatest total as the last, which comes first; those that are left out come behind them. */
static void
push_below (const Work *work, LnsCallBranches *branches, uint32_t branch, Laters *laters)
{
  const LnsCallBranch *above = lns_call_branches_grow (branches, branch);
  const double least = work->arguments->min_percent / 100 * (double)work->sums.n_samples;
  Later rest = { 0 };
  uint32_t n = above->n_below;

  for (; n > 0; n--)
    {
      const LnsCallCount count = branches->branches.items[above->first_below + n - 1].count;
      if ((double)count.total >= least)
        break;
      rest.branch = above->first_below + n - 1;
      rest.n_left_out++;
      rest.count.total += count.total;
      /* What is below is left out, too. */
      rest.count.self += branches->is_bottom_up ? count.self : count.total;
    }
  if (rest.n_left_out > 0)
    *lns_array_add (laters) = rest;
  for (; n > 0; n--)
    *lns_array_add (laters) = (Later){ .branch = above->first_below + n - 1 };
}

static void
list_tree (Work *work)
{
  LnsCallBranches *branches = lns_call_branches_new (
      work->tree, &work->sums, work->arguments->is_bottom_up, work->arguments->is_by_module);
  Laters laters = { 0 };

  push_below (work, branches, 0, &laters);
  while (laters.n > 0 && !is_cancelled (work))
    {
      const Later at = laters.items[--laters.n];
      const LnsCallBranch branch = branches->branches.items[at.branch];
      const bool is_left_out = at.n_left_out > 0;
      add_row (work, is_left_out ? LNS_ID_NONE : branch.function, branch.depth - 1,
               is_left_out ? at.count : branch.count)
          ->n_left_out = at.n_left_out;
      if (!is_left_out)
        push_below (work, branches, at.branch, &laters);
    }
  lns_array_clear (&laters);
  lns_call_branches_free (branches);
}

static bool
run_tree (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  return run (result, list_tree, cancel, error);
}

static void
add_call (const LnsStatsResult *result, size_t i, LnsRows *rows, LnsBuffer *text)
{
  const Row *row = &((const Row *)result->rows)[i];

  for (uint32_t depth = 0; depth < row->depth && depth < MAX_INDENT; depth++)
    lns_buffer_append (text, "  ", 2);
  append_name (result, row, text);
  const LnsResultCell cells[] = {
    percent (row->count.total, row),         _lns_stats_number ((int64_t)row->count.total),
    percent (row->count.self, row),          _lns_stats_number ((int64_t)row->count.self),
    _lns_stats_number (row->depth),          _lns_stats_appended (text, 0),
    _lns_stats_string (result, row->module),
  };
  lns_rows_add (rows, cells, NULL);
}

const LnsStatsWay _lns_stats_sample_tree = { run_tree, add_call, NULL, tree_columns,
                                             sizeof tree_columns / sizeof *tree_columns };

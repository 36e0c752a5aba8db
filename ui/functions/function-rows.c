/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/functions/function-rows.h"

#include <string.h>

#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/hash.h"

typedef LNS_ARRAY (LnsFunctionRow) Rows;

struct _LnsFunctionRows
{
  LnsPlaceList parent_instance;

  LnsFunctionSums *sums; /* owned; or NULL */
  LnsFunctionRowsMode mode;
  LnsFunctionColumn column;
  gboolean is_descending;
  double least;
  Rows rows;
  GHashTable
      *expanded[2];       /* of trees top-down and bottom-up: paths of the rows that are unfolded */
  gboolean is_touched[2]; /* the user or heaviest_path () unfolded something */
};

G_DEFINE_FINAL_TYPE (LnsFunctionRows, lns_function_rows, LNS_TYPE_PLACE_LIST)

/* --- Order -------------------------------------------------------------------------------------- */

static int
compare_strings (const LnsFunctionRows *self, uint32_t a, uint32_t b)
{
  size_t na, nb;
  const char *ta = lns_report_string (self->sums->tree->report, a, &na);
  const char *tb = lns_report_string (self->sums->tree->report, b, &nb);

  if (a == b)
    return 0;
  return memcmp (ta, tb, MIN (na, nb)) ?: LNS_COMPARE (na, nb);
}

/* Whether FUNCTION is a process or thread, whose symbol is a number. */
static gboolean
is_owner (const LnsCallFunction *function)
{
  return function->sort == LNS_CALL_PROCESS || function->sort == LNS_CALL_THREAD;
}

static int
compare_by (const LnsFunctionRows *self,
            LnsFunctionColumn column,
            const LnsFunctionRow *a,
            const LnsFunctionRow *b)
{
  const LnsCallFunction *functions = self->sums->tree->functions;

  switch (column)
    {
    case LNS_FUNCTION_COLUMN_NAME:
      if (is_owner (&functions[a->function]) || is_owner (&functions[b->function]))
        return LNS_COMPARE (functions[a->function].sort, functions[b->function].sort)
                   ?: LNS_COMPARE (functions[a->function].symbol, functions[b->function].symbol);
      return self->sums->is_by_module ? compare_strings (self, functions[a->function].module,
                                                         functions[b->function].module)
                                      : compare_strings (self, functions[a->function].symbol,
                                                         functions[b->function].symbol);
    case LNS_FUNCTION_COLUMN_MODULE:
      return compare_strings (self, functions[a->function].module, functions[b->function].module);
    case LNS_FUNCTION_COLUMN_SELF:
      return LNS_COMPARE (a->count.self, b->count.self);
    case LNS_FUNCTION_COLUMN_TOTAL:
    case LNS_FUNCTION_COLUMN_SAMPLES:
    case LNS_N_FUNCTION_COLUMNS:
      break;
    }
  return LNS_COMPARE (a->count.total, b->count.total);
}

/* For g_sort_array (). Where users did not choose, trees are by total, and a flat list by self. */
static int
compare_rows (gconstpointer pa, gconstpointer pb, gpointer data)
{
  const LnsFunctionRows *self = data;
  const LnsFunctionRow *a = pa, *b = pb;
  const gboolean is_own = self->column == LNS_N_FUNCTION_COLUMNS;
  const LnsFunctionColumn column = !is_own                                ? self->column
                                   : self->mode == LNS_FUNCTION_ROWS_FLAT ? LNS_FUNCTION_COLUMN_SELF
                                                                          : self->column;
  const int order = compare_by (self, column, a, b);

  return (is_own || self->is_descending ? -order : order)
             ?: LNS_COMPARE (b->count.total, a->count.total)
             ?: LNS_COMPARE (a->function, b->function);
}

static void
sort (LnsFunctionRows *self, LnsFunctionRow *rows, size_t n)
{
  if (n > 1)
    g_qsort_with_data (rows, (int)n, sizeof *rows, compare_rows, self);
}

/* --- Trees -------------------------------------------------------------------------------------- */

LnsFunctionRowsMode
lns_function_rows_get_mode (LnsFunctionRows *self)
{
  return self->mode;
}

static LnsCallBranches *
branches_of (LnsFunctionRows *self)
{
  return self->sums != NULL && self->mode != LNS_FUNCTION_ROWS_FLAT
             ? lns_function_sums_get_branches (self->sums,
                                               self->mode == LNS_FUNCTION_ROWS_BOTTOM_UP)
             : NULL;
}

const LnsCallBranches *
lns_function_rows_get_branches (LnsFunctionRows *self)
{
  return branches_of (self);
}

/* What tells a branch from others, whatever the sums: a hash of the functions above it. */
static uint64_t
path_of (const LnsCallBranches *branches, uint32_t branch)
{
  uint64_t path = 1;

  while (branch != 0)
    {
      const LnsCallBranch *it = &branches->branches.items[branch];
      const uint64_t step[2] = { path, it->function };
      path = lns_hash (step, sizeof step);
      branch = it->parent;
    }
  return path;
}

static GHashTable *
expanded_of (LnsFunctionRows *self)
{
  return self->expanded[self->mode];
}

static void
keep_expanded (LnsFunctionRows *self, uint32_t branch, gboolean is_expanded)
{
  const uint64_t path = path_of (branches_of (self), branch);

  if (is_expanded)
    g_hash_table_add (expanded_of (self), g_memdup2 (&path, sizeof path));
  else
    g_hash_table_remove (expanded_of (self), &path);
}

static gboolean
is_expanded (LnsFunctionRows *self, uint32_t branch)
{
  const uint64_t path = path_of (branches_of (self), branch);

  return g_hash_table_contains (expanded_of (self), &path);
}

static uint64_t
least_samples (const LnsFunctionRows *self)
{
  return (uint64_t)(self->least * (double)self->sums->n_samples);
}

/* Whether there is something below BRANCH, which need not have grown. */
static gboolean
has_below (LnsFunctionRows *self, const LnsCallBranch *branch)
{
  if (branch->is_grown)
    return branch->n_below > 0;
  const LnsCallBranches *branches = branches_of (self);
  const LnsCallTreeNode *nodes = branches->tree->nodes;
  if (!branches->is_bottom_up)
    return branch->count.total > branch->count.self;
  for (size_t i = 0; i < branch->n_places; i++)
    if (nodes[branches->places.items[branch->first_place + i].node].parent != LNS_ID_NONE)
      return TRUE;
  return FALSE;
}

/* Appends the rows below BRANCH to ROWS, the first as the last one, behind those that are left out. */
static void
push_below (LnsFunctionRows *self, uint32_t branch, Rows *rows)
{
  LnsCallBranches *branches = branches_of (self);
  const LnsCallBranch above = *lns_call_branches_grow (branches, branch);
  const LnsCallBranch *below = &branches->branches.items[above.first_below];
  LnsFunctionRow rest = { .function = LNS_ID_NONE, .branch = LNS_ID_NONE, .depth = above.depth };
  uint32_t n = above.n_below;

  for (; n > 0 && below[n - 1].count.total < least_samples (self); n--)
    {
      rest.n_left_out++;
      rest.count.total += below[n - 1].count.total;
      /* What is below is left out, too. */
      rest.count.self +=
          branches->is_bottom_up ? below[n - 1].count.self : below[n - 1].count.total;
    }
  if (rest.n_left_out > 0)
    *lns_array_add (rows) = rest;
  const size_t first = rows->n;
  for (uint32_t i = 0; i < n; i++)
    *lns_array_add (rows) = (LnsFunctionRow){ .function = below[i].function,
                                              .branch = above.first_below + i,
                                              .depth = above.depth,
                                              .count = below[i].count };
  if (n > 0)
    sort (self, &rows->items[first], n);
  for (uint32_t i = 0; i < n / 2; i++)
    {
      const LnsFunctionRow row = rows->items[first + i];
      rows->items[first + i] = rows->items[rows->n - 1 - i];
      rows->items[rows->n - 1 - i] = row;
    }
}

static void
list_tree (LnsFunctionRows *self)
{
  Rows later = { 0 };

  push_below (self, 0, &later);
  while (later.n > 0)
    {
      LnsFunctionRow row = later.items[--later.n];
      if (row.branch != LNS_ID_NONE)
        {
          row.can_fold = has_below (self, &branches_of (self)->branches.items[row.branch]);
          row.is_expanded = row.can_fold && is_expanded (self, row.branch);
        }
      *lns_array_add (&self->rows) = row;
      if (row.is_expanded)
        push_below (self, row.branch, &later);
    }
  lns_array_clear (&later);
}

/* A sample counts for all functions of its chain, but only those that the filter finds are listed. */
static void
list_flat (LnsFunctionRows *self)
{
  const LnsFunctionSums *sums = self->sums;
  LnsFunctionRow rest = { .function = LNS_ID_NONE, .branch = LNS_ID_NONE };

  for (uint32_t i = 0; i < sums->tree->n_functions; i++)
    {
      const LnsCallCount count = sums->functions[i];
      if (count.total == 0 || (sums->matches != NULL && !sums->matches[i]))
        continue;
      if (count.total >= least_samples (self))
        *lns_array_add (&self->rows) =
            (LnsFunctionRow){ .function = i, .branch = LNS_ID_NONE, .count = count };
      else
        {
          rest.n_left_out++;
          rest.count.self += count.self;
        }
    }
  sort (self, self->rows.items, self->rows.n);
  if (rest.n_left_out > 0)
    *lns_array_add (&self->rows) = rest;
}

static void
list (LnsFunctionRows *self)
{
  self->rows.n = 0;
  if (self->sums != NULL && self->mode == LNS_FUNCTION_ROWS_FLAT)
    list_flat (self);
  else if (self->sums != NULL)
    list_tree (self);
  lns_place_list_replace (LNS_PLACE_LIST (self), (guint)self->rows.n, FALSE);
}

/* --- What is unfolded ---------------------------------------------------------------------------- */

/* Unfolds from BRANCH on as long as one below has more than half of it. */
static void
expand_path (LnsFunctionRows *self, uint32_t branch)
{
  LnsCallBranches *branches = branches_of (self);

  for (;;)
    {
      const LnsCallBranch above = *lns_call_branches_grow (branches, branch);
      if (branch != 0)
        keep_expanded (self, branch, TRUE);
      if (above.n_below == 0 ||
          branches->branches.items[above.first_below].count.total <= above.count.total / 2)
        return;
      branch = above.first_below;
    }
}

/* A tree that nobody unfolded yet shows where most samples are. */
static void
unfold_first (LnsFunctionRows *self)
{
  if (branches_of (self) == NULL || self->is_touched[self->mode] || self->sums->n_samples == 0)
    return;
  self->is_touched[self->mode] = TRUE;
  expand_path (self, 0);
}

void
lns_function_rows_expand_heaviest (LnsFunctionRows *self, guint index)
{
  const LnsFunctionRow *row = lns_function_rows_get (self, index);

  if (row == NULL || row->branch == LNS_ID_NONE)
    return;
  expand_path (self, row->branch);
  list (self);
}

void
lns_function_rows_set_expanded (LnsFunctionRows *self, guint index, gboolean expanded)
{
  const LnsFunctionRow *row = lns_function_rows_get (self, index);

  if (row == NULL || !row->can_fold || row->is_expanded == expanded)
    return;
  keep_expanded (self, row->branch, expanded);
  list (self);
}

/* --- Settings ------------------------------------------------------------------------------------ */

const LnsFunctionRow *
lns_function_rows_get (LnsFunctionRows *self, guint index)
{
  return index < self->rows.n ? &self->rows.items[index] : NULL;
}

void
lns_function_rows_set_sums (LnsFunctionRows *self, LnsFunctionSums *sums)
{
  LnsFunctionSums *old = self->sums;

  self->sums = sums != NULL ? lns_function_sums_ref (sums) : NULL;
  if (old != NULL && sums != NULL &&
      (old->is_by_module != sums->is_by_module || old->source != sums->source ||
       old->is_by_thread != sums->is_by_thread || old->strips_numbers != sums->strips_numbers))
    for (int i = 0; i < 2; i++)
      {
        g_hash_table_remove_all (self->expanded[i]);
        self->is_touched[i] = FALSE;
      }
  lns_function_sums_unref (old);
  unfold_first (self);
  list (self);
}

void
lns_function_rows_set_mode (LnsFunctionRows *self, LnsFunctionRowsMode mode)
{
  self->mode = mode;
  unfold_first (self);
  list (self);
}

void
lns_function_rows_sort (LnsFunctionRows *self, LnsFunctionColumn column, gboolean descending)
{
  self->column = column;
  self->is_descending = descending;
  list (self);
}

void
lns_function_rows_set_least (LnsFunctionRows *self, double least)
{
  self->least = least;
  list (self);
}

/* --- Life ----------------------------------------------------------------------------------- */

LnsFunctionRows *
lns_function_rows_new (void)
{
  return g_object_new (LNS_TYPE_FUNCTION_ROWS, NULL);
}

static void
lns_function_rows_finalize (GObject *object)
{
  LnsFunctionRows *self = LNS_FUNCTION_ROWS (object);

  for (int i = 0; i < 2; i++)
    g_hash_table_unref (self->expanded[i]);
  lns_array_clear (&self->rows);
  lns_function_sums_unref (self->sums);
  G_OBJECT_CLASS (lns_function_rows_parent_class)->finalize (object);
}

static void
lns_function_rows_class_init (LnsFunctionRowsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_function_rows_finalize;
}

static void
lns_function_rows_init (LnsFunctionRows *self)
{
  self->column = LNS_N_FUNCTION_COLUMNS;
  for (int i = 0; i < 2; i++)
    self->expanded[i] = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
}

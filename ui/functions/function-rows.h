/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows of a table of functions: all of them once, or a tree that folds. What is unfolded stays so when other sums come.
 * Main thread only. */

#pragma once

#include "ui/functions/functions.h"
#include "ui/model/place-list.h"

typedef enum
{
  LNS_FUNCTION_ROWS_TOP_DOWN,
  LNS_FUNCTION_ROWS_BOTTOM_UP,
  LNS_FUNCTION_ROWS_FLAT
} LnsFunctionRowsMode;

typedef enum
{
  LNS_FUNCTION_COLUMN_NAME,
  LNS_FUNCTION_COLUMN_TOTAL,
  LNS_FUNCTION_COLUMN_SELF,
  LNS_FUNCTION_COLUMN_SAMPLES,
  LNS_FUNCTION_COLUMN_MODULE,
  LNS_N_FUNCTION_COLUMNS
} LnsFunctionColumn;

typedef struct
{
  uint32_t function;   /* LNS_ID_NONE: N_LEFT_OUT rows that are too small */
  uint32_t branch;     /* LNS_ID_NONE in a flat list */
  uint32_t depth;      /* outermost 0 */
  uint32_t n_left_out; /* this many rows instead of one */
  LnsCallCount count;
  gboolean can_fold;
  gboolean is_expanded;
} LnsFunctionRow;

#define LNS_TYPE_FUNCTION_ROWS (lns_function_rows_get_type ())
G_DECLARE_FINAL_TYPE (LnsFunctionRows, lns_function_rows, LNS, FUNCTION_ROWS, LnsPlaceList)

LnsFunctionRows *lns_function_rows_new (void) G_GNUC_WARN_UNUSED_RESULT;

/* Shows SUMS (NULL: nothing). Holds a reference on them. */
void lns_function_rows_set_sums (LnsFunctionRows *self, LnsFunctionSums *sums);

void lns_function_rows_set_mode (LnsFunctionRows *self, LnsFunctionRowsMode mode);
LnsFunctionRowsMode lns_function_rows_get_mode (LnsFunctionRows *self);

/* Sorts rows, and those below one row among each other. LNS_N_FUNCTION_COLUMNS: as their kind is read best, the greatest
 * first. */
void lns_function_rows_sort (LnsFunctionRows *self, LnsFunctionColumn column, gboolean descending);

/* Leaves out rows below this share, 0 to 1, of all samples. */
void lns_function_rows_set_least (LnsFunctionRows *self, double least);

/* The row at INDEX, or NULL; until the rows change. */
const LnsFunctionRow *lns_function_rows_get (LnsFunctionRows *self, guint index);

/* The branches that the rows' branches are of; NULL for a flat list. */
const LnsCallBranches *lns_function_rows_get_branches (LnsFunctionRows *self);

void lns_function_rows_set_expanded (LnsFunctionRows *self, guint index, gboolean is_expanded);

/* Unfolds the row at INDEX and the widest below it, as long as one has most of what is above it. */
void lns_function_rows_expand_heaviest (LnsFunctionRows *self, guint index);

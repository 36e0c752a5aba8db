/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/row-plan.h"

void
lns_row_plan_init (LnsRowPlan *self)
{
  *self = (LnsRowPlan){ .rows = g_array_new (FALSE, FALSE, sizeof (LnsPlannedRow)) };
  for (int side = 0; side < 2; side++)
    self->places[side] = g_array_new (FALSE, FALSE, sizeof (guint));
}

void
lns_row_plan_clear (LnsRowPlan *self)
{
  g_array_unref (self->rows);
  for (int side = 0; side < 2; side++)
    g_array_unref (self->places[side]);
}

static void
begin (LnsRowPlan *self, const LnsRowContext *a, const LnsRowContext *b)
{
  self->contexts[0] = a;
  self->contexts[1] = b;
  self->total_px = 0;
  g_array_set_size (self->rows, 0);
  for (int side = 0; side < 2; side++)
    {
      const guint n = self->contexts[side] != NULL
                          ? lns_row_tree_n_rows (self->contexts[side]->tree)
                          : 0,
                  none = LNS_ID_NONE;
      g_array_set_size (self->places[side], 0);
      for (guint row = 0; row < n; row++)
        g_array_append_val (self->places[side], none);
    }
}

static void
put (LnsRowPlan *self, int side, uint32_t row)
{
  const LnsPlannedRow planned = { side, row, self->total_px, LNS_ID_NONE };

  g_array_index (self->places[side], guint, row) = self->rows->len;
  g_array_append_val (self->rows, planned);
  self->total_px += lns_row_tree_height_px (self->contexts[side]->tree, row);
}

/* Puts ROW of A and OTHER of B, which have the same role. */
static void
put_pair (LnsRowPlan *self, uint32_t row, uint32_t other)
{
  const guint place = self->rows->len;

  put (self, 0, row);
  put (self, 1, other);
  g_array_index (self->rows, LnsPlannedRow, place).partner = place + 1;
  g_array_index (self->rows, LnsPlannedRow, place + 1).partner = place;
}

/* Rows that show: the visible ones of a tree from FIRST to before END. */
typedef struct
{
  uint32_t first, end;
} Run;

static uint32_t
visible (const LnsRowPlan *self, int side, uint32_t v)
{
  return lns_row_tree_visible (self->contexts[side]->tree, v);
}

/* The place behind what stands below the visible row V, among those before END. */
static uint32_t
end_below (const LnsRowPlan *self, int side, uint32_t v, uint32_t end)
{
  const LnsRowTree *tree = self->contexts[side]->tree;
  const LnsRow *it = lns_row_tree_row (tree, visible (self, side, v));
  uint32_t below = v + 1;

  while (below < end &&
         lns_row_tree_row (tree, visible (self, side, below))->rank <= it->rank + it->n_below)
    below++;
  return below;
}

/* The place, among the visible rows of the other report, of the row with the role of ROW, if it is in RUN; or LNS_ID_NONE. */
static uint32_t
partner_in (const LnsRowPlan *self, const LnsRowPairs *pairs, int side, uint32_t row, Run run)
{
  const uint32_t other = lns_row_pairs_other (pairs, side, row);
  const uint32_t v = other != LNS_ID_NONE
                         ? lns_row_tree_place_of (self->contexts[1 - side]->tree, other)
                         : LNS_ID_NONE;

  return v != LNS_ID_NONE && v >= run.first && v < run.end ? v : LNS_ID_NONE;
}

/* Puts the rows of RUN that have no pair in OTHERS, with what is below them. */
static void
put_unpaired (LnsRowPlan *self, const LnsRowPairs *pairs, Run run, Run others)
{
  for (uint32_t v = run.first; v < run.end;)
    {
      const uint32_t end = end_below (self, 1, v, run.end);
      if (partner_in (self, pairs, 1, visible (self, 1, v), others) == LNS_ID_NONE)
        for (uint32_t below = v; below < end; below++)
          put (self, 1, visible (self, 1, below));
      v = end;
    }
}

/* Puts the rows of A of one level, each followed by that of B and by what is below both; then what B alone has there. */
static void
put_level (LnsRowPlan *self, const LnsRowPairs *pairs, Run a, Run b)
{
  for (uint32_t v = a.first; v < a.end;)
    {
      const uint32_t row = visible (self, 0, v), end = end_below (self, 0, v, a.end);
      const uint32_t partner = b.first < b.end ? partner_in (self, pairs, 0, row, b) : LNS_ID_NONE;
      Run below = { 0, 0 };
      if (partner != LNS_ID_NONE)
        {
          put_pair (self, row, visible (self, 1, partner));
          below = (Run){ partner + 1, end_below (self, 1, partner, b.end) };
        }
      else
        put (self, 0, row);
      put_level (self, pairs, (Run){ v + 1, end }, below);
      v = end;
    }
  put_unpaired (self, pairs, b, a);
}

void
lns_row_plan_fill (LnsRowPlan *self,
                   const LnsRowContext *a,
                   const LnsRowContext *b,
                   const LnsRowPairs *pairs)
{
  begin (self, a, b);
  const uint32_t n = lns_row_tree_n_visible (a->tree);
  if (b != NULL)
    put_level (self, pairs, (Run){ 0, n }, (Run){ 0, lns_row_tree_n_visible (b->tree) });
  else
    for (uint32_t v = 0; v < n; v++)
      put (self, 0, visible (self, 0, v));
}

void
lns_row_plan_fill_pinned (LnsRowPlan *self,
                          const LnsRowContext *a,
                          const LnsRowContext *b,
                          const LnsRowPairs *pairs,
                          const GArray *pinned)
{
  begin (self, a, b);
  for (guint i = 0; i < pinned->len; i++)
    {
      const uint32_t row = g_array_index (pinned, uint32_t, i);
      const uint32_t other = b != NULL ? lns_row_pairs_other (pairs, 0, row) : LNS_ID_NONE;
      if (other != LNS_ID_NONE)
        put_pair (self, row, other);
      else
        put (self, 0, row);
    }
}

guint
lns_row_plan_at_px (const LnsRowPlan *self, int y_px)
{
  guint first = 0, end = self->rows->len;

  while (end - first > 1)
    {
      const guint middle = first + (end - first) / 2;
      if (lns_row_plan_at (self, middle)->top_px <= y_px)
        first = middle;
      else
        end = middle;
    }
  return first;
}

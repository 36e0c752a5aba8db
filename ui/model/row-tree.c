/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/row-tree.h"

#include <glib.h>

#include "ui/model/row-tree-private.h"

uint32_t
lns_row_tree_n_rows (const LnsRowTree *self)
{
  return self->rows->len;
}

const LnsRow *
lns_row_tree_row (const LnsRowTree *self, uint32_t row)
{
  g_return_val_if_fail (row < self->rows->len, NULL);
  return &g_array_index (self->rows, LnsRow, row);
}

const uint32_t *
lns_row_tree_lanes (const LnsRowTree *self)
{
  return (const uint32_t *)(void *)self->lanes->data;
}

uint32_t
lns_row_tree_at_rank (const LnsRowTree *self, uint32_t rank)
{
  g_return_val_if_fail (rank < self->order->len, LNS_ID_NONE);
  return g_array_index (self->order, uint32_t, rank);
}

void
_lns_row_tree_rank (LnsRowTree *self)
{
  for (uint32_t rank = 0; rank < self->order->len; rank++)
    g_array_index (self->rows, LnsRow, lns_row_tree_at_rank (self, rank)).rank = rank;
}

uint32_t
lns_row_tree_row_of_lane (const LnsRowTree *self, uint32_t lane)
{
  return lane < self->n_report_lanes ? self->row_of_lane[lane] : LNS_ID_NONE;
}

bool
lns_row_tree_can_fold (const LnsRowTree *self, uint32_t row)
{
  const LnsRow *it = lns_row_tree_row (self, row);
  return it->n_below > 0 || it->splits || (it->n_own > 1 && !lns_row_kind_is_merged (it->kind));
}

/* --- What shows ---------------------------------------------------------------------------- */

uint32_t
lns_row_tree_n_shown_lanes (const LnsRowTree *self, uint32_t row)
{
  const LnsRow *it = lns_row_tree_row (self, row);
  bool all = it->expanded && !lns_row_kind_is_merged (it->kind);
  return all ? it->n_own : MIN (it->n_own, 1);
}

int
lns_row_tree_height_px (const LnsRowTree *self, uint32_t row)
{
  LnsRowKind kind = lns_row_tree_row (self, row)->kind;
  if (lns_row_kind_is_group (kind))
    return LNS_SUMMARY_PX;
  if (kind == LNS_ROW_COUNTER)
    return LNS_COUNTER_PX;
  return (int)MAX (lns_row_tree_n_shown_lanes (self, row), 1) * LNS_LANE_PX + 2 * LNS_ROW_PAD_PX;
}

void
_lns_row_tree_lay_out (LnsRowTree *self)
{
  g_array_set_size (self->visible, 0);
  g_array_set_size (self->tops, 0);
  int top_px = 0;
  for (uint32_t rank = 0; rank < self->order->len;)
    {
      uint32_t row = lns_row_tree_at_rank (self, rank);
      const LnsRow *it = lns_row_tree_row (self, row);
      g_array_append_val (self->visible, row);
      g_array_append_val (self->tops, top_px);
      top_px += lns_row_tree_height_px (self, row);
      rank += 1 + (it->expanded ? 0 : it->n_below);
    }
  g_array_append_val (self->tops, top_px);
}

uint32_t
lns_row_tree_n_visible (const LnsRowTree *self)
{
  return self->visible->len;
}

uint32_t
lns_row_tree_visible (const LnsRowTree *self, uint32_t v)
{
  g_return_val_if_fail (v < self->visible->len, LNS_ID_NONE);
  return g_array_index (self->visible, uint32_t, v);
}

uint32_t
lns_row_tree_place_of (const LnsRowTree *self, uint32_t row)
{
  uint32_t low = 0, high = self->visible->len, rank = lns_row_tree_row (self, row)->rank;
  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;
      if (lns_row_tree_row (self, g_array_index (self->visible, uint32_t, middle))->rank < rank)
        low = middle + 1;
      else
        high = middle;
    }
  bool found = low < self->visible->len && g_array_index (self->visible, uint32_t, low) == row;
  return found ? low : LNS_ID_NONE;
}

int
lns_row_tree_top_px (const LnsRowTree *self, uint32_t v)
{
  g_return_val_if_fail (v < self->tops->len, 0);
  return g_array_index (self->tops, int, v);
}

uint32_t
lns_row_tree_at_px (const LnsRowTree *self, int y_px)
{
  uint32_t low = 0, high = self->visible->len;
  while (high - low > 1)
    {
      uint32_t middle = low + (high - low) / 2;
      if (g_array_index (self->tops, int, middle) <= y_px)
        low = middle;
      else
        high = middle;
    }
  return low;
}

/* --- Folding ------------------------------------------------------------------------------- */

static bool
expand (LnsRowTree *self, uint32_t row, bool expanded)
{
  LnsRow *it = &g_array_index (self->rows, LnsRow, row);
  if (it->expanded == expanded || !lns_row_tree_can_fold (self, row))
    return false;
  it->expanded = expanded;
  return true;
}

bool
lns_row_tree_set_expanded (LnsRowTree *self, uint32_t row, bool expanded)
{
  g_return_val_if_fail (row < self->rows->len, false);
  bool changed = expand (self, row, expanded);
  if (changed)
    _lns_row_tree_lay_out (self);
  return changed;
}

bool
lns_row_tree_set_all_expanded (LnsRowTree *self, bool expanded)
{
  bool changed = false;
  for (uint32_t row = 0; row < self->rows->len; row++)
    changed |= expand (self, row, expanded);
  if (changed)
    _lns_row_tree_lay_out (self);
  return changed;
}

bool
lns_row_tree_unfold_to (LnsRowTree *self, uint32_t row)
{
  bool changed = false;
  if (lns_row_kind_is_merged (lns_row_tree_row (self, row)->kind))
    row = lns_row_tree_row (self, row)->parent; /* it shows all it has as it is */
  for (; row != LNS_ID_NONE; row = lns_row_tree_row (self, row)->parent)
    changed |= expand (self, row, true);
  if (changed)
    _lns_row_tree_lay_out (self);
  return changed;
}

/* --- Trees --------------------------------------------------------------------------------- */

LnsRowTree *
_lns_row_tree_copy (const LnsRowTree *self)
{
  LnsRowTree *tree = g_atomic_rc_box_new0 (LnsRowTree);
  tree->rows = g_array_copy (self->rows);
  tree->order = g_array_copy (self->order);
  tree->lanes = g_array_copy (self->lanes);
  tree->visible = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  tree->tops = g_array_new (FALSE, FALSE, sizeof (int));
  tree->n_report_lanes = self->n_report_lanes;
  tree->hues = lns_hues_ref (self->hues);
  tree->row_of_lane =
      g_memdup2 (self->row_of_lane, (self->n_report_lanes + 1) * sizeof *self->row_of_lane);
  tree->sets = g_ptr_array_new_with_free_func ((GDestroyNotify)lns_facet_set_unref);
  for (guint i = 0; i < self->sets->len; i++)
    g_ptr_array_add (tree->sets, lns_facet_set_ref (g_ptr_array_index (self->sets, i)));
  for (uint32_t row = 0; row < tree->rows->len; row++)
    {
      LnsRow *it = &g_array_index (tree->rows, LnsRow, row);
      it->label = g_strdup (it->label);
    }
  return tree;
}

static void
clear (gpointer data)
{
  LnsRowTree *self = data;
  for (uint32_t row = 0; row < self->rows->len; row++)
    g_free (g_array_index (self->rows, LnsRow, row).label);
  g_array_unref (self->rows);
  g_array_unref (self->order);
  g_ptr_array_unref (self->sets);
  g_array_unref (self->lanes);
  g_array_unref (self->visible);
  g_array_unref (self->tops);
  g_free (self->row_of_lane);
  lns_hues_unref (self->hues);
}

const LnsHues *
lns_row_tree_hues (const LnsRowTree *self)
{
  return self->hues;
}

LnsRowTree *
lns_row_tree_ref (const LnsRowTree *self)
{
  return g_atomic_rc_box_acquire ((gpointer)self);
}

void
lns_row_tree_unref (LnsRowTree *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, clear);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/row-state.h"

#include "ui/model/row-identity.h"

void
lns_row_state_clear (LnsRowState *self)
{
  g_clear_pointer (&self->unfolded, g_array_unref);
  g_clear_pointer (&self->natural, g_array_unref);
  g_clear_pointer (&self->arranged, g_hash_table_unref);
  g_clear_pointer (&self->waiting, lns_kept_view_free);
  g_clear_pointer (&self->taken, g_hash_table_unref);
  g_clear_pointer (&self->identities, g_ptr_array_unref);
}

void
lns_row_state_restore (LnsRowState *self, LnsKeptView *view)
{
  lns_row_state_clear (self);
  self->waiting = view;
}

/* --- Restoring ----------------------------------------------------------------------------- */

static void
insert_pin (GArray *pinned, GArray *pins, uint32_t row, guint pin)
{
  guint i = 0;
  while (i < pins->len && g_array_index (pins, guint, i) <= pin)
    i++;
  g_array_insert_val (pinned, i, row);
  g_array_insert_val (pins, i, pin);
}

/* The places among the pinned ones that were kept of the rows of PINNED; of others, the last. */
static GArray *
pins_of (const LnsRowState *self, const GPtrArray *identities, const GArray *pinned)
{
  GArray *pins = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < pinned->len; i++)
    {
      const LnsKeptRow *kept = g_hash_table_lookup (
          self->waiting->rows, g_ptr_array_index (identities, g_array_index (pinned, uint32_t, i)));
      const guint pin = kept != NULL && kept->pin > 0 ? kept->pin : G_MAXUINT;
      g_array_append_val (pins, pin);
    }
  return pins;
}

/* Gives the rows of TREE from FIRST on what was kept of them. Returns whether any was moved. */
static gboolean
apply (LnsRowState *self,
       LnsRowTree *tree,
       const GPtrArray *identities,
       uint32_t first,
       GArray *pinned,
       uint32_t *places)
{
  gboolean is_moved = FALSE;
  g_autoptr (GArray) pins = pins_of (self, identities, pinned);
  for (uint32_t row = first; row < lns_row_tree_n_rows (tree); row++)
    {
      const char *identity = g_ptr_array_index (identities, row);
      const LnsKeptRow *kept = g_hash_table_lookup (self->waiting->rows, identity);
      if (kept == NULL)
        continue;
      g_hash_table_add (self->taken, g_strdup (identity));
      if (kept->folding != 0)
        lns_row_tree_set_expanded (tree, row, kept->folding > 0);
      if (kept->is_hidden)
        lns_row_tree_set_hidden (tree, row, true);
      if (kept->lanes > 0)
        lns_row_tree_set_lanes_high (tree, row, (int)kept->lanes);
      if (kept->pin > 0)
        insert_pin (pinned, pins, row, kept->pin);
      places[row] = kept->place;
      is_moved |= kept->place > 0;
      if (kept->place > 0)
        g_hash_table_add (self->arranged,
                          GUINT_TO_POINTER (lns_row_tree_row (tree, row)->parent + 1));
    }
  return is_moved;
}

LnsRowTree *
lns_row_state_follow (LnsRowState *self, LnsRowTree *tree, LnsReport *report, GArray *pinned)
{
  if (self->unfolded == NULL)
    {
      self->unfolded = g_array_new (FALSE, FALSE, sizeof (gboolean));
      self->natural = g_array_new (FALSE, FALSE, sizeof (uint32_t));
      self->arranged = g_hash_table_new (NULL, NULL);
      self->taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    }
  /* Rows that wait for something are called otherwise once it is there. */
  g_clear_pointer (&self->identities, g_ptr_array_unref);
  const uint32_t first = self->unfolded->len, n = lns_row_tree_n_rows (tree);
  for (uint32_t row = first; row < n; row++)
    {
      const gboolean is_unfolded = lns_row_tree_row (tree, row)->expanded;
      g_array_append_val (self->unfolded, is_unfolded);
    }
  /* Rows that come push others down. */
  const gboolean all = g_hash_table_size (self->arranged) == 0;
  g_array_set_size (self->natural, n);
  for (uint32_t row = all ? 0 : first; row < n; row++)
    g_array_index (self->natural, uint32_t, row) = lns_row_tree_row (tree, row)->rank;
  if (self->waiting == NULL || first == n)
    return NULL;
  g_autoptr (GPtrArray) identities = lns_row_identities (tree, report);
  g_autofree uint32_t *places = g_new0 (uint32_t, n);
  lns_row_tree_hold (tree);
  const gboolean is_moved = apply (self, tree, identities, first, pinned, places);
  lns_row_tree_release (tree);
  if (!is_moved)
    return NULL;
  return lns_row_tree_arranged (tree, places);
}

/* Sets the PLACES of the rows below PARENT to those that they have among each other in TREE. */
static void
note_places (const LnsRowTree *tree, uint32_t parent, uint32_t *places)
{
  uint32_t place = 0;
  for (uint32_t rank = 0; rank < lns_row_tree_n_ranks (tree); rank++)
    {
      const uint32_t row = lns_row_tree_at_rank (tree, rank);
      if (lns_row_tree_row (tree, row)->parent == parent)
        places[row] = ++place;
    }
}

LnsRowTree *
lns_row_state_grow (const LnsRowState *self,
                    const LnsRowTree *tree,
                    LnsReport *report,
                    GArray *pinned)
{
  LnsRowTree *grown = lns_row_tree_grown (tree, report);
  for (guint i = pinned->len; i > 0; i--)
    if (lns_row_tree_row (grown, g_array_index (pinned, uint32_t, i - 1))->rank == LNS_ID_NONE)
      g_array_remove_index (pinned, i - 1);
  if (self->arranged == NULL || g_hash_table_size (self->arranged) == 0)
    return grown;
  g_autofree uint32_t *places = g_new0 (uint32_t, lns_row_tree_n_rows (grown) + 1);
  GHashTableIter iter;
  gpointer parent;
  g_hash_table_iter_init (&iter, self->arranged);
  while (g_hash_table_iter_next (&iter, &parent, NULL))
    note_places (tree, GPOINTER_TO_UINT (parent) - 1, places);
  LnsRowTree *arranged = lns_row_tree_arranged (grown, places);
  lns_row_tree_unref (grown);
  return arranged;
}

/* --- Telling ------------------------------------------------------------------------------- */

/* Tells where the rows below PARENT stand among each other. */
static void
tell_places (const LnsRowTree *tree,
             const GPtrArray *identities,
             uint32_t parent,
             LnsKeptView *view)
{
  guint place = 0;
  for (uint32_t rank = 0; rank < lns_row_tree_n_ranks (tree); rank++)
    {
      const uint32_t id = lns_row_tree_at_rank (tree, rank);
      if (lns_row_tree_row (tree, id)->parent != parent)
        continue;
      LnsKeptRow *kept = lns_kept_view_row (view, g_ptr_array_index (identities, id));
      if (kept != NULL)
        kept->place = ++place;
    }
}

/* Tells what was kept of rows that are not here: in another capture they may be. */
static void
tell_absent (const LnsRowState *self, LnsKeptView *view)
{
  GHashTableIter iter;
  gpointer identity, kept;
  if (self->waiting == NULL)
    return;
  g_hash_table_iter_init (&iter, self->waiting->rows);
  while (g_hash_table_iter_next (&iter, &identity, &kept))
    if (!g_hash_table_contains (self->taken, identity))
      {
        LnsKeptRow *row = lns_kept_view_row (view, identity);
        if (row != NULL)
          *row = *(const LnsKeptRow *)kept;
      }
}

gboolean
lns_row_state_identify (LnsRowState *self, const LnsRowTree *tree, LnsReport *report)
{
  if (self->identities != NULL)
    return FALSE;
  self->identities = lns_row_identities (tree, report);
  return TRUE;
}

/* What the rows of TREE are called in other captures. */
static const GPtrArray *
identities_of (LnsRowState *self, const LnsRowTree *tree, LnsReport *report)
{
  lns_row_state_identify (self, tree, report);
  return self->identities;
}

void
lns_row_state_tell (LnsRowState *self,
                    const LnsRowTree *tree,
                    LnsReport *report,
                    const GArray *pinned,
                    LnsKeptView *view)
{
  GHashTableIter iter;
  gpointer parent;
  tell_absent (self, view);
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    {
      const LnsRow *it = lns_row_tree_row (tree, row);
      const gboolean was_unfolded = g_array_index (self->unfolded, gboolean, row);
      if (it->expanded == was_unfolded && !it->is_hidden && it->lanes_high == 0)
        continue;
      const char *identity = g_ptr_array_index (identities_of (self, tree, report), row);
      LnsKeptRow *kept = lns_kept_view_row (view, identity);
      if (kept == NULL)
        continue;
      kept->folding = it->expanded == was_unfolded ? 0 : it->expanded ? 1 : -1;
      kept->is_hidden = it->is_hidden;
      kept->lanes = it->lanes_high;
    }
  for (guint i = 0; i < pinned->len; i++)
    {
      const char *identity = g_ptr_array_index (identities_of (self, tree, report),
                                                g_array_index (pinned, uint32_t, i));
      LnsKeptRow *kept = lns_kept_view_row (view, identity);
      if (kept != NULL)
        kept->pin = i + 1;
    }
  g_hash_table_iter_init (&iter, self->arranged);
  while (g_hash_table_iter_next (&iter, &parent, NULL))
    tell_places (tree, identities_of (self, tree, report), GPOINTER_TO_UINT (parent) - 1, view);
}

/* --- Changes ------------------------------------------------------------------------------- */

LnsRowTree *
lns_row_state_reset (LnsRowState *self, LnsRowTree *tree, GArray *pinned)
{
  const uint32_t n = lns_row_tree_n_rows (tree);
  g_autofree uint32_t *places = g_new0 (uint32_t, n);
  g_array_set_size (pinned, 0);
  g_hash_table_remove_all (self->arranged);
  g_clear_pointer (&self->waiting, lns_kept_view_free);
  lns_row_tree_hold (tree);
  for (uint32_t row = 0; row < n; row++)
    {
      lns_row_tree_set_expanded (tree, row, g_array_index (self->unfolded, gboolean, row));
      lns_row_tree_set_hidden (tree, row, false);
      lns_row_tree_set_lanes_high (tree, row, 1);
      places[row] = 1 + g_array_index (self->natural, uint32_t, row);
    }
  lns_row_tree_release (tree);
  return lns_row_tree_arranged (tree, places);
}

LnsRowTree *
lns_row_state_move (LnsRowState *self, const LnsRowTree *tree, uint32_t row, int by)
{
  const uint32_t parent = lns_row_tree_row (tree, row)->parent;
  g_autofree uint32_t *places = g_new0 (uint32_t, lns_row_tree_n_rows (tree));
  uint32_t place = 0, other = LNS_ID_NONE, last = LNS_ID_NONE;
  for (uint32_t rank = 0; rank < lns_row_tree_n_ranks (tree); rank++)
    {
      const uint32_t id = lns_row_tree_at_rank (tree, rank);
      const LnsRow *it = lns_row_tree_row (tree, id);
      if (it->parent != parent)
        continue;
      places[id] = ++place;
      if (it->is_hidden)
        continue;
      if ((by < 0 && id == row) || (by > 0 && last == row))
        other = by < 0 ? last : id;
      last = id;
    }
  if (other == LNS_ID_NONE)
    return NULL;
  place = places[row];
  places[row] = places[other];
  places[other] = place;
  g_hash_table_add (self->arranged, GUINT_TO_POINTER (parent + 1));
  return lns_row_tree_arranged (tree, places);
}

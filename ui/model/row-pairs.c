/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/row-pairs.h"

#include <string.h>

#include "ui/model/row-identity.h"

typedef struct
{
  const LnsRowTree *trees[2];
  GPtrArray *identities[2];
  LnsRowPairs pairs;
} Pairing;

static void
note (Pairing *self, uint32_t a, uint32_t b)
{
  g_array_index (self->pairs.other[0], uint32_t, a) = b;
  g_array_index (self->pairs.other[1], uint32_t, b) = a;
}

/* What tells ROW of SIDE from its siblings. Owned by SELF. */
static const char *
own_part (const Pairing *self, int side, uint32_t row)
{
  const char *whole = g_ptr_array_index (self->identities[side], row);
  const uint32_t parent = lns_row_tree_row (self->trees[side], row)->parent;

  return parent == LNS_ID_NONE
             ? whole
             : whole + strlen (g_ptr_array_index (self->identities[side], parent)) + 1;
}

/* Whether rows of KIND that are called otherwise have the same role by their order: what tells them apart are numbers. */
static gboolean
is_by_order (LnsRowKind kind)
{
  return kind == LNS_ROW_PROCESS || kind == LNS_ROW_DEVICE || kind == LNS_ROW_CONTEXT ||
         kind == LNS_ROW_STREAM;
}

/* Pairs what is left of the children A with those of B by order. */
static void
pair_by_order (Pairing *self, const GArray *a, const GArray *b)
{
  guint k = 0;

  for (guint i = 0; i < a->len; i++)
    {
      const uint32_t row = g_array_index (a, uint32_t, i);
      const LnsRowKind kind = lns_row_tree_row (self->trees[0], row)->kind;
      if (!is_by_order (kind) || lns_row_pairs_other (&self->pairs, 0, row) != LNS_ID_NONE)
        continue;
      for (; k < b->len; k++)
        {
          const uint32_t other = g_array_index (b, uint32_t, k);
          if (lns_row_tree_row (self->trees[1], other)->kind == kind &&
              lns_row_pairs_other (&self->pairs, 1, other) == LNS_ID_NONE)
            {
              note (self, row, other);
              break;
            }
        }
    }
}

/* The rows of SIDE by parent: that of row r at r + 1, those of none at 0. */
static GPtrArray *
children_of (const Pairing *self, int side)
{
  const uint32_t n = lns_row_tree_n_rows (self->trees[side]);
  GPtrArray *children = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);

  for (uint32_t row = 0; row <= n; row++)
    g_ptr_array_add (children, g_array_new (FALSE, FALSE, sizeof (uint32_t)));
  for (uint32_t row = 0; row < n; row++)
    {
      const LnsRow *it = lns_row_tree_row (self->trees[side], row);
      GArray *siblings = g_ptr_array_index (
          children, it->parent != LNS_ID_NONE && it->parent < n ? it->parent + 1 : 0);
      if (it->rank != LNS_ID_NONE)
        g_array_append_val (siblings, row);
    }
  return children;
}

/* What process ROW of SIDE is called, without the number that tells it from others of its name, and on which GPU it is first. Free with
 * g_free (); NULL where it is on none. */
static char *
role_of_process (const Pairing *self, GPtrArray *const children[2], int side, uint32_t row)
{
  const LnsRow *it = lns_row_tree_row (self->trees[side], row);
  const GArray *below = g_ptr_array_index (children[side], row + 1);

  for (guint i = 0; i < below->len && it->kind == LNS_ROW_PROCESS; i++)
    {
      const uint32_t child = g_array_index (below, uint32_t, i);
      if (lns_row_tree_row (self->trees[side], child)->kind != LNS_ROW_DEVICE)
        continue;
      g_auto (GStrv) parts = g_strsplit (own_part (self, side, row), "#", 2);
      return g_strdup_printf ("%s/%s", parts[0], own_part (self, side, child));
    }
  return NULL;
}

/* Pairs processes of one name that are on one GPU: which of them came first differs from run to run. */
static void
pair_processes (Pairing *self, GPtrArray *const children[2], const GArray *a, const GArray *b)
{
  g_autoptr (GHashTable) by_role = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = b->len; i > 0; i--)
    {
      const uint32_t row = g_array_index (b, uint32_t, i - 1);
      char *role = role_of_process (self, children, 1, row);
      if (role != NULL)
        g_hash_table_insert (by_role, role, GUINT_TO_POINTER (row + 1));
    }
  for (guint i = 0; i < a->len; i++)
    {
      const uint32_t row = g_array_index (a, uint32_t, i);
      g_autofree char *role = role_of_process (self, children, 0, row);
      const guint found = role != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (by_role, role)) : 0;
      if (found == 0)
        continue;
      note (self, row, found - 1);
      g_hash_table_remove (by_role, role);
    }
}

/* Pairs the children A of a row with those B of its pair, and what is below them. */
static void
pair_level (Pairing *self, GPtrArray *const children[2], const GArray *a, const GArray *b)
{
  g_autoptr (GHashTable) by_part = g_hash_table_new (g_str_hash, g_str_equal);

  pair_processes (self, children, a, b);
  for (guint i = 0; i < b->len; i++)
    {
      const uint32_t row = g_array_index (b, uint32_t, i);
      if (lns_row_pairs_other (&self->pairs, 1, row) == LNS_ID_NONE)
        g_hash_table_insert (by_part, (gpointer)own_part (self, 1, row),
                             GUINT_TO_POINTER (row + 1));
    }
  for (guint i = 0; i < a->len; i++)
    {
      const uint32_t row = g_array_index (a, uint32_t, i);
      const guint found = GPOINTER_TO_UINT (g_hash_table_lookup (by_part, own_part (self, 0, row)));
      if (found != 0 && lns_row_pairs_other (&self->pairs, 0, row) == LNS_ID_NONE)
        note (self, row, found - 1);
    }
  pair_by_order (self, a, b);
  for (guint i = 0; i < a->len; i++)
    {
      const uint32_t row = g_array_index (a, uint32_t, i),
                     other = lns_row_pairs_other (&self->pairs, 0, row);
      if (other != LNS_ID_NONE)
        pair_level (self, children, g_ptr_array_index (children[0], row + 1),
                    g_ptr_array_index (children[1], other + 1));
    }
}

LnsRowPairs
lns_row_pairs_find (const LnsRowTree *const trees[2], LnsReport *const reports[2])
{
  Pairing self = { .trees = { trees[0], trees[1] } };
  GPtrArray *children[2];

  for (int side = 0; side < 2; side++)
    {
      const uint32_t n = lns_row_tree_n_rows (trees[side]), none = LNS_ID_NONE;
      self.identities[side] = lns_row_identities (trees[side], reports[side]);
      children[side] = children_of (&self, side);
      self.pairs.other[side] = g_array_sized_new (FALSE, FALSE, sizeof (uint32_t), n);
      for (uint32_t row = 0; row < n; row++)
        g_array_append_val (self.pairs.other[side], none);
    }
  pair_level (&self, children, g_ptr_array_index (children[0], 0),
              g_ptr_array_index (children[1], 0));
  for (int side = 0; side < 2; side++)
    {
      g_ptr_array_unref (children[side]);
      g_ptr_array_unref (self.identities[side]);
    }
  return self.pairs;
}

void
lns_row_pairs_clear (LnsRowPairs *pairs)
{
  for (int side = 0; side < 2; side++)
    g_clear_pointer (&pairs->other[side], g_array_unref);
}

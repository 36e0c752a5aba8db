/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "ui/model/row-tree-private.h"

/* What says which row it is, in all snapshots of a report. */
typedef struct
{
  uint32_t kind, process, thread, domain, device, context, stream;
  uint32_t which; /* of several such rows: the track, or its kind */
} Identity;

/* Which of the rows that have the same ids ROW is. */
static uint32_t
which_of (const LnsRowTree *tree, LnsReport *report, const LnsRow *row)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const uint32_t lane = row->n_own > 0 ? lns_row_tree_lanes (tree)[row->lanes] : LNS_ID_NONE;
  if ((row->kind != LNS_ROW_COUNTER && row->kind != LNS_ROW_CALLS && row->kind != LNS_ROW_GPU) ||
      lane >= n_lanes)
    return LNS_ID_NONE;
  const LnsTrackKind kind = lns_report_tracks (report, NULL)[lanes[lane].track].kind;
  return row->kind == LNS_ROW_COUNTER || kind == LNS_TRACK_CPU ? lanes[lane].track : (uint32_t)kind;
}

static Identity
identity_of (const LnsRowTree *tree, LnsReport *report, uint32_t row)
{
  const LnsRow *it = lns_row_tree_row (tree, row);
  return (Identity){ (uint32_t)it->kind, it->process, it->thread, it->domain,
                     it->device,         it->context, it->stream, which_of (tree, report, it) };
}

static guint
hash (gconstpointer key)
{
  const uint32_t *words = key;
  guint hash = 0;
  for (size_t i = 0; i < sizeof (Identity) / sizeof *words; i++)
    hash = (hash ^ words[i]) * 0x9E3779B1u;
  return hash;
}

static gboolean
equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (Identity)) == 0;
}

/* For each row of TREE the number that the same row has in SELF; further ones count up from there. */
static uint32_t *
find_numbers (const LnsRowTree *self, const LnsRowTree *tree, LnsReport *report, uint32_t *ret_n)
{
  const uint32_t n_before = self->rows->len, n = tree->rows->len;
  g_autofree Identity *identities = g_new (Identity, n_before + 1);
  g_autoptr (GHashTable) known = g_hash_table_new (hash, equal); /* of an identity: 1 + its row */
  uint32_t *numbers = g_new (uint32_t, n + 1);

  for (uint32_t row = 0; row < n_before; row++)
    {
      identities[row] = identity_of (self, report, row);
      g_hash_table_insert (known, &identities[row], GUINT_TO_POINTER (row + 1));
    }
  *ret_n = n_before;
  for (uint32_t row = 0; row < n; row++)
    {
      const Identity identity = identity_of (tree, report, row);
      const uint32_t found = GPOINTER_TO_UINT (g_hash_table_lookup (known, &identity));
      g_hash_table_remove (known, &identity);
      numbers[row] = found != 0 ? found - 1 : (*ret_n)++;
    }
  return numbers;
}

/* A row of the tree before that is no more. */
static LnsRow
gone_row (const LnsRow *before)
{
  LnsRow row = *before;
  row.label = g_strdup (before->label);
  row.rank = row.parent = LNS_ID_NONE;
  row.n_below = row.lanes = row.n_own = row.n_lanes = 0;
  row.n_events = 0;
  row.splits = false;
  row.set = NULL;
  return row;
}

LnsRowTree *
lns_row_tree_grown (const LnsRowTree *self, LnsReport *report)
{
  LnsRowTree *tree = lns_row_tree_new (report);
  uint32_t n;
  g_autofree uint32_t *numbers = find_numbers (self, tree, report, &n);
  GArray *rows = g_array_sized_new (FALSE, TRUE, sizeof (LnsRow), n);
  g_array_set_size (rows, n);
  for (uint32_t row = 0; row < self->rows->len; row++)
    g_array_index (rows, LnsRow, row) = gone_row (lns_row_tree_row (self, row));
  for (uint32_t row = 0; row < tree->rows->len; row++)
    {
      LnsRow *it = &g_array_index (rows, LnsRow, numbers[row]);
      const LnsRow before = *it;
      const bool was_there = numbers[row] < self->rows->len;
      g_free (it->label);
      *it = *lns_row_tree_row (tree, row);
      it->parent = it->parent != LNS_ID_NONE ? numbers[it->parent] : LNS_ID_NONE;
      if (!was_there)
        continue;
      it->is_hidden = before.is_hidden;
      it->lanes_high = before.lanes_high;
      /* A thread that begins to have ranges or calls is folded then, as it would be in such a report. */
      if (it->combines == before.combines)
        it->expanded = before.expanded;
    }
  g_array_unref (tree->rows);
  tree->rows = rows;
  for (uint32_t rank = 0; rank < tree->order->len; rank++)
    g_array_index (tree->order, uint32_t, rank) =
        numbers[g_array_index (tree->order, uint32_t, rank)];
  for (uint32_t lane = 0; lane < tree->n_report_lanes; lane++)
    if (tree->row_of_lane[lane] != LNS_ID_NONE)
      tree->row_of_lane[lane] = numbers[tree->row_of_lane[lane]];
  tree->lane_px = self->lane_px;
  _lns_row_tree_rank (tree);
  _lns_row_tree_lay_out (tree);
  return tree;
}

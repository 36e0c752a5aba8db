/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows whose contents must be read before they can be shown: kernels by name, copies by kind, and all streams
 * together. */

#include <glib/gi18n.h>
#include <string.h>

#include "ui/model/cuda-text.h"
#include "ui/model/row-tree-private.h"

static uint32_t
n_work_lanes (const LnsRowTree *self, LnsReport *report, const LnsRow *row)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < row->n_lanes; i++)
    n += _lns_row_is_work (report, lns_row_tree_lanes (self)[row->lanes + i]);
  return n;
}

bool
lns_row_tree_wanted (const LnsRowTree *self, LnsReport *report, LnsRowWant *ret_want)
{
  for (uint32_t v = 0; v < lns_row_tree_n_visible (self); v++)
    {
      uint32_t id = lns_row_tree_visible (self, v);
      const LnsRow *row = lns_row_tree_row (self, id);
      *ret_want = (LnsRowWant){ id, row->kind == LNS_ROW_KERNELS ? LNS_FACET_BY_KERNEL
                                                                 : LNS_FACET_BY_COPY_KIND };
      if (row->splits && row->expanded)
        return true;
    }
  for (uint32_t v = 0; v < lns_row_tree_n_visible (self); v++)
    {
      uint32_t id = lns_row_tree_visible (self, v);
      const LnsRow *row = lns_row_tree_row (self, id);
      *ret_want = (LnsRowWant){ id, LNS_FACET_BY_NOTHING };
      if (lns_row_kind_is_merged (row->kind) && row->set == NULL &&
          n_work_lanes (self, report, row) > 1)
        return true;
    }
  return false;
}

uint32_t
lns_row_tree_wanted_lanes (const LnsRowTree *self,
                           LnsReport *report,
                           const LnsRowWant *want,
                           uint32_t *ret_lanes)
{
  const LnsRow *row = lns_row_tree_row (self, want->row);
  /* Memsets of one stream have a row of their own. */
  bool own = want->by != LNS_FACET_BY_NOTHING;
  uint32_t n = 0;
  for (uint32_t i = 0; i < (own ? row->n_own : row->n_lanes); i++)
    {
      uint32_t lane = lns_row_tree_lanes (self)[row->lanes + i];
      if (_lns_row_is_work (report, lane))
        ret_lanes[n++] = lane;
    }
  return n;
}

/* --- The tree with what was read ------------------------------------------------------------- */

static char *
facet_label (LnsReport *report, LnsFacetBy by, const LnsFacet *facet, int64_t whole_ns)
{
  g_autofree char *name = NULL;
  if (facet->key == LNS_FACET_OTHERS)
    name = g_strdup_printf (_ ("others (%u)"), facet->n_keys);
  else if (by == LNS_FACET_BY_KERNEL)
    name = _lns_row_text (report, (uint32_t)facet->key);
  else
    name = g_strdup (lns_cuda_copy_kind_name ((uint32_t)facet->key));
  return _lns_row_share_label (facet->total_ns, whole_ns, *name != '\0' ? name : _ ("(no name)"));
}

static void
split (LnsRowTree *tree, LnsReport *report, const LnsRowWant *want, const LnsFacetSet *set)
{
  uint32_t n_facets;
  const LnsFacet *facets = lns_facet_set_facets (set, &n_facets);
  const LnsRow owner = *lns_row_tree_row (tree, want->row);
  const int64_t whole_ns = _lns_row_busy_ns (tree, report, &owner);
  g_array_index (tree->rows, LnsRow, want->row).splits = false;
  for (uint32_t i = 0; i < n_facets; i++)
    {
      LnsRow row = { .kind = LNS_ROW_FACET,
                     .depth = owner.depth + 1,
                     .parent = want->row,
                     .process = owner.process,
                     .thread = LNS_ID_NONE,
                     .domain = LNS_ID_NONE,
                     .device = owner.device,
                     .context = owner.context,
                     .stream = owner.stream,
                     .set = set,
                     .facet = i,
                     .lanes = owner.lanes,
                     .n_own = 1,
                     .n_lanes = owner.n_own,
                     .n_events = facets[i].n_events,
                     .label = facet_label (report, want->by, &facets[i], whole_ns) };
      uint32_t id = tree->rows->len;
      g_array_append_val (tree->rows, row);
      g_array_insert_val (tree->order, owner.rank + 1 + i, id);
    }
  for (uint32_t up = want->row; up != LNS_ID_NONE; up = lns_row_tree_row (tree, up)->parent)
    g_array_index (tree->rows, LnsRow, up).n_below += n_facets;
}

LnsRowTree *
lns_row_tree_with (const LnsRowTree *self,
                   LnsReport *report,
                   const LnsRowWant *want,
                   LnsFacetSet *set)
{
  LnsRowTree *tree = _lns_row_tree_copy (self);
  g_ptr_array_add (tree->sets, lns_facet_set_ref (set));
  if (want->by != LNS_FACET_BY_NOTHING)
    split (tree, report, want, set);
  else
    {
      LnsRow *row = &g_array_index (tree->rows, LnsRow, want->row);
      row->set = set;
      /* All Streams, the first row below, shows the same. */
      uint32_t next = row->n_below > 0 ? lns_row_tree_at_rank (tree, row->rank + 1) : want->row;
      if (lns_row_tree_row (tree, next)->kind == LNS_ROW_ALL_STREAMS)
        g_array_index (tree->rows, LnsRow, next).set = set;
    }
  _lns_row_tree_rank (tree);
  _lns_row_tree_lay_out (tree);
  return tree;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/timeline-guest.h"

LnsTimelineGuest *
lns_timeline_guest_new (LnsRowContext *host,
                        LnsView *view,
                        GtkWidget *timeline,
                        void (*tile_changed) (uint32_t row, gpointer owner),
                        const LnsTimelineTreeFuncs *funcs,
                        gpointer owner)
{
  LnsTimelineGuest *self = g_new0 (LnsTimelineGuest, 1);

  self->host = host;
  self->spans = g_array_new (FALSE, FALSE, sizeof (LnsStripSpan));
  lns_row_context_init (&self->context, view, 1, timeline, tile_changed, owner);
  self->context.header_px = host->header_px;
  self->context.coloring = host->coloring;
  lns_timeline_tree_init (&self->rows_of, &self->context, funcs, owner);
  self->context.other = host;
  self->context.pairs = &self->pairs;
  host->other = &self->context;
  host->pairs = &self->pairs;
  return self;
}

void
lns_timeline_guest_free (LnsTimelineGuest *self)
{
  if (self == NULL)
    return;
  self->host->other = NULL;
  self->host->pairs = NULL;
  lns_timeline_tree_stop (&self->rows_of);
  lns_row_context_clear (&self->context);
  lns_timeline_tree_clear (&self->rows_of);
  lns_row_pairs_clear (&self->pairs);
  g_array_unref (self->spans);
  g_free (self);
}

void
lns_timeline_guest_follow (LnsTimelineGuest *self)
{
  const LnsRowTree *host = self->host->tree;
  LnsRowTree *tree = self->context.tree;

  lns_row_pairs_clear (&self->pairs);
  self->pairs =
      lns_row_pairs_find ((const LnsRowTree *const[]){ host, tree },
                          (LnsReport *const[]){ lns_view_get_report (self->host->view),
                                                lns_view_get_report (self->context.view) });
  lns_row_tree_hold (tree);
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    {
      const uint32_t other = lns_row_pairs_other (&self->pairs, 1, row);
      if (other == LNS_ID_NONE)
        continue;
      const LnsRow *it = lns_row_tree_row (host, other);
      lns_row_tree_set_expanded (tree, row, it->expanded);
      lns_row_tree_set_hidden (tree, row, it->is_hidden);
      lns_row_tree_set_lanes_high (tree, row, MAX (it->lanes_high, 1));
    }
  lns_row_tree_release (tree);
}

guint
lns_timeline_guest_n_hidden (const LnsTimelineGuest *self)
{
  guint n = 0;

  for (uint32_t row = 0; row < lns_row_tree_n_rows (self->context.tree); row++)
    n += lns_row_pairs_other (&self->pairs, 1, row) == LNS_ID_NONE &&
         lns_row_tree_row (self->context.tree, row)->is_hidden;
  return n;
}

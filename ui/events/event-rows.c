/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-rows.h"

LnsEventRows *
lns_event_rows_new (LnsEventSet *set, LnsEventOrder *order, uint32_t first, GtkBitset *positions)
{
  LnsEventRows *self = g_new0 (LnsEventRows, 1);

  self->set = lns_event_set_ref (set);
  self->order = lns_event_order_ref (order);
  self->first = first;
  self->n = order->n_known;
  if (positions != NULL)
    {
      /* The selection may change meanwhile, so this copies its bits. */
      self->positions = gtk_bitset_copy (positions);
      gtk_bitset_remove_range_closed (self->positions, order->n_known - first, G_MAXUINT);
      self->n = (uint32_t)gtk_bitset_get_size (self->positions);
    }
  return self;
}

void
lns_event_rows_free (LnsEventRows *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->positions, gtk_bitset_unref);
  lns_event_order_unref (self->order);
  lns_event_set_unref (self->set);
  g_free (self);
}

bool
lns_event_rows_next (const LnsEventRows *self, LnsEventRowsWalk *walk, uint32_t *ret_row)
{
  guint position = walk->n_done;

  if (walk->n_done == self->n)
    return false;
  if (self->positions != NULL && walk->n_done == 0)
    gtk_bitset_iter_init_first (&walk->iter, self->positions, &position);
  else if (self->positions != NULL)
    gtk_bitset_iter_next (&walk->iter, &position);
  walk->n_done++;
  *ret_row =
      lns_event_order_row (self->order, position + (self->positions != NULL ? self->first : 0));
  return true;
}

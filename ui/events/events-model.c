/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-model.h"

struct _LnsEventsModel
{
  LnsPlaceList parent_instance;

  LnsEventSet *set;     /* owned, or NULL */
  LnsEventOrder *order; /* owned, or NULL */
  uint32_t page_rows;
  unsigned page;
};

G_DEFINE_FINAL_TYPE (LnsEventsModel, lns_events_model, LNS_TYPE_PLACE_LIST)

uint32_t
lns_events_model_get_first (LnsEventsModel *self)
{
  return self->page * self->page_rows;
}

/* The number of rows of the page. */
static guint
count_rows (LnsEventsModel *self)
{
  if (self->order == NULL)
    return 0;
  return MIN (self->page_rows, self->order->n - lns_events_model_get_first (self));
}

gboolean
lns_events_model_get_row (LnsPlace *place, LnsEventSet **ret_set, uint32_t *ret_row)
{
  LnsEventsModel *model = LNS_EVENTS_MODEL (lns_place_get_list (place));
  const guint index = lns_place_get_index (place);
  const uint32_t position = lns_events_model_get_first (model) + index;

  if (index >= count_rows (model) || position >= model->order->n_known)
    return FALSE;
  *ret_set = model->set;
  *ret_row = lns_event_order_row (model->order, position);
  return TRUE;
}

LnsEventsModel *
lns_events_model_new (void)
{
  return g_object_new (LNS_TYPE_EVENTS_MODEL, NULL);
}

/* Takes over SET and ORDER. The items stay, but their rows change. */
static void
replace (
    LnsEventsModel *self, LnsEventSet *set, LnsEventOrder *order, unsigned page, gboolean completes)
{
  g_autoptr (LnsEventSet) old_set = self->set;
  g_autoptr (LnsEventOrder) old_order = self->order;

  self->set = set;
  self->order = order;
  self->page = page;
  lns_place_list_replace (LNS_PLACE_LIST (self), count_rows (self), completes);
}

void
lns_events_model_set (LnsEventsModel *self,
                      LnsEventSet *set,
                      LnsEventOrder *order,
                      gboolean completes)
{
  completes = completes && self->order != NULL && set == self->set && order->n == self->order->n;
  replace (self, set != NULL ? lns_event_set_ref (set) : NULL,
           order != NULL ? lns_event_order_ref (order) : NULL, completes ? self->page : 0,
           completes);
}

LnsEventOrder *
lns_events_model_get_order (LnsEventsModel *self)
{
  return self->order;
}

unsigned
lns_events_model_n_pages (LnsEventsModel *self)
{
  uint32_t n = self->order != NULL ? self->order->n : 0;
  return n > 0 ? (n - 1) / self->page_rows + 1 : 1;
}

unsigned
lns_events_model_get_page (LnsEventsModel *self)
{
  return self->page;
}

unsigned
lns_events_model_page_of (LnsEventsModel *self, uint32_t position)
{
  return position / self->page_rows;
}

void
lns_events_model_set_page (LnsEventsModel *self, unsigned page)
{
  if (page == self->page || page >= lns_events_model_n_pages (self))
    return;
  replace (self, lns_event_set_ref (self->set), lns_event_order_ref (self->order), page, FALSE);
}

void
lns_events_model_set_page_rows (LnsEventsModel *self, uint32_t page_rows)
{
  g_return_if_fail (self->order == NULL && page_rows > 0);
  self->page_rows = page_rows;
}

static void
lns_events_model_finalize (GObject *object)
{
  LnsEventsModel *self = LNS_EVENTS_MODEL (object);
  lns_event_set_unref (self->set);
  lns_event_order_unref (self->order);
  G_OBJECT_CLASS (lns_events_model_parent_class)->finalize (object);
}

static void
lns_events_model_class_init (LnsEventsModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_events_model_finalize;
}

static void
lns_events_model_init (LnsEventsModel *self)
{
  self->page_rows = LNS_EVENTS_PAGE_ROWS;
}

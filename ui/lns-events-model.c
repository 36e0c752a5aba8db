/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/lns-events-model.h"

struct _LnsEventItem
{
  GObject parent_instance;

  LnsEventSet *set;
  uint32_t row;
  gboolean known;
};

G_DEFINE_FINAL_TYPE (LnsEventItem, lns_event_item, G_TYPE_OBJECT)

gboolean
lns_event_item_get (LnsEventItem *self, LnsEventSet **ret_set, uint32_t *ret_row)
{
  *ret_set = self->set;
  *ret_row = self->row;
  return self->known;
}

static void
lns_event_item_finalize (GObject *object)
{
  lns_event_set_unref (LNS_EVENT_ITEM (object)->set);
  G_OBJECT_CLASS (lns_event_item_parent_class)->finalize (object);
}

static void
lns_event_item_class_init (LnsEventItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_event_item_finalize;
}

static void
lns_event_item_init (LnsEventItem *self)
{
}

struct _LnsEventsModel
{
  GObject parent_instance;

  LnsEventSet *set;     /* owned, or NULL */
  LnsEventOrder *order; /* owned, or NULL */
  uint32_t page_rows;
  unsigned page;
};

static void list_model_init (GListModelInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (LnsEventsModel,
                               lns_events_model,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static GType
get_item_type (GListModel *model)
{
  return LNS_TYPE_EVENT_ITEM;
}

uint32_t
lns_events_model_get_first (LnsEventsModel *self)
{
  return self->page * self->page_rows;
}

static guint
get_n_items (GListModel *model)
{
  LnsEventsModel *self = LNS_EVENTS_MODEL (model);
  if (self->order == NULL)
    return 0;
  return MIN (self->page_rows, self->order->n - lns_events_model_get_first (self));
}

static gpointer
get_item (GListModel *model, guint index)
{
  LnsEventsModel *self = LNS_EVENTS_MODEL (model);
  if (index >= get_n_items (model))
    return NULL;
  uint32_t position = lns_events_model_get_first (self) + index;
  LnsEventItem *item = g_object_new (LNS_TYPE_EVENT_ITEM, NULL);
  item->set = lns_event_set_ref (self->set);
  item->known = position < self->order->n_known;
  if (item->known)
    item->row = lns_event_order_row (self->order, position);
  return item;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

LnsEventsModel *
lns_events_model_new (void)
{
  return g_object_new (LNS_TYPE_EVENTS_MODEL, NULL);
}

/* Replaces what is shown. GTK 4.8 asks for every item of a change that both removes and adds:
 * emptied first, then filled, it asks for those on the screen. */
static void
replace (LnsEventsModel *self, LnsEventSet *set, LnsEventOrder *order, unsigned page)
{
  guint n_old = get_n_items (G_LIST_MODEL (self));
  g_autoptr (LnsEventSet) old_set = g_steal_pointer (&self->set);
  g_autoptr (LnsEventOrder) old_order = g_steal_pointer (&self->order);
  if (n_old > 0)
    g_list_model_items_changed (G_LIST_MODEL (self), 0, n_old, 0);
  self->set = set;
  self->order = order;
  self->page = page;
  guint n = get_n_items (G_LIST_MODEL (self));
  if (n > 0)
    g_list_model_items_changed (G_LIST_MODEL (self), 0, 0, n);
}

void
lns_events_model_set (LnsEventsModel *self,
                      LnsEventSet *set,
                      LnsEventOrder *order,
                      gboolean completes)
{
  set = set != NULL ? lns_event_set_ref (set) : NULL;
  order = order != NULL ? lns_event_order_ref (order) : NULL;
  completes = completes && self->order != NULL && set == self->set && order->n == self->order->n;
  if (!completes || self->page > 0)
    {
      replace (self, set, order, completes ? self->page : 0);
      return;
    }

  guint known = MIN (self->order->n_known, get_n_items (G_LIST_MODEL (self)));
  guint rest = get_n_items (G_LIST_MODEL (self)) - known;
  lns_event_set_unref (set);
  /* GTK must not see the new items under the old number: the order is cut for a moment. */
  lns_event_order_unref (self->order);
  self->order = order;
  if (rest > 0)
    {
      uint32_t page_rows = self->page_rows;
      self->page_rows = known;
      g_list_model_items_changed (G_LIST_MODEL (self), known, rest, 0);
      self->page_rows = page_rows;
      g_list_model_items_changed (G_LIST_MODEL (self), known, 0, rest);
    }
}

LnsEventSet *
lns_events_model_get_set (LnsEventsModel *self)
{
  return self->set;
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

void
lns_events_model_set_page (LnsEventsModel *self, unsigned page)
{
  if (page == self->page || page >= lns_events_model_n_pages (self))
    return;
  replace (self, lns_event_set_ref (self->set), lns_event_order_ref (self->order), page);
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

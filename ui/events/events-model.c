/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/events-model.h"

/* GTK takes more than a millisecond to create the widgets of a row and half of that to free them, and a list keeps
 * widgets for about two hundred rows. These rows are added and removed a few at a time, and all rows after them at
 * once. */
#define STEP_ROWS   8
#define WIDGET_ROWS 256

/* The priority at which GTK paints, so that neither starves the other. */
#define STEP_PRIORITY (G_PRIORITY_HIGH_IDLE + 20)

struct _LnsEventItem
{
  GObject parent_instance;

  LnsEventsModel *model; /* owned */
  guint index;
};

G_DEFINE_FINAL_TYPE (LnsEventItem, lns_event_item, G_TYPE_OBJECT)

static void
lns_event_item_finalize (GObject *object)
{
  g_object_unref (LNS_EVENT_ITEM (object)->model);
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
  guint n_told; /* items that the list has been told of: becomes n_rows in steps */
  guint step;   /* the source of the next one, or 0 */
};

static guint rows_changed_signal;

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

guint
lns_events_model_n_rows (LnsEventsModel *self)
{
  if (self->order == NULL)
    return 0;
  return MIN (self->page_rows, self->order->n - lns_events_model_get_first (self));
}

gboolean
lns_event_item_get (LnsEventItem *self, LnsEventSet **ret_set, uint32_t *ret_row)
{
  LnsEventsModel *model = self->model;
  uint32_t position = lns_events_model_get_first (model) + self->index;

  if (self->index >= lns_events_model_n_rows (model) || position >= model->order->n_known)
    return FALSE;
  *ret_set = model->set;
  *ret_row = lns_event_order_row (model->order, position);
  return TRUE;
}

static guint
get_n_items (GListModel *model)
{
  return LNS_EVENTS_MODEL (model)->n_told;
}

static gpointer
get_item (GListModel *model, guint index)
{
  LnsEventsModel *self = LNS_EVENTS_MODEL (model);
  if (index >= self->n_told)
    return NULL;
  LnsEventItem *item = g_object_new (LNS_TYPE_EVENT_ITEM, NULL);
  item->model = g_object_ref (self);
  item->index = index;
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

gboolean
lns_events_model_is_told (LnsEventsModel *self)
{
  return self->n_told == lns_events_model_n_rows (self);
}

/* Adds and removes items only at the end of the list. GTK 4.8 creates the widgets of a replaced item again, and asks
 * for every item of a change that both removes and adds. */
static void
tell (LnsEventsModel *self, guint n)
{
  const guint n_before = self->n_told;

  self->n_told = n;
  if (n > n_before)
    g_list_model_items_changed (G_LIST_MODEL (self), n_before, 0, n - n_before);
  else if (n < n_before)
    g_list_model_items_changed (G_LIST_MODEL (self), n, n_before - n, 0);
}

/* The number of items that the list knows of after the next step. */
static guint
next_n_told (const LnsEventsModel *self, guint n)
{
  if (self->n_told < n)
    return self->n_told >= WIDGET_ROWS ? n : MIN (n, self->n_told + STEP_ROWS);
  if (self->n_told > WIDGET_ROWS)
    return MAX (n, WIDGET_ROWS);
  return MAX (n, self->n_told - MIN (self->n_told, STEP_ROWS));
}

static gboolean
step_cb (gpointer data)
{
  LnsEventsModel *self = data;
  const guint n = lns_events_model_n_rows (self);
  const guint n_next = next_n_told (self, n);
  const gboolean more = n_next != n;

  /* Before the list is told, because its handlers may start new steps. */
  if (!more)
    self->step = 0;
  else if (self->step == 0)
    self->step = g_idle_add_full (STEP_PRIORITY, step_cb, self, NULL);
  tell (self, n_next);
  return more;
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
  g_clear_handle_id (&self->step, g_source_remove);
  g_signal_emit (self, rows_changed_signal, 0, completes);
  step_cb (self);
}

void
lns_events_model_tell_all (LnsEventsModel *self)
{
  g_clear_handle_id (&self->step, g_source_remove);
  tell (self, lns_events_model_n_rows (self));
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
  g_clear_handle_id (&self->step, g_source_remove);
  lns_event_set_unref (self->set);
  lns_event_order_unref (self->order);
  G_OBJECT_CLASS (lns_events_model_parent_class)->finalize (object);
}

static void
lns_events_model_class_init (LnsEventsModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_events_model_finalize;
  rows_changed_signal = g_signal_new ("rows-changed", LNS_TYPE_EVENTS_MODEL, G_SIGNAL_RUN_LAST, 0,
                                      NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_BOOLEAN);
}

static void
lns_events_model_init (LnsEventsModel *self)
{
  self->page_rows = LNS_EVENTS_PAGE_ROWS;
}

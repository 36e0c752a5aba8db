/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/place-list.h"

/* GTK takes more than a millisecond to create the widgets of a row and half of that to free them, and a list keeps
 * widgets for about two hundred rows. These rows are added and removed a few at a time, and all rows after them at
 * once. */
#define STEP_ROWS   8
#define WIDGET_ROWS 256

/* The priority at which GTK paints, so that neither starves the other. */
#define STEP_PRIORITY (G_PRIORITY_HIGH_IDLE + 20)

struct _LnsPlace
{
  GObject parent_instance;

  LnsPlaceList *list; /* owned */
  guint index;
};

G_DEFINE_FINAL_TYPE (LnsPlace, lns_place, G_TYPE_OBJECT)

guint
lns_place_get_index (LnsPlace *self)
{
  return self->index;
}

LnsPlaceList *
lns_place_get_list (LnsPlace *self)
{
  return self->list;
}

static void
lns_place_finalize (GObject *object)
{
  g_object_unref (LNS_PLACE (object)->list);
  G_OBJECT_CLASS (lns_place_parent_class)->finalize (object);
}

static void
lns_place_class_init (LnsPlaceClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_place_finalize;
}

static void
lns_place_init (LnsPlace *self)
{
}

typedef struct
{
  guint n;
  guint n_told; /* items that the list has been told of: becomes n in steps */
  guint step;   /* the source of the next one, or 0 */
  gboolean is_unseen;
} LnsPlaceListPrivate;

static guint rows_changed_signal;

static void list_model_init (GListModelInterface *iface);

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (LnsPlaceList,
                                  lns_place_list,
                                  G_TYPE_OBJECT,
                                  G_ADD_PRIVATE (LnsPlaceList)
                                      G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static LnsPlaceListPrivate *
private_of (gpointer list)
{
  return lns_place_list_get_instance_private (LNS_PLACE_LIST (list));
}

static GType
get_item_type (GListModel *model)
{
  return LNS_TYPE_PLACE;
}

static guint
get_n_items (GListModel *model)
{
  return private_of (model)->n_told;
}

static gpointer
get_item (GListModel *model, guint index)
{
  if (index >= private_of (model)->n_told)
    return NULL;
  LnsPlace *place = g_object_new (LNS_TYPE_PLACE, NULL);
  place->list = g_object_ref (LNS_PLACE_LIST (model));
  place->index = index;
  return place;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

guint
lns_place_list_get_n (LnsPlaceList *self)
{
  return private_of (self)->n;
}

gboolean
lns_place_list_is_told (LnsPlaceList *self)
{
  return private_of (self)->n_told == private_of (self)->n;
}

/* Adds and removes items only at the end of the list. GTK 4.8 creates the widgets of a replaced item again, and asks
 * for every item of a change that both removes and adds. */
static void
tell (LnsPlaceList *self, guint n)
{
  const guint n_before = private_of (self)->n_told;

  private_of (self)->n_told = n;
  if (n > n_before)
    g_list_model_items_changed (G_LIST_MODEL (self), n_before, 0, n - n_before);
  else if (n < n_before)
    g_list_model_items_changed (G_LIST_MODEL (self), n, n_before - n, 0);
}

/* The number of items that the list knows of after the next step. */
static guint
next_n_told (const LnsPlaceListPrivate *at)
{
  if (at->n_told < at->n)
    return at->n_told >= WIDGET_ROWS ? at->n : MIN (at->n, at->n_told + STEP_ROWS);
  if (at->n_told > WIDGET_ROWS)
    return MAX (at->n, WIDGET_ROWS);
  return MAX (at->n, at->n_told - MIN (at->n_told, STEP_ROWS));
}

static gboolean
step_cb (gpointer data)
{
  LnsPlaceListPrivate *at = private_of (data);
  const guint n_next = next_n_told (at);
  const gboolean more = n_next != at->n;

  /* Before the list is told, because its handlers may start new steps. */
  if (!more || at->is_unseen)
    at->step = 0;
  else if (at->step == 0)
    at->step = g_idle_add_full (STEP_PRIORITY, step_cb, data, NULL);
  tell (data, n_next);
  return more && !at->is_unseen;
}

void
lns_place_list_set_seen (LnsPlaceList *self, gboolean is_seen)
{
  LnsPlaceListPrivate *at = private_of (self);

  at->is_unseen = !is_seen;
  if (at->is_unseen)
    g_clear_handle_id (&at->step, g_source_remove);
  else if (at->step == 0 && at->n_told != at->n)
    at->step = g_idle_add_full (STEP_PRIORITY, step_cb, self, NULL);
}

void
lns_place_list_replace (LnsPlaceList *self, guint n, gboolean completes)
{
  private_of (self)->n = n;
  g_clear_handle_id (&private_of (self)->step, g_source_remove);
  g_signal_emit (self, rows_changed_signal, 0, completes);
  if (!private_of (self)->is_unseen || private_of (self)->n_told == 0)
    step_cb (self);
}

void
lns_place_list_tell_all (LnsPlaceList *self)
{
  g_clear_handle_id (&private_of (self)->step, g_source_remove);
  tell (self, private_of (self)->n);
}

static void
lns_place_list_finalize (GObject *object)
{
  g_clear_handle_id (&private_of (object)->step, g_source_remove);
  G_OBJECT_CLASS (lns_place_list_parent_class)->finalize (object);
}

static void
lns_place_list_class_init (LnsPlaceListClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_place_list_finalize;
  rows_changed_signal = g_signal_new ("rows-changed", LNS_TYPE_PLACE_LIST, G_SIGNAL_RUN_LAST, 0,
                                      NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_BOOLEAN);
}

static void
lns_place_list_init (LnsPlaceList *self)
{
}

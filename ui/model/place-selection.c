/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/place-selection.h"

struct _LnsPlaceSelection
{
  GObject parent_instance;

  GListModel *list;    /* owned */
  GtkBitset *selected; /* owned */
};

/* --- The list --------------------------------------------------------------------------------- */

static GType
get_item_type (GListModel *model)
{
  return LNS_TYPE_PLACE;
}

static guint
get_n_items (GListModel *model)
{
  return g_list_model_get_n_items (LNS_PLACE_SELECTION (model)->list);
}

static gpointer
get_item (GListModel *model, guint position)
{
  return g_list_model_get_item (LNS_PLACE_SELECTION (model)->list, position);
}

static void
list_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

/* --- The selection ---------------------------------------------------------------------------- */

static gboolean
is_selected (GtkSelectionModel *model, guint position)
{
  return gtk_bitset_contains (LNS_PLACE_SELECTION (model)->selected, position);
}

static GtkBitset *
get_selection_in_range (GtkSelectionModel *model, guint position, guint n_items)
{
  return gtk_bitset_ref (LNS_PLACE_SELECTION (model)->selected);
}

static gboolean
set_selection (GtkSelectionModel *model, GtkBitset *selected, GtkBitset *mask)
{
  LnsPlaceSelection *self = LNS_PLACE_SELECTION (model);
  const guint n = get_n_items (G_LIST_MODEL (model));
  g_autoptr (GtkBitset) changes = gtk_bitset_copy (self->selected);

  gtk_bitset_difference (changes, selected);
  gtk_bitset_intersect (changes, mask);
  gtk_bitset_remove_range_closed (changes, n, G_MAXUINT);
  if (gtk_bitset_is_empty (changes))
    return TRUE;
  /* Whoever asked for the selection keeps what it was. */
  g_autoptr (GtkBitset) old = self->selected;
  self->selected = gtk_bitset_copy (old);
  gtk_bitset_difference (self->selected, changes);
  const guint first = gtk_bitset_get_minimum (changes);
  gtk_selection_model_selection_changed (model, first,
                                         gtk_bitset_get_maximum (changes) - first + 1);
  return TRUE;
}

static void
selection_init (GtkSelectionModelInterface *iface)
{
  iface->is_selected = is_selected;
  iface->get_selection_in_range = get_selection_in_range;
  iface->set_selection = set_selection;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (LnsPlaceSelection,
                               lns_place_selection,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_init)
                                   G_IMPLEMENT_INTERFACE (GTK_TYPE_SELECTION_MODEL, selection_init))

static void
items_changed_cb (
    GListModel *list, guint position, guint removed, guint added, LnsPlaceSelection *self)
{
  g_autoptr (GtkBitset) old = self->selected;

  self->selected = gtk_bitset_copy (old);
  gtk_bitset_splice (self->selected, position, removed, added);
  g_list_model_items_changed (G_LIST_MODEL (self), position, removed, added);
}

/* --- Life ------------------------------------------------------------------------------------- */

LnsPlaceSelection *
lns_place_selection_new (LnsPlaceList *list)
{
  LnsPlaceSelection *self = g_object_new (LNS_TYPE_PLACE_SELECTION, NULL);

  self->list = g_object_ref (G_LIST_MODEL (list));
  g_signal_connect_object (list, "items-changed", G_CALLBACK (items_changed_cb), self, 0);
  return self;
}

static void
lns_place_selection_finalize (GObject *object)
{
  LnsPlaceSelection *self = LNS_PLACE_SELECTION (object);

  g_clear_object (&self->list);
  gtk_bitset_unref (self->selected);
  G_OBJECT_CLASS (lns_place_selection_parent_class)->finalize (object);
}

static void
lns_place_selection_class_init (LnsPlaceSelectionClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_place_selection_finalize;
}

static void
lns_place_selection_init (LnsPlaceSelection *self)
{
  self->selected = gtk_bitset_new_empty ();
}

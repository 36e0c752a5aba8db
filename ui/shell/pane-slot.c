/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/pane-slot.h"

#include "ui/model/width-first.h"

struct _LnsPaneSlot
{
  AdwBin parent_instance;

  const LnsPaneType *type;
  LnsView *view;       /* owned */
  GSettings *settings; /* owned */
};

G_DEFINE_FINAL_TYPE (LnsPaneSlot, lns_pane_slot, ADW_TYPE_BIN)

GtkWidget *
lns_pane_slot_get_pane (LnsPaneSlot *self)
{
  const LnsPaneType *type = self->type;

  if (adw_bin_get_child (ADW_BIN (self)) == NULL)
    adw_bin_set_child (ADW_BIN (self), type->new_pane != NULL
                                           ? type->new_pane (self->view)
                                           : type->new_with_settings (self->view, self->settings));
  return adw_bin_get_child (ADW_BIN (self));
}

GtkWidget *
lns_pane_slot_new (const LnsPaneType *type, LnsView *view, GSettings *settings)
{
  LnsPaneSlot *self = g_object_new (LNS_TYPE_PANE_SLOT, NULL);

  self->type = type;
  self->view = g_object_ref (view);
  self->settings = g_object_ref (settings);
  return GTK_WIDGET (self);
}

static void
lns_pane_slot_map (GtkWidget *widget)
{
  lns_pane_slot_get_pane (LNS_PANE_SLOT (widget));
  GTK_WIDGET_CLASS (lns_pane_slot_parent_class)->map (widget);
}

static void
lns_pane_slot_dispose (GObject *object)
{
  LnsPaneSlot *self = LNS_PANE_SLOT (object);

  /* The pane first: it may be reading the report, which the view closes. */
  G_OBJECT_CLASS (lns_pane_slot_parent_class)->dispose (object);
  g_clear_object (&self->view);
  g_clear_object (&self->settings);
}

static void
lns_pane_slot_class_init (LnsPaneSlotClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_pane_slot_dispose;
  GTK_WIDGET_CLASS (klass)->map = lns_pane_slot_map;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), LNS_TYPE_WIDTH_FIRST);
}

static void
lns_pane_slot_init (LnsPaneSlot *self)
{
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/share-cell.h"

#include <adwaita.h>

#include "ui/model/text-cell.h"
#include "ui/model/theme.h"

/* How much of the bar's colour is seen: text upon it must be as easy to read as beside it. */
#define BAR_ALPHA 0.55f

struct _LnsShareCell
{
  GtkWidget parent_instance;

  GtkWidget *text; /* a child: LnsTextCell */
  double share;
};

G_DEFINE_FINAL_TYPE (LnsShareCell, lns_share_cell, GTK_TYPE_WIDGET)

void
lns_share_cell_set (LnsShareCell *self, double share, const char *text)
{
  lns_text_cell_set (LNS_TEXT_CELL (self->text), text);
  if (self->share == share)
    return;
  self->share = share;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
lns_share_cell_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsShareCell *self = LNS_SHARE_CELL (widget);
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  const GdkRGBA color = lns_palette_rgba (palette->chart, BAR_ALPHA);
  const float width_px = (float)gtk_widget_get_width (widget);
  const float bar_px = (float)self->share * width_px;

  /* From where lines begin: what stands behind the number alone looks like selected text. */
  const gboolean is_rtl = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  gtk_snapshot_append_color (snapshot, &color,
                             &GRAPHENE_RECT_INIT (is_rtl ? width_px - bar_px : 0, 1, bar_px,
                                                  (float)gtk_widget_get_height (widget) - 2));
  gtk_widget_snapshot_child (widget, self->text, snapshot);
}

GtkWidget *
lns_share_cell_new (void)
{
  return g_object_new (LNS_TYPE_SHARE_CELL, NULL);
}

static void
lns_share_cell_dispose (GObject *object)
{
  g_clear_pointer (&LNS_SHARE_CELL (object)->text, gtk_widget_unparent);
  G_OBJECT_CLASS (lns_share_cell_parent_class)->dispose (object);
}

static void
lns_share_cell_class_init (LnsShareCellClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_share_cell_dispose;
  widget_class->snapshot = lns_share_cell_snapshot;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
}

static void
lns_share_cell_init (LnsShareCell *self)
{
  self->text = lns_text_cell_new (TRUE, 0);
  gtk_widget_set_parent (self->text, GTK_WIDGET (self));
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/span-beside.h"

#include <glib/gi18n.h>

#include "src/analysis/facts/span-compare.h"
#include "src/base/format.h"
#include "ui/model/event-text.h"
#include "ui/model/job.h"
#include "ui/model/text-cell.h"
#include "ui/model/tooltip.h"

/* What differs less than the first so many parts is left out. */
#define MAX_PARTS 12

struct _LnsSpanBeside
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  GCancellable *running; /* or NULL */
  GtkGrid *grid;
};

G_DEFINE_FINAL_TYPE (LnsSpanBeside, lns_span_beside, ADW_TYPE_BIN)

typedef struct
{
  LnsSpan spans[2]; /* that before, and the selected one */
  guint number;     /* of that before, from 1            */
  LnsSpanParts parts;
  bool is_good;
  LnsError error;
} Comparing;

static void
comparing_free (gpointer data)
{
  lns_array_clear (&((Comparing *)data)->parts);
  g_free (data);
}

static void
compare_work (LnsWorker *worker, gpointer data)
{
  Comparing *it = data;

  it->is_good =
      lns_span_compare (worker->report, it->spans, &worker->cancelled, &it->parts, &it->error);
}

/* Writes LINE: TEXTS, of which all but the first are numbers, in the style class STYLE (may be NULL). */
static void
add_line (LnsSpanBeside *self, int line, const char *const texts[3], const char *style)
{
  for (int column = 0; column < 3; column++)
    {
      GtkWidget *label =
          g_object_new (GTK_TYPE_LABEL, "label", texts[column], "xalign", column == 0 ? 0.0 : 1.0,
                        "ellipsize", column == 0 ? PANGO_ELLIPSIZE_MIDDLE : PANGO_ELLIPSIZE_NONE,
                        "hexpand", column == 0, NULL);
      lns_tooltip_set (label, column == 0 ? texts[column] : NULL);
      if (column > 0)
        lns_text_set_numeric (label);
      else if (style == NULL)
        gtk_widget_add_css_class (label, "details-title");
      if (style != NULL)
        gtk_widget_add_css_class (label, style);
      gtk_grid_attach (self->grid, label, column, line, 1, 1);
    }
}

static void
compare_done (gpointer data, gpointer owner)
{
  const Comparing *it = data;
  LnsSpanBeside *self = owner;
  LnsReport *report = lns_view_get_report (self->view);
  char before[LNS_FORMAT_SIZE], now[LNS_FORMAT_SIZE];

  while (gtk_grid_get_child_at (self->grid, 0, 0) != NULL)
    gtk_grid_remove_row (self->grid, 0);
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
  if (!it->is_good)
    {
      add_line (self, 0, (const char *[]){ it->error.message, "", "" }, NULL);
      return;
    }
  /* As the timeline numbers them. */
  g_snprintf (before, sizeof before, "%u", it->number);
  g_snprintf (now, sizeof now, "%u", it->number + 1);
  add_line (self, 0, (const char *[]){ _ ("Side by Side"), before, now }, "heading");
  lns_format_duration (it->spans[0].end_ns - it->spans[0].start_ns, before);
  lns_format_duration (it->spans[1].end_ns - it->spans[1].start_ns, now);
  add_line (self, 1, (const char *[]){ _ ("Selected Time"), before, now }, NULL);
  /* Those that differ most come first, those that have nothing of either last. */
  for (size_t i = 0; i < MIN (it->parts.n, MAX_PARTS); i++)
    {
      const LnsSpanPart *part = &it->parts.items[i];
      if (part->ns[0] == 0 && part->ns[1] == 0)
        break;
      g_autofree char *name = lns_event_text_part (report, part);
      lns_format_duration (part->ns[0], before);
      lns_format_duration (part->ns[1], now);
      add_line (self, (int)i + 2, (const char *[]){ name, before, now }, NULL);
    }
}

static const LnsJobFuncs compare_funcs = { compare_work, compare_done, comparing_free, NULL };

static void
update (LnsSpanBeside *self)
{
  LnsSpan now, before;
  guint n = 0;

  lns_job_cancel (&self->running);
  while (lns_view_get_further_span (self->view, n, &before.start_ns, &before.end_ns))
    n++;
  if (n == 0 || !lns_view_get_time_selection (self->view, &now.start_ns, &now.end_ns))
    {
      gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
      return;
    }
  Comparing *it = g_new0 (Comparing, 1);
  it->spans[0] = before;
  it->spans[1] = now;
  it->number = n;
  lns_job_start (&self->running, self->view, &compare_funcs, it, self);
}

GtkWidget *
lns_span_beside_new (LnsView *view)
{
  LnsSpanBeside *self = g_object_new (LNS_TYPE_SPAN_BESIDE, "visible", FALSE, NULL);

  self->view = g_object_ref (view);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (update), self,
                           G_CONNECT_SWAPPED);
  update (self);
  return GTK_WIDGET (self);
}

static void
lns_span_beside_dispose (GObject *object)
{
  LnsSpanBeside *self = LNS_SPAN_BESIDE (object);

  lns_job_cancel (&self->running);
  G_OBJECT_CLASS (lns_span_beside_parent_class)->dispose (object);
  g_clear_object (&self->view);
}

static void
lns_span_beside_class_init (LnsSpanBesideClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lns_span_beside_dispose;
}

static void
lns_span_beside_init (LnsSpanBeside *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8),
            *grid = g_object_new (GTK_TYPE_GRID, "column-spacing", 8, "row-spacing", 4, NULL),
            *compare =
                g_object_new (GTK_TYPE_BUTTON, "label", _ ("Compare on One Axis"), "action-name",
                              "win.compare-spans", "halign", GTK_ALIGN_START, NULL);

  self->grid = GTK_GRID (grid);
  gtk_box_append (GTK_BOX (box), grid);
  gtk_box_append (GTK_BOX (box), compare);
  adw_bin_set_child (ADW_BIN (self), box);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/alike.h"

#include <glib/gi18n.h>

#include "src/base/format.h"
#include "ui/details/alike-events.h"
#include "ui/model/job.h"
#include "ui/model/palette.h"
#include "ui/model/theme.h"

#define CHART_PX 48
#define GAP_PX   2

struct _LnsAlike
{
  AdwBin parent_instance;

  LnsView *view;         /* owned */
  GCancellable *running; /* or NULL */
  LnsAlikeEvents events;

  GtkWidget *chart;
  GtkLabel *title, *least, *most, *summary, *longest;
};

G_DEFINE_FINAL_TYPE (LnsAlike, lns_alike, ADW_TYPE_BIN)

/* --- The job ------------------------------------------------------------------------------- */

typedef struct
{
  LnsLaneKind kind;
  uint32_t name;
  int64_t own_ns;
  bool is_found;
  LnsAlikeEvents events;
} Search;

static void
search_work (LnsWorker *worker, gpointer data)
{
  Search *search = data;

  search->is_found = lns_alike_find (worker->report, search->kind, search->name, search->own_ns,
                                     &worker->cancelled, &search->events);
}

/* Lists the longest ones as links; the one that is selected is none. */
static void
show_longest (LnsAlike *self)
{
  const LnsEventId own = lns_view_get_selected_event (self->view, NULL);
  g_autoptr (GString) markup = g_string_new (_ ("Longest:"));

  for (unsigned i = 0; i < self->events.n_longest; i++)
    {
      const LnsAlikeEvent *event = &self->events.longest[i];
      char duration[LNS_FORMAT_SIZE], at[LNS_FORMAT_SIZE];
      g_autofree char *title =
          g_strdup_printf (_ ("Go to the one at %s"), lns_format_duration (event->start_ns, at));
      /* A number and its unit stay on one line. */
      g_auto (GStrv) words =
          g_strsplit (lns_format_duration (event->duration_ns, duration), " ", -1);
      g_autofree char *text = g_strjoinv ("\302\240", words);
      g_string_append (markup, i == 0 ? " " : ", ");
      if (event->lane == own.lane && event->ordinal == own.ordinal)
        g_string_append_printf (markup, "<b>%s</b>", text);
      else
        g_string_append_printf (markup, "<a href=\"%u\" title=\"%s\">%s</a>", i, title, text);
    }
  gtk_label_set_markup (self->longest, markup->str);
}

static gboolean
follow_cb (GtkLabel *label, const char *uri, LnsAlike *self)
{
  const guint64 i = g_ascii_strtoull (uri, NULL, 10);

  if (i < self->events.n_longest)
    {
      const LnsAlikeEvent *event = &self->events.longest[i];
      lns_view_reveal_event (self->view, lns_view_event (self->view, event->lane, event->ordinal));
    }
  return GDK_EVENT_STOP;
}

static void
search_done (gpointer data, gpointer owner)
{
  const Search *search = data;
  LnsAlike *self = owner;
  const LnsAlikeEvents *events = &search->events;
  char number[LNS_FORMAT_SIZE], least[LNS_FORMAT_SIZE], p50[LNS_FORMAT_SIZE], p99[LNS_FORMAT_SIZE],
      sum[LNS_FORMAT_SIZE], share[LNS_FORMAT_SIZE];

  /* Samples and marks have no lengths to compare. */
  const gboolean is_shown = search->is_found && events->most_ns > 0;
  gtk_widget_set_visible (GTK_WIDGET (self), is_shown);
  if (!is_shown)
    return;
  self->events = *events;
  g_autofree char *title =
      g_strdup_printf (_ ("All %s of This Name"), lns_format_unsigned (events->n, number));
  gtk_label_set_text (self->title, title);
  gtk_label_set_text (self->least, lns_format_duration (events->least_ns, least));
  gtk_label_set_text (self->most, lns_format_duration (events->most_ns, number));
  lns_format_fixed (100 * (double)events->n_below / (double)events->n, 0, share);
  g_autofree char *summary = g_strdup_printf (
      _ ("Longer than %s %% of them. Median %s, p99 %s, together %s."), share,
      lns_format_duration (events->p50_ns, p50), lns_format_duration (events->p99_ns, p99),
      lns_format_duration (events->sum_ns, sum));
  gtk_label_set_text (self->summary, summary);
  show_longest (self);
  gtk_widget_queue_draw (self->chart);
}

static const LnsJobFuncs search_funcs = { search_work, search_done, g_free, NULL };

static void
event_selected_cb (LnsView *view, gboolean reveal, LnsAlike *self)
{
  LnsEvent event;
  const LnsEventId id = lns_view_get_selected_event (view, &event);

  lns_job_cancel (&self->running);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  if (id.lane == LNS_ID_NONE || event.name == 0 || !lns_event_has_length (event.flags))
    return;
  Search *search = g_new0 (Search, 1);
  search->kind = lns_report_lanes (lns_view_get_report (view), NULL)[id.lane].kind;
  search->name = event.name;
  search->own_ns = event.duration_ns;
  lns_job_start (&self->running, self->view, &search_funcs, search, self);
}

/* --- The chart ----------------------------------------------------------------------------- */

/* How many events there are of each length; the bar of the selected one stands out. */
static void
draw_cb (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
  const LnsAlikeEvents *events = &LNS_ALIKE (data)->events;
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  const double step_px = (double)width / LNS_ALIKE_BARS;
  uint64_t most = 1;

  for (unsigned i = 0; i < LNS_ALIKE_BARS; i++)
    most = MAX (most, events->bars[i]);
  for (unsigned i = 0; i < LNS_ALIKE_BARS; i++)
    {
      const double share = (double)events->bars[i] / (double)most;
      const double bar_px = events->bars[i] > 0 ? MAX (2, share * height) : 0;
      const GdkRGBA colour =
          lns_palette_rgba (i == events->own ? palette->accent : palette->blocked_edge, 1);
      gdk_cairo_set_source_rgba (cr, &colour);
      cairo_rectangle (cr, i * step_px, height - bar_px, step_px - GAP_PX, bar_px);
      cairo_fill (cr);
    }
}

/* --- Life ---------------------------------------------------------------------------------- */

GtkWidget *
lns_alike_new (LnsView *view)
{
  LnsAlike *self = g_object_new (LNS_TYPE_ALIKE, NULL);

  self->view = g_object_ref (view);
  g_signal_connect_object (view, "event-selected", G_CALLBACK (event_selected_cb), self, 0);
  event_selected_cb (view, FALSE, self);
  return GTK_WIDGET (self);
}

static void
lns_alike_dispose (GObject *object)
{
  LnsAlike *self = LNS_ALIKE (object);

  lns_job_cancel (&self->running);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_alike_parent_class)->dispose (object);
}

static void
lns_alike_class_init (LnsAlikeClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_alike_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/alike.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsAlike, chart);
  gtk_widget_class_bind_template_child (widget_class, LnsAlike, title);
  gtk_widget_class_bind_template_child (widget_class, LnsAlike, least);
  gtk_widget_class_bind_template_child (widget_class, LnsAlike, most);
  gtk_widget_class_bind_template_child (widget_class, LnsAlike, summary);
  gtk_widget_class_bind_template_child (widget_class, LnsAlike, longest);
  gtk_widget_class_bind_template_callback (widget_class, follow_cb);
}

static void
lns_alike_init (LnsAlike *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  /* As the chart between them, in any language. */
  gtk_widget_set_direction (gtk_widget_get_parent (GTK_WIDGET (self->least)), GTK_TEXT_DIR_LTR);
  gtk_widget_set_direction (GTK_WIDGET (self->least), GTK_TEXT_DIR_LTR);
  gtk_widget_set_direction (GTK_WIDGET (self->most), GTK_TEXT_DIR_LTR);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->chart), draw_cb, self, NULL);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (self->chart), CHART_PX);
  lns_theme_connect (G_CALLBACK (gtk_widget_queue_draw), self->chart);
}

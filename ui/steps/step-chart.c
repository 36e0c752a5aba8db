/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/steps/step-chart.h"

#include <math.h>

#include "ui/model/theme.h"

#define HEIGHT_PX 56
#define TOP_PX    4
#define DASH_PX   3

/* Longer steps have bars as high as one of so many medians. */
#define MOST_MEDIANS 4.0

/* Wider bars have a pixel between them. */
#define LEAST_SPACED_PX 4

struct _LnsStepChart
{
  GtkWidget parent_instance;

  LnsAnswer *answer; /* owned */
  size_t marked;
};

G_DEFINE_FINAL_TYPE (LnsStepChart, lns_step_chart, GTK_TYPE_WIDGET)

static const LnsWhySteps *
steps_of (LnsStepChart *self)
{
  const LnsWhy *why = lns_answer_get_why (self->answer);

  return why != NULL && why->steps.all.n > 0 ? &why->steps : NULL;
}

static void
fill (GtkSnapshot *snapshot, GdkRGBA color, double x, double y, double width, double height)
{
  gtk_snapshot_append_color (snapshot, &color,
                             &GRAPHENE_RECT_INIT ((float)x, (float)y, (float)width, (float)height));
}

/* Draws the longest of the steps FIRST … END - 1 from X to X + WIDTH. */
static void
snapshot_bar (LnsStepChart *self,
              GtkSnapshot *snapshot,
              const LnsPalette *palette,
              size_t first,
              size_t end,
              double x,
              double width,
              double px_per_ns)
{
  const LnsWhySteps *steps = steps_of (self);
  const LnsStep *longest = &steps->all.items[first];
  gboolean is_slow = FALSE, is_marked = FALSE;

  for (size_t i = first; i < end; i++)
    {
      const LnsStep *step = &steps->all.items[i];
      if (step->end_ns - step->start_ns > longest->end_ns - longest->start_ns)
        longest = step;
      is_slow |= step->is_slow;
      is_marked |= i == self->marked;
    }
  const double room_px = HEIGHT_PX - TOP_PX;
  const double whole_px =
                   CLAMP ((double)(longest->end_ns - longest->start_ns) * px_per_ns, 1, room_px),
               busy_px = MIN ((double)longest->busy_ns * px_per_ns, whole_px);
  const uint32_t hue = is_slow ? palette->finding : palette->chart;
  if (is_marked)
    fill (snapshot, lns_palette_rgba (palette->accent, 0.2F), x - 1, 0, width + 2, HEIGHT_PX);
  fill (snapshot, lns_palette_rgba (hue, 0.4F), x, HEIGHT_PX - whole_px, width, whole_px - busy_px);
  fill (snapshot, lns_palette_rgba (hue, 1), x, HEIGHT_PX - busy_px, width, busy_px);
  if (is_marked)
    fill (snapshot, lns_palette_rgba (palette->accent, 1), x - 1, 0, width + 2, 2);
}

static void
lns_step_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsStepChart *self = LNS_STEP_CHART (widget);
  const LnsWhySteps *steps = steps_of (self);
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  const int width_px = gtk_widget_get_width (widget);
  int64_t longest_ns = 1;

  if (steps == NULL || width_px < 1)
    return;
  const size_t n = steps->all.n;
  for (size_t i = 0; i < n; i++)
    longest_ns = MAX (longest_ns, steps->all.items[i].end_ns - steps->all.items[i].start_ns);
  const double highest_ns = MAX (MIN ((double)longest_ns, MOST_MEDIANS * (double)steps->p50_ns), 1),
               px_per_ns = (HEIGHT_PX - TOP_PX) / highest_ns;
  const size_t n_bars = MIN (n, (size_t)width_px);
  for (size_t bar = 0; bar < n_bars; bar++)
    {
      const double x = floor ((double)bar * width_px / (double)n_bars),
                   next = floor ((double)(bar + 1) * width_px / (double)n_bars),
                   width = next - x >= LEAST_SPACED_PX ? next - x - 1 : next - x;
      snapshot_bar (self, snapshot, palette, bar * n / n_bars, (bar + 1) * n / n_bars, x, width,
                    px_per_ns);
    }
  const double median_px = HEIGHT_PX - round ((double)steps->p50_ns * px_per_ns);
  for (int x = 0; x < width_px; x += 2 * DASH_PX)
    fill (snapshot, lns_palette_rgba (palette->text, 0.6F), x, median_px, DASH_PX, 1);
}

static void
released_cb (GtkGestureClick *gesture, int n_press, double x, double y, LnsStepChart *self)
{
  const LnsWhySteps *steps = steps_of (self);
  const int width_px = gtk_widget_get_width (GTK_WIDGET (self));

  if (steps == NULL || width_px < 1 || x < 0 || x >= width_px)
    return;
  const LnsStep *step = &steps->all.items[(size_t)(x / width_px * (double)steps->all.n)];
  lns_answer_show (
      self->answer,
      &(LnsEvidence){ .start_ns = step->start_ns, .end_ns = step->end_ns, .lane = LNS_ID_NONE });
}

void
lns_step_chart_mark (LnsStepChart *self, size_t step)
{
  self->marked = step;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

GtkWidget *
lns_step_chart_new (LnsAnswer *answer)
{
  LnsStepChart *self = g_object_new (LNS_TYPE_STEP_CHART, NULL);

  self->answer = g_object_ref (answer);
  g_signal_connect_object (answer, "changed", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

static void
lns_step_chart_dispose (GObject *object)
{
  g_clear_object (&LNS_STEP_CHART (object)->answer);
  G_OBJECT_CLASS (lns_step_chart_parent_class)->dispose (object);
}

static void
lns_step_chart_class_init (LnsStepChartClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_step_chart_dispose;
  widget_class->snapshot = lns_step_chart_snapshot;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
lns_step_chart_init (LnsStepChart *self)
{
  GtkGesture *click = gtk_gesture_click_new ();

  self->marked = SIZE_MAX;
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_widget_set_size_request (GTK_WIDGET (self), -1, HEIGHT_PX);
  g_signal_connect (click, "released", G_CALLBACK (released_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  lns_theme_connect (G_CALLBACK (gtk_widget_queue_draw), self);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/step-bars.h"

#include <glib/gi18n.h>
#include <math.h>

#include "src/base/format.h"

#define LEAST_STEPS 2

/* The highest bar is of a step so many medians long, or longer, or of the longest if that is between them. */
#define LEAST_HIGHEST 1.5
#define MOST_HIGHEST  2.5

#define TOP_PX  4 /* above the highest bar */
#define DASH_PX 3

#define SLOW_ALPHA  0.6F
#define OTHER_ALPHA 0.7F /* of what tells of another run */

/* Longer names of steps are cut. */
#define MAX_NAME_CHARS 12

/* Wider bars have a pixel between them. */
#define LEAST_SPACED_PX 4

static const LnsWhySteps *
steps_of (LnsAnswer *answer)
{
  const LnsWhy *why = lns_answer_get_why (answer);
  return why != NULL && why->steps.all.n >= LEAST_STEPS ? &why->steps : NULL;
}

gboolean
lns_step_bars_are_there (LnsAnswer *self)
{
  return steps_of (self) != NULL;
}

/* How long the step of OTHERS, which may be NULL, with the number of STEP took; 0 if there is none. */
static int64_t
other_ns (const GArray *others, const LnsStep *step)
{
  if (others == NULL || step->index >= others->len)
    return 0;
  const LnsSpan *span = &g_array_index (others, LnsSpan, step->index);
  return lns_difference (span->end_ns, span->start_ns);
}

/* How long a step is that has the highest bar. */
static double
highest_ns (const LnsWhySteps *steps, const GArray *others)
{
  int64_t longest_ns = 0;

  for (size_t i = 0; i < steps->all.n; i++)
    {
      const LnsStep *step = &steps->all.items[i];
      longest_ns = MAX (longest_ns, lns_difference (step->end_ns, step->start_ns));
      longest_ns = MAX (longest_ns, other_ns (others, step));
    }
  return CLAMP ((double)longest_ns, LEAST_HIGHEST * (double)steps->p50_ns,
                MOST_HIGHEST * (double)steps->p50_ns);
}

/* The colour of a bar: that of a slow one is warm, and as calm as the others. */
static GdkRGBA
color_of (const LnsPalette *palette, gboolean is_slow)
{
  return is_slow ? lns_palette_rgba (palette->finding, SLOW_ALPHA)
                 : lns_palette_rgba (palette->chart, 1);
}

static void
fill (cairo_t *cr, GdkRGBA color, double x, double y, double width, double height)
{
  gdk_cairo_set_source_rgba (cr, &color);
  cairo_rectangle (cr, x, y, width, height);
  cairo_fill (cr);
}

/* Of several steps in a pixel, the longest shows. */
typedef struct
{
  int64_t longest_ns;
  gboolean is_slow;
} Column;

/* Draws how long the step of the other run took over the bar of STEP, from FROM_PX to TO_PX: NS, with BAR_PX and OTHER_PX their heights. */
static void
draw_other (cairo_t *cr,
            const LnsPalette *palette,
            double from_px,
            double to_px,
            int height_px,
            double bar_px,
            double other_px)
{
  const double low_px = MIN (bar_px, other_px), high_px = MAX (bar_px, other_px);

  fill (cr,
        other_px > bar_px ? lns_palette_rgba (palette->finding, SLOW_ALPHA)
                          : lns_palette_rgba (palette->background[1], OTHER_ALPHA),
        from_px, height_px - high_px, to_px - from_px, high_px - low_px);
  fill (cr, lns_palette_rgba (palette->text, OTHER_ALPHA), from_px, height_px - other_px,
        to_px - from_px, 1);
}

GskRenderNode *
lns_step_bars_node (LnsAnswer *self,
                    const GArray *others,
                    const LnsScale *scale,
                    int n_px,
                    int height_px,
                    const LnsPalette *palette)
{
  const LnsWhySteps *steps = steps_of (self);
  GskRenderNode *node =
      gsk_cairo_node_new (&GRAPHENE_RECT_INIT (0, 0, (float)n_px, (float)height_px));
  cairo_t *cr = gsk_cairo_node_get_draw_context (node);
  g_autofree Column *columns = g_new0 (Column, MAX (n_px, 1));
  const double highest = MAX (highest_ns (steps, others), 1);
  const double px_per_ns = (height_px - TOP_PX) / highest;

  fill (cr, lns_palette_rgba (palette->background[1], 1), 0, 0, n_px, height_px);
  for (size_t i = 0; i < steps->all.n; i++)
    {
      const LnsStep *step = &steps->all.items[i];
      const double from_px = round (lns_scale_x_of (scale, step->start_ns)),
                   to_px = round (lns_scale_x_of (scale, step->end_ns));
      const int64_t ns = lns_difference (step->end_ns, step->start_ns);
      const double bar_px = MAX (1, round (MIN ((double)ns, highest) * px_per_ns));
      if (to_px - from_px >= LEAST_SPACED_PX)
        {
          fill (cr, color_of (palette, step->is_slow), from_px, height_px - bar_px,
                to_px - from_px - 1, bar_px);
          if (other_ns (others, step) > 0)
            draw_other (
                cr, palette, from_px, to_px - 1, height_px, bar_px,
                MAX (1, round (MIN ((double)other_ns (others, step), highest) * px_per_ns)));
          continue;
        }
      for (int x = (int)CLAMP (from_px, 0, n_px); x < n_px && x < MAX (to_px, from_px + 1); x++)
        {
          columns[x].longest_ns = MAX (columns[x].longest_ns, ns);
          columns[x].is_slow |= step->is_slow;
        }
    }
  for (int x = 0; x < n_px; x++)
    if (columns[x].longest_ns > 0)
      {
        const double bar_px =
            MAX (1, round (MIN ((double)columns[x].longest_ns, highest) * px_per_ns));
        fill (cr, color_of (palette, columns[x].is_slow), x, height_px - bar_px, 1, bar_px);
      }
  const double dash_px = DASH_PX,
               median_px = height_px - round ((double)steps->p50_ns * px_per_ns) - 0.5;
  const GdkRGBA line = lns_palette_rgba (palette->text, 0.55F);
  gdk_cairo_set_source_rgba (cr, &line);
  cairo_set_line_width (cr, 1);
  cairo_set_dash (cr, &dash_px, 1, 0);
  cairo_move_to (cr, 0, median_px);
  cairo_line_to (cr, n_px, median_px);
  cairo_stroke (cr);
  cairo_destroy (cr);
  return node;
}

const LnsStep *
lns_step_bars_at (LnsAnswer *self, const LnsScale *scale, double x)
{
  const LnsWhySteps *steps = steps_of (self);
  const int64_t ns = lns_scale_time_of (scale, scale->first_px + (int64_t)floor (x));
  size_t first = 0, end = steps != NULL ? steps->all.n : 0;

  while (first < end)
    {
      const size_t middle = first + (end - first) / 2;
      if (steps->all.items[middle].end_ns <= ns)
        first = middle + 1;
      else
        end = middle;
    }
  return steps != NULL && first < steps->all.n && steps->all.items[first].start_ns <= ns
             ? &steps->all.items[first]
             : NULL;
}

char *
lns_step_bars_text (LnsAnswer *self)
{
  const LnsWhySteps *steps = steps_of (self);
  const char *whole = lns_answer_get_step_name (self);
  const gboolean is_long = g_utf8_strlen (whole, -1) > MAX_NAME_CHARS;
  g_autofree char *start = g_utf8_substring (whole, 0, is_long ? MAX_NAME_CHARS - 1 : -1),
                  *name = steps->is_kernel ? g_strdup (_ ("Steps"))
                                           : g_strconcat (start, is_long ? "…" : "", NULL);
  char median[LNS_FORMAT_SIZE], number[LNS_FORMAT_SIZE];

  lns_format_duration (steps->p50_ns, median);
  /* Translators: the name of a step and how long one takes, "batch · median 18.4 ms" */
  g_autofree char *first = g_strdup_printf (_ ("%s · median %s"), name, median);
  g_autofree char *second = lns_answer_get_steps_text (self);
  /* Translators: how many steps took much longer than the others */
  g_autofree char *slow =
      g_strdup_printf (_ (" · %s slow"), lns_format_unsigned (steps->n_slow, number));
  return g_strconcat (first, "\n", second, steps->n_slow > 0 ? slow : "", NULL);
}

char *
lns_step_bars_step_text (LnsAnswer *self, const LnsStep *step, const GArray *others)
{
  char duration[LNS_FORMAT_SIZE], other[LNS_FORMAT_SIZE];

  lns_format_duration (lns_difference (step->end_ns, step->start_ns), duration);
  if (other_ns (others, step) > 0)
    /* Translators: "Step 12 of 38: 18.412 ms; in B: 20.100 ms" */
    return g_strdup_printf (_ ("Step %zu of %zu: %s; in B: %s"), step->index + 1,
                            steps_of (self)->n, duration,
                            lns_format_duration (other_ns (others, step), other));
  /* Translators: "Step 12 of 38: 18.412 ms" */
  return g_strdup_printf (_ ("Step %zu of %zu: %s"), step->index + 1, steps_of (self)->n, duration);
}

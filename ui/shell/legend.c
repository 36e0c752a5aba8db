/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/legend.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "ui/model/event-text.h"
#include "ui/model/lane-look.h"
#include "ui/model/palette.h"
#include "ui/model/theme.h"

#define SWATCH_WIDTH_PX  32
#define SWATCH_HEIGHT_PX 16
#define HATCH_PX         6
#define EDGE_ALPHA       0.3f
#define TINT_ALPHA       0.25f /* as idle times are tinted */

/* What has a colour. */
typedef enum
{
  OF_STATE,    /* an LnsThreadState                              */
  OF_CALL,     /* an LnsCudaCallKind                             */
  OF_COPY,     /* a name of such an event, as it is recorded     */
  OF_NAMES,    /* any: several hues                              */
  OF_DURATION, /* NUMBER of ns, where events are coloured so, and not as the three before */
  OF_GRAY,
  OF_NARROW,
  OF_SAMPLES,
  OF_IDLE,
  OF_LOST,
  OF_OMITTED,
  OF_DAMAGED
} What;

typedef struct
{
  What what;
  unsigned number;  /* the state, the kind of calls, or the ns */
  const char *name; /* of a copy, or a duration in words */
  const char *group, *title;
} Line;

static const Line lines[] = {
  { OF_STATE, LNS_STATE_RUNNING, NULL, N_ ("What a Thread Does"), N_ ("Runs on a CPU") },
  { OF_STATE, LNS_STATE_RUNNABLE, NULL, N_ ("What a Thread Does"),
    N_ ("Could run, but others have the CPUs") },
  { OF_STATE, LNS_STATE_BLOCKED, NULL, N_ ("What a Thread Does"),
    N_ ("Waits: for a lock, data or a time") },
  { OF_STATE, LNS_STATE_UNINTERRUPTIBLE, NULL, N_ ("What a Thread Does"),
    N_ ("Waits for a disk, a page of memory or a driver") },
  { OF_STATE, LNS_STATE_UNKNOWN, NULL, N_ ("What a Thread Does"),
    N_ ("The report does not record it") },
  { OF_CALL, LNS_CUDA_CALL_LAUNCH, NULL, N_ ("CUDA calls"), N_ ("Launches") },
  { OF_CALL, LNS_CUDA_CALL_MEMORY, NULL, N_ ("CUDA calls"), N_ ("Memory and copies") },
  { OF_CALL, LNS_CUDA_CALL_SYNC, NULL, N_ ("CUDA calls"), N_ ("Waiting for the GPU") },
  { OF_CALL, LNS_CUDA_CALL_OTHER, NULL, N_ ("CUDA calls"), N_ ("Other calls") },
  { OF_COPY, 0, "[CUDA memcpy HtoD]", N_ ("Copies and Memsets"), N_ ("Host to device") },
  { OF_COPY, 0, "[CUDA memcpy DtoH]", N_ ("Copies and Memsets"), N_ ("Device to host") },
  { OF_COPY, 0, "[CUDA memcpy DtoD]", N_ ("Copies and Memsets"), N_ ("Device to device") },
  { OF_COPY, 0, "[CUDA memcpy PtoP]", N_ ("Copies and Memsets"), N_ ("Between devices") },
  { OF_COPY, 0, "[CUDA memset]", N_ ("Copies and Memsets"), N_ ("Memset") },
  { OF_DURATION, 100, "100 ns", N_ ("Duration of Events"), NULL },
  { OF_DURATION, 1000, "1 µs", N_ ("Duration of Events"), NULL },
  { OF_DURATION, 10000, "10 µs", N_ ("Duration of Events"), NULL },
  { OF_DURATION, 100000, "100 µs", N_ ("Duration of Events"), NULL },
  { OF_DURATION, 1000000, "1 ms", N_ ("Duration of Events"), NULL },
  { OF_DURATION, 10000000, "10 ms", N_ ("Duration of Events"), NULL },
  { OF_DURATION, 100000000, "100 ms", N_ ("Duration of Events"), NULL },
  { OF_DURATION, 1000000000, "1 s", N_ ("Duration of Events"), NULL },
  { OF_NAMES, 0, NULL, N_ ("All Rows"),
    N_ ("Kernels, ranges and other calls: a hue for each name, whatever numbers it has") },
  { OF_NARROW, 0, NULL, N_ ("All Rows"),
    N_ ("Events too narrow to be told apart: as high as the time that they take") },
  { OF_GRAY, 0, NULL, N_ ("All Rows"), N_ ("Events of other names than the one that was chosen") },
  { OF_SAMPLES, 0, NULL, N_ ("All Rows"), N_ ("Samples: as high as they are many") },
  { OF_IDLE, 0, NULL, N_ ("All Rows"), N_ ("Idle time of a GPU, with its cause") },
  { OF_LOST, 0, NULL, N_ ("All Rows"), N_ ("Events were lost") },
  { OF_OMITTED, 0, NULL, N_ ("All Rows"), N_ ("Of this time, the report keeps only counts") },
  { OF_DAMAGED, 0, NULL, N_ ("All Rows"), N_ ("The report is damaged") },
};

/* The colour of LINE; of names, that of number I. */
static uint32_t
color_of (const LnsPalette *palette, const Line *line, unsigned i)
{
  unsigned hue = i;

  switch (line->what)
    {
    case OF_STATE:
      return lns_palette_state (palette, (LnsThreadState)line->number);
    case OF_CALL:
      return lns_palette_color (palette, 0, lns_lane_call_hue ((LnsCudaCallKind)line->number));
    case OF_COPY:
      lns_lane_find_hue (LNS_LANE_CUDA_MEMCPY, line->name, strlen (line->name), &hue);
      return lns_palette_color (palette, 0, hue);
    case OF_NAMES:
      return lns_palette_color (palette, 0, hue);
    case OF_DURATION:
      return lns_palette_duration (palette, line->number);
    case OF_GRAY:
      return lns_palette_gray (palette);
    case OF_NARROW:
    case OF_OMITTED:
      return palette->coverage;
    case OF_SAMPLES:
      return palette->sample;
    case OF_IDLE:
      return palette->finding;
    case OF_LOST:
      return palette->lost;
    case OF_DAMAGED:
      break;
    }
  return palette->damaged;
}

static void
hatch (cairo_t *cr, int width_px, int height_px)
{
  cairo_set_line_width (cr, HATCH_PX / 3.0);
  for (int x = -height_px; x < width_px; x += HATCH_PX)
    {
      cairo_move_to (cr, x, height_px);
      cairo_line_to (cr, x + height_px, 0);
    }
  cairo_stroke (cr);
}

static void
draw_cb (GtkDrawingArea *area, cairo_t *cr, int width_px, int height_px, gpointer data)
{
  const Line *line = data;
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  const unsigned n = line->what == OF_NAMES ? 4 : 1;
  const gboolean is_hatched = line->what == OF_LOST || line->what == OF_OMITTED ||
                              line->what == OF_DAMAGED ||
                              (line->what == OF_STATE && line->number == LNS_STATE_UNKNOWN);
  const GdkRGBA back = lns_palette_rgba (palette->background[0], 1);

  gdk_cairo_set_source_rgba (cr, &back);
  cairo_paint (cr);
  for (unsigned i = 0; i < n; i++)
    {
      const uint32_t rgb = is_hatched && line->what == OF_STATE ? palette->blocked_edge
                                                                : color_of (palette, line, i);
      const GdkRGBA color = lns_palette_rgba (rgb, line->what == OF_IDLE ? TINT_ALPHA : 1);
      gdk_cairo_set_source_rgba (cr, &color);
      if (is_hatched)
        {
          hatch (cr, width_px, height_px);
          continue;
        }
      cairo_rectangle (cr, (double)width_px * i / n, 0, (double)width_px / n, height_px);
      cairo_fill (cr);
    }
  /* Otherwise what is nearly as dark, or as light, as the row would not be seen. */
  GdkRGBA edge;
  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (area)), &edge);
  edge.alpha = EDGE_ALPHA;
  gdk_cairo_set_source_rgba (cr, &edge);
  cairo_set_line_width (cr, 1);
  cairo_rectangle (cr, 0.5, 0.5, width_px - 1, height_px - 1);
  cairo_stroke (cr);
}

static GtkWidget *
row_new (const Line *line)
{
  const char *title = line->title != NULL ? _ (line->title) : line->name;
  GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "title", title, "title-lines", 0, NULL);
  GtkWidget *swatch =
      g_object_new (GTK_TYPE_DRAWING_AREA, "content-width", SWATCH_WIDTH_PX, "content-height",
                    SWATCH_HEIGHT_PX, "valign", GTK_ALIGN_CENTER, NULL);

  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (swatch), draw_cb, (gpointer)line, NULL);
  lns_theme_connect (G_CALLBACK (gtk_widget_queue_draw), swatch);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), swatch);
  return row;
}

/* Whether events that are coloured by MODE may have the colours of LINE. */
static gboolean
is_of_mode (const Line *line, LnsColorMode mode)
{
  const gboolean is_of_names =
      line->what == OF_CALL || line->what == OF_COPY || line->what == OF_NAMES;

  return mode == LNS_COLORS_BY_DURATION ? !is_of_names : line->what != OF_DURATION;
}

GtkWidget *
lns_legend_new (LnsColorMode mode)
{
  GtkWidget *window = g_object_new (ADW_TYPE_PREFERENCES_WINDOW, "title", _ ("Colors"),
                                    "search-enabled", FALSE, NULL);
  GtkWidget *page = adw_preferences_page_new (), *group = NULL;
  const char *title = NULL;

  for (size_t i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      if (!is_of_mode (&lines[i], mode))
        continue;
      if (title == NULL || strcmp (lines[i].group, title) != 0)
        {
          title = lines[i].group;
          group = g_object_new (ADW_TYPE_PREFERENCES_GROUP, "title", _ (title), NULL);
          adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group));
        }
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row_new (&lines[i]));
    }
  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (window), ADW_PREFERENCES_PAGE (page));
  return window;
}

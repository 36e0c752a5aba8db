/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/tile-painter.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/compare.h"

#include "src/analysis/facts/sampled-function.h"
#include "ui/model/lane-look.h"
#include "ui/model/palette.h"
#include "ui/model/summary.h"
#include "ui/tiles/chart-painter.h"
#include "ui/tiles/combined.h"
#include "ui/tiles/event-color.h"
#include "ui/tiles/mark-list.h"
#include "ui/tiles/thread-runs.h"
#include "ui/tiles/tile-labels.h"
#include "ui/tiles/tile-raster.h"

#define HAIR_PX       1    /* between depths */
#define MIN_COVERAGE  0.3f /* keeps a single short event visible */
#define EDGE_SHADE    0.28 /* how much darker a bar's last pixel is */
#define UNKNOWN_SHADE 0.5  /* how much hatching of what is not known stands out */
#define EDGE_MIN_PX   3
#define FADE_PX       24
#define MARK_PX       3 /* half the width of a mark's flag */
#define MIN_LOSS_PX   3
#define OMITTED_SHADE 0.35 /* of the hatch of what is left out by intent, which is no fault */

/* Tiles with more marks than this show coverage instead of single marks. */
#define MAX_LISTED_MARKS (LNS_TILE_PX / 2)
/* Narrower events are shown as coverage: their hues would blend to noise. */
#define MIN_EVENT_PX 2

struct LnsTilePainter
{
  LnsReport *report;
  const LnsRowTree *tree;
  LnsTileLabels *labels; /* owned */

  LnsPixelResult result;  /* reused from query to query */
  LnsEventColors *colors; /* owned */

  /* Of the tile under way. */
  LnsTile *tile;
  LnsRaster raster;
  const LnsPalette *palette;
  uint32_t background;
  int n_px; /* device pixels, LNS_TILE_PX × scale */
  int64_t origin_ns;
  double ns_per_px; /* of device pixels */
  LnsPixelQuery query;
  LnsError error; /* why the tile under way cannot be painted */
};

/* --- Colours and places ---------------------------------------------------------------------- */

/* DURATION_NS below 0: none. */
static uint32_t
color_in_row (
    LnsTilePainter *self, uint32_t row, uint32_t own_argb, uint32_t name, int64_t duration_ns)
{
  const LnsTileKey *key = &self->tile->key;
  return lns_event_colors_get (self->colors, key->theme, &key->coloring, row, own_argb, name,
                               duration_ns);
}

static uint32_t
color_of (LnsTilePainter *self, const LnsPixelEvent *event)
{
  return color_in_row (self, self->tile->key.strip.row, event->color, event->name,
                       event->duration_ns);
}

/* The colour of COUNT events of ROW that take BUSY of a pixel, the longest of which is called NAME; IS_ALONE: there is no other
 * name beside it. By duration, it is that of their mean. */
static uint32_t
color_of_narrow (LnsTilePainter *self,
                 uint32_t row,
                 uint32_t own_argb,
                 uint32_t name,
                 uint32_t count,
                 float busy,
                 gboolean is_alone)
{
  const LnsColoring *coloring = &self->tile->key.coloring;
  if (!is_alone && coloring->mode == LNS_COLORS_BY_NAME && coloring->only_name == 0)
    return self->palette->coverage;
  return color_in_row (self, row, own_argb, name,
                       (int64_t)((double)busy * self->ns_per_px / MAX (count, 1)));
}

/* Device pixels from the tile's left edge. */
static double
x_of (LnsTilePainter *self, int64_t time_ns)
{
  return (double)lns_difference (time_ns, self->origin_ns) / self->ns_per_px;
}

/* --- Losses -------------------------------------------------------------------------------- */

/* Hatches the whole pixels of which the report keeps nothing by intent, so that a step between two of them stays visible. */
static void
paint_omissions (LnsTilePainter *self)
{
  uint32_t n;
  const LnsOmission *omissions = lns_report_omissions (self->report, &n);
  for (uint32_t i = 0; i < n; i++)
    {
      const int x0 = (int)ceil (CLAMP (x_of (self, omissions[i].start_ns), -1e6, 1e6));
      const int x1 = (int)floor (CLAMP (x_of (self, omissions[i].end_ns), -1e6, 1e6));
      if (x1 > MAX (x0, 0) && x0 < self->n_px)
        lns_raster_hatch (
            &self->raster, x0, x1, 0, self->raster.height_px,
            lns_palette_mix (self->background, self->palette->coverage, OMITTED_SHADE),
            self->tile->key.scale, self->tile->key.index * self->n_px);
    }
}

static void
paint_losses (LnsTilePainter *self)
{
  paint_omissions (self);
  const LnsRow *row = lns_row_tree_row (self->tree, self->tile->key.strip.row);
  int scale = self->tile->key.scale;
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (self->report, &n);
  for (uint32_t i = 0; i < n; i++)
    {
      const LnsLoss *loss = &losses[i];
      gboolean here = loss->process == row->process &&
                      (loss->thread == row->thread || loss->thread == LNS_ID_NONE);
      if (!here || loss->first_ns == LNS_TIME_UNKNOWN || loss->last_ns == LNS_TIME_UNKNOWN)
        continue;
      double x0 = CLAMP (x_of (self, loss->first_ns), -1e6, 1e6);
      double x1 = CLAMP (x_of (self, loss->last_ns), -1e6, 1e6);
      lns_raster_hatch (&self->raster, (int)floor (x0),
                        (int)fmax (ceil (x1), floor (x0) + MIN_LOSS_PX), 0, self->raster.height_px,
                        self->palette->lost, scale, self->tile->key.index * self->n_px);
    }
}

/* --- Bars: one for each range or, of ranges too narrow, as high as the part of the time that they cover --------- */

/* --- Coverage ------------------------------------------------------------------------------ */

/* Counts the events of each pixel that are not drawn as bars. RET_UNDER gets the pixels that bars cover. */
static uint32_t *
narrow_counts (LnsTilePainter *self, gboolean **ret_under)
{
  uint32_t *counts = g_new (uint32_t, self->n_px);
  gboolean *under = g_new0 (gboolean, self->n_px);
  for (int p = 0; p < self->n_px; p++)
    counts[p] = self->tile->pixels[p].count;
  for (uint32_t i = 0; i < self->tile->n_events; i++)
    {
      const LnsPixelEvent *event = &self->tile->events[i];
      double x0 = x_of (self, event->start_ns);
      double x1 = x_of (self, lns_sum (event->start_ns, event->duration_ns));
      int first = (int)CLAMP (floor (x0), 0.0, (double)self->n_px);
      int last = (int)CLAMP (ceil (x1), 0.0, (double)self->n_px);
      if (x0 >= 0 && first < self->n_px && counts[first] > 0)
        counts[first]--;
      for (int p = first; p < last; p++)
        under[p] = TRUE;
    }
  *ret_under = under;
  return counts;
}

/* Whether the pixels beside P show no other name than P does. */
static gboolean
dominates (const LnsPixel *pixels, int p, int n_px)
{
  for (int q = MAX (p - 1, 0); q <= MIN (p + 1, n_px - 1); q++)
    if ((pixels[q].busy > 0 || pixels[q].count > 0) && pixels[q].name != pixels[p].name)
      return FALSE;
  return TRUE;
}

static int
bar_height_px (const LnsTilePainter *self)
{
  return self->tile->key.strip.lane_px - HAIR_PX;
}

static void
paint_coverage (LnsTilePainter *self)
{
  const LnsPixel *pixels = self->tile->pixels;
  int bar_px = bar_height_px (self) * self->tile->key.scale;
  gboolean *under;
  g_autofree uint32_t *counts = narrow_counts (self, &under);
  for (int p = 0; p < self->n_px; p++)
    {
      gboolean empty = under[p] ? counts[p] == 0 : pixels[p].count == 0 && pixels[p].busy <= 0;
      if (empty)
        continue;
      float share = under[p] ? MIN_COVERAGE : CLAMP (pixels[p].busy, MIN_COVERAGE, 1);
      uint32_t rgb = pixels[p].flags & LNS_EVENT_END_UNKNOWN
                         ? self->palette->lost
                         : color_of_narrow (self, self->tile->key.strip.row, pixels[p].color,
                                            pixels[p].name, pixels[p].count, pixels[p].busy,
                                            dominates (pixels, p, self->n_px));
      int height_px = MAX ((int)lroundf (share * bar_px), self->tile->key.scale);
      lns_raster_fill (&self->raster, p, p + 1, bar_px - height_px, bar_px, rgb);
    }
  g_free (under);
}

/* --- Bars ---------------------------------------------------------------------------------- */

static void
paint_bar (LnsTilePainter *self, const LnsPixelEvent *event)
{
  int scale = self->tile->key.scale, bar_px = bar_height_px (self) * scale, x0, x1;
  lns_tile_edges_of (self->tile, event, &x0, &x1);
  uint32_t rgb = color_of (self, event);
  lns_raster_fill (&self->raster, x0, x1, 0, bar_px, rgb);
  if (x1 - x0 >= EDGE_MIN_PX * scale)
    lns_raster_fill (&self->raster, x1 - scale, x1, 0, bar_px,
                     lns_palette_mix (rgb, 0x000000, EDGE_SHADE));
  int fade_px = MIN (FADE_PX * scale, (x1 - x0) / 2);
  if (event->flags & LNS_EVENT_OPEN_START)
    lns_raster_blend (&self->raster, x0, x0 + fade_px, 0, bar_px, self->background, 1, 0);
  if (event->flags & LNS_EVENT_OPEN_END)
    lns_raster_blend (&self->raster, x1 - fade_px, x1, 0, bar_px, self->background, 0, 1);
}

/* Writes NAME, of an event of ROW, from X_PX on, in at most WIDTH_PX; nothing is drawn outside [X_PX, X_PX + WIDTH_PX).
 * Logical pixels. */
static void
write_name_of (LnsTilePainter *self,
               cairo_t *cr,
               uint32_t row,
               uint32_t name,
               double x_px,
               double width_px,
               uint32_t rgb)
{
  int text_px, line_px;
  GdkRGBA color = lns_palette_rgba (rgb, 1);
  PangoLayout *layout = lns_tile_labels_layout (self->labels, name,
                                                lns_row_names (lns_row_tree_row (self->tree, row)),
                                                width_px, &text_px, &line_px);
  if (layout == NULL || x_px + text_px <= 0)
    return;
  cairo_move_to (cr, x_px, (bar_height_px (self) - line_px) / 2);
  gdk_cairo_set_source_rgba (cr, &color);
  pango_cairo_show_layout (cr, layout);
}

static void
write_name (
    LnsTilePainter *self, cairo_t *cr, uint32_t name, double x_px, double width_px, uint32_t rgb)
{
  write_name_of (self, cr, self->tile->key.strip.row, name, x_px, width_px, rgb);
}

/* A context for text, scaled to logical pixels. */
static cairo_t *
text_context (LnsTilePainter *self)
{
  cairo_surface_mark_dirty (self->tile->surface);
  cairo_t *cr = cairo_create (self->tile->surface);
  cairo_scale (cr, self->tile->key.scale, self->tile->key.scale);
  return cr;
}

static void
paint_labels (LnsTilePainter *self)
{
  double scale = self->tile->key.scale;
  cairo_t *cr = text_context (self);
  for (uint32_t i = 0; i < self->tile->n_events; i++)
    {
      const LnsPixelEvent *event = &self->tile->events[i];
      double x_px = x_of (self, event->start_ns) / scale;
      double width_px = (double)event->duration_ns / self->ns_per_px / scale;
      if (width_px < LNS_LABEL_MIN_PX)
        continue;
      write_name (self, cr, event->name, round (x_px) + LNS_LABEL_PAD_PX,
                  width_px - 2 * LNS_LABEL_PAD_PX, lns_palette_text_on (color_of (self, event)));
    }
  cairo_destroy (cr);
  cairo_surface_flush (self->tile->surface);
}

static void
paint_ranges (LnsTilePainter *self)
{
  paint_coverage (self);
  for (uint32_t i = 0; i < self->tile->n_events; i++)
    paint_bar (self, &self->tile->events[i]);
  paint_labels (self);
  paint_losses (self);
}

/* --- Marks --------------------------------------------------------------------------------- */

static void
paint_flag (LnsTilePainter *self, double x, uint32_t rgb)
{
  int scale = self->tile->key.scale, left = (int)floor (x);
  lns_raster_fill (&self->raster, left, left + scale, 0, bar_height_px (self) * scale, rgb);
  for (int i = 0; i <= MARK_PX * scale; i++)
    lns_raster_fill (&self->raster, left - i, left + i + 1, 2 * MARK_PX * scale - 2 * i,
                     2 * MARK_PX * scale - 2 * i + 2, rgb);
}

static void
paint_marks (LnsTilePainter *self)
{
  LnsTile *tile = self->tile;
  if (tile->n_events == 0)
    {
      paint_coverage (self);
      return;
    }
  double scale = tile->key.scale;
  for (uint32_t i = 0; i < tile->n_events; i++)
    paint_flag (
        self, x_of (self, tile->events[i].start_ns),
        color_in_row (self, tile->key.strip.row, tile->events[i].color, tile->events[i].name, -1));
  cairo_t *cr = text_context (self);
  for (uint32_t i = 0; i < tile->n_events; i++)
    {
      double x_px = x_of (self, tile->events[i].start_ns) / scale;
      double next_px = i + 1 < tile->n_events
                           ? x_of (self, tile->events[i + 1].start_ns) / scale - MARK_PX
                           : LNS_TILE_PX;
      if (next_px - x_px >= LNS_LABEL_MIN_PX)
        write_name (self, cr, tile->events[i].name, round (x_px) + LNS_LABEL_PAD_PX,
                    next_px - x_px - 2 * LNS_LABEL_PAD_PX, self->palette->text);
    }
  cairo_destroy (cr);
  cairo_surface_flush (tile->surface);
}

/* --- What nothing was recorded of -------------------------------------------------------------- */

static void
hatch_unknown (LnsTilePainter *self, int x0, int x1)
{
  const int scale = self->tile->key.scale;
  lns_raster_hatch (&self->raster, x0, x1, 0, self->raster.height_px - scale,
                    lns_palette_mix (self->background, self->palette->blocked_edge, UNKNOWN_SHADE),
                    scale, self->tile->key.index * self->n_px);
}

/* Whether the strip is about what CPUs do. */
static bool
is_of_cpus (LnsTilePainter *self)
{
  const LnsStrip *strip = &self->tile->key.strip;
  const LnsLane *lanes = lns_report_lanes (self->report, NULL);
  return lns_activity_is_of_cpus (lns_strip_activity (self->report, self->tree, strip)) ||
         (strip->kind == LNS_STRIP_RANGES && strip->lane != LNS_ID_NONE &&
          lanes[strip->lane].kind == LNS_LANE_CPU_RUN);
}

/* Hatches what comes after what is known of CPUs. */
static void
paint_unknown (LnsTilePainter *self)
{
  const double x0 = x_of (self, lns_report_info (self->report)->known_ns);
  const double x1 = x_of (self, lns_report_info (self->report)->end_ns);
  if (is_of_cpus (self) && x1 > x0)
    hatch_unknown (self, (int)CLAMP (ceil (x0), -1e6, 1e6), (int)CLAMP (ceil (x1), -1e6, 1e6));
}

/* --- What a thread does: as high as its state is near to running ------------------------------- */

static void
paint_state (LnsTilePainter *self, const LnsPixelEvent *event, LnsThreadState state)
{
  const LnsPalette *palette = self->palette;
  int scale = self->tile->key.scale, bar_px = bar_height_px (self) * scale, x0, x1;
  lns_tile_edges_of (self->tile, event, &x0, &x1);
  switch (state)
    {
    case LNS_STATE_RUNNING:
      lns_raster_fill (&self->raster, x0, x1, 0, bar_px, palette->running);
      break;
    case LNS_STATE_RUNNABLE:
      lns_raster_fill (&self->raster, x0, x1, bar_px / 2, bar_px, palette->runnable);
      break;
    case LNS_STATE_BLOCKED:
    case LNS_STATE_UNINTERRUPTIBLE:
      lns_raster_fill (&self->raster, x0, x1, 0, bar_px, lns_palette_state (palette, state));
      lns_raster_fill (&self->raster, x0, x1, bar_px - LNS_STATE_EDGE_PX * scale, bar_px,
                       lns_palette_state_mark (palette, state));
      break;
    case LNS_STATE_UNKNOWN:
      hatch_unknown (self, x0, x1);
      break;
    default:
      lns_raster_fill (&self->raster, x0, x1, bar_px - LNS_STATE_EDGE_PX * scale, bar_px,
                       palette->blocked_edge);
      break;
    }
}

/* Writes what SPAN is from X_PX on, in at most WIDTH_PX. Logical pixels. */
static void
write_state (
    LnsTilePainter *self, cairo_t *cr, const LnsThreadSpan *span, double x_px, double width_px)
{
  int text_px, line_px;
  if (width_px < LNS_LABEL_MIN_PX)
    return;
  PangoLayout *layout = lns_tile_labels_span (self->labels, span, width_px - 2 * LNS_LABEL_PAD_PX,
                                              &text_px, &line_px);
  if (layout == NULL || x_px + LNS_LABEL_PAD_PX + text_px <= 0)
    return;
  GdkRGBA color =
      lns_palette_rgba (lns_palette_text_on (lns_palette_state (self->palette, span->state)), 1);
  cairo_move_to (cr, x_px + LNS_LABEL_PAD_PX, (bar_height_px (self) - line_px) / 2);
  gdk_cairo_set_source_rgba (cr, &color);
  pango_cairo_show_layout (cr, layout);
}

/* What a thread does between its times on CPUs, then these, as high as the part of a pixel that they cover. */
static void
paint_state_bars (LnsTilePainter *self)
{
  LnsTile *tile = self->tile;
  int scale = tile->key.scale, bar_px = bar_height_px (self) * scale;
  for (uint32_t i = 0; i < tile->n_events; i++)
    if (tile->spans[i].state != LNS_STATE_RUNNING)
      paint_state (self, &tile->events[i], tile->spans[i].state);
  for (int p = 0; p < self->n_px; p++)
    if (tile->pixels[p].busy > 0)
      lns_raster_fill (&self->raster, p, p + 1,
                       bar_px - MAX ((int)lroundf (fminf (tile->pixels[p].busy, 1) * (float)bar_px),
                                     (int)(MIN_COVERAGE * (float)bar_px)),
                       bar_px, self->palette->running);
  for (uint32_t i = 0; i < tile->n_events; i++)
    if (tile->spans[i].state == LNS_STATE_RUNNING)
      paint_state (self, &tile->events[i], LNS_STATE_RUNNING);
}

/* Writes what the thread ran where it did so in pieces that are too short to be told apart. */
static void
name_runs (LnsTilePainter *self, cairo_t *cr)
{
  const double scale = self->tile->key.scale;
  const uint32_t row = lns_row_tree_row_of_lane (self->tree, self->tile->key.strip.lane);
  if (self->query.cached_only || row == LNS_ID_NONE)
    return;
  g_autofree bool *runs = lns_thread_runs_find (self->tile);
  for (int p = 0, end; p < self->n_px; p = end + 1)
    {
      for (end = p; end < self->n_px && runs[end]; end++)
        ;
      if ((end - p) / scale < LNS_LABEL_MIN_PX)
        continue;
      const int64_t start_ns = lns_sum (self->origin_ns, (int64_t)(p * self->ns_per_px));
      const int64_t end_ns = lns_sum (self->origin_ns, (int64_t)(end * self->ns_per_px));
      const uint32_t thread = lns_row_tree_row (self->tree, row)->thread;
      const LnsThreadSpan span = {
        .state = LNS_STATE_RUNNING,
        .cpu = LNS_ID_NONE,
        .function = lns_sampled_function (self->report, thread, start_ns, end_ns).name
      };
      write_state (self, cr, &span, p / scale, (end - p) / scale);
    }
}

static void
paint_states (LnsTilePainter *self)
{
  LnsTile *tile = self->tile;
  const double scale = tile->key.scale;
  paint_state_bars (self);
  cairo_t *cr = text_context (self);
  for (uint32_t i = 0; i < tile->n_events; i++)
    write_state (self, cr, &tile->spans[i], round (x_of (self, tile->events[i].start_ns) / scale),
                 (double)tile->events[i].duration_ns / self->ns_per_px / scale);
  name_runs (self, cr);
  cairo_destroy (cr);
  cairo_surface_flush (tile->surface);
  paint_losses (self);
}

/* --- What is painted ------------------------------------------------------------------------- */

/* Notes that a query has succeeded, and whether it left something out. Returns OK. */
static bool
note_query (LnsTilePainter *self, bool ok)
{
  if (ok && self->result.coarse)
    self->tile->state = LNS_TILE_COARSE;
  return ok;
}

static bool
query_lane (LnsTilePainter *self, uint32_t lane)
{
  const LnsLaneKind kind = lns_report_lanes (self->report, NULL)[lane].kind;
  const bool ok =
      lns_report_query_pixels (self->report, lane, &self->query, &self->result, &self->error);
  if (ok)
    lns_states_cut (self->report, kind, &self->query, &self->result);
  return note_query (self, ok);
}

/* --- Lanes --------------------------------------------------------------------------------- */

static void
keep_result (LnsTilePainter *self)
{
  LnsTile *tile = self->tile;
  tile->pixels = g_memdup2 (self->result.pixels, (gsize)self->n_px * sizeof *tile->pixels);
  tile->n_events = self->result.n_events;
  tile->events = g_memdup2 (self->result.events, tile->n_events * sizeof *tile->events);
}

/* Queries a strip of several lanes: the row's facet or, until that has been read, the sum of the lanes. */
static bool
query_merged (LnsTilePainter *self)
{
  return note_query (self, lns_work_query (self->report, self->tree, self->tile->key.strip.row,
                                           &self->query, &self->result, &self->error));
}

static bool
load_ranges (LnsTilePainter *self)
{
  uint32_t lane = self->tile->key.strip.lane;
  if (!(lane == LNS_ID_NONE ? query_merged (self) : query_lane (self, lane)))
    return false;
  keep_result (self);
  return true;
}

static bool
load_marks (LnsTilePainter *self)
{
  if (!query_lane (self, self->tile->key.strip.lane))
    return false;
  keep_result (self);
  uint64_t n_marks = 0;
  for (int p = 0; p < self->n_px; p++)
    n_marks += self->result.pixels[p].count;
  if (n_marks > MAX_LISTED_MARKS)
    return true;
  if (self->query.cached_only)
    {
      self->tile->state = LNS_TILE_COARSE;
      return true;
    }
  g_clear_pointer (&self->tile->events, g_free);
  self->tile->n_events = 0;
  return lns_mark_list_read (self->report, self->tile->key.strip.lane, self->origin_ns,
                             lns_sum (self->origin_ns, self->tile->key.ns_per_tile),
                             &self->tile->events, &self->tile->n_events, &self->error);
}

static int
compare_spans (const void *a, const void *b)
{
  const LnsThreadSpan *x = a, *y = b;
  return LNS_COMPARE (x->start_ns, y->start_ns);
}

/* Finds what is written onto a wide bar: what a thread runs, or else on which CPU; the call that it waits in. */
static void
complete_span (LnsTilePainter *self, LnsThreadSpan *span)
{
  LnsEvent event;
  uint32_t lane = self->tile->key.strip.lane;
  if (lns_thread_state_is_blocked (span->state))
    lns_thread_span_find_call (self->report, lane, span);
  else if (span->state == LNS_STATE_RUNNING)
    {
      const uint32_t row = lns_row_tree_row_of_lane (self->tree, lane);
      span->function =
          lns_sampled_function (self->report, lns_row_tree_row (self->tree, row)->thread,
                                span->start_ns, span->end_ns)
              .name;
      if (lns_report_event (self->report, lane, span->ordinal, &event, NULL))
        span->cpu = (uint32_t)event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_CPU)];
    }
}

/* Puts SPANS and the stretches on CPUs that the tile lists into the tile's events, ascending. */
static void
keep_spans (LnsTilePainter *self, LnsThreadSpans *spans)
{
  LnsTile *tile = self->tile;
  uint32_t lane = tile->key.strip.lane;
  for (uint32_t i = 0; i < tile->n_events; i++)
    {
      const LnsPixelEvent *event = &tile->events[i];
      LnsThreadSpan span = { .state = LNS_STATE_RUNNING,
                             .ordinal = event->ordinal,
                             .cpu = LNS_ID_NONE,
                             .call_lane = LNS_ID_NONE,
                             .start_ns = event->start_ns,
                             .end_ns = lns_sum (event->start_ns, event->duration_ns) };
      *lns_array_add (spans) = span;
    }
  if (spans->n > 0)
    qsort (spans->items, spans->n, sizeof *spans->items, compare_spans);
  g_free (tile->events);
  tile->n_events = (uint32_t)spans->n;
  tile->events = g_new0 (LnsPixelEvent, spans->n);
  tile->spans = g_new0 (LnsThreadSpan, spans->n);
  for (size_t i = 0; i < spans->n; i++)
    {
      LnsThreadSpan *span = &spans->items[i];
      double width_px = (double)(span->end_ns - span->start_ns) / self->ns_per_px;
      if (width_px >= LNS_LABEL_MIN_PX * tile->key.scale && !self->query.cached_only)
        complete_span (self, span);
      tile->spans[i] = *span;
      tile->events[i] = (LnsPixelEvent){ .ordinal = span->ordinal,
                                         .start_ns = span->start_ns,
                                         .duration_ns = span->end_ns - span->start_ns,
                                         .name = span->call_name,
                                         .lane = lane };
    }
}

static bool
load_states (LnsTilePainter *self)
{
  LnsThreadSpans spans = { 0 };
  bool is_read = true;
  if (!query_lane (self, self->tile->key.strip.lane))
    return false;
  keep_result (self);
  if (self->query.cached_only)
    self->tile->state = LNS_TILE_COARSE; /* what lies between has to be read */
  else
    is_read = lns_thread_spans_query (self->report, self->tile->key.strip.lane, &self->query,
                                      &self->result, &spans, &self->error);
  if (is_read)
    keep_spans (self, &spans);
  lns_array_clear (&spans);
  return is_read;
}

static bool
load_summary (LnsTilePainter *self, float *ret_shares)
{
  if (lns_row_kind_is_merged (lns_row_tree_row (self->tree, self->tile->key.strip.row)->kind))
    {
      if (!query_merged (self))
        return false;
      for (int p = 0; p < self->n_px; p++)
        ret_shares[p] = self->result.pixels[p].busy;
      self->tile->pixels =
          g_memdup2 (self->result.pixels, (gsize)self->n_px * sizeof *self->tile->pixels);
      return true;
    }
  if (!note_query (self, lns_summary_query (self->report, self->tree, self->tile->key.strip.row,
                                            &self->query, &self->result, ret_shares, &self->error)))
    return false;
  self->tile->pixels = g_new0 (LnsPixel, self->n_px);
  for (int p = 0; p < self->n_px; p++)
    self->tile->pixels[p].busy = ret_shares[p];
  return true;
}

/* --- Counters ------------------------------------------------------------------------------ */

static bool
load_counter (LnsTilePainter *self, double *ret_low, double *ret_high)
{
  LnsTile *tile = self->tile;
  uint32_t lane = tile->key.strip.lane;
  tile->samples = g_new (LnsCounterPixel, self->n_px);
  if (!lns_report_query_counter (self->report, lane, &self->query, tile->samples, &self->error))
    return false;

  /* The scale is that of the whole counter, so that neighbouring tiles match. */
  const LnsLaneInfo *info = lns_report_lane_info (self->report, lane);
  LnsPixelQuery whole = self->query;
  LnsCounterPixel extremes;
  whole.origin_ns = info->start_ns;
  whole.ns_per_px = (double)info->end_ns - (double)info->start_ns + 1;
  whole.n_px = 1;
  if (!lns_report_query_counter (self->report, lane, &whole, &extremes, &self->error))
    return false;
  *ret_low = extremes.min;
  *ret_high = tile->most = extremes.max;
  if (self->query.cached_only)
    tile->state = LNS_TILE_COARSE; /* the query does not say whether it left something out */
  return true;
}

/* --- What a thread does, in one lane: its ranges and calls, under them its states --------------- */

/* So far beside the tile what is there is looked at, as what is written onto bars reaches from tile to tile; also the most that a name
 * takes. */
#define BESIDE_PX 160

/* What stands for the thread's state at each pixel, with the background where nothing does. */
static uint32_t *
underline (LnsTilePainter *self)
{
  const LnsTile *tile = self->tile;
  uint32_t *rgb = g_new (uint32_t, self->n_px);
  for (int p = 0; p < self->n_px; p++)
    rgb[p] = self->background;
  for (uint32_t i = 0; i < tile->n_events && tile->spans != NULL; i++)
    {
      int x0, x1;
      lns_tile_edges_of (tile, &tile->events[i], &x0, &x1);
      for (int p = MAX (x0, 0); p < MIN (x1, self->n_px); p++)
        rgb[p] = lns_palette_state_mark (self->palette, tile->spans[i].state);
    }
  for (int p = 0; p < self->n_px && tile->spans != NULL; p++)
    if (tile->pixels[p].busy >= 0.5f)
      rgb[p] = self->palette->running;
  return rgb;
}

/* Events too narrow to be told apart, in the place of what they lie in, or over the states as high as the part that they cover. */
static void
paint_narrow (LnsTilePainter *self, const LnsCombinedPixel *narrow, int bar_px)
{
  self->tile->narrow = g_new (uint32_t, self->n_px);
  for (int p = 0; p < self->n_px; p++)
    {
      self->tile->narrow[p] = narrow[p].lane;
      if (narrow[p].lane == LNS_ID_NONE)
        continue;
      const uint32_t row = lns_row_tree_row_of_lane (self->tree, narrow[p].lane);
      const bool is_alone =
          narrow[p - 1].name == narrow[p].name && narrow[p + 1].name == narrow[p].name;
      const uint32_t rgb = color_of_narrow (self, row, narrow[p].color, narrow[p].name,
                                            narrow[p].count, narrow[p].busy, is_alone);
      const float share = narrow[p].busy >= 0.5f ? 1 : MAX (narrow[p].busy, MIN_COVERAGE);
      self->tile->pixels[p].name = narrow[p].name;
      self->tile->pixels[p].count = narrow[p].count;
      lns_raster_fill (&self->raster, p, p + 1, bar_px - (int)lroundf (share * (float)bar_px),
                       bar_px, rgb);
    }
}

static void
write_pieces (LnsTilePainter *self, int beside)
{
  const LnsTile *tile = self->tile;
  const double scale = tile->key.scale;
  cairo_t *cr = text_context (self);
  for (uint32_t i = 0; i < tile->n_events; i++)
    {
      const LnsTileEdges *edges = &tile->edges[i];
      const LnsPixelEvent *event = &tile->events[i];
      const double x_px = edges->x0 / scale;
      const double width_px = MIN ((edges->x1 - edges->x0) / scale, BESIDE_PX);
      if (edges->x0 <= -beside || width_px < LNS_LABEL_MIN_PX)
        continue;
      if (tile->spans[i].state != LNS_STATE_NONE)
        write_state (self, cr, &tile->spans[i], x_px, width_px);
      else
        {
          const uint32_t row = lns_row_tree_row_of_lane (self->tree, event->lane);
          write_name_of (self, cr, row, event->name, x_px + LNS_LABEL_PAD_PX,
                         width_px - 2 * LNS_LABEL_PAD_PX,
                         lns_palette_text_on (color_in_row (self, row, event->color, event->name,
                                                            event->duration_ns)));
        }
    }
  if (tile->key.strip.lane != LNS_ID_NONE)
    name_runs (self, cr);
  cairo_destroy (cr);
  cairo_surface_flush (self->tile->surface);
}

static void
paint_combined (LnsTilePainter *self, const LnsCombined *combined, int beside)
{
  LnsTile *tile = self->tile;
  const int scale = tile->key.scale, whole_px = bar_height_px (self) * scale;
  const bool has_states = tile->key.strip.lane != LNS_ID_NONE;
  const int bar_px = whole_px - (has_states ? LNS_STATE_UNDERLINE_PX * scale : 0);
  g_autofree uint32_t *line = underline (self);
  if (has_states)
    paint_state_bars (self);
  lns_combined_join (combined, self->report, beside, self->palette->blocked, tile);
  paint_narrow (self, combined->narrow + beside, bar_px);
  for (uint32_t i = 0; i < tile->n_events; i++)
    {
      const LnsPixelEvent *event = &tile->events[i];
      const LnsTileEdges *edges = &tile->edges[i];
      if (tile->spans[i].state != LNS_STATE_NONE)
        continue;
      const uint32_t rgb = color_in_row (self, lns_row_tree_row_of_lane (self->tree, event->lane),
                                         event->color, event->name, event->duration_ns);
      lns_raster_fill (&self->raster, edges->x0, edges->x1, 0, bar_px, rgb);
      if (edges->x1 - edges->x0 >= EDGE_MIN_PX * scale)
        lns_raster_fill (&self->raster, edges->x1 - scale, edges->x1, 0, bar_px,
                         lns_palette_mix (rgb, 0x000000, EDGE_SHADE));
      for (int p = MAX (edges->x0, 0); p < MIN (edges->x1, self->n_px); p++)
        lns_raster_fill (&self->raster, p, p + 1, bar_px, whole_px, line[p]);
    }
  write_pieces (self, beside);
  paint_losses (self);
}

static bool
load_combined (LnsTilePainter *self, LnsCombined *ret_combined, int beside)
{
  LnsPixelQuery wide = self->query;
  if (self->tile->key.strip.lane != LNS_ID_NONE)
    {
      if (!load_states (self))
        return false;
    }
  else
    {
      g_autofree float *shares = g_new0 (float, self->n_px);
      if (!load_summary (self, shares))
        return false;
    }
  wide.origin_ns = lns_difference (self->origin_ns, (int64_t)ceil (beside * self->ns_per_px));
  wide.n_px += 2 * (uint32_t)beside;
  if (!lns_combined_query (self->report, self->tree, self->tile->key.strip.row, &wide,
                           &self->result, ret_combined, &self->error))
    return false;
  if (ret_combined->coarse)
    self->tile->state = LNS_TILE_COARSE;
  return true;
}

/* --- Tiles --------------------------------------------------------------------------------- */

static bool
is_ticks (LnsTilePainter *self)
{
  const LnsLane *lanes = lns_report_lanes (self->report, NULL);
  return lns_lane_look (lanes[self->tile->key.strip.lane].kind)->form == LNS_LOOK_TICKS;
}

static bool
paint_strip (LnsTilePainter *self)
{
  bool ok = false;
  switch (self->tile->key.strip.kind)
    {
    case LNS_STRIP_RANGES:
      ok = load_ranges (self);
      if (ok)
        paint_ranges (self);
      if (ok)
        paint_unknown (self);
      break;
    case LNS_STRIP_MARKS:
      ok = load_marks (self);
      if (ok && is_ticks (self))
        lns_chart_paint_ticks (&self->raster, self->palette, self->tile->key.scale,
                               bar_height_px (self) * self->tile->key.scale, self->tile->pixels,
                               self->ns_per_px);
      else if (ok)
        paint_marks (self);
      break;
    case LNS_STRIP_STATES:
      ok = load_states (self);
      if (ok)
        paint_states (self);
      break;
    case LNS_STRIP_COMBINED:
      {
        const int beside = BESIDE_PX * self->tile->key.scale;
        LnsCombined combined = { 0 };
        ok = load_combined (self, &combined, beside);
        if (ok)
          paint_combined (self, &combined, beside);
        lns_combined_clear (&combined);
        break;
      }
    case LNS_STRIP_SUMMARY:
      {
        g_autofree float *shares = g_new0 (float, self->n_px);
        ok = load_summary (self, shares);
        if (ok)
          {
            if (!self->tile->key.strip.quiet)
              lns_chart_paint_shares (&self->raster, self->palette, self->tile->key.scale, shares);
            else if (is_of_cpus (self))
              lns_chart_paint_quiet_shares (&self->raster, self->palette, self->background,
                                            self->tile->key.scale, shares);
            paint_losses (self);
            paint_unknown (self);
          }
        break;
      }
    case LNS_STRIP_COUNTER:
      {
        double low = 0, high = 0;
        ok = load_counter (self, &low, &high);
        if (ok)
          lns_chart_paint_counter (&self->raster, self->palette, self->background,
                                   self->tile->key.scale, self->tile->samples, low, high);
        break;
      }
    }
  return ok;
}

static void
begin (LnsTilePainter *self, const LnsTileKey *key)
{
  int height_px = lns_strip_height_px (&key->strip) * key->scale;
  self->n_px = LNS_TILE_PX * key->scale;
  self->error = (LnsError){ 0 };
  self->tile = g_new0 (LnsTile, 1);
  self->tile->key = *key;
  self->tile->state = LNS_TILE_EXACT;
  self->tile->surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, self->n_px, height_px);
  cairo_surface_flush (self->tile->surface);
  self->raster = (LnsRaster){
    .pixels = (uint32_t *)(void *)cairo_image_surface_get_data (self->tile->surface),
    .stride = cairo_image_surface_get_stride (self->tile->surface) / 4,
    .width_px = self->n_px,
    .height_px = height_px,
  };
  lns_tile_labels_set_lane_px (self->labels, key->strip.lane_px);
  self->palette = lns_palette_get (key->theme);
  self->background = self->palette->background[key->strip.odd];
  self->tile->background = self->background;
  self->origin_ns = lns_tile_origin_ns (key);
  self->ns_per_px = (double)key->ns_per_tile / self->n_px;
  lns_raster_fill (&self->raster, 0, self->n_px, 0, height_px, self->background);
}

/* Frees a surface that shows only the background, as most tiles of sparse rows do: a colour is cheaper to keep and to
 * draw. */
static void
drop_blank_surface (LnsTilePainter *self, LnsTile *tile)
{
  for (int y = 0; y < self->raster.height_px; y++)
    for (int x = 0; x < self->raster.width_px; x++)
      if ((self->raster.pixels[y * self->raster.stride + x] & 0xffffff) != self->background)
        return;
  g_clear_pointer (&tile->surface, cairo_surface_destroy);
}

LnsTile *
lns_tile_painter_paint (LnsTilePainter *self,
                        const LnsTileKey *key,
                        gboolean exact,
                        const atomic_uint *generation,
                        unsigned expected)
{
  begin (self, key);
  self->query = (LnsPixelQuery){
    .origin_ns = self->origin_ns,
    .ns_per_px = self->ns_per_px,
    .n_px = (uint32_t)self->n_px,
    .min_event_px = MIN_EVENT_PX,
    .cached_only = !exact,
    .generation = generation,
    .expected_generation = expected,
  };
  bool ok = paint_strip (self);
  LnsTile *tile = g_steal_pointer (&self->tile);
  if (!ok && self->error.domain == LNS_ERROR_CANCELLED)
    {
      lns_tile_free (tile);
      return NULL;
    }
  if (!ok)
    {
      tile->state = LNS_TILE_DAMAGED;
      lns_raster_hatch (&self->raster, 0, self->n_px, 2 * key->scale,
                        self->raster.height_px - 2 * key->scale, self->palette->damaged, key->scale,
                        0);
    }
  cairo_surface_mark_dirty (tile->surface);
  cairo_surface_set_device_scale (tile->surface, key->scale, key->scale);
  drop_blank_surface (self, tile);
  return tile;
}

LnsTilePainter *
lns_tile_painter_new (LnsReport *report, const LnsRowTree *tree, const PangoFontDescription *font)
{
  LnsTilePainter *self = g_new0 (LnsTilePainter, 1);
  self->report = report;
  self->tree = tree;
  self->labels = lns_tile_labels_new (report, font);
  self->colors = lns_event_colors_new (report, tree);
  return self;
}

void
lns_tile_painter_free (LnsTilePainter *self)
{
  if (self == NULL)
    return;
  lns_tile_labels_free (self->labels);
  lns_event_colors_free (self->colors);
  lns_pixel_result_clear (&self->result);
  g_free (self);
}

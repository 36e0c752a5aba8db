/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The timeline over the reports of known-report.c: rows, the view, what a tile shows, and what a
 * pan costs. Run by harness.py.
 *
 * usage: test-timeline KNOWN.rep HOURS.rep THREADS.rep (3,000 of them) */

#include "src/base/hash.h"
#include <adwaita.h>

#include "ui/model/context-menu.h"
#include "ui/model/palette.h"
#include "ui/model/text-cell.h"
#include "ui/tiles/event-color.h"
#include "ui/tiles/tile-painter.h"

#include "tests/ui/contrast.h"
#include "tests/ui/timeline-fixture.h"

#define SECOND    INT64_C (1000000000)
#define TEN_HOURS (36000 * SECOND)

static const char *known_path, *hours_path, *threads_path;

/* The row labelled LABEL, the NTH of them. */
static uint32_t
row_called (const LnsRowTree *tree, const char *label, int nth)
{
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    if (strcmp (lns_row_tree_row (tree, row)->label, label) == 0 && nth-- == 0)
      return row;
  LNS_FAIL ("no row %s", label);
}

/* --- Rows ---------------------------------------------------------------------------------- */

static void
rows_stand_in_their_order (void)
{
  static const char *const labels[] = {
    "python3 (4711)", "NVTX start/end: io", "loss",          "main (4711)", "NVTX",
    "loader (4712)",  "NVTX: io",           "Thread (4713)", "NVTX"
  };
  static const uint32_t depths[] = { 0, 1, 1, 1, 2, 1, 2, 1, 2 };
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  LNS_CHECK_INT (lns_row_tree_n_rows (tree), G_N_ELEMENTS (labels));
  for (uint32_t row = 0; row < G_N_ELEMENTS (labels); row++)
    {
      LNS_CHECK_STR (lns_row_tree_row (tree, row)->label, labels[row]);
      LNS_CHECK_INT (lns_row_tree_row (tree, row)->depth, depths[row]);
    }
  /* Four depths and the marks; all events are below the process. */
  LNS_CHECK_INT (lns_row_tree_row (tree, 4)->n_own, 5);
  LNS_CHECK_INT (lns_row_tree_row (tree, 4)->n_events, 10 + 20 + 200 + 20000 + 5);
  LNS_CHECK_INT (lns_row_tree_row (tree, 0)->n_events, lns_report_info (report)->n_events);
  for (uint32_t i = 0; i < lns_row_tree_row (tree, 0)->n_lanes; i++)
    {
      uint32_t lane = lns_row_tree_lanes (tree)[i], row = lns_row_tree_row_of_lane (tree, lane);
      const LnsRow *it = lns_row_tree_row (tree, row);
      LNS_CHECK (i >= it->lanes && i < it->lanes + it->n_own);
    }
  LNS_CHECK_INT (lns_row_tree_row_of_lane (tree, 1000), LNS_ID_NONE);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

static void
folds_hide_what_is_below (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  int all_px = lns_row_tree_top_px (tree, lns_row_tree_n_visible (tree));
  LNS_CHECK_INT (all_px, LNS_SUMMARY_PX + LNS_COUNTER_PX + (3 + 3 + 5 + 1 + 1) * LNS_LANE_PX +
                             7 * 2 * LNS_ROW_PAD_PX);
  LNS_CHECK (lns_row_tree_set_expanded (tree, 3, false));
  LNS_CHECK (!lns_row_tree_set_expanded (tree, 3, false));
  LNS_CHECK_INT (lns_row_tree_n_visible (tree), 8);
  LNS_CHECK_INT (lns_row_tree_place_of (tree, 4), LNS_ID_NONE);
  LNS_CHECK_INT (lns_row_tree_place_of (tree, 5), 4);
  LNS_CHECK_INT (lns_row_tree_visible (tree, 4), 5);
  LNS_CHECK_INT (lns_row_tree_top_px (tree, 8), all_px - 5 * LNS_LANE_PX - 2 * LNS_ROW_PAD_PX);
  LNS_CHECK (lns_row_tree_set_all_expanded (tree, false));
  LNS_CHECK_INT (lns_row_tree_n_visible (tree), 1);
  LNS_CHECK (lns_row_tree_unfold_to (tree, 4));
  LNS_CHECK (lns_row_tree_place_of (tree, 4) != LNS_ID_NONE);
  LNS_CHECK_INT (lns_row_tree_n_shown_lanes (tree, 4), 5);
  LNS_CHECK (lns_row_tree_set_expanded (tree, 4, false));
  LNS_CHECK_INT (lns_row_tree_n_shown_lanes (tree, 4), 1);
  LNS_CHECK (!lns_row_tree_can_fold (tree, 6));
  for (uint32_t v = 0; v < lns_row_tree_n_visible (tree); v++)
    {
      LNS_CHECK_INT (lns_row_tree_at_px (tree, lns_row_tree_top_px (tree, v)), v);
      LNS_CHECK_INT (lns_row_tree_at_px (tree, lns_row_tree_top_px (tree, v + 1) - 1), v);
    }
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* --- The view ------------------------------------------------------------------------------ */

static void
zooms_are_undone_one_by_one (void)
{
  g_autoptr (LnsView) view = new_view (known_path);
  lns_view_set_width_px (view, 1000);
  LnsScale all = *lns_view_get_scale (view);
  LNS_CHECK (!lns_view_undo_zoom (view));
  lns_view_zoom_at (view, 500, 0.5);
  LNS_CHECK (!lns_view_can_undo_zoom (view)); /* nothing is further out */
  lns_view_zoom_at (view, 300, 2);
  lns_view_zoom_at (view, 300, 2); /* the same movement */
  LnsScale burst = *lns_view_get_scale (view);
  lns_view_show_span (view, SECOND, 2 * SECOND);
  LNS_CHECK_INT (lns_view_get_start_ns (view), SECOND);
  LNS_CHECK (lns_view_undo_zoom (view));
  LNS_CHECK_INT (lns_view_get_scale (view)->ns_per_tile, burst.ns_per_tile);
  LNS_CHECK_INT (lns_view_get_scale (view)->first_px, burst.first_px);
  LNS_CHECK (lns_view_undo_zoom (view));
  LNS_CHECK_INT (lns_view_get_scale (view)->ns_per_tile, all.ns_per_tile);
  LNS_CHECK (!lns_view_undo_zoom (view));

  /* There and back again; a new zoom is another way, from which the old one cannot be gone. */
  LNS_CHECK (lns_view_redo_zoom (view));
  LNS_CHECK_INT (lns_view_get_scale (view)->first_px, burst.first_px);
  LNS_CHECK (lns_view_redo_zoom (view));
  LNS_CHECK_INT (lns_view_get_start_ns (view), SECOND);
  LNS_CHECK (!lns_view_redo_zoom (view));
  LNS_CHECK (lns_view_undo_zoom (view) && lns_view_undo_zoom (view));
  LNS_CHECK (lns_view_can_redo_zoom (view));
  lns_view_zoom_at (view, 300, 4);
  LNS_CHECK (!lns_view_can_redo_zoom (view));
}

static gint64 clock_usec;

static gint64
clock_of_test (void)
{
  return clock_usec;
}

/* How many steps can be undone. */
static int
count_undo (LnsView *view)
{
  int n = 0;
  while (lns_view_undo_zoom (view))
    n++;
  return n;
}

/* Zooms in at the pause of USEC after the last step. */
static void
step (LnsView *view, gint64 usec, double factor)
{
  clock_usec += usec;
  lns_view_zoom_at (view, 300, factor);
}

static void
one_movement_is_one_step_to_undo (void)
{
  g_autoptr (LnsView) view = new_view (known_path);
  lns_view_set_clock (view, clock_of_test);
  lns_view_set_width_px (view, 1000);
  const LnsScale all = *lns_view_get_scale (view);

  step (view, 5 * G_USEC_PER_SEC, 2);
  step (view, G_USEC_PER_SEC, 2);
  step (view, G_USEC_PER_SEC, 2);
  LNS_CHECK_INT (count_undo (view), 1);
  LNS_CHECK_INT (lns_view_get_scale (view)->ns_per_tile, all.ns_per_tile);
  LNS_CHECK_INT (lns_view_get_scale (view)->first_px, all.first_px);

  /* A pause, the other direction, a pan and an undo each end the movement. */
  step (view, 0, 2);
  step (view, G_USEC_PER_SEC + 1, 2);
  LNS_CHECK_INT (count_undo (view), 2);
  step (view, 0, 4);
  step (view, 0, 0.5);
  step (view, 0, 0.75);
  LNS_CHECK_INT (count_undo (view), 2);
  step (view, 0, 2);
  lns_view_pan (view, 50);
  step (view, 0, 2);
  LNS_CHECK_INT (count_undo (view), 2);
  step (view, 0, 2);
  LNS_CHECK (lns_view_undo_zoom (view));
  step (view, 0, 2);
  LNS_CHECK_INT (count_undo (view), 1);
}

static void
a_view_never_leaves_its_report (void)
{
  g_autoptr (LnsView) view = new_view (known_path);
  lns_view_set_width_px (view, 1000);
  lns_view_show_span (view, 4 * SECOND, 5 * SECOND);
  lns_view_pan (view, INT64_MIN / 4);
  LNS_CHECK (lns_view_get_start_ns (view) < 0 && lns_view_get_start_ns (view) > -SECOND / 20);
  lns_view_pan (view, INT64_MAX / 4);
  int64_t end_ns = lns_view_get_end_ns (view);
  LNS_CHECK (end_ns > 10 * SECOND && end_ns < 10 * SECOND + SECOND / 20);
  lns_view_set_time_selection (view, 7 * SECOND, 6 * SECOND);
  int64_t from_ns, to_ns;
  LNS_CHECK (lns_view_get_time_selection (view, &from_ns, &to_ns));
  LNS_CHECK_INT (from_ns, 6 * SECOND);
  lns_view_zoom_to_selection (view);
  LNS_CHECK (!lns_view_get_time_selection (view, NULL, NULL));
  LNS_CHECK_INT (lns_view_get_start_ns (view), 6 * SECOND);
  lns_view_set_width_px (view, 500); /* a view of a span that was asked for goes on showing that */
  LNS_CHECK_INT (lns_view_get_start_ns (view), 6 * SECOND);
  LNS_CHECK (lns_view_get_end_ns (view) >= 7 * SECOND);
  lns_view_pan (view, 10); /* … until it is moved */
  const int64_t before_ns = lns_view_get_end_ns (view);
  lns_view_set_width_px (view, 250);
  LNS_CHECK (lns_view_get_end_ns (view) < before_ns);
  lns_view_set_width_px (view, 500);
  lns_view_fit (view);
  lns_view_set_width_px (view, 800); /* a view of all goes on showing all */
  LNS_CHECK (lns_view_get_start_ns (view) <= 0 && lns_view_get_end_ns (view) >= 10 * SECOND);
}

static gboolean
has_selected (gpointer view)
{
  return lns_view_get_selected_event (view, NULL).lane != LNS_ID_NONE;
}

static void
a_revealed_nanosecond_is_ten_pixels_wide (void)
{
  g_autoptr (LnsView) view = new_view (hours_path);
  LnsEvent event;
  lns_view_reveal_event (view, (LnsEventId){ 0, 1 });
  wait_for (has_selected, view);
  lns_view_get_selected_event (view, &event);
  LNS_CHECK_INT (event.start_ns, TEN_HOURS);
  LNS_CHECK_INT (event.duration_ns, 1);
  const LnsScale *scale = lns_view_get_scale (view);
  double left = lns_scale_x_of (scale, event.start_ns);
  double right = lns_scale_x_of (scale, event.start_ns + 1);
  LNS_CHECK (right - left >= 10);
  LNS_CHECK (left >= 0 && right <= lns_view_get_width_px (view));
}

static void
keep_message_cb (LnsView *view, const char *message, char **ret_message)
{
  *ret_message = g_strdup (message);
}

static gboolean
is_set (gpointer data)
{
  return *(char **)data != NULL;
}

static void
an_event_that_is_not_there_is_said (void)
{
  g_autoptr (LnsView) view = new_view (hours_path);
  g_autofree char *message = NULL;
  g_signal_connect (view, "event-failed", G_CALLBACK (keep_message_cb), &message);
  lns_view_select_event (view, (LnsEventId){ 0, 1000 });
  wait_for (is_set, &message);
  LNS_CHECK (strlen (message) > 10);
  LNS_CHECK_INT (lns_view_get_selected_event (view, NULL).lane, LNS_ID_NONE);
}

/* --- Tiles --------------------------------------------------------------------------------- */

static LnsColoring coloring;

/* Paints tile INDEX of NS_PER_TILE of strip I of ROW. */
static LnsTile *
paint (LnsReport *report,
       LnsRowTree *tree,
       uint32_t row,
       uint32_t i,
       int64_t ns_per_tile,
       int64_t index,
       int scale)
{
  static const atomic_uint generation;
  PangoFontDescription *font = pango_font_description_from_string ("Sans");
  LnsTilePainter *painter = lns_tile_painter_new (report, tree, font);
  LnsTileKey key = {
    lns_strip_of (report, tree, row, i), ns_per_tile, index, scale, LNS_THEME_DARK, coloring
  };
  LnsTile *tile = lns_tile_painter_paint (painter, &key, TRUE, &generation, 0);
  LNS_CHECK (lns_tile_painter_paint (painter, &key, TRUE, &generation, 1) == NULL ||
             key.strip.kind == LNS_STRIP_COUNTER);
  lns_tile_painter_free (painter);
  pango_font_description_free (font);
  return tile;
}

static uint32_t
pixel (const LnsTile *tile, int x, int y)
{
  const unsigned char *data = cairo_image_surface_get_data (tile->surface);
  const uint32_t *line =
      (const uint32_t *)(const void *)(data +
                                       (gssize)y * cairo_image_surface_get_stride (tile->surface));
  return line[x] & 0xffffff;
}

/* 20 ms a pixel: epochs of 45 px begin every 50 px. */
static void
bars_are_where_their_events_are (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  uint32_t background = lns_palette_get (LNS_THEME_DARK)->background[0];
  for (int scale = 1; scale <= 2; scale++)
    {
      LnsTile *tile = paint (report, tree, 4, 0, 512 * SECOND / 50, 0, scale);
      static const uint32_t colors[] = { 0x76b900, 0x1f77b4, 0xff7f0e, 0xd62728, 0x9467bd };
      LNS_CHECK_INT (tile->state, LNS_TILE_EXACT);
      LNS_CHECK_INT (tile->n_events, 10);
      for (int epoch = 0; epoch < 10; epoch++)
        {
          int x = 50 * epoch * scale, y = (LNS_LANE_PX - 2) * scale;
          LNS_CHECK_INT (pixel (tile, x, y), colors[epoch % 5]);
          LNS_CHECK_INT (pixel (tile, x + 43 * scale, y), colors[epoch % 5]);
          LNS_CHECK (pixel (tile, x + 45 * scale - 1, y) != colors[epoch % 5]); /* the edge */
          LNS_CHECK_INT (pixel (tile, x + 45 * scale, y), background);
          LNS_CHECK_INT (pixel (tile, x + 50 * scale - 1, y), background);
          const LnsPixelEvent *at = lns_tile_event_at (tile, 50 * epoch + 20, 0);
          LNS_CHECK (at != NULL && at->ordinal == (uint64_t)epoch);
          LNS_CHECK (lns_tile_event_at (tile, 50 * epoch + 47, 1) == NULL);
          LNS_CHECK (lns_tile_event_at (tile, 50 * epoch + 46, 2) == at);
        }
      lns_tile_free (tile);
    }
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* The row of epochs of 900 ms, and below it halves of 430 ms. */
static void
colours_tell_durations_or_one_name (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  const LnsPalette *palette = lns_palette_get (LNS_THEME_DARK);
  const uint32_t long_ones = lns_palette_duration (palette, 900 * SECOND / 1000);
  const uint32_t shorter_ones = lns_palette_duration (palette, 430 * SECOND / 1000);
  const int y = LNS_LANE_PX - 2;
  LNS_CHECK (long_ones != shorter_ones);

  coloring.mode = LNS_COLORS_BY_DURATION;
  LnsTile *tile = paint (report, tree, 4, 0, 512 * SECOND / 50, 0, 1);
  LnsTile *halves = paint (report, tree, 4, 1, 512 * SECOND / 50, 0, 1);
  for (int epoch = 0; epoch < 10; epoch++)
    {
      LNS_CHECK_INT (pixel (tile, 50 * epoch + 1, y), long_ones);
      LNS_CHECK_INT (pixel (halves, 50 * epoch + 2, y), shorter_ones);
    }
  lns_tile_free (halves);
  /* Only the fourth epoch, which is red. */
  const uint32_t name = tile->events[3].name;
  lns_tile_free (tile);
  coloring = (LnsColoring){ .only_name = lns_event_name_key (report, LNS_NAMES_OWN, name) };
  tile = paint (report, tree, 4, 0, 512 * SECOND / 50, 0, 1);
  for (int epoch = 0; epoch < 10; epoch++)
    LNS_CHECK_INT (pixel (tile, 50 * epoch + 1, y),
                   epoch == 3 ? 0xd62728 : lns_palette_gray (palette));
  lns_tile_free (tile);
  coloring.mode = LNS_COLORS_BY_DURATION;
  tile = paint (report, tree, 4, 0, 512 * SECOND / 50, 0, 1);
  LNS_CHECK_INT (pixel (tile, 151, y), long_ones);
  LNS_CHECK_INT (pixel (tile, 201, y), lns_palette_gray (palette));
  lns_tile_free (tile);
  coloring = (LnsColoring){ 0 };
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

static void
neighbouring_tiles_meet (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  int64_t ns_per_tile = 512 * SECOND / 700; /* an epoch of 630 px goes over the border */
  LnsTile *left = paint (report, tree, 4, 0, ns_per_tile, 0, 1);
  LnsTile *right = paint (report, tree, 4, 0, ns_per_tile, 1, 1);
  LNS_CHECK_INT (pixel (left, 511, 16), 0x76b900);
  LNS_CHECK_INT (pixel (right, 0, 16), 0x76b900);
  LNS_CHECK_INT (pixel (right, 630 - 512 + 2, 16), lns_palette_get (LNS_THEME_DARK)->background[0]);
  lns_tile_free (left);
  lns_tile_free (right);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

static void
narrow_events_are_coverage (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  LnsTile *tile = paint (report, tree, 4, 3, 512 * SECOND / 50, 0, 1);
  LNS_CHECK_INT (tile->n_events, 0);
  uint64_t n_events = 0;
  for (int x = 0; x < LNS_TILE_PX; x++)
    {
      gboolean painted = pixel (tile, x, 16) != lns_palette_get (LNS_THEME_DARK)->background[0];
      LNS_CHECK_INT (painted, tile->pixels[x].busy > 0 || tile->pixels[x].count > 0);
      LNS_CHECK_INT (pixel (tile, x, 0), lns_palette_get (LNS_THEME_DARK)->background[0]);
      n_events += tile->pixels[x].count;
    }
  LNS_CHECK_INT (n_events, 20000);
  lns_tile_free (tile);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

static void
marks_are_flags_and_losses_are_hatched (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  LnsTile *marks = paint (report, tree, 4, 4, 512 * SECOND / 50, 0, 1);
  LNS_CHECK_INT (marks->key.strip.kind, LNS_STRIP_MARKS);
  LNS_CHECK_INT (marks->n_events, 5);
  LNS_CHECK_INT (pixel (marks, 47, 16), 0xcc0066); /* 0.95 s */
  LNS_CHECK_INT (pixel (marks, 147, 16), 0xcc0066);
  const LnsPixelEvent *mark = lns_tile_event_at (marks, 149, 3);
  LNS_CHECK (mark != NULL && mark->ordinal == 1);
  lns_tile_free (marks);

  uint32_t row = row_called (tree, "NVTX: io", 0);
  LnsTile *loader = paint (report, tree, row, 0, 512 * SECOND / 50, 0, 1);
  int n_lost = 0;
  for (int x = 0; x < LNS_TILE_PX; x++)
    if (pixel (loader, x, 8) == lns_palette_get (LNS_THEME_DARK)->lost)
      {
        LNS_CHECK (x >= 300 && x < 330); /* 6 s to 6.6 s */
        n_lost++;
      }
  LNS_CHECK_INT (n_lost, 10); /* a third of them */
  lns_tile_free (loader);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

static void
open_ranges_fade_out (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  LnsTile *tile = paint (report, tree, row_called (tree, "NVTX", 1), 0, 512 * SECOND / 50, 0, 1);
  const LnsPixelEvent *event = lns_tile_event_at (tile, 400, 0);
  LNS_CHECK (event != NULL && event->flags & LNS_EVENT_OPEN_END);
  uint32_t background = lns_palette_get (LNS_THEME_DARK)->background[0],
           full = pixel (tile, 400, 1);
  LNS_CHECK (contrast (pixel (tile, 498, 1), background) < contrast (full, background) / 2);
  LNS_CHECK_INT (pixel (tile, 470, 1), full);
  lns_tile_free (tile);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

static void
charts_are_as_high_as_their_values (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  const LnsPalette *palette = lns_palette_get (LNS_THEME_DARK);
  /* The rows below a process tell it, unless they are folded. */
  LnsTile *busy = paint (report, tree, 0, 0, 512 * SECOND / 50, 0, 1);
  LNS_CHECK (busy->surface == NULL);
  LNS_CHECK_INT (busy->background, palette->background[0]);
  lns_tile_free (busy);
  LNS_CHECK (lns_row_tree_set_expanded (tree, 0, false));
  busy = paint (report, tree, 0, 0, 512 * SECOND / 50, 0, 1);
  LNS_CHECK_INT (busy->key.strip.kind, LNS_STRIP_SUMMARY);
  LNS_CHECK_INT (pixel (busy, 4, 3),
                 palette->chart); /* the whole height: in an epoch and a batch */
  LNS_CHECK_INT (pixel (busy, 48, 20), palette->background[0]); /* in neither */
  LNS_CHECK (busy->pixels[4].busy > 0.999f && busy->pixels[48].busy == 0);
  lns_tile_free (busy);
  LNS_CHECK (lns_row_tree_set_expanded (tree, 0, true));
  LnsTile *loss = paint (report, tree, 2, 0, 512 * SECOND / 50, 0, 1);
  LNS_CHECK_INT (loss->key.strip.kind, LNS_STRIP_COUNTER);
  LNS_CHECK (loss->samples[0].max >= 8 && loss->samples[499].max < 2);
  LNS_CHECK_INT (pixel (loss, 2, 15),
                 lns_palette_mix (palette->background[0], palette->chart, 0.25));
  LNS_CHECK_INT (pixel (loss, 480, 15), palette->background[0]);
  lns_tile_free (loss);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* The name of what TILE shows at X_PX: "" where that is nothing. */
static const char *
name_at (LnsReport *report, const LnsTile *tile, double x_px)
{
  const LnsPixelEvent *event = lns_tile_event_at (tile, x_px, 0);
  return event != NULL ? lns_report_string (report, event->name, NULL) : "";
}

/* A millisecond a pixel: an epoch of 900 px begins 10 px before its first half, that is layers, and these begin with calls that take
 * a quarter of the time. */
static void
a_thread_shows_what_is_innermost (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  const uint32_t row = row_called (tree, "main (4711)", 0);
  LnsTile *tile = paint (report, tree, row, 0, 512 * SECOND / 1000, 0, 1);
  LNS_CHECK_INT (tile->key.strip.kind, LNS_STRIP_COMBINED);
  LNS_CHECK_STR (name_at (report, tile, 5), "epoch 0");
  LNS_CHECK_STR (name_at (report, tile, 20), "layer 0 (conv2d, 3×3, stride 1)");
  LNS_CHECK_STR (name_at (report, tile, 52.5), "layer 0 (conv2d, 3×3, stride 1)");
  LNS_CHECK_STR (name_at (report, tile, 53.5), "layer 1 (conv2d, 3×3, stride 1)");
  LNS_CHECK_STR (name_at (report, tile, 10 + 2 * 43 + 31), "forward"); /* layer 2 is shorter */
  LNS_CHECK_STR (name_at (report, tile, 443), "epoch 0");              /* between the halves */
  const LnsPixelEvent *layer = lns_tile_event_at (tile, 20, 0);
  LNS_CHECK_INT (layer->duration_ns, 43 * SECOND / 1000);
  LNS_CHECK_INT (tile->edges[layer - tile->events].x0, 10);
  LNS_CHECK_INT (tile->edges[layer - tile->events].x1,
                 29); /* its last calls take most of a pixel */
  LNS_CHECK_INT (tile->edges[lns_tile_event_at (tile, 40, 0) - tile->events].x0, 30);
  LNS_CHECK_INT (tile->edges[lns_tile_event_at (tile, 40, 0) - tile->events].x1, 53);
  LNS_CHECK_INT (pixel (tile, 5, 3),
                 0x76b900); /* the colour that the program chose for the epoch */
  lns_tile_free (tile);
  /* Of the events left of the tile, what shows in it is known as well. */
  tile = paint (report, tree, row, 0, 512 * SECOND / 1000, 1, 1);
  LNS_CHECK_STR (name_at (report, tile, 900 - 512 - 1), "epoch 0");
  LNS_CHECK_STR (name_at (report, tile, 900 - 512 + 1), "");
  lns_tile_free (tile);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* --- The widget ---------------------------------------------------------------------------- */

static gboolean
has_waited (gpointer data)
{
  return g_get_monotonic_time () > *(gint64 *)data;
}

/* Until the workers have nothing left to paint: ahead of the view, too. */
static void
settle (void)
{
  gint64 end_usec = g_get_monotonic_time () + 300000;
  wait_for (has_waited, &end_usec);
}

static void
a_pan_paints_new_strips_only (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  LnsView *view = timeline->context.view;
  lns_view_show_span (view, 3 * SECOND, 4 * SECOND);
  wait_for (is_complete, timeline);
  settle ();
  guint n_strips = 0;
  for (guint i = 0; i < timeline->spans->len; i++)
    n_strips += g_array_index (timeline->spans, LnsStripSpan, i).n;
  LNS_CHECK (n_strips >= 13);
  guint64 before = lns_tile_set_n_painted (timeline->context.tiles);
  lns_view_pan (view, LNS_TILE_PX);
  settle ();
  LNS_CHECK (is_complete (timeline));
  /* One tile further right is ahead of the view in each strip; those in view were there. */
  LNS_CHECK_INT (lns_tile_set_n_painted (timeline->context.tiles) - before, n_strips);
  before = lns_tile_set_n_painted (timeline->context.tiles);
  lns_view_pan (view, -LNS_TILE_PX);
  settle ();
  LNS_CHECK_INT (lns_tile_set_n_painted (timeline->context.tiles) - before, 0);
  close_timeline (timeline);
}

static void
thousands_of_rows_share_widgets (void)
{
  LnsTimeline *timeline = show_timeline (threads_path);
  LNS_CHECK_INT (lns_row_tree_n_visible (timeline->context.tree), 1 + 3000 * 3);
  guint n_widgets = 0;
  for (GtkWidget *row = gtk_widget_get_first_child (GTK_WIDGET (timeline->rows)); row != NULL;
       row = gtk_widget_get_next_sibling (row))
    n_widgets++;
  LNS_CHECK (n_widgets > 10 && n_widgets < 100);
  /* An event of the last thread, folded away and far below, comes into view. */
  lns_row_tree_set_all_expanded (timeline->context.tree, false);
  _lns_timeline_rows_changed (timeline);
  settle ();
  uint32_t lane = lns_row_tree_lanes (timeline->context.tree)[3000 * 2 - 1];
  lns_view_reveal_event (timeline->context.view, (LnsEventId){ lane, 2 });
  wait_for (has_selected, timeline->context.view);
  wait_for (is_complete, timeline);
  settle ();
  graphene_rect_t area;
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, lane, &area));
  LNS_CHECK (area.origin.y >= 64 &&
             area.origin.y + area.size.height <= gtk_widget_get_height (GTK_WIDGET (timeline)));
  close_timeline (timeline);
}

/* A scrollbar that has nothing to scroll is not shown; its place stays, so that nothing moves when a row unfolds. */
static void
a_scrollbar_is_there_if_there_is_more (void)
{
  static const struct
  {
    const char **path;
    bool is_more;
  } cases[] = { { &known_path, false }, { &threads_path, true } };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      LnsTimeline *timeline = show_timeline (*cases[i].path);
      const int width = gtk_widget_get_width (GTK_WIDGET (timeline->rows));
      settle ();
      LNS_CHECK_INT (gtk_widget_get_child_visible (timeline->scrollbar), cases[i].is_more);
      lns_row_tree_set_all_expanded (timeline->context.tree, false);
      _lns_timeline_rows_changed (timeline);
      settle ();
      LNS_CHECK (!gtk_widget_get_child_visible (timeline->scrollbar));
      LNS_CHECK_INT (gtk_widget_get_width (GTK_WIDGET (timeline->rows)), width);
      close_timeline (timeline);
    }
}

static void
the_pointer_finds_events (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  LnsView *view = timeline->context.view;
  uint32_t lane = lns_row_tree_lanes (
      timeline->context.tree)[lns_row_tree_row (timeline->context.tree, 4)->lanes];
  graphene_rect_t area;
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, lane, &area));
  double x = lns_scale_x_of (lns_view_get_scale (view), 7 * SECOND + SECOND / 4);
  lns_timeline_pointer_point (&timeline->pointer, area.origin.x + x, area.origin.y + 5);
  LnsEventId hovered = lns_view_get_hovered_event (view);
  LNS_CHECK_INT (hovered.lane, lane);
  LNS_CHECK_INT (hovered.ordinal, 7);
  wait_for (has_tooltip, timeline);
  LNS_CHECK (strstr (gtk_label_get_text (timeline->tooltip_label), "epoch 7") != NULL);
  LNS_CHECK (strstr (gtk_label_get_text (timeline->tooltip_label), "900 ms") != NULL);
  lns_timeline_pointer_point (&timeline->pointer, -1, -1);
  LNS_CHECK_INT (lns_view_get_hovered_event (view).lane, LNS_ID_NONE);
  LNS_CHECK (!gtk_widget_get_child_visible (timeline->tooltip));
  close_timeline (timeline);
}

/* "3" alone says nothing. */
static void
a_counter_is_told_by_its_name (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  const LnsRowTree *tree = timeline->context.tree;
  uint32_t row = 0;
  while (lns_row_tree_row (tree, row)->kind != LNS_ROW_COUNTER)
    row++;
  graphene_rect_t area;
  uint32_t lane = lns_row_tree_lanes (tree)[lns_row_tree_row (tree, row)->lanes];
  LNS_CHECK (lns_timeline_layout_lane_area (&timeline->layout, lane, &area));
  lns_timeline_pointer_point (&timeline->pointer, area.origin.x + 500, area.origin.y + 5);
  wait_for (has_tooltip, timeline);
  const char *text = gtk_label_get_text (timeline->tooltip_label);
  LNS_CHECK (g_str_has_prefix (text, "loss\nValue  "));
  LNS_CHECK (g_ascii_isdigit (text[strlen ("loss\nValue  ")]));
  close_timeline (timeline);
}

/* NAME without numbers that tell one of many apart. */
static char *
without_counts (const char *name, size_t size_bytes)
{
  GString *plain = g_string_new (NULL);
  gboolean was_count = FALSE;

  for (size_t i = 0; i < size_bytes; i++)
    {
      was_count = g_ascii_isdigit (name[i]) &&
                  (was_count || i == 0 || (name[i - 1] != '\0' && strchr (" #=.:([", name[i - 1])));
      if (!was_count)
        g_string_append_c (plain, name[i]);
    }
  return g_string_free (plain, FALSE);
}

/* Names that first occur one after the other have hues of their own, the same each time. */
static void
neighbours_have_different_hues (void)
{
  LnsReport *report = open_report (known_path);
  LnsHues *hues = lns_hues_new (report), *again = lns_hues_new (report);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  uint32_t n = 0, last[LNS_N_HUES] = { 0 }, n_hashed = 0;
  for (uint32_t id = 1; id < lns_report_n_strings (report); id++)
    {
      size_t size_bytes;
      const char *name = lns_report_string (report, id, &size_bytes);
      name = lns_event_short_name (LNS_NAMES_KERNELS, name, &size_bytes);
      unsigned hue = lns_hues_get (hues, name, size_bytes);
      LNS_CHECK_INT (lns_hues_get (again, name, size_bytes), hue);
      g_autofree char *plain = without_counts (name, size_bytes);
      if (!g_hash_table_add (seen, GSIZE_TO_POINTER (lns_hash (plain, strlen (plain)))))
        continue;
      /* Twelve by twelve. */
      LNS_CHECK (last[hue] <= n / LNS_N_HUES);
      last[hue] = n++ / LNS_N_HUES + 1;
      n_hashed += lns_hash (plain, strlen (plain)) % LNS_N_HUES == hue;
    }
  /* As far as can be, a name has the hue that it has in other reports. */
  LNS_CHECK (n > 2 * LNS_N_HUES && n_hashed > n / LNS_N_HUES);
  g_hash_table_unref (hues);
  g_hash_table_unref (again);
  lns_report_close (report);
}

/* A number that tells one of many apart changes no colour; one that says what something is does. */
static void
steps_have_one_hue (void)
{
  static const char *const same[][2] = { { "step 1", "step 17" },
                                         { "ProfilerStep#101", "ProfilerStep#7" },
                                         { "aten::add, seq = 17, op_id = 5",
                                           "aten::add, seq = 8, op_id = 6" },
                                         { "layers.3.attn", "layers.11.attn" } };
  LnsReport *report = open_report (known_path);
  LnsHues *hues = lns_hues_new (report);
  bool seen[LNS_N_HUES] = { false };
  unsigned n_seen = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (same); i++)
    LNS_CHECK_INT (lns_hues_get (hues, same[i][0], strlen (same[i][0])),
                   lns_hues_get (hues, same[i][1], strlen (same[i][1])));
  for (unsigned i = 0; i < 100; i++)
    {
      g_autofree char *name = g_strdup_printf ("sgemm_%ux64", i);
      bool *is_seen = &seen[lns_hues_get (hues, name, strlen (name))];
      n_seen += !*is_seen;
      *is_seen = true;
    }
  LNS_CHECK (n_seen > LNS_N_HUES / 2);
  g_hash_table_unref (hues);
  lns_report_close (report);
}

/* Rows have the two backgrounds by turns, whatever is folded. */
static void
stripes_alternate (void)
{
  LnsReport *report = open_report (known_path);
  LnsRowTree *tree = lns_row_tree_new (report);
  for (int round = 0; round < 3; round++)
    {
      for (uint32_t v = 0; v < lns_row_tree_n_visible (tree); v++)
        LNS_CHECK_INT (lns_strip_of (report, tree, lns_row_tree_visible (tree, v), 0).odd, v & 1);
      if (round < 2)
        LNS_CHECK (lns_row_tree_set_expanded (tree, round == 0 ? 3 : 5, false));
    }
  /* A tile of the other background is another tile. */
  LnsTileKey even = { .strip = { LNS_STRIP_RANGES, 1, 2, false }, .scale = 1 }, odd = even;
  odd.strip.odd = true;
  LNS_CHECK (!lns_tile_key_equal (&even, &odd));
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

static void
a_pinned_row_stays (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  GtkWidget *row = gtk_widget_get_first_child (GTK_WIDGET (timeline->rows));
  LNS_CHECK_INT (lns_timeline_rows_total_px (timeline->pinned), 0);
  gtk_widget_activate_action (row, "row.pin", NULL);
  LNS_CHECK_INT (lns_timeline_rows_total_px (timeline->pinned), LNS_SUMMARY_PX);
  gtk_widget_activate_action (row, "row.pin", NULL);
  LNS_CHECK_INT (lns_timeline_rows_total_px (timeline->pinned), 0);
  gtk_widget_activate_action (row, "row.expand", NULL);
  LNS_CHECK_INT (lns_row_tree_n_visible (timeline->context.tree), 1);
  close_timeline (timeline);
}

/* Whether GTK would find a tooltip for the pointer at the middle of WIDGET. */
static gboolean
has_tooltip_at (GtkWidget *widget)
{
  GtkWidget *root = GTK_WIDGET (gtk_widget_get_root (widget));
  graphene_rect_t bounds;
  LNS_CHECK (gtk_widget_compute_bounds (widget, root, &bounds));
  GtkWidget *found =
      gtk_widget_pick (root, bounds.origin.x + bounds.size.width / 2,
                       bounds.origin.y + bounds.size.height / 2, GTK_PICK_INSENSITIVE);
  while (found != NULL && !gtk_widget_get_has_tooltip (found))
    found = gtk_widget_get_parent (found);
  return found != NULL;
}

static gboolean
has_open_menu (gpointer row)
{
  GtkWidget *menu = gtk_widget_get_last_child (row);
  return GTK_IS_POPOVER (menu) && gtk_widget_get_mapped (menu);
}

static gboolean
has_no_menu (gpointer row)
{
  return !GTK_IS_POPOVER (gtk_widget_get_last_child (row));
}

/* They would cover the menu's first items: the pointer is at its corner. */
static gboolean
is_large (gpointer timeline)
{
  return lns_row_tree_lane_px (LNS_TIMELINE (timeline)->context.tree) > LNS_LANE_PX;
}

/* The height of a line of text of SHARE of the font's size. */
static int
line_px_of (GtkWidget *widget, double share)
{
  int line_px;
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, "Xgq");
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  pango_attr_list_insert (attributes, pango_attr_scale_new (share));
  pango_layout_set_attributes (layout, attributes);
  pango_layout_get_pixel_size (layout, NULL, &line_px);
  return line_px;
}

/* Text of twice the size, as the system has it for all programs, fits into rows, bars and the ruler. */
static void
large_text_has_room (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  const LnsRowTree *tree = timeline->context.tree;
  LNS_CHECK (!is_large (timeline));
  g_object_set (gtk_settings_get_default (), "gtk-xft-dpi", 192 * 1024, NULL);
  wait_for (is_large, timeline);
  wait_for (is_complete, timeline);
  /* Labels have margins of two or three pixels above them (style.css). */
  const int line_px = line_px_of (GTK_WIDGET (timeline), 0.88);
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    LNS_CHECK (lns_row_tree_height_px (tree, row) >= line_px + 3);
  LNS_CHECK (gtk_widget_get_height (GTK_WIDGET (timeline->ruler)) >=
             line_px_of (GTK_WIDGET (timeline->ruler), 1) + 2 + 7);
  for (GtkWidget *row = gtk_widget_get_first_child (GTK_WIDGET (timeline->rows)); row != NULL;
       row = gtk_widget_get_next_sibling (row))
    if (gtk_widget_get_child_visible (row))
      LNS_CHECK_INT (
          gtk_widget_get_height (row),
          lns_row_tree_height_px (tree, lns_timeline_row_get_row (LNS_TIMELINE_ROW (row))));
  int text_px, small_px, large_px;
  LnsReport *report = lns_view_get_report (timeline->context.view);
  LnsTileLabels *small = lns_tile_labels_new (
      report,
      pango_context_get_font_description (gtk_widget_get_pango_context (GTK_WIDGET (timeline))));
  const uint32_t lane = lns_row_tree_lanes (tree)[lns_row_tree_row (tree, 4)->lanes];
  LnsEvent event;
  LNS_CHECK (lns_report_event (report, lane, 0, &event, NULL));
  lns_tile_labels_layout (small, event.name, LNS_NAMES_OWN, 400, &text_px, &small_px);
  lns_tile_labels_layout (timeline->context.labels, event.name, LNS_NAMES_OWN, 400, &text_px,
                          &large_px);
  LNS_CHECK (small_px < large_px && large_px < lns_row_tree_lane_px (tree));
  lns_tile_labels_free (small);
  gtk_settings_reset_property (gtk_settings_get_default (), "gtk-xft-dpi");
  close_timeline (timeline);
}

static void
a_menu_keeps_tooltips_away (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  GtkWidget *row = gtk_widget_get_first_child (GTK_WIDGET (timeline->rows));
  GtkWidget *label = gtk_widget_get_first_child (gtk_widget_get_first_child (row));
  while (!LNS_IS_TEXT_CELL (label))
    label = gtk_widget_get_next_sibling (label);
  LNS_CHECK (has_tooltip_at (label));
  for (int round = 0; round < 2; round++)
    {
      gtk_widget_grab_focus (row);
      gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.show-menu", NULL);
      wait_for (has_open_menu, row);
      LNS_CHECK (!has_tooltip_at (label));
      if (round == 0)
        gtk_popover_popdown (GTK_POPOVER (gtk_widget_get_last_child (row)));
      else
        lns_context_menu_close (row);
      wait_for (has_no_menu, row);
      LNS_CHECK (has_tooltip_at (label));
    }
  close_timeline (timeline);
}

/* The controller of TYPE of WIDGET. */
static GtkEventController *
controller_of (GtkWidget *widget, GType type)
{
  g_autoptr (GListModel) all = gtk_widget_observe_controllers (widget);
  for (guint i = 0; i < g_list_model_get_n_items (all); i++)
    {
      g_autoptr (GtkEventController) it = g_list_model_get_item (all, i);
      if (g_type_is_a (G_OBJECT_TYPE (it), type))
        return it; /* the widget's */
    }
  LNS_FAIL ("no %s", g_type_name (type));
}

static gboolean
has_come_to_rest (gpointer timeline)
{
  return LNS_TIMELINE (timeline)->pointer.glide.tick == 0;
}

/* Xvfb has no touchpad, so its controllers are told what one would tell them. */
static void
a_touchpad_glides_and_pinches (void)
{
  LnsTimeline *timeline = show_timeline (known_path);
  LnsView *view = timeline->context.view;
  lns_view_show_span (view, 4 * SECOND, 5 * SECOND);
  const int64_t first_px = lns_view_get_scale (view)->first_px;
  g_signal_emit_by_name (controller_of (GTK_WIDGET (timeline), GTK_TYPE_EVENT_CONTROLLER_SCROLL),
                         "decelerate", 4.0, 0.0);
  LNS_CHECK (!has_come_to_rest (timeline));
  wait_for (has_come_to_rest, timeline);
  /* 4 × 90 pixels a second, until friction has stopped it. */
  const int64_t moved_px = lns_view_get_scale (view)->first_px - first_px;
  LNS_CHECK (moved_px >= 89 && moved_px <= 90);

  GtkEventController *pinch = controller_of (GTK_WIDGET (timeline), GTK_TYPE_GESTURE_ZOOM);
  const int64_t ns_per_tile = lns_view_get_scale (view)->ns_per_tile;
  g_signal_emit_by_name (pinch, "begin", NULL);
  g_signal_emit_by_name (pinch, "scale-changed", 1.5);
  g_signal_emit_by_name (pinch, "scale-changed", 2.0);
  LNS_CHECK (llabs (lns_view_get_scale (view)->ns_per_tile - ns_per_tile / 2) <= 1);
  g_signal_emit_by_name (pinch, "begin", NULL);
  g_signal_emit_by_name (pinch, "scale-changed", 0.5);
  LNS_CHECK (llabs (lns_view_get_scale (view)->ns_per_tile - ns_per_tile) <= 2);
  close_timeline (timeline);
}

int
main (int argc, char **argv)
{
  if (argc != 4)
    return 2;
  g_setenv ("GSK_RENDERER", "cairo", FALSE);
  adw_init ();
  known_path = argv[1];
  hours_path = argv[2];
  threads_path = argv[3];
  LNS_TEST (rows_stand_in_their_order);
  LNS_TEST (folds_hide_what_is_below);
  LNS_TEST (zooms_are_undone_one_by_one);
  LNS_TEST (one_movement_is_one_step_to_undo);
  LNS_TEST (a_view_never_leaves_its_report);
  LNS_TEST (a_revealed_nanosecond_is_ten_pixels_wide);
  LNS_TEST (an_event_that_is_not_there_is_said);
  LNS_TEST (bars_are_where_their_events_are);
  LNS_TEST (colours_tell_durations_or_one_name);
  LNS_TEST (neighbouring_tiles_meet);
  LNS_TEST (narrow_events_are_coverage);
  LNS_TEST (marks_are_flags_and_losses_are_hatched);
  LNS_TEST (open_ranges_fade_out);
  LNS_TEST (charts_are_as_high_as_their_values);
  LNS_TEST (a_thread_shows_what_is_innermost);
  LNS_TEST (a_pan_paints_new_strips_only);
  LNS_TEST (thousands_of_rows_share_widgets);
  LNS_TEST (a_scrollbar_is_there_if_there_is_more);
  LNS_TEST (a_touchpad_glides_and_pinches);
  LNS_TEST (the_pointer_finds_events);
  LNS_TEST (a_counter_is_told_by_its_name);
  LNS_TEST (stripes_alternate);
  LNS_TEST (neighbours_have_different_hues);
  LNS_TEST (steps_have_one_hue);
  LNS_TEST (a_pinned_row_stays);
  LNS_TEST (large_text_has_room);
  LNS_TEST (a_menu_keeps_tooltips_away);
  return lns_tap_done ();
}

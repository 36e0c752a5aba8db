/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the parts of the timeline that need no window: time on the screen, colours, ticks, text. */

#include <string.h>

#include <glib.h>

#include "ui/model/lane-look.h"
#include "ui/model/display-text.h"
#include "ui/model/palette.h"
#include "ui/timeline/ruler-ticks.h"
#include "ui/model/scale.h"
#include "ui/tiles/tile-raster.h"

#include "tests/tap.h"
#include "tests/ui/contrast.h"

#define TEN_HOURS INT64_C (36000000000000)

static void
a_nanosecond_is_ten_pixels_after_ten_hours (void)
{
  LnsScale scale = { .ns_per_tile = LNS_NS_PER_TILE_MIN };
  for (int64_t t = TEN_HOURS; t < TEN_HOURS + 100; t++)
    {
      int64_t px = lns_scale_px_of (&scale, t), next = lns_scale_px_of (&scale, t + 1);
      LNS_CHECK (next - px >= 10 && next - px <= 11);
      LNS_CHECK_INT (lns_scale_time_of (&scale, px + 1), t);
      scale.first_px = px;
      LNS_CHECK (lns_scale_x_of (&scale, t) >= 0 && lns_scale_x_of (&scale, t) < 1);
    }
}

static void
pixels_of_negative_times_round_down (void)
{
  LnsScale scale = { .ns_per_tile = 1000 * LNS_TILE_PX };
  LNS_CHECK_INT (lns_scale_px_of (&scale, -1), -1);
  LNS_CHECK_INT (lns_scale_px_of (&scale, -1000), -1);
  LNS_CHECK_INT (lns_scale_px_of (&scale, -1001), -2);
  LNS_CHECK_INT (lns_scale_time_of (&scale, -2), -2000);
}

static void
a_zoom_keeps_what_is_under_the_pointer (void)
{
  LnsScale scale = { .ns_per_tile = INT64_C (1) << 40, .first_px = 1000 };
  int64_t fixed_ns = lns_scale_time_of (&scale, scale.first_px + 300);
  while (scale.ns_per_tile > LNS_NS_PER_TILE_MIN)
    {
      int64_t before = scale.ns_per_tile;
      lns_scale_zoom_by (&scale, 1.25, 300);
      LNS_CHECK (scale.ns_per_tile < before);
      double x_px = lns_scale_x_of (&scale, fixed_ns);
      /* A pixel of rounding, and what is cut off a nanosecond before the step. */
      double slack_px = 2 + 1.25 / lns_scale_ns_per_px (&scale);
      LNS_CHECK (x_px > 300 - slack_px && x_px < 300 + slack_px);
      fixed_ns = lns_scale_time_of (&scale, scale.first_px + 300);
    }
  lns_scale_zoom_by (&scale, 2, 300);
  LNS_CHECK_INT (scale.ns_per_tile, LNS_NS_PER_TILE_MIN);
}

static void
a_fit_shows_all_and_little_more (void)
{
  static const int64_t lengths[] = { 1000, 999999937, TEN_HOURS, INT64_MAX / 8 };
  for (size_t i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      LnsScale scale;
      lns_scale_fit (&scale, 5, 5 + lengths[i], 1000);
      double left = lns_scale_x_of (&scale, 5), right = lns_scale_x_of (&scale, 5 + lengths[i]);
      if (!(left >= -1 && right <= 1001.5))
        LNS_FAIL ("%" PRId64 " ns lie from %g to %g", lengths[i], left, right);
      LNS_CHECK (right - left > 480);
    }
}

static void
times_saturate (void)
{
  LnsScale scale = { .ns_per_tile = LNS_NS_PER_TILE_MIN, .first_px = INT64_MAX };
  LNS_CHECK (lns_scale_px_of (&scale, INT64_MAX) == INT64_MAX);
  LNS_CHECK (lns_scale_px_of (&scale, INT64_MIN) == INT64_MIN);
  LNS_CHECK_INT (lns_sum (INT64_MAX, 1), INT64_MAX);
  LNS_CHECK_INT (lns_sum (INT64_MIN, -1), INT64_MIN);
  LNS_CHECK_INT (lns_difference (INT64_MIN, 1), INT64_MIN);
  LNS_CHECK_INT (lns_difference (INT64_MAX, -1), INT64_MAX);
}

static void
text_is_readable_on_every_colour (void)
{
  for (int theme = 0; theme < LNS_N_THEMES; theme++)
    {
      const LnsPalette *palette = lns_palette_get ((LnsTheme)theme);
      for (unsigned i = 0; i <= LNS_HUE_WAITING; i++)
        {
          uint32_t hue = lns_palette_color (palette, 0, i);
          LNS_CHECK (contrast (hue, lns_palette_text_on (hue)) >= 4.5);
          for (int row = 0; row < 2; row++)
            LNS_CHECK (contrast (hue, palette->background[row]) >= 1.7);
        }
      for (int row = 0; row < 2; row++)
        {
          LNS_CHECK (contrast (palette->text, palette->background[row]) >= 4.5);
          LNS_CHECK (contrast (palette->coverage, palette->background[row]) >= 3);
          LNS_CHECK (contrast (palette->lost, palette->background[row]) >= 3);
          LNS_CHECK (contrast (palette->running, palette->background[row]) >= 3);
          LNS_CHECK (contrast (palette->runnable, palette->background[row]) >= 3);
          LNS_CHECK (contrast (palette->blocked_edge, palette->background[row]) >= 3);
          LNS_CHECK (contrast (palette->uninterruptible_edge, palette->background[row]) >= 3);
          LNS_CHECK (contrast (palette->sample, palette->background[row]) >= 3);
        }
      LNS_CHECK (contrast (palette->running, palette->blocked) >= 2);
      LNS_CHECK (contrast (palette->running, palette->uninterruptible) >= 2);
      LNS_CHECK (contrast (palette->runnable, palette->blocked) >= 2);
      LNS_CHECK (contrast (palette->accent, lns_palette_text_on (palette->accent)) >= 4.5);
      LNS_CHECK (contrast (lns_palette_gray (palette), palette->background[1]) >=
                 ((theme & LNS_THEME_HIGH_CONTRAST) != 0 ? 1.5 : 1.1));
    }
  for (uint32_t rgb = 0; rgb <= 0xffffff; rgb += 0x1357)
    LNS_CHECK (contrast (rgb, lns_palette_text_on (rgb)) >= 4.5);
}

/* The least contrast of RGB to the backgrounds of PALETTE. */
static double
least_contrast (const LnsPalette *palette, uint32_t rgb)
{
  return MIN (contrast (rgb, palette->background[0]), contrast (rgb, palette->background[1]));
}

static void
high_contrast_is_higher (void)
{
  for (int theme = 0; theme < LNS_THEME_HIGH_CONTRAST; theme++)
    {
      const LnsPalette *palette = lns_palette_get ((LnsTheme)theme | LNS_THEME_HIGH_CONTRAST);
      const uint32_t colors[] = { palette->coverage,
                                  palette->chart_line,
                                  palette->running,
                                  palette->blocked_edge,
                                  palette->uninterruptible_edge,
                                  palette->sample,
                                  palette->lost,
                                  palette->damaged,
                                  palette->accent };
      for (unsigned i = 0; i <= LNS_HUE_WAITING; i++)
        LNS_CHECK (least_contrast (palette, lns_palette_color (palette, 0, i)) >= 7);
      for (gsize i = 0; i < G_N_ELEMENTS (colors); i++)
        LNS_CHECK (least_contrast (palette, colors[i]) >= 7);
      LNS_CHECK (least_contrast (palette, palette->runnable) >= 4.5);
      LNS_CHECK (least_contrast (palette, palette->chart) >= 3);
      LNS_CHECK (least_contrast (palette, palette->text) >= 15);
    }
}

static void
an_event_has_its_own_colour_or_its_names (void)
{
  const LnsPalette *palette = lns_palette_get (LNS_THEME_DARK);
  LNS_CHECK_INT (lns_palette_color (palette, 0xff76b900, 3), 0x76b900);
  LNS_CHECK_INT (lns_palette_color (palette, 0, 3), palette->hues[3]);
  LNS_CHECK_INT (lns_palette_hue (7, "", 0), 7);
  for (unsigned hue = 1; hue < LNS_N_HUES; hue++)
    LNS_CHECK_INT (lns_palette_hue (hue, "io", 2),
                   (lns_palette_hue (0, "io", 2) + hue) % LNS_N_HUES);
  LNS_CHECK_INT (lns_palette_mix (0x000000, 0xffffff, 0.5), 0x808080);
  LNS_CHECK_INT (lns_palette_mix (0x102030, 0xffffff, 0), 0x102030);
}

static void
ticks_are_round_and_far_enough_apart (void)
{
  for (double ns_per_px = 0.1; ns_per_px < 1e12; ns_per_px *= 1.7)
    {
      LnsRulerTicks ticks = lns_ruler_ticks (ns_per_px, 110, TEN_HOURS);
      int64_t leading = ticks.step_ns;
      while (leading >= 10)
        {
          LNS_CHECK_INT (leading % 10, 0);
          leading /= 10;
        }
      LNS_CHECK (leading == 1 || leading == 2 || leading == 5);
      LNS_CHECK ((double)ticks.step_ns >= ns_per_px * 110 || ticks.step_ns == 1);
      LNS_CHECK ((double)ticks.step_ns < ns_per_px * 110 * 2.6 || ticks.step_ns < 20);
      LNS_CHECK_INT (ticks.step_ns % ticks.minor_ns, 0);
      if (ticks.base_ns != 0)
        LNS_CHECK_INT (ticks.base_ns % ticks.step_ns, 0);
    }
}

static void
deep_ticks_count_from_a_base (void)
{
  char text[LNS_FORMAT_SIZE];
  bool is_base;
  LnsRulerTicks ticks = lns_ruler_ticks (0.1, 110, TEN_HOURS);
  LNS_CHECK_INT (ticks.step_ns, 20);
  LNS_CHECK_INT (ticks.base_ns, 10000);
  LNS_CHECK_STR (lns_ruler_label (&ticks, TEN_HOURS + 40, &is_base, text), "+40 ns");
  LNS_CHECK (!is_base);
  LNS_CHECK_STR (lns_ruler_label (&ticks, TEN_HOURS, &is_base, text), "36,000 s");
  LNS_CHECK (is_base);
  LNS_CHECK_INT (lns_ruler_first_tick (&ticks, TEN_HOURS + 1), TEN_HOURS + 20);
  LNS_CHECK_INT (lns_ruler_first_tick (&ticks, -19), 0);
  ticks = lns_ruler_ticks (1e6, 110, 10000000000);
  LNS_CHECK_INT (ticks.base_ns, 0);
  LNS_CHECK_STR (lns_ruler_label (&ticks, 1200000000, &is_base, text), "1.2 s");
  LNS_CHECK (!is_base);
  LNS_CHECK_STR (lns_ruler_label (&ticks, 0, &is_base, text), "0");
  LNS_CHECK_STR (lns_ruler_label (&ticks, 1000000000, &is_base, text), "1.0 s");
  LNS_CHECK_STR (lns_ruler_label (&ticks, 800000000, &is_base, text), "800 ms");
  ticks = lns_ruler_ticks (10, 110, 80000000);
  LNS_CHECK_INT (ticks.step_ns, 2000);
  LNS_CHECK_STR (lns_ruler_label (&ticks, 73658000, &is_base, text), "73.658 ms");
  LNS_CHECK_STR (lns_ruler_label (&ticks, 73660000, &is_base, text), "73.660 ms");
}

static void
no_byte_is_lost_in_text (void)
{
  static const char bytes[] = "caf\xc3\xa9\xff\n\x01\0z";
  g_autofree char *one = lns_display_text (bytes, sizeof bytes - 1, TRUE);
  g_autofree char *many = lns_display_text (bytes, sizeof bytes - 1, FALSE);
  LNS_CHECK_STR (one, "café\\xFF\\n\\x01\\x00z");
  LNS_CHECK_STR (many, "café\\xFF\n\\x01\\x00z");

  /* Characters that reverse what others say, or begin a line, in a name that pretends to end in .png. */
  static const char turned[] = "a\u202Egnp.exe\u2069\u2028\xc2\x85"
                               "b\x7f";
  g_autofree char *seen = lns_display_text (turned, sizeof turned - 1, FALSE);
  LNS_CHECK_STR (seen, "a\\u202Egnp.exe\\u2069\\u2028\\u0085b\\x7F");
}

static void
long_texts_are_cut_for_labels (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < LNS_DISPLAY_MAX_CHARS; i++)
    g_string_append (text, "é");
  g_autofree char *whole = lns_display_cut (text->str);
  LNS_CHECK_STR (whole, text->str);
  g_autofree char *more = g_strconcat (text->str, "abc", NULL);
  g_autofree char *cut = lns_display_cut (more);
  LNS_CHECK (g_str_has_prefix (cut, text->str));
  LNS_CHECK_STR (cut + text->len, "… (1,003 characters)");
}

static void
check_numbered (const char *name, int number, const char *wanted)
{
  g_autofree char *text = lns_display_numbered (name, number);
  LNS_CHECK_STR (text, wanted);
}

static void
numbers_that_tell_nothing_are_left_out (void)
{
  check_numbered ("python", 12, "python (12)");
  check_numbered ("", 12, "12");
  check_numbered ("thread 12 (main)", 12, "thread 12 (main)");
  check_numbered ("worker 112", 12, "worker 112 (12)");
  check_numbered ("12", 12, "12");
  check_numbered ("Spans", 4194304, "Spans (4194304)");
  check_numbered ("Spans", 15728640, "Spans");
  check_numbered ("", 15728640, "");
}

static void
rectangles_are_clipped (void)
{
  uint32_t pixels[4 * 6] = { 0 };
  LnsRaster raster = { pixels, 6, 5, 4 }; /* the sixth column is padding */
  lns_raster_fill (&raster, -3, 99, -3, 99, 7);
  for (int i = 0; i < 4 * 6; i++)
    LNS_CHECK_INT (pixels[i], i % 6 == 5 ? 0 : 7);
  lns_raster_fill (&raster, 3, 1, 0, 4, 9);
  LNS_CHECK_INT (pixels[2], 7);
  lns_raster_blend (&raster, 0, 5, 0, 1, 0xff, 1, 1);
  LNS_CHECK_INT (pixels[0], 0xff);
  LNS_CHECK_INT (pixels[6], 7);
}

static void
hatching_meets_between_tiles (void)
{
  uint32_t whole[32] = { 0 }, right[16] = { 0 };
  lns_raster_hatch (&(LnsRaster){ whole, 32, 32, 1 }, 0, 32, 0, 1, 1, 1, 0);
  lns_raster_hatch (&(LnsRaster){ right, 16, 16, 1 }, 0, 16, 0, 1, 1, 1, 16);
  LNS_CHECK (memcmp (whole + 16, right, sizeof right) == 0);
}

/* One direction is one colour in every report, and no two of the usual ones are alike. */
static void
copies_have_the_hues_of_their_directions (void)
{
  static const char *const names[][2] = {
    { "[CUDA memcpy HtoD]", "[CUDA memcpy Host-to-Device]" },
    { "[CUDA memcpy DtoH]", "[CUDA memcpy Device-to-Host]" },
    { "[CUDA memcpy DtoD]", "[CUDA memcpy Device-to-Device]" },
    { "[CUDA memcpy PtoP]", "[CUDA memcpy Peer-to-Peer]" },
    { "[CUDA memset]", "[CUDA memset]" },
  };
  unsigned hues[G_N_ELEMENTS (names)], same;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      LNS_CHECK (
          lns_lane_find_hue (LNS_LANE_CUDA_MEMCPY, names[i][0], strlen (names[i][0]), &hues[i]));
      LNS_CHECK (
          lns_lane_find_hue (LNS_LANE_CUDA_MEMCPY, names[i][1], strlen (names[i][1]), &same));
      LNS_CHECK_INT (same, hues[i]);
      for (guint before = 0; before < i; before++)
        LNS_CHECK (hues[before] != hues[i]);
    }
  LNS_CHECK (!lns_lane_find_hue (LNS_LANE_CUDA_MEMCPY, "[CUDA", 5, &same));
  LNS_CHECK (!lns_lane_find_hue (LNS_LANE_CUDA_MEMCPY, "memcpy HtoD", 11, &same));
}

/* Longer events are farther from the background, from a nanosecond to an hour, in all themes. */
static void
longer_is_farther_from_the_background (void)
{
  for (LnsTheme theme = 0; theme < LNS_N_THEMES; theme++)
    {
      const LnsPalette *palette = lns_palette_get (theme);
      int before = 0;
      for (int64_t ns = 1; ns < INT64_C (3600000000000); ns *= 10)
        {
          const uint32_t rgb = lns_palette_duration (palette, ns);
          const int far = abs ((int)(rgb >> 8 & 255) - (int)(palette->background[0] >> 8 & 255));
          LNS_CHECK (far >= before && far > 0);
          before = far;
        }
      LNS_CHECK (lns_palette_duration (palette, 0) == lns_palette_duration (palette, 1));
    }
}

int
main (void)
{
  LNS_TEST (a_nanosecond_is_ten_pixels_after_ten_hours);
  LNS_TEST (pixels_of_negative_times_round_down);
  LNS_TEST (a_zoom_keeps_what_is_under_the_pointer);
  LNS_TEST (a_fit_shows_all_and_little_more);
  LNS_TEST (times_saturate);
  LNS_TEST (text_is_readable_on_every_colour);
  LNS_TEST (high_contrast_is_higher);
  LNS_TEST (an_event_has_its_own_colour_or_its_names);
  LNS_TEST (ticks_are_round_and_far_enough_apart);
  LNS_TEST (deep_ticks_count_from_a_base);
  LNS_TEST (no_byte_is_lost_in_text);
  LNS_TEST (long_texts_are_cut_for_labels);
  LNS_TEST (numbers_that_tell_nothing_are_left_out);
  LNS_TEST (rectangles_are_clipped);
  LNS_TEST (copies_have_the_hues_of_their_directions);
  LNS_TEST (hatching_meets_between_tiles);
  LNS_TEST (longer_is_farther_from_the_background);
  return lns_tap_done ();
}

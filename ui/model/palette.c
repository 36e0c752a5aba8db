/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/palette.h"

#include <math.h>

#include "src/base/hash.h"

/* Hues of equal OKLCH lightness (0.76 and 0.535) and chroma 0.095, from 90° to 354°, ordered so that neighbours in the table are far
 * apart on the circle: pastel with dark text, or deep with light text, and none as warm as a finding. */
static const LnsPalette light = {
  .background = { 0xffffff, 0xf5f5f5 },
  .hues = { 0x8bb3ed, 0x93c084, 0xe198b5, 0xc8af68, 0xc0a2e1, 0x61c5ba, 0xd49bce, 0xb0b870,
            0xa7aaec, 0x71bbe4, 0x77c49f, 0x5fc2d2 },
  .coverage = 0x5b83b0,
  .chart = 0x9bbfe6,
  .chart_line = 0x3a78b8,
  .running = 0x4b9c60,
  .runnable = 0xa3862e,
  .blocked = 0xd6dbe3,
  .blocked_edge = 0x7a8699,
  .waiting = 0xa8b0be,
  .uninterruptible = 0xddd7ec,
  .uninterruptible_edge = 0x725b9a,
  .sample = 0x868c96,
  .lost = 0xb3261e,
  .damaged = 0x8a5a00,
  .finding = 0xd9480f,
  .text = 0x1f1f1f,
  .accent = 0x1c71d8,
};

static const LnsPalette dark = {
  .background = { 0x1e1e1e, 0x242424 },
  .hues = { 0x496ea4, 0x517a42, 0x985571, 0x836a21, 0x7b5e99, 0x007f75, 0x8c5887, 0x6d732c,
            0x6566a3, 0x28769c, 0x2e7e5c, 0x007c8c },
  .coverage = 0x6f93bd,
  .chart = 0x35659a,
  .chart_line = 0x6ba6e6,
  .running = 0x519962,
  .runnable = 0xb99b46,
  .blocked = 0x3c424c,
  .blocked_edge = 0x8b97a8,
  .waiting = 0x646c7a,
  .uninterruptible = 0x453e55,
  .uninterruptible_edge = 0xa792ce,
  .sample = 0x8b929c,
  .lost = 0xff7b63,
  .damaged = 0xf8c146,
  .finding = 0xff8c4a,
  .text = 0xf2f2f2,
  .accent = 0x62a0ea,
};

/* Hues of all angles, darker or lighter until their contrast to both backgrounds is 7 to 1; bars of threads that wait stay pale, and
 * their edges have 7 to 1 or more; charts have 3 to 1, and their edges 9 to 1. */
static const LnsPalette light_contrast = {
  .background = { 0xffffff, 0xf5f5f5 },
  .hues = { 0x1a568b, 0x235e34, 0x833a60, 0x754a04, 0x61468a, 0x045d5a, 0x8a3b31, 0x4c5911,
            0x454e90, 0x5f5304, 0x753f79, 0x065b6f },
  .coverage = 0x3b5573,
  .chart = 0x7591ae,
  .chart_line = 0x22456b,
  .running = 0x205f35,
  .runnable = 0xa75f00,
  .blocked = 0xd6dbe3,
  .blocked_edge = 0x3e444d,
  .waiting = 0x3e444d,
  .uninterruptible = 0xeacdc6,
  .uninterruptible_edge = 0x853f30,
  .sample = 0x4b4f56,
  .lost = 0xa0221b,
  .damaged = 0x744b00,
  .finding = 0xb03a0c,
  .text = 0x000000,
  .accent = 0x14529e,
};

static const LnsPalette dark_contrast = {
  .background = { 0x000000, 0x101010 },
  .hues = { 0x5fa2e1, 0x61ba77, 0xd485ac, 0xd6933b, 0xac90dc, 0x19bbb4, 0xdc8679, 0x99af49,
            0x8c98e5, 0xb6a434, 0xc489c7, 0x02b5db },
  .coverage = 0x80a0c5,
  .chart = 0x35659a,
  .chart_line = 0x87b7eb,
  .running = 0x57b873,
  .runnable = 0xf0a040,
  .blocked = 0x3c424c,
  .blocked_edge = 0xabb3c0,
  .waiting = 0xabb3c0,
  .uninterruptible = 0x593a33,
  .uninterruptible_edge = 0xd98a75,
  .sample = 0xa9aeb6,
  .lost = 0xff7b63,
  .damaged = 0xf8c146,
  .finding = 0xff8c4a,
  .text = 0xffffff,
  .accent = 0x62a0ea,
};

const LnsPalette *
lns_palette_get (LnsTheme theme)
{
  static const LnsPalette *const palettes[LNS_N_THEMES] = { &light, &dark, &light_contrast,
                                                            &dark_contrast };
  return palettes[theme];
}

unsigned
lns_palette_hue (unsigned hue, const void *domain, size_t domain_bytes)
{
  uint64_t turn = domain_bytes > 0 ? lns_hash (domain, domain_bytes) % LNS_N_HUES : 0;
  return (hue + (unsigned)turn) % LNS_N_HUES;
}

uint32_t
lns_palette_color (const LnsPalette *palette, uint32_t own_argb, unsigned hue)
{
  return own_argb != 0            ? own_argb & 0xffffff
         : hue == LNS_HUE_WAITING ? palette->waiting
                                  : palette->hues[hue % LNS_N_HUES];
}

/* Durations from 10^2.5 to 10^9 ns have colours of their own. */
#define LEAST_LOG     2.5
#define MOST_LOG      9.0
#define LEAST_SHARE   0.25 /* of the line's colour, for the shortest ones */
#define DARKEST_SHARE 0.55 /* of the text's colour, for the longest ones */

uint32_t
lns_palette_duration (const LnsPalette *palette, int64_t duration_ns)
{
  const double log_ns = log10 (duration_ns > 1 ? (double)duration_ns : 1);
  const double at = (log_ns - LEAST_LOG) / (MOST_LOG - LEAST_LOG);
  const double share = at < 0 ? 0 : at > 1 ? 1 : at;

  /* From the background to the colour of lines in the first half, then to that of texts. */
  if (share < 0.5)
    return lns_palette_mix (palette->background[0], palette->chart_line,
                            LEAST_SHARE + (1 - LEAST_SHARE) * 2 * share);
  return lns_palette_mix (palette->chart_line, palette->text, DARKEST_SHARE * (2 * share - 1));
}

#define GRAY_SHARE          0.14 /* of the text's colour */
#define GRAY_SHARE_CONTRAST 0.28 /* … with high contrast */

uint32_t
lns_palette_gray (const LnsPalette *palette)
{
  const bool has_contrast = palette == &light_contrast || palette == &dark_contrast;
  return lns_palette_mix (palette->background[0], palette->text,
                          has_contrast ? GRAY_SHARE_CONTRAST : GRAY_SHARE);
}

uint32_t
lns_palette_state (const LnsPalette *palette, LnsThreadState state)
{
  return state == LNS_STATE_RUNNING           ? palette->running
         : state == LNS_STATE_RUNNABLE        ? palette->runnable
         : state == LNS_STATE_UNINTERRUPTIBLE ? palette->uninterruptible
                                              : palette->blocked;
}

uint32_t
lns_palette_state_mark (const LnsPalette *palette, LnsThreadState state)
{
  return state == LNS_STATE_RUNNING           ? palette->running
         : state == LNS_STATE_RUNNABLE        ? palette->runnable
         : state == LNS_STATE_UNINTERRUPTIBLE ? palette->uninterruptible_edge
                                              : palette->blocked_edge;
}

static double
channel (uint32_t value)
{
  double share = value / 255.0;
  return share <= 0.03928 ? share / 12.92 : pow ((share + 0.055) / 1.055, 2.4);
}

/* Relative luminance, WCAG 2.1. */
static double
luminance (uint32_t rgb)
{
  return 0.2126 * channel (rgb >> 16 & 255) + 0.7152 * channel (rgb >> 8 & 255) +
         0.0722 * channel (rgb & 255);
}

uint32_t
lns_palette_text_on (uint32_t rgb)
{
  /* Where black and white are equally far: sqrt (1.05 × 0.05) - 0.05; both reach 4.58 there. */
  return luminance (rgb) > 0.179 ? 0x000000 : 0xffffff;
}

uint32_t
lns_palette_mix (uint32_t under, uint32_t over, double share)
{
  uint32_t mixed = 0;
  for (int shift = 0; shift <= 16; shift += 8)
    {
      double a = under >> shift & 255, b = over >> shift & 255;
      mixed |= (uint32_t)lround (a + (b - a) * share) << shift;
    }
  return mixed;
}

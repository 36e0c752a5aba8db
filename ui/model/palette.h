/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The colours of the timeline, for light and for dark, and the same with high contrast. Colours are 0xRRGGBB. Pure; any thread. */

#pragma once

#include <gdk/gdk.h>
#include <stdbool.h>

#include "src/analysis/facts/thread-states.h"

#define LNS_N_HUES 12

/* Stands for a hue: of what does nothing but wait, which is gray. */
#define LNS_HUE_WAITING LNS_N_HUES

typedef struct
{
  uint32_t background[2]; /* of rows, by turns                                                  */
  uint32_t hues[LNS_N_HUES];
  uint32_t coverage;     /* events too narrow to be told apart                                 */
  uint32_t chart;        /* filling of utilisation and counters                                */
  uint32_t chart_line;   /* their upper edge                                                   */
  uint32_t running;      /* of a thread: on a CPU …                                             */
  uint32_t runnable;     /* … waiting for one                                                  */
  uint32_t blocked;      /* … waiting for something else                                       */
  uint32_t blocked_edge; /* the lower edge of that                                             */
  uint32_t waiting;      /* calls that do nothing but wait                                     */
  uint32_t uninterruptible;      /* … waiting for a disk or the like                            */
  uint32_t uninterruptible_edge; /* the lower edge of that                                      */
  uint32_t sample;  /* a tick where a CPU was sampled                                      */
  uint32_t lost;    /* hatching over what was lost                                        */
  uint32_t damaged; /* hatching over what cannot be read                                  */
  uint32_t finding; /* tint of what should not be: nothing else is as warm                */
  uint32_t text;    /* on the background                                                  */
  uint32_t accent;  /* band, selection, overview window                                   */
} LnsPalette;

typedef enum
{
  LNS_THEME_LIGHT = 0,
  LNS_THEME_DARK = 1,
  LNS_THEME_HIGH_CONTRAST = 2 /* a bit, of either */
} LnsTheme;

#define LNS_N_THEMES 4

/* Static. */
const LnsPalette *lns_palette_get (LnsTheme theme);

/* Turns HUE by the domain's name, so that equal names in two domains differ in colour. HUE stays as it is if the domain
 * has no name. O(size). */
unsigned lns_palette_hue (unsigned hue, const void *domain, size_t domain_bytes);

/* The colour of an event: OWN_ARGB, the program's choice (0xAARRGGBB, alpha ignored), if it is not 0, or else HUE, which may be
 * LNS_HUE_WAITING. */
uint32_t lns_palette_color (const LnsPalette *palette, uint32_t own_argb, unsigned hue);

/* Black or white, whichever is easier to read on RGB: contrast is at least 4.5:1. */
uint32_t lns_palette_text_on (uint32_t rgb);

/* What the colours of events tell. */
typedef enum
{
  LNS_COLORS_BY_NAME,
  LNS_COLORS_BY_DURATION
} LnsColorMode;

/* How the timeline colours events. */
typedef struct
{
  LnsColorMode mode;
  uint64_t only_name; /* lns_event_name_key () of the name beside which all are gray; 0 = none is */
} LnsColoring;

/* The colour of an event of DURATION_NS, in steps too small to be seen: the longer, the farther from the background, from a third of
 * a microsecond to a second. */
uint32_t lns_palette_duration (const LnsPalette *palette, int64_t duration_ns);

/* The colour of events that are not of the name in question. */
uint32_t lns_palette_gray (const LnsPalette *palette);

/* The colour of bars of STATE. */
uint32_t lns_palette_state (const LnsPalette *palette, LnsThreadState state);

/* What stands for STATE on the background: of bars that are pale, their lower edge. */
uint32_t lns_palette_state_mark (const LnsPalette *palette, LnsThreadState state);

/* RGB as GTK has it. */
static inline GdkRGBA
lns_palette_rgba (uint32_t rgb, float alpha)
{
  return (GdkRGBA){ (float)(rgb >> 16 & 255) / 255, (float)(rgb >> 8 & 255) / 255,
                    (float)(rgb & 255) / 255, alpha };
}

/* SHARE (0–1) of OVER on top of UNDER, per channel in sRGB. */
uint32_t lns_palette_mix (uint32_t under, uint32_t over, double share);

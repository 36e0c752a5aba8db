/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Maps time to pixels, in integers only, so that a nanosecond ten hours into a report is as exact as the first. The
 * zoom is a whole number of nanoseconds in a tile of LNS_TILE_PX pixels. Pixels count from time 0 of the report's
 * clock, so tile k starts at exactly k × ns_per_tile wherever the view is. Pure; any thread. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/saturate.h"

#define LNS_TILE_PX 512
/* The deepest zoom: a nanosecond is 512 / 51 > 10 px wide. */
#define LNS_NS_PER_TILE_MIN INT64_C (51)
#define LNS_NS_PER_TILE_MAX (INT64_MAX / 4)

typedef struct
{
  int64_t ns_per_tile; /* LNS_NS_PER_TILE_MIN … LNS_NS_PER_TILE_MAX                             */
  int64_t first_px;    /* the leftmost pixel in view                                            */
} LnsScale;

/* The pixel that holds TIME_NS: floor (TIME_NS / ns per px), saturated. */
int64_t lns_scale_px_of (const LnsScale *scale, int64_t time_ns);

/* The first whole nanosecond at or before pixel PX's left edge, saturated. */
int64_t lns_scale_time_of (const LnsScale *scale, int64_t px);

/* Pixels from the left edge of the view to TIME_NS, with fractions; may be far outside the view. */
double lns_scale_x_of (const LnsScale *scale, int64_t time_ns);

static inline double
lns_scale_ns_per_px (const LnsScale *scale)
{
  return (double)scale->ns_per_tile / LNS_TILE_PX;
}

/* Changes the zoom to NS_PER_TILE, clamped. The time at X_PX from the left edge stays there. */
void lns_scale_zoom_to (LnsScale *scale, int64_t ns_per_tile, double x_px);

/* Zooms in by FACTOR (> 0; < 1 zooms out), by at least one step if there is one. */
void lns_scale_zoom_by (LnsScale *scale, double factor, double x_px);

/* Fits [START_NS, END_NS] into WIDTH_PX ≥ 1 pixels, or centres it at the deepest zoom if it is shorter. */
void lns_scale_fit (LnsScale *scale, int64_t start_ns, int64_t end_ns, int width_px);

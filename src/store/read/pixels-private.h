/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* From times to pixels. */

#pragma once

#include "src/store/read/detail-walk.h"
#include "src/store/read/pixels.h"

#define LNS_PIXELS_MAX 16384

typedef struct
{
  int64_t from_ns, to_ns; /* the window                                                         */
  double ns_per_px;
  uint32_t n_px;
} LnsPixelScale;

/* False and ERROR where QUERY asks for no window. */
bool _lns_pixel_scale_init (LnsPixelScale *scale,
                            const LnsReport *report,
                            const LnsPixelQuery *query,
                            LnsError *error);

/* Where TIME_NS lies, in pixels from the window's left edge; beyond 146 years off it stays there. */
static inline double
_lns_pixel_x (const LnsPixelScale *scale, int64_t time_ns)
{
  int64_t distance_ns;

  if (__builtin_sub_overflow (time_ns, scale->from_ns, &distance_ns))
    distance_ns = time_ns < scale->from_ns ? INT64_MIN : INT64_MAX;
  return (double)distance_ns / scale->ns_per_px;
}

/* Shows VISITOR what SOURCE holds. */
typedef bool (*LnsPixelWalk) (void *source, const LnsDetailVisitor *visitor, LnsError *error);

/* Fills RESULT with what WALK shows of SOURCE in QUERY's window. COLOR_AT: the index of COLOR among
 * the columns of its events, or -1. */
bool _lns_pixels_fill (LnsReport *report,
                       const LnsPixelQuery *query,
                       int color_at,
                       LnsPixelWalk walk,
                       void *source,
                       LnsPixelResult *result,
                       LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What queries of lanes and of facets share. */

#pragma once

#include "src/store/read/detail-walk.h"
#include "src/store/read/pixels.h"

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

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the pixel queries of lanes and of facets. */

#pragma once

#include "src/store/read/detail-walk.h"
#include "src/store/read/pixels.h"

/* Visits the nodes and events of SOURCE. */
typedef bool (*LnsPixelWalk) (void *source, const LnsDetailVisitor *visitor, LnsError *error);

/* Fills RESULT with the nodes and events of SOURCE that WALK visits in QUERY's window. COLOR_AT is the index of COLOR among
 * the columns of its events, or -1. */
bool _lns_pixels_fill (LnsReport *report,
                       const LnsPixelQuery *query,
                       int color_at,
                       LnsPixelWalk walk,
                       void *source,
                       LnsPixelResult *result,
                       LnsError *error);

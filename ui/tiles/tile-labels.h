/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Lays out the names on tiles. Shaping text is slow, so layouts are kept by name and width. Each thread has labels of
 * its own, because Pango's objects belong to one thread. */

#pragma once

#include <pango/pangocairo.h>

#include "src/analysis/facts/thread-states.h"
#include "ui/model/event-text.h"

/* Narrower bars get no label, as it would be cut to "…". */
#define LNS_LABEL_MIN_PX 42
#define LNS_LABEL_PAD_PX 5

typedef struct LnsTileLabels LnsTileLabels;

/* FONT describes the family; its size is replaced. REPORT must outlive the labels. */
LnsTileLabels *lns_tile_labels_new (LnsReport *report, const PangoFontDescription *font);
void lns_tile_labels_free (LnsTileLabels *self);

/* Makes names as large as lanes of LANE_PX want them: LNS_LANE_PX at first. */
void lns_tile_labels_set_lane_px (LnsTileLabels *self, int lane_px);

/* The layout of string NAME, shortened as NAMES tells and cut with "…" to at most WIDTH_PX, or NULL if the name has
 * no text. SELF owns it, until the next call. RET_WIDTH_PX and RET_HEIGHT_PX get its size. */
PangoLayout *lns_tile_labels_layout (LnsTileLabels *self,
                                     uint32_t name,
                                     LnsNames names,
                                     double width_px,
                                     int *ret_width_px,
                                     int *ret_height_px);

/* The same for what is written onto SPAN: the function that a thread runs, or "CPU 3"; the call that it waits in. NULL: nothing. */
PangoLayout *lns_tile_labels_span (LnsTileLabels *self,
                                   const LnsThreadSpan *span,
                                   double width_px,
                                   int *ret_width_px,
                                   int *ret_height_px);

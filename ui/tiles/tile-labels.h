/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names written onto tiles. Shaping text is what costs, so layouts are kept by (name, width); each thread has its own
 * labels, as Pango's objects belong to one. */

#pragma once

#include <pango/pangocairo.h>

#include "ui/model/event-text.h"

/* Narrower bars get no label: it would be a lone "…". */
#define LNS_LABEL_MIN_PX 42
#define LNS_LABEL_PAD_PX 5

typedef struct LnsTileLabels LnsTileLabels;

/* FONT describes the family; its size is replaced. REPORT must outlive the labels. */
LnsTileLabels *lns_tile_labels_new (LnsReport *report, const PangoFontDescription *font);
void lns_tile_labels_free (LnsTileLabels *self);

/* Name NAME, short as of NAMES, cut with "…" to at most WIDTH_PX; owned by SELF until the next call. NULL for a name
 * without text. RET_WIDTH_PX gets its own width. */
PangoLayout *lns_tile_labels_layout (LnsTileLabels *self,
                                     uint32_t name,
                                     LnsNames names,
                                     double width_px,
                                     int *ret_width_px,
                                     int *ret_height_px);

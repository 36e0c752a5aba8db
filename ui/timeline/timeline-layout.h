/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The places of a timeline's parts, and which part is at a given place. All places are in pixels of the timeline. */

#pragma once

#include "ui/timeline/timeline-rows.h"

/* All of it is the timeline's. */
typedef struct
{
  GtkWidget *timeline;
  const LnsRowContext *context;
  GtkWidget *overview;
  GtkWidget *ruler;
  LnsTimelineRows *pinned;
  LnsTimelineRows *rows;
} LnsTimelineLayout;

/* What is at a place of the timeline. */
typedef struct
{
  LnsTimelineRow *row; /* or NULL */
  LnsStrip strip;      /* if HAS_STRIP */
  gboolean has_strip;
  const LnsTile *tile; /* or NULL; the tile set's */
  double tile_x_px;
  gboolean has_event;
  LnsPixelEvent event;
} LnsTimelineHit;

/* What is at (X, Y). */
LnsTimelineHit lns_timeline_layout_hit (const LnsTimelineLayout *self, double x, double y);

/* The place of LANE. False where it is not in view. */
gboolean lns_timeline_layout_lane_area (const LnsTimelineLayout *self,
                                        uint32_t lane,
                                        graphene_rect_t *ret_area);

/* Where time is drawn: right of the headers, from the ruler's lower edge down. */
graphene_rect_t lns_timeline_layout_body (const LnsTimelineLayout *self);

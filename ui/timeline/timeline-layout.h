/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The places of a timeline's parts, and which part is at a given place. All places are in pixels of the timeline. */

#pragma once

#include "src/analysis/facts/thread-states.h"
#include "ui/timeline/timeline-rows.h"

/* All of these belong to the timeline. Where there are two reports, there is a layout for each, with the same parts. */
typedef struct
{
  GtkWidget *timeline;
  const LnsRowContext *context; /* of the report whose lanes and times are asked for */
  GtkWidget *overview;
  GtkWidget *ruler;
  GtkWidget *marks, *critical; /* not visible where they have no height */
  LnsTimelineRows *pinned;
  LnsTimelineRows *rows;
} LnsTimelineLayout;

/* What is at a place of the timeline. */
typedef struct
{
  LnsTimelineRow *row;          /* or NULL */
  const LnsRowContext *context; /* that of the row, or that of the layout where there is none */
  LnsStrip strip;               /* if HAS_STRIP */
  gboolean has_strip;
  const LnsTile *tile; /* or NULL; the tile set's */
  double tile_x_px;
  gboolean has_event;
  LnsPixelEvent event;
  gboolean has_state; /* of the event, in a strip of states */
  LnsThreadState state;
  uint32_t function; /* string id of what the thread runs in it, or 0 */
} LnsTimelineHit;

/* Finds what is at (X, Y), of any report. */
LnsTimelineHit lns_timeline_layout_hit (const LnsTimelineLayout *self, double x, double y);

/* Sets TIME_NS, of the layout's report, to the edge of an event of the strip at (X, Y), or of the selected event, if one is at most a few pixels from X. */
void lns_timeline_layout_snap (const LnsTimelineLayout *self, double x, double y, int64_t *time_ns);

/* The place of LANE. Returns false if it is not in view. */
gboolean lns_timeline_layout_lane_area (const LnsTimelineLayout *self,
                                        uint32_t lane,
                                        graphene_rect_t *ret_area);

/* The area that shows time: right of the headers and below the ruler. */
graphene_rect_t lns_timeline_layout_body (const LnsTimelineLayout *self);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Draws over the rows of a timeline: the selected time, the selected event and the events linked to it, the hovered
 * event, and the pointer. */

#pragma once

#include "ui/timeline/timeline-layout.h"

/* The line from a call to the work that it launched, in pixels of the timeline: from the edge of the call at (X,
 * FROM) across to END, then down or up to the edge of the work at TO. */
typedef struct
{
  float x_px, from_px, end_px, to_px;
} LnsLinkLine;

/* The line between the selected event and LINKED. Of a waking it is upright, at the end of the wait. Returns false if either is out of view. */
gboolean lns_timeline_overlay_link_line (const LnsTimelineLayout *layout,
                                         const LnsLinkedEvent *linked,
                                         LnsLinkLine *ret_line);

/* Where the first event that is linked to the selected one is out of view, a hint at the edge of the picture says where it is. Whether it is at
 * (X, Y) of the timeline. */
gboolean lns_timeline_overlay_is_hint (const LnsTimelineLayout *layout, double x, double y);

/* Draws what lies over the rows of LAYOUT, and of OTHER, which is that of the other report, or NULL. HOVERED is valid while a view has a
 * hovered event. POINTER_X < 0 means that the pointer is outside. */
void lns_timeline_overlay_snapshot (const LnsTimelineLayout *layout,
                                    const LnsTimelineLayout *other,
                                    const LnsPixelEvent *hovered,
                                    double pointer_x,
                                    GtkSnapshot *snapshot);

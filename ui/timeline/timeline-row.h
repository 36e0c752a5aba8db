/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* One row of the timeline: a header with its expander and label, and its strips. To assistive
 * technology it is a ROW with the label as its name, a description that tells how many events it
 * has, what is in view and how busy it is there, and the actions row.show-in-events, row.show-in-functions, row.pin,
 * row.zoom-to and row.expand, and those that hide, move and resize it. For these it activates timeline.change-row. */

#pragma once

#include "ui/timeline/row-context.h"

#define LNS_TYPE_TIMELINE_ROW (lns_timeline_row_get_type ())
G_DECLARE_FINAL_TYPE (LnsTimelineRow, lns_timeline_row, LNS, TIMELINE_ROW, GtkWidget)

LnsTimelineRow *lns_timeline_row_new (const LnsRowContext *context) G_GNUC_WARN_UNUSED_RESULT;

/* Shows ROW of the tree of CONTEXT, with a pin if PINNED, and what it stands under in its label if ALONE. */
void lns_timeline_row_bind (LnsTimelineRow *self,
                            const LnsRowContext *context,
                            uint32_t row,
                            gboolean pinned,
                            gboolean alone);
/* Shows none any more, until it is bound again; CONTEXT must outlive the widget. */
void lns_timeline_row_release (LnsTimelineRow *self, const LnsRowContext *context);

uint32_t lns_timeline_row_get_row (LnsTimelineRow *self);
const LnsRowContext *lns_timeline_row_get_context (LnsTimelineRow *self);
gboolean lns_timeline_row_is_pinned (LnsTimelineRow *self);

/* Updates the description for assistive technology after the view has changed. */
void lns_timeline_row_update_description (LnsTimelineRow *self);

/* Tells that only TOP_PX … BOTTOM_PX of the row are visible. Returns the strips there. */
LnsStripSpan lns_timeline_row_set_shown (LnsTimelineRow *self, int top_px, int bottom_px);

/* Finds the strip at Y_PX of the row. Returns false if there is none. */
gboolean lns_timeline_row_strip_at (LnsTimelineRow *self, double y_px, LnsStrip *ret_strip);

/* Finds the strip that shows LANE and its place in the row. Returns false if the row does not show LANE. */
gboolean lns_timeline_row_strip_of_lane (LnsTimelineRow *self,
                                         uint32_t lane,
                                         int *ret_top_px,
                                         int *ret_height_px);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows of a timeline below each other, as a plan says, scrolled by an adjustment or not. Only rows in view are drawn. Up to 2,000 rows each have a widget,
 * so that assistive technology finds them all; beyond that those in view share theirs. */

#pragma once

#include "ui/timeline/row-plan.h"

#define LNS_TYPE_TIMELINE_ROWS (lns_timeline_rows_get_type ())
G_DECLARE_FINAL_TYPE (LnsTimelineRows, lns_timeline_rows, LNS, TIMELINE_ROWS, GtkWidget)

/* Shows the rows of PLAN, which must outlive the widget, and scrolls them by ADJUSTMENT, of which it holds a reference; with NULL, they are
 * the pinned ones, and it is as high as they are. PINNED, an array of uint32_t that must outlive it, are the rows of A that are
 * pinned. */
LnsTimelineRows *lns_timeline_rows_new (const LnsRowPlan *plan,
                                        const LnsRowContext *context,
                                        const GArray *pinned,
                                        GtkAdjustment *adjustment) G_GNUC_WARN_UNUSED_RESULT;

/* Updates the widgets after the plan was filled. */
void lns_timeline_rows_sync (LnsTimelineRows *self);

/* Redraws all rows in view, or ROW of SIDE. */
void lns_timeline_rows_redraw (LnsTimelineRows *self);
void lns_timeline_rows_redraw_row (LnsTimelineRows *self, int side, uint32_t row);

/* Appends the LnsStripSpan of each row of SIDE in view to SPANS. */
void lns_timeline_rows_append_spans (LnsTimelineRows *self, int side, GArray *spans);

/* The row at Y_PX of the widget, and the place within it; or NULL. */
LnsTimelineRow *lns_timeline_rows_row_at (LnsTimelineRows *self, double y_px, double *ret_row_y_px);

/* The widget of ROW of SIDE and its upper edge, or NULL if it is not in view. */
LnsTimelineRow *
lns_timeline_rows_find (LnsTimelineRows *self, int side, uint32_t row, int *ret_top_px);

/* Scrolls as little as possible until TOP_PX … BOTTOM_PX of ROW of SIDE, which no fold hides, are in view. */
void lns_timeline_rows_scroll_to (
    LnsTimelineRows *self, int side, uint32_t row, int top_px, int bottom_px);

/* Updates the descriptions of rows for assistive technology after the view has changed: at once of those in view, and of the others, which
 * may be many, a few at a time while there is nothing else to do, as each costs a message. */
void lns_timeline_rows_update_descriptions (LnsTimelineRows *self);

/* The height of all rows. */
int lns_timeline_rows_total_px (LnsTimelineRows *self);

/* Shows the rows: until then there is room for them alone. */
void lns_timeline_rows_begin (LnsTimelineRows *self);

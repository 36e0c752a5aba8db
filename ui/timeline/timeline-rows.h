/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows of a timeline below each other: the unfolded ones of the tree, scrolled by an
 * adjustment, or the pinned ones. Only rows in view are drawn. Up to 2,000 rows each have a widget,
 * so that assistive technology finds them all; beyond that those in view share theirs. */

#pragma once

#include "ui/timeline/timeline-row.h"

#define LNS_TYPE_TIMELINE_ROWS (lns_timeline_rows_get_type ())
G_DECLARE_FINAL_TYPE (LnsTimelineRows, lns_timeline_rows, LNS, TIMELINE_ROWS, GtkWidget)

/* With ADJUSTMENT, shows the unfolded rows and scrolls by it. With NULL, shows the PINNED rows, an array of uint32_t, and is
 * as high as they are. Holds references on both; call lns_timeline_rows_sync () after PINNED has changed. */
LnsTimelineRows *lns_timeline_rows_new (const LnsRowContext *context,
                                        GArray *pinned,
                                        GtkAdjustment *adjustment) G_GNUC_WARN_UNUSED_RESULT;

/* Updates the widgets after rows were folded or pinned. */
void lns_timeline_rows_sync (LnsTimelineRows *self);

/* Redraws all rows in view, or ROW. */
void lns_timeline_rows_redraw (LnsTimelineRows *self);
void lns_timeline_rows_redraw_row (LnsTimelineRows *self, uint32_t row);

/* Appends the LnsStripSpan of each row in view to SPANS. */
void lns_timeline_rows_append_spans (LnsTimelineRows *self, GArray *spans);

/* The row at Y_PX of the widget, and the place within it; or NULL. */
LnsTimelineRow *lns_timeline_rows_row_at (LnsTimelineRows *self, double y_px, double *ret_row_y_px);

/* The widget of ROW and its upper edge, or NULL if it is not in view. */
LnsTimelineRow *lns_timeline_rows_find (LnsTimelineRows *self, uint32_t row, int *ret_top_px);

/* Scrolls as little as possible until TOP_PX … BOTTOM_PX of ROW, which no fold hides, are in view. */
void lns_timeline_rows_scroll_to (LnsTimelineRows *self, uint32_t row, int top_px, int bottom_px);

void lns_timeline_rows_update_descriptions (LnsTimelineRows *self);

/* The height of all rows. */
int lns_timeline_rows_total_px (LnsTimelineRows *self);

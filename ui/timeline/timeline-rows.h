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

/* ADJUSTMENT scrolls; NULL: the widget is as high as its rows, which are those pinned. */
LnsTimelineRows *lns_timeline_rows_new (const LnsRowContext *context,
                                        GtkAdjustment *adjustment) G_GNUC_WARN_UNUSED_RESULT;

/* The pinned rows of the timeline, of uint32_t; kept, not copied: tell of changes by _sync (). */
void lns_timeline_rows_set_pinned (LnsTimelineRows *self, GArray *pinned);

/* The tree was folded, or rows were pinned. */
void lns_timeline_rows_sync (LnsTimelineRows *self);

/* The time in view changed: every row in view is drawn anew. */
void lns_timeline_rows_redraw (LnsTimelineRows *self);
void lns_timeline_rows_redraw_row (LnsTimelineRows *self, uint32_t row);

/* Appends the LnsStripSpan of each row in view to SPANS. */
void lns_timeline_rows_append_spans (LnsTimelineRows *self, GArray *spans);

/* The row at Y_PX of the widget and the place within it, or NULL. */
LnsTimelineRow *lns_timeline_rows_row_at (LnsTimelineRows *self, double y_px, double *ret_row_y_px);

/* The widget of ROW if it is in view, and its upper edge; else NULL. */
LnsTimelineRow *lns_timeline_rows_find (LnsTimelineRows *self, uint32_t row, int *ret_top_px);

/* Scrolls as little as brings TOP_PX … BOTTOM_PX of visible row ROW into view. */
void lns_timeline_rows_scroll_to (LnsTimelineRows *self, uint32_t row, int top_px, int bottom_px);

void lns_timeline_rows_update_descriptions (LnsTimelineRows *self);

/* The height of all rows. */
int lns_timeline_rows_total_px (LnsTimelineRows *self);

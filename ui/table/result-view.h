/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shows a result of the analysis (src/analysis/result.h) as a table. A click on a title sorts it; a row that is about one place
 * of the report goes there when it is activated. Main thread only.
 *
 * Signal:
 *
 *   row-activated (guint row)
 *       a row of the result was activated that is about no one place */

#pragma once

#include <adwaita.h>

#include "src/analysis/result.h"
#include "ui/model/view.h"

#define LNS_TYPE_RESULT_VIEW (lns_result_view_get_type ())
G_DECLARE_FINAL_TYPE (LnsResultView, lns_result_view, LNS, RESULT_VIEW, AdwBin)

/* VIEW is where rows go to; a reference is kept. LABEL names the table for assistive technology. */
GtkWidget *lns_result_view_new (LnsView *view, const char *label) G_GNUC_WARN_UNUSED_RESULT;

/* From now on columns stand as results have them, not that first which rows are about. */
void lns_result_view_keep_columns (LnsResultView *self);

/* From now on cells have little space at their sides, and texts may be cut: for a table beside another one. */
void lns_result_view_make_narrow (LnsResultView *self);

/* How wide the table is with all of its texts, up to a limit each; 0 while there is nothing. */
int lns_result_view_whole_px (LnsResultView *self);

/* Shows RESULT, which is taken over, from its first row; NULL shows nothing. It stands in its own order, or, if its columns are those of
 * the result before, in the order that the user chose. O(rows). */
void lns_result_view_set (LnsResultView *self, LnsResult *result);

/* Selects ROW of the result, in the result's own order, and scrolls to it as soon as it is laid out. */
void lns_result_view_go_to (LnsResultView *self, guint row);

/* Puts the titles and rows as they stand into the clipboard, separated by tabs, for a spreadsheet: numbers are whole, in ns and bytes.
 * Nothing while there is nothing. */
void lns_result_view_copy (LnsResultView *self);

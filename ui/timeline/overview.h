/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shows the whole report in one strip: its steps; where it has none, how busy its GPUs are, or else its threads. The parts
 * outside the view are dimmed. Dragging moves the view; a click centres the view there, or selects the step. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/row-tree.h"
#include "ui/model/view.h"

#define LNS_TYPE_OVERVIEW (lns_overview_get_type ())
G_DECLARE_FINAL_TYPE (LnsOverview, lns_overview, LNS, OVERVIEW, GtkWidget)

/* Holds references on VIEW and TREE. */
void lns_overview_set_view (LnsOverview *self, LnsView *view, const LnsRowTree *tree);

/* Goes on with TREE, of the view's report, which has grown. The chart stays until the new one is there. */
void lns_overview_grow (LnsOverview *self, const LnsRowTree *tree);

/* What the strip is of, in one or two lines; "" while that is not known. Free with g_free (). */
char *lns_overview_get_text (LnsOverview *self) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the worker has read the chart for the widget's width, or has found the report damaged. */
gboolean lns_overview_is_complete (LnsOverview *self);

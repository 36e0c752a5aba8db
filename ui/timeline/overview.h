/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shows the whole report in one strip: how busy its threads are. The parts outside the view are dimmed. Dragging
 * moves the view; a click centres the view there. */

#pragma once

#include <gtk/gtk.h>

#include "ui/model/row-tree.h"
#include "ui/model/view.h"

#define LNS_TYPE_OVERVIEW (lns_overview_get_type ())
G_DECLARE_FINAL_TYPE (LnsOverview, lns_overview, LNS, OVERVIEW, GtkWidget)

/* Holds references on VIEW and TREE. */
void lns_overview_set_view (LnsOverview *self, LnsView *view, const LnsRowTree *tree);

/* Whether the worker has read the chart for the widget's width, or has found the report damaged. */
gboolean lns_overview_is_complete (LnsOverview *self);

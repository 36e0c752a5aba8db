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

/* TREE must outlive the overview; a worker reads it while the view is referenced. */
void lns_overview_set_view (LnsOverview *self, LnsView *view, const LnsRowTree *tree);

/* Whether its picture is there: it is painted by a worker. */
gboolean lns_overview_is_complete (LnsOverview *self);

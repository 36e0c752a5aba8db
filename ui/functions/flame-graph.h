/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gtk/gtk.h>

#include "ui/functions/functions.h"

#define LNS_TYPE_FLAME_GRAPH (lns_flame_graph_get_type ())

/* A picture of all call chains: each function a bar as wide as its samples are many, what it called below it, the widest at
 * the left, in the colour of its module. A click shows a bar as wide as the widget, a double click its next event on the timeline. Signal
 * "zoomed" (): another one is as wide as the widget. Its actions: functions.show-next
 * and functions.copy-name, of the bar with the focus; flame.zoom-in, flame.zoom-out and flame.zoom-all. */
G_DECLARE_FINAL_TYPE (LnsFlameGraph, lns_flame_graph, LNS, FLAME_GRAPH, GtkWidget)

/* Holds references on FUNCTIONS and on MENU, which is the menu of its bars. */
GtkWidget *lns_flame_graph_new (LnsFunctions *functions,
                                GMenuModel *menu) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the outermost functions are at the bottom. */
void lns_flame_graph_set_upwards (LnsFlameGraph *self, gboolean is_upwards);

/* How far the first function that calls several is from the edge where the outermost functions are, less a few of its
 * callers. Negative if nothing is shown yet. */
double lns_flame_graph_get_fork_px (LnsFlameGraph *self);

/* The way to the bar that is as wide as the widget, as markup with links whose targets are numbers for lns_flame_graph_show (), and
 * which part of all it is; NULL while all is shown. Free with g_free (). */
char *lns_flame_graph_crumbs (LnsFlameGraph *self) G_GNUC_WARN_UNUSED_RESULT;

/* Shows BRANCH as wide as the widget. */
void lns_flame_graph_show (LnsFlameGraph *self, uint32_t branch);

/* --- For tests ----------------------------------------------------------------------------------- */

/* The function whose bar is at (X_PX, Y_PX) of the widget, or LNS_ID_NONE. */
uint32_t lns_flame_graph_function_at (LnsFlameGraph *self, double x_px, double y_px);

/* The branch that is as wide as the widget. */
uint32_t lns_flame_graph_get_zoom (LnsFlameGraph *self);

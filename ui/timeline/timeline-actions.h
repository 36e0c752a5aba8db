/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What keys and menus do on a timeline. */

#pragma once

#include "ui/timeline/timeline-private.h"

/* Gives WIDGET_CLASS, that of the timeline, its actions. */
void lns_timeline_actions_install (GtkWidgetClass *widget_class);

/* Enables those that can do something. */
void lns_timeline_actions_update (LnsTimeline *self);

/* Opens the menu of ROW at (X, Y) of the row, for the event of HIT if there is one. */
void lns_timeline_actions_show_menu (
    LnsTimeline *self, LnsTimelineRow *row, const LnsTimelineHit *hit, int x, int y);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tooltip of a timeline: describes what is under the pointer. */

#pragma once

#include "ui/timeline/timeline-layout.h"

typedef struct LnsTimelineTooltip LnsTimelineTooltip;

/* BOX, a child of the timeline, is the tooltip; LABEL in it shows the text. All arguments must outlive the tooltip. */
LnsTimelineTooltip *lns_timeline_tooltip_new (const LnsRowContext *context,
                                              GtkWidget *box,
                                              GtkLabel *label) G_GNUC_WARN_UNUSED_RESULT;
void lns_timeline_tooltip_free (LnsTimelineTooltip *self); /* NULL is fine */

/* What is described from now on is of the report of CONTEXT; hides the tooltip if it was of another. */
void lns_timeline_tooltip_set_context (LnsTimelineTooltip *self, const LnsRowContext *context);

/* Describes HIT, of whatever report, as soon as the pointer rests there. Hides the tooltip if there is nothing to say. */
void lns_timeline_tooltip_update (LnsTimelineTooltip *self, const LnsTimelineHit *hit);

void lns_timeline_tooltip_hide (LnsTimelineTooltip *self);

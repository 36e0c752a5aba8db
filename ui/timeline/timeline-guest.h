/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The second report on a timeline, B: its rows follow what is done to those of A that have the same role. Main thread. */

#pragma once

#include "ui/timeline/timeline-tree.h"

typedef struct
{
  LnsRowContext *host;   /* that of A */
  LnsRowContext context; /* of B */
  LnsTimelineTree rows_of;
  LnsRowPairs pairs;
  GArray *spans; /* owned; of LnsStripSpan: the strips of B in view */
} LnsTimelineGuest;

/* Shows the report of VIEW beside that of HOST, which knows of it from now on. TIMELINE has the font; TILE_CHANGED and FUNCS are called
 * with OWNER. To be freed. */
LnsTimelineGuest *lns_timeline_guest_new (LnsRowContext *host,
                                          LnsView *view,
                                          GtkWidget *timeline,
                                          void (*tile_changed) (uint32_t row, gpointer owner),
                                          const LnsTimelineTreeFuncs *funcs,
                                          gpointer owner);

/* HOST is alone again. NULL is fine. No row may show the guest any more. */
void lns_timeline_guest_free (LnsTimelineGuest *self);

/* Finds the pairs, and has rows of B that have one be folded, hidden and as high as those of A. O(rows). */
void lns_timeline_guest_follow (LnsTimelineGuest *self);

/* How many rows of B are hidden that have no pair. */
guint lns_timeline_guest_n_hidden (const LnsTimelineGuest *self);

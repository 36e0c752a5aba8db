/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The mouse over a timeline: a drag selects time, with Shift or the middle button it moves the view; a click selects
 * an event; Ctrl+wheel zooms at the pointer, Shift+wheel moves; the right button asks for a menu. The edge of the
 * headers is dragged to make them wider. */

#pragma once

#include "ui/timeline/timeline-layout.h"

/* What the pointer asks of the timeline. */
typedef struct
{
  /* The pointer is over HIT now. */
  void (*pointed) (const LnsTimelineHit *hit, gpointer data);

  /* The headers are to be HEADER_PX wide. */
  void (*header_dragged) (int header_px, gpointer data);

  /* A menu is wanted at (X, Y) of ROW, about HIT. */
  void (*menu_wanted) (LnsTimelineRow *row, const LnsTimelineHit *hit, int x, int y, gpointer data);
} LnsTimelinePointerFuncs;

typedef enum
{
  LNS_DRAG_NONE,
  LNS_DRAG_BAND,
  LNS_DRAG_PAN,
  LNS_DRAG_HEADER
} LnsDragMode;

/* Part of the timeline, which reads the first fields. */
typedef struct
{
  double x, y;           /* of the timeline; < 0: outside */
  LnsPixelEvent hovered; /* valid while the view has a hovered event */

  const LnsTimelineLayout *layout;
  GtkAdjustment *adjustment; /* what the wheel scrolls */
  const LnsTimelinePointerFuncs *funcs;
  gpointer data;

  GCancellable
      *finding; /* of the event under a click, or NULL; whoever owns the pointer cancels it */

  LnsDragMode drag;
  int64_t drag_start_ns;
  int64_t drag_first_px;
  int drag_header_px;
} LnsTimelinePointer;

/* Adds event controllers to TIMELINE. The others are kept, and all live as long as SELF. */
void lns_timeline_pointer_init (LnsTimelinePointer *self,
                                GtkWidget *timeline,
                                const LnsTimelineLayout *layout,
                                GtkAdjustment *adjustment,
                                const LnsTimelinePointerFuncs *funcs,
                                gpointer data);

/* The pointer is at (X, Y) of the timeline; < 0: nowhere. */
void lns_timeline_pointer_point (LnsTimelinePointer *self, double x, double y);

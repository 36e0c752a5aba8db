/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Handles the mouse over a timeline. A drag selects time, with Ctrl beside what is selected, or moves an edge of the selected time; edges
 * of events attract it; with Shift or the middle button it moves the view. A click
 * selects an event. Ctrl and the wheel zoom at the pointer, Shift and the wheel move the view. The right button opens
 * a menu. Dragging the edge of the headers changes their width. On a touchpad two fingers move the view, which goes on for a
 * while, and a pinch zooms. */

#pragma once

#include "ui/timeline/glide.h"
#include "ui/timeline/timeline-layout.h"

/* What the pointer calls on the timeline. */
typedef struct
{
  /* The pointer has moved to HIT. */
  void (*pointed) (const LnsTimelineHit *hit, gpointer data);

  /* The user wants headers of HEADER_PX. */
  void (*header_dragged) (int header_px, gpointer data);

  /* The user drags the other report by DX_PX from where it was when BEGINS was TRUE. */
  void (*other_dragged) (gboolean begins, double dx_px, gpointer data);

  /* The user wants a menu for HIT at (X, Y) of ROW. */
  void (*menu_wanted) (LnsTimelineRow *row, const LnsTimelineHit *hit, int x, int y, gpointer data);
} LnsTimelinePointerFuncs;

typedef enum
{
  LNS_DRAG_NONE,
  LNS_DRAG_BAND,
  LNS_DRAG_EDGE, /* of the selected time */
  LNS_DRAG_PAN,
  LNS_DRAG_OTHER, /* the other report */
  LNS_DRAG_HEADER
} LnsDragMode;

/* The timeline reads the first two lines. */
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

  LnsGlide glide;           /* whoever owns the pointer stops it */
  GdkModifierType scrolled; /* what was held down with the last scroll       */
  double rest_px;           /* what was moved and is less than a pixel       */
  double pinched;           /* the scale of the pinch so far                 */

  LnsDragMode drag;
  int64_t drag_start_ns;
  gboolean drag_adds;     /* a band beside the one there is … */
  gboolean drag_has_band; /* … until it has come             */
  int64_t drag_first_px;
  int drag_header_px;
} LnsTimelinePointer;

/* Adds event controllers to TIMELINE. All arguments must outlive SELF. */
void lns_timeline_pointer_init (LnsTimelinePointer *self,
                                GtkWidget *timeline,
                                const LnsTimelineLayout *layout,
                                GtkAdjustment *adjustment,
                                const LnsTimelinePointerFuncs *funcs,
                                gpointer data);

/* Tells that the pointer is at (X, Y) of the timeline; < 0 means outside. */
void lns_timeline_pointer_point (LnsTimelinePointer *self, double x, double y);

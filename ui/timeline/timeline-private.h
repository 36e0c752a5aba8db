/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the files of LnsTimeline share: timeline.c (parts and layout), timeline-actions.c,
 * timeline-pointer.c (mouse and menu), timeline-overlay.c (what is drawn over the rows),
 * timeline-tooltip.c (what is under the pointer, in words), timeline-facets.c (rows that have
 * to be read first), timeline-projections.c (ranges on the GPU). */

#pragma once

#include "ui/timeline/overview.h"
#include "ui/timeline/ruler.h"
#include "ui/timeline/timeline-rows.h"
#include "ui/timeline/timeline.h"

G_BEGIN_DECLS

typedef enum
{
  LNS_DRAG_NONE,
  LNS_DRAG_BAND,
  LNS_DRAG_PAN,
  LNS_DRAG_HEADER
} LnsDragMode;

/* What is at a place of the timeline. */
typedef struct
{
  LnsTimelineRow *row; /* or NULL */
  LnsStrip strip;      /* if HAS_STRIP */
  gboolean has_strip;
  const LnsTile *tile; /* or NULL; the tile set's */
  double tile_x_px;
  gboolean has_event;
  LnsPixelEvent event;
} LnsTimelineHit;

struct _LnsTimeline
{
  GtkWidget parent_instance;

  LnsRowContext context; /* its parts owned */
  GArray *pinned_rows;   /* of uint32_t */
  GArray *spans;         /* of LnsStripSpan: the strips in view */
  gboolean unprepared;   /* what is in view has changed, or a tile has come */

  GtkWidget *gutter;      /* the headers go on below the last row */
  int rows_end_px;        /* where the last row ends              */
  GtkInscription *corner; /* the length of what is in view */
  LnsOverview *overview;
  LnsRuler *ruler;
  LnsTimelineRows *pinned;
  LnsTimelineRows *rows;
  GtkWidget *scrollbar;
  GtkAdjustment *adjustment;
  GtkWidget *empty;
  GtkWidget *tooltip;
  GtkLabel *tooltip_label;
  char *tooltip_about; /* owned; what it said before the worker added to it, or NULL */
  guint tooltip_delay; /* source that shows it once the pointer rests, or 0 */
  guint describing;    /* source that updates descriptions, or 0 */

  double pointer_x, pointer_y; /* < 0: outside */
  LnsPixelEvent hovered;       /* valid while the view has a hovered event */
  GCancellable *hovering;      /* of the read of the hovered event, or NULL */
  LnsEventId menu_event;       /* what the open menu is about */
  uint32_t menu_name;

  GCancellable *reading; /* of what rows want to be read, or NULL */

  GCancellable *projecting;              /* of the search for ranges on the GPU, or NULL */
  const atomic_uint *projected_permille; /* of that: how far it is */
  guint telling;                         /* source that shows it */
  gboolean cannot_project;               /* it failed */

  LnsDragMode drag;
  int64_t drag_start_ns;
  int64_t drag_first_px;
  int drag_header_px;
};

void _lns_timeline_install_actions (GtkWidgetClass *widget_class);
void _lns_timeline_update_actions (LnsTimeline *self);

/* Whether the event that the menu is about, or else the selected one, may be tied to another. */
gboolean _lns_timeline_has_other_end (LnsTimeline *self);

void _lns_timeline_add_pointer (LnsTimeline *self);

/* Opens the menu of the row that has the focus. */
void _lns_timeline_show_menu (LnsTimeline *self);

/* The pointer is at (X, Y) of the timeline; < 0: nowhere. */
void _lns_timeline_point (LnsTimeline *self, double x, double y);

/* What is at (X, Y) of the timeline. */
LnsTimelineHit _lns_timeline_hit (LnsTimeline *self, double x, double y);

/* The place of LANE in the timeline. False where it is not in view. */
gboolean _lns_timeline_lane_area (LnsTimeline *self, uint32_t lane, graphene_rect_t *ret_area);

/* Where time is drawn: right of the headers, from the ruler's lower edge down. */
graphene_rect_t _lns_timeline_body (LnsTimeline *self);

/* The line from a call to what it began, in pixels of the timeline: from the call's edge at (X, FROM)
 * across to END, then down or up to TO, the work's edge. */
typedef struct
{
  float x_px, from_px, end_px, to_px;
} LnsLinkLine;

/* The line between the selected event and LINKED. False where either is out of view. */
gboolean
_lns_timeline_link_line (LnsTimeline *self, const LnsLinkedEvent *linked, LnsLinkLine *ret_line);

/* Draws band, selection, what is tied to it, hovered event and pointer line. */
void _lns_timeline_snapshot_overlay (LnsTimeline *self, GtkSnapshot *snapshot);

void _lns_timeline_hide_tooltip (LnsTimeline *self);

/* Tells what is at HIT as soon as the pointer rests there, or hides the tooltip. */
void _lns_timeline_update_tooltip (LnsTimeline *self, const LnsTimelineHit *hit);

/* Has a worker read what rows in view want, unless one is at it. */
void _lns_timeline_read_wanted (LnsTimeline *self);
void _lns_timeline_stop_reading (LnsTimeline *self);

/* Puts TREE, in which rows have kept their numbers, in the place of the timeline's. */
void _lns_timeline_replace_tree (LnsTimeline *self, LnsRowTree *tree);

/* Has a worker find the ranges on the GPU that rows in view wait for, unless one is at it. */
void _lns_timeline_project_wanted (LnsTimeline *self);
void _lns_timeline_stop_projecting (LnsTimeline *self);
/* The same where folds hide all rows that wait. */
void _lns_timeline_stop_unwanted_projecting (LnsTimeline *self);

/* The rows were folded: lays them out anew. */
void _lns_timeline_rows_changed (LnsTimeline *self);

G_END_DECLS

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The fields of LnsTimeline, for timeline.c, its tests and its bench. */

#pragma once

#include "ui/timeline/critical-strip.h"
#include "ui/timeline/mark-strip.h"
#include "ui/timeline/overview.h"
#include "ui/timeline/ruler.h"
#include "ui/model/after-frame.h"
#include "ui/model/pair.h"
#include "ui/timeline/timeline-guest.h"
#include "ui/timeline/timeline-overlay.h"
#include "ui/timeline/timeline-pointer.h"
#include "ui/timeline/timeline-tooltip.h"
#include "ui/timeline/timeline-tree.h"
#include "ui/timeline/timeline.h"

struct _LnsTimeline
{
  GtkWidget parent_instance;

  LnsRowContext context;   /* its parts owned */
  LnsTimelineTree rows_of; /* what changes them */
  LnsPair *pair;           /* owned */
  LnsTimelineGuest *guest; /* owned, or NULL: the other report of the pair */
  guint active;            /* source of the event that was selected last */
  LnsRowPlan plan;         /* of `rows` */
  LnsRowPlan pinned_plan;
  GArray *spans; /* of LnsStripSpan: the strips in view */
  LnsAfterFrame opening;
  gboolean has_begun;  /* the first frame was drawn, and rows show */
  gboolean unprepared; /* the view has changed or a tile has come since the last frame */

  GtkWidget *gutter;       /* continues the headers below the last row */
  int fitting_header_px;   /* width of headers that fits the labels of GPUs */
  gboolean has_own_header; /* the user dragged them to another one */
  int rows_end_px;         /* lower edge of the last row */
  int divider_px;          /* upper edge of the line below the pinned rows; 0: there are none */
  GtkInscription *hidden;  /* how many rows are hidden */
  GtkInscription *corner;  /* shows the length of the span in view */
  LnsOverview *overview;
  LnsRuler *ruler;
  LnsMarkStrip *marks;
  LnsCriticalStrip *critical;
  GtkInscription *critical_corner; /* what its lanes are */
  LnsCritical *path;               /* owned */
  LnsBookmarks *bookmarks;         /* owned */
  LnsTimelineRows *pinned;
  LnsTimelineRows *rows;
  GtkWidget *scrollbar;
  GtkAdjustment *adjustment;
  GtkWidget *empty;
  GtkWidget *tooltip;
  GtkLabel *tooltip_label;
  GMenuModel *row_menu; /* of a row or an event */
  GMenu *row_section;   /* of that menu; what is about the row */
  guint describing;     /* source that updates descriptions, or 0 */

  LnsTimelineLayout layout;
  LnsTimelineLayout guest_layout; /* while there is a guest */
  int64_t dragged_ns;             /* where the guest was when somebody began to drag it */
  LnsTimelinePointer pointer;
  LnsTimelineTooltip *words; /* owned */
  GCancellable *travelling;  /* of the search for another event under way, or NULL */

  LnsEventId menu_event; /* the event of the open menu */
  uint32_t menu_name;
  int64_t menu_start_ns, menu_end_ns;     /* its times */
  int64_t filter_start_ns, filter_end_ns; /* what the last filter showed */
};

/* What is shown of the report number SOURCE, or of A. */
static inline LnsRowContext *
_lns_timeline_context_of (LnsTimeline *self, guint source)
{
  return source == 1 && self->guest != NULL ? &self->guest->context : &self->context;
}

/* Lays the rows out again after some were folded, pinned, hidden, moved or resized. */
void _lns_timeline_rows_changed (LnsTimeline *self);

/* The event of the open menu, or else the one that was selected last; and the view that it is of. */
LnsEventId _lns_timeline_subject (LnsTimeline *self);
LnsView *_lns_timeline_subject_view (LnsTimeline *self);

/* The view in which an event was selected last. */
LnsView *_lns_timeline_active_view (LnsTimeline *self);

/* Actions; the number is not used. The first selects and shows the time of that event, or, if there is a selected time which the menu is not
 * beside, shows that; the second ends it. The others copy the name of that event, have events of all other names gray, or no more if they are, and
 * have all in colour again. */
void _lns_timeline_filter (LnsTimeline *self, double unused);
void _lns_timeline_undo_filter (LnsTimeline *self, double unused);
void _lns_timeline_copy_name (LnsTimeline *self, double unused);
void _lns_timeline_gray_others (LnsTimeline *self, double unused);
void _lns_timeline_color_all (LnsTimeline *self, double unused);

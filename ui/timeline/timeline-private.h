/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The fields of LnsTimeline, for timeline.c, its tests and its bench. */

#pragma once

#include "ui/timeline/mark-strip.h"
#include "ui/timeline/overview.h"
#include "ui/timeline/ruler.h"
#include "ui/timeline/timeline-overlay.h"
#include "ui/timeline/timeline-pointer.h"
#include "ui/timeline/timeline-tooltip.h"
#include "ui/timeline/timeline-tree.h"
#include "ui/timeline/timeline.h"

#define LNS_HEADER_PX 240

struct _LnsTimeline
{
  GtkWidget parent_instance;

  LnsRowContext context;   /* its parts owned */
  LnsTimelineTree rows_of; /* what changes them */
  GArray *spans;           /* of LnsStripSpan: the strips in view */
  gboolean unprepared;     /* the view has changed or a tile has come since the last frame */

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
  LnsBookmarks *bookmarks; /* owned */
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
  LnsTimelinePointer pointer;
  LnsTimelineTooltip *words; /* owned */
  GCancellable *travelling;  /* of the search for another event under way, or NULL */

  LnsEventId menu_event; /* the event of the open menu */
  uint32_t menu_name;
};

/* Lays the rows out again after some were folded, pinned, hidden, moved or resized. */
void _lns_timeline_rows_changed (LnsTimeline *self);

/* The width of headers that fits the labels of GPUs: "CUDA HW (0000:b2:00.0 - NVIDIA H100 80GB HBM3)". */
int _lns_timeline_fitting_header_px (LnsTimeline *self);

/* Makes lanes as high as a line of a row's label, which has the margins of shell/style.css around it. Returns whether they were not. */
bool _lns_timeline_fit_lanes (LnsTimeline *self);

/* Notes whether functions can be shown for rows. */
void _lns_timeline_find_functions (LnsTimeline *self);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The fields of LnsTimeline, for timeline.c, its tests and its bench. */

#pragma once

#include "ui/timeline/overview.h"
#include <stdatomic.h>

#include "ui/timeline/ruler.h"
#include "ui/timeline/timeline-overlay.h"
#include "ui/timeline/timeline-pointer.h"
#include "ui/timeline/timeline-tooltip.h"
#include "ui/timeline/timeline.h"

struct _LnsTimeline
{
  GtkWidget parent_instance;

  LnsRowContext context; /* its parts owned */
  GArray *pinned_rows;   /* of uint32_t */
  GArray *spans;         /* of LnsStripSpan: the strips in view */
  gboolean unprepared;   /* the view has changed or a tile has come since the last frame */

  GtkWidget *gutter;      /* the headers go on below the last row */
  int rows_end_px;        /* where the last row ends */
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
  guint describing; /* source that updates descriptions, or 0 */

  LnsTimelineLayout layout;
  LnsTimelinePointer pointer;
  LnsTimelineTooltip *words; /* owned; what the tooltip says */
  GCancellable *reading;     /* of what a row needs first, or NULL */

  GCancellable *projecting; /* of the search for ranges on the GPU under way, or NULL */
  const atomic_uint *projected_permille; /* its progress */
  guint telling;                         /* source that shows the progress, or 0 */
  gboolean not_projected;                /* the search has failed */

  LnsEventId menu_event; /* what the open menu is about */
  uint32_t menu_name;
};

/* The rows were folded: lays them out anew. */
void _lns_timeline_rows_changed (LnsTimeline *self);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows of a timeline and what changes them: what people do with them, what is kept of that, and what a worker reads for them. Main
 * thread. */

#pragma once

#include "ui/timeline/gpu-ranges.h"
#include "ui/timeline/row-state.h"
#include "ui/timeline/timeline-row.h"

typedef struct
{
  /* Rows came, went, or look otherwise. */
  void (*changed) (gpointer owner);

  /* Rows that wait say something else. */
  void (*redraw) (gpointer owner);
} LnsTimelineTreeFuncs;

typedef struct
{
  LnsRowContext *context; /* whose tree this replaces */
  GArray *pinned;         /* owned; of uint32_t        */
  LnsRowState state;
  GCancellable *reading; /* of the read for a row under way, or NULL */
  LnsGpuRanges gpu_ranges;
  const LnsTimelineTreeFuncs *funcs;
  gpointer owner;
} LnsTimelineTree;

/* CONTEXT gets its view, tree and tiles before anything else is called, and outlives SELF. */
void lns_timeline_tree_init (LnsTimelineTree *self,
                             LnsRowContext *context,
                             const LnsTimelineTreeFuncs *funcs,
                             gpointer owner);
void lns_timeline_tree_stop (LnsTimelineTree *self); /* cancels what a worker does */
void lns_timeline_tree_clear (LnsTimelineTree *self);

/* Gives the rows what was kept of them in VIEW, which is taken over; NULL: nothing was. */
void lns_timeline_tree_restore (LnsTimelineTree *self, LnsKeptView *view);

/* Gives rows that have come what was kept of them. */
void lns_timeline_tree_follow (LnsTimelineTree *self);

/* Has a worker read for the row that needs it most, unless one reads already, and stops looking for ranges on the GPU where none waits. */
void lns_timeline_tree_read (LnsTimelineTree *self);

/* Finds the ranges on the GPU if one of SPANS, of LnsStripSpan, waits for them. */
void lns_timeline_tree_find_ranges (LnsTimelineTree *self, const GArray *spans);

/* Does to ROW what the row's action NAME, "row.pin", says. */
void lns_timeline_tree_change_row (LnsTimelineTree *self, const char *name, uint32_t row);

void lns_timeline_tree_set_all_expanded (LnsTimelineTree *self, gboolean expanded);
void lns_timeline_tree_unfold_depth (LnsTimelineTree *self, uint32_t depth);
void lns_timeline_tree_show_hidden (LnsTimelineTree *self);
guint lns_timeline_tree_n_hidden (const LnsTimelineTree *self);
void lns_timeline_tree_reset (LnsTimelineTree *self);

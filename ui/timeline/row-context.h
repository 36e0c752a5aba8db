/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A report on the timeline: its rows, and what is needed to draw them. Main thread. */

#pragma once

#include <gtk/gtk.h>

#include "src/tables/omissions.h"
#include "ui/model/answer.h"
#include "ui/model/row-pairs.h"
#include "ui/tiles/tile-labels.h"
#include "ui/tiles/tile-set.h"

#define LNS_HEADER_PX 240 /* at least */

/* State that all rows of one report share. The timeline owns it, and it outlives the rows. */
typedef struct LnsRowContext
{
  int side;                          /* 0: of A, 1: of B, where there are two (model/pair.h) */
  const struct LnsRowContext *other; /* of the other report, or NULL */
  const LnsRowPairs *pairs;          /* with OTHER: which rows have the same role */
  LnsView *view;
  LnsRowTree *tree;
  LnsTileSet *tiles;
  LnsTileLabels *labels;  /* of the main thread */
  int header_px;          /* left edge of the area that shows time */
  char *waiting_text;     /* owned; text of rows that wait for their lanes, or NULL */
  LnsAnswer *answer;      /* owned: why the program was slow */
  gboolean has_functions; /* the pane of functions has something to show of threads */
  LnsOmissions omissions; /* owned; what the report leaves out by intent */
  LnsTheme theme;
  LnsColoring coloring;
} LnsRowContext;

/* Fills in SELF, which is zero, for the report of VIEW, of which it keeps a reference, and number SIDE. TIMELINE has the font; TILE_CHANGED
 * is called with DATA for each row that got a tile. */
void lns_row_context_init (LnsRowContext *self,
                           LnsView *view,
                           int side,
                           GtkWidget *timeline,
                           void (*tile_changed) (uint32_t row, gpointer data),
                           gpointer data);

void lns_row_context_clear (LnsRowContext *self);

/* The width of headers that fits the labels of GPUs: "CUDA HW (0000:b2:00.0 - NVIDIA H100 80GB HBM3)". */
int lns_row_context_fitting_header_px (const LnsRowContext *self, GtkWidget *timeline);

/* Makes lanes as high as a line of a row's label, which has the margins of shell/style.css around it. Returns whether they were not. */
bool lns_row_context_fit_lanes (LnsRowContext *self, GtkWidget *timeline);

/* Notes what the view's report, which may be newer than before, leaves out by intent, and whether functions can be shown for rows. */
void lns_row_context_read_report (LnsRowContext *self);

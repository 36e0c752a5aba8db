/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows of a report's timeline: processes, under them what belongs to the whole process, then
 * their threads, under these one row a domain. Rows stand in the order they are drawn, each
 * followed by what is below it. Which rows are unfolded is the only thing that changes: one thread
 * owns a tree; workers may read rows' other fields and lanes at any time. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/store/lns-report.h"

/* Heights in pixels. A row's lanes are strips of LNS_LANE_PX below each other. */
#define LNS_LANE_PX    18
#define LNS_SUMMARY_PX 24
#define LNS_COUNTER_PX 42
#define LNS_ROW_PAD_PX 2 /* above the first lane of a row, and below the last one */

typedef enum
{
  LNS_ROW_PROCESS,   /* chart: how busy its threads are                                         */
  LNS_ROW_THREAD,    /* chart: how busy it is                                                   */
  LNS_ROW_RANGES,    /* push/pop ranges of (thread, domain), a lane a depth, then marks         */
  LNS_ROW_START_END, /* start/end ranges of (process, domain)                                   */
  LNS_ROW_COUNTER    /* line chart of one counter                                               */
} LnsRowKind;

typedef struct
{
  LnsRowKind kind;
  bool expanded;     /* what is below it shows; a row of lanes: all of them, not the first alone */
  uint32_t depth;    /* 0 = process                                                            */
  uint32_t parent;   /* row, or LNS_ID_NONE                                                    */
  uint32_t n_below;  /* rows i + 1 … i + n_below are below row i                               */
  uint32_t process;  /* or LNS_ID_NONE                                                         */
  uint32_t thread;   /* or LNS_ID_NONE                                                         */
  uint32_t domain;   /* or LNS_ID_NONE                                                         */
  uint32_t lanes;    /* index of its first lane in lns_row_tree_lanes ()                       */
  uint32_t n_own;    /* lanes that it draws itself                                             */
  uint32_t n_lanes;  /* those and the ones of the rows below it                                */
  uint64_t n_events; /* of n_lanes                                                             */
  char *label;       /* UTF-8, one line: "python3 (4711)", "NVTX: domain"                      */
} LnsRow;

typedef struct LnsRowTree LnsRowTree;

/* All rows of REPORT that have events, unfolded. REPORT must outlive the tree. Never NULL; one
 * reference is the caller's. O(lanes × log). */
LnsRowTree *lns_row_tree_new (LnsReport *report);
LnsRowTree *lns_row_tree_ref (const LnsRowTree *self); /* any thread */
void lns_row_tree_unref (LnsRowTree *self);            /* any thread; NULL is fine */

uint32_t lns_row_tree_n_rows (const LnsRowTree *self);
const LnsRow *lns_row_tree_row (const LnsRowTree *self, uint32_t row);

/* The lanes of all rows: those of row r and what is below it are the n_lanes from r->lanes on. */
const uint32_t *lns_row_tree_lanes (const LnsRowTree *self);

/* The row that draws LANE, or LNS_ID_NONE. O(1). */
uint32_t lns_row_tree_row_of_lane (const LnsRowTree *self, uint32_t lane);

/* Whether ROW can fold: it has rows below it, or more than one lane. */
bool lns_row_tree_can_fold (const LnsRowTree *self, uint32_t row);

/* All of these: O(rows); true if something changed. */
bool lns_row_tree_set_expanded (LnsRowTree *self, uint32_t row, bool expanded);
bool lns_row_tree_set_all_expanded (LnsRowTree *self, bool expanded);
bool lns_row_tree_unfold_to (LnsRowTree *self, uint32_t row); /* ROW and its parents */

/* Rows that no fold hides: their number, the V-th of them, and where each lies. */
uint32_t lns_row_tree_n_visible (const LnsRowTree *self);
uint32_t lns_row_tree_visible (const LnsRowTree *self, uint32_t v);
/* The place of ROW among the visible ones, or LNS_ID_NONE. O(log rows). */
uint32_t lns_row_tree_place_of (const LnsRowTree *self, uint32_t row);
/* The upper edge of visible row V; V = their number gives the height of all. */
int lns_row_tree_top_px (const LnsRowTree *self, uint32_t v);
/* The visible row at Y_PX, clamped to the first and last. 0 where there is none. O(log rows). */
uint32_t lns_row_tree_at_px (const LnsRowTree *self, int y_px);

/* Height of ROW as it is now, and how many of its own lanes show. */
int lns_row_tree_height_px (const LnsRowTree *self, uint32_t row);
uint32_t lns_row_tree_n_shown_lanes (const LnsRowTree *self, uint32_t row);

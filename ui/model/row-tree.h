/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows of a report's timeline: processes, under them their GPUs, under these contexts, streams and what they did; then
 * what belongs to the whole process, then their threads (those that call CUDA first), under these one row a domain or library; behind
 * the processes the CPUs. Each row is followed by what is below it, in the order of their ranks.
 * Which rows are unfolded, hidden and high is the only thing that changes: one thread owns a tree; workers may read
 * rows' other fields and lanes at any time. What has to be read to be told apart (the kernels of a
 * stream by name), and what has been recorded since, comes as a new tree, in which rows keep their numbers. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/store/read/facet.h"
#include "src/store/read/report.h"
#include "ui/model/hues.h"

/* Heights in pixels, of a tree with lanes of LNS_LANE_PX: with higher ones, all but the padding are higher by the same. A row's
 * lanes are strips below each other. */
#define LNS_LANE_PX    18
#define LNS_SUMMARY_PX 24
#define LNS_COUNTER_PX 42
#define LNS_ROW_PAD_PX 2 /* above the first lane of a row, and below the last one */

typedef enum
{
  LNS_ROW_CPUS,      /* chart: how busy the CPUs are with what is recorded                      */
  LNS_ROW_ASIDE,     /* chart: the processes below it, which a profiler made up                 */
  LNS_ROW_PROCESSES, /* chart: how busy processes are that do next to nothing, which are below it */
  LNS_ROW_PROCESS,   /* chart: how busy its threads are                                         */
  LNS_ROW_THREADS,   /* chart: how busy threads are that do next to nothing, which are below it */
  LNS_ROW_THREAD, /* what it does: its states, or where they were not recorded a chart: how busy it is */
  LNS_ROW_RANGES,    /* push/pop ranges of (thread, domain), a lane a depth, then marks         */
  LNS_ROW_START_END, /* start/end ranges of (process, domain)                                   */
  LNS_ROW_COUNTER,   /* line chart of one counter                                               */
  LNS_ROW_CALLS,     /* CUDA calls of a thread, or those of a CUDA library, a lane a depth       */
  LNS_ROW_DEVICE,    /* chart: how busy one process keeps a GPU                                 */
  LNS_ROW_CONTEXT,   /* chart: the same, of a CUDA context                                      */
  LNS_ROW_STREAM,    /* chart: the same, of a stream                                            */
  LNS_ROW_ALL_STREAMS, /* chart: of a device's or context's streams together                    */
  LNS_ROW_KERNELS,     /* all kernels of a stream or of all streams, in one lane                  */
  LNS_ROW_MEMORY,      /* their copies and memsets, in one lane                                   */
  LNS_ROW_GPU,         /* what else there is of a GPU, a stream or the capture: lanes             */
  LNS_ROW_FACET,       /* the kernels of one name, or the copies of one kind                      */
  LNS_ROW_PROJECTION   /* ranges of one domain where a stream, or all, worked for them; without   */
                       /* lanes until these are worked out                                        */
} LnsRowKind;

/* Whether rows of KIND stand for what is below them. */
static inline bool
lns_row_kind_is_group (LnsRowKind kind)
{
  return kind <= LNS_ROW_THREAD || (kind >= LNS_ROW_DEVICE && kind <= LNS_ROW_ALL_STREAMS);
}

/* Whether rows of KIND show work of a GPU, of all their lanes in one strip. */
static inline bool
lns_row_kind_is_merged (LnsRowKind kind)
{
  return (kind >= LNS_ROW_DEVICE && kind <= LNS_ROW_MEMORY) || kind == LNS_ROW_FACET;
}

typedef struct
{
  LnsRowKind kind;
  bool expanded;      /* what is below it shows; a row of lanes: all of them, not the first alone */
  bool is_hidden;     /* it does not show, nor what is below it                                   */
  uint8_t lanes_high; /* how many times as high as at first its lanes are; 0: once              */
  uint32_t depth;     /* 0 = process                                                            */
  uint32_t parent;    /* row, or LNS_ID_NONE                                                    */
  uint32_t n_below;   /* rows of the ranks after its own that are below it                      */
  uint32_t process;   /* or LNS_ID_NONE                                                         */
  uint32_t thread;    /* or LNS_ID_NONE                                                         */
  uint32_t domain;    /* or LNS_ID_NONE                                                         */
  uint32_t device;    /* or LNS_ID_NONE                                                         */
  uint32_t context;   /* or LNS_ID_NONE                                                         */
  uint32_t stream;    /* or LNS_ID_NONE                                                         */
  uint32_t rank;      /* where it stands; LNS_ID_NONE: it is no more (lns_row_tree_grown ())    */
  bool combines;      /* of a thread: it may show its ranges and calls in one lane              */
  bool splits;        /* rows by name or kind are to come below it once it is unfolded          */
  const LnsFacetSet *set; /* of several lanes that are drawn as one: what is drawn, or NULL      */
  uint32_t facet;         /* which one                                                          */
  uint32_t lanes;    /* index of its first lane in lns_row_tree_lanes ()                       */
  uint32_t n_own;    /* lanes that it draws itself                                             */
  uint32_t n_lanes;  /* those and the ones of the rows below it                                */
  uint64_t n_events; /* of n_lanes                                                             */
  char *label;       /* UTF-8, one line: "python3 (4711)", "NVTX: domain"                      */
} LnsRow;

/* Whether ROW shows what a thread does in one lane: the innermost of its ranges and calls, over its states. Where these have rows of
 * their own below it, the states suffice, if there are any. */
static inline bool
lns_row_is_combined (const LnsRow *row)
{
  return row->combines && !(row->expanded && row->n_own > 0);
}

/* Whether ROW is a chart of how busy what is below it is. */
static inline bool
lns_row_is_chart (const LnsRow *row)
{
  return lns_row_kind_is_group (row->kind) && !lns_row_is_combined (row) &&
         !(row->kind == LNS_ROW_THREAD && row->n_own > 0);
}

typedef struct LnsRowTree LnsRowTree;

/* All rows of REPORT that have events, unfolded. REPORT must outlive the tree. Never NULL; one
 * reference is the caller's. O(lanes × log). */
LnsRowTree *lns_row_tree_new (LnsReport *report);
LnsRowTree *lns_row_tree_ref (const LnsRowTree *self); /* any thread */
void lns_row_tree_unref (LnsRowTree *self);            /* any thread; NULL is fine */

/* The hues of the report's names. */
LnsHues *lns_row_tree_hues (const LnsRowTree *self);

uint32_t lns_row_tree_n_rows (const LnsRowTree *self);
const LnsRow *lns_row_tree_row (const LnsRowTree *self, uint32_t row);

/* The lanes of all rows: those of row r and what is below it are the n_lanes from r->lanes on. */
const uint32_t *lns_row_tree_lanes (const LnsRowTree *self);

/* What a row of tracks of KIND is called where it has no name of its own. */
const char *lns_track_label (LnsTrackKind kind);

/* How many rows stand somewhere: rows that turned out to have nothing do not. */
uint32_t lns_row_tree_n_ranks (const LnsRowTree *self);

/* The row that stands at RANK (0 … n_ranks - 1). */
uint32_t lns_row_tree_at_rank (const LnsRowTree *self, uint32_t rank);

/* The row that draws LANE, or LNS_ID_NONE. O(1). */
uint32_t lns_row_tree_row_of_lane (const LnsRowTree *self, uint32_t lane);

/* Whether ROW can fold: it has or will have rows below it, or more than one lane. */
bool lns_row_tree_can_fold (const LnsRowTree *self, uint32_t row);

/* All of these: O(rows); true if something changed. */
bool lns_row_tree_set_expanded (LnsRowTree *self, uint32_t row, bool expanded);
bool lns_row_tree_set_all_expanded (LnsRowTree *self, bool expanded);
bool lns_row_tree_unfold_to (LnsRowTree *self, uint32_t row); /* so that all of ROW shows */
/* Unfolds rows of less than DEPTH (0: processes), and folds the others. */
bool lns_row_tree_unfold_depth (LnsRowTree *self, uint32_t depth);
bool lns_row_tree_set_hidden (LnsRowTree *self, uint32_t row, bool is_hidden);
/* Lanes of ROW are N times as high as at first, 1 … LNS_LANES_HIGH_MAX, clamped. */
#define LNS_LANES_HIGH_MAX 4
bool lns_row_tree_set_lanes_high (LnsRowTree *self, uint32_t row, int n);

/* Between these, changes of many rows cost O(1) each: what shows is worked out by the release, and must not be asked for before. */
void lns_row_tree_hold (LnsRowTree *self);
void lns_row_tree_release (LnsRowTree *self); /* O(rows) */

/* SELF in another order, a tree of its own: siblings by their PLACES, of which there is one a row; those of 0 keep theirs, behind the
 * others. */
LnsRowTree *lns_row_tree_arranged (const LnsRowTree *self, const uint32_t *places);

/* Rows that neither are hidden nor lie in a fold: their number, the V-th of them, and where each lies. */
uint32_t lns_row_tree_n_visible (const LnsRowTree *self);
uint32_t lns_row_tree_visible (const LnsRowTree *self, uint32_t v);
/* The place of ROW among the visible ones, or LNS_ID_NONE. O(log rows). */
uint32_t lns_row_tree_place_of (const LnsRowTree *self, uint32_t row);
/* The upper edge of visible row V; V = their number gives the height of all. */
int lns_row_tree_top_px (const LnsRowTree *self, uint32_t v);
/* The visible row at Y_PX, clamped to the first and last. 0 where there is none. O(log rows). */
uint32_t lns_row_tree_at_px (const LnsRowTree *self, int y_px);

/* How high lanes are: LNS_LANE_PX at first, and at least. */
int lns_row_tree_lane_px (const LnsRowTree *self);
bool lns_row_tree_set_lane_px (LnsRowTree *self, int lane_px); /* O(rows); true if it changed */
int lns_row_tree_row_lane_px (const LnsRowTree *self, uint32_t row); /* … those of ROW           */

/* Height of ROW as it is now, and how many of its own lanes show. */
int lns_row_tree_height_px (const LnsRowTree *self, uint32_t row);
uint32_t lns_row_tree_n_shown_lanes (const LnsRowTree *self, uint32_t row);

/* The rows of REPORT, a newer snapshot of the one of SELF, as a tree of its own, in which rows that are in SELF have kept their
 * numbers, and are folded or not as they were made to be there. Rows that are not there any more (threads that were quiet have none together, if they
 * are no longer quiet) have the rank LNS_ID_NONE and no place. For reports of which nothing has been read yet: rows by name
 * are not kept. O(lanes × log). */
LnsRowTree *lns_row_tree_grown (const LnsRowTree *self, LnsReport *report);

/* --- What has to be read first ------------------------------------------------------------------ */

/* A row, and what is wanted of its lanes. */
typedef struct
{
  uint32_t row;
  LnsFacetBy by;
} LnsRowWant;

/* What of SELF would show something else once it was read, the most urgent first: the rows by name of unfolded rows, then the whole
 * of those that merge several lanes. Their number, at most MAX, for which RET_WANTS has room; 0 as long as the report is being
 * recorded. O(visible rows). */
uint32_t lns_row_tree_wanted (const LnsRowTree *self,
                              LnsReport *report,
                              LnsRowWant *ret_wants,
                              uint32_t max);

/* The lanes that WANT is about: their number; RET_LANES (may be NULL) has room for the row's n_lanes. */
uint32_t lns_row_tree_wanted_lanes (const LnsRowTree *self,
                                    LnsReport *report,
                                    const LnsRowWant *want,
                                    uint32_t *ret_lanes);

/* SELF with the N SETS, which hold what WANTS, each of another row or of another kind, wanted: a tree of its own. O(rows of SELF and
 * SETS), so that many at once are better than one after the other. */
LnsRowTree *lns_row_tree_with (const LnsRowTree *self,
                               LnsReport *report,
                               const LnsRowWant *wants,
                               LnsFacetSet *const *sets,
                               uint32_t n);

/* SELF with the lanes that were derived from REPORT and are attached to it: a tree of its own, in which each
 * row LNS_ROW_PROJECTION has those of its stream, with a row more for each further domain, or is gone
 * where there are none. */
LnsRowTree *lns_row_tree_with_projections (const LnsRowTree *self, LnsReport *report);

/* Whether ROW waits for its lanes. */
static inline bool
lns_row_is_waiting (const LnsRow *row)
{
  return row->kind == LNS_ROW_PROJECTION && row->n_own == 0;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* State and functions shared by row-tree.c and row-tree-new.c (the rows of a report). */

#pragma once

#include <glib.h>

#include "ui/model/row-tree.h"

struct LnsRowTree
{
  GArray *rows;          /* of LnsRow                                                           */
  GArray *order;         /* of uint32_t: the row of each rank                                   */
  GPtrArray *sets;       /* of LnsFacetSet, owned: those that rows show                         */
  GArray *lanes;         /* of uint32_t, those of row after row                                 */
  uint32_t *row_of_lane; /* n_report_lanes of them                                              */
  uint32_t n_report_lanes;
  LnsHues *hues;   /* owned                                                                     */
  bool is_held;    /* what shows is not worked out until it is released                          */
  int lane_px;     /* how high lanes are                                                        */
  bool is_live;    /* the report was being recorded                                             */
  GArray *visible; /* of uint32_t: rows                                                         */
  GArray *tops;    /* of int: the upper edges of the visible rows, and the last one's lower edge */
};

/* Computes the visible rows and their positions again, after a row was folded or unfolded. */
void _lns_row_tree_lay_out (LnsRowTree *self);

/* Writes the ranks of the rows into them. */
void _lns_row_tree_rank (LnsRowTree *self);

/* The label of ROW, which has its ids; LANE is its first one. */
char *_lns_row_label (LnsReport *report, const LnsRow *row, uint32_t lane);

/* "61.3% NAME": what PART is of WHOLE. */
char *_lns_row_share_label (int64_t part_ns, int64_t whole_ns, const char *name);

typedef enum
{
  LNS_STREAM_DEFAULT,
  LNS_STREAM_OTHER,
  LNS_STREAM_WHOLE_CONTEXT
} LnsStreamRole;

/* What STREAM is, of which WORKS says whether anything ran on it: CUDA counts streams from 1, and what
 * waits for all of a context's is told under the number 0, by PyTorch under -1. */
LnsStreamRole _lns_row_stream_role (LnsReport *report, uint32_t stream, bool works);

/* Whether LANE holds what keeps a GPU busy: kernels, copies or memsets. */
bool _lns_row_is_work (LnsReport *report, uint32_t lane);

/* The time of the work in the lanes of ROW, of which labels are shares: at most INT64_MAX. */
int64_t _lns_row_busy_ns (const LnsRowTree *tree, LnsReport *report, const LnsRow *row);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What lns-row-tree.c (what shows) and lns-row-tree-new.c (which rows there are) share. */

#pragma once

#include <glib.h>

#include "ui/lns-row-tree.h"

struct LnsRowTree
{
  GArray *rows;          /* of LnsRow                                                           */
  GArray *lanes;         /* of uint32_t, those of row after row                                 */
  uint32_t *row_of_lane; /* n_report_lanes of them                                              */
  uint32_t n_report_lanes;
  GArray *visible; /* of uint32_t: rows                                                         */
  GArray *tops;    /* of int: the upper edges of the visible rows, and the last one's lower edge */
};

/* Computes what shows anew, after a fold. */
void _lns_row_tree_lay_out (LnsRowTree *self);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which rows of two reports, A and B, have the same role: the same thread of the same program, the same stream of the same GPU. Pure. */

#pragma once

#include <glib.h>

#include "ui/model/row-tree.h"

typedef struct
{
  GArray *other
      [2]; /* of uint32_t: of each row of A that of B, and the other way round; LNS_ID_NONE: there is none */
} LnsRowPairs;

/* Pairs the rows of TREES, which are of REPORTS. Processes of one name are a pair if they are on the same GPU. Others, and rows below
 * rows that are a pair, are one if they are the same in each capture (model/row-identity.h). Processes, and below one GPUs, contexts and streams, that are called otherwise are pairs in their
 * order. To be cleared. O(rows). */
LnsRowPairs lns_row_pairs_find (const LnsRowTree *const trees[2], LnsReport *const reports[2]);
void lns_row_pairs_clear (LnsRowPairs *pairs);

/* The row of the other report that has the role of ROW of SIDE (0: A), or LNS_ID_NONE. O(1). */
static inline uint32_t
lns_row_pairs_other (const LnsRowPairs *pairs, int side, uint32_t row)
{
  return pairs->other[side] != NULL && row < pairs->other[side]->len
             ? g_array_index (pairs->other[side], uint32_t, row)
             : LNS_ID_NONE;
}

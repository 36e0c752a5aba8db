/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a person changed about the rows: pinned, folded, hidden, higher, moved. Tells it as it is kept, and gives rows what was kept of
 * them, those too that come later, because they have to be read first. Main thread. */

#pragma once

#include "ui/model/kept-view.h"
#include "ui/model/row-tree.h"

/* Zeroed at first. */
typedef struct
{
  GArray *unfolded; /* owned; gboolean by row: whether it was unfolded when it came */
  GArray *natural;  /* owned; uint32_t by row: its rank when it came                */
  GHashTable *
      arranged; /* owned; the rows below which rows were moved; + 1, as LNS_ID_NONE is one of them */
  LnsKeptView *waiting;  /* owned, or NULL; what was kept                                */
  GPtrArray *identities; /* owned, or NULL; of all rows, as row-identity.h has them */
  GHashTable *taken;     /* owned; the identities of it that rows have taken             */
} LnsRowState;

void lns_row_state_clear (LnsRowState *self);

/* Gives the rows of VIEW, which is taken over, what was kept of them. */
void lns_row_state_restore (LnsRowState *self, LnsKeptView *view);

/* Makes known the rows of TREE which have come since the last call, and gives them what was kept of them: those pinned are added to
 * PINNED, of uint32_t. Returns a tree for the place of TREE if rows were moved, or else NULL; what shows may have changed anyhow. */
LnsRowTree *
lns_row_state_follow (LnsRowState *self, LnsRowTree *tree, LnsReport *report, GArray *pinned);

/* The rows of REPORT, a newer snapshot of the one of TREE, in the order into which they were moved (lns_row_tree_grown ()). Those that
 * are no more are taken out of PINNED. */
LnsRowTree *lns_row_state_grow (const LnsRowState *self,
                                const LnsRowTree *tree,
                                LnsReport *report,
                                GArray *pinned);

/* Finds what the rows of TREE are called in other captures, which lns_row_state_tell () needs once one is unlike the others. FALSE: that was
 * known. O(rows), of each of which a string is made. */
gboolean lns_row_state_identify (LnsRowState *self, const LnsRowTree *tree, LnsReport *report);

/* Adds to VIEW what is to be kept of the rows of TREE, and what was kept of rows that this report does not have. */
void lns_row_state_tell (LnsRowState *self,
                         const LnsRowTree *tree,
                         LnsReport *report,
                         const GArray *pinned,
                         LnsKeptView *view);

/* All rows as they came. Returns the tree that takes the place of TREE. */
LnsRowTree *lns_row_state_reset (LnsRowState *self, LnsRowTree *tree, GArray *pinned);

/* ROW moved by BY, 1 or -1, places among those of its siblings that are not hidden: a tree that takes the place of TREE; NULL if it is
 * the last or first of them. */
LnsRowTree *lns_row_state_move (LnsRowState *self, const LnsRowTree *tree, uint32_t row, int by);

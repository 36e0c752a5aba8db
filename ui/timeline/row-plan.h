/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows of a timeline in the order in which they stand: those of one report, or of two, A and B, where each row of B follows the one of
 * A that has the same role. Main thread. */

#pragma once

#include "ui/model/row-pairs.h"
#include "ui/timeline/timeline-row.h"

typedef struct
{
  int side; /* 0: of A, 1: of B */
  uint32_t row;
  int top_px;    /* its upper edge */
  guint partner; /* the place of the row with the same role, or LNS_ID_NONE */
} LnsPlannedRow;

typedef struct
{
  const LnsRowContext *contexts[2]; /* that of B is NULL where there is none */
  GArray *rows;                     /* owned; of LnsPlannedRow, in order */
  GArray *places[2];                /* owned; guint by row: its place, or LNS_ID_NONE */
  int total_px;
} LnsRowPlan;

void lns_row_plan_init (LnsRowPlan *self);
void lns_row_plan_clear (LnsRowPlan *self);

/* Puts the rows of A, and of B, which may be NULL, that no fold hides and that are not hidden; PAIRS says which have the same role. The
 * contexts must outlive the plan or its next filling. O(rows log rows). */
void lns_row_plan_fill (LnsRowPlan *self,
                        const LnsRowContext *a,
                        const LnsRowContext *b,
                        const LnsRowPairs *pairs);

/* The same for the rows in PINNED, of uint32_t, of A, and after each that of B. */
void lns_row_plan_fill_pinned (LnsRowPlan *self,
                               const LnsRowContext *a,
                               const LnsRowContext *b,
                               const LnsRowPairs *pairs,
                               const GArray *pinned);

static inline guint
lns_row_plan_n (const LnsRowPlan *self)
{
  return self->rows->len;
}

/* The row at PLACE, which must be there. Valid until the next filling. */
static inline const LnsPlannedRow *
lns_row_plan_at (const LnsRowPlan *self, guint place)
{
  return &g_array_index (self->rows, LnsPlannedRow, place);
}

/* The upper edge of PLACE; that of their number is the height of all. */
static inline int
lns_row_plan_top_px (const LnsRowPlan *self, guint place)
{
  return place < self->rows->len ? lns_row_plan_at (self, place)->top_px : self->total_px;
}

/* The place at Y_PX, clamped to the first and last. 0 where there is none. O(log rows). */
guint lns_row_plan_at_px (const LnsRowPlan *self, int y_px);

/* The place of ROW of SIDE, or LNS_ID_NONE. */
static inline guint
lns_row_plan_place_of (const LnsRowPlan *self, int side, uint32_t row)
{
  return row < self->places[side]->len ? g_array_index (self->places[side], guint, row)
                                       : LNS_ID_NONE;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A cursor's insides: choosing what to look at (row-cursor-start.c), walking it
 * (row-cursor.c). */

#pragma once

#include "src/tables/row-lane.h"

/* Where a cursor is: first come the rows of lanes, then those of definitions (merged by start, the
 * latter count as one more lane). */
typedef enum
{
  LNS_ROW_AT_LANES,
  LNS_ROW_AT_CELLS,
  LNS_ROW_AT_STRINGS,
  LNS_ROW_AT_KEPT,
  LNS_ROW_AT_END
} LnsRowPlace;

/* Where a cursor is in a large kept table. */
typedef struct
{
  LnsRowRange firsts;   /* what constraints leave of the first column                            */
  uint32_t block;       /* LnsKeptRows to look at next                                           */
  uint64_t n_before;    /* rows of the table before the block at hand                            */
  uint32_t row, n_rows; /* of it: the next one, and how many                                    */
  uint32_t loaded;      /* LnsKeptRows that `values` are of                                      */
  LnsKeptValue *values; /* of the block, by n_columns; owned                                    */
  uint32_t n_columns;
  LnsValue cells[LNS_KEPT_MAX_COLUMNS]; /* the row                                              */
} LnsRowKept;

struct LnsRowCursor
{
  LnsTables *tables;
  const LnsTable *table;
  const LnsTableLanes *table_lanes; /* or NULL                                                  */
  uint64_t column_mask;
  LnsColumnMask columns; /* that lanes are read with                           */

  LnsRowBounds bounds;
  LnsRowConstraint constraints[LNS_ROW_MAX_CONSTRAINTS]; /* for the rows of definitions          */
  unsigned n_constraints;
  bool by_start;

  LnsRowPlace place;
  bool on_row;
  uint32_t *lanes; /* positions in table_lanes that may have rows, ascending                    */
  uint32_t n_lanes, next_lane;
  LnsRowLane current; /* in table order: the lane being walked                                  */
  bool is_open;
  LnsRowLane *heap; /* by start: the lanes with rows left, a binary heap                        */
  uint32_t n_heap;

  const LnsTableCells *cells;
  const uint32_t *index; /* rows in the order of a constraint's column, or NULL                 */
  uint64_t cell, last_cell;
  const LnsValue *row; /* the row of definitions that the cursor is on, or NULL                 */
  uint64_t row_number;
  uint64_t string, last_string;
  const uint64_t *hidden_strings;
  LnsRowKept kept;
  char *text[2];   /* the last JSON text and binary data made                                     */
  uint64_t absent; /* columns that events say nothing of                                 */
  bool has_remainders; /* events may say more than their lanes                               */
  uint64_t remainder;  /* LNS_COLUMN_REMAINDER of the one at hand, 0 = none yet              */
  LnsKeptValue *told;  /* its values; owned                                                  */
  int8_t told_at[LNS_KEPT_MAX_COLUMNS + 1]; /* by column: index of its value, or -1              */
};

/* Turns the constraints into bounds. False where nothing can meet all of them. */
bool _lns_row_cursor_set_bounds (LnsRowCursor *cursor);

/* Collects the lanes that may have rows within the bounds. O(lanes), or O(log lanes) by thread. */
void _lns_row_cursor_collect_lanes (LnsRowCursor *cursor);

/* Whether CONSTRAINT is on the name of events: it holds for the string, which rows of definitions beside them
 * have no id of. */
bool _lns_row_cursor_is_by_name (const LnsRowCursor *cursor, const LnsRowConstraint *constraint);

/* Chooses the rows of definitions to look at: an equality if there is one, else a range. */
bool _lns_row_cursor_start_cells (LnsRowCursor *cursor, LnsError *error);

/* Whether the integers of ROW, whose rowid is ROWID, meet all constraints. */
bool _lns_row_cursor_matches (const LnsRowCursor *cursor, const LnsValue *row, uint64_t rowid);

/* Rows of a large kept table: begins, and goes to the next one that meets the constraints. */
void _lns_row_kept_start (LnsRowCursor *cursor);
bool _lns_row_kept_next (LnsRowCursor *cursor, bool *ret_row, LnsError *error);

/* The same for strings. */
bool _lns_row_cursor_start_strings (LnsRowCursor *cursor, LnsError *error);

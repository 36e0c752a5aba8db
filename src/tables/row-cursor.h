/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads the rows of a table. Replaces a full scan by binary searches where constraints allow:
 *
 * - rowid and KEY columns: any range, O(log lanes);
 * - start and end of events: any range, O(log n) a lane;
 * - globalTid, globalPid, device, context, stream, eventType, domainId of events: equality, by lanes;
 * - correlationId of events: equality, by the spans of chunks, O(log n) a lane;
 * - textId and nameId of events: equality, by the name column alone: events whose `text` is that string come too,
 *   and all rows of definitions beside them;
 * - any integer column of definitions: any range, by an index made on first use.
 *
 * A cursor belongs to one thread at a time; many may live at once. */

#pragma once

#include "src/tables/tables.h"

typedef struct LnsRowCursor LnsRowCursor;

#define LNS_ROW_MAX_CONSTRAINTS 16

/* `value` in [min, max] of column COLUMN. */
typedef struct
{
  int column; /* position in the table; -1 = the rowid                                          */
  int64_t min, max;
} LnsRowConstraint;

/* Whether constraints on COLUMN (-1 = rowid) of TABLE save work; RET_ONLY_EQUAL gets whether only min = max does. In large
 * kept tables only those on the first column or the rowid do. O(1). */
bool lns_row_cursor_can_use (const LnsTables *tables,
                             const LnsTable *table,
                             int column,
                             bool *ret_only_equal);

/* A cursor over TABLE. TABLES is borrowed. The caller frees the cursor. Never NULL. */
LnsRowCursor *lns_row_cursor_new (LnsTables *tables, const LnsTable *table)
    __attribute__ ((returns_nonnull, warn_unused_result));
void lns_row_cursor_free (LnsRowCursor *cursor); /* NULL is fine                                */

/* Restricts the columns that the cursor computes to COLUMN_MASK (bit = position; all at first), from the next start
 * on. */
void lns_row_cursor_set_columns (LnsRowCursor *cursor, uint64_t column_mask);

/* Goes before the first row of those that meet all N CONSTRAINTS (at most
 * LNS_ROW_MAX_CONSTRAINTS): rows that do not may come too
 * where the column cannot be used, rows that do always come. BY_START gives events in the order of
 * their start, by merging lanes (equal starts in the order of rowids), else rows come in the order
 * of the table. False and ERROR where a chunk is damaged. */
bool lns_row_cursor_start (LnsRowCursor *cursor,
                           const LnsRowConstraint *constraints,
                           unsigned n_constraints,
                           bool by_start,
                           LnsError *error);

/* Goes to the next row: RET_ROW gets whether there is one. False and ERROR where a chunk is
 * damaged. */
bool lns_row_cursor_next (LnsRowCursor *cursor, bool *ret_row, LnsError *error);

int64_t lns_row_cursor_rowid (const LnsRowCursor *cursor);

/* The lane of the row, or LNS_ID_NONE for one of definitions. */
uint32_t lns_row_cursor_lane (const LnsRowCursor *cursor);

/* The string id of the name of the row's event, whichever column has it; the mask must have named one of these columns.
 * LNS_ID_NONE for rows that are not events. */
uint32_t lns_row_cursor_name (const LnsRowCursor *cursor);

/* How long the row's event took. Also works where its end is NULL because the process ended first. False where the
 * duration is not known, and for rows that are not events. */
bool lns_row_cursor_length (const LnsRowCursor *cursor, int64_t *ret_duration_ns);

/* The value of COLUMN in the row, which the mask must have named. */
LnsValue lns_row_cursor_value (LnsRowCursor *cursor, unsigned column);

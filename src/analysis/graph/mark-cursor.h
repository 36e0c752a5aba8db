/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Goes with a thread through the marks that it comes by. */

#pragma once

#include "src/analysis/graph/graph.h"

typedef struct
{
  const LnsGraphMark *marks; /* of all threads                                                   */
  size_t at, end;            /* of this one: the first that is not over, one past its last       */
  size_t move;     /* the next that is moved …                                         */
  bool is_in_move; /* … whose end is to come                                           */
} LnsMarkCursor;

/* The cursor of THREAD in N MARKS, which are in order of threads. Those of earlier threads end at FIRST. O(marks of the thread). */
LnsMarkCursor lns_mark_cursor (const LnsGraphMark *marks, size_t n, size_t first, uint32_t thread);

/* Notes in GRAPH how much of the piece of POINT, from START_NS to END_NS, lies in marks. Times ascend from call to call. O(marks there). */
void lns_mark_cursor_note (
    LnsMarkCursor *cursor, LnsGraph *graph, uint32_t point, int64_t start_ns, int64_t end_ns);

/* When the thread comes into the next mark that is moved, or out of it; INT64_MAX: never. Amortised O(1). */
int64_t lns_mark_cursor_next_move (LnsMarkCursor *cursor);

/* Notes in GRAPH that THREAD does so at POINT. */
void lns_mark_cursor_move (LnsMarkCursor *cursor, LnsGraph *graph, uint32_t thread, uint32_t point);

/* Notes in GRAPH which of the N MARKS are of the operation from START_NS to END_NS, which POINT ends. O(log n). */
void lns_marks_note_operation (const LnsGraphMark *marks,
                               size_t n,
                               LnsGraph *graph,
                               uint32_t point,
                               int64_t start_ns,
                               int64_t end_ns);

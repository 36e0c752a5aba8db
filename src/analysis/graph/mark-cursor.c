/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/mark-cursor.h"

#include <stdlib.h>

#include "src/base/compare.h"
#include "src/base/search.h"

static int
compare_marks (const void *a, const void *b)
{
  const LnsGraphMark *ma = a, *mb = b;
  return LNS_COMPARE (ma->thread, mb->thread)
             ?: LNS_COMPARE (ma->start_ns, mb->start_ns) ?: LNS_COMPARE (mb->end_ns, ma->end_ns);
}

/* Whether the mark B, which does not begin before A, counts beside it. */
static bool
is_apart (const LnsGraphMark *a, const LnsGraphMark *b)
{
  return a->thread == LNS_ID_NONE || a->thread != b->thread || b->start_ns >= a->end_ns ||
         (a->edit != b->edit && !(a->is_moved && b->is_moved));
}

void
lns_graph_marks_sort (LnsGraphMarks *marks)
{
  size_t n = 0;

  if (marks->n == 0)
    return;
  qsort (marks->items, marks->n, sizeof *marks->items, compare_marks);
  for (size_t i = 0; i < marks->n; i++)
    {
      bool is = true;
      for (size_t k = n; is && k > 0 && k + 8 > n; k--)
        is = is_apart (&marks->items[k - 1], &marks->items[i]);
      if (is)
        marks->items[n++] = marks->items[i];
    }
  marks->n = n;
}

LnsMarkCursor
lns_mark_cursor (const LnsGraphMark *marks, size_t n, size_t first, uint32_t thread)
{
  LnsMarkCursor cursor = { .marks = marks };

  while (first < n && marks[first].thread < thread)
    first++;
  cursor.at = cursor.move = cursor.end = first;
  while (cursor.end < n && marks[cursor.end].thread == thread)
    cursor.end++;
  return cursor;
}

void
lns_mark_cursor_note (
    LnsMarkCursor *cursor, LnsGraph *graph, uint32_t point, int64_t start_ns, int64_t end_ns)
{
  while (cursor->at < cursor->end && cursor->marks[cursor->at].end_ns <= start_ns)
    cursor->at++;
  for (size_t i = cursor->at; i < cursor->end && cursor->marks[i].start_ns < end_ns; i++)
    {
      const LnsGraphMark *mark = &cursor->marks[i];
      const int64_t from_ns = mark->start_ns > start_ns ? mark->start_ns : start_ns,
                    to_ns = mark->end_ns < end_ns ? mark->end_ns : end_ns;
      if (from_ns < to_ns && !mark->is_moved)
        *lns_array_add (&graph->overlaps) =
            (LnsGraphOverlap){ point, mark->edit, to_ns - from_ns, end_ns - start_ns };
    }
}

int64_t
lns_mark_cursor_next_move (LnsMarkCursor *cursor)
{
  while (cursor->move < cursor->end && !cursor->marks[cursor->move].is_moved)
    cursor->move++;
  if (cursor->move == cursor->end)
    return INT64_MAX;
  return cursor->is_in_move ? cursor->marks[cursor->move].end_ns
                            : cursor->marks[cursor->move].start_ns;
}

void
lns_mark_cursor_move (LnsMarkCursor *cursor, LnsGraph *graph, uint32_t thread, uint32_t point)
{
  *lns_array_add (&graph->moves) = (LnsGraphMove){ .point = point,
                                                   .thread = thread,
                                                   .edit = cursor->marks[cursor->move].edit,
                                                   .is_end = cursor->is_in_move };
  cursor->move += cursor->is_in_move;
  cursor->is_in_move = !cursor->is_in_move;
}

void
lns_marks_note_operation (const LnsGraphMark *marks,
                          size_t n,
                          LnsGraph *graph,
                          uint32_t point,
                          int64_t start_ns,
                          int64_t end_ns)
{
  for (size_t i =
           LNS_LOWER_BOUND (n, k, marks[k].thread < LNS_ID_NONE || marks[k].start_ns < start_ns);
       i < n && marks[i].start_ns == start_ns; i++)
    if (marks[i].end_ns == end_ns)
      *lns_array_add (&graph->overlaps) =
          (LnsGraphOverlap){ point, marks[i].edit, marks[i].operation_ns, end_ns - start_ns };
}

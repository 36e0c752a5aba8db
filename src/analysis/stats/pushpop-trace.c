/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "src/analysis/stats/pushpop-trace.h"
#include "src/base/saturate.h"
#include "src/tables/row-cursor.h"

/* The innermost open range of each thread: ascending by thread. */
typedef struct
{
  int64_t global_tid;
  uint32_t top;
} Stack;

typedef struct
{
  const LnsLane *lanes;
  LnsTraceRange *ranges;
  uint32_t n, n_allocated;
  Stack *stacks;
  uint32_t n_stacks, n_stacks_allocated;
} Trace;

/* The stack of GLOBAL_TID, made if need be; NULL without memory. */
static Stack *
stack_of (Trace *trace, int64_t global_tid)
{
  uint32_t low = 0, high = trace->n_stacks;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;
      if (trace->stacks[middle].global_tid < global_tid)
        low = middle + 1;
      else
        high = middle;
    }
  if (low < trace->n_stacks && trace->stacks[low].global_tid == global_tid)
    return &trace->stacks[low];
  if (trace->n_stacks == trace->n_stacks_allocated)
    {
      uint32_t n = trace->n_stacks_allocated * 2 + 16;
      Stack *larger = realloc (trace->stacks, n * sizeof *larger);
      if (larger == NULL)
        return NULL;
      trace->stacks = larger;
      trace->n_stacks_allocated = n;
    }
  for (uint32_t i = trace->n_stacks++; i > low; i--)
    trace->stacks[i] = trace->stacks[i - 1];
  trace->stacks[low] = (Stack){ global_tid, LNS_TRACE_NO_PARENT };
  return &trace->stacks[low];
}

/* Whether INNER, which does not start before OUTER, is within it. Within a track the depths tell,
 * also for ranges of no length. */
static bool
encloses (const Trace *trace, const LnsTraceRange *outer, const LnsTraceRange *inner)
{
  const LnsLane *outer_lane = &trace->lanes[outer->lane], *inner_lane = &trace->lanes[inner->lane];

  if (outer_lane->track == inner_lane->track && outer_lane->ordinal >= inner_lane->ordinal)
    return false;
  return outer->start_ns + outer->duration_ns >= inner->start_ns + inner->duration_ns;
}

/* Appends RANGE, whose start is not before that of any other, below its parent. */
static bool
add_range (Trace *trace, LnsTraceRange range)
{
  Stack *stack = stack_of (trace, range.global_tid);

  if (trace->n == trace->n_allocated)
    {
      uint32_t n = trace->n_allocated < UINT32_MAX / 4 ? trace->n_allocated * 2 + 1024 : 0;
      LnsTraceRange *larger = n > 0 ? realloc (trace->ranges, (size_t)n * sizeof *larger) : NULL;
      if (larger == NULL)
        return false;
      trace->ranges = larger;
      trace->n_allocated = n;
    }
  if (stack == NULL)
    return false;
  uint32_t parent = stack->top;
  while (parent != LNS_TRACE_NO_PARENT && !encloses (trace, &trace->ranges[parent], &range))
    parent = trace->ranges[parent].parent;
  range.parent = parent;
  if (parent != LNS_TRACE_NO_PARENT)
    {
      range.level = trace->ranges[parent].level + 1;
      trace->ranges[parent].n_children++;
      trace->ranges[parent].children_ns =
          lns_sum (trace->ranges[parent].children_ns, range.duration_ns);
    }
  stack->top = trace->n;
  trace->ranges[trace->n++] = range;
  return true;
}

static bool
read_ranges (Trace *trace,
             LnsTables *tables,
             LnsRowCursor *cursor,
             const atomic_bool *cancel,
             LnsError *error)
{
  const LnsRowConstraint push_pop = { LNS_NVTX_EVENT_TYPE, LNS_EVENT_TYPE_PUSH_POP,
                                      LNS_EVENT_TYPE_PUSH_POP };
  bool row;

  lns_row_cursor_set_columns (cursor, 1u << LNS_NVTX_START | 1u << LNS_NVTX_END |
                                          1u << LNS_NVTX_TEXT_ID | 1u << LNS_NVTX_GLOBAL_TID |
                                          1u << LNS_NVTX_DOMAIN_ID);
  if (!lns_row_cursor_start (cursor, &push_pop, 1, true, error))
    return false;
  while (lns_row_cursor_next (cursor, &row, error))
    {
      if (!row)
        return true;
      LnsTraceRange range = { .start_ns = lns_row_cursor_value (cursor, LNS_NVTX_START).integer };
      if (!lns_row_cursor_length (cursor, &range.duration_ns))
        continue;
      range.rowid = lns_row_cursor_rowid (cursor);
      range.global_tid = lns_row_cursor_value (cursor, LNS_NVTX_GLOBAL_TID).integer;
      range.name = lns_row_cursor_name (cursor);
      range.lane = lns_row_cursor_lane (cursor);
      if (!add_range (trace, range))
        return lns_error_set (
            error, LNS_ERROR_NO_MEMORY, 0,
            "not enough memory to trace so many ranges one by one; close other programs");
      if (trace->n % 65536 == 0 && cancel != NULL &&
          atomic_load_explicit (cancel, memory_order_relaxed))
        return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
    }
  return false;
}

bool
lns_pushpop_trace (LnsTables *tables,
                   const atomic_bool *cancel,
                   LnsTraceRange **ret_ranges,
                   uint32_t *ret_n,
                   LnsError *error)
{
  uint32_t n_lanes;
  Trace trace = { .lanes = lns_report_lanes (lns_tables_report (tables), &n_lanes) };
  LnsRowCursor *cursor = lns_row_cursor_new (tables, lns_table_find ("NVTX_EVENTS"), error);
  bool good = cursor != NULL && read_ranges (&trace, tables, cursor, cancel, error);

  lns_row_cursor_free (cursor);
  free (trace.stacks);
  if (!good)
    {
      free (trace.ranges);
      return false;
    }
  *ret_ranges = trace.ranges;
  *ret_n = trace.n;
  return true;
}

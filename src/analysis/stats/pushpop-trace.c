/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/pushpop-trace.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"
#include "src/tables/row-cursor.h"

/* Whether INNER, which does not start before OUTER, is within it. Within a track the depths tell,
 * also for ranges of no length. */
static bool
encloses (LnsReport *report, const LnsTraceRange *outer, const LnsTraceRange *inner)
{
  const LnsLane *lanes = lns_report_lanes (report, NULL), *outer_lane = &lanes[outer->lane],
                *inner_lane = &lanes[inner->lane];

  if (outer_lane->track == inner_lane->track && outer_lane->ordinal >= inner_lane->ordinal)
    return false;
  return outer->start_ns + outer->duration_ns >= inner->start_ns + inner->duration_ns;
}

void
lns_trace_add (LnsTrace *trace, LnsReport *report, uint64_t thread, LnsTraceRange range)
{
  uint32_t parent = (uint32_t)lns_id_map_number (&trace->tops, thread) - 1;

  while (parent != LNS_TRACE_NO_PARENT && !encloses (report, &trace->ranges.items[parent], &range))
    parent = trace->ranges.items[parent].parent;
  range.parent = parent;
  if (parent != LNS_TRACE_NO_PARENT)
    {
      LnsTraceRange *around = &trace->ranges.items[parent];
      range.level = around->level + 1;
      around->n_children++;
      around->children_ns = lns_sum (around->children_ns, range.duration_ns);
    }
  *lns_array_add (&trace->ranges) = range;
  lns_id_map_set_number (&trace->tops, thread, trace->ranges.n);
}

static bool
read_ranges (LnsTrace *trace,
             LnsTables *tables,
             LnsRowCursor *cursor,
             const atomic_bool *cancel,
             LnsError *error)
{
  const LnsTable *table = lns_table_find ("NVTX_EVENTS");
  int64_t n_rows = 0;
  bool row;

  lns_row_cursor_set_columns (cursor, 1u << LNS_NVTX_START | 1u << LNS_NVTX_END |
                                          1u << LNS_NVTX_TEXT_ID | 1u << LNS_NVTX_GLOBAL_TID |
                                          1u << LNS_NVTX_DOMAIN_ID | 1u << LNS_NVTX_EVENT_TYPE);
  if (!lns_row_cursor_start (cursor, NULL, 0, true, error))
    return false;
  while (lns_row_cursor_next (cursor, &row, error))
    {
      if (!row)
        return true;
      n_rows++;
      if (lns_row_cursor_value (cursor, LNS_NVTX_EVENT_TYPE).integer != LNS_EVENT_TYPE_PUSH_POP)
        continue;
      LnsTraceRange range = { .start_ns = lns_row_cursor_value (cursor, LNS_NVTX_START).integer };
      if (!lns_row_cursor_length (cursor, &range.duration_ns))
        continue;
      range.id = n_rows;
      range.global_tid = lns_row_cursor_value (cursor, LNS_NVTX_GLOBAL_TID).integer;
      range.name = lns_row_cursor_name (cursor);
      range.lane = lns_row_cursor_lane (cursor);
      range.ordinal = (uint32_t)(lns_row_cursor_rowid (cursor) -
                                 lns_tables_rowid (tables, table, range.lane, 0));
      if (trace->ranges.n == LNS_TRACE_NO_PARENT)
        return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                              "the report has more ranges than can be traced one by one");
      LnsReport *report = lns_tables_report (tables);
      const LnsTrack *track = lns_track_of (report, range.lane);
      /* Systems give the id of a thread that has ended to another one, so ids do not tell threads apart. */
      lns_trace_add (trace, report, (uint64_t)track->process << 32 | track->thread, range);
      if (trace->ranges.n % 65536 == 0 && !lns_go_on (cancel, error))
        return false;
    }
  return false;
}

bool
lns_trace_number (LnsTrace *trace, LnsTables *tables, const atomic_bool *cancel, LnsError *error)
{
  LnsRowCursor *cursor = lns_row_cursor_new (tables, lns_table_find ("NVTX_EVENTS"));
  LnsIdMap at = { 0 }; /* row -> 1 + number of the range */
  bool row = true, good;
  int64_t n_rows = 0;

  for (size_t i = 0; i < trace->ranges.n; i++)
    lns_id_map_set_number (&at, (uint64_t)trace->ranges.items[i].id, i + 1);
  lns_row_cursor_set_columns (cursor, 1u << LNS_NVTX_START);
  good = trace->ranges.n == 0 || lns_row_cursor_start (cursor, NULL, 0, true, error);
  while (good && row && trace->ranges.n > 0)
    {
      good = lns_row_cursor_next (cursor, &row, error);
      if (!good || !row)
        break;
      const uint64_t i = lns_id_map_number (&at, (uint64_t)lns_row_cursor_rowid (cursor));
      n_rows++;
      if (i > 0)
        trace->ranges.items[i - 1].id = n_rows;
      good = n_rows % 65536 != 0 || lns_go_on (cancel, error);
    }
  lns_id_map_clear (&at);
  lns_row_cursor_free (cursor);
  return good;
}

bool
lns_pushpop_trace (LnsTables *tables,
                   const atomic_bool *cancel,
                   LnsTraceRange **ret_ranges,
                   uint32_t *ret_n,
                   LnsError *error)
{
  LnsTrace trace = { 0 };
  LnsRowCursor *cursor = lns_row_cursor_new (tables, lns_table_find ("NVTX_EVENTS"));
  bool good = read_ranges (&trace, tables, cursor, cancel, error);

  lns_row_cursor_free (cursor);
  lns_id_map_clear (&trace.tops);
  if (!good)
    {
      lns_array_clear (&trace.ranges);
      return false;
    }
  *ret_ranges = trace.ranges.items;
  *ret_n = (uint32_t)trace.ranges.n;
  return true;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/stream-work.h"

#include "src/tables/lanes.h"

void
lns_stream_work_add (LnsStreamWork *work, uint32_t lane)
{
  *lns_array_add (&work->lanes) = (LnsLaneCursor){
    .report = work->report,
    .lane = lane,
    .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
               LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) | LNS_COLUMN_BIT (LNS_COLUMN_BYTES) |
               LNS_COLUMN_BIT (LNS_COLUMN_COPY_KIND) | LNS_COLUMN_BIT (LNS_COLUMN_MEMORY_KINDS)
  };
}

void
lns_stream_work_clear (LnsStreamWork *work)
{
  for (size_t i = 0; i < work->lanes.n; i++)
    lns_lane_cursor_clear (&work->lanes.items[i]);
  lns_array_clear (&work->lanes);
}

static uint64_t
extra_of (const LnsLaneCursor *cursor, LnsLaneKind kind, LnsColumnId column)
{
  return lns_chunk_extra (cursor->chunk, lns_lane_kind_extra (kind, column), cursor->i);
}

static LnsStreamOperation
operation_of (const LnsLaneCursor *cursor)
{
  const LnsLaneKind kind = lns_report_lanes (cursor->report, NULL)[cursor->lane].kind;
  LnsStreamOperation operation = { .start_ns = lns_lane_cursor_start (cursor),
                                   .end_ns = lns_lane_cursor_end (cursor),
                                   .kind = kind == LNS_LANE_CUDA_KERNEL   ? LNS_PIECE_KERNEL
                                           : kind == LNS_LANE_CUDA_MEMCPY ? LNS_PIECE_COPY
                                           : kind == LNS_LANE_CUDA_MEMSET ? LNS_PIECE_SET
                                           : kind == LNS_LANE_CUDA_GRAPH  ? LNS_PIECE_GRAPH
                                                                          : LNS_PIECE_HOST,
                                   .name = cursor->chunk->name[cursor->i],
                                   .correlation = extra_of (cursor, kind, LNS_COLUMN_CORRELATION) };

  if (operation.kind == LNS_PIECE_COPY || operation.kind == LNS_PIECE_SET)
    {
      operation.bytes = extra_of (cursor, kind, LNS_COLUMN_BYTES);
      operation.more = (uint32_t)(extra_of (cursor, kind, LNS_COLUMN_COPY_KIND) & 0xff) |
                       (uint32_t)(extra_of (cursor, kind, LNS_COLUMN_MEMORY_KINDS) & 0xffff) << 8;
    }
  return operation;
}

bool
lns_stream_work_next (LnsStreamWork *work,
                      LnsStreamOperation *ret_operation,
                      bool *ret_found,
                      LnsError *error)
{
  LnsLaneCursor *first = NULL;

  for (size_t i = 0; !work->has_begun && i < work->lanes.n; i++)
    if (!lns_lane_cursor_go (&work->lanes.items[i], 0, error))
      return false;
  work->has_begun = true;
  for (size_t i = 0; i < work->lanes.n; i++)
    {
      LnsLaneCursor *cursor = &work->lanes.items[i];
      if (lns_lane_cursor_has (cursor) &&
          (first == NULL || lns_lane_cursor_start (cursor) < lns_lane_cursor_start (first)))
        first = cursor;
    }
  *ret_found = first != NULL;
  if (first == NULL)
    return true;
  *ret_operation = operation_of (first);
  return lns_lane_cursor_next (first, error);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The values of LnsCell. */

#include <string.h>

#include "src/tables/row-lane.h"

/* Of ENUM_CUDA_MEM_KIND and ENUM_NSYS_EVENT_CLASS */
#define MEMORY_KIND_UNKNOWN 7
#define CLASS_RUNTIME       0
#define CLASS_DRIVER        1
#define CLASS_GRAPH_EXEC    94
#define CLASS_GRAPH         95
#define CLASS_GRAPH_CLONE   96

static LnsValue
integer (int64_t value)
{
  return (LnsValue){ .type = LNS_VALUE_INTEGER, .integer = value };
}

int64_t
_lns_lane_cell (const LnsTableLane *lane, const LnsCell *cell)
{
  switch (cell->rule)
    {
    case LNS_CELL_GLOBAL_TID:
      return lane->global_tid;
    case LNS_CELL_GLOBAL_PID:
      return lane->global_pid;
    case LNS_CELL_DEVICE:
      return lane->device;
    case LNS_CELL_CONTEXT:
      return lane->context;
    case LNS_CELL_GREEN_CONTEXT:
      return lane->is_green ? lane->context : 0;
    case LNS_CELL_STREAM_OR_ALL: /* CUPTI numbers no stream 0: that track is of whole contexts    */
      return lane->stream != 0 ? lane->stream : UINT32_MAX;
    case LNS_CELL_DEPTH:
      return lane->ordinal;
    case LNS_CELL_TRACK_NUMBER:
      return lane->track_number;
    case LNS_CELL_TRACK_METRIC:
      return lane->metric;
    default:
      return lane->stream;
    }
}

LnsColumnMask
_lns_cell_columns (const LnsCell *cell)
{
  switch (cell->rule)
    {
    case LNS_CELL_NAME:
    case LNS_CELL_NAME_TEXT:
      return LNS_COLUMN_BIT (LNS_COLUMN_NAME);
    case LNS_CELL_END_IF_KNOWN:
      return LNS_COLUMN_BIT (LNS_COLUMN_FLAGS);
    case LNS_CELL_LAUNCH:
    case LNS_CELL_LAUNCH_WIDE:
      return LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH);
    case LNS_CELL_CUDA_CALL_CLASS:
      return LNS_COLUMN_BIT (LNS_COLUMN_CALLBACK);
    case LNS_CELL_GRAPH_CLASS:
      return LNS_COLUMN_BIT (LNS_COLUMN_GRAPH_EXEC) | LNS_COLUMN_BIT (LNS_COLUMN_ORIGINAL);
    default:
      return cell->column != 0 ? LNS_COLUMN_BIT (cell->column) : 0;
    }
}

/* The number at CELL's offset in the event's launch. */
static int64_t
launch_number (const LnsRowLane *rows, const LnsTables *tables, const LnsCell *cell)
{
  uint32_t n, narrow;
  uint64_t wide, id = _lns_row_lane_extra (rows, LNS_COLUMN_LAUNCH);
  const LnsCudaLaunch *launches = lns_report_launches (tables->report, &n);

  if (id >= n)
    return 0;
  const char *at = (const char *)&launches[id] + cell->argument;
  if (cell->rule == LNS_CELL_LAUNCH_WIDE)
    {
      memcpy (&wide, at, sizeof wide);
      return (int64_t)wide;
    }
  memcpy (&narrow, at, sizeof narrow);
  return narrow >> cell->shift;
}

/* CUPTI's kinds count up in two halves: 1, then n << 16. */
static int64_t
overhead_kind (uint64_t kind)
{
  return kind == 1 ? 2 : kind >= 1 << 16 && kind <= 6 << 16 ? (int64_t)(kind >> 16) + 2 : kind != 0;
}

static int64_t
call_class (uint64_t callback)
{
  return callback >> 40 != 0   ? (int64_t)(callback >> 40)
         : callback >> 32 != 0 ? CLASS_RUNTIME
                               : CLASS_DRIVER;
}

static LnsValue
bits (const LnsRowLane *rows, const LnsCell *cell)
{
  uint64_t column = _lns_row_lane_extra (rows, cell->column),
           value = column >> cell->shift &
                   (cell->n_bits < 64 ? (UINT64_C (1) << cell->n_bits) - 1 : UINT64_MAX);

  switch (cell->rule)
    {
    case LNS_CELL_BITS_OR_NULL:
      return value != 0 ? integer ((int64_t)value) : (LnsValue){ 0 };
    case LNS_CELL_BITS_IF_ANY:
      return column != 0 ? integer ((int64_t)value) : (LnsValue){ 0 };
    case LNS_CELL_BITS_PLUS:
      return integer ((int64_t)(value + cell->argument));
    case LNS_CELL_BITS_LESS_ONE:
      return integer ((int64_t)value - 1);
    case LNS_CELL_MEMORY_KIND:
      return integer (value != 0 ? (int64_t)value - 1 : MEMORY_KIND_UNKNOWN);
    default:
      return integer ((int64_t)value);
    }
}

LnsValue
_lns_row_lane_cell (const LnsRowLane *rows, const LnsTables *tables, const LnsCell *cell)
{
  const LnsChunk *chunk = rows->chunk;
  uint32_t i = (uint32_t)(rows->ordinal - chunk->first);
  uint64_t thread;

  switch (cell->rule)
    {
    case LNS_CELL_NONE:
      return (LnsValue){ 0 };
    case LNS_CELL_CONSTANT:
      return integer (cell->argument);
    case LNS_CELL_EMPTY_LIST:
      return lns_value_text ("[]", 2);
    case LNS_CELL_START:
      return integer (chunk->start_ns[i]);
    case LNS_CELL_END:
      return integer (chunk->start_ns[i] + chunk->duration_ns[i]);
    case LNS_CELL_END_IF_KNOWN:
      if ((chunk->flags[i] & (LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN)) != 0)
        return (LnsValue){ 0 };
      return integer (chunk->start_ns[i] + chunk->duration_ns[i]);
    case LNS_CELL_START_PLUS:
      return integer (
          (int64_t)((uint64_t)chunk->start_ns[i] + _lns_row_lane_extra (rows, cell->column)));
    case LNS_CELL_VALUE:
      return _lns_row_lane_value (rows, tables);
    case LNS_CELL_NAME:
      return integer (chunk->name[i]);
    case LNS_CELL_NAME_TEXT:
      return chunk->name[i] != 0 ? _lns_string_value (tables->report, chunk->name[i])
                                 : (LnsValue){ 0 };
    case LNS_CELL_OVERHEAD_KIND:
      return integer (overhead_kind (_lns_row_lane_extra (rows, cell->column)));
    case LNS_CELL_CUDA_CALL_CLASS:
      return integer (call_class (_lns_row_lane_extra (rows, LNS_COLUMN_CALLBACK)));
    case LNS_CELL_GRAPH_CLASS:
      return integer (_lns_row_lane_extra (rows, LNS_COLUMN_GRAPH_EXEC) != 0 ? CLASS_GRAPH_EXEC
                      : _lns_row_lane_extra (rows, LNS_COLUMN_ORIGINAL) != 0 ? CLASS_GRAPH_CLONE
                                                                             : CLASS_GRAPH);
    case LNS_CELL_LAUNCH:
    case LNS_CELL_LAUNCH_WIDE:
      return integer (launch_number (rows, tables, cell));
    case LNS_CELL_THREAD:
      thread = _lns_row_lane_extra (rows, cell->column);
      thread =
          thread < LNS_ID_NONE ? (uint64_t)lns_tables_global_tid (tables, (uint32_t)thread) : 0;
      return thread != 0 ? integer ((int64_t)thread) : (LnsValue){ 0 };
    case LNS_CELL_GLOBAL_TID:
    case LNS_CELL_GLOBAL_PID:
    case LNS_CELL_DEVICE:
    case LNS_CELL_CONTEXT:
    case LNS_CELL_GREEN_CONTEXT:
    case LNS_CELL_STREAM:
    case LNS_CELL_STREAM_OR_ALL:
    case LNS_CELL_DEPTH:
    case LNS_CELL_TRACK_NUMBER:
    case LNS_CELL_TRACK_METRIC:
      return integer (_lns_lane_cell (rows->lane, cell));
    default:
      return bits (rows, cell);
    }
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "src/tables/enums.h"
#include "src/tables/row-lane.h"

/* From so many events on, chunks are walked past the cache. */
#define LONG_STRETCH 16384

/* --- The values of LnsCell ------------------------------------------------------------------- */

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
    case LNS_CELL_GPU:
      return lane->gpu;
    case LNS_CELL_TRACK_NUMBER:
      return (int64_t)lane->track->number;
    case LNS_CELL_TRACK_METRIC:
      return lane->track->metric;
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
    case LNS_CELL_PLAIN_NAME:
    case LNS_CELL_REGISTERED_NAME:
      return LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS);
    case LNS_CELL_END_IF_KNOWN:
      return LNS_COLUMN_BIT (LNS_COLUMN_FLAGS);
    case LNS_CELL_STARTER:
      return LNS_COLUMN_BIT (LNS_COLUMN_THREAD);
    case LNS_CELL_ENDER:
      return LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) | LNS_COLUMN_BIT (LNS_COLUMN_THREAD) |
             LNS_COLUMN_BIT (LNS_COLUMN_END_THREAD);
    case LNS_CELL_PAYLOAD:
    case LNS_CELL_PAYLOAD_JSON:
    case LNS_CELL_PAYLOAD_BINARY:
      return LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD_TYPE) | LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD);
    case LNS_CELL_LAUNCH:
      return LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH);
    case LNS_CELL_CUDA_CALL_CLASS:
      return LNS_COLUMN_BIT (LNS_COLUMN_CALLBACK);
    case LNS_CELL_GRAPH_CLASS:
      return LNS_COLUMN_BIT (LNS_COLUMN_GRAPH_EXEC) | LNS_COLUMN_BIT (LNS_COLUMN_ORIGINAL);
    default:
      return cell->column != 0 ? LNS_COLUMN_BIT (cell->column) : 0;
    }
}

/* What CELL is for the event's launch. */
static int64_t
launch_number (const LnsRowLane *rows, const LnsTables *tables, const LnsCell *cell)
{
  uint32_t n;
  const uint64_t id = _lns_row_lane_extra (rows, LNS_COLUMN_LAUNCH);
  const LnsCudaLaunch *launches = lns_report_launches (tables->report, &n);

  return id < n ? _lns_cell_field (cell, &launches[id]) >> cell->shift : 0;
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
         : callback >> 32 != 0 ? LNS_CLASS_RUNTIME
                               : LNS_CLASS_DRIVER;
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
      return lns_value_integer_or_null ((int64_t)value);
    case LNS_CELL_BITS_IF_ANY:
      return column != 0 ? lns_value_integer ((int64_t)value) : (LnsValue){ 0 };
    case LNS_CELL_BITS_PLUS:
      return lns_value_integer ((int64_t)(value + cell->argument));
    case LNS_CELL_BITS_PID:
      return lns_value_integer_or_null (
          value != 0
              ? (int64_t)((uint64_t)rows->lane->global_pid >> 48 << 48 | (value & 0xFFFFFF) << 24)
              : 0);
    case LNS_CELL_BITS_LESS_ONE:
      return lns_value_integer ((int64_t)value - 1);
    case LNS_CELL_MEMORY_KIND:
      return lns_value_integer (value != 0 ? (int64_t)value - 1 : LNS_MEMORY_KIND_UNKNOWN);
    default:
      return lns_value_integer ((int64_t)value);
    }
}

/* START_NS - (MORE - 1); NULL for 0. */
static LnsValue
less (int64_t start_ns, uint64_t more)
{
  return more != 0 ? lns_value_integer ((int64_t)((uint64_t)start_ns - (more - 1)))
                   : (LnsValue){ 0 };
}

static LnsValue
real (double value)
{
  return (LnsValue){ .type = LNS_VALUE_REAL, .real = value };
}

/* BITS of a program's number of TYPE. */
static LnsValue
number (uint64_t bits, LnsPayloadType type)
{
  double wide;
  float single;
  uint32_t low = (uint32_t)bits;

  switch (type)
    {
    case LNS_PAYLOAD_UINT64:
    case LNS_PAYLOAD_INT64:
      return lns_value_integer ((int64_t)bits);
    case LNS_PAYLOAD_UINT32:
      return lns_value_integer (low);
    case LNS_PAYLOAD_INT32:
      return lns_value_integer ((int32_t)low);
    case LNS_PAYLOAD_DOUBLE:
      memcpy (&wide, &bits, sizeof wide);
      return real (wide);
    case LNS_PAYLOAD_FLOAT:
      memcpy (&single, &low, sizeof single);
      return real (single);
    default:
      return (LnsValue){ 0 };
    }
}

static int64_t
thread_of (const LnsRowLane *rows, const LnsTables *tables, LnsColumnId column)
{
  if (rows->extra[column] < 0)
    return 0;
  /* A column of zeros means thread instance 0. */
  uint64_t thread = _lns_row_lane_extra (rows, column);
  return lns_tables_global_tid (tables, thread <= UINT32_MAX ? (uint32_t)thread : LNS_ID_NONE);
}

static bool
is_open (uint32_t flags)
{
  return (flags & (LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN)) != 0;
}

/* Kept apart from _lns_row_lane_cell (), which needs no stack frame for most cells. */
static __attribute__ ((noinline)) LnsValue
thread_cell (const LnsRowLane *rows, const LnsTables *tables, const LnsCell *cell)
{
  uint64_t thread;
  int64_t tid;

  switch (cell->rule)
    {
    case LNS_CELL_THREAD:
      thread = _lns_row_lane_extra (rows, cell->column);
      return lns_value_integer_or_null (
          thread < LNS_ID_NONE ? lns_tables_global_tid (tables, (uint32_t)thread) : 0);
    case LNS_CELL_STARTER:
      tid = rows->lane->global_tid != 0 ? rows->lane->global_tid
                                        : thread_of (rows, tables, LNS_COLUMN_THREAD);
      return lns_value_integer (tid != 0 ? tid : rows->lane->global_pid);
    default: /* LNS_CELL_ENDER */
      tid = is_open (rows->chunk->flags[rows->ordinal - rows->chunk->first])
                ? 0
                : thread_of (rows, tables, LNS_COLUMN_END_THREAD);
      return tid == thread_of (rows, tables, LNS_COLUMN_THREAD) ? (LnsValue){ 0 }
                                                                : lns_value_integer_or_null (tid);
    }
}

int
_lns_row_event_type (LnsLaneKind kind)
{
  return kind == LNS_LANE_NVTX_PUSH_POP    ? LNS_EVENT_TYPE_PUSH_POP
         : kind == LNS_LANE_NVTX_START_END ? LNS_EVENT_TYPE_START_END
                                           : LNS_EVENT_TYPE_MARK;
}

LnsValue
_lns_row_lane_cell (const LnsRowLane *rows, const LnsTables *tables, const LnsCell *cell)
{
  const LnsChunk *chunk = rows->chunk;
  uint32_t i = (uint32_t)(rows->ordinal - chunk->first);

  switch (cell->rule)
    {
    case LNS_CELL_NONE:
      return (LnsValue){ 0 };
    case LNS_CELL_CONSTANT:
      return lns_value_integer (cell->argument);
    case LNS_CELL_EMPTY_LIST:
      return lns_value_text ("[]", 2);
    case LNS_CELL_START:
      return lns_value_integer (chunk->start_ns[i]);
    case LNS_CELL_END:
      return lns_value_integer (chunk->start_ns[i] + chunk->duration_ns[i]);
    case LNS_CELL_END_IF_KNOWN:
      if (rows->lane->kind == LNS_LANE_NVTX_MARK || is_open (chunk->flags[i]))
        return (LnsValue){ 0 };
      return lns_value_integer (chunk->start_ns[i] + chunk->duration_ns[i]);
    case LNS_CELL_START_PLUS:
      return lns_value_integer (
          (int64_t)((uint64_t)chunk->start_ns[i] + _lns_row_lane_extra (rows, cell->column)));
    case LNS_CELL_START_LESS:
      return less (chunk->start_ns[i], _lns_row_lane_extra (rows, cell->column));
    case LNS_CELL_ROWID:
      return lns_value_integer ((int64_t)(rows->lane->first + rows->ordinal + 1));
    case LNS_CELL_VALUE:
      return number (_lns_row_lane_extra (rows, cell->column), rows->lane->track->value_type);
    case LNS_CELL_PAYLOAD:
      if (_lns_row_lane_extra (rows, LNS_COLUMN_PAYLOAD_TYPE) != cell->argument)
        return (LnsValue){ 0 };
      return number (_lns_row_lane_extra (rows, LNS_COLUMN_PAYLOAD), cell->argument);
    case LNS_CELL_NAME:
      return lns_value_integer (chunk->name[i]);
    case LNS_CELL_NAME_TEXT:
      return _lns_string_or_null (tables->report, chunk->name[i]);
    case LNS_CELL_PLAIN_NAME:
      return (chunk->flags[i] & LNS_EVENT_REGISTERED) != 0
                 ? (LnsValue){ 0 }
                 : _lns_string_value (tables->report, chunk->name[i]);
    case LNS_CELL_REGISTERED_NAME:
      return (chunk->flags[i] & LNS_EVENT_REGISTERED) != 0 ? lns_value_integer (chunk->name[i])
                                                           : (LnsValue){ 0 };
    case LNS_CELL_TRACK_NAME:
      return lns_value_integer (rows->lane->track->name);
    case LNS_CELL_TRACK_NAME_TEXT:
      return _lns_string_value (tables->report, rows->lane->track->name);
    case LNS_CELL_TRACK_UNIT:
      return _lns_string_or_null (tables->report, rows->lane->track->unit);
    case LNS_CELL_DOMAIN:
      return lns_value_integer (rows->lane->domain_number);
    case LNS_CELL_EVENT_TYPE:
      return lns_value_integer (_lns_row_event_type (rows->lane->kind));
    case LNS_CELL_OVERHEAD_KIND:
      return lns_value_integer (overhead_kind (_lns_row_lane_extra (rows, cell->column)));
    case LNS_CELL_CUDA_CALL_CLASS:
      return lns_value_integer (call_class (_lns_row_lane_extra (rows, LNS_COLUMN_CALLBACK)));
    case LNS_CELL_GRAPH_CLASS:
      return lns_value_integer (
          _lns_row_lane_extra (rows, LNS_COLUMN_GRAPH_EXEC) != 0 ? LNS_CLASS_GRAPH_EXEC
          : _lns_row_lane_extra (rows, LNS_COLUMN_ORIGINAL) != 0 ? LNS_CLASS_GRAPH_CLONE
                                                                 : LNS_CLASS_GRAPH);
    case LNS_CELL_LAUNCH:
      return lns_value_integer (launch_number (rows, tables, cell));
    case LNS_CELL_THREAD:
    case LNS_CELL_STARTER:
    case LNS_CELL_ENDER:
      return thread_cell (rows, tables, cell);
    default:
      return lns_cell_is_of_lane (cell->rule)
                 ? lns_value_integer (_lns_lane_cell (rows->lane, cell))
                 : bits (rows, cell);
    }
}

/* --- Rows of a lane -------------------------------------------------------------------------- */

/* Narrows ROWS to the ordinals whose rowids are in RANGE. */
static void
narrow_to_rowids (LnsRowLane *rows, LnsRowRange range)
{
  int64_t first = (int64_t)rows->lane->first + 1; /* the rowid of ordinal 0                       */

  if (range.min > first && (uint64_t)(range.min - first) > rows->ordinal)
    rows->ordinal = (uint64_t)(range.min - first);
  if (range.max < first)
    rows->last = 0;
  else if ((uint64_t)(range.max - first) < rows->last)
    rows->last = (uint64_t)(range.max - first) + 1;
}

/* Narrows ROWS to events that may begin in START and end in END. Events of a lane do not overlap:
 * begins and ends both ascend. */
static bool
narrow_to_times (
    LnsRowLane *rows, LnsReport *report, LnsRowRange start, LnsRowRange end, LnsError *error)
{
  int64_t ends_from = end.min != INT64_MIN ? end.min - 1 : INT64_MIN; /* an end after this       */
  int64_t from = start.min > ends_from ? start.min : ends_from;
  int64_t to = start.max < end.max ? start.max : end.max;
  uint64_t ordinal;

  if (from != INT64_MIN)
    {
      if (!lns_report_find (report, rows->lane->lane, from, &ordinal, error))
        return false;
      rows->ordinal = ordinal > rows->ordinal ? ordinal : rows->ordinal;
    }
  if (to != INT64_MAX)
    {
      /* The event found may still begin before TO + 1; the next one cannot. */
      if (!lns_report_find (report, rows->lane->lane, to + 1, &ordinal, error))
        return false;
      rows->last = ordinal + 1 < rows->last ? ordinal + 1 : rows->last;
    }
  return true;
}

bool
_lns_row_lane_open (LnsRowLane *rows,
                    const LnsTables *tables,
                    const LnsTableLane *lane,
                    const LnsRowBounds *bounds,
                    LnsColumnMask columns,
                    bool may_walk,
                    LnsError *error)
{
  *rows = (LnsRowLane){ .lane = lane, .last = lane->n_events };
  rows->extra = tables->extra[lane->kind];
  if (bounds->of[LNS_ROLE_CORRELATION].min == bounds->of[LNS_ROLE_CORRELATION].max)
    rows->correlation = (uint64_t)bounds->of[LNS_ROLE_CORRELATION].min;
  narrow_to_rowids (rows, bounds->of[LNS_ROLE_ROWID]);
  if (!narrow_to_times (rows, tables->report, bounds->of[LNS_ROLE_START], bounds->of[LNS_ROLE_END],
                        error))
    return false;
  if (may_walk && rows->correlation == 0 && rows->ordinal + LONG_STRETCH < rows->last)
    {
      rows->walker = lns_chunk_walker_new (tables->report, lane->lane, columns);
      lns_chunk_walker_seek (rows->walker,
                             lns_report_chunk_of (tables->report, lane->lane, rows->ordinal));
    }
  return true;
}

static void
drop_chunk (LnsRowLane *rows)
{
  if (rows->walker == NULL)
    lns_chunk_unref (rows->chunk);
  rows->chunk = NULL;
}

void
_lns_row_lane_close (LnsRowLane *rows)
{
  drop_chunk (rows);
  lns_chunk_walker_free (rows->walker);
  rows->walker = NULL;
}

/* Loads the chunk of `ordinal`. */
static bool
load_chunk (LnsRowLane *rows, LnsReport *report, LnsColumnMask columns, LnsError *error)
{
  while (rows->chunk == NULL || rows->ordinal >= rows->chunk->first + rows->chunk->n)
    {
      LnsError local = { 0 };
      drop_chunk (rows);
      rows->chunk =
          rows->walker != NULL
              ? lns_chunk_walker_next (rows->walker, &local)
              : lns_report_chunk (report, rows->lane->lane,
                                  lns_report_chunk_of (report, rows->lane->lane, rows->ordinal),
                                  columns, &local);
      if (rows->chunk == NULL && local.domain != LNS_ERROR_NONE)
        return lns_error_set (error, local.domain, local.code, "%s", local.message);
      if (rows->chunk == NULL || rows->ordinal < rows->chunk->first)
        return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                              "%s: the report is damaged (a lane's chunks are missing or out of "
                              "order); get the rest back with \"lanescope recover\"",
                              lns_report_info (report)->path);
    }
  return true;
}

/* Whether the event passes the filter of its table. */
static bool
passes (const LnsRowLane *rows, const LnsTables *tables, const LnsTable *table)
{
  if (table->passes == 0)
    return true;
  uint64_t value = (uint64_t)_lns_row_lane_cell (rows, tables, &table->filter).integer;
  return (table->passes >> (value < 63 ? value : 63) & 1) != 0;
}

/* Whether BOUNDS allow the event, as far as its lane does not tell. */
static bool
allows (const LnsRowLane *rows, const LnsTables *tables, const LnsRowBounds *bounds)
{
  const LnsChunk *chunk = rows->chunk;
  uint32_t i = (uint32_t)(rows->ordinal - chunk->first);

  if (!lns_row_range_has (bounds->of[LNS_ROLE_START], chunk->start_ns[i]))
    return false;
  if (!lns_row_range_is_all (bounds->of[LNS_ROLE_END]) &&
      !lns_row_range_has (bounds->of[LNS_ROLE_END], chunk->start_ns[i] + chunk->duration_ns[i]))
    return false;
  if (!lns_row_range_is_all (bounds->of[LNS_ROLE_NAME]) &&
      !lns_row_range_has (bounds->of[LNS_ROLE_NAME], chunk->name[i]))
    return false;
  if (!passes (rows, tables, bounds->table))
    return false;
  return lns_row_range_is_all (bounds->of[LNS_ROLE_THREAD]) || rows->lane->global_tid != 0 ||
         lns_row_range_has (bounds->of[LNS_ROLE_THREAD],
                            thread_of (rows, tables, LNS_COLUMN_THREAD));
}

bool
_lns_row_lane_settle (LnsRowLane *rows,
                      const LnsTables *tables,
                      const LnsRowBounds *bounds,
                      LnsColumnMask columns,
                      bool *ret_row,
                      LnsError *error)
{
  for (; rows->ordinal < rows->last; rows->ordinal++)
    {
      if (rows->correlation != 0 &&
          !lns_report_find_correlation (tables->report, rows->lane->lane, rows->correlation,
                                        rows->ordinal, &rows->ordinal, error))
        return false;
      if (rows->ordinal >= rows->last)
        break;
      if (!load_chunk (rows, tables->report, columns, error))
        return false;
      if (allows (rows, tables, bounds))
        {
          *ret_row = true;
          return true;
        }
    }
  *ret_row = false;
  return true;
}

/* ---- Values ---------------------------------------------------------------------------------- */

int64_t
_lns_row_lane_start (const LnsRowLane *rows)
{
  return rows->chunk->start_ns[rows->ordinal - rows->chunk->first];
}

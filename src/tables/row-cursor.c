/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/tables/row-cursor-private.h"

/* A merge of more lanes goes through the cache: each walker has a connection, which is a file
 * descriptor and some MB. */
#define MAX_WALKERS 8

/* Which lane columns a table of events' columns of MASK are made of. */
static LnsColumnMask
lane_columns (const LnsTable *table, uint64_t mask)
{
  static const LnsColumnMask nvtx[LNS_NVTX_N_COLUMNS] = {
    [LNS_NVTX_END] = LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
    [LNS_NVTX_RANGE_ID] = LNS_COLUMN_BIT (LNS_COLUMN_RANGE_ID),
    [LNS_NVTX_CATEGORY] = LNS_COLUMN_BIT (LNS_COLUMN_CATEGORY),
    [LNS_NVTX_COLOR] = LNS_COLUMN_BIT (LNS_COLUMN_COLOR),
    [LNS_NVTX_TEXT] = LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
    [LNS_NVTX_GLOBAL_TID] = LNS_COLUMN_BIT (LNS_COLUMN_THREAD),
    [LNS_NVTX_END_GLOBAL_TID] = LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
                                LNS_COLUMN_BIT (LNS_COLUMN_THREAD) |
                                LNS_COLUMN_BIT (LNS_COLUMN_END_THREAD),
    [LNS_NVTX_TEXT_ID] = LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
    [LNS_NVTX_UINT64... LNS_NVTX_BINARY_DATA] =
        LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD_TYPE) | LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD),
  };
  LnsColumnMask columns = LNS_COLUMN_BIT (LNS_COLUMN_START) | LNS_COLUMN_BIT (LNS_COLUMN_DURATION);

  if (table->source == LNS_ROWS_EVENTS)
    {
      columns |= _lns_cell_columns (&table->filter);
      for (unsigned i = 0; i < table->n_columns; i++)
        if (mask >> i & 1)
          columns |= _lns_cell_columns (&table->columns[i].cell);
      return columns;
    }
  if (table->source == LNS_ROWS_COUNTERS)
    return columns | (mask >> LNS_COUNTERS_VALUE & 1 ? LNS_COLUMN_BIT (LNS_COLUMN_VALUE) : 0);
  for (unsigned i = 0; i < LNS_NVTX_N_COLUMNS; i++)
    if (mask >> i & 1)
      columns |= nvtx[i];
  return columns;
}

void
lns_row_cursor_set_columns (LnsRowCursor *cursor, uint64_t column_mask)
{
  if (cursor->column_mask == column_mask)
    return;
  cursor->column_mask = column_mask;
  cursor->columns = lane_columns (cursor->table, column_mask);
  if (cursor->has_remainders)
    cursor->columns |= LNS_COLUMN_BIT (LNS_COLUMN_REMAINDER);
}

LnsRowCursor *
lns_row_cursor_new (LnsTables *tables, const LnsTable *table, LnsError *error)
{
  LnsRowCursor *cursor = calloc (1, sizeof *cursor);

  if (cursor != NULL)
    {
      const size_t position = _lns_tables_position (tables, table);
      cursor->tables = tables;
      cursor->table = table = &tables->all[position];
      cursor->table_lanes = _lns_tables_lanes (tables, table);
      cursor->has_remainders = tables->has_remainders[position];
      cursor->absent = tables->absent[position];
      lns_row_cursor_set_columns (cursor, ~UINT64_C (0));
      cursor->place = LNS_ROW_AT_END;
      if (cursor->table_lanes != NULL)
        cursor->lanes = calloc (cursor->table_lanes->n_lanes + 1, sizeof *cursor->lanes);
      if (cursor->table_lanes == NULL || cursor->lanes != NULL)
        return cursor;
    }
  free (cursor);
  lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                 "not enough memory to read %s; close other programs", table->name);
  return NULL;
}

static void
close_lanes (LnsRowCursor *cursor)
{
  if (cursor->is_open)
    _lns_row_lane_close (&cursor->current);
  cursor->is_open = false;
  for (uint32_t i = 0; i < cursor->n_heap; i++)
    _lns_row_lane_close (&cursor->heap[i]);
  cursor->n_heap = 0;
}

void
lns_row_cursor_free (LnsRowCursor *cursor)
{
  if (cursor == NULL)
    return;
  close_lanes (cursor);
  free (cursor->heap);
  free (cursor->lanes);
  free (cursor->text[0]);
  free (cursor->text[1]);
  free (cursor->told);
  free (cursor->kept.values);
  free (cursor);
}

/* ---- Merging by start ------------------------------------------------------------------------ */

static bool
comes_before (const LnsRowLane *a, const LnsRowLane *b)
{
  int64_t sa = _lns_row_lane_start (a), sb = _lns_row_lane_start (b);
  return sa != sb ? sa < sb : a->lane->first < b->lane->first;
}

static void
sift_down (LnsRowCursor *cursor, uint32_t i)
{
  LnsRowLane *heap = cursor->heap, moved = heap[i];

  for (uint32_t child; (child = 2 * i + 1) < cursor->n_heap; i = child)
    {
      if (child + 1 < cursor->n_heap && comes_before (&heap[child + 1], &heap[child]))
        child++;
      if (!comes_before (&heap[child], &moved))
        break;
      heap[i] = heap[child];
    }
  heap[i] = moved;
}

static bool
fill_heap (LnsRowCursor *cursor, LnsError *error)
{
  free (cursor->heap);
  cursor->heap = calloc (cursor->n_lanes + 1, sizeof *cursor->heap);
  if (cursor->heap == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory to merge the lanes; close other programs");
  for (uint32_t i = 0; i < cursor->n_lanes; i++)
    {
      LnsRowLane *lane = &cursor->heap[cursor->n_heap];
      bool row = false;
      bool good = _lns_row_lane_open (
                      lane, cursor->tables, &cursor->table_lanes->lanes[cursor->lanes[i]],
                      &cursor->bounds, cursor->columns, cursor->n_lanes <= MAX_WALKERS, error) &&
                  _lns_row_lane_settle (lane, cursor->tables, &cursor->bounds, cursor->columns,
                                        &row, error);
      if (row)
        cursor->n_heap++;
      else
        _lns_row_lane_close (lane);
      if (!good)
        return false;
    }
  for (uint32_t i = cursor->n_heap / 2; i-- > 0;)
    sift_down (cursor, i);
  return true;
}

/* Steps the heap's first lane and puts it where it belongs. */
static bool
advance_heap (LnsRowCursor *cursor, LnsError *error)
{
  LnsRowLane *top = &cursor->heap[0];
  bool row;

  top->ordinal++;
  if (!_lns_row_lane_settle (top, cursor->tables, &cursor->bounds, cursor->columns, &row, error))
    return false;
  if (!row)
    {
      _lns_row_lane_close (top);
      *top = cursor->heap[--cursor->n_heap];
    }
  if (cursor->n_heap > 0)
    sift_down (cursor, 0);
  return true;
}

bool
lns_row_cursor_start (LnsRowCursor *cursor,
                      const LnsRowConstraint *constraints,
                      unsigned n_constraints,
                      bool by_start,
                      LnsError *error)
{
  close_lanes (cursor);
  cursor->place = LNS_ROW_AT_END;
  cursor->on_row = false;
  cursor->row = NULL;
  cursor->by_start = by_start;
  for (unsigned i = 0; i < n_constraints; i++)
    cursor->constraints[i] = constraints[i];
  cursor->n_constraints = n_constraints;
  if (!_lns_row_cursor_set_bounds (cursor))
    return true;
  if (!lns_row_range_is_all (cursor->bounds.name))
    cursor->columns |= LNS_COLUMN_BIT (LNS_COLUMN_NAME);
  if (!lns_row_range_is_all (cursor->bounds.global_tid))
    cursor->columns |= LNS_COLUMN_BIT (LNS_COLUMN_THREAD);
  if (cursor->table->source == LNS_ROWS_STRINGS)
    {
      cursor->place = LNS_ROW_AT_STRINGS;
      return _lns_row_cursor_start_strings (cursor, error);
    }
  if (_lns_tables_is_streamed (cursor->tables, cursor->table))
    {
      cursor->place = LNS_ROW_AT_KEPT;
      _lns_row_kept_start (cursor);
      return true;
    }
  _lns_row_cursor_collect_lanes (cursor);
  if (!_lns_row_cursor_start_cells (cursor, error) || (by_start && !fill_heap (cursor, error)))
    return false;
  cursor->place = LNS_ROW_AT_LANES;
  return true;
}

/* Puts `cell` on the next row of definitions that matches, from where it is on. */
static bool
settle_cell (LnsRowCursor *cursor)
{
  uint64_t before = cursor->table_lanes != NULL ? cursor->table_lanes->n_events : 0;

  for (; cursor->cell < cursor->last_cell; cursor->cell++)
    {
      uint64_t number = cursor->index != NULL ? cursor->index[cursor->cell] : cursor->cell;
      const LnsValue *row = &cursor->cells->values[number * cursor->table->n_columns];
      if (_lns_row_cursor_matches (cursor, row, before + number + 1))
        {
          cursor->row = row;
          cursor->row_number = before + number;
          return true;
        }
    }
  cursor->row = NULL;
  return false;
}

/* In the order of the table: the lanes one by one. */
static bool
next_of_lanes (LnsRowCursor *cursor, bool *ret_row, LnsError *error)
{
  *ret_row = false;
  if (cursor->on_row)
    cursor->current.ordinal++;
  for (;;)
    {
      if (cursor->is_open)
        {
          if (!_lns_row_lane_settle (&cursor->current, cursor->tables, &cursor->bounds,
                                     cursor->columns, ret_row, error))
            return false;
          if (*ret_row)
            return true;
          _lns_row_lane_close (&cursor->current);
          cursor->is_open = false;
        }
      if (cursor->next_lane == cursor->n_lanes)
        return true;
      const LnsTableLane *lane = &cursor->table_lanes->lanes[cursor->lanes[cursor->next_lane++]];
      cursor->is_open = true;
      if (!_lns_row_lane_open (&cursor->current, cursor->tables, lane, &cursor->bounds,
                               cursor->columns, true, error))
        return false;
    }
}

/* By start: the least of the lanes and the rows of definitions. */
static bool
next_by_start (LnsRowCursor *cursor, bool *ret_row, LnsError *error)
{
  if (cursor->on_row && cursor->row != NULL)
    cursor->cell++;
  else if (cursor->on_row && !advance_heap (cursor, error))
    return false;
  bool cell = settle_cell (cursor);
  *ret_row = cell || cursor->n_heap > 0;
  if (cell && cursor->n_heap > 0 &&
      _lns_row_lane_start (&cursor->heap[0]) <= cursor->row[LNS_NVTX_START].integer)
    cursor->row = NULL;
  return true;
}

static bool
next_string (LnsRowCursor *cursor)
{
  const uint64_t *hidden = cursor->hidden_strings;

  if (cursor->on_row)
    cursor->string++;
  while (hidden != NULL && cursor->string < cursor->last_string &&
         (hidden[cursor->string / 64] >> (cursor->string % 64) & 1))
    cursor->string++;
  return cursor->string < cursor->last_string;
}

bool
lns_row_cursor_next (LnsRowCursor *cursor, bool *ret_row, LnsError *error)
{
  *ret_row = false;
  if (cursor->place == LNS_ROW_AT_STRINGS)
    *ret_row = next_string (cursor);
  else if (cursor->place == LNS_ROW_AT_KEPT)
    {
      if (!_lns_row_kept_next (cursor, ret_row, error))
        return false;
    }
  else if (cursor->place == LNS_ROW_AT_LANES && cursor->by_start)
    {
      if (!next_by_start (cursor, ret_row, error))
        return false;
    }
  else if (cursor->place == LNS_ROW_AT_LANES)
    {
      if (!next_of_lanes (cursor, ret_row, error))
        return false;
      if (!*ret_row)
        {
          cursor->place = LNS_ROW_AT_CELLS;
          *ret_row = settle_cell (cursor);
        }
    }
  else if (cursor->place == LNS_ROW_AT_CELLS)
    {
      cursor->cell++;
      *ret_row = settle_cell (cursor);
    }
  cursor->on_row = *ret_row;
  if (!*ret_row)
    cursor->place = LNS_ROW_AT_END;
  return true;
}

/* ---- The row --------------------------------------------------------------------------------- */

static const LnsRowLane *
lane_of (const LnsRowCursor *cursor)
{
  return cursor->by_start ? &cursor->heap[0] : &cursor->current;
}

int64_t
lns_row_cursor_rowid (const LnsRowCursor *cursor)
{
  if (cursor->place == LNS_ROW_AT_STRINGS)
    return (int64_t)cursor->string;
  if (cursor->row == NULL)
    return (int64_t)(lane_of (cursor)->lane->first + lane_of (cursor)->ordinal + 1);
  return cursor->table->columns[0].rule == LNS_COLUMN_KEY ? cursor->row[0].integer
                                                          : (int64_t)cursor->row_number + 1;
}

uint32_t
lns_row_cursor_lane (const LnsRowCursor *cursor)
{
  return cursor->place == LNS_ROW_AT_STRINGS || cursor->row != NULL ? LNS_ID_NONE
                                                                    : lane_of (cursor)->lane->lane;
}

uint32_t
lns_row_cursor_name (const LnsRowCursor *cursor)
{
  if (lns_row_cursor_lane (cursor) == LNS_ID_NONE)
    return LNS_ID_NONE;
  const LnsRowLane *lane = lane_of (cursor);
  return lane->chunk->name[lane->ordinal - lane->chunk->first];
}

bool
lns_row_cursor_length (const LnsRowCursor *cursor, int64_t *ret_duration_ns)
{
  if (lns_row_cursor_lane (cursor) == LNS_ID_NONE)
    return false;
  const LnsRowLane *lane = lane_of (cursor);
  const uint32_t i = (uint32_t)(lane->ordinal - lane->chunk->first);
  *ret_duration_ns = lane->chunk->duration_ns[i];
  return lns_event_has_length (lane->chunk->flags[i]) && *ret_duration_ns >= 0;
}

/* A typed payload as text or bytes; what is returned lives until the next call for its column. */
static LnsValue
payload_value (LnsRowCursor *cursor, bool json)
{
  const LnsRowLane *lane = lane_of (cursor);
  uint32_t id = _lns_row_lane_payload (lane);
  LnsReport *report = cursor->tables->report;
  size_t size, text_size;

  if (json && _lns_row_lane_extra (lane, LNS_COLUMN_PAYLOAD_TYPE) == LNS_PAYLOAD_JSON)
    return _lns_string_value (report, (uint32_t)_lns_row_lane_extra (lane, LNS_COLUMN_PAYLOAD));
  if (id == LNS_ID_NONE)
    return (LnsValue){ 0 };
  const char *bytes = lns_report_string (report, id, &size);
  free (cursor->text[json]);
  cursor->text[json] = NULL;
  FILE *stream = open_memstream (&cursor->text[json], &text_size);
  if (stream == NULL)
    return (LnsValue){ 0 };
  (json ? lns_payload_write_json : lns_payload_write_binary) (
      cursor->tables->payloads, lane->lane->domain, bytes, size, stream);
  if (fclose (stream) != 0)
    return (LnsValue){ 0 };
  LnsValue value = lns_value_text (cursor->text[json], text_size);
  value.type = json ? LNS_VALUE_TEXT : LNS_VALUE_BLOB;
  value.transient = true;
  return value;
}

/* Reads the remainder called REMAINDER; one of another table, or a damaged one, says nothing. */
static void
read_remainder (LnsRowCursor *cursor, uint64_t remainder)
{
  const LnsTables *tables = cursor->tables;
  uint32_t n;
  const LnsKeptRows *all = lns_report_kept_rows (tables->report, &n);
  uint32_t n_tables;
  const LnsKeptTable *kept = lns_report_kept_tables (tables->report, &n_tables);

  free (cursor->told);
  cursor->told = NULL;
  cursor->remainder = remainder;
  memset (cursor->told_at, -1, sizeof cursor->told_at);
  if (remainder > n || all[remainder - 1].table >= n_tables)
    return;
  const uint32_t table = all[remainder - 1].table;
  const LnsRemainder *places = &tables->remainders[table];
  size_t size;
  if (!kept[table].is_remainder ||
      strcasecmp (lns_report_string (tables->report, kept[table].name, NULL),
                  cursor->table->name) != 0)
    return;
  const char *bytes = lns_report_string (tables->report, all[remainder - 1].rows, &size);
  cursor->told = lns_kept_decode_as (bytes, size, 1, places->n_columns);
  for (uint32_t i = 0; cursor->told != NULL && i < places->n_columns; i++)
    if (places->column[i] >= 0 && cursor->told[i].type != LNS_KEPT_UNSET)
      cursor->told_at[places->column[i]] = (int8_t)i;
}

/* What the event's remainder says of COLUMN, or NULL. */
static const LnsKeptValue *
told_value (LnsRowCursor *cursor, unsigned column)
{
  uint64_t remainder = _lns_row_lane_extra (lane_of (cursor), LNS_COLUMN_REMAINDER);

  if (remainder == 0)
    return NULL;
  if (remainder != cursor->remainder)
    read_remainder (cursor, remainder);
  return cursor->told_at[column] >= 0 ? &cursor->told[cursor->told_at[column]] : NULL;
}

LnsValue
lns_row_cursor_value (LnsRowCursor *cursor, unsigned column)
{
  if (cursor->place == LNS_ROW_AT_STRINGS)
    return column == 0 ? (LnsValue){ .type = LNS_VALUE_INTEGER, .integer = (int64_t)cursor->string }
                       : _lns_string_value (cursor->tables->report, (uint32_t)cursor->string);
  if (cursor->row != NULL)
    return cursor->row[column];
  if (cursor->absent >> column & 1)
    return (LnsValue){ 0 };
  const LnsKeptValue *told = cursor->has_remainders ? told_value (cursor, column) : NULL;
  if (told != NULL)
    return _lns_kept_value (told);
  if (cursor->table->source == LNS_ROWS_EVENTS)
    return _lns_row_lane_cell (lane_of (cursor), cursor->tables,
                               &cursor->table->columns[column].cell);
  if (cursor->table->source == LNS_ROWS_COUNTERS)
    return _lns_row_lane_counter (lane_of (cursor), cursor->tables, column);
  if (column == LNS_NVTX_JSON_TEXT || column == LNS_NVTX_BINARY_DATA)
    return payload_value (cursor, column == LNS_NVTX_JSON_TEXT);
  return _lns_row_lane_nvtx (lane_of (cursor), cursor->tables, column);
}

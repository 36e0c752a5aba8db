/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows → events, by the same cells of the schema by which `export` makes rows of events: each rule
 * backwards. */

#include <stdlib.h>
#include <string.h>

#include "src/import/lns-import-private.h"

#define COLUMNS_MAX 64

/* Of ENUM_CUDA_MEM_KIND */
#define MEMORY_KIND_UNKNOWN 7

typedef struct
{
  const LnsTableColumn *column;
  int extra; /* of LnsEvent, or -1                                                               */
  uint64_t n_lost; /* values that the report does not keep                                       */
} Step;

typedef struct
{
  LnsImport *import;
  const LnsImportTable *how;
  LnsLaneKind kind;
  /* What the table has, and whose its rows are. */
  bool has_starts, has_ends, of_thread, of_device, of_stream, tells_green;
  unsigned n_steps;
  Step steps[COLUMNS_MAX];
  /* Of the row at hand. */
  LnsEvent event;
  LnsCudaLaunch launch;
  bool has_launch, has_start, has_end;
  int64_t end_ns, thread, process, device, context, stream, green; /* green: -1 where not told    */
} Rows;

/* ---- Cells ----------------------------------------------------------------------------------- */

static void
put_bits (Rows *rows, const Step *step, uint64_t value)
{
  const LnsCell *cell = &step->column->cell;
  uint64_t mask = cell->n_bits < 64 ? (UINT64_C (1) << cell->n_bits) - 1 : UINT64_MAX;

  if (step->extra >= 0)
    rows->event.extra[step->extra] |= (value & mask) << cell->shift;
}

/* CUPTI's numbers of kinds of overhead, of those of ENUM_CUPTI_OVERHEAD_TYPE. */
static uint64_t
overhead_kind (int64_t type)
{
  return type == 0               ? 0
         : type == 2             ? 1
         : type > 2 && type <= 8 ? (uint64_t)(type - 2) << 16
                                 : 99 << 16;
}

static void
put_launch (Rows *rows, const LnsCell *cell, sqlite3_value *value, int64_t number)
{
  char *at = (char *)&rows->launch + cell->argument;
  uint32_t narrow;

  rows->has_launch = true;
  if (cell->rule == LNS_CELL_LAUNCH_WIDE)
    {
      memcpy (at, &number, sizeof number);
      return;
    }
  memcpy (&narrow, at, sizeof narrow);
  if (cell->argument == offsetof (LnsCudaLaunch, short_name) ||
      cell->argument == offsetof (LnsCudaLaunch, mangled_name))
    narrow = _lns_import_string (rows->import, value);
  else
    narrow |= (uint32_t)number << cell->shift;
  memcpy (at, &narrow, sizeof narrow);
}

/* The number in a column; false where the report has no place for it. */
static bool
put_number (Rows *rows, const Step *step, sqlite3_value *value, int64_t number)
{
  const LnsCell *cell = &step->column->cell;

  switch (cell->rule)
    {
    case LNS_CELL_NONE:
    case LNS_CELL_EMPTY_LIST:
    case LNS_CELL_NAME_TEXT:
      return false;
    case LNS_CELL_CONSTANT:
      return number == cell->argument;
    case LNS_CELL_START:
      rows->event.start_ns = number;
      return rows->has_start = _lns_import_time (value, &number);
    case LNS_CELL_END:
      rows->end_ns = number;
      return rows->has_end = _lns_import_time (value, &number);
    case LNS_CELL_NAME:
      rows->event.name = _lns_import_string (rows->import, value);
      return true;
    case LNS_CELL_BITS_LESS_ONE:
      put_bits (rows, step, (uint64_t)number + 1);
      return true;
    case LNS_CELL_MEMORY_KIND:
      put_bits (rows, step, number == MEMORY_KIND_UNKNOWN ? 0 : (uint64_t)number + 1);
      return true;
    case LNS_CELL_OVERHEAD_KIND:
      put_bits (rows, step, overhead_kind (number));
      return true;
    case LNS_CELL_CUDA_CALL_CLASS:
      if (step->extra >= 0)
        rows->event.extra[step->extra] = number == 0   ? UINT64_C (1) << 32
                                         : number == 1 ? 0
                                                       : LNS_IMPORT_NO_CALL;
      return number == 0 || number == 1;
    case LNS_CELL_GRAPH_CLASS: /* follows from the graph's ids                                    */
      return true;
    case LNS_CELL_LAUNCH:
    case LNS_CELL_LAUNCH_WIDE:
      put_launch (rows, cell, value, number);
      return true;
    case LNS_CELL_THREAD:
      if (step->extra >= 0)
        rows->event.extra[step->extra] = _lns_import_thread (rows->import, number);
      rows->process = number;
      return true;
    case LNS_CELL_GLOBAL_TID:
      rows->thread = number;
      return true;
    case LNS_CELL_GLOBAL_PID:
      rows->process = number;
      return true;
    case LNS_CELL_DEVICE:
      rows->device = number;
      return true;
    case LNS_CELL_CONTEXT:
      rows->context = number;
      return true;
    case LNS_CELL_GREEN_CONTEXT:
      rows->green = number;
      return true;
    case LNS_CELL_STREAM:
      rows->stream = number;
      return true;
    case LNS_CELL_STREAM_OR_ALL:
      rows->stream = number == UINT32_MAX ? 0 : number;
      return true;
    default:
      put_bits (rows, step, (uint64_t)number);
      return true;
    }
}

/* Whether TEXT is kept. */
static bool
put_text (Rows *rows, const Step *step, sqlite3_value *value)
{
  switch (step->column->cell.rule)
    {
    case LNS_CELL_NAME_TEXT:
      rows->event.name = _lns_import_text (rows->import, value);
      return true;
    case LNS_CELL_EMPTY_LIST:
      return sqlite3_value_bytes (value) == 2 && memcmp (sqlite3_value_text (value), "[]", 2) == 0;
    default:
      return false;
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Whether CONTEXT is a green one, which is the context itself in GREEN then. Old files do not say. */
static void
note_green (LnsImport *import, uint32_t id, int64_t green)
{
  LnsCudaContext *context = id < import->n_contexts ? &import->context_list[id] : NULL;

  if (context == NULL ||
      (context->is_green == (green > 0) && context->green_unknown == (green < 0)))
    return;
  context->is_green = green > 0;
  context->green_unknown = green < 0;
  lns_writer_set_context (import->writer, id, context);
}

/* Whose row it is. */
static LnsTrack
track_of (Rows *rows)
{
  LnsImport *import = rows->import;
  LnsTrack track = { .kind = rows->how->track,
                     .thread = LNS_ID_NONE,
                     .domain = LNS_ID_NONE,
                     .device = LNS_ID_NONE,
                     .stream = LNS_ID_NONE };

  if (rows->of_thread)
    track.thread = _lns_import_thread (import, rows->thread);
  track.process = track.thread < import->n_threads ? import->thread_list[track.thread].process
                                                   : _lns_import_process (import, rows->process);
  if (rows->of_device)
    track.device = _lns_import_device (import, track.process, rows->device);
  if (rows->of_stream)
    {
      uint32_t context = _lns_import_context (import, track.process, track.device, rows->context);
      if (rows->tells_green)
        note_green (import, context, rows->green);
      track.stream = _lns_import_stream (import, context, rows->stream);
    }
  return track;
}

static bool
row_cb (void *data, sqlite3_value **values)
{
  Rows *rows = data;
  LnsImport *import = rows->import;

  rows->event = (LnsEvent){ 0 };
  rows->has_launch = rows->has_start = rows->has_end = false;
  rows->green = -1;
  rows->thread = rows->process = rows->device = rows->context = rows->stream = 0;
  for (unsigned i = 0; i < rows->n_steps; i++)
    {
      Step *step = &rows->steps[i];
      int64_t number;
      int type = sqlite3_value_type (values[i]);
      if (type != SQLITE_NULL)
        step->n_lost += !(type != SQLITE_TEXT && _lns_import_integer (values[i], &number)
                              ? put_number (rows, step, values[i], number)
                              : put_text (rows, step, values[i]));
    }
  import->n_done++;
  if (!rows->has_start && rows->has_starts)
    {
      import->n_bad++;
      return true;
    }
  if (rows->has_end && rows->end_ns >= rows->event.start_ns)
    rows->event.duration_ns = rows->end_ns - rows->event.start_ns;
  else if (rows->has_ends)
    rows->event.flags |= LNS_EVENT_END_UNKNOWN;
  if (rows->has_launch)
    rows->event.extra[lns_lane_kind_extra (rows->kind, LNS_COLUMN_LAUNCH)] =
        _lns_import_launch (import, &rows->launch);
  memset (&rows->launch, 0, sizeof rows->launch);
  if (rows->how->finish != NULL && !rows->how->finish (import, &rows->event))
    return true;
  LnsTrack track = track_of (rows);
  return _lns_import_append (import, &track, rows->kind, &rows->event);
}

/* Which lane kind the events of SCHEMA have: its only one. */
static LnsLaneKind
kind_of (const LnsTable *schema)
{
  return schema->kinds != 0 ? (LnsLaneKind)__builtin_ctz (schema->kinds) : LNS_LANE_NONE;
}

static bool
is_key (LnsCellRule rule)
{
  return rule >= LNS_CELL_GLOBAL_TID || rule == LNS_CELL_THREAD;
}

bool
_lns_import_events (LnsImport *import, LnsForeignTable *table, const LnsImportTable *how)
{
  const LnsTable *schema = lns_table_find (how->schema != NULL ? how->schema : how->name);
  const char *columns[COLUMNS_MAX], *keys[COLUMNS_MAX], *start = "", *end = "", *order;
  unsigned n_keys = 0;
  Rows rows = { .import = import, .how = how, .kind = kind_of (schema) };

  /* Start and end first, by which rows may have to be sorted.                                     */
  for (unsigned pass = 0; pass < 3; pass++)
    for (unsigned i = 0; i < schema->n_columns; i++)
      {
        const LnsTableColumn *column = &schema->columns[i];
        LnsCellRule rule = column->cell.rule;
        if (pass != (rule == LNS_CELL_START ? 0 : rule == LNS_CELL_END ? 1 : 2))
          continue;
        columns[rows.n_steps] = column->name;
        LnsColumnId id =
            rule == LNS_CELL_CUDA_CALL_CLASS ? LNS_COLUMN_CALLBACK : column->cell.column;
        rows.steps[rows.n_steps++] = (Step){ column, lns_lane_kind_extra (rows.kind, id), 0 };
        if (pass == 0)
          start = column->name;
        else if (pass == 1)
          end = column->name;
        else if (is_key (rule))
          keys[n_keys++] = column->name;
        rows.has_ends |= rule == LNS_CELL_END;
        rows.of_thread |= rule == LNS_CELL_GLOBAL_TID;
        rows.tells_green |= rule == LNS_CELL_GREEN_CONTEXT;
        rows.of_device |= rule == LNS_CELL_DEVICE;
        rows.of_stream |= rule == LNS_CELL_STREAM || rule == LNS_CELL_STREAM_OR_ALL;
      }
  /* Schemas before 3.24 do not tell when CUDA events were recorded: theirs are at 0.              */
  rows.has_starts = lns_foreign_has_column (table, start);
  bool good = _lns_import_order (import, table, start, end, keys, n_keys, NULL, &order) &&
              lns_foreign_read (import->foreign, table, columns, rows.n_steps, order, row_cb, &rows,
                                import->error);
  for (unsigned i = 0; good && i < rows.n_steps; i++)
    if (rows.steps[i].n_lost > 0)
      _lns_import_leave_out (import, "%s.%s: %llu values", table->name, columns[i],
                             (unsigned long long)rows.steps[i].n_lost);
  return good;
}

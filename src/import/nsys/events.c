/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Imports tables of events row by row. A row becomes an event column by column: `export` makes rows from events by the
 * cells of the schema, and this applies each rule of a cell backwards. Values that no column of the lane holds are kept
 * beside the event (LNS_COLUMN_REMAINDER). */

#include <string.h>

#include "src/import/nsys/remainder.h"
#include "src/tables/enums.h"

#define COLUMNS_MAX LNS_KEPT_MAX_COLUMNS

typedef struct
{
  LnsImport *import;
  LnsEvent event;
  LnsCudaLaunch launch;
  bool has_launch, has_start, has_end;
  int64_t end_ns, nesting;
  /* The event's owner, by the numbers of the file. */
  int64_t thread, process, device, context, stream, green, track_number, metric;
  LnsPayloadType value_type; /* of a counter's sample                                            */
} Row;

/* A column of the file, and the place that its values get in an event. */
typedef struct
{
  const LnsTableColumn *column;
  int extra; /* of LnsEvent, or -1                                                               */
} Cell;

static Cell
cell_of (const LnsTableColumn *column, LnsLaneKind kind)
{
  LnsColumnId id =
      column->cell.rule == LNS_CELL_CUDA_CALL_CLASS ? LNS_COLUMN_CALLBACK : column->cell.column;
  return (Cell){ column, id != 0 ? lns_lane_kind_extra (kind, id) : -1 };
}

/* Clears ROW for the next row, whose columns are CELLS. */
static void
begin_row (Row *row, const Cell *cells, unsigned n_cells)
{
  if (row->has_launch)
    memset (&row->launch, 0, sizeof row->launch);
  row->event = (LnsEvent){ 0 };
  row->has_launch = row->has_start = row->has_end = false;
  row->thread = row->process = row->device = row->context = row->stream = row->green = 0;
  row->track_number = row->metric = row->nesting = 0;
  row->value_type = LNS_PAYLOAD_NONE;
  for (unsigned i = 0; i < n_cells; i++)
    if (cells[i].column->cell.rule == LNS_CELL_THREAD && cells[i].extra >= 0)
      row->event.extra[cells[i].extra] = LNS_ID_NONE;
}

/* ---- The rules of cells, backwards ----------------------------------------------------------- */

/* Puts NUMBER into the bits of CELL. Returns false if they are too few for it. */
static bool
put_bits (Row *row, const Cell *cell, uint64_t number)
{
  const LnsCell *rule = &cell->column->cell;
  uint64_t mask = rule->n_bits < 64 ? (UINT64_C (1) << rule->n_bits) - 1 : UINT64_MAX;

  if (cell->extra < 0)
    return false;
  row->event.extra[cell->extra] |= (number & mask) << rule->shift;
  return (number & ~mask) == 0;
}

/* Converts a kind of overhead from ENUM_CUPTI_OVERHEAD_TYPE to CUPTI's numbers. */
static bool
put_overhead_kind (Row *row, const Cell *cell, int64_t type)
{
  uint64_t kind = type == 2               ? 1
                  : type > 2 && type <= 8 ? (uint64_t)(type - 2) << 16
                  : type != 0             ? 99 << 16
                                          : 0;

  return put_bits (row, cell, kind) && type >= 0 && type <= 8;
}

/* Puts the class of a call: a bit tells calls of the runtime from those of the driver, and the other classes are in the
 * bits above it. */
static bool
put_call_class (Row *row, const Cell *cell, int64_t class)
{
  if (cell->extra < 0 || class < 0 || class > UINT16_MAX)
    return false;
  row->event.extra[cell->extra] |= class == LNS_CLASS_RUNTIME ? UINT64_C (1) << 32
                                   : class > LNS_CLASS_DRIVER ? (uint64_t) class << 40
                                                              : 0;
  return true;
}

static bool
put_launch (Row *row, const LnsCell *cell, const LnsKeptValue *value, int64_t number)
{
  char *at = (char *)&row->launch + cell->argument;
  uint32_t narrow;

  row->has_launch = true;
  if (cell->n_bits == 64)
    {
      memcpy (at, &number, sizeof number);
      return true;
    }
  memcpy (&narrow, at, sizeof narrow);
  bool is_name = cell->argument == offsetof (LnsCudaLaunch, short_name) ||
                 cell->argument == offsetof (LnsCudaLaunch, mangled_name);
  narrow |= is_name ? _lns_import_string (row->import, value) : (uint32_t)number << cell->shift;
  memcpy (at, &narrow, sizeof narrow);
  return is_name || (number >= 0 && number <= UINT32_MAX >> cell->shift);
}

/* Notes a number that says to which thread, stream or track the row belongs. Returns false for rules that do not
 * say. */
static bool
put_owner (Row *row, LnsCellRule rule, int64_t number)
{
  switch (rule)
    {
    case LNS_CELL_GLOBAL_TID:
      row->thread = number;
      return true;
    case LNS_CELL_GLOBAL_PID:
      row->process = number;
      return true;
    case LNS_CELL_DEVICE:
      row->device = number;
      return number >= 0 && number <= UINT32_MAX;
    case LNS_CELL_CONTEXT:
      row->context = number;
      return number >= 0 && number <= UINT32_MAX;
    case LNS_CELL_GREEN_CONTEXT:
      row->green = number;
      return number == 0 || number == row->context;
    case LNS_CELL_STREAM:
      row->stream = number;
      return number >= 0 && number <= UINT32_MAX;
    case LNS_CELL_STREAM_OR_ALL:
      row->stream = number == UINT32_MAX ? 0 : number;
      return number > 0 && number <= UINT32_MAX;
    case LNS_CELL_DEPTH:
      row->nesting = number;
      return true;
    case LNS_CELL_TRACK_NUMBER:
      row->track_number = number;
      return true;
    case LNS_CELL_TRACK_METRIC:
      row->metric = number;
      return number >= 0 && number <= UINT32_MAX;
    default:
      return false;
    }
}

static bool
put_number (Row *row, const Cell *cell, const LnsKeptValue *value, int64_t number)
{
  const LnsCell *rule = &cell->column->cell;

  switch (rule->rule)
    {
    case LNS_CELL_NONE:
    case LNS_CELL_EMPTY_LIST:
    case LNS_CELL_NAME_TEXT:
      return false;
    case LNS_CELL_CONSTANT:
      return number == rule->argument;
    case LNS_CELL_START:
      row->event.start_ns = number;
      return row->has_start = _lns_import_time (value, &number);
    case LNS_CELL_END:
    case LNS_CELL_END_IF_KNOWN:
      row->end_ns = number;
      return row->has_end = _lns_import_time (value, &number) && number >= row->event.start_ns;
    case LNS_CELL_START_PLUS:
      return put_bits (row, cell, (uint64_t)number - (uint64_t)row->event.start_ns);
    case LNS_CELL_NAME:
      row->event.name = _lns_import_string (row->import, value);
      return true;
    case LNS_CELL_VALUE:
      row->value_type = LNS_PAYLOAD_INT64;
      return put_bits (row, cell, (uint64_t)number);
    case LNS_CELL_BITS_OR_NULL:
      return put_bits (row, cell, (uint64_t)number) && number != 0;
    case LNS_CELL_BITS:
    case LNS_CELL_BITS_IF_ANY:
      return put_bits (row, cell, (uint64_t)number);
    case LNS_CELL_BITS_PLUS:
      return put_bits (row, cell, (uint64_t)number - rule->argument);
    case LNS_CELL_BITS_LESS_ONE:
      return put_bits (row, cell, (uint64_t)number + 1);
    case LNS_CELL_MEMORY_KIND:
      return put_bits (row, cell, number == LNS_MEMORY_KIND_UNKNOWN ? 0 : (uint64_t)number + 1);
    case LNS_CELL_OVERHEAD_KIND:
      return put_overhead_kind (row, cell, number);
    case LNS_CELL_CUDA_CALL_CLASS:
      return put_call_class (row, cell, number);
    case LNS_CELL_GRAPH_CLASS: /* follows from the graph's ids                                    */
      return true;
    case LNS_CELL_LAUNCH:
      return put_launch (row, rule, value, number);
    case LNS_CELL_THREAD:
      row->process = number;
      if (cell->extra >= 0)
        row->event.extra[cell->extra] = _lns_import_thread (row->import, number);
      return cell->extra >= 0 && number != 0;
    default:
      return put_owner (row, rule->rule, number);
    }
}

/* Puts a text or a number with a fraction. */
static bool
put_other (Row *row, const Cell *cell, const LnsKeptValue *value)
{
  double real = _lns_import_real (value);
  uint64_t bits;

  switch (cell->column->cell.rule)
    {
    case LNS_CELL_NAME_TEXT:
      row->event.name = _lns_import_text (row->import, value);
      return row->event.name != 0;
    case LNS_CELL_EMPTY_LIST:
      return value->type == LNS_KEPT_TEXT && value->size_bytes == 2 &&
             memcmp (value->bytes, "[]", 2) == 0;
    case LNS_CELL_VALUE:
      if (value->type != LNS_KEPT_REAL)
        return false;
      row->value_type = LNS_PAYLOAD_DOUBLE;
      memcpy (&bits, &real, sizeof bits);
      return put_bits (row, cell, bits);
    default:
      return false;
    }
}

/* Returns whether an export writes NULL for a cell of RULE that no value was put into. */
static bool
is_null_by_itself (LnsCellRule rule)
{
  return rule == LNS_CELL_NONE || rule == LNS_CELL_END_IF_KNOWN || rule == LNS_CELL_NAME_TEXT ||
         rule == LNS_CELL_BITS_OR_NULL || rule == LNS_CELL_BITS_IF_ANY || rule == LNS_CELL_THREAD;
}

/* Puts VALUE of CELL's column into ROW. Returns false if the event cannot hold all of it. */
static bool
put (Row *row, const Cell *cell, const LnsKeptValue *value)
{
  int64_t number;

  if (value->type == LNS_KEPT_NULL)
    return is_null_by_itself (cell->column->cell.rule);
  return _lns_import_integer (value, &number) ? put_number (row, cell, value, number)
                                              : put_other (row, cell, value);
}

/* ---- Cells that depend on the whole row ----------------------------------------------------- */

static int64_t
graph_class (const LnsEvent *event)
{
  const LnsLaneKind kind = LNS_LANE_CUDA_GRAPH_NODE;

  if (event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_GRAPH_EXEC)] != 0)
    return LNS_CLASS_GRAPH_EXEC;
  return event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_ORIGINAL)] != 0 ? LNS_CLASS_GRAPH_CLONE
                                                                            : LNS_CLASS_GRAPH;
}

/* Returns CUDA's number of the device of TRACK. */
static int64_t
device_of (const LnsImport *import, uint32_t track)
{
  const uint32_t device = import->tracks.items[track].track.device;
  return device < import->devices.n ? import->devices.items[device].number : 0;
}

/* Returns whether an export writes VALUE again, for cells that depend on the whole row and on the event's lane. Returns
 * true for other cells. */
static bool
says (const Row *row, const Cell *cell, const LnsKeptValue *value, const LnsImportPlace *place)
{
  const bool is_null = value->type == LNS_KEPT_NULL;

  switch (cell->column->cell.rule)
    {
    case LNS_CELL_BITS_IF_ANY:
      return cell->extra < 0 || is_null == (row->event.extra[cell->extra] == 0);
    case LNS_CELL_GRAPH_CLASS:
      return !is_null && _lns_import_number (value) == graph_class (&row->event);
    case LNS_CELL_DEPTH:
      return !is_null && row->nesting == place->ordinal;
    case LNS_CELL_DEVICE:
      return is_null || row->device == device_of (row->import, place->track);
    default:
      return true;
    }
}

/* ---- The table's rows ------------------------------------------------------------------------ */

typedef struct
{
  LnsImport *import;
  const LnsImportTable *how;
  const LnsTable *schema;
  LnsLaneKind kind;
  int remainder; /* of LnsEvent.extra, or -1                                                     */
  int filter; /* of LnsEvent.extra: tells tables of one kind of lanes apart; or -1              */
  /* Which columns the table has: starts, ends, and those that say to what its rows belong. */
  bool has_starts, has_ends, of_thread, of_device, of_stream;
  unsigned n_cells;
  Cell cells[COLUMNS_MAX];
  Row row;
  LnsImportRemainder beside;
  LnsImportOwners owners;
  LnsIdMap call_times; /* of call_key (), where rows have no starts                              */
} Rows;

/* ---- Rows without starts --------------------------------------------------------------------- */

/* Exports of schemas before 3.24 do not say when CUDA events were recorded, but which call recorded them. */

/* Returns the key of a call. GLOBAL_ID is the id of its process or of its thread. */
static uint64_t
call_key (LnsImport *import, int64_t global_id, int64_t correlation)
{
  return (uint64_t)_lns_import_process (import, global_id) << 32 | (uint32_t)correlation;
}

/* The map cannot hold 0. This bit of a time is inverted in it, so no time becomes 0 or CALL_UNSEEN. */
#define CALL_TIME_BIT (UINT64_C (1) << 63)
#define CALL_UNSEEN   1

static bool
wanted_cb (void *data, const LnsKeptValue *values)
{
  Rows *rows = data;
  const uint64_t key =
      call_key (rows->import, _lns_import_number (&values[0]), _lns_import_number (&values[1]));

  lns_id_map_set_number (&rows->call_times, key, CALL_UNSEEN);
  return true;
}

static bool
call_cb (void *data, const LnsKeptValue *values)
{
  Rows *rows = data;
  const uint64_t key =
      call_key (rows->import, _lns_import_number (&values[0]), _lns_import_number (&values[1]));
  int64_t start_ns;

  if (lns_id_map_number (&rows->call_times, key) != 0 && _lns_import_time (&values[2], &start_ns))
    lns_id_map_set_number (&rows->call_times, key, (uint64_t)start_ns ^ CALL_TIME_BIT);
  return true;
}

/* Reads the start times of the calls that TABLE's rows belong to. */
static bool
read_call_times (Rows *rows, LnsForeignTable *table)
{
  static const char *const wanted[] = { "globalPid", "correlationId" };
  static const char *const told[] = { "globalTid", "correlationId", "start" };
  LnsImport *import = rows->import;
  LnsForeignTable *calls = lns_foreign_find (import->foreign, "CUPTI_ACTIVITY_KIND_RUNTIME");

  return calls == NULL ||
         (lns_foreign_read (import->foreign, table, wanted, 2, LNS_FOREIGN_AS_IT_LIES, wanted_cb,
                            rows, import->error) &&
          lns_foreign_read (import->foreign, calls, told, 3, LNS_FOREIGN_AS_IT_LIES, call_cb, rows,
                            import->error));
}

/* Sets the start of the row to that of its call, or to 0 if that is unknown. */
static void
set_start_of_call (Rows *rows)
{
  LnsEvent *event = &rows->row.event;
  const int correlation = lns_lane_kind_extra (rows->kind, LNS_COLUMN_CORRELATION);

  if (correlation < 0)
    return;
  const uint64_t found =
      lns_id_map_number (&rows->call_times, call_key (rows->import, rows->row.process,
                                                      (int64_t)event->extra[correlation]));
  if (found > CALL_UNSEEN)
    event->start_ns = (int64_t)(found ^ CALL_TIME_BIT);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Marks the context as green, because one of its rows has a green-context id. */
static void
note_green (LnsImport *import, uint32_t id)
{
  LnsCudaContext *context = &import->contexts.items[id];

  if (context->is_green)
    return;
  context->is_green = 1;
  lns_writer_set_context (import->writer, id, context);
}

/* Describes the track that the row belongs to. */
static LnsTrack
track_of (Rows *rows)
{
  LnsImport *import = rows->import;
  const Row *row = &rows->row;
  LnsTrack track = { .thread = LNS_ID_NONE,
                     .domain = LNS_ID_NONE,
                     .value_type = row->value_type,
                     .number = (uint64_t)row->track_number,
                     .device = LNS_ID_NONE,
                     .stream = LNS_ID_NONE,
                     .metric = (uint32_t)row->metric };

  if (rows->of_thread)
    track.thread = _lns_import_thread (import, row->thread);
  track.process = rows->of_thread ? import->threads.items[track.thread].process
                                  : _lns_import_process (import, row->process);
  if (rows->of_device)
    track.device = _lns_import_device (import, track.process, row->device);
  if (rows->of_stream)
    {
      if (rows->how->track == LNS_TRACK_CUDA_SYNC)
        track.device =
            _lns_import_context_device (import, track.process, row->context, track.device);
      uint32_t context = _lns_import_context (import, track.process, track.device, row->context);
      if (row->green != 0)
        note_green (import, context);
      track.stream = _lns_import_stream (import, context, row->stream);
    }
  return track;
}

static uint32_t
find_track (Rows *rows)
{
  Row *row = &rows->row;
  LnsTrackKind track_kind = rows->how->track;
  LnsLaneKind kind = rows->kind;

  if (rows->how->finish != NULL)
    rows->how->finish (rows->import, &row->event, &track_kind, &kind);
  const int64_t keys[LNS_IMPORT_OWNER_KEYS] = {
    row->thread,       row->process, row->device,
    row->context,      row->stream,  row->green,
    row->track_number, row->metric,  (int64_t)kind << 32 | row->value_type,
  };
  bool is_new;
  uint32_t *found = _lns_import_owner (&rows->owners, keys, &is_new);
  if (is_new)
    {
      LnsTrack track = track_of (rows);
      track.kind = track_kind;
      *found = _lns_import_track (rows->import, &track, kind);
    }
  return *found;
}

static void
set_times (Rows *rows)
{
  LnsEvent *event = &rows->row.event;

  if (rows->row.has_end)
    event->duration_ns = rows->row.end_ns - event->start_ns;
  else if (rows->has_ends)
    event->flags |= LNS_EVENT_END_UNKNOWN;
}

static bool
row_cb (void *data, const LnsKeptValue *values)
{
  Rows *rows = data;
  LnsImport *import = rows->import;
  Row *row = &rows->row;

  import->n_done++;
  _lns_import_remainder_begin (&rows->beside);
  begin_row (row, rows->cells, rows->n_cells);
  if (rows->filter >= 0)
    row->event.extra[rows->filter] = (uint64_t)__builtin_ctzll (rows->schema->passes);
  for (unsigned i = 0; i < rows->n_cells; i++)
    if (!put (row, &rows->cells[i], &values[i]))
      _lns_import_remainder_tell (&rows->beside, i, &values[i]);
  if (!rows->has_starts)
    set_start_of_call (rows);
  if (!row->has_start && rows->has_starts)
    {
      import->n_bad++;
      return true;
    }
  set_times (rows);
  if (row->has_launch)
    row->event.extra[lns_lane_kind_extra (rows->kind, LNS_COLUMN_LAUNCH)] =
        _lns_import_launch (import, &row->launch);
  LnsImportPlace place;
  if (!_lns_import_take_place (import, find_track (rows), row->event.start_ns, &place))
    return true;
  for (unsigned i = 0; i < rows->n_cells; i++)
    if (!says (row, &rows->cells[i], &values[i], &place))
      _lns_import_remainder_tell (&rows->beside, i, &values[i]);
  if (rows->remainder >= 0)
    row->event.extra[rows->remainder] = _lns_import_remainder_id (&rows->beside);
  return _lns_import_append (import, &place, &row->event);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* The start and the end are read first, because rows are sorted by the first columns. */
static unsigned
place_of (LnsCellRule rule)
{
  return rule == LNS_CELL_START ? 0 : rule == LNS_CELL_END || rule == LNS_CELL_END_IF_KNOWN ? 1 : 2;
}

bool
_lns_import_events (LnsImport *import, LnsForeignTable *table, const LnsImportTable *how)
{
  const LnsTable *schema = lns_table_find (how->name);
  const char *columns[COLUMNS_MAX], *start = "", *end = "";
  Rows rows = { .import = import, .how = how, .schema = schema, .row.import = import };

  /* If a table has several kinds of lanes, the last kind has all columns of the others. */
  rows.kind = (LnsLaneKind)(31 - __builtin_clz (schema->kinds));
  rows.remainder = lns_lane_kind_extra (rows.kind, LNS_COLUMN_REMAINDER);
  rows.filter = schema->filter.rule == LNS_CELL_BITS && __builtin_popcountll (schema->passes) == 1
                    ? lns_lane_kind_extra (rows.kind, schema->filter.column)
                    : -1;
  for (unsigned place = 0; place < 3; place++)
    for (unsigned i = 0; i < schema->n_columns; i++)
      {
        const LnsTableColumn *column = &schema->columns[i];
        const LnsCellRule rule = column->cell.rule;
        if (place != place_of (rule))
          continue;
        if (place == 0)
          start = column->name;
        else if (place == 1)
          end = column->name;
        if (lns_foreign_use_column (table, column->name))
          {
            columns[rows.n_cells] = column->name;
            rows.cells[rows.n_cells++] = cell_of (column, rows.kind);
          }
        rows.has_ends |= place == 1;
        rows.of_thread |= rule == LNS_CELL_GLOBAL_TID;
        rows.of_device |= rule == LNS_CELL_DEVICE;
        rows.of_stream |= rule == LNS_CELL_STREAM || rule == LNS_CELL_STREAM_OR_ALL;
      }
  /* A column that the schema does not know is kept beside the event under its own name.           */
  static const LnsTableColumn unknown = { .cell = { .rule = LNS_CELL_NONE } };
  for (unsigned i = 0; i < table->columns.n && rows.n_cells < COLUMNS_MAX; i++)
    if (!table->columns.items[i].is_used)
      {
        columns[rows.n_cells] = table->columns.items[i].name;
        rows.cells[rows.n_cells++] = cell_of (&unknown, rows.kind);
      }
  _lns_import_remainder_init (&rows.beside, import, schema->name, columns, rows.n_cells, table);
  rows.has_starts = lns_foreign_use_column (table, start);
  const LnsForeignOrder order = !rows.has_starts                      ? LNS_FOREIGN_AS_IT_LIES
                                : lns_foreign_use_column (table, end) ? LNS_FOREIGN_BY_START_AND_END
                                                                      : LNS_FOREIGN_BY_START;
  bool good = (rows.has_starts || read_call_times (&rows, table)) &&
              lns_foreign_read (import->foreign, table, columns, rows.n_cells, order, row_cb, &rows,
                                import->error);
  _lns_import_remainder_clear (&rows.beside);
  lns_id_map_clear (&rows.call_times);
  return good;
}

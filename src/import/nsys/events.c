/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Imports tables of events row by row. Values that no column of the lane holds are kept beside the event
 * (LNS_COLUMN_REMAINDER). */

#include "src/import/nsys/remainder.h"
#include "src/import/nsys/row.h"

#define COLUMNS_MAX LNS_KEPT_MAX_COLUMNS

typedef struct
{
  LnsImport *import;
  const LnsImportTable *how;
  const LnsTable *schema;
  LnsLaneKind kind;
  int remainder; /* of LnsEvent.extra, or -1                                                     */
  int filter; /* of LnsEvent.extra: tells tables of one kind of lanes apart; or -1              */
  /* Whether the table has starts and ends, and whose its rows are. */
  bool has_starts, has_ends, of_thread, of_device, of_stream;
  unsigned n_cells;
  LnsImportCell cells[COLUMNS_MAX];
  LnsImportRow row;
  LnsImportRemainder beside;
  LnsImportOwners owners;
  LnsIdMap call_times; /* of call_key (), where rows have no starts                              */
} Rows;

/* ---- Rows without starts --------------------------------------------------------------------- */

/* Exports of schemas before 3.24 do not tell when CUDA events were recorded, but which call recorded them. */

/* What a call is looked up by: GLOBAL_ID is that of its process or thread. */
static uint64_t
call_key (LnsImport *import, int64_t global_id, int64_t correlation)
{
  return (uint64_t)_lns_import_process (import, global_id) << 32 | (uint32_t)correlation;
}

/* Times of calls are kept with this bit turned over: the map has no 0, and no time gives CALL_UNSEEN. */
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

/* Reads when the calls of TABLE's rows began. */
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

/* Lets the row start when its call began; at 0 where that is not known. */
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

/* Marks the context as green: one of its rows has a green-context id. */
static void
note_green (LnsImport *import, uint32_t id)
{
  LnsCudaContext *context = &import->contexts.items[id];

  if (context->is_green)
    return;
  context->is_green = 1;
  lns_writer_set_context (import->writer, id, context);
}

/* The track of the row. */
static LnsTrack
track_of (Rows *rows)
{
  LnsImport *import = rows->import;
  const LnsImportRow *row = &rows->row;
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
  LnsImportRow *row = &rows->row;
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
  LnsImportRow *row = &rows->row;

  import->n_done++;
  _lns_import_remainder_begin (&rows->beside);
  _lns_import_row_begin (row, rows->cells, rows->n_cells);
  if (rows->filter >= 0)
    row->event.extra[rows->filter] = (uint64_t)__builtin_ctzll (rows->schema->passes);
  for (unsigned i = 0; i < rows->n_cells; i++)
    if (!_lns_import_row_put (row, &rows->cells[i], &values[i]))
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
    if (!_lns_import_row_says (row, &rows->cells[i], &values[i], &place))
      _lns_import_remainder_tell (&rows->beside, i, &values[i]);
  if (rows->remainder >= 0)
    row->event.extra[rows->remainder] = _lns_import_remainder_id (&rows->beside);
  return _lns_import_append (import, &place, &row->event);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Start and end come first: rows are sorted by them. */
static unsigned
place_of (LnsCellRule rule)
{
  return rule == LNS_CELL_START ? 0 : rule == LNS_CELL_END || rule == LNS_CELL_END_IF_KNOWN ? 1 : 2;
}

bool
_lns_import_events (LnsImport *import, LnsForeignTable *table, const LnsImportTable *how)
{
  const LnsTable *schema = lns_table_find (how->schema != NULL ? how->schema : how->name);
  const char *columns[COLUMNS_MAX], *start = "", *end = "";
  Rows rows = { .import = import, .how = how, .schema = schema, .row.import = import };

  /* Where there are several kinds, the last one has all columns of the others.                    */
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
            rows.cells[rows.n_cells++] = _lns_import_cell (column, rows.kind);
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
        rows.cells[rows.n_cells++] = _lns_import_cell (&unknown, rows.kind);
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

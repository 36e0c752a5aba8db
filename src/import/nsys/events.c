/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tables of events. What a row says and its event does not, is kept beside it (LNS_COLUMN_REMAINDER). */

#include <stdlib.h>
#include <string.h>

#include "src/import/nsys/call-times.h"
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
  LnsImportCallTimes calls; /* where rows have no starts                                         */
} Rows;

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A context in which a row is of a green one is green itself. */
static void
note_green (LnsImport *import, uint32_t id)
{
  LnsCudaContext *context = id < import->n_contexts ? &import->context_list[id] : NULL;

  if (context == NULL || context->is_green)
    return;
  context->is_green = 1;
  lns_writer_set_context (import->writer, id, context);
}

/* Whose row it is. */
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
  track.process = track.thread < import->n_threads ? import->thread_list[track.thread].process
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

/* For rows that do not tell when: as their calls. */
static int64_t
call_time (const Rows *rows)
{
  const int correlation = lns_lane_kind_extra (rows->kind, LNS_COLUMN_CORRELATION);

  return correlation >= 0 ? _lns_import_call_time (&rows->calls, rows->row.process,
                                                   rows->row.event.extra[correlation])
                          : 0;
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
    row->event.start_ns = call_time (rows);
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

/* Start and end first, by which rows may have to be sorted. */
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

  /* Of several kinds the last, which has all columns of the others.                               */
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
  /* What the schema does not know, or no more, is kept beside it under its own name.              */
  static const LnsTableColumn unknown = { .cell = { .rule = LNS_CELL_NONE } };
  for (unsigned i = 0; i < table->n_columns && rows.n_cells < COLUMNS_MAX; i++)
    if (!table->is_used[i] && lns_foreign_use_column (table, table->columns[i]))
      {
        columns[rows.n_cells] = table->columns[i];
        rows.cells[rows.n_cells++] = _lns_import_cell (&unknown, rows.kind);
      }
  _lns_import_remainder_init (&rows.beside, import, schema->name, columns, rows.n_cells, table);
  _lns_import_remainder_define (&rows.beside);
  rows.has_starts = lns_foreign_use_column (table, start);
  const LnsForeignOrder order = !rows.has_starts                      ? LNS_FOREIGN_AS_IT_LIES
                                : lns_foreign_use_column (table, end) ? LNS_FOREIGN_BY_START_AND_END
                                                                      : LNS_FOREIGN_BY_START;
  bool good = (rows.has_starts || _lns_import_call_times_read (&rows.calls, import, table)) &&
              lns_foreign_read (import->foreign, table, columns, rows.n_cells, order, row_cb, &rows,
                                import->error);
  _lns_import_remainder_clear (&rows.beside);
  _lns_import_call_times_clear (&rows.calls);
  return good;
}

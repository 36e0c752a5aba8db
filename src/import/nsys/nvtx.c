/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Imports NVTX_EVENTS: ranges and marks, and rows that name domains, categories and threads. */

#include <string.h>

#include "src/import/nsys/remainder.h"
#include "src/base/format.h"

typedef struct
{
  LnsImport *import;
  uint64_t n_unknown;  /* rows of unknown types                                                  */
  uint64_t n_repeated; /* rows that create or destroy a domain once more                        */
  bool is_there[LNS_NVTX_EVENT_ID];
  /* The columns that the source has, and the position of each column among them. */
  const char *present[LNS_NVTX_EVENT_ID];
  unsigned place[LNS_NVTX_EVENT_ID];
  LnsImportRemainder beside;
  LnsImportOwners owners;
} Rows;

static bool
is_null (const LnsKeptValue *value)
{
  return value->type == LNS_KEPT_NULL;
}

static void
tell (Rows *rows, unsigned column, const LnsKeptValue *value)
{
  if (rows->is_there[column])
    _lns_import_remainder_tell (&rows->beside, rows->place[column], value);
}

/* Returns the text of a row: its own, or that of a registered string. */
static uint32_t
text_of (LnsImport *import, const LnsKeptValue *values, uint32_t *ret_flags)
{
  if (!is_null (&values[LNS_NVTX_TEXT]) || is_null (&values[LNS_NVTX_TEXT_ID]))
    return _lns_import_text (import, &values[LNS_NVTX_TEXT]);
  *ret_flags |= LNS_EVENT_REGISTERED;
  return _lns_import_string (import, &values[LNS_NVTX_TEXT_ID]);
}

/* ---- Payloads -------------------------------------------------------------------------------- */

/* Converts VALUE to the bits of a payload of TYPE. Returns false if they cannot hold all of it. */
static bool
bits_of (const LnsKeptValue *value, LnsPayloadType type, uint64_t *ret_bits)
{
  double wide = _lns_import_real (value);
  float single = (float)wide;
  int64_t number = 0;

  *ret_bits = 0;
  if (type == LNS_PAYLOAD_DOUBLE || type == LNS_PAYLOAD_FLOAT)
    {
      if (type == LNS_PAYLOAD_DOUBLE)
        memcpy (ret_bits, &wide, sizeof wide);
      else
        memcpy (ret_bits, &single, sizeof single);
      return value->type == LNS_KEPT_REAL && (type == LNS_PAYLOAD_DOUBLE || (double)single == wide);
    }
  bool is_number = _lns_import_integer (value, &number);
  *ret_bits = (uint64_t)number;
  if (type == LNS_PAYLOAD_UINT32 || type == LNS_PAYLOAD_INT32)
    *ret_bits = (uint32_t)number;
  return is_number && (type == LNS_PAYLOAD_UINT32  ? number == (uint32_t)number
                       : type == LNS_PAYLOAD_INT32 ? number == (int32_t)number
                                                   : true);
}

/* The event has the text of its JSON. If the row has the id of that string instead, this keeps the id beside the
 * event. */
static void
tell_json_id (Rows *rows, const LnsKeptValue *values, uint64_t string)
{
  const LnsKeptValue id = { .type = LNS_KEPT_STRING, .integer = (int64_t)string };

  tell (rows, LNS_NVTX_JSON_TEXT_ID, &id);
  if (is_null (&values[LNS_NVTX_JSON_TEXT]))
    tell (rows, LNS_NVTX_JSON_TEXT, &values[LNS_NVTX_JSON_TEXT]);
}

/* Sets the event's only payload, the first that the row has. */
static void
set_payload (Rows *rows, const LnsKeptValue *values, LnsLaneKind kind, LnsEvent *event)
{
  static const LnsPayloadType types[] = {
    [LNS_NVTX_UINT64] = LNS_PAYLOAD_UINT64,     [LNS_NVTX_INT64] = LNS_PAYLOAD_INT64,
    [LNS_NVTX_DOUBLE] = LNS_PAYLOAD_DOUBLE,     [LNS_NVTX_UINT32] = LNS_PAYLOAD_UINT32,
    [LNS_NVTX_INT32] = LNS_PAYLOAD_INT32,       [LNS_NVTX_FLOAT] = LNS_PAYLOAD_FLOAT,
    [LNS_NVTX_JSON_TEXT_ID] = LNS_PAYLOAD_JSON, [LNS_NVTX_JSON_TEXT] = LNS_PAYLOAD_JSON,
  };
  uint64_t *type = &event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD_TYPE)],
           *payload = &event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD)];

  for (unsigned i = LNS_NVTX_UINT64; i <= LNS_NVTX_BINARY_DATA; i++)
    {
      if (is_null (&values[i]) ||
          (i == LNS_NVTX_JSON_TEXT && !is_null (&values[LNS_NVTX_JSON_TEXT_ID])))
        continue;
      bool is_kept = i != LNS_NVTX_BINARY_DATA && *type == LNS_PAYLOAD_NONE;
      if (is_kept)
        *type = types[i];
      if (is_kept && i == LNS_NVTX_JSON_TEXT_ID)
        {
          *payload = _lns_import_string (rows->import, &values[i]);
          tell_json_id (rows, values, *payload);
        }
      else if (is_kept && i == LNS_NVTX_JSON_TEXT)
        *payload = _lns_import_text (rows->import, &values[i]);
      else if (is_kept)
        is_kept = bits_of (&values[i], types[i], payload);
      if (!is_kept)
        tell (rows, i, &values[i]);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void
set (LnsEvent *event, LnsLaneKind kind, LnsColumnId column, int64_t number)
{
  event->extra[lns_lane_kind_extra (kind, column)] = (uint64_t)number;
}

/* Sets the start and duration. A range without an end lasts until the end of the report. */
static bool
set_times (LnsImport *import, const LnsKeptValue *values, LnsEvent *event)
{
  int64_t end_ns;

  if (!_lns_import_time (&values[LNS_NVTX_START], &event->start_ns))
    return false;
  if (_lns_import_time (&values[LNS_NVTX_END], &end_ns) && end_ns >= event->start_ns)
    event->duration_ns = end_ns - event->start_ns;
  else
    {
      event->flags |= LNS_EVENT_END_UNKNOWN;
      if (is_null (&values[LNS_NVTX_END]))
        event->flags |= LNS_EVENT_OPEN_END;
      if (is_null (&values[LNS_NVTX_END]) && import->end_ns > event->start_ns)
        event->duration_ns = import->end_ns - event->start_ns;
    }
  return true;
}

/* Returns the number in COLUMN. In the event, 0 stands for NULL, so a 0 of the row is kept beside it. */
static int64_t
number_of (Rows *rows, const LnsKeptValue *values, unsigned column)
{
  int64_t number = 0;

  if (!is_null (&values[column]) &&
      (!_lns_import_integer (&values[column], &number) || number == 0))
    tell (rows, column, &values[column]);
  return number;
}

/* Keeps the values of a row of KIND that EVENT, which is otherwise complete, does not hold. */
static void
tell_rest (Rows *rows, const LnsKeptValue *values, LnsLaneKind kind, const LnsEvent *event)
{
  const bool is_started = kind == LNS_LANE_NVTX_START_END;
  const bool has_end = !is_null (&values[LNS_NVTX_END]),
             says_end = kind != LNS_LANE_NVTX_MARK && (event->flags & LNS_EVENT_END_UNKNOWN) == 0,
             has_end_tid = !is_null (&values[LNS_NVTX_END_GLOBAL_TID]),
             has_text = !is_null (&values[LNS_NVTX_TEXT]) || !is_null (&values[LNS_NVTX_TEXT_ID]);
  const int extra_end = lns_lane_kind_extra (kind, LNS_COLUMN_END_THREAD),
            extra_begin = lns_lane_kind_extra (kind, LNS_COLUMN_THREAD);
  const struct
  {
    unsigned column;
    bool is_off;
  } rest[] = {
    { LNS_NVTX_END, has_end != says_end },
    { LNS_NVTX_RANGE_ID, !is_started && !is_null (&values[LNS_NVTX_RANGE_ID]) },
    { LNS_NVTX_TEXT, !has_text },
    { LNS_NVTX_TEXT_ID, !has_text },
    { LNS_NVTX_GLOBAL_TID, is_null (&values[LNS_NVTX_GLOBAL_TID]) },
    { LNS_NVTX_END_GLOBAL_TID,
      has_end_tid &&
          (!is_started || !says_end || event->extra[extra_end] == event->extra[extra_begin]) },
    { LNS_NVTX_DOMAIN_ID, is_null (&values[LNS_NVTX_DOMAIN_ID]) },
  };

  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
    if (rest[i].is_off)
      tell (rows, rest[i].column, &values[rest[i].column]);
}

/* Returns the track of a row of KIND of THREAD. */
static uint32_t *
find_track (Rows *rows,
            const LnsKeptValue *values,
            uint32_t thread,
            LnsTrackKind track_kind,
            LnsLaneKind kind)
{
  LnsImport *import = rows->import;
  const int64_t keys[LNS_IMPORT_OWNER_KEYS] = { thread, kind,
                                                _lns_import_number (&values[LNS_NVTX_DOMAIN_ID]) };
  bool is_new;
  uint32_t *found = _lns_import_owner (&rows->owners, keys, &is_new);

  if (is_new)
    {
      LnsTrack track = {
        .kind = track_kind,
        .process = import->threads.items[thread].process,
        .thread = kind == LNS_LANE_NVTX_START_END ? LNS_ID_NONE : thread,
        .device = LNS_ID_NONE,
        .stream = LNS_ID_NONE,
      };
      track.domain = _lns_import_domain (import, track.process, keys[2]);
      *found = _lns_import_track (import, &track, kind);
    }
  return found;
}

static bool
add_event (Rows *rows, const LnsKeptValue *values, LnsTrackKind track_kind, LnsLaneKind kind)
{
  LnsImport *import = rows->import;
  uint32_t thread = _lns_import_thread (import, _lns_import_number (&values[LNS_NVTX_GLOBAL_TID])),
           *track = find_track (rows, values, thread, track_kind, kind);
  LnsEvent event = { 0 };

  if (!set_times (import, values, &event))
    {
      import->n_bad++;
      return true;
    }
  event.name = text_of (import, values, &event.flags);
  _lns_import_remainder_begin (&rows->beside);
  set (&event, kind, LNS_COLUMN_COLOR, number_of (rows, values, LNS_NVTX_COLOR));
  set (&event, kind, LNS_COLUMN_CATEGORY, number_of (rows, values, LNS_NVTX_CATEGORY));
  set_payload (rows, values, kind, &event);
  if (kind == LNS_LANE_NVTX_START_END)
    {
      int64_t end_tid;
      set (&event, kind, LNS_COLUMN_RANGE_ID, number_of (rows, values, LNS_NVTX_RANGE_ID));
      set (&event, kind, LNS_COLUMN_THREAD, thread);
      set (&event, kind, LNS_COLUMN_END_THREAD,
           _lns_import_integer (&values[LNS_NVTX_END_GLOBAL_TID], &end_tid)
               ? _lns_import_thread (import, end_tid)
               : thread);
    }
  else if (kind == LNS_LANE_NVTX_MARK)
    {
      event.duration_ns = 0;
      event.flags &= ~(uint32_t)(LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
    }
  tell_rest (rows, values, kind, &event);
  set (&event, kind, LNS_COLUMN_REMAINDER, (int64_t)_lns_import_remainder_id (&rows->beside));
  LnsImportPlace place;
  return !_lns_import_take_place (import, *track, event.start_ns, &place) ||
         _lns_import_append (import, &place, &event);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void
name_thread (LnsImport *import, const LnsKeptValue *values)
{
  uint32_t flags = 0,
           id = _lns_import_thread (import, _lns_import_number (&values[LNS_NVTX_GLOBAL_TID]));
  LnsThread *thread = &import->threads.items[id];

  thread->name = text_of (import, values, &flags);
  thread->is_named = 1;
  if (!_lns_import_time (&values[LNS_NVTX_START], &thread->start_ns))
    thread->start_ns = LNS_TIME_UNKNOWN;
  lns_writer_set_thread (import->writer, id, thread);
}

static void
name_domain (Rows *rows, const LnsKeptValue *values, int64_t type)
{
  LnsImport *import = rows->import;
  uint32_t flags = 0,
           thread = _lns_import_thread (import, _lns_import_number (&values[LNS_NVTX_GLOBAL_TID])),
           id = _lns_import_domain (import, import->threads.items[thread].process,
                                    _lns_import_number (&values[LNS_NVTX_DOMAIN_ID]));
  LnsDomain *domain = &import->domains.items[id];

  if (type == LNS_EVENT_TYPE_CATEGORY)
    {
      lns_writer_add_category (
          import->writer,
          &(LnsCategory){ .domain = id,
                          .category = (uint32_t)_lns_import_number (&values[LNS_NVTX_CATEGORY]),
                          .name = text_of (import, values, &flags) });
      return;
    }
  int64_t *time_ns =
      type == LNS_EVENT_TYPE_DOMAIN_CREATE ? &domain->created_ns : &domain->destroyed_ns;
  /* A report has one creation and one destruction of each domain. */
  rows->n_repeated += *time_ns != LNS_TIME_UNKNOWN;
  if (!_lns_import_time (&values[LNS_NVTX_START], time_ns))
    *time_ns = 0;
  if (type == LNS_EVENT_TYPE_DOMAIN_CREATE)
    domain->name = text_of (import, values, &flags);
  if (type == LNS_EVENT_TYPE_DOMAIN_CREATE || domain->thread == LNS_ID_NONE)
    domain->thread = thread;
  lns_writer_set_domain (import->writer, id, domain);
}

/* ---- The table ------------------------------------------------------------------------------- */

static bool
row_cb (void *data, const LnsKeptValue *values)
{
  Rows *rows = data;
  const int64_t type = _lns_import_number (&values[LNS_NVTX_EVENT_TYPE]);

  rows->import->n_done++;
  switch (type)
    {
    case LNS_EVENT_TYPE_PUSH_POP:
      return add_event (rows, values, LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP);
    case LNS_EVENT_TYPE_START_END:
      return add_event (rows, values, LNS_TRACK_NVTX_START_END, LNS_LANE_NVTX_START_END);
    case LNS_EVENT_TYPE_MARK:
      return add_event (rows, values, LNS_TRACK_NVTX_MARKS, LNS_LANE_NVTX_MARK);
    case LNS_EVENT_TYPE_THREAD_NAME:
      name_thread (rows->import, values);
      return true;
    case LNS_EVENT_TYPE_CATEGORY:
    case LNS_EVENT_TYPE_DOMAIN_CREATE:
    case LNS_EVENT_TYPE_DOMAIN_DESTROY:
      name_domain (rows, values, type);
      return true;
    default:
      rows->n_unknown++;
      return true;
    }
}

bool
_lns_import_nvtx (LnsImport *import, LnsForeignTable *table)
{
  Rows rows = { .import = import };
  const char *columns[LNS_NVTX_EVENT_ID];
  unsigned n_present = 0;

  /* All columns except the last: eventId is a row's position in the table. */
  for (unsigned i = 0; i < LNS_NVTX_EVENT_ID; i++)
    {
      columns[i] = lns_table_find ("NVTX_EVENTS")->columns[i].name;
      rows.is_there[i] = lns_foreign_use_column (table, columns[i]);
      if (rows.is_there[i])
        {
          rows.place[i] = n_present;
          rows.present[n_present++] = columns[i];
        }
    }
  _lns_import_remainder_init (&rows.beside, import, table->name, rows.present, n_present, table);
  bool good = lns_foreign_read (import->foreign, table, columns, LNS_NVTX_EVENT_ID,
                                rows.is_there[LNS_NVTX_START] ? LNS_FOREIGN_BY_START_AND_END
                                                              : LNS_FOREIGN_AS_IT_LIES,
                                row_cb, &rows, import->error);
  lns_foreign_use_column (table, "eventId");
  if (rows.n_unknown > 0)
    _lns_import_leave_out (
        import, "%s: %llu %s", table->name, (unsigned long long)rows.n_unknown,
        lns_plural (rows.n_unknown, "row of an unknown type", "rows of unknown types"));
  if (rows.n_repeated > 0)
    _lns_import_leave_out (import, "%s: %llu %s a domain once more", table->name,
                           (unsigned long long)rows.n_repeated,
                           lns_plural (rows.n_repeated, "row that creates or destroys",
                                       "rows that create or destroy"));
  _lns_import_remainder_clear (&rows.beside);
  return good;
}

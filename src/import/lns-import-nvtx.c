/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* NVTX_EVENTS: ranges and marks, and the rows among them that name domains, categories and threads. */

#include <string.h>

#include "src/import/lns-import-private.h"

static const char *const columns[] = {
  [LNS_NVTX_START] = "start",
  [LNS_NVTX_END] = "end",
  [LNS_NVTX_EVENT_TYPE] = "eventType",
  [LNS_NVTX_RANGE_ID] = "rangeId",
  [LNS_NVTX_CATEGORY] = "category",
  [LNS_NVTX_COLOR] = "color",
  [LNS_NVTX_TEXT] = "text",
  [LNS_NVTX_GLOBAL_TID] = "globalTid",
  [LNS_NVTX_END_GLOBAL_TID] = "endGlobalTid",
  [LNS_NVTX_TEXT_ID] = "textId",
  [LNS_NVTX_DOMAIN_ID] = "domainId",
  [LNS_NVTX_UINT64] = "uint64Value",
  [LNS_NVTX_INT64] = "int64Value",
  [LNS_NVTX_DOUBLE] = "doubleValue",
  [LNS_NVTX_UINT32] = "uint32Value",
  [LNS_NVTX_INT32] = "int32Value",
  [LNS_NVTX_FLOAT] = "floatValue",
  [LNS_NVTX_JSON_TEXT_ID] = "jsonTextId",
  [LNS_NVTX_JSON_TEXT] = "jsonText",
  [LNS_NVTX_BINARY_DATA] = "binaryData",
};
#define N_COLUMNS (sizeof columns / sizeof columns[0])

typedef struct
{
  LnsImport *import;
  uint64_t n_unknown; /* rows of types that nobody knows                                         */
  uint64_t n_lost[N_COLUMNS];
} Rows;

static bool
is_null (sqlite3_value *value)
{
  return sqlite3_value_type (value) == SQLITE_NULL;
}

/* The text of a row: its own, or that of a registered string. */
static uint32_t
text_of (LnsImport *import, sqlite3_value **values, uint32_t *ret_flags)
{
  if (!is_null (values[LNS_NVTX_TEXT]) || is_null (values[LNS_NVTX_TEXT_ID]))
    return _lns_import_text (import, values[LNS_NVTX_TEXT]);
  *ret_flags |= LNS_EVENT_REGISTERED;
  return _lns_import_string (import, values[LNS_NVTX_TEXT_ID]);
}

/* ---- Payloads -------------------------------------------------------------------------------- */

static uint64_t
bits_of (sqlite3_value *value, LnsPayloadType type)
{
  double wide = sqlite3_value_double (value);
  float single = (float)wide;
  uint64_t bits = 0;

  if (type == LNS_PAYLOAD_DOUBLE)
    memcpy (&bits, &wide, sizeof wide);
  else if (type == LNS_PAYLOAD_FLOAT)
    memcpy (&bits, &single, sizeof single);
  else if (type == LNS_PAYLOAD_UINT32 || type == LNS_PAYLOAD_INT32)
    bits = (uint32_t)sqlite3_value_int64 (value);
  else
    bits = (uint64_t)sqlite3_value_int64 (value);
  return bits;
}

/* An event has one payload: the first that the row has. */
static void
set_payload (Rows *rows, sqlite3_value **values, LnsLaneKind kind, LnsEvent *event)
{
  static const LnsPayloadType types[] = {
    [LNS_NVTX_UINT64] = LNS_PAYLOAD_UINT64, [LNS_NVTX_INT64] = LNS_PAYLOAD_INT64,
    [LNS_NVTX_DOUBLE] = LNS_PAYLOAD_DOUBLE, [LNS_NVTX_UINT32] = LNS_PAYLOAD_UINT32,
    [LNS_NVTX_INT32] = LNS_PAYLOAD_INT32,   [LNS_NVTX_FLOAT] = LNS_PAYLOAD_FLOAT,
  };
  uint64_t *type = &event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD_TYPE)],
           *payload = &event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD)];

  for (unsigned i = LNS_NVTX_UINT64; i <= LNS_NVTX_BINARY_DATA; i++)
    {
      if (is_null (values[i]))
        continue;
      if (i == LNS_NVTX_BINARY_DATA || *type != LNS_PAYLOAD_NONE)
        {
          rows->n_lost[i]++;
          continue;
        }
      *type = i <= LNS_NVTX_FLOAT ? types[i] : LNS_PAYLOAD_JSON;
      *payload = i <= LNS_NVTX_FLOAT          ? bits_of (values[i], types[i])
                 : i == LNS_NVTX_JSON_TEXT_ID ? _lns_import_string (rows->import, values[i])
                                              : _lns_import_text (rows->import, values[i]);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void
set (LnsEvent *event, LnsLaneKind kind, LnsColumnId column, int64_t number)
{
  event->extra[lns_lane_kind_extra (kind, column)] = (uint64_t)number;
}

/* What began before the file ends and does not end in it, ends with it. */
static bool
set_times (LnsImport *import, sqlite3_value **values, LnsEvent *event)
{
  int64_t end_ns;

  if (!_lns_import_time (values[LNS_NVTX_START], &event->start_ns))
    return false;
  if (_lns_import_time (values[LNS_NVTX_END], &end_ns) && end_ns >= event->start_ns)
    event->duration_ns = end_ns - event->start_ns;
  else
    {
      event->flags |= LNS_EVENT_END_UNKNOWN;
      if (is_null (values[LNS_NVTX_END]))
        event->flags |= LNS_EVENT_OPEN_END;
      if (is_null (values[LNS_NVTX_END]) && import->end_ns > event->start_ns)
        event->duration_ns = import->end_ns - event->start_ns;
    }
  return true;
}

static bool
add_event (Rows *rows, sqlite3_value **values, LnsTrackKind track_kind, LnsLaneKind kind)
{
  LnsImport *import = rows->import;
  const int64_t global_tid = _lns_import_number (values[LNS_NVTX_GLOBAL_TID]);
  uint32_t thread = _lns_import_thread (import, global_tid);
  LnsTrack track = { .kind = track_kind,
                     .thread = kind == LNS_LANE_NVTX_START_END ? LNS_ID_NONE : thread,
                     .device = LNS_ID_NONE,
                     .stream = LNS_ID_NONE };
  LnsEvent event = { 0 };

  if (!set_times (import, values, &event))
    {
      import->n_bad++;
      return true;
    }
  event.name = text_of (import, values, &event.flags);
  set (&event, kind, LNS_COLUMN_COLOR, _lns_import_number (values[LNS_NVTX_COLOR]));
  set (&event, kind, LNS_COLUMN_CATEGORY, _lns_import_number (values[LNS_NVTX_CATEGORY]));
  set_payload (rows, values, kind, &event);
  track.process = thread < import->n_threads ? import->thread_list[thread].process : 0;
  track.domain =
      _lns_import_domain (import, track.process, _lns_import_number (values[LNS_NVTX_DOMAIN_ID]));
  if (kind == LNS_LANE_NVTX_START_END)
    {
      int64_t end_tid;
      set (&event, kind, LNS_COLUMN_RANGE_ID, _lns_import_number (values[LNS_NVTX_RANGE_ID]));
      set (&event, kind, LNS_COLUMN_THREAD, thread);
      set (&event, kind, LNS_COLUMN_END_THREAD,
           _lns_import_integer (values[LNS_NVTX_END_GLOBAL_TID], &end_tid)
               ? _lns_import_thread (import, end_tid)
               : thread);
    }
  else if (kind == LNS_LANE_NVTX_MARK)
    {
      event.duration_ns = 0;
      event.flags &= ~(uint32_t)(LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
    }
  return _lns_import_append (import, &track, kind, &event);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void
name_thread (LnsImport *import, sqlite3_value **values)
{
  uint32_t flags = 0,
           id = _lns_import_thread (import, _lns_import_number (values[LNS_NVTX_GLOBAL_TID]));

  if (id >= import->n_threads)
    return;
  LnsThread *thread = &import->thread_list[id];
  thread->name = text_of (import, values, &flags);
  thread->is_named = 1;
  if (!_lns_import_time (values[LNS_NVTX_START], &thread->start_ns))
    thread->start_ns = LNS_TIME_UNKNOWN;
  lns_writer_set_thread (import->writer, id, thread);
}

static void
name_domain (LnsImport *import, sqlite3_value **values, int64_t type)
{
  uint32_t flags = 0,
           thread = _lns_import_thread (import, _lns_import_number (values[LNS_NVTX_GLOBAL_TID])),
           process = thread < import->n_threads ? import->thread_list[thread].process : 0,
           id = _lns_import_domain (import, process,
                                    _lns_import_number (values[LNS_NVTX_DOMAIN_ID]));
  LnsDomain *domain = id < import->n_domains ? &import->domain_list[id] : NULL;

  if (domain == NULL)
    return;
  if (type == LNS_EVENT_TYPE_CATEGORY)
    {
      lns_writer_add_category (
          import->writer,
          &(LnsCategory){ .domain = id,
                          .category = (uint32_t)_lns_import_number (values[LNS_NVTX_CATEGORY]),
                          .name = text_of (import, values, &flags) });
      return;
    }
  int64_t *time_ns =
      type == LNS_EVENT_TYPE_DOMAIN_CREATE ? &domain->created_ns : &domain->destroyed_ns;
  if (!_lns_import_time (values[LNS_NVTX_START], time_ns))
    *time_ns = 0;
  if (type == LNS_EVENT_TYPE_DOMAIN_CREATE)
    {
      domain->name = text_of (import, values, &flags);
      domain->thread = thread;
    }
  lns_writer_set_domain (import->writer, id, domain);
}

/* ---- The table ------------------------------------------------------------------------------- */

static bool
row_cb (void *data, sqlite3_value **values)
{
  Rows *rows = data;
  const int64_t type = _lns_import_number (values[LNS_NVTX_EVENT_TYPE]);

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
      name_domain (rows->import, values, type);
      return true;
    default:
      rows->n_unknown++;
      return true;
    }
}

/* Start/end ranges of all threads of a process are one track. */
static void
merge_keys (int64_t *keys)
{
  if (keys[1] == LNS_EVENT_TYPE_START_END)
    keys[0] >>= 24;
}

bool
_lns_import_nvtx (LnsImport *import, LnsForeignTable *table)
{
  static const char *const keys[] = { "globalTid", "eventType", "domainId" };
  Rows rows = { .import = import };
  const char *order;

  bool good = _lns_import_order (import, table, "start", "end", keys, 3, merge_keys, &order) &&
              lns_foreign_read (import->foreign, table, columns, N_COLUMNS, order, row_cb, &rows,
                                import->error);
  lns_foreign_has_column (table, "eventId"); /* is a row's position in the table                  */
  if (rows.n_unknown > 0)
    _lns_import_leave_out (import, "%s: %llu rows of unknown types", table->name,
                           (unsigned long long)rows.n_unknown);
  for (unsigned i = 0; i < N_COLUMNS; i++)
    if (rows.n_lost[i] > 0)
      _lns_import_leave_out (import, "%s.%s: %llu values", table->name, columns[i],
                             (unsigned long long)rows.n_lost[i]);
  return good;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Imports traces of PyTorch and Chrome. Each event becomes a row of the nsys table that it belongs to, in a temporary
 * SQLite file, which is then imported as nsys exports are. So there is one way from rows to lanes, and memory stays
 * bounded.
 *
 * Kernels, copies and sets go to the stream of their GPU, and CUDA calls to their thread. Events of our own
 * exports go to the table that they name (rows.h). All other events become samples of counters, or NVTX ranges and
 * marks, in a domain named after their category. Asynchronous operations and the lifetimes of objects are ranges that
 * may end in another thread than they began in. Arrows that are not correlations become rows of LNS_FLOWS, a table
 * that the report keeps as it is. Events of other phases are counted. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/import/nsys/import.h"
#include "src/import/trace/links.h"
#include "src/import/trace/pairs.h"
#include "src/import/trace/rows.h"
#include "src/import/trace/tables.h"
#include "src/tables/table.h"

/* The categories that become something other than ranges and arrows. */
typedef enum
{
  IS_OTHER,
  IS_KERNEL,
  IS_COPY,
  IS_SET,
  IS_SYNC,
  IS_RUNTIME_CALL,
  IS_DRIVER_CALL,
  IS_GPU_ANNOTATION,
  IS_CORRELATION,
  IS_NVTX /* the members of "args" have the names of NVTX_EVENTS' columns               */
} Kind;

/* Counts the events that cannot be imported. */
typedef struct
{
  uint64_t by_phase[256]; /* of phases that are one byte                                        */
  uint64_t n_others;      /* of longer phases                                                   */
  uint64_t n_without;
} Tally;

typedef struct
{
  LnsTraceTables tables;
  LnsTracePairs pairs;
  LnsTraceLinks links;
  int64_t first_ns; /* the first time in the file: there the report begins */
  bool has_first;
  uint64_t n_kept; /* events that became something that is shown */
  uint64_t n_bad;  /* events that do not tell when */
  Tally tally;
  LnsBuffer left_out; /* lines: what else is not in the report */
  double fraction;    /* that is read */
  const LnsImportOptions *options;
} Trace;

/* --- What an event says ----------------------------------------------------------------------- */

/* Returns the kind of EVENT. The case of its category does not matter. */
static Kind
kind_of (const LnsTraceEvent *event)
{
  static const struct
  {
    const char *name;
    size_t size_bytes;
    Kind kind;
  } names[] = { { "kernel", 6, IS_KERNEL },
                { "hip_kernel", 10, IS_KERNEL },
                { "gpu_memcpy", 10, IS_COPY },
                { "memcpy", 6, IS_COPY },
                { "gpu_memset", 10, IS_SET },
                { "memset", 6, IS_SET },
                { "cuda_sync", 9, IS_SYNC },
                { "cuda_runtime", 12, IS_RUNTIME_CALL },
                { "runtime", 7, IS_RUNTIME_CALL },
                { "cuda_driver", 11, IS_DRIVER_CALL },
                { "driver", 6, IS_DRIVER_CALL },
                { "gpu_user_annotation", 19, IS_GPU_ANNOTATION },
                { "nvtx", 4, IS_NVTX },
                { "ac2g", 4, IS_CORRELATION },
                { "async_cpu_to_gpu", 16, IS_CORRELATION } };
  const LnsTraceValue category = event->fields[LNS_TRACE_CATEGORY];

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (category.size_bytes == names[i].size_bytes &&
        strncasecmp (category.text, names[i].name, category.size_bytes) == 0)
      return names[i].kind;
  return IS_OTHER;
}

#define FIRST_HASH UINT64_C (1469598103934665603)

static uint64_t
mix (uint64_t key, const void *bytes, size_t n)
{
  for (size_t i = 0; i < n; i++)
    key =
        (key ^ ((const unsigned char *)bytes)[i]) * UINT64_C (1099511628211); /* FNV-1a          */
  return key;
}

/* Mixes VALUE into KEY, with its terminator, so that "ab" and "c" differ from "a" and "bc". */
static uint64_t
mix_value (uint64_t key, LnsTraceValue value)
{
  return mix (key, value.text != NULL ? value.text : "",
              value.text != NULL ? value.size_bytes + 1 : 1);
}

/* Returns whether EVENT can become a row of its track. WHAT distinguishes the track from others of the thread or
 * stream. */
static bool
admit (Trace *trace, const LnsTraceEvent *event, LnsTraceValue what)
{
  static const LnsTraceField parts[] = {
    LNS_TRACE_PID,        LNS_TRACE_TID,    LNS_TRACE_DEVICE,
    LNS_TRACE_OWN_DEVICE, LNS_TRACE_STREAM, LNS_TRACE_CONTEXT
  };
  uint64_t key = mix_value (FIRST_HASH, what);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    key = mix_value (key, event->fields[parts[i]]);
  return lns_trace_admit (&trace->tables, key);
}

/* Returns what distinguishes the track of a range, mark, call or operation from others: its domain or its table. */
static LnsTraceValue
track_of (const LnsTraceEvent *event)
{
  return event->fields[_lns_trace_is_own (event)    ? LNS_TRACE_TABLE
                       : kind_of (event) == IS_NVTX ? LNS_TRACE_DOMAIN
                                                    : LNS_TRACE_CATEGORY];
}

/* Returns the thread of EVENT. PyTorch's annotations on GPUs get threads that are named after their streams. */
static int64_t
thread_of (Trace *trace, const LnsTraceEvent *event)
{
  LnsTraceValue pid = event->fields[LNS_TRACE_PID], tid = event->fields[LNS_TRACE_TID];
  char gpu[40], stream[40];
  if (kind_of (event) == IS_GPU_ANNOTATION)
    {
      pid = (LnsTraceValue){ gpu, (size_t)snprintf (gpu, sizeof gpu, "GPU %lld",
                                                    (long long)_lns_trace_integer_or (pid, 0)) };
      tid = (LnsTraceValue){ stream, (size_t)snprintf (stream, sizeof stream, "stream %lld",
                                                       (long long)_lns_trace_integer_or (tid, 0)) };
    }
  return lns_trace_thread (&trace->tables, pid, tid);
}

/* --- Ranges and marks ------------------------------------------------------------------------- */

/* Returns the domain called CATEGORY in the process of TID; without CATEGORY, the default domain, 0. */
static int64_t
domain_of (Trace *trace, LnsTraceValue category, int64_t tid)
{
  char key[256];
  if (category.text == NULL || category.size_bytes == 0)
    return 0;
  const int64_t process = tid >> LNS_TRACE_ID_BITS << LNS_TRACE_ID_BITS;
  const int n = snprintf (key, sizeof key, "%lld %.200s", (long long)process, category.text);
  const uint32_t id =
      lns_string_table_intern (trace->tables.domains, key, (size_t)n, trace->tables.n_domains);
  if (id != trace->tables.n_domains)
    return id;
  trace->tables.n_domains++;
  sqlite3_stmt *row = trace->tables.statements[LNS_TRACE_ROW_RANGE];
  sqlite3_clear_bindings (row);
  sqlite3_bind_text64 (row, 4, category.text, category.size_bytes, SQLITE_STATIC, SQLITE_UTF8);
  sqlite3_bind_int64 (row, 7, id);
  sqlite3_bind_int64 (row, 5, tid);
  lns_trace_put (&trace->tables, LNS_TRACE_ROW_RANGE,
                 (int64_t[]){ 0, 0, LNS_EVENT_TYPE_DOMAIN_CREATE }, 3);
  return id;
}

/* The columns of NVTX_EVENTS that our own export writes in "args", and their places in LNS_TRACE_ROW_OWN_RANGE. */
static const struct
{
  const char *name;
  int place; /* 0: it is the name of the domain */
} nvtx_columns[] = {
  { "domain", 0 },       { "jsonText", 8 },    { "uint64Value", 9 }, { "rangeId", 10 },
  { "category", 11 },    { "color", 12 },      { "int64Value", 13 }, { "doubleValue", 14 },
  { "uint32Value", 15 }, { "int32Value", 16 }, { "floatValue", 17 },
};
#define N_NVTX_COLUMNS (sizeof nvtx_columns / sizeof *nvtx_columns)

/* Returns which of them NAME is, or N_NVTX_COLUMNS. */
static size_t
find_column (const char *name)
{
  size_t i = 0;
  while (i < N_NVTX_COLUMNS && strcmp (nvtx_columns[i].name, name) != 0)
    i++;
  return i;
}

/* Returns whether "args" of EVENT hold only such columns. "args" of other programs' ranges hold other members, and are
 * kept as they are. */
static bool
has_columns (const LnsTraceEvent *event)
{
  LnsJsonReader json;

  lns_json_reader_init_text (&json, event->arguments.text, event->arguments.size_bytes);
  bool good = lns_json_next (&json) == LNS_JSON_OBJECT;
  while (good && lns_json_next (&json) == LNS_JSON_KEY)
    {
      good = find_column (json.text) < N_NVTX_COLUMNS;
      const LnsJsonToken token = lns_json_next (&json);
      good &= token == LNS_JSON_NUMBER || token == LNS_JSON_STRING;
    }
  lns_json_reader_clear (&json);
  return good;
}

static void
bind_columns (sqlite3_stmt *row, const LnsTraceEvent *event)
{
  LnsJsonReader json;

  lns_json_reader_init_text (&json, event->arguments.text, event->arguments.size_bytes);
  for (lns_json_next (&json); lns_json_next (&json) == LNS_JSON_KEY;)
    {
      const int place = nvtx_columns[find_column (json.text)].place;
      lns_trace_bind (row, place, &json, lns_json_next (&json));
    }
  lns_json_reader_clear (&json);
}

/* Returns the id of EVENT: the one that is unique in its process, or else the one that is unique in all. */
static LnsTraceValue
id_of (const LnsTraceEvent *event)
{
  return event->fields[LNS_TRACE_ID_LOCAL].text != NULL ? event->fields[LNS_TRACE_ID_LOCAL]
                                                        : event->fields[LNS_TRACE_ID];
}

/* Writes a range from START_NS to *END_NS (NULL: it has not ended), or a mark. Its text is NAME. The id of the event,
 * if it has one, becomes the payload. */
static void
put_range (Trace *trace,
           const LnsTraceEvent *event,
           int type,
           int64_t start_ns,
           const int64_t *end_ns,
           LnsTraceValue name)
{
  int64_t payload;
  const bool is_nvtx = kind_of (event) == IS_NVTX;
  const bool is_own = is_nvtx && has_columns (event);
  const LnsTraceValue domain_name = is_own    ? event->fields[LNS_TRACE_DOMAIN]
                                    : is_nvtx ? (LnsTraceValue){ NULL, 0 }
                                              : event->fields[LNS_TRACE_CATEGORY];
  const int64_t tid = thread_of (trace, event), domain = domain_of (trace, domain_name, tid),
                name_id = lns_trace_intern_value (&trace->tables, name);
  if (is_own)
    lns_trace_widen (&trace->tables);
  if (!lns_trace_is_well (&trace->tables))
    return;
  const LnsTraceRow kind = is_own ? LNS_TRACE_ROW_OWN_RANGE : LNS_TRACE_ROW_RANGE;
  sqlite3_stmt *row = trace->tables.statements[kind];
  sqlite3_clear_bindings (row);
  sqlite3_bind_int64 (row, 1, start_ns);
  if (end_ns != NULL)
    sqlite3_bind_int64 (row, 2, *end_ns);
  sqlite3_bind_int64 (row, 3, type);
  sqlite3_bind_int64 (row, 5, tid);
  sqlite3_bind_int64 (row, 6, name_id);
  sqlite3_bind_int64 (row, 7, domain);
  if (is_own)
    bind_columns (row, event);
  else if (event->arguments.size_bytes > 2)
    sqlite3_bind_text64 (row, 8, event->arguments.text, event->arguments.size_bytes, SQLITE_STATIC,
                         SQLITE_UTF8);
  if (!is_nvtx && type != LNS_EVENT_TYPE_PUSH_POP && lns_trace_integer (id_of (event), &payload))
    sqlite3_bind_int64 (row, 9, payload);
  trace->n_kept++;
  lns_trace_put (&trace->tables, kind, NULL, 0);
}

/* Writes a mark with the name of EVENT and its step, if it has one. */
static void
put_mark (Trace *trace, const LnsTraceEvent *event, int64_t start_ns)
{
  const LnsTraceValue step = event->fields[LNS_TRACE_STEP];
  LnsTraceValue name = event->fields[LNS_TRACE_NAME];
  char text[512];
  if (!admit (trace, event, track_of (event)))
    return;
  if (step.text != NULL && name.text != NULL)
    name = (LnsTraceValue){ text, (size_t)snprintf (text, sizeof text, "%.300s: %.200s", name.text,
                                                    step.text) };
  put_range (trace, event, LNS_EVENT_TYPE_MARK, start_ns, NULL, name);
}

/* ---- Ranges and arrows whose beginning and end are separate events ---------------------------- */

/* The kinds of ids, in the order of take_phase ()'s phases. Equal ids of different kinds are unrelated. */
typedef enum
{
  ID_OF_NESTED, /* B and E: the thread is what tells them apart */
  ID_OF_ASYNC,
  ID_OF_OLD_ASYNC,
  ID_OF_OBJECT,
  ID_OF_ARROW
} IdKind;

/* Returns the moment, with the keys of the range or arrow that EVENT, in the thread TID, begins or ends. */
static LnsTraceMoment
moment_of (const LnsTraceEvent *event, IdKind kind, int64_t tid, int64_t time_ns)
{
  static const LnsTraceField parts[] = { LNS_TRACE_CATEGORY, LNS_TRACE_SCOPE, LNS_TRACE_ID_LOCAL,
                                         LNS_TRACE_ID, LNS_TRACE_NAME };
  const int64_t owner = kind == ID_OF_NESTED ? tid : tid >> LNS_TRACE_ID_BITS;
  const bool is_of_one = kind == ID_OF_NESTED || event->fields[LNS_TRACE_ID_LOCAL].text != NULL;
  uint64_t key = mix (FIRST_HASH, &kind, sizeof kind);
  for (size_t i = 0; kind != ID_OF_NESTED && i < sizeof parts / sizeof *parts; i++)
    key = mix_value (key, event->fields[parts[i]]);
  /* An arrow leads from process to process, step by step. An end in its own process does not come first. */
  const uint64_t own = kind != ID_OF_ARROW || is_of_one ? mix (key, &owner, sizeof owner) : key;
  return (LnsTraceMoment){ .time_ns = time_ns,
                           .key = own,
                           .any_key = is_of_one ? own : key,
                           .tid = tid,
                           .is_arrow = kind == ID_OF_ARROW };
}

static void
begin_range (Trace *trace, const LnsTraceEvent *event, IdKind kind, int64_t start_ns)
{
  if (!admit (trace, event, track_of (event)))
    return;
  const LnsTraceMoment moment = moment_of (event, kind, thread_of (trace, event), start_ns);
  put_range (trace, event,
             kind == ID_OF_NESTED ? LNS_EVENT_TYPE_PUSH_POP : LNS_EVENT_TYPE_START_END, start_ns,
             NULL, event->fields[LNS_TRACE_NAME]);
  lns_trace_pairs_begin (&trace->pairs, &moment);
}

static void
note_end (Trace *trace, const LnsTraceEvent *event, IdKind kind, int64_t end_ns)
{
  const LnsTraceMoment moment = moment_of (event, kind, thread_of (trace, event), end_ns);
  lns_trace_pairs_end (&trace->pairs, &moment);
}

/* Takes a phase "s", "t" or "f": an arrow becomes a row from its beginning to the next step or end. */
static void
take_arrow (Trace *trace, const LnsTraceEvent *event, char phase, int64_t time_ns)
{
  const LnsTraceValue *fields = event->fields, id = id_of (event),
                      category = fields[LNS_TRACE_CATEGORY];
  const int64_t tid = thread_of (trace, event);
  const LnsTraceMoment moment = moment_of (event, ID_OF_ARROW, tid, time_ns);
  sqlite3_stmt *row = trace->tables.statements[LNS_TRACE_ROW_ARROW];
  trace->n_kept++;
  if (phase != 's')
    lns_trace_pairs_end (&trace->pairs, &moment);
  if (phase == 'f')
    return;
  sqlite3_bind_int64 (row, 3, lns_trace_intern_value (&trace->tables, fields[LNS_TRACE_NAME]));
  sqlite3_bind_text64 (row, 4, category.text, category.size_bytes, SQLITE_STATIC, SQLITE_UTF8);
  sqlite3_bind_text64 (row, 5, id.text, id.size_bytes, SQLITE_STATIC, SQLITE_UTF8);
  lns_trace_put (&trace->tables, LNS_TRACE_ROW_ARROW, (int64_t[]){ time_ns, tid }, 2);
  lns_trace_pairs_begin (&trace->pairs, &moment);
}

/* --- Counters --------------------------------------------------------------------------------- */

/* Writes a sample of the counter "NAME: KEY", or "NAME" if KEY adds nothing. An id distinguishes counters of the same
 * name. */
static void
put_sample (
    Trace *trace,
    const LnsTraceEvent *event,
    const char *key,
    const LnsJsonReader *json, /* at its value                                             */
    const int64_t *values)     /* time, process, domain                                    */

{
  char text[640];
  sqlite3_stmt *row = trace->tables.statements[LNS_TRACE_ROW_COUNTER];
  const LnsTraceValue name = event->fields[LNS_TRACE_NAME], id = id_of (event);
  const bool says_more = strcmp (key, "value") != 0 && strcmp (key, name.text) != 0;
  const int n = snprintf (text, sizeof text, "%.300s%s%.100s%s%s%.200s", name.text,
                          id.text != NULL ? "[" : "", id.text != NULL ? id.text : "",
                          id.text != NULL ? "]" : "", says_more ? ": " : "", says_more ? key : "");
  if (!admit (trace, event, (LnsTraceValue){ text, (size_t)n }))
    return;
  sqlite3_bind_int64 (row, 1, values[0]);
  sqlite3_bind_text (row, 2, text, n, SQLITE_STATIC);
  lns_trace_bind (row, 3, json, LNS_JSON_NUMBER);
  sqlite3_bind_int64 (row, 4, values[1]);
  sqlite3_bind_int64 (row, 5, values[2]);
  trace->n_kept++;
  lns_trace_put (&trace->tables, LNS_TRACE_ROW_COUNTER, NULL, 0);
}

/* Takes a phase "C": each number in "args" is a sample of a counter. */
static void
put_samples (Trace *trace, const LnsTraceEvent *event, int64_t time_ns)
{
  const LnsTraceValue *fields = event->fields, arguments = event->arguments;
  LnsJsonReader json;

  if (fields[LNS_TRACE_NAME].text == NULL || arguments.text == NULL ||
      !admit (trace, event, track_of (event)))
    return;
  /* Our own export gives all counters the category "counter". */
  const LnsTraceValue category = fields[LNS_TRACE_CATEGORY];
  const bool is_own = category.text != NULL && strcmp (category.text, "counter") == 0;
  const int64_t tid = thread_of (trace, event),
                domain = domain_of (trace, is_own ? (LnsTraceValue){ NULL, 0 } : category, tid),
                values[] = { time_ns, tid >> LNS_TRACE_ID_BITS << LNS_TRACE_ID_BITS, domain };
  lns_json_reader_init_text (&json, arguments.text, arguments.size_bytes);
  for (lns_json_next (&json); lns_json_next (&json) == LNS_JSON_KEY;)
    {
      const char *key = json.text;
      const LnsJsonToken token = lns_json_next (&json);
      if (token == LNS_JSON_NUMBER)
        put_sample (trace, event, key, &json, values);
      lns_json_skip (&json, token);
    }
  lns_json_reader_clear (&json);
}

/* --- What is left out ------------------------------------------------------------------------- */

static void
count (Tally *tally, LnsTraceValue phase)
{
  if (phase.text == NULL)
    tally->n_without++;
  else if (phase.size_bytes == 1)
    tally->by_phase[(unsigned char)phase.text[0]]++;
  else
    tally->n_others++;
}

/* Appends the line "N ONE MORE" if N is 1, "N MANY MORE" if it is larger, and nothing if it is 0. */
static void
put_line (LnsBuffer *lines, uint64_t n, const char *one, const char *many, const char *more)
{
  char line[200];

  if (n > 0)
    lns_buffer_append (lines, line,
                       (size_t)snprintf (line, sizeof line, "%" PRIu64 " %.60s%.110s\n", n,
                                         lns_plural (n, one, many), more));
}

/* Returns what the format calls events of PHASE. */
static const char *
phase_name (unsigned char phase)
{
  switch (phase)
    {
    case 'c':
      return " (clock synchronization)";
    case 'v':
    case 'V':
      return " (memory dump)";
    case '(':
    case ')':
      return " (context)";
    case '=':
      return " (linked ids)";
    default:
      return "";
    }
}

/* Appends a line for each phase that was counted, such as "12 events of phase c (clock synchronization)". */
static void
put_tally (const Tally *tally, LnsBuffer *lines)
{
  char what[64];

  for (unsigned phase = 0; phase < 256; phase++)
    {
      const bool is_plain = phase > ' ' && phase < 0x7F;
      snprintf (what, sizeof what, is_plain ? " of phase %c%s" : " of phase \\x%02x%s", phase,
                phase_name ((unsigned char)phase));
      put_line (lines, tally->by_phase[phase], "event", "events", what);
    }
  put_line (lines, tally->n_others, "event", "events", " of phases that no viewer knows");
  put_line (lines, tally->n_without, "event", "events", " without a phase");
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Takes a process label of our own export, which has its MPI rank. */
static void
take_label (Trace *trace, LnsTraceValue labels, int64_t tid)
{
  static const char start[] = "MPI rank ";
  const size_t n_bytes = sizeof start - 1;
  if (labels.text == NULL || strncmp (labels.text, start, n_bytes) != 0 ||
      labels.text[n_bytes] < '0' || labels.text[n_bytes] > '9')
    return;
  const int64_t rank = strtoll (labels.text + n_bytes, NULL, 10);
  lns_trace_put (&trace->tables, LNS_TRACE_ROW_MPI_RANK, (int64_t[]){ tid, rank }, 2);
}

/* Takes a phase "M": the names of processes and threads. */
static void
take_metadata (Trace *trace, const LnsTraceEvent *event)
{
  const LnsTraceValue what = event->fields[LNS_TRACE_NAME],
                      name = event->fields[LNS_TRACE_ARG_NAME];
  const int64_t tid = (int64_t)lns_trace_id (&trace->tables, event->fields[LNS_TRACE_PID])
                          << LNS_TRACE_ID_BITS |
                      lns_trace_id (&trace->tables, event->fields[LNS_TRACE_TID]);
  if (what.text != NULL && strcmp (what.text, "process_labels") == 0)
    take_label (trace, event->fields[LNS_TRACE_LABELS], tid);
  else if (what.text == NULL || name.text == NULL)
    return;
  else if (strcmp (what.text, "thread_name") == 0)
    lns_trace_put (&trace->tables, LNS_TRACE_ROW_THREAD_NAME,
                   (int64_t[]){ lns_trace_intern_value (&trace->tables, name), tid }, 2);
  else if (strcmp (what.text, "process_name") == 0)
    lns_trace_put_process (&trace->tables, (uint32_t)(tid >> LNS_TRACE_ID_BITS), name);
}

static void
put_own (Trace *trace, const LnsTraceEvent *event, int64_t start_ns, const int64_t *end_ns)
{
  if (!admit (trace, event, track_of (event)))
    return;
  trace->n_kept++;
  _lns_trace_put_own (&trace->tables, event, start_ns, end_ns);
}

/* Takes a phase "X", an event with a start and a duration. */
static void
take_complete (Trace *trace, const LnsTraceEvent *event, int64_t start_ns)
{
  int64_t duration_ns = 0;
  const bool has_end =
      lns_trace_time (event->fields[LNS_TRACE_DURATION], &duration_ns) && duration_ns >= 0;
  const int64_t end_ns = start_ns + duration_ns;
  const Kind kind = kind_of (event);
  if (_lns_trace_is_own (event))
    {
      put_own (trace, event, start_ns, &end_ns);
      return;
    }
  if (!admit (trace, event, track_of (event)))
    return;
  switch (kind)
    {
    case IS_KERNEL:
    case IS_COPY:
    case IS_SET:
    case IS_SYNC:
      trace->n_kept++;
      if (kind != IS_SYNC)
        _lns_trace_links_see_work (&trace->links, event);
      _lns_trace_put_work (&trace->tables, event, LNS_TRACE_ROW_KERNEL + (kind - IS_KERNEL),
                           start_ns, end_ns);
      break;
    case IS_RUNTIME_CALL:
    case IS_DRIVER_CALL:
      trace->n_kept++;
      _lns_trace_put_call (&trace->tables, event, kind == IS_DRIVER_CALL, start_ns, end_ns);
      break;
    default:
      put_range (trace, event, LNS_EVENT_TYPE_PUSH_POP, start_ns, has_end ? &end_ns : NULL,
                 event->fields[LNS_TRACE_NAME]);
    }
}

/* Takes an event with a time, by its phase. Returns false if a report cannot hold events of the phase. */
static bool
take_phase (Trace *trace, const LnsTraceEvent *event, char phase, int64_t start_ns)
{
  /* By IdKind: the phases that begin and end a range. */
  static const char begins[] = "BbSN", ends[] = "EeFD";
  /* T and p are steps of old asynchronous operations, O is the state of an object, P a sample. */
  static const char marks[] = "iIRnTpOP";
  const char *begin = strchr (begins, phase), *end = strchr (ends, phase);

  if (phase == '\0')
    return false;
  if (phase == 'X')
    take_complete (trace, event, start_ns);
  else if (phase == 'B' && _lns_trace_is_own (event))
    put_own (trace, event, start_ns, NULL);
  else if (begin != NULL)
    begin_range (trace, event, (IdKind)(begin - begins), start_ns);
  else if (end != NULL)
    note_end (trace, event, (IdKind)(end - ends), start_ns);
  else if (strchr (marks, phase) != NULL)
    put_mark (trace, event, start_ns);
  else if (phase == 'C')
    put_samples (trace, event, start_ns);
  else if (strchr ("stf", phase) == NULL)
    return false;
  else if (kind_of (event) == IS_CORRELATION)
    _lns_trace_links_take (&trace->links, event, id_of (event), phase != 's', start_ns);
  else
    take_arrow (trace, event, phase, start_ns);
  return true;
}

/* Returns whether to go on reading. If not, fills ERROR, unless the reason is that the file is unordered. */
static bool
goes_on (const Trace *trace, LnsError *error)
{
  const LnsError *first = &trace->tables.error;

  if (!lns_trace_is_well (&trace->tables))
    return lns_error_set (error, first->domain, first->code, "%s", first->message);
  return !trace->pairs.is_unordered;
}

static bool
take_event (const LnsTraceEvent *event, void *data, LnsError *error)
{
  Trace *trace = data;
  const LnsTraceValue phase = event->fields[LNS_TRACE_PHASE];
  int64_t start_ns;
  if (phase.text == NULL || phase.size_bytes != 1)
    count (&trace->tally, phase);
  else if (phase.text[0] == 'M')
    take_metadata (trace, event);
  else if (!lns_trace_time (event->fields[LNS_TRACE_START], &start_ns))
    trace->n_bad++;
  else
    {
      if (!trace->has_first)
        trace->first_ns = start_ns;
      trace->has_first = true;
      if (!take_phase (trace, event, phase.text[0], start_ns - trace->first_ns))
        count (&trace->tally, phase);
    }
  return goes_on (trace, error);
}

static void
bind_if_told (sqlite3_stmt *row, int column, LnsTraceValue value)
{
  int64_t number;
  if (lns_trace_integer (value, &number))
    sqlite3_bind_int64 (row, column, number);
}

static bool
take_gpu (const LnsTraceGpu *gpu, void *data, LnsError *error)
{
  Trace *trace = data;
  const int64_t id = _lns_trace_integer_or (gpu->id, 0);
  sqlite3_stmt *row = trace->tables.statements[LNS_TRACE_ROW_GPU];
  sqlite3_clear_bindings (row);
  sqlite3_bind_int64 (row, 1, id);
  if (gpu->name.text != NULL)
    sqlite3_bind_text64 (row, 2, gpu->name.text, gpu->name.size_bytes, SQLITE_STATIC, SQLITE_UTF8);
  sqlite3_bind_int64 (row, 3, id);
  bind_if_told (row, 4, gpu->total_bytes);
  bind_if_told (row, 5, gpu->n_processors);
  bind_if_told (row, 6, gpu->major);
  bind_if_told (row, 7, gpu->minor);
  lns_trace_put (&trace->tables, LNS_TRACE_ROW_GPU, NULL, 0);
  return goes_on (trace, error);
}

/* --- The file --------------------------------------------------------------------------------- */

#define SHARE_OF_READING 0.6 /* of the time that an import takes */

static void
report_reading (double fraction, void *data)
{
  Trace *trace = data;
  trace->fraction = fraction > trace->fraction ? fraction : trace->fraction;
  if (trace->options->progress != NULL)
    trace->options->progress (trace->fraction * SHARE_OF_READING, trace->options->progress_data);
}

static void
report_importing (double fraction, void *data)
{
  const LnsImportOptions *options = ((Trace *)data)->options;
  if (options->progress != NULL)
    options->progress (SHARE_OF_READING + fraction * (1 - SHARE_OF_READING),
                       options->progress_data);
}

/* Lists what is not in the report. Returns false and fills ERROR if nothing is in it. */
static bool
list_left_out (Trace *trace, const char *path, const LnsTraceEnd *end, LnsError *error)
{
  LnsBuffer *lines = &trace->left_out;

  put_tally (&trace->tally, lines);
  put_line (lines, trace->pairs.n_lone_ends, "end of a range that has", "ends of ranges that have",
            " no beginning");
  put_line (lines, trace->pairs.n_lone_arrows, "end of an arrow that has",
            "ends of arrows that have", " no other end");
  put_line (lines, trace->pairs.n_unpaired, "beginning or end", "beginnings and ends",
            " after 1,048,576 ranges were open at one time: they are not paired");
  put_line (lines, trace->tables.n_crowded_out, "event", "events",
            " of threads, domains, counters or streams beyond 32,768");
  put_line (lines, end->n_too_long, "event", "events", " of more than 16 MiB");
  put_line (lines, end->n_too_deep, "event's \"args\"", "events' \"args\"",
            ", which nest more than 127 lists and objects");
  lns_buffer_append (lines, "", 1);
  if (lines->failed)
    lns_out_of_memory ();
  if (trace->n_kept > 0)
    return true;
  const uint64_t n = end->n_events + end->n_too_long;
  if (n > 0 && end->n_too_long == n)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s: each event has more than 16 MiB of text and is left out; write the "
                          "trace with shorter names and arguments",
                          path);
  char what[64] = "its only event cannot";
  if (n != 1)
    snprintf (what, sizeof what, "none of its %llu events can", (unsigned long long)n);
  /* The first line is reason enough. */
  return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                        "%s: %s be shown%s%.*s; give a trace that PyTorch's profiler or "
                        "Chrome wrote",
                        path, what, lines->size_bytes > 1 ? ": " : "",
                        (int)strcspn ((const char *)lines->bytes, "\n"),
                        (const char *)lines->bytes);
}

/* Makes the tables of the trace at PATH in FILE, which is emptied first. Returns false without an error if the events
 * turn out to need SORTS. If the arrows turn out to be needed for LINKS, the caller makes the tables once more. */
static bool
make_tables (Trace *trace,
             const char *path,
             const char *file,
             bool sorts,
             bool links,
             LnsTraceEnd *ret_end,
             LnsError *error)
{
  const LnsTraceReader reader = { .event = take_event,
                                  .gpu = take_gpu,
                                  .progress = report_reading,
                                  .data = trace,
                                  .cancel = trace->options->cancel };
  trace->pairs = (LnsTracePairs){ .tables = &trace->tables, .sorts = sorts };
  trace->links = (LnsTraceLinks){ .tables = &trace->tables, .takes = links };
  trace->has_first = false;
  trace->n_bad = trace->n_kept = 0;
  trace->tally = (Tally){ 0 };
  lns_buffer_reset (&trace->left_out);
  *ret_end = (LnsTraceEnd){ 0 };
  bool good = truncate (file, 0) == 0 ||
              lns_error_set_errno (error, errno, "%s: the temporary file cannot be emptied", file);
  lns_trace_tables_open (&trace->tables, file, path);
  good = good && goes_on (trace, error) && lns_trace_read (path, &reader, ret_end, error);
  if (good)
    {
      lns_trace_pairs_finish (&trace->pairs);
      _lns_trace_links_finish (&trace->links);
      good = goes_on (trace, error) && list_left_out (trace, path, ret_end, error);
    }
  if (good)
    {
      lns_trace_tables_finish (&trace->tables, ret_end->base_ns + trace->first_ns);
      good = goes_on (trace, error);
    }
  lns_trace_pairs_clear (&trace->pairs);
  lns_trace_tables_close (&trace->tables);
  return good;
}

bool
lns_import_trace (const char *path,
                  const char *out_path,
                  const LnsImportOptions *options,
                  LnsImportResult *ret_result,
                  LnsError *error)
{
  static const LnsImportOptions none = { 0 };
  Trace trace = { .options = options != NULL ? options : &none };
  const char *folder = getenv ("TMPDIR");
  LnsError local = { 0 };
  LnsTraceEnd end;
  char *file = lns_asprintf ("%s/lanescope-import-XXXXXX",
                             folder != NULL && folder[0] == '/' ? folder : "/var/tmp");
  const int fd = mkstemp (file);
  if (fd < 0)
    {
      lns_error_set_errno (error, errno, "cannot create the temporary file %s to import %s", file,
                           path);
      free (file);
      return false;
    }
  close (fd);
  bool good, sorts = false, links = false;
  for (bool again = true; again;)
    {
      local = (LnsError){ 0 };
      good = make_tables (&trace, path, file, sorts, links, &end, &local);
      /* SORTS and LINKS cost time that most files need not spend. */
      const bool is_unlinked = _lns_trace_links_are_needed (&trace.links);
      again = (trace.pairs.is_unordered && !sorts) || (good && is_unlinked);
      links |= is_unlinked;
      sorts |= trace.pairs.is_unordered;
    }
  if (good)
    {
      LnsImportOptions own = *trace.options;
      own.origin = path;
      own.complaint = end.is_cut_off ? end.complaint : NULL;
      own.left_out = (const char *)trace.left_out.bytes;
      own.progress = report_importing;
      own.progress_data = &trace;
      good = lns_import_sqlite (file, out_path, &own, ret_result, &local);
      if (good && ret_result != NULL)
        ret_result->n_bad += trace.n_bad;
    }
  if (!good)
    lns_error_set (error, local.domain, local.code, "%s", local.message);
  unlink (file);
  free (file);
  lns_buffer_clear (&trace.left_out);
  return good;
}

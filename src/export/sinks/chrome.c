/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A trace as Perfetto and chrome://tracing read it: processes with their threads and, as threads too, the
 * streams of their GPUs; an arrow from each launch to what it began, and those that a trace was imported with. Times are
 * microseconds, to the ns. What the format has no place for, as domains and colours of NVTX (its own colours are a fixed
 * list), is told in "args", under the names of the tables' columns: our import finds it there. Calls of libraries and
 * the like also tell their "table", as other programs have categories of the same names. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/export/text.h"
#include "src/tables/enums.h"

/* Ids of threads have 22 bits. Rows for streams have ids above them, and rows for lanes have ids above those. */
#define FIRST_STREAM (1 << 24)
#define FIRST_LANE   (1 << 25)

/* The table in which imports keep arrows. */
#define FLOWS "LNS_FLOWS"

static const LnsTraceLook flow_look = { "flow", "nameId" };

/* Columns that become members of "args" if a table has them and a row has a value. */
static const char *const arguments[] = {
  "correlationId",
  "eventClass",
  "returnValue",
  "deviceId",
  "contextId",
  "streamId",
  "bytes",
  "gridX",
  "gridY",
  "gridZ",
  "blockX",
  "blockY",
  "blockZ",
  "registersPerThread",
  "staticSharedMemory",
  "copyKind",
  "memKind",
  "syncType",
  "dynamicSharedMemory",
  "graphId",
  "graphNodeId",
  "srcKind",
  "dstKind",
  "rangeId",
  "category",
  "color",
  "uint64Value",
  "int64Value",
  "doubleValue",
  "uint32Value",
  "int32Value",
  "floatValue",
  "jsonText",
};

/* Columns that do not become members of "args" of events that name their table: they are written in another way, or are
 * ids of something that is not in a trace. */
static const char *const untold[] = { "start",  "end",    "globalTid",   "globalPid",
                                      "nameId", "textId", "callchainId", "argumentsId" };

/* The row of the trace in which events of a lane are drawn. */
typedef struct
{
  bool is_known;
  int32_t pid;
  int64_t tid;
} Row;

typedef struct
{
  const LnsExportJob *job;
  LnsExportText *text;
  uint64_t n_events; /* written, names of processes and threads aside */
  bool has_events;
  Row *rows; /* by lane                                                                         */
  uint32_t n_lanes;
  bool *named; /* by stream                                                                     */

  const LnsTable *table; /* the one that was begun last                                          */
  const LnsTraceLook *look;
  const LnsEnum *names;
  bool is_nvtx, is_flow;
  int start, end, name, correlation, value, event_class;
  unsigned n_columns, n_arguments;
  struct
  {
    int column;
    const char *name;
  } arguments[LNS_SINK_MAX_COLUMNS];
  int category, flow_id, tid, end_tid; /* of flows                                               */
} Sink;

/* ---- Rows of the trace ----------------------------------------------------------------------- */

static void
begin_event (Sink *sink, char phase, const Row *row)
{
  LnsExportText *text = sink->text;

  lns_export_put_text (text, sink->has_events ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
  lns_export_put_byte (text, phase);
  lns_export_put_text (text, "\",\"pid\":");
  lns_export_put_integer (text, row->pid);
  lns_export_put_text (text, ",\"tid\":");
  lns_export_put_integer (text, row->tid);
  sink->has_events = true;
}

/* Writes the metadata WHAT about ROW, with NAME as argument KEY. */
static void
put_metadata (
    Sink *sink, const Row *row, const char *what, const char *key, const char *name, size_t size)
{
  begin_event (sink, 'M', row);
  lns_export_put_text (sink->text, ",\"name\":\"");
  lns_export_put_text (sink->text, what);
  lns_export_put_text (sink->text, "\",\"args\":{\"");
  lns_export_put_text (sink->text, key);
  lns_export_put_text (sink->text, "\":");
  lns_export_put_json_string (sink->text, name, size);
  lns_export_put_text (sink->text, "}}");
}

/* Names the row of a lane that does not belong to a thread. */
static void
name_lane (
    Sink *sink, const Row *row, const LnsTrack *track, const LnsLane *lane, const char *stream_text)
{
  const LnsDomain *domains = lns_report_domains (sink->job->report, NULL);
  size_t domain_size = 0;
  const char *domain = track->domain != LNS_ID_NONE && domains[track->domain].name != 0
                           ? lns_report_string (sink->job->report, domains[track->domain].name,
                                                &domain_size)
                           : "",
             *what = track->kind == LNS_TRACK_NVTX_START_END ? "NVTX start/end "
                     : track->kind == LNS_TRACK_CUDA_SYNC    ? " waits"
                     : track->kind == LNS_TRACK_CUDA_GRAPHS  ? " graphs"
                                                             : "";
  char number[16] = "";

  if (lane->ordinal > 0)
    snprintf (number, sizeof number, " (%u)", lane->ordinal + 1);
  char *text = lns_asprintf ("%s%s%.*s%s", stream_text, what, (int)domain_size, domain, number);
  put_metadata (sink, row, "thread_name", "name", text, strlen (text));
  free (text);
}

/* Describes the stream of TRACK, such as "GPU 0 stream 7". */
static void
describe_stream (LnsReport *report, const LnsTrack *track, char ret_text[64])
{
  const LnsCudaDevice *devices = lns_report_devices (report, NULL);
  const LnsCudaStream *streams = lns_report_streams (report, NULL);

  ret_text[0] = '\0';
  if (track->stream != LNS_ID_NONE)
    snprintf (ret_text, 64, "GPU %u stream %u",
              track->device != LNS_ID_NONE ? devices[track->device].number : 0,
              streams[track->stream].number);
}

/* Returns the row in which LANE is drawn. Kernels, copies and sets of a stream share a row, because they do not
 * overlap. Each other lane that does not belong to a thread has a row of its own. */
static const Row *
row_of (Sink *sink, uint32_t lane_id)
{
  LnsReport *report = sink->job->report;
  const LnsLane *lane = &lns_report_lanes (report, NULL)[lane_id];
  const LnsTrack *track = lns_export_track (report, lane_id);
  Row *row = &sink->rows[lane_id];
  char stream_text[64];

  if (row->is_known)
    return row;
  row->is_known = true;
  row->pid =
      track->process != LNS_ID_NONE ? lns_report_processes (report, NULL)[track->process].pid : 0;
  row->tid = FIRST_LANE + (int64_t)lane_id;
  if (track->thread != LNS_ID_NONE)
    {
      const LnsThread *thread = &lns_report_threads (report, NULL)[track->thread];
      row->tid = thread->tid != 0 ? thread->tid : thread->target_tid;
      return row;
    }
  bool shares = track->stream != LNS_ID_NONE && lane->ordinal == 0 &&
                (track->kind == LNS_TRACK_CUDA_KERNELS || track->kind == LNS_TRACK_CUDA_MEMCPY ||
                 track->kind == LNS_TRACK_CUDA_MEMSET);
  if (shares)
    {
      row->tid = FIRST_STREAM + (int64_t)track->stream;
      if (sink->named[track->stream])
        return row;
      sink->named[track->stream] = true;
    }
  describe_stream (report, track, stream_text);
  name_lane (sink, row, track, lane, stream_text);
  return row;
}

static void
name_threads (Sink *sink)
{
  LnsReport *report = sink->job->report;
  uint32_t n_processes, n_threads;
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  char rank[32];
  size_t size;

  for (uint32_t i = 0; i < n_processes; i++)
    {
      Row row = { .pid = processes[i].pid };
      const char *name = lns_report_string (report, processes[i].name, &size);
      put_metadata (sink, &row, "process_name", "name", name, size);
      row.tid = row.pid; /* its main thread, which MPI_RANKS names */
      if (processes[i].mpi_rank != 0)
        {
          size = (size_t)snprintf (rank, sizeof rank, "MPI rank %u", processes[i].mpi_rank - 1);
          put_metadata (sink, &row, "process_labels", "labels", rank, size);
        }
    }
  for (uint32_t i = 0; i < n_threads; i++)
    if (threads[i].name != 0)
      {
        Row row = { .pid = processes[threads[i].process].pid,
                    .tid = threads[i].tid != 0 ? threads[i].tid : threads[i].target_tid };
        const char *name = lns_report_string (report, threads[i].name, &size);
        put_metadata (sink, &row, "thread_name", "name", name, size);
      }
}

/* ---- Tables ----------------------------------------------------------------------------------- */

static bool
is_flow (const LnsTable *table)
{
  return strcmp (table->name, FLOWS) == 0;
}

static bool
chrome_takes (const LnsTable *table)
{
  return table->trace.category != NULL || is_flow (table);
}

static void *
chrome_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = lns_calloc (1, sizeof *sink);
  uint32_t n_streams;

  sink->job = job;
  lns_report_lanes (job->report, &sink->n_lanes);
  lns_report_streams (job->report, &n_streams);
  sink->rows = lns_calloc (sink->n_lanes, sizeof *sink->rows);
  sink->named = lns_calloc (n_streams, sizeof *sink->named);
  sink->text = job->text;
  lns_export_put_text (sink->text, "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":");
  lns_export_put_integer (sink->text, lns_report_info (job->report)->t0_realtime_ns);
  lns_export_put_text (sink->text, ",\"traceEvents\":[");
  name_threads (sink);
  return sink;
}

static bool
is_among (const char *name, const char *const *names, size_t n)
{
  size_t i = 0;

  while (i < n && strcmp (names[i], name) != 0)
    i++;
  return i < n;
}

/* Chooses the columns of TABLE that become members of "args". */
static void
choose_arguments (Sink *sink, const LnsTable *table)
{
  sink->n_arguments = 0;
  for (unsigned i = 0; sink->value < 0 && i < table->n_columns; i++)
    {
      const char *name = table->columns[i].name;
      if (sink->look->is_told ? is_among (name, untold, sizeof untold / sizeof *untold)
                              : !is_among (name, arguments, sizeof arguments / sizeof *arguments))
        continue;
      sink->arguments[sink->n_arguments].column = (int)i;
      sink->arguments[sink->n_arguments++].name = name;
    }
}

static bool
chrome_begin (void *data, const LnsTable *table, LnsError *error)
{
  Sink *sink = data;

  sink->table = table;
  sink->is_flow = is_flow (table);
  sink->look = sink->is_flow ? &flow_look : &table->trace;
  sink->event_class = sink->look->is_call ? lns_table_column (table, "eventClass") : -1;
  sink->is_nvtx = table->source == LNS_ROWS_NVTX;
  sink->n_columns = table->n_columns;
  sink->start = lns_table_column (table, "start");
  if (sink->start < 0)
    sink->start = lns_table_column (table, "timestamp");
  sink->end = lns_table_column (table, "end");
  sink->name = sink->look->name != NULL ? lns_table_column (table, sink->look->name) : -1;
  sink->correlation = lns_table_column (table, "correlationId");
  sink->value = sink->look->is_sample ? lns_table_column (table, "value") : -1;
  sink->names = sink->look->names != NULL ? lns_enum_find (sink->look->names) : NULL;
  sink->category = lns_table_column (table, "category");
  sink->flow_id = lns_table_column (table, "flowId");
  sink->tid = lns_table_column (table, "globalTid");
  sink->end_tid = lns_table_column (table, "endGlobalTid");
  choose_arguments (sink, table);
  return true;
}

/* ---- Events ----------------------------------------------------------------------------------- */

static void
put_microseconds (LnsExportText *text, int64_t time_ns)
{
  uint64_t left = time_ns < 0 ? -(uint64_t)time_ns : (uint64_t)time_ns;

  if (time_ns < 0)
    lns_export_put_byte (text, '-');
  lns_export_put_integer (text, (int64_t)(left / 1000));
  lns_export_put_byte (text, '.');
  lns_export_put_byte (text, (char)('0' + left / 100 % 10));
  lns_export_put_byte (text, (char)('0' + left / 10 % 10));
  lns_export_put_byte (text, (char)('0' + left % 10));
}

/* Returns the name of an event. */
static const char *
name_of (const Sink *sink, const LnsSinkRow *row, size_t *ret_size)
{
  const LnsValue *value = sink->name >= 0 ? &row->values[sink->name] : NULL;
  const char *text = sink->look->category;

  if (sink->is_nvtx && value->type == LNS_VALUE_NULL) /* registered                               */
    value = &row->values[LNS_NVTX_TEXT_ID];
  if (value != NULL && value->type == LNS_VALUE_TEXT)
    {
      *ret_size = value->size_bytes;
      return value->bytes;
    }
  if (value != NULL && value->type == LNS_VALUE_INTEGER && sink->names == NULL)
    return lns_report_string (sink->job->report, (uint32_t)value->integer, ret_size);
  for (unsigned i = 0; value != NULL && sink->names != NULL && i < sink->names->n_values; i++)
    if (value->type == LNS_VALUE_INTEGER && sink->names->values[i].id == value->integer)
      text = sink->names->values[i].label;
  *ret_size = strlen (text);
  return text;
}

/* Returns the name of the domain of LANE's events, NULL for the default domain. */
static const char *
domain_of (const Sink *sink, uint32_t lane, size_t *ret_size)
{
  const LnsDomain *domains = lns_report_domains (sink->job->report, NULL);
  const uint32_t domain = lns_export_track (sink->job->report, lane)->domain;

  return domain != LNS_ID_NONE && domains[domain].number != 0
             ? lns_report_string (sink->job->report, domains[domain].name, ret_size)
             : NULL;
}

static void
put_arguments (const Sink *sink, const LnsSinkRow *row)
{
  LnsExportText *text = sink->text;
  size_t size;
  const char *domain = sink->is_nvtx ? domain_of (sink, row->lane, &size) : NULL;
  bool has_any = domain != NULL || sink->look->is_told;

  if (domain != NULL)
    {
      lns_export_put_text (text, ",\"args\":{\"domain\":");
      lns_export_put_json_string (text, domain, size);
    }
  if (sink->look->is_told)
    {
      lns_export_put_text (text, ",\"args\":{\"table\":\"");
      lns_export_put_text (text, sink->table->name);
      lns_export_put_byte (text, '"');
    }
  for (unsigned i = 0; i < sink->n_arguments; i++)
    {
      const LnsValue *value = &row->values[sink->arguments[i].column];
      if (value->type == LNS_VALUE_NULL || value->type == LNS_VALUE_BLOB)
        continue;
      lns_export_put_text (text, has_any ? ",\"" : ",\"args\":{\"");
      lns_export_put_text (text, sink->arguments[i].name);
      lns_export_put_text (text, "\":");
      lns_export_put_json (text, value);
      has_any = true;
    }
  if (has_any)
    lns_export_put_byte (text, '}');
}

/* Writes one end of the arrow from a call to the work that it launched. Correlation ids are unique in one process. */
static void
put_arrow (Sink *sink, char phase, const Row *row, int64_t time_ns, int64_t correlation)
{
  char id[32];

  snprintf (id, sizeof id, "0x%x%08x", (unsigned)row->pid, (unsigned)correlation);
  begin_event (sink, phase, row);
  lns_export_put_text (sink->text, ",\"ts\":");
  put_microseconds (sink->text, time_ns);
  lns_export_put_text (sink->text, ",\"id\":\"");
  lns_export_put_text (sink->text, id);
  /* The category that PyTorch's profiler gives such arrows.                                        */
  lns_export_put_text (sink->text, "\",\"cat\":\"ac2g\",\"name\":\"ac2g\"");
  lns_export_put_text (sink->text, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* Returns whether calls with this name launch work on a GPU. */
static bool
may_begin (const char *name)
{
  static const char *const verbs[] = { "Launch", "Memcpy", "Memset", "GraphLaunch" };

  if (strncmp (name, "cu", 2) != 0)
    return false;
  name += strncmp (name, "cuda", 4) == 0 ? 4 : 2;
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
    if (strncmp (name, verbs[i], strlen (verbs[i])) == 0)
      return true;
  return false;
}

/* Returns the category of an event. That of a counter is its domain, as in the traces of other programs. */
static const char *
category_of (const Sink *sink, const LnsSinkRow *row, size_t *ret_size)
{
  /* The class of driver calls in ENUM_NSYS_EVENT_CLASS. PyTorch's profiler has a category for them too. */
  static const int64_t driver = 1;
  const char *domain = sink->value >= 0 ? domain_of (sink, row->lane, ret_size) : NULL;
  if (domain != NULL)
    return domain;
  const char *category = sink->event_class >= 0 && row->values[sink->event_class].integer == driver
                             ? "cuda_driver"
                             : sink->look->category;
  *ret_size = strlen (category);
  return category;
}

/* Returns the row of the thread in COLUMN, or OTHERWISE if the column is NULL. */
static Row
thread_row (const LnsSinkRow *values, unsigned column, Row otherwise)
{
  const LnsValue *tid = &values->values[column];

  return tid->type == LNS_VALUE_INTEGER ? (Row){ .pid = (int32_t)(tid->integer >> 24 & 0xFFFFFF),
                                                 .tid = tid->integer & 0xFFFFFF }
                                        : otherwise;
}

/* Writes what every event has, from its phase to its name. */
static void
put_head (Sink *sink,
          char phase,
          const char *category,
          size_t category_size,
          const Row *row,
          int64_t time_ns,
          const char *name,
          size_t size)
{
  sink->n_events++;
  begin_event (sink, phase, row);
  lns_export_put_text (sink->text, ",\"ts\":");
  put_microseconds (sink->text, time_ns);
  lns_export_put_text (sink->text, ",\"cat\":");
  lns_export_put_json_string (sink->text, category, category_size);
  lns_export_put_text (sink->text, ",\"name\":");
  lns_export_put_json_string (sink->text, name, size);
}

/* Writes a start/end range of NVTX as an asynchronous range of its process, because it may overlap others and end in
 * another thread. */
static void
put_start_end (Sink *sink, const LnsSinkRow *values)
{
  size_t size;
  char id[48];
  const char *name = name_of (sink, values, &size), *category = sink->look->category;
  const LnsValue *end = &values->values[LNS_NVTX_END];
  const Row begins = thread_row (values, LNS_NVTX_GLOBAL_TID, (Row){ 0 }),
            ends = thread_row (values, LNS_NVTX_END_GLOBAL_TID, begins);

  snprintf (id, sizeof id, ",\"id2\":{\"local\":\"0x%" PRIx64 "\"}",
            (uint64_t)values->values[sink->n_columns].integer);
  put_head (sink, 'b', category, strlen (category), &begins, values->values[LNS_NVTX_START].integer,
            name, size);
  lns_export_put_text (sink->text, id);
  put_arguments (sink, values);
  lns_export_put_byte (sink->text, '}');
  if (end->type != LNS_VALUE_INTEGER)
    return;
  put_head (sink, 'e', category, strlen (category), &ends, end->integer, name, size);
  lns_export_put_text (sink->text, id);
  lns_export_put_byte (sink->text, '}');
}

/* Writes one end of an arrow that an import kept. The rowid distinguishes arrows of the same id. */
static void
put_flow_end (Sink *sink, char phase, const LnsSinkRow *values, int time, int tid)
{
  const LnsValue *category = &values->values[sink->category], *id = &values->values[sink->flow_id];
  const Row row = thread_row (values, (unsigned)tid, (Row){ 0 });
  size_t size;
  const char *name = name_of (sink, values, &size);

  put_head (sink, phase, category->bytes,
            category->type == LNS_VALUE_TEXT ? category->size_bytes : 0, &row,
            values->values[time].integer, name, size);
  if (id->type == LNS_VALUE_TEXT)
    {
      lns_export_put_text (sink->text, ",\"id\":");
      lns_export_put_json_string (sink->text, id->bytes, id->size_bytes);
    }
  lns_export_put_text (sink->text, ",\"scope\":\"");
  lns_export_put_integer (sink->text, values->values[sink->n_columns].integer);
  lns_export_put_text (sink->text, phase == 'f' ? "\",\"bp\":\"e\"}" : "\"}");
}

/* Writes an arrow that an import kept. */
static void
put_flow (Sink *sink, const LnsSinkRow *values)
{
  const bool is_whole = sink->start >= 0 && sink->end >= 0 && sink->category >= 0 &&
                        sink->flow_id >= 0 && sink->tid >= 0 && sink->end_tid >= 0 &&
                        values->values[sink->end].type == LNS_VALUE_INTEGER;

  if (!is_whole)
    return;
  put_flow_end (sink, 's', values, sink->start, sink->tid);
  put_flow_end (sink, 'f', values, sink->end, sink->end_tid);
}

static bool
chrome_row (void *data, const LnsSinkRow *values, LnsError *error)
{
  Sink *sink = data;
  LnsExportText *text = sink->text;

  if (sink->is_flow)
    {
      put_flow (sink, values);
      return lns_export_text_is_good (text, error);
    }
  if (values->lane >= sink->n_lanes)
    return true; /* a definition                                                                 */
  if (sink->is_nvtx && values->values[LNS_NVTX_EVENT_TYPE].integer == LNS_EVENT_TYPE_START_END)
    {
      put_start_end (sink, values);
      return lns_export_text_is_good (text, error);
    }
  const Row *row = row_of (sink, values->lane);
  const LnsValue *end = sink->end >= 0 ? &values->values[sink->end] : NULL;
  int64_t start_ns = values->values[sink->start].integer;
  bool is_whole = end != NULL && end->type == LNS_VALUE_INTEGER;
  bool is_mark =
      end == NULL || (sink->is_nvtx && !is_whole &&
                      values->values[LNS_NVTX_EVENT_TYPE].integer == LNS_EVENT_TYPE_MARK);
  size_t size, category_size;
  const char *name = name_of (sink, values, &size),
             *category = category_of (sink, values, &category_size);

  put_head (sink,
            sink->value >= 0 ? 'C'
            : is_mark        ? 'i'
            : is_whole       ? 'X'
                             : 'B',
            category, category_size, row, start_ns, name, size);
  if (is_whole)
    {
      lns_export_put_text (text, ",\"dur\":");
      put_microseconds (text, lns_difference (end->integer, start_ns));
    }
  if (is_mark && sink->value < 0)
    lns_export_put_text (text, ",\"s\":\"t\"");
  if (sink->value >= 0)
    {
      lns_export_put_text (text, ",\"args\":{\"value\":");
      lns_export_put_json (text, &values->values[sink->value]);
      lns_export_put_byte (text, '}');
    }
  put_arguments (sink, values);
  lns_export_put_byte (text, '}');
  if (sink->correlation >= 0 && values->values[sink->correlation].type == LNS_VALUE_INTEGER &&
      values->values[sink->correlation].integer != 0 &&
      (sink->look->is_begun || (sink->look->is_call && may_begin (name))))
    put_arrow (sink, sink->look->is_call ? 's' : 'f', row, start_ns,
               values->values[sink->correlation].integer);
  return lns_export_text_is_good (text, error);
}

static bool
chrome_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;
  const LnsExportOptions *options = sink->job->options;

  lns_export_put_text (sink->text, "\n]}\n");
  if (sink->n_events == 0 && options->ret_lacks != NULL)
    *options->ret_lacks =
        options->times != NULL || options->n_tables > 0
            ? "--times or --tables leave out every event that a trace can show; ask for more"
            : "the report holds no event that a trace can show, such as a range, a CUDA call or a "
              "kernel; `lanescope analyze` says why";
  free (sink->rows);
  free (sink->named);
  free (sink);
  return good;
}

const LnsExportType lns_sink_chrome = {
  .name = "chrome",
  .ending = ".json",
  .is_stream = true,
  .open = chrome_open,
  .takes = chrome_takes,
  .begin = chrome_begin,
  .row = chrome_row,
  .close = chrome_close,
};

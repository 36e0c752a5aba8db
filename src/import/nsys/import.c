/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/call-text.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/import/nsys/import-private.h"
#include "src/tables/enums.h"

#define N_IMPORTED (sizeof imported / sizeof *imported)

/* ---- Strings, processes and threads --------------------------------------------------------- */

/* The most samples that are named after their innermost function, and the most names that are known to be addresses. The
 * maps take up to 64 bytes for each. */
#define LEAVES_MAX 2000000

/* Of strings that may be a module's path: how many, and how long. */
#define MODULES_MAX      100000
#define MODULE_BYTES_MAX 4096

/* Keeps the name of the file in VALUE, which is the string TEXT, if it may be that of a module. */
static void
note_module (LnsImport *import, const LnsKeptValue *value, uint32_t text)
{
  const char *bytes = value->type == LNS_KEPT_TEXT ? value->bytes : "";
  if (value->type != LNS_KEPT_TEXT || value->size_bytes < 2 ||
      value->size_bytes > MODULE_BYTES_MAX || (bytes[0] != '/' && bytes[0] != '[') ||
      import->module_names.n >= MODULES_MAX)
    return;
  const char *slash = memrchr (bytes, '/', value->size_bytes),
             *name = slash != NULL ? slash + 1 : bytes;
  char *kept = lns_asprintf ("%.*s", (int)(bytes + value->size_bytes - name), name);
  free (lns_id_map_take (&import->module_names, 1 + (uint64_t)text));
  if (!lns_id_map_set (&import->module_names, 1 + (uint64_t)text, kept))
    free (kept);
}

static void
string_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t id;

  if (!_lns_import_integer (&values[0], &id))
    return;
  const uint32_t text = _lns_import_text (import, &values[1]);
  _lns_import_note_string (import, id, text);
  if (values[1].type == LNS_KEPT_TEXT && values[1].size_bytes > 2 &&
      memcmp (values[1].bytes, "0x", 2) == 0 && import->addresses.n < LEAVES_MAX)
    lns_id_map_set_number (&import->addresses, 1 + (uint64_t)text, 1);
  note_module (import, &values[1], text);
  const char *public = values[1].type == LNS_KEPT_TEXT
                           ? lns_call_text_public (values[1].bytes, values[1].size_bytes)
                           : NULL;
  if (public != NULL)
    _lns_import_intern (&import->public_calls, text,
                        _lns_import_bytes (import, public, strlen (public)));
}

static void
process_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t global_pid;

  if (!_lns_import_integer (&values[0], &global_pid))
    return;
  const uint32_t id = _lns_import_process (import, global_pid);
  LnsProcess *process = &import->processes.items[id];
  process->is_listed = 1;
  process->name = _lns_import_text (import, &values[1]);
  lns_writer_set_process (import->writer, id, process);
}

/* Exports of 2020 do not name processes. Each gets the name of its main thread. */
static void
name_process (LnsImport *import, const LnsThread *thread)
{
  LnsProcess *process = &import->processes.items[thread->process];

  if (process->is_listed || thread->tid != process->pid)
    return;
  process->name = thread->name;
  lns_writer_set_process (import->writer, thread->process, process);
}

static void
thread_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t global_tid, priority;

  if (!_lns_import_integer (&values[0], &global_tid))
    return;
  const uint32_t id = _lns_import_thread (import, global_tid);
  LnsThread *thread = &import->threads.items[id];
  thread->name = _lns_import_string (import, &values[1]);
  thread->listed = _lns_import_integer (&values[2], &priority) ? 2 : 1;
  thread->priority = thread->listed == 2 ? (int32_t)priority : 0;
  lns_writer_set_thread (import->writer, id, thread);
  name_process (import, thread);
}

/* A process of MPI has rows for several of its threads. The first one counts. */
static void
rank_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t global_tid, rank;

  if (!_lns_import_integer (&values[0], &global_tid) || !_lns_import_integer (&values[1], &rank) ||
      rank < 0 || rank >= UINT32_MAX)
    return;
  const uint32_t id = _lns_import_process (import, global_tid);
  LnsProcess *process = &import->processes.items[id];
  if (process->mpi_rank != 0)
    return;
  process->mpi_rank = (uint32_t)rank + 1;
  lns_writer_set_process (import->writer, id, process);
}

/* ---- GPUs -------------------------------------------------------------------------------------- */

/* nsys writes UUIDs without the "GPU-" with which they begin in reports. */
static uint32_t
uuid_of (LnsImport *import, const LnsKeptValue *value)
{
  char uuid[128];

  if (value->type != LNS_KEPT_TEXT || value->size_bytes == 0)
    return 0;
  int n = snprintf (uuid, sizeof uuid, "GPU-%.*s",
                    (int)(value->size_bytes < 100 ? value->size_bytes : 100), value->bytes);
  return _lns_import_bytes (import, uuid, (size_t)n);
}

/* Puts VALUE into the member of DEVICE that an export takes CELL from. */
static void
put_field (LnsImport *import, LnsCudaDevice *device, const LnsCell *cell, const LnsKeptValue *value)
{
  const int64_t number = _lns_import_number (value);
  const uint64_t wide = number > 0 ? (uint64_t)number : 0;
  uint32_t narrow = (uint32_t)wide;

  if (value->type == LNS_KEPT_NULL)
    return;
  switch (cell->rule)
    {
    case LNS_CELL_FIELD:
    case LNS_CELL_FIELD_OR_NULL:
      break;
    case LNS_CELL_FIELD_TEXT:
    case LNS_CELL_FIELD_TEXT_OR_NULL:
      narrow = _lns_import_text (import, value);
      break;
    case LNS_CELL_FIELD_UUID:
      narrow = uuid_of (import, value);
      break;
    default:
      return;
    }
  memcpy ((char *)device + cell->argument, cell->n_bits == 64 ? (const void *)&wide : &narrow,
          cell->n_bits / 8);
}

/* Returns the number in COLUMN, 0 if it is negative or missing. */
static uint64_t
gpu_fact (const LnsTable *schema, const LnsKeptValue *values, const char *column)
{
  const int64_t number = _lns_import_number (&values[lns_table_column (schema, column)]);
  return number > 0 ? (uint64_t)number : 0;
}

static bool
gpu_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  const LnsTable *schema = lns_table_find ("TARGET_INFO_GPU");
  LnsImportGpu *gpu = lns_array_add (&import->gpus);
  LnsCudaDevice *device = &gpu->device;

  gpu->id = _lns_import_number (&values[lns_table_column (schema, "id")]);
  if (!_lns_import_integer (&values[lns_table_column (schema, "cuDevice")], &gpu->number))
    gpu->number = gpu->id;
  /* Where two columns have one field, as computeMajor and smMajor do, the first of them counts.    */
  for (unsigned i = schema->n_columns; i-- > 0;)
    put_field (import, device, &schema->columns[i].cell, &values[i]);
  const bool has_compute = values[lns_table_column (schema, "computeMajor")].type != LNS_KEPT_NULL;
  device->compute_minor =
      (uint32_t)gpu_fact (schema, values, has_compute ? "computeMinor" : "smMinor");
  device->memory_bandwidth = gpu_fact (schema, values, "memoryBandwidth") / 1000; /* kB/s */
  device->core_clock = (uint32_t)(gpu_fact (schema, values, "clockRate") / 1000); /* kHz  */
  return true;
}

static bool
import_gpus (LnsImport *import, LnsForeignTable *table)
{
  const LnsTable *schema = lns_table_find ("TARGET_INFO_GPU");
  const char *columns[LNS_KEPT_MAX_COLUMNS];

  for (unsigned i = 0; i < schema->n_columns; i++)
    columns[i] = schema->columns[i].name;
  /* Exports of 2020 call the id "deviceId".                                                        */
  if (!lns_foreign_use_column (table, "id"))
    columns[lns_table_column (schema, "id")] = "deviceId";
  return lns_foreign_read (import->foreign, table, columns, schema->n_columns,
                           LNS_FOREIGN_AS_IT_LIES, gpu_cb, import, import->error);
}

/* ---- Objects of a process ---------------------------------------------------------------------- */

/* Returns the process of a row whose first columns are hwId, vmId and the pid. */
static uint32_t
process_of (LnsImport *import, const LnsKeptValue *values)
{
  uint64_t hardware = (uint64_t)_lns_import_number (&values[0]) & 0xFF,
           machine = (uint64_t)_lns_import_number (&values[1]) & 0xFF,
           pid = (uint64_t)_lns_import_number (&values[2]) & 0xFFFFFF;

  return _lns_import_process (import, (int64_t)(hardware << 56 | machine << 48 | pid << 24));
}

/* Imports the number that CUDA has for a GPU in one process. */
static void
device_row (LnsImport *import, const LnsKeptValue *values)
{
  const int64_t gpu = _lns_import_number (&values[0]), number = _lns_import_number (&values[1]),
                pid = _lns_import_number (&values[2]);

  for (uint32_t p = 0; p < import->processes.n; p++)
    for (size_t i = 0; import->processes.items[p].pid == pid && i < import->gpus.n; i++)
      if (import->gpus.items[i].id == gpu)
        {
          const uint32_t id = _lns_import_device (import, p, number);
          LnsCudaDevice *device = &import->devices.items[id];
          *device = import->gpus.items[i].device;
          device->process = p;
          device->number = (uint32_t)number;
          lns_writer_set_device (import->writer, id, device);
        }
}

static void
context_row (LnsImport *import, const LnsKeptValue *values)
{
  const uint32_t process = process_of (import, values),
                 device = _lns_import_device (import, process, _lns_import_number (&values[3])),
                 id =
                     _lns_import_context (import, process, device, _lns_import_number (&values[4]));
  LnsCudaContext *context = &import->contexts.items[id];

  context->null_stream = (uint32_t)_lns_import_number (&values[5]);
  context->parent = (uint32_t)_lns_import_number (&values[6]);
  context->is_green = _lns_import_number (&values[7]) != 0;
  context->n_multiprocessors = (uint32_t)_lns_import_number (&values[8]);
  lns_writer_set_context (import->writer, id, context);
}

/* Returns the stream of a row. Its context is one of DEVICE unless it is known already. */
static uint32_t
stream_of (LnsImport *import, const LnsKeptValue *values, const LnsKeptValue *device)
{
  const uint32_t process = process_of (import, values),
                 device_id = _lns_import_device (import, process, _lns_import_number (device)),
                 context = _lns_import_context (import, process, device_id,
                                                _lns_import_number (&values[3]));

  return _lns_import_stream (import, context, _lns_import_number (&values[4]));
}

static void
stream_row (LnsImport *import, const LnsKeptValue *values)
{
  const uint32_t id = stream_of (import, values, &values[7]);
  LnsCudaStream *stream = &import->streams.items[id];

  /* nsys writes a negative priority as a large number. */
  stream->priority = (int32_t)_lns_import_number (&values[5]);
  stream->flags = (uint32_t)_lns_import_number (&values[6]);
  lns_writer_set_stream (import->writer, id, stream);
}

static void
stream_name_row (LnsImport *import, const LnsKeptValue *values)
{
  const uint32_t id = stream_of (import, values, &values[6]);
  LnsCudaStream *stream = &import->streams.items[id];

  stream->name = _lns_import_text (import, &values[5]);
  lns_writer_set_stream (import->writer, id, stream);
}

/* ---- Metrics, samples and diagnostics, whose tables are also kept as they are ---------------- */

static void
metric_row (LnsImport *import, const LnsKeptValue *values)
{
  const LnsImportMetric key = { _lns_import_number (&values[0]), _lns_import_number (&values[1]) };

  lns_string_table_intern (import->metrics, &key, sizeof key,
                           _lns_import_text (import, &values[2]));
}

/* The string of what stands for the unknown functions of MODULE, a string: "NAME+0x…". */
static uint32_t
place_in (LnsImport *import, uint32_t module)
{
  const char *name = lns_id_map_get (&import->module_names, 1 + (uint64_t)module);
  if (name == NULL)
    return module;
  char *text = lns_asprintf ("%s+0x…", name);
  const uint32_t place = _lns_import_bytes (import, text, strlen (text));
  free (text);
  return place;
}

static void
leaf_row (LnsImport *import, const LnsKeptValue *values)
{
  if (_lns_import_number (&values[2]) != 0 || import->leaves.n >= LEAVES_MAX)
    return;
  /* A bare address says less than the module that it lies in: MODULE+0x…, as in tables of functions. */
  const uint32_t symbol = _lns_import_string (import, &values[1]),
                 module = _lns_import_string (import, &values[3]);
  const bool is_address = lns_id_map_number (&import->addresses, 1 + (uint64_t)symbol) != 0;
  _lns_import_intern (&import->leaves, (uint64_t)_lns_import_number (&values[0]),
                      is_address && module != 0 ? place_in (import, module) : symbol);
}

/* ENUM_DIAGNOSTIC_SEVERITY_LEVEL */
#define SEVERITY_WARNING 2
#define SEVERITY_ERROR   3

static void
diagnostic_row (LnsImport *import, const LnsKeptValue *values)
{
  const int64_t severity = _lns_import_number (&values[1]);
  LnsDiagnostic diagnostic = { .code = lns_writer_string (import->writer, "NSYS", 4),
                               .severity = severity == SEVERITY_WARNING ? LNS_SEVERITY_WARNING
                                           : severity == SEVERITY_ERROR ? LNS_SEVERITY_ERROR
                                                                        : LNS_SEVERITY_INFO,
                               .process = LNS_ID_NONE,
                               .text = _lns_import_text (import, &values[2]) };
  int64_t global_pid;

  if (!_lns_import_time (&values[0], &diagnostic.time_ns))
    diagnostic.time_ns = LNS_TIME_UNKNOWN;
  /* Only processes that other tables mention are in the report. */
  if (_lns_import_integer (&values[3], &global_pid))
    diagnostic.process =
        _lns_import_find (&import->process_ids, (uint64_t)global_pid >> 24, LNS_ID_NONE);
  lns_writer_add_diagnostic (import->writer, &diagnostic);
}

/* Makes the report end no earlier than the recording of the other program. */
static void
details_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t duration_ns;

  if (_lns_import_time (&values[0], &duration_ns) && duration_ns > import->end_ns)
    import->end_ns = duration_ns;
}

/* ---- Names of events ------------------------------------------------------------------------- */

static void
name_event (LnsImport *import, LnsEvent *event, const char *name)
{
  event->name = _lns_import_bytes (import, name, strlen (name));
}

static void
finish_copy (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  uint64_t kind = event->extra[lns_lane_kind_extra (LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_COPY_KIND)];

  name_event (import, event, lns_call_text_copy (kind));
}

static void
finish_set (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  name_event (import, event, "[CUDA memset]");
}

/* Names a call. Rows that only hold the call chain of another row's call go to a track of their own. */
static void
finish_call (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  uint64_t callback = event->extra[lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CALLBACK)];

  event->name = _lns_import_find (&import->public_calls, event->name, event->name);
  *lane = callback >> 40 == LNS_CLASS_BACKTRACE ? LNS_LANE_CUDA_BACKTRACE : LNS_LANE_CUDA_API;
  if (*lane == LNS_LANE_CUDA_BACKTRACE)
    *track = LNS_TRACK_CUDA_BACKTRACES;
}

/* Names the time on a CPU after that CPU, so that the timeline shows where a thread ran. */
static void
finish_sched (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  char name[32];

  snprintf (name, sizeof name, "CPU %u",
            (unsigned)event->extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_CPU)]);
  if (event->extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] != 0)
    name_event (import, event, name);
}

/* Names a sample after its innermost function. */
static void
finish_sample (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  uint64_t id = event->extra[lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN)];

  event->name = _lns_import_find (&import->leaves, id, 0);
}

/* The tables in the order in which they are imported. Strings and names come first, because all others refer to them.
 * Of GPU work, kernels come first, because their rows say most reliably which device a context belongs to. */
static const LnsImportTable imported[] = {
  { .name = "StringIds", .row = string_row, .columns = { "id", "value" } },
  { .name = "PROCESSES", .row = process_row, .columns = { "globalPid", "name", "pid" } },
  { .name = "ThreadNames", .row = thread_row, .columns = { "globalTid", "nameId", "priority" } },
  { .name = "MPI_RANKS", .row = rank_row, .columns = { "globalTid", "rank" } },
  { .name = "DIAGNOSTIC_EVENT",
    .row = diagnostic_row,
    .columns = { "timestamp", "severity", "text", "globalPid" } },
  { .name = "ANALYSIS_DETAILS", .row = details_row, .columns = { "duration" } },
  { .name = "TARGET_INFO_GPU", .import = import_gpus },
  { .name = "TARGET_INFO_CUDA_DEVICE",
    .row = device_row,
    .columns = { "gpuId", "cudaId", "pid", "uuid", "numMultiprocessors" } },
  { .name = "TARGET_INFO_CUDA_CONTEXT_INFO",
    .row = context_row,
    .columns = { "hwId", "vmId", "processId", "deviceId", "contextId", "nullStreamId",
                 "parentContextId", "isGreenContext", "numMultiprocessors" } },
  { .name = "TARGET_INFO_CUDA_NULL_STREAM",
    .row = context_row,
    .columns = { "hwId", "vmId", "processId", "deviceId", "contextId", "streamId",
                 "parentContextId", "isGreenContext", "numMultiprocessors" } },
  { .name = "CUPTI_ACTIVITY_KIND_RUNTIME", .track = LNS_TRACK_CUDA_API, .finish = finish_call },
  { .name = "CUPTI_ACTIVITY_KIND_KERNEL", .track = LNS_TRACK_CUDA_KERNELS },
  { .name = "CUPTI_ACTIVITY_KIND_MEMCPY", .track = LNS_TRACK_CUDA_MEMCPY, .finish = finish_copy },
  { .name = "CUPTI_ACTIVITY_KIND_MEMSET", .track = LNS_TRACK_CUDA_MEMSET, .finish = finish_set },
  { .name = "TARGET_INFO_CUDA_STREAM",
    .row = stream_row,
    .columns = { "hwId", "vmId", "processId", "contextId", "streamId", "priority", "flag",
                 "deviceId" } },
  { .name = "TARGET_INFO_NVTX_CUDA_STREAM",
    .row = stream_name_row,
    .columns = { "hwId", "vmId", "processId", "contextId", "streamId", "name", "deviceId" } },
  { .name = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", .track = LNS_TRACK_CUDA_SYNC },
  { .name = "CUPTI_ACTIVITY_KIND_CUDA_EVENT", .track = LNS_TRACK_CUDA_EVENTS },
  { .name = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", .track = LNS_TRACK_CUDA_GRAPHS },
  { .name = "CUDA_GRAPH_NODE_EVENTS", .track = LNS_TRACK_CUDA_GRAPH_NODES },
  { .name = "CUDA_GRAPH_EVENTS", .track = LNS_TRACK_CUDA_GRAPH_NODES },
  { .name = "CUDA_GPU_MEMORY_USAGE_EVENTS", .track = LNS_TRACK_CUDA_MEMORY },
  { .name = "CUDA_GPU_MEMORY_POOL_EVENTS", .track = LNS_TRACK_CUDA_POOLS },
  { .name = "CUDA_UM_CPU_PAGE_FAULT_EVENTS", .track = LNS_TRACK_CUDA_CPU_FAULTS },
  { .name = "CUDA_UM_GPU_PAGE_FAULT_EVENTS", .track = LNS_TRACK_CUDA_GPU_FAULTS },
  { .name = "PROFILER_OVERHEAD", .track = LNS_TRACK_CUDA_OVERHEAD },
  { .name = "CUPTI_ACTIVITY_KIND_OVERHEAD", .track = LNS_TRACK_CUDA_OVERHEAD },
  { .name = "CUPTI_ACTIVITY_KIND_JIT", .track = LNS_TRACK_CUDA_JIT },
  { .name = "CUBLAS_EVENTS", .track = LNS_TRACK_CUBLAS },
  { .name = "CUDNN_EVENTS", .track = LNS_TRACK_CUDNN },
  { .name = "LNS_CUSPARSE_EVENTS", .track = LNS_TRACK_CUSPARSE },
  { .name = "LNS_CUSOLVER_EVENTS", .track = LNS_TRACK_CUSOLVER },
  { .name = "OSRT_API", .track = LNS_TRACK_OS_CALLS },
  { .name = "SYSCALL", .track = LNS_TRACK_SYSTEM_CALLS },
  { .name = "SCHED_EVENTS", .track = LNS_TRACK_SCHED, .finish = finish_sched },
  { .name = "SAMPLING_CALLCHAINS",
    .row = leaf_row,
    .columns = { "id", "symbol", "stackDepth", "module" } },
  { .name = "COMPOSITE_EVENTS", .track = LNS_TRACK_CPU_SAMPLES, .finish = finish_sample },
  { .name = "TARGET_INFO_GPU_METRICS",
    .row = metric_row,
    .columns = { "typeId", "metricId", "metricName" } },
  { .name = "GPU_METRICS", .track = LNS_TRACK_GPU_METRIC },
  { .name = "MPI_P2P_EVENTS", .track = LNS_TRACK_MPI },
  { .name = "MPI_COLLECTIVES_EVENTS", .track = LNS_TRACK_MPI },
  { .name = "MPI_START_WAIT_EVENTS", .track = LNS_TRACK_MPI },
  { .name = "MPI_OTHER_EVENTS", .track = LNS_TRACK_MPI },
  { .name = "LNS_COUNTERS", .track = LNS_TRACK_COUNTER },
  /* This table comes last, because open ranges end with the report. */
  { .name = "NVTX_EVENTS", .track = LNS_TRACK_NVTX_RANGES },
};

/* ---- The file ---------------------------------------------------------------------------------- */

static bool
start_cb (void *data, const LnsKeptValue *values)
{
  LnsWriterOptions *options = data;
  options->t0_realtime_ns = _lns_import_number (&values[0]);
  return true;
}

/* Reads when the session started. */
static bool
read_start (LnsImport *import, LnsWriterOptions *options)
{
  static const char *const columns[] = { "utcEpochNs" };
  LnsForeignTable *table = lns_foreign_find (import->foreign, "TARGET_INFO_SESSION_START_TIME");

  return table == NULL ||
         lns_foreign_read (import->foreign, table, columns, 1, LNS_FOREIGN_AS_IT_LIES, start_cb,
                           options, import->error);
}

/* Returns whether the file has a table that nsys writes; fills the error if not. */
static bool
has_known_table (LnsImport *import, const char *path)
{
  for (size_t i = 0; i < N_IMPORTED; i++)
    if (lns_foreign_find (import->foreign, imported[i].name) != NULL)
      return true;
  return lns_error_set (
      import->error, LNS_ERROR_FORMAT, 0,
      "%s: this SQLite file is neither a report nor an nsys export; give one that "
      "\"nsys export --type sqlite\" wrote",
      path);
}

/* The path that the report and its errors give for the source at PATH. */
static const char *
origin_of (const LnsImport *import, const char *path)
{
  return import->options->origin != NULL ? import->options->origin : path;
}

static bool
open_all (LnsImport *import, const char *path, const char *out_path)
{
  LnsStringTable **maps[] = { &import->object_ids, &import->launch_ids, &import->track_ids,
                              &import->metrics };
  LnsWriterOptions options = { .overwrite = import->options->overwrite, .is_whole_or_none = true };

  import->foreign =
      lns_foreign_open (path, origin_of (import, path), import->options->cancel, import->error);
  if (import->foreign == NULL || !has_known_table (import, path) || !read_start (import, &options))
    return false;
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    if ((*maps[i] = lns_string_table_new ()) == NULL)
      lns_out_of_memory ();
  unsigned n;
  const LnsForeignTable *tables = lns_foreign_tables (import->foreign, &n);
  for (unsigned i = 0; i < n && import->options->progress != NULL; i++)
    import->n_total += lns_foreign_estimate (import->foreign, &tables[i]);
  import->writer = lns_writer_create (out_path, &options, import->error);
  return import->writer != NULL;
}

static void
free_all (LnsImport *import)
{
  LnsStringTable *tables[] = { import->texts, import->object_ids, import->launch_ids,
                               import->track_ids, import->metrics };
  LnsIdMap *maps[] = { &import->large_strings, &import->process_ids,  &import->thread_ids,
                       &import->leaves,        &import->public_calls, &import->addresses };

  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    lns_string_table_free (tables[i]);
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    lns_id_map_clear (maps[i]);
  char *name;
  for (size_t at = 0; (name = lns_id_map_next (&import->module_names, &at)) != NULL;)
    free (name);
  lns_id_map_clear (&import->module_names);
  lns_array_clear (&import->strings);
  lns_array_clear (&import->processes);
  lns_array_clear (&import->threads);
  lns_array_clear (&import->domains);
  lns_array_clear (&import->devices);
  lns_array_clear (&import->contexts);
  lns_array_clear (&import->streams);
  lns_array_clear (&import->gpus);
  lns_array_clear (&import->tracks);
  lns_buffer_clear (&import->left_out);
  lns_foreign_close (import->foreign);
}

typedef struct
{
  LnsImport *import;
  const LnsImportTable *how;
} Rows;

static bool
row_cb (void *data, const LnsKeptValue *values)
{
  const Rows *rows = data;

  rows->import->n_done++;
  rows->how->row (rows->import, values);
  return _lns_import_look_up (rows->import);
}

static bool
import_table (LnsImport *import, LnsForeignTable *table, const LnsImportTable *how)
{
  Rows rows = { import, how };
  unsigned n_columns = 0;

  if (how->import != NULL)
    return how->import (import, table);
  if (how->row == NULL)
    return _lns_import_events (import, table, how);
  while (how->columns[n_columns] != NULL)
    n_columns++;
  return lns_foreign_read (import->foreign, table, how->columns, n_columns, LNS_FOREIGN_AS_IT_LIES,
                           row_cb, &rows, import->error);
}

/* Imports the tables that the file has, one after the other. */
static bool
import_tables (LnsImport *import)
{
  for (size_t i = 0; i < N_IMPORTED; i++)
    {
      LnsForeignTable *table = lns_foreign_find (import->foreign, imported[i].name);
      if (table == NULL)
        continue;
      table->is_known = true;
      if (!import_table (import, table, &imported[i]))
        return false;
      _lns_import_end_table (import);
    }
  return true;
}

/* Lists the tables that nothing has read, and the unknown columns of the others, as left out. */
static bool
list_rest (LnsImport *import)
{
  unsigned n;
  LnsForeignTable *tables = lns_foreign_tables (import->foreign, &n);

  for (unsigned i = 0; i < n; i++)
    {
      uint64_t n_rows = 0;
      if (strncasecmp (tables[i].name, "ENUM_", 5) == 0)
        continue;
      if (!lns_foreign_count (import->foreign, &tables[i], &n_rows, import->error))
        return false;
      if (n_rows > 0 && !tables[i].is_known)
        _lns_import_leave_out (import, "%s: %llu %s", tables[i].name, (unsigned long long)n_rows,
                               lns_plural (n_rows, "row", "rows"));
      for (unsigned c = 0; n_rows > 0 && tables[i].is_known && c < tables[i].columns.n; c++)
        if (!tables[i].columns.items[c].is_used)
          _lns_import_leave_out (import, "%s.%s: unknown column", tables[i].name,
                                 tables[i].columns.items[c].name);
    }
  return true;
}

/* Notes in the report that its source could not be read to its end. */
static void
set_missing (LnsImport *import, const char *path)
{
  char sentence[1024];

  snprintf (sentence, sizeof sentence, "what follows in %.700s: %s", origin_of (import, path),
            import->options->complaint);
  lns_writer_set_meta (import->writer, "missing", sentence);
}

bool
lns_import_sqlite (const char *path,
                   const char *out_path,
                   const LnsImportOptions *options,
                   LnsImportResult *ret_result,
                   LnsError *error)
{
  static const LnsImportOptions none = { 0 };
  LnsImport import = { .options = options != NULL ? options : &none, .error = error };
  const bool is_cut_off = import.options->complaint != NULL;

  bool good = open_all (&import, path, out_path) && import_tables (&import) &&
              _lns_import_keep_tables (&import) && list_rest (&import);
  _lns_import_end_table (&import); /* ends the lanes of a table whose import failed */
  for (const char *line = import.options->left_out; good && line != NULL && *line != '\0';)
    {
      const size_t n = strcspn (line, "\n");
      _lns_import_leave_out (&import, "%.*s", (int)n, line);
      line += n + (line[n] == '\n');
    }
  if (good && is_cut_off)
    _lns_import_tell (
        &import, LNS_SEVERITY_WARNING, "LNS-IMPORT-002",
        "the file could not be read to its end; the report has the events before that",
        import.options->complaint);
  lns_buffer_append (&import.left_out, "", 1);
  if (good)
    {
      lns_writer_set_meta (import.writer, "imported_from", origin_of (&import, path));
      if (is_cut_off)
        set_missing (&import, path);
      good =
          lns_writer_finish (import.writer, is_cut_off ? LNS_STATE_RECOVERED : LNS_STATE_COMPLETE,
                             import.end_ns, error);
    }
  else if (import.writer != NULL)
    lns_writer_abandon (import.writer);
  if (good && ret_result != NULL)
    {
      *ret_result =
          (LnsImportResult){ .n_rows = import.n_rows,
                             .n_bad = import.n_bad,
                             .left_out = lns_strdup ((const char *)import.left_out.bytes) };
      if (is_cut_off)
        snprintf (ret_result->complaint, sizeof ret_result->complaint, "%s",
                  import.options->complaint);
    }
  free_all (&import);
  return good;
}

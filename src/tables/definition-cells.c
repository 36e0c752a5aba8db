/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes the rows that come from definitions, one function for each table. A function chooses the definitions that are rows
 * and fills the columns that have no cell (cell.h) of their own. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lns-config.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/enums.h"
#include "src/tables/tables-private.h"

/* The table being built. */
typedef struct
{
  LnsTables *tables;
  LnsReport *report;
  LnsTableCells *cells;
  const LnsTable *table;
  bool is_second; /* the second of two tables that one function builds                          */
  size_t joined_bytes;
} Builder;

/* The most that texts of one table take that are joined from two strings. Without a limit, thousands of definitions that
 * name one long string would take a copy of it each. */
#define JOINED_MAX_BYTES (32 << 20)

typedef struct
{
  int64_t key;
  uint32_t id;
} KeyedId;

/* ---- Rows and values ------------------------------------------------------------------------- */

/* TEXT lives at least as long as the tables. */
static LnsValue
constant (const char *text)
{
  return lns_value_text (text, strlen (text));
}

/* TEXT, which the tables own from here on. */
static LnsValue
own (Builder *builder, char *text)
{
  return constant (_lns_tables_own (builder->tables, text));
}

/* The strings FIRST and SECOND with BETWEEN and AFTER; the string ALONE after JOINED_MAX_BYTES. */
static LnsValue
join (Builder *builder,
      uint32_t first,
      const char *between,
      uint32_t second,
      const char *after,
      uint32_t alone)
{
  size_t first_bytes, second_bytes;
  const char *a = lns_report_string (builder->report, first, &first_bytes),
             *b = lns_report_string (builder->report, second, &second_bytes);

  builder->joined_bytes += first_bytes + second_bytes;
  return builder->joined_bytes <= JOINED_MAX_BYTES
             ? own (builder, lns_asprintf ("%s%s%s%s", a, between, b, after))
             : _lns_string_value (builder->report, alone);
}

/* An open report has all that its definitions refer to. */

static int64_t
pid_of (Builder *builder, uint32_t process)
{
  return lns_report_processes (builder->report, NULL)[process].pid;
}

static int64_t
domain_number (Builder *builder, uint32_t domain)
{
  return (int64_t)lns_report_domains (builder->report, NULL)[domain].number;
}

/* The UUID without its kind: "GPU-8f2c…" becomes "8f2c…". */
static LnsValue
uuid (Builder *builder, uint32_t id)
{
  LnsValue value = _lns_string_or_null (builder->report, id);
  const char *dash =
      value.type == LNS_VALUE_TEXT ? memchr (value.bytes, '-', value.size_bytes) : NULL;

  if (dash != NULL)
    {
      value.size_bytes -= (uint32_t)(dash + 1 - value.bytes);
      value.bytes = dash + 1;
    }
  return value;
}

/* What CELL is for DEFINITION; NULL where it is no cell of definitions. */
static LnsValue
field (Builder *builder, const LnsCell *cell, const void *definition)
{
  const int64_t wide = cell->n_bits > 0 ? _lns_cell_field (cell, definition) : 0;
  const uint32_t narrow = (uint32_t)wide;

  switch (cell->rule)
    {
    case LNS_CELL_CONSTANT:
      return lns_value_integer (cell->argument);
    case LNS_CELL_FIELD:
      return lns_value_integer (wide);
    case LNS_CELL_FIELD_OR_NULL:
      return lns_value_integer_or_null (wide);
    case LNS_CELL_FIELD_TIME:
      return wide != LNS_TIME_UNKNOWN ? lns_value_integer (wide) : (LnsValue){ 0 };
    case LNS_CELL_FIELD_TEXT:
      return _lns_string_value (builder->report, narrow);
    case LNS_CELL_FIELD_TEXT_OR_NULL:
      return _lns_string_or_null (builder->report, narrow);
    case LNS_CELL_FIELD_UUID:
      return uuid (builder, narrow);
    case LNS_CELL_FIELD_DOMAIN:
      return lns_value_integer (domain_number (builder, narrow));
    case LNS_CELL_FIELD_PID:
      return lns_value_integer (pid_of (builder, narrow));
    case LNS_CELL_FIELD_GLOBAL_PID:
      return lns_value_integer_or_null (lns_tables_global_pid (builder->tables, narrow));
    case LNS_CELL_FIELD_GLOBAL_TID:
      return lns_value_integer_or_null (lns_tables_global_tid (builder->tables, narrow));
    default:
      return (LnsValue){ 0 };
    }
}

/* The values of a new row: what its cells are for DEFINITION, and otherwise NULL. They move when the next row is added.
 * DEFINITION is NULL for a table without cells. */
static LnsValue *
add_row (Builder *builder, const void *definition)
{
  LnsTableCells *cells = builder->cells;
  const unsigned n_columns = builder->table->n_columns;

  if (cells->n_rows == cells->n_allocated)
    {
      cells->n_allocated = cells->n_allocated * 2 + 16;
      cells->values =
          lns_realloc (cells->values, cells->n_allocated, n_columns * sizeof *cells->values);
    }
  LnsValue *row = &cells->values[cells->n_rows++ * n_columns];
  for (unsigned i = 0; i < n_columns; i++)
    row[i] = definition != NULL ? field (builder, &builder->table->columns[i].cell, definition)
                                : (LnsValue){ 0 };
  return row;
}

/* ---- Processes and threads ------------------------------------------------------------------- */

static int
compare_keyed (const void *a, const void *b)
{
  const KeyedId *ka = a, *kb = b;

  return LNS_COMPARE (ka->key, kb->key) ?: LNS_COMPARE (ka->id, kb->id);
}

/* Sorts ITEMS by key and keeps the last of those with equal keys: readers expect a pid or tid to be unique, so one
 * that the system used again has one row. Returns how many are left. */
static uint32_t
keep_last (KeyedId *items, uint32_t n)
{
  uint32_t n_kept = 0;

  qsort (items, n, sizeof *items, compare_keyed);
  for (uint32_t i = 0; i < n; i++)
    if (i + 1 == n || items[i + 1].key != items[i].key)
      items[n_kept++] = items[i];
  return n_kept;
}

/* Named threads by globalTid, of those with one id the last; the caller frees. RET_N_REUSED gets
 * how many were left out because a later thread has their id. */
static KeyedId *
named_threads (Builder *builder, uint32_t *ret_n, uint32_t *ret_n_reused)
{
  uint32_t n_threads, n = 0;

  lns_report_threads (builder->report, &n_threads);
  KeyedId *items = lns_calloc (n_threads, sizeof *items);
  for (uint32_t i = 0; i < n_threads; i++)
    if (lns_tables_thread_name (builder->tables, i) != LNS_ID_NONE)
      items[n++] = (KeyedId){ lns_tables_global_tid (builder->tables, i), i };
  *ret_n = keep_last (items, n);
  *ret_n_reused = n - *ret_n;
  return items;
}

static void
build_thread_names (Builder *builder)
{
  uint32_t n, n_reused;
  const LnsThread *threads = lns_report_threads (builder->report, &n);
  KeyedId *items = named_threads (builder, &n, &n_reused);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsThread *thread = &threads[items[i].id];
      LnsValue *row = add_row (builder, NULL);
      row[0] = lns_value_integer (lns_tables_thread_name (builder->tables, items[i].id));
      if (thread->listed == 2)
        row[1] = lns_value_integer (thread->priority);
      row[2] = lns_value_integer (items[i].key);
    }
  free (items);
}

static void
build_processes (Builder *builder)
{
  uint32_t n, n_listed = 0;
  const LnsProcess *processes = lns_report_processes (builder->report, &n);
  KeyedId *items = lns_calloc (n, sizeof *items);

  for (uint32_t i = 0; i < n; i++)
    if (processes[i].is_listed || !builder->tables->is_import)
      items[n_listed++] = (KeyedId){ lns_tables_global_pid (builder->tables, i), i };
  n = keep_last (items, n_listed);
  for (uint32_t i = 0; i < n; i++)
    {
      LnsValue *row = add_row (builder, &processes[items[i].id]);
      row[0] = lns_value_integer (items[i].key);
      row[1] = lns_value_integer (processes[items[i].id].pid);
      if (processes[items[i].id].exit_code >= 0)
        row[5] = lns_value_integer (processes[items[i].id].exit_code);
    }
  free (items);
}

/* ---- NVTX ------------------------------------------------------------------------------------ */

static LnsValue *
add_nvtx_row (Builder *builder,
              int event_type,
              int64_t time_ns,
              uint32_t name,
              uint32_t domain,
              int64_t global_tid)
{
  LnsValue *row = add_row (builder, NULL);

  row[LNS_NVTX_START] = lns_value_integer (time_ns != LNS_TIME_UNKNOWN ? time_ns : 0);
  row[LNS_NVTX_EVENT_TYPE] = lns_value_integer (event_type);
  if (event_type != LNS_EVENT_TYPE_DOMAIN_DESTROY)
    row[LNS_NVTX_TEXT] = _lns_string_value (builder->report, name);
  row[LNS_NVTX_GLOBAL_TID] = lns_value_integer_or_null (global_tid);
  row[LNS_NVTX_DOMAIN_ID] =
      lns_value_integer (domain != LNS_ID_NONE ? domain_number (builder, domain) : 0);
  return row;
}

static int
compare_nvtx_rows (const void *a, const void *b)
{
  const LnsValue *ra = a, *rb = b;

  return LNS_COMPARE (ra[LNS_NVTX_START].integer, rb[LNS_NVTX_START].integer)
             ?: LNS_COMPARE (ra[LNS_NVTX_EVENT_ID].integer, rb[LNS_NVTX_EVENT_ID].integer);
}

/* The thread that created DOMAIN, or its process where that is not known. */
static int64_t
domain_tid (Builder *builder, uint32_t domain)
{
  const LnsDomain *it = &lns_report_domains (builder->report, NULL)[domain];
  const int64_t tid = lns_tables_global_tid (builder->tables, it->thread);

  return tid != 0 ? tid : lns_tables_global_pid (builder->tables, it->process);
}

/* Makes domains, categories and thread names the events that nsys has for them. */
static void
build_nvtx (Builder *builder)
{
  LnsTableCells *cells = builder->cells;
  uint32_t n_domains, n_categories, n_threads, n_reused;
  const LnsDomain *domains = lns_report_domains (builder->report, &n_domains);
  const LnsCategory *categories = lns_report_categories (builder->report, &n_categories);
  const LnsThread *threads = lns_report_threads (builder->report, &n_threads);
  KeyedId *named = named_threads (builder, &n_threads, &n_reused);

  /* A program neither creates nor destroys the default domain. An import keeps the rows of its source, some of
   * which destroy the default domain, or a domain that nothing created. */
  const bool is_imported = builder->tables->is_import;
  for (uint32_t i = 0; i < n_domains; i++)
    {
      const bool is_created = domains[i].created_ns != LNS_TIME_UNKNOWN,
                 is_destroyed = domains[i].destroyed_ns != LNS_TIME_UNKNOWN;
      if (is_created && (is_imported || domains[i].number != 0))
        add_nvtx_row (builder, LNS_EVENT_TYPE_DOMAIN_CREATE, domains[i].created_ns, domains[i].name,
                      i, domain_tid (builder, i));
      if (is_destroyed && (is_imported || (is_created && domains[i].number != 0)))
        add_nvtx_row (builder, LNS_EVENT_TYPE_DOMAIN_DESTROY, domains[i].destroyed_ns, 0, i,
                      domain_tid (builder, i));
    }
  for (uint32_t i = 0; i < n_categories; i++)
    {
      uint32_t domain = categories[i].domain;
      LnsValue *row = add_nvtx_row (builder, LNS_EVENT_TYPE_CATEGORY, domains[domain].created_ns,
                                    categories[i].name, domain, domain_tid (builder, domain));
      row[LNS_NVTX_CATEGORY] = lns_value_integer (categories[i].category);
    }
  for (uint32_t i = 0; i < n_threads; i++)
    {
      const LnsThread *thread = &threads[named[i].id];
      if (thread->is_named)
        add_nvtx_row (builder, LNS_EVENT_TYPE_THREAD_NAME, thread->start_ns, thread->name,
                      LNS_ID_NONE, named[i].key);
    }
  free (named);
  for (uint64_t i = 0; i < cells->n_rows; i++)
    cells->values[i * builder->table->n_columns + LNS_NVTX_EVENT_ID] =
        lns_value_integer ((int64_t)i);
  if (cells->n_rows > 0)
    qsort (cells->values, cells->n_rows, builder->table->n_columns * sizeof *cells->values,
           compare_nvtx_rows);
  for (uint64_t i = 0; i < cells->n_rows; i++)
    cells->values[i * builder->table->n_columns + LNS_NVTX_EVENT_ID] =
        lns_value_integer ((int64_t)(builder->tables->nvtx->n_events + i + 1));
}

/* NVTX_RESOURCE_TYPE_* without that prefix, from nvToolsExt.h, nvToolsExtCuda.h, nvToolsExtCudaRt.h,
 * nvToolsExtOpenCL.h and nvToolsExtSync.h. */
static const char *
resource_type_name (uint32_t type)
{
  static const struct
  {
    uint32_t type;
    const char *name;
  } known[] = {
    { 0x10001, "GENERIC_POINTER" },
    { 0x10002, "GENERIC_HANDLE" },
    { 0x10003, "GENERIC_THREAD_NATIVE" },
    { 0x10004, "GENERIC_THREAD_POSIX" },
    { 0x20001, "SYNC_LINUX_MUTEX" },
    { 0x20002, "SYNC_LINUX_FUTEX" },
    { 0x20003, "SYNC_LINUX_SEMAPHORE" },
    { 0x20004, "SYNC_LINUX_COMPLETION" },
    { 0x20005, "SYNC_LINUX_SPINLOCK" },
    { 0x20006, "SYNC_LINUX_SEQLOCK" },
    { 0x20007, "SYNC_LINUX_RCU" },
    { 0x30001, "SYNC_PTHREAD_MUTEX" },
    { 0x30002, "SYNC_PTHREAD_CONDITION" },
    { 0x30003, "SYNC_PTHREAD_RWLOCK" },
    { 0x30004, "SYNC_PTHREAD_BARRIER" },
    { 0x30005, "SYNC_PTHREAD_SPINLOCK" },
    { 0x30006, "SYNC_PTHREAD_ONCE" },
    { 0x40001, "CUDA_DEVICE" },
    { 0x40002, "CUDA_CONTEXT" },
    { 0x40003, "CUDA_STREAM" },
    { 0x40004, "CUDA_EVENT" },
    { 0x50000, "CUDART_DEVICE" },
    { 0x50001, "CUDART_STREAM" },
    { 0x50002, "CUDART_EVENT" },
    { 0x60001, "OPENCL_DEVICE" },
    { 0x60002, "OPENCL_CONTEXT" },
    { 0x60003, "OPENCL_COMMANDQUEUE" },
    { 0x60004, "OPENCL_MEMOBJECT" },
    { 0x60005, "OPENCL_SAMPLER" },
    { 0x60006, "OPENCL_PROGRAM" },
    { 0x60007, "OPENCL_EVENT" },
  };

  for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i].type == type)
      return known[i].name;
  return "UNKNOWN";
}

static void
build_resources (Builder *builder)
{
  uint32_t n;
  const LnsResource *resources = lns_report_resources (builder->report, &n);
  const LnsDomain *domains = lns_report_domains (builder->report, NULL);

  for (uint32_t i = 0; i < n; i++)
    {
      const uint32_t process = domains[resources[i].domain].process;
      LnsValue *row = add_row (builder, &resources[i]);
      row[2] = lns_value_integer_or_null (lns_tables_global_pid (builder->tables, process));
      row[5] = constant (resource_type_name (resources[i].type));
    }
}

static void
build_payload_schemas (Builder *builder)
{
  const bool enums = builder->is_second;
  uint32_t n, n_entries;
  const LnsSchema *schemas = lns_report_schemas (builder->report, &n);
  const LnsSchemaEntry *entries = lns_report_schema_entries (builder->report, &n_entries);
  uint32_t *counts = lns_calloc (n, sizeof *counts);

  for (uint32_t i = 0; i < n_entries; i++)
    counts[entries[i].schema]++;
  for (uint32_t i = 0; i < n; i++)
    if ((schemas[i].is_enum != 0) == enums)
      add_row (builder, &schemas[i])[enums ? 3 : 5] = lns_value_integer (counts[i]);
  free (counts);
}

static void
build_payload_entries (Builder *builder)
{
  const bool enums = builder->is_second;
  uint32_t n;
  const LnsSchemaEntry *entries = lns_report_schema_entries (builder->report, &n);
  const LnsSchema *schemas = lns_report_schemas (builder->report, NULL);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsSchema *schema = &schemas[entries[i].schema];
      if ((schema->is_enum != 0) != enums)
        continue;
      LnsValue *row = add_row (builder, &entries[i]);
      row[0] = lns_value_integer (domain_number (builder, schema->domain));
      row[1] = lns_value_integer ((int64_t)schema->schema_id);
    }
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* NVTX_RESOURCE_TYPE_CUDA_DEVICE and …_CUDART_DEVICE: their identifiers are CUDA's numbers. */
#define NVTX_CUDA_DEVICE   0x40001
#define NVTX_CUDART_DEVICE 0x50000

static void
build_gpus (Builder *builder)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (builder->report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsCudaDevice *device = &devices[i];
      if (!_lns_tables_is_gpu (devices, i))
        continue;
      LnsValue *row = add_row (builder, device);
      row[1] = lns_value_integer (_lns_tables_gpu_id (devices, i));
      row[7] = lns_value_integer_or_null ((int64_t)(device->memory_bandwidth * 1000));
      row[8] = lns_value_integer_or_null ((int64_t)device->core_clock * 1000);
      if (device->compute_major != 0)
        row[38] = row[40] = lns_value_integer (device->compute_minor);
    }
}

static void
build_devices (Builder *builder)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (builder->report, &n);

  for (uint32_t i = 0; i < n; i++)
    add_row (builder, &devices[i])[0] = lns_value_integer (_lns_tables_gpu_id (devices, i));
}

static const LnsCudaDevice *
device_of (Builder *builder, const LnsCudaContext *context)
{
  return &lns_report_devices (builder->report, NULL)[context->device];
}

/* Contexts, or those that the program named. */
static void
build_contexts (Builder *builder)
{
  uint32_t n;
  const LnsCudaContext *contexts = lns_report_contexts (builder->report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsCudaDevice *device = device_of (builder, &contexts[i]);
      if (builder->is_second && contexts[i].name == 0)
        continue;
      LnsValue *row = add_row (builder, &contexts[i]);
      row[3] = lns_value_integer (pid_of (builder, device->process));
      row[4] = lns_value_integer (device->number);
      if (!builder->is_second)
        row[6] = lns_value_integer (contexts[i].parent != UINT32_MAX ? contexts[i].parent : 0);
    }
}

/* Streams, or those that the program named. */
static void
build_streams (Builder *builder)
{
  const bool named = builder->is_second;
  uint32_t n;
  const LnsCudaStream *streams = lns_report_streams (builder->report, &n);
  const LnsCudaContext *contexts = lns_report_contexts (builder->report, NULL);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsCudaContext *context = &contexts[streams[i].context];
      const LnsCudaDevice *device = device_of (builder, context);
      /* CUPTI has no stream 0: that number stands for waits for a whole context. */
      if (named ? streams[i].name == 0 : streams[i].number == 0)
        continue;
      LnsValue *row = add_row (builder, &streams[i]);
      row[3] = lns_value_integer (pid_of (builder, device->process));
      row[named ? 5 : 4] = lns_value_integer (context->number);
      if (named)
        row[4] = lns_value_integer (device->number);
    }
}

static void
build_named_devices (Builder *builder)
{
  uint32_t n;
  const LnsResource *resources = lns_report_resources (builder->report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (resources[i].type == NVTX_CUDA_DEVICE || resources[i].type == NVTX_CUDART_DEVICE)
      add_row (builder, &resources[i]);
}

/* The metrics that have a name, with their unit in brackets, as the reference writes it: readers look for names by how they
 * begin. */
static void
build_metrics (Builder *builder)
{
  uint32_t n, n_devices;
  const LnsTrack *tracks = lns_report_tracks (builder->report, &n);
  const LnsCudaDevice *devices = lns_report_devices (builder->report, &n_devices);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsTrack *track = &tracks[i];
      if (track->kind != LNS_TRACK_GPU_METRIC || track->name == 0)
        continue;
      LnsValue *row = add_row (builder, track);
      row[2] = _lns_string_value (builder->report,
                                  track->device < n_devices ? devices[track->device].name : 0);
      row[4] = track->unit == 0 ? _lns_string_value (builder->report, track->name)
                                : join (builder, track->name, " [", track->unit, "]", track->name);
    }
}

/* ---- The session, its machine and its diagnostics ---------------------------------------------- */

/* The schema of the reference's exports that these tables follow, column by column. Readers choose by it what they
 * look for: PROFILER_OVERHEAD has overheadType instead of returnValue since 3.24, kernels have
 * tensorSizeMinusOneElements since 3.25. */
#define SCHEMA_MAJOR "3"
#define SCHEMA_MINOR "25"
#define SCHEMA_MICRO "0"

/* ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE, ENUM_DIAGNOSTIC_SOURCE_TYPE */
#define TARGET_TIMESTAMP  1
#define DIAGNOSTIC_DAEMON 2

static LnsValue *
add_diagnostic (Builder *builder, int64_t time_ns, LnsSeverity severity, LnsValue text)
{
  LnsValue *row = add_row (builder, NULL);

  row[0] = lns_value_integer (time_ns);
  row[1] = lns_value_integer (TARGET_TIMESTAMP);
  row[2] = lns_value_integer (DIAGNOSTIC_DAEMON);
  row[3] = lns_value_integer (severity + 1);
  row[4] = text;
  return row;
}

static void
build_diagnostics (Builder *builder)
{
  LnsReport *report = builder->report;
  uint32_t n, n_named, n_reused;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsDiagnostic *it = &diagnostics[i];
      const LnsValue text = join (builder, it->code, ": ", it->text, "", it->text);
      LnsValue *row = add_diagnostic (builder, it->time_ns != LNS_TIME_UNKNOWN ? it->time_ns : 0,
                                      it->severity, text);
      row[5] = lns_value_integer_or_null (lns_tables_global_pid (builder->tables, it->process));
    }
  free (named_threads (builder, &n_named, &n_reused));
  if (n_reused > 0)
    add_diagnostic (
        builder, 0, LNS_SEVERITY_INFO,
        own (builder,
             lns_asprintf ("LNS-SQL-001: ThreadNames lacks %" PRIu32
                           " threads, as later threads of their processes have the same ids",
                           n_reused)));
}

static void
build_losses (Builder *builder)
{
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (builder->report, &n);

  for (uint32_t i = 0; i < n; i++)
    add_row (builder, &losses[i]);
}

static void
add_pair (Builder *builder, const char *name, LnsValue value)
{
  if (value.type == LNS_VALUE_NULL)
    return;
  LnsValue *row = add_row (builder, NULL);
  row[0] = constant (name);
  row[1] = value;
}

static LnsValue
meta (Builder *builder, const char *key)
{
  const char *value = lns_report_meta (builder->report, key);
  return value != NULL ? constant (value) : (LnsValue){ 0 };
}

static void
build_meta_capture (Builder *builder)
{
  const LnsReportInfo *info = lns_report_info (builder->report);

  add_pair (builder, "DEVICE_ID", meta (builder, "host_name"));
  add_pair (builder, "DEVICE_DISPLAY_NAME", meta (builder, "host_name"));
  add_pair (builder, "CAPTURE_EVENT_TYPE", constant ("NvtxEvents"));
  add_pair (builder, "PROCESS_0:COMMAND", meta (builder, "command_line"));
  add_pair (builder, "PROCESS_0:WORKING_DIR", meta (builder, "working_directory"));
  add_pair (builder, "RUN_DURATION_MS",
            own (builder, lns_asprintf ("%" PRId64, info->end_ns / 1000000)));
}

static void
build_meta_export (Builder *builder)
{
  static const char *const pairs[][2] = {
    { "EXPORT_PRODUCT_NAME", "Lanescope" },
    { "EXPORT_PRODUCT_VERSION", LNS_VERSION },
    { "EXPORT_SCHEMA_VERSION", SCHEMA_MAJOR "." SCHEMA_MINOR "." SCHEMA_MICRO },
    { "EXPORT_SCHEMA_VERSION_MAJOR", SCHEMA_MAJOR },
    { "EXPORT_SCHEMA_VERSION_MINOR", SCHEMA_MINOR },
    { "EXPORT_SCHEMA_VERSION_MICRO", SCHEMA_MICRO },
    { "EXPORT_PARAM_TIME_NORMALIZE", "false" },
    { "EXPORT_PARAM_TIME_SHIFT", "0" },
  };

  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    add_pair (builder, pairs[i][0], constant (pairs[i][1]));
}

/* The machine, from the metadata of the report. Readers know each value by a name and a number. */
static void
build_system_env (Builder *builder)
{
  static const struct
  {
    const char *key, *name;
    int number;
  } known[] = {
    { "cpu_count", "CpuCores", 1 },        { "cpu_arch", "CpuArchitecture", 3 },
    { "cpu_model", "CpuDescription", 13 }, { "os", "OsDescription", 605 },
    { "host_name", "Hostname", 619 },      { "kernel", "KernelVersion", 882 },
  };
  const char *host = lns_report_meta (builder->report, "host_name");

  for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
    {
      LnsValue value = meta (builder, known[i].key);
      if (value.type == LNS_VALUE_NULL)
        continue;
      LnsValue *row = add_row (builder, NULL);
      row[0] = lns_value_integer (0);
      row[1] = constant (host != NULL ? host : "");
      row[2] = constant (known[i].name);
      row[3] = lns_value_integer (known[i].number);
      row[4] = value;
    }
}

static LnsValue
format_time (Builder *builder, int64_t realtime_ns, bool utc)
{
  time_t seconds = realtime_ns / 1000000000;
  struct tm parts;
  char text[32];

  if ((utc ? gmtime_r (&seconds, &parts) : localtime_r (&seconds, &parts)) == NULL ||
      strftime (text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts) == 0)
    return (LnsValue){ 0 };
  return own (builder, lns_asprintf ("%s", text));
}

static void
build_start_time (Builder *builder)
{
  const LnsReportInfo *info = lns_report_info (builder->report);
  LnsValue *row = add_row (builder, info);

  row[1] = format_time (builder, info->t0_realtime_ns, true);
  row[2] = format_time (builder, info->t0_realtime_ns, false);
}

static void
build_details (Builder *builder)
{
  const LnsReportInfo *info = lns_report_info (builder->report);

  add_row (builder, info)[3] =
      lns_value_integer ((int64_t)((uint64_t)info->t0_monotonic_ns + (uint64_t)info->end_ns));
}

/* ---- All ------------------------------------------------------------------------------------- */

static void
build_enum (Builder *builder, const LnsEnum *constants)
{
  for (unsigned i = 0; i < constants->n_values; i++)
    {
      LnsValue *row = add_row (builder, NULL);
      row[0] = lns_value_integer (constants->values[i].id);
      row[1] = constant (constants->values[i].name);
      row[2] = constant (constants->values[i].label);
    }
}

void
_lns_cells_build (LnsTables *tables, const LnsTable *table, LnsTableCells *cells)
{
  static const struct
  {
    const char *table;
    void (*build) (Builder *builder);
    bool is_second;
  } sources[] = {
    { "ThreadNames", build_thread_names },
    { "PROCESSES", build_processes },
    { "LNS_NVTX_RESOURCES", build_resources },
    { "NVTX_PAYLOAD_SCHEMAS", build_payload_schemas },
    { "NVTX_PAYLOAD_ENUMS", build_payload_schemas, .is_second = true },
    { "NVTX_PAYLOAD_SCHEMA_ENTRIES", build_payload_entries },
    { "NVTX_PAYLOAD_ENUM_ENTRIES", build_payload_entries, .is_second = true },
    { "TARGET_INFO_GPU", build_gpus },
    { "TARGET_INFO_CUDA_DEVICE", build_devices },
    { "TARGET_INFO_GPU_METRICS", build_metrics },
    { "TARGET_INFO_CUDA_CONTEXT_INFO", build_contexts },
    { "TARGET_INFO_CUDA_STREAM", build_streams },
    { "TARGET_INFO_NVTX_CUDA_STREAM", build_streams, .is_second = true },
    { "TARGET_INFO_NVTX_CUDA_CONTEXT", build_contexts, .is_second = true },
    { "TARGET_INFO_NVTX_CUDA_DEVICE", build_named_devices },
    { "DIAGNOSTIC_EVENT", build_diagnostics },
    { "LNS_LOSSES", build_losses },
    { "META_DATA_CAPTURE", build_meta_capture },
    { "META_DATA_EXPORT", build_meta_export },
    { "TARGET_INFO_SYSTEM_ENV", build_system_env },
    { "TARGET_INFO_SESSION_START_TIME", build_start_time },
    { "ANALYSIS_DETAILS", build_details },
  };
  Builder builder = { tables, tables->report, cells, table, false };

  if (table->source == LNS_ROWS_ENUM)
    build_enum (&builder, lns_enum_find (table->name));
  else if (table->source == LNS_ROWS_NVTX)
    build_nvtx (&builder);
  else if (table->source == LNS_ROWS_DEFINITIONS)
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
      if (strcmp (sources[i].table, table->name) == 0)
        {
          builder.is_second = sources[i].is_second;
          sources[i].build (&builder);
        }
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes reports with hostile values through the public writer: their structure is right, so that
 * readers accept it and reach the values. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/write/kept-table.h"
#include "tests/fuzz/hostile.h"
#include "tests/unit/report-fixture.h"

#define EVENTS_MAX 6000 /* of all lanes together */
#define DEFINED    4    /* of each kind of definition, at most */

/* What there is to refer to. */
typedef struct
{
  LnsWriter *writer;
  uint32_t n_strings, n_processes, n_threads, n_domains, n_devices, n_contexts, n_streams,
      n_launches, n_call_nodes, n_rows;
  bool may_lack_owners; /* readers refuse tracks without a process or thread */
} Making;

/* Where events of a kind belong; several kinds of tracks may hold lanes of one kind. */
static const struct
{
  LnsTrackKind track;
  LnsLaneKind lane;
} places[] = {
  { LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP },
  { LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP },
  { LNS_TRACK_NVTX_START_END, LNS_LANE_NVTX_START_END },
  { LNS_TRACK_NVTX_MARKS, LNS_LANE_NVTX_MARK },
  { LNS_TRACK_COUNTER, LNS_LANE_COUNTER },
  { LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API },
  { LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API },
  { LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL },
  { LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL },
  { LNS_TRACK_CUDA_MEMCPY, LNS_LANE_CUDA_MEMCPY },
  { LNS_TRACK_CUDA_MEMSET, LNS_LANE_CUDA_MEMSET },
  { LNS_TRACK_CUDA_SYNC, LNS_LANE_CUDA_SYNC },
  { LNS_TRACK_CUDA_EVENTS, LNS_LANE_CUDA_EVENT },
  { LNS_TRACK_CUDA_GRAPHS, LNS_LANE_CUDA_GRAPH },
  { LNS_TRACK_CUDA_GRAPH_NODES, LNS_LANE_CUDA_GRAPH_NODE },
  { LNS_TRACK_CUDA_OVERHEAD, LNS_LANE_CUDA_OVERHEAD },
  { LNS_TRACK_CUDA_MEMORY, LNS_LANE_CUDA_MEMORY },
  { LNS_TRACK_CUDA_POOLS, LNS_LANE_CUDA_POOL },
  { LNS_TRACK_CUDA_CPU_FAULTS, LNS_LANE_CUDA_FAULT },
  { LNS_TRACK_CUDA_GPU_FAULTS, LNS_LANE_CUDA_FAULT },
  { LNS_TRACK_CUDA_JIT, LNS_LANE_CUDA_JIT },
  { LNS_TRACK_CUBLAS, LNS_LANE_LIBRARY_CALL },
  { LNS_TRACK_CUDNN, LNS_LANE_LIBRARY_CALL },
  { LNS_TRACK_CUSPARSE, LNS_LANE_LIBRARY_CALL },
  { LNS_TRACK_CUSOLVER, LNS_LANE_LIBRARY_CALL },
  { LNS_TRACK_OS_CALLS, LNS_LANE_OS_CALL },
  { LNS_TRACK_SCHED, LNS_LANE_SCHED },
  { LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE },
  { LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE },
  { LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE },
  { LNS_TRACK_MPI, LNS_LANE_MPI_CALL },
  { LNS_TRACK_GPU_METRIC, LNS_LANE_COUNTER },
  { LNS_TRACK_NVTX_PROJECTED, LNS_LANE_NVTX_PROJECTED },
  { LNS_TRACK_CUDA_BACKTRACES, LNS_LANE_CUDA_BACKTRACE },
  { LNS_TRACK_CUDA_HOST, LNS_LANE_CUDA_HOST },
  { LNS_TRACK_CUDA_UNIFIED, LNS_LANE_CUDA_UNIFIED },
  { LNS_TRACK_GPU_SWITCHES, LNS_LANE_GPU_SWITCH },
  { LNS_TRACK_CPU, LNS_LANE_CPU_RUN },
  { LNS_TRACK_SYSTEM_CALLS, LNS_LANE_SYSTEM_CALL },
  { LNS_TRACK_PYTHON_SAMPLES, LNS_LANE_PYTHON_SAMPLE },
};

/* A small number, now and then a hostile one. */
static uint64_t
number (uint64_t below)
{
  return hostile_one_in (12) ? hostile_number () : hostile_draw (below);
}

static int64_t
time_ns (void)
{
  return hostile_one_in (6) ? (int64_t)hostile_number () : (int64_t)hostile_draw (1000000);
}

/* Of what only the writer's own checks keep whole: a reference that must be right mostly is. */
static uint32_t
id_or_none (uint32_t n)
{
  return n == 0 || hostile_one_in (8) ? LNS_ID_NONE : (uint32_t)hostile_draw (n);
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* A typed payload: { u64 schema id, u32 length, bytes }…, whose lengths may lie. */
static size_t
make_payload (uint8_t *bytes)
{
  size_t at = 0;

  for (uint64_t n = 1 + hostile_draw (3); n > 0; n--)
    {
      const uint64_t schema = number (6), length = hostile_draw (48);
      const uint64_t told = hostile_one_in (4) ? hostile_number () : length;
      for (unsigned i = 0; i < 8; i++)
        bytes[at++] = (uint8_t)(schema >> 8 * i);
      for (unsigned i = 0; i < 4; i++)
        bytes[at++] = (uint8_t)(told >> 8 * i);
      for (uint64_t i = 0; i < length; i++)
        bytes[at++] = hostile_one_in (3) ? (uint8_t)hostile_draw (256) : 0;
    }
  return at;
}

static void
make_strings (Making *making)
{
  uint8_t payload[256];

  for (uint64_t n = 20 + hostile_draw (30); n > 0; n--)
    {
      const char *text;
      const size_t size_bytes = hostile_text (&text);
      lns_writer_string (making->writer, text, size_bytes);
    }
  for (uint64_t n = hostile_draw (20); n > 0; n--)
    lns_writer_bytes (making->writer, payload, make_payload (payload));
  making->n_strings = lns_writer_n_strings (making->writer);
}

/* ---- Definitions ----------------------------------------------------------------------------- */

/* Fills the WORDS at RECORD, some with ids of strings, some with hostile numbers. */
static void
fill (Making *making, void *record, size_t size_bytes)
{
  for (size_t at = 0; at + 4 <= size_bytes; at += 4)
    {
      const uint32_t word = hostile_one_in (16)  ? (uint32_t)hostile_number ()
                            : hostile_one_in (2) ? hostile_id (making->n_strings)
                                                 : (uint32_t)hostile_draw (4);
      memcpy ((char *)record + at, &word, 4);
    }
}

static void
make_programs (Making *making)
{
  for (uint64_t n = 1 + hostile_draw (DEFINED); n > 0; n--)
    {
      LnsProcess process;
      fill (making, &process, sizeof process);
      process.parent = id_or_none (making->n_processes);
      process.start_ns = time_ns ();
      process.end_ns = hostile_one_in (3) ? LNS_TIME_UNKNOWN : time_ns ();
      lns_writer_add_process (making->writer, &process);
      making->n_processes++;
    }
  for (uint64_t n = 1 + hostile_draw (DEFINED); n > 0; n--)
    {
      LnsThread thread;
      fill (making, &thread, sizeof thread);
      thread.process = (uint32_t)hostile_draw (making->n_processes);
      thread.start_ns = time_ns ();
      thread.end_ns = time_ns ();
      lns_writer_add_thread (making->writer, &thread);
      making->n_threads++;
    }
  for (uint64_t n = 1 + hostile_draw (DEFINED); n > 0; n--)
    {
      LnsDomain domain;
      fill (making, &domain, sizeof domain);
      domain.process = (uint32_t)hostile_draw (making->n_processes);
      domain.thread = id_or_none (making->n_threads);
      domain.created_ns = time_ns ();
      lns_writer_add_domain (making->writer, &domain);
      making->n_domains++;
    }
}

static void
make_devices (Making *making)
{
  for (uint64_t n = 1 + hostile_draw (DEFINED); n > 0; n--)
    {
      LnsCudaDevice device;
      fill (making, &device, sizeof device);
      device.process = (uint32_t)hostile_draw (making->n_processes);
      lns_writer_add_device (making->writer, &device);
      making->n_devices++;
    }
  for (uint64_t n = 1 + hostile_draw (DEFINED); n > 0; n--)
    {
      LnsCudaContext context;
      fill (making, &context, sizeof context);
      context.device = (uint32_t)hostile_draw (making->n_devices);
      lns_writer_add_context (making->writer, &context);
      making->n_contexts++;
    }
  for (uint64_t n = 1 + hostile_draw (DEFINED); n > 0; n--)
    {
      LnsCudaStream stream;
      fill (making, &stream, sizeof stream);
      stream.context = (uint32_t)hostile_draw (making->n_contexts);
      lns_writer_add_stream (making->writer, &stream);
      making->n_streams++;
    }
  for (uint64_t n = 1 + hostile_draw (DEFINED); n > 0; n--)
    {
      LnsCudaLaunch launch;
      fill (making, &launch, sizeof launch);
      lns_writer_add_launch (making->writer, &launch);
      making->n_launches++;
    }
}

/* Chains of calls: frames with and without a module, and calls that are inlined in others. */
static void
make_calls (Making *making)
{
  const uint32_t n_modules = 1 + (uint32_t)hostile_draw (DEFINED),
                 n_frames = 1 + (uint32_t)hostile_draw (16);

  for (uint32_t i = 0; i < n_modules; i++)
    {
      LnsModule module;
      fill (making, &module, sizeof module);
      module.process = (uint32_t)hostile_draw (making->n_processes);
      module.kind = (uint32_t)number (LNS_MODULE_ANONYMOUS + 1);
      module.start = number (1 << 20);
      module.end = number (1 << 20);
      module.mapped_ns = time_ns ();
      lns_writer_add_module (making->writer, &module);
    }
  for (uint32_t i = 0; i < n_frames; i++)
    {
      LnsStackFrame frame = { .module = id_or_none (n_modules),
                              .symbol = hostile_id (making->n_strings),
                              .offset = number (1 << 20),
                              .is_resolved = (uint32_t)number (2),
                              .source = (uint32_t)number (LNS_FRAME_DEBUG_INFO + 1),
                              .file = hostile_id (making->n_strings),
                              .line = (uint32_t)number (1000),
                              .inlined_in =
                                  hostile_one_in (4) ? (uint32_t)hostile_draw (i + 1) : 0 };
      if (hostile_one_in (4) && i + 1 < n_frames)
        frame.innermost = i + 2 + (uint32_t)hostile_draw (n_frames - i - 1);
      lns_writer_add_frame (making->writer, &frame);
    }
  for (uint64_t n = hostile_draw (60); n > 0; n--)
    {
      LnsCallNode node = { id_or_none (making->n_call_nodes), (uint32_t)hostile_draw (n_frames) };
      lns_writer_add_call_node (making->writer, &node);
      making->n_call_nodes++;
    }
}

/* Descriptions of payloads that refer to each other in circles, and to arrays of hostile lengths. */
static void
make_schemas (Making *making)
{
  const uint32_t n_schemas = (uint32_t)hostile_draw (DEFINED);

  for (uint32_t i = 0; i < n_schemas; i++)
    {
      LnsSchema schema = { (uint32_t)hostile_draw (making->n_domains),
                           i,
                           hostile_id (making->n_strings),
                           (uint32_t)number (5),
                           (uint32_t)number (64),
                           (uint32_t)number (64),
                           (uint32_t)number (16),
                           hostile_one_in (4) };
      lns_writer_add_schema (making->writer, &schema);
    }
  for (uint64_t n = n_schemas > 0 ? hostile_draw (16) : 0; n > 0; n--)
    {
      LnsSchemaEntry entry = { (uint32_t)hostile_draw (n_schemas),
                               (uint32_t)number (4),
                               hostile_id (making->n_strings),
                               hostile_id (making->n_strings),
                               (uint32_t)number (1024),
                               hostile_one_in (2) ? hostile_draw (6) : number (80),
                               number (32),
                               number (16) };
      lns_writer_add_schema_entry (making->writer, &entry);
    }
}

static void
make_notes (Making *making)
{
  for (uint64_t n = hostile_draw (DEFINED); n > 0; n--)
    {
      LnsCategory category = { (uint32_t)hostile_draw (making->n_domains), (uint32_t)number (4),
                               hostile_id (making->n_strings) };
      LnsResource resource = { (uint32_t)hostile_draw (making->n_domains),
                               (uint32_t)number (0x30000),
                               number (100),
                               hostile_id (making->n_strings),
                               time_ns (),
                               time_ns () };
      LnsDiagnostic diagnostic = { hostile_id (making->n_strings), (LnsSeverity)hostile_draw (3),
                                   time_ns (), id_or_none (making->n_processes),
                                   hostile_id (making->n_strings) };
      LnsLoss loss = { 0 };
      fill (making, &loss, sizeof loss);
      loss.process = id_or_none (making->n_processes);
      loss.thread = id_or_none (making->n_threads);
      lns_writer_add_category (making->writer, &category);
      lns_writer_add_resource (making->writer, &resource);
      lns_writer_add_diagnostic (making->writer, &diagnostic);
      lns_writer_add_loss (making->writer, &loss);
    }
}

/* What a report says of steps that it does not keep. */
static void
make_omissions (Making *making)
{
  for (uint64_t n = hostile_draw (6); n > 0; n--)
    {
      const LnsOmission omission = { time_ns (), time_ns () };
      lns_writer_add_omission (making->writer, &omission);
    }
  lns_writer_set_meta (making->writer, "keep_steps", "duration > p95");
  for (uint64_t i = 0; i < hostile_draw (4); i++)
    {
      char key[32], value[300] = "";
      snprintf (key, sizeof key, "kept_steps.%" PRIu64, i);
      for (unsigned k = 0; k < 9; k++)
        snprintf (value + strlen (value), 24, "%" PRIu64 " ", k == 0 ? number (3) : number (1000));
      strcat (value, hostile_one_in (2) ? "step" : "");
      lns_writer_set_meta (making->writer, key, value);
    }
}

/* ---- Kept tables ----------------------------------------------------------------------------- */

static LnsKeptValue
make_value (Making *making)
{
  LnsKeptValue value = { .type = (LnsKeptType)hostile_draw (LNS_N_KEPT_TYPES) };

  if (value.type == LNS_KEPT_TEXT || value.type == LNS_KEPT_BLOB)
    value.size_bytes = hostile_text (&value.bytes);
  else if (value.type == LNS_KEPT_STRING)
    value.integer = hostile_id (making->n_strings);
  else
    value.integer = (int64_t)number (100);
  return value;
}

static void
make_kept_table (Making *making)
{
  static const char *const names[] = { "CUDA_CALLCHAINS",        "OSRT_CALLCHAINS",
                                       "SAMPLING_CALLCHAINS",    "PROCESSES",
                                       "TARGET_INFO_SYSTEM_ENV", "StringIds",
                                       "NOBODY_KNOWS_IT",        "GPU_CONTEXT_SWITCH_EVENTS",
                                       "sqlite_master" };
  static const LnsKeptColumn columns[] = {
    { "id", "INTEGER", true },      { "symbol", "INTEGER", false },
    { "module", "INTEGER", false }, { "stackDepth", "INTEGER", false },
    { "name", "TEXT", false },      { "value", "", false },
  };
  const unsigned n_columns = 1 + (unsigned)hostile_draw (6);
  LnsKeptTableMaker *maker =
      lns_kept_table_maker_new (making->writer, names[hostile_draw (sizeof names / sizeof *names)],
                                columns, n_columns, false);

  for (uint64_t n = maker != NULL ? hostile_draw (200) : 0; n > 0; n--)
    {
      LnsKeptValue row[6];
      for (unsigned i = 0; i < n_columns; i++)
        {
          row[i] = hostile_one_in (4) ? make_value (making)
                                      : (LnsKeptValue){ .type = LNS_KEPT_INTEGER,
                                                        .integer = (int64_t)number (20) };
          /* The text is gone once the next one is made. */
          if (i > 0 && (row[i].type == LNS_KEPT_TEXT || row[i].type == LNS_KEPT_BLOB))
            row[i].size_bytes = row[i].size_bytes % 100;
        }
      lns_kept_table_maker_add (maker, row);
    }
  lns_kept_table_maker_free (maker);
}

/* Blocks of rows as nobody writes them: much of nothing, now and then the same one several times. */
static void
make_raw_rows (Making *making)
{
  uint8_t block[8 + LNS_KEPT_MAX_COLUMNS] = { 0 };
  const bool is_shared = hostile_one_in (8);
  const uint32_t n_rows = hostile_one_in (2) ? LNS_KEPT_MAX_ROWS : (uint32_t)number (4096),
                 n_columns = (uint32_t)number (LNS_KEPT_MAX_COLUMNS + 1);
  memcpy (block, &n_rows, 4);
  memcpy (block + 4, &n_columns, 4);
  const size_t size_bytes = 8 + (n_columns <= LNS_KEPT_MAX_COLUMNS ? n_columns : 1);
  uint32_t id = lns_writer_bytes (making->writer, block, size_bytes);
  LnsKeptTable table = { hostile_id (making->n_strings), hostile_id (making->n_strings + 1),
                         hostile_one_in (4) };
  const uint32_t table_id = lns_writer_add_kept_table (making->writer, &table);

  for (uint64_t n = hostile_draw (20); n > 0; n--)
    {
      if (!is_shared)
        id = lns_writer_bytes (making->writer, block, size_bytes);
      LnsKeptRows rows = { table_id,
                           hostile_one_in (is_shared ? 4 : 40) ? hostile_id (making->n_strings)
                                                               : id,
                           hostile_one_in (4) ? (uint32_t)hostile_number () : n_rows,
                           (int64_t)hostile_number (), (int64_t)hostile_number () };
      lns_writer_add_kept_rows (making->writer, &rows);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

static uint64_t
make_column (Making *making, LnsColumnId id, const LnsEvent *event, LnsLaneKind kind)
{
  switch (id)
    {
    case LNS_COLUMN_PAYLOAD_TYPE:
      return hostile_one_in (30) ? hostile_number () : hostile_draw (LNS_PAYLOAD_JSON + 1);
    case LNS_COLUMN_PAYLOAD:
      {
        const int at = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD_TYPE);
        const uint64_t type = at >= 0 ? event->extra[at] : 0;
        return type >= LNS_PAYLOAD_TYPED ? hostile_id (lns_writer_n_strings (making->writer))
                                         : hostile_number ();
      }
    case LNS_COLUMN_THREAD:
    case LNS_COLUMN_END_THREAD:
      return hostile_id (making->n_threads);
    case LNS_COLUMN_LAUNCH:
      return hostile_id (making->n_launches);
    case LNS_COLUMN_CALL_CHAIN:
      return hostile_one_in (8) ? hostile_number () : hostile_draw (making->n_call_nodes + 2u);
    case LNS_COLUMN_CORRELATION:
      return number (60);
    case LNS_COLUMN_REMAINDER:
      return hostile_one_in (20) ? number (30) : 0;
    case LNS_COLUMN_CALLBACK:
      return hostile_one_in (2) ? UINT64_C (1) << 32 | hostile_draw (300) : number (300);
    default:
      return number (hostile_one_in (2) ? 8 : 1000);
    }
}

static void
make_lane (Making *making, uint32_t lane, LnsLaneKind kind, uint64_t n_events)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  const bool is_point = kind == LNS_LANE_NVTX_MARK || kind == LNS_LANE_COUNTER ||
                        kind == LNS_LANE_CUDA_EVENT || kind == LNS_LANE_CPU_SAMPLE ||
                        kind == LNS_LANE_PYTHON_SAMPLE;
  int64_t at_ns = hostile_one_in (8) ? (int64_t)hostile_number () : (int64_t)hostile_draw (5000);

  for (uint64_t i = 0; i < n_events; i++)
    {
      LnsEvent event = { .start_ns = at_ns,
                         .duration_ns = is_point ? 0 : (int64_t)number (2000),
                         .name = hostile_id (making->n_strings),
                         .flags = hostile_one_in (10) ? (uint32_t)hostile_draw (128) : 0 };
      if (event.duration_ns < 0 || (event.duration_ns > 100000 && !hostile_one_in (20)))
        event.duration_ns = 5;
      for (unsigned k = 0; info->extra[k] != 0; k++)
        event.extra[k] = make_column (making, info->extra[k], &event, kind);
      lns_writer_append (making->writer, lane, &event);
      const uint64_t gap_ns = hostile_one_in (200) ? hostile_number () >> 1 : hostile_draw (500);
      if (__builtin_add_overflow (event.start_ns, event.duration_ns, &at_ns) ||
          __builtin_add_overflow (at_ns, gap_ns, &at_ns))
        at_ns = INT64_MAX;
    }
  if (hostile_one_in (6))
    lns_writer_set_open (making->writer, lane,
                         &(LnsEvent){ .start_ns = at_ns, .name = hostile_id (making->n_strings) });
}

static uint32_t
owner (const Making *making, uint32_t n)
{
  return making->may_lack_owners && hostile_one_in (2) ? LNS_ID_NONE : (uint32_t)hostile_draw (n);
}

static void
make_lanes (Making *making)
{
  uint64_t n_left = EVENTS_MAX;

  for (uint64_t n = 1 + hostile_draw (24); n > 0; n--)
    {
      const size_t place = (size_t)hostile_draw (sizeof places / sizeof *places);
      const uint32_t stream = id_or_none (making->n_streams);
      LnsTrack track = { .kind = places[place].track,
                         .process = owner (making, making->n_processes),
                         .thread = owner (making, making->n_threads),
                         .domain = id_or_none (making->n_domains),
                         .name = hostile_id (making->n_strings),
                         .value_type = (uint32_t)number (LNS_PAYLOAD_JSON + 1),
                         .unit = hostile_id (making->n_strings),
                         .number = number (10),
                         .device = id_or_none (making->n_devices),
                         .stream = stream,
                         .metric = (uint32_t)number (10) };
      const uint32_t id = lns_writer_add_track (making->writer, &track);
      for (uint32_t depth = 0, depths = 1 + (uint32_t)hostile_draw (3); depth < depths; depth++)
        {
          const uint32_t lane = lns_writer_add_lane (
              making->writer,
              &(LnsLane){ id, hostile_one_in (30) ? (uint32_t)hostile_number () : depth,
                          places[place].lane });
          const uint64_t n_events =
              hostile_draw (hostile_one_in (8) ? n_left + 1 : n_left / 40 + 1);
          n_left -= n_events;
          make_lane (making, lane, places[place].lane, n_events);
        }
    }
}

void
hostile_report (const char *path)
{
  LnsError error = { 0 };
  LnsWriterOptions options = { .overwrite = true,
                               .t0_monotonic_ns = (int64_t)hostile_number (),
                               .t0_realtime_ns = (int64_t)hostile_number (),
                               .uuid = { 1 } };
  Making making = { .writer = lns_writer_create (path, &options, &error) };

  if (making.writer == NULL)
    {
      printf ("Bail out! %s\n", error.message);
      exit (1);
    }
  making.may_lack_owners = hostile_one_in (4);
  make_strings (&making);
  make_programs (&making);
  make_devices (&making);
  make_calls (&making);
  make_schemas (&making);
  make_notes (&making);
  for (uint64_t n = hostile_draw (3); n > 0; n--)
    make_kept_table (&making);
  for (uint64_t n = hostile_draw (3); n > 0; n--)
    make_raw_rows (&making);
  make_lanes (&making);
  if (hostile_one_in (4))
    make_omissions (&making);
  for (uint64_t n = hostile_draw (4); n > 0; n--)
    {
      static const char *const keys[] = { "keep_ns",       "keep_memory_bytes", "stdout.0",
                                          "imported_from", "command_line",      "devices",
                                          "gpu.0",         "env.PATH" };
      const char *text;
      char value[64];
      hostile_text (&text);
      snprintf (value, sizeof value, "%.60s", text);
      lns_writer_set_meta (making.writer, keys[hostile_draw (sizeof keys / sizeof *keys)], value);
    }
  lns_writer_finish (making.writer, LNS_STATE_COMPLETE, time_ns (), NULL);
}

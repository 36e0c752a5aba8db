/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes a report of the CUDA tables and push/pop ranges of an nsys SQLite export: import-cuda IN.sqlite
 * OUT.rep. What it writes is what a capture of the same events would. */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/lns-writer.h"

#define MAX_TRACKS 4096
#define MAX_LANES  64

typedef struct
{
  LnsTrack track;
  LnsLaneKind kind;
  uint32_t id, n_lanes, lanes[MAX_LANES];
  int64_t ends_ns[MAX_LANES];
} Track;

static sqlite3 *db;
static LnsWriter *writer;
static Track tracks[MAX_TRACKS];
static uint32_t n_tracks;
static int64_t last_ns;
/* What has been defined: the key of each id. */
static int64_t processes[256], threads[4096], devices[256], contexts[1024], streams[4096];
static uint32_t n_processes, n_threads, n_devices, n_contexts, n_streams;

static void
fail (const char *what)
{
  fprintf (stderr, "import-cuda: %s: %s\n", what, sqlite3_errmsg (db));
  exit (1);
}

/* The rows of TABLE, or NULL where it is not there. */
static sqlite3_stmt *
rows_of (const char *table, const char *order)
{
  sqlite3_stmt *rows = NULL;
  char sql[256];

  snprintf (sql, sizeof sql, "SELECT * FROM %s %s", table, order);
  return sqlite3_prepare_v2 (db, sql, -1, &rows, NULL) == SQLITE_OK ? rows : NULL;
}

/* The value of the column called NAME; 0 where it is NULL or not there. */
static int64_t
value (sqlite3_stmt *row, const char *name)
{
  for (int i = 0; i < sqlite3_column_count (row); i++)
    if (strcmp (sqlite3_column_name (row, i), name) == 0)
      return sqlite3_column_int64 (row, i);
  return 0;
}

static uint32_t
text (const unsigned char *bytes)
{
  return bytes != NULL ? lns_writer_string (writer, bytes, strlen ((const char *)bytes)) : 0;
}

/* The text of StringIds row ID as a string of the report. */
static uint32_t
string (int64_t id)
{
  static sqlite3_stmt *find;

  if (find == NULL &&
      sqlite3_prepare_v2 (db, "SELECT value FROM StringIds WHERE id = ?", -1, &find, NULL) != 0)
    fail ("StringIds");
  sqlite3_reset (find);
  sqlite3_bind_int64 (find, 1, id);
  return sqlite3_step (find) == SQLITE_ROW ? text (sqlite3_column_text (find, 0)) : 0;
}

/* The place of KEY in KEYS, where it is put if need be; RET_NEW tells. */
static uint32_t
place_of (int64_t *keys, uint32_t *n, int64_t key, bool *ret_new)
{
  for (uint32_t i = *n; i-- > 0;)
    if (keys[i] == key)
      {
        *ret_new = false;
        return i;
      }
  keys[*n] = key;
  *ret_new = true;
  return (*n)++;
}

static uint32_t
process_of (int64_t global_id)
{
  bool is_new;
  uint32_t id = place_of (processes, &n_processes, global_id >> 24 & 0xFFFFFF, &is_new);

  if (is_new)
    lns_writer_add_process (writer, &(LnsProcess){ .pid = (int32_t)(global_id >> 24 & 0xFFFFFF),
                                                   .parent = LNS_ID_NONE });
  return id;
}

static uint32_t
thread_of (int64_t global_tid)
{
  bool is_new;
  uint32_t process = process_of (global_tid),
           id = place_of (threads, &n_threads, global_tid & 0xFFFFFFFFFFFF, &is_new);

  if (is_new)
    lns_writer_add_thread (
        writer, &(LnsThread){ .process = process, .tid = (int32_t)(global_tid & 0xFFFFFF) });
  return id;
}

static uint32_t
device_of (uint32_t process, int64_t number)
{
  bool is_new;
  uint32_t id = place_of (devices, &n_devices, (int64_t)process << 32 | number, &is_new);

  if (is_new)
    {
      LnsCudaDevice device = { .process = process, .number = (uint32_t)number };
      char sql[128];
      sqlite3_stmt *row;
      snprintf (sql, sizeof sql, "WHERE id = %d", (int)number);
      row = rows_of ("TARGET_INFO_GPU", sql);
      if (row != NULL && sqlite3_step (row) == SQLITE_ROW)
        {
          device.name = text (sqlite3_column_text (row, 2));
          device.bus = text (sqlite3_column_text (row, 3));
          device.n_multiprocessors = (uint32_t)value (row, "smCount");
          device.memory_bytes = (uint64_t)value (row, "totalMemory");
          device.compute_major = (uint32_t)value (row, "computeMajor");
          device.compute_minor = (uint32_t)value (row, "computeMinor");
        }
      sqlite3_finalize (row);
      lns_writer_add_device (writer, &device);
    }
  return id;
}

static uint32_t
stream_of (uint32_t process, uint32_t device, int64_t context, int64_t number)
{
  bool is_new;
  int64_t key = (int64_t)process << 48 | context << 32;
  uint32_t context_id = place_of (contexts, &n_contexts, key, &is_new);

  if (is_new)
    lns_writer_add_context (
        writer,
        &(LnsCudaContext){ .device = device, .number = (uint32_t)context, .null_stream = 7 });
  number = number == UINT32_MAX ? 0 : number; /* of no stream                                    */
  uint32_t id = place_of (streams, &n_streams, key | number, &is_new);
  if (is_new)
    lns_writer_add_stream (writer,
                           &(LnsCudaStream){ .context = context_id, .number = (uint32_t)number });
  return id;
}

static bool
is_same_track (const Track *a, const LnsTrack *b, LnsLaneKind kind)
{
  return a->kind == kind && a->track.kind == b->kind && a->track.process == b->process &&
         a->track.thread == b->thread && a->track.stream == b->stream;
}

/* Appends EVENT to the lowest lane of TRACK that is free. */
static void
append (LnsTrack track, LnsLaneKind kind, const LnsEvent *event)
{
  uint32_t i = 0, lane = 0;

  while (i < n_tracks && !is_same_track (&tracks[i], &track, kind))
    i++;
  if (i == n_tracks)
    tracks[n_tracks++] =
        (Track){ .track = track, .kind = kind, .id = lns_writer_add_track (writer, &track) };
  while (lane < tracks[i].n_lanes && tracks[i].ends_ns[lane] > event->start_ns)
    lane++;
  if (lane == MAX_LANES || n_tracks == MAX_TRACKS)
    fail ("too many lanes");
  if (lane == tracks[i].n_lanes)
    tracks[i].lanes[tracks[i].n_lanes++] = lns_writer_add_lane (
        writer, &(LnsLane){ .track = tracks[i].id, .ordinal = lane, .kind = kind });
  tracks[i].ends_ns[lane] = event->start_ns + event->duration_ns;
  last_ns = tracks[i].ends_ns[lane] > last_ns ? tracks[i].ends_ns[lane] : last_ns;
  lns_writer_append (writer, tracks[i].lanes[lane], event);
}

static LnsEvent
event_of (sqlite3_stmt *row)
{
  int64_t start_ns = value (row, "start");
  return (LnsEvent){ .start_ns = start_ns,
                     .duration_ns = value (row, "end") - start_ns,
                     .name = string (value (row, "nameId")) };
}

static void
set (LnsEvent *event, LnsLaneKind kind, LnsColumnId column, int64_t number)
{
  event->extra[lns_lane_kind_extra (kind, column)] = (uint64_t)number;
}

/* A column that the report keeps as it is. */
typedef struct
{
  LnsColumnId column;
  const char *name;
} Same;

static void
set_same (LnsEvent *event, LnsLaneKind kind, sqlite3_stmt *row, const Same *same)
{
  for (; same->name != NULL; same++)
    set (event, kind, same->column, value (row, same->name));
}

/* CUPTI counts the kinds of memory from unknown on. */
static int64_t
memory_kind (int64_t kind)
{
  return kind == 7 ? 0 : kind + 1;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void
set_launch (LnsEvent *event, sqlite3_stmt *row)
{
  LnsCudaLaunch launch = {
    .short_name = string (value (row, "shortName")),
    .mangled_name = string (value (row, "mangledName")),
    .grid = { (uint32_t)value (row, "gridX"), (uint32_t)value (row, "gridY"),
              (uint32_t)value (row, "gridZ") },
    .block = { (uint32_t)value (row, "blockX"), (uint32_t)value (row, "blockY"),
               (uint32_t)value (row, "blockZ") },
    .cluster = { (uint32_t)value (row, "clusterX"), (uint32_t)value (row, "clusterY"),
                 (uint32_t)value (row, "clusterZ") },
    .registers = (uint32_t)value (row, "registersPerThread"),
    .static_shared_bytes = (uint32_t)value (row, "staticSharedMemory"),
    .dynamic_shared_bytes = (uint32_t)value (row, "dynamicSharedMemory"),
    .shared_executed_bytes = (uint32_t)value (row, "sharedMemoryExecuted"),
    .local_bytes = (uint32_t)value (row, "localMemoryPerThread"),
    .local_total_bytes = (uint64_t)value (row, "localMemoryTotal"),
    .launch_type = (uint32_t)value (row, "launchType"),
    .cache_config = (uint32_t)value (row, "cacheConfig") << 4,
    .shared_config = (uint32_t)value (row, "sharedMemoryLimitConfig"),
    .cluster_policy = (uint32_t)value (row, "clusterSchedulingPolicy"),
    .max_potential_cluster = (uint32_t)value (row, "maxPotentialClusterSize"),
    .max_active_clusters = (uint32_t)value (row, "maxActiveClusters"),
  };

  event->name = string (value (row, "demangledName"));
  set (event, LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH, lns_writer_add_launch (writer, &launch));
}

static void
set_copy (LnsEvent *event, sqlite3_stmt *row)
{
  static const char *const names[] = { "Unknown",
                                       "Host-to-Device",
                                       "Device-to-Host",
                                       "Host-to-Array",
                                       "Array-to-Host",
                                       "Array-to-Array",
                                       "Array-to-Device",
                                       "Device-to-Array",
                                       "Device-to-Device",
                                       "Host-to-Host",
                                       "Peer-to-Peer",
                                       "Unified Host-to-Device",
                                       "Unified Device-to-Host",
                                       "Unified Device-to-Device" };
  char name[64];

  snprintf (name, sizeof name, "[CUDA memcpy %s]", names[value (row, "copyKind")]);
  event->name = text ((const unsigned char *)name);
  set (event, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_MEMORY_KINDS,
       memory_kind (value (row, "srcKind")) | memory_kind (value (row, "dstKind")) << 8);
  if (value (row, "copyKind") == 10)
    set (event, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_PEERS,
         value (row, "srcDeviceId") | value (row, "srcContextId") << 8 |
             value (row, "dstDeviceId") << 32 | value (row, "dstContextId") << 40);
}

/* A table of what happens on streams. */
static void
import_streams (const char *table, LnsTrackKind track, LnsLaneKind kind, const Same *same)
{
  const char *order = kind == LNS_LANE_CUDA_EVENT ? "" : "ORDER BY start";
  sqlite3_stmt *row = rows_of (table, order);

  while (row != NULL && sqlite3_step (row) == SQLITE_ROW)
    {
      LnsEvent event = event_of (row);
      LnsTrack definition = { .kind = track, .thread = LNS_ID_NONE, .domain = LNS_ID_NONE };
      definition.process = process_of (value (row, "globalPid"));
      definition.device = device_of (definition.process, value (row, "deviceId"));
      definition.stream = stream_of (definition.process, definition.device,
                                     value (row, "contextId"), value (row, "streamId"));
      set (&event, kind, LNS_COLUMN_CORRELATION, value (row, "correlationId"));
      set_same (&event, kind, row, same);
      if (kind == LNS_LANE_CUDA_KERNEL)
        set_launch (&event, row);
      else if (kind == LNS_LANE_CUDA_MEMCPY)
        set_copy (&event, row);
      else if (kind == LNS_LANE_CUDA_MEMSET)
        {
          event.name = text ((const unsigned char *)"[CUDA memset]");
          set (&event, kind, LNS_COLUMN_MEMORY_KINDS, memory_kind (value (row, "memKind")));
        }
      else if (kind == LNS_LANE_CUDA_EVENT)
        event.start_ns = value (row, "timestamp");
      append (definition, kind, &event);
    }
  sqlite3_finalize (row);
}

/* A table of what threads do. */
static void
import_threads (const char *table, LnsTrackKind track, LnsLaneKind kind, const Same *same)
{
  /* Of the table of calls, calls: some have rows of call chains too. */
  sqlite3_stmt *row =
      rows_of (table, kind == LNS_LANE_CUDA_API ? "WHERE eventClass < 2 ORDER BY start, end DESC"
                                                : "ORDER BY start, end DESC");

  while (row != NULL && sqlite3_step (row) == SQLITE_ROW)
    {
      int64_t global_tid = value (row, "globalTid");
      LnsEvent event = event_of (row);
      LnsTrack definition = { .kind = track,
                              .process = process_of (global_tid),
                              .thread = thread_of (global_tid),
                              .domain = LNS_ID_NONE,
                              .device = LNS_ID_NONE,
                              .stream = LNS_ID_NONE };
      set_same (&event, kind, row, same);
      if (kind == LNS_LANE_CUDA_API)
        set (&event, kind, LNS_COLUMN_CALLBACK, (int64_t)(value (row, "eventClass") == 0) << 32);
      append (definition, kind, &event);
    }
  sqlite3_finalize (row);
}

static void
import_overhead (const char *table)
{
  const LnsLaneKind kind = LNS_LANE_CUDA_OVERHEAD;
  sqlite3_stmt *row = rows_of (table, "ORDER BY start");

  while (row != NULL && sqlite3_step (row) == SQLITE_ROW)
    {
      int64_t global_tid = value (row, "globalTid"), type = value (row, "overheadType");
      LnsEvent event = event_of (row);
      LnsTrack definition = { .kind = LNS_TRACK_CUDA_OVERHEAD,
                              .process = process_of (global_tid),
                              .thread = LNS_ID_NONE,
                              .domain = LNS_ID_NONE,
                              .device = LNS_ID_NONE,
                              .stream = LNS_ID_NONE };
      set (&event, kind, LNS_COLUMN_CORRELATION, value (row, "correlationId"));
      set (&event, kind, LNS_COLUMN_THREAD, thread_of (global_tid));
      set (&event, kind, LNS_COLUMN_OVERHEAD_KIND,
           type == 2  ? 1
           : type > 2 ? (type - 2) << 16
                      : type * 99 << 16);
      append (definition, kind, &event);
    }
  sqlite3_finalize (row);
}

/* Push/pop ranges of the default domain; they are nested. */
static void
import_ranges (void)
{
  sqlite3_stmt *row =
      rows_of ("NVTX_EVENTS", "WHERE eventType = 59 AND end NOT NULL ORDER BY start, end DESC");

  while (row != NULL && sqlite3_step (row) == SQLITE_ROW)
    {
      int64_t global_tid = value (row, "globalTid");
      LnsEvent event = event_of (row);
      LnsTrack definition = { .kind = LNS_TRACK_NVTX_RANGES,
                              .process = process_of (global_tid),
                              .thread = thread_of (global_tid),
                              .domain = 0,
                              .device = LNS_ID_NONE,
                              .stream = LNS_ID_NONE };
      for (int i = 0; i < sqlite3_column_count (row); i++)
        if (strcmp (sqlite3_column_name (row, i), "text") == 0)
          event.name = text (sqlite3_column_text (row, i));
      if (event.name == 0)
        event.name = string (value (row, "textId"));
      append (definition, LNS_LANE_NVTX_PUSH_POP, &event);
    }
  sqlite3_finalize (row);
}

static void
import_all (void)
{
  static const Same api[] = { { LNS_COLUMN_CORRELATION, "correlationId" },
                              { LNS_COLUMN_RETURN_VALUE, "returnValue" },
                              { 0 } },
                    kernel[] = { { LNS_COLUMN_GRID_ID, "gridId" },
                                 { LNS_COLUMN_GRAPH_NODE, "graphNodeId" },
                                 { LNS_COLUMN_GRAPH, "graphId" },
                                 { 0 } },
                    copy[] = { { LNS_COLUMN_BYTES, "bytes" },
                               { LNS_COLUMN_COPY_KIND, "copyKind" },
                               { LNS_COLUMN_GRAPH_NODE, "graphNodeId" },
                               { LNS_COLUMN_COPY_COUNT, "copyCount" },
                               { LNS_COLUMN_ADDRESS, "virtualAddress" },
                               { LNS_COLUMN_MIGRATION_CAUSE, "migrationCause" },
                               { 0 } },
                    memset_[] = { { LNS_COLUMN_BYTES, "bytes" },
                                  { LNS_COLUMN_SET_VALUE, "value" },
                                  { LNS_COLUMN_GRAPH_NODE, "graphNodeId" },
                                  { 0 } },
                    sync[] = { { LNS_COLUMN_SYNC_TYPE, "syncType" },
                               { LNS_COLUMN_CUDA_EVENT, "eventId" },
                               { LNS_COLUMN_CUDA_EVENT_SYNC, "eventSyncId" },
                               { 0 } },
                    graph[] = { { LNS_COLUMN_GRAPH, "graphId" },
                                { LNS_COLUMN_GRAPH_EXEC, "graphExecId" },
                                { 0 } },
                    making[] = { { LNS_COLUMN_GRAPH, "graphId" },
                                 { LNS_COLUMN_GRAPH_EXEC, "graphExecId" },
                                 { LNS_COLUMN_ORIGINAL, "originalGraphId" },
                                 { 0 } },
                    node[] = { { LNS_COLUMN_GRAPH_NODE, "graphNodeId" },
                               { LNS_COLUMN_ORIGINAL, "originalGraphNodeId" },
                               { 0 } };

  import_threads ("CUPTI_ACTIVITY_KIND_RUNTIME", LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, api);
  import_streams ("CUPTI_ACTIVITY_KIND_KERNEL", LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL,
                  kernel);
  import_streams ("CUPTI_ACTIVITY_KIND_MEMCPY", LNS_TRACK_CUDA_MEMCPY, LNS_LANE_CUDA_MEMCPY, copy);
  import_streams ("CUPTI_ACTIVITY_KIND_MEMSET", LNS_TRACK_CUDA_MEMSET, LNS_LANE_CUDA_MEMSET,
                  memset_);
  import_streams ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", LNS_TRACK_CUDA_SYNC, LNS_LANE_CUDA_SYNC,
                  sync);
  import_streams ("CUPTI_ACTIVITY_KIND_CUDA_EVENT", LNS_TRACK_CUDA_EVENTS, LNS_LANE_CUDA_EVENT,
                  sync + 1);
  import_streams ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", LNS_TRACK_CUDA_GRAPHS, LNS_LANE_CUDA_GRAPH,
                  graph);
  import_threads ("CUDA_GRAPH_EVENTS", LNS_TRACK_CUDA_GRAPH_NODES, LNS_LANE_CUDA_GRAPH_NODE,
                  making);
  import_threads ("CUDA_GRAPH_NODE_EVENTS", LNS_TRACK_CUDA_GRAPH_NODES, LNS_LANE_CUDA_GRAPH_NODE,
                  node);
  import_overhead ("PROFILER_OVERHEAD");
  import_overhead ("CUPTI_ACTIVITY_KIND_OVERHEAD");
  import_ranges ();
}

int
main (int argc, char **argv)
{
  LnsError error = { 0 };
  LnsWriterOptions options = { .overwrite = true };
  char uri[4096];

  if (argc < 3)
    return 1;
  snprintf (uri, sizeof uri, "file:%s?immutable=1", argv[1]);
  if (sqlite3_open_v2 (uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
    fail (argv[1]);
  writer = lns_writer_create (argv[2], &options, &error);
  if (writer != NULL)
    {
      import_all ();
      lns_writer_add_domain (writer, &(LnsDomain){ .process = 0 });
      if (lns_writer_finish (writer, LNS_STATE_COMPLETE, last_ns, &error))
        return 0;
    }
  fprintf (stderr, "import-cuda: %s\n", error.message);
  return 1;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the tables about the operating system, CPUs, GPU metrics and MPI, column by column. */

#include <string.h>

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"
#include "tests/unit/table-fixture.h"

static LnsWriter *writer;

static uint32_t
add_lane (LnsTrack track, LnsLaneKind kind, uint32_t ordinal)
{
  track.domain = track.device = track.stream = LNS_ID_NONE;
  return lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                                  .kind = kind,
                                                  .ordinal = ordinal });
}

#define APPEND(lane, kind, start, duration, ...)                                                   \
 table_append (writer, lane, LNS_LANE_##kind, start, duration, (LnsTableValue[]){ __VA_ARGS__ })

static void
write_events (void)
{
  uint32_t lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_OS_CALLS }, LNS_LANE_OS_CALL, 1);
  APPEND (lane, OS_CALL, 100, 50, { LNS_COLUMN_RETURN_VALUE, (uint64_t)-1 },
          { LNS_COLUMN_CALL_CHAIN, 7 }, { 0 });
  APPEND (lane, OS_CALL, 200, 0, { LNS_COLUMN_EVENT_CLASS, 4 }, { LNS_COLUMN_ARGUMENTS, 3 }, { 0 });
  lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_SYSTEM_CALLS }, LNS_LANE_SYSTEM_CALL, 0);
  APPEND (lane, SYSTEM_CALL, 110, 30, { LNS_COLUMN_RETURN_VALUE, (uint64_t)-2 }, { 0 });
  lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_SCHED }, LNS_LANE_SCHED, 0);
  APPEND (lane, SCHED, 100, 40, { LNS_COLUMN_CPU, 64 }, { LNS_COLUMN_SCHED_IN, 1 }, { 0 });
  APPEND (lane, SCHED, 140, 0, { LNS_COLUMN_CPU, 64 }, { LNS_COLUMN_THREAD_STATE, 5 },
          { LNS_COLUMN_THREAD_BLOCK, 2 }, { 0 });
  lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_CPU_SAMPLES }, LNS_LANE_CPU_SAMPLE, 0);
  APPEND (lane, CPU_SAMPLE, 300, 0, { LNS_COLUMN_CPU, 3 }, { LNS_COLUMN_THREAD_STATE, 1 },
          { LNS_COLUMN_CYCLES, 999 }, { LNS_COLUMN_CALL_CHAIN, 12 }, { 0 });
  LnsTrack metric = { .kind = LNS_TRACK_GPU_METRIC,
                      .process = LNS_ID_NONE,
                      .thread = LNS_ID_NONE,
                      .number = UINT64_C (1) << 40 | 1,
                      .metric = 9,
                      .value_type = LNS_PAYLOAD_INT64 };
  lane = add_lane (metric, LNS_LANE_COUNTER, 0);
  APPEND (lane, COUNTER, 400, 0, { LNS_COLUMN_VALUE, 55 }, { LNS_COLUMN_RAW_TIME, (uint64_t)-3 },
          { 0 });
  lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_COUNTER, .value_type = LNS_PAYLOAD_INT64 },
                   LNS_LANE_COUNTER, 0);
  APPEND (lane, COUNTER, 410, 0, { LNS_COLUMN_VALUE, 1 }, { 0 });
}

static void
write_cuda (void)
{
  uint32_t lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_GPU_SWITCHES }, LNS_LANE_GPU_SWITCH, 0);
  APPEND (lane, GPU_SWITCH, 420, 5, { LNS_COLUMN_OPERATION, 9 },
          { LNS_COLUMN_PLACE, UINT64_C (7) << 32 | 77 }, { 0 });
  APPEND (lane, GPU_SWITCH, 425, 0, { LNS_COLUMN_OPERATION, 7 },
          { LNS_COLUMN_PLACE, UINT64_C (8) << 32 }, { 0 });
  lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_CUDA_HOST }, LNS_LANE_CUDA_HOST, 0);
  APPEND (lane, CUDA_HOST, 430, 5, { LNS_COLUMN_CORRELATION, 3 }, { LNS_COLUMN_THREAD, 0 },
          { LNS_COLUMN_GRAPH_NODE, 4 }, { LNS_COLUMN_GRAPH, 5 }, { 0 });
  lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_CUDA_UNIFIED }, LNS_LANE_CUDA_UNIFIED, 0);
  APPEND (lane, CUDA_UNIFIED, 440, 0, { LNS_COLUMN_OPERATION, 7 }, { LNS_COLUMN_ADDRESS, 4096 },
          { LNS_COLUMN_BYTES, 64 }, { LNS_COLUMN_PEERS, UINT64_C (0xffffffff) << 32 | 1 },
          { LNS_COLUMN_MIGRATION_CAUSE, 2 }, { 0 });
  lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_CUDA_KERNELS }, LNS_LANE_CUDA_KERNEL, 0);
  APPEND (lane, CUDA_KERNEL, 450, 5, { LNS_COLUMN_CORRELATION, 6 }, { 0 });
  APPEND (lane, CUDA_KERNEL, 460, 5, { LNS_COLUMN_CORRELATION, 7 }, { LNS_COLUMN_QUEUED, 31 },
          { LNS_COLUMN_SUBMITTED, 1 }, { 0 });
}

static void
write_mpi (void)
{
  uint32_t lane = add_lane ((LnsTrack){ .kind = LNS_TRACK_MPI }, LNS_LANE_MPI_CALL, 0);

  APPEND (lane, MPI_CALL, 500, 10, { 0 });
  APPEND (lane, MPI_CALL, 510, 10, { LNS_COLUMN_EVENT_CLASS, LNS_MPI_START_WAIT },
          { LNS_COLUMN_REQUEST, 77 }, { 0 });
  APPEND (lane, MPI_CALL, 520, 10, { LNS_COLUMN_EVENT_CLASS, LNS_MPI_P2P },
          { LNS_COLUMN_COMMUNICATOR, 5 }, { LNS_COLUMN_TAG, (uint64_t)-1 },
          { LNS_COLUMN_PEER_RANK, 2 }, { LNS_COLUMN_BYTES, 800 }, { 0 });
  APPEND (lane, MPI_CALL, 530, 10, { LNS_COLUMN_EVENT_CLASS, LNS_MPI_COLLECTIVE },
          { LNS_COLUMN_COMMUNICATOR, 5 }, { LNS_COLUMN_COMMUNICATOR_UID, 6 },
          { LNS_COLUMN_BYTES, 800 }, { LNS_COLUMN_RECEIVED_BYTES, 1600 }, { 0 });
  lns_writer_set_open (
      writer, lane, &(LnsEvent){ .start_ns = 600, .name = lns_writer_string (writer, "name", 4) });
}

static void
test_columns (void)
{
  const char *path = fixture_path ("system.rep");

  writer = fixture_writer (path);
  lns_writer_set_process (writer, 0,
                          &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE, .machine = 0xFE01 });
  write_events ();
  write_cuda ();
  write_mpi ();
  fixture_finish (writer, 1000);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  const long tid = (long)(UINT64_C (0xFE01) << 48 | 10 << 24 | 11);
  uint32_t name;
  char wanted[512];
  LNS_CHECK (lns_tables_find_string (tables, "name", 4, &name, NULL));

#define CHECK_ROWS(table, ...)                                                                     \
 do                                                                                                \
  {                                                                                                \
   snprintf (wanted, sizeof wanted, __VA_ARGS__);                                                  \
   LNS_CHECK_STR (table_text (tables, table), wanted);                                             \
  }                                                                                                \
 while (0)

  CHECK_ROWS ("OSRT_API", "1:100,150,27,%ld,%u,-1,1,7,0 2:200,200,31,%ld,%u,0,1,0,3 ", tid, name,
              tid, name);
  CHECK_ROWS ("SYSCALL", "1:110,140,107,%ld,%u,0,-2 ", tid, name);
  CHECK_ROWS ("SCHED_EVENTS", "1:100,64,1,%ld,0,- 2:140,64,0,%ld,5,2 ", tid, tid);
  CHECK_ROWS ("COMPOSITE_EVENTS", "1:12,300,3,1,%ld,999 ", tid);
  CHECK_ROWS ("GPU_METRICS", "1:397,400,1099511627777,9,55 ");
  LNS_CHECK (strncmp (table_text (tables, "LNS_COUNTERS"), "1:410,", 6) == 0);
  LNS_CHECK_INT (lns_tables_n_rows (tables, lns_table_find ("LNS_COUNTERS")), 1);
  CHECK_ROWS ("MPI_OTHER_EVENTS", "1:500,510,%ld,%u 5:600,-,%ld,%u ", tid, name, tid, name);
  CHECK_ROWS ("MPI_START_WAIT_EVENTS", "2:510,520,%ld,%u,77 ", tid, name);
  CHECK_ROWS ("MPI_P2P_EVENTS", "3:520,530,%ld,%u,5,-,-1,2,800,- ", tid, name);
  CHECK_ROWS ("MPI_COLLECTIVES_EVENTS", "4:530,540,%ld,%u,5,6,0,800,1600,- ", tid, name);
  const long pid = (long)(UINT64_C (0xFE01) << 48 | 10 << 24),
             holder = (long)(UINT64_C (0xFE01) << 48 | 77 << 24);
  CHECK_ROWS ("GPU_CONTEXT_SWITCH_EVENTS", "1:9,0,1,7,420,%ld,0 2:7,0,2,8,425,-,0 ", holder);
  CHECK_ROWS ("LNS_CUDA_HOST_FUNCTIONS", "1:430,435,0,0,0,0,3,%ld,%ld,%u,4,5 ", pid, tid, name);
  CHECK_ROWS ("LNS_CUDA_UM_EVENTS", "1:440,440,%ld,%u,7,4096,64,1,4294967295,2 ", pid, name);
  CHECK_ROWS ("LNS_CUDA_KERNEL_LATENCIES", "2:460,465,0,0,0,0,7,%ld,%u,430,460 ", pid, name);
  lns_tables_free (tables);
  lns_report_close (report);
}

/* Systems give a thread the id of one that has ended: one row of ThreadNames has room for one of them. */
static void
test_threads_with_one_id (void)
{
  const char *path = fixture_path ("reused.rep");
  writer = fixture_writer (path);
  for (int i = 0; i < 3; i++)
    lns_writer_add_thread (
        writer, &(LnsThread){ .tid = 4711, .name = lns_writer_string (writer, "abc" + i, 1) });
  fixture_finish (writer, 1000);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  uint32_t last;
  LNS_CHECK (lns_tables_find_string (tables, "c", 1, &last, NULL));
  char wanted[64];
  snprintf (wanted, sizeof wanted, "%u,-,", last);
  LNS_CHECK (strstr (table_text (tables, "ThreadNames"), wanted) != NULL);
  const char *said = table_text (tables, "DIAGNOSTIC_EVENT");
  LNS_CHECK (strstr (said, "LNS-SQL-001: ThreadNames lacks 2 threads") != NULL);
  lns_tables_free (tables);
  lns_report_close (report);
}

/* Two samples with the same chain have rows of their own, as in exports of nsys. */
static void
test_recorded_chains (void)
{
  const char *path = fixture_path ("chains.rep");
  writer = fixture_writer (path);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 11, .target_tid = 11 });
  const uint32_t place = lns_writer_string (writer, "/lib/libx.so", 12),
                 leaf = lns_writer_string (writer, "leaf", 4),
                 caller = lns_writer_string (writer, "libx.so+0x1040", 14);
  lns_writer_add_module (
      writer,
      &(LnsModule){ .path = place, .start = 0x50000, .end = 0x60000, .file_offset = 0x1000 });
  lns_writer_add_frame (writer,
                        &(LnsStackFrame){ .module = 0, .symbol = caller, .offset = 0x1040 });
  lns_writer_add_frame (
      writer, &(LnsStackFrame){ .module = 0, .symbol = leaf, .offset = 0x1100, .is_resolved = 1 });
  /* At the caller's place two calls are inlined, one in the other. */
  const uint32_t file = lns_writer_string (writer, "x.c", 3);
  for (uint32_t i = 0; i < 2; i++)
    lns_writer_add_frame (writer, &(LnsStackFrame){ .module = 0,
                                                    .symbol = place + i,
                                                    .offset = 0x1040,
                                                    .is_resolved = 1,
                                                    .file = file,
                                                    .line = 7 + i,
                                                    .inlined_in = i == 0 ? 1 : 3 });
  lns_writer_set_frame (
      writer, 0,
      &(LnsStackFrame){ .module = 0, .symbol = caller, .offset = 0x1040, .innermost = 4 });
  lns_writer_add_call_node (writer, &(LnsCallNode){ LNS_ID_NONE, 0 });
  lns_writer_add_call_node (writer, &(LnsCallNode){ 0, 1 });
  const uint32_t lane =
      add_lane ((LnsTrack){ .kind = LNS_TRACK_CPU_SAMPLES }, LNS_LANE_CPU_SAMPLE, 0);
  for (int i = 0; i < 2; i++)
    APPEND (lane, CPU_SAMPLE, 100 + i, 0, { LNS_COLUMN_CALL_CHAIN, 2 }, { 0 });
  APPEND (lane, CPU_SAMPLE, 200, 0, { LNS_COLUMN_CALL_CHAIN, 1 }, { 0 });
  APPEND (lane, CPU_SAMPLE, 300, 0, { LNS_COLUMN_CALL_CHAIN, 9 }, { 0 }); /* no such node */
  /* A Python function has a file and a line, and no address. Its samples are in tables of their own. */
  lns_writer_add_frame (
      writer,
      &(LnsStackFrame){
          .module = LNS_ID_NONE, .symbol = leaf, .is_resolved = 1, .file = file, .line = 9 });
  lns_writer_add_call_node (writer, &(LnsCallNode){ LNS_ID_NONE, 4 });
  lns_writer_add_call_node (writer, &(LnsCallNode){ 2, 4 });
  const uint32_t python =
      add_lane ((LnsTrack){ .kind = LNS_TRACK_PYTHON_SAMPLES }, LNS_LANE_PYTHON_SAMPLE, 0);
  APPEND (python, PYTHON_SAMPLE, 150, 0, { LNS_COLUMN_THREAD_STATE, 7 },
          { LNS_COLUMN_OPERATION, LNS_PYTHON_LOCK_WAITED_FOR }, { LNS_COLUMN_CALL_CHAIN, 4 },
          { 0 });
  fixture_finish (writer, 1000);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  char wanted[2048];
  const unsigned of_leaf[] = { leaf, place, 0x50100 }, of_caller[] = { caller, place, 0x50040 };
#define CALL(number, id, of, unresolved, depth)                                                    \
 "%d:%d,%u,%u,-,-," unresolved ",-,%u,1,%d,-,-,- ", number, id, of[0], of[1], of[2], depth
#define INLINED(number, id, level, depth)                                                          \
 "%d:%d,%u,%u,-,-,-,-,%u,1,%d,%u,%u,1 ", number, id, place + level, place, 0x50040, depth, file,   \
     7 + level
  char *at = wanted;
  at += sprintf (at, CALL (65537, 1, of_leaf, "-", 0));
  at += sprintf (at, INLINED (65538, 1, 1, 1));
  at += sprintf (at, INLINED (65539, 1, 0, 2));
  at += sprintf (at, CALL (65540, 1, of_caller, "1", 3));
  at += sprintf (at, CALL (131073, 2, of_leaf, "-", 0));
  at += sprintf (at, INLINED (131074, 2, 1, 1));
  at += sprintf (at, INLINED (131075, 2, 0, 2));
  at += sprintf (at, CALL (131076, 2, of_caller, "1", 3));
  at += sprintf (at, INLINED (196609, 3, 1, 0));
  at += sprintf (at, INLINED (196610, 3, 0, 1));
  at += sprintf (at, CALL (196611, 3, of_caller, "1", 2));
  LNS_CHECK_STR (table_text (tables, "SAMPLING_CALLCHAINS"), wanted);
  LNS_CHECK_INT (lns_tables_n_rows (tables, lns_tables_find (tables, "SAMPLING_CALLCHAINS")), 11);
  const char *samples = table_text (tables, "COMPOSITE_EVENTS");
  LNS_CHECK (strncmp (samples, "1:1,100,", 8) == 0 && strstr (samples, " 4:4,300,") != NULL);
  LNS_CHECK (strstr (samples, "150") == NULL);
  snprintf (wanted, sizeof wanted, "65537:1,%u,0,%u,9 65538:1,%u,1,%u,9 ", leaf, file, leaf, file);
  LNS_CHECK_STR (table_text (tables, "LNS_PYTHON_CALLCHAINS"), wanted);
  LNS_CHECK_INT (lns_tables_n_rows (tables, lns_tables_find (tables, "LNS_PYTHON_CALLCHAINS")), 2);
  samples = table_text (tables, "LNS_PYTHON_SAMPLES");
  LNS_CHECK (strncmp (samples, "1:1,150,", 8) == 0 && strstr (samples, ",7,3 ") != NULL);
  lns_tables_free (tables);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_columns);
  LNS_TEST (test_threads_with_one_id);
  LNS_TEST (test_recorded_chains);
  return lns_tap_done ();
}

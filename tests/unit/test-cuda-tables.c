/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the CUDA tables of which no public export has rows: each column from one event, and the
 * statistics of unified memory. */

#include "src/analysis/stats/report.h"
#include "src/tables/row-cursor.h"
#include "src/store/write/kept-table.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"
#include "tests/unit/table-fixture.h"

static LnsWriter *writer;

static uint32_t
add_lane (LnsTrackKind track, LnsLaneKind kind)
{
  bool of_thread = lns_track_kind_info (track)->has_thread;
  bool of_stream = track == LNS_TRACK_CUDA_MEMCPY;
  LnsTrack definition = { .kind = track,
                          .process = 0,
                          .thread = of_thread ? 0 : LNS_ID_NONE,
                          .domain = LNS_ID_NONE,
                          .device = 0,
                          .stream = of_stream ? 0 : LNS_ID_NONE };
  return lns_writer_add_lane (
      writer, &(LnsLane){ .track = lns_writer_add_track (writer, &definition), .kind = kind });
}

static LnsReport *
write_report (void)
{
  const char *path = fixture_path ("tables.rep");
  uint32_t lane;

  writer = fixture_writer (path);
  LnsCudaDevice device = { .number = 3,
                           .name = lns_writer_string (writer, "GPU of the test", 15),
                           .uuid = lns_writer_string (writer, "GPU-12-34", 9),
                           .core_clock = 7,
                           .compute_major = 9,
                           .max_grid = { 1, 2, 3 } };
  lns_writer_add_device (writer, &device);
  lns_writer_add_context (writer,
                          &(LnsCudaContext){ .number = 5, .null_stream = 7, .is_green = 1 });
  lns_writer_add_stream (writer,
                         &(LnsCudaStream){ .number = 7, .priority = -2, .flags = 1, .name = 1 });
  lane = add_lane (LNS_TRACK_CUDA_MEMORY, LNS_LANE_CUDA_MEMORY);
  table_append (writer, lane, LNS_LANE_CUDA_MEMORY, 100, 0,
                (LnsTableValue[]){ { LNS_COLUMN_CORRELATION, 11 },
                                   { LNS_COLUMN_BYTES, 4096 },
                                   { LNS_COLUMN_ADDRESS, 0x7000 },
                                   { LNS_COLUMN_OPERATION, 2 | 3 << 8 | 1 << 16 },
                                   { LNS_COLUMN_PC, 0x40 },
                                   { LNS_COLUMN_PLACE, 7 | UINT64_C (5) << 32 },
                                   { LNS_COLUMN_POOL_SIZE, 8192 },
                                   { 0 } });
  lane = add_lane (LNS_TRACK_CUDA_POOLS, LNS_LANE_CUDA_POOL);
  table_append (writer, lane, LNS_LANE_CUDA_POOL, 110, 0,
                (LnsTableValue[]){
                    { LNS_COLUMN_OPERATION, 3 | 2 << 16 }, { LNS_COLUMN_ADDRESS, 0x9000 }, { 0 } });
  lane = add_lane (LNS_TRACK_CUDA_CPU_FAULTS, LNS_LANE_CUDA_FAULT);
  for (int i = 0; i < 3; i++)
    table_append (writer, lane, LNS_LANE_CUDA_FAULT, 120 + 10 * i, 0,
                  (LnsTableValue[]){
                      { LNS_COLUMN_ADDRESS, 0x10000 }, { LNS_COLUMN_PC, 0x400 + i % 2 }, { 0 } });
  lane = add_lane (LNS_TRACK_CUDA_GPU_FAULTS, LNS_LANE_CUDA_FAULT);
  table_append (writer, lane, LNS_LANE_CUDA_FAULT, 130, 5,
                (LnsTableValue[]){ { LNS_COLUMN_ADDRESS, 0x20000 },
                                   { LNS_COLUMN_FAULTS, 9 },
                                   { LNS_COLUMN_FAULT_ACCESS, 2 },
                                   { 0 } });
  lane = add_lane (LNS_TRACK_CUDA_JIT, LNS_LANE_CUDA_JIT);
  table_append (writer, lane, LNS_LANE_CUDA_JIT, 140, 5,
                (LnsTableValue[]){ { LNS_COLUMN_JIT_KIND, 1 | 3 << 8 }, { 0 } });
  table_append (writer, add_lane (LNS_TRACK_CUBLAS, LNS_LANE_LIBRARY_CALL), LNS_LANE_LIBRARY_CALL,
                150, 5, (LnsTableValue[]){ { 0 } });
  table_append (writer, add_lane (LNS_TRACK_CUDNN, LNS_LANE_LIBRARY_CALL), LNS_LANE_LIBRARY_CALL,
                160, 5, (LnsTableValue[]){ { 0 } });
  table_append (writer, add_lane (LNS_TRACK_CUSPARSE, LNS_LANE_LIBRARY_CALL), LNS_LANE_LIBRARY_CALL,
                162, 5, (LnsTableValue[]){ { LNS_COLUMN_RETURN_VALUE, 7 }, { 0 } });
  table_append (writer, add_lane (LNS_TRACK_CUSOLVER, LNS_LANE_LIBRARY_CALL), LNS_LANE_LIBRARY_CALL,
                164, 5, (LnsTableValue[]){ { LNS_COLUMN_RETURN_VALUE, 9 }, { 0 } });
  lane = add_lane (LNS_TRACK_CUDA_GRAPH_NODES, LNS_LANE_CUDA_GRAPH_NODE);
  table_append (writer, lane, LNS_LANE_CUDA_GRAPH_NODE, 170, 1,
                (LnsTableValue[]){ { LNS_COLUMN_GRAPH, 1 }, { 0 } });
  table_append (
      writer, lane, LNS_LANE_CUDA_GRAPH_NODE, 180, 1,
      (LnsTableValue[]){ { LNS_COLUMN_GRAPH_NODE, 77 }, { LNS_COLUMN_ORIGINAL, 70 }, { 0 } });
  table_append (writer, lane, LNS_LANE_CUDA_GRAPH_NODE, 190, 1,
                (LnsTableValue[]){ { LNS_COLUMN_GRAPH, 2 }, { LNS_COLUMN_ORIGINAL, 1 }, { 0 } });
  lane = add_lane (LNS_TRACK_CUDA_MEMCPY, LNS_LANE_CUDA_MEMCPY);
  table_append (writer, lane, LNS_LANE_CUDA_MEMCPY, 200, 1000,
                (LnsTableValue[]){ { LNS_COLUMN_BYTES, 2000000 },
                                   { LNS_COLUMN_COPY_KIND, 11 },
                                   { LNS_COLUMN_ADDRESS, 0x10000 },
                                   { LNS_COLUMN_MIGRATION_CAUSE, 2 },
                                   { 0 } });
  table_append (writer, lane, LNS_LANE_CUDA_MEMCPY, 2000, 1000,
                (LnsTableValue[]){ { LNS_COLUMN_BYTES, 1000000 },
                                   { LNS_COLUMN_COPY_KIND, 12 },
                                   { LNS_COLUMN_ADDRESS, 0x10000 },
                                   { 0 } });
  fixture_finish (writer, 10000);
  return fixture_open (path, NULL);
}

static void
test_each_column (void)
{
  LnsReport *report = write_report ();
  LnsTables *tables = lns_tables_new (report, NULL);
  uint32_t n;
  const LnsProcess *process = lns_report_processes (report, &n);
  const LnsThread *thread = lns_report_threads (report, &n);
  long pid = (long)process->pid << 24, tid = pid | thread->tid;
  char wanted[512];
  /* What all calls and operations are called. */
  uint32_t name;
  LNS_CHECK (lns_tables_find_string (tables, "name", 4, &name, NULL));

#define CHECK_ROWS(table, ...)                                                                     \
 do                                                                                                \
  {                                                                                                \
   snprintf (wanted, sizeof wanted, __VA_ARGS__);                                                  \
   LNS_CHECK_STR (table_text (tables, table), wanted);                                             \
  }                                                                                                \
 while (0)

  CHECK_ROWS ("CUDA_GPU_MEMORY_USAGE_EVENTS",
              "1:100,%ld,3,5,28672,64,4096,2,1,name,11,7,-,-,8192,-,-,- ", pid);
  CHECK_ROWS ("CUDA_GPU_MEMORY_POOL_EVENTS", "1:110,%ld,3,36864,3,2,0,0,0,0,0 ", pid);
  CHECK_ROWS ("CUDA_UM_CPU_PAGE_FAULT_EVENTS",
              "1:120,%ld,65536,1024,0,0,-,-,- 2:130,%ld,65536,1025,0,0,-,-,- "
              "3:140,%ld,65536,1024,0,0,-,-,- ",
              pid, pid, pid);
  CHECK_ROWS ("CUDA_UM_GPU_PAGE_FAULT_EVENTS", "1:130,135,%ld,3,131072,9,2 ", pid);
  CHECK_ROWS ("CUPTI_ACTIVITY_KIND_JIT", "1:140,145,102,-,0,%u,1,3,3,-,-,- ", name);
  CHECK_ROWS ("CUBLAS_EVENTS", "1:150,155,29,%ld,%u ", tid, name);
  CHECK_ROWS ("CUDNN_EVENTS", "1:160,165,28,%ld,%u ", tid, name);
  CHECK_ROWS ("LNS_CUSPARSE_EVENTS", "1:162,167,%ld,%u,7 ", tid, name);
  CHECK_ROWS ("LNS_CUSOLVER_EVENTS", "1:164,169,%ld,%u,9 ", tid, name);
  CHECK_ROWS ("CUDA_GRAPH_NODE_EVENTS", "2:180,181,77,%ld,%u,77,70 ", tid, name);
  CHECK_ROWS ("CUDA_GRAPH_EVENTS", "1:170,171,95,%ld,%u,1,-,- 3:190,191,96,%ld,%u,2,1,- ", tid,
              name, tid, name);
  CHECK_ROWS ("TARGET_INFO_CUDA_DEVICE", "1:3,3,%d,12-34,- ", process->pid);
  CHECK_ROWS ("TARGET_INFO_CUDA_CONTEXT_INFO", "1:7,0,0,%d,3,5,0,1,0 ", process->pid);
  CHECK_ROWS ("TARGET_INFO_CUDA_STREAM", "1:7,0,0,%d,5,4294967294,1 ", process->pid);
  CHECK_ROWS (
      "TARGET_INFO_GPU",
      "1:0,3,GPU of the test,-,1,-,-,-,7000,-,-,12-34,-,-,3,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,"
      "-,-,-,1,2,3,9,0,9,0 ");
  LNS_CHECK (strncmp (table_text (tables, "CUPTI_ACTIVITY_KIND_MEMCPY"), "1:200,1200,3,5,5,7,0,",
                      strlen ("1:200,1200,3,5,5,7,0,")) == 0);
  lns_tables_free (tables);
  lns_report_close (report);
}

static char *
stats_of (LnsTables *tables, const char *name)
{
  static char text[4096];
  const LnsStatsStyle style = { .format = LNS_STATS_CSV, .separator = "", .no_header = true };
  LnsStatsResult *result =
      lns_stats_report_run (lns_stats_report_find (name, NULL), name, tables, NULL, NULL);
  FILE *stream = fmemopen (text, sizeof text, "w");

  LNS_CHECK (result != NULL && lns_stats_result_write (result, stream, &style, NULL));
  fclose (stream);
  lns_stats_result_free (result);
  return text;
}

static void
test_unified_memory (void)
{
  LnsReport *report = write_report ();
  LnsTables *tables = lns_tables_new (report, NULL);

  LNS_CHECK_STR (stats_of (tables, "um_sum"),
                 "0x10000,2.000,1.000,3,0,1500000.000\n0x20000,0.000,0.000,0,9,\n");
  LNS_CHECK_STR (stats_of (tables, "um_sum:rows=1"), "0x10000,2.000,1.000,3,0,1500000.000\n");
  LNS_CHECK_STR (stats_of (tables, "um_total_sum"), "2.000,1.000,3,9,0x10000,0x20000\n");
  LNS_CHECK_STR (stats_of (tables, "um_cpu_page_faults_sum"), "2,0x400\n1,0x401\n");
  LNS_CHECK (lns_stats_report_find ("um_sum:rows=", NULL) == NULL);
  LNS_CHECK (lns_stats_report_find ("um_sum:rows=x", NULL) == NULL);
  LNS_CHECK (lns_stats_report_find ("um_sum:rows=-1", NULL) != NULL);
  lns_tables_free (tables);
  lns_report_close (report);
}

/* 2 MB and then 1 MB move in 1 µs each. */
static void
test_trace_of_copies (void)
{
  LnsReport *report = write_report ();
  LnsTables *tables = lns_tables_new (report, NULL);

  LNS_CHECK_STR (stats_of (tables, "cuda_gpu_trace"),
                 "200,1000,0,,,,,,,,,,2.000,2000000.000,Unknown,Unknown,GPU of the test (3),5,5,7,"
                 "[CUDA memcpy Unified Host-to-Device]\n"
                 "2000,1000,0,,,,,,,,,,1.000,1000000.000,Unknown,Unknown,GPU of the test (3),5,5,7,"
                 "[CUDA memcpy Unified Device-to-Host]\n");
  lns_tables_free (tables);
  lns_report_close (report);
}

/* Where more moved than there are numbers for comes first. */
static void
test_more_than_all_bytes (void)
{
  const char *path = fixture_path ("more.rep");
  static const uint64_t copies[][3] = { { 0x20000, 11, 5 },
                                        { 0x10000, 11, INT64_MAX },
                                        { 0x10000, 12, 1000 } };

  writer = fixture_writer (path);
  lns_writer_add_device (writer, &(LnsCudaDevice){ .number = 3 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .number = 5 });
  lns_writer_add_stream (writer, &(LnsCudaStream){ .number = 7 });
  uint32_t lane = add_lane (LNS_TRACK_CUDA_MEMCPY, LNS_LANE_CUDA_MEMCPY);
  for (int i = 0; i < 3; i++)
    table_append (writer, lane, LNS_LANE_CUDA_MEMCPY, 100 * i, 10,
                  (LnsTableValue[]){ { LNS_COLUMN_ADDRESS, copies[i][0] },
                                     { LNS_COLUMN_COPY_KIND, copies[i][1] },
                                     { LNS_COLUMN_BYTES, copies[i][2] },
                                     { 0 } });
  fixture_finish (writer, 1000);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  LNS_CHECK (strncmp (stats_of (tables, "um_sum:rows=1"), "0x10000,", 8) == 0);
  lns_tables_free (tables);
  lns_report_close (report);
}

/* A row may say any times in another way than its lane does. */
static void
test_length_beyond_all_numbers (void)
{
  static const LnsKeptColumn columns[] = { { "start", "INTEGER", true },
                                           { "end", "INTEGER", true } };
  const char *path = fixture_path ("length.rep");

  writer = fixture_writer (path);
  lns_writer_add_device (writer, &(LnsCudaDevice){ .number = 3 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .number = 5 });
  lns_writer_add_stream (writer, &(LnsCudaStream){ .number = 7 });
  LnsKeptTableMaker *maker =
      lns_kept_table_maker_new (writer, "CUPTI_ACTIVITY_KIND_MEMCPY", columns, 2, true);
  const uint64_t remainder = lns_kept_table_maker_remainder (
      maker, (LnsKeptValue[]){ { .type = LNS_KEPT_INTEGER, .integer = -5 },
                               { .type = LNS_KEPT_INTEGER, .integer = INT64_MAX } });
  lns_kept_table_maker_free (maker);
  uint32_t lane = add_lane (LNS_TRACK_CUDA_MEMCPY, LNS_LANE_CUDA_MEMCPY);
  table_append (writer, lane, LNS_LANE_CUDA_MEMCPY, 100, 10,
                (LnsTableValue[]){ { LNS_COLUMN_REMAINDER, remainder }, { 0 } });
  fixture_finish (writer, 1000);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  LNS_CHECK (strncmp (stats_of (tables, "cuda_gpu_trace"), "-5,9223372036854775807,", 23) == 0);
  lns_tables_free (tables);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_each_column);
  LNS_TEST (test_unified_memory);
  LNS_TEST (test_trace_of_copies);
  LNS_TEST (test_more_than_all_bytes);
  LNS_TEST (test_length_beyond_all_numbers);
  return lns_tap_done ();
}

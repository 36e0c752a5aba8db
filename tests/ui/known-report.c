/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes reports whose every range is known, for the timeline's tests:
 *
 *   known-report OUT.rep            a program of 10 s with three threads: see write_known ()
 *   known-report OUT.rep THREADS    THREADS threads of two domains each, for the number of rows
 *   known-report OUT.rep hours      ten hours, then three ranges of 1 ns, 2 ns and 3 ns
 *   known-report OUT.rep names      names that are hard to show: see write_names ()
 *   known-report OUT.rep samples    samples of CPUs in two threads: see write_samples ()
 *   known-report OUT.rep gpu        GPU time below ranges: see write_gpu_time ()
 *   known-report OUT.rep wakings    a thread that wakes another one: see write_wakings ()
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/write/kept-table.h"
#include "src/store/write/writer.h"

#define SECOND INT64_C (1000000000)
#define MS     INT64_C (1000000)

static LnsWriter *writer;

static uint32_t
string (const char *text)
{
  return lns_writer_string (writer, text, strlen (text));
}

static uint32_t
process (const char *name, int pid)
{
  return lns_writer_add_process (writer, &(LnsProcess){ .pid = pid,
                                                        .target_pid = pid,
                                                        .parent = LNS_ID_NONE,
                                                        .name = string (name),
                                                        .start_ns = LNS_TIME_UNKNOWN,
                                                        .end_ns = LNS_TIME_UNKNOWN });
}

static uint32_t
thread (uint32_t of, const char *name, int tid)
{
  return lns_writer_add_thread (writer, &(LnsThread){ .process = of,
                                                      .tid = tid,
                                                      .target_tid = tid,
                                                      .name = string (name),
                                                      .start_ns = LNS_TIME_UNKNOWN,
                                                      .end_ns = LNS_TIME_UNKNOWN });
}

static uint32_t
domain (uint32_t of, uint32_t number, const char *name)
{
  return lns_writer_add_domain (writer, &(LnsDomain){ .process = of,
                                                      .number = number,
                                                      .name = string (name),
                                                      .destroyed_ns = LNS_TIME_UNKNOWN,
                                                      .thread = LNS_ID_NONE });
}

static uint32_t
track (LnsTrackKind kind, uint32_t of, uint32_t by, uint32_t in, const char *name)
{
  return lns_writer_add_track (
      writer, &(LnsTrack){ .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE,
                           .kind = kind,
                           .process = of,
                           .thread = by,
                           .domain = in,
                           .name = string (name),
                           .value_type = kind == LNS_TRACK_COUNTER ? LNS_PAYLOAD_DOUBLE : 0 });
}

static uint32_t
lane (uint32_t on, uint32_t ordinal, LnsLaneKind kind)
{
  return lns_writer_add_lane (writer, &(LnsLane){ on, ordinal, kind });
}

static LnsEvent
event (LnsLaneKind kind, int64_t start_ns, int64_t duration_ns, const char *name, uint32_t color)
{
  LnsEvent it = { .start_ns = start_ns, .duration_ns = duration_ns, .name = string (name) };
  int column = lns_lane_kind_extra (kind, LNS_COLUMN_COLOR);
  if (column >= 0)
    it.extra[column] = color;
  return it;
}

static void
range (uint32_t on, int64_t start_ns, int64_t duration_ns, const char *name, uint32_t color)
{
  LnsEvent it = event (LNS_LANE_NVTX_PUSH_POP, start_ns, duration_ns, name, color);
  lns_writer_append (writer, on, &it);
}

/* Ten epochs of 900 ms, each of a forward (green) and a backward (no colour of its own) half, these
 * of ten layers, these of bursts of 100 calls of 5 µs. */
static void
write_training (const uint32_t lanes[4])
{
  static const uint32_t colors[] = { 0xff76b900, 0xff1f77b4, 0xffff7f0e, 0xffd62728, 0xff9467bd };
  char name[64];
  for (int64_t epoch = 0; epoch < 10; epoch++)
    {
      int64_t start_ns = epoch * SECOND;
      snprintf (name, sizeof name, "epoch %" PRId64, epoch);
      range (lanes[0], start_ns, 900 * MS, name, colors[epoch % 5]);
      for (int64_t half = 0; half < 2; half++)
        {
          int64_t half_ns = start_ns + 10 * MS + half * 440 * MS;
          range (lanes[1], half_ns, 430 * MS, half == 0 ? "forward" : "backward",
                 half == 0 ? 0xff00aa00 : 0);
          for (int64_t layer = 0; layer < 10; layer++)
            {
              int64_t layer_ns = half_ns + layer * 43 * MS;
              snprintf (name, sizeof name, "layer %" PRId64 " (conv2d, 3×3, stride 1)", layer);
              range (lanes[2], layer_ns, layer % 3 == 2 ? 30 * MS : 43 * MS, name, 0);
              for (int64_t call = 0; call < 100; call++)
                {
                  snprintf (name, sizeof name, "aten::op%" PRId64, (layer + call) % 7);
                  range (lanes[3], layer_ns + call * 200000, 5000 + call * 1000, name, 0);
                }
            }
        }
    }
}

static void
write_loader (uint32_t of, uint32_t by, uint32_t in)
{
  uint32_t on = lane (track (LNS_TRACK_NVTX_RANGES, of, by, in, ""), 0, LNS_LANE_NVTX_PUSH_POP);
  for (int64_t i = 0; i < 50; i++)
    if (i < 30 || i > 32)
      range (on, i * 200 * MS + 20 * MS, 120 * MS, "load batch", 0);
  lns_writer_add_loss (writer, &(LnsLoss){ .process = of,
                                           .thread = by,
                                           .first_ns = 6 * SECOND,
                                           .last_ns = 6600 * MS,
                                           .pushes = 3,
                                           .pops = 3 });
}

static void
write_counters (uint32_t of)
{
  uint32_t loss =
      lane (track (LNS_TRACK_COUNTER, of, LNS_ID_NONE, LNS_ID_NONE, "loss"), 0, LNS_LANE_COUNTER);
  int column = lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE);
  for (int64_t i = 0; i < 1000; i++)
    {
      double value = 8.0 / (1.0 + (double)i / 100) + (double)(i * 7 % 13) / 20;
      LnsEvent it = { .start_ns = i * 10 * MS };
      memcpy (&it.extra[column], &value, sizeof value);
      lns_writer_append (writer, loss, &it);
    }
}

static void
write_requests (uint32_t of, uint32_t in)
{
  uint32_t requests = track (LNS_TRACK_NVTX_START_END, of, LNS_ID_NONE, in, "");
  for (uint32_t i = 0; i < 3; i++)
    {
      uint32_t on = lane (requests, i, LNS_LANE_NVTX_START_END);
      for (int64_t k = 0; k < 8; k++)
        {
          LnsEvent it = event (LNS_LANE_NVTX_START_END, k * 1200 * MS + i * 300 * MS, 1000 * MS,
                               "GET /v1/models", 0);
          lns_writer_append (writer, on, &it);
        }
    }
}

static void
write_known (void)
{
  uint32_t it = process ("python3", 4711);
  uint32_t plain = domain (it, 0, ""), io = domain (it, 1, "io");
  uint32_t main_thread = thread (it, "main", 4711), loader = thread (it, "loader", 4712);
  uint32_t unnamed = thread (it, "", 4713);

  uint32_t ranges = track (LNS_TRACK_NVTX_RANGES, it, main_thread, plain, ""), lanes[4];
  for (uint32_t depth = 0; depth < 4; depth++)
    lanes[depth] = lane (ranges, depth, LNS_LANE_NVTX_PUSH_POP);
  write_training (lanes);

  uint32_t marks =
      lane (track (LNS_TRACK_NVTX_MARKS, it, main_thread, plain, ""), 0, LNS_LANE_NVTX_MARK);
  for (int64_t i = 0; i < 5; i++)
    {
      LnsEvent mark =
          event (LNS_LANE_NVTX_MARK, i * 2 * SECOND + 950 * MS, 0, "checkpoint saved", 0xffcc0066);
      lns_writer_append (writer, marks, &mark);
    }
  write_loader (it, loader, io);
  write_requests (it, io);
  write_counters (it);

  uint32_t open =
      lane (track (LNS_TRACK_NVTX_RANGES, it, unnamed, plain, ""), 0, LNS_LANE_NVTX_PUSH_POP);
  range (open, 1 * SECOND, 2 * SECOND, "a name with\nlines and \"quotes\" & <tags>", 0);
  LnsEvent still = event (LNS_LANE_NVTX_PUSH_POP, 5 * SECOND, 0, "still running", 0);
  lns_writer_set_open (writer, open, &still);
}

static void
write_threads (long n_threads)
{
  uint32_t it = process ("server", 100);
  uint32_t plain = domain (it, 0, ""), pool = domain (it, 1, "pool");
  char name[64];
  for (long i = 0; i < n_threads; i++)
    {
      snprintf (name, sizeof name, "worker %ld", i);
      uint32_t by = thread (it, name, 1000 + (int)i);
      for (int k = 0; k < 2; k++)
        {
          uint32_t on = lane (track (LNS_TRACK_NVTX_RANGES, it, by, k == 0 ? plain : pool, ""), 0,
                              LNS_LANE_NVTX_PUSH_POP);
          for (int64_t e = 0; e < 4; e++)
            range (on, (e * 2 + k) * SECOND + i * MS, 900 * MS, k == 0 ? "task" : "steal", 0);
        }
    }
}

static void
write_hours (void)
{
  uint32_t it = process ("batch", 7), by = thread (it, "main", 7), plain = domain (it, 0, "");
  uint32_t on = lane (track (LNS_TRACK_NVTX_RANGES, it, by, plain, ""), 0, LNS_LANE_NVTX_PUSH_POP);
  int64_t late_ns = 10 * 3600 * SECOND;
  range (on, 0, SECOND, "first", 0);
  range (on, late_ns, 1, "one", 0xffff0000);
  range (on, late_ns + 4, 2, "two", 0xff00ff00);
  range (on, late_ns + 10, 3, "three", 0xff0000ff);
}

/* A process and a thread whose names no header holds; ranges of a second each second, whose names
 * have quotes, lines, bytes that are no text, and 64 KiB; then one that began before the report did,
 * one that never ended, one whose end was lost. */
static void
write_names (void)
{
  static char long_name[(64 << 10) + 1];
  for (size_t i = 0; i < sizeof long_name - 1; i++)
    long_name[i] = "0123456789abcdef "[i % 17];
  uint32_t it = process ("a_program_with_a_name_that_is_much_wider_than_the_widest_header", 31);
  uint32_t plain = domain (it, 0, ""), far = domain (it, 1, "a domain\nof two lines");
  uint32_t by = thread (it, "a worker thread whose name says a lot about it", 32);
  uint32_t on = lane (track (LNS_TRACK_NVTX_RANGES, it, by, plain, ""), 0, LNS_LANE_NVTX_PUSH_POP);
  const char *const names[] = { "\"double\" & 'single' <quotes>",
                                "two\nlines\tand a tab",
                                "bytes \xff\xfe\x80 that are no text",
                                "Zażółć gęślą 日本語 🚀",
                                long_name,
                                "" };
  for (int64_t i = 0; i < (int64_t)(sizeof names / sizeof *names); i++)
    range (on, i * SECOND, 990 * MS, names[i], 0);

  uint32_t ends = lane (track (LNS_TRACK_NVTX_RANGES, it, by, far, ""), 0, LNS_LANE_NVTX_PUSH_POP);
  LnsEvent early = event (LNS_LANE_NVTX_PUSH_POP, 0, SECOND, "began before", 0);
  early.flags = LNS_EVENT_OPEN_START;
  lns_writer_append (writer, ends, &early);
  LnsEvent lost = event (LNS_LANE_NVTX_PUSH_POP, 2 * SECOND, SECOND, "its end was lost", 0);
  lost.flags = LNS_EVENT_END_UNKNOWN | LNS_EVENT_LOST_BEFORE;
  lns_writer_append (writer, ends, &lost);
  LnsEvent open = event (LNS_LANE_NVTX_PUSH_POP, 6 * SECOND, 0, "never ended", 0);
  lns_writer_set_open (writer, ends, &open);
}

/* The node of the call to SYMBOL in MODULE (LNS_ID_NONE: none) from PARENT. */
static uint32_t
call (uint32_t parent, uint32_t module, const char *symbol)
{
  const uint32_t frame = lns_writer_add_frame (
      writer, &(LnsStackFrame){ .module = module, .symbol = string (symbol), .is_resolved = 1 });
  return lns_writer_add_call_node (writer, &(LnsCallNode){ .parent = parent, .frame = frame });
}

static void
sample (uint32_t on, int64_t start_ns, uint32_t node)
{
  LnsEvent it = { .start_ns = start_ns };
  const int chain = lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN);
  if (node != LNS_ID_NONE)
    it.extra[chain] = 1 + (uint64_t)node;
  lns_writer_append (writer, on, &it);
}

/* 1,000 samples of the thread "main", one each 10 ms: 600 in main, solve, step, sin; 300 in main, report, format; 90 in main
 * itself; 10 without a call chain. Then 500 of "worker", one each 20 ms: 400 in start, solve, step, 100 in start, solve, solve.
 * sin is in libm.so, format in no module, all else in the program. */
static void
write_samples (void)
{
  const uint32_t it = process ("solver", 77);
  const uint32_t threads[] = { thread (it, "main", 77), thread (it, "worker", 78) };
  uint32_t on[2];
  for (int i = 0; i < 2; i++)
    on[i] = lane (track (LNS_TRACK_CPU_SAMPLES, it, threads[i], LNS_ID_NONE, ""), 0,
                  LNS_LANE_CPU_SAMPLE);
  const LnsModule program = {
    .process = it, .path = string ("/opt/solver"), .start = 4096, .end = 8192
  };
  const LnsModule library = {
    .process = it, .path = string ("/lib/libm.so"), .start = 16384, .end = 20480
  };
  const uint32_t own = lns_writer_add_module (writer, &program);
  const uint32_t libm = lns_writer_add_module (writer, &library);
  const uint32_t outer = call (LNS_ID_NONE, own, "main");
  const uint32_t solve = call (outer, own, "solve");
  const uint32_t sine = call (call (solve, own, "step"), libm, "sin");
  const uint32_t format = call (call (outer, own, "report"), LNS_ID_NONE, "format");
  const uint32_t worker = call (call (LNS_ID_NONE, own, "start"), own, "solve");
  const uint32_t step = call (worker, own, "step"), again = call (worker, own, "solve");

  for (int64_t i = 0; i < 1000; i++)
    sample (on[0], i * 10 * MS, i < 600 ? sine : i < 900 ? format : i < 990 ? outer : LNS_ID_NONE);
  for (int64_t i = 0; i < 500; i++)
    sample (on[1], i * 20 * MS, i < 400 ? step : again);
}

/* An event of DURATION_NS on ON, whose lane is of KIND, with a correlation. */
static void
linked (uint32_t on,
        LnsLaneKind kind,
        int64_t start_ns,
        int64_t duration_ns,
        const char *name,
        uint64_t correlation)
{
  LnsEvent it = event (kind, start_ns, duration_ns, name, 0);
  it.extra[lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION)] = correlation;
  lns_writer_append (writer, on, &it);
}

/* 100 ms of GPU time: "main" launches 30 ms of gemm in "forward" of "step 1" and 10 ms of a copy in "step 1" alone, 40 ms of gemm in
 * "forward" of "step 2", and "loader" 15 ms of a kernel in no range; 5 ms were launched by a call that is missing. 10 samples of
 * "main", in a function of that name. */
static void
write_gpu_time (void)
{
  const LnsLaneKind call_kind = LNS_LANE_CUDA_API, kernel = LNS_LANE_CUDA_KERNEL;
  const uint32_t it = process ("trainer", 90);
  const uint32_t threads[] = { thread (it, "main", 91), thread (it, "loader", 92) };
  const uint32_t in = domain (it, 0, "");
  const uint32_t ranges = track (LNS_TRACK_NVTX_RANGES, it, threads[0], in, "");
  const uint32_t steps = lane (ranges, 0, LNS_LANE_NVTX_PUSH_POP);
  const uint32_t halves = lane (ranges, 1, LNS_LANE_NVTX_PUSH_POP);
  uint32_t calls[2];
  for (int i = 0; i < 2; i++)
    calls[i] = lane (track (LNS_TRACK_CUDA_API, it, threads[i], LNS_ID_NONE, ""), 0, call_kind);
  const uint32_t kernels =
      lane (track (LNS_TRACK_CUDA_KERNELS, it, LNS_ID_NONE, LNS_ID_NONE, ""), 0, kernel);
  const uint32_t copies = lane (track (LNS_TRACK_CUDA_MEMCPY, it, LNS_ID_NONE, LNS_ID_NONE, ""), 0,
                                LNS_LANE_CUDA_MEMCPY);
  const uint32_t samples =
      lane (track (LNS_TRACK_CPU_SAMPLES, it, threads[0], LNS_ID_NONE, ""), 0, LNS_LANE_CPU_SAMPLE);
  const uint32_t node = call (LNS_ID_NONE, LNS_ID_NONE, "main");

  for (int64_t step = 0; step < 2; step++)
    {
      char name[16];
      snprintf (name, sizeof name, "step %" PRId64, 1 + step);
      range (steps, step * 2 * SECOND, SECOND, name, 0);
      range (halves, step * 2 * SECOND + 100 * MS, 400 * MS, "forward", 0);
    }
  linked (calls[0], call_kind, 200 * MS, MS, "cudaLaunchKernel", 1);
  linked (calls[0], call_kind, 600 * MS, MS, "cudaMemcpyAsync", 2);
  linked (calls[0], call_kind, 2200 * MS, MS, "cudaLaunchKernel", 3);
  linked (calls[1], call_kind, 4 * SECOND, MS, "cudaLaunchKernel", 4);
  linked (kernels, kernel, 300 * MS, 30 * MS, "void gemm<float>(float*)", 1);
  linked (kernels, kernel, 2300 * MS, 40 * MS, "void gemm<float>(float*)", 3);
  linked (kernels, kernel, 4100 * MS, 15 * MS, "augment", 4);
  linked (kernels, kernel, 5 * SECOND, 5 * MS, "orphan", 99);
  linked (copies, LNS_LANE_CUDA_MEMCPY, 700 * MS, 10 * MS, "[CUDA memcpy HtoD]", 2);
  for (int64_t i = 0; i < 10; i++)
    sample (samples, i * SECOND, node);
}

/* The thread of ON runs from START_NS to END_NS, and is blocked then. REMAINDER says who woke it; 0 = nothing does. */
static void
run (uint32_t on, int64_t start_ns, int64_t end_ns, uint64_t remainder)
{
  LnsEvent it = { .start_ns = start_ns, .duration_ns = end_ns - start_ns };
  it.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 1;
  it.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = 1;
  it.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_REMAINDER)] = remainder;
  lns_writer_append (writer, on, &it);
  LnsEvent left = { .start_ns = end_ns };
  left.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = 2;
  lns_writer_append (writer, on, &left);
}

/* "consumer" runs for the first second, is blocked to 5 s, when "producer" wakes it, runs from 6 to 7 s, and is blocked to the
 * end. "producer" runs from 4 to 5.5 s, woken at 3.5 s by "clock", which runs from 3 to 3.6 s. */
static void
write_wakings (void)
{
  static const LnsKeptColumn columns[] = { { "wakerTid", "INTEGER", false },
                                           { "wakeLatency", "INTEGER", false } };
  const uint32_t it = process ("pipeline", 10);
  const char *const names[] = { "consumer", "producer", "clock" };
  uint32_t on[3];
  for (int i = 0; i < 3; i++)
    on[i] = lane (track (LNS_TRACK_SCHED, it, thread (it, names[i], 10 + i), LNS_ID_NONE, ""), 0,
                  LNS_LANE_SCHED);
  LnsKeptTableMaker *maker = lns_kept_table_maker_new (writer, "SCHED_EVENTS", columns, 2, true);
  uint64_t remainders[2];
  for (int i = 0; i < 2; i++)
    {
      const LnsKeptValue values[] = { { .type = LNS_KEPT_INTEGER, .integer = 10 << 24 | (11 + i) },
                                      { .type = LNS_KEPT_INTEGER,
                                        .integer = i == 0 ? SECOND : 500 * MS } };
      remainders[i] = lns_kept_table_maker_remainder (maker, values);
    }
  run (on[0], 0, SECOND, 0);
  run (on[0], 6 * SECOND, 7 * SECOND, remainders[0]);
  run (on[1], 4 * SECOND, 5500 * MS, remainders[1]);
  run (on[2], 3 * SECOND, 3600 * MS, 0);
  lns_kept_table_maker_free (maker);
}

int
main (int argc, char **argv)
{
  LnsError error = { 0 };
  if (argc < 2)
    {
      fprintf (stderr,
               "usage: known-report OUT.rep [THREADS | hours | names | samples | gpu | wakings]\n");
      return 2;
    }
  writer = lns_writer_create (argv[1], &(LnsWriterOptions){ .overwrite = true }, &error);
  if (writer != NULL)
    {
      int64_t end_ns = 10 * SECOND;
      if (argc == 2)
        write_known ();
      else if (strcmp (argv[2], "hours") == 0)
        {
          write_hours ();
          end_ns = 10 * 3600 * SECOND + 20;
        }
      else if (strcmp (argv[2], "names") == 0)
        write_names ();
      else if (strcmp (argv[2], "samples") == 0)
        write_samples ();
      else if (strcmp (argv[2], "gpu") == 0)
        write_gpu_time ();
      else if (strcmp (argv[2], "wakings") == 0)
        write_wakings ();
      else
        write_threads (strtol (argv[2], NULL, 10));
      lns_writer_finish (writer, LNS_STATE_COMPLETE, end_ns, &error);
    }
  if (error.domain != LNS_ERROR_NONE)
    fprintf (stderr, "known-report: %s\n", error.message);
  return error.domain != LNS_ERROR_NONE;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* GPU time by ranges: sums of two steps of two layers each, small enough to work them out by hand, and sums of many random
 * operations against a search through all ranges. */

#include "src/analysis/facts/gpu-time.h"

#include <stdarg.h>
#include <stdio.h>

#include "src/analysis/call-branches.h"
#include "src/base/memory.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

static LnsWriter *writer;

static uint32_t
string (const char *text)
{
  return lns_writer_string (writer, text, strlen (text));
}

static uint32_t
add_lane (LnsTrackKind track,
          LnsLaneKind kind,
          uint32_t process,
          uint32_t thread,
          uint32_t domain,
          uint32_t ordinal)
{
  LnsTrack definition = { .kind = track,
                          .process = process,
                          .thread = thread,
                          .domain = domain,
                          .device = LNS_ID_NONE,
                          .stream = LNS_ID_NONE };
  return lns_writer_add_lane (writer,
                              &(LnsLane){ .track = lns_writer_add_track (writer, &definition),
                                          .ordinal = ordinal,
                                          .kind = kind });
}

/* END_NS below 0: it was lost. */
static void
append (uint32_t lane,
        LnsLaneKind kind,
        int64_t start_ns,
        int64_t end_ns,
        const char *name,
        uint64_t correlation)
{
  LnsEvent event = { .start_ns = start_ns,
                     .duration_ns = end_ns >= 0 ? end_ns - start_ns : 0,
                     .flags = end_ns >= 0 ? 0 : LNS_EVENT_END_UNKNOWN,
                     .name = string (name) };
  const int column = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION);

  if (column >= 0)
    event.extra[column] = correlation;
  lns_writer_append (writer, lane, &event);
}

/* Threads 0 and 1 of process 0, and thread 2 of process 1, whose correlations are those of process 0. */
static LnsReport *
make_report (void)
{
  const LnsLaneKind range = LNS_LANE_NVTX_PUSH_POP, call = LNS_LANE_CUDA_API,
                    kernel = LNS_LANE_CUDA_KERNEL, copy = LNS_LANE_CUDA_MEMCPY;
  const char *path = fixture_path ("gpu-time.rep");

  writer = fixture_writer (path);
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 12 });
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 20, .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 1, .tid = 21 });
  const uint32_t library =
      lns_writer_add_domain (writer, &(LnsDomain){ .process = 0, .name = string ("library") });
  const uint32_t steps = add_lane (LNS_TRACK_NVTX_RANGES, range, 0, 0, 0, 0),
                 layers = add_lane (LNS_TRACK_NVTX_RANGES, range, 0, 0, 0, 1),
                 inner = add_lane (LNS_TRACK_NVTX_RANGES, range, 0, 0, library, 0),
                 calls = add_lane (LNS_TRACK_CUDA_API, call, 0, 0, LNS_ID_NONE, 0),
                 within = add_lane (LNS_TRACK_CUDA_API, call, 0, 0, LNS_ID_NONE, 1),
                 other_calls = add_lane (LNS_TRACK_CUDA_API, call, 0, 1, LNS_ID_NONE, 0),
                 far_calls = add_lane (LNS_TRACK_CUDA_API, call, 1, 2, LNS_ID_NONE, 0),
                 kernels =
                     add_lane (LNS_TRACK_CUDA_KERNELS, kernel, 0, LNS_ID_NONE, LNS_ID_NONE, 0),
                 copies = add_lane (LNS_TRACK_CUDA_MEMCPY, copy, 0, LNS_ID_NONE, LNS_ID_NONE, 0),
                 far = add_lane (LNS_TRACK_CUDA_KERNELS, kernel, 1, LNS_ID_NONE, LNS_ID_NONE, 0);

  append (steps, range, 0, 100, "step 1", 0);
  append (layers, range, 10, 40, "layers.0", 0);
  append (inner, range, 12, 30, "gemm call", 0);
  append (layers, range, 40, 90, "layers.1", 0);
  append (steps, range, 200, 300, "step 2", 0);
  append (layers, range, 210, 240, "layers.0", 0);
  append (layers, range, 250, -1, "lost end", 0);
  append (calls, call, 15, 20, "cudaLaunchKernel", 1);
  append (within, call, 16, 18, "cuLaunchKernel", 1);
  append (calls, call, 32, 38, "cudaGraphLaunch", 2);
  append (calls, call, 50, 55, "cudaLaunchKernel", 3);
  append (calls, call, 85, 95, "cudaMemcpyAsync", 4); /* leaves the layer */
  append (within, call, 86, 88, "cudaLaunchKernel", 5);
  append (calls, call, 120, 130, "cudaLaunchKernel", 6); /* between steps */
  append (calls, call, 220, 225, "cudaLaunchKernel", 7);
  append (calls, call, 260, 265, "cudaLaunchKernel", 8);
  append (other_calls, call, 60, 61, "cudaMemcpyAsync", 9);
  append (far_calls, call, 60, 61, "cudaLaunchKernel", 1);
  append (kernels, kernel, 1000, 1001, "gemm", 1);
  append (kernels, kernel, 1001, 1003, "gemm", 2);
  append (kernels, kernel, 1003, 1007, "add", 2);
  append (kernels, kernel, 1010, 1018, "gemm", 3);
  append (kernels, kernel, 1020, 1036, "norm", 5);
  append (kernels, kernel, 1040, 1072, "late", 6);
  append (kernels, kernel, 1080, 1144, "gemm", 7);
  append (kernels, kernel, 1150, 1278, "gemm", 8);
  append (kernels, kernel, 1300, 1556, "nobody's", 99);
  append (copies, copy, 1600, 2112, "[CUDA memcpy HtoD]", 4);
  append (copies, copy, 2200, 3224, "[CUDA memcpy HtoD]", 9);
  append (far, kernel, 4000, 6048, "far", 1);
  fixture_finish (writer, 10000);
  return fixture_open (path, NULL);
}

/* ---- Text ------------------------------------------------------------------------------------- */

static char text[4096];

static void
add_text (const char *format, ...)
{
  const size_t n = strlen (text);
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (text + n, sizeof text - n, format, arguments);
  va_end (arguments);
}

static void
add_name (const LnsCallTree *tree, uint32_t function)
{
  static const char *const sorts = "cRKCSGTP";
  const LnsCallFunction *it = &tree->functions[function];

  if (it->sort >= LNS_CALL_NO_RANGE)
    add_text ("%c%u", sorts[it->sort], it->symbol);
  else
    add_text ("%c %s%s", sorts[it->sort], lns_report_string (tree->report, it->symbol, NULL),
              it->is_many ? "*" : "");
}

/* Adds what is below BRANCH, a line each: depth, name, total, self. */
static void
add_below (LnsCallBranches *branches, uint32_t branch)
{
  const LnsCallBranch above = *lns_call_branches_grow (branches, branch);

  for (uint32_t i = above.first_below; i < above.first_below + above.n_below; i++)
    {
      const LnsCallBranch it = branches->branches.items[i];
      add_text ("%*s", (int)it.depth - 1, "");
      add_name (branches->tree, it.function);
      add_text (" %llu %llu\n", (unsigned long long)it.count.total,
                (unsigned long long)it.count.self);
      add_below (branches, i);
    }
}

/* The branches of what QUERY asks for. Valid until the next call. */
static const char *
branches_of (const LnsGpuTime *time, const LnsCallQuery *query, bool up)
{
  LnsCallSums sums;
  LnsError error = { 0 };

  if (!lns_gpu_time_sum (time, query, NULL, &sums, &error))
    LNS_FAIL ("%s", error.message);
  LnsCallBranches *branches = lns_call_branches_new (time->tree, &sums, up, false);
  *text = '\0';
  add_text ("%llu\n", (unsigned long long)sums.n_samples);
  add_below (branches, 0);
  lns_call_branches_free (branches);
  lns_call_sums_clear (&sums);
  return text;
}

static const LnsCallQuery whole = { .start_ns = INT64_MIN, .end_ns = INT64_MAX };

static LnsGpuTime *
make (LnsReport *report, bool strips_numbers)
{
  LnsError error = { 0 };
  LnsGpuTime *time = lns_gpu_time_new (report, strips_numbers, NULL, &error);

  if (time == NULL)
    LNS_FAIL ("%s", error.message);
  return time;
}

/* ---- Tests ------------------------------------------------------------------------------------ */

static void
test_time_is_under_its_ranges (void)
{
  LnsReport *report = make_report ();
  LnsGpuTime *time = make (report, false);

  LNS_CHECK (lns_gpu_time_is_there (report));
  LNS_CHECK_STR (branches_of (time, &whole, false), "4095\n"
                                                    "T2 2048 0\n"
                                                    " K far 2048 2048\n"
                                                    "T1 1024 0\n"
                                                    " C [CUDA memcpy HtoD] 1024 1024\n"
                                                    "R step 1 543 0\n"
                                                    " C [CUDA memcpy HtoD] 512 512\n"
                                                    " R layers.1 24 0\n"
                                                    "  K norm 16 16\n"
                                                    "  K gemm 8 8\n"
                                                    " R layers.0 7 0\n"
                                                    "  K add 4 4\n"
                                                    "  K gemm 2 2\n"
                                                    "  R gemm call 1 0\n"
                                                    "   K gemm 1 1\n"
                                                    "P0 256 0\n"
                                                    " K nobody's 256 256\n"
                                                    "R step 2 192 0\n"
                                                    " K gemm 128 128\n"
                                                    " R layers.0 64 0\n"
                                                    "  K gemm 64 64\n"
                                                    "T0 32 0\n"
                                                    " K late 32 32\n");
  lns_gpu_time_free (time);
  lns_report_close (report);
}

static void
test_ranges_without_numbers (void)
{
  LnsReport *report = make_report ();
  LnsGpuTime *time = make (report, true);

  LNS_CHECK_STR (branches_of (time, &whole, false), "4095\n"
                                                    "T2 2048 0\n"
                                                    " K far 2048 2048\n"
                                                    "T1 1024 0\n"
                                                    " C [CUDA memcpy HtoD] 1024 1024\n"
                                                    "R step 1* 735 0\n"
                                                    " C [CUDA memcpy HtoD] 512 512\n"
                                                    " K gemm 128 128\n"
                                                    " R layers.0* 95 0\n"
                                                    "  K gemm 74 74\n"
                                                    "  K norm 16 16\n"
                                                    "  K add 4 4\n"
                                                    "  R gemm call 1 0\n"
                                                    "   K gemm 1 1\n"
                                                    "P0 256 0\n"
                                                    " K nobody's 256 256\n"
                                                    "T0 32 0\n"
                                                    " K late 32 32\n");
  lns_gpu_time_free (time);
  lns_report_close (report);
}

static void
test_parts_of_time_and_threads (void)
{
  LnsReport *report = make_report ();
  LnsGpuTime *time = make (report, false);
  LnsCallQuery query = whole;

  /* The last 2 of the 4 ns of "add" and the first 3 of the 8 ns of "gemm". */
  query.start_ns = 1005;
  query.end_ns = 1013;
  LNS_CHECK_STR (branches_of (time, &query, true),
                 "5\nK gemm 3 3\n R layers.1 3 0\n  R step 1 3 0\n"
                 "K add 2 2\n R layers.0 2 0\n  R step 1 2 0\n");
  /* What nobody launched is of no thread, but of its process. */
  query = whole;
  query.threads = (const bool[]){ false, true, false };
  LNS_CHECK_STR (branches_of (time, &query, false),
                 "1024\nT1 1024 0\n C [CUDA memcpy HtoD] 1024 1024\n");
  query.threads = (const bool[]){ true, true, false };
  LNS_CHECK (strstr (branches_of (time, &query, true), "K nobody's 256") != NULL);
  query.threads = (const bool[]){ false, false, true };
  LNS_CHECK_STR (branches_of (time, &query, true), "2048\nK far 2048 2048\n T2 2048 0\n");
  query.threads = (const bool[]){ false, false, false };
  LNS_CHECK_STR (branches_of (time, &query, true), "0\n");
  lns_gpu_time_free (time);
  lns_report_close (report);
}

/* The start of the first operation in the node called NAME that begins from FROM_NS on in the time of QUERY, or -1. */
static int64_t
find (const LnsGpuTime *time, const LnsCallQuery *query, int64_t from_ns, const char *name)
{
  const LnsCallTree *tree = time->tree;
  bool *nodes = lns_calloc (tree->n_nodes, sizeof *nodes);
  uint32_t lane;
  uint64_t ordinal;
  LnsError error = { 0 };
  LnsEvent event;

  for (uint32_t i = 0; i < tree->n_nodes; i++)
    {
      const LnsCallFunction *function = &tree->functions[tree->nodes[i].function];
      nodes[i] = function->sort < LNS_CALL_NO_RANGE &&
                 strcmp (lns_report_string (tree->report, function->symbol, NULL), name) == 0;
    }
  lns_call_tree_mark_below (tree, nodes);
  LNS_CHECK (lns_gpu_time_find (time, query, from_ns, nodes, NULL, &lane, &ordinal, &error));
  free (nodes);
  return lane != LNS_ID_NONE && lns_report_event (tree->report, lane, ordinal, &event, &error)
             ? event.start_ns
             : -1;
}

static void
test_operations_are_found (void)
{
  LnsReport *report = make_report ();
  LnsGpuTime *time = make (report, false);
  LnsCallQuery query = whole;

  LNS_CHECK_INT (find (time, &query, INT64_MIN, "layers.0"), 1000);
  LNS_CHECK_INT (find (time, &query, 1001, "layers.0"), 1001);
  LNS_CHECK_INT (find (time, &query, 1004, "layers.0"), 1080);
  LNS_CHECK_INT (find (time, &query, 1081, "layers.0"), -1);
  query.start_ns = 1100;
  LNS_CHECK_INT (find (time, &query, INT64_MIN, "gemm"), 1080);
  query.end_ns = 1140;
  LNS_CHECK_INT (find (time, &query, 1081, "gemm"), -1);
  query.threads = (const bool[]){ false, true, true };
  LNS_CHECK_INT (find (time, &query, INT64_MIN, "gemm"), -1);
  lns_gpu_time_free (time);
  lns_report_close (report);
}

static void
test_cancelled (void)
{
  LnsReport *report = make_report ();
  const atomic_bool cancel = true;
  LnsError error = { 0 };
  LnsCallSums sums;

  LNS_CHECK (lns_gpu_time_new (report, false, &cancel, &error) == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  LnsGpuTime *time = make (report, false);
  error = (LnsError){ 0 };
  LNS_CHECK (!lns_gpu_time_sum (time, &whole, &cancel, &sums, &error));
  LNS_CHECK (sums.nodes == NULL);
  lns_gpu_time_free (time);
  lns_report_close (report);
}

/* More steps times kernels than are told apart: steps are one. */
static void
test_too_many_steps_are_one (void)
{
  const unsigned n_kernels = 1024, n_steps = LNS_GPU_TIME_MAX_NODES / n_kernels + 1;
  const char *path = fixture_path ("steps.rep");
  char name[32];

  writer = fixture_writer (path);
  const uint32_t steps = add_lane (LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP, 0, 0, 0, 0),
                 calls = add_lane (LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, 0, 0, LNS_ID_NONE, 0),
                 work = add_lane (LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, 0, LNS_ID_NONE,
                                  LNS_ID_NONE, 0);
  for (unsigned step = 0; step < n_steps; step++)
    {
      const int64_t step_ns = (int64_t)step * n_kernels * 10;
      snprintf (name, sizeof name, "step %u", step);
      append (steps, LNS_LANE_NVTX_PUSH_POP, step_ns, step_ns + n_kernels * 10, name, 0);
      for (unsigned i = 0; i < n_kernels; i++)
        {
          const int64_t start_ns = step_ns + (int64_t)i * 10;
          snprintf (name, sizeof name, "kernel %u", i);
          append (calls, LNS_LANE_CUDA_API, start_ns, start_ns + 5, "launch",
                  1 + step * n_kernels + i);
          append (work, LNS_LANE_CUDA_KERNEL, start_ns + 6, start_ns + 8, name,
                  1 + step * n_kernels + i);
        }
    }
  fixture_finish (writer, INT64_C (1) << 40);
  LnsReport *report = fixture_open (path, NULL);
  LnsGpuTime *time = make (report, false);
  LnsCallSums sums;
  LnsError error = { 0 };
  LNS_CHECK (time->strips_numbers);
  LNS_CHECK_INT (time->tree->n_nodes, 1 + n_kernels);
  LNS_CHECK (lns_gpu_time_sum (time, &whole, NULL, &sums, &error));
  LNS_CHECK_INT (sums.n_samples, 2 * n_kernels * n_steps);
  LNS_CHECK_INT (sums.nodes[n_kernels].self, 2 * n_steps);
  lns_call_sums_clear (&sums);
  lns_gpu_time_free (time);
  lns_report_close (report);
}

/* ---- Random ----------------------------------------------------------------------------------- */

#define N_CALLS  3000
#define N_RANGES 200
#define N_NAMES  5

typedef struct
{
  int64_t start_ns, end_ns;
  unsigned name;
} Made;

/* Calls one after the other, in ranges of three depths whose edges are anywhere; their operations come in another order. */
static void
test_random_calls_have_the_ranges_around_them (void)
{
  static Made calls[N_CALLS], ranges[3][N_RANGES];
  const char *path = fixture_path ("random.rep");
  uint64_t state = 7;
  uint64_t expected[N_NAMES + 1] = { 0 }; /* by innermost range; the last: no range */
  int64_t at_ns = 0;

  writer = fixture_writer (path);
  uint32_t lanes[3];
  for (unsigned depth = 0; depth < 3; depth++)
    {
      lanes[depth] = add_lane (LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP, 0, 0, 0, depth);
      for (unsigned i = 0; i < N_RANGES; i++)
        {
          /* Each within one of those above it, of which only every other has one. */
          const Made *above = depth > 0 ? &ranges[depth - 1][i] : NULL;
          const int64_t start_ns = above != NULL
                                       ? above->start_ns + (int64_t)(fixture_random (&state) % 20)
                                       : (int64_t)i * 300 + (int64_t)(fixture_random (&state) % 50);
          const int64_t end_ns = above != NULL
                                     ? above->end_ns - (int64_t)(fixture_random (&state) % 20)
                                     : start_ns + 200 + (int64_t)(fixture_random (&state) % 50);
          const unsigned name = (unsigned)(fixture_random (&state) % N_NAMES);
          char range_name[16];
          snprintf (range_name, sizeof range_name, "range%c", 'a' + (int)name);
          ranges[depth][i] = (Made){ start_ns, end_ns, name };
          append (lanes[depth], LNS_LANE_NVTX_PUSH_POP, start_ns, end_ns, range_name, 0);
        }
    }
  const uint32_t call_lane = add_lane (LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, 0, 0, LNS_ID_NONE, 0),
                 work = add_lane (LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, 0, LNS_ID_NONE,
                                  LNS_ID_NONE, 0);
  for (unsigned i = 0; i < N_CALLS; i++)
    {
      at_ns += 1 + (int64_t)(fixture_random (&state) % 30);
      calls[i] = (Made){ at_ns, at_ns + 1 + (int64_t)(fixture_random (&state) % 12), 0 };
      at_ns = calls[i].end_ns;
      append (call_lane, LNS_LANE_CUDA_API, calls[i].start_ns, calls[i].end_ns, "cudaLaunchKernel",
              1 + i);
    }
  for (unsigned k = 0; k < N_CALLS; k++)
    {
      const unsigned i = k * 7 % N_CALLS == 0 ? k : (unsigned)((uint64_t)k * 1009 % N_CALLS);
      const int64_t start_ns = 1000000 + (int64_t)k * 100, ns = 1 + (int64_t)(k % 90);
      append (work, LNS_LANE_CUDA_KERNEL, start_ns, start_ns + ns, "kernel", 1 + i);
      unsigned innermost = N_NAMES;
      for (unsigned depth = 0; depth < 3; depth++)
        for (unsigned r = 0; r < N_RANGES; r++)
          if (ranges[depth][r].start_ns <= calls[i].start_ns &&
              ranges[depth][r].end_ns >= calls[i].end_ns)
            innermost = ranges[depth][r].name;
      expected[innermost] += (uint64_t)ns;
    }
  fixture_finish (writer, 2000000);
  LnsReport *report = fixture_open (path, NULL);
  LnsGpuTime *time = make (report, false);
  LnsCallSums sums;
  LnsError error = { 0 };
  uint64_t found[N_NAMES + 1] = { 0 };
  LNS_CHECK (lns_gpu_time_sum (time, &whole, NULL, &sums, &error));
  for (uint32_t i = 0; i < time->tree->n_nodes; i++)
    if (time->tree->functions[time->tree->nodes[i].function].sort == LNS_CALL_KERNEL)
      {
        const LnsCallFunction *above =
            &time->tree->functions[time->tree->nodes[time->tree->nodes[i].parent].function];
        found[above->sort == LNS_CALL_RANGE
                  ? lns_report_string (report, above->symbol, NULL)[strlen ("range")] - 'a'
                  : N_NAMES] += sums.nodes[i].self;
      }
  for (unsigned i = 0; i <= N_NAMES; i++)
    LNS_CHECK_INT (found[i], expected[i]);
  LNS_CHECK (expected[N_NAMES] > 0);
  lns_call_sums_clear (&sums);
  lns_gpu_time_free (time);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_time_is_under_its_ranges);
  LNS_TEST (test_ranges_without_numbers);
  LNS_TEST (test_parts_of_time_and_threads);
  LNS_TEST (test_operations_are_found);
  LNS_TEST (test_cancelled);
  LNS_TEST (test_too_many_steps_are_one);
  LNS_TEST (test_random_calls_have_the_ranges_around_them);
  return lns_tap_done ();
}

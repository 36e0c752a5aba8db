/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* cuda-bench FOLDER [OPERATIONS [LONGEST]]: measures the analyses that connect calls, GPU operations and ranges, in operations
 * per second. Writes a report of one thread whose calls each launch a kernel on one of four streams, inside ranges nested
 * eight deep. A kernel takes up to LONGEST ns, 31,000 by default, so that the GPU is always busy; with 2,000 there is a gap
 * before each. Prints one JSON object. Times are processor time, so that other programs may run meanwhile. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/analysis/projection/cuda-links.h"
#include "src/analysis/projection/launches.h"
#include "src/analysis/projection/projection.h"
#include "src/analysis/stats/range-stats.h"
#include "src/analysis/graph/build.h"
#include "src/analysis/why/why.h"
#include "src/store/write/writer.h"

#define DEPTH     8
#define N_STREAMS 4
#define N_NAMES   1000
#define N_LINKS   100000

static uint64_t
draw (uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static uint32_t
add_lane (LnsWriter *writer, LnsTrackKind track, LnsLaneKind kind, uint32_t stream, uint32_t depth)
{
  bool of_stream = stream != LNS_ID_NONE;
  LnsTrack definition = { .kind = track,
                          .thread = of_stream ? LNS_ID_NONE : 0,
                          .domain = of_stream ? LNS_ID_NONE : 0,
                          .device = of_stream ? 0 : LNS_ID_NONE,
                          .stream = stream };
  return lns_writer_add_lane (writer,
                              &(LnsLane){ .track = lns_writer_add_track (writer, &definition),
                                          .ordinal = depth,
                                          .kind = kind });
}

static void
write_operations (LnsWriter *writer, uint64_t n, uint64_t longest_ns, const uint32_t *names)
{
  uint32_t calls = add_lane (writer, LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, LNS_ID_NONE, 0),
           kernels[N_STREAMS], ranges[DEPTH];
  int call = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION),
      kernel = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION),
      launch = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);
  int64_t now_ns = 0, busy_ns[N_STREAMS] = { 0 }, begun_ns[DEPTH] = { 0 };
  uint64_t state = 42;

  for (uint32_t i = 0; i < N_STREAMS; i++)
    kernels[i] = add_lane (writer, LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, i, 0);
  for (uint32_t i = 0; i < DEPTH; i++)
    ranges[i] = add_lane (writer, LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP, LNS_ID_NONE, i);
  for (uint64_t i = 0; i < n; i++)
    {
      uint64_t random = draw (&state);
      uint32_t stream = random % N_STREAMS;
      LnsEvent event = { .start_ns = now_ns, .duration_ns = 2000 + (int64_t)(random >> 8) % 4000 };
      event.name = names[0];
      event.extra[call] = i + 1;
      lns_writer_append (writer, calls, &event);
      now_ns = event.start_ns + event.duration_ns + (int64_t)(random >> 24) % 1000;
      event.start_ns = busy_ns[stream] > now_ns ? busy_ns[stream] : now_ns;
      event.duration_ns = 1000 + (int64_t)((random >> 40) % (longest_ns - 1000));
      busy_ns[stream] = event.start_ns + event.duration_ns;
      const uint64_t which = draw (&state) % N_NAMES;
      event.name = names[which];
      event.extra[kernel] = i + 1;
      event.extra[launch] = which;
      lns_writer_append (writer, kernels[stream], &event);
      /* A range holds four ranges of the next depth; the innermost ones hold four calls.       */
      for (uint64_t depth = DEPTH, held = 4; depth-- > 0 && (i + 1) % held == 0; held *= 4)
        {
          lns_writer_append (writer, ranges[depth],
                             &(LnsEvent){ .start_ns = begun_ns[depth],
                                          .duration_ns = now_ns - begun_ns[depth],
                                          .name = names[depth] });
          begun_ns[depth] = now_ns;
        }
      if (lns_writer_waiting_bytes (writer) > 32 << 20)
        lns_writer_commit (writer, now_ns, NULL);
    }
  lns_writer_finish (writer, LNS_STATE_COMPLETE, now_ns + 1000000000, NULL);
}

static LnsReport *
make_report (const char *folder, uint64_t n, uint64_t longest_ns)
{
  char path[4096], text[32];
  uint32_t names[N_NAMES];
  LnsError error = { 0 };

  snprintf (path, sizeof path, "%s/cuda-bench.rep", folder);
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  if (writer == NULL)
    {
      fprintf (stderr, "cuda-bench: %s\n", error.message);
      exit (1);
    }
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 1, .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 1 });
  lns_writer_add_domain (writer, &(LnsDomain){ .thread = 0 });
  lns_writer_add_device (writer, &(LnsCudaDevice){ .number = 0 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .number = 1 });
  for (uint32_t i = 0; i < N_STREAMS; i++)
    lns_writer_add_stream (writer, &(LnsCudaStream){ .number = 7 + i });
  for (uint32_t i = 0; i < N_NAMES; i++)
    {
      names[i] = lns_writer_string (writer, text,
                                    (size_t)snprintf (text, sizeof text, "kernel %u", (unsigned)i));
      lns_writer_add_launch (writer,
                             &(LnsCudaLaunch){ .short_name = names[i], .grid = { 1, 1, 1 } });
    }
  write_operations (writer, n, longest_ns, names);
  LnsReport *report = lns_report_open (path, NULL, &error);
  if (report == NULL)
    {
      fprintf (stderr, "cuda-bench: %s\n", error.message);
      exit (1);
    }
  return report;
}

static double
seconds (void)
{
  struct timespec now;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int
main (int argc, char **argv)
{
  uint64_t n = argc > 2 ? strtoull (argv[2], NULL, 10) : 5000000, state = 7;
  const uint64_t longest_ns = argc > 3 ? strtoull (argv[3], NULL, 10) : 31000;
  LnsReport *report = argc > 1 && longest_ns > 1000 ? make_report (argv[1], n, longest_ns) : NULL;
  LnsProjectedRange *ranges;
  LnsLaunch *launches;
  LnsRangeStat *sums;
  LnsEventRun *runs;
  size_t n_ranges, n_launches, n_sums, n_runs;

  if (report == NULL)
    {
      fprintf (stderr, "usage: cuda-bench FOLDER [OPERATIONS [LONGEST]]\n");
      return 1;
    }
  double t0 = seconds ();
  bool good = lns_projection (report, NULL, &ranges, &n_ranges, NULL);
  double t1 = seconds ();
  good = good && lns_launches (report, NULL, &launches, &n_launches, NULL);
  double t2 = seconds ();
  LnsRangeQuery query = { .styles = LNS_STYLE_KERNEL };
  good = good && lns_range_stats (report, &query, NULL, &sums, &n_sums, NULL);
  double t3 = seconds ();
  LnsCudaLinks *links = lns_cuda_links_new (report);
  for (uint32_t i = 0; good && i < N_LINKS; i++)
    {
      good = lns_cuda_links_find (links, 0, draw (&state) % n, &runs, &n_runs, NULL) && n_runs == 1;
      free (good ? runs : NULL);
    }
  double t4 = seconds ();
  LnsTables *tables = lns_tables_new (report, NULL);
  const LnsWhyOptions options = { .span = lns_filter_span (report) };
  LnsWhy *why = good ? lns_why_run (tables, &options, NULL, NULL) : NULL;
  double t5 = seconds ();
  LnsGraph *graph = why != NULL ? lns_graph_build (report, NULL, 0, NULL, NULL) : NULL;
  double t6 = seconds ();
  good = graph != NULL;
  const uint32_t n_points = good ? graph->n : 0;
  lns_graph_free (graph);
  lns_why_free (why);
  lns_tables_free (tables);
  if (!good)
    return 1;
  printf ("{\"operations\": %llu, \"projected_ranges\": %zu, \"projection_operations_a_second\": "
          "%.0f, \"launches_a_second\": %.0f, \"kernel_sum_a_second\": %.0f, \"link_us\": %.2f, "
          "\"why_s\": %.2f, \"graph_s\": %.2f, \"graph_points\": %u}\n",
          (unsigned long long)n, n_ranges, (double)n / (t1 - t0), (double)n_launches / (t2 - t1),
          (double)n / (t3 - t2), (t4 - t3) / N_LINKS * 1e6, t5 - t4, t6 - t5, n_points);
  lns_cuda_links_free (links);
  free (ranges);
  free (launches);
  free (sums);
  lns_report_close (report);
  return 0;
}

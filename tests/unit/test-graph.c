/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The graph of a run: replayed as it was it takes what was measured; with a change it takes what the world takes that is run again with
 * that change. */

#include "src/analysis/graph/build.h"
#include "src/analysis/graph/copy-engines.h"
#include "src/analysis/graph/forecast.h"
#include "src/analysis/graph/launched.h"
#include "src/analysis/graph/path.h"
#include "src/analysis/graph/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "tests/tap.h"
#include "tests/unit/graph-world.h"
#include "tests/unit/report-fixture.h"

#define N_WORLDS 100

/* --- By hand ---------------------------------------------------------------------------------- */

/* Two agents: A does 10, then what takes 5 once B is done; B does 30. */
static LnsGraph *
small_graph (void)
{
  LnsGraph *graph = lns_calloc (1, sizeof *graph);

  for (uint32_t i = 0; i < 3; i++)
    *lns_array_add (&graph->agents) = (LnsGraphAgent){ .last = LNS_POINT_NONE };
  const uint32_t join = lns_graph_label (graph, LNS_PIECE_JOIN, 0, 0, 0),
                 a = lns_graph_label (graph, LNS_PIECE_RUN, 1, 0, 0),
                 wait = lns_graph_label (graph, LNS_PIECE_WAIT, 1, 0, 0),
                 b = lns_graph_label (graph, LNS_PIECE_RUN, 2, 0, 0);
  lns_graph_add (graph, LNS_POINT_NONE, 0, join);
  const uint32_t a1 = lns_graph_add (graph, 0, 10, a), b1 = lns_graph_add (graph, 0, 30, b),
                 waited = lns_graph_add (graph, a1, 0, wait);
  lns_graph_set_source (graph, waited, b1, 2, LNS_EDGE_WAKE | LNS_POINT_BY_SOURCE);
  graph->agents.items[1].last = lns_graph_add (graph, waited, 5, a);
  graph->agents.items[1].ends_run = true;
  graph->agents.items[2].last = b1;
  return graph;
}

static int64_t
length_with (const LnsGraph *graph, const LnsGraphChange *of_labels)
{
  int64_t times[8];
  const LnsGraphChanges changes = { .of_labels = of_labels };

  LNS_CHECK (graph->n <= 8);
  lns_graph_replay (graph, of_labels != NULL ? &changes : NULL, times);
  return lns_graph_length (graph, times);
}

static void
a_wait_is_computed_and_not_copied (void)
{
  LnsGraph *graph = small_graph ();
  /* By label: join, A, wait, B. */
  LnsGraphChange changes[] = { { 1, false }, { 1, false }, { 1, false }, { 1, false } };

  LNS_CHECK_INT (length_with (graph, NULL), 37);
  LNS_CHECK_INT (length_with (graph, changes), 37);
  changes[3].factor = 0.5; /* B takes 15: A waits until 17 */
  LNS_CHECK_INT (length_with (graph, changes), 22);
  changes[3].factor = 0.1; /* B takes 3: A does not wait */
  LNS_CHECK_INT (length_with (graph, changes), 15);
  changes[3].factor = 1;
  changes[1].factor = 0; /* A takes nothing, and waits for B */
  LNS_CHECK_INT (length_with (graph, changes), 32);
  changes[1].factor = 1;
  changes[2].drops_waits = true;
  LNS_CHECK_INT (length_with (graph, changes), 15);
  lns_graph_free (graph);
}

static void
the_path_leads_to_what_was_waited_for (void)
{
  LnsGraph *graph = small_graph ();
  int64_t times[8], latest[8];
  LnsPath path;

  lns_graph_replay (graph, NULL, times);
  const uint32_t end = lns_graph_end (graph, times);
  lns_path_find (graph, times, end, 0, times[end], 2, false, &path);
  /* B 30, the waking 2, A 5; not the 10 of A before. */
  LNS_CHECK_INT (path.n, 3);
  LNS_CHECK_INT (path.parts.items[0].ns, 30);
  LNS_CHECK_INT (graph->labels.items[path.parts.items[0].label].agent, 2);
  LNS_CHECK_INT (path.longest.n, 2);
  LNS_CHECK_INT (path.longest.items[0].end_ns - path.longest.items[0].start_ns, 30);
  LNS_CHECK_INT (path.inferred_ns, 0);
  lns_path_clear (&path);
  /* A may begin its wait when B ends at the latest: 22 later than it did. */
  lns_graph_latest (graph, times, latest);
  LNS_CHECK_INT (latest[1] - times[1], 22);
  LNS_CHECK_INT (latest[2] - times[2], 0);
  lns_graph_free (graph);
}

/* Links follow one another without a hole, and what a thread goes on with is one, however often somebody looked meanwhile. */
static void
what_goes_on_is_one_link (void)
{
  LnsGraph *graph = small_graph ();
  int64_t times[16];
  LnsPath path;

  const uint32_t label = graph->label[graph->agents.items[1].last],
                 call = lns_graph_label (graph, LNS_PIECE_CALL, 1, 0, 0);
  uint32_t last = graph->agents.items[1].last;
  for (int i = 0; i < 3; i++)
    last = lns_graph_add (graph, last, 7, label);
  for (int i = 0; i < 2; i++) /* two calls, though they are called alike */
    last = lns_graph_add (graph, last, 4, call);
  last = lns_graph_add (graph, last, (INT64_C (1) << 32) + 5, call); /* one that takes two points */
  LNS_CHECK (last < 16);
  graph->agents.items[1].last = last;
  lns_graph_replay (graph, NULL, times);
  lns_path_find (graph, times, last, 0, times[last], 2, true, &path);
  LNS_CHECK_INT (path.links.n, path.n);
  LNS_CHECK_INT (path.n, 6); /* B, the waking, A with its 5 and 21, three calls */
  LNS_CHECK_INT (path.links.items[0].start_ns, 0);
  LNS_CHECK_INT (path.links.items[5].end_ns, times[last]);
  for (size_t i = 1; i < path.links.n; i++)
    LNS_CHECK_INT (path.links.items[i].start_ns, path.links.items[i - 1].end_ns);
  LNS_CHECK_INT (path.links.items[2].end_ns - path.links.items[2].start_ns, 26);
  LNS_CHECK_INT (path.links.items[5].end_ns - path.links.items[5].start_ns,
                 (INT64_C (1) << 32) + 5);
  LNS_CHECK_INT (path.longest.items[0].start_ns, path.links.items[5].start_ns);
  uint64_t n = 0;
  for (size_t i = 0; i < path.parts.n; i++)
    n += path.parts.items[i].n;
  LNS_CHECK_INT (n, path.n);
  LNS_CHECK_INT (lns_path_link_at (&path, 0), 0);
  LNS_CHECK_INT (lns_path_link_at (&path, 29), 0);
  LNS_CHECK_INT (lns_path_link_at (&path, 30), 1);
  LNS_CHECK (lns_path_link_at (&path, -1) == SIZE_MAX);
  LNS_CHECK (lns_path_link_at (&path, times[last]) == SIZE_MAX);
  lns_path_clear (&path);
  lns_graph_free (graph);
}

/* A thread computes for 40 ms, has no CPU for 10, and waits for a kernel of 50: only what is left to chance makes a forecast unsure. */
static void
chance_is_how_far_a_forecast_may_be_off (void)
{
  LnsGraph *graph = lns_calloc (1, sizeof *graph);
  const LnsForecastSteps steps = { .thread = LNS_ID_NONE };
  LnsForecast forecast;
  int64_t measured[8], times[8];

  for (uint32_t i = 0; i < 2; i++)
    *lns_array_add (&graph->agents) = (LnsGraphAgent){ .last = LNS_POINT_NONE };
  const uint32_t join = lns_graph_label (graph, LNS_PIECE_JOIN, 0, 0, 0),
                 run = lns_graph_label (graph, LNS_PIECE_RUN, 1, 0, 0),
                 no_cpu = lns_graph_label (graph, LNS_PIECE_NO_CPU, 1, 0, 0),
                 kernel = lns_graph_label (graph, LNS_PIECE_KERNEL, 1, 0, 0);
  uint32_t point = lns_graph_add (graph, LNS_POINT_NONE, 0, join);
  point = lns_graph_add (graph, point, 40000000, run);
  point = lns_graph_add (graph, point, 10000000, no_cpu);
  graph->agents.items[1].last = lns_graph_add (graph, point, 50000000, kernel);
  graph->agents.items[1].ends_run = true;
  lns_graph_replay (graph, NULL, measured);
  lns_forecast_make (graph, measured, NULL, &steps, 0.05, times, &forecast);
  LNS_CHECK_INT (forecast.ns, 100000000);
  /* 3 % of what it computes; and for certain 1 % of all, 5 % that are not known, and the time without a CPU. */
  const double half = hypot (0.03 * 40000000, 0.01 * 100000000 + 0.05 * 100000000 + 10000000);
  LNS_CHECK_INT (forecast.low_ns, (int64_t)(100000000 - half));
  LNS_CHECK_INT (forecast.high_ns, (int64_t)(100000000 + half));
  lns_graph_free (graph);
}

/* Five steps of a kernel of 1 ms and of so many ms in which a thread computes; of what is not known nothing. */
static void
steps_say_how_much_is_left_to_chance (void)
{
  static const int64_t computes_ms[] = { 2, 4, 3, 5, 6 };
  LnsGraph *graph = lns_calloc (1, sizeof *graph);
  LnsSpan spans[5];
  LnsForecast forecast;
  int64_t measured[16], times[16], at_ns = 0;

  for (uint32_t i = 0; i < 2; i++)
    *lns_array_add (&graph->agents) = (LnsGraphAgent){ .thread = i == 0 ? LNS_ID_NONE : 0,
                                                       .stream = LNS_ID_NONE,
                                                       .last = LNS_POINT_NONE };
  const uint32_t join = lns_graph_label (graph, LNS_PIECE_JOIN, 0, 0, 0),
                 run = lns_graph_label (graph, LNS_PIECE_RUN, 1, 0, 0),
                 kernel = lns_graph_label (graph, LNS_PIECE_KERNEL, 1, 0, 0);
  uint32_t point = lns_graph_add (graph, LNS_POINT_NONE, 0, join);
  for (unsigned i = 0; i < 5; i++)
    {
      spans[i].start_ns = at_ns;
      point = lns_graph_add (graph, point, computes_ms[i] * 1000000, run);
      point = lns_graph_add (graph, point, 1000000, kernel);
      spans[i].end_ns = at_ns += (computes_ms[i] + 1) * 1000000;
    }
  graph->agents.items[1].last = point;
  graph->agents.items[1].ends_run = true;
  lns_graph_replay (graph, NULL, measured);
  lns_forecast_make (graph, measured, NULL, &(LnsForecastSteps){ spans, 5, 0 }, 0, times,
                     &forecast);
  LNS_CHECK_INT (forecast.ns, 25000000);
  LNS_CHECK_INT (forecast.step_ns[0], 5000000);
  /* The variance of 2, 4, 3, 5 and 6 is 2.5; of five of them it is 12.5. */
  const double half = hypot (1.645 * sqrt (12.5e12), 0.01 * 25e6);
  LNS_CHECK_INT (forecast.low_ns, (int64_t)(25e6 - half));
  lns_graph_free (graph);
}

/* In each of five steps thread A computes for 2 ms, and B for 20, for which A waits; and then no more: what B does has nothing to do with the
 * run any longer, and each step is like the other. */
static void
waits_that_are_gone_leave_nothing_to_chance (void)
{
  LnsGraph *graph = lns_calloc (1, sizeof *graph);
  LnsSpan spans[5];
  LnsForecast forecast;
  LnsGraphChange changes[] = { { 1, false }, { 1, false }, { 1, false }, { 0, true } };
  int64_t measured[16], times[16];

  for (uint32_t i = 0; i < 3; i++)
    *lns_array_add (&graph->agents) = (LnsGraphAgent){ .thread = i == 0 ? LNS_ID_NONE : i - 1,
                                                       .stream = LNS_ID_NONE,
                                                       .last = LNS_POINT_NONE };
  const uint32_t join = lns_graph_label (graph, LNS_PIECE_JOIN, 0, 0, 0),
                 a = lns_graph_label (graph, LNS_PIECE_RUN, 1, 0, 0),
                 b = lns_graph_label (graph, LNS_PIECE_RUN, 2, 0, 0),
                 wait = lns_graph_label (graph, LNS_PIECE_WAIT, 1, 0, 0);
  uint32_t of_a = lns_graph_add (graph, LNS_POINT_NONE, 0, join), of_b = of_a;
  for (int64_t i = 0; i < 5; i++)
    {
      spans[i] = (LnsSpan){ i * 20000000, (i + 1) * 20000000 };
      of_a = lns_graph_add (graph, of_a, 2000000, a);
      of_b = lns_graph_add (graph, of_b, 20000000, b);
      of_a = lns_graph_add (graph, of_a, 0, wait);
      lns_graph_set_source (graph, of_a, of_b, 0, LNS_EDGE_WAKE);
    }
  graph->agents.items[1].last = of_a;
  graph->agents.items[1].ends_run = true;
  lns_graph_replay (graph, NULL, measured);
  LNS_CHECK_INT (lns_graph_length (graph, measured), 100000000);
  lns_forecast_make (graph, measured, &(LnsGraphChanges){ .of_labels = changes },
                     &(LnsForecastSteps){ spans, 5, 0 }, 0, times, &forecast);
  LNS_CHECK_INT (forecast.ns, 10000000);
  LNS_CHECK_INT (forecast.low_ns, 9900000);
  LNS_CHECK_INT (forecast.high_ns, 10100000);
  lns_graph_free (graph);
}

static void
long_pieces_are_several_points (void)
{
  LnsGraph *graph = small_graph ();
  const int64_t ns = INT64_C (3) << 32;
  int64_t times[16];

  const uint32_t last = graph->agents.items[1].last,
                 point = lns_graph_add (graph, last, ns, graph->label[last]);
  LNS_CHECK (point < 16);
  lns_graph_replay (graph, NULL, times);
  LNS_CHECK_INT (times[point], 37 + ns);
  lns_graph_free (graph);
}

static void
calls_are_found_by_their_correlation (void)
{
  LnsLaunched launched = { 0 };
  uint32_t point;

  LNS_CHECK (!lns_launched_find (&launched, 7, &point));
  for (uint32_t i = 0; i < 10000; i++)
    lns_launched_set (&launched, 500 + i, i);
  lns_launched_set (&launched, UINT64_MAX, 70000);
  lns_launched_set (&launched, 3, 70001);
  for (uint32_t i = 0; i < 10000; i++)
    LNS_CHECK (lns_launched_find (&launched, 500 + i, &point) && point == i);
  LNS_CHECK (lns_launched_find (&launched, UINT64_MAX, &point) && point == 70000);
  LNS_CHECK (lns_launched_find (&launched, 3, &point) && point == 70001);
  LNS_CHECK (!lns_launched_find (&launched, 10500, &point));
  LNS_CHECK (launched.dense.n < 200000);
  lns_launched_clear (&launched);
}

/* --- A report by hand ------------------------------------------------------------------------- */

static uint32_t
add_lane (LnsWriter *writer, LnsTrackKind track, LnsLaneKind kind, uint32_t thread, uint32_t stream)
{
  const uint32_t id = lns_writer_add_track (writer, &(LnsTrack){ .kind = track,
                                                                 .thread = thread,
                                                                 .domain = LNS_ID_NONE,
                                                                 .device = LNS_ID_NONE,
                                                                 .stream = stream });
  return lns_writer_add_lane (writer, &(LnsLane){ id, 0, kind });
}

static void
append (LnsWriter *writer,
        uint32_t lane,
        LnsLaneKind kind,
        const char *name,
        int64_t start_ns,
        int64_t end_ns,
        uint64_t correlation)
{
  LnsEvent event = { .start_ns = start_ns,
                     .duration_ns = end_ns - start_ns,
                     .name = lns_writer_string (writer, name, strlen (name)) };

  if (correlation != 0)
    event.extra[lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION)] = correlation;
  lns_writer_append (writer, lane, &event);
}

/* One stream computes and then meets the other, which waits for it, in a collective. */
static const char *
write_collective (void)
{
  const char *path = fixture_path ("collective.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);

  LNS_CHECK (writer != NULL);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10,
                                                 .parent = LNS_ID_NONE,
                                                 .start_ns = LNS_TIME_UNKNOWN,
                                                 .end_ns = LNS_TIME_UNKNOWN });
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 10 });
  lns_writer_add_device (writer, &(LnsCudaDevice){ .process = 0 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .device = 0 });
  for (uint32_t i = 0; i < 2; i++)
    lns_writer_add_stream (writer, &(LnsCudaStream){ .context = 0, .number = 7 + i });
  const uint32_t api = add_lane (writer, LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, 0, LNS_ID_NONE);
  const uint32_t kernels[] = {
    add_lane (writer, LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, LNS_ID_NONE, 0),
    add_lane (writer, LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, LNS_ID_NONE, 1)
  };
  for (int i = 0; i < 3; i++)
    append (writer, api, LNS_LANE_CUDA_API, "cudaLaunchKernel_v7000", 1000 * i, 1000 * i + 800,
            (uint64_t)i + 1);
  append (writer, kernels[1], LNS_LANE_CUDA_KERNEL, "compute", 5000, 45000, 1);
  append (writer, kernels[1], LNS_LANE_CUDA_KERNEL, "ncclDevKernel_AllReduce", 46000, 90000, 2);
  append (writer, kernels[0], LNS_LANE_CUDA_KERNEL, "ncclDevKernel_AllReduce", 7000, 90500, 3);
  fixture_finish (writer, 90500);
  return path;
}

#define ROUNDS   INT64_C (6)
#define ROUND_NS INT64_C (200000)

/* In each round stream 0 works on "a", and stream 1 waits for an event that stands for that, and works on "b" for 20 µs. "a" takes 100 µs in the
 * first three rounds, which "b" has to wait for; then 10 µs, and "b" is launched only 50 µs later. Where the event was recorded is not told. */
static const char *
write_events (void)
{
  const char *path = fixture_path ("events.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);

  LNS_CHECK (writer != NULL);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10,
                                                 .parent = LNS_ID_NONE,
                                                 .start_ns = LNS_TIME_UNKNOWN,
                                                 .end_ns = LNS_TIME_UNKNOWN });
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 10 });
  lns_writer_add_device (writer, &(LnsCudaDevice){ .process = 0 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .device = 0 });
  for (uint32_t i = 0; i < 2; i++)
    lns_writer_add_stream (writer, &(LnsCudaStream){ .context = 0, .number = 7 + i });
  const uint32_t api = add_lane (writer, LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, 0, LNS_ID_NONE),
                 a = add_lane (writer, LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, LNS_ID_NONE,
                               0),
                 b = add_lane (writer, LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, LNS_ID_NONE,
                               1),
                 sync = add_lane (writer, LNS_TRACK_CUDA_SYNC, LNS_LANE_CUDA_SYNC, LNS_ID_NONE, 1);
  for (int64_t i = 0; i < ROUNDS; i++)
    {
      const int64_t start_ns = i * ROUND_NS, later_ns = i < 3 ? 0 : 50000,
                    a_ns = start_ns + 5000 + (i < 3 ? 100000 : 10000),
                    launch_ns = start_ns + 4000 + later_ns + 4000,
                    b_ns = a_ns + 1000 > launch_ns ? a_ns + 1000 : launch_ns;
      const uint64_t id = (uint64_t)i * 10 + 1;
      LnsEvent wait = { .start_ns = start_ns + 3000 + later_ns, .duration_ns = 500 };
      append (writer, api, LNS_LANE_CUDA_API, "cudaLaunchKernel_v7000", start_ns, start_ns + 1000,
              id);
      append (writer, api, LNS_LANE_CUDA_API, "cudaEventRecord_v3020", start_ns + 2000,
              start_ns + 2500, id + 1);
      append (writer, api, LNS_LANE_CUDA_API, "cudaStreamWaitEvent_v3020", wait.start_ns,
              wait.start_ns + 500, id + 2);
      append (writer, api, LNS_LANE_CUDA_API, "cudaLaunchKernel_v7000", wait.start_ns + 1000,
              wait.start_ns + 2000, id + 3);
      wait.extra[lns_lane_kind_extra (LNS_LANE_CUDA_SYNC, LNS_COLUMN_SYNC_TYPE)] = 2;
      wait.extra[lns_lane_kind_extra (LNS_LANE_CUDA_SYNC, LNS_COLUMN_CUDA_EVENT)] = 7;
      wait.extra[lns_lane_kind_extra (LNS_LANE_CUDA_SYNC, LNS_COLUMN_CORRELATION)] = id + 2;
      lns_writer_append (writer, sync, &wait);
      append (writer, a, LNS_LANE_CUDA_KERNEL, "a", start_ns + 5000, a_ns, id);
      append (writer, b, LNS_LANE_CUDA_KERNEL, "b", b_ns, b_ns + 20000, id + 3);
    }
  fixture_finish (writer, ROUNDS * ROUND_NS);
  return path;
}

static void
an_event_stands_for_the_stream_that_was_waited_for (void)
{
  LnsError error = { 0 };
  LnsReport *report = fixture_open (write_events (), NULL);
  LnsGraph *graph = lns_graph_build (report, NULL, 0, NULL, &error);
  LnsGraphChange changes[32];
  int64_t times[128];

  LNS_CHECK (graph != NULL && graph->n <= 128 && graph->labels.n <= 32);
  lns_graph_replay (graph, NULL, times);
  LNS_CHECK_INT (lns_graph_length (graph, times), 5 * ROUND_NS + 58000 + 20000);
  /* "a" takes ten times as long: in the last round 100 µs, which "b" has to wait for, as it had in the first rounds. */
  for (size_t i = 0; i < graph->labels.n; i++)
    changes[i] = (LnsGraphChange){
      strcmp (lns_report_string (report, graph->labels.items[i].name, NULL), "a") == 0 ? 10 : 1,
      false
    };
  lns_graph_replay (graph, &(LnsGraphChanges){ .of_labels = changes }, times);
  /* The first one begins after 5 µs; 3 × 1,000 µs and 3 × 100 µs follow one another; what never bound takes nothing; then comes "b". */
  LNS_CHECK_INT (lns_graph_length (graph, times), 5000 + 3000000 + 300000 + 20000);
  lns_graph_free (graph);
  lns_report_close (report);
}

/* A launch of a graph whose nodes "x" and "y" run side by side, and a kernel "z" of a launch of its own. */
static void
which_node_of_a_graph_waits_for_which_is_not_known (void)
{
  const char *path = fixture_path ("branches.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  int64_t times[64];
  LnsPath found;

  LNS_CHECK (writer != NULL);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10,
                                                 .parent = LNS_ID_NONE,
                                                 .start_ns = LNS_TIME_UNKNOWN,
                                                 .end_ns = LNS_TIME_UNKNOWN });
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 10 });
  lns_writer_add_device (writer, &(LnsCudaDevice){ .process = 0 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .device = 0 });
  lns_writer_add_stream (writer, &(LnsCudaStream){ .context = 0, .number = 7 });
  const uint32_t api = add_lane (writer, LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, 0, LNS_ID_NONE);
  uint32_t lanes[2]; /* two at a time need two */
  for (unsigned i = 0; i < 2; i++)
    lanes[i] = add_lane (writer, LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, LNS_ID_NONE, 0);
  append (writer, api, LNS_LANE_CUDA_API, "cudaGraphLaunch_v10000", 0, 1000, 1);
  append (writer, api, LNS_LANE_CUDA_API, "cudaLaunchKernel_v7000", 1000, 2000, 2);
  append (writer, lanes[0], LNS_LANE_CUDA_KERNEL, "x", 2000, 42000, 1);
  append (writer, lanes[1], LNS_LANE_CUDA_KERNEL, "y", 2000, 32000, 1);
  append (writer, lanes[0], LNS_LANE_CUDA_KERNEL, "z", 42000, 102000, 2);
  fixture_finish (writer, 102000);
  LnsReport *report = fixture_open (path, NULL);
  LnsGraph *graph = lns_graph_build (report, NULL, 0, NULL, &error);
  LNS_CHECK (graph != NULL && graph->n <= 64);
  for (size_t i = 0; i < graph->labels.n; i++)
    if (graph->labels.items[i].kind == LNS_PIECE_KERNEL)
      LNS_CHECK (
          graph->labels.items[i].has_branches ==
          (strcmp (lns_report_string (report, graph->labels.items[i].name, NULL), "z") != 0));
  lns_graph_replay (graph, NULL, times);
  const uint32_t end = lns_graph_end (graph, times);
  lns_path_find (graph, times, end, times[0], times[end], 0, false, &found);
  /* Of 102 µs the path is 40 in "x": too much to be told what less of it would be worth. */
  LnsPathShares shares = lns_path_shares (graph, &found);
  LNS_CHECK (shares.is_known && fabs (shares.branches - 40.0 / 102) < 1e-6 && shares.unknown == 0);
  shares = lns_path_shares_without_branches (&shares);
  LNS_CHECK (!shares.is_known && fabs (shares.unknown - 40.0 / 102) < 1e-6);
  lns_path_clear (&found);
  lns_graph_free (graph);
  lns_report_close (report);
}

static void
copies_of_one_direction_follow_each_other (void)
{
  LnsCopyEngines engines = { 0 };
  LnsGraph *graph = small_graph ();
  const LnsEnded *after;

  /* CUpti_ActivityMemcpyKind: 1 to the device, 2 to the host, 8 on the device. */
  LNS_CHECK (lns_copy_engines_begin (&engines, 0, 1, 0, 1000, 9000) == NULL);
  lns_copy_engines_end (&engines, 0, 1, 0, &(LnsEnded){ .end = 1, .ns = 9000 });
  LNS_CHECK (lns_copy_engines_begin (&engines, 0, 1, 0, 10000, 19000) == NULL); /* its own stream */
  lns_copy_engines_end (&engines, 0, 1, 0, &(LnsEnded){ .end = 2, .ns = 19000 });
  LNS_CHECK (lns_copy_engines_begin (&engines, 0, 2, 1, 19000, 25000) == NULL); /* the other way */
  LNS_CHECK (lns_copy_engines_begin (&engines, 1, 1, 1, 19000, 25000) == NULL); /* another device */
  LNS_CHECK (lns_copy_engines_begin (&engines, 0, 8, 1, 19000, 25000) == NULL);
  after = lns_copy_engines_begin (&engines, 0, 1, 1, 19000, 29000);
  LNS_CHECK (after != NULL && after->end == 2);
  lns_copy_engines_set_point (&engines, 0, 1, 3);
  lns_copy_engines_settle (&engines, graph);
  LNS_CHECK (graph->source[3] != LNS_POINT_NONE);
  /* Two at a time: there are two engines, and the edge is taken back. */
  LNS_CHECK (lns_copy_engines_begin (&engines, 0, 1, 2, 20000, 30000) == NULL);
  lns_copy_engines_settle (&engines, graph);
  LNS_CHECK_INT (graph->source[3], LNS_POINT_NONE);
  lns_copy_engines_clear (&engines);
  lns_graph_free (graph);
}

/* Adds two processes, ranks 0 and 1 of MPI, with a thread each, and returns their lanes of calls; and who launched them, and waits for longer. */
static void
add_ranks (LnsWriter *writer, uint32_t ret_lanes[2])
{
  for (uint32_t i = 0; i < 2; i++)
    {
      lns_writer_add_process (writer, &(LnsProcess){ .pid = 10 + (int32_t)i,
                                                     .parent = LNS_ID_NONE,
                                                     .mpi_rank = 1 + i,
                                                     .start_ns = LNS_TIME_UNKNOWN,
                                                     .end_ns = LNS_TIME_UNKNOWN });
      lns_writer_add_thread (writer, &(LnsThread){ .process = i, .tid = 10 + (int32_t)i });
    }
  for (uint32_t i = 0; i < 2; i++)
    {
      const uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_MPI,
                                                                        .process = i,
                                                                        .thread = i,
                                                                        .domain = LNS_ID_NONE,
                                                                        .device = LNS_ID_NONE,
                                                                        .stream = LNS_ID_NONE });
      ret_lanes[i] = lns_writer_add_lane (writer, &(LnsLane){ track, 0, LNS_LANE_MPI_CALL });
    }
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 12,
                                                 .parent = LNS_ID_NONE,
                                                 .start_ns = LNS_TIME_UNKNOWN,
                                                 .end_ns = LNS_TIME_UNKNOWN });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 2, .tid = 12 });
  const uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_OS_CALLS,
                                                                    .process = 2,
                                                                    .thread = 2,
                                                                    .domain = LNS_ID_NONE,
                                                                    .device = LNS_ID_NONE,
                                                                    .stream = LNS_ID_NONE });
  append (writer, lns_writer_add_lane (writer, &(LnsLane){ track, 0, LNS_LANE_OS_CALL }),
          LNS_LANE_OS_CALL, "waitpid", 0, 40000, 0);
}

/* Appends a call that sends to rank PEER or receives from it, in the background if REQUEST is not 0; or PEER −1: waits for REQUEST. */
static void
append_peer (LnsWriter *writer,
             uint32_t lane,
             const char *name,
             int64_t start_ns,
             int64_t end_ns,
             int64_t peer,
             uint64_t request)
{
  LnsEvent event = { .start_ns = start_ns,
                     .duration_ns = end_ns - start_ns,
                     .name = lns_writer_string (writer, name, strlen (name)) };
  const struct
  {
    LnsColumnId column;
    uint64_t value;
  } values[] = { { LNS_COLUMN_EVENT_CLASS, peer < 0 ? LNS_MPI_START_WAIT : LNS_MPI_P2P },
                 { LNS_COLUMN_PEER_RANK, (uint64_t)peer },
                 { LNS_COLUMN_TAG, 5 },
                 { LNS_COLUMN_COMMUNICATOR_UID, 77 },
                 { LNS_COLUMN_REQUEST, request } };

  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    event.extra[lns_lane_kind_extra (LNS_LANE_MPI_CALL, values[i].column)] = values[i].value;
  lns_writer_append (writer, lane, &event);
}

/* Thread 1 has a CPU but from 5 to 8 µs, when it could run. */
static void
append_states (LnsWriter *writer)
{
  const uint32_t lane = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED, 1, LNS_ID_NONE);
  const int64_t starts_ns[] = { 0, 5000, 8000 }, ends_ns[] = { 5000, 5000, 21000 };

  for (int i = 0; i < 3; i++)
    {
      LnsEvent event = { .start_ns = starts_ns[i], .duration_ns = ends_ns[i] - starts_ns[i] };
      event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = i != 1;
      lns_writer_append (writer, lane, &event);
    }
}

typedef enum
{
  AT_ONCE,
  IN_BACKGROUND,
  SEVERAL_IN_BACKGROUND,
  LOSING_ITS_CPU
} Receiving;

/* Rank 0 computes for 16 µs and sends, to rank PEER; rank 1 waits for that meanwhile, RECEIVING so. Returns how long the run takes if rank 0 computes
 * for a quarter of that. */
static int64_t
length_with_a_faster_sender (Receiving receiving, int64_t peer)
{
  const char *path = fixture_path ("peers.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  LnsGraphMark mark = { .start_ns = 1000, .end_ns = 17000 };
  const LnsGraphChange change = { 0.25, false };
  uint32_t lanes[2];
  int64_t times[64];

  LNS_CHECK (writer != NULL);
  add_ranks (writer, lanes);
  for (uint32_t i = 0; i < 2; i++)
    append (writer, lanes[i], LNS_LANE_MPI_CALL, "MPI_Init", 0, 1000, 0);
  append_peer (writer, lanes[0], "MPI_Send", 17000, 18000, peer, 0);
  if (receiving == LOSING_ITS_CPU)
    append_states (writer);
  if (receiving == IN_BACKGROUND)
    {
      append_peer (writer, lanes[1], "MPI_Irecv", 2000, 2500, 0, 9);
      append_peer (writer, lanes[1], "MPI_Wait", 3000, 19000, -1, 9);
    }
  else if (receiving == SEVERAL_IN_BACKGROUND)
    {
      /* The report tells the first of the requests that are waited for. */
      append_peer (writer, lanes[1], "MPI_Isend", 1500, 1800, 0, 8);
      append_peer (writer, lanes[1], "MPI_Irecv", 2000, 2500, 0, 9);
      append_peer (writer, lanes[1], "MPI_Waitall", 3000, 19000, -1, 8);
    }
  else
    append_peer (writer, lanes[1], "MPI_Recv", 3000, 19000, 0, 0);
  append (writer, lanes[1], LNS_LANE_MPI_CALL, "MPI_Finalize", 20000, 21000, 0);
  fixture_finish (writer, 40000);
  LnsReport *report = fixture_open (path, NULL);
  LnsGraph *graph = lns_graph_build (report, &mark, 1, NULL, &error);
  LNS_CHECK (graph != NULL && graph->n <= 64);
  lns_graph_replay (graph, NULL, times);
  LNS_CHECK_INT (lns_graph_length (graph, times), 21000);
  lns_graph_replay (graph, &(LnsGraphChanges){ .of_marks = &change, .n_edits = 1 }, times);
  const int64_t ns = lns_graph_length (graph, times);
  lns_graph_free (graph);
  lns_report_close (report);
  return ns;
}

static void
what_is_received_was_sent (void)
{
  /* 12 µs less, all of them until rank 1 goes on. */
  LNS_CHECK_INT (length_with_a_faster_sender (AT_ONCE, 1), 9000);
  LNS_CHECK_INT (length_with_a_faster_sender (IN_BACKGROUND, 1), 9000);
  LNS_CHECK_INT (length_with_a_faster_sender (SEVERAL_IN_BACKGROUND, 1), 9000);
  LNS_CHECK_INT (length_with_a_faster_sender (LOSING_ITS_CPU, 1), 9000);
  /* To another rank: what rank 1 received is not known, and stays as it was. */
  LNS_CHECK_INT (length_with_a_faster_sender (AT_ONCE, 0), 21000);
}

/* A thread waits for 100 ms, and none is said to have woken it, but one of its process ends just before: what that did is on the path, and
 * that it was waited for is inferred. */
static void
the_end_of_a_thread_is_inferred_to_be_waited_for (void)
{
  const char *path = fixture_path ("join.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  const int64_t ms = 1000000, starts_ns[2][3] = { { 0, ms, 101 * ms }, { ms, 100 * ms, -1 } },
                ends_ns[2][3] = { { ms, ms, 110 * ms }, { 100 * ms, 100 * ms, -1 } };
  int64_t times[64];
  LnsPath found;

  LNS_CHECK (writer != NULL);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10,
                                                 .parent = LNS_ID_NONE,
                                                 .start_ns = LNS_TIME_UNKNOWN,
                                                 .end_ns = LNS_TIME_UNKNOWN });
  for (int i = 0; i < 2; i++)
    lns_writer_add_thread (writer, &(LnsThread){ .tid = 10 + i,
                                                 .start_ns = i == 0 ? 0 : ms,
                                                 .end_ns = i == 0 ? 110 * ms : 100 * ms + 500000 });
  for (uint32_t thread = 0; thread < 2; thread++)
    {
      const uint32_t lane = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED, thread, LNS_ID_NONE);
      for (int i = 0; i < 3 && starts_ns[thread][i] >= 0; i++)
        {
          LnsEvent event = { .start_ns = starts_ns[thread][i],
                             .duration_ns = ends_ns[thread][i] - starts_ns[thread][i] };
          event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = i != 1;
          event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] =
              i == 1 ? 2 : 0; /* ENUM_SAMPLING_THREAD_STATE */
          lns_writer_append (writer, lane, &event);
        }
    }
  fixture_finish (writer, 110 * ms);
  LnsReport *report = fixture_open (path, NULL);
  LnsGraph *graph = lns_graph_build (report, NULL, 0, NULL, &error);
  LNS_CHECK (graph != NULL && graph->n <= 64);
  lns_graph_replay (graph, NULL, times);
  const uint32_t end = lns_graph_end (graph, times);
  lns_path_find (graph, times, end, times[0], times[end], 0, false, &found);
  LNS_CHECK (found.unknown_ns == 0 && found.inferred_ns > 0);
  bool has_other = false;
  for (size_t i = 0; i < found.parts.n; i++)
    has_other |=
        graph->agents.items[graph->labels.items[found.parts.items[i].label].agent].thread == 1;
  LNS_CHECK (has_other);
  lns_path_clear (&found);
  lns_graph_free (graph);
  lns_report_close (report);
}

/* Two ranks compute, and meet: the second one comes last. */
static void
ranks_go_on_when_the_last_one_comes (void)
{
  const char *path = fixture_path ("mpi.rep");
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  int64_t times[64];
  LnsGraphMarks marks = { 0 };

  LNS_CHECK (writer != NULL);
  for (uint32_t i = 0; i < 2; i++)
    {
      lns_writer_add_process (writer, &(LnsProcess){ .pid = 10 + (int32_t)i,
                                                     .parent = LNS_ID_NONE,
                                                     .start_ns = LNS_TIME_UNKNOWN,
                                                     .end_ns = LNS_TIME_UNKNOWN });
      lns_writer_add_thread (writer, &(LnsThread){ .process = i, .tid = 10 + (int32_t)i });
    }
  for (uint32_t i = 0; i < 2; i++)
    {
      const uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_MPI,
                                                                        .process = i,
                                                                        .thread = i,
                                                                        .domain = LNS_ID_NONE,
                                                                        .device = LNS_ID_NONE,
                                                                        .stream = LNS_ID_NONE });
      const uint32_t lane = lns_writer_add_lane (writer, &(LnsLane){ track, 0, LNS_LANE_MPI_CALL });
      append (writer, lane, LNS_LANE_MPI_CALL, "MPI_Init", 0, 1000, 0);
      append (writer, lane, LNS_LANE_MPI_CALL, "MPI_Allreduce", i == 0 ? 3000 : 17000, 19000, 0);
      append (writer, lane, LNS_LANE_MPI_CALL, "MPI_Finalize", 20000, 21000, 0);
    }
  fixture_finish (writer, 21000);
  LnsReport *report = fixture_open (path, NULL);
  /* What the second rank computes before it comes. */
  *lns_array_add (&marks) = (LnsGraphMark){ .start_ns = 1000, .end_ns = 17000, .thread = 1 };
  LnsGraph *graph = lns_graph_build (report, marks.items, marks.n, NULL, &error);
  LNS_CHECK (graph != NULL && graph->n <= 64);
  lns_graph_replay (graph, NULL, times);
  LNS_CHECK_INT (lns_graph_length (graph, times), 21000);
  /* It takes a quarter, 12 µs less: then both meet at 5 µs. */
  const LnsGraphChange change = { 0.25, false };
  lns_graph_replay (graph, &(LnsGraphChanges){ .of_marks = &change, .n_edits = 1 }, times);
  LNS_CHECK_INT (lns_graph_length (graph, times), 9000);
  lns_graph_free (graph);
  lns_array_clear (&marks);
  lns_report_close (report);
}

static void
a_collective_goes_on_when_the_last_one_comes (void)
{
  LnsError error = { 0 };
  LnsReport *report = fixture_open (write_collective (), NULL);
  LnsGraph *graph = lns_graph_build (report, NULL, 0, NULL, &error);
  LnsGraphChange changes[32];
  int64_t times[64];

  LNS_CHECK (graph != NULL && graph->n <= 64 && graph->labels.n <= 32);
  lns_graph_replay (graph, NULL, times);
  LNS_CHECK_INT (lns_graph_length (graph, times), 90500);
  /* What the first one waits for takes half as long, 20 µs less. */
  for (size_t i = 0; i < graph->labels.n; i++)
    changes[i] = (LnsGraphChange){
      strcmp (lns_report_string (report, graph->labels.items[i].name, NULL), "compute") == 0 ? 0.5
                                                                                             : 1,
      false
    };
  lns_graph_replay (graph, &(LnsGraphChanges){ .of_labels = changes }, times);
  LNS_CHECK_INT (lns_graph_length (graph, times), 70500);
  /* The collective itself takes nothing: it is over when the last one has come. */
  for (size_t i = 0; i < graph->labels.n; i++)
    changes[i].factor = graph->labels.items[i].is_collective ? 0 : 1;
  lns_graph_replay (graph, &(LnsGraphChanges){ .of_labels = changes }, times);
  LNS_CHECK_INT (lns_graph_length (graph, times), 46000);
  lns_graph_free (graph);
  lns_report_close (report);
}

/* --- Worlds ----------------------------------------------------------------------------------- */

typedef struct
{
  LnsReport *report;
  LnsGraph *graph;
  int64_t *times;
} Replayed;

static Replayed
replay (const char *path, const LnsGraphMark *marks, size_t n)
{
  LnsError error = { 0 };
  Replayed replayed = { .report = fixture_open (path, NULL) };

  replayed.graph = lns_graph_build (replayed.report, marks, n, NULL, &error);
  LNS_CHECK (replayed.graph != NULL);
  replayed.times = lns_calloc (replayed.graph->n, sizeof *replayed.times);
  lns_graph_replay (replayed.graph, NULL, replayed.times);
  return replayed;
}

static void
clear (Replayed *replayed)
{
  free (replayed->times);
  lns_graph_free (replayed->graph);
  lns_report_close (replayed->report);
}

static void
replayed_as_it_was_a_run_takes_what_it_took (void)
{
  for (uint64_t seed = 1; seed <= N_WORLDS; seed++)
    {
      const char *path = fixture_path ("world.rep");
      const World world = world_write (path, seed, &WORLD_AS_IT_IS);
      Replayed replayed = replay (path, NULL, 0);
      const LnsGraph *graph = replayed.graph;
      LNS_CHECK_INT (graph->measured_ns, world.length_ns);
      LNS_CHECK_INT (lns_graph_length (graph, replayed.times), world.length_ns);
      /* What follows from waiting takes nothing itself. */
      for (uint32_t i = 0; i < graph->n; i++)
        {
          const LnsPieceKind kind = lns_graph_label_of (graph, i)->kind;
          LNS_CHECK (graph->before[i] == LNS_POINT_NONE ? i == 0 : graph->before[i] < i);
          LNS_CHECK (graph->source[i] == LNS_POINT_NONE || graph->source[i] < i);
          LNS_CHECK (kind != LNS_PIECE_WAIT || graph->ns[i] == 0);
          LNS_CHECK ((graph->marks[i] & LNS_POINT_LATE) == 0);
        }
      LNS_CHECK_INT (graph->n_unlaunched, 0);
      clear (&replayed);
    }
}

/* Changes of labels: pieces of KIND called NAME (NULL: all). To be freed. */
static LnsGraphChange *
change_labels (const LnsGraph *graph, LnsPieceKind kind, const char *name, LnsGraphChange change)
{
  LnsGraphChange *changes = lns_calloc (graph->labels.n, sizeof *changes);

  for (size_t i = 0; i < graph->labels.n; i++)
    {
      const LnsGraphLabel *label = &graph->labels.items[i];
      const char *text = lns_report_string (graph->report, label->name, NULL);
      changes[i] = label->kind == kind && (name == NULL || strcmp (text, name) == 0)
                       ? change
                       : (LnsGraphChange){ 1, false };
    }
  return changes;
}

typedef struct
{
  double worst, sum;
  unsigned n;
} Errors;

/* Compares how long the run of REPLAYED is foretold to take with CHANGES with how long the world of SEED takes with CHANGE. */
static void
compare (const Replayed *replayed,
         const LnsGraphChanges *changes,
         uint64_t seed,
         const WorldChange *change,
         Errors *errors)
{
  const World world = world_write (fixture_path ("changed.rep"), seed, change);

  lns_graph_replay (replayed->graph, changes, replayed->times);
  const double foretold = (double)lns_graph_length (replayed->graph, replayed->times);
  const double error = fabs (foretold / (double)world.length_ns - 1);
  errors->worst = error > errors->worst ? error : errors->worst;
  errors->sum += error;
  errors->n++;
}

static void
faster_kernels_are_foretold (void)
{
  static const double factors[] = { 0, 0.5, 2 };
  Errors errors = { 0 };

  for (uint64_t seed = 1; seed <= N_WORLDS; seed++)
    {
      const char *path = fixture_path ("world.rep");
      const double factor = factors[seed % 3];
      world_write (path, seed, &WORLD_AS_IT_IS);
      Replayed replayed = replay (path, NULL, 0);
      LnsGraphChange *labels =
          change_labels (replayed.graph, LNS_PIECE_KERNEL, "a", (LnsGraphChange){ factor, false });
      compare (&replayed, &(LnsGraphChanges){ .of_labels = labels }, seed,
               &(WorldChange){ factor, 1, false, false }, &errors);
      free (labels);
      clear (&replayed);
    }
  printf ("# %u worlds, worst %.3f %%, mean %.4f %%\n", errors.n, 100 * errors.worst,
          100 * errors.sum / errors.n);
  LNS_CHECK (errors.worst < 0.002);
}

static void
a_program_that_does_not_wait_is_foretold (void)
{
  Errors errors = { 0 };

  for (uint64_t seed = 1; seed <= N_WORLDS; seed++)
    {
      const char *path = fixture_path ("world.rep");
      const World world = world_write (path, seed, &WORLD_AS_IT_IS);
      if (!world.has_syncs)
        continue;
      Replayed replayed = replay (path, NULL, 0);
      LnsGraphChange *labels =
          change_labels (replayed.graph, LNS_PIECE_SYNC, NULL, (LnsGraphChange){ 0, true });
      compare (&replayed, &(LnsGraphChanges){ .of_labels = labels }, seed,
               &(WorldChange){ 1, 1, true, false }, &errors);
      free (labels);
      clear (&replayed);
    }
  printf ("# %u worlds, worst %.3f %%, mean %.4f %%\n", errors.n, 100 * errors.worst,
          100 * errors.sum / errors.n);
  LNS_CHECK (errors.n > N_WORLDS / 2);
  LNS_CHECK (errors.worst < 0.002);
}

typedef LNS_ARRAY (LnsGraphMark) Marks;

/* The times of ranges called NAME in PATH, of all threads, in order. */
static Marks
marks_of (const char *path, const char *name, bool is_moved)
{
  LnsReport *report = fixture_open (path, NULL);
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  Marks marks = { 0 };

  /* Lanes are in the order of threads. */
  for (uint32_t i = 0; i < n_lanes; i++)
    for (uint64_t k = 0;
         lanes[i].kind == LNS_LANE_NVTX_PUSH_POP && k < lns_report_lane_info (report, i)->n_events;
         k++)
      {
        LnsEvent event;
        LNS_CHECK (lns_report_event (report, i, k, &event, NULL));
        if (strcmp (lns_report_string (report, event.name, NULL), name) == 0)
          *lns_array_add (&marks) = (LnsGraphMark){ .start_ns = event.start_ns,
                                                    .end_ns = event.start_ns + event.duration_ns,
                                                    .thread = tracks[lanes[i].track].thread,
                                                    .is_moved = is_moved };
      }
  lns_report_close (report);
  return marks;
}

static void
less_to_load_is_foretold (void)
{
  Errors errors = { 0 };

  for (uint64_t seed = 1; seed <= N_WORLDS; seed++)
    {
      const char *path = fixture_path ("world.rep");
      const double factor = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 0.5 : 1.7;
      const LnsGraphChange change = { factor, false };
      world_write (path, seed, &WORLD_AS_IT_IS);
      Marks marks = marks_of (path, "load", false);
      Replayed replayed = replay (path, marks.items, marks.n);
      compare (&replayed, &(LnsGraphChanges){ .of_marks = &change, .n_edits = 1 }, seed,
               &(WorldChange){ 1, factor, false, false }, &errors);
      clear (&replayed);
      lns_array_clear (&marks);
    }
  printf ("# %u worlds, worst %.3f %%, mean %.4f %%\n", errors.n, 100 * errors.worst,
          100 * errors.sum / errors.n);
  LNS_CHECK (errors.worst < 0.005);
}

static void
another_thread_that_loads_is_foretold (void)
{
  static const bool moves[] = { true };
  Errors errors = { 0 };

  for (uint64_t seed = 2; seed <= 2 * N_WORLDS; seed += 2)
    {
      const char *path = fixture_path ("world.rep");
      world_write (path, seed, &WORLD_AS_IT_IS);
      Marks marks = marks_of (path, "load", true);
      Replayed replayed = replay (path, marks.items, marks.n);
      compare (&replayed, &(LnsGraphChanges){ .moves = moves, .n_edits = 1 }, seed,
               &(WorldChange){ 1, 1, false, true }, &errors);
      clear (&replayed);
      lns_array_clear (&marks);
    }
  printf ("# %u worlds, worst %.3f %%, mean %.4f %%\n", errors.n, 100 * errors.worst,
          100 * errors.sum / errors.n);
  LNS_CHECK (errors.worst < 0.005);
}

int
main (void)
{
  LNS_TEST (a_wait_is_computed_and_not_copied);
  LNS_TEST (what_goes_on_is_one_link);
  LNS_TEST (the_path_leads_to_what_was_waited_for);
  LNS_TEST (chance_is_how_far_a_forecast_may_be_off);
  LNS_TEST (steps_say_how_much_is_left_to_chance);
  LNS_TEST (waits_that_are_gone_leave_nothing_to_chance);
  LNS_TEST (long_pieces_are_several_points);
  LNS_TEST (an_event_stands_for_the_stream_that_was_waited_for);
  LNS_TEST (which_node_of_a_graph_waits_for_which_is_not_known);
  LNS_TEST (copies_of_one_direction_follow_each_other);
  LNS_TEST (what_is_received_was_sent);
  LNS_TEST (the_end_of_a_thread_is_inferred_to_be_waited_for);
  LNS_TEST (ranks_go_on_when_the_last_one_comes);
  LNS_TEST (calls_are_found_by_their_correlation);
  LNS_TEST (a_collective_goes_on_when_the_last_one_comes);
  LNS_TEST (replayed_as_it_was_a_run_takes_what_it_took);
  LNS_TEST (faster_kernels_are_foretold);
  LNS_TEST (a_program_that_does_not_wait_is_foretold);
  LNS_TEST (less_to_load_is_foretold);
  LNS_TEST (another_thread_that_loads_is_foretold);
  return lns_tap_done ();
}

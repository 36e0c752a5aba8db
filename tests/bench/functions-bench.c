/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* functions-bench PATH N: writes a report of N samples of 16 threads to PATH, and sums them up as the viewer does for its
 * table of functions and its flame graph. Prints a line of figures, in ns.
 *
 * The call chains are of 20,000 places in 6,667 functions: a tree of 200,000 calls, of which 2,000 have four fifths of the
 * samples. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/call-branches.h"
#include "src/base/memory.h"
#include "src/base/monotonic.h"
#include "tests/unit/report-fixture.h"

#define N_THREADS 16
#define N_PLACES  20000
#define N_CALLS   200000
#define N_HOT     2000
#define PERIOD_NS 1000000

static uint64_t seed = 88172645463325252ULL;

static uint32_t
random_below (uint32_t n)
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed % n);
}

/* The lane of the samples of a new thread. */
static uint32_t
add_lane (LnsWriter *writer, uint32_t process, int tid)
{
  const uint32_t thread =
      lns_writer_add_thread (writer, &(LnsThread){ .process = process,
                                                   .tid = tid,
                                                   .target_tid = tid,
                                                   .start_ns = LNS_TIME_UNKNOWN,
                                                   .end_ns = LNS_TIME_UNKNOWN });
  const uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .device = LNS_ID_NONE,
                                                                    .stream = LNS_ID_NONE,
                                                                    .kind = LNS_TRACK_CPU_SAMPLES,
                                                                    .process = process,
                                                                    .thread = thread,
                                                                    .domain = LNS_ID_NONE });
  return lns_writer_add_lane (writer, &(LnsLane){ track, 0, LNS_LANE_CPU_SAMPLE });
}

/* The nodes of all calls. Owned. */
static uint32_t *
add_calls (LnsWriter *writer)
{
  uint32_t *frames = lns_calloc (N_PLACES, sizeof *frames);
  uint32_t *nodes = lns_calloc (N_CALLS, sizeof *nodes);
  char name[32];
  for (uint32_t i = 0; i < N_PLACES; i++)
    {
      const int n = snprintf (name, sizeof name, "function_%u", i / 3);
      const uint32_t symbol = lns_writer_string (writer, name, (size_t)n);
      frames[i] = lns_writer_add_frame (
          writer, &(LnsStackFrame){
                      .module = LNS_ID_NONE, .symbol = symbol, .offset = i, .is_resolved = 1 });
    }
  for (uint32_t i = 0; i < N_CALLS; i++)
    {
      const uint32_t parent = i < 4 ? LNS_ID_NONE : nodes[random_below (i)];
      nodes[i] = lns_writer_add_call_node (
          writer, &(LnsCallNode){ .parent = parent, .frame = frames[random_below (N_PLACES)] });
    }
  free (frames);
  return nodes;
}

static void
write_report (const char *path, long n)
{
  LnsWriter *writer = fixture_writer (path);
  const uint32_t process = lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE });
  const int chain = lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN);
  uint32_t *nodes = add_calls (writer);
  for (int thread = 0; thread < N_THREADS; thread++)
    {
      const uint32_t lane = add_lane (writer, process, thread + 1);
      for (int64_t i = 0; i < n / N_THREADS; i++)
        {
          LnsEvent event = { .start_ns = i * PERIOD_NS + random_below (PERIOD_NS / 20) };
          event.extra[chain] =
              1 +
              (uint64_t)nodes[N_CALLS - 1 - random_below (random_below (5) > 0 ? N_HOT : N_CALLS)];
          lns_writer_append (writer, lane, &event);
        }
    }
  free (nodes);
  fixture_finish (writer, n / N_THREADS * PERIOD_NS);
}

/* Sums up the samples of TREE, NULL with ERROR if there is none, and makes what a flame graph of 2,000 pixels needs: RET_AT_NS gets the
 * times after each. */
static LnsCallBranches *
sum_up (LnsCallTree *tree, LnsCallSums *ret_sums, int64_t ret_at_ns[2], LnsError *error)
{
  const LnsCallQuery query = { LNS_LANE_CPU_SAMPLE, INT64_MIN, INT64_MAX, NULL };

  if (tree == NULL || !lns_call_tree_sum (tree, &query, NULL, ret_sums, error))
    {
      fprintf (stderr, "functions-bench: %s\n", error->message);
      exit (1);
    }
  ret_at_ns[0] = lns_monotonic_ns ();
  LnsCallBranches *down = lns_call_branches_new (tree, ret_sums, false, false);
  lns_call_branches_grow_wide (down, ret_sums->n_samples / 2000, NULL);
  ret_at_ns[1] = lns_monotonic_ns ();
  return down;
}

/* How long the tree by thread takes, its sums, and its flame graph. */
static void
measure_by_thread (LnsReport *report)
{
  LnsError error = { 0 };
  LnsCallSums sums;
  int64_t at_ns[4] = { lns_monotonic_ns () };
  LnsCallTree *tree = lns_call_tree_new_by_thread (report, LNS_LANE_CPU_SAMPLE, NULL, &error);
  at_ns[1] = lns_monotonic_ns ();
  LnsCallBranches *down = sum_up (tree, &sums, &at_ns[2], &error);
  printf (", \"thread_tree_ns\": %" PRId64 ", \"thread_sum_ns\": %" PRId64
          ", \"thread_flame_graph_ns\": %" PRId64,
          at_ns[1] - at_ns[0], at_ns[2] - at_ns[1], at_ns[3] - at_ns[2]);
  lns_call_branches_free (down);
  lns_call_sums_clear (&sums);
  lns_call_tree_free (tree);
}

static void
measure (const char *path)
{
  LnsError error = { 0 };
  LnsCallSums sums;
  LnsReport *report = fixture_open (path, NULL);
  int64_t at_ns[5] = { lns_monotonic_ns () };
  LnsCallTree *tree = lns_call_tree_new (report, NULL, &error);
  at_ns[1] = lns_monotonic_ns ();
  LnsCallBranches *down = sum_up (tree, &sums, &at_ns[2], &error);
  LnsCallBranches *up = lns_call_branches_new (tree, &sums, true, false);
  lns_call_branches_grow (up, 0);
  at_ns[4] = lns_monotonic_ns ();
  printf ("{\"samples\": %" PRIu64 ", \"tree_ns\": %" PRId64 ", \"sum_ns\": %" PRId64
          ", \"flame_graph_ns\": %" PRId64 ", \"bottom_up_ns\": %" PRId64,
          sums.n_samples, at_ns[1] - at_ns[0], at_ns[2] - at_ns[1], at_ns[3] - at_ns[2],
          at_ns[4] - at_ns[3]);
  measure_by_thread (report);
  printf ("}\n");
  lns_call_branches_free (down);
  lns_call_branches_free (up);
  lns_call_sums_clear (&sums);
  lns_call_tree_free (tree);
  lns_report_close (report);
}

int
main (int argc, char **argv)
{
  if (argc != 3)
    {
      fprintf (stderr, "usage: functions-bench PATH SAMPLES\n");
      return 2;
    }
  write_report (argv[1], strtol (argv[2], NULL, 10));
  for (int round = 0; round < 3; round++)
    measure (argv[1]);
  return 0;
}

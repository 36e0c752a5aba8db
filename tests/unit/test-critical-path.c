/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the critical path of worlds of which all is known: its links, their events, what operations have to spare, and in which ranges it is. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/graph/path-event.h"
#include "src/analysis/graph/replay.h"
#include "src/analysis/what-if/path-names.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"
#include "tests/tap.h"
#include "tests/unit/graph-world.h"
#include "tests/unit/report-fixture.h"

#define N_WORLDS 20

/* Of so many points of a world it is tried what comes of more time. */
#define N_TRIED 40

typedef struct
{
  LnsReport *report;
  LnsCriticalRun *run;
  LnsCriticalPath *path;
} Told;

static Told
tell (uint64_t seed)
{
  const char *path = fixture_path ("world.rep");
  LnsError error = { 0 };

  world_write (path, seed, &WORLD_AS_IT_IS);
  Told told = { .report = fixture_open (path, NULL) };
  told.run = lns_critical_run_new (told.report, NULL, &error);
  LNS_CHECK (told.run != NULL);
  told.path = lns_critical_path_find (told.run, INT64_MIN, INT64_MAX, 10, true);
  return told;
}

static void
clear (Told *told)
{
  lns_critical_path_free (told->path);
  lns_critical_run_free (told->run);
  lns_report_close (told->report);
}

static void
links_are_the_run_and_add_up_to_parts (void)
{
  for (uint64_t seed = 1; seed <= N_WORLDS; seed++)
    {
      Told told = tell (seed);
      const LnsPath *path = &told.path->path;
      int64_t gpu_ns, thread_ns, ns = 0;
      LNS_CHECK_INT (path->links.n, path->n);
      LNS_CHECK_INT (path->links.items[0].start_ns, path->start_ns);
      LNS_CHECK_INT (path->links.items[path->links.n - 1].end_ns, path->end_ns);
      for (size_t i = 1; i < path->links.n; i++)
        LNS_CHECK_INT (path->links.items[i].start_ns, path->links.items[i - 1].end_ns);
      for (size_t p = 0; p < told.path->parts.n; p++)
        {
          const LnsCriticalPart *part = &told.path->parts.items[p];
          int64_t part_ns = 0;
          uint64_t n = 0;
          for (size_t i = 0; i < path->links.n; i++)
            if (path->links.items[i].label == part->label)
              {
                part_ns += path->links.items[i].end_ns - path->links.items[i].start_ns;
                n++;
              }
          LNS_CHECK_INT (part_ns, part->ns);
          LNS_CHECK_INT (n, part->n);
          ns += part_ns;
        }
      LNS_CHECK_INT (ns, path->end_ns - path->start_ns);
      lns_critical_path_shares (told.path, &gpu_ns, &thread_ns);
      LNS_CHECK (gpu_ns + thread_ns <= ns);
      clear (&told);
    }
}

static void
links_lead_to_events_and_back (void)
{
  unsigned n_operations = 0, n_calls = 0;

  for (uint64_t seed = 1; seed <= N_WORLDS; seed++)
    {
      Told told = tell (seed);
      const LnsGraph *graph = told.run->graph;
      LnsPathEvents *events = lns_path_events_new (told.report, graph);
      for (size_t i = 0; i < told.path->path.links.n; i++)
        {
          const LnsPathLink *link = &told.path->path.links.items[i];
          const LnsGraphLabel *label = &graph->labels.items[link->label];
          const bool is_operation = label->kind >= LNS_PIECE_KERNEL,
                     is_call = label->kind == LNS_PIECE_CALL || label->kind == LNS_PIECE_SYNC;
          LnsPathEvent found;
          LnsEvent event;
          if (!is_operation && !is_call && label->kind != LNS_PIECE_QUEUED)
            continue;
          LNS_CHECK (lns_path_events_find (events, link, &found));
          LNS_CHECK (lns_report_event (told.report, found.lane, found.ordinal, &event, NULL));
          if (label->kind == LNS_PIECE_QUEUED)
            {
              LNS_CHECK_INT (event.start_ns, link->end_ns);
              continue;
            }
          LNS_CHECK_INT (event.name, label->name);
          LNS_CHECK (event.start_ns <= link->start_ns);
          LNS_CHECK (link->end_ns <= event.start_ns + event.duration_ns);
          const uint32_t point =
              lns_path_point_of (told.report, graph, told.run->times, found.lane, found.ordinal);
          LNS_CHECK (point != LNS_POINT_NONE);
          LNS_CHECK_INT (graph->label[point], link->label);
          /* What is on the path has nothing to spare. */
          LNS_CHECK_INT (told.run->latest[point], told.run->times[point]);
          n_operations += is_operation;
          n_calls += is_call;
        }
      lns_path_events_free (events);
      clear (&told);
    }
  LNS_CHECK (n_operations > 100 && n_calls > 100);
}

/* The length of the run of TOLD if the piece of POINT takes MORE_NS more. */
static int64_t
length_with (Told *told, uint32_t point, int64_t more_ns, int64_t *times)
{
  LnsGraph *graph = told->run->graph;
  const bool is_operation = lns_graph_label_of (graph, point)->kind > LNS_PIECE_QUEUED;
  const uint32_t ns = graph->ns[point];
  const int32_t lag_ns = graph->lag[point];

  graph->ns[point] += (uint32_t)more_ns;
  graph->lag[point] += is_operation ? (int32_t)more_ns : 0;
  lns_graph_replay (graph, NULL, times);
  graph->ns[point] = ns;
  graph->lag[point] = lag_ns;
  return lns_graph_length (graph, times);
}

static void
what_is_to_spare_costs_nothing_and_more_does (void)
{
  unsigned n_tried = 0;

  for (uint64_t seed = 1; seed <= N_WORLDS; seed++)
    {
      Told told = tell (seed);
      const LnsGraph *graph = told.run->graph;
      int64_t *times = lns_calloc (graph->n, sizeof *times);
      const int64_t length_ns = lns_graph_length (graph, told.run->times);
      const uint32_t step = graph->n / N_TRIED + 1;
      for (uint32_t i = 1; i < graph->n; i += step)
        {
          const LnsPieceKind kind = lns_graph_label_of (graph, i)->kind;
          const int64_t spare_ns = told.run->latest[i] - told.run->times[i];
          if ((kind <= LNS_PIECE_QUEUED && kind != LNS_PIECE_CALL) ||
              told.run->latest[i] == INT64_MAX || graph->ns[i] == 0)
            continue;
          LNS_CHECK (spare_ns >= 0);
          if (spare_ns > INT32_MAX / 2)
            continue;
          /* A piece that its own time does not bind may take as much more as it waits for its source. */
          const uint32_t source = graph->source[i];
          const bool is_bound =
              source == LNS_POINT_NONE || kind > LNS_PIECE_QUEUED ||
              told.run->times[i] == told.run->times[graph->before[i]] + graph->ns[i];
          LNS_CHECK_INT (length_with (&told, i, spare_ns, times), length_ns);
          if (is_bound)
            LNS_CHECK_INT (length_with (&told, i, spare_ns + 1000, times), length_ns + 1000);
          n_tried++;
        }
      free (times);
      clear (&told);
    }
  LNS_CHECK (n_tried > 100);
}

static void
names_add_up_to_the_path (void)
{
  bool has_load = false;

  for (uint64_t seed = 1; seed <= N_WORLDS; seed++)
    {
      Told told = tell (seed);
      const LnsPath *path = &told.path->path;
      LnsPathNames ranges = { 0 }, functions = { 0 };
      LnsError error = { 0 };
      int64_t ns = 0, run_ns = 0;
      LNS_CHECK (lns_path_ranges (told.report, told.path, NULL, &ranges, &error));
      for (size_t i = 0; i < ranges.n; i++)
        {
          ns += ranges.items[i].ns;
          LNS_CHECK (i == 0 || ranges.items[i].ns <= ranges.items[i - 1].ns);
          has_load |=
              strcmp (lns_report_string (told.report, ranges.items[i].name, NULL), "load") == 0;
        }
      LNS_CHECK_INT (ns, path->end_ns - path->start_ns);
      /* No samples: all that threads did has no name. */
      LNS_CHECK (lns_path_functions (told.report, told.path, NULL, &functions, &error));
      for (size_t p = 0; p < told.path->parts.n; p++)
        {
          const LnsPieceKind kind =
              told.run->graph->labels.items[told.path->parts.items[p].label].kind;
          run_ns +=
              kind == LNS_PIECE_RUN || kind == LNS_PIECE_CALL ? told.path->parts.items[p].ns : 0;
        }
      LNS_CHECK_INT (functions.n, run_ns > 0);
      LNS_CHECK_INT (functions.n > 0 ? functions.items[0].ns : 0, run_ns);
      lns_array_clear (&ranges);
      lns_array_clear (&functions);
      /* Cancelled. */
      const atomic_bool cancel = true;
      LNS_CHECK (!lns_path_ranges (told.report, told.path, &cancel, &ranges, &error));
      lns_array_clear (&ranges);
      clear (&told);
    }
  LNS_CHECK (has_load);
}

static void
labels_stay_when_points_are_forgotten (void)
{
  Told told = tell (3);
  char *before = lns_critical_path_sentence (told.report, told.path);
  LnsPathEvents *events = lns_path_events_new (told.report, told.run->graph);
  LnsPathEvent found;

  LNS_CHECK (lns_critical_run_bytes (told.run) >= (size_t)told.run->graph->n * 41);
  lns_critical_run_forget (told.run);
  LNS_CHECK_INT (lns_critical_run_bytes (told.run), 0);
  char *after = lns_critical_path_sentence (told.report, told.path);
  LNS_CHECK_STR (after, before);
  for (size_t i = 0; i < told.path->path.links.n; i++)
    if (told.run->graph->labels.items[told.path->path.links.items[i].label].kind ==
        LNS_PIECE_KERNEL)
      LNS_CHECK (lns_path_events_find (events, &told.path->path.links.items[i], &found));
  lns_path_events_free (events);
  free (before);
  free (after);
  clear (&told);
}

/* A wait that nobody ended is for a time or a device only where it would have been recorded who ended it. */
static void
a_wait_is_for_what_was_recorded (void)
{
  const struct
  {
    bool has_wakers;
    const char *name, *what;
  } cases[] = { { true, "", "waits for a time or a device" },
                { false, "", "waits" },
                { false, "read", "waits in read" } };
  const LnsGraphLabel label = { .kind = LNS_PIECE_OUTSIDE };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      const LnsGraph graph = { .has_wakers = cases[i].has_wakers };
      char *what = lns_critical_path_what (&graph, &label, cases[i].name);
      LNS_CHECK_STR (what, cases[i].what);
      free (what);
    }
}

int
main (void)
{
  LNS_TEST (links_are_the_run_and_add_up_to_parts);
  LNS_TEST (links_lead_to_events_and_back);
  LNS_TEST (what_is_to_spare_costs_nothing_and_more_does);
  LNS_TEST (names_add_up_to_the_path);
  LNS_TEST (labels_stay_when_points_are_forgotten);
  LNS_TEST (a_wait_is_for_what_was_recorded);
  return lns_tap_done ();
}

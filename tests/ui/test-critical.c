/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the critical path as the parts of a page share it: when it is looked for, of which time it is, what is asked of it for each pixel, where its ways lead, and what
 * an event has to spare. Expected values come from the analysis, link by link. */

#include <math.h>

#include "src/analysis/graph/path-event.h"
#include "src/store/write/writer.h"
#include "tests/ui/widget-test.h"
#include "tests/unit/graph-world.h"
#include "tests/unit/random.h"
#include "tests/unit/report-fixture.h"
#include "ui/model/critical.h"

#define N_SPANS 500

/* A view of a world, with what the analysis tells of it. */
typedef struct
{
  LnsView *view;
  LnsCritical *critical;
  LnsReport *report; /* another one of the same file */
  LnsCriticalRun *run;
  LnsCriticalPath *path;
} Page;

static Page
page_new (uint64_t seed)
{
  const char *path = fixture_path ("world.rep");

  world_write (path, seed, &WORLD_AS_IT_IS);
  Page page = { .view = lns_view_new (fixture_open (path, NULL)),
                .report = fixture_open (path, NULL) };
  page.critical = lns_critical_of (page.view);
  page.run = lns_critical_run_new (page.report, NULL, NULL);
  LNS_CHECK (page.run != NULL);
  page.path = lns_critical_path_find (page.run, INT64_MIN, INT64_MAX, LNS_CRITICAL_LONGEST, true);
  return page;
}

static void
page_clear (Page *page)
{
  g_object_unref (page->critical);
  g_object_unref (page->view);
  lns_critical_path_free (page->path);
  lns_critical_run_free (page->run);
  lns_report_close (page->report);
}

static void
check_same (const LnsCriticalPath *path, const LnsCriticalPath *expected)
{
  LNS_CHECK_INT (path->path.start_ns, expected->path.start_ns);
  LNS_CHECK_INT (path->path.end_ns, expected->path.end_ns);
  LNS_CHECK_INT (path->path.links.n, expected->path.links.n);
  LNS_CHECK_INT (path->parts.n, expected->parts.n);
  for (size_t i = 0; i < expected->parts.n; i++)
    LNS_CHECK_INT (path->parts.items[i].ns, expected->parts.items[i].ns);
}

static void
it_is_looked_for_once_somebody_shows_it (void)
{
  Page page = page_new (1);
  LnsCritical *other = lns_critical_of (page.view);

  LNS_CHECK (other == page.critical);
  g_object_unref (other);
  LNS_CHECK_INT (lns_critical_get_state (page.critical), LNS_CRITICAL_UNWANTED);
  LNS_CHECK (lns_critical_get_path (page.critical) == NULL);
  g_autofree char *excuse = lns_critical_get_excuse (page.critical);
  LNS_CHECK (excuse != NULL);
  lns_critical_want (page.critical);
  LNS_CHECK_INT (lns_critical_get_state (page.critical), LNS_CRITICAL_LOOKING);
  WAIT_FOR (lns_critical_get_state (page.critical) == LNS_CRITICAL_THERE);
  check_same (lns_critical_get_whole (page.critical), page.path);
  LNS_CHECK (lns_critical_get_path (page.critical) == lns_critical_get_whole (page.critical));
  g_autofree char *none = lns_critical_get_excuse (page.critical);
  LNS_CHECK (none == NULL);
  page_clear (&page);
}

/* The search is given up, and nothing of it comes back. */
static void
a_page_that_goes_takes_its_search_along (void)
{
  for (int i = 0; i < 5; i++)
    {
      Page page = page_new (2);
      lns_critical_want (page.critical);
      page_clear (&page);
      for (int turn = 0; turn < i; turn++)
        g_main_context_iteration (NULL, FALSE);
    }
}

static void
a_selected_time_has_a_path_of_its_own (void)
{
  Page page = page_new (3);
  const int64_t length_ns = page.path->path.end_ns - page.path->path.start_ns,
                start_ns = page.path->path.start_ns + length_ns / 4,
                end_ns = page.path->path.start_ns + length_ns / 2;
  LnsCriticalPath *expected =
      lns_critical_path_find (page.run, start_ns, end_ns, LNS_CRITICAL_LONGEST, true);

  lns_critical_want (page.critical);
  WAIT_FOR (lns_critical_get_state (page.critical) == LNS_CRITICAL_THERE);
  lns_view_set_time_selection (page.view, start_ns, end_ns);
  WAIT_FOR (lns_critical_get_path (page.critical) != lns_critical_get_whole (page.critical));
  check_same (lns_critical_get_path (page.critical), expected);
  check_same (lns_critical_get_whole (page.critical), page.path);
  lns_view_clear_time_selection (page.view);
  WAIT_FOR (lns_critical_get_path (page.critical) == lns_critical_get_whole (page.critical));
  lns_critical_path_free (expected);
  page_clear (&page);
}

/* What is asked of it for a pixel is what its links say, one by one. */
static void
pixels_have_the_longest_link_and_all_work (void)
{
  Page page = page_new (4);
  const LnsPath *path = &page.path->path;
  uint64_t state = lns_tap_seed () | 1;

  lns_critical_want (page.critical);
  WAIT_FOR (lns_critical_get_state (page.critical) == LNS_CRITICAL_THERE);
  const LnsCriticalPath *whole = lns_critical_get_whole (page.critical);
  LNS_CHECK (path->links.n > 200);
  for (int i = 0; i < N_SPANS; i++)
    {
      const int64_t length_ns = path->end_ns - path->start_ns,
                    start_ns =
                        path->start_ns + (int64_t)(test_random (&state) % (uint64_t)length_ns),
                    end_ns = start_ns +
                             (int64_t)(test_random (&state) % (uint64_t)(length_ns >> i % 12));
      int64_t longest_ns = 0, work_ns[2] = { 0 }, gpu_ns, thread_ns;
      for (size_t k = 0; k < path->links.n; k++)
        {
          const LnsPathLink *link = &path->links.items[k];
          const LnsPieceKind kind = page.run->graph->labels.items[link->label].kind;
          const int64_t in_ns = MIN (link->end_ns, end_ns) - MAX (link->start_ns, start_ns);
          const gboolean is_thread_work = kind == LNS_PIECE_RUN || kind == LNS_PIECE_CALL ||
                                          kind == LNS_PIECE_SYNC || kind == LNS_PIECE_MPI;
          if (link->end_ns > start_ns && link->start_ns <= end_ns)
            longest_ns = MAX (longest_ns, link->end_ns - link->start_ns);
          if (in_ns > 0 && !link->is_unknown && (kind >= LNS_PIECE_KERNEL || is_thread_work))
            work_ns[kind >= LNS_PIECE_KERNEL ? 0 : 1] += in_ns;
        }
      const LnsPathLink *found =
          lns_critical_longest_between (page.critical, whole, start_ns, end_ns);
      LNS_CHECK (found != NULL);
      LNS_CHECK_INT (found->end_ns - found->start_ns, longest_ns);
      lns_critical_work_between (page.critical, whole, start_ns, end_ns, &gpu_ns, &thread_ns);
      LNS_CHECK_INT (gpu_ns, work_ns[0]);
      LNS_CHECK_INT (thread_ns, work_ns[1]);
    }
  LNS_CHECK (lns_critical_longest_between (page.critical, whole, path->end_ns, path->end_ns) ==
             NULL);
  for (size_t p = 0; p < page.path->parts.n; p++)
    {
      const uint32_t label = page.path->parts.items[p].label;
      const LnsPathLink *found = lns_critical_longest_of (page.critical, whole, label);
      int64_t longest_ns = 0;
      for (size_t k = 0; k < path->links.n; k++)
        if (path->links.items[k].label == label)
          longest_ns =
              MAX (longest_ns, path->links.items[k].end_ns - path->links.items[k].start_ns);
      LNS_CHECK (found != NULL && found->label == label);
      LNS_CHECK_INT (found->end_ns - found->start_ns, longest_ns);
    }
  page_clear (&page);
}

/* The next link in DIRECTION from FROM that is two pixels wide, looked for one by one. */
static const LnsPathLink *
next_wide (const Page *page, const LnsPathLink *from, int direction)
{
  const LnsPath *path = &page->path->path;
  const double least_ns = 2 * lns_scale_ns_per_px (lns_view_get_scale (page->view));
  const LnsPathLink *found = NULL;

  for (size_t k = 0; k < path->links.n; k++)
    {
      const LnsPathLink *link = &path->links.items[k];
      if ((double)(link->end_ns - link->start_ns) < floor (least_ns) ||
          (direction > 0 ? link->start_ns <= from->start_ns : link->start_ns >= from->start_ns))
        continue;
      if (found == NULL || direction < 0)
        found = link;
    }
  return found;
}

/* Nobody shows it: the first way finds it. */
static void
ways_lead_from_link_to_link (void)
{
  Page page = page_new (5);
  LnsPathLink before, link;

  lns_view_set_width_px (page.view, 1000);
  LNS_CHECK (!lns_critical_get_current (page.critical, &before));
  lns_critical_walk (page.critical, 1);
  WAIT_FOR (lns_critical_get_current (page.critical, &before));
  for (int i = 0; i < 40; i++, before = link)
    {
      const int direction = i % 4 == 3 ? -1 : 1;
      const LnsPathLink *expected = next_wide (&page, &before, direction);
      lns_critical_walk (page.critical, direction);
      LNS_CHECK (lns_critical_get_current (page.critical, &link));
      LNS_CHECK_INT (link.start_ns, expected != NULL ? expected->start_ns : before.start_ns);
    }
  /* Where it leads to an event, that is selected. */
  const LnsCriticalPath *whole = lns_critical_get_whole (page.critical);
  size_t kernel = 0;
  while (whole->graph->labels.items[whole->path.links.items[kernel].label].kind != LNS_PIECE_KERNEL)
    kernel++;
  lns_critical_go (page.critical, whole, &whole->path.links.items[kernel]);
  LnsEvent event;
  WAIT_FOR (lns_view_get_selected_event (page.view, &event).lane != LNS_ID_NONE &&
            event.start_ns + event.duration_ns == whole->path.links.items[kernel].end_ns);
  page_clear (&page);
}

static void
an_event_says_what_it_has_to_spare (void)
{
  unsigned n_on_path = 0, n_spare = 0;

  for (uint64_t seed = 1; seed <= 4; seed++)
    {
      Page page = page_new (seed);
      uint32_t n_lanes;
      const LnsLane *lanes = lns_report_lanes (page.report, &n_lanes);
      for (uint32_t lane = 0; lane < n_lanes; lane++)
        for (uint64_t k = 0; lanes[lane].kind == LNS_LANE_CUDA_KERNEL &&
                             k < MIN (lns_report_lane_info (page.report, lane)->n_events, 12);
             k++)
          {
            const uint32_t point =
                lns_path_point_of (page.report, page.run->graph, page.run->times, lane, k);
            LNS_CHECK (point != LNS_POINT_NONE);
            const int64_t spare_ns = page.run->latest[point] - page.run->times[point];
            const size_t at = lns_path_link_at (&page.path->path, page.run->times[point] - 1);
            const gboolean is_on_path = at != SIZE_MAX && page.path->path.links.items[at].label ==
                                                              page.run->graph->label[point];
            lns_view_select_event (page.view, LNS_EVENT_NONE);
            LNS_CHECK_INT (lns_critical_get_slack (page.critical).kind, LNS_SLACK_UNKNOWN);
            lns_view_select_event (page.view, lns_view_event (page.view, lane, k));
            WAIT_FOR (lns_critical_get_slack (page.critical).kind != LNS_SLACK_UNKNOWN);
            const LnsSlack slack = lns_critical_get_slack (page.critical);
            LNS_CHECK_INT (slack.kind, is_on_path ? LNS_SLACK_ON_PATH : LNS_SLACK_SPARE);
            if (!is_on_path)
              LNS_CHECK_INT (slack.ns, spare_ns);
            n_on_path += is_on_path;
            n_spare += !is_on_path && spare_ns > 0;
          }
      page_clear (&page);
    }
  LNS_CHECK (n_on_path > 5 && n_spare > 5);
}

/* Appends N calls of CUDA to LANE of WRITER, of 1 ms each, from FROM ms on, and commits. */
static void
append_calls (LnsWriter *writer, uint32_t lane, int64_t from, int64_t n)
{
  LnsError error = { 0 };

  for (int64_t i = from; i < from + n; i++)
    lns_writer_append (writer, lane,
                       &(LnsEvent){ .start_ns = i * 1000000, .duration_ns = 1000000, .name = 6 });
  LNS_CHECK (lns_writer_commit (writer, (from + n) * 1000000, &error));
}

static LnsReport *
newer_than (LnsReport *report)
{
  LnsReport *newer = NULL;

  LNS_CHECK (lns_report_refresh (report, &newer, NULL));
  LNS_CHECK (newer != NULL);
  return newer;
}

static void
of_a_report_that_grows_it_is_looked_for_at_the_end (void)
{
  LnsError error = { 0 };
  const char *path = fixture_path ("live.rep");
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);

  LNS_CHECK (writer != NULL);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10,
                                                 .parent = LNS_ID_NONE,
                                                 .start_ns = LNS_TIME_UNKNOWN,
                                                 .end_ns = LNS_TIME_UNKNOWN });
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 10 });
  const uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_CUDA_API,
                                                                    .domain = LNS_ID_NONE,
                                                                    .device = LNS_ID_NONE,
                                                                    .stream = LNS_ID_NONE });
  const uint32_t lane =
      lns_writer_add_lane (writer, &(LnsLane){ .track = track, .kind = LNS_LANE_CUDA_API });
  append_calls (writer, lane, 0, 5);

  LnsView *view = lns_view_new (fixture_open (path, NULL));
  LnsCritical *critical = lns_critical_of (view);
  LNS_CHECK (lns_view_is_live (view));
  lns_critical_want (critical);
  LNS_CHECK_INT (lns_critical_get_state (critical), LNS_CRITICAL_WAITING);
  append_calls (writer, lane, 5, 5);
  lns_view_grow (view, newer_than (lns_view_get_report (view)));
  LNS_CHECK_INT (lns_critical_get_state (critical), LNS_CRITICAL_WAITING);
  fixture_finish (writer, 10000000);
  lns_view_grow (view, newer_than (lns_view_get_report (view)));
  LNS_CHECK_INT (lns_critical_get_state (critical), LNS_CRITICAL_LOOKING);
  WAIT_FOR (lns_critical_get_state (critical) == LNS_CRITICAL_THERE);
  const LnsPath *found = &lns_critical_get_whole (critical)->path;
  LNS_CHECK_INT (found->end_ns - found->start_ns, 10000000);
  g_object_unref (critical);
  g_object_unref (view);
}

int
main (void)
{
  LNS_TEST (it_is_looked_for_once_somebody_shows_it);
  LNS_TEST (a_page_that_goes_takes_its_search_along);
  LNS_TEST (a_selected_time_has_a_path_of_its_own);
  LNS_TEST (pixels_have_the_longest_link_and_all_work);
  LNS_TEST (ways_lead_from_link_to_link);
  LNS_TEST (an_event_says_what_it_has_to_spare);
  LNS_TEST (of_a_report_that_grows_it_is_looked_for_at_the_end);
  return lns_tap_done ();
}

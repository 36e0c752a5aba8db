/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests what the viewer keeps when a report grows: the numbers and folds of rows, and what is in view. */

#include <gio/gio.h>

#include "src/store/write/writer.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"
#include "ui/model/row-tree.h"
#include "ui/model/view.h"

#define MS INT64_C (1000000)

static uint32_t
add_thread (LnsWriter *writer)
{
  return lns_writer_add_thread (writer, &(LnsThread){ .process = 0, .tid = 50, .name = 4 });
}

/* A lane of ranges of THREAD. */
static uint32_t
add_ranges (LnsWriter *writer, uint32_t thread)
{
  const uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_NVTX_RANGES,
                                                                    .thread = thread,
                                                                    .device = LNS_ID_NONE,
                                                                    .stream = LNS_ID_NONE });
  return lns_writer_add_lane (writer, &(LnsLane){ .track = track, .kind = LNS_LANE_NVTX_PUSH_POP });
}

static uint32_t
add_counter (LnsWriter *writer)
{
  const uint32_t track =
      lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_COUNTER,
                                                 .name = 5,
                                                 .thread = LNS_ID_NONE,
                                                 .device = LNS_ID_NONE,
                                                 .stream = LNS_ID_NONE,
                                                 .value_type = LNS_PAYLOAD_DOUBLE });
  return lns_writer_add_lane (writer, &(LnsLane){ .track = track, .kind = LNS_LANE_COUNTER });
}

/* Appends N events, one each millisecond from FROM on, and commits. */
static void
grow (LnsWriter *writer, uint32_t lane, int64_t from, int64_t n)
{
  LnsError error = { 0 };

  for (int64_t i = from; i < from + n; i++)
    lns_writer_append (writer, lane, &(LnsEvent){ .start_ns = i * MS, .name = 6 });
  LNS_CHECK (lns_writer_commit (writer, (from + n) * MS, &error));
  LNS_CHECK_STR (error.message, "");
}

static LnsReport *
newer_than (LnsReport *report)
{
  LnsReport *newer = NULL;

  LNS_CHECK (lns_report_refresh (report, &newer, NULL));
  LNS_CHECK (newer != NULL);
  return newer;
}

/* The row of KIND and THREAD, or LNS_ID_NONE. */
static uint32_t
find_row (const LnsRowTree *tree, LnsRowKind kind, uint32_t thread)
{
  for (uint32_t rank = 0; rank < lns_row_tree_n_rows (tree); rank++)
    for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
      {
        const LnsRow *it = lns_row_tree_row (tree, row);
        if (it->rank == rank && it->kind == kind && it->thread == thread)
          return row;
      }
  return LNS_ID_NONE;
}

/* Checks that lanes, rows and ranks of TREE lead to each other. */
static void
check_tree (const LnsRowTree *tree, LnsReport *report)
{
  uint32_t n_lanes, n_placed = 0;

  lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    {
      const uint32_t row = lns_row_tree_row_of_lane (tree, lane);
      if (lns_report_lane_info (report, lane)->n_events == 0)
        continue;
      LNS_CHECK (row != LNS_ID_NONE);
      const LnsRow *it = lns_row_tree_row (tree, row);
      bool found = false;
      for (uint32_t i = 0; i < it->n_own; i++)
        found |= lns_row_tree_lanes (tree)[it->lanes + i] == lane;
      LNS_CHECK (found);
    }
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    {
      const LnsRow *it = lns_row_tree_row (tree, row);
      if (it->rank == LNS_ID_NONE)
        continue;
      n_placed++;
      LNS_CHECK_INT (lns_row_tree_at_rank (tree, it->rank), row);
      if (it->parent != LNS_ID_NONE)
        LNS_CHECK (lns_row_tree_row (tree, it->parent)->rank < it->rank);
    }
  LNS_CHECK (n_placed > 0 && lns_row_tree_n_visible (tree) <= n_placed);
}

static void
test_rows_keep_their_numbers (void)
{
  const char *path = fixture_path ("rows.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t first = add_ranges (writer, 0);

  grow (writer, first, 0, 10);
  LnsReport *report = fixture_open (path, NULL);
  LnsRowTree *tree = lns_row_tree_new (report);
  const uint32_t thread = find_row (tree, LNS_ROW_THREAD, 0),
                 ranges = find_row (tree, LNS_ROW_RANGES, 0),
                 process = find_row (tree, LNS_ROW_PROCESS, LNS_ID_NONE);
  LNS_CHECK (thread != LNS_ID_NONE && ranges != LNS_ID_NONE && process != LNS_ID_NONE);
  const bool was_expanded = lns_row_tree_row (tree, thread)->expanded;
  LNS_CHECK (lns_row_tree_set_expanded (tree, thread, !was_expanded));

  /* Rows come before, between and behind those that were there. */
  const uint32_t counter = add_counter (writer), second = add_ranges (writer, add_thread (writer)),
                 deeper = lns_writer_add_lane (
                     writer,
                     &(LnsLane){ .track = 0, .ordinal = 1, .kind = LNS_LANE_NVTX_PUSH_POP });
  grow (writer, counter, 0, 3);
  grow (writer, second, 2, 3);
  grow (writer, deeper, 3, 3);
  LnsReport *newer = newer_than (report);
  LnsRowTree *grown = lns_row_tree_grown (tree, newer);
  check_tree (grown, newer);
  LNS_CHECK_INT (find_row (grown, LNS_ROW_THREAD, 0), thread);
  LNS_CHECK_INT (find_row (grown, LNS_ROW_RANGES, 0), ranges);
  LNS_CHECK_INT (find_row (grown, LNS_ROW_PROCESS, LNS_ID_NONE), process);
  LNS_CHECK_INT (lns_row_tree_row (grown, ranges)->n_own, 2);
  LNS_CHECK_INT (lns_row_tree_row (grown, thread)->expanded, !was_expanded);
  LNS_CHECK_INT (lns_row_tree_row (grown, find_row (grown, LNS_ROW_THREAD, 1))->expanded,
                 was_expanded);
  const uint32_t of_counter = lns_row_tree_row_of_lane (grown, counter);
  LNS_CHECK (of_counter >= lns_row_tree_n_rows (tree));
  LNS_CHECK (lns_row_tree_row (grown, of_counter)->rank < lns_row_tree_row (grown, thread)->rank);

  /* It ends: what is there stays where it is. */
  fixture_finish (writer, 20 * MS);
  LnsReport *ended = newer_than (newer);
  LnsRowTree *whole = lns_row_tree_grown (grown, ended);
  check_tree (whole, ended);
  LNS_CHECK_INT (find_row (whole, LNS_ROW_THREAD, 0), thread);
  LNS_CHECK_INT (lns_row_tree_row_of_lane (whole, counter), of_counter);
  LNS_CHECK_INT (lns_row_tree_n_rows (whole), lns_row_tree_n_rows (grown));
  LNS_CHECK_INT (lns_row_tree_row (whole, thread)->expanded, !was_expanded);
  lns_row_tree_unref (whole);
  lns_row_tree_unref (grown);
  lns_row_tree_unref (tree);
  lns_report_close (ended);
  lns_report_close (newer);
  lns_report_close (report);
}

static unsigned n_grown;

static void
grown_cb (LnsView *view, LnsReport *before, LnsReport **expected)
{
  n_grown++;
  LNS_CHECK (before == *expected && lns_view_get_report (view) != before);
}

static void
test_what_is_in_view (void)
{
  const char *path = fixture_path ("view.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = add_ranges (writer, 0);
  LnsReport *before;
  int64_t first_ns, last_ns;

  grow (writer, lane, 0, 1000);
  before = fixture_open (path, NULL);
  g_autoptr (LnsView) view = lns_view_new (before);
  g_signal_connect (view, "grown", G_CALLBACK (grown_cb), &before);
  lns_view_set_width_px (view, 800);
  LNS_CHECK (lns_view_is_live (view) && lns_view_shows_all (view));

  /* All of it is all of it. */
  grow (writer, lane, 1000, 1000);
  lns_view_grow (view, newer_than (before));
  LNS_CHECK_INT (n_grown, 1);
  LNS_CHECK (lns_view_shows_all (view) && lns_view_get_end_ns (view) >= 2000 * MS);
  lns_view_get_whole (view, &first_ns, &last_ns);
  LNS_CHECK_INT (last_ns, 2000 * MS);

  /* What the user looks at stays, and so does the selected time. */
  before = lns_view_get_report (view);
  lns_view_show_span (view, 100 * MS, 200 * MS);
  lns_view_set_time_selection (view, 120 * MS, 130 * MS);
  const int64_t start_ns = lns_view_get_start_ns (view), end_ns = lns_view_get_end_ns (view);
  grow (writer, lane, 2000, 1000);
  lns_view_grow (view, newer_than (before));
  LNS_CHECK (lns_view_get_start_ns (view) == start_ns && lns_view_get_end_ns (view) == end_ns);
  int64_t band_start_ns, band_end_ns;
  LNS_CHECK (lns_view_get_time_selection (view, &band_start_ns, &band_end_ns));
  LNS_CHECK (band_start_ns == 120 * MS && band_end_ns == 130 * MS);

  /* The end is followed at the same zoom, until the user moves away from it. */
  before = lns_view_get_report (view);
  lns_view_pan (view, INT64_MAX / 4);
  const int64_t zoom = lns_view_get_scale (view)->ns_per_tile;
  grow (writer, lane, 3000, 1000);
  lns_view_grow (view, newer_than (before));
  LNS_CHECK (lns_view_get_end_ns (view) >= 4000 * MS && lns_view_get_start_ns (view) < 4000 * MS);
  LNS_CHECK_INT (lns_view_get_scale (view)->ns_per_tile, zoom);
  before = lns_view_get_report (view);
  lns_view_pan (view, -400);
  const int64_t moved_ns = lns_view_get_start_ns (view);
  grow (writer, lane, 4000, 1000);
  lns_view_grow (view, newer_than (before));
  LNS_CHECK_INT (lns_view_get_start_ns (view), moved_ns);

  /* It ends. */
  before = lns_view_get_report (view);
  fixture_finish (writer, 5000 * MS);
  lns_view_grow (view, newer_than (before));
  LNS_CHECK (!lns_view_is_live (view));
  LNS_CHECK_INT (lns_view_get_start_ns (view), moved_ns);
  LNS_CHECK_INT (n_grown, 5);
}

int
main (void)
{
  LNS_TEST (test_rows_keep_their_numbers);
  LNS_TEST (test_what_is_in_view);
  return lns_tap_done ();
}

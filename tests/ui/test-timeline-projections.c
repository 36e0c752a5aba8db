/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests ranges on the GPU with the report of known-cuda.c: where they lie, what is shown of them
 * and how they are linked to the program's ranges. Expected values follow from the rules of that
 * file. */

#include <glib/gstdio.h>
#include <sqlite3.h>

#include "src/store/write/writer.h"
#include "ui/details/details-fields.h"
#include "ui/events/event-cell.h"
#include "ui/events/event-set.h"
#include "ui/model/event-text.h"

#include "tests/ui/known-cuda.h"
#include "tests/ui/timeline-fixture.h"

static const char *cuda_path;

/* The row called LABEL that stands below the one called ABOVE. */
static uint32_t
row_below (const LnsRowTree *tree, const char *above, const char *label)
{
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    {
      const LnsRow *it = lns_row_tree_row (tree, row);
      if (it->kind == LNS_ROW_PROJECTION && strcmp (it->label, label) == 0 &&
          strcmp (lns_row_tree_row (tree, it->parent)->label, above) == 0)
        return row;
    }
  LNS_FAIL ("no row %s below %s", label, above);
}

/* Shows the timeline until the rows of streams have their ranges. */
static gboolean
is_projected (gpointer data)
{
  LnsTimeline *timeline = data;
  uint32_t row = row_below (timeline->context.tree, "All Streams", "NVTX");
  return lns_timeline_is_complete (timeline) &&
         !lns_row_is_waiting (lns_row_tree_row (timeline->context.tree, row));
}

/* Shows the report at PATH with a row in view that waits for its ranges. */
static LnsTimeline *
show_waiting (const char *path)
{
  LnsTimeline *timeline = show_timeline (path);
  gtk_window_maximize (GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (timeline))));
  uint32_t row = row_below (timeline->context.tree, "All Streams", "NVTX");
  lns_row_tree_unfold_to (timeline->context.tree, row);
  _lns_timeline_rows_changed (timeline);
  return timeline;
}

static LnsTimeline *
show_projected (void)
{
  LnsTimeline *timeline = show_waiting (cuda_path);
  wait_for (is_projected, timeline);
  return timeline;
}

/* Lane I of ROW has for each step one event NAME (NULL: "step i") that starts and ends so many µs after
 * the step does. */
static void
check_lane (LnsTimeline *timeline,
            uint32_t row,
            uint32_t i,
            const char *name,
            int64_t start_us,
            int64_t end_us,
            uint64_t n_operations)
{
  LnsReport *report = lns_view_get_report (timeline->context.view);
  const LnsRow *it = lns_row_tree_row (timeline->context.tree, row);
  LNS_CHECK (i < it->n_own);
  uint32_t lane = lns_row_tree_lanes (timeline->context.tree)[it->lanes + i];
  LNS_CHECK_INT (lns_report_lane_info (report, lane)->n_events, LNS_KNOWN_STEPS);
  LNS_CHECK_INT (lns_row_tree_row_of_lane (timeline->context.tree, lane), row);
  for (int64_t step = 0; step < LNS_KNOWN_STEPS; step += 37)
    {
      LnsEvent event;
      LNS_CHECK (lns_report_event (report, lane, (uint64_t)step, &event, NULL));
      LNS_CHECK_INT (event.start_ns, step * LNS_KNOWN_STEP_NS + start_us * LNS_KNOWN_US);
      LNS_CHECK_INT (event.duration_ns, (end_us - start_us) * LNS_KNOWN_US);
      LNS_CHECK_INT (lns_event_extra (report, lane, &event, LNS_COLUMN_COPY_COUNT), n_operations);
      g_autofree char *said = lns_event_text_string (report, event.name, true);
      g_autofree char *numbered = g_strdup_printf ("step %d", (int)step);
      LNS_CHECK_STR (said, name != NULL ? name : numbered);
    }
}

/* Kernels 0–9 and the memory operations are on stream 7, kernel 10 is on stream 14; kernels 1–8 run from
 * 612 to 1,122 µs; copies and memset from 1,130 to 1,169. */
static void
ranges_lie_where_their_work_ran (void)
{
  LnsTimeline *timeline = show_projected ();
  const LnsRowTree *tree = timeline->context.tree;
  uint32_t main_row = row_below (tree, "Default stream 7", "NVTX");
  uint32_t io_row = row_below (tree, "Default stream 7", "NVTX: io");
  uint32_t side_row = row_below (tree, "Stream 14 (side)", "NVTX");
  uint32_t all_row = row_below (tree, "All Streams", "NVTX");
  check_lane (timeline, main_row, 0, NULL, 100, 1169, 13);
  check_lane (timeline, main_row, 1, "forward", 612, 1122, 8);
  check_lane (timeline, io_row, 0, "move", 1130, 1169, 3);
  check_lane (timeline, side_row, 0, NULL, 600, 1000, 1);
  check_lane (timeline, all_row, 0, NULL, 100, 1169, 14);
  check_lane (timeline, all_row, 1, "forward", 612, 1122, 8);
  LNS_CHECK_INT (lns_row_tree_row (tree, main_row)->n_own, 2);
  LNS_CHECK_INT (lns_row_tree_row (tree, side_row)->n_own, 1);
  /* Domains stand below each other, and the outermost ranges show while a row is folded. */
  LNS_CHECK_INT (lns_row_tree_row (tree, io_row)->rank,
                 lns_row_tree_row (tree, main_row)->rank + 1);
  LNS_CHECK_INT (lns_row_tree_n_shown_lanes (tree, main_row), 1);
  LNS_CHECK (lns_row_tree_can_fold (tree, main_row));
  /* No range began anything on GPU 1: its streams have no such row. */
  for (uint32_t v = 0; v < lns_row_tree_n_visible (tree); v++)
    {
      const LnsRow *row = lns_row_tree_row (tree, lns_row_tree_visible (tree, v));
      LNS_CHECK (!lns_row_is_waiting (row));
      LNS_CHECK (row->kind != LNS_ROW_PROJECTION || row->device == 0);
    }
  close_timeline (timeline);
}

typedef struct
{
  LnsTimeline *timeline;
  uint32_t row;
} Painted;

/* Scrolling takes a frame until the tiles are asked for. */
static gboolean
is_painted (gpointer data)
{
  Painted *painted = data;
  LnsTimeline *timeline = painted->timeline;
  LnsReport *report = lns_view_get_report (timeline->context.view);
  LnsStrip strip = lns_strip_of (report, timeline->context.tree, painted->row, 0);
  double tile_x;
  return lns_timeline_is_complete (timeline) &&
         lns_tile_set_at (timeline->context.tiles, &strip, 400, &tile_x) != NULL;
}

/* At TIME_NS lane I of ROW shows NAME, or nothing. */
static void
check_drawn (LnsTimeline *timeline, uint32_t row, uint32_t i, int64_t time_ns, const char *name)
{
  LnsReport *report = lns_view_get_report (timeline->context.view);
  const LnsScale *scale = lns_view_get_scale (timeline->context.view);
  LnsStrip strip = lns_strip_of (report, timeline->context.tree, row, i);
  double tile_x;
  const LnsTile *tile =
      lns_tile_set_at (timeline->context.tiles, &strip, lns_scale_x_of (scale, time_ns), &tile_x);
  LNS_CHECK (tile != NULL);
  const LnsPixelEvent *event = lns_tile_event_at (tile, tile_x, 0);
  LNS_CHECK_INT (event != NULL, name != NULL);
  if (name == NULL)
    return;
  g_autofree char *said = lns_event_text_string (report, event->name, true);
  LNS_CHECK_STR (said, name);
}

static void
they_are_drawn_there (void)
{
  LnsTimeline *timeline = show_projected ();
  LnsRowTree *tree = timeline->context.tree;
  uint32_t main_row = row_below (tree, "Default stream 7", "NVTX");
  uint32_t io_row = row_below (tree, "Default stream 7", "NVTX: io");
  const int64_t at_ns = 5 * LNS_KNOWN_STEP_NS;
  lns_row_tree_unfold_to (tree, io_row);
  lns_row_tree_set_expanded (tree, main_row, true);
  _lns_timeline_rows_changed (timeline);
  lns_view_show_span (timeline->context.view, at_ns, at_ns + LNS_KNOWN_STEP_NS);
  lns_timeline_rows_scroll_to (timeline->rows, 0, main_row, 0, 4 * LNS_LANE_PX);
  wait_for (is_painted, &(Painted){ timeline, io_row });
  check_drawn (timeline, main_row, 0, at_ns + 50 * LNS_KNOWN_US, NULL);
  check_drawn (timeline, main_row, 0, at_ns + 110 * LNS_KNOWN_US, "step 5");
  check_drawn (timeline, main_row, 1, at_ns + 600 * LNS_KNOWN_US, NULL);
  check_drawn (timeline, main_row, 1, at_ns + 620 * LNS_KNOWN_US, "forward");
  check_drawn (timeline, main_row, 1, at_ns + 1127 * LNS_KNOWN_US, NULL);
  check_drawn (timeline, io_row, 0, at_ns + 1150 * LNS_KNOWN_US, "move");
  /* In the range's own colour, at the bar's middle. */
  LnsStrip strip = lns_strip_of (lns_view_get_report (timeline->context.view),
                                 timeline->context.tree, io_row, 0);
  double tile_x;
  const LnsTile *tile = lns_tile_set_at (
      timeline->context.tiles, &strip,
      lns_scale_x_of (lns_view_get_scale (timeline->context.view), at_ns + 1160 * LNS_KNOWN_US),
      &tile_x);
  const uint32_t *pixels = (const uint32_t *)(void *)cairo_image_surface_get_data (tile->surface);
  LNS_CHECK_INT (pixels[cairo_image_surface_get_stride (tile->surface) / 4 + (int)tile_x] &
                     0xffffff,
                 LNS_KNOWN_RED & 0xffffff);
  close_timeline (timeline);
}

/* --- Words --------------------------------------------------------------------------------- */

static void
check_said (LnsReport *report, LnsEventId id, const char *title, const char *text)
{
  LnsEvent event;
  LNS_CHECK (lns_report_event (report, id.lane, id.ordinal, &event, NULL));
  g_autoptr (GArray) fields = lns_details_fields_new (report, NULL, id.lane, id.ordinal, &event, 0);
  for (guint i = 0; i < fields->len; i++)
    if (strcmp (g_array_index (fields, LnsDetailsField, i).title, title) == 0)
      {
        LNS_CHECK_STR (g_array_index (fields, LnsDetailsField, i).text, text);
        return;
      }
  LNS_FAIL ("nothing is said of %s", title);
}

static LnsEventId
projected (
    LnsTimeline *timeline, const char *above, const char *label, uint32_t i, uint64_t ordinal)
{
  const LnsRowTree *tree = timeline->context.tree;
  const LnsRow *row = lns_row_tree_row (tree, row_below (tree, above, label));
  return (LnsEventId){ lns_row_tree_lanes (tree)[row->lanes + i], ordinal };
}

static void
details_tell_both_times (void)
{
  LnsTimeline *timeline = show_projected ();
  LnsReport *report = lns_view_get_report (timeline->context.view);
  LnsEventId move = projected (timeline, "Default stream 7", "NVTX: io", 0, 3);
  check_said (report, move, "Kind", "Range on the GPU");
  check_said (report, move, "Start", "0.004730000 s");
  check_said (report, move, "Duration", "39 µs");
  check_said (report, move, "Start on the CPU", "0.003705000 s");
  check_said (report, move, "Duration on the CPU", "35 µs");
  check_said (report, move, "GPU operations", "3");
  check_said (report, move, "Domain", "io");
  check_said (report, move, "Thread", "main (5001)");
  check_said (report, move, "Stream", "7 (default)");
  close_timeline (timeline);
}

static void
the_table_shows_them (void)
{
  LnsTimeline *timeline = show_projected ();
  LnsReport *report = lns_view_get_report (timeline->context.view);
  const LnsRowTree *tree = timeline->context.tree;
  const LnsRow *row = lns_row_tree_row (tree, row_below (tree, "Default stream 7", "NVTX"));
  LnsEventSet *set =
      lns_event_set_load (report, lns_row_tree_lanes (tree) + row->lanes, row->n_lanes, INT64_MIN,
                          INT64_MAX, NULL, 0, NULL, NULL, NULL);
  LNS_CHECK_INT (set->n, 2 * LNS_KNOWN_STEPS);
  static const LnsEventColumn columns[] = { LNS_EVENT_COLUMN_NAME, LNS_EVENT_COLUMN_THREAD,
                                            LNS_EVENT_COLUMN_DEPTH, LNS_EVENT_COLUMN_STREAM,
                                            LNS_EVENT_COLUMN_OPERATIONS };
  static const char *const texts[] = { "forward", "main (5001)", "1", "7 (default)", "8" };
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      LNS_CHECK (lns_event_column_is_used (set, columns[i]));
      g_autofree char *cell = lns_event_cell_text (set, 1, columns[i]);
      LNS_CHECK_STR (cell, texts[i]);
    }
  LNS_CHECK (!lns_event_column_is_used (set, LNS_EVENT_COLUMN_PAYLOAD));
  lns_event_set_unref (set);
  close_timeline (timeline);
}

/* --- Both ends ----------------------------------------------------------------------------- */

typedef struct
{
  LnsView *view;
  LnsEventId id;
} Awaited;

static gboolean
is_selected (gpointer data)
{
  Awaited *awaited = data;
  return lns_event_id_equal (lns_view_get_selected_event (awaited->view, NULL), awaited->id);
}

static void
a_range_and_its_projections_find_each_other (void)
{
  LnsTimeline *timeline = show_projected ();
  LnsView *view = timeline->context.view;
  LnsReport *report = lns_view_get_report (view);
  uint32_t n_lanes, ranges = 0;
  guint n;
  while (lns_report_lanes (report, &n_lanes)[ranges].kind != LNS_LANE_NVTX_PUSH_POP)
    ranges++;
  LnsEventId step = { ranges, 7 };
  lns_view_select_event (view, projected (timeline, "Stream 14 (side)", "NVTX", 0, 7));
  wait_for (is_selected,
            &(Awaited){ view, projected (timeline, "Stream 14 (side)", "NVTX", 0, 7) });
  gtk_widget_activate_action (GTK_WIDGET (timeline), "timeline.go-to-other-end", NULL);
  wait_for (is_selected, &(Awaited){ view, step });
  /* The stream with the most work, the other one, then both. */
  const LnsLinkedEvent *linked = lns_view_get_linked_events (view, &n);
  LNS_CHECK_INT (n, 3);
  LNS_CHECK (
      lns_event_id_equal (linked[0].id, projected (timeline, "Default stream 7", "NVTX", 0, 7)));
  LNS_CHECK (
      lns_event_id_equal (linked[1].id, projected (timeline, "Stream 14 (side)", "NVTX", 0, 7)));
  LNS_CHECK (lns_event_id_equal (linked[2].id, projected (timeline, "All Streams", "NVTX", 0, 7)));
  close_timeline (timeline);
}

/* The same file serves the next time: it is there before anybody could have worked it out. */
static void
they_are_kept (void)
{
  g_autofree char *folder =
      g_build_filename (g_get_user_cache_dir (), "lanescope", "derived", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  LNS_CHECK (dir != NULL);
  const char *name = g_dir_read_name (dir);
  LNS_CHECK (name != NULL && g_dir_read_name (dir) == NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  /* What is no such file is made anew. */
  LNS_CHECK (g_file_set_contents (path, "nothing", -1, NULL));
  close_timeline (show_projected ());
  LnsReport *derived = open_report (path);
  LNS_CHECK (lns_report_meta (derived, "derived_from") != NULL);
  lns_report_close (derived);
}

static gboolean
has_failed (gpointer data)
{
  LnsTimeline *timeline = data;
  return timeline->context.waiting_text != NULL &&
         g_str_has_prefix (timeline->context.waiting_text, "Not found: ");
}

/* What the rows of the report at PATH say of their ranges, which cannot be found. Free with g_free (). */
static char *
reason_of (const char *path)
{
  LnsTimeline *timeline = show_waiting (path);
  wait_for (has_failed, timeline);
  char *reason = g_strdup (timeline->context.waiting_text);
  close_timeline (timeline);
  return reason;
}

/* Puts a file where the cache keeps ranges, so that the runtime folder is taken instead. Returns the name of the
 * file with ranges that was there. */
static char *
block_cache (void)
{
  g_autofree char *folder =
      g_build_filename (g_get_user_cache_dir (), "lanescope", "derived", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  LNS_CHECK (dir != NULL);
  char *name = g_strdup (g_dir_read_name (dir));
  g_autofree char *path = g_build_filename (folder, name, NULL);
  LNS_CHECK (g_unlink (path) == 0 && g_rmdir (folder) == 0);
  LNS_CHECK (g_file_set_contents (folder, "", 0, NULL));
  return name;
}

/* What is wrong with the report, or with the file of its ranges, is told rather than that the cache cannot be used. */
static void
the_reason_is_told_why_there_are_none (void)
{
  g_autofree char *name = block_cache ();
  g_autofree char *path =
      g_build_filename (g_get_user_runtime_dir (), "lanescope", "derived", name, NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *key = g_strndup (name, strlen (name) - strlen (".rep"));
  LNS_CHECK (g_mkdir_with_parents (folder, 0700) == 0);
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ 0 }, NULL);
  lns_writer_set_meta (writer, "derived_from", key);
  LNS_CHECK (lns_writer_finish (writer, LNS_STATE_COMPLETE, 0, NULL));
  g_autofree char *foreign = reason_of (cuda_path);
  g_autofree char *start = g_strdup_printf ("Not found: %s was not derived from ", path);
  LNS_CHECK (g_str_has_prefix (foreign, start));

  g_autofree char *damaged_path = g_build_filename (folder, "damaged", NULL), *bytes;
  gsize size_bytes;
  LNS_CHECK (g_unlink (path) == 0);
  LNS_CHECK (g_file_get_contents (cuda_path, &bytes, &size_bytes, NULL));
  LNS_CHECK (g_file_set_contents (damaged_path, bytes, (gssize)size_bytes, NULL));
  sqlite3 *database;
  LNS_CHECK_INT (sqlite3_open (damaged_path, &database), SQLITE_OK);
  LNS_CHECK_INT (sqlite3_exec (database, "UPDATE lns_chunk SET data = zeroblob (length (data))",
                               NULL, NULL, NULL),
                 SQLITE_OK);
  LNS_CHECK_INT (sqlite3_close (database), SQLITE_OK);
  g_autofree char *damaged = reason_of (damaged_path);
  LNS_CHECK (strstr (damaged, damaged_path) != NULL);
}

int
main (int argc, char **argv)
{
  if (argc != 2)
    return 2;
  cuda_path = argv[1];
  adw_init ();
  LNS_TEST (ranges_lie_where_their_work_ran);
  LNS_TEST (they_are_drawn_there);
  LNS_TEST (details_tell_both_times);
  LNS_TEST (the_table_shows_them);
  LNS_TEST (a_range_and_its_projections_find_each_other);
  LNS_TEST (they_are_kept);
  LNS_TEST (the_reason_is_told_why_there_are_none);
  return lns_tap_done ();
}

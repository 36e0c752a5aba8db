/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests which rows calls of the OS runtime and MPI, times on CPUs, samples and metrics get, and
 * what the details pane shows of them. */

#include <math.h>

#include "src/analysis/facts/thread-states.h"
#include "src/import/nsys/import.h"
#include "src/store/write/kept-table.h"
#include "ui/events/event-cell.h"
#include "ui/model/summary.h"
#include "ui/details/details-fields.h"
#include "ui/model/event-text.h"
#include "ui/model/linked-events.h"
#include "ui/model/row-tree.h"
#include "ui/model/palette.h"
#include "ui/tiles/tile-painter.h"

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"
#include "tests/unit/system-fixture.h"

#define MSEC   INT64_C (1000000)
#define SECOND (1000 * MSEC)

/* The first lane of a track of KIND. */
static uint32_t
lane_of (LnsReport *report, LnsTrackKind kind)
{
  uint32_t n, n_tracks;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  for (uint32_t i = 0; i < n; i++)
    if (tracks[lanes[i].track].kind == kind)
      return i;
  return LNS_ID_NONE;
}

static void
check_row (LnsReport *report,
           const LnsRowTree *tree,
           LnsTrackKind kind,
           const char *label,
           LnsStripKind strip)
{
  uint32_t row = lns_row_tree_row_of_lane (tree, lane_of (report, kind));
  LNS_CHECK (row != LNS_ID_NONE);
  LNS_CHECK_STR (lns_row_tree_row (tree, row)->label, label);
  LNS_CHECK_INT (lns_strip_of (report, tree, row, 0).kind, strip);
}

static void
test_rows (void)
{
  LnsReport *report = system_fixture_open ();
  LnsRowTree *tree = lns_row_tree_new (report);
  check_row (report, tree, LNS_TRACK_OS_CALLS, "OS runtime libraries", LNS_STRIP_RANGES);
  check_row (report, tree, LNS_TRACK_SCHED, "main (1)", LNS_STRIP_STATES);
  check_row (report, tree, LNS_TRACK_CPU_SAMPLES, "CPU samples", LNS_STRIP_MARKS);
  check_row (report, tree, LNS_TRACK_MPI, "MPI", LNS_STRIP_RANGES);
  check_row (report, tree, LNS_TRACK_GPU_METRIC, "SMs Active", LNS_STRIP_COUNTER);
  uint32_t row = lns_row_tree_row_of_lane (tree, lane_of (report, LNS_TRACK_OS_CALLS));
  LNS_CHECK_INT (lns_row_tree_row (tree, lns_row_tree_row (tree, row)->parent)->kind,
                 LNS_ROW_THREAD);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* What the details pane says of event ORDINAL under TITLE, or "": of the state of a thread, at TIME_NS. */
static char *
field_at (
    LnsReport *report, LnsTrackKind kind, uint64_t ordinal, const char *title, int64_t time_ns)
{
  uint32_t lane = lane_of (report, kind);
  LnsEvent event = { 0 };
  LNS_CHECK (lns_report_event (report, lane, ordinal, &event, NULL));
  g_autoptr (GArray) fields = lns_details_fields_new (report, NULL, lane, ordinal, &event, time_ns);
  for (guint i = 0; i < fields->len; i++)
    if (g_str_equal (g_array_index (fields, LnsDetailsField, i).title, title))
      return g_strdup (g_array_index (fields, LnsDetailsField, i).text);
  return g_strdup ("");
}

/* The same at the event's start. */
static char *
field_of (LnsReport *report, LnsTrackKind kind, uint64_t ordinal, const char *title)
{
  LnsEvent event = { 0 };
  LNS_CHECK (lns_report_event (report, lane_of (report, kind), ordinal, &event, NULL));
  return field_at (report, kind, ordinal, title, event.start_ns);
}

static void
test_details (void)
{
  static const struct
  {
    LnsTrackKind kind;
    uint64_t ordinal;
    const char *title, *text;
  } wanted[] = {
    { LNS_TRACK_OS_CALLS, 0, "Kind", "OS runtime call" },
    { LNS_TRACK_OS_CALLS, 0, "Returned", "-1" },
    { LNS_TRACK_OS_CALLS, 0, "Call chain", "leaf (libx.so)\ncaller" },
    { LNS_TRACK_OS_CALLS, 0, "Domain", "" },
    { LNS_TRACK_CUDA_API, 0, "Call chain", "caller (libx.so)" },
    { LNS_TRACK_CUDA_API, 1, "Call chain", "" },
    { LNS_TRACK_CUDA_BACKTRACES, 0, "Call chain", "caller (libx.so)" },
    { LNS_TRACK_SCHED, 0, "State", "Running" },
    { LNS_TRACK_SCHED, 0, "CPU", "3" },
    { LNS_TRACK_SCHED, 1, "State", "Not running" },
    { LNS_TRACK_CPU_SAMPLES, 0, "Call chain", "leaf (libx.so)\ncaller (libx.so)" },
    { LNS_TRACK_CPU_SAMPLES, 0, "Cycles", "9" },
    { LNS_TRACK_CPU_SAMPLES, 0, "Duration", "" },
    { LNS_TRACK_MPI, 0, "Other rank", "1" },
    { LNS_TRACK_MPI, 0, "Tag", "9" },
    { LNS_TRACK_MPI, 0, "Bytes", "8" },
    { LNS_TRACK_GPU_METRIC, 0, "Value", "50" },
  };
  LnsReport *report = system_fixture_open ();
  for (gsize i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      g_autofree char *text = field_of (report, wanted[i].kind, wanted[i].ordinal, wanted[i].title);
      LNS_CHECK_STR (text, wanted[i].text);
    }
  lns_report_close (report);
}

/* Why a thread waited is said where the pointer is. */
static void
test_tooltips (void)
{
  static const LnsTrackKind kinds[] = { LNS_TRACK_OS_CALLS, LNS_TRACK_CPU_SAMPLES };
  static const char *const wanted[] = { "\nleaf (libx.so)\ncaller",
                                        "\nleaf (libx.so)\ncaller (libx.so)" };
  LnsReport *report = system_fixture_open ();
  for (gsize k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      const uint32_t lane = lane_of (report, kinds[k]);
      LnsEvent event = { 0 };
      const char *chain = "";
      LNS_CHECK (lns_report_event (report, lane, 0, &event, NULL));
      g_autoptr (GArray) fields = lns_details_brief_fields_new (report, lane, &event, 0);
      for (guint i = 0; i < fields->len; i++)
        if (g_str_equal (g_array_index (fields, LnsDetailsField, i).title, "Call chain"))
          chain = g_array_index (fields, LnsDetailsField, i).text;
      LNS_CHECK_STR (chain, wanted[k]);
    }
  lns_report_close (report);
}

/* The names in the table of the events of the first lane of a track of KIND, a comma between two. Free with g_free (). */
static char *
names_in_table (LnsReport *report, LnsTrackKind kind)
{
  const uint32_t lane = lane_of (report, kind);
  GError *error = NULL;
  g_autoptr (GString) names = g_string_new (NULL);
  LnsEventSet *set =
      lns_event_set_load (report, &lane, 1, INT64_MIN, INT64_MAX, NULL, 0, NULL, NULL, &error);
  LNS_CHECK (set != NULL);
  for (uint32_t row = 0; row < set->n; row++)
    {
      g_autofree char *name = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_NAME);
      g_string_append_printf (names, "%s%s", row > 0 ? ", " : "", name);
    }
  lns_event_set_unref (set);
  return g_string_free (g_steal_pointer (&names), FALSE);
}

/* Events without a name are called by what they are: a sample by its function, a change by what the thread did. */
static void
test_names_in_the_table (void)
{
  LnsReport *report = system_fixture_open ();
  g_autofree char *samples = names_in_table (report, LNS_TRACK_CPU_SAMPLES);
  LNS_CHECK_STR (samples, "leaf, caller");
  g_autofree char *changes = names_in_table (report, LNS_TRACK_SCHED);
  LNS_CHECK_STR (changes, "CPU 3, Not running, CPU 5");
  lns_report_close (report);
}

/* A session's samples of a GPU stand under it, in the order of their numbers, and have their unit. */
static void
test_samples_of_a_gpu (void)
{
  static const struct
  {
    const char *name, *unit;
    uint32_t metric;
  } metrics[] = { { "SM clock", "MHz", 2 }, { "Power", "mW", 1 } };
  const char *path = fixture_path ("sampled.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t device = lns_writer_add_device (
      writer, &(LnsCudaDevice){ .name = lns_writer_string (writer, "H200", 4) });
  LnsEvent sample = { .start_ns = 100 };
  sample.extra[lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE)] = 123456;
  for (gsize i = 0; i < G_N_ELEMENTS (metrics); i++)
    {
      const LnsTrack track = {
        .kind = LNS_TRACK_GPU_METRIC,
        .thread = LNS_ID_NONE,
        .domain = LNS_ID_NONE,
        .stream = LNS_ID_NONE,
        .device = device,
        .name = lns_writer_string (writer, metrics[i].name, strlen (metrics[i].name)),
        .unit = lns_writer_string (writer, metrics[i].unit, strlen (metrics[i].unit)),
        .value_type = LNS_PAYLOAD_INT64,
        .metric = metrics[i].metric,
      };
      const LnsLane lane = { .track = lns_writer_add_track (writer, &track),
                             .kind = LNS_LANE_COUNTER };
      lns_writer_append (writer, lns_writer_add_lane (writer, &lane), &sample);
    }
  fixture_finish (writer, 1000);
  LnsReport *report = fixture_open (path, NULL);
  LnsRowTree *tree = lns_row_tree_new (report);
  uint32_t clock = lns_row_tree_row_of_lane (tree, 0), power = lns_row_tree_row_of_lane (tree, 1);
  LNS_CHECK_STR (lns_row_tree_row (tree, power)->label, "Power and 1 more");
  LNS_CHECK_INT (lns_row_tree_row (tree, lns_row_tree_row (tree, power)->parent)->kind,
                 LNS_ROW_DEVICE);
  LNS_CHECK_INT (lns_row_tree_row (tree, clock)->parent, power); /* folded below it */
  LNS_CHECK_INT (lns_row_tree_place_of (tree, clock), LNS_ID_NONE);
  lns_row_tree_set_expanded (tree, power, true);
  LNS_CHECK_INT (lns_row_tree_place_of (tree, clock), lns_row_tree_place_of (tree, power) + 1);
  g_autofree char *value = field_of (report, LNS_TRACK_GPU_METRIC, 0, "Value");
  LNS_CHECK_STR (value, "123456 MHz");
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* --- States of a thread ---------------------------------------------------------------------- */

/* A lane of KIND, which is one of the thread that begin_thread () adds. */
static uint32_t
add_lane (LnsWriter *writer, LnsTrackKind track_kind, LnsLaneKind kind)
{
  const LnsTrack track = { .kind = track_kind,
                           .thread = 1,
                           .domain = LNS_ID_NONE,
                           .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE };
  return lns_writer_add_lane (
      writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track), .kind = kind });
}

/* A writer of a report with a thread that does not end. */
static LnsWriter *
begin_thread (const char *path)
{
  LnsWriter *writer = fixture_writer (path);
  uint32_t process = lns_writer_add_process (
      writer,
      &(LnsProcess){ .pid = 20, .parent = LNS_ID_NONE, .end_ns = LNS_TIME_UNKNOWN, .name = 1 });
  lns_writer_add_thread (writer,
                         &(LnsThread){ .process = process, .tid = 21, .end_ns = LNS_TIME_UNKNOWN });
  return writer;
}

/* The thread runs from START_NS to END_NS and leaves its CPU then, for STATE. */
static void
add_run (LnsWriter *writer, uint32_t lane, int64_t start_ns, int64_t end_ns, uint64_t state)
{
  LnsEvent event = { .start_ns = start_ns, .duration_ns = end_ns - start_ns };
  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_CPU)] = 3;
  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 1;
  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = 1;
  lns_writer_append (writer, lane, &event);
  event.start_ns = end_ns;
  event.duration_ns = 0;
  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 0;
  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = state;
  lns_writer_append (writer, lane, &event);
}

/* Thread 0 runs from 4 to 5.5 s and wakes the other one at 5 s, which is blocked since 2 s and runs at 6 s. An interrupt wakes it
 * once more. */
static LnsReport *
open_wakings (void)
{
  static const LnsKeptColumn columns[] = { { "wakerTid", "INTEGER", false },
                                           { "wakeLatency", "INTEGER", false } };
  const LnsKeptValue values[][2] = { { { .type = LNS_KEPT_INTEGER, .integer = 10 << 24 | 11 },
                                       { .type = LNS_KEPT_INTEGER, .integer = 1 * SECOND } },
                                     { { .type = LNS_KEPT_NULL },
                                       { .type = LNS_KEPT_INTEGER, .integer = 7 } } };
  const char *path = fixture_path ("wakings.rep");
  LnsWriter *writer = begin_thread (path);
  const LnsTrack track = {
    .kind = LNS_TRACK_SCHED, .domain = LNS_ID_NONE, .device = LNS_ID_NONE, .stream = LNS_ID_NONE
  };
  uint32_t woken = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED);
  uint32_t waker = lns_writer_add_lane (
      writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track), .kind = LNS_LANE_SCHED });
  LnsKeptTableMaker *maker = lns_kept_table_maker_new (writer, "SCHED_EVENTS", columns, 2, true);
  add_run (writer, waker, 4 * SECOND, 5500 * MSEC, 7);
  add_run (writer, woken, 1 * SECOND, 2 * SECOND, 7);
  for (int i = 0; i < 2; i++)
    {
      LnsEvent run = { .start_ns = (6 + 2 * i) * SECOND, .duration_ns = SECOND };
      run.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 1;
      run.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = 1;
      run.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_REMAINDER)] =
          lns_kept_table_maker_remainder (maker, values[i]);
      lns_writer_append (writer, woken, &run);
      LnsEvent stop = { .start_ns = (7 + 2 * i) * SECOND };
      stop.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = 7;
      lns_writer_append (writer, woken, &stop);
    }
  lns_kept_table_maker_free (maker);
  fixture_finish (writer, 10 * SECOND);
  return fixture_open (path, NULL);
}

static LnsReport *
open_cpus (void)
{
  const char *path = fixture_path ("cpus.rep");
  LnsWriter *writer = begin_thread (path);
  for (unsigned cpu = 3; cpu > 1; cpu--)
    {
      const LnsTrack track = { .kind = LNS_TRACK_CPU,
                               .process = LNS_ID_NONE,
                               .thread = LNS_ID_NONE,
                               .domain = LNS_ID_NONE,
                               .device = LNS_ID_NONE,
                               .stream = LNS_ID_NONE,
                               .number = cpu };
      const uint32_t lane =
          lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                                   .kind = LNS_LANE_CPU_RUN });
      LnsEvent event = { .duration_ns = (cpu - 1) * SECOND };
      event.name = lns_writer_string (writer, "worker (12)", 11);
      lns_writer_append (writer, lane, &event);
    }
  uint32_t sched = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED);
  add_run (writer, sched, 0, 8 * SECOND, 7);
  fixture_finish (writer, 10 * SECOND);
  return fixture_open (path, NULL);
}

/* CPU 2 is busy for the first second, CPU 3 for the first two, which is 50 % of both; the program's thread for eight. */
static void
test_cpu_rows (void)
{
  LnsReport *report = open_cpus ();
  LnsRowTree *tree = lns_row_tree_new (report);
  const uint32_t all_cpus = lns_row_tree_n_rows (tree) - 3; /* behind the processes */
  const LnsRow *first = lns_row_tree_row (tree, all_cpus);
  g_autofree char *changes = names_in_table (report, LNS_TRACK_SCHED);
  LNS_CHECK_STR (changes, "Running, Blocked");
  LNS_CHECK_STR (first->label, "CPUs");
  LNS_CHECK_INT (first->n_below, 2);
  LNS_CHECK (!first->expanded);
  LNS_CHECK_STR (lns_row_tree_row (tree, all_cpus + 1)->label, "CPU 2");
  LNS_CHECK_STR (lns_row_tree_row (tree, all_cpus + 2)->label, "CPU 3");
  LNS_CHECK_INT (lns_strip_of (report, tree, all_cpus + 1, 0).kind, LNS_STRIP_RANGES);
  LNS_CHECK_INT (lns_row_tree_row (tree, 0)->kind, LNS_ROW_PROCESS);

  const LnsPixelQuery query = { .ns_per_px = SECOND, .n_px = 10 };
  static const float cpus[10] = { 1, 0.5 }, all[10] = { 1, 1, 1, 1, 1, 1, 1, 1 };
  LnsPixelResult scratch = { 0 };
  float shares[10];
  LnsError error = { 0 };
  LNS_CHECK (lns_summary_query (report, tree, all_cpus, &query, &scratch, shares, &error));
  for (int p = 0; p < 10; p++)
    LNS_CHECK (shares[p] > cpus[p] - 0.01f && shares[p] < cpus[p] + 0.01f);
  LNS_CHECK (lns_summary_query (report, tree, LNS_ID_NONE, &query, &scratch, shares, &error));
  for (int p = 0; p < 10; p++)
    LNS_CHECK (shares[p] > all[p] - 0.01f && shares[p] < all[p] + 0.01f);
  lns_pixel_result_clear (&scratch);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* A thread that runs is on one CPU: a process with two that do has two, whatever ranges they are in. */
static void
test_activity_is_time_on_cpus (void)
{
  const char *path = fixture_path ("activity.rep");
  LnsWriter *writer = begin_thread (path);
  const LnsThread other = { .process = 1, .tid = 22, .end_ns = LNS_TIME_UNKNOWN };
  const LnsTrack track = { .kind = LNS_TRACK_SCHED,
                           .process = 0, /* as add_lane () has it */
                           .thread = lns_writer_add_thread (writer, &other),
                           .domain = LNS_ID_NONE,
                           .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE };
  const uint32_t ranges = add_lane (writer, LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP);
  const uint32_t first = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED);
  const uint32_t second = lns_writer_add_lane (
      writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track), .kind = LNS_LANE_SCHED });
  lns_writer_append (writer, ranges, &(LnsEvent){ .duration_ns = 10 * SECOND });
  add_run (writer, first, SECOND, 3 * SECOND, 2);
  add_run (writer, second, 2 * SECOND, 2500 * MSEC, 2);
  fixture_finish (writer, 10 * SECOND);
  LnsReport *report = fixture_open (path, NULL);
  LnsRowTree *tree = lns_row_tree_new (report);
  static const float of_process[10] = { 0, 1, 1.5 }, of_thread[10] = { 0, 1, 1 };
  const uint32_t thread = lns_row_tree_row_of_lane (tree, first);
  const uint32_t process = lns_row_tree_row (tree, thread)->parent;
  const LnsPixelQuery query = { .ns_per_px = SECOND, .n_px = 10 };
  LnsPixelResult scratch = { 0 };
  float shares[10];
  LNS_CHECK_INT (lns_summary_activity (report, tree, process), LNS_ACTIVITY_ON_CPUS);
  LNS_CHECK_INT (lns_summary_activity (report, tree, thread), LNS_ACTIVITY_ON_CPU);
  LNS_CHECK (lns_summary_query (report, tree, process, &query, &scratch, shares, NULL));
  for (int p = 0; p < 10; p++)
    LNS_CHECK (fabsf (shares[p] - of_process[p]) < 0.01f);
  LNS_CHECK (lns_summary_query (report, tree, thread, &query, &scratch, shares, NULL));
  for (int p = 0; p < 10; p++)
    LNS_CHECK (fabsf (shares[p] - of_thread[p]) < 0.01f);
  g_autofree char *text = lns_summary_text (LNS_ACTIVITY_ON_CPU, 0.037);
  LNS_CHECK_STR (text, "3.7 % on a CPU");
  lns_pixel_result_clear (&scratch);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* Without times on CPUs, a thread is judged by its outermost ranges and calls. */
static void
test_activity_without_times_on_cpus (void)
{
  static const struct
  {
    LnsTrackKind track;
    LnsLaneKind lane;
    LnsActivity activity;
  } wanted[] = {
    { LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP, LNS_ACTIVITY_RANGES },
    { LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, LNS_ACTIVITY_CALLS },
    { LNS_TRACK_OS_CALLS, LNS_LANE_OS_CALL, LNS_ACTIVITY_NONE },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      const char *path = fixture_path ("ranges.rep");
      LnsWriter *writer = begin_thread (path);
      const LnsEvent event = { .duration_ns = SECOND };
      lns_writer_append (writer, add_lane (writer, wanted[i].track, wanted[i].lane), &event);
      fixture_finish (writer, 10 * SECOND);
      LnsReport *report = fixture_open (path, NULL);
      LnsRowTree *tree = lns_row_tree_new (report);
      const uint32_t row = lns_row_tree_row (tree, lns_row_tree_row_of_lane (tree, 0))->parent;
      LNS_CHECK_INT (lns_row_tree_row (tree, row)->kind, LNS_ROW_THREAD);
      LNS_CHECK_INT (lns_summary_activity (report, tree, row), wanted[i].activity);
      const LnsPixelQuery query = { .ns_per_px = SECOND, .n_px = 2 };
      LnsPixelResult scratch = { 0 };
      float shares[2];
      LNS_CHECK (lns_summary_query (report, tree, row, &query, &scratch, shares, NULL));
      LNS_CHECK (fabsf (shares[0] - (wanted[i].activity != LNS_ACTIVITY_NONE)) < 0.01f);
      LNS_CHECK (shares[1] == 0);
      lns_pixel_result_clear (&scratch);
      lns_row_tree_unref (tree);
      lns_report_close (report);
    }
}

/* The remainder of a call that waits for a lock, which thread 11 of process 10 holds. */
static uint64_t
lock_of (LnsWriter *writer)
{
  static const LnsKeptColumn columns[] = { { "lockAddress", "INTEGER", false },
                                           { "lockHolder", "INTEGER", false } };
  const LnsKeptValue values[] = { { .type = LNS_KEPT_INTEGER, .integer = 0x7f00 },
                                  { .type = LNS_KEPT_INTEGER, .integer = 10 << 24 | 11 } };
  LnsKeptTableMaker *maker = lns_kept_table_maker_new (writer, "OSRT_API", columns, 2, true);
  uint64_t id = lns_kept_table_maker_remainder (maker, values);
  lns_kept_table_maker_free (maker);
  return id;
}

/* Blocked in "read" from 2 to 6 s, runnable to 7.5 s, off its CPU to 9 s, uninterruptible without a call to the end at 10 s. */
static LnsReport *
open_states (void)
{
  const char *path = fixture_path ("states.rep");
  LnsWriter *writer = begin_thread (path);
  uint32_t sched = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED);
  uint32_t calls = add_lane (writer, LNS_TRACK_OS_CALLS, LNS_LANE_OS_CALL);
  add_run (writer, sched, 1 * SECOND, 2 * SECOND, 7);
  add_run (writer, sched, 6 * SECOND, 6500 * MSEC, 6);
  add_run (writer, sched, 7500 * MSEC, 8 * SECOND, 0);
  add_run (writer, sched, 9 * SECOND, 9100 * MSEC, 3);
  LnsEvent call = { .start_ns = 1900 * MSEC, .duration_ns = 4050 * MSEC };
  call.name = lns_writer_string (writer, "read", 4);
  call.extra[lns_lane_kind_extra (LNS_LANE_OS_CALL, LNS_COLUMN_REMAINDER)] = lock_of (writer);
  lns_writer_append (writer, calls, &call);
  fixture_finish (writer, 10 * SECOND);
  return fixture_open (path, NULL);
}

static void
test_spans (void)
{
  static const struct
  {
    int64_t time_ns;
    LnsThreadState state;
    int64_t start_ns, end_ns;
    uint64_t ordinal;
  } wanted[] = {
    { 0, LNS_STATE_NONE, 0, 0, 0 },
    { 1500 * MSEC, LNS_STATE_RUNNING, 1 * SECOND, 2 * SECOND, 0 },
    { 2 * SECOND, LNS_STATE_BLOCKED, 2 * SECOND, 6 * SECOND, 1 },
    { 5 * SECOND, LNS_STATE_BLOCKED, 2 * SECOND, 6 * SECOND, 1 },
    { 7 * SECOND, LNS_STATE_RUNNABLE, 6500 * MSEC, 7500 * MSEC, 3 },
    { 8500 * MSEC, LNS_STATE_OFF, 8 * SECOND, 9 * SECOND, 5 },
    { 9900 * MSEC, LNS_STATE_UNINTERRUPTIBLE, 9100 * MSEC, 10 * SECOND, 7 },
    { 11 * SECOND, LNS_STATE_NONE, 0, 0, 7 },
  };
  LnsReport *report = open_states ();
  for (gsize i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      LnsThreadSpan span;
      LNS_CHECK (lns_thread_span_at (report, 0, wanted[i].time_ns, &span, NULL));
      LNS_CHECK_INT (span.state, wanted[i].state);
      if (span.state == LNS_STATE_NONE)
        continue;
      LNS_CHECK_INT (span.start_ns, wanted[i].start_ns);
      LNS_CHECK_INT (span.end_ns, wanted[i].end_ns);
      LNS_CHECK_INT (span.ordinal, wanted[i].ordinal);
      LNS_CHECK_INT (span.cpu, 3);
      lns_thread_span_find_call (report, 0, &span);
      LNS_CHECK (span.state == LNS_STATE_RUNNING ||
                 (span.call_name != 0) == (span.start_ns == 2 * SECOND));
    }
  lns_report_close (report);
}

/* One tile of 512 pixels over 10.24 s: 20 ms a pixel. */
static LnsTile *
paint (LnsReport *report, const LnsRowTree *tree, uint32_t row, bool exact)
{
  static const atomic_uint generation;
  PangoFontDescription *font = pango_font_description_from_string ("Sans");
  LnsTilePainter *painter = lns_tile_painter_new (report, tree, font);
  LnsTileKey key = { lns_strip_of (report, tree, row, 0), 10240 * MSEC, 0, 1, LNS_THEME_LIGHT };
  LnsTile *tile = lns_tile_painter_paint (painter, &key, exact, &generation, 0);
  lns_tile_painter_free (painter);
  pango_font_description_free (font);
  return tile;
}

static uint32_t
pixel (const LnsTile *tile, int x, int y)
{
  const unsigned char *data = cairo_image_surface_get_data (tile->surface);
  gssize stride = cairo_image_surface_get_stride (tile->surface);
  return ((const uint32_t *)(const void *)(data + y * stride))[x] & 0xffffff;
}

/* A state is told by its colour and by its height. */
static void
test_states_are_drawn (void)
{
  LnsReport *report = open_states ();
  LnsRowTree *tree = lns_row_tree_new (report);
  const LnsPalette *palette = lns_palette_get (LNS_THEME_LIGHT);
  uint32_t row = lns_row_tree_row_of_lane (tree, 0);
  LNS_CHECK_INT (lns_strip_of (report, tree, row, 0).kind, LNS_STRIP_STATES);
  LnsTile *tile = paint (report, tree, row, true);
  uint32_t background = tile->background;
  LNS_CHECK_INT (tile->state, LNS_TILE_EXACT);
  LNS_CHECK_INT (tile->n_events, 8);
  LNS_CHECK_INT (pixel (tile, 20, 8), background);
  LNS_CHECK_INT (pixel (tile, 60, 1), palette->running);
  LNS_CHECK_INT (pixel (tile, 250, 1), palette->blocked);
  LNS_CHECK_INT (pixel (tile, 250, 16), palette->blocked_edge);
  LNS_CHECK_INT (pixel (tile, 310, 1), palette->running);
  LNS_CHECK_INT (pixel (tile, 350, 1), background);
  LNS_CHECK_INT (pixel (tile, 350, 12), palette->runnable);
  LNS_CHECK_INT (pixel (tile, 425, 8), background);
  LNS_CHECK_INT (pixel (tile, 425, 16), palette->blocked_edge);
  LNS_CHECK_INT (pixel (tile, 480, 1), palette->uninterruptible);
  LNS_CHECK_INT (pixel (tile, 480, 16), palette->uninterruptible_edge);
  LNS_CHECK_INT (pixel (tile, 505, 8), background); /* after the end */
  const LnsPixelEvent *event = lns_tile_event_at (tile, 200, 0);
  LNS_CHECK (event != NULL && event->ordinal == 1 && event->duration_ns == 4 * SECOND);
  LNS_CHECK_STR (lns_report_string (report, event->name, NULL), "read");
  lns_tile_free (tile);
  /* Until what lies between the runs has been read, these are drawn, and the tile is not final. */
  tile = paint (report, tree, row, false);
  LNS_CHECK_INT (tile->state, LNS_TILE_COARSE);
  lns_tile_free (tile);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* Whoever wakes a blocked thread is its other end; it is runnable from then on. */
static void
test_wakings (void)
{
  static const char *const latencies[] = { "", "1 s", "1 s", "7 ns", "7 ns" };
  LnsReport *report = open_wakings ();
  LnsThreadSpan span;
  LNS_CHECK (lns_thread_span_at (report, 0, 4900 * MSEC, &span, NULL));
  LNS_CHECK (span.state == LNS_STATE_BLOCKED && span.start_ns == 2 * SECOND &&
             span.end_ns == 5 * SECOND);
  LNS_CHECK (lns_thread_span_at (report, 0, 5 * SECOND, &span, NULL));
  LNS_CHECK (span.state == LNS_STATE_RUNNABLE && span.start_ns == 5 * SECOND &&
             span.end_ns == 6 * SECOND);
  g_autofree char *blocked = field_of (report, LNS_TRACK_SCHED, 1, "Duration");
  g_autofree char *runnable = field_at (report, LNS_TRACK_SCHED, 1, "Duration", 5500 * MSEC);
  g_autofree char *state = field_at (report, LNS_TRACK_SCHED, 1, "State", 5500 * MSEC);
  LNS_CHECK_STR (blocked, "3 s");
  LNS_CHECK_STR (runnable, "1 s");
  LNS_CHECK_STR (state, "Runnable");
  LnsCudaLinks *links = lns_cuda_links_new (report);
  g_autofree char *thread = lns_event_text_thread (report, 0);
  for (uint64_t ordinal = 0; ordinal < G_N_ELEMENTS (latencies); ordinal++)
    {
      const bool is_by_thread = ordinal == 1 || ordinal == 2;
      g_autofree char *by = field_of (report, LNS_TRACK_SCHED, ordinal, "Woken by");
      g_autofree char *latency = field_of (report, LNS_TRACK_SCHED, ordinal, "Wakeup latency");
      LNS_CHECK_STR (latency, latencies[ordinal]);
      LNS_CHECK_STR (by, is_by_thread   ? thread
                         : ordinal == 0 ? ""
                                        : "an interrupt, or a thread of another program");
      LnsLinkedEvents *linked = lns_linked_events_new (report, links, (LnsEventId){ 0, ordinal });
      LNS_CHECK_INT (linked->events->len, is_by_thread);
      if (linked->events->len > 0)
        {
          const LnsLinkedEvent *waker = &g_array_index (linked->events, LnsLinkedEvent, 0);
          LNS_CHECK (waker->id.lane == 1 && waker->id.ordinal == 0 &&
                     waker->event.start_ns == 4 * SECOND);
          LNS_CHECK (waker->kind == LNS_LINK_WAKER && waker->woken_ns == 5 * SECOND);
        }
      lns_linked_events_free (linked);
    }
  LNS_CHECK (lns_linked_events_possible (report, 0));
  lns_cuda_links_free (links);
  lns_report_close (report);
}

static void
test_details_of_states (void)
{
  LnsReport *report = open_states ();
  g_autofree char *state = field_of (report, LNS_TRACK_SCHED, 1, "State");
  g_autofree char *call = field_of (report, LNS_TRACK_SCHED, 1, "In call");
  g_autofree char *start = field_of (report, LNS_TRACK_SCHED, 1, "Start");
  g_autofree char *length = field_of (report, LNS_TRACK_SCHED, 1, "Duration");
  g_autofree char *end = field_of (report, LNS_TRACK_SCHED, 1, "End");
  g_autofree char *runnable = field_of (report, LNS_TRACK_SCHED, 3, "State");
  g_autofree char *lock = field_of (report, LNS_TRACK_SCHED, 1, "Lock");
  g_autofree char *holder = field_of (report, LNS_TRACK_OS_CALLS, 0, "Held by");
  g_autofree char *owner = lns_event_text_thread (report, 0);
  g_autofree char *unlocked = field_of (report, LNS_TRACK_SCHED, 3, "Lock");
  g_autofree char *none = field_of (report, LNS_TRACK_SCHED, 7, "In call");
  LNS_CHECK_STR (state, "Blocked");
  LNS_CHECK_STR (call, "read");
  LNS_CHECK_STR (start, "2.000000000 s");
  LNS_CHECK_STR (length, "4 s");
  LNS_CHECK_STR (end, "6.000000000 s");
  LNS_CHECK_STR (lock, "0x7f00");
  LNS_CHECK_STR (holder, owner);
  LNS_CHECK_STR (unlocked, "");
  LNS_CHECK_STR (runnable, "Runnable");
  LNS_CHECK_STR (none, "");
  lns_report_close (report);
}

/* Recording stops at 5 s, and the report reaches to 8 s, the end of what ran then. Thread 2 runs from 3 to 4 s and is blocked
 * then; thread 1 runs from 1 to 2 s, when records are lost, and from 3 s on, on CPU 3. */
static LnsReport *
open_stopped (void)
{
  const char *path = fixture_path ("stopped.rep");
  LnsWriter *writer = begin_thread (path);
  const LnsThread other = { .process = 1, .tid = 22, .end_ns = LNS_TIME_UNKNOWN };
  const LnsTrack blocked_track = { .kind = LNS_TRACK_SCHED,
                                   .process = 1,
                                   .thread = lns_writer_add_thread (writer, &other),
                                   .domain = LNS_ID_NONE,
                                   .device = LNS_ID_NONE,
                                   .stream = LNS_ID_NONE };
  const LnsTrack cpu_track = { .kind = LNS_TRACK_CPU,
                               .process = LNS_ID_NONE,
                               .thread = LNS_ID_NONE,
                               .domain = LNS_ID_NONE,
                               .device = LNS_ID_NONE,
                               .stream = LNS_ID_NONE,
                               .number = 3 };
  const uint32_t runs = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED);
  const uint32_t blocked = lns_writer_add_lane (
      writer,
      &(LnsLane){ .track = lns_writer_add_track (writer, &blocked_track), .kind = LNS_LANE_SCHED });
  const uint32_t cpu =
      lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &cpu_track),
                                               .kind = LNS_LANE_CPU_RUN });
  LnsEvent run = { .start_ns = SECOND, .flags = LNS_EVENT_END_UNKNOWN, .duration_ns = SECOND };
  run.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 1;
  lns_writer_append (writer, runs, &run);
  run.start_ns = 3 * SECOND;
  run.duration_ns = 5 * SECOND;
  run.flags = LNS_EVENT_OPEN_END;
  lns_writer_append (writer, runs, &run);
  add_run (writer, blocked, 3 * SECOND, 4 * SECOND, 2);
  LnsEvent on_cpu = { .start_ns = 3 * SECOND,
                      .duration_ns = 5 * SECOND,
                      .flags = LNS_EVENT_OPEN_END,
                      .name = lns_writer_string (writer, "worker (21)", 11) };
  lns_writer_append (writer, cpu, &on_cpu);
  fixture_finish (writer, 5 * SECOND);
  return fixture_open (path, NULL);
}

/* A thread that is said to have begun at 4 s, and that ran from 2 to 3 s; the report begins at 1 s. An import says so of one that was
 * named at 4 s. */
static void
check_before (bool is_import, LnsThreadState wanted)
{
  const char *path = fixture_path ("named.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t process = lns_writer_add_process (
      writer,
      &(LnsProcess){ .pid = 20, .parent = LNS_ID_NONE, .end_ns = LNS_TIME_UNKNOWN, .name = 1 });
  LnsThreadSpan span;

  if (is_import)
    lns_writer_set_meta (writer, "imported_from", "/tmp/trace.sqlite");
  lns_writer_add_thread (writer, &(LnsThread){ .process = process,
                                               .tid = 21,
                                               .start_ns = 4 * SECOND,
                                               .end_ns = LNS_TIME_UNKNOWN });
  const uint32_t runs = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED);
  const uint32_t calls = add_lane (writer, LNS_TRACK_OS_CALLS, LNS_LANE_OS_CALL);
  lns_writer_append (writer, calls, &(LnsEvent){ .start_ns = SECOND, .duration_ns = MSEC });
  add_run (writer, runs, 2 * SECOND, 3 * SECOND, 1);
  fixture_finish (writer, 8 * SECOND);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK (lns_thread_span_at (report, runs, 1500 * MSEC, &span, NULL));
  LNS_CHECK_INT (span.state, wanted);
  LNS_CHECK_INT (span.end_ns, 2 * SECOND);
  lns_report_close (report);
}

/* When a thread was named is not when it began: until its first event nothing is known of it. */
static void
test_a_name_is_no_beginning (void)
{
  check_before (true, LNS_STATE_UNKNOWN);
  check_before (false, LNS_STATE_NONE);
}

/* Nothing is said of a thread where nothing was recorded. */
static void
test_what_is_not_known (void)
{
  static const struct
  {
    uint32_t lane;
    int64_t time_ns;
    LnsThreadState state;
    int64_t start_ns, end_ns;
  } wanted[] = {
    { 0, 2500 * MSEC, LNS_STATE_UNKNOWN, 2 * SECOND, 3 * SECOND },
    { 0, 4 * SECOND, LNS_STATE_RUNNING, 3 * SECOND, 5 * SECOND },
    { 0, 6 * SECOND, LNS_STATE_UNKNOWN, 5 * SECOND, 8 * SECOND },
    { 1, 500 * MSEC, LNS_STATE_NONE, INT64_MIN, SECOND },
    { 1, 1500 * MSEC, LNS_STATE_UNKNOWN, SECOND, 3 * SECOND },
    { 1, 4500 * MSEC, LNS_STATE_BLOCKED, 4 * SECOND, 5 * SECOND },
    { 1, 7 * SECOND, LNS_STATE_UNKNOWN, 5 * SECOND, 8 * SECOND },
  };
  LnsReport *report = open_stopped ();
  LNS_CHECK_INT (lns_report_info (report)->end_ns, 8 * SECOND);
  for (gsize i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      LnsThreadSpan span;
      LNS_CHECK (lns_thread_span_at (report, wanted[i].lane, wanted[i].time_ns, &span, NULL));
      LNS_CHECK_INT (span.state, wanted[i].state);
      LNS_CHECK_INT (span.start_ns, wanted[i].start_ns);
      LNS_CHECK_INT (span.end_ns, wanted[i].end_ns);
    }
  g_autofree char *duration = field_of (report, LNS_TRACK_SCHED, 1, "Duration");
  LNS_CHECK_STR (duration, "2 s so far");
  g_autofree char *on_cpu = field_of (report, LNS_TRACK_CPU, 0, "Duration");
  LNS_CHECK_STR (on_cpu, "2 s so far");
  lns_report_close (report);
}

/* The table sorts by what is known of durations, too. */
static void
test_durations_that_are_not_known (void)
{
  static const uint32_t lanes[] = { 0, 2 };
  static const int64_t wanted_ns[] = { SECOND, 2 * SECOND, 2 * SECOND };
  LnsReport *report = open_stopped ();
  g_autoptr (LnsEventSet) set =
      lns_event_set_load (report, lanes, 2, INT64_MIN, INT64_MAX, NULL, 0, NULL, NULL, NULL);
  LNS_CHECK_INT (set->n, G_N_ELEMENTS (wanted_ns));
  for (uint32_t row = 0; row < set->n; row++)
    LNS_CHECK_INT (lns_event_set_duration (set, row), wanted_ns[row]);
  lns_event_set_unref (g_steal_pointer (&set));
  lns_report_close (report);
}

/* A process with the id 20, whose thread 21 runs from START_NS to END_NS; both are there until THERE_NS. */
static uint32_t
add_program (LnsWriter *writer, int64_t start_ns, int64_t end_ns, int64_t there_ns)
{
  const uint32_t process = lns_writer_add_process (
      writer,
      &(LnsProcess){
          .pid = 20, .parent = LNS_ID_NONE, .start_ns = SECOND, .end_ns = there_ns, .name = 1 });
  const LnsThread thread = { .process = process,
                             .tid = 21,
                             .target_tid = 21,
                             .start_ns = LNS_TIME_UNKNOWN,
                             .end_ns = there_ns };
  const LnsTrack track = { .kind = LNS_TRACK_SCHED,
                           .process = process,
                           .thread = lns_writer_add_thread (writer, &thread),
                           .domain = LNS_ID_NONE,
                           .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE };
  const uint32_t lane = lns_writer_add_lane (
      writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track), .kind = LNS_LANE_SCHED });
  add_run (writer, lane, start_ns, end_ns, 2);
  return lane;
}

/* Three programs follow each other in one process, by exec. None is there while an earlier one is. */
static void
test_a_program_begins_where_the_last_one_ends (void)
{
  const char *path = fixture_path ("programs.rep");
  LnsWriter *writer = fixture_writer (path);
  add_program (writer, 1500 * MSEC, 1600 * MSEC, 2 * SECOND);
  const uint32_t second = add_program (writer, 2 * SECOND, 2200 * MSEC, 4 * SECOND);
  const uint32_t third = add_program (writer, 4500 * MSEC, 5 * SECOND, LNS_TIME_UNKNOWN);
  fixture_finish (writer, 6 * SECOND);
  LnsReport *report = fixture_open (path, NULL);
  LnsThreadSpan span;
  LNS_CHECK (lns_thread_span_at (report, second, 1500 * MSEC, &span, NULL));
  LNS_CHECK_INT (span.state, LNS_STATE_NONE);
  LNS_CHECK_INT (span.end_ns, 2 * SECOND);
  LNS_CHECK (lns_thread_span_at (report, third, 2500 * MSEC, &span, NULL));
  LNS_CHECK_INT (span.state, LNS_STATE_NONE);
  LNS_CHECK_INT (span.end_ns, 4 * SECOND);
  LNS_CHECK (lns_thread_span_at (report, third, 4200 * MSEC, &span, NULL));
  LNS_CHECK_INT (span.state, LNS_STATE_UNKNOWN);
  LNS_CHECK_INT (span.start_ns, 4 * SECOND);
  lns_report_close (report);
}

/* A thread waits from 2 s on; records are lost from 3 s on, and it runs again from 4 s on. */
static void
test_a_wait_ends_where_records_are_lost (void)
{
  static const uint32_t lanes[] = { 0 };
  const char *path = fixture_path ("lost.rep");
  LnsWriter *writer = begin_thread (path);
  const uint32_t lane = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED);
  add_run (writer, lane, SECOND, 2 * SECOND, 2);
  const LnsEvent lost = { .start_ns = 3 * SECOND, .flags = LNS_EVENT_END_UNKNOWN };
  lns_writer_append (writer, lane, &lost);
  add_run (writer, lane, 4 * SECOND, 5 * SECOND, 2);
  fixture_finish (writer, 6 * SECOND);
  LnsReport *report = fixture_open (path, NULL);
  LnsThreadSpan waits, unknown;
  LNS_CHECK (lns_thread_span_at (report, 0, 2500 * MSEC, &waits, NULL));
  LNS_CHECK (lns_thread_span_at (report, 0, 3500 * MSEC, &unknown, NULL));
  LNS_CHECK_INT (waits.state, LNS_STATE_BLOCKED);
  LNS_CHECK_INT (waits.end_ns, 3 * SECOND);
  LNS_CHECK_INT (unknown.state, LNS_STATE_UNKNOWN);
  LNS_CHECK_INT (unknown.start_ns, 3 * SECOND);
  LNS_CHECK_INT (unknown.end_ns, 4 * SECOND);
  g_autoptr (LnsEventSet) set =
      lns_event_set_load (report, lanes, 1, INT64_MIN, INT64_MAX, NULL, 0, NULL, NULL, NULL);
  g_autofree char *name = lns_event_cell_text (set, 2, LNS_EVENT_COLUMN_NAME);
  LNS_CHECK_STR (name, "Not known");
  g_autofree char *state = field_of (report, LNS_TRACK_SCHED, 2, "State");
  LNS_CHECK_STR (state, "Not known");
  lns_event_set_unref (g_steal_pointer (&set));
  lns_report_close (report);
}

/* How many pixels of TILE's line Y are RGB from X0 to X1. */
static int
count_pixels (const LnsTile *tile, int y, int x0, int x1, uint32_t rgb)
{
  int n = 0;
  for (int x = x0; x < x1; x++)
    n += pixel (tile, x, y) == rgb;
  return n;
}

/* It is hatched: in each of the rows a third of a line is, and nothing else is there. */
static void
test_what_is_not_known_is_hatched (void)
{
  LnsReport *report = open_stopped ();
  LnsRowTree *tree = lns_row_tree_new (report);
  const LnsPalette *palette = lns_palette_get (LNS_THEME_LIGHT);
  const uint32_t cpu = lns_row_tree_row_of_lane (tree, 2);
  const uint32_t rows[] = { lns_row_tree_row_of_lane (tree, 0), lns_row_tree_row_of_lane (tree, 1),
                            cpu, lns_row_tree_row (tree, cpu)->parent };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      LnsTile *tile = paint (report, tree, rows[i], true);
      const uint32_t hatch = lns_palette_mix (tile->background, palette->blocked_edge, 0.5);
      const int n = count_pixels (tile, 8, 260, 380, hatch); /* 5.2 to 7.6 s */
      LNS_CHECK (n >= 35 && n <= 45);
      LNS_CHECK_INT (n + count_pixels (tile, 8, 260, 380, tile->background), 120);
      LNS_CHECK_INT (count_pixels (tile, 8, 210, 245, hatch), 0); /* 4.2 to 4.9 s */
      LNS_CHECK_INT (count_pixels (tile, 8, 405, 500, tile->background), 95);
      lns_tile_free (tile);
    }
  LnsTile *tile = paint (report, tree, rows[0], true);
  LNS_CHECK_INT (count_pixels (tile, 1, 152, 248, palette->running), 96);
  lns_tile_free (tile);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* However many switches there are, what is read of them grows with the pixels. */
static void
test_many_switches (void)
{
  enum
  {
    N_BURSTS = 100,
    N_RUNS = 5000
  };
  const char *path = fixture_path ("switches.rep");
  LnsWriter *writer = begin_thread (path);
  uint32_t sched = add_lane (writer, LNS_TRACK_SCHED, LNS_LANE_SCHED);
  for (int64_t i = 0; i < N_BURSTS; i++)
    for (int64_t k = 0; k < N_RUNS; k++)
      add_run (writer, sched, i * 100 * MSEC + k * 8000, i * 100 * MSEC + k * 8000 + 2000, 7);
  fixture_finish (writer, N_BURSTS * 100 * MSEC);
  LnsReport *report = fixture_open (path, NULL);
  LnsRowTree *tree = lns_row_tree_new (report);
  LnsTile *tile = paint (report, tree, lns_row_tree_row_of_lane (tree, sched), true);
  LNS_CHECK_INT (tile->state, LNS_TILE_EXACT);
  LNS_CHECK_INT (tile->n_events, N_BURSTS); /* the pauses */
  for (uint32_t i = 0; i < tile->n_events; i++)
    LNS_CHECK (tile->spans[i].state == LNS_STATE_BLOCKED &&
               tile->events[i].duration_ns > 59 * MSEC);
  lns_tile_free (tile);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* Samples are all alike: ticks of one colour, without names. */
static void
test_samples_are_ticks (void)
{
  const char *path = fixture_path ("samples.rep");
  LnsWriter *writer = begin_thread (path);
  uint32_t lane = add_lane (writer, LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE);
  for (uint32_t i = 0; i < 10; i++)
    lns_writer_append (writer, lane,
                       &(LnsEvent){ .start_ns = (2 * i + 1) * 400 * MSEC, .name = 1 + i % 3 });
  fixture_finish (writer, 10 * SECOND);
  LnsReport *report = fixture_open (path, NULL);
  LnsRowTree *tree = lns_row_tree_new (report);
  uint32_t row = lns_row_tree_row_of_lane (tree, lane), n_ticks = 0;
  LnsTile *tile = paint (report, tree, row, true);
  for (int x = 0; x < LNS_TILE_PX; x++)
    if (pixel (tile, x, 8) == lns_palette_get (LNS_THEME_LIGHT)->sample)
      n_ticks++;
    else
      LNS_CHECK_INT (pixel (tile, x, 8), tile->background);
  LNS_CHECK_INT (n_ticks, 10);
  LNS_CHECK_INT (tile->n_events, 10); /* to be pointed at */
  lns_tile_free (tile);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_rows);
  LNS_TEST (test_details);
  LNS_TEST (test_tooltips);
  LNS_TEST (test_names_in_the_table);
  LNS_TEST (test_samples_of_a_gpu);
  LNS_TEST (test_cpu_rows);
  LNS_TEST (test_activity_is_time_on_cpus);
  LNS_TEST (test_activity_without_times_on_cpus);
  LNS_TEST (test_spans);
  LNS_TEST (test_states_are_drawn);
  LNS_TEST (test_wakings);
  LNS_TEST (test_details_of_states);
  LNS_TEST (test_what_is_not_known);
  LNS_TEST (test_a_name_is_no_beginning);
  LNS_TEST (test_durations_that_are_not_known);
  LNS_TEST (test_a_wait_ends_where_records_are_lost);
  LNS_TEST (test_a_program_begins_where_the_last_one_ends);
  LNS_TEST (test_what_is_not_known_is_hatched);
  LNS_TEST (test_many_switches);
  LNS_TEST (test_samples_are_ticks);
  return lns_tap_done ();
}

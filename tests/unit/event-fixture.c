/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/event-fixture.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

static uint32_t
text (LnsWriter *writer, const char *string)
{
  return lns_writer_string (writer, string, strlen (string));
}

static void
add_definitions (LnsWriter *writer)
{
  LnsProcess process = { .pid = 4711,
                         .target_pid = 4711,
                         .parent = LNS_ID_NONE,
                         .name = text (writer, "python3"),
                         .start_ns = 0,
                         .end_ns = LNS_TIME_UNKNOWN,
                         .exit_code = -1 };
  lns_writer_add_process (writer, &process);
  const char *names[] = { "main", "loader", "alpha" };
  for (int i = 0; i < 3; i++)
    {
      LnsThread thread = { .process = 0,
                           .tid = 4711 + i,
                           .target_tid = 4711 + i,
                           .name = text (writer, names[i]),
                           .start_ns = LNS_TIME_UNKNOWN,
                           .end_ns = LNS_TIME_UNKNOWN };
      lns_writer_add_thread (writer, &thread);
    }
  for (int i = 0; i < 2; i++)
    {
      LnsDomain domain = { .process = 0,
                           .number = (uint32_t)i,
                           .name = i == 0 ? 0 : text (writer, "training"),
                           .destroyed_ns = LNS_TIME_UNKNOWN,
                           .thread = LNS_ID_NONE };
      lns_writer_add_domain (writer, &domain);
    }
  LnsCategory category = { .domain = 0, .category = CATEGORY, .name = text (writer, "input") };
  lns_writer_add_category (writer, &category);
  LnsTrack tracks[] = {
    { .device = LNS_ID_NONE,
      .stream = LNS_ID_NONE,
      .kind = LNS_TRACK_NVTX_RANGES,
      .thread = 0,
      .domain = 0 },
    { .device = LNS_ID_NONE,
      .stream = LNS_ID_NONE,
      .kind = LNS_TRACK_NVTX_RANGES,
      .thread = 1,
      .domain = 1 },
    { .device = LNS_ID_NONE,
      .stream = LNS_ID_NONE,
      .kind = LNS_TRACK_NVTX_START_END,
      .thread = LNS_ID_NONE,
      .domain = 0 },
    { .device = LNS_ID_NONE,
      .stream = LNS_ID_NONE,
      .kind = LNS_TRACK_NVTX_MARKS,
      .thread = 2,
      .domain = 0 },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (tracks); i++)
    lns_writer_add_track (writer, &tracks[i]);
  LnsLane all[N_LANES] = {
    { 0, 0, LNS_LANE_NVTX_PUSH_POP }, { 0, 1, LNS_LANE_NVTX_PUSH_POP },
    { 1, 0, LNS_LANE_NVTX_PUSH_POP }, { 2, 0, LNS_LANE_NVTX_START_END },
    { 3, 0, LNS_LANE_NVTX_MARK },
  };
  for (int i = 0; i < N_LANES; i++)
    lns_writer_add_lane (writer, &all[i]);
}

static void
put (LnsEvent *event, LnsLaneKind kind, LnsColumnId column, uint64_t value)
{
  int index = lns_lane_kind_extra (kind, column);
  if (index >= 0)
    event->extra[index] = value;
}

static void
add_events (LnsWriter *writer, uint32_t lane, LnsLaneKind kind)
{
  const char *fixed[] = { BAD_NAME, TABBED_NAME, GREEK_NAME, "Forward pass" };
  GRand *random = g_rand_new_with_seed (lane + 1);
  int64_t now_ns = (int64_t)lane - 1000;
  for (int i = 0; i < LANE_EVENTS; i++)
    {
      char name[32];
      snprintf (name, sizeof name, "step %d", g_rand_int_range (random, 0, 300));
      int which = g_rand_int_range (random, 0, 20);
      LnsEvent event = {
        .start_ns = now_ns,
        .duration_ns = kind == LNS_LANE_NVTX_MARK ? 0 : g_rand_int_range (random, 0, 2000),
        .name = text (writer, which < 4 ? fixed[which] : name),
        .flags = which == 5 ? LNS_EVENT_END_UNKNOWN : 0,
      };
      if (event.flags != 0)
        event.duration_ns = 0;
      put (&event, kind, LNS_COLUMN_CATEGORY, which == 6 ? CATEGORY : which == 7 ? 3 : 0);
      put (&event, kind, LNS_COLUMN_THREAD, (uint64_t)(i % 3));
      if (which > 10)
        {
          put (&event, kind, LNS_COLUMN_PAYLOAD_TYPE, LNS_PAYLOAD_INT64);
          put (&event, kind, LNS_COLUMN_PAYLOAD,
               (uint64_t)(int64_t)g_rand_int_range (random, -50, 50));
        }
      lns_writer_append (writer, lane, &event);
      now_ns += event.duration_ns + g_rand_int_range (random, 0, 3);
    }
  g_rand_free (random);
}

LnsReport *
lns_test_report_new (void)
{
  g_autofree char *folder = g_dir_make_tmp ("lns-test-report-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "events.rep", NULL);
  LnsError error = { 0 };
  LnsWriterOptions options = { 0 };
  LnsWriter *writer = lns_writer_create (path, &options, &error);
  g_assert_nonnull (writer);
  add_definitions (writer);
  LnsLaneKind kinds[N_LANES] = { LNS_LANE_NVTX_PUSH_POP, LNS_LANE_NVTX_PUSH_POP,
                                 LNS_LANE_NVTX_PUSH_POP, LNS_LANE_NVTX_START_END,
                                 LNS_LANE_NVTX_MARK };
  for (uint32_t lane = 0; lane < N_LANES; lane++)
    add_events (writer, lane, kinds[lane]);
  g_assert_true (lns_writer_finish (writer, LNS_STATE_COMPLETE, 1000000000, &error));
  LnsReport *report = lns_report_open (path, NULL, &error);
  if (report == NULL)
    g_error ("%s", error.message);
  return report;
}

void
lns_test_report_free (LnsReport *report)
{
  g_autofree char *path = g_strdup (lns_report_info (report)->path);
  g_autofree char *folder = g_path_get_dirname (path);
  lns_report_close (report);
  g_remove (path);
  g_rmdir (folder);
}

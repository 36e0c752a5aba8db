/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares what was given to the writer with what the reader returns. */

#include "src/store/write/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/store/read/report.h"
#include "src/store/database/sql.h"

#include "tests/tap.h"

static char folder[] = "/tmp/lns-test-writer-XXXXXX";

static const char *
path_of (const char *name)
{
  static char path[256];
  snprintf (path, sizeof path, "%s/%s", folder, name);
  return path;
}

static LnsWriter *
create (const char *name)
{
  LnsError error = { 0 };
  const LnsWriterOptions options = { .t0_monotonic_ns = 11, .t0_realtime_ns = 22, .t0_tsc = 33 };
  unlink (path_of (name));
  LnsWriter *writer = lns_writer_create (path_of (name), &options, &error);
  if (writer == NULL)
    LNS_FAIL ("%s", error.message);
  return writer;
}

static void
commit (LnsWriter *writer, int64_t now_ns)
{
  LnsError error = { 0 };
  if (!lns_writer_commit (writer, now_ns, &error))
    LNS_FAIL ("%s", error.message);
}

static void
finish (LnsWriter *writer, int64_t end_ns)
{
  LnsError error = { 0 };
  if (!lns_writer_finish (writer, LNS_STATE_COMPLETE, end_ns, &error))
    LNS_FAIL ("%s", error.message);
}

static LnsReport *
open_report (const char *name)
{
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (path_of (name), NULL, &error);
  if (report == NULL)
    LNS_FAIL ("%s", error.message);
  return report;
}

static uint32_t
add_lane (LnsWriter *writer, LnsLaneKind kind)
{
  const uint32_t process = lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE });
  const LnsThread thread = { .process = process };
  const LnsTrack track = { .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE,
                           .kind = lns_lane_kind_info (kind)->track,
                           .process = process,
                           .thread = lns_writer_add_thread (writer, &thread),
                           .domain = LNS_ID_NONE,
                           .value_type = LNS_PAYLOAD_DOUBLE };
  const LnsLane lane = { .track = lns_writer_add_track (writer, &track), .kind = kind };
  return lns_writer_add_lane (writer, &lane);
}

static LnsEvent
event_at (LnsReport *report, uint32_t lane, uint64_t ordinal)
{
  LnsEvent event;
  LnsError error = { 0 };
  if (!lns_report_event (report, lane, ordinal, &event, &error))
    LNS_FAIL ("%s", error.message);
  return event;
}

static unsigned
files_in_folder (void)
{
  unsigned n = 0;
  DIR *dir = opendir (folder);
  for (struct dirent *entry; (entry = readdir (dir)) != NULL;)
    n += entry->d_name[0] != '.';
  closedir (dir);
  return n;
}

static void
test_empty_report (void)
{
  LnsWriter *writer = create ("a.rep");
  LNS_CHECK_INT (lns_writer_counts (writer)->n_events, 0);
  LNS_CHECK_INT (lns_writer_counts (writer)->n_lost, 0);
  LNS_CHECK (lns_writer_counts (writer)->file_bytes > 0);
  finish (writer, 5);
  LNS_CHECK_INT (files_in_folder (), 1);
  LnsReport *report = open_report ("a.rep");
  const LnsReportInfo *info = lns_report_info (report);
  LNS_CHECK_INT (info->state, LNS_STATE_COMPLETE);
  LNS_CHECK_INT (info->n_events, 0);
  LNS_CHECK_INT (info->t0_monotonic_ns, 11);
  LNS_CHECK_INT (info->t0_realtime_ns, 22);
  LNS_CHECK_INT (info->t0_tsc, 33);
  LNS_CHECK_INT (info->end_ns, 5);
  lns_report_close (report);
}

static void
test_strings (void)
{
  enum
  {
    N_LARGE = 400000
  };
  LnsWriter *writer = create ("a.rep");
  uint8_t *large = malloc (N_LARGE);
  for (unsigned i = 0; i < N_LARGE; i++)
    large[i] = (uint8_t)(i * 7 + i / 255);
  uint32_t a = lns_writer_string (writer, "a", 1), b = lns_writer_string (writer, "b\0\xff", 3);
  uint32_t long_id = lns_writer_string (writer, large, N_LARGE);
  LNS_CHECK_INT (lns_writer_string (writer, NULL, 0), 0);
  LNS_CHECK_INT (lns_writer_string (writer, "a", 1), a);
  LNS_CHECK_INT (lns_writer_string (writer, large, N_LARGE), long_id);
  uint32_t first = lns_writer_bytes (writer, "a", 1), second = lns_writer_bytes (writer, "a", 1);
  LNS_CHECK (first != a && second != first);
  LNS_CHECK_INT (lns_writer_bytes (writer, NULL, 0), 0);
  commit (writer, 1);
  uint32_t edge = lns_writer_string (writer, large, 49152);
  uint32_t past_edge = lns_writer_bytes (writer, large, 49153);
  LNS_CHECK_INT (past_edge, edge + 1);
  uint32_t many[20000];
  for (unsigned i = 0; i < 20000; i++)
    {
      char text[32];
      many[i] = lns_writer_string (writer, text, (size_t)sprintf (text, "string %u", i));
    }
  LNS_CHECK_INT (many[0], edge + 3);
  finish (writer, 2);

  LnsReport *report = open_report ("a.rep");
  size_t size_bytes;
  LNS_CHECK_STR (lns_report_string (report, a, NULL), "a");
  LNS_CHECK (memcmp (lns_report_string (report, b, &size_bytes), "b\0\xff", 4) == 0);
  LNS_CHECK_INT (size_bytes, 3);
  LNS_CHECK (memcmp (lns_report_string (report, long_id, &size_bytes), large, N_LARGE) == 0);
  LNS_CHECK_INT (size_bytes, N_LARGE);
  LNS_CHECK (memcmp (lns_report_string (report, edge, &size_bytes), large, 49152) == 0);
  LNS_CHECK_INT (size_bytes, 49152);
  LNS_CHECK (memcmp (lns_report_string (report, past_edge, &size_bytes), large, 49153) == 0);
  LNS_CHECK_INT (size_bytes, 49153);
  LNS_CHECK_STR (lns_report_string (report, second, NULL), "a");
  LNS_CHECK_STR (lns_report_string (report, 0, NULL), "");
  for (unsigned i = 0; i < 20000; i++)
    {
      char text[32];
      sprintf (text, "string %u", i);
      LNS_CHECK_STR (lns_report_string (report, many[i], NULL), text);
    }
  lns_report_close (report);
  free (large);
}

static void
test_definitions (void)
{
  LnsWriter *writer = create ("a.rep");
  LnsProcess process = { .pid = 7, .parent = LNS_ID_NONE, .exit_code = -1 };
  LnsThread thread = { .process = 0, .tid = 8 };
  LnsDomain domain = { .number = 3, .thread = 0 };
  LnsCategory category = { .domain = 0, .category = 12 };
  const LnsSchema schema = { .domain = 0, .schema_id = UINT64_C (1) << 40 };
  const LnsSchemaEntry entry = { .schema = 0, .type = 9 };
  const LnsDiagnostic diagnostic = { .severity = LNS_SEVERITY_WARNING, .time_ns = -4 };
  const LnsLoss loss = { .pushes = 1, .pops = 2, .marks = 3, .starts = 4, .ends = 5, .others = 6 };
  LNS_CHECK_INT (lns_writer_add_process (writer, &process), 0);
  LNS_CHECK_INT (lns_writer_add_process (writer, &process), 1);
  LNS_CHECK_INT (lns_writer_add_thread (writer, &thread), 0);
  LNS_CHECK_INT (lns_writer_add_domain (writer, &domain), 0);
  LNS_CHECK_INT (lns_writer_add_category (writer, &category), 0);
  LNS_CHECK_INT (lns_writer_add_schema (writer, &schema), 0);
  LNS_CHECK_INT (lns_writer_add_schema_entry (writer, &entry), 0);
  LNS_CHECK_INT (lns_writer_add_diagnostic (writer, &diagnostic), 0);
  LNS_CHECK_INT (lns_writer_add_loss (writer, &loss), 0);
  LNS_CHECK_INT (lns_writer_counts (writer)->n_lost, 14);
  LNS_CHECK_INT (add_lane (writer, LNS_LANE_NVTX_MARK), 0);
  lns_writer_set_meta (writer, "host", "here");
  commit (writer, 1);
  process.exit_code = 3;
  thread.name = lns_writer_string (writer, "main", 4);
  domain.destroyed_ns = 99;
  category.name = thread.name;
  lns_writer_set_process (writer, 1, &process);
  lns_writer_set_process (writer, 3, &process); /* no such process: nothing happens             */
  lns_writer_set_thread (writer, 0, &thread);
  lns_writer_set_domain (writer, 0, &domain);
  lns_writer_set_category (writer, 0, &category);
  lns_writer_set_meta (writer, "host", "there");
  finish (writer, 2);

  LnsReport *report = open_report ("a.rep");
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);
  LNS_CHECK_INT (n, 3); /* with the lane's */
  LNS_CHECK_INT (processes[0].exit_code, -1);
  LNS_CHECK_INT (processes[1].exit_code, 3);
  LNS_CHECK_STR (lns_report_string (report, lns_report_threads (report, &n)[0].name, NULL), "main");
  LNS_CHECK_INT (lns_report_threads (report, &n)[0].tid, 8);
  LNS_CHECK_INT (lns_report_domains (report, &n)[0].destroyed_ns, 99);
  LNS_CHECK_INT (lns_report_categories (report, &n)[0].name, thread.name);
  LNS_CHECK_INT (lns_report_schemas (report, &n)[0].schema_id, UINT64_C (1) << 40);
  LNS_CHECK_INT (lns_report_schema_entries (report, &n)[0].type, 9);
  LNS_CHECK_INT (lns_report_diagnostics (report, &n)[0].time_ns, -4);
  LNS_CHECK_INT (lns_report_losses (report, &n)[0].others, 6);
  LNS_CHECK_INT (lns_report_tracks (report, &n)[0].kind, LNS_TRACK_NVTX_MARKS);
  LNS_CHECK_INT (lns_report_lanes (report, &n)[0].kind, LNS_LANE_NVTX_MARK);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (lns_report_info (report)->n_lost, 14);
  LNS_CHECK_STR (lns_report_meta (report, "host"), "there");
  lns_report_close (report);
}

static uint64_t
value_of (uint64_t i, uint64_t salt)
{
  uint64_t z = (i + 1) * (salt * 2 + 1) * UINT64_C (0x9E3779B97F4A7C15);
  return (z ^ z >> 29) * UINT64_C (0xBF58476D1CE4E5B9) >> 17;
}

/* Event I of a lane, in which every column changes its ways between stretches of events. */
static LnsEvent
made_event (uint64_t i)
{
  LnsEvent event = { .start_ns = (int64_t)(i * 1000 + value_of (i, 1) % 400),
                     .duration_ns = (int64_t)(value_of (i, 2) % 600),
                     .name = i / 3000 % 2 ? (uint32_t)(value_of (i, 3) % 5000) : 0 };
  event.flags = i % 5000 > 4000 ? LNS_EVENT_REGISTERED : 0;
  event.extra[0] = i / 7000 % 2 ? UINT64_C (0xFF000000) | value_of (i, 4) % 9 * 1234567 : 0;
  event.extra[1] = i % 9000 == 8999 ? 17 : 0;
  event.extra[2] = i / 2000 % 3;
  event.extra[3] = event.extra[2] == 0 ? 0 : value_of (i, 5) << 10;
  return event;
}

static void
check_same (const LnsEvent *actual, const LnsEvent *expected)
{
  LNS_CHECK_INT (actual->start_ns, expected->start_ns);
  LNS_CHECK_INT (actual->duration_ns, expected->duration_ns);
  LNS_CHECK_INT (actual->name, expected->name);
  LNS_CHECK_INT (actual->flags, expected->flags);
  for (unsigned i = 0; i < 4; i++)
    LNS_CHECK_INT (actual->extra[i], expected->extra[i]);
}

static void
check_kept (const char *path)
{
  LnsError error = { 0 };
  const LnsWriterOptions options = { .overwrite = true };
  LNS_CHECK (lns_writer_create (path, &options, &error) == NULL);
  LNS_CHECK_INT (error.code, EBUSY);
  LNS_CHECK (strstr (error.message, path) != NULL);
}

/* A report under way is nobody's to overwrite, also in the moment before it tells who writes it. */
static void
test_a_report_under_way_is_kept (void)
{
  int claim_fd;
  LnsError error = { 0 };
  lns_sql_remove (path_of ("a.rep"));
  sqlite3 *database = lns_sql_create (path_of ("a.rep"), 0, &claim_fd, &error);
  LNS_CHECK (database != NULL);
  check_kept (path_of ("a.rep"));
  sqlite3_close (database);
  close (claim_fd);
  lns_sql_remove (path_of ("a.rep"));

  LnsWriter *writer = create ("a.rep");
  check_kept (path_of ("a.rep"));
  add_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  finish (writer, 1);
  lns_report_close (open_report ("a.rep"));
}

/* A report comes into being with one commit of its writer's. SQLite's header counts the commits that
 * changed the file; the first made its tables when Lanescope was built. */
static void
test_a_report_is_made_by_one_commit (void)
{
  uint8_t header[100] = { 0 };
  LnsWriter *writer = create ("a.rep");
  int fd = open (path_of ("a.rep"), O_RDONLY);
  LNS_CHECK (pread (fd, header, sizeof header, 0) == sizeof header);
  LNS_CHECK_INT (header[24] << 24 | header[25] << 16 | header[26] << 8 | header[27], 2);
  LnsReport *report = open_report ("a.rep");
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_RECORDING);
  lns_report_close (report);
  close (fd);
  finish (writer, 1);
}

/* After each commit the file holds all that was appended before it, read by another connection. */
static void
test_every_commit_is_a_report (void)
{
  LnsWriter *writer = create ("a.rep");
  uint32_t lane = add_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  uint64_t n = 0;
  for (uint64_t step = 1; n < 60000; step = step * 2 + 1)
    {
      for (uint64_t i = 0; i < step; i++, n++)
        {
          LnsEvent event = made_event (n);
          lns_writer_append (writer, lane, &event);
        }
      commit (writer, (int64_t)n * 1000);
      LnsReport *report = open_report ("a.rep");
      LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_RECORDING);
      LNS_CHECK_INT (lns_report_info (report)->n_events, n);
      int64_t busy_ns = 0;
      for (uint64_t i = 0; i < n; i++)
        {
          LnsEvent expected = made_event (i);
          busy_ns += expected.duration_ns;
          if (i % 61 != 0 && i + 100 < n)
            continue;
          LnsEvent actual = event_at (report, lane, i);
          check_same (&actual, &expected);
        }
      const LnsLaneInfo *info = lns_report_lane_info (report, lane);
      LNS_CHECK_INT (info->busy_ns, busy_ns);
      LNS_CHECK_INT (info->start_ns, made_event (0).start_ns);
      LNS_CHECK_INT (info->end_ns, made_event (n - 1).start_ns + made_event (n - 1).duration_ns);
      lns_report_close (report);
    }
  LNS_CHECK_INT (lns_writer_counts (writer)->n_events, n);
  finish (writer, (int64_t)n * 1000);
  LNS_CHECK_INT (files_in_folder (), 1);
}

static void
test_append_keeps_order (void)
{
  LnsWriter *writer = create ("a.rep");
  uint32_t lane = add_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  const LnsEvent events[] = {
    { .start_ns = -50, .duration_ns = 100 },    { .start_ns = 20, .duration_ns = 80 },
    { .start_ns = 30, .duration_ns = 5 },       { .start_ns = 100, .duration_ns = -7 },
    { .start_ns = 100, .duration_ns = 1 },      { .start_ns = INT64_MAX, .duration_ns = INT64_MAX },
    { .start_ns = INT64_MIN, .duration_ns = 3 }
  };
  for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++)
    lns_writer_append (writer, lane, &events[i]);
  lns_writer_append (writer, lane + 1, &events[0]); /* no such lane: nothing happens            */
  LNS_CHECK_INT (lns_writer_counts (writer)->n_events, 7);
  finish (writer, 0);

  static const struct
  {
    int64_t start_ns, duration_ns;
    uint32_t flags;
  } expected[] = { { -50, 100, 0 },
                   { 50, 50, LNS_EVENT_CLIPPED },
                   { 100, 0, LNS_EVENT_CLIPPED },
                   { 100, 0, 0 },
                   { 100, 1, 0 },
                   { INT64_C (1) << 61, INT64_C (1) << 61, 0 },
                   { INT64_C (1) << 62, 0, LNS_EVENT_CLIPPED } };
  LnsReport *report = open_report ("a.rep");
  for (unsigned i = 0; i < 7; i++)
    {
      LnsEvent event = event_at (report, lane, i);
      LNS_CHECK_INT (event.start_ns, expected[i].start_ns);
      LNS_CHECK_INT (event.duration_ns, expected[i].duration_ns);
      LNS_CHECK_INT (event.flags, expected[i].flags);
    }
  lns_report_close (report);
}

static void
check_open (const LnsEvent *expected, uint64_t n_closed, int64_t end_ns)
{
  LnsReport *report = open_report ("a.rep");
  const LnsLaneInfo *info = lns_report_lane_info (report, 0);
  LNS_CHECK_INT (info->has_open, expected != NULL);
  LNS_CHECK_INT (info->n_events, n_closed + (expected != NULL));
  LNS_CHECK_INT (lns_report_info (report)->n_open, expected != NULL);
  if (expected != NULL)
    {
      LnsEvent event = event_at (report, 0, n_closed);
      LNS_CHECK_INT (event.start_ns, expected->start_ns);
      LNS_CHECK_INT (event.duration_ns, end_ns - expected->start_ns);
      LNS_CHECK_INT (event.name, expected->name);
      LNS_CHECK_INT (event.extra[3], expected->extra[3]);
      LNS_CHECK (event.flags & LNS_EVENT_OPEN_END);
    }
  lns_report_close (report);
}

static void
test_open_event (void)
{
  LnsWriter *writer = create ("a.rep");
  uint32_t lane = add_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsEvent event = { .start_ns = 10, .duration_ns = 999, .name = 4, .extra = { [3] = 77 } };
  lns_writer_set_open (writer, lane, NULL);
  lns_writer_set_open (writer, lane, &event);
  commit (writer, 100);
  check_open (&event, 0, 100);
  commit (writer, 200); /* nothing changed, and still it reaches further */
  check_open (&event, 0, 200);
  event.duration_ns = 200;
  lns_writer_append (writer, lane, &event);
  commit (writer, 300);
  check_open (NULL, 1, 300);
  event.start_ns = 400;
  lns_writer_set_open (writer, lane, &event);
  lns_writer_set_open (writer, lane + 1, &event); /* no such lane: nothing happens              */
  commit (writer, 500);
  check_open (&event, 1, 500);
  lns_writer_set_open (writer, lane, NULL);
  finish (writer, 600);
  check_open (NULL, 1, 600);
}

static int
rows_of (const char *table)
{
  sqlite3 *database;
  sqlite3_stmt *statement;
  char sql[64];
  snprintf (sql, sizeof sql, "SELECT count(*) FROM %s", table);
  LNS_CHECK_INT (sqlite3_open (path_of ("a.rep"), &database), SQLITE_OK);
  LNS_CHECK_INT (sqlite3_prepare_v2 (database, sql, -1, &statement, NULL), SQLITE_OK);
  LNS_CHECK_INT (sqlite3_step (statement), SQLITE_ROW);
  int n = sqlite3_column_int (statement, 0);
  sqlite3_finalize (statement);
  sqlite3_close (database);
  return n;
}

/* A few lanes of every kind and many of few events. */
static void
test_many_lanes (void)
{
  enum
  {
    N = 3000
  };
  LnsWriter *writer = create ("a.rep");
  for (uint32_t i = 0; i < N; i++)
    LNS_CHECK_INT (add_lane (writer, (LnsLaneKind)(1 + i % 4)), i);
  for (uint32_t round = 0; round < 3; round++)
    {
      for (uint32_t i = 0; i < N; i += 1 + i % 3)
        for (uint32_t k = 0; k <= i % 40; k++)
          {
            LnsEvent event = { .start_ns = round * 1000 + k * 10,
                               .duration_ns = i % 4 < 2 ? 3 : 0 };
            event.extra[1] = i;
            lns_writer_append (writer, i, &event);
          }
      commit (writer, round * 1000 + 1000);
    }
  uint64_t n_events = lns_writer_counts (writer)->n_events;
  finish (writer, 3000);
  LNS_CHECK (rows_of ("lns_def") < 10);
  LNS_CHECK_INT (rows_of ("lns_string"), 1);
  LNS_CHECK_INT (rows_of ("lns_chunk"), 0);
  LnsReport *report = open_report ("a.rep");
  LNS_CHECK_INT (lns_report_info (report)->n_events, n_events);
  for (uint32_t i = 0; i < N; i += 1 + i % 3)
    {
      LNS_CHECK_INT (lns_report_lane_info (report, i)->n_events, 3 * (i % 40 + 1));
      LnsEvent event = event_at (report, i, 2 * (i % 40 + 1));
      LNS_CHECK_INT (event.start_ns, 2000);
      LNS_CHECK_INT (event.extra[1], i);
    }
  lns_report_close (report);
}

static void
test_closed_lane (void)
{
  LnsWriter *writer = create ("a.rep");
  uint32_t lane = add_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  for (uint64_t i = 0; i < 10000; i++)
    {
      LnsEvent event = made_event (i);
      lns_writer_append (writer, lane, &event);
    }
  LnsEvent late = made_event (10000);
  lns_writer_set_open (writer, lane, &late);
  lns_writer_close_lane (writer, lane);
  lns_writer_close_lane (writer, lane);
  lns_writer_close_lane (writer, lane + 1); /* no such lane: nothing happens                    */
  lns_writer_append (writer, lane, &late);
  commit (writer, 1);
  lns_writer_append (writer, lane, &late);
  lns_writer_set_open (writer, lane, NULL);
  commit (writer, 2);
  LNS_CHECK_INT (lns_writer_counts (writer)->n_events, 10000);
  finish (writer, INT64_C (1) << 40);
  LnsReport *report = open_report ("a.rep");
  LNS_CHECK_INT (lns_report_lane_info (report, lane)->n_events, 10001);
  LnsEvent expected = made_event (9999), actual = event_at (report, lane, 9999);
  check_same (&actual, &expected);
  LNS_CHECK_INT (event_at (report, lane, 10000).start_ns, late.start_ns);
  lns_report_close (report);
}

int
main (void)
{
  if (mkdtemp (folder) == NULL)
    return 1;
  LNS_TEST (test_empty_report);
  LNS_TEST (test_strings);
  LNS_TEST (test_definitions);
  LNS_TEST (test_a_report_is_made_by_one_commit);
  LNS_TEST (test_every_commit_is_a_report);
  LNS_TEST (test_a_report_under_way_is_kept);
  LNS_TEST (test_append_keeps_order);
  LNS_TEST (test_open_event);
  LNS_TEST (test_many_lanes);
  LNS_TEST (test_closed_lane);
  unlink (path_of ("a.rep"));
  rmdir (folder);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the virtual tables and the export of one report, as far as golden tests cannot see them. */

#include <sqlite3.h>
#include <unistd.h>

#include "src/export/export.h"
#include "src/tables/sql-module.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_EVENTS 50000

static LnsReport *
make_report (const char *name)
{
  const char *path = fixture_path (name);
  LnsWriter *writer = fixture_writer (path);

  for (unsigned i = 0; i < 4; i++)
    {
      uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      LnsExpectedLane events = fixture_events (LNS_SHAPE_DENSE, N_EVENTS, 1000 * i, i + 1);
      for (uint32_t e = 0; e < events.n; e++)
        lns_writer_append (writer, lane, &events.events[e]);
      free (events.events);
    }
  fixture_finish (writer, INT64_C (1) << 50);
  return fixture_open (path, NULL);
}

static int64_t
query (sqlite3 *db, const char *sql)
{
  sqlite3_stmt *statement = NULL;
  int64_t result = -1;

  if (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step (statement) == SQLITE_ROW)
    result = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  return result;
}

static void
test_lookups_read_little (void)
{
  LnsReport *report = make_report ("lookups.rep");
  sqlite3 *db;

  LNS_CHECK_INT (sqlite3_open (":memory:", &db), SQLITE_OK);
  LNS_CHECK (lns_sql_attach (db, report, NULL));
  LNS_CHECK_INT (query (db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59"), 4 * N_EVENTS);
  uint64_t before = lns_report_counters (report).chunks_decoded;
  LNS_CHECK_INT (query (db, "SELECT eventId FROM NVTX_EVENTS WHERE rowid = 123456"), 123456);
  LNS_CHECK_INT (query (db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventId IN (1, 60000, 199999)"),
                 3);
  int64_t start = query (db, "SELECT start FROM NVTX_EVENTS WHERE rowid = 25000");
  LNS_CHECK (start > 0);
  char sql[160];
  snprintf (sql, sizeof sql,
            "SELECT count(*) FROM NVTX_EVENTS WHERE start >= %" PRId64 " AND start < %" PRId64,
            start, start + 10);
  LNS_CHECK (query (db, sql) >= 1);
  LNS_CHECK (lns_report_counters (report).chunks_decoded - before < 24);
  sqlite3_close (db);
  lns_report_close (report);
}

/* A self join by thread and time is found by searching, not by looking at all pairs. */
static void
test_joins_search (void)
{
  LnsReport *report = make_report ("joins.rep");
  sqlite3 *db;

  LNS_CHECK_INT (sqlite3_open (":memory:", &db), SQLITE_OK);
  LNS_CHECK (lns_sql_attach (db, report, NULL));
  LNS_CHECK_INT (query (db, "SELECT count(*) FROM NVTX_EVENTS a JOIN NVTX_EVENTS b ON b.rowid = "
                            "a.rowid WHERE a.rowid <= 5000"),
                 5000);
  LNS_CHECK_INT (query (db, "SELECT count(*) FROM NVTX_EVENTS a JOIN StringIds s ON s.id = "
                            "a.textId JOIN ThreadNames t ON t.globalTid = a.globalTid"
                            " WHERE a.eventType = 59"),
                 query (db, "SELECT count(*) FROM NVTX_EVENTS a WHERE a.eventType = 59 AND "
                            "textId IS NOT NULL AND EXISTS "
                            "(SELECT 1 FROM ThreadNames t WHERE t.globalTid = a.globalTid)"));
  sqlite3_close (db);
  lns_report_close (report);
}

static void
count_progress (double fraction, void *data)
{
  (*(unsigned *)data)++;
}

static void
test_export_tells_and_stops (void)
{
  LnsReport *report = make_report ("export.rep");
  const LnsExportType *type = lns_export_type_find ("sqlite");
  const char *path = fixture_path ("export.sqlite");
  unsigned n_calls = 0;
  atomic_bool cancel = false;
  LnsExportOptions options = { .cancel = &cancel,
                               .progress = count_progress,
                               .progress_data = &n_calls };
  LnsError error = { 0 };
  sqlite3 *db;

  LNS_CHECK (lns_export (report, type, path, &options, NULL));
  LNS_CHECK (n_calls >= 3);
  LNS_CHECK_INT (sqlite3_open (path, &db), SQLITE_OK);
  LNS_CHECK_INT (query (db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59"), 4 * N_EVENTS);
  sqlite3_close (db);
  LNS_CHECK (!lns_export (report, type, path, NULL, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_IO);
  error.domain = LNS_ERROR_NONE;
  unlink (path);
  cancel = true;
  LNS_CHECK (!lns_export (report, type, path, &options, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  LNS_CHECK (access (path, F_OK) != 0);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_lookups_read_little);
  LNS_TEST (test_joins_search);
  LNS_TEST (test_export_tells_and_stops);
  return lns_tap_done ();
}

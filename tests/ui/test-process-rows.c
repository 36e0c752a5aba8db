/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the rows of processes of imported files: their order, their names, which part of the
 * recording is in view, and the rows of their threads and GPUs. */

#include <sqlite3.h>

#include "src/import/nsys/import.h"
#include "src/analysis/facts/span-sums.h"
#include "ui/model/row-tree.h"
#include "ui/model/view.h"

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

/* A globalTid holds the process above 24 bits and the thread in them: 5 helps and 7 has a GPU; the last has
 * a number that Linux does not give. */
static const char *const statements =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'poll'), (2, 'cudaLaunchKernel'), (3, 'k'), (4, 'thread 7 "
    "(main)');"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "INSERT INTO PROCESSES VALUES (5 << 24, 5, 'helper'), (7 << 24, 7, '/home/me/bin/train'), "
    "(15728640 << 24, 15728640, 'Spans');"
    "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
    "INSERT INTO ThreadNames VALUES (4, 0, 7 << 24 | 7);"
    "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
    "nameId INTEGER);"
    "INSERT INTO OSRT_API VALUES (100, 900, 27, 5 << 24 | 5, 1);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid "
    "INTEGER, domainId INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES (150, 950, 59, 'step', 15728640 << 24 | 15728640, 3);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, "
    "globalTid INTEGER, "
    "correlationId INTEGER, nameId INTEGER, returnValue INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (200, 210, 0, 7 << 24 | 7, 1, 2, 0);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
    "contextId INTEGER, "
    "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName "
    "INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (220, 1000, 0, 1, 7, 1, 7 << 24, 3, 3);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId "
    "INTEGER, "
    "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType "
    "INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (230, 240, 0, 1, 4294967295, 1, 7 << "
    "24, 4);"
    "CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, "
    "stopTime INTEGER);"
    "INSERT INTO ANALYSIS_DETAILS VALUES (0, 1000000, 0, 1000000);";

static LnsReport *
open_made (const char *sql)
{
  g_autofree char *source = g_strdup (fixture_path ("processes.sqlite"));
  g_autofree char *out = g_strdup (fixture_path ("processes.rep"));
  const LnsImportOptions options = { .overwrite = true };
  LnsError error = { 0 };
  sqlite3 *db;

  remove (source);
  LNS_CHECK (sqlite3_open (source, &db) == SQLITE_OK);
  LNS_CHECK (sqlite3_exec (db, sql, NULL, NULL, NULL) == SQLITE_OK);
  sqlite3_close (db);
  LNS_CHECK (lns_import_sqlite (source, out, &options, NULL, &error));
  return fixture_open (out, NULL);
}

static void
rows_are_ordered_and_named (void)
{
  static const char *const wanted[] = {
    "train (7)",  "Stream 7",      "Whole context",         "thread 7 (main)",
    "helper (5)", "main (5)",      "Added by the profiler", "Spans",
    "main",       "NVTX: domain 3"
  };
  LnsReport *report = open_made (statements);
  LnsRowTree *tree = lns_row_tree_new (report);
  gsize n = 0;

  for (uint32_t rank = 0; rank < lns_row_tree_n_rows (tree); rank++)
    {
      const LnsRow *row = lns_row_tree_row (tree, rank);
      if (row->kind != LNS_ROW_ASIDE && row->kind != LNS_ROW_PROCESS &&
          row->kind != LNS_ROW_THREAD && row->kind != LNS_ROW_STREAM && row->kind != LNS_ROW_RANGES)
        continue;
      LNS_CHECK (n < G_N_ELEMENTS (wanted));
      LNS_CHECK_STR (row->label, wanted[n]);
      n++;
    }
  LNS_CHECK_INT (n, G_N_ELEMENTS (wanted));
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* The recording went on for a thousand times as long. */
static void
what_is_in_view_are_the_events (void)
{
  LnsReport *report = open_made (statements);
  LNS_CHECK_INT (lns_report_info (report)->end_ns, 1000000);
  g_autoptr (LnsView) view = lns_view_new (report);

  LNS_CHECK (lns_view_get_start_ns (view) <= 100 && lns_view_get_start_ns (view) > 0);
  LNS_CHECK (lns_view_get_end_ns (view) >= 1000 && lns_view_get_end_ns (view) < 1200);
}

/* Five streams work from 0 to 2^61 ns, the last time that an import keeps: their sum passes int64. */
static const char *const long_work =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (3, 'k');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
    "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "
    "demangledName INTEGER, shortName INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 0, 1 << 61, 0, 1, value, value, 7 << 24, 3, 3 "
    "FROM json_each ('[7, 8, 9, 10, 11]');";

static uint32_t
row_of_kind (const LnsRowTree *tree, LnsRowKind kind)
{
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    if (lns_row_tree_row (tree, row)->kind == kind)
      return row;
  LNS_FAIL ("no row of kind %d", (int)kind);
}

static void
shares_are_of_sums_that_end_at_the_greatest_number (void)
{
  LnsReport *report = open_made (long_work);
  LnsRowTree *tree = lns_row_tree_new (report);
  const uint32_t all = row_of_kind (tree, LNS_ROW_ALL_STREAMS), kernels = all + 1;
  const LnsRowWant want = { kernels, LNS_FACET_BY_KERNEL };
  uint32_t lanes[8];
  LnsSpanSums sums;

  LNS_CHECK_STR (lns_row_tree_row (tree, kernels)->label, "100.0% Kernels");
  const uint32_t n = lns_row_tree_wanted_lanes (tree, report, &want, lanes);
  LNS_CHECK_INT (n, 5);
  LnsFacetSet *set = lns_facet_set_new (report, lanes, n, want.by, NULL, NULL);
  LnsRowTree *split = lns_row_tree_with (tree, report, &want, &set, 1);
  LNS_CHECK_INT (lns_facet_set_facets (set, NULL)->total_ns, INT64_MAX);
  LNS_CHECK_STR (lns_row_tree_row (split, row_of_kind (split, LNS_ROW_FACET))->label, "100.0% k");
  lns_facet_set_unref (set);
  set = lns_facet_set_new (report, lanes, n, LNS_FACET_BY_NOTHING, NULL, NULL);
  LNS_CHECK_INT (lns_facet_set_facets (set, NULL)->total_ns, INT64_MAX);
  LNS_CHECK (lns_span_sums_make (report, &(LnsSpan){ 0, INT64_MAX }, 1, NULL, &sums, NULL));
  LNS_CHECK_INT (sums.gpus.n, 1);
  LNS_CHECK_INT (sums.gpus.items[0].ns, INT64_MAX);
  lns_span_sums_clear (&sums);
  lns_facet_set_unref (set);
  lns_row_tree_unref (split);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* It was not recorded when threads of process 7 ran: its main thread launches work, 71 to 73 are in calls all the time, 74 is for a
 * tenth of it, and 75 has a range. */
static const char *const waiting =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'poll'), (2, 'cudaLaunchKernel');"
    "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
    "nameId INTEGER);"
    "INSERT INTO OSRT_API SELECT 1000 * step.value, 1000 * step.value + iif (tid.value = 74, 100, "
    "990), 27, 7 << 24 | tid.value, 1 FROM json_each ('[0, 1, 2, 3]') AS step, "
    "json_each ('[71, 72, 73, 74, 75]') AS tid;"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid "
    "INTEGER, domainId INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES (150, 950, 59, 'step', 7 << 24 | 75, 0);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, "
    "globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (200, 210, 0, 7 << 24 | 7, 1, 2, 0);";

static void
threads_that_are_in_calls_all_the_time_are_quiet (void)
{
  LnsReport *report = open_made (waiting);
  LnsRowTree *tree = lns_row_tree_new (report);
  const uint32_t together = row_of_kind (tree, LNS_ROW_THREADS);
  g_autoptr (GString) quiet = g_string_new (NULL);

  LNS_CHECK_STR (lns_row_tree_row (tree, together)->label, "3 quiet threads");
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    if (lns_row_tree_row (tree, row)->kind == LNS_ROW_THREAD &&
        lns_row_tree_row (tree, row)->parent == together)
      g_string_append_printf (quiet, "%s ", lns_row_tree_row (tree, row)->label);
  LNS_CHECK_STR (quiet->str, "Thread (71) Thread (72) Thread (73) ");
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* Process 7 runs for half of the time, 21 to 23 once and shortly. So does 24, but it has a range; 25 runs as little, but is there all the
 * time, as who waits for others is. */
static const char *const short_lived =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER, "
    "threadState INTEGER);"
    "INSERT INTO SCHED_EVENTS SELECT 1000 * value / 2, 0, 1 - value % 2, 7 << 24 | 7, NULL"
    " FROM json_each ('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]');"
    "INSERT INTO SCHED_EVENTS SELECT 1000 * (value - 20) + iif (edge, 10, 0), 1, 1 - edge,"
    " value << 24 | value, NULL FROM json_each ('[21, 22, 23, 24, 25]'),"
    " (SELECT 0 AS edge UNION ALL SELECT 1);"
    "INSERT INTO SCHED_EVENTS VALUES (9000, 1, 1, 25 << 24 | 25, NULL),"
    " (9010, 1, 0, 25 << 24 | 25, NULL);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid "
    "INTEGER, domainId INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES (4001, 4005, 59, 'step', 24 << 24 | 24, 0);";

static void
processes_that_come_and_go_are_quiet (void)
{
  LnsReport *report = open_made (short_lived);
  LnsRowTree *tree = lns_row_tree_new (report);
  const uint32_t together = row_of_kind (tree, LNS_ROW_PROCESSES);
  g_autoptr (GString) quiet = g_string_new (NULL), other = g_string_new (NULL);

  LNS_CHECK_STR (lns_row_tree_row (tree, together)->label, "3 quiet processes");
  LNS_CHECK (!lns_row_tree_row (tree, together)->expanded);
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    if (lns_row_tree_row (tree, row)->kind == LNS_ROW_PROCESS)
      g_string_append_printf (lns_row_tree_row (tree, row)->parent == together ? quiet : other,
                              "%u ", lns_row_tree_row (tree, row)->process);
  LNS_CHECK_STR (quiet->str, "1 2 3 ");
  LNS_CHECK_STR (other->str, "4 0 5 ");
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (rows_are_ordered_and_named);
  LNS_TEST (what_is_in_view_are_the_events);
  LNS_TEST (shares_are_of_sums_that_end_at_the_greatest_number);
  LNS_TEST (threads_that_are_in_calls_all_the_time_are_quiet);
  LNS_TEST (processes_that_come_and_go_are_quiet);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What lanes, names and diagnostics become of the tables about the operating system and GPU metrics. */

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/lns-import.h"
#include "src/schema/lns-call-chain.h"
#include "tests/lns-tap.h"
#include "tests/unit/report-fixture.h"

#define THREAD "281474993487873" /* machine 1, process 1, thread 1                                */

static const char *const statements =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (3, 'leaf'), (4, 'caller'), (5, 'libx.so'), (6, 'write');"
    "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER);"
    "INSERT INTO SCHED_EVENTS VALUES (100, 3, 1, " THREAD "), (250, 3, 0, " THREAD
    "), (400, 5, 1, " THREAD "), (120, 4, 1, 281474993487874);"
    "CREATE TABLE COMPOSITE_EVENTS (id INTEGER PRIMARY KEY, start INTEGER, cpu INTEGER, "
    "threadState "
    "INTEGER, globalTid INTEGER, cpuCycles INTEGER);"
    "INSERT INTO COMPOSITE_EVENTS VALUES (1, 150, 3, 1, " THREAD ", 9), (2, 160, 3, 1, " THREAD
    ", 9);"
    "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, stackDepth "
    "INTEGER);"
    "INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 4, 5, 1), (1, 3, 5, 0), (2, 4, 5, 0);"
    "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
    "nameId "
    "INTEGER, returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER);"
    "INSERT INTO OSRT_API VALUES (110, 130, 27, " THREAD ", 6, -1, 0, 0);"
    "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT);"
    "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 1, 'SMs Active');"
    "CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId "
    "INTEGER, value INTEGER);"
    "INSERT INTO GPU_METRICS VALUES (7, 100, 256, 1, 50), (8, 200, 256, 1, 70), (8, 200, 256, 2, "
    "1);"
    "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, "
    "severity "
    "INTEGER, text TEXT, globalPid INTEGER);"
    "INSERT INTO DIAGNOSTIC_EVENT VALUES (5, 1, 2, 2, 'no counters', -144115188075855872);";

static LnsReport *
import_report (void)
{
  static char out[256];
  char source[256];
  LnsError error = { 0 };
  sqlite3 *db;

  if (out[0] != '\0')
    return fixture_open (out, NULL);
  snprintf (source, sizeof source, "%s", fixture_path ("made.sqlite"));
  snprintf (out, sizeof out, "%s", fixture_path ("made.rep"));
  LNS_CHECK (sqlite3_open (source, &db) == SQLITE_OK &&
             sqlite3_exec (db, statements, NULL, NULL, NULL) == SQLITE_OK);
  sqlite3_close (db);
  LNS_CHECK (lns_import_sqlite (source, out, NULL, NULL, &error));
  return fixture_open (out, NULL);
}

/* The lane of the N-th track of KIND. */
static uint32_t
lane_of (LnsReport *report, LnsTrackKind kind, unsigned n)
{
  uint32_t n_lanes, n_tracks;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);

  for (uint32_t i = 0; i < n_lanes; i++)
    if (tracks[lanes[i].track].kind == kind && n-- == 0)
      return i;
  LNS_CHECK (false);
  return 0;
}

static LnsEvent
event_of (LnsReport *report, uint32_t lane, uint64_t ordinal)
{
  LnsEvent event = { 0 };
  LNS_CHECK (lns_report_event (report, lane, ordinal, &event, NULL));
  return event;
}

#define CHECK_NAME(event, wanted)                                                                  \
 LNS_CHECK_STR (lns_report_string (report, (event).name, NULL), wanted)

static void
test_times_on_cpus (void)
{
  LnsReport *report = import_report ();
  uint32_t lane = lane_of (report, LNS_TRACK_SCHED, 0);
  LnsEvent in = event_of (report, lane, 0), out = event_of (report, lane, 1);

  LNS_CHECK_INT (in.start_ns, 100);
  LNS_CHECK_INT (in.duration_ns, 150);
  CHECK_NAME (in, "CPU 3");
  LNS_CHECK_INT (out.start_ns, 250);
  LNS_CHECK_INT (out.duration_ns, 0);
  CHECK_NAME (out, "");
  LNS_CHECK_INT (lns_report_lane_info (report, lane)->busy_ns, 150);
  LNS_CHECK_INT (lns_report_lane_info (report, lane)->n_events, 3);
  LNS_CHECK_INT (lns_report_lane_info (report, lane_of (report, LNS_TRACK_SCHED, 1))->n_events, 1);
  lns_report_close (report);
}

static void
test_samples_and_calls (void)
{
  LnsReport *report = import_report ();
  uint32_t lane = lane_of (report, LNS_TRACK_CPU_SAMPLES, 0);
  LnsEvent sample = event_of (report, lane, 0);
  unsigned n;

  CHECK_NAME (sample, "leaf");
  CHECK_NAME (event_of (report, lane, 1), "caller");
  LNS_CHECK_STR (lns_call_chain_table (LNS_LANE_CPU_SAMPLE), "SAMPLING_CALLCHAINS");
  LnsCallFrame *frames = lns_call_chain_read (report, "SAMPLING_CALLCHAINS", 1, &n);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK_STR (lns_report_string (report, frames[0].symbol, NULL), "leaf");
  LNS_CHECK_STR (lns_report_string (report, frames[1].symbol, NULL), "caller");
  LNS_CHECK_STR (lns_report_string (report, frames[1].module, NULL), "libx.so");
  free (frames);
  LNS_CHECK (lns_call_chain_read (report, "SAMPLING_CALLCHAINS", 3, &n) == NULL && n == 0);
  LNS_CHECK (lns_call_chain_read (report, "OSRT_CALLCHAINS", 1, &n) == NULL && n == 0);
  lane = lane_of (report, LNS_TRACK_OS_CALLS, 0);
  CHECK_NAME (event_of (report, lane, 0), "write");
  LNS_CHECK_INT (event_of (report, lane, 0).duration_ns, 20);
  lns_report_close (report);
}

static void
test_metrics_and_diagnostics (void)
{
  LnsReport *report = import_report ();
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  const LnsTrack *tracks = lns_report_tracks (report, &n);
  uint32_t lane = lane_of (report, LNS_TRACK_GPU_METRIC, 0);
  const LnsTrack *track = &tracks[lanes[lane].track];

  LNS_CHECK_STR (lns_report_string (report, track->name, NULL), "SMs Active");
  LNS_CHECK_INT (track->number, 256);
  LNS_CHECK_INT (track->metric, 1);
  LNS_CHECK_INT (lns_report_lane_info (report, lane)->n_events, 2);
  LnsEvent sample = event_of (report, lane, 1);
  LNS_CHECK_INT (sample.extra[lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE)], 70);
  LNS_CHECK_INT (tracks[lanes[lane_of (report, LNS_TRACK_GPU_METRIC, 1)].track].name, 0);
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (diagnostics->severity, LNS_SEVERITY_WARNING);
  LNS_CHECK_INT (diagnostics->process, LNS_ID_NONE);
  LNS_CHECK_STR (lns_report_string (report, diagnostics->text, NULL), "no counters");
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_times_on_cpus);
  LNS_TEST (test_samples_and_calls);
  LNS_TEST (test_metrics_and_diagnostics);
  return lns_tap_done ();
}

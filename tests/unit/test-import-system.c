/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests which lanes, names and diagnostics an import makes of the tables about the operating
 * system and GPU metrics. */

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/nsys/import.h"
#include "src/tables/call-chain.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"
#include "tests/unit/system-fixture.h"

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
  LnsReport *report = system_fixture_open ();
  uint32_t lane = lane_of (report, LNS_TRACK_SCHED, 0);
  LnsEvent in = event_of (report, lane, 0), out = event_of (report, lane, 1);

  LNS_CHECK_INT (in.start_ns, 100);
  LNS_CHECK_INT (in.duration_ns, 150);
  CHECK_NAME (in, "CPU 3");
  LNS_CHECK_INT (out.start_ns, 250);
  LNS_CHECK_INT (out.duration_ns, 0);
  CHECK_NAME (out, "");
  /* The last row has it run to the last row of all, which is this one; the other thread's ran on its own CPU until then. */
  LNS_CHECK_INT (event_of (report, lane, 2).duration_ns, 0);
  LNS_CHECK_INT (event_of (report, lane, 2).flags, LNS_EVENT_OPEN_END);
  LnsEvent other = event_of (report, lane_of (report, LNS_TRACK_SCHED, 1), 0);
  LNS_CHECK_INT (other.duration_ns, 400 - 120);
  LNS_CHECK_INT (other.flags, LNS_EVENT_OPEN_END);
  LNS_CHECK_INT (lns_report_lane_info (report, lane)->busy_ns, 150);
  LNS_CHECK_INT (lns_report_lane_info (report, lane)->n_events, 3);
  LNS_CHECK_INT (lns_report_lane_info (report, lane_of (report, LNS_TRACK_SCHED, 1))->n_events, 1);
  lns_report_close (report);
}

/* nsys calls an unknown function by its address; more is known of it than that, and less than the module's whole path. */
static void
test_samples_in_unknown_functions (void)
{
  char source[256], out[256];
  sqlite3 *db;
  snprintf (source, sizeof source, "%s", fixture_path ("unknown.sqlite"));
  snprintf (out, sizeof out, "%s", fixture_path ("unknown.rep"));
  LNS_CHECK_INT (sqlite3_open (source, &db), SQLITE_OK);
  LNS_CHECK_INT (
      sqlite3_exec (
          db,
          "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
          "INSERT INTO StringIds VALUES (1, '0x7f00'), (2, '/usr/lib/libfast.so.5'), "
          "(3, '[kernel.kallsyms]'), (4, '0xffffffff81252feb'), (5, 'known');"
          "CREATE TABLE COMPOSITE_EVENTS (id INTEGER PRIMARY KEY, start INTEGER, cpu INTEGER, "
          "threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER);"
          "INSERT INTO COMPOSITE_EVENTS VALUES (1, 150, 3, 1, 281474993487873, 9), "
          "(2, 160, 3, 1, 281474993487873, 9), (3, 170, 3, 1, 281474993487873, 9);"
          "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, "
          "stackDepth INTEGER);"
          "INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 1, 2, 0), (2, 4, 3, 0), (3, 5, 2, 0);",
          NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close (db);
  LNS_CHECK (lns_import_sqlite (source, out, NULL, NULL, NULL));
  LnsReport *report = fixture_open (out, NULL);
  const uint32_t lane = lane_of (report, LNS_TRACK_CPU_SAMPLES, 0);
  CHECK_NAME (event_of (report, lane, 0), "libfast.so.5+0x…");
  CHECK_NAME (event_of (report, lane, 1), "[kernel.kallsyms]+0x…");
  CHECK_NAME (event_of (report, lane, 2), "known");
  lns_report_close (report);
}

static void
test_samples_and_calls (void)
{
  LnsReport *report = system_fixture_open ();
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
  lane = lane_of (report, LNS_TRACK_SYSTEM_CALLS, 0);
  CHECK_NAME (event_of (report, lane, 0), "write");
  LNS_CHECK_INT (event_of (report, lane, 0).duration_ns, 16);
  lns_report_close (report);
}

static void
test_metrics_and_diagnostics (void)
{
  LnsReport *report = system_fixture_open ();
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

static void
test_which_gpu_was_waited_for (void)
{
  static const char statements[] =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
      "globalPid);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 1, 2, 7, 16777216);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, "
      "streamId, globalPid, syncType);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (20, 30, 0, 2, 7, 16777216, 3), "
      "(40, 50, 0, 9, 7, 16777216, 3);";
  const struct
  {
    uint32_t context, device;
  } expected[] = { { 2, 1 }, { 9, 0 } }; /* of the other context nothing else is known            */
  char source[256], out[256];
  sqlite3 *db;

  snprintf (source, sizeof source, "%s", fixture_path ("sync.sqlite"));
  snprintf (out, sizeof out, "%s", fixture_path ("sync.rep"));
  LNS_CHECK_INT (sqlite3_open (source, &db), SQLITE_OK);
  LNS_CHECK_INT (sqlite3_exec (db, statements, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close (db);
  LNS_CHECK (lns_import_sqlite (source, out, NULL, NULL, NULL));
  LnsReport *report = fixture_open (out, NULL);
  const LnsCudaContext *contexts = lns_report_contexts (report, NULL);
  const LnsCudaStream *streams = lns_report_streams (report, NULL);
  const LnsCudaDevice *devices = lns_report_devices (report, NULL);
  for (unsigned i = 0; i < 2; i++)
    {
      const uint32_t lane = lane_of (report, LNS_TRACK_CUDA_SYNC, i);
      const LnsTrack *track =
          &lns_report_tracks (report, NULL)[lns_report_lanes (report, NULL)[lane].track];
      LNS_CHECK_INT (contexts[streams[track->stream].context].number, expected[i].context);
      LNS_CHECK_INT (devices[track->device].number, expected[i].device);
    }
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_times_on_cpus);
  LNS_TEST (test_samples_in_unknown_functions);
  LNS_TEST (test_samples_and_calls);
  LNS_TEST (test_metrics_and_diagnostics);
  LNS_TEST (test_which_gpu_was_waited_for);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests parts of reports on one that is counted by hand. */

#include <string.h>
#include <unistd.h>

#include "src/analysis/filter.h"
#include "src/analysis/rules/doctor.h"
#include "src/analysis/why/why.h"
#include "src/extract/extract.h"
#include "src/extract/selection.h"
#include "src/extract/types.h"
#include "src/tables/lanes.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define MS INT64_C (1000000)

static LnsWriter *writer;

static uint32_t
add_lane (LnsTrackKind track_kind, LnsLaneKind kind, uint32_t process, uint32_t device)
{
  const uint32_t track =
      lns_writer_add_track (writer, &(LnsTrack){ .kind = track_kind,
                                                 .process = process,
                                                 .thread = device == LNS_ID_NONE ? 0 : LNS_ID_NONE,
                                                 .domain = LNS_ID_NONE,
                                                 .device = device,
                                                 .stream = LNS_ID_NONE });
  return lns_writer_add_lane (writer, &(LnsLane){ .track = track, .kind = kind });
}

static void
append (uint32_t lane, LnsLaneKind kind, int64_t start_ns, int64_t end_ns, uint64_t correlation)
{
  LnsEvent event = { .start_ns = start_ns, .duration_ns = end_ns - start_ns };

  event.name = lns_writer_string (writer, "cudaLaunchKernel", 16);
  event.extra[lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION)] = correlation;
  lns_writer_append (writer, lane, &event);
}

/* Process 0 launches kernels of GPU 3 at 100, 300 and 500 ms, which run from 200 to 250, 450 to 550 and 700 to 750; GPU 4 has a kernel
 * from 600 to 610 that nobody launched. Another process has a call at 550. 7 events were lost from 0 to 50 ms, 9 at a time that is not
 * known. */
static LnsReport *
write_report (void)
{
  const char *path = fixture_path ("whole.rep");
  const LnsProcess other = {
    .pid = 77, .parent = LNS_ID_NONE, .start_ns = LNS_TIME_UNKNOWN, .end_ns = LNS_TIME_UNKNOWN
  };

  writer = fixture_writer (path);
  const uint32_t process = lns_writer_add_process (writer, &other);
  const uint32_t device = lns_writer_add_device (writer, &(LnsCudaDevice){ .number = 3 }),
                 second = lns_writer_add_device (writer, &(LnsCudaDevice){ .number = 4 }),
                 calls = add_lane (LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, 0, LNS_ID_NONE),
                 kernels = add_lane (LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, 0, device),
                 stray = add_lane (LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, 0, second),
                 others = add_lane (LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, process, LNS_ID_NONE);
  lns_writer_set_meta (writer, "trace_asked", "cuda,mpi");
  lns_writer_set_meta (writer, "trace", "cuda,mpi");
  lns_writer_add_loss (writer, &(LnsLoss){ .thread = LNS_ID_NONE, .last_ns = 50 * MS, .marks = 7 });
  lns_writer_add_loss (writer, &(LnsLoss){ .thread = LNS_ID_NONE,
                                           .first_ns = LNS_TIME_UNKNOWN,
                                           .last_ns = LNS_TIME_UNKNOWN,
                                           .marks = 9 });
  append (calls, LNS_LANE_CUDA_API, 100 * MS, 101 * MS, 1);
  append (calls, LNS_LANE_CUDA_API, 300 * MS, 301 * MS, 2);
  append (calls, LNS_LANE_CUDA_API, 500 * MS, 501 * MS, 3);
  append (kernels, LNS_LANE_CUDA_KERNEL, 200 * MS, 250 * MS, 1);
  append (kernels, LNS_LANE_CUDA_KERNEL, 450 * MS, 550 * MS, 2);
  append (kernels, LNS_LANE_CUDA_KERNEL, 700 * MS, 750 * MS, 3);
  append (stray, LNS_LANE_CUDA_KERNEL, 600 * MS, 610 * MS, 9);
  append (others, LNS_LANE_CUDA_API, 550 * MS, 551 * MS, 3);
  fixture_finish (writer, 1000 * MS);
  return fixture_open (path, NULL);
}

static LnsExtract
all_of_it (void)
{
  return (LnsExtract){ .start_ns = INT64_MIN, .end_ns = INT64_MAX };
}

/* The text of the diagnostic CODE of REPORT, or "". */
static const char *
told (LnsReport *report, const char *code)
{
  uint32_t n;
  const LnsDiagnostic *all = lns_report_diagnostics (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (strcmp (lns_report_string (report, all[i].code, NULL), code) == 0)
      return lns_report_string (report, all[i].text, NULL);
  return "";
}

/* The part of REPORT that WANTED names, which is opened. */
static LnsReport *
part_of (LnsReport *report, const LnsExtract *wanted)
{
  const char *path = fixture_path ("part.rep");
  LnsExtract again = *wanted;
  LnsError error = { 0 };

  again.overwrite = true;
  LNS_CHECK (lns_extract_report (report, &again, path, &error));
  LNS_CHECK_STR (error.message, "");
  return fixture_open (path, NULL);
}

static void
test_a_span (void)
{
  LnsReport *report = write_report ();
  LnsExtract wanted = all_of_it ();
  int64_t start_ns = 0, end_ns = 0;
  LnsFinding *findings;
  LnsEvent event;
  uint32_t n;
  size_t n_findings;

  wanted.start_ns = 400 * MS;
  wanted.end_ns = 520 * MS;
  LnsReport *part = part_of (report, &wanted);
  /* The kernel from 450 on, which ends outside, and the call at 500. */
  LNS_CHECK_INT (lns_report_info (part)->n_events, 2);
  LNS_CHECK_INT (lns_report_info (part)->state, LNS_STATE_COMPLETE);
  LNS_CHECK (lns_report_event (part, 1, 0, &event, NULL));
  LNS_CHECK_INT (event.start_ns, 450 * MS);
  LNS_CHECK_INT (event.duration_ns, 100 * MS);
  LNS_CHECK (lns_part_of_report (part, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, 400 * MS);
  LNS_CHECK_INT (end_ns, 520 * MS);
  LNS_CHECK_INT (lns_recorded_ns (part), 120 * MS);
  LNS_CHECK_INT (lns_report_info (part)->known_ns, 520 * MS);
  LNS_CHECK_STR (lns_report_meta (part, "trace"), "cuda,mpi");
  LNS_CHECK_STR (told (part, "LNS-PART-001"),
                 "this report is the part from 400 ms to 520 ms of whole.rep, which "
                 "tells of 1.000 s; what came before and after was left out");
  LNS_CHECK_STR (told (part, "LNS-PART-002"), "");
  LNS_CHECK_STR (told (part, "LNS-PART-003"),
                 "1 operations of GPUs in this part were launched before it, and calls in it "
                 "launched 1 that came behind it: their other ends were left out");
  /* What was lost before the part is not missing in it. */
  LNS_CHECK_INT (lns_report_info (part)->n_lost, 9);
  /* Nobody may say that MPI was not used. */
  LNS_CHECK (lns_doctor_examine (part, &findings, &n_findings, NULL));
  for (size_t i = 0; i < n_findings; i++)
    LNS_CHECK (strcmp (findings[i].code, "LNS-DOCTOR-010") != 0);
  free (findings);
  lns_report_tracks (part, &n);
  LNS_CHECK_INT (n, 4);
  LNS_CHECK (!lns_part_of_report (report, &start_ns, &end_ns));
  lns_report_close (part);
  lns_report_close (report);
}

/* Its verdict is of its span: before and after it nothing is idle. */
static void
test_verdict (void)
{
  LnsReport *report = write_report ();
  LnsExtract wanted = all_of_it ();

  wanted.start_ns = 440 * MS;
  wanted.end_ns = 560 * MS;
  LnsReport *part = part_of (report, &wanted);
  LnsTables *tables = lns_tables_new (part, NULL);
  LnsWhy *why =
      lns_why_run (tables, &(LnsWhyOptions){ .span = lns_filter_span (part) }, NULL, NULL);
  LNS_CHECK (why != NULL);
  for (size_t i = 0; why != NULL && i < why->ledgers.n; i++)
    {
      const LnsLedger *ledger = &why->ledgers.items[i];
      LNS_CHECK (ledger->span.start_ns >= 440 * MS && ledger->span.end_ns <= 560 * MS);
      if (!ledger->is_device)
        continue;
      LNS_CHECK_INT (ledger->busy_ns, 100 * MS);
      /* Neither the program nor its GPU started or ended here. */
      LNS_CHECK_INT (ledger->cause_ns[LNS_CAUSE_START_UP], 0);
      LNS_CHECK_INT (ledger->cause_ns[LNS_CAUSE_TEAR_DOWN], 0);
    }
  lns_why_free (why);
  lns_tables_free (tables);
  lns_report_close (part);
  lns_report_close (report);
}

static void
test_rows (void)
{
  LnsReport *report = write_report ();
  const uint32_t gpu = 4, no_gpu = 5;
  const int32_t pid = 77, no_pid = 78;
  LnsExtract wanted = all_of_it (), none;
  LnsError error = { 0 };
  uint32_t n;

  wanted.devices = &gpu;
  wanted.n_devices = 1;
  LnsReport *part = part_of (report, &wanted);
  /* All calls, and one of the two rows of GPUs. */
  LNS_CHECK_INT (lns_report_info (part)->n_events, 5);
  LNS_CHECK_INT (lns_report_tracks (part, &n)[1].device, 1);
  LNS_CHECK_INT (n, 3);
  LNS_CHECK_STR (told (part, "LNS-PART-001"), "");
  LNS_CHECK_STR (told (part, "LNS-PART-002"),
                 "this report has 3 of 4 tracks of whole.rep; the others were left out, and "
                 "nothing is known of what they tell");
  lns_report_close (part);
  wanted = all_of_it ();
  wanted.pids = &pid;
  wanted.n_pids = 1;
  part = part_of (report, &wanted);
  LNS_CHECK_INT (lns_report_info (part)->n_events, 1);
  lns_report_close (part);

  none = wanted;
  none.pids = &no_pid;
  LNS_CHECK (!lns_extract_report (report, &none, fixture_path ("none.rep"), &error));
  LNS_CHECK_STR (error.message,
                 "whole.rep has no process 78; `lanescope info` lists its processes");
  none = all_of_it ();
  none.devices = &no_gpu;
  none.n_devices = 1;
  error = (LnsError){ 0 };
  LNS_CHECK (!lns_extract_report (report, &none, fixture_path ("none.rep"), &error));
  LNS_CHECK_STR (error.message, "whole.rep has no GPU 5; `lanescope info` lists its GPUs");
  LNS_CHECK (access (fixture_path ("none.rep"), F_OK) != 0);
  lns_report_close (report);
}

/* A part of a part has what both have. */
static void
test_part_of_a_part (void)
{
  LnsReport *report = write_report ();
  LnsExtract wanted = all_of_it ();
  LnsError error = { 0 };
  int64_t start_ns = 0, end_ns = 0;

  wanted.start_ns = 400 * MS;
  wanted.end_ns = 560 * MS;
  const char *first_path = fixture_path ("first.rep");
  LNS_CHECK (lns_extract_report (report, &wanted, first_path, NULL));
  LnsReport *first = fixture_open (first_path, NULL);
  wanted.start_ns = 460 * MS;
  wanted.end_ns = INT64_MAX;
  LnsReport *second = part_of (first, &wanted);
  LNS_CHECK (lns_part_is_cut_at_start (second) && lns_part_is_cut_at_end (second));
  LNS_CHECK (!lns_part_is_cut_at_start (report) && !lns_part_is_cut_at_end (report));
  LNS_CHECK (lns_part_of_report (second, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, 460 * MS);
  LNS_CHECK_INT (end_ns, 560 * MS);
  LNS_CHECK_INT (lns_report_info (second)->n_events, 3);
  lns_report_close (second);
  wanted.start_ns = 561 * MS;
  LNS_CHECK (!lns_extract_report (first, &wanted, fixture_path ("none.rep"), &error));
  LNS_CHECK_STR (error.message, "first.rep has nothing in that time; it tells of the time from "
                                "400 ms to 560 ms");
  lns_report_close (first);
  lns_report_close (report);
}

/* A report of four calls, main > a, main > b > c (inlined in b) and main > b, and of three samples: in a at 10 ms, in b at 20 ms, and in
 * b's inlined call at 30 ms. */
static LnsReport *
write_samples (void)
{
  static const char *const names[] = { "main", "a", "b", "c" };
  const char *path = fixture_path ("samples.rep");
  uint32_t frames[4], nodes[3];

  writer = fixture_writer (path);
  for (uint32_t i = 0; i < 4; i++)
    frames[i] = lns_writer_add_frame (
        writer, &(LnsStackFrame){ .module = LNS_ID_NONE,
                                  .symbol = lns_writer_string (writer, names[i], strlen (names[i])),
                                  .is_resolved = 1,
                                  .innermost = i == 2 ? 4 : 0,
                                  .inlined_in = i == 3 ? 3 : 0 });
  nodes[0] = lns_writer_add_call_node (writer, &(LnsCallNode){ LNS_ID_NONE, frames[0] });
  nodes[1] = lns_writer_add_call_node (writer, &(LnsCallNode){ nodes[0], frames[1] });
  nodes[2] = lns_writer_add_call_node (writer, &(LnsCallNode){ nodes[0], frames[2] });
  const uint32_t lane = add_lane (LNS_TRACK_CPU_SAMPLES, LNS_LANE_CPU_SAMPLE, 0, LNS_ID_NONE);
  for (int i = 0; i < 3; i++)
    {
      LnsEvent event = { .start_ns = (i + 1) * 10 * MS };
      event.extra[lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN)] =
          1 + nodes[i == 0 ? 1 : 2];
      lns_writer_append (writer, lane, &event);
    }
  fixture_finish (writer, 40 * MS);
  return fixture_open (path, NULL);
}

/* Of call chains, a part has those of its samples, and of the names of functions theirs. */
static void
test_call_chains (void)
{
  LnsReport *report = write_samples ();
  LnsExtract wanted = all_of_it ();
  LnsEvent event;
  uint32_t n_nodes, n_frames;

  wanted.start_ns = 15 * MS;
  LnsReport *part = part_of (report, &wanted);
  const LnsCallNode *nodes = lns_report_call_nodes (part, &n_nodes);
  const LnsStackFrame *frames = lns_report_frames (part, &n_frames);
  LNS_CHECK_INT (n_nodes, 2);
  LNS_CHECK_INT (n_frames, 3);
  LNS_CHECK (lns_report_event (part, 0, 0, &event, NULL));
  LNS_CHECK_INT (event.start_ns, 20 * MS);
  LNS_CHECK_INT (event.extra[lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN)], 2);
  LNS_CHECK_INT (nodes[1].parent, 0);
  LNS_CHECK_STR (lns_report_string (part, frames[nodes[0].frame].symbol, NULL), "main");
  LNS_CHECK_STR (lns_report_string (part, frames[nodes[1].frame].symbol, NULL), "b");
  LNS_CHECK_STR (
      lns_report_string (part, frames[frames[nodes[1].frame].innermost - 1].symbol, NULL), "c");
  LNS_CHECK_INT (frames[2].inlined_in, 2);
  /* The name of the function that is gone is one byte. */
  const uint32_t a = lns_report_frames (report, NULL)[1].symbol;
  LNS_CHECK_STR (lns_report_string (report, a, NULL), "a");
  LNS_CHECK_STR (lns_report_string (part, a, NULL), "?");
  lns_report_close (part);
  lns_report_close (report);
}

static void
test_selections (void)
{
  LnsReport *report = write_report ();
  LnsExtract wanted = all_of_it ();
  LnsSelection selection;

  LNS_CHECK_STR (lns_selection_title (report), "whole.rep");
  LNS_CHECK (lns_selection_find (report, &wanted, &selection, NULL));
  LNS_CHECK (!selection.is_cut && selection.lanes == NULL);
  LNS_CHECK_INT (selection.span.start_ns, 100 * MS);
  LNS_CHECK_INT (selection.span.end_ns, 1000 * MS);
  lns_selection_clear (&selection);
  LNS_CHECK_STR (lns_extract_type_find ("rep")->place->name, "rep");
  LNS_CHECK (lns_extract_type_find ("sqlite") == NULL);
  lns_report_close (report);
}

static void
test_what_may_not_be (void)
{
  LnsReport *report = write_report ();
  LnsExtract wanted = all_of_it ();
  const char *path = fixture_path ("kept.rep");
  atomic_bool cancel = true;

  LNS_CHECK (lns_extract_report (report, &wanted, path, NULL));
  LNS_CHECK (!lns_extract_report (report, &wanted, path, NULL));
  wanted.overwrite = true;
  LNS_CHECK (lns_extract_report (report, &wanted, path, NULL));
  LNS_CHECK (!lns_extract_report (report, &wanted, lns_report_info (report)->path, NULL));
  wanted.cancel = &cancel;
  wanted.start_ns = 400 * MS;
  LNS_CHECK (!lns_extract_report (report, &wanted, fixture_path ("cancelled.rep"), NULL));
  LNS_CHECK (access (fixture_path ("cancelled.rep"), F_OK) != 0);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_a_span);
  LNS_TEST (test_verdict);
  LNS_TEST (test_rows);
  LNS_TEST (test_part_of_a_part);
  LNS_TEST (test_call_chains);
  LNS_TEST (test_selections);
  LNS_TEST (test_what_may_not_be);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests reports of capture ranges: which records belong to one, and how long its end waits for them. Batches are those of
 * the collector, on the test's own clock: ticks are ns. */

#include "capture/session/record/recorder-parts.h"

#include "capture/wire/cuda-layout.h"
#include "capture/wire/patience.h"
#include "src/store/read/report.h"
#include "tests/tap.h"
#include "tests/unit/record-text.h"
#include "tests/unit/report-fixture.h"

#define MS       INT64_C (1000000)
#define BEGIN_NS (1000000 * MS)
#define N_MAX    4

static LnsRecorder recorder;
static RecordText text;
static LnsBatch *batch;
static char paths[N_MAX][200];
static unsigned n_told; /* ends of ranges */

static LnsWriter *
create_report (void *data, unsigned number, char **ret_path, LnsError *error)
{
  const LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = BEGIN_NS };
  char name[32];
  snprintf (name, sizeof name, "range%u.rep", number);
  snprintf (paths[number], sizeof paths[number], "%s", fixture_path (name));
  *ret_path = strdup (paths[number]);
  return lns_writer_create (paths[number], &options, error);
}

/* Begins the batch that was read up to AT_MS; samples of CPUs are there up to SAMPLED_MS (-1: there are none). */
static void
begin_batch (int64_t at_ms, int64_t sampled_ms)
{
  batch = calloc (1, sizeof (LnsBatch));
  batch->pair = (LnsWireClockPair){ .ticks = (uint64_t)(BEGIN_NS + at_ms * MS),
                                    .monotonic_ns = BEGIN_NS + at_ms * MS };
  batch->sampled_ns = sampled_ms < 0 ? 0 : BEGIN_NS + sampled_ms * MS;
}

/* Adds what was recorded in TEXT as records of stream STREAM of PROCESS. */
static void
add_piece (uint32_t process, uint32_t stream)
{
  uint8_t *bytes = lns_batch_reserve (batch, text.n_bytes);
  memcpy (bytes, text.bytes, text.n_bytes);
  lns_batch_add (batch,
                 &(LnsDecoderSource){ .process = process, .stream = stream, .tid = 10 + stream },
                 text.n_bytes, (LnsBegun){ 0 });
  text.n_bytes = 0;
}

static void
add_event (LnsBatchEvent event)
{
  LNS_CHECK (lns_batch_events_add (&batch->events, &event));
}

static void
end_batch (void)
{
  _lns_kept_take (&recorder.kept, batch);
  batch = NULL;
}

static uint64_t
at (int64_t us)
{
  return (uint64_t)(BEGIN_NS + us * 1000);
}

static void
add_record (void *record, size_t n_bytes)
{
  const uint32_t n = (uint32_t)((n_bytes + 15) / 16 * 16);
  memcpy ((uint8_t *)record + sizeof (LnsWireHead), &n, sizeof n);
  memset (text.bytes + text.n_bytes, 0, n);
  memcpy (text.bytes + text.n_bytes, record, n_bytes);
  text.n_bytes += n;
}

static void
add_edge (int64_t us, bool is_end)
{
  LnsWireRangeBytes edge = { .head = { .type = LNS_WIRE_RANGE, .ticks = at (us) },
                             .is_end = is_end };
  add_record (&edge, sizeof edge);
}

static void
add_call (int64_t us, uint32_t correlation, unsigned roles)
{
  LnsWireCudaApiBytes call = { .head = { .ticks = at (us),
                                         .type = LNS_WIRE_CUDA_API,
                                         .depth = (uint8_t)(LNS_WIRE_CUDA_CALL_RUNTIME | roles) },
                               .correlation = correlation,
                               .end_ticks = at (us + 5),
                               .cbid = 1 + roles,
                               .tid = 11 };
  add_record (&call, sizeof call);
}

/* Defines how kernels are launched: that of slot 3. */
static void
add_launch (void)
{
  LnsWireCudaLaunchBytes launch = { .head = { .type = LNS_WIRE_CUDA_LAUNCH, .string = 3 },
                                    .grid = { 1, 1, 1 },
                                    .block = { 64, 1, 1 } };
  add_record (&launch, sizeof launch);
}

static void
add_kernel (int64_t us, uint32_t correlation)
{
  LnsWireCudaKernelBytes kernel = {
    .head = { .ticks = at (us), .type = LNS_WIRE_CUDA_KERNEL, .string = 3 },
    .correlation = correlation,
    .end_ticks = at (us + 100),
    .place = { .context = 1, .stream = 7 }
  };
  add_record (&kernel, sizeof kernel);
}

/* A session of N_PROCESSES, which has ranges and one batch. */
static void
begin (uint32_t n_processes)
{
  const LnsWireClockPair first = { .ticks = BEGIN_NS, .monotonic_ns = BEGIN_NS };
  memset (&recorder, 0, sizeof recorder);
  memset (paths, 0, sizeof paths);
  text.n_bytes = n_told = 0;
  _lns_recorder_init (&recorder, &first, &(LnsDomainFilter){ 0 });
  begin_batch (1, -1);
  for (uint32_t i = 0; i < n_processes; i++)
    add_event ((LnsBatchEvent){
        .kind = LNS_BATCH_PROCESS,
        .process = i,
        .info = { .pid = 10 + (int)i, .target_pid = 10 + (int)i, .parent = LNS_ID_NONE } });
  add_event ((LnsBatchEvent){ .kind = LNS_BATCH_RANGES, .ranges = { .create = create_report } });
  end_batch ();
}

static void
end (void)
{
  LnsRangeNews news;
  while (_lns_ranges_next (&recorder.ranges, &news))
    {
      free (news.path);
      lns_report_result_clear (&news.result);
    }
  lns_batch_free (recorder.waiting);
  _lns_ranges_free (&recorder.ranges);
  lns_decoder_free (recorder.recording.decoder);
}

/* How many ranges have ended so far. */
static unsigned
n_ended (void)
{
  LnsRangeNews news;
  while (_lns_ranges_next (&recorder.ranges, &news))
    {
      n_told += news.is_end;
      if (news.is_end && !news.result.is_written)
        LNS_FAIL ("range %u: %s", news.number, news.result.error.message);
      free (news.path);
      lns_report_result_clear (&news.result);
    }
  return n_told;
}

/* The numbers of events of KIND, and of lost ones, in the report of range NUMBER. */
static uint64_t
n_events (unsigned number, LnsLaneKind kind, uint64_t *ret_lost)
{
  LnsReport *report = fixture_open (paths[number], NULL);
  uint32_t n_lanes;
  uint64_t n = 0;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  for (uint32_t i = 0; i < n_lanes; i++)
    n += lanes[i].kind == kind ? lns_report_lane_info (report, i)->n_events : 0;
  *ret_lost = lns_report_info (report)->n_lost;
  lns_report_close (report);
  return n;
}

static void
check_events (unsigned number, LnsLaneKind kind, uint64_t n, uint64_t n_lost)
{
  uint64_t lost;
  LNS_CHECK_INT (n_events (number, kind, &lost), n);
  LNS_CHECK_INT (lost, n_lost);
}

static void
add_range_pair (int64_t us)
{
  record_push (&text, at (us), 0, 0, 1);
  record_pop (&text, at (us + 10), 0, 0);
}

/* An end waits until the process has handed over, and for the batch after that. */
static void
an_end_waits_for_what_is_handed_over (void)
{
  begin (1);
  begin_batch (50, -1);
  record_thread (&text, at (1000), 11, 1, "main");
  record_named (&text, LNS_WIRE_STRING, 0, 1, "work");
  add_range_pair (1500);
  add_edge (2000, false);
  add_range_pair (3000);
  add_range_pair (4000);
  add_edge (5000, true);
  add_range_pair (6000);
  add_piece (0, 1);
  end_batch ();
  for (int i = 2; i < 6; i++)
    {
      begin_batch (50 * i, -1);
      end_batch ();
      LNS_CHECK_INT (n_ended (), 0);
    }
  begin_batch (300, -1);
  add_event ((LnsBatchEvent){ .kind = LNS_BATCH_FLUSHED, .process = 0 });
  end_batch ();
  LNS_CHECK_INT (n_ended (), 0);
  begin_batch (350, -1);
  end_batch ();
  LNS_CHECK_INT (n_ended (), 1);
  check_events (1, LNS_LANE_NVTX_PUSH_POP, 2, 0);
  end ();
}

/* An end waits for samples of CPUs up to it, but no longer than the time of patience.h. */
static void
an_end_waits_for_samples_and_no_longer (void)
{
  const int64_t late_ms = lns_patience ().late_samples_ns / MS;
  for (int is_never = 0; is_never < 2; is_never++)
    {
      begin (1);
      begin_batch (50, 1);
      record_thread (&text, at (1000), 11, 1, "main");
      record_named (&text, LNS_WIRE_STRING, 0, 1, "work");
      add_edge (2000, false);
      add_range_pair (3000);
      add_edge (5000, true);
      add_piece (0, 1);
      add_event ((LnsBatchEvent){ .kind = LNS_BATCH_FLUSHED, .process = 0 });
      end_batch ();
      begin_batch (100, 4);
      end_batch ();
      begin_batch (late_ms, 4);
      end_batch ();
      LNS_CHECK_INT (n_ended (), 0);
      begin_batch (is_never ? late_ms + 6 : late_ms + 1, is_never ? 4 : 5);
      end_batch ();
      LNS_CHECK_INT (n_ended (), 1);
      check_events (1, LNS_LANE_NVTX_PUSH_POP, 1, 0);
      end ();
    }
}

/* A report goes on while any process is in a range. */
static void
ranges_of_two_processes_are_one_report (void)
{
  begin (2);
  for (uint32_t process = 0; process < 2; process++)
    {
      if (process == 0)
        begin_batch (50, -1);
      record_thread (&text, at (100), 11, 1, "main");
      record_named (&text, LNS_WIRE_STRING, 0, 1, "work");
      add_edge (process == 0 ? 1000 : 2000, false);
      add_range_pair (2500);
      add_range_pair (3500);
      add_edge (process == 0 ? 3000 : 4000, true);
      add_range_pair (4500);
      add_piece (process, 1);
    }
  add_event ((LnsBatchEvent){ .kind = LNS_BATCH_FLUSHED, .process = 0 });
  add_event ((LnsBatchEvent){ .kind = LNS_BATCH_FLUSHED, .process = 1 });
  end_batch ();
  begin_batch (100, -1);
  end_batch ();
  LNS_CHECK_INT (n_ended (), 1);
  check_events (1, LNS_LANE_NVTX_PUSH_POP, 4, 0);
  end ();
}

/* Kernels of a range are of its report, however late they run and their records come. */
static void
late_records_are_of_the_range_of_their_call (void)
{
  begin (1);
  begin_batch (50, -1);
  record_thread (&text, at (100), 11, 1, "main");
  add_edge (1000, false);
  add_edge (3000, true);
  add_piece (0, 1);
  add_launch ();
  add_call (1100, 1, LNS_WIRE_CUDA_CALL_LAUNCH);
  add_call (1200, 2, LNS_WIRE_CUDA_CALL_LAUNCH);
  add_call (3100, 3, LNS_WIRE_CUDA_CALL_LAUNCH);
  add_piece (0, 2);
  end_batch ();
  begin_batch (100, -1);
  add_kernel (1150, 1);
  add_kernel (9000, 2);
  add_kernel (9200, 3);
  add_piece (0, 2);
  add_event ((LnsBatchEvent){ .kind = LNS_BATCH_FLUSHED, .process = 0 });
  end_batch ();
  begin_batch (150, -1);
  end_batch ();
  LNS_CHECK_INT (n_ended (), 1);
  check_events (1, LNS_LANE_CUDA_KERNEL, 2, 0);
  check_events (1, LNS_LANE_CUDA_API, 2, 0);
  end ();
}

int
main (void)
{
  LNS_TEST (an_end_waits_for_what_is_handed_over);
  LNS_TEST (an_end_waits_for_samples_and_no_longer);
  LNS_TEST (ranges_of_two_processes_are_one_report);
  LNS_TEST (late_records_are_of_the_range_of_their_call);
  return lns_tap_done ();
}

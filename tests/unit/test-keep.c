/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests reports that keep only their last seconds, and reports whose disk is full for a while: ten
 * minutes of batches, as the collector makes them, on the test's own clock. */

#include "capture/session/record/recorder-parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/store/read/report.h"
#include "src/store/write/writer-private.h"
#include "tests/tap.h"

#define SECOND       INT64_C (1000000000)
#define BATCH_NS     (SECOND / 20)
#define BATCH_RANGES 500

static uint32_t noise = 1;

static uint32_t
draw (void)
{
  return (noise = noise * 1664525 + 1013904223) >> 8;
}

/* --- Packing ---------------------------------------------------------------------------------- */

/* A batch of noise, or of what repeats, whose bytes go behind the *N_COPIED of COPY too. */
static LnsBatch *
new_noise (int round, uint8_t *copy, size_t *n_copied)
{
  LnsBatch *batch = calloc (1, sizeof (LnsBatch));
  const int n_pieces = round == 0 ? 0 : 1 + (int)(draw () % 20);
  for (int i = 0; i < n_pieces; i++)
    {
      const size_t n = draw () % (round % 4 == 3 ? 65536 : 200) * 16;
      uint8_t *bytes = lns_batch_reserve (batch, n);
      for (size_t k = 0; k < n; k++)
        bytes[k] = round % 2 == 0 ? (uint8_t)(k % 16) : (uint8_t)(draw () >> 8);
      memcpy (copy + *n_copied, bytes, n);
      *n_copied += n;
      lns_batch_add (batch, &(LnsDecoderSource){ .process = 3, .stream = (uint32_t)i }, n,
                     (LnsBegun){ 0 });
    }
  return batch;
}

#define N_BATCHES 20

static void
test_packed_batches_come_back (void)
{
  LnsPacker *packer = lns_packer_new ();
  LnsBatch *batches[N_BATCHES];
  size_t n_pieces[N_BATCHES], starts[N_BATCHES], n_wrong = 0, n_copied = 0, n_packed = 0;
  uint8_t *copy = malloc ((size_t)N_BATCHES << 24);
  for (int i = 0; i < N_BATCHES; i++)
    {
      starts[i] = n_copied;
      batches[i] = new_noise (i, copy, &n_copied);
      n_pieces[i] = batches[i]->pieces.n;
      n_wrong += !lns_batch_pack (batches[i], packer) || batches[i]->blocks != NULL;
      n_packed += batches[i]->n_packed_bytes;
    }
  LNS_CHECK (n_packed <= n_copied + n_copied / 50 && n_packed > n_copied / 2);
  for (int k = 0; k < N_BATCHES; k++)
    {
      LnsBatch *batch = batches[k];
      size_t at = starts[k];
      n_wrong += !lns_batch_unpack (batch, packer) || batch->n_packed_bytes != 0 ||
                 batch->pieces.n != n_pieces[k];
      for (size_t i = 0; i < batch->pieces.n; at += batch->pieces.items[i++].n_bytes)
        n_wrong +=
            batch->pieces.items[i].source.stream != i ||
            batch->pieces.items[i].source.process != 3 ||
            memcmp (batch->pieces.items[i].bytes, copy + at, batch->pieces.items[i].n_bytes) != 0;
      lns_batch_free (batch);
    }
  LNS_CHECK_INT (n_wrong, 0);
  lns_packer_free (packer);
  free (copy);
}

/* --- The ring --------------------------------------------------------------------------------- */

/* A batch of ranges that end by AT_NS, within one that is open since the first of them. */
static LnsBatch *
new_batch (int64_t at_ns, bool is_first)
{
  LnsBatch *batch = calloc (1, sizeof (LnsBatch));
  int64_t ns = at_ns - BATCH_NS + 1000;
  const LnsWireThreadBytes thread = {
    .head = { .type = LNS_WIRE_THREAD, .ticks = (uint64_t)ns },
    .n_bytes = 48,
    .tid = 7,
    .serial = 1,
  };
  LnsWireHead *heads = (void *)lns_batch_reserve (batch, (2 * BATCH_RANGES + 4) * sizeof *heads);
  size_t n = 0;
  if (is_first)
    {
      _Static_assert(sizeof thread <= 3 * sizeof *heads, "it fits");
      memset (heads, 0, 3 * sizeof *heads);
      memcpy (heads, &thread, sizeof thread);
      heads[3] = (LnsWireHead){ .type = LNS_WIRE_PUSH, .ticks = (uint64_t)ns };
      n = 4;
    }
  for (int i = 0; i < BATCH_RANGES; i++)
    {
      heads[n++] = (LnsWireHead){ .type = LNS_WIRE_PUSH, .depth = 1, .ticks = (uint64_t)ns };
      ns += 1000 + draw () % 1000;
      heads[n++] = (LnsWireHead){ .type = LNS_WIRE_POP, .depth = 1, .ticks = (uint64_t)ns };
      ns += BATCH_NS / BATCH_RANGES - 4000;
    }
  lns_batch_add (batch, &(LnsDecoderSource){ .stream = 1, .tid = 7 }, n * sizeof *heads,
                 (LnsBegun){ 0 });
  batch->pair = (LnsWireClockPair){ .ticks = (uint64_t)at_ns, .monotonic_ns = at_ns };
  return batch;
}

/* What came of ten minutes. */
typedef struct
{
  LnsReportResult result;
  size_t n_full, n_most; /* bytes of the ring: when the seconds had passed once, and ever */
  size_t n_queued;       /* bytes that counted as not done meanwhile, at most */
  uint64_t n_events;
  int64_t start_ns;
} Outcome;

/* Lets files grow to N_BYTES at most. */
static void
limit_files (rlim_t n_bytes)
{
  struct rlimit limit;
  getrlimit (RLIMIT_FSIZE, &limit);
  limit.rlim_cur = n_bytes < limit.rlim_max ? n_bytes : limit.rlim_max;
  setrlimit (RLIMIT_FSIZE, &limit);
}

#define N_LOST_BEFORE 3 /* by the program's pool, before the disk is full */
#define N_LOST_WHILE  5

/* Adds to BATCH that the pool has lost N events by now. */
static void
lose (LnsRecorder *recorder, LnsBatch *batch, uint64_t n)
{
  LnsBatchEvent losses = { .kind = LNS_BATCH_LOSSES };
  losses.losses.events[LNS_WIRE_LOSS_OTHER] = n;
  lns_batch_events_add (&batch->events, &losses);
  lns_recorder_tell_made (recorder, batch->pair.monotonic_ns, 0, n);
}

/* Has the disk be full from the second minute to the last, for a writer that holds little meanwhile; each second
 * of the report is committed. */
static void
act_on_disk (LnsRecorder *recorder, int64_t passed_ns)
{
  if (passed_ns % SECOND == 0)
    recorder->recording.committed_at_ns = 0;
  if (passed_ns == 60 * SECOND)
    {
      recorder->recording.writer->max_waiting_bytes = 50000;
      limit_files (lns_writer_counts (recorder->recording.writer)->file_bytes);
    }
  else if (passed_ns == 590 * SECOND)
    limit_files (RLIM_INFINITY);
}

/* Ten minutes of a report that keeps KEEP_NS in at most MAX_BYTES (0: as many as they take), or of one that is
 * written on a disk that IS_FULL meanwhile. */
static Outcome
record (int64_t keep_ns, size_t max_bytes, bool is_full)
{
  const int64_t begin_ns = 1000 * SECOND, end_ns = begin_ns + 600 * SECOND;
  const LnsWireClockPair first = { .ticks = (uint64_t)begin_ns, .monotonic_ns = begin_ns };
  const LnsWriterOptions options = { .t0_monotonic_ns = begin_ns };
  char folder[] = "/tmp/lanescope-test-keep-XXXXXX", path[64];
  Outcome outcome = { 0 };
  LNS_CHECK (mkdtemp (folder) != NULL);
  snprintf (path, sizeof path, "%s/kept.rep", folder);
  /* Without its thread. */
  LnsRecorder recorder = { 0 };
  _lns_recorder_init (&recorder, &first, &(LnsDomainFilter){ 0 });
  for (int64_t at_ns = begin_ns + BATCH_NS; at_ns <= end_ns + BATCH_NS; at_ns += BATCH_NS)
    {
      const bool is_first = at_ns == begin_ns + BATCH_NS;
      LnsBatch *batch = new_batch (at_ns, is_first);
      LnsBatchEvent process = { .kind = LNS_BATCH_PROCESS,
                                .info = { .pid = 7, .target_pid = 7, .parent = LNS_ID_NONE } };
      LnsBatchEvent start = { .kind = LNS_BATCH_START, .time_ns = begin_ns, .keep_ns = keep_ns };
      LnsBatchEvent stop = { .kind = LNS_BATCH_STOP, .time_ns = end_ns, .keep_ns = keep_ns };
      if (is_first)
        {
          start.writer = lns_writer_create (path, &options, NULL);
          lns_batch_events_add (&batch->events, &process);
          lns_batch_events_add (&batch->events, &start);
        }
      if (at_ns == end_ns)
        lns_batch_events_add (&batch->events, &stop);
      recorder.queued_bytes += batch->n_queued_bytes = batch->n_bytes;
      if (is_full)
        act_on_disk (&recorder, at_ns - begin_ns);
      if (is_full && at_ns == begin_ns + 30 * SECOND)
        lose (&recorder, batch, N_LOST_BEFORE);
      if (is_full && at_ns == begin_ns + 120 * SECOND)
        lose (&recorder, batch, N_LOST_BEFORE + N_LOST_WHILE);
      _lns_kept_take (&recorder.kept, batch);
      if (at_ns < end_ns && recorder.queued_bytes > outcome.n_queued)
        outcome.n_queued = recorder.queued_bytes;
      if (is_first && max_bytes > 0)
        recorder.kept.max_bytes = max_bytes;
      if (at_ns <= begin_ns + keep_ns + BATCH_NS)
        outcome.n_full = recorder.kept.n_bytes;
      if (recorder.kept.outcome.most_bytes > outcome.n_most)
        outcome.n_most = recorder.kept.outcome.most_bytes;
    }
  outcome.result = recorder.result;
  lns_batch_free (recorder.waiting);
  lns_decoder_free (recorder.recording.decoder);
  LnsReport *report = lns_report_open (path, NULL, NULL);
  if (report != NULL)
    {
      outcome.n_events = lns_report_info (report)->n_events;
      outcome.start_ns = lns_report_info (report)->start_ns;
    }
  lns_report_close (report);
  unlink (path);
  rmdir (folder);
  return outcome;
}

static void
test_ten_minutes_take_what_ten_seconds_do (void)
{
  Outcome outcome = record (10 * SECOND, 0, false);
  LNS_CHECK (outcome.result.is_written);
  LNS_CHECK_INT (outcome.result.n_lost, 0);
  /* Else the collector would wait for what only comes when it goes on. */
  LNS_CHECK_INT (outcome.n_queued, 0);
  LNS_CHECK (outcome.n_full > 10000 && outcome.n_most <= outcome.n_full + outcome.n_full / 5);
  /* The one that is open all the time, too. */
  LNS_CHECK_INT (outcome.n_events, 10 * SECOND / BATCH_NS * BATCH_RANGES + 1);
  LNS_CHECK_INT (outcome.start_ns, 590 * SECOND);
  lns_report_result_clear (&outcome.result);
}

static void
test_short_memory_keeps_less_and_says_so (void)
{
  Outcome outcome = record (300 * SECOND, 300000, false);
  LNS_CHECK (outcome.n_most <= 320000);
  LNS_CHECK (outcome.n_events > 0 && outcome.n_events < 300 * SECOND / BATCH_NS * BATCH_RANGES);
  bool is_told = false;
  for (size_t i = 0; i < outcome.result.n_diagnostics; i++)
    is_told |= strcmp (outcome.result.diagnostics[i].code, "LNS-KEEP-001") == 0;
  LNS_CHECK (is_told);
  lns_report_result_clear (&outcome.result);
}

static void
test_what_a_disk_keeps_out_for_too_long_is_lost (void)
{
  signal (SIGXFSZ, SIG_IGN);
  Outcome outcome = record (0, 0, true);
  LNS_CHECK (outcome.result.n_lost > 0);
  LNS_CHECK_INT (outcome.n_events + outcome.result.n_lost,
                 600 * SECOND / BATCH_NS * BATCH_RANGES + 1 + N_LOST_BEFORE + N_LOST_WHILE);
  const char *dropped = "", *lost = "", *faster = "";
  for (size_t i = 0; i < outcome.result.n_diagnostics; i++)
    {
      const LnsReportDiagnostic *told = &outcome.result.diagnostics[i];
      if (strcmp (told->code, "LNS-POOL-001") == 0)
        faster = told->text;
      else if (strcmp (told->code, "LNS-REP-002") == 0 && strstr (told->text, "while") != NULL)
        lost = told->text;
      else if (strcmp (told->code, "LNS-REP-002") == 0)
        dropped = told->text;
    }
  LNS_CHECK (strstr (dropped, "for too long: ") != NULL &&
             strstr (dropped, strerror (EFBIG)) != NULL);
  /* What the pool has lost meanwhile is not blamed on the program's speed. */
  LNS_CHECK_INT (strtol (lost, NULL, 10), N_LOST_WHILE);
  LNS_CHECK (strstr (lost, strerror (EFBIG)) != NULL);
  LNS_CHECK_INT (strtol (faster, NULL, 10), N_LOST_BEFORE);
  lns_report_result_clear (&outcome.result);
}

/* When the last commit was, in ns before the next batch is played and how long it took; whether one is due with
 * that batch. A range that ended 1.3 s before a kill is to be in the file: 50 ms pass until a batch is played, and
 * a busy machine only makes it later. */
static void
test_commits_come_each_second (void)
{
  static const struct
  {
    int64_t ago_ns, took_ns;
    bool is_due;
  } cases[] = { { SECOND, 0, true },
                { SECOND * 6 / 10, SECOND * 4 / 10, true },
                { -3600 * SECOND, SECOND * 4 / 10, false } };
  const int64_t begin_ns = 1000 * SECOND;
  const LnsWireClockPair first = { .ticks = (uint64_t)begin_ns, .monotonic_ns = begin_ns };
  const LnsWriterOptions options = { .t0_monotonic_ns = begin_ns };
  char folder[] = "/tmp/lanescope-test-keep-XXXXXX", path[64];
  int64_t at_ns = begin_ns + BATCH_NS;
  LNS_CHECK (mkdtemp (folder) != NULL);
  snprintf (path, sizeof path, "%s/commits.rep", folder);
  LnsRecorder recorder = { 0 };
  _lns_recorder_init (&recorder, &first, &(LnsDomainFilter){ 0 });
  LnsBatch *batch = new_batch (at_ns, true);
  lns_batch_events_add (
      &batch->events,
      &(LnsBatchEvent){ .kind = LNS_BATCH_PROCESS,
                        .info = { .pid = 7, .target_pid = 7, .parent = LNS_ID_NONE } });
  lns_batch_events_add (&batch->events,
                        &(LnsBatchEvent){ .kind = LNS_BATCH_START,
                                          .time_ns = begin_ns,
                                          .writer = lns_writer_create (path, &options, NULL) });
  _lns_kept_take (&recorder.kept, batch);
  _lns_kept_take (&recorder.kept, new_batch (at_ns += BATCH_NS, false));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      struct timespec now;
      clock_gettime (CLOCK_MONOTONIC, &now);
      const int64_t last_ns = now.tv_sec * SECOND + now.tv_nsec - cases[i].ago_ns;
      recorder.recording.committed_at_ns = last_ns;
      recorder.recording.commit_took_ns = cases[i].took_ns;
      _lns_kept_take (&recorder.kept, new_batch (at_ns += BATCH_NS, false));
      LNS_CHECK_INT (recorder.recording.committed_at_ns != last_ns, cases[i].is_due);
    }
  batch = new_batch (at_ns += BATCH_NS, false);
  lns_batch_events_add (&batch->events,
                        &(LnsBatchEvent){ .kind = LNS_BATCH_STOP, .time_ns = at_ns });
  _lns_kept_take (&recorder.kept, batch);
  _lns_kept_take (&recorder.kept, new_batch (at_ns += BATCH_NS, false));
  LNS_CHECK (recorder.result.is_written);
  lns_report_result_clear (&recorder.result);
  lns_batch_free (recorder.waiting);
  lns_decoder_free (recorder.recording.decoder);
  unlink (path);
  rmdir (folder);
}

int
main (void)
{
  LNS_TEST (test_packed_batches_come_back);
  LNS_TEST (test_ten_minutes_take_what_ten_seconds_do);
  LNS_TEST (test_short_memory_keeps_less_and_says_so);
  LNS_TEST (test_what_a_disk_keeps_out_for_too_long_is_lost);
  LNS_TEST (test_commits_come_each_second);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests reports that keep only some steps, on the test's own clock: which ranges are steps, which of them are kept, and what the
 * report says of the others. */

#include "capture/session/record/recorder-parts.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/session/decode/core/sieve.h"
#include "src/base/compare.h"
#include "src/tables/omissions.h"
#include "tests/tap.h"
#include "tests/unit/record-text.h"
#include "tests/unit/report-fixture.h"

#define MS INT64_C (1000000)

static uint64_t noise = 1;

/* --- How long steps take ---------------------------------------------------------------------- */

static int
compare_ns (const void *a, const void *b)
{
  const int64_t *na = a, *nb = b;
  return LNS_COMPARE (*na, *nb);
}

/* The least of the N values at ALL that QUANTILE of them do not exceed. */
static int64_t
quantile_of (const int64_t *all, size_t n, double quantile)
{
  int64_t *sorted = malloc (n * sizeof *sorted);
  memcpy (sorted, all, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, compare_ns);
  const int64_t ns = sorted[(size_t)ceil (quantile * (double)n) - 1];
  free (sorted);
  return ns;
}

static void
test_lengths_are_those_of_a_sorted_list (void)
{
  static const double quantiles[] = { 0.01, 0.5, 0.95, 0.995, 1 };
  enum
  {
    N = 5000
  };
  static int64_t all[N];
  LnsStepLengths *lengths = calloc (1, sizeof *lengths);
  int64_t ns;
  LNS_CHECK_INT (_lns_step_lengths_all (lengths, 0.5), 0);
  for (size_t n = 0; n < N; n++)
    {
      LNS_CHECK_INT (_lns_step_lengths_recent (lengths, 0.5, &ns), n >= LNS_STEP_LEAST);
      all[n] = (int64_t)(fixture_random (&noise) >> (fixture_random (&noise) % 62 + 1));
      if (n % 7 == 0 && n > 0)
        all[n] = all[n - 1];
      _lns_step_lengths_add (lengths, all[n]);
      const size_t n_recent = n + 1 < LNS_STEP_WINDOW ? n + 1 : LNS_STEP_WINDOW;
      for (size_t i = 0; n % 50 == 49 && i < sizeof quantiles / sizeof *quantiles; i++)
        {
          LNS_CHECK (_lns_step_lengths_recent (lengths, quantiles[i], &ns));
          LNS_CHECK_INT (ns, quantile_of (all + n + 1 - n_recent, n_recent, quantiles[i]));
          const int64_t exact_ns = quantile_of (all, n + 1, quantiles[i]);
          ns = _lns_step_lengths_all (lengths, quantiles[i]);
          LNS_CHECK (ns >= exact_ns && ns - exact_ns <= exact_ns / 16);
        }
    }
  LNS_CHECK_INT (lengths->n, N);
  LNS_CHECK_INT (lengths->most_ns, quantile_of (all, N, 1));
  free (lengths);
}

/* --- The sieve -------------------------------------------------------------------------------- */

enum
{
  STEPS, /* lanes of the report, by depth */
  LAYERS,
  CALLS,
  KERNELS,
  N_LANES
};

static LnsWriter *writer;
static LnsSieve *sieve;
static const char *path;
static int64_t kept_around_ns; /* of the next sieve */
static LnsName *names[3];      /* of STEPS, of LAYERS, and another */

static void
begin (const char *condition, double factor, double quantile, const char *range, size_t max_bytes)
{
  static const LnsLaneKind kinds[] = { LNS_LANE_NVTX_PUSH_POP, LNS_LANE_NVTX_PUSH_POP,
                                       LNS_LANE_CUDA_API, LNS_LANE_CUDA_KERNEL };
  static const char *const texts[] = { "step 1", "layer", "eval" };
  LnsStepRule rule = {
    .has_steps = true, .around_ns = kept_around_ns, .factor = factor, .quantile = quantile
  };
  snprintf (rule.range, sizeof rule.range, "%s", range);
  snprintf (rule.text, sizeof rule.text, "%s", condition);
  path = fixture_path ("kept.rep");
  writer = fixture_writer (path);
  sieve = _lns_sieve_new (&rule, writer, 0, max_bytes);
  for (uint32_t i = 0; i < N_LANES; i++)
    {
      const uint32_t id = fixture_lane (writer, kinds[i]);
      LNS_CHECK_INT (id, i);
      _lns_sieve_add_track (sieve, id, 0);
      _lns_sieve_add_lane (sieve, id, id, kinds[i]);
    }
  for (int i = 0; i < 3; i++)
    names[i] = lns_name_new (texts[i], (uint32_t)strlen (texts[i]));
}

static LnsReport *
finish (int64_t end_ns)
{
  _lns_sieve_end (sieve, end_ns);
  _lns_sieve_free (sieve);
  fixture_finish (writer, end_ns);
  for (int i = 0; i < 3; i++)
    lns_name_unref (names[i]);
  return fixture_open (path, NULL);
}

static LnsStepRange
range_at (uint32_t depth, int64_t around_ns, int name)
{
  return (LnsStepRange){ .thread = 1,
                         .depth = depth,
                         .is_of_main_thread = true,
                         .around_ns = around_ns,
                         .name = names[name] };
}

static void
append (uint32_t lane, int64_t start_ns, int64_t end_ns, uint64_t correlation)
{
  static const LnsLaneKind kinds[] = { 0, 0, LNS_LANE_CUDA_API, LNS_LANE_CUDA_KERNEL };
  LnsEvent event = { .start_ns = start_ns, .duration_ns = end_ns - start_ns, .name = 1 };
  if (correlation != 0)
    event.extra[lns_lane_kind_extra (kinds[lane], LNS_COLUMN_CORRELATION)] = correlation;
  _lns_sieve_append (sieve, lane, &event);
}

/* A step from START_NS to END_NS, with N_LAYERS ranges in it. */
static void
step (uint32_t depth, int64_t around_ns, int64_t start_ns, int64_t end_ns, int n_layers)
{
  LnsSteps *steps = _lns_sieve_steps (sieve);
  const LnsStepRange range = range_at (depth, around_ns, 0),
                     layer = range_at (depth + 1, start_ns, 1);
  _lns_steps_push (steps, &range, start_ns);
  for (int i = 0; i < n_layers; i++)
    {
      const int64_t from_ns = start_ns + (end_ns - start_ns) * i / n_layers,
                    to_ns = start_ns + (end_ns - start_ns) * (i + 1) / n_layers;
      _lns_steps_push (steps, &layer, from_ns);
      _lns_steps_pop (steps, &layer, from_ns, to_ns);
      append (LAYERS, from_ns, to_ns, 0);
    }
  _lns_steps_pop (steps, &range, start_ns, end_ns);
  append (STEPS, start_ns, end_ns, 0);
}

static uint64_t
n_of (LnsReport *report, uint32_t lane)
{
  return lns_report_lane_info (report, lane)->n_events;
}

/* Whether LANE has an event that begins at START_NS. */
static bool
has (LnsReport *report, uint32_t lane, int64_t start_ns)
{
  LnsEvent event;
  for (uint64_t i = 0; i < n_of (report, lane); i++)
    if (lns_report_event (report, lane, i, &event, NULL) && event.start_ns == start_ns)
      return true;
  return false;
}

/* Each step of 100,000 that lasts ten times as long is in the report, whole, and a hundredth of all events; what is not there is told
 * to the nanosecond. */
static void
test_each_slow_step_is_kept_and_little_else (void)
{
  enum
  {
    N = 100000,
    EVERY = 1000,
    N_LAYERS = 20
  };
  int64_t at_ns = 0, kept_ns = 0;
  uint64_t n_slow = 0, n_lacking = 0;
  static int64_t slow_at[N / EVERY];
  begin ("duration > 2 * p95", 2, 0.95, "step", 1 << 20);
  for (int i = 0; i < N; i++)
    {
      const bool is_slow = i % EVERY == EVERY / 2;
      const int64_t ns = (is_slow ? 10 : 1) * MS + (int64_t)(fixture_random (&noise) % (MS / 5));
      if (is_slow)
        slow_at[n_slow++] = at_ns;
      step (0, INT64_MAX, at_ns, at_ns + ns, N_LAYERS);
      at_ns += ns + 1000;
      if (i % 50 == 0)
        {
          _lns_sieve_settle (sieve, at_ns, at_ns);
          _lns_sieve_tell (sieve);
        }
    }
  LnsReport *report = finish (at_ns);
  LnsOmissions omissions = lns_omissions_of (report);
  LnsCountedSteps counted;
  for (uint64_t i = 0; i < n_slow; i++)
    n_lacking += !has (report, STEPS, slow_at[i]);
  LNS_CHECK_INT (n_lacking, 0);
  LNS_CHECK_INT (n_of (report, LAYERS), n_of (report, STEPS) * N_LAYERS);
  LNS_CHECK (n_of (report, STEPS) <= N / 100);
  for (uint64_t i = 0; i < n_of (report, STEPS); i++)
    {
      LnsEvent event;
      LNS_CHECK (lns_report_event (report, STEPS, i, &event, NULL));
      LNS_CHECK_INT (
          lns_omitted_ns (&omissions, event.start_ns, event.start_ns + event.duration_ns), 0);
      kept_ns += event.duration_ns;
    }
  LNS_CHECK_INT (kept_ns + lns_omitted_ns (&omissions, 0, at_ns), at_ns);
  LNS_CHECK (lns_counted_steps (report, 0, &counted) && !lns_counted_steps (report, 1, &counted));
  LNS_CHECK (lns_counted_steps (report, 0, &counted));
  LNS_CHECK_INT (counted.n, N);
  LNS_CHECK_INT (counted.n_kept, n_of (report, STEPS));
  LNS_CHECK_INT (counted.n_slow, n_slow);
  LNS_CHECK_STR (counted.range, "step 1");
  LNS_CHECK (counted.p50_ns >= MS && counted.p50_ns <= MS * 12 / 10 * 17 / 16);
  LNS_CHECK (counted.most_ns >= 10 * MS);
  LNS_CHECK_STR (lns_report_meta (report, "keep_steps"), "duration > 2 * p95");
  lns_omissions_clear (&omissions);
  lns_report_close (report);
}

/* Ten steps of 1 ms, the fifth of 9 ms; then what AFTER adds, and settles. */
static int64_t
ten_steps (void)
{
  int64_t at_ns = 0, slow_ns = 0;
  for (int i = 0; i < 10; i++)
    {
      const int64_t end_ns = at_ns + (i == 5 ? 9 : 1) * MS;
      slow_ns = i == 5 ? at_ns : slow_ns;
      step (0, INT64_MAX, at_ns, end_ns, 2);
      at_ns = end_ns;
    }
  return slow_ns;
}

/* What a GPU does later belongs to the call that launched it, though its record comes when all is decided, and before that of the
 * call. */
static void
test_work_is_kept_with_its_call (void)
{
  begin ("duration > 2 * p95", 2, 0.95, "step", 1 << 20);
  const int64_t slow_ns = ten_steps ();
  _lns_sieve_settle (sieve, 30 * MS, 0);
  append (KERNELS, 15 * MS, 16 * MS,
          7); /* launched in the slow step, ran behind the steps after it */
  append (KERNELS, 17 * MS, 18 * MS, 8); /* launched in the step after it */
  append (CALLS, slow_ns + 100, slow_ns + 200, 7);
  append (CALLS, slow_ns + 9 * MS + 100, slow_ns + 9 * MS + 200, 8);
  _lns_sieve_settle (sieve, 30 * MS, 20 * MS);
  LnsReport *report = finish (30 * MS);
  LNS_CHECK_INT (n_of (report, CALLS), 1);
  LNS_CHECK_INT (n_of (report, KERNELS), 1);
  LNS_CHECK (has (report, KERNELS, 15 * MS) && has (report, CALLS, slow_ns + 100));
  lns_report_close (report);
}

/* A range that is open at the end counts by its length so far; one around all is there. */
static void
test_what_is_open_at_the_end_is_judged (void)
{
  begin ("duration > 2 * p95", 2, 0.95, "step", 1 << 20);
  ten_steps ();
  const LnsStepRange last = range_at (0, INT64_MAX, 0);
  _lns_steps_push (_lns_sieve_steps (sieve), &last, 20 * MS);
  append (LAYERS, 21 * MS, 22 * MS, 0);
  _lns_sieve_settle (sieve, 60 * MS, 60 * MS);
  _lns_sieve_end (sieve, 60 * MS);
  append (STEPS, 20 * MS, 60 * MS, 0);
  LnsReport *report = finish (60 * MS);
  LNS_CHECK (has (report, STEPS, 20 * MS) && has (report, LAYERS, 21 * MS));
  lns_report_close (report);
}

/* The outermost range that repeats is the step, though one within it repeats sooner, and one around it is there. */
static void
test_steps_are_found (void)
{
  int64_t at_ns = 100 * MS;
  begin ("duration > 3 * p50", 3, 0.5, "", 1 << 24);
  for (int i = 0; i < 200; i++)
    {
      const int64_t ns = (i == 150 ? 400 : 50) * MS;
      step (1, 0, at_ns, at_ns + ns, 30);
      at_ns += ns + MS;
      _lns_sieve_settle (sieve, at_ns, at_ns);
    }
  append (STEPS + 2, 0, at_ns, 0); /* the range around all, in a lane of its own */
  LnsReport *report = finish (at_ns);
  LnsCountedSteps counted;
  LNS_CHECK (lns_counted_steps (report, 0, &counted));
  LNS_CHECK_STR (counted.range, "step 1");
  LNS_CHECK_INT (counted.n, 200);
  LNS_CHECK_INT (counted.n_slow, 1);
  LNS_CHECK_INT (counted.n_kept, 1 + LNS_STEP_LEAST);
  LNS_CHECK (has (report, STEPS, 100 * MS + 150 * 51 * MS));
  LNS_CHECK_INT (n_of (report, STEPS), 1 + LNS_STEP_LEAST);
  LNS_CHECK_INT (n_of (report, LAYERS), 30 * (1 + LNS_STEP_LEAST));
  LNS_CHECK_INT (n_of (report, STEPS + 2), 1);
  lns_report_close (report);
}

/* A step whose push came before it was known that it is one counts, too. */
static void
test_no_step_is_missed_when_they_are_found (void)
{
  begin ("duration > 2 * p95", 2, 0.95, "", 1 << 24);
  const LnsStepRange slow = range_at (0, INT64_MAX, 0);
  for (int i = 0; i < 8; i++)
    step (0, INT64_MAX, i * MS, (i + 1) * MS, 2);
  _lns_steps_push (_lns_sieve_steps (sieve), &slow, 8 * MS);
  append (LAYERS, 8 * MS, 9 * MS, 0);
  _lns_sieve_settle (sieve, 10 * MS, 10 * MS);
  _lns_sieve_settle (sieve, 18 * MS, 18 * MS);
  _lns_steps_pop (_lns_sieve_steps (sieve), &slow, 8 * MS, 20 * MS);
  append (STEPS, 8 * MS, 20 * MS, 0);
  LnsReport *report = finish (20 * MS);
  LNS_CHECK (has (report, STEPS, 8 * MS) && has (report, LAYERS, 8 * MS));
  LNS_CHECK (!has (report, STEPS, 7 * MS));
  lns_report_close (report);
}

/* The time around a slow step is kept where that is asked for, and around a moment that somebody asked for. */
static void
test_time_around_is_kept (void)
{
  kept_around_ns = 3 * MS;
  begin ("duration > 2 * p95", 2, 0.95, "step", 1 << 20);
  int64_t at_ns = 0;
  for (int i = 0; i < 60; i++)
    {
      const int64_t end_ns = at_ns + (i == 20 ? 10 : 1) * MS;
      step (0, INT64_MAX, at_ns, end_ns, 1);
      at_ns = end_ns;
      _lns_sieve_settle (sieve, at_ns, at_ns);
      if (i == 40) /* at 50 ms */
        _lns_sieve_keep_around (sieve, at_ns);
    }
  kept_around_ns = 0;
  LnsReport *report = finish (at_ns);
  LnsOmissions omissions = lns_omissions_of (report);
  for (int64_t ms = 0; ms < 69; ms++)
    {
      const bool is_first = ms < LNS_STEP_LEAST, is_near = ms >= 17 && ms < 33,
                 is_asked = ms >= 47 && ms < 53, is_step = ms <= 20 || ms >= 30;
      LNS_CHECK_INT (has (report, LAYERS, ms * MS), is_step && (is_first || is_near || is_asked));
      LNS_CHECK_INT (lns_omitted_ns (&omissions, ms * MS, (ms + 1) * MS),
                     is_first || is_near || is_asked ? 0 : MS);
    }
  lns_omissions_clear (&omissions);
  lns_report_close (report);
}

/* What waits for the end of a step is bounded: its beginning is given up, and that is said. */
static void
test_memory_is_bounded (void)
{
  const size_t most = 1000;
  size_t event_bytes = offsetof (LnsEvent, extra);
  for (int i = 0; lns_lane_kind_info (LNS_LANE_NVTX_PUSH_POP)->extra[i] != 0; i++)
    event_bytes += sizeof (uint64_t);
  begin ("duration > 2 * p95", 2, 0.95, "step", most * event_bytes);
  ten_steps ();
  _lns_sieve_settle (sieve, 20 * MS, 20 * MS);
  const LnsStepRange slow = range_at (0, INT64_MAX, 0);
  _lns_steps_push (_lns_sieve_steps (sieve), &slow, 20 * MS);
  for (int i = 0; i < 1500; i++)
    {
      int64_t start_ns = INT64_MAX;
      append (LAYERS, 20 * MS + i * 1000, 20 * MS + i * 1000 + 500, 0);
      LNS_CHECK (_lns_sieve_waiting (sieve, &start_ns) <= most);
    }
  _lns_steps_pop (_lns_sieve_steps (sieve), &slow, 20 * MS, 60 * MS);
  append (STEPS, 20 * MS, 60 * MS, 0);
  const LnsKeptSteps *outcome = _lns_sieve_end (sieve, 60 * MS);
  LNS_CHECK (outcome->is_short && outcome->is_found);
  LNS_CHECK_INT (outcome->n_dropped, 3 * (10 - LNS_STEP_LEAST - 1) + most + 1);
  LnsReport *report = finish (60 * MS);
  LnsOmissions omissions = lns_omissions_of (report);
  LNS_CHECK (has (report, STEPS, 20 * MS) && !has (report, LAYERS, 20 * MS) &&
             has (report, LAYERS, 20 * MS + 1400 * 1000));
  LNS_CHECK (lns_omitted_ns (&omissions, 20 * MS, 60 * MS) > MS / 2);
  lns_omissions_clear (&omissions);
  lns_report_close (report);
}

/* Readers put omissions into order and join them, whatever a file says, and do not believe impossible counts. */
static void
test_readers_trust_no_omission (void)
{
  static const LnsOmission stored[] = {
    { 50, 60 }, { 10, 20 }, { 15, 30 }, { 30, 35 },
    { 80, 70 }, { 90, 90 }, { -5, -1 }, { LNS_TIME_UNKNOWN, 7 }
  };
  static const LnsOmission expected[] = { { -5, -1 }, { 10, 35 }, { 50, 60 } };
  static const char *const counts[][2] = {
    { "kept_steps.0", "0 10 5 1 100 9 9 9 50 step" },
    { "kept_steps.1", "0 10 11 1 100 9 9 9 50 step" },
    { "kept_steps.2", "0 10 5 1 100 -9 9 9 50 step" },
    { "kept_steps.3", "0 10 5 1 100 9 9 9" },
    { "kept_steps.4", "0 10 5 1 100 9 9 9 50" },
    { "kept_steps.5", "0 10 5 1 100 9 9 9 50 " },
  };
  LnsCountedSteps counted;
  int64_t kept_ns, all_ns;
  path = fixture_path ("omissions.rep");
  writer = fixture_writer (path);
  for (size_t i = 0; i < sizeof stored / sizeof *stored; i++)
    lns_writer_add_omission (writer, &stored[i]);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    lns_writer_set_meta (writer, counts[i][0], counts[i][1]);
  fixture_finish (writer, 100);
  LnsReport *report = fixture_open (path, NULL);
  LnsOmissions omissions = lns_omissions_of (report);
  LNS_CHECK_INT (omissions.n, 3);
  LNS_CHECK (memcmp (omissions.items, expected, sizeof expected) == 0);
  LNS_CHECK_INT (lns_omissions_from (&omissions, -1), 1);
  LNS_CHECK_INT (lns_omissions_from (&omissions, 34), 1);
  LNS_CHECK_INT (lns_omissions_from (&omissions, 60), 3);
  LNS_CHECK_INT (lns_omitted_ns (&omissions, 0, 100), 35);
  LNS_CHECK_INT (lns_omitted_ns (&omissions, 30, 55), 10);
  LNS_CHECK_INT (lns_omitted_ns (&omissions, 35, 50), 0);
  LNS_CHECK (lns_keeps_part (report, &kept_ns, &all_ns));
  LNS_CHECK_INT (all_ns, 100);
  LNS_CHECK_INT (kept_ns, 65);
  for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
    LNS_CHECK_INT (lns_counted_steps (report, i, &counted), i == 0 || i == 5);
  LNS_CHECK_STR (counted.range, "");
  lns_omissions_clear (&omissions);
  lns_report_close (report);
}

/* --- The recorder ----------------------------------------------------------------------------- */

/* Has the recorder keep the steps of RULE of a program that makes 100 ranges "step", of 1 ms, if IS_NAMED, and puts the codes of its
 * diagnostics into RET_CODES. */
static void
record (const LnsStepRule *rule, bool is_named, char *ret_codes)
{
  const int64_t begin_ns = 1000 * MS;
  const LnsWireClockPair first = { .ticks = (uint64_t)begin_ns, .monotonic_ns = begin_ns };
  const LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = begin_ns };
  static RecordText text;
  LnsRecorder recorder = { 0 };
  _lns_recorder_init (&recorder, &first, &(LnsDomainFilter){ 0 });
  text.n_bytes = 0;
  record_thread (&text, (uint64_t)begin_ns + 1, 7, 1, "main");
  record_named (&text, LNS_WIRE_STRING, 0, 1, "step");
  for (int i = 0; i < 100; i++)
    {
      record_push (&text, (uint64_t)(begin_ns + (i + 1) * MS), 0, 0, is_named ? 1 : 0);
      record_pop (&text, (uint64_t)(begin_ns + (i + 2) * MS - 1), 0, 0);
    }
  for (int i = 0; i < 3; i++)
    {
      LnsBatch *batch = calloc (1, sizeof *batch);
      const int64_t at_ns = begin_ns + (i + 1) * 200 * MS;
      batch->pair = (LnsWireClockPair){ .ticks = (uint64_t)at_ns, .monotonic_ns = at_ns };
      if (i == 0)
        {
          LnsBatchEvent process = { .kind = LNS_BATCH_PROCESS,
                                    .info = { .pid = 7, .target_pid = 7, .parent = LNS_ID_NONE } },
                        start = { .kind = LNS_BATCH_START,
                                  .time_ns = begin_ns,
                                  .steps = malloc (sizeof *rule),
                                  .writer = lns_writer_create (fixture_path ("recorded.rep"),
                                                               &options, NULL) };
          *start.steps = *rule;
          lns_batch_events_add (&batch->events, &process);
          lns_batch_events_add (&batch->events, &start);
          memcpy (lns_batch_reserve (batch, text.n_bytes), text.bytes, text.n_bytes);
          lns_batch_add (batch, &(LnsDecoderSource){ .stream = 1, .tid = 7 }, text.n_bytes,
                         (LnsBegun){ 0 });
        }
      LnsBatchEvent stop = { .kind = LNS_BATCH_STOP, .time_ns = at_ns };
      if (i == 1)
        lns_batch_events_add (&batch->events, &stop);
      _lns_kept_take (&recorder.kept, batch);
    }
  LNS_CHECK (recorder.result.is_written);
  *ret_codes = '\0';
  for (size_t i = 0; i < recorder.result.n_diagnostics; i++)
    strcat (strcat (ret_codes, recorder.result.diagnostics[i].code), " ");
  lns_report_result_clear (&recorder.result);
  lns_batch_free (recorder.waiting);
  lns_decoder_free (recorder.recording.decoder);
}

static void
test_the_report_says_what_became_of_it (void)
{
  char codes[200];
  record (&(LnsStepRule){ .has_steps = true, .quantile = 0.95, .factor = 2, .range = "step" }, true,
          codes);
  LNS_CHECK_STR (codes, "LNS-KEEP-004 ");
  record (&(LnsStepRule){ .has_steps = true, .quantile = 0.95, .factor = 2, .range = "other" },
          true, codes);
  LNS_CHECK_STR (codes, "LNS-KEEP-003 ");
  record (&(LnsStepRule){ .has_steps = true, .quantile = 0.95, .factor = 2 }, false, codes);
  LNS_CHECK_STR (codes, "LNS-KEEP-003 ");
  record (
      &(LnsStepRule){
          .has_steps = true, .quantile = 0.95, .factor = 2, .max_bytes = 10 * sizeof (LnsEvent) },
      true, codes);
  LNS_CHECK (strstr (codes, "LNS-KEEP-005 ") != NULL);
}

int
main (void)
{
  LNS_TEST (test_lengths_are_those_of_a_sorted_list);
  LNS_TEST (test_each_slow_step_is_kept_and_little_else);
  LNS_TEST (test_work_is_kept_with_its_call);
  LNS_TEST (test_what_is_open_at_the_end_is_judged);
  LNS_TEST (test_steps_are_found);
  LNS_TEST (test_no_step_is_missed_when_they_are_found);
  LNS_TEST (test_time_around_is_kept);
  LNS_TEST (test_memory_is_bounded);
  LNS_TEST (test_readers_trust_no_omission);
  LNS_TEST (test_the_report_says_what_became_of_it);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays what the kernel tells of threads and CPUs into the decoder, and checks until when the report says that a thread runs or
 * waits. Ticks are ns. */

#include "capture/session/decode/decoder.h"
#include "capture/session/decode/cpu/cpu.h"
#include "src/store/read/report.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define T0      1000000 /* CLOCK_MONOTONIC and ticks of report time 0 */
#define LAST_NS 1000000 /* the last reading of the clock */
#define RUNNER  11      /* runs on CPU 3 from 100 on */
#define WAITER  12      /* runs on CPU 4 from 100 to 200, and waits for something then */

/* Of ENUM_SAMPLING_THREAD_STATE. */
enum
{
  NOT_TOLD = 0,
  RUNNING = 1,
  INTERRUPTIBLE = 2,
};

static LnsDecoder *decoder;
static LnsWriter *writer;
static LnsReport *report;
static const char *path;

static LnsWireClockPair
pair_at (int64_t ns)
{
  return (
      LnsWireClockPair){ .ticks = (uint64_t)(T0 + ns), .monotonic_ns = T0 + ns, .realtime_ns = ns };
}

/* Plays a record of KIND with VALUE about thread TID on CPU at TIME_NS. */
static void
play (LnsCpuKind kind, uint32_t tid, uint32_t cpu, int64_t time_ns, uint64_t value)
{
  const LnsCpuHead head = { .kind = (uint16_t)kind,
                            .n_words = sizeof head / 8,
                            .tid = tid,
                            .cpu = cpu,
                            .time_ns = T0 + time_ns,
                            .value = value };
  LNS_CHECK_INT (lns_decoder_take_cpu (decoder, (const uint8_t *)&head, sizeof head, INT64_MAX),
                 sizeof head);
}

/* Plays the loss of records from FROM_NS to TIME_NS. */
static void
play_lost (int64_t from_ns, int64_t time_ns)
{
  struct
  {
    LnsCpuHead head;
    int64_t from_ns;
  } lost = {
    { .kind = LNS_CPU_LOST, .n_words = sizeof lost / 8, .time_ns = T0 + time_ns, .value = 5 },
    T0 + from_ns
  };
  LNS_CHECK_INT (lns_decoder_take_cpu (decoder, (const uint8_t *)&lost, sizeof lost, INT64_MAX),
                 sizeof lost);
}

/* A decoder, a report, and both threads. */
static void
begin (void)
{
  const LnsWireClockPair first = pair_at (0), last = pair_at (LAST_NS);
  LnsProcessInfo info = {
    .pid = 10, .target_pid = 10, .parent = UINT32_MAX, .start_ns = T0, .name = strdup ("test")
  };
  LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = T0 };
  LnsError error = { 0 };
  decoder = lns_decoder_new (&first, &(LnsDomainFilter){ 0 });
  lns_decoder_add_pair (decoder, &last);
  lns_decoder_set_process (decoder, 0, &info);
  lns_process_info_clear (&info);
  path = fixture_path ("cpu.rep");
  writer = lns_writer_create (path, &options, &error);
  if (writer == NULL)
    LNS_FAIL ("%s", error.message);
  lns_decoder_start_report (decoder, writer, 0);
  play (LNS_CPU_SWITCH, RUNNER, 3, 100, LNS_CPU_IN);
  play (LNS_CPU_SWITCH, WAITER, 4, 100, LNS_CPU_IN);
  play (LNS_CPU_SWITCH, WAITER, 4, 200, LNS_CPU_OUT_INTERRUPTIBLE);
}

static void
finish (int64_t end_ns)
{
  LnsError error = { 0 };
  lns_decoder_stop_report (decoder, end_ns);
  if (!lns_writer_finish (writer, LNS_STATE_COMPLETE, end_ns, &error))
    LNS_FAIL ("%s", error.message);
  report = fixture_open (path, NULL);
}

static void
end (void)
{
  lns_report_close (report);
  lns_decoder_free (decoder);
}

/* What the lane of KIND of thread TID, or of a CPU with this number, is expected to have. */
typedef struct
{
  int64_t start_ns, duration_ns;
  uint32_t flags;
  uint64_t state; /* of a thread */
} Wanted;

static uint32_t
find_lane (LnsLaneKind kind, uint32_t number)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrack *track = &lns_report_tracks (report, NULL)[lanes[i].track];
      if (lanes[i].kind == kind &&
          number == (kind == LNS_LANE_SCHED
                         ? (uint32_t)lns_report_threads (report, NULL)[track->thread].tid
                         : track->number))
        return i;
    }
  LNS_FAIL ("%u has no lane of kind %d", number, kind);
  return 0;
}

static void
check_lane (LnsLaneKind kind, uint32_t number, const Wanted *wanted, size_t n)
{
  const uint32_t lane = find_lane (kind, number);
  LNS_CHECK_INT (lns_report_lane_info (report, lane)->n_events, n);
  for (size_t i = 0; i < n; i++)
    {
      LnsEvent event;
      LnsError error = { 0 };
      if (!lns_report_event (report, lane, i, &event, &error))
        LNS_FAIL ("%s", error.message);
      LNS_CHECK_INT (event.start_ns, wanted[i].start_ns);
      LNS_CHECK_INT (event.duration_ns, wanted[i].duration_ns);
      LNS_CHECK_INT (event.flags, wanted[i].flags);
      if (kind == LNS_LANE_SCHED)
        LNS_CHECK_INT (event.extra[lns_lane_kind_extra (kind, LNS_COLUMN_THREAD_STATE)],
                       wanted[i].state);
    }
}

#define CHECK_LANE(kind, number, ...)                                                              \
 do                                                                                                \
  {                                                                                                \
   const Wanted wanted[] = { __VA_ARGS__ };                                                        \
   check_lane (LNS_LANE_##kind, number, wanted, sizeof wanted / sizeof *wanted);                   \
  }                                                                                                \
 while (0)

/* A capture range ends before the clock's last reading: a thread is known to run up to there. */
static void
what_runs_ends_with_the_range (void)
{
  begin ();
  finish (500);
  CHECK_LANE (SCHED, RUNNER, { 100, 400, LNS_EVENT_OPEN_END, RUNNING });
  CHECK_LANE (CPU_RUN, 3, { 100, 400, LNS_EVENT_OPEN_END });
  LNS_CHECK_INT (lns_report_info (report)->end_ns, 500);
  end ();
}

/* Between ranges nothing is recorded: neither that a thread runs, nor that it waits. */
static void
a_pause_ends_what_is_known (void)
{
  begin ();
  play (LNS_CPU_PAUSE, 0, 0, 400, 0);
  play (LNS_CPU_SWITCH, RUNNER, 3, 700, LNS_CPU_IN);
  play (LNS_CPU_SWITCH, WAITER, 4, 800, LNS_CPU_IN);
  finish (900);
  CHECK_LANE (SCHED, RUNNER, { 100, 300, LNS_EVENT_OPEN_END, RUNNING },
              { 400, 0, LNS_EVENT_END_UNKNOWN, NOT_TOLD },
              { 700, 200, LNS_EVENT_OPEN_END, RUNNING });
  CHECK_LANE (SCHED, WAITER, { 100, 100, 0, RUNNING }, { 200, 0, 0, INTERRUPTIBLE },
              { 400, 0, LNS_EVENT_END_UNKNOWN, NOT_TOLD },
              { 800, 100, LNS_EVENT_OPEN_END, RUNNING });
  CHECK_LANE (CPU_RUN, 3, { 100, 300, LNS_EVENT_OPEN_END }, { 700, 200, LNS_EVENT_OPEN_END });
  end ();
}

/* What is not known does not begin twice. */
static void
a_second_pause_says_nothing (void)
{
  begin ();
  play (LNS_CPU_PAUSE, 0, 0, 400, 0);
  play (LNS_CPU_PAUSE, 0, 0, 600, 0);
  finish (900);
  CHECK_LANE (SCHED, WAITER, { 100, 100, 0, RUNNING }, { 200, 0, 0, INTERRUPTIBLE },
              { 400, 0, LNS_EVENT_END_UNKNOWN, NOT_TOLD });
  end ();
}

/* A thread that was woken before a pause did not wait for a CPU until after it, as far as is known. */
static void
a_waking_before_a_pause_is_forgotten (void)
{
  begin ();
  play (LNS_CPU_WAKING, RUNNER, 3, 300, WAITER);
  play (LNS_CPU_PAUSE, 0, 0, 400, 0);
  play (LNS_CPU_SWITCH, WAITER, 4, 800, LNS_CPU_IN);
  finish (900);
  LnsEvent event;
  LNS_CHECK (lns_report_event (report, find_lane (LNS_LANE_SCHED, WAITER), 3, &event, NULL));
  LNS_CHECK_INT (event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_REMAINDER)], 0);
  end ();
}

/* States are known up to where records are missing from, and not if they began after that. */
static void
a_loss_ends_what_is_known (void)
{
  begin ();
  play (LNS_CPU_SWITCH, WAITER, 4, 500, LNS_CPU_IN);
  play_lost (300, 600);
  play (LNS_CPU_SWITCH, RUNNER, 3, 700, LNS_CPU_IN);
  finish (900);
  CHECK_LANE (SCHED, RUNNER, { 100, 200, LNS_EVENT_OPEN_END, RUNNING },
              { 300, 0, LNS_EVENT_END_UNKNOWN, NOT_TOLD },
              { 700, 200, LNS_EVENT_OPEN_END, RUNNING });
  CHECK_LANE (SCHED, WAITER, { 100, 100, 0, RUNNING }, { 200, 0, 0, INTERRUPTIBLE },
              { 500, 0, LNS_EVENT_END_UNKNOWN, RUNNING },
              { 500, 0, LNS_EVENT_END_UNKNOWN, NOT_TOLD });
  CHECK_LANE (CPU_RUN, 3, { 100, 200, LNS_EVENT_OPEN_END }, { 700, 200, LNS_EVENT_OPEN_END });
  CHECK_LANE (CPU_RUN, 4, { 100, 100, 0 }, { 500, 0, LNS_EVENT_END_UNKNOWN });
  end ();
}

/* If it is not known since when records are missing, nothing is known of what goes on. */
static void
a_loss_without_a_start_leaves_nothing (void)
{
  begin ();
  play_lost (600, 600);
  finish (900);
  CHECK_LANE (SCHED, RUNNER, { 100, 0, LNS_EVENT_END_UNKNOWN, RUNNING },
              { 100, 0, LNS_EVENT_END_UNKNOWN, NOT_TOLD });
  CHECK_LANE (SCHED, WAITER, { 100, 100, 0, RUNNING }, { 200, 0, 0, INTERRUPTIBLE },
              { 200, 0, LNS_EVENT_END_UNKNOWN, NOT_TOLD });
  end ();
}

/* What was known before a report begins, and is not any more then, is not in it. */
static void
what_is_lost_before_a_report_is_not_in_it (void)
{
  begin ();
  finish (500);
  lns_report_close (report);
  const LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = T0 };
  path = fixture_path ("next.rep");
  writer = lns_writer_create (path, &options, NULL);
  lns_decoder_start_report (decoder, writer, 600);
  play_lost (550, 700);
  play (LNS_CPU_SWITCH, RUNNER, 3, 800, LNS_CPU_IN);
  play (LNS_CPU_SWITCH, WAITER, 4, 850, LNS_CPU_IN);
  finish (900);
  CHECK_LANE (SCHED, RUNNER, { 800, 100, LNS_EVENT_OPEN_END, RUNNING });
  CHECK_LANE (SCHED, WAITER, { 850, 50, LNS_EVENT_OPEN_END, RUNNING });
  end ();
}

int
main (void)
{
  LNS_TEST (what_runs_ends_with_the_range);
  LNS_TEST (a_pause_ends_what_is_known);
  LNS_TEST (a_second_pause_says_nothing);
  LNS_TEST (a_waking_before_a_pause_is_forgotten);
  LNS_TEST (a_loss_ends_what_is_known);
  LNS_TEST (a_loss_without_a_start_leaves_nothing);
  LNS_TEST (what_is_lost_before_a_report_is_not_in_it);
  return lns_tap_done ();
}

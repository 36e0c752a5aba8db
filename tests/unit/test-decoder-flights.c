/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays launches and kernels that come late, or never, into the decoder, and checks what it counts. */

#include "tests/unit/decoder-cuda-fixture.h"

/* Of each launch that a report has, it has the kernel or counts it; a kernel that comes later is in no
 * other report, whether that comes before its call or after it. */
static void
a_launch_is_recorded_or_counted_once (void)
{
  begin ();
  LnsWireCudaLaunchBytes launch = launch_of (0, 0, 4);
  LnsWireCudaApiBytes calls[] = { call_at (10, 1, LNS_WIRE_CUDA_CALL_LAUNCH),
                                  call_at (20, 2, LNS_WIRE_CUDA_CALL_LAUNCH),
                                  call_at (30, 3, LNS_WIRE_CUDA_CALL_LAUNCH), call_at (40, 4, 0),
                                  call_at (50, 5, LNS_WIRE_CUDA_CALL_LAUNCH) };
  calls[4].return_value = 1; /* nothing was launched */
  LnsWireCudaKernelBytes first = kernel_at (60, 70, 0, 1), second = kernel_at (70, 80, 0, 2),
                         third = kernel_at (400, 600, 0, 3), next = kernel_at (610, 620, 0, 7);
  ADD (launch);
  ADD (first); /* before its call */
  for (int i = 0; i < 5; i++)
    ADD (calls[i]);
  ADD (second);
  play ();
  end_range (300);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 1);
  begin_next (500);
  LnsWireCudaApiBytes after = call_at (600, 7, LNS_WIRE_CUDA_CALL_LAUNCH);
  ADD (third);
  ADD (after);
  ADD (next);
  play ();
  lns_decoder_write_held (decoder);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 0);
  LNS_CHECK_INT (lns_decoder_take_between (decoder).n_late, 0); /* it was told of */
  finish ();
  LnsEvent events[2];
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_KERNEL, events, 2), 1);
  LNS_CHECK_INT (column (&events[0], LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION), 7);
  end ();
}

/* Ids of calls wrap; and a launch whose kernel does not come for so many calls is counted once. */
static void
launches_are_followed_for_many_calls (void)
{
  static const uint32_t ids[] = { UINT32_MAX - 1, UINT32_MAX, 1, 2 };
  begin ();
  LnsWireCudaLaunchBytes launch = launch_of (0, 0, 4);
  ADD (launch);
  for (int i = 0; i < 4; i++)
    {
      LnsWireCudaApiBytes call = call_at (10 + i, ids[i], LNS_WIRE_CUDA_CALL_LAUNCH);
      ADD (call);
    }
  for (int i = 0; i < 3; i++)
    {
      LnsWireCudaKernelBytes kernel = kernel_at (60 + 10 * i, 65 + 10 * i, 0, ids[i]);
      ADD (kernel);
    }
  play ();
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 0);
  LnsWireCudaApiBytes far = call_at (100, 2 + (1u << 22), LNS_WIRE_CUDA_CALL_LAUNCH);
  LnsWireCudaKernelBytes last = kernel_at (110, 120, 0, 2 + (1u << 22));
  ADD (far);
  ADD (last);
  play ();
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 1);
  end_range (300);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 1);
  begin_next (500);
  finish ();
  end ();
}

/* A kernel may be known not to have ended before its call is there, and before the report of its call begins. */
static void
an_unfinished_kernel_is_of_its_calls_report (void)
{
  begin ();
  end_range (300);
  LnsWireCudaKernelBytes unfinished = { .head.type = LNS_WIRE_CUDA_KERNEL, .correlation = 4 };
  ADD (unfinished);
  play ();
  begin_next (500);
  LNS_CHECK_INT (lns_decoder_take_between (decoder).n_late, 0);
  LnsWireCudaApiBytes call = call_at (600, 4, LNS_WIRE_CUDA_CALL_LAUNCH);
  ADD (call);
  play ();
  lns_decoder_write_held (decoder);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 1);
  finish ();
  end ();
}

static LnsWireCudaSyncBytes
sync_at (int64_t ms, uint32_t correlation, uint32_t type, uint32_t context, uint32_t stream)
{
  return (LnsWireCudaSyncBytes){
    .head = { .ticks = AT (ms), .type = LNS_WIRE_CUDA_SYNC },
    .correlation = correlation,
    .end_ticks = AT (ms + 1),
    .place = { LNS_WIRE_CUDA_NONE, context, stream },
    .type = type,
  };
}

/* A forced flush gives back kernels without times. Those whose stream or context was waited for had ended all the same, so
 * CUPTI has lost them. */
static void
a_kernel_without_times_that_was_waited_for_is_lost (void)
{
  begin ();
  enum
  {
    STREAM = 3,
    CONTEXT = 4
  };
  LnsWireCudaSyncBytes of_stream = sync_at (60, 20, STREAM, 1, 7),
                       of_context = sync_at (70, 30, CONTEXT, 2, LNS_WIRE_CUDA_NONE),
                       failed = sync_at (80, 40, CONTEXT, 1, LNS_WIRE_CUDA_NONE);
  failed.return_value = 1;
  const struct
  {
    uint32_t correlation, context, stream;
  } kernels[] = { { 10, 1, 7 }, { 11, 1, 8 }, { 21, 1, 7 }, { 12, 2, 9 }, { 31, 2, 9 } };
  for (int i = 0; i < 5; i++)
    {
      LnsWireCudaApiBytes call =
          call_at (10 + i, kernels[i].correlation, LNS_WIRE_CUDA_CALL_LAUNCH);
      LnsWireCudaKernelBytes unfinished = { .head.type = LNS_WIRE_CUDA_KERNEL,
                                            .correlation = kernels[i].correlation,
                                            .grid_id = AT (71),
                                            .place = { 0, kernels[i].context, kernels[i].stream } };
      ADD (unfinished);
      if (i != 3) /* one whose call is missing */
        ADD (call);
    }
  ADD (of_stream);
  ADD (of_context);
  ADD (failed);
  play ();
  end_range (300);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_mistimed, 2);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 3);
  begin_next (500);
  finish ();
  end ();
}

/* One that the program has waited for, and one that it has not. */
static void
a_copy_without_times_that_was_waited_for_is_lost (void)
{
  begin ();
  LnsWireCudaSyncBytes wait = sync_at (60, 20, 3, 1, 7);
  for (uint32_t stream = 7; stream <= 8; stream++)
    {
      LnsWireCudaApiBytes call = call_at (10 + stream, 10 + stream, 0);
      LnsWireCudaKernelBytes copy = { .head = { .type = LNS_WIRE_CUDA_KERNEL, .depth = 1 },
                                      .correlation = 10 + stream,
                                      .grid_id = UINT64_MAX,
                                      .place = { 0, 1, stream } };
      ADD (copy);
      ADD (call);
    }
  ADD (wait);
  play ();
  end_range (300);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_mistimed, 1);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 1);
  begin_next (500);
  finish ();
  end ();
}

/* The program goes on when CUPTI is asked for what has not ended, and waits for that then. Records come in any order. */
static void
a_kernel_that_was_waited_for_later_had_not_ended (void)
{
  for (int order = 0; order < 2; order++)
    {
      begin ();
      LnsWireCudaSyncBytes before = sync_at (30, 15, 3, 1, 7), after = sync_at (60, 25, 3, 1, 7);
      LnsWireCudaApiBytes calls[] = { call_at (10, 10, LNS_WIRE_CUDA_CALL_LAUNCH),
                                      call_at (40, 20, LNS_WIRE_CUDA_CALL_LAUNCH) };
      ADD (before);
      for (int i = 0; i < 2; i++)
        {
          LnsWireCudaKernelBytes untimed = { .head.type = LNS_WIRE_CUDA_KERNEL,
                                             .correlation = calls[i].correlation,
                                             .grid_id = AT (50),
                                             .place = { 0, 1, 7 } };
          if (order == 0)
            ADD (after);
          ADD (untimed);
          ADD (calls[i]);
          if (order == 1)
            ADD (after);
        }
      play ();
      end_range (300);
      /* The first one had ended. That is not known any more if a later call has been seen. */
      LNS_CHECK_INT (lns_decoder_counters (decoder).n_mistimed, order);
      LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 2 - order);
      begin_next (500);
      finish ();
      end ();
    }
}

/* Launches that go into a graph do not run; kernels without times, and those that are told as lost, are
 * not counted twice. */
static void
what_is_not_to_come_is_not_counted (void)
{
  begin ();
  LnsWireCudaApiBytes calls[] = { call_at (10, 1, LNS_WIRE_CUDA_CALL_CAPTURE),
                                  call_at (20, 2, LNS_WIRE_CUDA_CALL_LAUNCH),
                                  call_at (30, 3, LNS_WIRE_CUDA_CALL_CAPTURED),
                                  call_at (40, 4, LNS_WIRE_CUDA_CALL_LAUNCH),
                                  call_at (50, 5, LNS_WIRE_CUDA_CALL_LAUNCH) };
  LnsWireCudaKernelBytes unfinished = { .head.type = LNS_WIRE_CUDA_KERNEL, .correlation = 4 };
  LnsWireCudaDroppedBytes dropped = { .head = { .ticks = AT (60), .type = LNS_WIRE_CUDA_DROPPED },
                                      .count = 1 };
  for (int i = 0; i < 5; i++)
    ADD (calls[i]);
  ADD (unfinished);
  ADD (dropped);
  play ();
  end_range (300);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 1);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_dropped, 1);
  ADD (dropped); /* while there is no report */
  play ();
  begin_next (500);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_dropped, 1);
  LNS_CHECK_INT (lns_decoder_take_between (decoder).n_dropped, 0);
  finish ();
  uint64_t n_lost = 0;
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (report, &n);
  for (uint32_t i = 0; i < n; i++)
    n_lost += losses[i].others;
  LNS_CHECK_INT (n_lost, 1);
  end ();
}

/* CUPTI gives buffers back in any order, and two threads may pass them on, so a launch may come before the call that began
 * its capture, or after the one that ended it. */
static void
captures_are_known_in_any_order (void)
{
  enum
  {
    N = 6,
    N_ORDERS = 4
  };
  static const int orders[N_ORDERS][N] = {
    { 1, 2, 3, 0, 4, 5 }, { 4, 3, 0, 1, 2, 5 }, { 5, 4, 3, 2, 1, 0 }, { 3, 0, 5, 4, 2, 1 }
  };
  for (int order = 0; order < N_ORDERS; order++)
    {
      begin ();
      LnsWireCudaApiBytes calls[N] = {
        call_at (10, 1, LNS_WIRE_CUDA_CALL_CAPTURE), call_at (20, 2, LNS_WIRE_CUDA_CALL_LAUNCH),
        call_at (30, 3, LNS_WIRE_CUDA_CALL_LAUNCH),  call_at (40, 4, LNS_WIRE_CUDA_CALL_CAPTURED),
        call_at (50, 5, LNS_WIRE_CUDA_CALL_LAUNCH),  call_at (25, 6, LNS_WIRE_CUDA_CALL_LAUNCH)
      };
      calls[5].tid = 11; /* captures nothing */
      for (int i = 0; i < N; i++)
        {
          ADD (calls[orders[order][i]]);
          play ();
        }
      end_range (300);
      LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 2);
      begin_next (500);
      finish ();
      end ();
    }
}

/* Calls and copies that come when the report of their range has ended are counted, in no report. */
static void
what_comes_too_late_is_counted (void)
{
  begin ();
  LnsWireCudaApiBytes in_time = call_at (200, 8, 0),
                      late = call_at (100, 5, LNS_WIRE_CUDA_CALL_LAUNCH),
                      between = call_at (400, 9, 0);
  LnsWireCudaMemcpyBytes copy = { .head = { .ticks = AT (600), .type = LNS_WIRE_CUDA_MEMCPY },
                                  .correlation = 6,
                                  .end_ticks = AT (700),
                                  .place = { .device = 0, .context = 1, .stream = 7 } };
  LnsWireCudaLaunchBytes launch = launch_of (0, 0, 4);
  LnsWireCudaKernelBytes its_kernel = kernel_at (110, 120, 0, 5);
  ADD (in_time);
  ADD (launch);
  play ();
  end_range (300);
  ADD (late);
  ADD (its_kernel);
  ADD (between);
  play ();
  begin_next (500);
  ADD (copy);
  play ();
  LNS_CHECK_INT (lns_decoder_take_between (decoder).n_late, 3); /* the call, its kernel, the copy */
  LNS_CHECK_INT (lns_decoder_take_between (decoder).n_late, 0);
  finish ();
  LnsEvent event;
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_MEMCPY, &event, 1), 0);
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, &event, 1), 0);
  end ();
}

/* CUpti_ActivityAPI, the same in all versions. */
typedef struct
{
  uint32_t kind, cbid;
  uint64_t start, end;
  uint32_t process, thread, correlation, return_value;
} CuptiCall;

#define CUPTI_RUNTIME 5 /* CUPTI_ACTIVITY_KIND_RUNTIME */

/* What a killed process had no time to compact says of a call which it is, but not that it launches. */
static void
launches_of_a_killed_process_are_counted (void)
{
#ifndef LNS_HAVE_CUPTI
  LNS_SKIP ("the build has no headers of CUPTI");
#endif
  LnsWireCudaApiBytes known = call_at (10, 1, LNS_WIRE_CUDA_CALL_LAUNCH);
  LnsWireCudaApiBytes other = call_at (12, 2, 0);
  const CuptiCall left[] = {
    { CUPTI_RUNTIME, known.cbid, AT (20), AT (25), 1, 10, 3, 0 },
    { CUPTI_RUNTIME, known.cbid, AT (30), AT (35), 1, 10, 4, 0 },
    { CUPTI_RUNTIME, other.cbid, AT (40), AT (45), 1, 10, 5, 0 },
  };
  LnsWireCudaLaunchBytes launch = launch_of (0, 0, 4);
  LnsWireCudaKernelBytes first = kernel_at (60, 70, 0, 1), second = kernel_at (70, 80, 0, 3);
  LnsSalvage *salvage = calloc (1, sizeof *salvage + sizeof left);
  salvage->sizes.version = 130001;
  salvage->sizes.record_bytes[CUPTI_RUNTIME] = sizeof *left;
  memcpy (salvage->bytes, left, sizeof left);
  salvage->n_bytes = sizeof left;
  begin ();
  ADD (launch);
  ADD (known);
  ADD (other);
  ADD (first);
  ADD (second); /* of a call that is left */
  play ();
  play_buffer (0, salvage);
  free (salvage);
  lns_decoder_end_process (decoder, 0, AT (100), NULL);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_unfinished, 1);
  finish ();
  LnsEvent events[6];
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, events, 6), 5);
  end ();
}

int
main (void)
{
  LNS_TEST (a_launch_is_recorded_or_counted_once);
  LNS_TEST (launches_are_followed_for_many_calls);
  LNS_TEST (an_unfinished_kernel_is_of_its_calls_report);
  LNS_TEST (a_kernel_without_times_that_was_waited_for_is_lost);
  LNS_TEST (a_copy_without_times_that_was_waited_for_is_lost);
  LNS_TEST (a_kernel_that_was_waited_for_later_had_not_ended);
  LNS_TEST (what_is_not_to_come_is_not_counted);
  LNS_TEST (captures_are_known_in_any_order);
  LNS_TEST (what_comes_too_late_is_counted);
  LNS_TEST (launches_of_a_killed_process_are_counted);
  return lns_tap_done ();
}

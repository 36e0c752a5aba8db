/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays records into the decoder as the CUDA engine writes them, and damaged ones, and checks the
 * report. */

#include <math.h>

#include "capture/session/decode/gpu/gpu.h"
#include "src/store/format/gpu-metrics.h"
#include "tests/unit/decoder-cuda-fixture.h"

static bool is_memory_short;

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
/* glibc lets a program have its own allocator; this one can refuse. */
void *__libc_calloc (size_t n, size_t size_bytes);

void *
calloc (size_t n, size_t size_bytes)
{
  return is_memory_short ? NULL : __libc_calloc (n, size_bytes);
}
#endif

static void
slots_get_new_meanings (void)
{
  begin ();
  record_named (&text, LNS_WIRE_REGISTERED, 0, REGISTERED | 1, "_Z3addi");
  LnsWireCudaLaunchBytes first = launch_of (3, REGISTERED | 1, 5), second = launch_of (3, 0, 6);
  LnsWireCudaKernelBytes a = kernel_at (100, 200, 3, 1), b = kernel_at (300, 400, 3, 2);
  ADD (first);
  ADD (a);
  ADD (second);
  ADD (b);
  ADD (first);
  LnsWireCudaKernelBytes c = kernel_at (500, 600, 3, 3);
  ADD (c);
  play ();
  finish ();
  LnsEvent events[3];
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_KERNEL, events, 3), 3);
  LNS_CHECK_STR (name_of (&events[0]), "add(int)");
  LNS_CHECK_STR (name_of (&events[1]), "(kernel whose name is lost)");
  LNS_CHECK_STR (name_of (&events[2]), "add(int)");
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (report, &n);
  LNS_CHECK_INT (n, 2);
  const uint64_t at[] = { column (&events[0], LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH),
                          column (&events[1], LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH) };
  LNS_CHECK_INT (launches[at[0]].grid[0], 5);
  LNS_CHECK_INT (launches[at[1]].grid[0], 6);
  LNS_CHECK_STR (lns_report_string (report, launches[at[0]].short_name, NULL), "add");
  end ();
}

/* Times before the session, ends before beginnings, slots that nobody has, devices, contexts and streams of
 * which nobody told. */
static void
what_cannot_be_is_put_right_or_left_out (void)
{
  begin ();
  LnsWireCudaLaunchBytes launch = launch_of (0, 0, 1), outside = launch_of (4096, 0, 1);
  LnsWireCudaKernelBytes early = kernel_at (-900000, 50, 0, 1),
                         backwards = kernel_at (500, 100, 0, 2),
                         no_slot = kernel_at (600, 700, 9, 3),
                         far_slot = kernel_at (800, 900, 1 << 30, 4);
  backwards.place = (LnsWireCudaPlace){ LNS_WIRE_CUDA_NONE, 77, LNS_WIRE_CUDA_NONE };
  ADD (launch);
  ADD (outside);
  ADD (early);
  ADD (backwards);
  ADD (no_slot);
  ADD (far_slot);
  play ();
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_refused, 2);
  finish ();
  LnsEvent events[4];
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_KERNEL, events, 4), 2);
  for (int i = 0; i < 2; i++)
    if (column (&events[i], LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION) == 1)
      {
        LNS_CHECK_INT (events[i].start_ns, 0);
        LNS_CHECK_INT (events[i].duration_ns, 50);
      }
    else
      {
        LNS_CHECK_INT (events[i].start_ns, 500);
        LNS_CHECK_INT (events[i].duration_ns, 0);
      }
  uint32_t n;
  LNS_CHECK (lns_report_contexts (report, &n) != NULL && n == 2);
  end ();
}

/* A kernel on a stream for which, with its context and device, there is no memory is one that is left out. */
static void
what_memory_is_short_for_counts_once (void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  LNS_SKIP ("the sanitizer has an allocator of its own");
#endif
  begin ();
  LnsWireCudaLaunchBytes launch = launch_of (3, 0, 1);
  LnsWireCudaKernelBytes first = kernel_at (100, 200, 3, 1), second = kernel_at (300, 400, 3, 2);
  second.place = (LnsWireCudaPlace){ .device = 1, .context = 2, .stream = 8 };
  ADD (launch);
  ADD (first);
  play ();
  ADD (second);
  is_memory_short = true;
  play ();
  is_memory_short = false;
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_refused, 1);
  finish ();
  end ();
}

/* Bit N of DATA: those of correlation N. */
static bool
is_of (const void *data, const LnsWireHead *head, uint32_t correlation)
{
  return (*(const uint64_t *)data >> correlation % 64 & 1) != 0;
}

/* Looks through all that was added for the events that WANTED has a bit for, first through the records up to N_FIRST
 * bytes, and then plays the rest. */
static void
take_and_play (uint64_t wanted, size_t n_first)
{
  const LnsDecoderSource source = { .process = 0, .stream = 1, .tid = 10 };
  LnsTaking taking = { .is_wanted = is_of, .data = &wanted };
  uint8_t *second = text.bytes + n_first;
  size_t n_second = text.n_bytes - n_first;
  lns_decoder_define (decoder, &source, text.bytes, text.n_bytes);
  n_first = lns_decoder_take_cuda (decoder, &taking, &source, text.bytes, n_first);
  n_second = lns_decoder_take_cuda (decoder, &taking, &source, second, n_second);
  lns_decoder_end_taking (&taking);
  lns_decoder_play (decoder, &source, text.bytes, n_first);
  lns_decoder_play (decoder, &source, second, n_second);
}

/* What is played out of its turn, and what stays, each has the launch that was told before it, in an earlier batch or in
 * the same. */
static void
events_are_taken_out_of_their_turn (void)
{
  for (unsigned i_case = 0; i_case < 16 * 5; i_case++)
    {
      const uint64_t wanted = i_case % 16;
      size_t n_first = 0;
      begin ();
      record_named (&text, LNS_WIRE_REGISTERED, 0, REGISTERED | 1, "_Z3addi");
      record_named (&text, LNS_WIRE_REGISTERED, 0, REGISTERED | 2, "_Z3subi");
      LnsWireCudaLaunchBytes first = launch_of (3, REGISTERED | 1, 5),
                             second = launch_of (3, REGISTERED | 2, 6);
      ADD (first);
      play ();
      for (uint32_t i = 0; i < 4; i++)
        {
          LnsWireCudaKernelBytes kernel = kernel_at (100 + i * 100, 150 + i * 100, 3, i);
          if (i == 2)
            ADD (second);
          if (i == i_case / 16)
            n_first = text.n_bytes;
          ADD (kernel);
        }
      take_and_play (wanted, n_first);
      finish ();
      LnsEvent events[4];
      LNS_CHECK_INT (events_of (LNS_LANE_CUDA_KERNEL, events, 4), 4);
      for (int i = 0; i < 4; i++)
        LNS_CHECK_STR (name_of (&events[i]), i < 2 ? "add(int)" : "sub(int)");
      LNS_CHECK_INT (lns_decoder_counters (decoder).n_bad_chunks, 0);
      LNS_CHECK_INT (lns_decoder_counters (decoder).n_refused, 0);
      end ();
    }
}

/* Every record type, cut to every length, and filled with bytes of all kinds: nothing of it may do more than
 * leave out or make up an event. */
static void
hostile_bytes_do_no_harm (void)
{
  uint64_t state = 42;
  begin ();
  for (int round = 0; round < 300; round++)
    {
      for (unsigned type = LNS_WIRE_CUDA_FIRST; type <= LNS_WIRE_CUDA_LAST; type++)
        {
          uint64_t words[40];
          for (unsigned i = 0; i < 40; i++)
            words[i] = round % 3 == 0 ? UINT64_MAX : fixture_random (&state);
          LnsWireHead head = { .ticks = words[0], .type = (uint8_t)type };
          head.string = round % 2 == 0 ? (uint32_t)words[1] % 8 : (uint32_t)words[1];
          memcpy (words, &head, sizeof head);
          add_cut (words, sizeof words, 32 + fixture_random (&state) % (sizeof words - 48));
          if (text.n_bytes <= sizeof text.bytes - 1024)
            continue;
          const LnsDecoderSource source = { .process = 0, .stream = 1, .tid = 10 };
          LnsTaking taking = { .is_wanted = is_of, .data = words };
          text.n_bytes =
              lns_decoder_take_cuda (decoder, &taking, &source, text.bytes, text.n_bytes);
          lns_decoder_end_taking (&taking);
          play ();
        }
    }
  play ();
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_bad_chunks, 0);
  finish ();
  LNS_CHECK (lns_report_info (report)->n_events > 0);
  end ();
}

/* Buffers of a killed process may hold anything too, and what it says of their records' sizes. */
static void
hostile_buffers_do_no_harm (void)
{
  uint64_t state = 7;
  const size_t n_most = 8192;
  LnsSalvage *left = calloc (1, sizeof *left + n_most);
  left->sizes.version = 130001;
  LnsWireCuptiClock told = { 0 };
  begin ();
  for (int round = 0; round < 500; round++)
    {
      told.sides[0].n = round % 40;
      for (unsigned i = 0; i < LNS_WIRE_CUPTI_JOINTS; i++)
        told.sides[0].joints[i] = (LnsWireCuptiJoint){
          (round % 4 == 0 ? 0 : i * 1000) + fixture_random (&state) % 999,
          (round % 4 == 1 ? 0 : i) * (UINT64_C (1) << 57) + fixture_random (&state) % 999,
          fixture_random (&state) >> (round % 8 == 2 ? 0 : 14),
        };
      (void)lns_wire_cupti_clock_copy (&told, NULL, &left->clock);
      for (unsigned i = 0; i < LNS_WIRE_CUPTI_KINDS; i++)
        left->sizes.record_bytes[i] =
            (uint16_t)(fixture_random (&state) % (round % 2 == 0 ? 256 : 65536));
      for (unsigned i = 0; i < n_most; i += 8)
        {
          uint64_t word = i % 64 == 0 ? 1 + fixture_random (&state) % 60 : fixture_random (&state);
          memcpy (left->bytes + i, &word, sizeof word);
        }
      left->n_bytes = fixture_random (&state) % n_most;
      play_buffer (0, left);
      play_buffer (99, left);
    }
  free (left);
  finish ();
  end ();
}

static void
problems_are_told_once_with_their_names (void)
{
  begin ();
  LnsWireCudaProblemBytes problem = {
    .head = { .ticks = AT (5), .type = LNS_WIRE_CUDA_PROBLEM, .string = REGISTERED | 2 },
    .problem = LNS_WIRE_PROBLEM_BUSY,
    .result = 39
  };
  LNS_CHECK_INT (lns_decoder_cuda_state (decoder), LNS_CUDA_UNSEEN);
  ADD (problem);
  ADD (problem);
  /* The name comes behind what bears it. */
  record_named (&text, LNS_WIRE_REGISTERED, 0, REGISTERED | 2, "Some Tool");
  play ();
  const LnsUnrecorded *told = lns_decoder_unrecorded (decoder, 0);
  LNS_CHECK (told != NULL && lns_decoder_unrecorded (decoder, 1) == NULL);
  LNS_CHECK_STR (told->code, "LNS-CUDA-003");
  LNS_CHECK (strstr (told->text, "Some Tool") != NULL);
  LNS_CHECK_INT (lns_decoder_cuda_state (decoder), LNS_CUDA_RECORDED);
  finish ();
  end ();
}

/* What each problem is told as, and a word of what it says to do, or of its cause where nothing can be done. */
static void
each_problem_has_its_code (void)
{
  static const struct
  {
    LnsWireCudaProblem problem;
    const char *code, *word;
  } told[] = {
    { LNS_WIRE_PROBLEM_NO_CUPTI, "LNS-CUDA-001", "--cupti-path" },
    { LNS_WIRE_PROBLEM_OLD_CUPTI, "LNS-CUDA-002", "CUDA 11.0 or newer" },
    { LNS_WIRE_PROBLEM_BUSY, "LNS-CUDA-003", "leave out its switch" },
    { LNS_WIRE_PROBLEM_SUBSCRIBE, "LNS-CUDA-004", "CUPTI result" },
    { LNS_WIRE_PROBLEM_ENABLE, "LNS-CUDA-005", "CUPTI result" },
    { LNS_WIRE_PROBLEM_BUFFERS, "LNS-CUDA-006", "--buffer-size" },
    { LNS_WIRE_PROBLEM_FORK, "LNS-CUDA-007", "after a fork" },
    { LNS_WIRE_PROBLEM_FLUSH, "LNS-CUDA-008", "CUPTI result" },
    { LNS_WIRE_PROBLEM_STATE, "LNS-CUDA-009", "CUPTI says" },
    { LNS_WIRE_PROBLEM_UNKNOWN_KIND, "LNS-CUDA-010", "a newer Lanescope" },
    { LNS_WIRE_PROBLEM_LIBRARY, "LNS-CUDA-012", "library's calls" },
    { LNS_WIRE_PROBLEM_CALL, "LNS-CUDA-020", "failed" },
    { LNS_WIRE_PROBLEM_THREAD, "LNS-CUDA-021", "ulimit -u" },
    { LNS_WIRE_PROBLEM_ATTRIBUTE, "LNS-CUDA-022", "may cost more" },
    { LNS_WIRE_PROBLEM_CLOCK, "LNS-CUDA-023", "time was set" },
    { LNS_WIRE_PROBLEM_TAKEN, "LNS-CUDA-026", "torch.profiler" },
    { (LnsWireCudaProblem)99, "LNS-CUDA-010", "problem 99" },
  };

  begin ();
  for (size_t i = 0; i < sizeof told / sizeof *told; i++)
    {
      LnsWireCudaProblemBytes problem = { .head = { .ticks = AT (5),
                                                    .type = LNS_WIRE_CUDA_PROBLEM },
                                          .problem = (uint32_t)told[i].problem,
                                          .result = 11,
                                          .detail = 3 };
      ADD (problem);
    }
  play ();
  for (size_t i = 0; i < sizeof told / sizeof *told; i++)
    {
      const LnsUnrecorded *said = lns_decoder_unrecorded (decoder, i);
      LNS_CHECK (said != NULL);
      LNS_CHECK_STR (said->code, told[i].code);
      LNS_CHECK (strstr (said->text, told[i].word) != NULL);
    }
  LNS_CHECK (lns_decoder_unrecorded (decoder, sizeof told / sizeof *told) == NULL);
  finish ();
  end ();
}

static void
the_state_of_cuda_follows_what_is_said (void)
{
  begin ();
  LnsWireCudaInfoBytes info = { .head = { .type = LNS_WIRE_CUDA_INFO },
                                .cupti_version = 130001,
                                .driver_version = 13000,
                                .header_version = 130001 };
  LnsWireCudaDeviceBytes device = { .head = { .type = LNS_WIRE_CUDA_DEVICE }, .number = 2 };
  memset (device.bus, 'x', sizeof device.bus); /* no end */
  ADD (info);
  play ();
  LNS_CHECK_INT (lns_decoder_cuda_state (decoder), LNS_CUDA_NO_DEVICE);
  ADD (device);
  play ();
  LNS_CHECK_INT (lns_decoder_cuda_state (decoder), LNS_CUDA_IDLE);
  LnsWireCudaApiBytes call = { .head = { .ticks = AT (10), .type = LNS_WIRE_CUDA_API, .depth = 1 },
                               .correlation = 1,
                               .end_ticks = AT (20),
                               .cbid = 2047, /* of no version */
                               .tid = 10 };
  ADD (call);
  play ();
  LNS_CHECK_INT (lns_decoder_cuda_state (decoder), LNS_CUDA_RECORDED);
  finish ();
  LnsEvent event;
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, &event, 1), 1);
  LNS_CHECK_STR (name_of (&event), "CUDA runtime call 2047");
  LNS_CHECK_STR (lns_report_meta (report, "cuda_driver_version"), "13.0");
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (strlen (lns_report_string (report, devices[0].bus, NULL)), sizeof device.bus);
  end ();
}

/* A device's record lacks the bus if it is compacted before the driver was asked for it. What tells the bus comes before the record
 * or after it, in the same batch or in another one. */
static void
a_device_has_its_bus_whenever_it_is_told (void)
{
  for (int order = 0; order < 4; order++)
    {
      LnsWireCudaDeviceBytes device = { .head = { .type = LNS_WIRE_CUDA_DEVICE }, .number = 2 };
      LnsWireCudaUsedBytes used = { .head.type = LNS_WIRE_CUDA_USED,
                                    .device = 2,
                                    .bus = "0000:3b:00.0" };
      uint32_t n;
      begin ();
      if (order % 2 == 0)
        ADD (device);
      else
        ADD (used);
      if (order < 2)
        play ();
      if (order % 2 == 0)
        ADD (used);
      else
        ADD (device);
      play ();
      finish ();
      const LnsCudaDevice *devices = lns_report_devices (report, &n);
      LNS_CHECK_INT (n, 1);
      LNS_CHECK_STR (lns_report_string (report, devices[0].bus, NULL), "0000:3b:00.0");
      end ();
    }
}

/* What ended before a report began is not of it; what a later report needs is told to it again. */
static void
a_later_report_has_its_own (void)
{
  begin ();
  LnsWireCudaLaunchBytes launch = launch_of (0, 0, 4);
  LnsWireCudaKernelBytes first = kernel_at (100, 200, 0, 1), second = kernel_at (500, 600, 0, 2);
  ADD (launch);
  ADD (first);
  struct
  {
    LnsWireMpiCommunicatorBytes made;
    int32_t members[4];
  } communicator = { .made = { .head = { .ticks = AT (150), .type = LNS_WIRE_MPI_COMMUNICATOR },
                               .n_members = 3,
                               .uid = 77,
                               .size = 4 },
                     .members = { 5, 1, 3 } };
  ADD (communicator);
  play ();
  ADD (communicator);
  communicator.made.uid = 78;
  communicator.made.n_members = UINT32_MAX; /* more than there are bytes */
  ADD (communicator);
  communicator.made.uid = 79;
  add_cut (&communicator, sizeof communicator, 32); /* not a whole one: left out */
  play ();
  LnsError error = { 0 };
  lns_decoder_stop_report (decoder, 300);
  LNS_CHECK (lns_writer_finish (writer, LNS_STATE_COMPLETE, 300, &error));
  LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = T0 };
  path = fixture_path ("later.rep");
  writer = lns_writer_create (path, &options, &error);
  LNS_CHECK (writer != NULL);
  lns_decoder_start_report (decoder, writer, 400);
  LNS_CHECK_INT (lns_decoder_cuda_state (decoder), LNS_CUDA_UNSEEN);
  ADD (first);
  ADD (second);
  play ();
  finish ();
  LnsEvent event;
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_KERNEL, &event, 1), 1);
  LNS_CHECK_INT (event.start_ns, 500);
  uint32_t n;
  LNS_CHECK_INT (
      lns_report_launches (report, &n)[column (&event, LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH)]
          .grid[0],
      4);
  (void)lns_report_kept_tables (report, &n);
  LNS_CHECK_INT (n, 1);
  (void)lns_report_kept_rows (report, &n);
  LNS_CHECK_INT (n, 2);
  end ();
}

/* Two threads launch on one stream. CUPTI withholds the buffer of the one for seconds, until its last record is
 * complete, while those of the other come in time. */
static void
withheld_records_find_their_lane (void)
{
  const int64_t second_ns = 1000000000;
  begin ();
  LnsWireCudaLaunchBytes launch = launch_of (3, 0, 5);
  LnsWireCudaKernelBytes early = kernel_at (second_ns, second_ns + 100, 3, 1),
                         later = kernel_at (2 * second_ns, 2 * second_ns + 100, 3, 2);
  LnsWireClockPair pair = { .ticks = AT (6 * second_ns), .monotonic_ns = T0 + 6 * second_ns };
  lns_decoder_add_pair (decoder, &pair);
  lns_decoder_set_withheld (decoder, 0, AT (second_ns / 2));
  ADD (launch);
  ADD (later);
  play ();
  lns_decoder_settle (decoder, 6 * second_ns);
  ADD (early);
  play ();
  lns_decoder_set_withheld (decoder, 0, 0);
  finish ();
  LnsEvent events[3];
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_KERNEL, events, 3), 2);
  LNS_CHECK (events[0].start_ns == second_ns && events[1].start_ns == 2 * second_ns);
  LNS_CHECK_INT ((events[0].flags | events[1].flags) & LNS_EVENT_LATE, 0);
  uint32_t n_lanes, n_of_kernels = 0;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  for (uint32_t i = 0; i < n_lanes; i++)
    n_of_kernels += lanes[i].kind == LNS_LANE_CUDA_KERNEL;
  LNS_CHECK_INT (n_of_kernels, 1);
  end ();
}

/* How many events of KIND the growing report has. */
static uint32_t
n_written (LnsLaneKind kind)
{
  LnsError error = { 0 };
  LnsEvent events[4];
  if (!lns_writer_commit (writer, END_NS, &error))
    LNS_FAIL ("%s", error.message);
  report = fixture_open (path, NULL);
  const uint32_t n = events_of (kind, events, 4);
  lns_report_close (report);
  return n;
}

/* GPU work waits for what CUPTI may still hand out, and no longer. */
static void
work_is_written_when_none_before_it_can_come (void)
{
  const int64_t second_ns = 1000000000;
  begin ();
  LnsWireCudaLaunchBytes launch = launch_of (3, 0, 5);
  LnsWireCudaKernelBytes first = kernel_at (second_ns, 2 * second_ns, 3, 1),
                         second = kernel_at (4 * second_ns, 4 * second_ns + 100, 3, 2);
  LnsWireClockPair pair = { .ticks = AT (5 * second_ns), .monotonic_ns = T0 + 5 * second_ns };
  lns_decoder_add_pair (decoder, &pair);
  lns_decoder_set_withheld (decoder, 0, AT (3 * second_ns / 2));
  ADD (launch);
  ADD (first);
  ADD (second);
  play ();
  lns_decoder_settle (decoder, 5 * second_ns);
  LNS_CHECK_INT (n_written (LNS_LANE_CUDA_KERNEL), 0); /* the first had not ended at the claim */
  lns_decoder_set_withheld (decoder, 0, AT (3 * second_ns));
  lns_decoder_settle (decoder, 5 * second_ns);
  LNS_CHECK_INT (n_written (LNS_LANE_CUDA_KERNEL), 1);
  lns_decoder_set_withheld (decoder, 0, 0);
  lns_decoder_settle (decoder, 4 * second_ns); /* what was written since then is still unread */
  LNS_CHECK_INT (n_written (LNS_LANE_CUDA_KERNEL), 1);
  lns_decoder_settle (decoder, 5 * second_ns);
  LNS_CHECK_INT (n_written (LNS_LANE_CUDA_KERNEL), 2);
  finish ();
  end ();
}

/* The record of a call comes after those of the calls that it contains, and perhaps in the next buffer. */
static void
a_call_is_above_the_calls_that_it_contains (void)
{
  const int64_t second_ns = 1000000000;
  begin ();
  LnsWireCudaApiBytes inner = call_at (second_ns, 2, 0), outer = call_at (second_ns - 100, 1, 0);
  inner.end_ticks = AT (5 * second_ns);
  outer.end_ticks = AT (5 * second_ns + 500000000);
  LnsWireClockPair pair = { .ticks = AT (9 * second_ns), .monotonic_ns = T0 + 9 * second_ns };
  lns_decoder_add_pair (decoder, &pair);
  lns_decoder_set_withheld (decoder, 0, AT (5 * second_ns + 1));
  ADD (inner);
  play ();
  lns_decoder_settle (decoder, 9 * second_ns);
  ADD (outer);
  play ();
  finish ();
  LnsEvent events[3];
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, events, 3), 2);
  LNS_CHECK (events[0].start_ns == second_ns - 100 && events[1].start_ns == second_ns);
  LNS_CHECK_INT ((events[0].flags | events[1].flags) & LNS_EVENT_LATE, 0);
  end ();
}

/* Each library's calls are on the track of the library; a call of a library that nobody knows is refused. */
static void
calls_are_on_their_librarys_track (void)
{
  static const LnsTrackKind expected[] = {
    [LNS_WIRE_CUBLAS] = LNS_TRACK_CUBLAS,
    [LNS_WIRE_CUBLAS_LT] = LNS_TRACK_CUBLAS,
    [LNS_WIRE_CUDNN] = LNS_TRACK_CUDNN,
    [LNS_WIRE_CUSPARSE] = LNS_TRACK_CUSPARSE,
    [LNS_WIRE_CUSOLVER] = LNS_TRACK_CUSOLVER,
    [LNS_WIRE_CUSOLVER_MG] = LNS_TRACK_CUSOLVER,
    [LNS_WIRE_N_LIBRARIES] = 0,
  };
  begin ();
  uint32_t n_known = 0, n_unknown = 0, n_found = 0, n_lanes;
  record_thread (&text, AT (0), 10, 1, "caller");
  for (uint32_t library = 0; library < sizeof expected / sizeof *expected; library++)
    {
      LnsWireLibraryCallBytes call = {
        .head = { .ticks = AT (100 * library), .type = LNS_WIRE_LIBRARY_CALL },
        .library = library,
        .end_ticks = AT (100 * library + 50),
        .return_value = library,
      };
      ADD (call);
      n_known += expected[library] != 0;
      n_unknown += expected[library] == 0;
    }
  play ();
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_refused, n_unknown);
  finish ();
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &(uint32_t){ 0 });
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    for (uint64_t i = 0; i < lns_report_lane_info (report, lane)->n_events; i++, n_found++)
      {
        LnsEvent event;
        LNS_CHECK (lns_report_event (report, lane, i, &event, &(LnsError){ 0 }));
        const uint64_t library = column (&event, LNS_LANE_LIBRARY_CALL, LNS_COLUMN_RETURN_VALUE);
        LNS_CHECK_INT (lanes[lane].kind, LNS_LANE_LIBRARY_CALL);
        LNS_CHECK_INT (tracks[lanes[lane].track].kind, expected[library]);
        LNS_CHECK_INT (event.start_ns, 100 * library);
      }
  LNS_CHECK_INT (n_found, n_known);
  end ();
}

/* A record's own device wins over the one that was assumed for a context which CUPTI has not defined yet. */
static void
work_is_on_its_own_device (void)
{
  begin ();
  LnsWireCudaLaunchBytes launch = launch_of (3, 0, 5);
  LnsWireCudaSyncBytes sync = { .head = { .ticks = AT (50), .type = LNS_WIRE_CUDA_SYNC },
                                .end_ticks = AT (60),
                                .place = { LNS_WIRE_CUDA_NONE, 1, 7 },
                                .type = 3 };
  ADD (launch);
  ADD (sync);
  play ();
  LnsWireClockPair pair = { .ticks = AT (5000000000), .monotonic_ns = T0 + 5000000000 };
  lns_decoder_add_pair (decoder, &pair);
  lns_decoder_settle (
      decoder, 5000000000); /* the wait for its place does not end with that for late events */
  for (uint32_t i = 1; i <= 300; i++)
    {
      LnsWireCudaKernelBytes kernel = kernel_at (100 * i, 100 * i + 50, 3, i);
      kernel.place.device = 1;
      ADD (kernel);
      play ();
    }
  finish ();
  uint32_t n_tracks, n = 0;
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  for (uint32_t i = 0; i < n_tracks; i++)
    if (tracks[i].kind == LNS_TRACK_CUDA_KERNELS || tracks[i].kind == LNS_TRACK_CUDA_SYNC)
      {
        uint32_t n_devices;
        const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);
        LNS_CHECK (tracks[i].device < n_devices && devices[tracks[i].device].number == 1);
        n++;
      }
  LNS_CHECK_INT (n, 2);
  end ();
}

static void
add_switch (int64_t at_ns, uint32_t context, bool is_end)
{
  LnsWireCudaSwitchBytes change = { .head = { .ticks = AT (at_ns), .type = LNS_WIRE_CUDA_SWITCH },
                                    .context = context,
                                    .is_end = is_end };
  ADD (change);
}

/* CUPTI tells that a GPU begins and ends to work for a context, in any order. */
static void
contexts_have_a_gpu_one_after_another (void)
{
  static const struct
  {
    int64_t start_ns, end_ns;
    uint64_t operation;
    uint32_t pid, context, flags;
  } wanted[] = { { 0, 90, 9, 0, 4, LNS_EVENT_OPEN_START },
                 { 90, 90, 7, 0, 4, 0 },
                 { 100, 300, 9, 10, 1, 0 },
                 { 300, 300, 7, 10, 1, 0 },
                 { 300, 400, 9, 77, 2, 0 },
                 { 400, 400, 7, 77, 2, 0 },
                 { 450, 450, 9, 10, 1, LNS_EVENT_END_UNKNOWN },
                 { 500, END_NS, 9, 10, 1, LNS_EVENT_OPEN_END } };
  enum
  {
    N = sizeof wanted / sizeof *wanted
  };
  begin ();
  for (uint32_t context = 1; context <= 2; context++)
    {
      LnsWireCudaContextBytes said = { .head.type = LNS_WIRE_CUDA_CONTEXT,
                                       .number = context,
                                       .pid = context == 2 ? 77 : 0 };
      ADD (said);
    }
  add_switch (300, 1, true);
  add_switch (500, 1, false);
  add_switch (300, 2, false);
  add_switch (400, 2, true);
  play ();
  add_switch (100, 1, false);
  add_switch (450, 1, false);
  add_switch (90, 4, true);
  play ();
  finish ();
  LnsEvent events[N + 1];
  LNS_CHECK_INT (events_of (LNS_LANE_GPU_SWITCH, events, N + 1), N);
  for (int i = 0; i < N; i++)
    {
      const uint64_t place = column (&events[i], LNS_LANE_GPU_SWITCH, LNS_COLUMN_PLACE);
      LNS_CHECK_INT (events[i].start_ns, wanted[i].start_ns);
      LNS_CHECK_INT (events[i].start_ns + events[i].duration_ns, wanted[i].end_ns);
      LNS_CHECK_INT (column (&events[i], LNS_LANE_GPU_SWITCH, LNS_COLUMN_OPERATION),
                     wanted[i].operation);
      LNS_CHECK_INT ((uint32_t)place, wanted[i].pid);
      LNS_CHECK_INT (place >> 32, wanted[i].context);
      LNS_CHECK_INT (events[i].flags, wanted[i].flags);
    }
  LNS_CHECK_STR (name_of (&events[4]), "Context 2 of process 77");
  LNS_CHECK_STR (name_of (&events[0]), "Context 4");
  end ();
}

static char gpu_used[64];

static void
note_used (void *data, const char *bus)
{
  snprintf (data, sizeof gpu_used, "%s", bus);
}

static void
sample (int64_t time_ns, uint32_t n_values, uint32_t metric, uint64_t value)
{
  LnsWireGpuMessage message = {
    .sample = { .head = { LNS_WIRE_GPU_SAMPLE, 2 }, .time_ns = time_ns, .n_values = n_values }
  };
  for (int i = 0; i < LNS_WIRE_GPU_N_METRICS; i++)
    {
      message.sample.values[i].metric = metric;
      message.sample.values[i].value = value;
    }
  lns_decoder_take_gpu (decoder, &message, INT64_MAX);
}

/* What the sampler says may be anything. What cannot be is left out, and a GPU has the device of the process that uses
 * it. */
static void
samples_of_gpus_are_checked (void)
{
  LnsWireCudaUsedBytes used = { .head.type = LNS_WIRE_CUDA_USED,
                                .device = 1,
                                .bus = "0000:3b:00.0" };
  LnsWireGpuMessage found = { .found = { .head = { LNS_WIRE_GPU_FOUND, 2 },
                                         .bus = "0000:3b:00.0" } };
  LnsEvent events[8];
  uint32_t n;
  begin ();
  lns_decoder_set_gpu_used (decoder, note_used, gpu_used);
  sample (T0 + 100, 1, LNS_WIRE_GPU_POWER, 1); /* of a GPU that is not known */
  ADD (used);
  play ();
  LNS_CHECK_STR (gpu_used, "0000:3b:00.0");
  memset (found.found.name, 'x', sizeof found.found.name); /* no end */
  lns_decoder_take_gpu (decoder, &found, INT64_MAX);
  sample (T0 - 1, 1, LNS_WIRE_GPU_POWER, 2);    /* before the report */
  sample (INT64_MIN, 1, LNS_WIRE_GPU_POWER, 3); /* the same */
  sample (T0 + 200, UINT32_MAX, LNS_WIRE_GPU_POWER, 4);
  sample (T0 + 200, 1, UINT32_MAX, 5); /* of a metric that is not known */
  sample (T0 + 200, 1, 0, 6);
  sample (T0 + 200, 2, LNS_WIRE_GPU_POWER, 7); /* the second at the same time */
  sample (T0 + 150, 1, LNS_WIRE_GPU_POWER, 8); /* back in time */
  sample (T0 + 300, 1, LNS_WIRE_GPU_CLOCK_REASONS,
          UINT64_C (1) << 63 | 1); /* nothing that holds clocks */
  sample (T0 + 400, 1, LNS_WIRE_GPU_CLOCK_REASONS, 4);
  sample (T0 + 500, 1, LNS_WIRE_GPU_CLOCK_REASONS, 0);
  finish ();
  n = events_of (LNS_LANE_COUNTER, events, 8);
  LNS_CHECK_INT (n, 3);
  LNS_CHECK_INT (events[0].start_ns, 200);
  LNS_CHECK_INT (column (&events[0], LNS_LANE_COUNTER, LNS_COLUMN_VALUE), 7);
  LNS_CHECK_INT (column (&events[1], LNS_LANE_COUNTER, LNS_COLUMN_VALUE), 1);
  LNS_CHECK_INT (events[2].start_ns, 500);
  LNS_CHECK_INT (column (&events[2], LNS_LANE_COUNTER, LNS_COLUMN_VALUE), 0);
  const LnsTrack *tracks = lns_report_tracks (report, &n);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK_INT (tracks[0].kind, LNS_TRACK_GPU_METRIC);
  LNS_CHECK_INT (tracks[0].metric, LNS_WIRE_GPU_POWER);
  LNS_CHECK_INT (tracks[1].metric, LNS_GPU_METRIC_CLOCK_REASON + 2);
  LNS_CHECK_INT (tracks[0].number, LNS_GPU_METRICS_SAMPLED | 2);
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (devices[tracks[0].device].number, 1);
  LNS_CHECK_STR (lns_report_string (report, devices[0].bus, NULL), "0000:3b:00.0");
  end ();
}

static void
counter (uint32_t place, uint32_t id)
{
  LnsWireGpuMessage message = {
    .counter = { .head = { LNS_WIRE_GPU_COUNTER, 2 }, .place = place, .id = id, .unit = "%" }
  };
  memset (message.counter.name, 'm', sizeof message.counter.name); /* no end */
  lns_decoder_take_gpu (decoder, &message, INT64_MAX);
}

/* A batch of N samples of two metrics, 10 ns apart from TIME_NS on, of which the first has the values VALUE and NaN. */
static LnsWireGpuMessage
batch_of (int64_t time_ns, uint32_t n, double value, uint64_t n_lost)
{
  LnsWireGpuMessage message = { .batch = { .head = { LNS_WIRE_GPU_BATCH, 2 },
                                           .n_samples = n,
                                           .n_metrics = 2,
                                           .n_lost = n_lost,
                                           .lost_from_ns = time_ns - 50,
                                           .early_ns = 5,
                                           .late_ns = 6 } };
  for (uint32_t i = 0; i < n; i++)
    {
      const double values[] = { value + i, NAN };
      message.batch.words[3 * i] = (uint64_t)(time_ns + 10 * i);
      memcpy (&message.batch.words[3 * i + 1], values, sizeof values);
    }
  return message;
}

/* What is said of counters may be anything, too. A batch is taken up to a time, and what is left later, once. */
static void
batches_of_counters_are_checked (void)
{
  LnsWireGpuMessage found = { .found = { .head = { LNS_WIRE_GPU_FOUND_COUNTERS, 2 },
                                         .bus = "0000:3b:00.0" } };
  LnsEvent events[16];
  uint32_t n;
  begin ();
  sample (T0 + 1, 1, LNS_WIRE_GPU_POWER, 1);
  LnsWireGpuMessage batch = batch_of (T0 + 100, 2, 1, 0);
  LNS_CHECK (lns_decoder_take_gpu (decoder, &batch, INT64_MAX)); /* of a GPU that is not known */
  lns_decoder_take_gpu (decoder, &found, INT64_MAX);
  batch = batch_of (T0 + 100, 2, 1, 0);
  LNS_CHECK (lns_decoder_take_gpu (decoder, &batch, INT64_MAX)); /* of unknown metrics */
  counter (0, 7);
  counter (LNS_WIRE_GPU_MAX_METRICS, 8);
  counter (1, LNS_WIRE_GPU_METRIC_IDS);
  batch = batch_of (T0 - 30, 1, 9, 3); /* before the report */
  LNS_CHECK (lns_decoder_take_gpu (decoder, &batch, INT64_MAX));
  batch = batch_of (T0 + 200, 4, 0.25, 3);
  LNS_CHECK (!lns_decoder_take_gpu (decoder, &batch, T0 + 215));
  LNS_CHECK_INT (batch.batch.n_samples, 2);
  LNS_CHECK (!lns_decoder_take_gpu (decoder, &batch, T0 + 215));
  LNS_CHECK (lns_decoder_take_gpu (decoder, &batch, INT64_MAX));
  LNS_CHECK (lns_decoder_take_gpu (decoder, &batch, INT64_MAX));
  batch = batch_of (INT64_MIN, 1, 9, 1);
  LNS_CHECK (lns_decoder_take_gpu (decoder, &batch, INT64_MAX));
  finish ();
  n = events_of (LNS_LANE_COUNTER, events, 16);
  LNS_CHECK_INT (n, 4); /* nothing of the second metric, whose values are undefined */
  for (uint32_t i = 0; i < n; i++)
    {
      const uint64_t bits = column (&events[i], LNS_LANE_COUNTER, LNS_COLUMN_VALUE);
      double value;
      memcpy (&value, &bits, sizeof value);
      LNS_CHECK (value == 0.25 + i);
      LNS_CHECK_INT (events[i].start_ns, 200 + 10 * i);
    }
  const LnsTrack *tracks = lns_report_tracks (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (tracks[0].metric, LNS_GPU_METRIC_HARDWARE + 7);
  LNS_CHECK_INT (tracks[0].value_type, LNS_PAYLOAD_DOUBLE);
  LNS_CHECK_INT (strlen (lns_report_string (report, tracks[0].name, NULL)), 47);
  const LnsLoss *losses = lns_report_losses (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (losses[0].others, 3);
  LNS_CHECK_INT (losses[0].first_ns, 150);
  LNS_CHECK_INT (losses[0].last_ns, 200);
  LNS_CHECK_STR (lns_report_meta (report, "gpu_metrics_early_ns.2"), "5");
  LNS_CHECK_STR (lns_report_meta (report, "gpu_metrics_late_ns.2"), "6");
  end ();
}

int
main (void)
{
  LNS_TEST (samples_of_gpus_are_checked);
  LNS_TEST (batches_of_counters_are_checked);
  LNS_TEST (slots_get_new_meanings);
  LNS_TEST (what_cannot_be_is_put_right_or_left_out);
  LNS_TEST (what_memory_is_short_for_counts_once);
  LNS_TEST (events_are_taken_out_of_their_turn);
  LNS_TEST (hostile_bytes_do_no_harm);
  LNS_TEST (hostile_buffers_do_no_harm);
  LNS_TEST (problems_are_told_once_with_their_names);
  LNS_TEST (each_problem_has_its_code);
  LNS_TEST (the_state_of_cuda_follows_what_is_said);
  LNS_TEST (a_device_has_its_bus_whenever_it_is_told);
  LNS_TEST (a_later_report_has_its_own);
  LNS_TEST (withheld_records_find_their_lane);
  LNS_TEST (work_is_written_when_none_before_it_can_come);
  LNS_TEST (a_call_is_above_the_calls_that_it_contains);
  LNS_TEST (calls_are_on_their_librarys_track);
  LNS_TEST (work_is_on_its_own_device);
  LNS_TEST (contexts_have_a_gpu_one_after_another);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays records into the decoder as the CUDA engine writes them, and damaged ones, and checks the
 * report. Ticks are ns. */

#include "capture/session/decode/decoder.h"
#include "capture/wire/cuda-layout.h"
#include "src/store/read/report.h"
#include "tests/tap.h"
#include "tests/unit/record-text.h"
#include "tests/unit/report-fixture.h"

#define T0         1000000 /* CLOCK_MONOTONIC and ticks of report time 0 */
#define AT(ns)     ((uint64_t)(T0 + (ns)))
#define END_NS     900000
#define REGISTERED LNS_WIRE_STRING_REGISTERED

static LnsDecoder *decoder;
static LnsWriter *writer;
static LnsReport *report;
static RecordText text;
static const char *path;

static void
begin (void)
{
  LnsWireClockPair first = { .ticks = AT (0), .monotonic_ns = T0 },
                   last = { .ticks = AT (1000000), .monotonic_ns = T0 + 1000000 };
  LnsProcessInfo info = { .pid = 10, .target_pid = 10, .parent = UINT32_MAX, .start_ns = T0 };
  LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = T0 };
  LnsError error = { 0 };
  decoder = lns_decoder_new (&first, &(LnsDomainFilter){ 0 });
  lns_decoder_add_pair (decoder, &last);
  lns_decoder_set_process (decoder, 0, &info);
  path = fixture_path ("cuda.rep");
  writer = lns_writer_create (path, &options, &error);
  if (writer == NULL)
    LNS_FAIL ("%s", error.message);
  lns_decoder_start_report (decoder, writer, 0);
  text.n_bytes = 0;
}

/* Adds the N_BYTES at RECORD, of which the first SHOWN are told to be all. */
static void
add_cut (void *record, size_t n_bytes, size_t shown)
{
  uint32_t n = (uint32_t)((shown + 15) / 16 * 16);
  memcpy ((uint8_t *)record + sizeof (LnsWireHead), &n, sizeof n);
  memset (text.bytes + text.n_bytes, 0, n);
  memcpy (text.bytes + text.n_bytes, record, n_bytes < n ? n_bytes : n);
  text.n_bytes += n;
}
#define ADD(record) add_cut (&(record), sizeof (record), sizeof (record))

static void
play (void)
{
  LnsDecoderSource source = { .process = 0, .stream = 1, .tid = 10 };
  lns_decoder_define (decoder, &source, text.bytes, text.n_bytes);
  lns_decoder_play (decoder, &source, text.bytes, text.n_bytes);
  lns_decoder_settle (decoder);
  text.n_bytes = 0;
}

static void
finish (void)
{
  LnsError error = { 0 };
  lns_decoder_stop_report (decoder, END_NS);
  if (!lns_writer_finish (writer, LNS_STATE_COMPLETE, END_NS, &error))
    LNS_FAIL ("%s", error.message);
  report = fixture_open (path, NULL);
}

static void
end (void)
{
  lns_report_close (report);
  lns_decoder_free (decoder);
}

/* The events of KIND in the report, in their lanes' order. */
static uint32_t
events_of (LnsLaneKind kind, LnsEvent *ret_events, uint32_t n_max)
{
  uint32_t n_lanes, n = 0;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    for (uint64_t i = 0;
         lanes[lane].kind == kind && i < lns_report_lane_info (report, lane)->n_events; i++, n++)
      {
        LnsError error = { 0 };
        if (n < n_max && !lns_report_event (report, lane, i, &ret_events[n], &error))
          LNS_FAIL ("%s", error.message);
      }
  return n;
}

static uint64_t
column (const LnsEvent *event, LnsLaneKind kind, LnsColumnId id)
{
  return event->extra[lns_lane_kind_extra (kind, id)];
}

static const char *
name_of (const LnsEvent *event)
{
  return lns_report_string (report, event->name, NULL);
}

static LnsWireCudaKernelBytes
kernel_at (int64_t start_ns, int64_t end_ns, uint32_t slot, uint32_t correlation)
{
  return (LnsWireCudaKernelBytes){
    .head = { .ticks = AT (start_ns), .type = LNS_WIRE_CUDA_KERNEL, .string = slot },
    .correlation = correlation,
    .end_ticks = AT (end_ns),
    .place = { .device = 0, .context = 1, .stream = 7 },
  };
}

static LnsWireCudaLaunchBytes
launch_of (uint32_t slot, uint32_t name, uint32_t blocks)
{
  return (LnsWireCudaLaunchBytes){ .head = { .type = LNS_WIRE_CUDA_LAUNCH, .string = slot },
                                   .name = name,
                                   .grid = { blocks, 1, 1 },
                                   .block = { 64, 1, 1 } };
}

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
      for (unsigned i = 0; i < LNS_WIRE_CUPTI_READINGS; i++)
        told.sides[0].readings[i] = (LnsWireCuptiReading){
          (round % 4 == 0 ? 0 : i * 1000) + fixture_random (&state) % 999,
          (round % 4 == 1 ? 0 : i) * (UINT64_C (1) << 57) + fixture_random (&state) % 999,
        };
      (void)lns_wire_cupti_clock_copy (&told, &left->clock);
      for (unsigned i = 0; i < LNS_WIRE_CUPTI_KINDS; i++)
        left->sizes.record_bytes[i] =
            (uint16_t)(fixture_random (&state) % (round % 2 == 0 ? 256 : 65536));
      for (unsigned i = 0; i < n_most; i += 8)
        {
          uint64_t word = i % 64 == 0 ? 1 + fixture_random (&state) % 60 : fixture_random (&state);
          memcpy (left->bytes + i, &word, sizeof word);
        }
      left->n_bytes = fixture_random (&state) % n_most;
      lns_decoder_salvage (decoder, 0, left);
      lns_decoder_salvage (decoder, 99, left);
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
    { LNS_WIRE_PROBLEM_CLOCK, "LNS-CUDA-023", "older than CUDA 11.6" },
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
                               .cbid = 31,
                               .tid = 10 };
  ADD (call);
  play ();
  LNS_CHECK_INT (lns_decoder_cuda_state (decoder), LNS_CUDA_RECORDED);
  finish ();
  LnsEvent event;
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, &event, 1), 1);
  LNS_CHECK_STR (name_of (&event), "CUDA runtime call 31");
  LNS_CHECK_STR (lns_report_meta (report, "cuda_driver_version"), "13.0");
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (strlen (lns_report_string (report, devices[0].bus, NULL)), sizeof device.bus);
  end ();
}

static LnsWireCudaApiBytes
call_at (int64_t start_ns, uint32_t correlation, unsigned roles)
{
  return (LnsWireCudaApiBytes){
    .head = { .ticks = AT (start_ns),
              .type = LNS_WIRE_CUDA_API,
              .depth = (uint8_t)(LNS_WIRE_CUDA_CALL_RUNTIME | roles) },
    .correlation = correlation,
    .end_ticks = AT (start_ns + 5),
    .tid = 10,
  };
}

/* Ends the report at END_NS as that of a capture range; the counters are then those of its end. */
static void
end_range (int64_t end_ns)
{
  LnsError error = { 0 };
  lns_decoder_follow_late (decoder);
  lns_decoder_write_held (decoder);
  lns_decoder_stop_report (decoder, end_ns);
  LNS_CHECK (lns_writer_finish (writer, LNS_STATE_COMPLETE, end_ns, &error));
}

/* Begins another report at START_NS. */
static void
begin_next (int64_t start_ns)
{
  LnsError error = { 0 };
  LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = T0 };
  path = fixture_path ("next.rep");
  writer = lns_writer_create (path, &options, &error);
  LNS_CHECK (writer != NULL);
  lns_decoder_start_report (decoder, writer, start_ns);
}

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

int
main (void)
{
  LNS_TEST (slots_get_new_meanings);
  LNS_TEST (what_cannot_be_is_put_right_or_left_out);
  LNS_TEST (events_are_taken_out_of_their_turn);
  LNS_TEST (hostile_bytes_do_no_harm);
  LNS_TEST (hostile_buffers_do_no_harm);
  LNS_TEST (problems_are_told_once_with_their_names);
  LNS_TEST (each_problem_has_its_code);
  LNS_TEST (the_state_of_cuda_follows_what_is_said);
  LNS_TEST (a_later_report_has_its_own);
  LNS_TEST (a_launch_is_recorded_or_counted_once);
  LNS_TEST (launches_are_followed_for_many_calls);
  LNS_TEST (an_unfinished_kernel_is_of_its_calls_report);
  LNS_TEST (what_is_not_to_come_is_not_counted);
  LNS_TEST (what_comes_too_late_is_counted);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays records into the decoder and checks the report that it writes. Ticks are ns. */

#include "capture/session/decode/decoder.h"
#include "capture/session/decode/nvtx/definitions.h"
#include "capture/session/decode/python/samples.h"
#include "capture/wire/os-layout.h"
#include "src/store/read/report.h"
#include "tests/tap.h"
#include "tests/unit/record-text.h"
#include "tests/unit/report-fixture.h"

#define T0         1000000 /* CLOCK_MONOTONIC and ticks of report time 0 */
#define AT(ns)     ((uint64_t)(T0 + (ns)))
#define END_NS     900000
#define REGISTERED LNS_WIRE_STRING_REGISTERED

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

static LnsDecoder *decoder;
static LnsWriter *writer;
static LnsReport *report;
static RecordText text; /* what is being written */
static const char *path;

static LnsWireClockPair
pair_at (int64_t ns)
{
  return (LnsWireClockPair){ .ticks = AT (ns), .monotonic_ns = T0 + ns, .realtime_ns = ns };
}

static LnsWriter *
new_writer (const char *name)
{
  LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = T0 };
  LnsError error = { 0 };
  path = fixture_path (name);
  LnsWriter *created = lns_writer_create (path, &options, &error);
  if (created == NULL)
    LNS_FAIL ("%s", error.message);
  return created;
}

/* A decoder with process 0, a report, and all clock readings that are needed. */
static void
begin (void)
{
  LnsWireClockPair first = pair_at (0), last = pair_at (1000000);
  LnsProcessInfo info = {
    .pid = 10, .target_pid = 10, .parent = UINT32_MAX, .start_ns = T0, .name = strdup ("test")
  };
  decoder = lns_decoder_new (&first, &(LnsDomainFilter){ 0 });
  lns_decoder_add_pair (decoder, &last);
  lns_decoder_set_process (decoder, 0, &info);
  lns_process_info_clear (&info);
  writer = new_writer ("decoder.rep");
  lns_decoder_start_report (decoder, writer, 0);
  text.n_bytes = 0;
}

/* Gives the decoder what TEXT holds by now, as of STREAM. */
static void
play_stream (uint32_t stream)
{
  LnsDecoderSource source = { .process = 0, .stream = stream, .tid = 10 + stream };
  lns_decoder_define (decoder, &source, text.bytes, text.n_bytes);
  lns_decoder_play (decoder, &source, text.bytes, text.n_bytes);
  text.n_bytes = 0;
}

static void
play (void)
{
  play_stream (1);
  lns_decoder_settle (decoder, 0);
}

static void
finish_report (int64_t end_ns)
{
  LnsError error = { 0 };
  lns_decoder_stop_report (decoder, end_ns);
  if (!lns_writer_finish (writer, LNS_STATE_COMPLETE, end_ns, &error))
    LNS_FAIL ("%s", error.message);
  report = fixture_open (path, NULL);
}

static void
finish (void)
{
  finish_report (END_NS);
  lns_decoder_free (decoder);
}

/* The only event called NAME. */
static LnsEvent
event_called (const char *name, uint32_t *ret_lane)
{
  LnsEvent found = { 0 };
  uint32_t n_lanes, n_found = 0;
  lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    for (uint64_t i = 0; i < lns_report_lane_info (report, lane)->n_events; i++)
      {
        LnsEvent event;
        LnsError error = { 0 };
        if (!lns_report_event (report, lane, i, &event, &error))
          LNS_FAIL ("%s", error.message);
        if (strcmp (lns_report_string (report, event.name, NULL), name) != 0)
          continue;
        found = event;
        n_found++;
        if (ret_lane != NULL)
          *ret_lane = lane;
      }
  if (n_found != 1)
    LNS_FAIL ("%u events are called %s", n_found, name);
  return found;
}

static void
check_event (const char *name, int64_t start_ns, int64_t duration_ns, uint32_t flags)
{
  LnsEvent event = event_called (name, NULL);
  LNS_CHECK_INT (event.start_ns, start_ns);
  LNS_CHECK_INT (event.duration_ns, duration_ns);
  LNS_CHECK_INT (event.flags, flags);
}

static const LnsTrack *
track_of (uint32_t lane)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  return &lns_report_tracks (report, &n)[lanes[lane].track];
}

static void
name_abc (void)
{
  record_named (&text, LNS_WIRE_STRING, 0, 1, "a");
  record_named (&text, LNS_WIRE_STRING, 0, 2, "b");
  record_named (&text, LNS_WIRE_STRING, 0, 3, "c");
}

static void
pushes_and_pops_become_ranges (void)
{
  begin ();
  record_thread (&text, AT (5), 12, 1, "worker");
  name_abc ();
  record_push (&text, AT (10), 0, 0, 1);
  record_push (&text, AT (20), 0, 1, 2);
  record_pop (&text, AT (30), 0, 1);
  record_pop (&text, AT (50), 0, 0);
  record_mark (&text, AT (60), 0, 3);
  play ();
  finish ();
  check_event ("a", 10, 40, 0);
  check_event ("b", 20, 10, 0);
  check_event ("c", 60, 0, 0);
  uint32_t lane, n;
  event_called ("b", &lane);
  LNS_CHECK_INT (lns_report_lanes (report, &n)[lane].ordinal, 1);
  LNS_CHECK_INT (track_of (lane)->kind, LNS_TRACK_NVTX_RANGES);
  const LnsThread *thread = &lns_report_threads (report, &n)[track_of (lane)->thread];
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (thread->tid, 12);
  LNS_CHECK_STR (lns_report_string (report, thread->name, NULL), "worker");
  lns_report_close (report);
}

static void
attributes_are_kept (void)
{
  begin ();
  record_named (&text, LNS_WIRE_REGISTERED, 0, REGISTERED | 7, "known");
  record_push_long (&text, AT (10), 0, REGISTERED | 7, 0xFF112233, 9, 3,
                    UINT64_C (0x3FF8000000000000));
  record_pop (&text, AT (20), 0, 0);
  play ();
  finish ();
  LnsEvent event = event_called ("known", NULL);
  LNS_CHECK_INT (event.flags, LNS_EVENT_REGISTERED);
  LNS_CHECK_INT (event.extra[0], 0xFF112233);
  LNS_CHECK_INT (event.extra[1], 9);
  LNS_CHECK_INT (event.extra[2], LNS_PAYLOAD_DOUBLE);
  LNS_CHECK_INT (event.extra[3], UINT64_C (0x3FF8000000000000));
  lns_report_close (report);
}

/* The registered name comes a batch after its use, in another stream. */
static void
a_definition_may_come_late (void)
{
  static RecordText use;
  begin ();
  record_mark (&text, AT (10), 3, REGISTERED | 7);
  use = text;
  text.n_bytes = 0;
  LnsDecoderSource user = { .stream = 1, .tid = 11 }, definer = { .stream = 2, .tid = 12 };
  lns_decoder_define (decoder, &user, use.bytes, use.n_bytes);
  record_named (&text, LNS_WIRE_REGISTERED, 0, REGISTERED | 7, "late");
  record_named (&text, LNS_WIRE_DOMAIN, 3, 0, "its domain");
  record_named (&text, LNS_WIRE_CATEGORY, 3, 4, "its category");
  lns_decoder_define (decoder, &definer, text.bytes, text.n_bytes);
  lns_decoder_play (decoder, &user, use.bytes, use.n_bytes);
  lns_decoder_play (decoder, &definer, text.bytes, text.n_bytes);
  finish ();
  uint32_t lane, n;
  event_called ("late", &lane);
  const LnsDomain *domain = &lns_report_domains (report, &n)[track_of (lane)->domain];
  LNS_CHECK_INT (domain->number, 3);
  LNS_CHECK_STR (lns_report_string (report, domain->name, NULL), "its domain");
  const LnsCategory *categories = lns_report_categories (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (categories[0].category, 4);
  LNS_CHECK_STR (lns_report_string (report, categories[0].name, NULL), "its category");
  lns_report_close (report);
}

static void
a_pop_closes_deeper_ranges (void)
{
  begin ();
  name_abc ();
  record_push (&text, AT (10), 0, 0, 1);
  record_push (&text, AT (20), 0, 1, 2);
  record_push (&text, AT (30), 0, 2, 3);
  record_pop (&text, AT (50), 0, 0);
  play ();
  finish ();
  check_event ("a", 10, 40, 0);
  check_event ("b", 20, 0, LNS_EVENT_END_UNKNOWN);
  check_event ("c", 30, 0, LNS_EVENT_END_UNKNOWN);
  lns_report_close (report);
}

/* A gap in which pushes and pops are missing: each record says how deep it is. */
static void
depths_are_right_after_a_gap (void)
{
  begin ();
  name_abc ();
  record_push (&text, AT (10), 0, 0, 1);
  record_push (&text, AT (20), 0, 1, 2);
  record_lost (&text, AT (25), AT (95), 5, 4);
  record_named (&text, LNS_WIRE_STRING, 0, 1, "after");
  record_push (&text, AT (100), 0, 2, 1);
  record_push (&text, AT (105), 0, 3, 2); /* its text is lost: ids begin anew */
  record_pop (&text, AT (110), 0, 3);
  record_pop (&text, AT (120), 0, 2);
  record_pop (&text, AT (200), 0, 0);
  record_pop (&text, AT (210), 0, 5); /* of nothing that is known */
  play ();
  finish ();
  check_event ("a", 10, 190, 0);
  check_event ("b", 20, 0, LNS_EVENT_END_UNKNOWN);
  check_event ("after", 100, 20, LNS_EVENT_LOST_BEFORE);
  check_event ("", 105, 5, 0);
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (losses[0].pushes, 5);
  LNS_CHECK_INT (losses[0].pops, 4);
  LNS_CHECK_INT (losses[0].first_ns, 25);
  LNS_CHECK_INT (losses[0].last_ns, 95);
  LNS_CHECK_INT (lns_report_info (report)->n_lost, 5);
  lns_report_close (report);
}

static void
missing_pushes_leave_holes (void)
{
  begin ();
  name_abc ();
  record_push (&text, AT (10), 0, 2, 1); /* two levels up, nobody knows what */
  record_pop (&text, AT (20), 0, 2);
  record_pop (&text, AT (30), 0, 1);
  record_pop (&text, AT (40), 0, 0);
  record_push (&text, AT (50), 0, 0, 2);
  record_pop (&text, AT (60), 0, 0);
  play ();
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_orphan_pops, 2);
  finish ();
  check_event ("a", 10, 10, 0);
  check_event ("b", 50, 10, 0);
  LNS_CHECK_INT (lns_report_info (report)->n_events, 2);
  lns_report_close (report);
}

static void
the_end_of_a_thread_closes_its_ranges (void)
{
  begin ();
  record_thread (&text, AT (1), 12, 1, "one");
  name_abc ();
  record_push (&text, AT (10), 0, 0, 1);
  record_thread_end (&text, AT (70));
  record_thread (&text, AT (80), 13, 2, "two");
  record_push (&text, AT (90), 0, 0, 2);
  record_pop (&text, AT (95), 0, 0);
  play ();
  finish ();
  check_event ("a", 10, 60, LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
  check_event ("b", 90, 5, 0);
  uint32_t n, lane_a, lane_b;
  event_called ("a", &lane_a);
  event_called ("b", &lane_b);
  const LnsThread *threads = lns_report_threads (report, &n);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK_INT (threads[track_of (lane_a)->thread].tid, 12);
  LNS_CHECK_INT (threads[track_of (lane_a)->thread].end_ns, 70);
  LNS_CHECK_INT (threads[track_of (lane_b)->thread].tid, 13);
  lns_report_close (report);
}

static void
the_end_of_a_process_closes_everything (void)
{
  begin ();
  name_abc ();
  record_push (&text, AT (10), 0, 0, 1);
  record_start (&text, AT (20), 0, 2, 77);
  play ();
  LnsWireLosses losses = { .events = { [LNS_WIRE_LOSS_MARK] = 6 }, .n_bytes = 96 };
  lns_decoder_end_process (decoder, 0, 500, &losses);
  lns_decoder_set_exit_code (decoder, 0, 600, 139, 11);
  finish ();
  check_event ("a", 10, 490, LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
  check_event ("b", 20, 480, LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);
  LNS_CHECK_INT (processes[0].end_ns, 500);
  LNS_CHECK_INT (processes[0].exit_code, 139);
  LNS_CHECK_INT (processes[0].exit_signal, 11);
  LNS_CHECK_INT (lns_report_info (report)->n_lost, 6);
  lns_report_close (report);
}

/* Started by one thread and ended by another, whose stream is played first. */
static void
starts_and_ends_meet_across_streams (void)
{
  begin ();
  name_abc ();
  record_end (&text, AT (100), 1);
  record_start (&text, AT (40), 0, 3, 3);
  record_end (&text, AT (60), 3);
  play_stream (2);
  name_abc ();
  record_start (&text, AT (10), 0, 1, 1);
  record_start (&text, AT (20), 0, 2, 2);
  record_end (&text, AT (30), 2);
  play_stream (1);
  lns_decoder_settle (decoder, 0);
  finish ();
  check_event ("a", 10, 90, 0);
  check_event ("b", 20, 10, 0);
  check_event ("c", 40, 20, 0);
  uint32_t n, lane_a, lane_b, lane_c;
  LnsEvent a = event_called ("a", &lane_a);
  event_called ("b", &lane_b);
  event_called ("c", &lane_c);
  LNS_CHECK_INT (lane_b, lane_c); /* the lowest lane that is free again */
  LNS_CHECK (lane_a != lane_b);
  LNS_CHECK_INT (track_of (lane_a)->kind, LNS_TRACK_NVTX_START_END);
  lns_report_threads (report, &n);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK_INT (a.extra[4], 1);        /* range id */
  LNS_CHECK (a.extra[5] != a.extra[6]); /* the threads */
  lns_report_close (report);
}

static void
an_end_may_come_a_batch_early (void)
{
  begin ();
  name_abc ();
  record_end (&text, AT (100), 1);
  record_end (&text, AT (110), 99); /* whose start never comes */
  play_stream (2);
  lns_decoder_settle (decoder, 0);
  name_abc ();
  record_start (&text, AT (10), 0, 1, 1);
  play ();
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_orphan_ends, 1);
  finish ();
  check_event ("a", 10, 90, 0);
  LNS_CHECK_INT (lns_report_info (report)->n_events, 1);
  lns_report_close (report);
}

/* Two reports of one session: what is open ends the first and enters the second. */
static void
a_second_report_gets_what_is_known (void)
{
  begin ();
  record_thread (&text, AT (1), 12, 1, "worker");
  record_named (&text, LNS_WIRE_DOMAIN, 4, 0, "domain");
  name_abc ();
  record_push (&text, AT (10), 4, 0, 1);
  record_push (&text, AT (20), 4, 1, 2);
  record_start (&text, AT (30), 4, 3, 5);
  play ();
  finish_report (100);
  check_event ("a", 10, 90, LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
  check_event ("c", 30, 70, LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
  lns_report_close (report);

  record_pop (&text, AT (120), 4, 1); /* between the reports: in none */
  record_mark (&text, AT (130), 4, 2);
  play ();
  writer = new_writer ("second.rep");
  lns_decoder_start_report (decoder, writer, 200);
  lns_decoder_show_open (decoder);
  record_push (&text, AT (210), 4, 1, 2);
  record_pop (&text, AT (220), 4, 1);
  record_pop (&text, AT (250), 4, 0);
  record_end (&text, AT (260), 5);
  play ();
  finish ();
  check_event ("a", 200, 50, LNS_EVENT_OPEN_START);
  check_event ("b", 210, 10, 0);
  check_event ("c", 200, 60, LNS_EVENT_OPEN_START);
  LNS_CHECK_INT (lns_report_info (report)->n_events, 3);
  uint32_t n, lane;
  event_called ("b", &lane);
  LNS_CHECK_STR (lns_report_string (
                     report, lns_report_domains (report, &n)[track_of (lane)->domain].name, NULL),
                 "domain");
  LNS_CHECK_STR (lns_report_string (
                     report, lns_report_threads (report, &n)[track_of (lane)->thread].name, NULL),
                 "worker");
  LNS_CHECK_INT (lns_report_processes (report, &n)[0].pid, 10);
  lns_report_close (report);
}

/* A commit in the middle of a run, as another process sees it. */
static void
open_ranges_are_shown_at_a_commit (void)
{
  LnsError error = { 0 };
  begin ();
  name_abc ();
  record_push (&text, AT (10), 0, 0, 1);
  record_start (&text, AT (20), 0, 2, 8);
  play ();
  lns_decoder_show_open (decoder);
  LNS_CHECK (lns_writer_commit (writer, 300, &error));
  report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->n_open, 2);
  check_event ("a", 10, 290, LNS_EVENT_OPEN_END);
  check_event ("b", 20, 280, LNS_EVENT_OPEN_END);
  lns_report_close (report);
  record_pop (&text, AT (400), 0, 0);
  record_end (&text, AT (410), 8);
  play ();
  finish ();
  check_event ("a", 10, 390, 0);
  check_event ("b", 20, 390, 0);
  LNS_CHECK_INT (lns_report_info (report)->n_open, 0);
  lns_report_close (report);
}

static void
counters_become_tracks (void)
{
  begin ();
  record_counter (&text, 2, 9, 17, "bytes");
  record_sample (&text, AT (10), 2, 9, -5);
  record_sample (&text, AT (20), 2, 9, 6);
  record_sample (&text, AT (30), 2, 8, 7); /* a counter that nobody made */
  play ();
  finish ();
  uint32_t n;
  const LnsTrack *tracks = lns_report_tracks (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (tracks[0].kind, LNS_TRACK_COUNTER);
  LNS_CHECK_INT (tracks[0].number, 9);
  LNS_CHECK_INT (tracks[0].value_type, LNS_PAYLOAD_INT64);
  LNS_CHECK_STR (lns_report_string (report, tracks[0].name, NULL), "bytes");
  LnsEvent event;
  LNS_CHECK (lns_report_event (report, 0, 1, &event, NULL));
  LNS_CHECK_INT (event.start_ns, 20);
  LNS_CHECK_INT (event.extra[0], 6);
  LNS_CHECK_INT (lns_report_lane_info (report, 0)->n_events, 2);
  lns_report_close (report);
}

static void
names_of_threads_may_come_before_or_after (void)
{
  begin ();
  record_named (&text, LNS_WIRE_THREAD_NAME, 0, 13, "before");
  record_thread (&text, AT (1), 12, 1, "system's");
  record_mark (&text, AT (2), 0, 0);
  record_thread (&text, AT (3), 13, 2, "system's");
  record_mark (&text, AT (4), 0, 0);
  record_named (&text, LNS_WIRE_THREAD_NAME, 0, 12, "after");
  play ();
  finish ();
  uint32_t n;
  const LnsThread *threads = lns_report_threads (report, &n);
  LNS_CHECK_INT (n, 2);
  for (uint32_t i = 0; i < n; i++)
    LNS_CHECK_STR (lns_report_string (report, threads[i].name, NULL),
                   threads[i].tid == 12 ? "after" : "before");
  lns_report_close (report);
}

/* A lane for each depth has its end; what is kept and what is lost are those that were made. */
static void
too_deep_ranges_are_counted (void)
{
  uint32_t n;
  begin ();
  record_push_long (&text, AT (10), 65535, 0, 0, 0, 0, 0);
  record_push_long (&text, AT (20), 65536, 0, 0, 0, 0, 0);
  record_push_long (&text, AT (30), 65537, 0, 0, 0, 0, 0);
  play ();
  finish ();
  const LnsLoss *loss = lns_report_losses (report, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK (loss->first_ns == 20 && loss->last_ns == 30 && loss->pushes == 2);
  LNS_CHECK (lns_report_info (report)->n_events == 1 && lns_report_info (report)->n_lost == 2);
  lns_report_close (report);
}

/* Two streams that both say to be written by one thread, which has ended in one of them. */
static void
streams_may_share_a_thread (void)
{
  begin ();
  record_thread (&text, AT (1), 12, 1, "shared");
  record_push (&text, AT (10), 0, 0, 0);
  play_stream (1);
  record_thread (&text, AT (2), 12, 1, "shared");
  record_thread_end (&text, AT (20));
  play_stream (2);
  name_abc ();
  record_push (&text, AT (30), 0, 0, 1);
  record_pop (&text, AT (40), 0, 0);
  record_push (&text, AT (50), 0, 0, 2);
  play ();
  lns_decoder_end_process (decoder, 0, 90, NULL);
  finish ();
  check_event ("", 10, 10, LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
  check_event ("a", 30, 10, 0);
  check_event ("b", 50, 40, LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
  lns_report_close (report);
}

/* Whatever a program writes over its records, nothing but a count comes of it. */
static void
garbage_does_no_harm (void)
{
  uint64_t state = 42;
  begin ();
  for (int round = 0; round < 3000; round++)
    {
      name_abc ();
      record_push (&text, AT (10 + round), 0, 0, 1);
      record_start (&text, AT (20 + round), 0, 2, (uint64_t)round);
      record_lost (&text, AT (1), AT (2), 0, 0);
      for (int i = 0; i < 4; i++)
        text.bytes[fixture_random (&state) % text.n_bytes] = (uint8_t)fixture_random (&state);
      play_stream (1 + (uint32_t)(fixture_random (&state) % 3));
      lns_decoder_settle (decoder, 0);
    }
  LNS_CHECK (lns_decoder_counters (decoder).n_bad_chunks > 100);
  finish ();
  LNS_CHECK (lns_report_info (report)->n_events > 0);
  lns_report_close (report);
}

/* A record that is overwritten, and all sound ones behind it, count as lost. */
static void
damaged_records_are_counted (void)
{
  begin ();
  name_abc ();
  record_push (&text, AT (10), 0, 0, 1);
  record_pop (&text, AT (20), 0, 0);
  const size_t damaged = text.n_bytes;
  record_start (&text, AT (30), 0, 2, 7);
  memset (text.bytes + damaged, 0xff, text.n_bytes - damaged);
  record_push (&text, AT (40), 0, 0, 1);
  record_start (&text, AT (50), 0, 2, 8);
  record_pop (&text, AT (60), 0, 0);
  play ();
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_bad_chunks, 1);
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_damaged, 3);
  finish ();
  LNS_CHECK_INT (lns_report_info (report)->n_lost, 3);
  check_event ("a", 10, 10, 0);
  lns_report_close (report);
}

/* Time domains without a type of clock, which no later definition replaces. */
static void
clocks_of_no_type_take_no_memory (void)
{
  const LnsWireTimeDomainBytes clock = { .head.type = LNS_WIRE_TIME_DOMAIN,
                                         .n_bytes = 48,
                                         .id = 1 << 24 };
  begin ();
  for (int i = 0; i < 100; i++)
    {
      memcpy (text.bytes, &clock, sizeof clock);
      text.n_bytes = clock.n_bytes;
      play ();
    }
  LNS_CHECK_INT (_lns_nvtx_domain (decoder, decoder->processes.items[0], 0)->clocks.n_places, 0);
  finish ();
  lns_report_close (report);
}

/* A range in a domain for which there is no memory is one that is left out, not two. */
static void
what_memory_is_short_for_counts_once (void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  LNS_SKIP ("the sanitizer has an allocator of its own");
#endif
  begin ();
  record_push (&text, AT (100), 0, 0, 0);
  play ();
  record_push (&text, AT (200), 5, 0, 0);
  is_memory_short = true;
  play ();
  is_memory_short = false;
  LNS_CHECK_INT (lns_decoder_counters (decoder).n_refused, 1);
  finish ();
  lns_report_close (report);
}

static void
add_os_call (unsigned function, uint64_t ticks, uint64_t end_ticks, uint32_t file, uint64_t subject)
{
  LnsWireOsCallBytes call = {
    .head = { .ticks = ticks, .type = LNS_WIRE_OS_CALL, .domain = (uint16_t)function },
    .n_bytes = sizeof call,
    .file = file,
    .end_ticks = end_ticks,
    .return_value = -5,
    .subject = subject,
  };
  memcpy (text.bytes + text.n_bytes, &call, sizeof call);
  text.n_bytes += sizeof call;
}

/* The value of COLUMN of EVENT, which lies in an OS runtime lane. */
static uint64_t
of_os_call (const LnsEvent *event, LnsColumnId column)
{
  return event->extra[lns_lane_kind_extra (LNS_LANE_OS_CALL, column)];
}

/* Calls with an unknown number, which only a damaged process writes, are left out; so is what an unknown number of a file
 * tells. */
static void
calls_of_the_c_library_are_events (void)
{
  uint32_t lane, n_lanes, n_events = 0;
  begin ();
  record_thread (&text, AT (1), 11, 1, "thread");
  record_named (&text, LNS_WIRE_REGISTERED, 0, REGISTERED | 1, "/a/file");
  add_os_call (LNS_OS_read, AT (100), AT (300), 0, 0);
  add_os_call (LNS_OS_pthread_mutex_lock, AT (400), AT (450), 0, 0x1234);
  add_os_call (LNS_OS_pthread_rwlock_rdlock, AT (500), AT (550), 0, 0x1234);
  add_os_call (LNS_OS_write, AT (600), AT (650), REGISTERED | 1, 77);
  add_os_call (LNS_OS_pread, AT (700), AT (750), REGISTERED | 2, 78);
  add_os_call (LNS_N_OS_FUNCTIONS, AT (800), AT (900), 0, 0);
  add_os_call (0xffff, AT (800), AT (900), 0, 0);
  /* A signal handler's, while the thread waits. */
  add_os_call (LNS_OS_usleep, AT (1100), AT (1200), 0, 0);
  add_os_call (LNS_OS_poll, AT (1000), AT (2000), 0, 0);
  play ();
  finish ();
  check_event ("read", 100, 200, 0);
  check_event ("usleep", 1100, 100, 0);
  check_event ("poll", 1000, 1000, 0);
  const LnsEvent plain = event_called ("read", &lane),
                 lock = event_called ("pthread_mutex_lock", NULL),
                 again = event_called ("pthread_rwlock_rdlock", NULL),
                 file = event_called ("write", NULL), unknown = event_called ("pread", NULL);
  LNS_CHECK_INT (lns_report_lanes (report, &n_lanes)[lane].kind, LNS_LANE_OS_CALL);
  LNS_CHECK_INT ((int64_t)of_os_call (&plain, LNS_COLUMN_RETURN_VALUE), -5);
  LNS_CHECK_INT (of_os_call (&plain, LNS_COLUMN_EVENT_CLASS), 0);
  LNS_CHECK_INT (of_os_call (&plain, LNS_COLUMN_REMAINDER), 0);
  LNS_CHECK (of_os_call (&lock, LNS_COLUMN_REMAINDER) != 0);
  LNS_CHECK_INT (of_os_call (&lock, LNS_COLUMN_REMAINDER),
                 of_os_call (&again, LNS_COLUMN_REMAINDER));
  LNS_CHECK (of_os_call (&file, LNS_COLUMN_REMAINDER) != 0 &&
             of_os_call (&file, LNS_COLUMN_REMAINDER) != of_os_call (&lock, LNS_COLUMN_REMAINDER) &&
             of_os_call (&file, LNS_COLUMN_REMAINDER) !=
                 of_os_call (&unknown, LNS_COLUMN_REMAINDER));
  for (uint32_t i = 0; i < n_lanes; i++)
    n_events += (uint32_t)lns_report_lane_info (report, i)->n_events;
  LNS_CHECK_INT (n_events, 7);
  lns_report_close (report);
}

/* --- Samples of Python functions -------------------------------------------------------------- */

static void
take_python (const void *records, size_t n_bytes)
{
  LNS_CHECK_INT (lns_decoder_take_python (decoder, records, n_bytes, INT64_MAX), n_bytes);
}

/* The text NUMBER, of a letter. */
static void
take_python_text (uint32_t number)
{
  uint64_t words[sizeof (LnsPythonTextRecord) / sizeof (uint64_t)] = { 0 };
  LnsPythonTextRecord *record = (LnsPythonTextRecord *)words;
  record->head = (LnsPythonHead){ .kind = LNS_PYTHON_TEXT,
                                  .n_words = sizeof words / sizeof *words,
                                  .time_ns = INT64_MIN };
  record->number = number;
  record->text[0] = 'f';
  take_python (words, sizeof words);
}

static void
take_python_sample (int64_t time_ns)
{
  const LnsPythonSampleRecord sample = {
    .head = { .kind = LNS_PYTHON_SAMPLE, .n_words = sizeof sample / 8, .time_ns = T0 + time_ns },
    .tid = 11,
    .node = LNS_ID_NONE
  };
  take_python (&sample, sizeof sample);
}

static void
take_python_name (uint32_t tid, const char *name)
{
  uint64_t words[8] = { 0 };
  LnsPythonNameRecord *record = (LnsPythonNameRecord *)words;
  record->head = (LnsPythonHead){ .kind = LNS_PYTHON_NAME, .n_words = 8, .time_ns = T0 };
  record->tid = tid;
  strcpy (record->text, name);
  take_python (words, sizeof words);
}

/* "test" is the process, which is what the system calls threads that nobody named. */
static void
names_of_python_replace_that_of_the_process (void)
{
  static const char *const expected[] = { "of Python", "the system's", "of NVTX", "later",
                                          "as it is called now" };
  begin ();
  record_thread (&text, AT (1), 11, 1, "test");
  record_thread (&text, AT (2), 12, 2, "the system's");
  record_named (&text, LNS_WIRE_THREAD_NAME, 0, 13, "of NVTX");
  record_thread (&text, AT (3), 13, 3, "test");
  record_thread (&text, AT (4), 14, 4, "test");
  play ();
  for (uint32_t tid = 11; tid <= 14; tid++)
    take_python_name (tid, "of Python");
  take_python_name (15, "before all others");
  take_python_name (15, "as it is called now");
  /* What the system says later counts, unless it is what it said of all threads at first. */
  record_thread (&text, AT (5), 11, 1, "test");
  record_thread (&text, AT (6), 14, 4, "later");
  record_thread (&text, AT (7), 15, 5, "test");
  play ();
  finish ();
  uint32_t n;
  const LnsThread *threads = lns_report_threads (report, &n);
  LNS_CHECK_INT (n, 5);
  for (uint32_t i = 0; i < n; i++)
    LNS_CHECK_STR (lns_report_string (report, threads[i].name, NULL),
                   expected[threads[i].tid - 11]);
  lns_report_close (report);
}

/* Definitions have no time: that they came says nothing about samples that may still come. */
static void
python_definitions_end_no_thread (void)
{
  begin ();
  record_thread (&text, AT (10), 11, 1, "python");
  play ();
  take_python_text (0);
  take_python_sample (100);
  record_thread_end (&text, AT (5000));
  play ();
  take_python_text (1);
  take_python_sample (200);
  finish ();
  uint32_t n_lanes, n_found = 0;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  for (uint32_t i = 0; i < n_lanes; i++)
    if (lanes[i].kind == LNS_LANE_PYTHON_SAMPLE)
      {
        n_found++;
        LNS_CHECK_INT (lns_report_lane_info (report, i)->n_events, 2);
      }
  LNS_CHECK_INT (n_found, 1);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (calls_of_the_c_library_are_events);
  LNS_TEST (clocks_of_no_type_take_no_memory);
  LNS_TEST (what_memory_is_short_for_counts_once);
  LNS_TEST (pushes_and_pops_become_ranges);
  LNS_TEST (attributes_are_kept);
  LNS_TEST (a_definition_may_come_late);
  LNS_TEST (a_pop_closes_deeper_ranges);
  LNS_TEST (depths_are_right_after_a_gap);
  LNS_TEST (missing_pushes_leave_holes);
  LNS_TEST (the_end_of_a_thread_closes_its_ranges);
  LNS_TEST (the_end_of_a_process_closes_everything);
  LNS_TEST (starts_and_ends_meet_across_streams);
  LNS_TEST (an_end_may_come_a_batch_early);
  LNS_TEST (a_second_report_gets_what_is_known);
  LNS_TEST (open_ranges_are_shown_at_a_commit);
  LNS_TEST (counters_become_tracks);
  LNS_TEST (names_of_threads_may_come_before_or_after);
  LNS_TEST (too_deep_ranges_are_counted);
  LNS_TEST (streams_may_share_a_thread);
  LNS_TEST (python_definitions_end_no_thread);
  LNS_TEST (names_of_python_replace_that_of_the_process);
  LNS_TEST (garbage_does_no_harm);
  LNS_TEST (damaged_records_are_counted);
  return lns_tap_done ();
}

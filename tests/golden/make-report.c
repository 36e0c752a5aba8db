/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* make-report OUT.rep [EVENTS|none]: writes a report of fixed content, which the tests in this
 * folder know. With EVENTS, it writes that many nested ranges of 4 threads; with `none`, a report
 * without events. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/write/writer.h"

static LnsWriter *writer;

/* Lane kinds' columns are looked up by name here, once an event. */
static void
set (LnsEvent *event, LnsLaneKind kind, LnsColumnId column, uint64_t value)
{
  int i = lns_lane_kind_extra (kind, column);
  if (i >= 0)
    event->extra[i] = value;
}

static uint32_t
string (const char *text)
{
  return lns_writer_string (writer, text, strlen (text));
}

static LnsEvent
range (int64_t start_ns, int64_t end_ns, uint32_t name)
{
  return (LnsEvent){ .start_ns = start_ns, .duration_ns = end_ns - start_ns, .name = name };
}

static uint32_t
add_lane (LnsTrackKind kind,
          LnsLaneKind lane_kind,
          uint32_t process,
          uint32_t thread,
          uint32_t domain,
          uint32_t depth)
{
  static struct
  {
    LnsTrackKind kind;
    uint32_t process, thread, domain, track;
  } known[64];
  static unsigned n_known;
  unsigned i = 0;

  while (i < n_known && !(known[i].kind == kind && known[i].process == process &&
                          known[i].thread == thread && known[i].domain == domain))
    i++;
  if (i == n_known)
    {
      LnsTrack track = { .device = LNS_ID_NONE,
                         .stream = LNS_ID_NONE,
                         .kind = kind,
                         .process = process,
                         .thread = thread,
                         .domain = domain };
      known[n_known].kind = kind;
      known[n_known].process = process;
      known[n_known].thread = thread;
      known[n_known].domain = domain;
      known[n_known++].track = lns_writer_add_track (writer, &track);
    }
  return lns_writer_add_lane (
      writer, &(LnsLane){ .track = known[i].track, .ordinal = depth, .kind = lane_kind });
}

static uint32_t
push_pop_lane (uint32_t process, uint32_t thread, uint32_t domain, uint32_t depth)
{
  return add_lane (LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP, process, thread, domain, depth);
}

static void
add_definitions (void)
{
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 1000,
                                                 .target_pid = 1000,
                                                 .parent = LNS_ID_NONE,
                                                 .name = string ("demo"),
                                                 .command_line = string ("./demo --fast"),
                                                 .start_ns = 0,
                                                 .end_ns = 90000,
                                                 .exit_code = 0 });
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 2000,
                                                 .target_pid = 2,
                                                 .parent = 0,
                                                 .name = string ("child"),
                                                 .start_ns = 500,
                                                 .end_ns = LNS_TIME_UNKNOWN,
                                                 .exit_code = -1 });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 0,
                                               .tid = 1000,
                                               .target_tid = 1000,
                                               .name = string ("demo"),
                                               .start_ns = 0,
                                               .end_ns = LNS_TIME_UNKNOWN });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 0,
                                               .tid = 1001,
                                               .target_tid = 1001,
                                               .name = string ("wor\"ker\tone"),
                                               .start_ns = 100,
                                               .end_ns = LNS_TIME_UNKNOWN,
                                               .is_named = 1 });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 1,
                                               .tid = 2000,
                                               .target_tid = 2,
                                               .name = 0,
                                               .start_ns = 500,
                                               .end_ns = LNS_TIME_UNKNOWN });
  /* Domains 0 and 3 are the processes' default ones, 1 and 2 bear one name. */
  const char *names[] = { "", "compute", "compute", "" };
  for (uint32_t i = 0; i < 4; i++)
    lns_writer_add_domain (writer, &(LnsDomain){ .process = i == 3,
                                                 .number = i == 3 ? 0 : i,
                                                 .name = string (names[i]),
                                                 .created_ns = 10 * i,
                                                 .destroyed_ns = i == 2 ? 80000 : LNS_TIME_UNKNOWN,
                                                 .thread = i == 3 ? 2 : 0 });
  lns_writer_add_category (
      writer, &(LnsCategory){ .domain = 1, .category = 7, .name = string ("input, \"output\"") });
  lns_writer_add_resource (writer, &(LnsResource){ .domain = 1,
                                                   .type = 0x40003,
                                                   .identifier = 0x7f00aa00,
                                                   .name = string ("copy stream"),
                                                   .created_ns = 40,
                                                   .destroyed_ns = LNS_TIME_UNKNOWN });
  lns_writer_add_resource (writer, &(LnsResource){ .domain = 3,
                                                   .type = 0x10002,
                                                   .identifier = UINT64_MAX,
                                                   .name = string ("wor\"ker\tone"),
                                                   .created_ns = 50,
                                                   .destroyed_ns = 70 });
  lns_writer_add_diagnostic (
      writer, &(LnsDiagnostic){ .code = string ("LNS-NVTX-003"),
                                .severity = LNS_SEVERITY_WARNING,
                                .time_ns = 1234,
                                .process = 0,
                                .text = string ("A range was popped that nobody pushed.") });
  lns_writer_add_loss (writer, &(LnsLoss){ .process = 0,
                                           .thread = 1,
                                           .first_ns = 40000,
                                           .last_ns = 41000,
                                           .pushes = 3,
                                           .pops = 2,
                                           .marks = 1,
                                           .bytes = 96 });
  lns_writer_set_meta (writer, "host_name", "example");
  lns_writer_set_meta (writer, "command_line", "./demo --fast");
}

/* Forty gaps of one thread, and what happened to three processes alike. */
static void
add_gaps (void)
{
  for (int i = 0; i < 40; i++)
    lns_writer_add_loss (writer, &(LnsLoss){ .process = 0,
                                             .thread = 0,
                                             .first_ns = 50000 + 1000 * (39 - i),
                                             .last_ns = 50100 + 1000 * (39 - i),
                                             .pushes = 2 });
  for (int i = 0; i < 3; i++)
    {
      char words[80];
      snprintf (words, sizeof words, "process %d was not recorded for %d ms", 2000 + 99 * i, 7 * i);
      lns_writer_add_diagnostic (writer, &(LnsDiagnostic){ .code = string ("LNS-POOL-003"),
                                                           .severity = LNS_SEVERITY_WARNING,
                                                           .time_ns = 1234 + i,
                                                           .process = LNS_ID_NONE,
                                                           .text = string (words) });
    }
}

/* The process PID called NAME, with one thread, which PARENT started. */
static uint32_t
add_process (int32_t pid, uint32_t parent, const char *name, int exit_code, uint32_t exit_signal)
{
  const uint32_t process =
      lns_writer_add_process (writer, &(LnsProcess){ .pid = pid,
                                                     .target_pid = pid,
                                                     .parent = parent,
                                                     .name = string (name),
                                                     .start_ns = pid,
                                                     .end_ns = pid + 1000,
                                                     .exit_code = exit_code,
                                                     .exit_signal = exit_signal });
  lns_writer_add_thread (writer, &(LnsThread){ .process = process,
                                               .tid = pid,
                                               .target_tid = pid,
                                               .name = string (name),
                                               .start_ns = pid,
                                               .end_ns = pid + 1000 });
  return process;
}

/* A program that starts twelve shells, which start a compiler each, two of which fail, and a linker. */
static void
add_make (void)
{
  const uint32_t make = add_process (3000, 0, "make", 0, 0);
  for (int i = 0; i < 12; i++)
    {
      const int failed = i == 3 ? 1 : i == 7 ? 137 : 0;
      const uint32_t shell = add_process (3001 + 2 * i, make, "sh", failed, 0);
      add_process (3002 + 2 * i, shell, "cc1", failed, failed == 137 ? 9 : 0);
    }
  add_process (4000, make, "ld", -1, 0);
}

/* A schema with what decoding has to do: numbers, text, an array, an enum, a nested schema. */
static void
add_schemas (void)
{
  const LnsSchema schemas[] = {
    { .domain = 1, .schema_id = 1 << 24, .name = string ("point"), .type = 1, .size_bytes = 8 },
    { .domain = 1,
      .schema_id = (1 << 24) + 1,
      .name = string ("op"),
      .size_bytes = 4,
      .is_enum = 1 },
    { .domain = 1,
      .schema_id = (1 << 24) + 2,
      .name = string ("message"),
      .type = 1,
      .size_bytes = 48 },
  };
  const LnsSchemaEntry entries[] = {
    { .schema = 0, .position = 0, .name = string ("x"), .type = 15 },
    { .schema = 0, .position = 1, .name = string ("y"), .type = 15, .offset_bytes = 4 },
    { .schema = 1, .position = 0, .name = string ("sum"), .type = 0 },
    { .schema = 1, .position = 1, .name = string ("max"), .type = 5 },
    { .schema = 2, .position = 0, .name = string ("size"), .type = 18 },
    { .schema = 2,
      .position = 1,
      .name = string ("operation"),
      .type = (1 << 24) + 1,
      .offset_bytes = 8 },
    { .schema = 2,
      .position = 2,
      .name = string ("tag"),
      .type = 1,
      .flags = 1 << 4,
      .array_or_union_detail = 8,
      .offset_bytes = 12 },
    { .schema = 2, .position = 3, .name = string ("at"), .type = 1 << 24, .offset_bytes = 20 },
    { .schema = 2, .position = 4, .name = string ("ratio"), .type = 20, .offset_bytes = 32 },
    { .schema = 2,
      .position = 5,
      .name = string ("ranks"),
      .type = 14,
      .flags = 1 << 4,
      .array_or_union_detail = 3,
      .offset_bytes = 40 },
  };

  for (unsigned i = 0; i < sizeof schemas / sizeof schemas[0]; i++)
    lns_writer_add_schema (writer, &schemas[i]);
  for (unsigned i = 0; i < sizeof entries / sizeof entries[0]; i++)
    lns_writer_add_schema_entry (writer, &entries[i]);
}

static uint32_t
typed_payload (void)
{
  struct __attribute__ ((packed))
  {
    uint64_t schema_id;
    uint32_t size;
    uint64_t bytes;
    uint32_t operation;
    char tag[8];
    int32_t x, y, padding;
    double ratio;
    uint16_t ranks[4];
  } payload = { (1 << 24) + 2, 48, 4096, 5, "a\"b\xff", -1, 2, 0, 0.5, { 1, 2, 65535, 0 } };

  return lns_writer_bytes (writer, &payload, sizeof payload);
}

static void
add_payloads (uint32_t lane)
{
  const struct
  {
    LnsPayloadType type;
    uint64_t bits;
  } payloads[] = {
    { LNS_PAYLOAD_UINT64, UINT64_C (9223372036854775807) },
    { LNS_PAYLOAD_INT64, (uint64_t)INT64_C (-5) },
    { LNS_PAYLOAD_DOUBLE, UINT64_C (0x3FF8000000000000) }, /* 1.5 */
    { LNS_PAYLOAD_UINT32, 4000000000u },
    { LNS_PAYLOAD_INT32, (uint32_t)-7 },
    { LNS_PAYLOAD_FLOAT, 0x3E800000 }, /* 0.25 */
    { LNS_PAYLOAD_TYPED, typed_payload () },
  };

  for (unsigned i = 0; i < sizeof payloads / sizeof payloads[0]; i++)
    {
      LnsEvent event = range (20000 + 100 * i, 20050 + 100 * i, string ("payload"));
      set (&event, LNS_LANE_NVTX_PUSH_POP, LNS_COLUMN_PAYLOAD_TYPE, payloads[i].type);
      set (&event, LNS_LANE_NVTX_PUSH_POP, LNS_COLUMN_PAYLOAD, payloads[i].bits);
      lns_writer_append (writer, lane, &event);
    }
}

static void
add_push_pop (void)
{
  static const char *const odd[] = { "two\nlines", "tab\there", "quo\"ted, 'too'",
                                     "gr\xc3\xbc\xc3\x9f \xe2\x82\xac", "bad \xff\xfe byte" };
  uint32_t outer = push_pop_lane (0, 0, 0, 0), inner = push_pop_lane (0, 0, 0, 1),
           compute = push_pop_lane (0, 0, 1, 0);
  uint32_t again = push_pop_lane (0, 1, 2, 0), child = push_pop_lane (1, 2, 3, 0);
  LnsEvent event = range (1000, 9000, string ("step"));

  set (&event, LNS_LANE_NVTX_PUSH_POP, LNS_COLUMN_COLOR, 0xFF00FF80);
  lns_writer_append (writer, outer, &event);
  for (unsigned i = 0; i < sizeof odd / sizeof odd[0]; i++)
    {
      event = range (1000 + 1000 * i, 1500 + 1000 * i, string (odd[i]));
      lns_writer_append (writer, inner, &event);
    }
  event = range (10000, 10000, string ("step"));
  lns_writer_append (writer, outer, &event);
  event = range (11000, 11000, string ("lost end"));
  event.flags = LNS_EVENT_END_UNKNOWN;
  lns_writer_append (writer, outer, &event);
  event = range (2000, 2400, string ("load"));
  set (&event, LNS_LANE_NVTX_PUSH_POP, LNS_COLUMN_CATEGORY, 7);
  lns_writer_append (writer, compute, &event);
  add_payloads (compute);
  event = range (3000, 3300, string ("load"));
  event.flags = LNS_EVENT_REGISTERED;
  lns_writer_append (writer, again, &event);
  event = range (-50, 7, string (""));
  lns_writer_append (writer, child, &event);
  event = range (60000, 60000, string ("never ended"));
  lns_writer_set_open (writer, child, &event);
}

static void
add_others (void)
{
  uint32_t low = add_lane (LNS_TRACK_NVTX_START_END, LNS_LANE_NVTX_START_END, 0, LNS_ID_NONE, 0, 0);
  uint32_t high =
      add_lane (LNS_TRACK_NVTX_START_END, LNS_LANE_NVTX_START_END, 0, LNS_ID_NONE, 0, 1);
  uint32_t marks = add_lane (LNS_TRACK_NVTX_MARKS, LNS_LANE_NVTX_MARK, 0, 1, 0, 0);
  uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .device = LNS_ID_NONE,
                                                              .stream = LNS_ID_NONE,
                                                              .kind = LNS_TRACK_COUNTER,
                                                              .process = 0,
                                                              .thread = LNS_ID_NONE,
                                                              .domain = 1,
                                                              .name = string ("queue"),
                                                              .value_type = LNS_PAYLOAD_INT64,
                                                              .unit = string ("items"),
                                                              .number = 99 });
  uint32_t counter =
      lns_writer_add_lane (writer, &(LnsLane){ .track = track, .kind = LNS_LANE_COUNTER });

  for (uint32_t i = 0; i < 2; i++)
    {
      LnsEvent event = range (5000 + 100 * i, 6000 + 100 * i, string ("request"));
      set (&event, LNS_LANE_NVTX_START_END, LNS_COLUMN_RANGE_ID, 41 + i);
      set (&event, LNS_LANE_NVTX_START_END, LNS_COLUMN_THREAD, 0);
      set (&event, LNS_LANE_NVTX_START_END, LNS_COLUMN_END_THREAD, i);
      lns_writer_append (writer, i == 0 ? low : high, &event);
    }
  for (int i = 0; i < 3; i++)
    {
      LnsEvent mark = range (7000 + i, 7000 + i, string ("tick"));
      LnsEvent sample = range (100 * i, 100 * i, 0);
      lns_writer_append (writer, marks, &mark);
      set (&sample, LNS_LANE_COUNTER, LNS_COLUMN_VALUE, (uint64_t)(int64_t)(i - 1));
      lns_writer_append (writer, counter, &sample);
    }
}

/* EVENTS ranges in 4 threads, nested 4 deep, with jittered durations and 5,000 names. */
static void
add_many (uint64_t n_events)
{
  uint32_t lanes[4][4], names[5000];
  uint64_t state = 88172645463325252u;
  int64_t now = 0;
  char text[64];

  for (uint32_t i = 0; i < 5000; i++)
    {
      snprintf (text, sizeof text, "operation %" PRIu32 " of many", i);
      names[i] = string (text);
    }
  for (uint32_t thread = 0; thread < 4; thread++)
    {
      uint32_t id = lns_writer_add_thread (writer, &(LnsThread){ .process = 0,
                                                                 .tid = 3000 + (int32_t)thread,
                                                                 .name = string ("pool"),
                                                                 .end_ns = LNS_TIME_UNKNOWN });
      for (uint32_t depth = 0; depth < 4; depth++)
        lanes[thread][depth] = push_pop_lane (0, id, 0, depth);
    }
  for (uint64_t i = 0; i < n_events; i += 4)
    {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      int64_t length = 4000 + (int64_t)(state % 5000);
      for (int64_t depth = 0; depth < 4; depth++)
        {
          LnsEvent event =
              range (now + 10 * depth, now + length - 500 * depth - (int64_t)(state >> 40 & 255),
                     names[(state >> (8 * depth)) % 5000]);
          lns_writer_append (writer, lanes[i / 4 % 4][depth], &event);
        }
      now += length / 3 + 3000;
    }
}

int
main (int argc, char **argv)
{
  LnsError error = { 0 };
  LnsWriterOptions options = { .overwrite = true,
                               .t0_monotonic_ns = 5000000000,
                               .t0_realtime_ns = 1700000000123456789,
                               .uuid = { 1, 2, 3 } };
  uint64_t n_events = argc > 2 ? strtoull (argv[2], NULL, 10) : 0;
  bool is_empty = argc > 2 && n_events == 0;

  writer = argc > 1 ? lns_writer_create (argv[1], &options, &error) : NULL;
  if (writer == NULL)
    {
      fprintf (stderr, "make-report: %s\n", argc > 1 ? error.message : "give a path");
      return 1;
    }
  add_definitions ();
  if (argc > 3 && strcmp (argv[3], "gaps") == 0)
    add_gaps ();
  if (argc > 3 && strcmp (argv[3], "make") == 0)
    add_make ();
  if (n_events > 0)
    add_many (n_events);
  else if (!is_empty)
    {
      add_schemas ();
      add_push_pop ();
      add_others ();
    }
  if (!lns_writer_finish (writer, LNS_STATE_COMPLETE,
                          n_events > 0 ? INT64_C (3600000000000) : 100000, &error))
    {
      fprintf (stderr, "make-report: %s\n", error.message);
      return 1;
    }
  return 0;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares what the reader returns with what was written: definitions, strings, events, and
 * lookups. */

#include "src/store/read/report.h"

#include "src/store/format/definition-codec.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

/* Whether two structs of KIND hold the same, whatever is in their padding. */
static bool
same_definition (LnsDefinitionKind kind, const void *a, const void *b)
{
  LnsBuffer in_a = { 0 }, in_b = { 0 };
  lns_definition_encode (&in_a, kind, 0, a);
  lns_definition_encode (&in_b, kind, 0, b);
  bool same =
      in_a.size_bytes == in_b.size_bytes && memcmp (in_a.bytes, in_b.bytes, in_a.size_bytes) == 0;
  lns_buffer_clear (&in_a);
  lns_buffer_clear (&in_b);
  return same;
}

static void
test_definitions (void)
{
  const char *path = fixture_path ("definitions.rep");
  LnsError error = { 0 };
  LnsWriterOptions options = { .t0_monotonic_ns = -5,
                               .t0_realtime_ns = 1234567890123456789,
                               .t0_tsc = UINT64_MAX };
  LnsWriter *writer = lns_writer_create (path, &options, &error);
  LNS_CHECK (writer != NULL);

  uint32_t name = lns_writer_string (writer, "prog", 4);
  LnsProcess process = { 7, 8, LNS_ID_NONE, name, 0, name, -3, LNS_TIME_UNKNOWN, -1 };
  LnsThread thread = { 0, 9, 10, name, 1, 2 };
  LnsDomain domain = { 0, 1, name, 4, LNS_TIME_UNKNOWN, 0 };
  LnsCategory category = { 0, 42, name };
  LnsSchema schema = { 0, UINT64_C (1) << 40, name, 1, 2, 24, 8, 0 };
  LnsSchemaEntry entry = { 0, 3, name, 0, 1, UINT64_MAX, 16, 5 };
  LnsTrack track = { LNS_TRACK_COUNTER,  0,    LNS_ID_NONE, 0,           name,
                     LNS_PAYLOAD_DOUBLE, name, 77,          LNS_ID_NONE, LNS_ID_NONE };
  LnsLane lane = { 0, 3, LNS_LANE_COUNTER };
  LnsDiagnostic diagnostic = { name, LNS_SEVERITY_WARNING, 99, LNS_ID_NONE, name };
  LnsLoss loss = { 0, LNS_ID_NONE, 5, 6, 1, 2, 3, 4, 5, 6, 7 };
  for (uint32_t i = 0; i < 300; i++)
    {
      process.pid = (int32_t)i;
      LNS_CHECK_INT (lns_writer_add_process (writer, &process), i);
    }
  process.exit_code = 128 + 9;
  lns_writer_set_process (writer, 4, &process);
  LNS_CHECK_INT (lns_writer_add_thread (writer, &thread), 0);
  LNS_CHECK_INT (lns_writer_add_domain (writer, &domain), 0);
  lns_writer_add_category (writer, &category);
  lns_writer_add_schema (writer, &schema);
  lns_writer_add_schema_entry (writer, &entry);
  lns_writer_add_track (writer, &track);
  lns_writer_add_lane (writer, &lane);
  LNS_CHECK (lns_writer_commit (writer, 50, NULL));
  lns_writer_add_diagnostic (writer, &diagnostic);
  lns_writer_add_loss (writer, &loss);
  domain.destroyed_ns = 17;
  lns_writer_set_domain (writer, 0, &domain);
  lns_writer_set_meta (writer, "host", "hal \"9000\"");
  LNS_CHECK (lns_writer_finish (writer, LNS_STATE_COMPLETE, 60, &error));

  LnsReport *report = fixture_open (path, NULL);
  const LnsReportInfo *info = lns_report_info (report);
  LNS_CHECK_STR (info->path, path);
  LNS_CHECK_INT (info->state, LNS_STATE_COMPLETE);
  LNS_CHECK_INT (info->t0_monotonic_ns, -5);
  LNS_CHECK_INT (info->t0_realtime_ns, 1234567890123456789);
  LNS_CHECK (info->t0_tsc == UINT64_MAX);
  LNS_CHECK_INT (info->n_lost, 1 + 3 + 4 + 6);
  LNS_CHECK_INT (info->n_events, 0);
  LNS_CHECK (info->n_commits >= 2);
  LNS_CHECK_INT (info->end_ns, 60);
  LNS_CHECK (info->file_bytes > 0);
  LNS_CHECK_STR (lns_report_meta (report, "host"), "hal \"9000\"");
  LNS_CHECK (lns_report_meta (report, "hos") == NULL);

  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);
  LNS_CHECK_INT (n, 300);
  LNS_CHECK_INT (processes[3].pid, 3);
  LNS_CHECK_INT (processes[3].exit_code, -1);
  LNS_CHECK (same_definition (LNS_DEFINITION_PROCESS, &processes[4], &process));
#define CHECK_ONE(function, kind, value)                                                           \
 do                                                                                                \
  {                                                                                                \
   const void *records = function (report, &n);                                                    \
   LNS_CHECK_INT (n, 1);                                                                           \
   LNS_CHECK (same_definition (kind, records, &value));                                            \
  }                                                                                                \
 while (0)
  CHECK_ONE (lns_report_threads, LNS_DEFINITION_THREAD, thread);
  CHECK_ONE (lns_report_domains, LNS_DEFINITION_DOMAIN, domain);
  CHECK_ONE (lns_report_categories, LNS_DEFINITION_CATEGORY, category);
  CHECK_ONE (lns_report_schemas, LNS_DEFINITION_SCHEMA, schema);
  CHECK_ONE (lns_report_schema_entries, LNS_DEFINITION_SCHEMA_ENTRY, entry);
  CHECK_ONE (lns_report_tracks, LNS_DEFINITION_TRACK, track);
  CHECK_ONE (lns_report_lanes, LNS_DEFINITION_LANE, lane);
  CHECK_ONE (lns_report_diagnostics, LNS_DEFINITION_DIAGNOSTIC, diagnostic);
  CHECK_ONE (lns_report_losses, LNS_DEFINITION_LOSS, loss);
  LNS_CHECK_INT (lns_report_lane_info (report, 0)->n_events, 0);
  LNS_CHECK (lns_report_lane_info (report, 1) == NULL);
  lns_report_close (report);
}

static void
test_strings (void)
{
  enum
  {
    N = 30000,
    LONG_BYTES = 250001
  };
  const char *path = fixture_path ("strings.rep");
  LnsWriter *writer = fixture_writer (path);
  static uint32_t ids[N];
  char text[64], *long_text = malloc (LONG_BYTES);

  for (int i = 0; i < LONG_BYTES; i++)
    long_text[i] = (char)(i * 7);
  uint32_t nul = lns_writer_string (writer, "a\0b", 3);
  uint32_t long_id = 0;
  for (int i = 0; i < N; i++)
    {
      ids[i] = lns_writer_string (writer, text, (size_t)sprintf (text, "string number %d", i));
      if (i == N / 2)
        long_id = lns_writer_string (writer, long_text, LONG_BYTES);
    }
  uint32_t bytes = lns_writer_bytes (writer, "\xff\xfe", 2);
  fixture_finish (writer, 0);

  LnsReport *report = fixture_open (path, NULL);
  size_t size;
  LNS_CHECK_STR (lns_report_string (report, 0, &size), "");
  LNS_CHECK_INT (size, 0);
  LNS_CHECK_STR (lns_report_string (report, lns_report_n_strings (report), &size), "");
  LNS_CHECK_STR (lns_report_string (report, UINT32_MAX, NULL), "");
  for (int i = N - 1; i >= 0; i -= 7)
    {
      sprintf (text, "string number %d", i);
      LNS_CHECK_STR (lns_report_string (report, ids[i], &size), text);
      LNS_CHECK_INT (size, strlen (text));
    }
  LNS_CHECK (memcmp (lns_report_string (report, nul, &size), "a\0b", 4) == 0);
  LNS_CHECK_INT (size, 3);
  LNS_CHECK_STR (lns_report_string (report, bytes, NULL), "\xff\xfe");
  const char *back = lns_report_string (report, long_id, &size);
  LNS_CHECK_INT (size, LONG_BYTES);
  LNS_CHECK (memcmp (back, long_text, LONG_BYTES) == 0 && back[size] == '\0');
  /* The same pointer each time, as it is promised to live. */
  LNS_CHECK (lns_report_string (report, long_id, NULL) == back);
  free (long_text);
  lns_report_close (report);
}

static void
check_event (const LnsEvent *event, const LnsEvent *expected)
{
  LNS_CHECK_INT (event->start_ns, expected->start_ns);
  LNS_CHECK_INT (event->duration_ns, expected->duration_ns);
  LNS_CHECK_INT (event->name, expected->name);
  LNS_CHECK_INT (event->flags, expected->flags);
  for (int e = 0; e < LNS_EXTRA_MAX; e++)
    LNS_CHECK (event->extra[e] == expected->extra[e]);
}

/* The plain query that lns_report_find () replaces. */
static uint64_t
find_plainly (const LnsExpectedLane *lane, int64_t time_ns)
{
  uint32_t i = 0;
  while (i < lane->n && lane->events[i].start_ns < time_ns &&
         lane->events[i].start_ns + lane->events[i].duration_ns <= time_ns)
    i++;
  return i;
}

static void
check_lane (LnsReport *report, uint32_t id, const LnsExpectedLane *lane)
{
  const LnsLaneInfo *info = lns_report_lane_info (report, id);
  LnsError error = { 0 };
  LnsEvent event;
  uint64_t seed = id, n = 0, ordinal, busy_ns = 0;

  LNS_CHECK_INT (info->n_events, lane->n);
  LNS_CHECK (!info->has_open);
  LnsChunkWalker *walker = lns_chunk_walker_new (report, id, 0);
  for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, &error)) != NULL;)
    {
      LNS_CHECK_INT (chunk->first, n);
      LNS_CHECK_INT (chunk->lane, id);
      for (uint32_t i = 0; i < chunk->n; i++, n++)
        {
          event = (LnsEvent){
            chunk->start_ns[i], chunk->duration_ns[i], chunk->name[i], chunk->flags[i], { 0 }
          };
          for (int e = 0; e < LNS_EXTRA_MAX; e++)
            event.extra[e] = chunk->extra[e] != NULL ? chunk->extra[e][i] : 0;
          check_event (&event, &lane->events[n]);
          busy_ns += (uint64_t)event.duration_ns;
        }
    }
  LNS_CHECK_STR (error.message, "");
  LNS_CHECK_INT (n, lane->n);
  LNS_CHECK_INT (info->busy_ns, busy_ns);
  if (lane->n == 0)
    {
      lns_chunk_walker_free (walker);
      return;
    }
  LNS_CHECK_INT (info->start_ns, lane->events[0].start_ns);
  LNS_CHECK_INT (info->end_ns,
                 lane->events[lane->n - 1].start_ns + lane->events[lane->n - 1].duration_ns);
  lns_chunk_walker_seek (walker, info->n_chunks - 1);
  const LnsChunk *last = lns_chunk_walker_next (walker, &error);
  LNS_CHECK_INT (last->first + last->n, lane->n);
  LNS_CHECK (lns_chunk_walker_next (walker, &error) == NULL);
  lns_chunk_walker_free (walker);

  for (int i = 0; i < 200; i++)
    {
      const uint64_t at = i == 0 ? 0 : i == 1 ? lane->n - 1 : fixture_random (&seed) % lane->n;
      LNS_CHECK (lns_report_event (report, id, at, &event, NULL));
      check_event (&event, &lane->events[at]);
      const LnsChunk *chunk =
          lns_report_chunk (report, id, lns_report_chunk_of (report, id, at), 0, &error);
      LNS_CHECK (chunk->first <= at && at - chunk->first < chunk->n);
      lns_chunk_unref (chunk);
      const int64_t times_ns[] = { event.start_ns - 1, event.start_ns,
                                   event.start_ns + event.duration_ns / 2,
                                   event.start_ns + event.duration_ns,
                                   event.start_ns + event.duration_ns + 1 };
      for (int t = 0; t < 5; t++)
        {
          LNS_CHECK (lns_report_find (report, id, times_ns[t], &ordinal, NULL));
          LNS_CHECK_INT (ordinal, find_plainly (lane, times_ns[t]));
        }
    }
  LNS_CHECK (lns_report_find (report, id, INT64_MIN, &ordinal, NULL));
  LNS_CHECK_INT (ordinal, 0);
  LNS_CHECK (lns_report_find (report, id, INT64_MAX, &ordinal, NULL));
  LNS_CHECK_INT (ordinal, lane->n);
  LNS_CHECK (!lns_report_event (report, id, lane->n, &event, NULL));
  LNS_CHECK (lns_report_chunk (report, id, info->n_chunks, 0, NULL) == NULL);
}

static void
test_events (void)
{
  static const uint32_t counts[] = { 0,   1,    15,   16,   17,   64,    127,   128,
                                     129, 1024, 1025, 4096, 4097, 20000, 65536, 70001 };
  enum
  {
    N_LANES = sizeof counts / sizeof *counts
  };
  const char *path = fixture_path ("events.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsExpectedLane lanes[N_LANES];
  uint32_t longest = 0;

  for (uint32_t i = 0; i < N_LANES; i++)
    {
      fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      lanes[i] = fixture_events (i % LNS_N_SHAPES, counts[i], -1000000, i);
      longest = counts[i] > longest ? counts[i] : longest;
    }
  /* Interleaved, with commits between, as a recording does. */
  for (uint32_t from = 0; from < longest; from += 9999)
    {
      for (uint32_t i = 0; i < N_LANES; i++)
        for (uint32_t e = from; e < from + 9999 && e < lanes[i].n; e++)
          lns_writer_append (writer, i, &lanes[i].events[e]);
      LNS_CHECK (lns_writer_commit (writer, 0, NULL));
    }
  fixture_finish (writer, 0);

  LnsReport *report = fixture_open (path, NULL);
  uint64_t n_events = 0;
  for (uint32_t i = 0; i < N_LANES; i++)
    {
      check_lane (report, i, &lanes[i]);
      n_events += lanes[i].n;
      free (lanes[i].events);
    }
  LNS_CHECK_INT (lns_report_info (report)->n_events, n_events);
  LNS_CHECK_INT (lns_report_info (report)->n_open, 0);
  lns_report_close (report);
}

static unsigned
n_extra_of (LnsLaneKind kind)
{
  unsigned n = 0;
  while (lns_lane_kind_info (kind)->extra[n] != 0)
    n++;
  return n;
}

static void
test_kinds_and_masks (void)
{
  const char *path = fixture_path ("kinds.rep");
  LnsWriter *writer = fixture_writer (path);
  for (LnsLaneKind kind = 1; kind < LNS_N_LANE_KINDS; kind++)
    {
      uint32_t id = fixture_lane (writer, kind);
      for (int64_t i = 0; i < 1000; i++)
        {
          LnsEvent event = { .start_ns = i, .name = 3, .flags = 64 };
          for (unsigned e = 0; e + 1 < n_extra_of (kind); e++)
            event.extra[e] = (uint64_t)i * (e + 1) * 1000003;
          lns_writer_append (writer, id, &event);
        }
    }
  fixture_finish (writer, 0);

  LnsReport *report = fixture_open (path, NULL);
  for (LnsLaneKind kind = 1; kind < LNS_N_LANE_KINDS; kind++)
    {
      const unsigned n_extra = n_extra_of (kind);
      const uint32_t id = kind - 1u;
      const LnsChunk *narrow =
          lns_report_chunk (report, id, 0, LNS_COLUMN_BIT (LNS_COLUMN_NAME), NULL);
      LNS_CHECK (narrow->name != NULL && narrow->flags == NULL && narrow->extra[0] == NULL);
      LNS_CHECK_INT (narrow->start_ns[5], 5);
      const LnsChunk *wide = lns_report_chunk (report, id, 0, 0, NULL);
      LNS_CHECK (wide != narrow && wide->flags != NULL);
      for (unsigned e = 0; e < LNS_EXTRA_MAX; e++)
        LNS_CHECK ((wide->extra[e] != NULL) == (e + 1 < n_extra));
      LNS_CHECK_INT (wide->extra[0][999], INT64_C (999) * 1000003);
      /* What has more columns serves the narrower wish. */
      const LnsChunk *again =
          lns_report_chunk (report, id, 0, LNS_COLUMN_BIT (LNS_COLUMN_FLAGS), NULL);
      LNS_CHECK (again == wide);
      LNS_CHECK_INT (narrow->name[999], 3);
      lns_chunk_unref (narrow);
      lns_chunk_unref (wide);
      lns_chunk_unref (again);
    }
  lns_report_close (report);
}

static void
test_open_events (void)
{
  const char *path = fixture_path ("open-events.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  uint32_t alone = fixture_lane (writer, LNS_LANE_NVTX_START_END);
  LnsEvent event;
  uint64_t ordinal;

  for (int64_t i = 0; i < 100; i++)
    lns_writer_append (writer, id, &(LnsEvent){ .start_ns = 10 * i, .duration_ns = 5, .name = 1 });
  lns_writer_set_open (writer, id, &(LnsEvent){ .start_ns = 2000, .name = 2, .extra = { 0, 7 } });
  lns_writer_set_open (writer, alone,
                       &(LnsEvent){ .start_ns = -50, .name = 3, .extra = { 1, 2, 3, 4, 5, 6, 7 } });
  fixture_finish (writer, 3000);

  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->n_open, 2);
  LNS_CHECK_INT (lns_report_info (report)->n_events, 102);
  LNS_CHECK_INT (lns_report_info (report)->start_ns, -50);
  const LnsLaneInfo *info = lns_report_lane_info (report, id);
  LNS_CHECK (info->has_open);
  LNS_CHECK_INT (info->n_events, 101);
  LNS_CHECK_INT (info->end_ns, 3000);
  LNS_CHECK_INT (info->busy_ns, 1500);
  LNS_CHECK (lns_report_event (report, id, 100, &event, NULL));
  check_event (&event, &(LnsEvent){ 2000, 1000, 2, LNS_EVENT_OPEN_END, { 0, 7 } });
  LNS_CHECK (lns_report_event (report, alone, 0, &event, NULL));
  check_event (&event, &(LnsEvent){ -50, 3050, 3, LNS_EVENT_OPEN_END, { 1, 2, 3, 4, 5, 6, 7 } });
  LNS_CHECK_INT (lns_report_chunk_of (report, id, 100), info->n_chunks - 1);
  LNS_CHECK_INT (lns_report_chunk_of (report, alone, 0), 0);
  LNS_CHECK (lns_report_find (report, id, 2500, &ordinal, NULL));
  LNS_CHECK_INT (ordinal, 100);
  LNS_CHECK (lns_report_find (report, id, 3000, &ordinal, NULL));
  LNS_CHECK_INT (ordinal, 101);
  LnsChunkWalker *walker = lns_chunk_walker_new (report, id, LNS_COLUMN_BIT (LNS_COLUMN_NAME));
  const LnsChunk *chunk = NULL;
  uint64_t n = 0;
  while ((chunk = lns_chunk_walker_next (walker, NULL)) != NULL)
    n += chunk->n;
  LNS_CHECK_INT (n, 101);
  lns_chunk_walker_free (walker);
  lns_report_close (report);
}

/* A report that was last committed before its open event began reaches to it all the same. */
static void
test_open_event_after_the_end (void)
{
  const char *path = fixture_path ("late.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);

  lns_writer_append (writer, id, &(LnsEvent){ .start_ns = 10, .duration_ns = 70, .name = 1 });
  lns_writer_set_open (writer, id, &(LnsEvent){ .start_ns = 500, .name = 2 });
  fixture_finish (writer, 20);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->start_ns, 10);
  LNS_CHECK_INT (lns_report_info (report)->end_ns, 500);
  LNS_CHECK_INT (lns_report_lane_info (report, id)->end_ns, 500);
  LNS_CHECK_INT (lns_report_lane_info (report, id)->busy_ns, 70);
  lns_report_close (report);
}

/* A reader shows the commit that it opened at, however the recording goes on. */
static void
test_snapshot_of_recording (void)
{
  const char *path = fixture_path ("live.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsExpectedLane lane = fixture_events (LNS_SHAPE_DENSE, 60000, 0, 2);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP), at = 0;
  LnsReport *reports[10];
  uint32_t counts[10];
  LnsError error = { 0 };

  for (int i = 0; i < 10; i++)
    {
      for (uint32_t end = at + 1 + 1111 * (uint32_t)i; at < end; at++)
        lns_writer_append (writer, id, &lane.events[at]);
      lns_writer_set_open (writer, id, i % 2 ? &lane.events[at] : NULL);
      LNS_CHECK (lns_writer_commit (writer, lane.events[at].start_ns + 9, NULL));
      reports[i] = fixture_open (path, NULL);
      counts[i] = at;
    }
  for (; at < lane.n; at++)
    lns_writer_append (writer, id, &lane.events[at]);
  LNS_CHECK (lns_writer_commit (writer, 0, &error));
  for (int i = 9; i >= 0; i--)
    {
      const LnsReportInfo *info = lns_report_info (reports[i]);
      LnsChunkWalker *walker = lns_chunk_walker_new (reports[i], id, 0);
      uint64_t n = 0;
      LNS_CHECK_INT (info->state, LNS_STATE_RECORDING);
      LNS_CHECK_INT (info->n_events, counts[i] + i % 2);
      LNS_CHECK_INT (info->n_open, i % 2);
      for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, &error)) != NULL;)
        for (uint32_t e = 0; e < chunk->n; e++, n++)
          LNS_CHECK_INT (chunk->start_ns[e], lane.events[n].start_ns);
      LNS_CHECK_STR (error.message, "");
      LNS_CHECK_INT (n, counts[i] + i % 2);
      lns_chunk_walker_free (walker);
      lns_report_close (reports[i]);
    }
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  check_lane (report, id, &lane);
  lns_report_close (report);
  free (lane.events);
}

static void
test_cache_is_bounded (void)
{
  const char *path = fixture_path ("cache.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsExpectedLane lane = fixture_events (LNS_SHAPE_MIXED, 100000, 0, 2);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);

  for (uint32_t e = 0; e < lane.n; e++)
    lns_writer_append (writer, id, &lane.events[e]);
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, &(LnsOpenOptions){ .cache_bytes = 500000 });
  const uint32_t n_chunks = lns_report_lane_info (report, id)->n_chunks;
  const LnsChunk *held = lns_report_chunk (report, id, 0, 0, NULL);
  for (uint32_t i = 0; i < n_chunks; i++)
    {
      lns_chunk_unref (lns_report_chunk (report, id, i, 0, NULL));
      LNS_CHECK (lns_report_counters (report).cache_bytes <= 500000);
    }
  LNS_CHECK (n_chunks > 20);
  LNS_CHECK (lns_report_counters (report).cache_bytes > 300000);
  /* What was let go of is still whole for whoever holds it. */
  LNS_CHECK_INT (held->start_ns[held->n - 1], lane.events[held->n - 1].start_ns);
  lns_chunk_unref (held);
  uint64_t decoded = lns_report_counters (report).chunks_decoded;
  lns_chunk_unref (lns_report_chunk (report, id, n_chunks - 1, 0, NULL));
  LNS_CHECK_INT (lns_report_counters (report).chunks_decoded, decoded);
  lns_chunk_unref (lns_report_chunk (report, id, 0, 0, NULL));
  LNS_CHECK_INT (lns_report_counters (report).chunks_decoded, decoded + 1);
  lns_report_close (report);
  free (lane.events);
}

static void
keep_fraction (double fraction, void *data)
{
  *(double *)data = fraction;
}

static void
test_progress_and_cancel (void)
{
  const char *path = fixture_path ("progress.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsError error = { 0 };
  double fraction = -1;
  atomic_bool cancel = false;

  fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  fixture_finish (writer, 0);
  LnsOpenOptions options = { .progress = keep_fraction,
                             .progress_data = &fraction,
                             .cancel = &cancel };
  lns_report_close (fixture_open (path, &options));
  LNS_CHECK (fraction == 1);
  atomic_store (&cancel, true);
  LNS_CHECK (lns_report_open (path, &options, &error) == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
}

int
main (void)
{
  LNS_TEST (test_definitions);
  LNS_TEST (test_strings);
  LNS_TEST (test_events);
  LNS_TEST (test_kinds_and_masks);
  LNS_TEST (test_open_events);
  LNS_TEST (test_open_event_after_the_end);
  LNS_TEST (test_snapshot_of_recording);
  LNS_TEST (test_cache_is_bounded);
  LNS_TEST (test_progress_and_cancel);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests what opening a report costs, as the kernel counts it: a few pages, for any number of
 * events. A level of detail that is missing may not be computed. LNS_EVENTS in the environment
 * sets the number of events: 100 million make a file of more than 1 GB. */

#include <malloc.h>
#include <sqlite3.h>
#include <unistd.h>

#include "src/store/read/pixels.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_LANES        64
#define MOST_BYTES     (UINT64_C (8) << 20)
#define GB             (UINT64_C (1) << 30)
#define EVENTS_DEFAULT 6000000

static uint64_t n_events = EVENTS_DEFAULT;

/* Writes N events into N_LANES lanes, committed as a recording does, with columns that do not
 * shrink. The file's size. */
static uint64_t
write_report (const char *path, uint64_t n)
{
  LnsWriter *writer = fixture_writer (path);
  LnsError error = { 0 };
  uint64_t seed = 1;

  for (uint32_t i = 0; i < N_LANES; i++)
    fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  for (uint64_t e = 0; e < n; e++)
    {
      const uint64_t r = fixture_random (&seed);
      LnsEvent event = { .start_ns = (int64_t)e * 1000,
                         .duration_ns = (int64_t)(r % 50000),
                         .name = 1 + (uint32_t)(r >> 32) % 40 };
      event.extra[3] = r;
      lns_writer_append (writer, (uint32_t)(e % N_LANES), &event);
      if (lns_writer_waiting_bytes (writer) > 16 << 20 &&
          !lns_writer_commit (writer, event.start_ns, &error))
        LNS_FAIL ("%s", error.message);
    }
  fixture_finish (writer, (int64_t)n * 1000);
  LnsReport *report = fixture_open (path, NULL);
  const uint64_t file_bytes = lns_report_info (report)->file_bytes;
  lns_report_close (report);
  return file_bytes;
}

/* Bytes that this process has asked the kernel for since its start, from the cache or not. */
static uint64_t
bytes_read (void)
{
  FILE *io = fopen ("/proc/self/io", "r");
  unsigned long long n_bytes = 0;

  if (io == NULL || fscanf (io, "rchar: %llu", &n_bytes) != 1)
    n_bytes = 0;
  if (io != NULL)
    fclose (io);
  return n_bytes;
}

/* Bytes read by opening PATH. */
static uint64_t
opening_bytes (const char *path)
{
  const uint64_t before = bytes_read ();
  LnsReport *report = fixture_open (path, NULL);
  const uint64_t n_bytes = bytes_read () - before;
  /* The reader's own count is what the viewer shows: it leaves out little. */
  const LnsReportCounters counters = lns_report_counters (report);
  lns_report_close (report);
  LNS_CHECK (before > 0);
  LNS_CHECK_INT (counters.chunks_decoded, 0);
  LNS_CHECK (n_bytes >= counters.bytes_read && n_bytes < counters.bytes_read + 65536);
  return n_bytes;
}

static void
test_opening_reads_little (void)
{
  const char *small = fixture_path ("small.rep"), *large = fixture_path ("large.rep");
  const uint64_t small_bytes = write_report (small, n_events / 8);
  const uint64_t large_bytes = write_report (large, n_events);
  const uint64_t small_read = opening_bytes (small), large_read = opening_bytes (large);

  printf ("# %" PRIu64 " of %" PRIu64 " bytes, %" PRIu64 " of %" PRIu64 "\n", small_read,
          small_bytes, large_read, large_bytes);
  LNS_CHECK (large_bytes > 6 * small_bytes && large_bytes > 10 * n_events);
  LNS_CHECK (n_events < 100000000 || large_bytes >= GB);
  LNS_CHECK (large_read <= MOST_BYTES && large_read * GB <= MOST_BYTES * large_bytes);
  /* Eight times the events: no lane's top has more than 64 nodes, of 40 bytes at most. */
  LNS_CHECK (large_read <= small_read + N_LANES * 64 * 40);
}

static void
delete_rows (const char *path, const char *from)
{
  sqlite3 *db;
  char text[200];

  snprintf (text, sizeof text, "DELETE FROM %s", from);
  LNS_CHECK (sqlite3_open (path, &db) == SQLITE_OK);
  const int code = sqlite3_exec (db, text, NULL, NULL, NULL);
  const int n_rows = sqlite3_changes (db);
  sqlite3_close (db);
  LNS_CHECK_INT (code, SQLITE_OK);
  LNS_CHECK (n_rows > 0);
}

/* A lane whose level rows are gone is an error at each query, wide or narrow; its events are not
 * read to make others. Its neighbours are as before. */
static void
test_lost_levels_are_not_rebuilt (void)
{
  const char *path = fixture_path ("large.rep");
  LnsPixelResult result = { 0 };

  delete_rows (path, "lns_chunk WHERE level > 0 AND lane = 5");
  LnsReport *report = fixture_open (path, NULL);
  const int64_t span_ns = lns_report_lane_info (report, 5)->end_ns;
  for (int64_t ns_per_px = span_ns / 1000; ns_per_px > 0; ns_per_px /= 100)
    {
      LnsError error = { 0 };
      LnsPixelQuery query = { .origin_ns = (span_ns - ns_per_px * 1000) / 2,
                              .ns_per_px = (double)ns_per_px,
                              .n_px = 1000 };
      LNS_CHECK (!lns_report_query_pixels (report, 5, &query, &result, &error));
      LNS_CHECK_INT (error.domain, LNS_ERROR_FORMAT);
      LNS_CHECK (strstr (error.message, "the report is damaged") != NULL);
      LNS_CHECK (strstr (error.message, "of lane 5 is incomplete") != NULL);
    }
  LNS_CHECK_INT (lns_report_counters (report).chunks_decoded, 0);
  const LnsPixelQuery query = { .ns_per_px = (double)span_ns / 1000, .n_px = 1000 };
  LNS_CHECK (lns_report_query_pixels (report, 6, &query, &result, NULL));
  lns_pixel_result_clear (&result);
  lns_report_close (report);
}

/* All that a report took is given back: of lanes with open events, of finished ones, of damaged ones,
 * and of those that were looked into. */
static void
test_nothing_leaks (void)
{
  const char *path = fixture_path ("leaks.rep");
  LnsWriter *writer = fixture_writer (path);
  size_t used_bytes = 0;

  for (uint32_t i = 0; i < 16; i++)
    {
      const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      for (int64_t e = 0; e < 5000; e++)
        lns_writer_append (writer, lane, &(LnsEvent){ .start_ns = e * 10, .duration_ns = e % 7 });
      lns_writer_set_open (writer, lane, i % 2 == 0 ? &(LnsEvent){ .start_ns = 60000 } : NULL);
    }
  fixture_finish (writer, 70000);
  for (unsigned round = 0; round < 12; round++)
    {
      /* SQLite keeps a little from its first use. */
      if (round == 4)
        used_bytes = mallinfo2 ().uordblks + mallinfo2 ().hblkhd;
      if (round == 8)
        delete_rows (path, "lns_tail WHERE id >> 8 = 5");
      LnsReport *report = fixture_open (path, NULL);
      LnsPixelResult result = { 0 };
      for (uint32_t lane = 0; lane < 16; lane++)
        {
          const LnsPixelQuery query = { .ns_per_px = 60, .n_px = 1000 };
          LNS_CHECK (lns_report_query_pixels (report, lane, &query, &result, NULL) ==
                     (lane != 5 || round < 8));
          LnsEvent event;
          LNS_CHECK (lane == 5 || lns_report_event (report, lane, 4999, &event, NULL));
        }
      lns_pixel_result_clear (&result);
      lns_report_close (report);
    }
  /* The allocator's own caches move by a few KB. */
  LNS_CHECK (mallinfo2 ().uordblks + mallinfo2 ().hblkhd < used_bytes + 32768);
}

int
main (void)
{
  const char *wanted = getenv ("LNS_EVENTS");

  if (wanted != NULL)
    n_events = strtoull (wanted, NULL, 10);
  LNS_TEST (test_opening_reads_little);
  LNS_TEST (test_lost_levels_are_not_rebuilt);
  LNS_TEST (test_nothing_leaks);
  return lns_tap_done ();
}

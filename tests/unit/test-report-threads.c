/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests that all threads that read one report get the same answers. Most useful with
 * -Db_sanitize=thread. */

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/store/read/pixels.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

enum
{
  N_THREADS = 4,
  N_LANES = 6,
  N_EVENTS = 20000,
  N_ROUNDS = 60,
  N_PX = 300
};

static LnsExpectedLane lanes[N_LANES];
static uint32_t names[40];
static LnsReport *report;
static atomic_uint n_wrong;

/* Whether EVENT is one that a search from a nanosecond after START's start may stop at. */
static bool
ends_after (const LnsEvent *event, const LnsEvent *start)
{
  return event->start_ns > start->start_ns ||
         event->start_ns + event->duration_ns > start->start_ns + 1;
}

static void *
query_all (void *data)
{
  uint64_t seed = (uintptr_t)data;
  LnsPixelResult result = { 0 };

  for (int round = 0; round < N_ROUNDS; round++)
    {
      const uint32_t id = (uint32_t)(fixture_random (&seed) % N_LANES);
      const uint64_t at = fixture_random (&seed) % N_EVENTS;
      const LnsEvent *expected = &lanes[id].events[at];
      LnsEvent event = { 0 };
      uint64_t ordinal = 0;
      bool right = lns_report_event (report, id, at, &event, NULL);
      right = right && event.start_ns == expected->start_ns && event.name == expected->name;
      right = right && lns_report_find (report, id, expected->start_ns + 1, &ordinal, NULL);
      right = right && (ordinal == N_EVENTS || ends_after (&lanes[id].events[ordinal], expected));
      char text[32];
      sprintf (text, "name %u", 1 + (unsigned)(at % 40));
      right = right && strcmp (lns_report_string (report, names[at % 40], NULL), text) == 0;
      LnsPixelQuery query = { .origin_ns = expected->start_ns,
                              .ns_per_px = 1 + (double)(fixture_random (&seed) % 1000000),
                              .n_px = N_PX };
      query.cached_only = round % 5 == 0;
      right = right && lns_report_query_pixels (report, id, &query, &result, NULL);
      if (round % 20 == 0)
        {
          LnsChunkWalker *walker = lns_chunk_walker_new (report, id, 0);
          uint64_t n = 0;
          for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, NULL)) != NULL;)
            n += chunk->n;
          right = right && n == N_EVENTS;
          lns_chunk_walker_free (walker);
        }
      lns_report_counters (report);
      if (!right)
        atomic_fetch_add (&n_wrong, 1);
    }
  lns_pixel_result_clear (&result);
  return NULL;
}

static void
test_threads (void)
{
  const char *path = fixture_path ("threads.rep");
  LnsWriter *writer = fixture_writer (path);
  pthread_t threads[N_THREADS];

  for (int i = 0; i < 40; i++)
    {
      char text[32];
      names[i] = lns_writer_string (writer, text, (size_t)sprintf (text, "name %d", i + 1));
    }
  for (uint32_t i = 0; i < N_LANES; i++)
    {
      uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      lanes[i] = fixture_events (i % LNS_N_SHAPES, N_EVENTS, 0, i);
      for (uint32_t e = 0; e < N_EVENTS; e++)
        lns_writer_append (writer, id, &lanes[i].events[e]);
    }
  fixture_finish (writer, 0);
  /* A cache of a few chunks, so that they come and go under everybody's hands. */
  report = fixture_open (path, &(LnsOpenOptions){ .cache_bytes = 400000 });
  for (uintptr_t i = 0; i < N_THREADS; i++)
    LNS_CHECK (pthread_create (&threads[i], NULL, query_all, (void *)(i + 1)) == 0);
  for (int i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
  LNS_CHECK_INT (n_wrong, 0);
  lns_report_close (report);
  for (int i = 0; i < N_LANES; i++)
    free (lanes[i].events);
}

/* Another process records, and commits without a pause: each opening finds a whole report. */
static void
test_reading_while_recording (void)
{
  enum
  {
    N_COMMITS = 150,
    N_BATCH = 700
  };
  const char *path = fixture_path ("recording.rep");
  int ready[2];
  char byte = 0;

  LNS_CHECK (pipe (ready) == 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      LnsWriter *writer = fixture_writer (path);
      uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      bool right = true;
      for (int64_t i = 0; i < N_COMMITS * N_BATCH; i++)
        {
          lns_writer_append (writer, id,
                             &(LnsEvent){ .start_ns = 10 * i, .duration_ns = 5, .name = 1 });
          if (i % N_BATCH == N_BATCH - 1)
            {
              lns_writer_set_open (writer, id, &(LnsEvent){ .start_ns = 10 * i + 7, .name = 2 });
              /* The reader may hold its lock for as long as a commit waits: the next one writes this one's, too. */
              LnsError error = { 0 };
              right =
                  (lns_writer_commit (writer, 10 * i + 9, &error) || error.code == EBUSY) && right;
            }
          if (i == N_BATCH)
            right = write (ready[1], &byte, 1) == 1 && right;
        }
      right = lns_writer_finish (writer, LNS_STATE_COMPLETE, 0, NULL) && right;
      _exit (right ? 0 : 1);
    }
  LNS_CHECK (read (ready[0], &byte, 1) == 1);
  uint64_t n_before = 0;
  for (LnsState state = LNS_STATE_RECORDING; state == LNS_STATE_RECORDING;)
    {
      LnsReport *live = fixture_open (path, NULL);
      const LnsReportInfo *info = lns_report_info (live);
      LnsError error = { 0 };
      LnsPixelResult result = { 0 };
      LnsPixelQuery query = { .ns_per_px = (double)info->end_ns / N_PX, .n_px = N_PX };
      uint64_t n = 0;
      state = info->state;
      LNS_CHECK (info->n_events >= n_before);
      LNS_CHECK_INT (info->n_events % N_BATCH, 1);
      LnsChunkWalker *walker = lns_chunk_walker_new (live, 0, 0);
      for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, &error)) != NULL;)
        for (uint32_t e = 0; e < chunk->n; e++, n++)
          LNS_CHECK (n == info->n_events - 1 || chunk->start_ns[e] == 10 * (int64_t)n);
      LNS_CHECK_STR (error.message, "");
      LNS_CHECK_INT (n, info->n_events);
      lns_chunk_walker_free (walker);
      LNS_CHECK (lns_report_query_pixels (live, 0, &query, &result, NULL));
      lns_pixel_result_clear (&result);
      n_before = info->n_events;
      lns_report_close (live);
    }
  int status;
  LNS_CHECK (waitpid (pid, &status, 0) == pid);
  LNS_CHECK_INT (status, 0);
  LNS_CHECK_INT (n_before, N_COMMITS * N_BATCH + 1);
}

int
main (void)
{
  LNS_TEST (test_threads);
  LNS_TEST (test_reading_while_recording);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests newer snapshots of a report that grows: each one has what was committed then, whatever is committed later. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/store/read/pixels.h"
#include "src/store/read/report.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

/* What event I of a lane is. */
static LnsEvent
event_at (uint64_t i)
{
  return (LnsEvent){ .start_ns = 10 * (int64_t)i,
                     .duration_ns = 1 + (int64_t)(i % 7),
                     .name = 1 + (uint32_t)(i % 40) };
}

/* Appends the events FROM … TO - 1 to LANE, and commits. */
static void
grow (LnsWriter *writer, uint32_t lane, uint64_t from, uint64_t to)
{
  LnsError error = { 0 };

  for (uint64_t i = from; i < to; i++)
    {
      const LnsEvent event = event_at (i);
      lns_writer_append (writer, lane, &event);
    }
  LNS_CHECK (lns_writer_commit (writer, 10 * (int64_t)to, &error));
  LNS_CHECK_STR (error.message, "");
}

/* Whether LANE of REPORT has the first N events, read in all ways. */
static bool
has_events (LnsReport *report, uint32_t lane, uint64_t n)
{
  LnsChunkWalker *walker = lns_chunk_walker_new (report, lane, 0);
  LnsPixelQuery query = { .ns_per_px = 10.0 * (double)n / 100, .n_px = 100 };
  LnsPixelResult result = { 0 };
  uint64_t i = 0, ordinal;
  bool right = lns_report_lane_info (report, lane)->n_events == n;

  for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, NULL)) != NULL;)
    for (uint32_t e = 0; e < chunk->n; e++, i++)
      {
        const LnsEvent expected = event_at (i);
        right = right && chunk->start_ns[e] == expected.start_ns &&
                chunk->duration_ns[e] == expected.duration_ns && chunk->name[e] == expected.name;
      }
  lns_chunk_walker_free (walker);
  for (uint64_t at = 0; at < n; at += 1 + n / 97)
    {
      LnsEvent event = { 0 };
      right = right && lns_report_event (report, lane, at, &event, NULL) &&
              event.start_ns == event_at (at).start_ns;
    }
  right = right && lns_report_find (report, lane, 10 * (int64_t)n, &ordinal, NULL) && ordinal == n;
  right = right && lns_report_query_pixels (report, lane, &query, &result, NULL);
  lns_pixel_result_clear (&result);
  return right && i == n;
}

/* A newer snapshot of REPORT, or the end of the program. */
static LnsReport *
refresh (LnsReport *report)
{
  LnsReport *newer = NULL;
  LnsError error = { 0 };

  LNS_CHECK (lns_report_refresh (report, &newer, &error));
  LNS_CHECK_STR (error.message, "");
  LNS_CHECK (newer != NULL);
  return newer;
}

static void
test_grows_while_it_is_read (void)
{
  static const uint64_t counts[] = { 1, 100, 4095, 4096, 4097, 9000, 40000, 40001, 100000 };
  enum
  {
    N = sizeof counts / sizeof *counts
  };
  const char *path = fixture_path ("grows.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsReport *reports[N], *newer;

  for (int i = 0; i < N; i++)
    {
      grow (writer, lane, i > 0 ? counts[i - 1] : 0, counts[i]);
      reports[i] = i > 0 ? refresh (reports[i - 1]) : fixture_open (path, NULL);
      LNS_CHECK_INT (lns_report_info (reports[i])->n_events, counts[i]);
      /* What was there before is as it was, read before or not. */
      for (int k = i % 2; k <= i; k++)
        LNS_CHECK (has_events (reports[k], lane, counts[k]));
    }
  LNS_CHECK (lns_report_refresh (reports[N - 1], &newer, NULL) && newer == NULL);
  for (int i = 0; i < N; i += 2) /* in any order */
    lns_report_close (reports[i]);
  for (int i = 1; i < N; i += 2)
    {
      LNS_CHECK (has_events (reports[i], lane, counts[i]));
      lns_report_close (reports[i]);
    }
  lns_writer_abandon (writer);
}

/* What one snapshot has read, the next one need not read. */
static void
test_caches_are_shared (void)
{
  enum
  {
    N = 10 * 4096
  };
  const char *path = fixture_path ("caches.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP),
                 still = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);

  grow (writer, still, 0, 500);
  grow (writer, lane, 0, N);
  LnsReport *report = fixture_open (path, NULL);
  for (uint32_t i = 0; i < 10; i++)
    lns_chunk_unref (lns_report_chunk (report, lane, i, 0, NULL));
  lns_chunk_unref (lns_report_chunk (report, still, 0, 0, NULL));
  const uint32_t id = lns_report_processes (report, NULL)[0].name;
  const char *name = lns_report_string (report, id, NULL);
  LNS_CHECK (*name != '\0');
  grow (writer, lane, N, N + 5);
  LnsReport *newer = refresh (report);
  const uint64_t n_before = lns_report_counters (newer).chunks_decoded;
  for (uint32_t i = 0; i < 10; i++)
    lns_chunk_unref (lns_report_chunk (newer, lane, i, 0, NULL));
  lns_chunk_unref (lns_report_chunk (newer, still, 0, 0, NULL));
  LNS_CHECK_INT (lns_report_counters (newer).chunks_decoded, n_before);
  lns_report_close (report);
  LNS_CHECK (lns_report_string (newer, id, NULL) == name);
  lns_report_close (newer);
  lns_writer_abandon (writer);
}

static void
test_definitions_are_added_and_replaced (void)
{
  enum
  {
    N_STRINGS = 10000 /* of several pages and chunks */
  };
  const char *path = fixture_path ("definitions.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t first = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  char text[32];
  uint32_t n;

  grow (writer, first, 0, 10);
  LnsReport *report = fixture_open (path, NULL);
  const uint32_t n_strings = lns_report_n_strings (report);
  LNS_CHECK_STR (lns_report_string (report, n_strings, NULL), ""); /* not there yet */
  uint32_t ids[N_STRINGS];
  for (int i = 0; i < N_STRINGS; i++)
    ids[i] = lns_writer_string (writer, text, (size_t)sprintf (text, "later %d", i));
  const uint32_t second = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  lns_writer_add_process (writer,
                          &(LnsProcess){ .pid = 20, .parent = 0, .name = ids[N_STRINGS - 1] });
  lns_writer_set_process (
      writer, 0, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE, .name = 1, .exit_code = 3 });
  lns_writer_set_meta (writer, "later", "yes");
  grow (writer, second, 0, 5000);
  LnsReport *newer = refresh (report);

  LNS_CHECK_INT (ids[0], n_strings);
  LNS_CHECK_STR (lns_report_string (report, ids[0], NULL), "");
  for (int i = 0; i < N_STRINGS; i += 999)
    {
      sprintf (text, "later %d", i);
      LNS_CHECK_STR (lns_report_string (newer, ids[i], NULL), text);
    }
  LNS_CHECK_STR (lns_report_string (newer, lns_report_processes (newer, NULL)[1].name, NULL),
                 "later 9999");
  LNS_CHECK_STR (lns_report_string (report, ids[0], NULL), "");
  LNS_CHECK_INT (lns_report_processes (newer, &n)[0].exit_code, 3);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK_INT (lns_report_processes (report, &n)[0].exit_code, 0);
  LNS_CHECK_INT (n, 1);
  lns_report_lanes (newer, &n);
  LNS_CHECK_INT (n, 2);
  lns_report_tracks (newer, &n);
  LNS_CHECK_INT (n, 2);
  LNS_CHECK (has_events (newer, first, 10) && has_events (newer, second, 5000));
  LNS_CHECK_STR (lns_report_meta (newer, "later"), "yes");
  LNS_CHECK (lns_report_meta (report, "later") == NULL);
  LNS_CHECK (lns_report_lane_info (report, second) == NULL);
  lns_report_close (report);
  lns_report_close (newer);
  lns_writer_abandon (writer);
}

static void
test_open_events_get_longer_and_end (void)
{
  const char *path = fixture_path ("open.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsReport *reports[3];
  LnsEvent event;

  lns_writer_set_open (writer, lane, &(LnsEvent){ .start_ns = 100, .name = 5 });
  LNS_CHECK (lns_writer_commit (writer, 150, NULL));
  reports[0] = fixture_open (path, NULL);
  LNS_CHECK (lns_writer_commit (writer, 250, NULL)); /* nothing but the time */
  reports[1] = refresh (reports[0]);
  lns_writer_append (writer, lane, &(LnsEvent){ .start_ns = 100, .duration_ns = 170, .name = 5 });
  LNS_CHECK (lns_writer_commit (writer, 300, NULL));
  reports[2] = refresh (reports[1]);
  for (int i = 0; i < 3; i++)
    {
      static const int64_t durations_ns[] = { 50, 150, 170 };
      LNS_CHECK (lns_report_event (reports[i], lane, 0, &event, NULL));
      LNS_CHECK_INT (event.duration_ns, durations_ns[i]);
      LNS_CHECK_INT (event.flags & LNS_EVENT_OPEN_END, i < 2 ? LNS_EVENT_OPEN_END : 0);
      LNS_CHECK_INT (lns_report_info (reports[i])->n_open, i < 2);
      lns_report_close (reports[i]);
    }
  lns_writer_abandon (writer);
}

static void
test_ends (void)
{
  const char *path = fixture_path ("ends.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsReport *newer;

  grow (writer, lane, 0, 5000);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_RECORDING);
  fixture_finish (writer, 60000);
  LnsReport *ended = refresh (report);
  LNS_CHECK_INT (lns_report_info (ended)->state, LNS_STATE_COMPLETE);
  LNS_CHECK (has_events (ended, lane, 5000) && has_events (report, lane, 5000));
  LNS_CHECK (lns_report_refresh (ended, &newer, NULL) && newer == NULL);

  /* Names of functions are added to it later. */
  LnsError error = { 0 };
  writer = lns_writer_amend (ended, false, &error);
  LNS_CHECK_STR (error.message, "");
  const uint32_t function = lns_writer_string (writer, "function", 8);
  lns_writer_add_frame (writer, &(LnsStackFrame){ .module = LNS_ID_NONE, .symbol = function });
  LNS_CHECK (lns_writer_finish_amendment (writer, &error));
  LnsReport *named = refresh (ended);
  LNS_CHECK_STR (lns_report_string (named, function, NULL), "function");
  LNS_CHECK_INT (lns_report_frames (named, NULL)[0].symbol, function);
  LNS_CHECK (has_events (named, lane, 5000));
  lns_report_close (report);
  lns_report_close (ended);
  lns_report_close (named);
}

/* A child that records, tells by the pipe that it has committed, and waits to be told to go. */
static pid_t
record_in_child (const char *path, bool dies_in_commit, int to_child[2], int from_child[2])
{
  char byte = 0;

  LNS_CHECK (pipe (to_child) == 0 && pipe (from_child) == 0);
  const pid_t pid = fork ();
  if (pid != 0)
    return pid;
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  grow (writer, lane, 0, 5000);
  if (write (from_child[1], &byte, 1) != 1 || read (to_child[0], &byte, 1) != 1)
    _exit (1);
  sqlite3 *db = NULL;
  if (dies_in_commit &&
      (sqlite3_open (path, &db) != SQLITE_OK ||
       sqlite3_exec (db,
                     "PRAGMA cache_size = 1; BEGIN; UPDATE lns_meta SET value = 'half' WHERE key = "
                     "'state'; CREATE TABLE t (x); INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 "
                     "UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT zeroblob (60000) FROM n",
                     NULL, NULL, NULL) != SQLITE_OK))
    _exit (2);
  _exit (0);
}

static void
check_writer_dies (const char *name, bool dies_in_commit)
{
  const char *path = fixture_path (name);
  int to_child[2], from_child[2], status;
  char byte = 0;
  LnsReport *newer;

  const pid_t pid = record_in_child (path, dies_in_commit, to_child, from_child);
  LNS_CHECK (read (from_child[0], &byte, 1) == 1);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_RECORDING);
  LNS_CHECK (has_events (report, 0, 5000));
  LNS_CHECK (lns_report_refresh (report, &newer, NULL) && newer == NULL);
  LNS_CHECK (write (to_child[1], &byte, 1) == 1);
  LNS_CHECK (waitpid (pid, &status, 0) == pid);
  LNS_CHECK_INT (status, 0);
  LnsReport *cut = refresh (report);
  LNS_CHECK_INT (lns_report_info (cut)->state, LNS_STATE_CUT_OFF);
  LNS_CHECK (has_events (cut, 0, 5000));
  LNS_CHECK (lns_report_refresh (cut, &newer, NULL) && newer == NULL);
  lns_report_close (report);
  lns_report_close (cut);
  close (to_child[0]);
  close (to_child[1]);
  close (from_child[0]);
  close (from_child[1]);
}

static void
test_writer_dies (void)
{
  check_writer_dies ("dies.rep", false);
}

static void
test_writer_dies_within_a_commit (void)
{
  check_writer_dies ("dies-in-commit.rep", true);
}

/* Checks that REPORT has no newer snapshot, with an error that has WORDS, and can be read further if CAN_READ. */
static void
check_refused (LnsReport *report, const char *words, bool can_read)
{
  LnsReport *newer = report;
  LnsError error = { 0 };

  LNS_CHECK (!lns_report_refresh (report, &newer, &error));
  LNS_CHECK (newer == NULL);
  LNS_CHECK (strstr (error.message, words) != NULL);
  if (strstr (error.message, words) == NULL)
    printf ("# %s\n", error.message);
  if (can_read)
    LNS_CHECK (has_events (report, 0, 20000));
}

static void
test_replaced (void)
{
  const char *path = fixture_path ("replaced.rep"), *other = fixture_path ("other.rep"),
             *away = fixture_path ("away.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);

  grow (writer, lane, 0, 20000);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK (has_events (report, lane, 20000));
  LNS_CHECK_INT (rename (path, away), 0);
  check_refused (report, "was removed or renamed while it was read", true);
  fixture_finish (fixture_writer (other), 0);
  LNS_CHECK_INT (rename (other, path), 0);
  check_refused (report, "was replaced by another file while it was read", true);
  /* It comes back. */
  LNS_CHECK_INT (rename (away, path), 0);
  grow (writer, lane, 20000, 20001);
  LnsReport *newer = refresh (report);
  LNS_CHECK (has_events (newer, lane, 20001));
  lns_report_close (newer);
  lns_report_close (report);
  lns_writer_abandon (writer);
}

/* Copies the bytes of FROM over those of TO, which stays the same file. */
static void
copy_over (const char *from, const char *to)
{
  FILE *in = fopen (from, "rb"), *out = fopen (to, "r+b");
  char bytes[65536];
  size_t n;

  LNS_CHECK (in != NULL && out != NULL);
  while ((n = fread (bytes, 1, sizeof bytes, in)) > 0)
    LNS_CHECK (fwrite (bytes, 1, n, out) == n);
  LNS_CHECK (fclose (in) == 0 && fclose (out) == 0);
}

/* A file whose bytes are replaced in its place. */
static void
test_overwritten_in_place (void)
{
  const char *path = fixture_path ("overwritten.rep"), *source = fixture_path ("source.rep"),
             *other = fixture_path ("another.rep");
  LnsWriter *writer = fixture_writer (source);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);

  grow (writer, lane, 0, 20000);
  close (creat (path, 0600));
  copy_over (source, path);
  LnsReport *report = fixture_open (path, NULL);
  grow (writer, lane, 20000, 30000);
  copy_over (source, path); /* as a report that grows looks on another machine */
  LnsReport *newer = refresh (report);
  LNS_CHECK (has_events (newer, lane, 30000));
  lns_report_close (newer);

  LnsWriter *second = fixture_writer (other);
  grow (second, fixture_lane (second, LNS_LANE_NVTX_PUSH_POP), 0, 50000);
  copy_over (other, path);
  check_refused (report, "was replaced by another file while it was read", false);
  lns_report_close (report);
  lns_writer_abandon (writer);
  lns_writer_abandon (second);
}

static void
test_truncated_and_damaged (void)
{
  const char *path = fixture_path ("truncated.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  struct stat status;

  grow (writer, lane, 0, 20000);
  LnsReport *report = fixture_open (path, NULL);
  grow (writer, lane, 20000, 200000);
  LNS_CHECK_INT (stat (path, &status), 0);
  LNS_CHECK_INT (truncate (path, status.st_size / 2), 0);
  check_refused (report, "", false);
  LNS_CHECK_INT (truncate (path, 0), 0);
  check_refused (report, "", false);
  lns_report_close (report);
  lns_writer_abandon (writer);
}

/* ---- Threads --------------------------------------------------------------------------------- */

enum
{
  N_READERS = 3,
  N_COMMITS = 40,
  N_BATCH = 1500
};

static pthread_mutex_t newest_lock = PTHREAD_MUTEX_INITIALIZER;
static LnsReport *newest; /* guarded */
static atomic_bool is_over;
static atomic_uint n_wrong;

/* A reference on the newest snapshot. */
static LnsReport *
take_newest (void)
{
  pthread_mutex_lock (&newest_lock);
  LnsReport *report = lns_report_ref (newest);
  pthread_mutex_unlock (&newest_lock);
  return report;
}

static void *
read_newest (void *data)
{
  (void)data;
  while (!atomic_load (&is_over))
    {
      LnsReport *report = take_newest ();
      char text[32];
      if (!has_events (report, 0, lns_report_info (report)->n_events))
        atomic_fetch_add (&n_wrong, 1);
      /* The last string is of the last commit. */
      sprintf (text, "commit %u", (unsigned)(lns_report_info (report)->n_events / N_BATCH - 1));
      if (strcmp (lns_report_string (report, lns_report_n_strings (report) - 1, NULL), text) != 0)
        atomic_fetch_add (&n_wrong, 1);
      lns_report_close (report);
    }
  return NULL;
}

/* Old snapshots are read, and closed, by some threads while another one makes newer ones. */
static void
test_threads (void)
{
  const char *path = fixture_path ("threads.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  pthread_t readers[N_READERS];
  uint64_t n = 0;

  for (unsigned commit = 0; commit < N_COMMITS; commit++, n += N_BATCH)
    {
      char text[32];
      lns_writer_string (writer, text, (size_t)sprintf (text, "commit %u", commit));
      for (uint64_t i = n; i < n + N_BATCH; i++)
        {
          const LnsEvent event = event_at (i);
          lns_writer_append (writer, lane, &event);
        }
      /* Readers may hold the lock for longer than a commit waits: the next one writes this one's, too. */
      LnsError error = { 0 };
      LNS_CHECK (lns_writer_commit (writer, 10 * (int64_t)(n + N_BATCH), &error) ||
                 error.code == EBUSY);
      if (commit == 0)
        {
          newest = fixture_open (path, &(LnsOpenOptions){ .cache_bytes = 400000 });
          for (int i = 0; i < N_READERS; i++)
            LNS_CHECK (pthread_create (&readers[i], NULL, read_newest, NULL) == 0);
          continue;
        }
      LnsReport *before = take_newest (), *newer = NULL;
      LNS_CHECK (lns_report_refresh (before, &newer, NULL));
      if (newer != NULL)
        {
          pthread_mutex_lock (&newest_lock);
          lns_report_close (newest);
          newest = newer;
          pthread_mutex_unlock (&newest_lock);
        }
      lns_report_close (before);
    }
  atomic_store (&is_over, true);
  for (int i = 0; i < N_READERS; i++)
    pthread_join (readers[i], NULL);
  LNS_CHECK_INT (n_wrong, 0);
  fixture_finish (writer, 0);
  LnsReport *ended = refresh (newest);
  LNS_CHECK (has_events (ended, lane, N_COMMITS * N_BATCH));
  lns_report_close (newest);
  lns_report_close (ended);
}

int
main (void)
{
  LNS_TEST (test_grows_while_it_is_read);
  LNS_TEST (test_caches_are_shared);
  LNS_TEST (test_definitions_are_added_and_replaced);
  LNS_TEST (test_open_events_get_longer_and_end);
  LNS_TEST (test_ends);
  LNS_TEST (test_writer_dies);
  LNS_TEST (test_writer_dies_within_a_commit);
  LNS_TEST (test_replaced);
  LNS_TEST (test_overwritten_in_place);
  LNS_TEST (test_truncated_and_damaged);
  LNS_TEST (test_threads);
  return lns_tap_done ();
}

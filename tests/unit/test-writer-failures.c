/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests recordings that cannot be written to their end: the file must be valid, and everything
 * that is missing must be counted. */

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/store/database/sql.h"
#include "src/store/write/writer-file.h"
#include "src/store/write/writer-private.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

static char path[256];

static LnsWriter *
create (void)
{
  LnsWriter *writer = fixture_writer (path);
  LNS_CHECK_INT (fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP), 0);
  return writer;
}

/* Events of 1 ns each, of which a column does not shrink. */
static void
append (LnsWriter *writer, uint64_t n)
{
  static uint64_t seed = 1, n_appended;
  for (uint64_t i = 0; i < n; i++, n_appended++)
    {
      LnsEvent event = { .start_ns = (int64_t)n_appended, .duration_ns = 1 };
      event.extra[3] = fixture_random (&seed);
      lns_writer_append (writer, 0, &event);
    }
}

static uint64_t
events_in (const char *report_path)
{
  LnsReport *report = fixture_open (report_path, NULL);
  LnsError error = { 0 };
  uint64_t n = 0;
  LnsChunkWalker *walker = lns_chunk_walker_new (report, 0, 0);
  for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, &error)) != NULL;)
    n += chunk->n;
  lns_chunk_walker_free (walker);
  LNS_CHECK_STR (error.message, "");
  LNS_CHECK_INT (lns_report_info (report)->n_events, n);
  lns_report_close (report);
  return n;
}

static bool
is_there (const char *suffix)
{
  char name[300];
  snprintf (name, sizeof name, "%s%s", path, suffix);
  return access (name, F_OK) == 0;
}

/* Where the disk stays full the report is finished with what is in it, and counts the rest; what was
 * dropped before, too. */
static void
test_finish_on_a_full_disk (void)
{
  for (unsigned round = 0; round < 2; round++)
    {
      LnsWriter *writer = create ();
      append (writer, 1000);
      LNS_CHECK (lns_writer_commit (writer, 100000, NULL));
      if (round == 1)
        writer->max_waiting_bytes = 100000;
      struct rlimit old, limit;
      getrlimit (RLIMIT_FSIZE, &old);
      limit = (struct rlimit){ lns_writer_counts (writer)->file_bytes, old.rlim_max };
      setrlimit (RLIMIT_FSIZE, &limit);
      lns_writer_string (writer, "kept too", 8);
      append (writer, 50000);
      const uint64_t n_dropped = lns_writer_counts (writer)->n_dropped;
      LnsError error = { 0 };
      LnsWriterCounts counts;
      bool finished =
          lns_writer_finish_counted (writer, LNS_STATE_COMPLETE, 777777, &counts, &error);
      setrlimit (RLIMIT_FSIZE, &old);
      LNS_CHECK (!finished);
      LNS_CHECK ((n_dropped > 0) == (round == 1));
      LNS_CHECK_INT (error.code, EFBIG);
      LNS_CHECK (strstr (error.message, path) != NULL);
      LNS_CHECK (strstr (error.message, "1000 events are in the report, 50000 are lost: ") != NULL);
      LNS_CHECK_INT (counts.n_events, 1000);
      LNS_CHECK_INT (counts.n_lost, 50000);
      LNS_CHECK_INT (events_in (path), 1000);
      LNS_CHECK (!is_there ("-journal"));

      LnsReport *report = lns_report_open (path, NULL, NULL);
      const LnsReportInfo *info = lns_report_info (report);
      LNS_CHECK_INT (info->state, LNS_STATE_INCOMPLETE);
      LNS_CHECK_INT (info->n_lost, 50000);
      LNS_CHECK_INT (info->end_ns, 777777);
      LNS_CHECK_INT (info->file_bytes, counts.file_bytes);
      uint32_t n;
      const LnsLoss *losses = lns_report_losses (report, &n);
      LNS_CHECK_INT (n, 1 + round);
      LNS_CHECK_INT (losses[round].first_ns, 100000);
      LNS_CHECK_INT (losses[round].last_ns, 777777);
      lns_report_close (report);
    }
}

/* Strings may be too much as well: without them the count can still be told. */
static void
test_strings_too_many_for_the_disk (void)
{
  LnsWriter *writer = create ();
  append (writer, 100);
  LNS_CHECK (lns_writer_commit (writer, 100000, NULL));
  struct rlimit old, limit;
  getrlimit (RLIMIT_FSIZE, &old);
  limit = (struct rlimit){ lns_writer_counts (writer)->file_bytes, old.rlim_max };
  setrlimit (RLIMIT_FSIZE, &limit);
  static char text[40000] = "x";
  uint32_t name = 0;
  for (unsigned i = 0; i < 10; i++)
    name = lns_writer_bytes (writer, text, sizeof text);
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 12, .name = name });
  append (writer, 5);
  LnsError error = { 0 };
  const bool finished = lns_writer_finish (writer, LNS_STATE_COMPLETE, 200000, &error);
  setrlimit (RLIMIT_FSIZE, &old);
  LNS_CHECK (!finished);
  LNS_CHECK (strstr (error.message, "100 events are in the report, 5 are lost: ") != NULL);
  LnsReport *report = fixture_open (path, NULL);
  uint32_t n;
  LNS_CHECK_INT (lns_report_info (report)->n_lost, 5);
  LNS_CHECK_INT (lns_report_threads (report, &n)[1].tid, 12);
  LNS_CHECK_STR (lns_report_string (report, name, NULL), "");
  const uint32_t kept = lns_report_threads (report, &n)[0].name;
  LNS_CHECK (lns_report_string (report, kept, NULL)[0] != '\0');
  lns_report_close (report);
  LNS_CHECK_INT (events_in (path), 100);
}

/* Somebody who sits on the file costs what came after, and the report is told to be cut off. */
static void
test_finish_while_it_is_read (void)
{
  LnsWriter *writer = create ();
  append (writer, 10);
  LNS_CHECK (lns_writer_commit (writer, 1, NULL));
  sqlite3 *reader;
  LNS_CHECK_INT (sqlite3_open (path, &reader), SQLITE_OK);
  LNS_CHECK_INT (sqlite3_exec (reader, "BEGIN; SELECT * FROM lns_meta", NULL, NULL, NULL),
                 SQLITE_OK);
  append (writer, 5);
  LnsError error = { 0 };
  LnsWriterCounts counts;
  writer->finish_busy_ms = 20;
  LNS_CHECK (!lns_writer_finish_counted (writer, LNS_STATE_COMPLETE, 2, &counts, &error));
  LNS_CHECK_INT (error.code, EBUSY);
  LNS_CHECK (strstr (error.message, "10 events are in the report, 5 are lost") != NULL);
  LNS_CHECK_INT (counts.n_events, 10);
  LNS_CHECK_INT (counts.n_lost, 5);
  sqlite3_close (reader);
  LNS_CHECK_INT (events_in (path), 10);
  unlink (path); /* its writer lives, so that it could not be overwritten                       */
}

/* The room for the last commit is taken by the first commit of events, is not to be seen, and is given back. */
static void
test_room_is_reserved (void)
{
  LnsWriter *writer = create ();
  struct stat status;
  append (writer, 3);
  LNS_CHECK (lns_writer_commit (writer, 1, NULL));
  LNS_CHECK_INT (fstat (writer->reserve_fd, &status), 0);
  LNS_CHECK (status.st_blocks * 512 >= 10 * LNS_SQL_PAGE_BYTES);
  LNS_CHECK_INT (status.st_nlink, 0);
  lns_writer_abandon (writer);
  LNS_CHECK_INT (_lns_writer_reserve ("/proc/x.rep"), -1);
}

/* Runs a writer over what is at `path`, killed after its first commit, or after one with data. */
static void
run_killed (bool with_data)
{
  pid_t child = fork ();
  if (child == 0)
    {
      LnsWriter *writer = create ();
      if (with_data)
        append (writer, 3);
      lns_writer_commit (writer, 1, NULL);
      raise (SIGKILL);
    }
  int status;
  LNS_CHECK (waitpid (child, &status, 0) == child && WIFSIGNALED (status));
}

static void
check_aside (const char *suffix)
{
  LnsReport *report = fixture_open (path, NULL);
  char *aside = lns_report_aside (report), name[300];
  lns_report_close (report);
  snprintf (name, sizeof name, "%s%s", path, suffix != NULL ? suffix : "");
  LNS_CHECK ((aside != NULL) == (suffix != NULL));
  if (aside != NULL)
    LNS_CHECK_STR (aside, name);
  free (aside);
}

/* A writer that was killed before it had recorded anything costs nothing: the old report lies beside
 * the empty one, which tells so, and the next writer starts from the old one. */
static void
test_killed_before_the_first_event (void)
{
  char old[300];
  snprintf (old, sizeof old, "%s.old1", path);
  LnsWriter *writer = create ();
  append (writer, 7);
  fixture_finish (writer, 0);
  for (unsigned round = 0; round < 2; round++)
    {
      run_killed (false);
      check_aside (".old1");
      LNS_CHECK_INT (events_in (old), 7);
      LNS_CHECK (!is_there (".old2"));
    }
  writer = create ();
  lns_writer_abandon (writer);
  LNS_CHECK_INT (events_in (path), 7);
  LNS_CHECK (!is_there (".old1"));
  check_aside (NULL);

  run_killed (true);
  check_aside (NULL);
  LNS_CHECK_INT (events_in (path), 3);
  LNS_CHECK (!is_there (".old1"));
}

/* A file that names another one to be brought back is not believed. */
static void
test_a_false_old_file (void)
{
  static const char *const names[] = { "a.rep", "b.rep.old1", "../a.rep.old1", "a.rep.oldest", "" };
  fclose (fopen (fixture_path ("b.rep.old1"), "w"));
  fclose (fopen (fixture_path ("a.rep.oldest"), "w"));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      run_killed (false);
      sqlite3 *db;
      LNS_CHECK_INT (sqlite3_open (path, &db), SQLITE_OK);
      char *text = sqlite3_mprintf ("REPLACE INTO lns_meta VALUES ('aside', %Q)", names[i]);
      LNS_CHECK_INT (sqlite3_exec (db, text, NULL, NULL, NULL), SQLITE_OK);
      sqlite3_free (text);
      sqlite3_close (db);
      check_aside (NULL);
    }
}

int
main (void)
{
  snprintf (path, sizeof path, "%s", fixture_path ("a.rep"));
  signal (SIGXFSZ, SIG_IGN);
  LNS_TEST (test_finish_on_a_full_disk);
  LNS_TEST (test_strings_too_many_for_the_disk);
  LNS_TEST (test_finish_while_it_is_read);
  LNS_TEST (test_room_is_reserved);
  LNS_TEST (test_killed_before_the_first_event);
  LNS_TEST (test_a_false_old_file);
  return lns_tap_done ();
}

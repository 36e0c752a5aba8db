/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests what is added to a finished report: readers see it as it was or as it is, whenever the writer dies. */

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/store/recover/recover.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

enum
{
  N_FRAMES = 20000,
  N_EVENTS = 5000
};

static char path[256];

/* A report with frames that have no names, and events. */
static void
write_report (const char *name)
{
  snprintf (path, sizeof path, "%s", fixture_path (name));
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  lns_writer_add_module (writer,
                         &(LnsModule){ .path = lns_writer_string (writer, "/lib/libx.so", 12) });
  for (uint32_t i = 0; i < N_FRAMES; i++)
    {
      char text[32];
      const int n = sprintf (text, "libx.so+0x%x", i);
      lns_writer_add_frame (
          writer,
          &(LnsStackFrame){ .offset = i, .symbol = lns_writer_string (writer, text, (size_t)n) });
    }
  for (int64_t i = 0; i < N_EVENTS; i++)
    lns_writer_append (writer, lane, &(LnsEvent){ .start_ns = i, .duration_ns = 1 });
  fixture_finish (writer, N_EVENTS);
}

/* Names all frames: "TEXT and number". */
static LnsWriter *
name_frames (LnsReport *report, const char *text, LnsError *error)
{
  LnsWriter *writer = lns_writer_amend (report, true, error);
  uint32_t n;
  const LnsStackFrame *frames = lns_report_frames (report, &n);
  for (uint32_t i = 0; writer != NULL && i < n; i++)
    {
      LnsStackFrame frame = frames[i];
      char name[64];
      frame.symbol = lns_writer_string (writer, name, (size_t)sprintf (name, "%s %u", text, i));
      frame.is_resolved = 1;
      frame.source = LNS_FRAME_SYMBOL_TABLE;
      lns_writer_set_frame (writer, i, &frame);
    }
  return writer;
}

/* Checks that REPORT has all its events, and returns whether its frames are named "TEXT and number"; they have their first
 * names otherwise. */
static bool
has_names (LnsReport *report, const char *text)
{
  uint32_t n, n_named = 0, n_first = 0;
  const LnsStackFrame *frames = lns_report_frames (report, &n);
  LNS_CHECK_INT (n, N_FRAMES);
  for (uint32_t i = 0; i < n; i++)
    {
      char name[64], first[64];
      const char *symbol = lns_report_string (report, frames[i].symbol, NULL);
      sprintf (name, "%s %u", text, i);
      sprintf (first, "libx.so+0x%x", i);
      n_named += strcmp (symbol, name) == 0 && frames[i].is_resolved == 1;
      n_first += strcmp (symbol, first) == 0 && frames[i].is_resolved == 0;
    }
  LNS_CHECK (n_named == n || n_first == n);
  LnsError error = { 0 };
  uint64_t n_events = 0;
  LnsChunkWalker *walker = lns_chunk_walker_new (report, 0, 0);
  for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, &error)) != NULL;)
    n_events += chunk->n;
  lns_chunk_walker_free (walker);
  LNS_CHECK_STR (error.message, "");
  LNS_CHECK_INT (n_events, N_EVENTS);
  return n_named == n;
}

static bool
file_has_names (const char *text)
{
  LnsReport *report = fixture_open (path, NULL);
  const bool has = has_names (report, text);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_COMPLETE);
  LNS_CHECK_INT (lns_report_info (report)->end_ns, N_EVENTS);
  lns_report_close (report);
  return has;
}

static void
test_readers_see_all_or_nothing (void)
{
  LnsError error = { 0 };
  struct stat before, after;
  write_report ("names.rep");
  chmod (path, 0640);
  stat (path, &before);
  LnsReport *report = fixture_open (path, NULL);
  LnsWriter *writer = name_frames (report, "function", &error);
  LNS_CHECK_STR (error.message, "");
  LNS_CHECK (!file_has_names ("function"));
  LNS_CHECK (lns_writer_finish_amendment (writer, &error));
  LNS_CHECK_STR (error.message, "");
  LNS_CHECK (!has_names (report, "function")); /* opened before */
  LNS_CHECK (file_has_names ("function"));
  lns_report_close (report);
  stat (path, &after);
  LNS_CHECK (after.st_ino == before.st_ino && after.st_mode == before.st_mode);

  /* Once more, on what is there now. */
  report = fixture_open (path, NULL);
  LNS_CHECK (lns_writer_finish_amendment (name_frames (report, "better", &error), &error));
  lns_report_close (report);
  LNS_CHECK (file_has_names ("better"));

  /* And the rows that it added are recovered as others are. */
  const char *out = fixture_path ("recovered.rep");
  LnsRecovery recovery;
  LNS_CHECK (lns_recover (path, out, true, NULL, &recovery, &error));
  report = fixture_open (out, NULL);
  LNS_CHECK (has_names (report, "better"));
  lns_report_close (report);
}

static void
test_abandoned_changes_nothing (void)
{
  LnsError error = { 0 };
  struct stat before, after;
  write_report ("abandoned.rep");
  stat (path, &before);
  LnsReport *report = fixture_open (path, NULL);
  lns_writer_abandon (name_frames (report, "function", &error));
  lns_report_close (report);
  stat (path, &after);
  LNS_CHECK (!file_has_names ("function"));
  LNS_CHECK_INT (after.st_size, before.st_size);
  LNS_CHECK_INT (after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
}

/* Writes names in another process, in which no file may become longer than MOST bytes: the signal of that kills it in the
 * midst of the commit. Returns whether it came to its end. */
static bool
name_in_a_process (rlim_t most)
{
  const pid_t child = fork ();
  int status;
  if (child == 0)
    {
      const struct rlimit limit = { most, most };
      const struct rlimit no_core = { 0, 0 };
      LnsReport *report = fixture_open (path, NULL);
      LnsWriter *writer = name_frames (report, "function", NULL);
      signal (SIGXFSZ, SIG_DFL);
      setrlimit (RLIMIT_CORE, &no_core);
      setrlimit (RLIMIT_FSIZE, &limit);
      _exit (writer != NULL && lns_writer_finish_amendment (writer, NULL) ? 0 : 1);
    }
  waitpid (child, &status, 0);
  LNS_CHECK ((WIFEXITED (status) && WEXITSTATUS (status) == 0) ||
             (WIFSIGNALED (status) && WTERMSIG (status) == SIGXFSZ));
  return WIFEXITED (status);
}

static void
test_killed_at_each_page (void)
{
  unsigned n_killed = 0;
  bool is_done = false;
  write_report ("killed.rep");
  /* Small limits stop the journal, larger ones the report. */
  for (rlim_t most = 30000; !is_done && most < (64 << 20); most += 50000, n_killed += !is_done)
    {
      is_done = name_in_a_process (most);
      LNS_CHECK (file_has_names ("function") == is_done);
    }
  LNS_CHECK (is_done);
  LNS_CHECK (n_killed > 5);
}

static void
test_others_are_kept_out (void)
{
  LnsError error = { 0 };
  write_report ("others.rep");
  LnsReport *report = fixture_open (path, NULL), *other = fixture_open (path, NULL);
  LnsWriter *writer = lns_writer_amend (report, true, &error);
  LNS_CHECK (writer != NULL);
  LNS_CHECK (lns_writer_amend (other, true, &error) == NULL);
  LNS_CHECK_INT (error.code, EBUSY);
  LNS_CHECK (strstr (error.message, "another process is writing") != NULL);
  LNS_CHECK (lns_writer_finish_amendment (writer, NULL));
  error = (LnsError){ 0 };
  LNS_CHECK (lns_writer_amend (other, true, &error) == NULL);
  LNS_CHECK (strstr (error.message, "has changed meanwhile") != NULL);
  lns_report_close (report);
  lns_report_close (other);

  snprintf (path, sizeof path, "%s", fixture_path ("recording.rep"));
  writer = fixture_writer (path);
  LNS_CHECK (lns_writer_commit (writer, 0, NULL));
  report = fixture_open (path, NULL);
  error = (LnsError){ 0 };
  LNS_CHECK (lns_writer_amend (report, true, &error) == NULL);
  LNS_CHECK (strstr (error.message, "is being recorded") != NULL);
  lns_report_close (report);
  fixture_finish (writer, 0);
}

/* What others have put into the file is not run. */
static void
test_triggers_are_not_run (void)
{
  sqlite3 *database;
  write_report ("hostile.rep");
  LNS_CHECK_INT (sqlite3_open (path, &database), SQLITE_OK);
  LNS_CHECK_INT (sqlite3_exec (database,
                               "CREATE TRIGGER t AFTER INSERT ON lns_def BEGIN DELETE FROM "
                               "lns_chunk; DELETE FROM lns_tail; END",
                               NULL, NULL, NULL),
                 SQLITE_OK);
  sqlite3_close (database);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK (lns_writer_finish_amendment (name_frames (report, "function", NULL), NULL));
  lns_report_close (report);
  LNS_CHECK (file_has_names ("function"));
}

/* A process that was forked while the report was recorded, and has not executed its own program yet, keeps nobody out. */
static void
test_children_keep_nobody_out (void)
{
  snprintf (path, sizeof path, "%s", fixture_path ("children.rep"));
  LnsWriter *recording = fixture_writer (path);
  int ends[2];
  LNS_CHECK (pipe (ends) == 0);
  const pid_t child = fork ();
  if (child == 0)
    {
      char byte;
      close (ends[1]);
      _exit (read (ends[0], &byte, 1) == 0 ? 0 : 1);
    }
  close (ends[0]);
  fixture_finish (recording, 1);
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (path, NULL, &error);
  LnsWriter *writer = report != NULL ? lns_writer_amend (report, true, &error) : NULL;
  LNS_CHECK_STR (error.message, "");
  LNS_CHECK (writer != NULL);
  if (writer != NULL)
    lns_writer_abandon (writer);
  lns_report_close (report);
  close (ends[1]);
  waitpid (child, NULL, 0);
}

int
main (void)
{
  LNS_TEST (test_readers_see_all_or_nothing);
  LNS_TEST (test_abandoned_changes_nothing);
  LNS_TEST (test_killed_at_each_page);
  LNS_TEST (test_others_are_kept_out);
  LNS_TEST (test_children_keep_nobody_out);
  LNS_TEST (test_triggers_are_not_run);
  return lns_tap_done ();
}

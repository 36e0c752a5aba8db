/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the writer and the file system: files that existed before, locks, failures. */

#include "src/store/write/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "src/store/format/identity.h"
#include "src/store/read/report.h"
#include "src/store/database/sql.h"
#include "src/store/write/writer-private.h"

#include "tests/tap.h"

static char folder[] = "/tmp/lns-test-writer-file-XXXXXX";
static char path[256];

static LnsWriter *
create (bool overwrite)
{
  LnsError error = { 0 };
  const LnsWriterOptions options = { .overwrite = overwrite };
  LnsWriter *writer = lns_writer_create (path, &options, &error);
  if (writer == NULL)
    LNS_FAIL ("%s", error.message);
  return writer;
}

static void
add_lane (LnsWriter *writer)
{
  const LnsTrack track = { .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE,
                           .kind = LNS_TRACK_NVTX_RANGES,
                           .process = 0,
                           .thread = 0,
                           .domain = LNS_ID_NONE };
  lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 0 });
  const LnsLane lane = { .track = lns_writer_add_track (writer, &track),
                         .kind = LNS_LANE_NVTX_PUSH_POP };
  LNS_CHECK_INT (lns_writer_add_lane (writer, &lane), 0);
}

static void
append (LnsWriter *writer, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++)
    {
      const int64_t start_ns = (int64_t)lns_writer_counts (writer)->n_events * 100;
      LnsEvent event = { .start_ns = start_ns, .duration_ns = start_ns * 7919 % 97 };
      event.extra[3] = (uint64_t)start_ns * UINT64_C (0x9E3779B97F4A7C15);
      event.extra[3] ^= event.extra[3] >> 29; /* or all of it would be one delta                */
      lns_writer_append (writer, 0, &event);
    }
}

static uint64_t
events_in (const char *report_path)
{
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (report_path, NULL, &error);
  if (report == NULL)
    LNS_FAIL ("%s", error.message);
  uint64_t n = 0;
  LnsChunkWalker *walker = lns_chunk_walker_new (report, 0, 0);
  for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, &error)) != NULL;)
    n += chunk->n;
  lns_chunk_walker_free (walker);
  if (error.domain != LNS_ERROR_NONE)
    LNS_FAIL ("%s", error.message);
  LNS_CHECK_INT (lns_report_info (report)->n_events, n);
  lns_report_close (report);
  return n;
}

static void
finish (LnsWriter *writer)
{
  LnsError error = { 0 };
  if (!lns_writer_finish (writer, LNS_STATE_COMPLETE, 1, &error))
    LNS_FAIL ("%s", error.message);
}

static void
make_report (uint64_t n_events)
{
  unlink (path);
  LnsWriter *writer = create (false);
  add_lane (writer);
  append (writer, n_events);
  finish (writer);
}

static unsigned
files_in_folder (void)
{
  unsigned n = 0;
  DIR *dir = opendir (folder);
  for (struct dirent *entry; (entry = readdir (dir)) != NULL;)
    n += entry->d_name[0] != '.';
  closedir (dir);
  return n;
}

static void
test_an_existing_file_is_kept (void)
{
  make_report (5);
  LnsError error = { 0 };
  const LnsWriterOptions options = { .overwrite = false };
  LNS_CHECK (lns_writer_create (path, &options, &error) == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_IO);
  LNS_CHECK_INT (error.code, EEXIST);
  LNS_CHECK (strstr (error.message, path) != NULL);
  LNS_CHECK_INT (events_in (path), 5);
  LNS_CHECK_INT (files_in_folder (), 1);
}

static void
test_overwrite_after_the_first_data (void)
{
  LnsError error = { 0 };
  make_report (5);
  LnsWriter *writer = create (true);
  LNS_CHECK (files_in_folder () >= 2); /* the old one waits beside it                           */
  add_lane (writer);
  LNS_CHECK (lns_writer_commit (writer, 1, &error));
  char aside[300];
  snprintf (aside, sizeof aside, "%s.old1", path);
  LNS_CHECK_INT (events_in (aside), 5);
  append (writer, 9);
  LNS_CHECK (lns_writer_commit (writer, 1, &error));
  LNS_CHECK (access (aside, F_OK) != 0);
  finish (writer);
  LNS_CHECK_INT (events_in (path), 9);
  LNS_CHECK_INT (files_in_folder (), 1);

  writer =
      create (true); /* finished without events: it replaces the old one all the same         */
  finish (writer);
  LNS_CHECK_INT (files_in_folder (), 1);
}

static void
test_abandon_brings_the_old_file_back (void)
{
  make_report (5);
  LnsWriter *writer = create (true);
  add_lane (writer);
  append (writer, 100);
  lns_writer_abandon (writer);
  LNS_CHECK_INT (events_in (path), 5);
  LNS_CHECK_INT (files_in_folder (), 1);
  unlink (path);
  writer = create (false);
  lns_writer_abandon (writer);
  LNS_CHECK_INT (files_in_folder (), 0);
}

/* The journal of the old file goes with it: the new one must not be rolled back to it. */
static void
test_overwrite_takes_the_journal_along (void)
{
  make_report (5);
  char journal[300];
  snprintf (journal, sizeof journal, "%s-journal", path);
  FILE *file = fopen (journal, "w");
  fputs ("not a journal of the new file", file);
  fclose (file);
  lns_writer_abandon (create (true));
  LNS_CHECK (access (journal, F_OK) == 0);
  LnsWriter *writer = create (true);
  char aside[320];
  snprintf (aside, sizeof aside, "%s.old1-journal", path);
  LNS_CHECK (access (aside, F_OK) == 0);
  add_lane (writer);
  append (writer, 3);
  finish (writer);
  LNS_CHECK_INT (events_in (path), 3);
  LNS_CHECK_INT (files_in_folder (), 1);
}

/* A report was removed without its journal, or somebody put one there. */
static void
test_a_stale_journal_is_removed (void)
{
  static const unsigned char hot[512] = { 0xD9, 0xD5, 0x05,     0xF9,     0x20,    0xA1,
                                          0x63, 0xD7, [19] = 1, [22] = 2, [25] = 1 };
  char journal[300];
  snprintf (journal, sizeof journal, "%s-journal", path);
  for (int i = 0; i < 2; i++)
    {
      unlink (path);
      FILE *file = fopen (journal, "w");
      LNS_CHECK (fwrite (hot, sizeof hot, 1, file) == 1 && fclose (file) == 0);
      if (i == 1 && geteuid () == 0)
        LNS_CHECK (chown (journal, 65534, (gid_t)-1) == 0);
      make_report (3);
      LNS_CHECK_INT (events_in (path), 3);
    }
  LNS_CHECK_INT (files_in_folder (), 1);
  unlink (path);
}

static void
test_folders_are_made (void)
{
  char kept[256], deep[300];
  strcpy (kept, path);
  snprintf (deep, sizeof deep, "%s/x/y/z/a.rep", folder);
  strcpy (path, deep);
  make_report (2);
  LNS_CHECK_INT (events_in (path), 2);
  unlink (path);

  /* A file where a folder should be; a folder where the file should be. */
  LnsError error = { 0 };
  const LnsWriterOptions options = { .overwrite = true };
  snprintf (deep, sizeof deep, "%s/x/y/z/b/c.rep", folder);
  char blocker[300];
  snprintf (blocker, sizeof blocker, "%s/x/y/z/b", folder);
  fclose (fopen (blocker, "w"));
  LNS_CHECK (lns_writer_create (deep, &options, &error) == NULL);
  LNS_CHECK (strstr (error.message, "cannot create the folder") != NULL);
  LNS_CHECK (strstr (error.message, blocker) != NULL);
  unlink (blocker);
  error = (LnsError){ 0 };
  snprintf (deep, sizeof deep, "%s/x/y", folder);
  LNS_CHECK (lns_writer_create (deep, &options, &error) == NULL);
  LNS_CHECK_INT (error.code, EISDIR);
  error = (LnsError){ 0 };
  LNS_CHECK (lns_writer_create ("", &options, &error) == NULL);
  LNS_CHECK_INT (error.code, ENOENT);
  strcpy (path, kept);
  for (const char *const *part = (const char *const[]){ "x/y/z", "x/y", "x", NULL }; *part; part++)
    {
      snprintf (deep, sizeof deep, "%s/%s", folder, *part);
      LNS_CHECK_INT (rmdir (deep), 0);
    }
}

/* A write that fails loses nothing: the next commit has it all. A limit on the file's size stands
 * for the full disk. */
static void
test_failed_commits_are_done_again (void)
{
  unlink (path);
  LnsWriter *writer = create (false);
  add_lane (writer);
  append (writer, 1000);
  LnsError error = { 0 };
  LNS_CHECK (lns_writer_commit (writer, 1, &error));
  uint64_t committed_bytes = lns_writer_counts (writer)->file_bytes;

  struct rlimit old, limit;
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &old);
  limit = (struct rlimit){ committed_bytes + 65536, old.rlim_max };
  setrlimit (RLIMIT_FSIZE, &limit);
  for (unsigned round = 0; round < 3; round++)
    {
      append (writer, 20000);
      lns_writer_string (writer, "kept too", 8);
      error = (LnsError){ 0 };
      bool committed = lns_writer_commit (writer, 2, &error);
      setrlimit (RLIMIT_FSIZE, &old);
      LNS_CHECK (!committed);
      LNS_CHECK_INT (error.domain, LNS_ERROR_IO);
      LNS_CHECK_INT (error.code, EFBIG);
      LNS_CHECK (strstr (error.message, path) != NULL);
      LNS_CHECK_INT (events_in (path), 1000);
      setrlimit (RLIMIT_FSIZE, &limit);
    }
  setrlimit (RLIMIT_FSIZE, &old);
  error = (LnsError){ 0 };
  LNS_CHECK (lns_writer_commit (writer, 3, &error));
  LNS_CHECK_INT (events_in (path), 61000);
  append (writer, 1000);
  finish (writer);
  LNS_CHECK_INT (events_in (path), 62000);
}

/* What a full disk keeps out for too long is dropped, counted, and told once there is room. */
static void
test_events_are_dropped_and_counted (void)
{
  unlink (path);
  LnsWriter *writer = create (false);
  add_lane (writer);
  writer->max_waiting_bytes = 300000;
  struct rlimit old, limit;
  getrlimit (RLIMIT_FSIZE, &old);
  limit = (struct rlimit){ lns_writer_counts (writer)->file_bytes, old.rlim_max };
  setrlimit (RLIMIT_FSIZE, &limit);
  LnsError error = { 0 };
  uint64_t n_made = 0;
  bool committed = false;
  for (unsigned round = 0; round < 5; round++, n_made += 20000)
    {
      for (unsigned i = 0; i < 20000; i++)
        {
          LnsEvent event = { .start_ns = (int64_t)(n_made + i) * 100 };
          event.extra[3] = (n_made + i) * UINT64_C (0x9E3779B97F4A7C15);
          event.extra[3] ^= event.extra[3] >> 29;
          lns_writer_append (writer, 0, &event);
        }
      committed |= lns_writer_commit (writer, 1, NULL);
    }
  setrlimit (RLIMIT_FSIZE, &old);
  LNS_CHECK (!committed);
  LNS_CHECK (lns_writer_waiting_bytes (writer) < 400000);
  const uint64_t n_kept = lns_writer_counts (writer)->n_events,
                 n_lost = lns_writer_counts (writer)->n_lost;
  LNS_CHECK (n_lost > 10000);
  LNS_CHECK_INT (n_kept + n_lost, n_made);
  LNS_CHECK (lns_writer_commit (writer, 2, &error));
  append (writer, 10);
  finish (writer);
  LNS_CHECK_INT (events_in (path), n_kept + 10);

  LnsReport *report = lns_report_open (path, NULL, &error);
  LNS_CHECK_INT (lns_report_info (report)->n_lost, n_lost);
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (report, &n);
  LNS_CHECK (n > 0);
  LNS_CHECK_INT (losses[0].first_ns, n_kept * 100);
  LNS_CHECK_INT (losses[n - 1].last_ns, (n_made - 1) * 100);
  lns_report_close (report);
}

/* A run of which nothing could be written must not cost the report that was there. */
static void
test_failed_finish_brings_the_old_file_back (void)
{
  make_report (5);
  LnsWriter *writer = create (true);
  add_lane (writer);
  append (writer, 50000);
  struct rlimit old, limit;
  getrlimit (RLIMIT_FSIZE, &old);
  limit = (struct rlimit){ lns_writer_counts (writer)->file_bytes, old.rlim_max };
  setrlimit (RLIMIT_FSIZE, &limit);
  LnsError error = { 0 };
  bool finished = lns_writer_finish (writer, LNS_STATE_COMPLETE, 1, &error);
  setrlimit (RLIMIT_FSIZE, &old);
  LNS_CHECK (!finished);
  LNS_CHECK_INT (events_in (path), 5);
  LNS_CHECK_INT (files_in_folder (), 1);
}

/* While a reader holds its lock nothing can be committed, and nothing is lost. */
static void
test_commits_wait_for_readers (void)
{
  unlink (path);
  LnsWriter *writer = create (false);
  add_lane (writer);
  append (writer, 10);
  LnsError error = { 0 };
  LNS_CHECK (lns_writer_commit (writer, 1, &error));

  sqlite3 *reader;
  LNS_CHECK_INT (sqlite3_open (path, &reader), SQLITE_OK);
  LNS_CHECK_INT (sqlite3_exec (reader, "BEGIN; SELECT * FROM lns_meta", NULL, NULL, NULL),
                 SQLITE_OK);
  append (writer, 5000);
  for (unsigned round = 0; round < 2; round++)
    {
      error = (LnsError){ 0 };
      LNS_CHECK (!lns_writer_commit (writer, 2, &error));
      LNS_CHECK_INT (error.code, EBUSY);
      append (writer, 5000);
    }
  sqlite3_close (reader);
  error = (LnsError){ 0 };
  LNS_CHECK (lns_writer_commit (writer, 3, &error));
  LNS_CHECK_INT (events_in (path), 15010);
  finish (writer);
  LNS_CHECK_INT (events_in (path), 15010);
}

/* A child in which no lock can be had, as on some network file systems. Its exit status. */
static int
run_without_locks (void (*function) (void))
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, args[1])),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, F_SETLK, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
  pid_t child = fork ();
  if (child == 0)
    {
      if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
          prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit (77);
      function ();
      _exit (0);
    }
  int status;
  waitpid (child, &status, 0);
  return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

static void
write_without_locks (void)
{
  LnsError error = { 0 };
  const LnsWriterOptions options = { 0 };
  if (lns_sql_can_lock (folder))
    _exit (1);
  LnsWriter *writer = lns_writer_create (path, &options, &error);
  if (writer == NULL)
    _exit (2);
  const LnsTrack track = { .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE,
                           .process = 0,
                           .thread = 0,
                           .domain = LNS_ID_NONE,
                           .kind = LNS_TRACK_NVTX_RANGES };
  lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 0 });
  const LnsLane lane = { .track = lns_writer_add_track (writer, &track),
                         .kind = LNS_LANE_NVTX_PUSH_POP };
  lns_writer_add_lane (writer, &lane);
  for (int round = 0; round < 3; round++)
    {
      const LnsEvent event = { .start_ns = round };
      lns_writer_append (writer, 0, &event);
      if (!lns_writer_commit (writer, round, &error))
        _exit (3);
    }
  if (!lns_writer_finish (writer, LNS_STATE_COMPLETE, 3, &error))
    _exit (4);
}

static void
test_a_file_system_without_locks (void)
{
  unlink (path);
  int status = run_without_locks (write_without_locks);
  if (status == 77)
    LNS_SKIP ("the kernel refuses seccomp filters");
  LNS_CHECK_INT (status, 0);
  LNS_CHECK_INT (events_in (path), 3);
  LNS_CHECK (lns_sql_can_lock (path));
  LNS_CHECK (lns_sql_can_lock ("/no/such/file"));
}

static unsigned
open_files (void)
{
  unsigned n = 0;
  DIR *dir = opendir ("/proc/self/fd");
  while (readdir (dir) != NULL)
    n++;
  closedir (dir);
  return n;
}

/* Where not even the empty report fits, nothing stays behind. */
static void
test_failed_creation_leaves_nothing (void)
{
  make_report (5);
  const unsigned n_open = open_files ();
  struct rlimit old, limit;
  getrlimit (RLIMIT_FSIZE, &old);
  limit = (struct rlimit){ 100000, old.rlim_max };
  setrlimit (RLIMIT_FSIZE, &limit);
  LnsError error = { 0 };
  const LnsWriterOptions options = { .overwrite = true };
  LnsWriter *writer = lns_writer_create (path, &options, &error);
  setrlimit (RLIMIT_FSIZE, &old);
  LNS_CHECK (writer == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_IO);
  LNS_CHECK (strstr (error.message, path) != NULL);
  LNS_CHECK_INT (events_in (path), 5);
  LNS_CHECK_INT (files_in_folder (), 1);
  LNS_CHECK_INT (open_files (), n_open);
}

/* Everything that a writer took is given back, files and memory. */
static void
test_nothing_leaks (void)
{
  size_t used_bytes = 0;
  unsigned n_open = 0;
  for (unsigned round = 0; round < 6; round++)
    {
      /* SQLite keeps a little from its first use. */
      if (round == 2)
        {
          used_bytes = mallinfo2 ().uordblks + mallinfo2 ().hblkhd;
          n_open = open_files ();
        }
      unlink (path);
      LnsWriter *writer = create (false);
      add_lane (writer);
      const LnsEvent open = { .start_ns = INT64_C (1) << 50 };
      append (writer, 30000);
      lns_writer_set_open (writer, 0, &open);
      lns_writer_string (writer, path, strlen (path));
      lns_writer_set_meta (writer, "key", "value");
      LNS_CHECK (lns_writer_commit (writer, 1, NULL));
      append (writer, 10000);
      if (round % 2 == 0)
        finish (writer);
      else
        lns_writer_abandon (writer);
    }
  /* The allocator's own caches move by a few KB. */
  LNS_CHECK (mallinfo2 ().uordblks + mallinfo2 ().hblkhd < used_bytes + 32768);
  LNS_CHECK_INT (open_files (), n_open);
}

/* A writer that is killed leaves what it had committed; the open transaction is nobody's. */
static void
test_killed_writer (void)
{
  unlink (path);
  pid_t child = fork ();
  if (child == 0)
    {
      LnsError error = { 0 };
      LnsWriter *writer = create (false);
      add_lane (writer);
      append (writer, 12345);
      lns_writer_commit (writer, 1, &error);
      append (writer, 99999);
      raise (SIGKILL);
    }
  int status;
  LNS_CHECK_INT (waitpid (child, &status, 0), child);
  LNS_CHECK (WIFSIGNALED (status));
  LNS_CHECK_INT (events_in (path), 12345);
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (path, NULL, &error);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_CUT_OFF);
  lns_report_close (report);
}

/* The tally of the report at PATH, if it is TEXT: what it says beside the commit of the child below. */
static LnsReportInfo
info_with_tally (const char *text)
{
  LnsError error = { 0 };
  if (text != NULL)
    LNS_CHECK_INT (setxattr (path, LNS_TALLY_ATTRIBUTE, text, strlen (text), 0), 0);
  LnsReport *report = lns_report_open (path, NULL, &error);
  const LnsReportInfo info = *lns_report_info (report);
  lns_report_close (report);
  return info;
}

/* What it has told since its last commit is known. */
static void
test_killed_writer_that_told (void)
{
  unlink (path);
  pid_t child = fork ();
  if (child == 0)
    {
      LnsError error = { 0 };
      const LnsWriterBacklog backlog = {
        .reached_ns = 10, .seen_ns = 20, .n_waiting = 5, .n_untold = 1, .n_begun = 105, .n_lost = 3
      };
      LnsWriter *writer = create (false);
      add_lane (writer);
      append (writer, 100);
      lns_writer_set_backlog (writer, &backlog);
      lns_writer_commit (writer, 10, &error);
      lns_writer_tell (writer, &(LnsTally){ .seen_ns = 40, .n_begun = 145, .n_lost = 10 });
      raise (SIGKILL);
    }
  int status;
  LNS_CHECK_INT (waitpid (child, &status, 0), child);
  if (setxattr (path, "user.lanescope.test", "1", 1, 0) != 0)
    LNS_SKIP ("the file system has no extended attributes");
  LnsReportInfo info = info_with_tally (NULL);
  LNS_CHECK_INT (info.state, LNS_STATE_CUT_OFF);
  LNS_CHECK_INT (info.n_waiting, 45);
  LNS_CHECK_INT (info.n_lost, 8);
  LNS_CHECK_INT (info.seen_ns, 40);
  LNS_CHECK_INT (info.reached_ns, 10);
  LNS_CHECK_INT (info_with_tally ("40 50 2").n_waiting, 5);
  LNS_CHECK_INT (info_with_tally ("40 50 2").n_lost, 1);
  const char *ignored[] = {
    "20 200 100", "-1 200 100", "", "40", "40 200", "40 x 3", "40 18446744073709551615 3"
  };
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
    {
      info = info_with_tally (ignored[i]);
      LNS_CHECK_INT (info.n_waiting, 5);
      LNS_CHECK_INT (info.n_lost, 1);
      LNS_CHECK_INT (info.seen_ns, 20);
    }
}

/* A finished report needs no tally. */
static void
test_a_finished_report_has_no_tally (void)
{
  LnsError error = { 0 };
  unlink (path);
  LnsWriter *writer = create (false);
  lns_writer_tell (writer, &(LnsTally){ .seen_ns = 40, .n_begun = 145, .n_lost = 10 });
  LNS_CHECK (lns_writer_finish (writer, LNS_STATE_COMPLETE, 50, &error));
  LNS_CHECK (getxattr (path, LNS_TALLY_ATTRIBUTE, NULL, 0) < 0);
}

static void
test_identity (void)
{
  char mine[LNS_IDENTITY_SIZE], parents[LNS_IDENTITY_SIZE];
  LNS_CHECK (lns_identity_of (getpid (), mine));
  LNS_CHECK (lns_identity_lives (mine));
  int pid;
  unsigned long long start = 0, expected = 0;
  LNS_CHECK_INT (sscanf (mine, "%*36s %d %llu", &pid, &start), 2);
  LNS_CHECK_INT (pid, getpid ());
  FILE *stat = fopen ("/proc/self/stat", "r");
  int n_read = fscanf (stat, "%*d %*s"); /* this test's name has no space */
  for (int i = 3; i <= 22; i++)
    n_read = fscanf (stat, i < 22 ? "%*s" : "%llu", &expected);
  fclose (stat);
  LNS_CHECK_INT (n_read, 1);
  LNS_CHECK_INT (start, expected);
  LNS_CHECK (lns_identity_of (getppid (), parents));
  LNS_CHECK (strcmp (mine, parents) != 0);
  pid_t child = fork ();
  for (; child == 0;)
    pause ();
  char gone[LNS_IDENTITY_SIZE], zombie[LNS_IDENTITY_SIZE];
  siginfo_t info;
  LNS_CHECK (lns_identity_of (child, gone) && lns_identity_lives (gone));
  kill (child, SIGKILL);
  waitid (P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
  LNS_CHECK (!lns_identity_lives (gone) && !lns_identity_of (child, zombie));
  waitpid (child, NULL, 0);
  LNS_CHECK (!lns_identity_lives (gone) && !lns_identity_of (child, zombie));
  mine[0] = mine[0] == 'a' ? 'b' : 'a'; /* another boot */
  LNS_CHECK (!lns_identity_lives (mine));
  LNS_CHECK (!lns_identity_lives (""));
  LNS_CHECK (!lns_identity_lives ("x -1 5"));
}

int
main (void)
{
  if (mkdtemp (folder) == NULL)
    return 1;
  snprintf (path, sizeof path, "%s/a.rep", folder);
  LNS_TEST (test_an_existing_file_is_kept);
  LNS_TEST (test_overwrite_after_the_first_data);
  LNS_TEST (test_abandon_brings_the_old_file_back);
  LNS_TEST (test_overwrite_takes_the_journal_along);
  LNS_TEST (test_a_stale_journal_is_removed);
  LNS_TEST (test_folders_are_made);
  LNS_TEST (test_failed_commits_are_done_again);
  LNS_TEST (test_events_are_dropped_and_counted);
  LNS_TEST (test_failed_finish_brings_the_old_file_back);
  LNS_TEST (test_commits_wait_for_readers);
  LNS_TEST (test_a_file_system_without_locks);
  LNS_TEST (test_failed_creation_leaves_nothing);
  LNS_TEST (test_nothing_leaks);
  LNS_TEST (test_killed_writer);
  LNS_TEST (test_killed_writer_that_told);
  LNS_TEST (test_a_finished_report_has_no_tally);
  LNS_TEST (test_identity);
  unlink (path);
  rmdir (folder);
  return lns_tap_done ();
}

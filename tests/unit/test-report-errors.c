/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests that files which are not reports, or are no longer complete, are refused, each with its
 * own sentence. */

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/store/read/pixels.h"
#include "src/store/database/sql.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_EVENTS 30000

static void
write_report (const char *path)
{
  LnsWriter *writer = fixture_writer (path);
  for (uint32_t i = 0; i < 4; i++)
    {
      uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      LnsExpectedLane lane = fixture_events (LNS_SHAPE_MIXED, N_EVENTS, 0, i);
      for (uint32_t e = 0; e < lane.n; e++)
        lns_writer_append (writer, id, &lane.events[e]);
      free (lane.events);
    }
  fixture_finish (writer, 0);
}

static void
write_bytes (const char *path, const void *bytes, size_t size_bytes)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  LNS_CHECK (fd >= 0 && write (fd, bytes, size_bytes) == (ssize_t)size_bytes);
  close (fd);
}

static void
run_sql (const char *path, const char *text)
{
  sqlite3 *db;
  LNS_CHECK (sqlite3_open (path, &db) == SQLITE_OK);
  int code = sqlite3_exec (db, text, NULL, NULL, NULL);
  sqlite3_close (db);
  LNS_CHECK_INT (code, SQLITE_OK);
}

/* Opening PATH must fail so; returns the sentence, valid until the next call. */
static const char *
refusal (const char *path, LnsErrorDomain domain)
{
  static LnsError error;

  error = (LnsError){ 0 };
  LnsReport *report = lns_report_open (path, NULL, &error);
  LNS_CHECK (report == NULL);
  LNS_CHECK_INT (error.domain, domain);
  LNS_CHECK (strncmp (error.message, path, strlen (path)) == 0);
  LNS_CHECK (strchr (error.message, '\n') == NULL && strchr (error.message, ';') != NULL);
  return error.message;
}

static void
check_says (const char *sentence, const char *words)
{
  if (strstr (sentence, words) == NULL)
    LNS_FAIL ("\"%s\" does not say \"%s\"", sentence, words);
}

static void
test_no_report (void)
{
  static const uint8_t noise[100000] = "noise";
  const char *path = fixture_path ("no-report");

  check_says (refusal (fixture_path ("missing.rep"), LNS_ERROR_IO), "does not exist");
  check_says (refusal (fixture_path ("missing/folder.rep"), LNS_ERROR_IO), "does not exist");
  check_says (refusal (fixture_path ("."), LNS_ERROR_FORMAT), "a folder");
  check_says (refusal ("/dev/null", LNS_ERROR_FORMAT), "not a regular file");
  write_bytes (path, "", 0);
  check_says (refusal (path, LNS_ERROR_FORMAT), "is empty");
  write_bytes (path, "short", 5);
  check_says (refusal (path, LNS_ERROR_FORMAT), "not a Lanescope report");
  write_bytes (path, noise, sizeof noise);
  check_says (refusal (path, LNS_ERROR_FORMAT), "not a Lanescope report");
  unlink (path);
  run_sql (path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  check_says (refusal (path, LNS_ERROR_FORMAT), "an SQLite database, but not a Lanescope report");
}

/* Fills the file of the descriptor at DATA, a moment late, and takes its mark away. */
static void *
fill (void *data)
{
  static const struct timespec moment = { .tv_nsec = 50000000 };
  const int to = *(const int *)data, from = open (fixture_path ("whole.rep"), O_RDONLY | O_CLOEXEC);
  char bytes[1 << 16];

  nanosleep (&moment, NULL);
  for (ssize_t n; (n = read (from, bytes, sizeof bytes)) > 0;)
    LNS_CHECK (write (to, bytes, (size_t)n) == n);
  close (from);
  close (to);
  return NULL;
}

/* What is empty because its writer has but begun is no broken report. */
static void
test_in_the_making (void)
{
  char path[4096];
  LnsError error = { 0 };
  pthread_t writer;

  write_report (fixture_path ("whole.rep"));
  snprintf (path, sizeof path, "%s", fixture_path ("making.rep"));
  write_bytes (path, "", 0);
  int fd = -1;
  LNS_CHECK (lns_sql_claim (path, &fd) && fd >= 0 && lns_sql_is_claimed (path));
  LNS_CHECK (pthread_create (&writer, NULL, fill, &fd) == 0);
  LnsReport *report = lns_report_open (path, NULL, &error);
  if (report == NULL)
    LNS_FAIL ("%s", error.message);
  pthread_join (writer, NULL);
  LNS_CHECK (!lns_sql_is_claimed (path));
  lns_report_close (report);
}

/* Root may read every file, so that somebody else tries. */
static void
test_no_permission (void)
{
  const char *path = fixture_path ("locked.rep");

  write_report (path);
  LNS_CHECK (chmod (path, 0) == 0 && chmod (fixture_path ("."), 0755) == 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      LnsError error = { 0 };
      if (geteuid () == 0 && setresuid (65534, 65534, 65534) != 0)
        _exit (1);
      _exit (lns_report_open (path, NULL, &error) == NULL && error.domain == LNS_ERROR_IO &&
                     strstr (error.message, "do not have permission to read") != NULL
                 ? 0
                 : 2);
    }
  int status;
  LNS_CHECK (waitpid (pid, &status, 0) == pid);
  LNS_CHECK_INT (status, 0);
}

/* As on some network file systems. */
static void
refuse_locks (int error_code)
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, args[1])),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, F_SETLK, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error_code),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit (77);
}

static void
check_no_locks (int error_code)
{
  const char *path = fixture_path ("lockless.rep");

  write_report (path);
  pid_t pid = fork ();
  if (pid == 0)
    {
      LnsError error = { 0 };
      LnsEvent event;
      refuse_locks (error_code);
      alarm (4); /* who waited would wait longer: nobody has a lock to give back                 */
      LnsReport *report = lns_report_open (path, NULL, &error);
      _exit (report != NULL && lns_report_event (report, 3, N_EVENTS - 1, &event, &error) ? 0 : 1);
    }
  int status;
  LNS_CHECK (waitpid (pid, &status, 0) == pid);
  if (WIFEXITED (status) && WEXITSTATUS (status) == 77)
    LNS_SKIP ("the kernel refuses seccomp filters");
  LNS_CHECK_INT (status, 0);
}

static void
test_no_locks (void)
{
  check_no_locks (ENOSYS);
  check_no_locks (ENOLCK);
}

/* Parents in a circle: whoever follows them would never come to an end. */
static void
test_processes_in_a_circle (void)
{
  const char *path = fixture_path ("circle.rep");
  static const uint32_t parents[][4] = { { 1, 2, 0, LNS_ID_NONE },
                                         { LNS_ID_NONE, 1, 1, 1 },
                                         { 3, 0, 1, 2 } };

  for (size_t i = 0; i < sizeof parents / sizeof *parents; i++)
    {
      LnsWriter *writer = fixture_writer (path);
      for (uint32_t p = 1; p < 4; p++)
        lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE });
      for (uint32_t p = 0; p < 4; p++)
        lns_writer_set_process (writer, p, &(LnsProcess){ .parent = parents[i][p] });
      fixture_finish (writer, 0);
      check_says (refusal (path, LNS_ERROR_FORMAT), "its own ancestor");
    }
}

/* A child may have been written before its parent, and share it with others. */
static void
test_parents_in_any_order (void)
{
  const char *path = fixture_path ("tree.rep");
  LnsWriter *writer = fixture_writer (path);

  for (uint32_t p = 1; p < 4; p++)
    lns_writer_add_process (writer, &(LnsProcess){ .parent = p == 2 ? LNS_ID_NONE : 2 });
  lns_writer_set_process (writer, 0, &(LnsProcess){ .parent = 3 });
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_processes (report, NULL)[0].parent, 3);
  LNS_CHECK_INT (lns_report_processes (report, NULL)[3].parent, 2);
  lns_report_close (report);
}

static void
test_cut_short (void)
{
  const char *path = fixture_path ("short.rep");
  struct stat status;

  write_report (path);
  LNS_CHECK (stat (path, &status) == 0 && status.st_size > 5 * 65536);
  LNS_CHECK (truncate (path, status.st_size - 1) == 0);
  check_says (refusal (path, LNS_ERROR_FORMAT), "cut short");
  LNS_CHECK (truncate (path, status.st_size / 2) == 0);
  check_says (refusal (path, LNS_ERROR_FORMAT), "cut short");
  LNS_CHECK (truncate (path, 65536) == 0);
  check_says (refusal (path, LNS_ERROR_FORMAT), "cut short");
  LNS_CHECK (truncate (path, 1000) == 0);
  check_says (refusal (path, LNS_ERROR_FORMAT), "cut short");
}

static void
test_newer (void)
{
  const char *path = fixture_path ("newer.rep");

  write_report (path);
  run_sql (path, "UPDATE lns_meta SET value = '6' WHERE key = 'compatible'");
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->unknown_compatible, 6);
  lns_report_close (report);
  run_sql (path, "UPDATE lns_meta SET value = '9' WHERE key = 'incompatible'");
  check_says (refusal (path, LNS_ERROR_VERSION), "newer than");
  run_sql (path, "INSERT INTO lns_meta VALUES ('needs', '7.3')");
  check_says (refusal (path, LNS_ERROR_VERSION), "needs Lanescope 7.3");
  run_sql (path, "PRAGMA user_version = 2");
  check_says (refusal (path, LNS_ERROR_VERSION), "format 2");
}

#define AS_VIEW(table)                                                                             \
 "ALTER TABLE " table " RENAME TO kept; CREATE VIEW " table " AS SELECT * FROM kept"

/* Each statement makes a file that opening, or the first look at a lane, has to refuse. */
static void
test_damaged_rows (void)
{
  static const struct
  {
    const char *text;
    bool opens;
  } damages[] = {
    { "DELETE FROM lns_meta WHERE key = 'state'", false },
    { "UPDATE lns_meta SET value = 'xyz' WHERE key = 'uuid'", false },
    { "DROP TABLE lns_def", false },
    { "DROP TABLE lns_lane", false },
    { "DELETE FROM lns_def", false },
    { "UPDATE lns_def SET data = zeroblob (200)", false },
    { "UPDATE lns_def SET data = 'text'", false },
    { "UPDATE lns_lane SET n_events = -1", false },
    { "UPDATE lns_lane SET n_events = 9223372036854775807", false },
    { "UPDATE lns_lane SET n_chunks = n_events + 1", false },
    { "UPDATE lns_lane SET lane = 1000 WHERE lane = 3", false },
    { "UPDATE lns_lane SET top_level = 0", false },
    { "UPDATE lns_lane SET top_level = 31", false },
    { "UPDATE lns_lane SET top_level = top_level + 1", false },
    { "UPDATE lns_lane SET top = NULL", false },
    { "UPDATE lns_lane SET top = zeroblob (100)", false },
    { "UPDATE lns_lane SET end_ns = start_ns - 1", false },
    { "UPDATE lns_lane SET end_ns = 9223372036854775807", false },
    { "UPDATE lns_lane SET start_ns = -9223372036854775807", false },
    { "UPDATE lns_lane SET busy_ns = end_ns - start_ns + 1", false },
    { "UPDATE lns_meta SET value = '100000000' WHERE key = 'next_string'", false },
    { "UPDATE lns_meta SET value = '4294967295' WHERE key = 'next_string'", false },
    { "UPDATE lns_meta SET value = '18446744073709551615' WHERE key = 'next_string'", false },
    { "UPDATE lns_lane SET n_open = 1", false },
    { "UPDATE lns_lane SET n_open = 7", false },
    { "UPDATE lns_lane SET n_events = n_events - 1", true },
    { "UPDATE lns_lane SET n_chunks = n_chunks - 1", true },
    { "DELETE FROM lns_tail", true },
    { "UPDATE lns_tail SET data = zeroblob (200)", true },
    { "DELETE FROM lns_chunk WHERE level > 0", true },
    { "DELETE FROM lns_chunk WHERE level = 0 AND seq = 1", true },
    { "UPDATE lns_chunk SET lane = 9", true },
    { "UPDATE lns_chunk SET seq = seq + 1", true },
    { "UPDATE lns_chunk SET n = n + 1 WHERE seq = 1", true },
    { "UPDATE lns_chunk SET start_ns = end_ns + 1", true },
    { "UPDATE lns_chunk SET start_ns = -9223372036854775807 WHERE seq = 0", true },
    { "UPDATE lns_chunk SET first = -5", true },
    { "UPDATE lns_chunk SET level = 99 WHERE level > 0", true },
    { "DROP TABLE lns_chunk", true },
    { "DROP TABLE lns_tail", true },
    { "DROP TABLE lns_chunk; CREATE VIEW lns_chunk AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL "
      "SELECT id + 1 FROM n) SELECT id, 0 AS lane, 0 AS level, id AS seq, id AS first, 1 AS n, "
      "id AS start_ns, id AS end_ns, zeroblob (9) AS data FROM n",
      true },
    /* A view may be anything: also one that gives what the table did is not looked at. */
    { AS_VIEW ("lns_chunk"), true },
    { AS_VIEW ("lns_tail"), true },
    { AS_VIEW ("lns_meta"), false },
    { AS_VIEW ("lns_def"), false },
    { AS_VIEW ("lns_lane"), false },
  };
  const char *path = fixture_path ("damaged.rep");

  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
    {
      LnsError error = { 0 };
      LnsPixelResult result = { 0 };
      unlink (path);
      write_report (path);
      run_sql (path, damages[i].text);
      LnsReport *report = lns_report_open (path, NULL, &error);
      if ((report != NULL) != damages[i].opens)
        LNS_FAIL ("%s: %s", damages[i].text, report != NULL ? "it opens" : error.message);
      if (report != NULL)
        {
          const int64_t end_ns = lns_report_lane_info (report, 0)->end_ns;
          LnsPixelQuery query = { .ns_per_px = (double)end_ns / 1000, .n_px = 1000 };
          LnsEvent event;
          if (lns_report_query_pixels (report, 0, &query, &result, &error) &&
              lns_report_event (report, 0, 0, &event, &error))
            LNS_FAIL ("%s: nothing is amiss", damages[i].text);
        }
      LNS_CHECK_INT (error.domain, LNS_ERROR_FORMAT);
      if (strstr (error.message, "lanescope recover") == NULL)
        LNS_FAIL ("%s: %s", damages[i].text, error.message);
      lns_pixel_result_clear (&result);
      lns_report_close (report);
    }
}

/* Definitions that name others are checked at the opening, so that nobody has to later. */
static void
test_dangling_references (void)
{
  const char *path = fixture_path ("dangling.rep");

  for (int i = 0; i < 8; i++)
    {
      LnsWriter *writer = fixture_writer (path);
      const LnsTrack track = { .device = LNS_ID_NONE,
                               .stream = LNS_ID_NONE,
                               .kind = LNS_TRACK_NVTX_RANGES };
      switch (i)
        {
        case 0:
          lns_writer_add_process (writer, &(LnsProcess){ .parent = 2 });
          break;
        case 1:
          lns_writer_add_thread (writer, &(LnsThread){ .process = 1 });
          break;
        case 2:
          lns_writer_add_thread (writer, &(LnsThread){ .process = LNS_ID_NONE });
          break;
        case 3:
          lns_writer_add_domain (writer, &(LnsDomain){ .thread = 1 });
          break;
        case 4:
          lns_writer_add_track (writer, &track);
          lns_writer_add_lane (writer, &(LnsLane){ .track = 1, .kind = LNS_LANE_NVTX_MARK });
          break;
        case 5:
          lns_writer_add_schema_entry (writer, &(LnsSchemaEntry){ .name = 1 });
          break;
        case 6:
          lns_writer_add_category (writer, &(LnsCategory){ .domain = 1 });
          break;
        default:
          lns_writer_add_loss (writer, &(LnsLoss){ .thread = 5 });
        }
      fixture_finish (writer, 0);
      check_says (refusal (path, LNS_ERROR_FORMAT), "which is not there");
    }
}

/* One damaged chunk costs the queries that need it, and no other. */
static void
test_one_damaged_chunk (void)
{
  const char *path = fixture_path ("one.rep");
  LnsError error = { 0 };
  uint64_t n = 0, n_bad = 0;

  write_report (path);
  run_sql (path, "UPDATE lns_chunk SET data = CAST (substr (data, 1, 300) || x'00112233' || substr "
                 "(data, 305) AS BLOB) WHERE lane = 2 AND level = 0 AND seq = 3");
  LnsReport *report = fixture_open (path, NULL);
  LnsChunkWalker *walker = lns_chunk_walker_new (report, 2, 0);
  for (;;)
    {
      LnsError here = { 0 };
      const LnsChunk *chunk = lns_chunk_walker_next (walker, &here);
      if (chunk != NULL)
        n += chunk->n;
      else if (here.domain == LNS_ERROR_NONE)
        break;
      else
        n_bad++;
    }
  lns_chunk_walker_free (walker);
  LNS_CHECK_INT (n_bad, 1);
  LNS_CHECK (n < N_EVENTS && n > N_EVENTS - 4096);
  LNS_CHECK (lns_report_chunk (report, 2, 3, 0, &error) == NULL);
  check_says (error.message, "chunk 3 of level 0 of lane 2");
  check_says (error.message, "checksum");
  const LnsChunk *next = lns_report_chunk (report, 2, 4, 0, NULL);
  LNS_CHECK (next != NULL);
  lns_chunk_unref (next);
  lns_report_close (report);
}

static void
test_state_of_writer (void)
{
  const char *path = fixture_path ("state.rep");

  write_report (path);
  run_sql (path, "UPDATE lns_meta SET value = 'recording' WHERE key = 'state'");
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_RECORDING);
  lns_report_close (report);
  run_sql (path, "UPDATE lns_meta SET value = '00000000-0000-0000-0000-000000000000 1 1' "
                 "WHERE key = 'writer'");
  report = fixture_open (path, NULL);
  LNS_CHECK_INT (lns_report_info (report)->state, LNS_STATE_CUT_OFF);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_no_report);
  LNS_TEST (test_in_the_making);
  LNS_TEST (test_no_permission);
  LNS_TEST (test_no_locks);
  LNS_TEST (test_cut_short);
  LNS_TEST (test_newer);
  LNS_TEST (test_damaged_rows);
  LNS_TEST (test_dangling_references);
  LNS_TEST (test_processes_in_a_circle);
  LNS_TEST (test_parents_in_any_order);
  LNS_TEST (test_one_damaged_chunk);
  LNS_TEST (test_state_of_writer);
  return lns_tap_done ();
}

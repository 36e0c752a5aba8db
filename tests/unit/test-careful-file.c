/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Kills a writer at each write to its file, before the write or in the middle of it. A copy of the
 * file without its journal must hold everything that was committed before. */

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#include "src/store/recover/recover.h"
#include "src/store/write/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_LANES          24u
#define N_COMMITS        5u
#define PER_COMMIT(lane) (((lane) % 7 + 1) * 60)
#define PAGE_BYTES       65536
#define WRITES_MAX       4096

/* Shared with the child: what it has done. */
typedef struct
{
  unsigned n_writes, n_commits;
  bool is_page[WRITES_MAX]; /* by write: it is of a whole page */
} Deeds;

static Deeds *deeds;
static unsigned fatal_write; /* the child is killed instead of making it; 0: never */
static size_t torn_bytes;    /* of its end, that are not written; SIZE_MAX: none is */

/* SQLite's, in place of libc's: what it writes to files goes through here. */
ssize_t pwrite64 (int fd, const void *bytes, size_t n_bytes, off64_t offset);

__attribute__ ((visibility ("default"))) ssize_t
pwrite64 (int fd, const void *bytes, size_t n_bytes, off64_t offset)
{
  if (deeds != NULL && ++deeds->n_writes == fatal_write)
    {
      if (torn_bytes < n_bytes)
        syscall (SYS_pwrite64, fd, bytes, n_bytes - torn_bytes, offset);
      _exit (0);
    }
  if (deeds != NULL && deeds->n_writes < WRITES_MAX)
    deeds->is_page[deeds->n_writes] = n_bytes == PAGE_BYTES;
  return syscall (SYS_pwrite64, fd, bytes, n_bytes, offset);
}

/* Long names and irregular times, so that pages fill up and rows have to move within few commits. */
static void
write_report (const char *path)
{
  LnsError error = { 0 };
  LnsWriterOptions options = { .overwrite = true };
  LnsWriter *writer = lns_writer_create (path, &options, &error);
  if (writer == NULL)
    _exit (1);
  lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE, .exit_code = -1 });
  uint64_t random = 7;
  int64_t times[N_LANES] = { 0 };
  for (unsigned i = 0; i < N_LANES; i++)
    {
      LnsTrack track = { .kind = LNS_TRACK_NVTX_RANGES,
                         .thread = LNS_ID_NONE,
                         .domain = LNS_ID_NONE };
      lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                               .kind = LNS_LANE_NVTX_PUSH_POP });
    }
  for (unsigned commit = 0; commit < N_COMMITS; commit++)
    {
      for (unsigned i = 0; i < PER_COMMIT (6) * N_LANES; i++)
        {
          char name[64];
          unsigned lane = i % N_LANES;
          if (i / N_LANES >= PER_COMMIT (lane))
            continue;
          int n = snprintf (name, sizeof name, "event %u of lane %u in commit %u", i, lane, commit);
          LnsEvent event = { .start_ns = times[lane] +=
                             (int64_t)(fixture_random (&random) % 100000),
                             .duration_ns = (int64_t)(fixture_random (&random) >> 40),
                             .name = lns_writer_string (writer, name, (size_t)n) };
          times[lane] += event.duration_ns;
          lns_writer_append (writer, lane, &event);
        }
      if (!lns_writer_commit (writer, times[0], &error))
        _exit (1);
      deeds->n_commits++;
    }
  _exit (0);
}

/* How many of the first N events of each lane are there, with their names. */
static unsigned
count_right (LnsReport *report, unsigned n_commits)
{
  unsigned n_right = 0;
  for (unsigned lane = 0; lane < N_LANES; lane++)
    for (unsigned i = 0; i < n_commits * PER_COMMIT (lane); i++)
      {
        LnsEvent event;
        LnsError error = { 0 };
        char name[64];
        if (!lns_report_event (report, lane, i, &event, &error))
          break;
        snprintf (name, sizeof name, "event %u of lane %u in commit %u",
                  i % PER_COMMIT (lane) * N_LANES + lane, lane, i / PER_COMMIT (lane));
        n_right += strcmp (lns_report_string (report, event.name, NULL), name) == 0;
      }
  return n_right;
}

static void
check_copy (const char *path)
{
  bool recovered;
  LnsError error = { 0 };
  char journal[4096 + 16];
  snprintf (journal, sizeof journal, "%s-journal", path);
  unlink (journal);
  if (deeds->n_commits == 0)
    return;
  LnsReport *report = lns_report_open_or_recover (path, NULL, &recovered, &error);
  unsigned expected = 0;
  for (unsigned lane = 0; lane < N_LANES; lane++)
    expected += deeds->n_commits * PER_COMMIT (lane);
  unsigned n_right = report != NULL ? count_right (report, deeds->n_commits) : 0;
  LNS_CHECK_INT (n_right, expected);
  if (n_right != expected)
    printf ("# killed at write %u, less its last %zd bytes, in commit %u (%s): %s\n", fatal_write,
            (ssize_t)torn_bytes, deeds->n_commits + 1, recovered ? "recovered" : "opened",
            error.message);
  if (report != NULL && recovered)
    unlink (lns_report_info (report)->path);
  lns_report_close (report);
}

/* Runs the writer until its write FATAL, of which the last TORN bytes are missing; returns how many it
 * has made. */
static unsigned
run_until (unsigned fatal, size_t torn)
{
  char path[4096];
  snprintf (path, sizeof path, "%s", fixture_path ("killed.rep"));
  fatal_write = fatal;
  torn_bytes = torn;
  *deeds = (Deeds){ 0 };
  fflush (stdout);
  pid_t child = fork ();
  if (child == 0)
    write_report (path);
  int status;
  LNS_CHECK (waitpid (child, &status, 0) == child && status == 0);
  unsigned n_writes = deeds->n_writes;
  check_copy (path);
  unlink (path);
  return n_writes;
}

static void
test_killed_at_each_write (void)
{
  setenv ("XDG_CACHE_HOME", fixture_path ("cache"), 1);
  Deeds *shared =
      mmap (NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  LNS_CHECK (shared != MAP_FAILED);
  deeds = shared;
  unsigned n = run_until (0, SIZE_MAX);
  LNS_CHECK_INT (deeds->n_commits, N_COMMITS);
  LNS_CHECK (n > 100);
  LNS_CHECK (n < WRITES_MAX);
  bool is_page[WRITES_MAX];
  memcpy (is_page, deeds->is_page, sizeof is_page);
  for (unsigned fatal = 1; fatal <= n; fatal++)
    {
      run_until (fatal, SIZE_MAX);
      if (is_page[fatal])
        run_until (fatal, PAGE_BYTES / 2);
    }
}

int
main (void)
{
  LNS_TEST (test_killed_at_each_write);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the writer, and the opening of a report, which is a part of overwriting one, when memory runs out: one
 * allocation after the other is refused. The file must be valid, everything that is missing must be reported, and the
 * process must go on. */

#include <errno.h>
#include <unistd.h>

#include "src/store/read/report.h"
#include "src/store/write/writer.h"

#include "tests/tap.h"

#define N_LANES  5
#define N_EVENTS 6000

/* glibc lets a program have its own allocator; this one can refuse. */
void *__libc_malloc (size_t size_bytes);
void *__libc_calloc (size_t n, size_t size_bytes);
void *__libc_realloc (void *bytes, size_t size_bytes);

static long n_until_refusal = -1; /* −1: none is refused                                         */
static long n_allocations;

static bool
refuse (void)
{
  n_allocations++;
  if (n_until_refusal < 0 || n_until_refusal-- > 0)
    return false;
  errno = ENOMEM;
  return true;
}

void *
malloc (size_t size_bytes)
{
  return refuse () ? NULL : __libc_malloc (size_bytes);
}

void *
calloc (size_t n, size_t size_bytes)
{
  return refuse () ? NULL : __libc_calloc (n, size_bytes);
}

void *
realloc (void *bytes, size_t size_bytes)
{
  return refuse () ? NULL : __libc_realloc (bytes, size_bytes);
}

static char path[] = "/tmp/lns-test-writer-memory-XXXXXX.rep";

static uint64_t
append_some (LnsWriter *writer, uint64_t first, uint64_t n)
{
  for (uint64_t i = first; i < first + n; i++)
    {
      LnsEvent event = { .start_ns = (int64_t)i * 1000,
                         .duration_ns = (int64_t)(i * 7919 % 900),
                         .name = (uint32_t)(i * 31 % 70) };
      event.extra[0] = i > 1000 ? i % 5 * 0x123456 : 0;
      event.extra[3] = i * UINT64_C (0x9E3779B97F4A7C15) >> 20;
      /* The first lane gets most. */
      lns_writer_append (writer, i % 8 < N_LANES ? i % 8 : 0, &event);
    }
  return n;
}

/* A recording in which allocation N (and no other) is refused, −1 for none. Whether it finished. */
static bool
record (long n, uint64_t *ret_kept, bool *ret_created)
{
  LnsError error = { 0 };
  const LnsWriterOptions options = { .overwrite = false };
  unlink (path);
  n_allocations = 0;
  n_until_refusal = n;
  LnsWriter *writer = lns_writer_create (path, &options, &error);
  *ret_created = writer != NULL;
  if (writer == NULL)
    {
      n_until_refusal = -1;
      LNS_CHECK (error.domain != LNS_ERROR_NONE && access (path, F_OK) != 0);
      return false;
    }
  const LnsTrack track = { .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE,
                           .kind = LNS_TRACK_NVTX_RANGES,
                           .process = 0,
                           .thread = 0,
                           .domain = LNS_ID_NONE };
  lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 0 });
  uint32_t track_id = lns_writer_add_track (writer, &track);
  for (uint32_t i = 0; i < N_LANES; i++)
    {
      const LnsLane lane = { .track = track_id, .ordinal = i, .kind = LNS_LANE_NVTX_PUSH_POP };
      lns_writer_add_lane (writer, &lane);
    }
  uint64_t n_made = 0;
  while (n_made < N_EVENTS)
    {
      char text[64];
      lns_writer_string (writer, text, (size_t)sprintf (text, "string %lu", (unsigned long)n_made));
      n_made += append_some (writer, n_made, N_EVENTS / 4);
      lns_writer_commit (writer, (int64_t)n_made * 1000, NULL);
    }
  *ret_kept = lns_writer_counts (writer)->n_events;
  uint64_t n_lost = lns_writer_counts (writer)->n_lost;
  bool finished = lns_writer_finish (writer, LNS_STATE_COMPLETE, 1, &error);
  n_until_refusal = -1;
  LNS_CHECK (finished || error.domain != LNS_ERROR_NONE);
  /* Where a lane could not be made its events have no place to be counted. */
  LNS_CHECK (!finished || *ret_kept + n_lost == N_EVENTS);
  return finished;
}

static uint64_t
events_in_file (void)
{
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (path, NULL, &error);
  if (report == NULL)
    LNS_FAIL ("%s", error.message);
  uint64_t n = 0;
  uint32_t n_lanes;
  lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    {
      LnsChunkWalker *walker = lns_chunk_walker_new (report, lane, 0);
      for (const LnsChunk *chunk; (chunk = lns_chunk_walker_next (walker, &error)) != NULL;)
        n += chunk->n;
      lns_chunk_walker_free (walker);
    }
  if (error.domain != LNS_ERROR_NONE)
    LNS_FAIL ("%s", error.message);
  lns_report_close (report);
  return n;
}

static void
test_each_refusal (void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  LNS_SKIP ("the sanitizer has an allocator of its own");
#endif
  uint64_t n_kept;
  bool created;
  LNS_CHECK (record (-1, &n_kept, &created));
  LNS_CHECK_INT (events_in_file (), N_EVENTS);
  const long n_total = n_allocations;
  LNS_CHECK (n_total > 500);
  unsigned n_finished = 0, n_failed = 0;
  /* The first ones each, then ever fewer. */
  for (long n = 0; n < n_total; n += 1 + n / 150)
    {
      bool finished = record (n, &n_kept, &created);
      n_finished += finished;
      n_failed += !finished;
      if (finished)
        LNS_CHECK_INT (events_in_file (), n_kept);
      else if (created)
        LNS_CHECK (events_in_file () <= n_kept);
    }
  LNS_CHECK (n_finished > 10 && n_failed > 10);
}

/* Opens the report, with allocation 0 refused, then with allocation 1, … until nothing is refused any more. */
static void
check_opening (void)
{
  unsigned n_failed = 0;
  for (long n = 0;; n++)
    {
      LnsError error = { 0 };
      n_until_refusal = n;
      LnsReport *report = lns_report_open (path, NULL, &error);
      const bool was_refused = n_until_refusal < 0;
      n_until_refusal = -1;
      LNS_CHECK ((report == NULL) == (error.domain != LNS_ERROR_NONE));
      LNS_CHECK (report != NULL || was_refused);
      n_failed += report == NULL;
      lns_report_close (report);
      if (!was_refused)
        break;
    }
  LNS_CHECK (n_failed > 5);
}

static void
test_opening (void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  LNS_SKIP ("the sanitizer has an allocator of its own");
#endif
  uint64_t n_kept;
  bool created;
  LNS_CHECK (record (-1, &n_kept, &created));
  check_opening ();

  /* Of one that is being written, the tails are read too. */
  const LnsWriterOptions options = { .overwrite = true };
  LnsWriter *writer = lns_writer_create (path, &options, NULL);
  LNS_CHECK (writer != NULL);
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
  lns_writer_add_lane (writer, &lane);
  lns_writer_append (writer, 0, &(LnsEvent){ .start_ns = 1, .duration_ns = 1 });
  LNS_CHECK (lns_writer_commit (writer, 10, NULL));
  check_opening ();
  LNS_CHECK (lns_writer_finish (writer, LNS_STATE_COMPLETE, 10, NULL));
}

int
main (void)
{
  int fd = mkstemps (path, 4);
  if (fd < 0)
    return 1;
  close (fd);
  LNS_TEST (test_each_refusal);
  LNS_TEST (test_opening);
  unlink (path);
  return lns_tap_done ();
}

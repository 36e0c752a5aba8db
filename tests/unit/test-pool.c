/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests each function of the pool, with both of its sides in one process. */

#include "capture/wire/pool-session.h"
#include "capture/wire/protocol.h"
#include "capture/wire/record.h"
#include "tests/tap.h"
#include "tests/unit/pool-fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <unistd.h>

static void
test_layout (void)
{
  LnsWirePool *pool = new_pool (7);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  LNS_CHECK_INT (view->header->magic, LNS_WIRE_MAGIC);
  LNS_CHECK_INT (view->header->serial, 3);
  LNS_CHECK_INT (view->capacity_bytes, 4096 - LNS_WIRE_APART_BYTES);
  struct stat file;
  LNS_CHECK_INT (fstat (lns_wire_pool_fd (pool), &file), 0);
  LNS_CHECK_INT (file.st_size, view->pool_bytes);
  /* Sealed: a target that shrinks it would kill the session with SIGBUS. */
  LNS_CHECK (ftruncate (lns_wire_pool_fd (pool), 4096) < 0);
  LNS_CHECK (ftruncate (lns_wire_pool_fd (pool), file.st_size + 4096) < 0);
  LNS_CHECK (fcntl (lns_wire_pool_fd (pool), F_ADD_SEALS, F_SEAL_WRITE) < 0);

  LnsWirePoolView other;
  LNS_CHECK_INT (lns_wire_pool_map (lns_wire_pool_fd (pool), view->pool_bytes, &other), 0);
  other.header->hint = 5;
  LNS_CHECK_INT (view->header->hint, 5);
  lns_wire_pool_unmap (&other);
  LNS_CHECK (other.header == NULL);
  lns_wire_pool_unmap (&other);
  lns_wire_pool_free (pool);
  lns_wire_pool_free (NULL);
}

static void
test_default_sizes (void)
{
  LnsWirePoolOptions options = { .serial = 1, .clock = LNS_WIRE_CLOCK_TSC };
  LnsWirePool *pool;
  LNS_CHECK_INT (lns_wire_pool_new (&options, &pool), 0);
  LNS_CHECK_INT (lns_wire_pool_view (pool)->chunk_bytes, 65536);
  LNS_CHECK_INT (lns_wire_pool_view (pool)->n_chunks, 16384);
  struct stat file;
  LNS_CHECK_INT (fstat (lns_wire_pool_fd (pool), &file), 0);
  /* A gigabyte of addresses, next to no memory. */
  LNS_CHECK (file.st_size > 1 << 30);
  LNS_CHECK (file.st_blocks * 512 < 1 << 20);
  lns_wire_pool_free (pool);
}

static void
test_options_out_of_range (void)
{
  static const LnsWirePoolOptions wrong[] = {
    { .serial = 0, .clock = LNS_WIRE_CLOCK_TSC },
    { .serial = 1, .clock = 3 },
    { .serial = 1, .clock = LNS_WIRE_CLOCK_TSC, .chunk_bytes = 2048 },
    { .serial = 1, .clock = LNS_WIRE_CLOCK_TSC, .chunk_bytes = 5000 },
    { .serial = 1, .clock = LNS_WIRE_CLOCK_TSC, .chunk_bytes = 2 << 20 },
    { .serial = 1, .clock = LNS_WIRE_CLOCK_TSC, .n_chunks = LNS_WIRE_CHUNKS_MAX + 1 },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    {
      LnsWirePool *pool = NULL;
      LNS_CHECK_INT (lns_wire_pool_new (&wrong[i], &pool), -EINVAL);
      LNS_CHECK (pool == NULL);
    }
}

/* What is no pool of this version is not mapped: each word of the layout in turn. */
static void
test_map_refuses (void)
{
  LnsWirePool *pool = new_pool (4);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  int fd = lns_wire_pool_fd (pool);
  LnsWirePoolView other = { 0 };
  LNS_CHECK_INT (lns_wire_pool_map (fd, 100, &other), -EPROTO);
  LNS_CHECK_INT (lns_wire_pool_map (fd, view->pool_bytes - 4096, &other), -EPROTO);
  LNS_CHECK_INT (lns_wire_pool_map (-1, view->pool_bytes, &other), -EBADF);
  LnsWirePoolHeader good = *view->header;
  static const struct
  {
    size_t offset, n_bytes;
    uint64_t value;
  } wrong[] = {
    { offsetof (LnsWirePoolHeader, magic), 8, 1 },
    { offsetof (LnsWirePoolHeader, abi), 4, LNS_WIRE_ABI + 1 },
    { offsetof (LnsWirePoolHeader, pool_bytes), 8, 0 },
    { offsetof (LnsWirePoolHeader, loss_offset), 8, 0 },
    { offsetof (LnsWirePoolHeader, loss_offset), 8, 4100 },
    { offsetof (LnsWirePoolHeader, loss_offset), 8, UINT64_MAX - 127 },
    { offsetof (LnsWirePoolHeader, lines_offset), 8, 4096 },
    { offsetof (LnsWirePoolHeader, lines_offset), 8, UINT64_MAX - 127 },
    { offsetof (LnsWirePoolHeader, chunks_offset), 8, 8192 },
    { offsetof (LnsWirePoolHeader, chunks_offset), 8, UINT64_MAX - 4095 },
    { offsetof (LnsWirePoolHeader, chunk_bytes), 4, 8192 },
    { offsetof (LnsWirePoolHeader, chunk_bytes), 4, 0 },
    { offsetof (LnsWirePoolHeader, chunk_bytes), 4, 4097 },
    { offsetof (LnsWirePoolHeader, n_chunks), 4, 5 },
    { offsetof (LnsWirePoolHeader, n_chunks), 4, 0 },
    { offsetof (LnsWirePoolHeader, n_chunks), 4, UINT32_MAX },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    {
      memcpy ((uint8_t *)view->header + wrong[i].offset, &wrong[i].value, wrong[i].n_bytes);
      LNS_CHECK_INT (lns_wire_pool_map (fd, view->pool_bytes, &other), -EPROTO);
      *view->header = good;
    }
  LNS_CHECK_INT (lns_wire_pool_map (fd, view->pool_bytes, &other), 0);
  lns_wire_pool_unmap (&other);
  lns_wire_pool_free (pool);
}

static void
test_a_chunks_life (void)
{
  LnsWirePool *pool = new_pool (4);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  LnsWireChunk chunks[4];
  uint8_t buffer[4096];

  LNS_CHECK_INT (lns_wire_pool_claim (view, 1, 0, 10, 11), -EAGAIN);
  LNS_CHECK_INT (lns_wire_pool_publish (pool, 2), 2);
  LNS_CHECK_INT (lns_wire_pool_n_free (view), 2);
  int index = lns_wire_pool_claim (view, 1, 0, 10, 11);
  LNS_CHECK_INT (index, 0);
  LNS_CHECK_INT (lns_wire_pool_n_free (view), 1);
  write_push (view, index, 1);
  write_push (view, index, 2);

  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 1);
  LNS_CHECK_INT (chunks[0].stream, 1);
  LNS_CHECK_INT (chunks[0].pid, 10);
  LNS_CHECK_INT (chunks[0].tid, 11);
  LNS_CHECK_INT (chunks[0].committed, 32);
  LNS_CHECK (!chunks[0].full);
  /* Less room than a record gives nothing; a record's room gives one. */
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, 15), 0);
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, 31), 16);
  LNS_CHECK_INT (((LnsWireHead *)buffer)->string, 1);
  LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[0], false, true), -EBUSY);
  LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[0], true, true), -EBUSY);
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, sizeof buffer), 16);
  LNS_CHECK_INT (((LnsWireHead *)buffer)->string, 2);
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, sizeof buffer), 0);
  LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[0], false, true), -EBUSY);

  /* What came after the last read is seen before the chunk is taken back. */
  write_push (view, index, 3);
  lns_wire_pool_give (&view->lines[index]);
  LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[0], false, true), -EBUSY);
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, sizeof buffer), 16);
  LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[0], false, true), 0);
  LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[0], false, true), -ESTALE);
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, sizeof buffer), 0);
  LNS_CHECK_INT (lns_wire_pool_n_free (view), 2);
  LNS_CHECK_INT (view->lines[index].generation, 1);
  LNS_CHECK_INT (view->lines[index].committed, 0);
  LNS_CHECK_INT (view->lines[index].stream, 0);
  lns_wire_pool_free (pool);
}

static void
test_a_dead_owners_chunk (void)
{
  LnsWirePool *pool = new_pool (4);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  LnsWireChunk chunks[4];
  uint8_t buffer[4096];
  lns_wire_pool_publish (pool, 2);
  int index = lns_wire_pool_claim (view, 9, 0, 1, 1);
  write_push (view, index, 1);
  /* Another died between taking a chunk and naming it. */
  index = lns_wire_pool_claim (view, 9, 1, 1, 1);
  view->lines[index].stream = 0;
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 1);
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, sizeof buffer), 16);
  LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[0], true, false), 0);
  LNS_CHECK_INT (usage_of (pool).n_none, 3);
  LNS_CHECK_INT (usage_of (pool).n_owned, 1);
  lns_wire_pool_free (pool);
}

static void
test_scan_sorts (void)
{
  LnsWirePool *pool = new_pool (8);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  lns_wire_pool_publish (pool, 8);
  static const struct
  {
    uint32_t stream;
    uint64_t sequence;
  } claims[] = { { 2, 1 }, { 1, 5 }, { 2, 0 }, { 1, 4 }, { 3, 0 } };
  for (size_t i = 0; i < 5; i++)
    lns_wire_pool_claim (view, claims[i].stream, claims[i].sequence, 1, 1);
  LnsWireChunk chunks[8];
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 8), 5);
  static const int expected[] = { 3, 1, 2, 0, 4 };
  for (size_t i = 0; i < 5; i++)
    LNS_CHECK_INT (chunks[i].index, expected[i]);
  /* With room for fewer the number is still that of all. */
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 2), 5);
  LNS_CHECK_INT (usage_of (pool).n_owned, 5);
  LNS_CHECK_INT (usage_of (pool).n_free, 3);
  lns_wire_pool_free (pool);
}

/* The target writes nonsense everywhere; the session reads nothing beyond a chunk's capacity. */
static void
test_a_hostile_target (void)
{
  LnsWirePool *pool = new_pool (4);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  LnsWireChunk chunks[4];
  uint8_t *buffer = malloc (view->capacity_bytes);
  lns_wire_pool_publish (pool, 1);
  int index = lns_wire_pool_claim (view, 1, 0, 1, 1);
  view->lines[index].committed = UINT32_MAX;
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 1);
  LNS_CHECK_INT (chunks[0].committed, view->capacity_bytes);
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, view->capacity_bytes),
                 view->capacity_bytes);
  /* Going back gives nothing again. */
  view->lines[index].committed = 16;
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, view->capacity_bytes), 0);
  view->lines[index].committed = 1000007;
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, view->capacity_bytes), 0);
  /* Chunks that were never lent are not looked at. */
  for (int i = 0; i < 4; i++)
    view->lines[i].state = LNS_WIRE_CHUNK_FULL;
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 1);
  view->lines[index].state = 77;
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 0);
  /* A target that lies about what is free only misleads itself. */
  view->header->limit = UINT32_MAX;
  view->header->claimed = 0;
  view->header->published = UINT64_MAX;
  view->header->hint = UINT32_MAX - 1;
  LNS_CHECK_INT (lns_wire_pool_claim (view, 1, 0, 1, 1), -EAGAIN);
  free (buffer);
  lns_wire_pool_free (pool);
}

/* Thousands of chunks are lent to each process, which uses a few: a scan that finds no new claim touches none of
 * the lines of the others. */
static void
test_scan_looks_at_what_is_used (void)
{
  LnsWirePool *pool = NULL;
  LnsWirePoolOptions options = { .serial = 1, .clock = LNS_WIRE_CLOCK_TSC };
  LNS_CHECK_INT (lns_wire_pool_new (&options, &pool), 0);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  LnsWireChunk chunks[4];
  uint8_t buffer[4096];
  LNS_CHECK_INT (lns_wire_pool_publish (pool, 4096), 4096);
  const int first = lns_wire_pool_claim (view, 1, 0, 1, 1);
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 1);

  uint8_t *unused = (uint8_t *)view->lines + 4096;
  const size_t n_unused_bytes = 4096 * sizeof *view->lines - 4096;
  LNS_CHECK_INT (mprotect (unused, n_unused_bytes, PROT_NONE), 0);
  write_push (view, first, 1);
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 1);
  LNS_CHECK_INT (chunks[0].committed, 16);
  LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[0], buffer, sizeof buffer), 16);
  LNS_CHECK_INT (mprotect (unused, n_unused_bytes, PROT_READ | PROT_WRITE), 0);

  /* Another claim is found wherever it is, though the first chunk has come back. */
  lns_wire_pool_give (&view->lines[first]);
  LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[0], false, true), 0);
  view->header->hint = 4000;
  LNS_CHECK_INT (lns_wire_pool_claim (view, 1, 1, 1, 1), 4000);
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 1);
  LNS_CHECK_INT (chunks[0].index, 4000);
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 1);

  /* One that is hidden by a wrong count is found when its process is gone. */
  LNS_CHECK_INT (lns_wire_pool_claim (view, 2, 0, 1, 1), 4001);
  view->header->claimed--;
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 1);
  lns_wire_pool_set_over (pool);
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 4), 2);
  lns_wire_pool_free (pool);
}

static void
test_losses_and_flags (void)
{
  LnsWirePool *pool = new_pool (2);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  for (uint32_t stream = 0; stream < 200; stream++)
    {
      lns_wire_pool_count_lost (view, stream, LNS_WIRE_LOSS_PUSH, 1, 16);
      lns_wire_pool_count_lost (view, stream, LNS_WIRE_LOSS_OTHER, 2, 100);
    }
  LnsWireLosses losses;
  lns_wire_pool_losses (pool, &losses);
  LNS_CHECK_INT (losses.events[LNS_WIRE_LOSS_PUSH], 200);
  LNS_CHECK_INT (losses.events[LNS_WIRE_LOSS_OTHER], 400);
  LNS_CHECK_INT (losses.events[LNS_WIRE_LOSS_POP], 0);
  LNS_CHECK_INT (losses.n_bytes, 200 * 116);
  LNS_CHECK_INT (view->header->recording, 1);
  lns_wire_pool_set_recording (pool, false);
  LNS_CHECK_INT (view->header->recording, 0);
  view->header->recording = LNS_WIRE_RECORDING_RANGE;
  lns_wire_pool_let_record (pool, true);
  LNS_CHECK_INT (view->header->recording, LNS_WIRE_RECORDING_ASKED | LNS_WIRE_RECORDING_RANGE);
  lns_wire_pool_let_record (pool, false);
  LNS_CHECK_INT (view->header->recording, LNS_WIRE_RECORDING_RANGE);
  view->header->options.range_kind = LNS_WIRE_RANGE_NVTX;
  lns_wire_pool_let_record (pool, true);
  LNS_CHECK_INT (view->header->recording, LNS_WIRE_RECORDING_OTHER | LNS_WIRE_RECORDING_RANGE);
  lns_wire_pool_let_record (pool, false);
  LNS_CHECK_INT (view->header->recording, LNS_WIRE_RECORDING_RANGE);
  lns_wire_pool_set_recording (pool, false);
  LNS_CHECK_INT (view->header->recording, 0);
  LNS_CHECK_INT (lns_wire_pool_n_range_edges (pool), 0);
  view->header->ranges_told = LNS_WIRE_RANGES_TOLD (0, 3, false);
  LNS_CHECK_INT (lns_wire_pool_n_range_edges (pool), 5);
  view->header->ranges_told = LNS_WIRE_RANGES_TOLD (0, 3, true);
  LNS_CHECK_INT (lns_wire_pool_n_range_edges (pool), 6);
  lns_wire_pool_set_range (pool, &(LnsWireOptions){ .range_kind = LNS_WIRE_RANGE_NVTX });
  LNS_CHECK_INT (lns_wire_pool_n_range_edges (pool), 0); /* another range is looked for */
  lns_wire_pool_free (pool);
}

/* Eight threads take, fill and give chunks while this one drains; every record comes once and in
 * order, and what found no chunk is counted. */

enum
{
  N_WRITERS = 8,
  N_RECORDS = 200000
};

typedef struct
{
  const LnsWirePoolView *view;
  uint32_t stream;
  uint64_t n_lost;
} Writer;

static void *
run_writer (void *argument)
{
  Writer *writer = argument;
  const LnsWirePoolView *view = writer->view;
  uint64_t sequence = 0;
  int index = -1;
  for (uint32_t i = 1; i <= N_RECORDS; i++)
    {
      if (index >= 0 && view->lines[index].committed + sizeof (LnsWireHead) > view->capacity_bytes)
        {
          lns_wire_pool_give (&view->lines[index]);
          index = -1;
        }
      if (index < 0)
        index = lns_wire_pool_claim (view, writer->stream, sequence, 1, writer->stream);
      if (index < 0)
        {
          writer->n_lost++;
          lns_wire_pool_count_lost (view, writer->stream, LNS_WIRE_LOSS_PUSH, 1, 16);
          continue;
        }
      if (view->lines[index].committed == 0)
        sequence++;
      write_push (view, index, i);
    }
  if (index >= 0)
    lns_wire_pool_give (&view->lines[index]);
  return NULL;
}

/* Reads all there is into the counters; returns how many chunks were busy. */
static size_t
drain (LnsWirePool *pool, uint64_t *n_read, uint32_t *last, uint64_t *next_sequence)
{
  LnsWireChunk chunks[64];
  uint8_t buffer[4096];
  size_t n = lns_wire_pool_scan (pool, chunks, 64);
  for (size_t i = 0; i < n; i++)
    {
      uint32_t stream = chunks[i].stream;
      if (chunks[i].sequence != next_sequence[stream])
        continue; /* an earlier one was missed: it is there at the next scan */
      size_t n_bytes, at = 0;
      LnsWireRecord record;
      n_bytes = lns_wire_pool_read (pool, &chunks[i], buffer, sizeof buffer);
      while (lns_wire_record_next (buffer, n_bytes, &at, &record) > 0)
        {
          LNS_CHECK (record.event.string > last[stream]);
          last[stream] = record.event.string;
          n_read[stream]++;
        }
      if (lns_wire_pool_reclaim (pool, &chunks[i], false, true) == 0)
        next_sequence[stream]++;
    }
  return n;
}

static void
test_threads (void)
{
  LnsWirePool *pool = new_pool (24);
  lns_wire_pool_publish (pool, 24);
  pthread_t threads[N_WRITERS];
  Writer writers[N_WRITERS];
  uint64_t n_read[N_WRITERS + 1] = { 0 }, next_sequence[N_WRITERS + 1] = { 0 };
  uint32_t last[N_WRITERS + 1] = { 0 };
  for (uint32_t i = 0; i < N_WRITERS; i++)
    {
      writers[i] = (Writer){ .view = lns_wire_pool_view (pool), .stream = i + 1 };
      pthread_create (&threads[i], NULL, run_writer, &writers[i]);
    }
  for (uint32_t i = 0; i < N_WRITERS;)
    {
      drain (pool, n_read, last, next_sequence);
      if (pthread_tryjoin_np (threads[i], NULL) == 0)
        i++;
    }
  while (drain (pool, n_read, last, next_sequence) > 0)
    ;
  uint64_t n_lost = 0;
  for (uint32_t i = 0; i < N_WRITERS; i++)
    {
      LNS_CHECK_INT (n_read[i + 1] + writers[i].n_lost, N_RECORDS);
      n_lost += writers[i].n_lost;
    }
  LnsWireLosses losses;
  lns_wire_pool_losses (pool, &losses);
  LNS_CHECK_INT (losses.events[LNS_WIRE_LOSS_PUSH], n_lost);
  LNS_CHECK_INT (lns_wire_pool_n_free (lns_wire_pool_view (pool)), 24);
  lns_wire_pool_free (pool);
}

/* Lines and records of two threads never share a cache line nor the pair that is fetched with it. */
static void
test_threads_write_apart (void)
{
  LnsWirePool *pool = new_pool (4);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  for (uint32_t i = 0; i + 1 < view->n_chunks; i++)
    {
      uintptr_t line = (uintptr_t)&view->lines[i], next_line = (uintptr_t)&view->lines[i + 1];
      LNS_CHECK (next_line - line >= 128);
      LNS_CHECK_INT (line % 128, 0);
      uintptr_t last_record =
          (uintptr_t)lns_wire_pool_chunk (view, i) + view->capacity_bytes - sizeof (LnsWireHead);
      uintptr_t next_chunk = (uintptr_t)lns_wire_pool_chunk (view, i + 1);
      LNS_CHECK (next_chunk - last_record >= 128 + sizeof (LnsWireHead));
      LNS_CHECK_INT (next_chunk % 128, 0);
    }
  LNS_CHECK (offsetof (LnsWirePoolHeader, claimed) - offsetof (LnsWirePoolHeader, recording) >=
             128);
  LNS_CHECK (sizeof (LnsWireLossShard) >= 128);
  lns_wire_pool_free (pool);
}

int
main (void)
{
  LNS_TEST (test_layout);
  LNS_TEST (test_default_sizes);
  LNS_TEST (test_options_out_of_range);
  LNS_TEST (test_map_refuses);
  LNS_TEST (test_a_chunks_life);
  LNS_TEST (test_a_dead_owners_chunk);
  LNS_TEST (test_scan_sorts);
  LNS_TEST (test_a_hostile_target);
  LNS_TEST (test_scan_looks_at_what_is_used);
  LNS_TEST (test_losses_and_flags);
  LNS_TEST (test_threads);
  LNS_TEST (test_threads_write_apart);
  return lns_tap_done ();
}

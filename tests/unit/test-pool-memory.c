/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests how much memory a pool uses: what it lends up to a limit, and what it returns to the
 * system. */

#include "capture/wire/pool-session.h"
#include "tests/tap.h"
#include "tests/unit/pool-fixture.h"

#include <errno.h>
#include <sys/stat.h>

static LnsWirePool *
new_pool_of_64k_chunks (void)
{
  LnsWirePoolOptions options = {
    .serial = 1, .clock = LNS_WIRE_CLOCK_MONOTONIC, .chunk_bytes = 65536, .n_chunks = 64
  };
  LnsWirePool *pool;
  LNS_CHECK_INT (lns_wire_pool_new (&options, &pool), 0);
  return pool;
}

static void
test_top_up_counts_touched_pages (void)
{
  LnsWirePool *pool = new_pool_of_64k_chunks ();
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  LnsWireChunk chunks[64];
  /* Half a megabyte is eight whole chunks, or 32 cold ones. */
  LNS_CHECK_INT (lns_wire_pool_top_up (pool, 512 << 10, 100), 32);
  LNS_CHECK_INT (lns_wire_pool_top_up (pool, 512 << 10, 100), 0);
  LNS_CHECK_INT (usage_of (pool).n_free, 32);
  /* Of eight that are owned with a page each, 96 KiB are free again. */
  for (uint64_t i = 0; i < 8; i++)
    write_push (view, lns_wire_pool_claim (view, 1, i, 1, 1), 1);
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 64), 8);
  LNS_CHECK_INT (usage_of (pool).touched_bytes, 8 * 4096);
  LNS_CHECK_INT (lns_wire_pool_top_up (pool, 512 << 10, 6), 0);
  LNS_CHECK_INT (lns_wire_pool_top_up (pool, 512 << 10, 100), 6);
  /* With less room, cold ones are withdrawn. */
  LNS_CHECK_INT (lns_wire_pool_top_up (pool, 160 << 10, 100), 0);
  LNS_CHECK_INT (lns_wire_pool_n_free (view), 8);
  LNS_CHECK_INT (usage_of (pool).n_free, 8);
  LNS_CHECK_INT (lns_wire_pool_top_up (pool, 512 << 10, 3), 4);
  lns_wire_pool_free (pool);
}

/* Fills N chunks to the last page, as stream 1 from SEQUENCE on, and gives them. */
static void
fill_chunks (const LnsWirePoolView *view, uint64_t sequence, int n)
{
  for (int i = 0; i < n; i++)
    {
      int index = lns_wire_pool_claim (view, 1, sequence + (uint64_t)i, 1, 1);
      LNS_CHECK (index >= 0);
      while (view->lines[index].committed + sizeof (LnsWireHead) <= view->capacity_bytes)
        write_push (view, index, 1);
      lns_wire_pool_give (&view->lines[index]);
    }
}

static void
drain_all (LnsWirePool *pool, bool lend)
{
  static uint8_t buffer[65536];
  LnsWireChunk chunks[64];
  size_t n = lns_wire_pool_scan (pool, chunks, 64);
  for (size_t i = 0; i < n; i++)
    {
      if (!chunks[i].full)
        continue;
      LNS_CHECK (lns_wire_pool_read (pool, &chunks[i], buffer, sizeof buffer) > 0);
      LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[i], false, lend), 0);
    }
}

/* A target that fills all the cold chunks that it was lent is brought back to the cap. */
static void
test_top_up_keeps_to_the_cap (void)
{
  LnsWirePool *pool = new_pool_of_64k_chunks ();
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  lns_wire_pool_top_up (pool, 512 << 10, 100);
  fill_chunks (view, 0, 32);
  drain_all (pool, true);
  LNS_CHECK_INT (usage_of (pool).n_free, 32);
  LNS_CHECK_INT (usage_of (pool).touched_bytes, 32 * 65536);
  LNS_CHECK_INT (lns_wire_pool_top_up (pool, 512 << 10, 100), 0);
  LNS_CHECK_INT (usage_of (pool).n_free, 8);
  LNS_CHECK_INT (usage_of (pool).touched_bytes, 512 << 10);
  /* From then on it is eight warm chunks, the lowest, and the memory stays as it is. */
  for (uint64_t round = 0; round < 10; round++)
    {
      fill_chunks (view, 32 + 8 * round, 8);
      LNS_CHECK_INT (lns_wire_pool_claim (view, 2, 0, 1, 1), -EAGAIN);
      drain_all (pool, false);
      LNS_CHECK_INT (lns_wire_pool_top_up (pool, 512 << 10, 100), 8);
      LNS_CHECK_INT (usage_of (pool).touched_bytes, 512 << 10);
    }
  lns_wire_pool_free (pool);
}

/* One that writes slowly uses the same chunk again and again. */
static void
test_low_chunks_are_used_first (void)
{
  LnsWirePool *pool = new_pool_of_64k_chunks ();
  lns_wire_pool_publish (pool, 64);
  for (uint64_t round = 0; round < 10; round++)
    {
      fill_chunks (lns_wire_pool_view (pool), 2 * round, 2);
      drain_all (pool, true);
    }
  LNS_CHECK_INT (usage_of (pool).touched_bytes, 2 * 65536);
  lns_wire_pool_free (pool);
}

static uint64_t
memory_of (const LnsWirePool *pool)
{
  struct stat file;
  fstat (lns_wire_pool_fd (pool), &file);
  return (uint64_t)file.st_blocks * 512;
}

static void
test_punch_gives_memory_back (void)
{
  LnsWirePool *pool = new_pool (8);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  LnsWireChunk chunks[8];
  uint8_t buffer[4096];
  lns_wire_pool_publish (pool, 8);
  for (uint64_t i = 0; i < 8; i++)
    {
      int index = lns_wire_pool_claim (view, 1, i, 1, 1);
      write_push (view, index, 1);
      lns_wire_pool_give (&view->lines[index]);
    }
  LNS_CHECK_INT (lns_wire_pool_scan (pool, chunks, 8), 8);
  LNS_CHECK_INT (usage_of (pool).touched_bytes, 8 * 4096);
  uint64_t before = memory_of (pool);
  LNS_CHECK_INT (lns_wire_pool_punch (pool, 0, 0), 0); /* all hold unread records */
  for (int i = 0; i < 8; i++)
    {
      LNS_CHECK_INT (lns_wire_pool_read (pool, &chunks[i], buffer, sizeof buffer), 16);
      LNS_CHECK_INT (lns_wire_pool_reclaim (pool, &chunks[i], false, i == 0), 0);
    }
  LNS_CHECK_INT (lns_wire_pool_punch (pool, 3 * 4096, 3 * 4096), 5 * 4096);
  LNS_CHECK_INT (before - memory_of (pool), 5 * 4096);
  LNS_CHECK_INT (usage_of (pool).touched_bytes, 3 * 4096);
  /* Those that still hold memory are lent first. */
  LNS_CHECK_INT (lns_wire_pool_publish (pool, 2), 2);
  LNS_CHECK_INT (usage_of (pool).n_free, 3);
  for (uint64_t i = 0; i < 3; i++)
    LNS_CHECK_INT (lns_wire_pool_claim (view, 2, i, 1, 1), i);
  /* A free one gives its memory too, and stays free. */
  lns_wire_pool_publish (pool, 1);
  write_push (view, lns_wire_pool_claim (view, 3, 0, 1, 1), 1);
  lns_wire_pool_give (&view->lines[3]);
  drain_all (pool, true);
  LNS_CHECK_INT (lns_wire_pool_punch (pool, 3 * 4096, 3 * 4096), 4096);
  LNS_CHECK_INT (usage_of (pool).n_free, 1);
  LNS_CHECK_INT (lns_wire_pool_n_free (view), 1);
  lns_wire_pool_free (pool);
}

int
main (void)
{
  LNS_TEST (test_top_up_counts_touched_pages);
  LNS_TEST (test_top_up_keeps_to_the_cap);
  LNS_TEST (test_low_chunks_are_used_first);
  LNS_TEST (test_punch_gives_memory_back);
  return lns_tap_done ();
}

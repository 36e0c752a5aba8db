/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the buffers of a pool that CUPTI fills: their way from the recorded process to the
 * session. */

#include "capture/wire/pool-session.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1u << 20)

static LnsWirePool *
new_pool (const LnsWireOptions *target, uint32_t n_buffers)
{
  LnsWirePoolOptions options = { .serial = 1,
                                 .clock = LNS_WIRE_CLOCK_MONOTONIC,
                                 .n_chunks = 16,
                                 .n_buffers = n_buffers,
                                 .target = target };
  LnsWirePool *pool = NULL;
  LNS_CHECK_INT (lns_wire_pool_new (&options, &pool), 0);
  return pool;
}

static void
test_options (void)
{
  LnsWireOptions asked = { .traces = LNS_WIRE_TRACE_CUDA, .flush_ms = 500, .range_kind = 2 };
  strcpy (asked.range_message, "epoch");
  LnsWirePool *pool = new_pool (&asked, 0);
  LNS_CHECK (memcmp (&lns_wire_pool_view (pool)->header->options, &asked, sizeof asked) == 0);
  LNS_CHECK_INT (lns_wire_pool_claim_buffer (lns_wire_pool_view (pool)), -EAGAIN);
  LNS_CHECK_INT (lns_wire_pool_buffer_index (lns_wire_pool_view (pool), &asked), -ENOENT);
  LNS_CHECK (!lns_wire_pool_listens (pool));
  lns_wire_pool_view (pool)->header->listens = 1;
  LNS_CHECK (lns_wire_pool_listens (pool));
  /* Another range, and nothing else, in place of that. */
  LnsWireOptions other = asked;
  other.range_kind = LNS_WIRE_RANGE_PROFILER_API;
  other.range_end = LNS_WIRE_RANGE_END_REPEAT;
  other.n_ranges = 3;
  memset (other.range_message, 0, sizeof other.range_message);
  LnsWireOptions noise = other;
  noise.traces = noise.flush_ms = 77;
  lns_wire_pool_set_range (pool, &noise);
  other.range_serial = 1;
  LNS_CHECK (memcmp (&lns_wire_pool_view (pool)->header->options, &other, sizeof other) == 0);
  lns_wire_pool_free (pool);

  pool = new_pool (NULL, 0);
  LNS_CHECK_INT (lns_wire_pool_view (pool)->header->options.traces, LNS_WIRE_TRACE_NVTX);
  lns_wire_pool_free (pool);

  LnsWirePoolOptions too_many = { .serial = 1, .n_buffers = LNS_WIRE_BUFFERS_MAX + 1 };
  LNS_CHECK_INT (lns_wire_pool_new (&too_many, &pool), -EINVAL);
}

/* A buffer goes to CUPTI and back, zeroed each time. */
static void
test_life (void)
{
  LnsWirePool *pool = new_pool (NULL, 8);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  LNS_CHECK_INT (lns_wire_pool_claim_buffer (view), -EAGAIN);
  lns_wire_pool_top_up (pool, 64 * MIB, 4);
  int first = lns_wire_pool_claim_buffer (view), second = lns_wire_pool_claim_buffer (view);
  LNS_CHECK (first >= 0 && second >= 0 && first != second);
  uint8_t *bytes = lns_wire_pool_buffer (view, (uint32_t)first);
  LNS_CHECK_INT (lns_wire_pool_buffer_index (view, bytes), first);
  LNS_CHECK_INT (lns_wire_pool_buffer_index (view, bytes + 1), -ENOENT);
  LNS_CHECK_INT ((uintptr_t)bytes % 4096, 0);
  memset (bytes, 7, 1000);
  lns_wire_pool_complete_buffer (view, (uint32_t)first, 1000);
  lns_wire_pool_free_buffer (view, (uint32_t)first);
  LNS_CHECK_INT (lns_wire_pool_claim_buffer (view), first);
  for (int i = 0; i < 1000; i++)
    if (bytes[i] != 0)
      LNS_CHECK_INT (i, -1);

  LnsWirePoolUsage usage;
  lns_wire_pool_top_up (pool, 64 * MIB, 4);
  lns_wire_pool_usage (pool, &usage);
  LNS_CHECK_INT (usage.n_buffers, 8); /* all there are */
  LNS_CHECK_INT (usage.touched_bytes, 2 * LNS_WIRE_BUFFER_BYTES);
  lns_wire_pool_free (pool);
}

/* The cap holds, and memory of buffers that nobody uses goes back. */
static void
test_cap (void)
{
  LnsWirePool *pool = new_pool (NULL, 64);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  int taken[64], n = 0;
  for (int round = 0; round < 64; round++)
    {
      lns_wire_pool_top_up (pool, 20 * LNS_WIRE_BUFFER_BYTES, 4);
      int index = lns_wire_pool_claim_buffer (view);
      if (index < 0)
        break;
      lns_wire_pool_buffer (view, (uint32_t)index)[0] = 1;
      taken[n++] = index;
    }
  LNS_CHECK (n >= 9 && n <= 10);
  for (int i = 0; i < n; i++)
    {
      lns_wire_pool_complete_buffer (view, (uint32_t)taken[i], 8);
      lns_wire_pool_free_buffer (view, (uint32_t)taken[i]);
    }
  LNS_CHECK_INT (lns_wire_pool_punch (pool, 2 * LNS_WIRE_BUFFER_BYTES, 2 * LNS_WIRE_BUFFER_BYTES),
                 (unsigned)(n - 2) * LNS_WIRE_BUFFER_BYTES);
  LnsWirePoolUsage usage;
  lns_wire_pool_usage (pool, &usage);
  LNS_CHECK_INT (usage.touched_bytes, 2 * LNS_WIRE_BUFFER_BYTES);
  lns_wire_pool_free (pool);
}

/* The session knows since when records may be missing: since the oldest buffer was claimed that holds some. */
static void
test_oldest_claim (void)
{
  LnsWirePool *pool = new_pool (NULL, 4);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  lns_wire_pool_top_up (pool, 64 * MIB, 4);
  LNS_CHECK_INT (lns_wire_pool_oldest_claim (pool), 0);
  const uint64_t before = lns_wire_clock_ticks (LNS_WIRE_CLOCK_MONOTONIC);
  const uint32_t first = (uint32_t)lns_wire_pool_claim_buffer (view);
  const uint64_t between = lns_wire_clock_ticks (LNS_WIRE_CLOCK_MONOTONIC);
  const uint32_t second = (uint32_t)lns_wire_pool_claim_buffer (view);
  LNS_CHECK_INT (lns_wire_pool_oldest_claim (pool), 0); /* both are empty */
  lns_wire_pool_buffer (view, second)[0] = 5;
  LNS_CHECK (lns_wire_pool_oldest_claim (pool) >= between);
  lns_wire_pool_buffer (view, first)[0] = 5;
  const uint64_t oldest = lns_wire_pool_oldest_claim (pool);
  LNS_CHECK (oldest >= before && oldest <= between);
  lns_wire_pool_complete_buffer (view, first, 8);
  LNS_CHECK (lns_wire_pool_oldest_claim (pool) == oldest); /* not compacted yet */
  lns_wire_pool_free_buffer (view, first);
  LNS_CHECK (lns_wire_pool_oldest_claim (pool) >= between);
  lns_wire_pool_complete_buffer (view, second, 8);
  lns_wire_pool_free_buffer (view, second);
  LNS_CHECK_INT (lns_wire_pool_oldest_claim (pool), 0);
  lns_wire_pool_free (pool);
}

/* What a killed process leaves. */
static void
test_salvage (void)
{
  LnsWirePool *pool = new_pool (NULL, 4);
  const LnsWirePoolView *view = lns_wire_pool_view (pool);
  lns_wire_pool_top_up (pool, 64 * MIB, 4);
  uint32_t lent = (uint32_t)lns_wire_pool_claim_buffer (view);
  uint32_t complete = (uint32_t)lns_wire_pool_claim_buffer (view);
  memset (lns_wire_pool_buffer (view, lent), 5, 64);
  memset (lns_wire_pool_buffer (view, complete), 6, 96);
  lns_wire_pool_complete_buffer (view, complete, 96);
  view->buffer_lines[complete].compacted = 32;
  uint8_t *bytes = calloc (1, LNS_WIRE_BUFFER_BYTES);
  LNS_CHECK_INT (lns_wire_pool_salvage (pool, lent, bytes), LNS_WIRE_BUFFER_BYTES);
  LNS_CHECK (bytes[0] == 5 && bytes[63] == 5 && bytes[64] == 0);
  LNS_CHECK_INT (lns_wire_pool_salvage (pool, complete, bytes), 64);
  LNS_CHECK (bytes[0] == 6 && bytes[63] == 6);
  for (uint32_t i = 0; i < 5; i++)
    LNS_CHECK_INT (lns_wire_pool_salvage (pool, i, bytes), 0);
  /* A target that lies about a length does not lead out of its buffer. */
  lns_wire_pool_top_up (pool, 64 * MIB, 4);
  uint32_t liar = (uint32_t)lns_wire_pool_claim_buffer (view);
  lns_wire_pool_complete_buffer (view, liar, UINT32_MAX);
  LNS_CHECK_INT (lns_wire_pool_salvage (pool, liar, bytes), LNS_WIRE_BUFFER_BYTES);
  free (bytes);
  lns_wire_pool_free (pool);
}

int
main (void)
{
  LNS_TEST (test_options);
  LNS_TEST (test_life);
  LNS_TEST (test_cap);
  LNS_TEST (test_oldest_claim);
  LNS_TEST (test_salvage);
  return lns_tap_done ();
}

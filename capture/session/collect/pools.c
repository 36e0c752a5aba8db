/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/pools.h"

#include <string.h>

#include "capture/session/system/memory-limit.h"

/* The chunks that a process gets with its pool if they hold memory; four times as many if they hold none yet. */
#define FIRST_CHUNKS 128

/* The same for a pool that is kept ready for the child of a fork. Touching a page of lines takes longer than all
 * events of most children. */
#define READY_CHUNKS 32

/* The smallest pool that is of use. */
#define MIN_CHUNKS 64

/* How long another child of a fork is expected after one has joined. */
#define EXPECT_NS INT64_C (1000000000)

static LnsWirePoolOptions
usual_size (const LnsAsked *asked)
{
  const bool has_cuda = asked->target.traces & LNS_WIRE_TRACE_CUDA;
  return (LnsWirePoolOptions){ .n_chunks = LNS_WIRE_CHUNKS_DEFAULT,
                               .n_buffers = has_cuda ? LNS_WIRE_BUFFERS_DEFAULT : 0 };
}

/* Makes OPTIONS, which have the usual size, as small as a pool for PID must be: it is mapped whole, though
 * little of it is used. Where there is little room, buffers for CUPTI get a quarter of it. Returns whether
 * that changed them. */
static bool
limit_size (LnsWirePoolOptions *options, int32_t pid)
{
  const uint64_t limit_bytes = lns_memory_mapping_limit (pid);
  const uint64_t most_bytes =
      (uint64_t)options->n_chunks * (LNS_WIRE_CHUNK_BYTES_DEFAULT + sizeof (LnsWireLine)) +
      (uint64_t)options->n_buffers * (LNS_WIRE_BUFFER_BYTES + sizeof (LnsWireBufferLine));
  if (limit_bytes >= most_bytes + LNS_WIRE_BUFFER_BYTES)
    return false;
  if (limit_bytes / 4 / LNS_WIRE_BUFFER_BYTES < options->n_buffers)
    options->n_buffers = (uint32_t)(limit_bytes / 4 / LNS_WIRE_BUFFER_BYTES);
  const uint64_t n = (limit_bytes - (uint64_t)options->n_buffers * LNS_WIRE_BUFFER_BYTES) /
                     (LNS_WIRE_CHUNK_BYTES_DEFAULT + sizeof (LnsWireLine));
  if (n < LNS_WIRE_CHUNKS_DEFAULT)
    options->n_chunks = n > MIN_CHUNKS + 32 ? (uint32_t)n - 32 : MIN_CHUNKS; /* 2 MiB for lines */
  return true;
}

/* Lends up to N_MOST of the chunks that a process has before the first drain. The least is enough for 10 ms
 * of a busy thread; the rest of its share comes with drains (lns_peer_lend ()). */
static void
lend_first (const LnsPools *pools, size_t n_peers, LnsWirePool *pool, uint32_t n_most)
{
  uint64_t share = pools->session_bytes / (n_peers + 1);
  if (share > pools->process_bytes)
    share = pools->process_bytes;
  const uint64_t n = share / LNS_WIRE_CHUNK_BYTES_DEFAULT;
  lns_wire_pool_top_up (pool, share, n < n_most ? (uint32_t)n : n_most);
}

/* Makes a pool of the size in OPTIONS. */
static int
make_pool (LnsPools *pools,
           const LnsAsked *asked,
           LnsWirePoolOptions *options,
           LnsNewPool *ret_pool)
{
  *ret_pool = (LnsNewPool){ .serial = ++pools->n_serials, .asked = *asked };
  options->serial = ret_pool->serial;
  options->clock = pools->clock;
  options->recording = asked->recording;
  options->target = &asked->target;
  return lns_wire_pool_new (options, &ret_pool->pool);
}

void
lns_new_pool_tell (LnsNewPool *pool, const LnsAsked *asked)
{
  if (memcmp (&asked->target, &pool->asked.target, sizeof asked->target) != 0)
    lns_wire_pool_set_range (pool->pool, &asked->target);
  if (asked->recording != pool->asked.recording)
    lns_wire_pool_let_record (pool->pool, asked->recording);
  pool->asked = *asked;
}

int
lns_pools_take (LnsPools *pools,
                const LnsAsked *asked,
                size_t n_peers,
                int32_t pid,
                bool forked,
                LnsNewPool *ret_pool)
{
  LnsWirePoolOptions options = usual_size (asked);
  int failed = 0;
  if (!limit_size (&options, pid) && pools->n_ready > 0)
    {
      *ret_pool = pools->ready[--pools->n_ready];
      lns_new_pool_tell (ret_pool, asked);
    }
  else
    {
      failed = make_pool (pools, asked, &options, ret_pool);
    }
  if (failed == 0)
    lend_first (pools, n_peers, ret_pool->pool, forked ? READY_CHUNKS : FIRST_CHUNKS);
  return failed;
}

void
lns_pools_expect_forks (LnsPools *pools, int64_t now_ns)
{
  pools->expects_forks = true;
  pools->forked_ns = now_ns;
}

bool
lns_pools_want_more (const LnsPools *pools)
{
  return pools->expects_forks && pools->n_ready < LNS_POOLS_READY;
}

void
lns_pools_make_ready (LnsPools *pools, const LnsAsked *asked, size_t n_peers)
{
  LnsWirePoolOptions options = usual_size (asked);
  LnsNewPool *ready = &pools->ready[pools->n_ready];
  /* Processes that run already come first if descriptors or address space are short. */
  if (limit_size (&options, 0) || make_pool (pools, asked, &options, ready) != 0)
    {
      pools->expects_forks = false;
      return;
    }
  if (lns_wire_pool_fd (ready->pool) > pools->last_fd / 2)
    {
      lns_wire_pool_free (ready->pool);
      pools->expects_forks = false;
      return;
    }
  lend_first (pools, n_peers, ready->pool, READY_CHUNKS);
  pools->n_ready++;
}

bool
lns_pools_drop_ready (LnsPools *pools)
{
  const bool had_some = pools->n_ready > 0;
  while (pools->n_ready > 0)
    lns_wire_pool_free (pools->ready[--pools->n_ready].pool);
  pools->expects_forks = false;
  return had_some;
}

void
lns_pools_tidy (LnsPools *pools, int64_t now_ns)
{
  if (now_ns - pools->forked_ns > EXPECT_NS)
    lns_pools_drop_ready (pools);
}

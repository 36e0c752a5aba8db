/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Pools for processes to come. A program may fork hundreds of children that each live for some milliseconds:
 * each of them waits at its first event until it has a pool. */

#include "capture/session/collect/collector-private.h"

#include <string.h>

#include "capture/session/system/memory-limit.h"

/* What a process gets with its pool, in chunks that hold memory; four times as many that hold none yet. */
#define FIRST_CHUNKS 128

/* What is in a pool that waits for a fork's child: each page of lines takes longer to touch than most
 * children take for all their events. */
#define SPARE_CHUNKS 32

/* The smallest pool that is of use. */
#define MIN_CHUNKS 64

static LnsWirePoolOptions
usual_size (const LnsCollector *collector)
{
  const bool has_cuda = collector->options.target.traces & LNS_WIRE_TRACE_CUDA;
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
lend_first (LnsCollector *collector, LnsWirePool *pool, uint32_t n_most)
{
  uint64_t share = collector->options.session_bytes / (collector->n_peers + 1);
  if (share > collector->options.process_bytes)
    share = collector->options.process_bytes;
  const uint64_t n = share / LNS_WIRE_CHUNK_BYTES_DEFAULT;
  lns_wire_pool_top_up (pool, share, n < n_most ? (uint32_t)n : n_most);
}

/* Makes a pool of the size that OPTIONS has, for what is asked of processes now. */
static int
make_pool (LnsCollector *collector, LnsWirePoolOptions *options, LnsSparePool *ret_pool)
{
  pthread_mutex_lock (&collector->lock);
  *ret_pool = (LnsSparePool){ .serial = ++collector->n_serials,
                              .recording = collector->is_recording,
                              .target = collector->options.target };
  pthread_mutex_unlock (&collector->lock);
  options->serial = ret_pool->serial;
  options->clock = collector->options.clock;
  options->recording = ret_pool->recording;
  options->target = &ret_pool->target;
  return lns_wire_pool_new (options, &ret_pool->pool);
}

void
_lns_collector_tell_pool (const LnsCollector *collector, LnsSparePool *pool)
{
  if (memcmp (&collector->options.target, &pool->target, sizeof pool->target) != 0)
    lns_wire_pool_set_range (pool->pool, &collector->options.target);
  if (collector->is_recording != pool->recording)
    lns_wire_pool_let_record (pool->pool, collector->is_recording);
  pool->target = collector->options.target;
  pool->recording = collector->is_recording;
}

int
_lns_collector_take_pool (LnsCollector *collector, int32_t pid, bool forked, LnsSparePool *ret_pool)
{
  LnsWirePoolOptions options = usual_size (collector);
  int failed = 0;
  if (!limit_size (&options, pid) && collector->n_spares > 0)
    {
      *ret_pool = collector->spares[--collector->n_spares];
      pthread_mutex_lock (&collector->lock);
      _lns_collector_tell_pool (collector, ret_pool);
      pthread_mutex_unlock (&collector->lock);
    }
  else
    {
      failed = make_pool (collector, &options, ret_pool);
    }
  if (failed == 0)
    lend_first (collector, ret_pool->pool, forked ? SPARE_CHUNKS : FIRST_CHUNKS);
  return failed;
}

bool
_lns_collector_wants_spare (const LnsCollector *collector)
{
  return collector->wants_spares && collector->n_spares < LNS_SPARES;
}

void
_lns_collector_make_spare (LnsCollector *collector)
{
  LnsWirePoolOptions options = usual_size (collector);
  LnsSparePool *spare = &collector->spares[collector->n_spares];
  /* Descriptors and address space are rather for processes that are there. */
  if (limit_size (&options, 0) || make_pool (collector, &options, spare) != 0)
    {
      collector->wants_spares = false;
      return;
    }
  if (lns_wire_pool_fd (spare->pool) > collector->last_fd / 2)
    {
      lns_wire_pool_free (spare->pool);
      collector->wants_spares = false;
      return;
    }
  lend_first (collector, spare->pool, SPARE_CHUNKS);
  collector->n_spares++;
}

bool
_lns_collector_drop_spares (LnsCollector *collector)
{
  const bool had_some = collector->n_spares > 0;
  while (collector->n_spares > 0)
    lns_wire_pool_free (collector->spares[--collector->n_spares].pool);
  collector->wants_spares = false;
  return had_some;
}

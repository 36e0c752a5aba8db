/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/pool-session.h"
#include "capture/wire/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

/* The number of free buffers that are kept lent. CUPTI takes one for each thread that calls CUDA, several of them
 * between two visits to the pool. */
#define FREE_BUFFERS 64u

/* The part of its size that a free, unused buffer counts: it holds no memory, but may hold some by the next visit. */
#define COLD_BUFFER_SHARE 16u

/* What the session knows about a chunk. The target cannot change it. */
typedef struct
{
  uint32_t generation;
  uint32_t drained;
  uint32_t touched; /* bytes that hold memory: whole pages */
  uint8_t state;    /* LnsWireChunkState as last set or seen */
  bool is_named;    /* its stream is known, and it is counted in LnsWirePool.n_named */
} LnsWireChunkRecord;

/* The same for a buffer. */
typedef struct
{
  bool lent;    /* not NONE */
  bool touched; /* was in use since its memory was last given back */
} LnsWireBufferRecord;

struct LnsWirePool
{
  int fd;
  LnsWirePoolView view;
  LnsWireChunkRecord *chunks; /* n_records, of which those from LIMIT on are zero */
  uint32_t n_records;
  LnsWireBufferRecord *buffers; /* null where there are none */
  uint64_t touched_bytes;       /* of the chunks */
  uint64_t weight_bytes;        /* of all chunks, as weight() has it */
  uint64_t free_weight_bytes;   /* of those that are free */
  uint64_t published;
  uint64_t n_named; /* how many claims of chunks were seen */
  uint32_t limit;
  uint32_t used_end; /* from here on, no chunk was owned or full at the last scan */
  uint32_t n_warm;   /* chunks that are not lent and hold memory */
  uint32_t n[4];     /* by state, as of the last scan and the changes since */
  bool is_over;      /* no process can write to the pool any more */
};

static uint64_t
align_up (uint64_t value, uint64_t alignment)
{
  return (value + alignment - 1) / alignment * alignment;
}

/* The reason for which a process records that the session allows to. */
static uint32_t
reason_to_record (const LnsWireOptions *options)
{
  return options->range_kind == LNS_WIRE_RANGE_NVTX ? LNS_WIRE_RECORDING_OTHER
                                                    : LNS_WIRE_RECORDING_ASKED;
}

/* Lays the pool out in the memfd FD and seals its size. Writes the header by pwrite(), since lns_wire_pool_map()
 * refuses a pool without one. */
static int
lay_out (int fd,
         const LnsWirePoolOptions *options,
         uint32_t chunk_bytes,
         uint32_t n_chunks,
         uint64_t *ret_pool_bytes)
{
  uint64_t lines_offset = PAGE_BYTES + LNS_WIRE_LOSS_SHARDS * sizeof (LnsWireLossShard);
  uint64_t chunks_offset =
      align_up (lines_offset + (uint64_t)n_chunks * sizeof (LnsWireLine), chunk_bytes);
  uint64_t end = chunks_offset + (uint64_t)n_chunks * chunk_bytes;
  LnsWirePoolHeader header = {
    .magic = LNS_WIRE_MAGIC,
    .abi = LNS_WIRE_ABI,
    .clock = options->clock,
    .loss_offset = PAGE_BYTES,
    .lines_offset = lines_offset,
    .chunks_offset = chunks_offset,
    .chunk_bytes = chunk_bytes,
    .n_chunks = n_chunks,
    .serial = options->serial,
    .options.traces = LNS_WIRE_TRACE_NVTX,
  };
  if (options->n_buffers > 0)
    {
      header.n_buffers = options->n_buffers;
      header.buffer_bytes = LNS_WIRE_BUFFER_BYTES;
      header.buffer_lines_offset = end;
      header.buffers_offset =
          align_up (end + options->n_buffers * sizeof (LnsWireBufferLine), LNS_WIRE_BUFFER_BYTES);
      end = header.buffers_offset + (uint64_t)options->n_buffers * LNS_WIRE_BUFFER_BYTES;
    }
  if (options->target != NULL)
    header.options = *options->target;
  header.recording = options->recording ? reason_to_record (&header.options) : 0;
  header.pool_bytes = *ret_pool_bytes = end;
  if (ftruncate (fd, (off_t)end) < 0 ||
      fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
    return -errno;
  ssize_t n = pwrite (fd, &header, sizeof header, 0);
  return n == (ssize_t)sizeof header ? 0 : n < 0 ? -errno : -EIO;
}

/* Zeroed records of N_CHUNKS; NULL if memory is short. They are mapped, since most are never used: calloc() would
 * write zeros to memory that it reuses, 320 KiB for each process. */
static LnsWireChunkRecord *
new_records (uint32_t n_chunks)
{
  void *records = mmap (NULL, n_chunks * sizeof (LnsWireChunkRecord), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return records != MAP_FAILED ? records : NULL;
}

int
lns_wire_pool_new (const LnsWirePoolOptions *options, LnsWirePool **ret_pool)
{
  uint32_t chunk_bytes = options->chunk_bytes ? options->chunk_bytes : LNS_WIRE_CHUNK_BYTES_DEFAULT;
  uint32_t n_chunks = options->n_chunks ? options->n_chunks : LNS_WIRE_CHUNKS_DEFAULT;
  if (options->serial == 0 || chunk_bytes < LNS_WIRE_CHUNK_BYTES_MIN ||
      chunk_bytes > LNS_WIRE_RECORD_MAX_BYTES || chunk_bytes % PAGE_BYTES != 0 ||
      n_chunks > LNS_WIRE_CHUNKS_MAX || options->n_buffers > LNS_WIRE_BUFFERS_MAX ||
      (options->clock != LNS_WIRE_CLOCK_TSC && options->clock != LNS_WIRE_CLOCK_MONOTONIC))
    return -EINVAL;

  LnsWirePool *pool = calloc (1, sizeof *pool);
  if (pool == NULL)
    return -ENOMEM;
  pool->fd = -1;
  pool->n[LNS_WIRE_CHUNK_NONE] = pool->n_records = n_chunks;
  pool->chunks = new_records (n_chunks);
  if (options->n_buffers > 0)
    pool->buffers = calloc (options->n_buffers, sizeof *pool->buffers);
  int error = -ENOMEM;
  uint64_t pool_bytes = 0;
  if (pool->chunks == NULL || (options->n_buffers > 0 && pool->buffers == NULL))
    goto fail;
  pool->fd = memfd_create ("lanescope-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  error = -errno;
  if (pool->fd < 0)
    goto fail;
  error = lay_out (pool->fd, options, chunk_bytes, n_chunks, &pool_bytes);
  if (error < 0)
    goto fail;
  error = lns_wire_pool_map (pool->fd, pool_bytes, &pool->view);
  if (error < 0)
    goto fail;
  *ret_pool = pool;
  return 0;

fail:
  lns_wire_pool_free (pool);
  return error;
}

void
lns_wire_pool_free (LnsWirePool *pool)
{
  if (pool == NULL)
    return;
  if (pool->chunks != NULL)
    munmap (pool->chunks, pool->n_records * sizeof *pool->chunks);
  lns_wire_pool_unmap (&pool->view);
  if (pool->fd >= 0)
    close (pool->fd);
  free (pool->buffers);
  free (pool);
}

int
lns_wire_pool_fd (const LnsWirePool *pool)
{
  return pool->fd;
}

void
lns_wire_pool_close_fd (LnsWirePool *pool)
{
  close (pool->fd);
  pool->fd = -1;
}

void
lns_wire_pool_set_hushed (LnsWirePool *pool)
{
  __atomic_store_n (&pool->view.header->hushed, 1, __ATOMIC_SEQ_CST);
}

bool
lns_wire_pool_is_joined (const LnsWirePool *pool)
{
  return __atomic_load_n (&pool->view.header->joined, __ATOMIC_ACQUIRE) != 0;
}

bool
lns_wire_pool_listens (const LnsWirePool *pool)
{
  return __atomic_load_n (&pool->view.header->listens, __ATOMIC_ACQUIRE) != 0;
}

const LnsWirePoolView *
lns_wire_pool_view (const LnsWirePool *pool)
{
  return &pool->view;
}

void
lns_wire_pool_set_recording (LnsWirePool *pool, bool recording)
{
  __atomic_store_n (&pool->view.header->recording, recording ? LNS_WIRE_RECORDING_ASKED : 0,
                    __ATOMIC_RELEASE);
}

void
lns_wire_pool_let_record (LnsWirePool *pool, bool recording)
{
  LnsWirePoolHeader *header = pool->view.header;
  uint32_t *flags = &header->recording;
  if (recording)
    __atomic_fetch_or (flags, reason_to_record (&header->options), __ATOMIC_RELEASE);
  else
    __atomic_fetch_and (flags, LNS_WIRE_RECORDING_RANGE, __ATOMIC_RELEASE);
}

void
lns_wire_pool_set_range (LnsWirePool *pool, const LnsWireOptions *asked)
{
  LnsWireOptions *options = &pool->view.header->options;
  /* The kind is set last: a thread that reads the options meanwhile sees no range. */
  __atomic_store_n (&options->range_kind, LNS_WIRE_RANGE_NONE, __ATOMIC_SEQ_CST);
  options->range_end = asked->range_end;
  options->n_ranges = asked->n_ranges;
  options->range_any_domain = asked->range_any_domain;
  memcpy (options->range_message, asked->range_message, sizeof options->range_message);
  memcpy (options->range_domain, asked->range_domain, sizeof options->range_domain);
  __atomic_add_fetch (&options->range_serial, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n (&options->range_kind, asked->range_kind, __ATOMIC_SEQ_CST);
}

uint32_t
lns_wire_pool_n_range_edges (const LnsWirePool *pool)
{
  const LnsWirePoolHeader *header = pool->view.header;
  const uint64_t told = __atomic_load_n (&header->ranges_told, __ATOMIC_ACQUIRE);
  const uint32_t serial = __atomic_load_n (&header->options.range_serial, __ATOMIC_ACQUIRE);
  return told >> 32 == serial ? (uint32_t)told : 0;
}

/* --- Buffers ---------------------------------------------------------------------------------- */

/* Returns the state of buffer INDEX, NONE if it is not lent, whatever the target wrote. Notes whether it was used. */
static uint32_t
state_of_buffer (LnsWirePool *pool, uint32_t index)
{
  if (!pool->buffers[index].lent)
    return LNS_WIRE_BUFFER_NONE;
  const LnsWireBufferLine *line = &pool->view.buffer_lines[index];
  uint32_t state = __atomic_load_n (&line->state, __ATOMIC_ACQUIRE);
  if (state != LNS_WIRE_BUFFER_FREE || __atomic_load_n (&line->n_uses, __ATOMIC_RELAXED) > 0)
    pool->buffers[index].touched = true;
  return state;
}

static uint64_t
buffer_weight (const LnsWirePool *pool, uint32_t index)
{
  const LnsWireBufferRecord *buffer = &pool->buffers[index];
  return !buffer->lent     ? 0
         : buffer->touched ? pool->view.buffer_bytes
                           : pool->view.buffer_bytes / COLD_BUFFER_SHARE;
}

/* The bytes that all buffers count against a cap. */
static uint64_t
buffers_weight (const LnsWirePool *pool)
{
  uint64_t weight_bytes = 0;
  for (uint32_t i = 0; i < pool->view.n_buffers; i++)
    weight_bytes += buffer_weight (pool, i);
  return weight_bytes;
}

static void
lend_buffer (LnsWirePool *pool, uint32_t index)
{
  LnsWireBufferLine *line = &pool->view.buffer_lines[index];
  pool->buffers[index] = (LnsWireBufferRecord){ .lent = true };
  line->n_uses = 0;
  __atomic_store_n (&line->state, LNS_WIRE_BUFFER_FREE, __ATOMIC_RELEASE);
}

/* Takes buffer INDEX back with its memory. Returns false if it is no longer free. */
static bool
withdraw_buffer (LnsWirePool *pool, uint32_t index)
{
  uint32_t state = LNS_WIRE_BUFFER_FREE;
  if (!__atomic_compare_exchange_n (&pool->view.buffer_lines[index].state, &state,
                                    LNS_WIRE_BUFFER_NONE, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
    return false;
  /* By its mapping, as the descriptor of the memfd may be closed. */
  if (pool->buffers[index].touched)
    (void)madvise (lns_wire_pool_buffer (&pool->view, index), pool->view.buffer_bytes, MADV_REMOVE);
  pool->buffers[index] = (LnsWireBufferRecord){ 0 };
  return true;
}

/* Lends buffers until enough are free or all count CAP_BYTES. Takes free ones back if all count more. */
static void
top_up_buffers (LnsWirePool *pool, uint64_t cap_bytes)
{
  uint32_t n_free = 0;
  for (uint32_t i = 0; i < pool->view.n_buffers; i++)
    n_free += state_of_buffer (pool, i) == LNS_WIRE_BUFFER_FREE;
  uint64_t all = buffers_weight (pool);
  for (uint32_t i = pool->view.n_buffers; i-- > 0 && all > cap_bytes;)
    {
      uint64_t before = buffer_weight (pool, i);
      if (before > 0 && withdraw_buffer (pool, i))
        all -= before;
    }
  for (uint32_t i = 0; i < pool->view.n_buffers && n_free < FREE_BUFFERS; i++)
    {
      all += pool->view.buffer_bytes / COLD_BUFFER_SHARE;
      if (all > cap_bytes)
        break;
      if (pool->buffers[i].lent)
        {
          all -= pool->view.buffer_bytes / COLD_BUFFER_SHARE;
          continue;
        }
      lend_buffer (pool, i);
      n_free++;
    }
}

/* Gives memory of free buffers back to the system until they hold at most KEEP_BYTES. Returns the bytes given
 * back. */
static uint64_t
punch_buffers (LnsWirePool *pool, uint64_t keep_bytes)
{
  uint64_t given_back = 0, held = 0;
  for (uint32_t i = 0; i < pool->view.n_buffers; i++)
    if (state_of_buffer (pool, i) != LNS_WIRE_BUFFER_NONE && pool->buffers[i].touched)
      held += pool->view.buffer_bytes;
  for (uint32_t i = pool->view.n_buffers; i-- > 0 && held - given_back > keep_bytes;)
    if (pool->buffers[i].touched && withdraw_buffer (pool, i))
      {
        given_back += pool->view.buffer_bytes;
        lend_buffer (pool, i);
      }
  return given_back;
}

uint64_t
lns_wire_pool_oldest_claim (LnsWirePool *pool)
{
  uint64_t oldest_ticks = 0;
  for (uint32_t i = 0; i < pool->view.n_buffers; i++)
    {
      const uint32_t state = state_of_buffer (pool, i);
      if (state != LNS_WIRE_BUFFER_LENT && state != LNS_WIRE_BUFFER_COMPLETE)
        continue;
      const uint64_t ticks =
          __atomic_load_n (&pool->view.buffer_lines[i].claimed_ticks, __ATOMIC_ACQUIRE);
      const uint32_t *kind = (const uint32_t *)lns_wire_pool_buffer (&pool->view, i);
      /* An empty buffer gets records of later work only, and one without ticks was claimed just now. */
      if (ticks != 0 && (oldest_ticks == 0 || ticks < oldest_ticks) &&
          __atomic_load_n (kind, __ATOMIC_RELAXED) != 0)
        oldest_ticks = ticks;
    }
  return oldest_ticks;
}

size_t
lns_wire_pool_copy_lent (LnsWirePool *pool, uint32_t index, void *ret_bytes)
{
  if (index >= pool->view.n_buffers || state_of_buffer (pool, index) != LNS_WIRE_BUFFER_LENT)
    return 0;
  const void *bytes = lns_wire_pool_buffer (&pool->view, index);
  if (__atomic_load_n ((const uint32_t *)bytes, __ATOMIC_ACQUIRE) == 0)
    return 0;
  memcpy (ret_bytes, bytes, pool->view.buffer_bytes);
  return pool->view.buffer_bytes;
}

size_t
lns_wire_pool_salvage (LnsWirePool *pool, uint32_t index, void *ret_bytes)
{
  if (index >= pool->view.n_buffers)
    return 0;
  uint32_t state = state_of_buffer (pool, index);
  LnsWireBufferLine *line = &pool->view.buffer_lines[index];
  uint32_t first = __atomic_load_n (&line->compacted, __ATOMIC_ACQUIRE);
  uint32_t valid = pool->view.buffer_bytes;
  if (state == LNS_WIRE_BUFFER_COMPLETE)
    valid = __atomic_load_n (&line->valid, __ATOMIC_RELAXED);
  else if (state != LNS_WIRE_BUFFER_LENT)
    return 0;
  if (valid > pool->view.buffer_bytes)
    valid = pool->view.buffer_bytes;
  size_t n_bytes = first < valid ? valid - first : 0;
  memcpy (ret_bytes, lns_wire_pool_buffer (&pool->view, index) + first, n_bytes);
  line->valid = line->compacted = 0;
  line->claimed_ticks = 0;
  __atomic_store_n (&line->state, LNS_WIRE_BUFFER_FREE, __ATOMIC_RELEASE);
  (void)withdraw_buffer (pool, index);
  return n_bytes;
}

/* --- Chunks ----------------------------------------------------------------------------------- */

/* The bytes that CHUNK counts against a cap: the pages it has touched; all of it if it is free, or a share of it if
 * it is also cold, since most threads that take a chunk write little. */
static uint64_t
weight (const LnsWirePool *pool, const LnsWireChunkRecord *chunk)
{
  if (chunk->state != LNS_WIRE_CHUNK_FREE)
    return chunk->touched;
  return chunk->touched > 0 ? pool->view.chunk_bytes : pool->view.chunk_bytes / LNS_WIRE_COLD_SHARE;
}

static bool
is_warm (const LnsWireChunkRecord *chunk)
{
  return chunk->state == LNS_WIRE_CHUNK_NONE && chunk->touched > 0;
}

/* Notes that chunk INDEX is in STATE and has TOUCHED bytes, and updates the sums over all chunks: there are
 * thousands, and each drain needs the sums. */
static void
set_known (LnsWirePool *pool, uint32_t index, uint32_t state, uint32_t touched)
{
  LnsWireChunkRecord *chunk = &pool->chunks[index], before = *chunk;
  chunk->state = (uint8_t)state;
  chunk->touched = touched;
  pool->n[before.state]--;
  pool->n[state]++;
  pool->n_warm += (uint32_t)is_warm (chunk) - (uint32_t)is_warm (&before);
  pool->touched_bytes += touched - (uint64_t)before.touched;
  pool->weight_bytes += weight (pool, chunk) - weight (pool, &before);
  if (before.state == LNS_WIRE_CHUNK_FREE)
    pool->free_weight_bytes -= weight (pool, &before);
  if (state == LNS_WIRE_CHUNK_FREE)
    pool->free_weight_bytes += weight (pool, chunk);
}

static void
set_known_state (LnsWirePool *pool, uint32_t index, LnsWireChunkState state)
{
  set_known (pool, index, state, pool->chunks[index].touched);
}

static void
set_touched (LnsWirePool *pool, uint32_t index, uint32_t touched)
{
  set_known (pool, index, pool->chunks[index].state, touched);
}

static void
set_published (LnsWirePool *pool, uint64_t published)
{
  pool->published = published;
  __atomic_store_n (&pool->view.header->published, published, __ATOMIC_RELEASE);
}

/* Lends chunk INDEX, which lies below the limit and whose line is zero except for its generation. */
static void
lend (LnsWirePool *pool, uint32_t index)
{
  set_known_state (pool, index, LNS_WIRE_CHUNK_FREE);
  __atomic_store_n (&pool->view.lines[index].state, LNS_WIRE_CHUNK_FREE, __ATOMIC_RELEASE);
  set_published (pool, pool->published + 1);
  /* Low chunks are taken first, so that a target uses the same few, warm ones again and again. */
  if (index < __atomic_load_n (&pool->view.header->hint, __ATOMIC_RELAXED))
    __atomic_store_n (&pool->view.header->hint, index, __ATOMIC_RELAXED);
}

/* Takes the free chunk INDEX from the target. Returns false if the target has claimed it meanwhile. */
static bool
withdraw (LnsWirePool *pool, uint32_t index)
{
  uint32_t state = LNS_WIRE_CHUNK_FREE;
  if (!__atomic_compare_exchange_n (&pool->view.lines[index].state, &state, LNS_WIRE_CHUNK_NONE,
                                    false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  set_known_state (pool, index, LNS_WIRE_CHUNK_NONE);
  set_published (pool, pool->published - 1);
  return true;
}

/* Gives the memory of chunk INDEX, which is not lent, back to the system. */
static bool
punch_chunk (LnsWirePool *pool, uint32_t index)
{
  if (madvise (lns_wire_pool_chunk (&pool->view, index), pool->view.chunk_bytes, MADV_REMOVE) != 0)
    return false;
  set_touched (pool, index, 0);
  return true;
}

/* Lends up to N chunks beyond the limit, which were never used, within the same bounds as lend_within (). Does what
 * lend () does for each, but writes the sums and the header once: there are thousands of chunks. */
static uint32_t
lend_fresh (LnsWirePool *pool, uint32_t n, uint64_t cap_bytes, uint64_t free_bytes)
{
  const uint64_t each_bytes = pool->view.chunk_bytes / LNS_WIRE_COLD_SHARE;
  const uint64_t all_bytes = buffers_weight (pool) + pool->weight_bytes;
  const uint32_t from = pool->limit, n_beyond = pool->view.n_chunks - from;
  const uint64_t n_by_cap = cap_bytes > all_bytes ? (cap_bytes - all_bytes) / each_bytes : 0;
  const uint64_t n_by_free = free_bytes > pool->free_weight_bytes
                                 ? (free_bytes - pool->free_weight_bytes) / each_bytes
                                 : 0;
  n = n < n_beyond ? n : n_beyond;
  n = n < n_by_cap ? n : (uint32_t)n_by_cap;
  n = n < n_by_free ? n : (uint32_t)n_by_free;
  if (n == 0)
    return 0;
  pool->limit = from + n;
  __atomic_store_n (&pool->view.header->limit, pool->limit, __ATOMIC_RELEASE);
  for (uint32_t i = from; i < pool->limit; i++)
    {
      pool->chunks[i].state = LNS_WIRE_CHUNK_FREE;
      __atomic_store_n (&pool->view.lines[i].state, LNS_WIRE_CHUNK_FREE, __ATOMIC_RELEASE);
    }
  pool->n[LNS_WIRE_CHUNK_NONE] -= n;
  pool->n[LNS_WIRE_CHUNK_FREE] += n;
  pool->weight_bytes += n * each_bytes;
  pool->free_weight_bytes += n * each_bytes;
  set_published (pool, pool->published + n);
  if (from < __atomic_load_n (&pool->view.header->hint, __ATOMIC_RELAXED))
    __atomic_store_n (&pool->view.header->hint, from, __ATOMIC_RELAXED);
  return n;
}

/* Lends up to N chunks, first those that hold memory, while all count at most CAP_BYTES and the free ones at most
 * FREE_BYTES. */
static uint32_t
lend_within (LnsWirePool *pool, uint32_t n, uint64_t cap_bytes, uint64_t free_bytes)
{
  const uint64_t buffer_bytes = buffers_weight (pool);
  uint32_t done = 0;
  for (int cold = 0; cold < 2; cold++)
    {
      const uint32_t n_beyond = pool->view.n_chunks - pool->limit;
      /* Below the limit, a cold chunk is not lent only if it was withdrawn. */
      const uint32_t n_there =
          cold ? pool->n[LNS_WIRE_CHUNK_NONE] - pool->n_warm - n_beyond : pool->n_warm;
      const uint32_t end = n_there > 0 ? pool->limit : 0;
      for (uint32_t i = 0; i < end && done < n; i++)
        {
          const LnsWireChunkRecord *chunk = &pool->chunks[i];
          if (chunk->state != LNS_WIRE_CHUNK_NONE || (chunk->touched == 0) != cold)
            continue;
          uint64_t more =
              cold ? pool->view.chunk_bytes / LNS_WIRE_COLD_SHARE : pool->view.chunk_bytes;
          if (buffer_bytes + pool->weight_bytes + more - chunk->touched > cap_bytes ||
              pool->free_weight_bytes + more > free_bytes)
            return done;
          lend (pool, i);
          done++;
        }
    }
  return done + lend_fresh (pool, n - done, cap_bytes, free_bytes);
}

uint32_t
lns_wire_pool_publish (LnsWirePool *pool, uint32_t n)
{
  return lend_within (pool, n, UINT64_MAX, UINT64_MAX);
}

/* Withdraws free chunks, the cold ones first, and gives memory back until all chunks count at most CAP_BYTES. */
static void
shrink (LnsWirePool *pool, uint64_t cap_bytes)
{
  const uint64_t buffer_bytes = buffers_weight (pool);
  for (int hot = 0; hot < 2; hot++)
    for (uint32_t i = pool->limit; i-- > 0 && buffer_bytes + pool->weight_bytes > cap_bytes;)
      {
        const LnsWireChunkRecord *chunk = &pool->chunks[i];
        if ((chunk->touched > 0) != hot ||
            (chunk->state != LNS_WIRE_CHUNK_FREE && chunk->state != LNS_WIRE_CHUNK_NONE) ||
            (chunk->state == LNS_WIRE_CHUNK_FREE && !withdraw (pool, i)))
          continue;
        if (hot)
          (void)punch_chunk (pool, i);
      }
}

uint32_t
lns_wire_pool_top_up (LnsWirePool *pool, uint64_t cap_bytes, uint32_t max_free)
{
  top_up_buffers (pool, cap_bytes / 2);
  uint32_t done =
      lend_within (pool, UINT32_MAX, cap_bytes, (uint64_t)max_free * pool->view.chunk_bytes);
  if (done == 0)
    shrink (pool, cap_bytes);
  return done;
}

uint64_t
lns_wire_pool_punch (LnsWirePool *pool, uint64_t keep_bytes, uint64_t keep_buffer_bytes)
{
  uint64_t given_back = punch_buffers (pool, keep_buffer_bytes);
  for (uint32_t i = pool->limit; i-- > 0 && pool->touched_bytes > keep_bytes;)
    {
      uint32_t touched = pool->chunks[i].touched;
      bool was_free = pool->chunks[i].state == LNS_WIRE_CHUNK_FREE;
      if (touched == 0 || (was_free && !withdraw (pool, i)) ||
          pool->chunks[i].state != LNS_WIRE_CHUNK_NONE)
        continue;
      if (punch_chunk (pool, i))
        given_back += touched;
      if (was_free)
        lend (pool, i);
    }
  return given_back;
}

/* Reads line INDEX in the order that pool.h prescribes. Returns false if its chunk has nothing to read. */
static bool
visit (LnsWirePool *pool, uint32_t index, LnsWireChunk *ret_chunk)
{
  const LnsWireLine *line = &pool->view.lines[index];
  LnsWireChunkRecord *known = &pool->chunks[index];
  uint32_t state = __atomic_load_n (&line->state, __ATOMIC_ACQUIRE);
  /* Only the session sets FREE and NONE: a target that writes them only loses its own records. */
  if (known->state == LNS_WIRE_CHUNK_NONE ||
      (state != LNS_WIRE_CHUNK_OWNED && state != LNS_WIRE_CHUNK_FULL))
    return false;
  set_known_state (pool, index, state);
  uint32_t stream = __atomic_load_n (&line->stream, __ATOMIC_ACQUIRE);
  if (stream == 0)
    return false;
  pool->n_named += !known->is_named;
  known->is_named = true;
  uint32_t committed = __atomic_load_n (&line->committed, __ATOMIC_ACQUIRE);
  if (committed > pool->view.capacity_bytes)
    committed = pool->view.capacity_bytes;
  committed -= committed % LNS_WIRE_ALIGN_BYTES;
  uint32_t touched = (uint32_t)align_up (committed ? committed : 1, PAGE_BYTES);
  if (touched > known->touched)
    set_touched (pool, index, touched);
  *ret_chunk = (LnsWireChunk){
    .index = index,
    .generation = known->generation,
    .stream = stream,
    .sequence = line->sequence,
    .pid = line->pid,
    .tid = line->tid,
    .committed = committed,
    .drained = known->drained,
    .full = state == LNS_WIRE_CHUNK_FULL,
  };
  return true;
}

void
lns_wire_pool_set_over (LnsWirePool *pool)
{
  pool->is_over = true;
}

static int
compare_chunks (const void *a, const void *b)
{
  const LnsWireChunk *left = a, *right = b;
  if (left->stream != right->stream)
    return left->stream < right->stream ? -1 : 1;
  if (left->sequence != right->sequence)
    return left->sequence < right->sequence ? -1 : 1;
  return 0;
}

size_t
lns_wire_pool_scan (LnsWirePool *pool, LnsWireChunk *ret_chunks, size_t n_max)
{
  /* A thread counts its claim before it sets the stream. So if there are no new claims, only chunks in use can have
   * news; thousands more are lent to each process. A target that counts wrongly is read when it ends. */
  const uint64_t n_claimed = __atomic_load_n (&pool->view.header->claimed, __ATOMIC_ACQUIRE);
  const bool has_new = pool->is_over || n_claimed != pool->n_named;
  const uint32_t end = has_new ? pool->limit : pool->used_end;
  size_t n = 0;
  pool->used_end = 0;
  for (uint32_t i = 0; i < end; i++)
    {
      LnsWireChunk chunk;
      const bool is_there = visit (pool, i, &chunk);
      if (pool->chunks[i].state >= LNS_WIRE_CHUNK_OWNED)
        pool->used_end = i + 1;
      if (!is_there)
        continue;
      if (n < n_max)
        ret_chunks[n] = chunk;
      n++;
    }
  if (n_max > 0)
    qsort (ret_chunks, n < n_max ? n : n_max, sizeof *ret_chunks, compare_chunks);
  return n;
}

/* Whether CHUNK has not come back since the scan. */
static bool
is_current (const LnsWirePool *pool, const LnsWireChunk *chunk)
{
  return chunk->index < pool->limit && pool->chunks[chunk->index].generation == chunk->generation &&
         pool->chunks[chunk->index].state >= LNS_WIRE_CHUNK_OWNED;
}

size_t
lns_wire_pool_read (LnsWirePool *pool, const LnsWireChunk *chunk, void *buffer, size_t n_max)
{
  LnsWireChunk now;
  if (!is_current (pool, chunk) || !visit (pool, chunk->index, &now) ||
      now.committed <= now.drained)
    return 0;
  size_t n = now.committed - now.drained;
  if (n > n_max)
    n = n_max - n_max % LNS_WIRE_ALIGN_BYTES;
  memcpy (buffer, lns_wire_pool_chunk (&pool->view, chunk->index) + now.drained, n);
  pool->chunks[chunk->index].drained += (uint32_t)n;
  return n;
}

/* Takes chunk INDEX back, and lends it again if LEND_AGAIN. */
static void
take_back (LnsWirePool *pool, uint32_t index, bool lend_again)
{
  LnsWireLine *line = &pool->view.lines[index];
  LnsWireChunkRecord *chunk = &pool->chunks[index];
  chunk->generation++;
  chunk->drained = 0;
  chunk->is_named = false;
  /* The state changes last, as threads that look for a chunk read it. */
  line->generation = chunk->generation;
  line->committed = line->pid = line->tid = 0;
  line->sequence = 0;
  __atomic_store_n (&line->stream, 0, __ATOMIC_RELAXED);
  set_known_state (pool, index, LNS_WIRE_CHUNK_NONE);
  if (lend_again)
    lend (pool, index);
  else
    __atomic_store_n (&line->state, LNS_WIRE_CHUNK_NONE, __ATOMIC_RELEASE);
}

int
lns_wire_pool_reclaim (LnsWirePool *pool, const LnsWireChunk *chunk, bool gone, bool lend_again)
{
  LnsWireChunk now;
  if (!is_current (pool, chunk))
    return -ESTALE;
  if (!visit (pool, chunk->index, &now) || (!now.full && !gone) || now.drained < now.committed)
    return -EBUSY;
  take_back (pool, chunk->index, lend_again);
  return 0;
}

void
lns_wire_pool_usage (const LnsWirePool *pool, LnsWirePoolUsage *ret_usage)
{
  *ret_usage = (LnsWirePoolUsage){
    .n_none = pool->n[LNS_WIRE_CHUNK_NONE],
    .n_free = pool->n[LNS_WIRE_CHUNK_FREE],
    .n_owned = pool->n[LNS_WIRE_CHUNK_OWNED],
    .n_full = pool->n[LNS_WIRE_CHUNK_FULL],
    .touched_bytes = pool->touched_bytes,
  };
  for (uint32_t i = 0; i < pool->view.n_buffers; i++)
    if (pool->buffers[i].lent)
      {
        ret_usage->n_buffers++;
        ret_usage->touched_bytes += pool->buffers[i].touched ? pool->view.buffer_bytes : 0;
      }
}

void
lns_wire_pool_losses (const LnsWirePool *pool, LnsWireLosses *ret_losses)
{
  *ret_losses = (LnsWireLosses){ 0 };
  for (uint32_t i = 0; i < LNS_WIRE_LOSS_SHARDS; i++)
    {
      const LnsWireLosses *shard = &pool->view.shards[i].losses;
      for (int kind = 0; kind < LNS_WIRE_LOSS_KINDS; kind++)
        ret_losses->events[kind] += __atomic_load_n (&shard->events[kind], __ATOMIC_RELAXED);
      ret_losses->n_bytes += __atomic_load_n (&shard->n_bytes, __ATOMIC_RELAXED);
      for (int cause = 0; cause < LNS_WIRE_CAUSES; cause++)
        ret_losses->by_cause[cause] += __atomic_load_n (&shard->by_cause[cause], __ATOMIC_RELAXED);
    }
  LnsWireStrays strays;
  lns_wire_pool_strays (pool, &strays);
  ret_losses->events[LNS_WIRE_LOSS_OTHER] += strays.n_events;
  ret_losses->by_cause[LNS_WIRE_CAUSE_STRAY] += strays.n_events;
}

void
lns_wire_pool_strays (const LnsWirePool *pool, LnsWireStrays *ret_strays)
{
  const LnsWireStrays *strays = &pool->view.header->strays;
  *ret_strays =
      (LnsWireStrays){ .n_events = __atomic_load_n (&strays->n_events, __ATOMIC_RELAXED),
                       .n_processes = __atomic_load_n (&strays->n_processes, __ATOMIC_RELAXED),
                       .error = __atomic_load_n (&strays->error, __ATOMIC_RELAXED) };
}

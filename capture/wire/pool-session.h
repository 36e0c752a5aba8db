/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The session's side of a chunk pool; pool.h has the layout and the life of a chunk. The target may write
 * anything anywhere at any time. So this side keeps its own states and drained offsets and copies bytes
 * before it reads them; at worst it reads garbage records. An LnsWirePool is used by one thread at a time. */

#pragma once

#include "capture/wire/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LnsWirePool LnsWirePool;

typedef struct
{
  uint32_t serial;      /* of the pool in the session, not 0 */
  LnsWireClock clock;   /* of the target's ticks */
  uint32_t chunk_bytes; /* 0: 64 KiB; else a multiple of 4096, up to 1 MiB */
  uint32_t n_chunks;    /* 0: 16,384; else 1 … LNS_WIRE_CHUNKS_MAX: address space, not memory */
  uint32_t n_buffers; /* for CUPTI, of LNS_WIRE_BUFFER_BYTES; 0: none; up to LNS_WIRE_BUFFERS_MAX */
  bool recording;     /* the flag's first value */
  const LnsWireOptions *target; /* what is asked of the target, copied; null: NVTX alone */
} LnsWirePoolOptions;

/* A chunk as one scan saw it. */
typedef struct
{
  uint32_t index;
  uint32_t generation;
  uint32_t stream;
  uint64_t sequence;
  uint32_t pid, tid;  /* as the target sees itself */
  uint32_t committed; /* at the scan, checked against the capacity and rounded to records */
  uint32_t drained;   /* of them, already read */
  bool full;          /* given back by its owner: committed is final */
} LnsWireChunk;

typedef struct
{
  uint32_t n_none, n_free, n_owned, n_full;
  uint32_t n_buffers;     /* lent to the target */
  uint64_t touched_bytes; /* that hold memory: whole pages of chunks, whole buffers */
} LnsWirePoolUsage;

/* Makes a pool: a memfd, sealed against shrink and grow, with no chunk lent yet.
 * Returns 0; -EINVAL for options out of range; or memfd_create's, ftruncate's or mmap's -errno, or
 * -ENOMEM. RET_POOL is to be freed with lns_wire_pool_free(). */
int lns_wire_pool_new (const LnsWirePoolOptions *options, LnsWirePool **ret_pool);

/* Accepts null. The target's mapping stays valid. */
void lns_wire_pool_free (LnsWirePool *pool);

/* The memfd to pass to the target; owned by POOL. */
int lns_wire_pool_fd (const LnsWirePool *pool);

/* Closes the memfd, which is needed only to hand it over. */
void lns_wire_pool_close_fd (LnsWirePool *pool);

/* Tells the process that its connection is about to be closed, but its pool is still read. */
void lns_wire_pool_set_hushed (LnsWirePool *pool);

/* The view of the pool: its sizes; what the target has written, which may have any value; and, for tests, the target's
 * side. */
const LnsWirePoolView *lns_wire_pool_view (const LnsWirePool *pool);

/* Has the target look for the capture range of ASKED from now on, instead of any before. */
void lns_wire_pool_set_range (LnsWirePool *pool, const LnsWireOptions *asked);

/* The number of times that the present capture range has begun or ended in the target, as the target says; odd while
 * one is open. */
uint32_t lns_wire_pool_n_range_edges (const LnsWirePool *pool);

/* Lets the target record events, or not, whether a capture range is open or not. Takes effect at each thread's next
 * event. */
void lns_wire_pool_set_recording (LnsWirePool *pool, bool recording);

/* The same, but a target with an open capture range goes on recording. */
void lns_wire_pool_let_record (LnsWirePool *pool, bool recording);

/* Lends up to N more chunks, beginning with those that hold memory. Returns how many. */
uint32_t lns_wire_pool_publish (LnsWirePool *pool, uint32_t n);

/* A free chunk that holds no memory yet counts this part of its size against a cap: most threads that
 * take one write little, and what they do write is counted from the next scan on. */
#define LNS_WIRE_COLD_SHARE 4u

/* Lends chunks while they all count at most CAP_BYTES and the free ones as much as MAX_FREE whole
 * chunks. An owned or full chunk, or one not lent, counts the pages it has touched; a free one all of
 * itself, or its share while it is cold. Where there is more than CAP_BYTES already, free chunks are
 * withdrawn and memory is given back instead. Buffers for CUPTI are lent too, on up to half of
 * the cap. Call after a scan. Returns how many chunks were lent. */
uint32_t lns_wire_pool_top_up (LnsWirePool *pool, uint64_t cap_bytes, uint32_t max_free);

/* Notes that nobody can write to the pool any more. Each scan looks at every chunk from here on, whatever the target
 * has counted. */
void lns_wire_pool_set_over (LnsWirePool *pool);

/* Looks at every chunk that may have news. RET_CHUNKS (room for N_MAX) gets those that are owned or full and whose
 * stream is known, sorted by stream, then sequence; returns how many there were, of which the first
 * N_MAX were filled in. A stream's chunks must be read in order of sequence without a gap: where
 * one is missing, the later wait for the next scan. O(chunks in use), or O(chunks ever lent) where some were
 * claimed since the last scan. */
size_t lns_wire_pool_scan (LnsWirePool *pool, LnsWireChunk *ret_chunks, size_t n_max);

/* Copies what is committed by now and not read yet, up to N_MAX bytes, to BUFFER, and counts it as
 * read. CHUNK is from a scan; one that has come back since gives 0. Returns the number of bytes, a
 * multiple of 16; records may be cut at the end if N_MAX is smaller than what is there (up to
 * chunk_bytes can be). Does not change CHUNK. */
size_t
lns_wire_pool_read (LnsWirePool *pool, const LnsWireChunk *chunk, void *buffer, size_t n_max);

/* Takes CHUNK back when it is full and all of it was read; with GONE, also when it is owned: all
 * processes that could write to it are known to be gone. LEND publishes it again at once.
 * Returns 0; -EBUSY while it is owned or holds unread bytes; -ESTALE when it came back before. */
int lns_wire_pool_reclaim (LnsWirePool *pool, const LnsWireChunk *chunk, bool gone, bool lend);

/* Gives memory back to the system until chunks hold at most KEEP_BYTES and buffers KEEP_BUFFER_BYTES: that
 * of chunks that are free or not lent and of buffers that are free. Free ones stay free. Returns the
 * bytes given back. 58 µs a MiB. */
uint64_t lns_wire_pool_punch (LnsWirePool *pool, uint64_t keep_bytes, uint64_t keep_buffer_bytes);

/* As of the last scan. */
void lns_wire_pool_usage (const LnsWirePool *pool, LnsWirePoolUsage *ret_usage);

/* Sums the loss counters: all losses of the process since it joined, and of its strays. Each counter only
 * grows. */
void lns_wire_pool_losses (const LnsWirePool *pool, LnsWireLosses *ret_losses);

/* What the pool tells about children of the process that could not join. */
void lns_wire_pool_strays (const LnsWirePool *pool, LnsWireStrays *ret_strays);

/* When the oldest of the buffers was claimed that hold records of CUPTI which are in no stream yet; 0: none does. Read before a scan, it is earlier than the launch of any work whose record is not found by that scan. */
uint64_t lns_wire_pool_oldest_claim (LnsWirePool *pool);

/* With all processes gone: copies what is in buffer INDEX and in no stream yet to RET_BYTES, which has
 * room for LNS_WIRE_BUFFER_BYTES, and takes the buffer back. Returns the number of bytes, which are
 * CUPTI's records up to their end or to a kind of 0. */
size_t lns_wire_pool_salvage (LnsWirePool *pool, uint32_t index, void *ret_bytes);

/* The same while the process lives, of a buffer that CUPTI has and keeps: a record may be half written. Returns 0 for other
 * buffers. */
size_t lns_wire_pool_copy_lent (LnsWirePool *pool, uint32_t index, void *ret_bytes);

/* Whether the target has received the pool. A target that had given up before never does. */
bool lns_wire_pool_is_joined (const LnsWirePool *pool);

/* Whether the target reads LnsWireCommand. */
bool lns_wire_pool_listens (const LnsWirePool *pool);

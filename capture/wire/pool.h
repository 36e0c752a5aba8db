/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The chunk pool: one memfd per process, made by the session and mapped by both. This header has its layout and
 * the target's side; pool-session.h has the session's side.
 *
 *   offset 0         LnsWirePoolHeader (4096 bytes)
 *   loss_offset      LNS_WIRE_LOSS_SHARDS × LnsWireLossShard
 *   lines_offset     n_chunks × LnsWireLine: the header line of each chunk
 *   chunks_offset    n_chunks × chunk_bytes: records; the last LNS_WIRE_APART_BYTES of a chunk stay
 *                    empty, so that two threads never write within 128 bytes of each other (the
 *                    prefetcher fetches cache lines in pairs)
 *   buffer_lines_offset, buffers_offset
 *                    the buffers that CUPTI fills, see buffers.h; 0 if there are none
 *
 * A chunk's life. All words are of its line; "acquire" and "release" are C11's. T is the target, S
 * the session.
 *
 *   | from  | to           | who | how           | before it             | after it              |
 *   |-------|--------------|-----|---------------|-----------------------|-----------------------|
 *   | NONE  | FREE         | S   | store release | line zeroed           | published += 1        |
 *   | FREE  | NONE         | S   | CAS           |                       | published -= 1        |
 *   | FREE  | OWNED        | T   | CAS acquire   | published > claimed   | claimed += 1; pid,    |
 *   |       |              |     |               |                       | tid, sequence; stream |
 *   |       |              |     |               |                       | by store release      |
 *   | OWNED | OWNED        | T   | committed by  | the record's bytes    |                       |
 *   |       |              |     | store release |                       |                       |
 *   | OWNED | FULL         | T   | store release | the last committed    | never touched again   |
 *   | FULL  | FREE or NONE | S   | store release | all read; committed,  | FREE: published += 1  |
 *   |       |              |     |               | stream zeroed;        |                       |
 *   |       |              |     |               | generation += 1       |                       |
 *   | OWNED | FREE or NONE | S   | as above      | and all who could     | as above              |
 *   |       |              |     |               | write are gone        |                       |
 *
 * A reader loads state (acquire), then stream (acquire; 0: nothing is in it yet), then committed
 * (acquire), then copies bytes below committed. A writer killed between any two steps leaves a
 * state in this table: what was committed is readable, and the chunk comes back.
 *
 * What could not be recorded is counted in the loss shards (relaxed adds) at the moment of the
 * loss, so that kept + lost = made even for a stream that never gets a chunk again. */

#pragma once

#include "capture/wire/buffers.h"
#include "capture/wire/clock.h"
#include "capture/wire/cupti-clock.h"
#include "capture/wire/layout.h"
#include "capture/wire/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LNS_WIRE_APART_BYTES         128u
#define LNS_WIRE_CHUNK_BYTES_DEFAULT 65536u
#define LNS_WIRE_CHUNK_BYTES_MIN     4096u
#define LNS_WIRE_CHUNKS_DEFAULT      16384u /* 1 GiB of address space */
#define LNS_WIRE_CHUNKS_MAX          65536u
#define LNS_WIRE_LOSS_SHARDS         64u

typedef enum
{
  LNS_WIRE_CHUNK_NONE = 0, /* not lent */
  LNS_WIRE_CHUNK_FREE = 1,
  LNS_WIRE_CHUNK_OWNED = 2,
  LNS_WIRE_CHUNK_FULL = 3
} LnsWireChunkState;

/* Why a process records. */
typedef enum
{
  LNS_WIRE_RECORDING_ASKED = 1, /* the session lets it */
  LNS_WIRE_RECORDING_RANGE = 2, /* a capture range is open in it */
  LNS_WIRE_RECORDING_OTHER =
      4, /* an NVTX range is open in another one, and may begin in it, too: each event
                                   that opens a range is compared with it */
  LNS_WIRE_RECORDING_AT_ONCE = LNS_WIRE_RECORDING_ASKED | LNS_WIRE_RECORDING_RANGE
} LnsWireRecording;

/* Whether the target has received the pool. */
typedef enum
{
  LNS_WIRE_JOINED = 1, /* it takes part */
  LNS_WIRE_JOINED_WITHOUT_KEY =
      2 /* it records nothing, as no pthread key is left for its threads */
} LnsWireJoined;

/* Says that the NTH capture range since the range was set (SERIAL) has begun, or ended if IS_END. The session
 * relies on this value; the notice that comes with each change only wakes it, and may be lost. */
#define LNS_WIRE_RANGES_TOLD(Serial, Nth, IsEnd)                                                   \
 ((uint64_t)(Serial) << 32 | (uint32_t)(2 * (uint32_t)(Nth) - !(IsEnd)))

/* Children of the pool's process that could not join the session. They record nothing, and count their events in
 * the pool that they inherit. */
typedef struct
{
  uint64_t n_events; /* missed */
  uint32_t n_processes;
  int32_t error; /* why the last one could not join: an errno */
} LnsWireStrays;

typedef struct
{
  /* Set once, before the target sees the pool. */
  uint64_t magic; /* LNS_WIRE_MAGIC */
  uint32_t abi;   /* LNS_WIRE_ABI */
  uint32_t clock; /* LnsWireClock of all ticks */
  uint64_t pool_bytes;
  uint64_t loss_offset;
  uint64_t lines_offset;
  uint64_t chunks_offset;
  uint32_t chunk_bytes; /* a multiple of 4096 */
  uint32_t n_chunks;
  uint32_t serial; /* of the pool in the session, not 0 */
  uint32_t n_buffers;
  uint64_t buffer_lines_offset;
  uint64_t buffers_offset;
  uint32_t buffer_bytes; /* a multiple of 4096 */
  uint32_t reserved;

  /* Written by the session while the target runs. RECORDING is written by the target as well, where
   * a capture range begins or ends in it: each sets the bit of its own reason. */
  _Alignas(128) uint32_t
      recording;      /* LNS_WIRE_RECORDING_…; 0: events are not recorded, nor counted as lost */
  uint32_t limit;     /* chunks from here on were never FREE yet */
  uint64_t published; /* how many times a chunk became FREE */
  uint32_t
      hushed; /* 1: the session has closed the connection, as descriptors are short, and still reads the pool */

  /* Written by the target. */
  _Alignas(128) uint64_t claimed; /* how many times a chunk was taken */
  uint32_t hint;                  /* where the search for a free chunk begins */
  uint32_t first_mark;      /* correlation of the CUDA engine's first call of its own; 0: none */
  uint64_t domains_refused; /* domains beyond LNS_WIRE_DOMAINS: recorded as the default one */
  uint32_t listens;         /* thread of ours in the target that reads LnsWireCommand; 0: none */
  uint32_t joined;          /* LnsWireJoined */
  uint64_t ranges_told;     /* LNS_WIRE_RANGES_TOLD of its last capture range; only grows */
  LnsWireCuptiSizes cupti;
  LnsWireCuptiClock cupti_clock;
  LnsWireStrays strays;

  /* Set once, before the target sees the pool. */
  _Alignas(128) LnsWireOptions options;
} LnsWirePoolHeader;
_Static_assert(sizeof (LnsWirePoolHeader) <= 4096, "the header is one page");

/* 64 bytes, 128 apart. */
typedef struct
{
  _Alignas(128) uint32_t state; /* LnsWireChunkState */
  uint32_t generation;          /* how many times the chunk came back */
  uint32_t committed;           /* bytes of whole records */
  uint32_t stream;              /* serial of the stream in the process, 1 and up; 0: not set yet */
  uint64_t sequence;            /* of the chunk in its stream: 0, 1, 2, … without gaps */
  uint32_t pid;                 /* of the claimer, in its own pid namespace */
  uint32_t tid;
  uint8_t reserved[32];
} LnsWireLine;
_Static_assert(sizeof (LnsWireLine) == LNS_WIRE_APART_BYTES, "two lines are 128 bytes apart");

typedef struct
{
  _Alignas(128) LnsWireLosses losses;
} LnsWireLossShard;

/* A mapped pool; sizes are copies that the other side cannot change. */
typedef struct
{
  LnsWirePoolHeader *header; /* null: nothing is mapped */
  LnsWireLossShard *shards;
  LnsWireLine *lines;
  uint8_t *chunks;
  size_t pool_bytes;
  uint32_t chunk_bytes;
  uint32_t capacity_bytes; /* of a chunk: chunk_bytes - LNS_WIRE_APART_BYTES */
  uint32_t n_chunks;
  LnsWireBufferLine *buffer_lines; /* null, as the next, where there are no buffers */
  uint8_t *buffers;
  uint32_t buffer_bytes;
  uint32_t n_buffers;
} LnsWirePoolView;

/* Maps the pool in FD, POOL_BYTES long, and checks that its header is of this ABI and its layout
 * lies within. RET_VIEW is to be given to lns_wire_pool_unmap(); FD may be closed. Returns 0,
 * -EPROTO when it is no pool of this version, or mmap's -errno. No allocation. */
int lns_wire_pool_map (int fd, size_t pool_bytes, LnsWirePoolView *ret_view);

/* Unmaps and zeroes VIEW. Does nothing if it is zero already. */
void lns_wire_pool_unmap (LnsWirePoolView *view);

/* Takes a free chunk for the stream STREAM (not 0) as its SEQUENCEth.
 * Returns its index, or -EAGAIN when none is free: that answer costs two loads. Lock-free, safe in
 * signal handlers. */
int lns_wire_pool_claim (
    const LnsWirePoolView *view, uint32_t stream, uint64_t sequence, uint32_t pid, uint32_t tid);

/* How many chunks are free just now, about. */
static inline uint64_t
lns_wire_pool_n_free (const LnsWirePoolView *view)
{
  uint64_t claimed = __atomic_load_n (&view->header->claimed, __ATOMIC_RELAXED);
  uint64_t published = __atomic_load_n (&view->header->published, __ATOMIC_RELAXED);
  return published > claimed ? published - claimed : 0;
}

/* Where chunk INDEX's records are. */
static inline uint8_t *
lns_wire_pool_chunk (const LnsWirePoolView *view, uint32_t index)
{
  return view->chunks + (size_t)index * view->chunk_bytes;
}

/* Makes records up to COMMITTED bytes visible; only the chunk's owner may. */
static inline void
lns_wire_pool_commit (LnsWireLine *line, uint32_t committed)
{
  __atomic_store_n (&line->committed, committed, __ATOMIC_RELEASE);
}

/* Gives the chunk to the session; the owner must not touch it again. */
static inline void
lns_wire_pool_give (LnsWireLine *line)
{
  __atomic_store_n (&line->state, LNS_WIRE_CHUNK_FULL, __ATOMIC_RELEASE);
}

/* Counts COUNT lost events of KIND that would have taken N_BYTES, by the stream STREAM. Lock-free.
 */
void lns_wire_pool_count_lost (const LnsWirePoolView *view,
                               uint32_t stream,
                               LnsWireLossKind kind,
                               uint64_t count,
                               uint64_t n_bytes);

/* Counts one such event as lost for CAUSE. Lock-free. */
void lns_wire_pool_count_cause (const LnsWirePoolView *view,
                                uint32_t stream,
                                LnsWireLossKind kind,
                                LnsWireLossCause cause);

/* Counts COUNT events as lost that the target made before the session had answered it. Lock-free. */
void lns_wire_pool_count_unanswered (const LnsWirePoolView *view, uint64_t count);

/* Takes a free buffer to lend to CUPTI. Returns its index, or -EAGAIN when none is free. Lock-free,
 * O(buffers). */
int lns_wire_pool_claim_buffer (const LnsWirePoolView *view);

/* Where buffer INDEX's bytes are. */
static inline uint8_t *
lns_wire_pool_buffer (const LnsWirePoolView *view, uint32_t index)
{
  return view->buffers + (size_t)index * view->buffer_bytes;
}

/* The index of the buffer that begins at BYTES; -ENOENT if it is not one of the pool's. */
int lns_wire_pool_buffer_index (const LnsWirePoolView *view, const void *bytes);

/* CUPTI has filled VALID bytes of buffer INDEX and gives it back. */
void lns_wire_pool_complete_buffer (const LnsWirePoolView *view, uint32_t index, uint32_t valid);

/* Zeroes buffer INDEX, whose records are all compacted, and frees it. */
void lns_wire_pool_free_buffer (const LnsWirePoolView *view, uint32_t index);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the two halves of the session's side of a pool: chunks and buffers. */

#pragma once

#include "capture/wire/pool-session.h"

#include <sys/mman.h>

/* What this side knows of a chunk, out of the target's reach. */
typedef struct
{
  uint32_t generation;
  uint32_t drained;
  uint32_t touched; /* bytes that hold memory: whole pages */
  uint8_t state;    /* LnsWireChunkState as last set or seen */
  bool is_named;    /* its tenant is known: counted in LnsWirePool.n_named */
} LnsWireChunkRecord;

/* The same of a buffer. */
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
  uint64_t n_named; /* how many times a chunk was found that a stream had claimed */
  uint32_t limit;
  uint32_t used_end; /* from here on, no chunk was owned or full at the last scan */
  uint32_t n_warm;   /* chunks that are not lent and hold memory */
  uint32_t n[4];     /* by state, as of the last scan and the changes since */
  bool is_over;      /* all who could write are gone */
};

/* Gives N_BYTES at OFFSET of the pool's memory back to the system. */
static inline bool
_lns_wire_pool_punch (LnsWirePool *pool, uint64_t offset, uint64_t n_bytes)
{
  /* Of the file, by its mapping: the descriptor may be closed. */
  return madvise ((uint8_t *)pool->view.header + offset, n_bytes, MADV_REMOVE) == 0;
}

/* Bytes that buffers hold or may hold at any moment. */
uint64_t _lns_wire_buffers_weight (const LnsWirePool *pool);

/* Lends buffers, so that some are free, while all weigh at most CAP_BYTES; takes free ones back that
 * are beyond it. */
void _lns_wire_buffers_top_up (LnsWirePool *pool, uint64_t cap_bytes);

/* Gives the memory of free buffers back until at most KEEP_BYTES are held. Returns the bytes given
 * back. */
uint64_t _lns_wire_buffers_punch (LnsWirePool *pool, uint64_t keep_bytes);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Builds chunks from rows: from the events of a lane, or the nodes of one level. Rows are collected into blocks, full blocks
 * are encoded at once, and a chunk is closed when the next block would make it too large. The rows that are in no closed
 * chunk can be written as a tail at any time. Columns that are all 0 take no memory. Not thread-safe. */

#pragma once

#include "src/store/format/chunk-format.h"
#include "src/store/format/codec.h"

typedef struct
{
  uint16_t id;
  uint8_t tries; /* LnsCodecTries */
} LnsBuilderColumnKind;

typedef struct
{
  LnsBuilderColumnKind kind;
  LnsBuffer encoded; /* whole blocks; empty while all rows of the chunk are 0 */
  uint32_t block_at; /* where the last of them begins */
  uint64_t *pending; /* rows of the block to come; NULL while all are 0 */
} LnsBuilderColumn;

typedef struct
{
  LnsChunkHeader header; /* of the chunk to come; `n` = rows in whole blocks */
  uint16_t n_columns;
  uint16_t n_pending;        /* rows of the block to come */
  uint16_t n_allocated;      /* rows that `pending` has room for */
  bool failed;               /* memory ran out: rows were lost */
  int64_t end_ns;            /* of the last row */
  int64_t block_start_ns;    /* of the first row of the last block, pending or whole */
  int64_t block_before_ns;   /* end of the row before that */
  LnsBuilderColumn *columns; /* owned */
} LnsChunkBuilder;

/* Receives a closed chunk: its HEADER, END_NS, the latest end in it, and BLOB, the chunk, which the receiver may take over by
 * zeroing the buffer. */
typedef void (*LnsChunkSink) (void *data,
                              const LnsChunkHeader *header,
                              int64_t end_ns,
                              LnsBuffer *blob);

/* Prepares BUILDER for chunks with HEADER's uuid, kind, lane, lane kind and level. Column 0 has the gaps between rows. */
void lns_chunk_builder_init (LnsChunkBuilder *builder,
                             const LnsChunkHeader *header,
                             const LnsBuilderColumnKind *columns,
                             unsigned n_columns);
void lns_chunk_builder_clear (LnsChunkBuilder *builder);

/* The number of rows that are in no closed chunk. */
static inline uint32_t
lns_chunk_builder_n (const LnsChunkBuilder *builder)
{
  return builder->header.n + builder->n_pending;
}

/* Adds a row from START_NS (≥ the last row's END_NS) to END_NS. VALUES has one value per column; the first is computed here.
 * The caller closes the block when it is full. Returns false and sets `failed` if memory runs out. */
bool lns_chunk_builder_add (LnsChunkBuilder *builder,
                            int64_t start_ns,
                            int64_t end_ns,
                            uint64_t *values);

/* Removes the last row, which must be pending. */
void lns_chunk_builder_remove (LnsChunkBuilder *builder, int64_t end_before_ns);

static inline bool
lns_chunk_builder_block_is_full (const LnsChunkBuilder *builder)
{
  return builder->n_pending == LNS_BLOCK;
}

/* Encodes the full block, and passes the chunk that it completes, if any, to SINK. The chunk's header gets REVISION. */
void lns_chunk_builder_close_block (LnsChunkBuilder *builder,
                                    uint64_t revision,
                                    LnsChunkSink sink,
                                    void *sink_data);

/* Builds the chunk of all rows that are in no closed chunk into OUT. There must be such a row. */
void lns_chunk_builder_tail (const LnsChunkBuilder *builder, uint64_t revision, LnsBuffer *out);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The layout that all chunks share (FORMAT.md, "Chunk header"): 80 bytes of header, a directory of columns, the columns.
 * The writer, the reader and recover build and parse chunks with these functions. Thread-safe, no state. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buffer.h"
#include "src/base/error.h"

#define LNS_CHUNK_MAGIC            "LNSCHNK1"
#define LNS_CHUNK_VERSION          1
#define LNS_CHUNK_HEADER_BYTES     80
#define LNS_CHUNK_DIRECTORY_BYTES  12 /* a column */
#define LNS_CHUNK_MAX_COLUMNS      32
#define LNS_CHUNK_MAX_EVENTS       4096  /* events or nodes in one chunk, the tail included */
#define LNS_CHUNK_MAX_CLOSED_BYTES 21700 /* closed event and node chunks: three to a page */
#define LNS_CHUNK_MAX_BYTES        65000 /* any chunk */

typedef enum
{
  LNS_CHUNK_EVENTS = 1,
  LNS_CHUNK_NODES,
  LNS_CHUNK_DEFINITIONS,
  LNS_CHUNK_STRINGS,
  LNS_CHUNK_OPEN_EVENT,
  LNS_N_CHUNK_KINDS
} LnsChunkKind;

typedef enum
{
  LNS_ENCODING_BYTES,  /* not encoded */
  LNS_ENCODING_BLOCKS, /* codec.h, one value for each event, node or string */
  LNS_N_ENCODINGS
} LnsColumnEncoding;

typedef struct
{
  uint8_t uuid[16];
  LnsChunkKind kind;
  uint8_t lane_kind;
  uint32_t lane; /* first string id in LNS_CHUNK_STRINGS */
  uint16_t level;
  uint16_t n_columns;
  uint32_t sequence;
  uint64_t revision;
  uint64_t first;
  uint32_t n;
  uint32_t length_bytes;
  uint64_t checksum;
  int64_t start_ns;
} LnsChunkHeader;

/* A column. Its bytes are borrowed. */
typedef struct
{
  uint16_t id;
  uint16_t encoding; /* LnsColumnEncoding */
  const uint8_t *bytes;
  size_t size_bytes;
} LnsChunkColumn;

/* A parsed chunk. The columns point into its bytes, which are borrowed. */
typedef struct
{
  LnsChunkHeader header;
  const uint8_t *bytes;
  LnsChunkColumn columns[LNS_CHUNK_MAX_COLUMNS];
} LnsChunkView;

/* Replaces OUT's contents with the chunk of HEADER (whose n_columns, length_bytes and checksum are computed here) and
 * N_COLUMNS ≤ LNS_CHUNK_MAX_COLUMNS columns. Leaves out empty columns. */
void lns_chunk_build (LnsBuffer *out,
                      const LnsChunkHeader *header,
                      const LnsChunkColumn *columns,
                      unsigned n_columns);

/* Parses only the header. Returns false if SIZE_BYTES is less than 80, the magic is wrong, or a field is out of bounds.
 * For recover, which searches files for chunks. */
bool lns_chunk_parse_header (const uint8_t *bytes, size_t size_bytes, LnsChunkHeader *ret_header);

/* Parses the chunk that fills the SIZE_BYTES at BYTES, which must outlive RET_VIEW. Checks the header, the checksum and
 * the directory, but not the contents of columns. O(size). */
bool
lns_chunk_parse (const uint8_t *bytes, size_t size_bytes, LnsChunkView *ret_view, LnsError *error);

/* The column ID, or NULL if the chunk has none: all its values are 0. */
const LnsChunkColumn *lns_chunk_column (const LnsChunkView *view, unsigned id);

/* Decodes column ID into header.n values, which are 0 if the chunk has no such column. Returns false if it is damaged. */
bool lns_chunk_decode_u64 (const LnsChunkView *view, unsigned id, uint64_t *ret_values);
bool lns_chunk_decode_u32 (const LnsChunkView *view, unsigned id, uint32_t *ret_values);

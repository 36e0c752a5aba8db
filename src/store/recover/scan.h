/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Searches the bytes of files for chunks, without trusting anything else in them. */

#pragma once

#include "src/base/array.h"
#include "src/store/format/chunk-format.h"
#include "src/store/read/report.h"

/* The share of a recovery's time that the scan takes. */
#define LNS_SCAN_SHARE 0.3

typedef struct
{
  LnsChunkHeader header;
  uint64_t offset_bytes;
  int fd; /* of the file that it is in */
} LnsFoundChunk;

typedef LNS_ARRAY (LnsFoundChunk) LnsFoundChunks;

/* Zero it before use. */
typedef struct
{
  LnsFoundChunks chunks;  /* with a right checksum */
  LnsFoundChunks damaged; /* headers of those with a wrong one */
} LnsScan;

/* Adds all chunks in the file of FD. OPTIONS (may be NULL) get the progress and may cancel it. O(size). */
bool _lns_scan_file (LnsScan *scan, int fd, const LnsOpenOptions *options, LnsError *error);

/* Reports FRACTION as progress to OPTIONS (may be NULL). Returns false and sets ERROR if they cancel. */
bool _lns_scan_go_on (const LnsOpenOptions *options, double fraction, LnsError *error);

/* Keeps only chunks of the report to which most chunks belong, and of each chunk only the highest revision, ordered by
 * kind, lane, level and sequence. Keeps damaged chunks only if there is no valid one with the same key. O(n log n). */
void _lns_scan_choose (LnsScan *scan);

/* The chunks of KIND, after _lns_scan_choose (): an array of *RET_N chunks. O(log n). */
const LnsFoundChunk *_lns_scan_chunks (const LnsScan *scan, LnsChunkKind kind, size_t *ret_n);

/* Reads CHUNK again, into BYTES (LNS_CHUNK_MAX_BYTES of them), and parses it. */
bool _lns_scan_read (const LnsFoundChunk *chunk, uint8_t *bytes, LnsChunkView *ret_view);

void _lns_scan_clear (LnsScan *scan);

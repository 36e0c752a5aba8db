/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Looks for chunks in the bytes of files, without trusting anything else in them. */

#pragma once

#include "src/base/array.h"
#include "src/store/format/chunk-format.h"
#include "src/store/read/report.h"

/* How much of the time of a recovery the scan takes. */
#define LNS_SCAN_SHARE 0.3

typedef struct
{
  LnsChunkHeader header;
  uint64_t offset_bytes;
  int fd; /* of the file that it lies in                                                        */
} LnsFoundChunk;

typedef LNS_ARRAY (LnsFoundChunk) LnsFoundChunks;

/* Zero it before use. */
typedef struct
{
  LnsFoundChunks chunks;  /* with a right checksum */
  LnsFoundChunks damaged; /* headers of those with a wrong one */
} LnsScan;

/* Adds what lies in the file of FD, from its first byte to its last. OPTIONS (may be NULL) may cancel
 * it, and are told how far it is. O(size). */
bool _lns_scan_file (LnsScan *scan, int fd, const LnsOpenOptions *options, LnsError *error);

/* Tells OPTIONS (may be NULL) that FRACTION is done. False and ERROR where they cancel. */
bool _lns_scan_go_on (const LnsOpenOptions *options, double fraction, LnsError *error);

/* Keeps, of the report that most chunks belong to, the highest revision of each chunk, ordered by
 * kind, lane, level and sequence; and of the damaged ones those of which nothing better is there.
 * O(n log n). */
void _lns_scan_choose (LnsScan *scan);

/* The chunks of KIND, once chosen: *RET_N of them from the returned one on. O(log n). */
const LnsFoundChunk *_lns_scan_chunks (const LnsScan *scan, LnsChunkKind kind, size_t *ret_n);

/* Reads CHUNK again, into BYTES (LNS_CHUNK_MAX_BYTES of them), and takes it apart. */
bool _lns_scan_read (const LnsFoundChunk *chunk, uint8_t *bytes, LnsChunkView *ret_view);

void _lns_scan_clear (LnsScan *scan);

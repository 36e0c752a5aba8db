/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the steps of a recovery share. */

#pragma once

#include "src/store/format/definition-codec.h"
#include "src/store/recover/scan.h"
#include "src/store/recover/recover.h"
#include "src/store/write/writer.h"

/* One kind's definitions; stand-ins where none was found. */
typedef struct
{
  LnsDefinition *definitions; /* n; owned                                                       */
  uint32_t n, n_allocated;
} LnsRecoveredTable;

/* Old ids FIRST … FIRST + N - 1 are new_ids[at …]. */
typedef struct
{
  uint32_t first, n;
  size_t at;
} LnsStringRun;

typedef struct
{
  LnsScan scan;
  LnsWriter *writer; /* NULL until the meta values are known                                    */
  LnsRecoveredTable tables[LNS_N_DEFINITION_KINDS];
  LnsStringRun *runs; /* n_runs, ascending; owned                                               */
  size_t n_runs;
  uint32_t *new_ids;  /* owned                                                                   */
  uint32_t lost_name; /* new id of what stands for a lost string                                */
  uint32_t *blocks; /* n_blocks ascending old ids of strings that are blocks of kept rows; owned */
  size_t n_blocks;
  uint8_t *bytes; /* LNS_CHUNK_MAX_BYTES; owned                                             */
  LnsRecovery counts;
  const char *path;
  const LnsOpenOptions *options; /* who may cancel it and is told how far it is; or NULL         */
  LnsError *error;
} LnsRecover;

/* Reads the definition chunks into the tables. */
bool _lns_recover_read_definitions (LnsRecover *recover);

/* Gives the strings found to the writer. */
bool _lns_recover_write_strings (LnsRecover *recover);

/* Notes which strings are blocks of kept rows. */
bool _lns_recover_find_blocks (LnsRecover *recover);

/* Whether string OLD_ID is one. O(log blocks). */
bool _lns_recover_is_block (const LnsRecover *recover, uint32_t old_id);

/* Gives the block to the writer, with the new ids of the strings in it; 0 where it is damaged. */
uint32_t _lns_recover_write_block (LnsRecover *recover, const uint8_t *bytes, size_t size_bytes);

/* The new id of string OLD_ID: 0 stays 0, a lost one gets LOST. O(log runs). */
uint32_t _lns_recover_string (const LnsRecover *recover, uint32_t old_id, uint32_t lost);

/* The first piece or the whole of string OLD_ID as text, at most TEXT_BYTES with its NUL; "" where it
 * is lost. */
void _lns_recover_text (LnsRecover *recover, uint32_t old_id, char *text, size_t text_bytes);

/* Puts stand-ins where definitions are missing that others or event chunks refer to, and gives all
 * to the writer under their old ids. */
bool _lns_recover_write_definitions (LnsRecover *recover);

/* The chunks of KIND in the scan: *RET_N of them from the returned one on. */
const LnsFoundChunk *
_lns_recover_chunks (const LnsRecover *recover, LnsChunkKind kind, size_t *ret_n);

/* How many events the file at PATH says that it held when it was last committed, or that it lacked
 * then, whatever is left of them. False where it cannot be asked any more. */
bool _lns_recover_told_events (const char *path, uint64_t *ret_n_events);

/* Fills the error with "not enough memory". Returns false. */
bool _lns_recover_no_memory (LnsRecover *recover);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The strings of a recovery. The writer gives them new ids. Some strings are blocks of kept rows, which contain ids of other
 * strings. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/store/recover/scan.h"
#include "src/store/write/writer.h"

/* Old ids FIRST … FIRST + N - 1 are new_ids[at …]. */
typedef struct
{
  uint32_t first, n;
  size_t at;
} LnsStringRun;

/* Set `scan` and `bytes` before use; zero the rest. */
typedef struct
{
  const LnsScan *scan; /* that found their chunks; borrowed */
  uint8_t *bytes;      /* LNS_CHUNK_MAX_BYTES to read a chunk into; borrowed */
  LnsStringRun *runs;  /* n_runs, ascending; owned */
  size_t n_runs;
  uint32_t *new_ids;  /* owned */
  uint32_t lost_name; /* new id of the string that replaces lost ones */
  uint32_t *blocks; /* n_blocks ascending old ids of strings that are blocks of kept rows; owned */
  size_t n_blocks;
} LnsRecoveredStrings;

/* The strings with OLD_IDS, which it owns now, are blocks of kept rows. */
void _lns_recovered_strings_set_blocks (LnsRecoveredStrings *strings, uint32_t *old_ids, size_t n);

/* Writes the strings that were found to WRITER. Returns false if memory runs out. */
bool _lns_recovered_strings_write (LnsRecoveredStrings *strings, LnsWriter *writer);

/* The new id of string OLD_ID: 0 for 0, LOST for a lost one. O(log runs). */
uint32_t _lns_recovered_string (const LnsRecoveredStrings *strings, uint32_t old_id, uint32_t lost);

/* Copies string OLD_ID, or its first piece, to TEXT, at most TEXT_BYTES with the NUL; "" if it is lost. */
void _lns_recovered_text (const LnsRecoveredStrings *strings,
                          uint32_t old_id,
                          char *text,
                          size_t text_bytes);

void _lns_recovered_strings_clear (LnsRecoveredStrings *strings);

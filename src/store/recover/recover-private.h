/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the steps of a recovery share. */

#pragma once

#include "src/store/format/definition-codec.h"
#include "src/store/recover/scan.h"
#include "src/store/recover/recover.h"
#include "src/store/recover/strings.h"
#include "src/store/write/writer.h"

/* One kind's definitions; stand-ins where none was found. */
typedef struct
{
  LnsDefinition *definitions; /* n; owned                                                       */
  uint32_t n, n_allocated;
} LnsRecoveredTable;

typedef struct
{
  LnsScan scan;
  LnsWriter *writer; /* NULL until the meta values are known                                    */
  LnsRecoveredTable tables[LNS_N_DEFINITION_KINDS];
  LnsRecoveredStrings strings;
  uint8_t *bytes; /* LNS_CHUNK_MAX_BYTES; owned                                             */
  LnsRecovery counts;
  const char *path;
  const LnsOpenOptions *options; /* who may cancel it and is told how far it is; or NULL         */
  LnsError *error;
} LnsRecover;

/* Reads the definition chunks into the tables. */
bool _lns_recover_read_definitions (LnsRecover *recover);

/* Tells the strings which of them are blocks of kept rows. */
bool _lns_recover_find_blocks (LnsRecover *recover);

/* Puts stand-ins where definitions are missing that others or event chunks refer to, and gives all
 * to the writer under their old ids. */
bool _lns_recover_write_definitions (LnsRecover *recover);

/* How many events the file at PATH says that it held when it was last committed, or that it lacked
 * then, whatever is left of them. False where it cannot be asked any more. */
bool _lns_recover_told_events (const char *path, uint64_t *ret_n_events);

/* Fills the error with "not enough memory". Returns false. */
static inline bool
_lns_recover_no_memory (LnsRecover *recover)
{
  return lns_error_set (recover->error, LNS_ERROR_NO_MEMORY, 0,
                        "%s: not enough memory to recover it; close other programs", recover->path);
}

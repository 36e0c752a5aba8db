/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the files that read a foreign file share. */

#pragma once

#include <sqlite3.h>

#include "src/import/nsys/foreign.h"

/* No text or blob is larger. */
#define LNS_FOREIGN_VALUE_BYTES (64 << 20)

struct LnsForeign
{
  sqlite3 *db;
  char *name; /* in errors                                                                       */
  const atomic_bool *cancel;
  LNS_ARRAY (LnsForeignTable) tables;
};

bool _lns_foreign_is_cancelled (const LnsForeign *foreign);

/* Fills ERROR with what SQLite says of its last call, in a sentence. Returns false. */
bool _lns_foreign_fail (LnsForeign *foreign, LnsError *error);

/* The same for CODE of SQLite. */
bool _lns_foreign_fail_code (LnsForeign *foreign, int code, const char *text, LnsError *error);

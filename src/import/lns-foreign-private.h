/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files that read a foreign file. */

#pragma once

#include <sqlite3.h>

#include "src/import/lns-foreign.h"

struct LnsForeign
{
  sqlite3 *db;
  char *path;
  const atomic_bool *cancel;
  LnsForeignTable *tables;
  unsigned n_tables;
  struct LnsForeignReading *reading; /* in progress, or NULL                                     */
};

/* Fills ERROR with what SQLite says of its last call, in a sentence. Returns false. */
bool _lns_foreign_fail (LnsForeign *foreign, LnsError *error);

/* Gives the file's connection the functions by which rows are read. */
bool _lns_foreign_add_functions (LnsForeign *foreign);

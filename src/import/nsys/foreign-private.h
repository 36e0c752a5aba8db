/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A foreign file, as foreign.c and the reader of its pages know it. */

#pragma once

#include <sqlite3.h>

#include "src/import/nsys/foreign.h"

/* The limit of the size of a text or blob. */
#define LNS_FOREIGN_VALUE_BYTES (64 << 20)

struct LnsForeign
{
  sqlite3 *db;
  char *name; /* in errors                                                                       */
  const atomic_bool *cancel;
  LNS_ARRAY (LnsForeignTable) tables;
};

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* One cell of a table, as SQL has them. A plain value; what `bytes` points to is owned by the
 * report or its tables and lives as long as they do, or, where it is transient, by the cursor and
 * lives until that is asked for another value. Text is arbitrary bytes: programs name their ranges
 * as they like. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum
{
  LNS_VALUE_NULL,
  LNS_VALUE_INTEGER,
  LNS_VALUE_REAL,
  LNS_VALUE_TEXT,
  LNS_VALUE_BLOB
} LnsValueType;

typedef struct
{
  LnsValueType type;
  bool transient;
  size_t size_bytes; /* of text and blob                                                        */
  union
  {
    int64_t integer;
    double real;
    const char *bytes;
  };
} LnsValue;

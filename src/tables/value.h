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

/* 16 bytes, which functions return in registers. */
typedef struct
{
  uint32_t size_bytes; /* of text and blob                                                      */
  uint8_t type;        /* LnsValueType                                                          */
  bool transient;
  union
  {
    int64_t integer;
    double real;
    const char *bytes;
  };
} LnsValue;

_Static_assert(sizeof (LnsValue) == 16, "rows are read by the value");

static inline LnsValue
lns_value_integer (int64_t integer)
{
  return (LnsValue){ .type = LNS_VALUE_INTEGER, .integer = integer };
}

/* NULL for 0. */
static inline LnsValue
lns_value_integer_or_null (int64_t integer)
{
  return integer != 0 ? lns_value_integer (integer) : (LnsValue){ 0 };
}

/* SIZE_BYTES of text; what nothing could hold is cut off. */
static inline LnsValue
lns_value_text (const char *bytes, size_t size_bytes)
{
  return (LnsValue){ .type = LNS_VALUE_TEXT,
                     .bytes = bytes,
                     .size_bytes = size_bytes < UINT32_MAX ? (uint32_t)size_bytes : UINT32_MAX };
}

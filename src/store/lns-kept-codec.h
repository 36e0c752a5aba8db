/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of tables that a report keeps as they came (FORMAT.md, "Kept rows"): blocks of rows, column by
 * column. Thread-safe, no state. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/lns-buffer.h"

/* What a value is; the numbers stand in the file. */
typedef enum
{
  LNS_KEPT_NULL,
  LNS_KEPT_INTEGER,
  LNS_KEPT_REAL,
  LNS_KEPT_TEXT,
  LNS_KEPT_BLOB,
  LNS_KEPT_UNSET,  /* of a remainder: what the event itself says                                 */
  LNS_KEPT_STRING, /* an id of StringIds: a string id of the report                              */
  LNS_N_KEPT_TYPES
} LnsKeptType;

typedef struct
{
  LnsKeptType type;
  size_t size_bytes; /* of text and blob                                                        */
  union
  {
    int64_t integer; /* of strings too                                                          */
    double real;
    const char *bytes;
  };
} LnsKeptValue;

#define LNS_KEPT_MAX_ROWS    4096
#define LNS_KEPT_MAX_COLUMNS 63 /* of tables here                                                */

/* Appends the block of N_ROWS × N_COLUMNS values, row by row, to OUT. */
void
lns_kept_encode (LnsBuffer *out, const LnsKeptValue *values, uint32_t n_rows, uint32_t n_columns);

/* The values of the block, row by row, to be freed; text and blobs lie in BYTES. NULL where the block is
 * damaged or memory ran out. */
LnsKeptValue *lns_kept_decode (const char *bytes,
                               size_t size_bytes,
                               uint32_t *ret_n_rows,
                               uint32_t *ret_n_columns) __attribute__ ((warn_unused_result));

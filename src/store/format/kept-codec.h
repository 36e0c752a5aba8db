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

#include "src/base/buffer.h"

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

/* A block of columns without values takes a byte for each: these bound what a small file can make of itself. */
#define LNS_KEPT_MAX_ROWS    1024
#define LNS_KEPT_MAX_COLUMNS 63 /* of tables here                                                */
#define LNS_KEPT_MAX_TABLES  4096

/* Appends the block of N_ROWS × N_COLUMNS values, row by row, to OUT. */
void
lns_kept_encode (LnsBuffer *out, const LnsKeptValue *values, uint32_t n_rows, uint32_t n_columns);

/* Whether BYTES begin as a block does; the rest may be damaged. Decodes no value. */
bool lns_kept_shape (const char *bytes,
                     size_t size_bytes,
                     uint32_t *ret_n_rows,
                     uint32_t *ret_n_columns);

/* The values of the block, row by row, to be freed; text and blobs lie in BYTES. NULL where the block is
 * damaged or memory ran out. */
LnsKeptValue *lns_kept_decode (const char *bytes,
                               size_t size_bytes,
                               uint32_t *ret_n_rows,
                               uint32_t *ret_n_columns) __attribute__ ((warn_unused_result));

/* The same of a block that has N_ROWS and N_COLUMNS, NULL where it has others. */
LnsKeptValue *
lns_kept_decode_as (const char *bytes, size_t size_bytes, uint32_t n_rows, uint32_t n_columns)
    __attribute__ ((warn_unused_result));

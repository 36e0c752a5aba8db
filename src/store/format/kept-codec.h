/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of foreign tables that a report keeps unchanged (FORMAT.md, "Kept rows"): blocks of rows, stored column by column.
 * Thread-safe, no state. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buffer.h"

/* The type of a value. The file contains these numbers. */
typedef enum
{
  LNS_KEPT_NULL,
  LNS_KEPT_INTEGER,
  LNS_KEPT_REAL,
  LNS_KEPT_TEXT,
  LNS_KEPT_BLOB,
  LNS_KEPT_UNSET,  /* in a remainder: the event itself has the value */
  LNS_KEPT_STRING, /* an id of StringIds: a string id of the report */
  LNS_N_KEPT_TYPES
} LnsKeptType;

typedef struct
{
  LnsKeptType type;
  size_t size_bytes; /* of text and blob */
  union
  {
    int64_t integer; /* of strings too */
    double real;
    const char *bytes;
  };
} LnsKeptValue;

/* A column without values takes one byte in the file, so these limits bound how much memory a small file can take. */
#define LNS_KEPT_MAX_ROWS    1024
#define LNS_KEPT_MAX_COLUMNS 63 /* of tables here */
#define LNS_KEPT_MAX_TABLES  4096

/* Appends the block of N_ROWS × N_COLUMNS values, row by row, to OUT. */
void
lns_kept_encode (LnsBuffer *out, const LnsKeptValue *values, uint32_t n_rows, uint32_t n_columns);

/* Reads the numbers of rows and columns from the start of a block. Returns false if they are out of bounds. Does not
 * decode values. */
bool lns_kept_shape (const char *bytes,
                     size_t size_bytes,
                     uint32_t *ret_n_rows,
                     uint32_t *ret_n_columns);

/* The values of the block, row by row. The caller frees the array; texts and blobs point into BYTES. NULL if the block is
 * damaged or memory runs out. */
LnsKeptValue *lns_kept_decode (const char *bytes,
                               size_t size_bytes,
                               uint32_t *ret_n_rows,
                               uint32_t *ret_n_columns) __attribute__ ((warn_unused_result));

/* The same, or NULL if the block does not have N_ROWS and N_COLUMNS. */
LnsKeptValue *
lns_kept_decode_as (const char *bytes, size_t size_bytes, uint32_t n_rows, uint32_t n_columns)
    __attribute__ ((warn_unused_result));

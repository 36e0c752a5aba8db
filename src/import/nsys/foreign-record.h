/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Decodes and encodes rows in the record format of SQLite's files: a header with the type of each value, then the values
 * (https://www.sqlite.org/fileformat2.html#record_format). */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buffer.h"
#include "src/store/format/kept-codec.h"

#define LNS_RECORD_VALUES_MAX 256

/* Says which values of a record are read, and where they go. */
typedef struct
{
  unsigned n_stored;                    /* so many values of a record are looked at             */
  int place[LNS_RECORD_VALUES_MAX];     /* of each among those wanted, or -1                    */
  bool is_real[LNS_RECORD_VALUES_MAX];  /* whole numbers stand there for real ones              */
  bool is_rowid[LNS_RECORD_VALUES_MAX]; /* NULL stands there for the row's id                   */
} LnsRecordPlan;

/* Reads a number of 1 to 9 bytes at *AT, before END. False where it does not end before END. */
bool _lns_record_varint (const uint8_t **at, const uint8_t *end, uint64_t *ret_number);

/* Puts the values that PLAN selects from the SIZE_BYTES of RECORD into VALUES; texts stay in RECORD. False where it is
 * not a valid record. O(values looked at). */
bool _lns_record_decode (const LnsRecordPlan *plan,
                         const uint8_t *record,
                         size_t size_bytes,
                         int64_t rowid,
                         LnsKeptValue *values);

/* Appends the record of N VALUES to OUT. */
void _lns_record_encode (LnsBuffer *out, const LnsKeptValue *values, unsigned n);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How many events records hold, without decoding them. Thread-safe. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Events that begin in some records: a range counts where it begins, a record of several samples as
 * one. */
typedef struct
{
  uint32_t n;      /* of all kinds */
  uint32_t n_late; /* of them, those that reach the writer only when the batch is settled */
} LnsBegun;

/* How many events begin in N_BYTES of whole records, which another process may be changing. */
LnsBegun lns_records_count_begun (const uint8_t *bytes, size_t n_bytes);

/* At least how many events the N_BYTES at BYTES had, which begin with a record that is overwritten: it is one,
 * and those of the sound records at the end are others. O(N_BYTES). */
uint64_t lns_records_count_damaged (const uint8_t *bytes, size_t n_bytes);

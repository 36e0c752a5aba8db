/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Counts the events in records without decoding them. Thread-safe. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* The events that begin in some records. A range counts where it begins; a record of several samples counts as
 * one. */
typedef struct
{
  uint32_t n;      /* of all kinds */
  uint32_t n_late; /* of n: those that are paired, and so written, only when the batch is settled */
} LnsBegun;

/* Counts the events that begin in N_BYTES of whole records, which another process may be changing. */
LnsBegun lns_records_count_begun (const uint8_t *bytes, size_t n_bytes);

/* The least number of events in the N_BYTES at BYTES, whose first record was overwritten: it counts as one, and the
 * valid records at the end are counted. O(N_BYTES). */
uint64_t lns_records_count_damaged (const uint8_t *bytes, size_t n_bytes);

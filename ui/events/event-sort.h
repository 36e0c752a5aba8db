/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sorts many rows by 64-bit keys, or finds only the first ones. Pure functions; any thread. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

/* The key of ROW. */
typedef uint64_t (*LnsKeyFunc) (const void *data, uint32_t row);

/* Fills RET_ORDER with 0 … N-1 in ascending order of what KEY says with DATA, equal keys in ascending order of row. Divides the rows
 * into parts by samples, and sorts these by their digits: O(N × (log parts + bytes that differ)), less than 2 N bytes of its own,
 * and two calls of KEY a row. Returns false if CANCELLABLE (may be NULL) was cancelled or memory ran out. */
bool lns_event_sort (
    LnsKeyFunc key, const void *data, uint32_t n, uint32_t *ret_order, GCancellable *cancellable);

/* The first rows of that order: calls KEY once a row. ACCEPTS (may be NULL) says with ACCEPTS_DATA which rows take part.
 * Writes at most K ≤ LNS_EVENT_FIRST_MAX rows and returns how many. O(N + K log K). */
#define LNS_EVENT_FIRST_MAX 512
typedef bool (*LnsRowFilter) (uint32_t row, const void *data);
uint32_t lns_event_sort_first (LnsKeyFunc key,
                               const void *data,
                               uint32_t n,
                               LnsRowFilter accepts,
                               const void *accepts_data,
                               uint32_t k,
                               uint32_t *ret_rows);

/* Keys that order like the numbers. */
static inline uint64_t
lns_event_key_int (int64_t value)
{
  return (uint64_t)value ^ UINT64_C (1) << 63;
}

static inline uint64_t
lns_event_key_double (double value)
{
  union
  {
    double value;
    uint64_t bits;
  } u = { value };
  /* A negative number's larger magnitude is the smaller number. */
  return u.bits >> 63 ? ~u.bits : u.bits ^ UINT64_C (1) << 63;
}

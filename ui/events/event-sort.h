/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sorts many rows by 64-bit keys, or finds only the first ones. Pure functions; any thread. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

/* Fills RET_ORDER with 0 … N-1 in ascending order of KEYS, equal keys in ascending order of row.
 * Radix sort: O(N × bytes that differ), 4 N bytes of its own. Returns false if CANCELLABLE (may
 * be NULL) was cancelled or memory ran out. */
bool
lns_event_sort (const uint64_t *keys, uint32_t n, uint32_t *ret_order, GCancellable *cancellable);

/* The first rows of that order: reads KEYS once. ACCEPTS (may be NULL) says which rows take part.
 * Writes at most K ≤ LNS_EVENT_FIRST_MAX rows and returns how many. O(N + K log K). */
#define LNS_EVENT_FIRST_MAX 512
typedef bool (*LnsRowFilter) (uint32_t row, const void *data);
uint32_t lns_event_sort_first (const uint64_t *keys,
                               uint32_t n,
                               LnsRowFilter accepts,
                               const void *data,
                               uint32_t k,
                               uint32_t *ret_rows);

/* Keys that order like the numbers. */
static inline uint64_t
lns_event_key_int (int64_t value)
{
  return (uint64_t)value ^ UINT64_C (1) << 63;
}

static inline int64_t
lns_event_key_to_int (uint64_t key)
{
  return (int64_t)(key ^ UINT64_C (1) << 63);
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

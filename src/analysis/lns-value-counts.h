/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Counts by 32-bit key: an open-addressed hash table that only grows. Zero it before first use. One
 * thread at a time. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct
{
  uint32_t key;
  uint32_t count; /* 0 = the slot is free                                                       */
} LnsValueCount;

typedef struct
{
  LnsValueCount *slots; /* 1 << bits of them, or NULL                                           */
  unsigned bits;
  uint32_t n; /* slots in use                                                                   */
} LnsValueCounts;

/* Makes room for one more key. False without memory. */
bool lns_value_counts_grow (LnsValueCounts *counts);
void lns_value_counts_clear (LnsValueCounts *counts);

/* Adds COUNT (> 0) to KEY; counts stay at UINT32_MAX. False without memory. O(1). */
static inline bool
lns_value_counts_add (LnsValueCounts *counts, uint32_t key, uint32_t count)
{
  if (counts->slots == NULL || counts->n >= (UINT32_C (3) << counts->bits) / 4)
    if (!lns_value_counts_grow (counts))
      return false;
  uint32_t mask = (UINT32_C (1) << counts->bits) - 1;
  uint32_t i = (key * UINT32_C (0x9E3779B1)) >> (32 - counts->bits);
  while (counts->slots[i].count != 0 && counts->slots[i].key != key)
    i = (i + 1) & mask;
  counts->n += counts->slots[i].count == 0;
  counts->slots[i].key = key;
  counts->slots[i].count +=
      count <= UINT32_MAX - counts->slots[i].count ? count : UINT32_MAX - counts->slots[i].count;
  return true;
}

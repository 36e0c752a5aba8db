/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sorts what came from lanes, which are in order each, and searches it. */

#pragma once

#include <stddef.h>

/* Sorts N ITEMS of SIZE_BYTES; equal ones keep their order. O(n log r) for r ascending runs, with as much memory
 * again. */
void
lns_order (void *items, size_t n, size_t size_bytes, int (*compare) (const void *, const void *));

/* How many of the N ITEMS of SIZE_BYTES, which are in the order of COMPARE, come before WANTED. O(log n). */
static inline size_t
lns_lower_bound (const void *items,
                 size_t n,
                 size_t size_bytes,
                 const void *wanted,
                 int (*compare) (const void *, const void *))
{
  size_t low = 0, high = n;

  while (low < high)
    {
      const size_t middle = low + (high - low) / 2;
      if (compare ((const char *)items + middle * size_bytes, wanted) < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sorts arrays that were read from several lanes, each of which was in order, and searches them. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/search.h"

/* Sorts N ITEMS of SIZE_BYTES; equal ones keep their order. O(n log r) for r ascending runs, with as much memory
 * again. */
void
lns_order (void *items, size_t n, size_t size_bytes, int (*compare) (const void *, const void *));

/* Moves the N VALUES, of which there is at least one, so that number K (from 0) of them in order is at K, and none before it is greater.
 * O(n) on average. */
void lns_select (int64_t *values, size_t n, size_t k);

/* How many of the N ITEMS of SIZE_BYTES, which are in the order of COMPARE, come before WANTED. O(log n). */
static inline size_t
lns_lower_bound (const void *items,
                 size_t n,
                 size_t size_bytes,
                 const void *wanted,
                 int (*compare) (const void *, const void *))
{
  return LNS_LOWER_BOUND (n, i, compare ((const char *)items + i * size_bytes, wanted) < 0);
}

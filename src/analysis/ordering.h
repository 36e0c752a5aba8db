/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sorting of what came from lanes, which are in order each. */

#pragma once

#include <stddef.h>

/* Sorts N ITEMS of SIZE_BYTES; equal ones keep their order. O(n log r) for r ascending runs, with as much
 * memory again; where there is none, as qsort () does it. */
void
lns_order (void *items, size_t n, size_t size_bytes, int (*compare) (const void *, const void *));

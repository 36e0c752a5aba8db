/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Ranges of a trace that have begun and not ended, by what tells them apart. Zero it before first use. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint64_t key;
  int64_t row;
  uint32_t below; /* the one of the same bucket that began before; of free places the next      */
} LnsOpenRange;

typedef struct
{
  LnsOpenRange *ranges; /* owned                                                                 */
  uint32_t *buckets;    /* owned: the one of each that began last                                */
  uint32_t n_allocated; /* of both                                                               */
  uint32_t free;        /* the first free place                                                  */
} LnsOpenRanges;

void _lns_open_ranges_clear (LnsOpenRanges *open);

/* Begins a range of KEY, which is ROW of its table. False without memory. Amortised O(1). */
bool _lns_open_ranges_add (LnsOpenRanges *open, uint64_t key, int64_t row);

/* Ends the one of KEY that began last. False where there is none. O(1) where keys differ. */
bool _lns_open_ranges_take (LnsOpenRanges *open, uint64_t key, int64_t *ret_row);

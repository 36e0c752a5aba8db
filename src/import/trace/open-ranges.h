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
  uint64_t key;     /* in its process                                                           */
  uint64_t any_key; /* in all processes                                                         */
  int64_t row;
  int64_t start_ns;
  int64_t last_ns; /* when the last range of its key began or ended                             */
  int64_t tid;
  bool is_arrow;
  uint32_t below; /* the one of the same bucket that began before; of free places the next      */
} LnsOpenRange;

typedef struct
{
  LnsOpenRange *ranges; /* owned                                                                 */
  uint32_t *buckets;    /* owned: the one of each that began last                                */
  uint32_t n_allocated; /* of both                                                               */
  uint32_t n_open;
  uint32_t free;      /* the first free place                                                  */
  uint32_t n_emptied; /* buckets, from the first one on: by _lns_open_ranges_take_any ()       */
} LnsOpenRanges;

void _lns_open_ranges_clear (LnsOpenRanges *open);

/* Begins RANGE, of its key. False without memory. Amortised O(1). */
bool _lns_open_ranges_add (LnsOpenRanges *open, const LnsOpenRange *range);

/* The one of KEY that began last, until the next call that changes OPEN; NULL where there is none. */
LnsOpenRange *_lns_open_ranges_last (const LnsOpenRanges *open, uint64_t key);

/* Ends the one of KEY that began last. False where there is none. O(1) where keys differ. */
bool _lns_open_ranges_take (LnsOpenRanges *open, uint64_t key, LnsOpenRange *ret_range);

/* Takes one of those that are left, in no order. False where there is none. Amortised O(1), as long as none is added
 * in between. */
bool _lns_open_ranges_take_any (LnsOpenRanges *open, LnsOpenRange *ret_range);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Binary search:
 *
 *   size_t at = LNS_LOWER_BOUND (n, i, times_ns[i] < time_ns);
 *
 * is the first of the places 0 … n - 1 for which the condition is false, or n. The condition must be true before some place
 * and false from there on. I names the place within the condition. O(log n). */

#pragma once

#include <stdint.h>

#define LNS_LOWER_BOUND(n, i, is_before)                                                           \
 __extension__({                                                                                   \
 uint64_t low_ = 0, high_ = (n);                                                                   \
 while (low_ < high_)                                                                              \
  {                                                                                                \
   const uint64_t i = low_ + (high_ - low_) / 2;                                                   \
   if (is_before)                                                                                  \
    low_ = i + 1;                                                                                  \
   else                                                                                            \
    high_ = i;                                                                                     \
  }                                                                                                \
 low_;                                                                                             \
 })

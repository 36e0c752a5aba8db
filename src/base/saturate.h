/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sums and differences that saturate at the least and the greatest number instead of overflowing, for numbers from
 * files. */

#pragma once

#include <stdint.h>

static inline int64_t
lns_sum (int64_t a, int64_t b)
{
  int64_t sum;
  return !__builtin_add_overflow (a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t
lns_difference (int64_t a, int64_t b)
{
  int64_t difference;
  return !__builtin_sub_overflow (a, b, &difference) ? difference : a < b ? INT64_MIN : INT64_MAX;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Numbers for tests of formats: any bits, the same on each run. */

#pragma once

#include <stdint.h>

/* The next number after *STATE, which must not be 0. xorshift64 of Marsaglia, "Xorshift RNGs" (2003). */
static inline uint64_t
test_random (uint64_t *state)
{
  uint64_t x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <stdint.h>
#include <time.h>

/* CLOCK now, in ns. */
static inline int64_t
lns_clock_now_ns (clockid_t clock)
{
  struct timespec now;
  clock_gettime (clock, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

/* CLOCK_MONOTONIC now, in ns. */
static inline int64_t
lns_monotonic_ns (void)
{
  return lns_clock_now_ns (CLOCK_MONOTONIC);
}

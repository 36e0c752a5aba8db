/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/clock.h"

static int64_t
read_ns (clockid_t clock)
{
  struct timespec now;
  clock_gettime (clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void
lns_wire_clock_pair (LnsWireClock clock, LnsWireClockPair *ret_pair)
{
  LnsWireClockPair best = { .error_ns = INT64_MAX };
  for (int i = 0; i < 8; i++)
    {
      /* The ticks lie between two readings of MONOTONIC; their distance bounds the error. */
      int64_t first_ns = read_ns (CLOCK_MONOTONIC);
      uint64_t ticks = lns_wire_clock_ticks (clock);
      int64_t realtime_ns = read_ns (CLOCK_REALTIME);
      int64_t last_ns = read_ns (CLOCK_MONOTONIC);
      if (last_ns - first_ns >= best.error_ns)
        continue;
      best.ticks = ticks;
      best.monotonic_ns = first_ns + (last_ns - first_ns) / 2;
      best.realtime_ns = realtime_ns;
      best.error_ns = last_ns - first_ns;
    }
  if (clock == LNS_WIRE_CLOCK_MONOTONIC)
    best.monotonic_ns = (int64_t)best.ticks;
  *ret_pair = best;
}

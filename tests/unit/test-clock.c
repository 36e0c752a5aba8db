/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/clock-line.h"
#include "capture/wire/clock.h"
#include "src/base/monotonic.h"
#include "tests/tap.h"

static void
test_detection_gives_the_same_clock (void)
{
  LnsWireClock clock = lns_wire_clock_detect ();
  LNS_CHECK (clock == LNS_WIRE_CLOCK_TSC || clock == LNS_WIRE_CLOCK_MONOTONIC);
  LNS_CHECK_INT (lns_wire_clock_detect (), clock);
}

/* Each clock's ticks, put through two pairs around them, are the time that MONOTONIC shows. */
static void
check_clock (LnsWireClock clock)
{
  LnsWireClockPair before, after;
  lns_wire_clock_pair (clock, &before);
  enum
  {
    N = 1000
  };
  uint64_t ticks[N];
  int64_t low_ns[N], high_ns[N];
  for (int i = 0; i < N; i++)
    {
      low_ns[i] = lns_monotonic_ns ();
      ticks[i] = lns_wire_clock_ticks (clock);
      high_ns[i] = lns_monotonic_ns ();
    }
  nanosleep (&(struct timespec){ .tv_nsec = 2000000 }, NULL);
  lns_wire_clock_pair (clock, &after);
  LNS_CHECK (after.ticks > before.ticks);
  LNS_CHECK (after.monotonic_ns > before.monotonic_ns);
  LNS_CHECK (after.realtime_ns > INT64_C (1500000000) * 1000000000);
  int64_t slack_ns = before.error_ns + after.error_ns + 1;
  int64_t last_ns = INT64_MIN;
  static LnsClockLine line;
  lns_clock_line_init (&line, &before);
  lns_clock_line_add (&line, &after);
  for (int i = 0; i < N; i++)
    {
      int64_t ns = before.monotonic_ns + lns_clock_line_ns (&line, ticks[i]);
      LNS_CHECK (ns >= low_ns[i] - slack_ns && ns <= high_ns[i] + slack_ns);
      LNS_CHECK (ns >= last_ns);
      last_ns = ns;
    }
}

static void
test_monotonic (void)
{
  check_clock (LNS_WIRE_CLOCK_MONOTONIC);
}

static void
test_tsc (void)
{
  if (lns_wire_clock_detect () != LNS_WIRE_CLOCK_TSC)
    LNS_SKIP ("the time stamp counter is not the kernel's clock here");
  check_clock (LNS_WIRE_CLOCK_TSC);
}

int
main (void)
{
  LNS_TEST (test_detection_gives_the_same_clock);
  LNS_TEST (test_monotonic);
  LNS_TEST (test_tsc);
  return lns_tap_done ();
}

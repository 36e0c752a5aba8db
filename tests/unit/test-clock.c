/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/clock.h"
#include "tests/tap.h"

static int64_t
monotonic_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
test_detection_gives_a_reason_or_the_counter (void)
{
  const char *reason = "unset";
  LnsWireClock clock = lns_wire_clock_detect (&reason);
  LNS_CHECK ((clock == LNS_WIRE_CLOCK_TSC) == (reason == NULL));
  LNS_CHECK_INT (lns_wire_clock_detect (NULL), clock);
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
      low_ns[i] = monotonic_ns ();
      ticks[i] = lns_wire_clock_ticks (clock);
      high_ns[i] = monotonic_ns ();
    }
  nanosleep (&(struct timespec){ .tv_nsec = 2000000 }, NULL);
  lns_wire_clock_pair (clock, &after);
  LNS_CHECK (after.ticks > before.ticks);
  LNS_CHECK (after.monotonic_ns > before.monotonic_ns);
  LNS_CHECK (after.realtime_ns > INT64_C (1500000000) * 1000000000);
  int64_t slack_ns = before.error_ns + after.error_ns + 1;
  int64_t last_ns = INT64_MIN;
  for (int i = 0; i < N; i++)
    {
      int64_t ns = lns_wire_clock_interpolate (&before, &after, ticks[i]);
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
  if (lns_wire_clock_detect (NULL) != LNS_WIRE_CLOCK_TSC)
    LNS_SKIP ("the time stamp counter is not the kernel's clock here");
  check_clock (LNS_WIRE_CLOCK_TSC);
}

static void
test_interpolation (void)
{
  LnsWireClockPair a = { .ticks = 1000, .monotonic_ns = 500 };
  LnsWireClockPair b = { .ticks = 4000, .monotonic_ns = 1500 };
  LNS_CHECK_INT (lns_wire_clock_interpolate (&a, &b, 1000), 500);
  LNS_CHECK_INT (lns_wire_clock_interpolate (&a, &b, 4000), 1500);
  LNS_CHECK_INT (lns_wire_clock_interpolate (&a, &b, 2501), 1000);
  /* Outside, on both sides; rounded the same way on both. */
  LNS_CHECK_INT (lns_wire_clock_interpolate (&a, &b, 5500), 2000);
  LNS_CHECK_INT (lns_wire_clock_interpolate (&a, &b, 999), 499);
  LNS_CHECK_INT (lns_wire_clock_interpolate (&a, &b, 997), 499);
  LNS_CHECK_INT (lns_wire_clock_interpolate (&a, &b, 996), 498);
  /* Ten years of 5 GHz: no overflow, no lost nanosecond. */
  LnsWireClockPair c = { .ticks = UINT64_C (1) << 60, .monotonic_ns = 0 };
  LnsWireClockPair d = { .ticks = (UINT64_C (1) << 60) + 5 * UINT64_C (315360000000000000),
                         .monotonic_ns = 315360000000000000 };
  LNS_CHECK_INT (lns_wire_clock_interpolate (&c, &d, c.ticks + 5 * UINT64_C (315359999999999999)),
                 315359999999999999);
  /* Two pairs at one moment do not divide by zero. */
  LNS_CHECK_INT (lns_wire_clock_interpolate (&a, &a, 3000), 500);
}

int
main (void)
{
  LNS_TEST (test_detection_gives_a_reason_or_the_counter);
  LNS_TEST (test_monotonic);
  LNS_TEST (test_tsc);
  LNS_TEST (test_interpolation);
  return lns_tap_done ();
}

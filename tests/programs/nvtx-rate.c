/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* nvtx-rate RATE SECONDS: makes RATE ranges a second, a thousandth of them each millisecond, within one
 * that tells its number, "tick 0", "tick 1", …: of four names, of uneven lengths. What the machine keeps it
 * from is made up for. Prints the time of CLOCK_MONOTONIC, in ns, at its first tick, and how many ticks it
 * made. */

#include <nvtx3/nvToolsExt.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t
now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

static void
tick (int64_t number, int64_t n_ranges)
{
  static const char *const names[] = { "forward_step_conv1", "loss", "backward", "optimizer step" };
  static volatile uint32_t noise = 1;
  char name[32];
  snprintf (name, sizeof name, "tick %lld", (long long)number);
  nvtxRangePushA (name);
  for (int64_t i = 0; i < n_ranges; i++)
    {
      noise = noise * 1664525 + 1013904223;
      nvtxRangePushA (names[noise >> 30]);
      for (uint32_t spin = noise >> 26 & 15; spin > 0; spin--)
        noise += 0;
      nvtxRangePop ();
    }
  nvtxRangePop ();
}

int
main (int argc, char **argv)
{
  const int64_t rate = argc == 3 ? atoll (argv[1]) : 0,
                n_ticks = argc == 3 ? atoll (argv[2]) * 1000 : 0;
  if (rate < 1000 || n_ticks <= 0)
    return 2;
  const int64_t start_ns = now_ns ();
  for (int64_t number = 0; number < n_ticks; number++)
    {
      const int64_t at_ns = start_ns + number * 1000000;
      struct timespec until = { at_ns / 1000000000, at_ns % 1000000000 };
      clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
      tick (number, rate / 1000 - 1);
    }
  printf ("%lld %lld\n", (long long)start_ns, (long long)n_ticks);
  return 0;
}

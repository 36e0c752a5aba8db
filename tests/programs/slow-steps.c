/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* slow-steps STEPS PACE_US RANGES EVERY SLOW_MS: makes STEPS ranges "step", one each PACE_US microseconds, of RANGES ranges each. Each
 * EVERYth of them, beginning with the one with the number EVERY / 2, also has a range "stall N", where N is its number, that lasts SLOW_MS
 * milliseconds. Prints how many stalls there were. */

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
wait_until (int64_t at_ns)
{
  struct timespec until = { at_ns / 1000000000, at_ns % 1000000000 };
  clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void
stall (int64_t number, int64_t slow_ms)
{
  char name[32];
  snprintf (name, sizeof name, "stall %lld", (long long)number);
  nvtxRangePushA (name);
  wait_until (now_ns () + slow_ms * 1000000);
  nvtxRangePop ();
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { "load", "forward", "backward", "update" };
  int64_t words[5] = { 0 }, n_stalls = 0, next_ns = now_ns ();
  for (int i = 0; i < 5 && i + 1 < argc; i++)
    words[i] = atoll (argv[i + 1]);
  if (argc != 6 || words[0] <= 0 || words[3] <= 0)
    return 2;
  for (int64_t number = 0; number < words[0]; number++)
    {
      nvtxRangePushA ("step");
      for (int64_t i = 0; i < words[2]; i++)
        {
          nvtxRangePushA (names[i % 4]);
          nvtxRangePop ();
        }
      next_ns += words[1] * 1000;
      if (number % words[3] == words[3] / 2)
        {
          stall (number, words[4]);
          n_stalls++;
          next_ns = now_ns ();
        }
      wait_until (next_ns);
      nvtxRangePop ();
    }
  printf ("%lld\n", (long long)n_stalls);
  return 0;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/clock.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
# include <cpuid.h>
#endif

static int64_t
read_ns (clockid_t clock)
{
  struct timespec now;
  clock_gettime (clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#if defined(__x86_64__)
/* The first 8 KiB of the file at PATH, which hold the first core of cpuinfo; "" where it cannot be
 * read. */
static void
read_text (const char *path, char ret_text[8192])
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read (fd, ret_text, 8191);
  ret_text[n < 0 ? 0 : n] = '\0';
  if (fd >= 0)
    close (fd);
}
#endif

/* Whether the time stamp counter runs at one rate on all cores and in all sleep states, and the kernel trusts it. */
static bool
is_tsc_reliable (void)
{
#if defined(__x86_64__)
  unsigned a, b, c, d;
  char text[8192];
  if (!__get_cpuid (0x80000007, &a, &b, &c, &d) || (d & (1u << 8)) == 0)
    return false;
  read_text ("/proc/cpuinfo", text);
  if (strstr (text, " constant_tsc ") == NULL || strstr (text, " nonstop_tsc ") == NULL)
    return false;
  read_text ("/sys/devices/system/clocksource/clocksource0/current_clocksource", text);
  return strcmp (text, "tsc\n") == 0;
#else
  return false;
#endif
}

LnsWireClock
lns_wire_clock_detect (void)
{
  return is_tsc_reliable () ? LNS_WIRE_CLOCK_TSC : LNS_WIRE_CLOCK_MONOTONIC;
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

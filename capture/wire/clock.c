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

#if defined(__x86_64__)
/* Whether the kernel keeps its own time by the time stamp counter. */
static bool
is_tsc_trusted (void)
{
  char text[8] = "";
  const int fd = open ("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                       O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  const ssize_t n = read (fd, text, sizeof text - 1);
  close (fd);
  return n > 0 && strcmp (text, "tsc\n") == 0;
}
#endif

/* Whether the time stamp counter runs at one rate on all cores and in all sleep states, and the kernel trusts it. Asks the
 * processor for its "invariant TSC", which is constant_tsc and nonstop_tsc of /proc/cpuinfo: opening that file takes 10 ms
 * and more with kernels before 5.19, which then measure the frequency of each core (arch_freq_prepare_all () in
 * arch/x86/kernel/cpu/aperfmperf.c). */
static bool
is_tsc_reliable (void)
{
#if defined(__x86_64__)
  unsigned a, b, c, d;
  return __get_cpuid (0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) != 0 && is_tsc_trusted ();
#else
  return false;
#endif
}

LnsWireClock
lns_wire_clock_detect (void)
{
  return is_tsc_reliable () ? LNS_WIRE_CLOCK_TSC : LNS_WIRE_CLOCK_MONOTONIC;
}

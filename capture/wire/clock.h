/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The clock of the target's records. The session chooses one clock for all records of a process and writes
 * it into the pool's header: the time stamp counter (TSC) if it runs at one rate on all cores and in all
 * sleep states and the kernel trusts it, else CLOCK_MONOTONIC. */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef enum
{
  LNS_WIRE_CLOCK_TSC = 1,
  LNS_WIRE_CLOCK_MONOTONIC = 2 /* ticks are ns of CLOCK_MONOTONIC */
} LnsWireClock;

/* The same moment on all clocks. */
typedef struct
{
  uint64_t ticks;       /* of the clock chosen */
  int64_t monotonic_ns; /* CLOCK_MONOTONIC */
  int64_t realtime_ns;  /* CLOCK_REALTIME, since 1970 */
  int64_t error_ns;     /* the greatest possible distance between the readings */
} LnsWireClockPair;

/* Ticks of CLOCK now. Takes 8 ns (TSC) or 20 ns; no system call if the vDSO serves the clock. */
static inline uint64_t
lns_wire_clock_ticks (LnsWireClock clock)
{
#if defined(__x86_64__)
  if (__builtin_expect (clock == LNS_WIRE_CLOCK_TSC, 1))
    return __builtin_ia32_rdtsc ();
#endif
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Chooses the clock for recording on this machine. Reads CPUID's invariant TSC bit and the kernel's current clocksource. */
LnsWireClock lns_wire_clock_detect (void);

/* Reads all clocks eight times and keeps the readings that are closest together. Takes less than 2 µs. */
void lns_wire_clock_pair (LnsWireClock clock, LnsWireClockPair *ret_pair);

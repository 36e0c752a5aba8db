/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* All events of a process use one clock. From CUDA 11.6 on, CUPTI takes ours. Before, and where it would lose times by that,
 * it keeps its own, whose times are converted by readings of both clocks at the same moments. */

#include "capture/inject/cuda/clock.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/cuda/subscriber.h"

/* CUPTI_API_VERSION from CUDA 12.6 to below 13.1. From 12.6 Update 2 to 13.0, CUPTI gives some kernels times of 0 if a
 * clock is registered, according to the release notes of 13.1. Updates of 12.6 have the same number. */
#define FIRST_TO_LOSE_TIMES 24u
#define FIRST_TO_KEEP_TIMES 130100u

static bool is_cuda_up, has_jumped;

static uint64_t
ticks (void)
{
  return lns_wire_clock_ticks (lns_process.clock);
}

/* Reads both clocks at the same moment and adds the reading. Returns false if they cannot be read, or need not be. */
static bool
read_clocks (LnsWireCuptiReading *ret_reading)
{
  if (!lns_cuda_engine.has_own_clock || lns_cuda_is_silent () ||
      !__atomic_load_n (&is_cuda_up, __ATOMIC_ACQUIRE))
    return false;
  uint64_t best_ticks = UINT64_MAX;
  for (int i = 0; i < 8; i++)
    {
      uint64_t cupti_ns = 0, before = ticks ();
      if (lns_cuda_timestamp (&cupti_ns) != CUPTI_SUCCESS)
        return false;
      uint64_t after = ticks ();
      if (after - before >= best_ticks)
        continue;
      best_ticks = after - before;
      *ret_reading = (LnsWireCuptiReading){ cupti_ns, before + best_ticks / 2, best_ticks / 2 + 1 };
    }
  if (!lns_wire_cupti_clock_add (&lns_process.pool.header->cupti_clock, *ret_reading))
    __atomic_store_n (&has_jumped, true, __ATOMIC_RELEASE);
  return true;
}

void
lns_cuda_read_clocks (void)
{
  LnsWireCuptiReading reading;
  (void)read_clocks (&reading);
}

const LnsWireCuptiLines *
lns_cuda_lines (LnsWireCuptiLines *ret_lines)
{
  LnsWireCuptiReading reading;
  if (!lns_cuda_engine.has_own_clock)
    return NULL;
  const bool is_read = read_clocks (&reading);
  if (!lns_wire_cupti_clock_copy (&lns_process.pool.header->cupti_clock, is_read ? &reading : NULL,
                                  ret_lines) ||
      ret_lines->n == 0)
    *ret_lines = (LnsWireCuptiLines){ .n = 1, .joints = { { .ticks = ticks () } } };
  return ret_lines;
}

bool
lns_cuda_share_clock (void)
{
  const bool loses_times =
      lns_cupti.version >= FIRST_TO_LOSE_TIMES && lns_cupti.version < FIRST_TO_KEEP_TIMES;
  const bool takes_none =
      !lns_cuda_is_shared () && lns_cupti.ActivityRegisterTimestampCallback == NULL;
  lns_cuda_engine.has_own_clock = (loses_times || takes_none) && lns_cuda_has_timestamp ();
  if (lns_cuda_engine.has_own_clock || lns_cuda_set_clock (ticks))
    return true;
  lns_cuda_engine.has_own_clock = lns_cuda_is_shared () && lns_cuda_has_timestamp ();
  return lns_cuda_engine.has_own_clock;
}

void
lns_cuda_tell_clock (void)
{
  if (__atomic_load_n (&has_jumped, __ATOMIC_ACQUIRE))
    lns_cuda_problem (LNS_WIRE_PROBLEM_CLOCK, 0, 0, NULL);
}

void
lns_cuda_start_clocks (void)
{
  __atomic_store_n (&is_cuda_up, true, __ATOMIC_RELEASE);
  lns_cuda_read_clocks ();
}

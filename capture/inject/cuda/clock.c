/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* All events of a process use one clock. From CUDA 11.6 on, CUPTI takes ours; before, it has a clock of its own, whose
 * times are converted by readings of both clocks at the same moments. */

#include "capture/inject/cuda/clock.h"
#include "capture/inject/cuda/records.h"

static uint64_t
ticks (void)
{
  return lns_wire_clock_ticks (lns_process.clock);
}

void
lns_cuda_read_clocks (void)
{
  if (!lns_cuda_engine.has_own_clock)
    return;
  LnsWireCuptiReading best = { 0 };
  uint64_t best_ticks = UINT64_MAX;
  for (int i = 0; i < 8; i++)
    {
      uint64_t cupti_ns = 0, before = ticks ();
      if (lns_cupti.GetTimestamp (&cupti_ns) != CUPTI_SUCCESS)
        return;
      uint64_t after = ticks ();
      if (after - before >= best_ticks)
        continue;
      best_ticks = after - before;
      best = (LnsWireCuptiReading){ cupti_ns, before + best_ticks / 2 };
    }
  if (!lns_wire_cupti_clock_add (&lns_process.pool.header->cupti_clock, best))
    lns_cuda_problem (LNS_WIRE_PROBLEM_CLOCK, 0, 0, NULL);
}

const LnsWireCuptiReadings *
lns_cuda_readings (LnsWireCuptiReadings *ret_readings)
{
  if (!lns_cuda_engine.has_own_clock)
    return NULL;
  lns_cuda_read_clocks ();
  (void)lns_wire_cupti_clock_copy (&lns_process.pool.header->cupti_clock, ret_readings);
  return ret_readings;
}

bool
lns_cuda_share_clock (void)
{
  if (lns_cupti.ActivityRegisterTimestampCallback != NULL)
    return LNS_CUPTI_TRY (ActivityRegisterTimestampCallback, ticks);
  uint64_t now_ns = 0;
  lns_cuda_engine.has_own_clock = LNS_CUPTI_TRY (GetTimestamp, &now_ns);
  lns_cuda_read_clocks ();
  return lns_cuda_engine.has_own_clock;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/owner.h"
#include "capture/inject/cuda/buffers.h"
#include "capture/inject/cuda/clock.h"
#include "capture/inject/cuda/kinds.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/core/system.h"

/* After so many flushes and so long without a record of ours. CUPTI may take its time with a record. */
#define FLUSHES_WITHOUT 5
#define MS_WITHOUT      2000

/* Whether a record of ours as new as CORRELATION has come back. */
static bool
has_come_back (uint32_t correlation)
{
  const uint32_t seen = __atomic_load_n (&lns_cuda_engine.mark_seen, __ATOMIC_ACQUIRE);
  return seen != 0 && (int32_t)(seen - correlation) >= 0;
}

uint32_t
lns_cuda_mark (void)
{
  if (lns_cuda_is_silent () || !(lns_cuda_options ()->traces & LNS_WIRE_TRACE_CUDA))
    return 0;
  /* Calls of the control thread are known by that. */
  const bool is_control = (uint32_t)LNS_SYSCALL (SYS_gettid) == lns_cuda_engine.control_tid;
  const uint32_t correlation = lns_cuda_make_call (!is_control);
  if (correlation == 0)
    return 0;
  uint32_t none = 0;
  (void)__atomic_compare_exchange_n (&lns_process.pool.header->first_mark, &none, correlation,
                                     false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  return correlation;
}

void
lns_cuda_look_for_mark (uint32_t mark, bool is_last)
{
  static uint32_t known; /* the last mark that is known to be ours */
  static int64_t known_ms;
  static int n_without;
  const int64_t now_ms = lns_inject_monotonic_ms ();
  if (lns_cuda_is_silent () || __atomic_load_n (&lns_cuda_engine.is_disabled, __ATOMIC_ACQUIRE))
    return;
  const uint32_t first = __atomic_load_n (&lns_process.pool.header->first_mark, __ATOMIC_ACQUIRE);
  /* The other client may have come before the first flush, but not before the first mark. */
  if (known == 0 && first != 0 && (has_come_back (first) || lns_cuda_is_with_cupti (first)))
    {
      known = first;
      known_ms = now_ms;
    }
  /* A buffer that holds an incomplete record stays with CUPTI. */
  if (mark != 0 && (has_come_back (mark) || (!is_last && lns_cuda_is_with_cupti (mark))))
    {
      known = mark;
      known_ms = now_ms;
      n_without = 0;
      lns_cuda_tell_clock ();
      return;
    }
  n_without++;
  /* CUPTI has never given us such a record, or loses some. */
  if (known == 0 || lns_cuda_may_lack ())
    lns_cuda_tell_clock ();
  else if ((is_last && mark != 0) ||
           (n_without >= FLUSHES_WITHOUT && now_ms - known_ms >= MS_WITHOUT))
    lns_cuda_problem (LNS_WIRE_PROBLEM_TAKEN, 0, 0, NULL);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/cupti-calls.h"

#include <stddef.h>

/* --- Captures. ------------------------------------------------------------------------------- */

/* Whether the correlation A is of a later call than B. */
static bool
is_after (uint32_t a, uint32_t b)
{
  return (int32_t)(a - b) > 0;
}

/* Whether a thread whose CALLS these are captures when it makes the call CORRELATION. */
static bool
is_within (uint64_t calls, uint32_t correlation)
{
  const uint32_t first = (uint32_t)(calls >> 32), last = (uint32_t)calls;
  return first != 0 && is_after (correlation, first) &&
         (last == 0 || is_after (first, last) || is_after (last, correlation));
}

/* The captures of thread TID in CAPTURING. WANTED: adds it in the place of a thread that does not capture any more, if need be.
 * NULL: it is not known. */
static uint64_t *
captures_of (LnsWireCuptiCapturing *capturing, uint32_t tid, bool wanted)
{
  for (uint32_t i = 0; i < LNS_WIRE_CUPTI_CAPTURING; i++)
    if (__atomic_load_n (&capturing->threads[i].tid, __ATOMIC_ACQUIRE) == tid)
      return &capturing->threads[i].calls;
  for (uint32_t i = 0; i < 2 * LNS_WIRE_CUPTI_CAPTURING && wanted; i++)
    {
      /* Free places first. */
      uint32_t *place = &capturing->threads[i % LNS_WIRE_CUPTI_CAPTURING].tid;
      uint64_t *calls = &capturing->threads[i % LNS_WIRE_CUPTI_CAPTURING].calls;
      uint32_t known = __atomic_load_n (place, __ATOMIC_ACQUIRE);
      const uint64_t its = __atomic_load_n (calls, __ATOMIC_RELAXED);
      if (known != 0 &&
          (i < LNS_WIRE_CUPTI_CAPTURING || is_after ((uint32_t)(its >> 32), (uint32_t)its)))
        continue;
      if (!__atomic_compare_exchange_n (place, &known, tid, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
        continue;
      if (known == 0)
        __atomic_fetch_add (&capturing->n, 1, __ATOMIC_RELAXED);
      else
        __atomic_store_n (calls, 0, __ATOMIC_RELAXED);
      return calls;
    }
  return NULL;
}

/* Notes that the call CORRELATION begins, or ends, a capture, unless a later one is known. */
static void
note_capture (uint64_t *calls, uint32_t correlation, bool is_end)
{
  const int shift = is_end ? 0 : 32;
  uint64_t known = __atomic_load_n (calls, __ATOMIC_RELAXED), now;
  do
    {
      const uint32_t last = (uint32_t)(known >> shift);
      if (last != 0 && !is_after (correlation, last))
        return;
      now = (known & ~((uint64_t)UINT32_MAX << shift)) | (uint64_t)correlation << shift;
    }
  while (
      !__atomic_compare_exchange_n (calls, &known, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

bool
lns_wire_cupti_follow_capture (LnsWireCuptiCapturing *capturing,
                               uint32_t tid,
                               uint32_t correlation,
                               bool is_begin,
                               bool is_end)
{
  uint64_t *calls = NULL;
  if (tid != 0 && (is_begin || is_end || __atomic_load_n (&capturing->n, __ATOMIC_RELAXED) > 0))
    calls = captures_of (capturing, tid, is_begin || is_end);
  if (calls != NULL && (is_begin || is_end))
    note_capture (calls, correlation, is_end);
  return calls != NULL && is_within (__atomic_load_n (calls, __ATOMIC_RELAXED), correlation);
}

/* --- Ranges. --------------------------------------------------------------------------------- */

void
lns_wire_cupti_ranges_set (LnsWireCuptiRanges *ranges,
                           uint32_t serial,
                           const LnsWireCuptiRange *range)
{
  LnsWireCuptiRange *to = &ranges->ranges[serial % LNS_WIRE_CUPTI_RANGES];
  const bool is_new = (int32_t)(serial - ranges->n) >= 0;
  if (!is_new && (ranges->n - serial > LNS_WIRE_CUPTI_RANGES || to->last_ticks != UINT64_MAX))
    return;
  to->first = range->first;
  to->first_ticks = range->first_ticks;
  __atomic_store_n (&to->last, range->last, __ATOMIC_RELAXED);
  __atomic_store_n (&to->last_ticks, range->last_ticks, __ATOMIC_RELEASE);
  if (is_new)
    __atomic_store_n (&ranges->n, serial + 1, __ATOMIC_RELEASE);
}

bool
lns_wire_cupti_ranges_admit (const LnsWireCuptiRanges *ranges, uint32_t correlation, uint64_t ticks)
{
  const uint32_t n = __atomic_load_n (&ranges->n, __ATOMIC_ACQUIRE);
  /* The last one that began before it decides. The oldest is left out, as a new one may be taking its place. */
  for (uint32_t i = 1; i <= n && i < LNS_WIRE_CUPTI_RANGES; i++)
    {
      const LnsWireCuptiRange *range = &ranges->ranges[(n - i) % LNS_WIRE_CUPTI_RANGES];
      const bool is_begun = correlation != 0 && range->first != 0
                                ? (int32_t)(correlation - range->first) > 0
                                : ticks >= range->first_ticks;
      if (!is_begun)
        continue;
      const uint64_t last_ticks = __atomic_load_n (&range->last_ticks, __ATOMIC_ACQUIRE);
      const uint32_t last = __atomic_load_n (&range->last, __ATOMIC_RELAXED);
      return last_ticks == UINT64_MAX ||
             (correlation != 0 && last != 0 ? (int32_t)(correlation - last) < 0
                                            : ticks < last_ticks);
    }
  return false;
}

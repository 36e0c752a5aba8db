/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/cupti-clock.h"

#include <stdlib.h>
#include <string.h>

/* A reading that is further than this, and than 1 % of the distance, from the line so far is a jump and not drift. */
#define JUMP_NS 1000000

/* A line through two readings that are closer than this is too uncertain to be extended. So the last reading stays
 * only if it is that far from the one before. */
#define APART_NS 1000000

#define COPY_TRIES 100

/* Decades. Keeps the products of on_line() below 2^127. */
#define TICKS_MAX (UINT64_C (1) << 62)

/* Y at X on the line through two points, X0 < X1. Rounds down on both sides of X0, so that Y ascends with X. */
static uint64_t
on_line (uint64_t x0, uint64_t y0, uint64_t x1, uint64_t y1, uint64_t x)
{
  __int128 product = ((__int128)x - x0) * ((__int128)y1 - y0);
  __int128 run = (__int128)x1 - x0;
  return (uint64_t)(y0 + product / run - (product % run < 0));
}

/* Whether READING, the latest by ticks, continues the line of KNOWN. True if there is no line yet. */
static bool
goes_on (const LnsWireCuptiReadings *known, const LnsWireCuptiReading *reading)
{
  if (known->n == 0)
    return true;
  const LnsWireCuptiReading *from = &known->readings[0], *to = &known->readings[known->n - 1];
  if (reading->cupti_ns <= to->cupti_ns)
    return false;
  if (to->cupti_ns - from->cupti_ns < APART_NS)
    return true;
  int64_t expected_ns =
      (int64_t)on_line (from->ticks, from->cupti_ns, to->ticks, to->cupti_ns, reading->ticks);
  int64_t apart_ns = llabs ((int64_t)reading->cupti_ns - expected_ns);
  return apart_ns < JUMP_NS || apart_ns < (int64_t)(reading->cupti_ns - to->cupti_ns) / 100;
}

static void
append (LnsWireCuptiReadings *known, const LnsWireCuptiReading *reading)
{
  if (known->n >= 2 &&
      known->readings[known->n - 1].cupti_ns - known->readings[known->n - 2].cupti_ns < APART_NS)
    known->n--;
  if (known->n == LNS_WIRE_CUPTI_READINGS)
    {
      const uint32_t n_old = LNS_WIRE_CUPTI_READINGS / 2, n_kept = n_old / 2;
      for (uint32_t i = 0; i < n_kept; i++)
        known->readings[i] = known->readings[2 * i];
      memmove (&known->readings[n_kept], &known->readings[n_old],
               (LNS_WIRE_CUPTI_READINGS - n_old) * sizeof *reading);
      known->n = LNS_WIRE_CUPTI_READINGS - n_old + n_kept;
    }
  known->readings[known->n++] = *reading;
}

bool
lns_wire_cupti_clock_add (LnsWireCuptiClock *clock, LnsWireCuptiReading reading)
{
  if (__atomic_exchange_n (&clock->is_adding, 1, __ATOMIC_ACQUIRE) != 0)
    return true;
  const uint32_t n_added = __atomic_load_n (&clock->n_added, __ATOMIC_RELAXED);
  const LnsWireCuptiReadings *known = &clock->sides[n_added % 2];
  LnsWireCuptiReadings *next = &clock->sides[(n_added + 1) % 2];
  bool goes = true;
  if (known->n == 0 || reading.ticks > known->readings[known->n - 1].ticks)
    {
      goes = goes_on (known, &reading);
      *next = *known;
      next->n = goes ? next->n : 0;
      append (next, &reading);
      __atomic_store_n (&clock->n_added, n_added + 1, __ATOMIC_RELEASE);
    }
  __atomic_store_n (&clock->is_adding, 0, __ATOMIC_RELEASE);
  return goes;
}

bool
lns_wire_cupti_clock_copy (const LnsWireCuptiClock *clock, LnsWireCuptiReadings *ret_copy)
{
  bool is_whole = false;
  for (int i = 0; i < COPY_TRIES && !is_whole; i++)
    {
      uint32_t n_added = __atomic_load_n (&clock->n_added, __ATOMIC_ACQUIRE);
      memcpy (ret_copy, &clock->sides[n_added % 2], sizeof *ret_copy);
      __atomic_thread_fence (__ATOMIC_ACQUIRE);
      is_whole = __atomic_load_n (&clock->n_added, __ATOMIC_RELAXED) == n_added;
    }
  is_whole = is_whole && ret_copy->n <= LNS_WIRE_CUPTI_READINGS;
  for (uint32_t i = 1; is_whole && i < ret_copy->n; i++)
    if (ret_copy->readings[i].cupti_ns <= ret_copy->readings[i - 1].cupti_ns ||
        ret_copy->readings[i].ticks <= ret_copy->readings[i - 1].ticks ||
        ret_copy->readings[i].ticks - ret_copy->readings[0].ticks > TICKS_MAX)
      is_whole = false;
  if (!is_whole)
    memset (ret_copy, 0, sizeof *ret_copy);
  return is_whole;
}

uint64_t
lns_wire_cupti_clock_ticks (const LnsWireCuptiReadings *known, uint64_t cupti_ns)
{
  if (known->n < 2)
    return known->readings[0].ticks;
  uint32_t low = 0,
           high = known->n -
                  1; /* the two readings around the time; narrowed down until they are neighbours */
  while (high - low > 1)
    {
      uint32_t middle = low + (high - low) / 2;
      *(known->readings[middle].cupti_ns <= cupti_ns ? &low : &high) = middle;
    }
  const LnsWireCuptiReading *from = &known->readings[low], *to = &known->readings[high];
  return on_line (from->cupti_ns, from->ticks, to->cupti_ns, to->ticks, cupti_ns);
}

void
lns_wire_cupti_clock_convert (const LnsWireCuptiReadings *known, uint8_t *bytes)
{
  uint64_t time;
  memcpy (&time, bytes, sizeof time);
  if (time != 0)
    time = lns_wire_cupti_clock_ticks (known, time);
  memcpy (bytes, &time, sizeof time);
}

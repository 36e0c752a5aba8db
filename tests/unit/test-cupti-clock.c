/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/cupti-clock.h"
#include "tests/tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BASE_NS   UINT64_C (1700000000000000000)
#define SECOND    UINT64_C (1000000000)
#define TICK      3 /* ticks a nanosecond */
#define N_SECONDS 400

/* CUPTI's clock SINCE nanoseconds after its beginning, in ticks: it is 200 millionths too fast in each
 * even minute, and too slow by as much in the odd ones. */
static uint64_t
truth (uint64_t since_ns)
{
  int64_t in_period = (int64_t)(since_ns % (120 * SECOND));
  int64_t fast_ns =
      in_period < (int64_t)(60 * SECOND) ? in_period : (int64_t)(120 * SECOND) - in_period;
  return 1000 + (since_ns + (uint64_t)(fast_ns / 5000)) * TICK;
}

static LnsWireCuptiReading
reading_at (uint64_t since_ns)
{
  return (LnsWireCuptiReading){ BASE_NS + since_ns, truth (since_ns) };
}

static int64_t
error_at (const LnsWireCuptiReadings *known, uint64_t since_ns)
{
  return llabs (
             (int64_t)(lns_wire_cupti_clock_ticks (known, BASE_NS + since_ns) - truth (since_ns))) /
         TICK;
}

static void
times_between_readings_are_right (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiReadings known;
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, &known));
  LNS_CHECK_INT (known.n, 0);
  for (uint64_t second = 0; second < N_SECONDS; second++)
    {
      LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (second * SECOND)));
      LNS_CHECK (lns_wire_cupti_clock_copy (&clock, &known));
      if (second == 0)
        continue;
      /* The last second, within the rounding; where the rate changed, by what one line can tell. */
      const int64_t bound_ns = second % 60 == 0 || second % 60 == 1 ? 100000 : 2;
      for (uint64_t part = 0; part <= 10; part++)
        LNS_CHECK (error_at (&known, (second - 1) * SECOND + part * SECOND / 10) <= bound_ns);
    }
  /* Of long ago, fewer are kept; an offset alone would be wrong by 12 ms. */
  LNS_CHECK (known.n <= LNS_WIRE_CUPTI_READINGS);
  LNS_CHECK (error_at (&known, 0) == 0);
  LNS_CHECK (error_at (&known, (N_SECONDS - 20) * SECOND) <= 2);
  /* Between and beyond readings, too, later is never earlier. */
  uint64_t before = 0;
  for (uint64_t step = 0; step < N_SECONDS * 100 + 500; step++)
    {
      uint64_t ticks = lns_wire_cupti_clock_ticks (&known, BASE_NS + step * SECOND / 100);
      LNS_CHECK (ticks >= before);
      before = ticks;
    }
}

static void
readings_close_to_each_other_make_no_line (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiReadings known;
  /* The second is wrong by a tenth of its distance: it leaves when a better one comes. */
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, (LnsWireCuptiReading){ BASE_NS, 1000 }));
  LNS_CHECK (
      lns_wire_cupti_clock_add (&clock, (LnsWireCuptiReading){ BASE_NS + 1000, 1000 + 900 }));
  LNS_CHECK (
      lns_wire_cupti_clock_add (&clock, (LnsWireCuptiReading){ BASE_NS + SECOND, 1000 + SECOND }));
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, &known));
  LNS_CHECK_INT (known.n, 2);
  LNS_CHECK (lns_wire_cupti_clock_ticks (&known, BASE_NS + SECOND / 2) == 1000 + SECOND / 2);
}

static void
one_reading_is_a_moment (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiReadings known;
  lns_wire_cupti_clock_add (&clock, (LnsWireCuptiReading){ BASE_NS, 1000 });
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, &known));
  uint64_t times[2] = { BASE_NS + 5, 0 };
  lns_wire_cupti_clock_convert (&known, (uint8_t *)&times[0]);
  lns_wire_cupti_clock_convert (&known, (uint8_t *)&times[1]);
  LNS_CHECK_INT ((int64_t)times[0], 1000);
  LNS_CHECK_INT ((int64_t)times[1], 0);
}

static void
a_clock_that_is_set_is_told (void)
{
  for (int step = -1; step <= 1; step += 2)
    {
      LnsWireCuptiClock clock = { 0 };
      LnsWireCuptiReadings known;
      for (uint64_t second = 0; second < 5; second++)
        LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (second * SECOND)));
      LnsWireCuptiReading set = reading_at (5 * SECOND);
      set.cupti_ns += (uint64_t)(step * 3600 * (int64_t)SECOND);
      LNS_CHECK (!lns_wire_cupti_clock_add (&clock, set));
      LNS_CHECK (lns_wire_cupti_clock_copy (&clock, &known));
      LNS_CHECK_INT (known.n, 1);
      set.cupti_ns += SECOND;
      set.ticks += SECOND * TICK;
      LNS_CHECK (lns_wire_cupti_clock_add (&clock, set));
    }
}

/* A reading that another thread has overtaken is left out. */
static void
an_older_reading_is_left_out (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiReadings known;
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (SECOND)));
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (0)));
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, &known));
  LNS_CHECK_INT (known.n, 1);
  LNS_CHECK (known.readings[0].cupti_ns == BASE_NS + SECOND);
}

static LnsWireCuptiClock shared;
static bool is_over;

static void *
add_readings (void *first)
{
  for (uint64_t i = *(uint64_t *)first; i < 20000; i += 2)
    lns_wire_cupti_clock_add (&shared, reading_at (i * SECOND / 100));
  return NULL;
}

static void *
look_at_readings (void *unused)
{
  uint64_t n_bad = 0;
  LnsWireCuptiReadings known;
  while (!__atomic_load_n (&is_over, __ATOMIC_RELAXED))
    if (lns_wire_cupti_clock_copy (&shared, &known))
      for (uint32_t i = 0; i < known.n; i++)
        n_bad += known.readings[i].ticks != truth (known.readings[i].cupti_ns - BASE_NS);
  return (void *)(uintptr_t)n_bad;
}

static void
threads_do_not_mix_readings (void)
{
  pthread_t writers[2], reader;
  uint64_t first[2] = { 0, 1 };
  void *n_bad = NULL;
  pthread_create (&reader, NULL, look_at_readings, NULL);
  for (int i = 0; i < 2; i++)
    pthread_create (&writers[i], NULL, add_readings, &first[i]);
  for (int i = 0; i < 2; i++)
    pthread_join (writers[i], NULL);
  __atomic_store_n (&is_over, true, __ATOMIC_RELAXED);
  pthread_join (reader, &n_bad);
  LNS_CHECK_INT ((int64_t)(uintptr_t)n_bad, 0);
  LnsWireCuptiReadings known;
  LNS_CHECK (lns_wire_cupti_clock_copy (&shared, &known));
  LNS_CHECK (known.n > 2);
}

static void
what_makes_no_sense_is_nothing (void)
{
  LnsWireCuptiClock clock = { .sides[0].n = LNS_WIRE_CUPTI_READINGS + 1 };
  LnsWireCuptiReadings known;
  LNS_CHECK (!lns_wire_cupti_clock_copy (&clock, &known));
  LNS_CHECK_INT (known.n, 0);
  clock.sides[0].n = 2; /* both at 0 */
  LNS_CHECK (!lns_wire_cupti_clock_copy (&clock, &known));
  clock.sides[0].readings[1] = (LnsWireCuptiReading){ 1, UINT64_MAX };
  LNS_CHECK (!lns_wire_cupti_clock_copy (&clock, &known));
}

int
main (void)
{
  LNS_TEST (times_between_readings_are_right);
  LNS_TEST (readings_close_to_each_other_make_no_line);
  LNS_TEST (one_reading_is_a_moment);
  LNS_TEST (a_clock_that_is_set_is_told);
  LNS_TEST (an_older_reading_is_left_out);
  LNS_TEST (threads_do_not_mix_readings);
  LNS_TEST (what_makes_no_sense_is_nothing);
  return lns_tap_done ();
}

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
#define LOOKS_MAX 200000

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
  return (LnsWireCuptiReading){ BASE_NS + since_ns, truth (since_ns), 0 };
}

static uint64_t
ticks_at (const LnsWireCuptiLines *lines, uint64_t since_ns)
{
  return lns_wire_cupti_clock_ticks (lines, BASE_NS + since_ns);
}

static int64_t
error_at (const LnsWireCuptiLines *lines, uint64_t since_ns)
{
  return llabs ((int64_t)(ticks_at (lines, since_ns) - truth (since_ns))) / TICK;
}

static void
times_between_readings_are_right (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiLines lines;
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
  LNS_CHECK_INT (lines.n, 0);
  for (uint64_t second = 0; second < N_SECONDS; second++)
    {
      LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (second * SECOND)));
      LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
      /* The rate changes at readings, so a line between two of them is right within the rounding. */
      for (uint64_t part = 0; second > 0 && part <= 10; part++)
        LNS_CHECK (error_at (&lines, (second - 1) * SECOND + part * SECOND / 10) <= 5);
    }
  LNS_CHECK (lines.n <= LNS_WIRE_CUPTI_JOINTS);
  /* After this there is nothing to learn: the line goes on. */
  LNS_CHECK (error_at (&lines, (N_SECONDS + 10) * SECOND) <= 10);
}

/* A random number below N. */
static uint64_t
below (uint64_t *state, uint64_t n)
{
  *state = *state * UINT64_C (6364136223846793005) + UINT64_C (1442695040888963407);
  return (*state >> 33) % n;
}

/* A clock whose rate changes by up to 0.05 % every 300 ms, and readings of it that are off by up to 500 ns, a few
 * microseconds to a second apart. */
typedef struct
{
  uint64_t random, now_ns, turn_ns;
  __int128 now_ticks; /* times 10^6 */
  int64_t ppm;
} Wild;

#define NOISE_TICKS (500 * TICK)

static void
advance (Wild *wild, uint64_t until_ns)
{
  while (wild->now_ns < until_ns)
    {
      if (wild->turn_ns <= wild->now_ns)
        {
          wild->turn_ns = wild->now_ns + 300 * SECOND / 1000;
          wild->ppm = (int64_t)below (&wild->random, 1001) - 500;
        }
      const uint64_t to_ns = until_ns < wild->turn_ns ? until_ns : wild->turn_ns;
      wild->now_ticks += (__int128)(to_ns - wild->now_ns) * TICK * (1000000 + wild->ppm);
      wild->now_ns = to_ns;
    }
}

static LnsWireCuptiReading
read_wild (Wild *wild)
{
  static const uint64_t pauses_ns[] = { 5000, 300000, 20000000, SECOND };
  advance (wild, wild->now_ns + 1 + below (&wild->random, pauses_ns[below (&wild->random, 4)]));
  const uint64_t ticks = 1000000 + (uint64_t)(wild->now_ticks / 1000000);
  const uint64_t off = below (&wild->random, 2 * NOISE_TICKS);
  return (LnsWireCuptiReading){ BASE_NS + wild->now_ns, ticks + off - NOISE_TICKS, NOISE_TICKS };
}

/* What was converted by one state of the clock. */
static struct
{
  uint64_t since_ns, ticks;
  uint32_t n_changed;
} looks[LOOKS_MAX];

/* Records that CUPTI gives back later must fit to those that are written. */
static void
times_do_not_change (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiLines lines;
  Wild wild = { .random = 7 };
  size_t n_looks = 0;
  uint64_t from_ns = 0;
  for (int i = 0; i < 4000; i++)
    {
      LNS_CHECK (lns_wire_cupti_clock_add (&clock, read_wild (&wild)));
      LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
      /* Each bend adds two joints at most, and the newer half of them is never touched. */
      for (size_t k = n_looks;
           k-- > 0 && clock.n_changed - looks[k].n_changed < LNS_WIRE_CUPTI_JOINTS / 4 - 1;)
        LNS_CHECK (ticks_at (&lines, looks[k].since_ns) == looks[k].ticks);
      for (int k = 0; i > 0 && k < 5 && n_looks < LOOKS_MAX; k++)
        {
          const uint64_t since_ns = from_ns + below (&wild.random, wild.now_ns - from_ns + 1);
          looks[n_looks].since_ns = since_ns;
          looks[n_looks].ticks = ticks_at (&lines, since_ns);
          looks[n_looks++].n_changed = clock.n_changed;
        }
      from_ns = wild.now_ns;
    }
  LNS_CHECK (clock.n_changed > LNS_WIRE_CUPTI_JOINTS);
}

/* Also where joints were dropped. */
static void
times_ascend_and_errors_are_bounded (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiLines lines;
  Wild wild = { .random = 8 };
  for (int i = 0; i < 2000; i++)
    {
      const Wild from = wild;
      LNS_CHECK (lns_wire_cupti_clock_add (&clock, read_wild (&wild)));
      LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
      Wild at = from;
      for (int part = 1; i > 0 && part <= 20; part++)
        {
          /* Twice the noise, as a line may be as wrong as the readings at its ends, and what the clock can have drifted
           * from the line between them. */
          advance (&at, from.now_ns + (wild.now_ns - from.now_ns) * part / 20);
          const int64_t bound_ticks =
              2 * NOISE_TICKS + (int64_t)((wild.now_ns - from.now_ns) * TICK / 1000) + 10;
          const int64_t error_ticks = (int64_t)(ticks_at (&lines, at.now_ns) - 1000000 -
                                                (uint64_t)(at.now_ticks / 1000000));
          LNS_CHECK (llabs (error_ticks) <= bound_ticks);
        }
      uint64_t before = 0;
      const uint64_t step_ns = wild.now_ns / 500 + 1;
      for (uint64_t since_ns = 0; i % 20 == 0 && since_ns < wild.now_ns + SECOND;
           since_ns += step_ns)
        {
          LNS_CHECK (ticks_at (&lines, since_ns) >= before);
          before = ticks_at (&lines, since_ns);
        }
      for (uint32_t k = 0; k < lines.n; k++)
        LNS_CHECK (lns_wire_cupti_clock_ticks (&lines, lines.joints[k].cupti_ns - 1) <=
                   lines.joints[k].ticks);
    }
}

/* Each line lasts longer than the one before if the clock runs evenly, however uncertain its readings are. */
static void
readings_on_a_line_make_no_joints (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiLines lines;
  uint64_t random = 9;
  LnsWireCuptiReading reading = { BASE_NS, 5000000, NOISE_TICKS };
  for (int i = 0; i < 1000; i++)
    {
      LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading));
      reading.cupti_ns += SECOND;
      reading.ticks = 5000000 + (reading.cupti_ns - BASE_NS) * TICK + below (&random, 500);
    }
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
  LNS_CHECK (clock.n_changed <= 16);
}

/* The line beyond the last reading is what a killed process leaves. */
static void
readings_close_to_each_other_make_no_rate (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiLines lines;
  for (uint64_t tenth = 0; tenth < 20; tenth++)
    LNS_CHECK (
        lns_wire_cupti_clock_add (&clock, (LnsWireCuptiReading){ BASE_NS + tenth * SECOND / 10,
                                                                 1000 + tenth * SECOND / 10, 0 }));
  /* Wrong by a tenth of the distance. */
  LNS_CHECK (lns_wire_cupti_clock_add (
      &clock, (LnsWireCuptiReading){ BASE_NS + 1900001000, 1000 + 1900000900, 0 }));
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
  LNS_CHECK (llabs ((int64_t)(ticks_at (&lines, 3 * SECOND) - 1000 - 3 * SECOND)) < 2000);
}

static void
one_reading_is_a_moment (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiLines lines;
  lns_wire_cupti_clock_add (&clock, (LnsWireCuptiReading){ BASE_NS, 1000, 0 });
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
  uint64_t times[2] = { BASE_NS + 5, 0 };
  lns_wire_cupti_clock_convert (&lines, (uint8_t *)&times[0]);
  lns_wire_cupti_clock_convert (&lines, (uint8_t *)&times[1]);
  LNS_CHECK_INT ((int64_t)times[0], 1000);
  LNS_CHECK_INT ((int64_t)times[1], 0);
}

static void
a_clock_that_is_set_is_told (void)
{
  for (int step = -1; step <= 1; step += 2)
    {
      LnsWireCuptiClock clock = { 0 };
      LnsWireCuptiLines lines;
      for (uint64_t second = 0; second < 5; second++)
        LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (second * SECOND)));
      LnsWireCuptiReading set = reading_at (5 * SECOND);
      set.cupti_ns += (uint64_t)(step * 3600 * (int64_t)SECOND);
      LNS_CHECK (!lns_wire_cupti_clock_add (&clock, set));
      LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
      LNS_CHECK_INT (lines.n, 1);
      LNS_CHECK (lns_wire_cupti_clock_ticks (&lines, set.cupti_ns) == set.ticks);
      set.cupti_ns += SECOND;
      set.ticks += SECOND * TICK;
      LNS_CHECK (lns_wire_cupti_clock_add (&clock, set));
    }
}

/* Readings of two threads at one moment may come in any order. */
static void
readings_of_one_moment_are_no_jump (void)
{
  LnsWireCuptiClock clock = { 0 };
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (0)));
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (SECOND)));
  LnsWireCuptiReading other = reading_at (SECOND - 20);
  other.ticks += 70;
  other.within_ticks = 100;
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, other));
  LNS_CHECK (clock.last.cupti_ns == BASE_NS + SECOND);
}

/* A reading that another thread has overtaken is left out. */
static void
an_older_reading_is_left_out (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiLines lines;
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (SECOND)));
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, reading_at (0)));
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
  LNS_CHECK_INT (lines.n, 1);
  LNS_CHECK (lines.joints[0].cupti_ns == BASE_NS + SECOND);
}

/* A thread that finds another one stopped while it adds converts its times all the same. */
static void
a_reading_that_is_not_added_is_reached (void)
{
  LnsWireCuptiClock clock = { 0 };
  LnsWireCuptiLines lines;
  /* The readings are too close to tell the rate. */
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, (LnsWireCuptiReading){ BASE_NS, 1000, 0 }));
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, (LnsWireCuptiReading){ BASE_NS + 100, 1150, 0 }));
  const LnsWireCuptiReading late = { BASE_NS + SECOND, 1000 + SECOND, 0 };
  clock.is_adding = 1;
  LNS_CHECK (lns_wire_cupti_clock_add (&clock, late));
  LNS_CHECK (clock.last.cupti_ns == BASE_NS + 100);
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, &late, &lines));
  LNS_CHECK (ticks_at (&lines, SECOND) == late.ticks);
  LNS_CHECK (ticks_at (&lines, 100) == 1150);
}

static LnsWireCuptiClock shared;
static bool is_over;

/* Every minute has another rate. */
static void *
add_readings (void *first)
{
  for (uint64_t i = *(uint64_t *)first; i < 20000; i += 2)
    lns_wire_cupti_clock_add (&shared, reading_at (i * SECOND));
  return NULL;
}

static void *
look_at_lines (void *unused)
{
  uint64_t n_bad = 0;
  LnsWireCuptiLines lines;
  while (!__atomic_load_n (&is_over, __ATOMIC_RELAXED))
    if (lns_wire_cupti_clock_copy (&shared, NULL, &lines))
      for (uint32_t i = 0; i < lines.n; i++)
        n_bad +=
            llabs ((int64_t)(lines.joints[i].ticks - truth (lines.joints[i].cupti_ns - BASE_NS))) >
            10 * TICK;
  return (void *)(uintptr_t)n_bad;
}

static void
threads_do_not_mix_lines (void)
{
  pthread_t writers[2], reader;
  uint64_t first[2] = { 0, 1 };
  void *n_bad = NULL;
  pthread_create (&reader, NULL, look_at_lines, NULL);
  for (int i = 0; i < 2; i++)
    pthread_create (&writers[i], NULL, add_readings, &first[i]);
  for (int i = 0; i < 2; i++)
    pthread_join (writers[i], NULL);
  __atomic_store_n (&is_over, true, __ATOMIC_RELAXED);
  pthread_join (reader, &n_bad);
  LNS_CHECK_INT ((int64_t)(uintptr_t)n_bad, 0);
  LnsWireCuptiLines lines;
  LNS_CHECK (lns_wire_cupti_clock_copy (&shared, NULL, &lines));
  LNS_CHECK (lines.n > 2);
}

static void
what_makes_no_sense_is_nothing (void)
{
  LnsWireCuptiClock clock = { .sides[0].n = LNS_WIRE_CUPTI_JOINTS + 1 };
  LnsWireCuptiLines lines;
  LNS_CHECK (!lns_wire_cupti_clock_copy (&clock, NULL, &lines));
  LNS_CHECK_INT (lines.n, 0);
  clock.sides[0].n = 2; /* both at 0 */
  LNS_CHECK (!lns_wire_cupti_clock_copy (&clock, NULL, &lines));
  clock.sides[0].joints[1] = (LnsWireCuptiJoint){ 1, 1, UINT64_MAX };
  LNS_CHECK (!lns_wire_cupti_clock_copy (&clock, NULL, &lines));
  clock.sides[0].joints[1].rate = 0;
  LNS_CHECK (lns_wire_cupti_clock_copy (&clock, NULL, &lines));
}

int
main (void)
{
  LNS_TEST (times_between_readings_are_right);
  LNS_TEST (times_do_not_change);
  LNS_TEST (times_ascend_and_errors_are_bounded);
  LNS_TEST (readings_on_a_line_make_no_joints);
  LNS_TEST (readings_close_to_each_other_make_no_rate);
  LNS_TEST (one_reading_is_a_moment);
  LNS_TEST (a_clock_that_is_set_is_told);
  LNS_TEST (readings_of_one_moment_are_no_jump);
  LNS_TEST (an_older_reading_is_left_out);
  LNS_TEST (a_reading_that_is_not_added_is_reached);
  LNS_TEST (threads_do_not_mix_lines);
  LNS_TEST (what_makes_no_sense_is_nothing);
  return lns_tap_done ();
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/shift.h"

#include <math.h>

#include "tests/tap.h"
#include "tests/unit/random.h"

#define MOST 400

static uint64_t random_state;

/* What a program is like whose steps are measured: shares of the level. */
typedef struct
{
  double noise, memory; /* normal, and how much of it a step has of the one before               */
  double bursts;        /* how often some steps in a row take up to half longer                  */
  double drift;         /* at most, over the run, up or down                                     */
  size_t n_warm_up;
} Program;

static double
draw (void)
{
  return (double)(test_random (&random_state) >> 11) / 9007199254740992.0;
}

static double
draw_normal (void)
{
  return sqrt (-2 * log (draw () + 1e-300)) * cos (2 * M_PI * draw ());
}

static void
run (const Program *program, double level, double *values, size_t n)
{
  const double drift = program->drift * (2 * draw () - 1);
  double noise = draw_normal (), burst = 0;
  unsigned n_burst = 0;

  for (size_t i = 0; i < n; i++)
    {
      noise =
          program->memory * noise + sqrt (1 - program->memory * program->memory) * draw_normal ();
      if (n_burst > 0)
        n_burst--;
      else if (draw () < program->bursts)
        {
          n_burst = (unsigned)(5 * draw ());
          burst = 0.02 + 0.5 * draw ();
        }
      values[i] =
          level * (1 + program->noise * noise + (n_burst > 0 ? burst : 0) +
                   drift * ((double)i / (double)n - 0.5) + (i < program->n_warm_up ? 0.5 : 0));
    }
}

/* Compares two runs of N steps, of which those of the second take SLOWER times as long. Returns whether that is told. */
static bool
is_told (const Program *program, size_t n, double slower, LnsShift *ret_shift)
{
  double values[2][MOST];
  bool is_left_out[2][MOST];
  LnsSeries series[2];

  for (int side = 0; side < 2; side++)
    {
      run (program, side == 0 ? 1e6 : slower * 1e6, values[side], n);
      lns_series_clean (values[side], n, is_left_out[side]);
      series[side] =
          (LnsSeries){ .values = values[side], .is_left_out = is_left_out[side], .n = n };
    }
  *ret_shift = (LnsShift){ .p = 1 };
  lns_shift_find (&series[0], &series[1], 0, ret_shift); /* where outliers leave enough */
  return ret_shift->p < 0.001;
}

static const Program programs[] = {
  { .noise = 0.005 },
  { .noise = 0.01 },
  { .noise = 0.01, .memory = 0.5 },
  { .noise = 0.005, .memory = 0.5, .bursts = 0.05, .n_warm_up = 3 },
  { .noise = 0.005, .drift = 0.05 },
  { .noise = 0.1, .bursts = 0.1 },
};

static void
test_the_same_program_gives_no_alarm (void)
{
  const size_t sizes[] = { 16, 30, 200 };
  unsigned n_alarms = 0, n = 0;

  random_state = lns_tap_seed ();
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    for (size_t size = 0; size < 3; size++)
      for (int k = 0; k < 60; k++, n++)
        {
          LnsShift shift;
          n_alarms += is_told (&programs[i], sizes[size] + programs[i].n_warm_up, 1, &shift);
        }
  if (n_alarms > n / 100)
    LNS_FAIL ("%u alarms of %u", n_alarms, n);
}

static void
test_two_percent_are_found_in_thirty_steps (void)
{
  const Program program = { .noise = 0.005, .memory = 0.3, .bursts = 0.03, .n_warm_up = 3 };
  unsigned n_found = 0, n_within = 0;

  random_state = lns_tap_seed ();
  for (int k = 0; k < 300; k++)
    {
      LnsShift shift;
      n_found += is_told (&program, 33, 1.02, &shift) && shift.change > 0;
      n_within += shift.low <= 0.02e6 && shift.high >= 0.02e6;
    }
  /* 967 of 1,000 are (./run bench diff): of 300 it is 290, give or take 3. */
  if (n_found < 277)
    LNS_FAIL ("found in %u of 300", n_found);
  if (n_within < 270)
    LNS_FAIL ("the change is between its bounds in %u of 300", n_within);
}

static void
test_what_all_have_in_common_is_no_change (void)
{
  double values[2][40];
  LnsShift shift;

  random_state = lns_tap_seed ();
  for (int side = 0; side < 2; side++)
    run (&programs[0], side == 0 ? 1e6 : 1.1e6, values[side], 40);
  const LnsSeries a = { .values = values[0], .n = 40 }, b = { .values = values[1], .n = 40 };
  LNS_CHECK (lns_shift_find (&a, &b, 0, &shift) && shift.p < 1e-6);
  LNS_CHECK (lns_shift_find (&a, &b, 0.1, &shift) && shift.p > 0.2);
  LNS_CHECK (shift.low < 0 && shift.high > 1e5);
}

static void
test_noise_of_a_busy_machine_is_no_change (void)
{
  unsigned n_told = 0, n_told_contended = 0;

  random_state = lns_tap_seed ();
  for (int k = 0; k < 100; k++)
    {
      double values[2][40];
      LnsShift shift;
      for (int side = 0; side < 2; side++)
        run (&programs[1], side == 0 ? 1e6 : 1.015e6, values[side], 40);
      LnsSeries a = { .values = values[0], .n = 40 }, b = { .values = values[1], .n = 40 };
      LNS_CHECK (lns_shift_find (&a, &b, 0, &shift));
      n_told += shift.p < 0.001;
      a.is_contended = b.is_contended = true;
      LNS_CHECK (lns_shift_find (&a, &b, 0, &shift));
      n_told_contended += shift.p < 0.001;
    }
  if (n_told < 85 || n_told_contended > 2)
    LNS_FAIL ("1.5 %% are told in %u of 100, and in %u beside rivals", n_told, n_told_contended);
}

/* Rivals make some values longer, in runs of their own, and none shorter: quick ones tell what typical ones hide. */
static void
test_quick_values_tell_what_rivals_hide (void)
{
  unsigned n_found[2] = { 0 }, n_alarms = 0;

  random_state = lns_tap_seed ();
  for (int k = 0; k < 100; k++)
    {
      double values[3][40];
      for (int run_at = 0; run_at < 3; run_at++)
        {
          const double burden = 0.3 * draw ();
          run (&programs[0], run_at == 2 ? 1.2e6 : 1e6, values[run_at], 40);
          for (size_t i = 0; i < 40; i++)
            {
              const double share = draw ();
              values[run_at][i] *= 1 + burden * share * share;
            }
        }
      LnsSeries a = { .values = values[0], .n = 40, .is_contended = true, .is_witnessed = true },
                same = a, slower = a;
      LnsShift shift;
      same.values = values[1];
      slower.values = values[2];
      for (int quick = 0; quick < 2; quick++)
        {
          a.of_quick = same.of_quick = slower.of_quick = quick == 1;
          LNS_CHECK (lns_shift_find (&a, &same, 0, &shift));
          n_alarms += shift.p < 0.001;
          LNS_CHECK (lns_shift_find (&a, &slower, 0, &shift));
          n_found[quick] += shift.p < 0.001 && shift.change > 0;
        }
    }
  if (n_alarms > 2 || n_found[0] > 50 || n_found[1] < 80)
    LNS_FAIL ("found by typical values %u and by quick ones %u of 100; %u alarms", n_found[0],
              n_found[1], n_alarms);
}

static void
test_few_steps_tell_nothing (void)
{
  const double values[LNS_LEAST_COMPARED] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  const LnsSeries enough = { .values = values, .n = LNS_LEAST_COMPARED };
  LnsSeries few = enough;
  LnsShift shift;

  few.n--;
  LNS_CHECK (!lns_shift_find (&few, &enough, 0, &shift));
  LNS_CHECK (!lns_shift_find (&enough, &few, 0, &shift));
  LNS_CHECK (lns_shift_find (&enough, &enough, 0, &shift));
  LNS_CHECK (shift.change == 0 && shift.p == 1);
  const bool one_is_left_out[LNS_LEAST_COMPARED] = { [3] = true };
  few = enough;
  few.is_left_out = one_is_left_out;
  LNS_CHECK (!lns_shift_find (&few, &enough, 0, &shift));
}

static void
test_warm_up_and_outliers_are_left_out (void)
{
  double values[50];
  bool is_left_out[50];

  random_state = lns_tap_seed ();
  run (&(Program){ .noise = 0.005, .n_warm_up = 4 }, 1e6, values, 50);
  values[20] *= 3;
  values[45] *= 2;
  const LnsSeriesLeft left = lns_series_clean (values, 50, is_left_out);
  LNS_CHECK_INT (left.n_warm_up, 4);
  LNS_CHECK_INT (left.n_outliers, 2);
  for (size_t i = 0; i < 50; i++)
    LNS_CHECK_INT (is_left_out[i], i < 4 || i == 20 || i == 45);
}

static void
test_a_drift_is_taken_out (void)
{
  unsigned n_found = 0, n_within = 0;

  random_state = lns_tap_seed ();
  for (int k = 0; k < 100; k++)
    {
      double values[2][60];
      LnsShift shift;
      for (int side = 0; side < 2; side++)
        {
          run (&programs[0], 1e6, values[side], 60);
          for (size_t i = 0; i < 60; i++)
            values[side][i] += 1e5 * ((double)i / 60 - 0.5) + 2e4 * side;
        }
      const LnsSeries a = { .values = values[0], .n = 60 }, b = { .values = values[1], .n = 60 };
      LNS_CHECK (lns_shift_find (&a, &b, 0, &shift));
      LNS_CHECK (fabs (shift.a_drift - 1e5) < 2e4 && fabs (shift.b_drift - 1e5) < 2e4);
      n_found += shift.p < 0.001;
      n_within += shift.low < 2e4 && shift.high > 2e4;
    }
  if (n_found < 97 || n_within < 85)
    LNS_FAIL ("found in %u of 100, the change is between its bounds in %u", n_found, n_within);
}

static void
test_students_tails_are_those_of_tables (void)
{
  /* Fisher and Yates, Statistical Tables, III. */
  const struct
  {
    double df, t, p;
  } rows[] = { { 1, 12.706, 0.05 }, { 1, 63.657, 0.01 },  { 2, 4.303, 0.05 },
               { 10, 2.228, 0.05 }, { 10, 4.587, 0.001 }, { 30, 2.750, 0.01 },
               { 30, 1.310, 0.2 },  { 120, 1.980, 0.05 }, { 1e6, 1.960, 0.05 } };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (fabs (lns_student_tails (rows[i].t, rows[i].df) / rows[i].p - 1) > 0.005 ||
        fabs (lns_student_tails (-rows[i].t, rows[i].df) / rows[i].p - 1) > 0.005)
      LNS_FAIL ("t %g with %g degrees: %g", rows[i].t, rows[i].df,
                lns_student_tails (rows[i].t, rows[i].df));
  LNS_CHECK (lns_student_tails (0, 5) == 1);
}

static void
test_many_comparisons_are_corrected (void)
{
  double p[] = { 0.04, 0.001, 0.03, 0.9 };
  const double expected[] = { 0.09, 0.004, 0.09, 0.9 };

  lns_holm (p, 4);
  for (size_t i = 0; i < 4; i++)
    LNS_CHECK (fabs (p[i] - expected[i]) < 1e-12);
  lns_holm (p, 0);
}

static void
test_quantiles_are_values (void)
{
  const double values[] = { 5, 1, 4, 2, 3 };

  LNS_CHECK (lns_quantile (values, 5, 0) == 1);
  LNS_CHECK (lns_quantile (values, 5, 0.5) == 3);
  LNS_CHECK (lns_quantile (values, 5, 0.99) == 5);
  LNS_CHECK (lns_quantile (values, 0, 0.5) == 0);
}

int
main (void)
{
  LNS_TEST (test_the_same_program_gives_no_alarm);
  LNS_TEST (test_two_percent_are_found_in_thirty_steps);
  LNS_TEST (test_what_all_have_in_common_is_no_change);
  LNS_TEST (test_noise_of_a_busy_machine_is_no_change);
  LNS_TEST (test_quick_values_tell_what_rivals_hide);
  LNS_TEST (test_few_steps_tell_nothing);
  LNS_TEST (test_warm_up_and_outliers_are_left_out);
  LNS_TEST (test_a_drift_is_taken_out);
  LNS_TEST (test_students_tails_are_those_of_tables);
  LNS_TEST (test_many_comparisons_are_corrected);
  LNS_TEST (test_quantiles_are_values);
  return lns_tap_done ();
}

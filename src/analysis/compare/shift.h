/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* By how much one series of times lies above another, and how sure that is: for steps of a run, whose noise is neither normal
 * nor independent. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fewer steps tell nothing. */
#define LNS_LEAST_COMPARED 10

/* Of quick values, this share is quicker. */
#define LNS_QUICK 0.1

/* What a series has been cleared of. */
typedef struct
{
  size_t n_warm_up; /* steps at its beginning that took longer than those that followed          */
  size_t n_outliers;
} LnsSeriesLeft;

/* Sets IS_LEFT_OUT, N of them, for the warm-up and the outliers of the N VALUES, which are in order of time: values further from the
 * trend than noise goes. O(N log N). */
LnsSeriesLeft lns_series_clean (const double *values, size_t n, bool *is_left_out);

/* One value a step, in order of time. */
typedef struct
{
  const double *values; /* ≥ 0                                                                   */
  const bool *is_left_out; /* or NULL: all count                                                 */
  size_t n;
  bool
      is_contended; /* other programs had the CPUs or caches meanwhile: noise is not the program's own */
  bool is_python; /* what took the time is an interpreter                                         */
  bool is_witnessed; /* other parts of the steps tell how fast the process was                   */
  bool is_relative;  /* values are divided by that                                               */
  bool of_quick;   /* levels are those of quick values: other programs only add time             */
  double anywhere; /* of contended ones: what switches and interrupts take, whatever they hit   */
} LnsSeries;

typedef struct
{
  double a, b; /* the levels: what a typical (or quick) value is, halfway through the run        */
  double a_drift, b_drift; /* by how much the values rise from the first to the last             */
  double change;    /* b - a                                                                     */
  double low, high; /* of the change: with 95 % confidence it lies between them                  */
  double p; /* how likely chance alone gives a change that large, 0 – 1                  */
} LnsShift;

/* Compares the series A and B. The levels are Huber's estimates (Annals of Mathematical Statistics 35, 1964) beside a linear trend.
 * Their errors are those of a sieve bootstrap (Bühlmann, Bernoulli 3, 1997): residuals of a process in which a value depends on the
 * one before it are drawn anew, and the levels of what they make are estimated; its coefficient is corrected for short
 * series (Marriott and Pope, Biometrika 41, 1954). Tails are those of Student's t with the degrees of freedom of Welch, for as many
 * values as would be as good if they were independent.
 *
 * Runs of one program differ by more than noise within them shows. Three things are part of the error for that: runs that drift by
 * different amounts may be as far apart from the start; where the machine was busy, most noise changes slowly, and a run
 * lies off by up to 0.8 of its standard deviation (measured on two CPUs that 20 programs shared) and by 3 % of its level, of Python by 10 %; less where other parts
 * of the steps tell of the process, and of quick values; and elsewhere by up to 0.4 of the former where noise is strong; and COMMON, the share by which everything else changed, too, or 0: then the
 * machine is the likely reason.
 *
 * False where one of them has fewer than LNS_LEAST_COMPARED values. The same values give the same answer. O(n log n). Any thread. */
bool lns_shift_find (const LnsSeries *a, const LnsSeries *b, double common, LnsShift *ret_shift);

/* The probability that a value of Student's t with DF > 0 degrees of freedom is further from 0 than T. */
double lns_student_tails (double t, double df);

/* How far from 0 such a value is in 5 % of cases. */
double lns_student_limit (double df);

/* Corrects the N probabilities P for being N, in place: none of those that then are below a limit is below it by chance, with a
 * probability of at most that limit (Holm, Scandinavian Journal of Statistics 6, 1979). O(N log N). */
void lns_holm (double *p, size_t n);

/* The value below which SHARE (0 – 1) of the N VALUES are; 0 of none. O(N log N). */
double lns_quantile (const double *values, size_t n, double share);

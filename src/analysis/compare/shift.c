/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/shift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/memory.h"

/* Huber's constant: 95 % as good as the mean where noise is normal. */
#define HUBER 1.345

/* … and of the level of quick values: so small that it is nearly a quantile, which values that are much longer do not move. */
#define QUICK_HUBER 0.3

/* Of normal noise, the standard deviation is so many times the median deviation. */
#define NORMAL 1.4826

#define N_RESAMPLES 120

/* Errors are never smaller than this share of a level: clocks and the layout of memory make runs differ by that. */
#define LEAST_ERROR 0.0005

/* So much of the noise of a busy machine differs between runs, and of other noise that is at least STRONG of the level. */
#define BETWEEN_BUSY_RUNS 0.8
#define BETWEEN_RUNS      0.4
#define STRONG            0.03

/* … and of quick values; of what is relative to others, their noise comes in. 26 runs of a loop in C beside up to 8 programs on two CPUs were off
 * by 0.2 to 0.5 of the noise within each, which was 3 to 23 % of the level. */
#define BETWEEN_QUICK_RUNS  0.35
#define BETWEEN_QUICK_PARTS 0.45

/* On a busy machine, code of one program is this much faster in one process than in another, whatever the noise within each: of 14
 * runs of a loop of Python, two took 25 and 43 % longer than the median run, in each of their steps; of 76 of a loop in C, none more than
 * 6 %. */
#define BETWEEN_PROCESSES           0.03
#define BETWEEN_PROCESSES_OF_PYTHON 0.1

/* … where the rest of the step tells how fast the process was: 26 runs of five functions of Python were off by 2 to 4 % each, one by 19; quick
 * values of those of a loop in C by 1 %. */
#define BETWEEN_WITNESSED           0.01
#define BETWEEN_WITNESSED_OF_PYTHON 0.05

/* Runs drift apart where the square of that is so many times what chance gives: seldom more than once in 70. */
#define SURE_DRIFT 6

/* A value is an outlier from so many standard deviations on. */
#define FAR 6.0

/* The coefficient of a series that hardly forgets. */
#define MOST_MEMORY 0.95

/* Values that follow one another at a place of the run. */
typedef struct
{
  double *values;
  double *places; /* -0.5 to 0.5 */
  size_t n;
} Points;

/* A line through points. */
typedef struct
{
  double level, slope, scale;
} Line;

static int
compare_numbers (const void *a, const void *b)
{
  const double *na = a, *nb = b;
  return LNS_COMPARE (*na, *nb);
}

/* Sorts VALUES. */
static double
median_in_place (double *values, size_t n)
{
  if (n == 0)
    return 0;
  qsort (values, n, sizeof *values, compare_numbers);
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double
lns_quantile (const double *values, size_t n, double share)
{
  if (n == 0)
    return 0;
  double *sorted = lns_memdup (values, n * sizeof *values);
  qsort (sorted, n, sizeof *sorted, compare_numbers);
  const size_t at = (size_t)ceil (share * (double)n);
  const double found = sorted[at > 0 ? at - 1 : 0];
  free (sorted);
  return found;
}

/* --- Lines ------------------------------------------------------------------------------------ */

static double
value_at (const Line *line, double place)
{
  return line->level + line->slope * place;
}

/* The standard deviation of POINTS around LINE, as far as outliers do not tell. ROOM has room for as many. */
static double
scale_around (const Points *points, const Line *line, double *room)
{
  double sum = 0;

  for (size_t i = 0; i < points->n; i++)
    {
      room[i] = fabs (points->values[i] - value_at (line, points->places[i]));
      sum += room[i];
    }
  const double scale = NORMAL * median_in_place (room, points->n);
  /* Half of the values may be equal. */
  return scale > 0 ? scale : 1.2533 * sum / (double)points->n;
}

/* Huber's line through POINTS: those far from it count as if they were nearer. OF_QUICK: the M-quantile of LNS_QUICK, for which those below it
 * count more than those above (Breckling and Chambers, Biometrika 75, 1988). Begins at LINE. */
static void
fit (const Points *points, bool of_quick, Line *line, unsigned n_rounds)
{
  const double constant = of_quick ? QUICK_HUBER : HUBER;

  for (unsigned round = 0; round < n_rounds; round++)
    {
      double w = 0, x = 0, xx = 0, y = 0, xy = 0;
      for (size_t i = 0; i < points->n; i++)
        {
          const double above = points->values[i] - value_at (line, points->places[i]),
                       off = fabs (above), near = constant * line->scale;
          const double share = !of_quick ? 1 : above > 0 ? LNS_QUICK : 1 - LNS_QUICK;
          const double weight = share * (off <= near ? 1 : near / off);
          w += weight;
          x += weight * points->places[i];
          xx += weight * points->places[i] * points->places[i];
          y += weight * points->values[i];
          xy += weight * points->places[i] * points->values[i];
        }
      const double spread = w * xx - x * x;
      line->slope = spread > 0 ? (w * xy - x * y) / spread : 0;
      line->level = (y - line->slope * x) / w;
    }
}

static Line
line_through (const Points *points)
{
  double *room = lns_memdup (points->values, points->n * sizeof *points->values);
  Line line = { .level = median_in_place (room, points->n) };

  for (unsigned round = 0; round < 4; round++)
    {
      line.scale = scale_around (points, &line, room);
      fit (points, false, &line, 3);
    }
  line.scale = scale_around (points, &line, room);
  free (room);
  return line;
}

/* So many rounds from the line through all to that of the quick ones. */
#define QUICK_ROUNDS 20

/* The line through the quick ones of POINTS; LINE goes through all. */
static Line
quick_line (const Points *points, const Line *line)
{
  Line quick = *line;
  fit (points, true, &quick, QUICK_ROUNDS);
  return quick;
}

/* --- Cleaning --------------------------------------------------------------------------------- */

LnsSeriesLeft
lns_series_clean (const double *values, size_t n, bool *is_left_out)
{
  LnsSeriesLeft left = { 0 };

  memset (is_left_out, 0, n * sizeof *is_left_out);
  if (n < LNS_LEAST_COMPARED)
    return left;
  /* What the second half is like tells when the first has got going. */
  const size_t half = n / 2;
  double *room = lns_memdup (values + half, (n - half) * sizeof *values);
  const double level = median_in_place (room, n - half);
  for (size_t i = half; i < n; i++)
    room[i - half] = fabs (values[i] - level);
  const double scale = NORMAL * median_in_place (room, n - half);
  free (room);
  const double most = level + fmax (4 * scale, 0.05 * level);
  while (left.n_warm_up < n / 3 && values[left.n_warm_up] > most)
    is_left_out[left.n_warm_up++] = true;

  Points points = { lns_calloc (n, sizeof (double)), lns_calloc (n, sizeof (double)), 0 };
  for (size_t i = left.n_warm_up; i < n; i++)
    {
      points.values[points.n] = values[i];
      points.places[points.n++] = ((double)i + 0.5) / (double)n - 0.5;
    }
  const Line line = line_through (&points);
  const double far = fmax (FAR * line.scale, 0.02 * line.level);
  for (size_t i = 0; i < points.n; i++)
    if (fabs (points.values[i] - value_at (&line, points.places[i])) > far)
      {
        is_left_out[left.n_warm_up + i] = true;
        left.n_outliers++;
      }
  free (points.values);
  free (points.places);
  return left;
}

/* --- Errors ----------------------------------------------------------------------------------- */

static uint64_t
next_random (uint64_t *state)
{
  /* SplitMix64. */
  uint64_t x = *state += UINT64_C (0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C (0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C (0x94D049BB133111EB);
  return x ^ x >> 31;
}

/* Fills RESIDUALS with what POINTS are off LINE. */
static void
residuals_of (const Points *points, const Line *line, double *residuals)
{
  for (size_t i = 0; i < points->n; i++)
    residuals[i] = points->values[i] - value_at (line, points->places[i]);
}

/* Adds to COVARIANCE and VARIANCE those of each value of RESIDUALS with the one before it; those beyond FAR count as that far. */
static void
add_memory (const double *residuals, size_t n, double scale, double *covariance, double *variance)
{
  double before = 0;

  if (scale <= 0)
    return;
  for (size_t i = 0; i < n; i++)
    {
      const double value = fmax (-3, fmin (3, residuals[i] / scale));
      *covariance += value * before;
      *variance += value * value;
      before = value;
    }
}

/* The errors of the level and the slope of LINE through POINTS, whose residuals are RESIDUALS and depend by MEMORY on the ones before
 * them; OF_QUICK: of the line through the quick ones. Standard deviations. */
static void
bootstrap (const Points *points,
           const Line *line,
           const double *residuals,
           double memory,
           bool of_quick,
           double *ret_level_error,
           double *ret_slope_error)
{
  const size_t n = points->n;
  uint64_t state = n;
  double level = 0, slope = 0, sum = 0;
  double *innovations = lns_calloc (n, sizeof *innovations);
  Points made = { lns_calloc (n, sizeof (double)), points->places, n };
  double mean = 0;

  for (size_t i = 1; i < n; i++)
    mean += innovations[i] = residuals[i] - memory * residuals[i - 1];
  innovations[0] = residuals[0] * sqrt (1 - memory * memory);
  mean = (mean + innovations[0]) / (double)n;
  /* Two numbers were fitted, and a third. */
  const double grown = sqrt ((double)n / ((double)n - 3));
  for (size_t i = 0; i < n; i++)
    innovations[i] = (innovations[i] - mean) * grown;
  for (unsigned k = 0; k < N_RESAMPLES; k++)
    {
      double value = 0;
      for (unsigned i = 0; i < 24; i++)
        value = memory * value + innovations[next_random (&state) % n];
      for (size_t i = 0; i < n; i++)
        made.values[i] = value = memory * value + innovations[next_random (&state) % n];
      Line found = { .scale = line->scale };
      fit (&made, false, &found, 3);
      if (of_quick)
        found = quick_line (&made, &found);
      sum += found.level;
      level += found.level * found.level;
      slope += found.slope * found.slope;
    }
  free (innovations);
  free (made.values);
  /* Quick ones lie below the line, all of them on it. */
  const double center = of_quick ? sum / N_RESAMPLES : 0;
  *ret_level_error = sqrt (fmax (0, level / N_RESAMPLES - center * center));
  *ret_slope_error = sqrt (slope / N_RESAMPLES);
}

/* --- Student ---------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), by Lentz's method. */
static double
beta_fraction (double a, double b, double x)
{
  const double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs (d) < tiny ? tiny : d);
  double value = d;

  for (int m = 1; m < 500; m++)
    for (int odd = 0; odd < 2; odd++)
      {
        const double step = odd == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                     : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + step * d;
        d = 1 / (fabs (d) < tiny ? tiny : d);
        c = 1 + step / c;
        c = fabs (c) < tiny ? tiny : c;
        value *= c * d;
        if (odd == 1 && fabs (c * d - 1) < 1e-13)
          return value;
      }
  return value;
}

double
lns_student_tails (double t, double df)
{
  const double a = df / 2, b = 0.5, x = df / (df + t * t);

  if (!(t * t > 0))
    return 1;
  const double front =
      exp (lgamma (a + b) - lgamma (a) - lgamma (b) + a * log (x) + b * log1p (-x));
  if (x < (a + 1) / (a + b + 2))
    return fmin (1, front * beta_fraction (a, b, x) / a);
  return fmax (0, 1 - front * beta_fraction (b, a, 1 - x) / b);
}

double
lns_student_limit (double df)
{
  double low = 0, high = 1e6;

  for (int i = 0; i < 100; i++)
    {
      const double middle = (low + high) / 2;
      if (lns_student_tails (middle, df) > 0.05)
        low = middle;
      else
        high = middle;
    }
  return high;
}

/* --- Shifts ----------------------------------------------------------------------------------- */

/* So many points are enough: more values are taken together. */
#define MOST_POINTS 256

/* Takes values that follow one another together, so that few remain. */
static void
condense (Points *points)
{
  const size_t n = points->n;

  if (n <= MOST_POINTS)
    return;
  for (size_t i = 0; i < MOST_POINTS; i++)
    {
      const size_t from = i * n / MOST_POINTS, to = (i + 1) * n / MOST_POINTS;
      double value = 0, place = 0;
      for (size_t k = from; k < to; k++)
        {
          value += points->values[k];
          place += points->places[k];
        }
      points->values[i] = value / (double)(to - from);
      points->places[i] = place / (double)(to - from);
    }
  points->n = MOST_POINTS;
}

static Points
points_of (const LnsSeries *series)
{
  Points points = { lns_calloc (series->n + 1, sizeof (double)),
                    lns_calloc (series->n + 1, sizeof (double)), 0 };

  for (size_t i = 0; i < series->n; i++)
    if (series->is_left_out == NULL || !series->is_left_out[i])
      {
        points.values[points.n] = series->values[i];
        points.places[points.n++] = ((double)i + 0.5) / (double)series->n - 0.5;
      }
  condense (&points);
  return points;
}

/* What MEMORY was estimated to be of N values is too low on average. */
static double
corrected (double memory, double n)
{
  return fmax (0, fmin (MOST_MEMORY, (memory + 2 / n) / (1 - 4 / n)));
}

/* The standard deviation of the levels of runs whose values are as far from LINE as those of SERIES, besides WITHIN, the error that they have
 * by noise within each. */
static double
between_runs (const LnsSeries *series, const Line *line, double within)
{
  const double share = line->level > 0 ? line->scale / line->level / STRONG : 1;
  const double process = series->is_python ? (series->is_witnessed ? BETWEEN_WITNESSED_OF_PYTHON
                                                                   : BETWEEN_PROCESSES_OF_PYTHON)
                         : series->of_quick && series->is_witnessed ? BETWEEN_WITNESSED
                                                                    : BETWEEN_PROCESSES;
  const double quick = (series->is_relative ? BETWEEN_QUICK_PARTS : BETWEEN_QUICK_RUNS) *
                       line->scale; /* which is of all that levels are off */
  const double noise = series->of_quick ? sqrt (fmax (0, quick * quick - within * within))
                                        : BETWEEN_BUSY_RUNS * line->scale;
  return series->is_contended ? hypot (noise, hypot (process * line->level, series->anywhere))
                              : BETWEEN_RUNS * fmin (1, share * share) * line->scale;
}

/* An error, made of several. */
typedef struct
{
  double square, weight;
} Error;

static void
add_error (Error *error, double square, double df)
{
  error->square += square;
  error->weight += square * square / df;
}

bool
lns_shift_find (const LnsSeries *a, const LnsSeries *b, double common, LnsShift *ret_shift)
{
  const LnsSeries *series[2] = { a, b };
  Points points[2] = { points_of (a), points_of (b) };
  Line lines[2], told[2];
  double *residuals[2] = { NULL, NULL }, level_error[2], slope_error[2];
  double covariance = 0, variance = 0;
  const bool good = points[0].n >= LNS_LEAST_COMPARED && points[1].n >= LNS_LEAST_COMPARED;

  for (int side = 0; good && side < 2; side++)
    {
      lines[side] = line_through (&points[side]);
      residuals[side] = lns_calloc (points[side].n, sizeof (double));
      residuals_of (&points[side], &lines[side], residuals[side]);
      add_memory (residuals[side], points[side].n, lines[side].scale, &covariance, &variance);
      told[side] = series[side]->of_quick ? quick_line (&points[side], &lines[side]) : lines[side];
    }
  if (good)
    {
      const double n[2] = { (double)points[0].n, (double)points[1].n };
      const double memory =
          corrected (variance > 0 ? covariance / variance : 0, 2 / (1 / n[0] + 1 / n[1]));
      Error sum = { 0 };
      for (int side = 0; side < 2; side++)
        {
          bootstrap (&points[side], &lines[side], residuals[side], memory, series[side]->of_quick,
                     &level_error[side], &slope_error[side]);
          const double least = LEAST_ERROR * fabs (lines[side].level),
                       between = between_runs (series[side], &lines[side], level_error[side]);
          add_error (&sum, fmax (level_error[side] * level_error[side], least * least),
                     fmax (2, n[side] * (1 - memory) / (1 + memory) - 3));
          add_error (&sum, between * between, 10);
        }
      const double apart = told[1].slope - told[0].slope,
                   chance2 = slope_error[0] * slope_error[0] + slope_error[1] * slope_error[1],
                   shared = common * told[0].level;
      add_error (&sum, fmax (0, apart * apart - SURE_DRIFT * chance2) / 12, 5);
      add_error (&sum, shared * shared, 3);
      const double df = sum.weight > 0 ? sum.square * sum.square / sum.weight : 1e6,
                   error = sqrt (sum.square);
      *ret_shift = (LnsShift){ .a = told[0].level,
                               .b = told[1].level,
                               .a_drift = told[0].slope,
                               .b_drift = told[1].slope,
                               .change = told[1].level - told[0].level };
      const double reach = error > 0 ? error * lns_student_limit (df) : 0;
      ret_shift->low = ret_shift->change - reach;
      ret_shift->high = ret_shift->change + reach;
      ret_shift->p = error > 0                ? lns_student_tails (ret_shift->change / error, df)
                     : ret_shift->change != 0 ? 0
                                              : 1;
    }
  for (int side = 0; side < 2; side++)
    {
      free (residuals[side]);
      free (points[side].values);
      free (points[side].places);
    }
  return good;
}

/* --- Many comparisons ------------------------------------------------------------------------- */

typedef struct
{
  double p;
  size_t at;
} Ranked;

static int
compare_ranked (const void *a, const void *b)
{
  const Ranked *ra = a, *rb = b;
  return LNS_COMPARE (ra->p, rb->p) ?: LNS_COMPARE (ra->at, rb->at);
}

void
lns_holm (double *p, size_t n)
{
  Ranked *ranked = lns_calloc (n + 1, sizeof *ranked);
  double most = 0;

  for (size_t i = 0; i < n; i++)
    ranked[i] = (Ranked){ p[i], i };
  qsort (ranked, n, sizeof *ranked, compare_ranked);
  for (size_t i = 0; i < n; i++)
    {
      most = fmax (most, fmin (1, ranked[i].p * (double)(n - i)));
      p[ranked[i].at] = most;
    }
  free (ranked);
}

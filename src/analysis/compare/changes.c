/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/memory.h"

/* Parts below this share of a step are not compared: they would take certainty from the others. */
#define LEAST_SHARE 0.0025

/* A machine is busy if the thread of the steps lacked a CPU for this share of their time. */
#define CONTENDED 0.03

/* Switches and interrupts take this share of a step on such a machine, from whatever part they hit. */
#define ANYWHERE 0.0015
/* … and to fill the nearest caches again takes so long. */
#define ANYWHERE_NS 1000

/* What everything has in common is told by so many parts, at most, … */
#define MOST_WITNESSES 32
/* … by so many others at least, which have this share of the time of all. */
#define LEAST_WITNESSES 2
#define LEAST_WITNESSED 0.15
/* … none of which counts for more than this share: it may be what changed. */
#define MOST_WITNESSED (1 / 3.0)

/* What changed beside the pace of the machine has to show without it, too: by chance one in so many does. */
#define HINT 0.2

/* What is not sure may still be suspected: where chance gives it less often than this, with all comparisons that were made, … */
#define SUSPICIOUS 0.1
/* … of this share of the change of the steps. */
#define SUSPICIOUS_SHARE 0.3

/* Three questions share the probability of an alarm: whether steps take longer, whether GPUs are idle longer, and which part takes
 * longer, which gets half. So many parts do not hide the answers to the first two. */
#define SHARE_OF_STEPS 4
#define SHARE_OF_GAPS  4
#define SHARE_OF_PARTS 2

/* What is explained by this share is not told again. */
#define EXPLAINED 0.5

typedef enum
{
  OF_CPU,
  OF_GPU,
  N_GROUPS,
  OF_NEITHER /* waits, gaps and samples                                                      */
} Group;

/* A part of both runs, as it is compared. */
typedef struct
{
  LnsPartKind kind;
  size_t part[2]; /* 1 + index, or 0                                                           */
  size_t around;  /* 1 + index of the candidate that it is in, or 0                            */
  bool is_self, is_step;
  bool is_wait, is_on_thread, is_total;
  bool has_self; /* there is one for what is in none of its parts                             */
  Group group;
  const double *ns[2];
  double *owned[2];
  double level[2]; /* medians                                                                  */
  double mean[2];
  LnsShift shift;
  double p;
  bool is_sure;
} Candidate;

typedef LNS_ARRAY (Candidate) Candidates;

typedef struct
{
  const LnsComparedRun *runs;
  const LnsIdMap *renamed;
  const LnsRunLevels *levels;    /* of A and B, or NULL */
  double *run_pace[N_GROUPS][2]; /* owned: how slow the machine was in each run, or NULL */
  Candidates candidates;
  size_t *of_part[2]; /* 1 + index of the candidate, by part                                     */
  double *nothing[2]; /* no time in any step                                                     */
  bool is_contended, is_python;
  double step_ns; /* typical                                                                      */
  double *room;
  size_t witnesses[N_GROUPS][MOST_WITNESSES]; /* candidates                                      */
  unsigned n_witnesses[N_GROUPS];
} Comparer;

/* --- Candidates ------------------------------------------------------------------------------- */

static const LnsStepPart *
part_of (const Comparer *comparer, const Candidate *candidate, int side)
{
  return candidate->part[side] == 0
             ? NULL
             : &comparer->runs[side].times->parts.items[candidate->part[side] - 1];
}

/* The values of SERIES that count, in the comparer's room: RET_N of them. */
static double *
counted (Comparer *comparer, int side, const double *ns, size_t *ret_n)
{
  const LnsComparedRun *run = &comparer->runs[side];
  size_t n = 0;

  for (size_t i = 0; i < run->times->n; i++)
    if (!run->is_left_out[i])
      comparer->room[n++] = ns[i];
  *ret_n = n;
  return comparer->room;
}

static double
median_of (Comparer *comparer, int side, const double *ns)
{
  size_t n;
  const double *values = counted (comparer, side, ns, &n);
  return lns_quantile (values, n, 0.5);
}

static void
measure (Comparer *comparer, Candidate *candidate)
{
  for (int side = 0; side < 2; side++)
    {
      size_t n;
      const double *values = counted (comparer, side, candidate->ns[side], &n);
      for (size_t i = 0; i < n; i++)
        candidate->mean[side] += values[i] / (double)n;
      candidate->level[side] = lns_quantile (values, n, 0.5);
    }
}

static Candidate *
add_candidate (Comparer *comparer, size_t a, size_t b)
{
  Candidate *candidate = lns_array_add (&comparer->candidates);

  *candidate = (Candidate){ .part = { a, b }, .group = OF_NEITHER, .p = 1 };
  for (int side = 0; side < 2; side++)
    {
      const LnsStepPart *part = part_of (comparer, candidate, side);
      candidate->ns[side] = part != NULL ? part->ns : comparer->nothing[side];
      if (part == NULL)
        continue;
      comparer->of_part[side][candidate->part[side] - 1] = comparer->candidates.n;
      candidate->kind = part->kind;
      candidate->is_wait = part->is_wait;
      candidate->is_total = part->is_total;
      candidate->is_on_thread = part->is_on_thread;
    }
  return candidate;
}

static void
add_parts (Comparer *comparer)
{
  const LnsStepTimes *a = comparer->runs[0].times, *b = comparer->runs[1].times;

  for (size_t i = 0; i < a->parts.n; i++)
    {
      const uint64_t key = a->parts.items[i].key,
                     other = lns_id_map_number (comparer->renamed, key);
      add_candidate (comparer, i + 1, lns_id_map_number (&b->by_key, other != 0 ? other : key));
    }
  for (size_t i = 0; i < b->parts.n; i++)
    if (comparer->of_part[1][i] == 0)
      add_candidate (comparer, 0, i + 1);
  for (size_t i = 0; i < comparer->candidates.n; i++)
    {
      Candidate *candidate = &comparer->candidates.items[i];
      for (int side = 0; side < 2 && candidate->around == 0; side++)
        {
          const LnsStepPart *part = part_of (comparer, candidate, side);
          if (part != NULL && part->parent != 0)
            candidate->around = comparer->of_part[side][part->parent - 1];
        }
    }
}

/* Adds what of the time of candidate AROUND, or of the steps (SIZE_MAX), is in none of its parts. */
static void
add_self (Comparer *comparer, size_t around)
{
  const bool is_step = around == SIZE_MAX;
  const Candidate whole = is_step ? (Candidate){ .kind = LNS_PART_RANGE, .is_on_thread = true }
                                  : comparer->candidates.items[around];
  double *own[2];
  bool has_parts = false;

  for (int side = 0; side < 2; side++)
    {
      const LnsStepTimes *times = comparer->runs[side].times;
      if (!is_step && whole.part[side] == 0)
        own[side] = lns_memdup (whole.ns[side], times->n * sizeof (double));
      else
        own[side] = _lns_step_own (times, is_step ? 0 : whole.part[side], &has_parts);
    }
  if (!has_parts && !is_step)
    {
      free (own[0]);
      free (own[1]);
      return;
    }
  if (!is_step)
    comparer->candidates.items[around].has_self = true;
  Candidate *self = lns_array_add (&comparer->candidates);
  *self = whole;
  self->around = is_step ? 0 : around + 1;
  self->is_self = true;
  self->has_self = false;
  self->is_step = is_step;
  self->p = 1;
  self->group = OF_NEITHER;
  for (int side = 0; side < 2; side++)
    self->ns[side] = self->owned[side] = own[side];
}

static void
add_selves (Comparer *comparer)
{
  const size_t n = comparer->candidates.n;

  for (size_t i = 0; i < n; i++)
    if (comparer->candidates.items[i].kind == LNS_PART_RANGE)
      add_self (comparer, i);
  add_self (comparer, SIZE_MAX);
  /* What a range is around that waits, it waits, too: only what is in none of its parts is its own. */
  for (size_t i = 0; i < n; i++)
    for (size_t k = i, depth = 0; comparer->candidates.items[i].is_wait && depth < 128; depth++)
      {
        comparer->candidates.items[k].is_wait = true;
        if (comparer->candidates.items[k].around == 0)
          break;
        k = comparer->candidates.items[k].around - 1;
      }
  for (size_t i = 0; i < comparer->candidates.n; i++)
    {
      Candidate *candidate = &comparer->candidates.items[i];
      if (candidate->is_total)
        candidate->has_self = true; /* its members tell for it */
      if (candidate->kind == LNS_PART_KERNEL)
        candidate->group = OF_GPU;
      else if (!candidate->is_wait && candidate->kind != LNS_PART_COPY &&
               candidate->kind != LNS_PART_FUNCTION)
        candidate->group = OF_CPU;
    }
}

/* --- What all have in common ------------------------------------------------------------------ */

typedef struct
{
  double value, weight;
} Weighted;

static int
compare_weighted (const void *a, const void *b)
{
  const Weighted *wa = a, *wb = b;
  return LNS_COMPARE (wa->value, wb->value);
}

static double
weighted_median (Weighted *values, size_t n)
{
  double sum = 0, so_far = 0;

  qsort (values, n, sizeof *values, compare_weighted);
  for (size_t i = 0; i < n; i++)
    sum += values[i].weight;
  for (size_t i = 0; i < n; i++)
    {
      so_far += values[i].weight;
      if (so_far > sum / 2)
        return values[i].value;
      if (so_far == sum / 2 && i + 1 < n)
        return (values[i].value + values[i + 1].value) / 2;
    }
  return n > 0 ? values[n - 1].value : 1;
}

static double
weight_of (const Candidate *candidate)
{
  return (candidate->mean[0] + candidate->mean[1]) / 2;
}

/* Finds the parts without parts of their own, the heaviest, that tell how fast the machine was. */
static void
find_witnesses (Comparer *comparer)
{
  for (size_t i = 0; i < comparer->candidates.n; i++)
    {
      const Candidate *candidate = &comparer->candidates.items[i];
      if (candidate->group >= N_GROUPS || candidate->has_self || candidate->level[0] <= 0 ||
          candidate->level[1] <= 0 || (candidate->group == OF_CPU && !candidate->is_on_thread) ||
          weight_of (candidate) < LEAST_SHARE * comparer->step_ns)
        continue;
      size_t *found = comparer->witnesses[candidate->group];
      unsigned *n = &comparer->n_witnesses[candidate->group];
      if (*n < MOST_WITNESSES)
        {
          found[(*n)++] = i;
          continue;
        }
      unsigned lightest = 0;
      for (unsigned k = 1; k < *n; k++)
        if (weight_of (&comparer->candidates.items[found[k]]) <
            weight_of (&comparer->candidates.items[found[lightest]]))
          lightest = k;
      if (weight_of (candidate) > weight_of (&comparer->candidates.items[found[lightest]]))
        found[lightest] = i;
    }
}

/* Whether candidate INNER is candidate AROUND, or in it. */
static bool
is_within (const Comparer *comparer, size_t inner, size_t around)
{
  for (unsigned depth = 0; depth < 128; depth++)
    {
      if (inner == around)
        return true;
      if (comparer->candidates.items[inner].around == 0)
        return false;
      inner = comparer->candidates.items[inner].around - 1;
    }
  return false;
}

/* Whether CANDIDATE is one of those of a name, a thread and a GPU that TOTAL sums up. */
static bool
is_member (const Comparer *comparer, const Candidate *candidate, const Candidate *total)
{
  if (!total->is_total || candidate->is_total || candidate->kind != total->kind)
    return false;
  for (int side = 0; side < 2; side++)
    {
      const LnsStepPart *part = part_of (comparer, candidate, side),
                        *all = part_of (comparer, total, side);
      if (part != NULL && all != NULL)
        return part->name == all->name && part->device == all->device &&
               part->thread == all->thread;
    }
  return false;
}

/* The standard deviation of what the median of the N VALUES is off; they may depend on one another a little. */
static double
median_error (Comparer *comparer, const double *values, size_t n)
{
  const double median = lns_quantile (values, n, 0.5);
  double *room = comparer->room;

  for (size_t i = 0; i < n; i++)
    room[i] = fabs (values[i] - median);
  return 1.5 * 1.2533 * 1.4826 * lns_quantile (room, n, 0.5) / sqrt ((double)n);
}

/* Fills PACE with how slow the machine was in each step, 1 = as in A, as parts of the group of candidate I other than that tell.
 * False where too few tell. */
static bool
find_pace (Comparer *comparer, size_t i, double *pace[2])
{
  const Candidate *candidates = comparer->candidates.items;
  const Group group = candidates[i].group;
  size_t others[MOST_WITNESSES];
  unsigned n = 0;
  double all = 0, witnessed = 0;

  for (unsigned k = 0; group < N_GROUPS && k < comparer->n_witnesses[group]; k++)
    {
      const size_t at = comparer->witnesses[group][k];
      all += weight_of (&candidates[at]);
      if (at == i || (!candidates[i].is_self && is_within (comparer, at, i)) ||
          is_member (comparer, &candidates[at], &candidates[i]))
        continue;
      witnessed += weight_of (&candidates[at]);
      others[n++] = at;
    }
  if (n < LEAST_WITNESSES || witnessed < LEAST_WITNESSED * all)
    return false;
  for (int side = 0; side < 2; side++)
    for (size_t step = 0; step < comparer->runs[side].times->n; step++)
      {
        Weighted values[MOST_WITNESSES];
        for (unsigned k = 0; k < n; k++)
          values[k] =
              (Weighted){ candidates[others[k]].ns[side][step] / candidates[others[k]].level[0],
                          fmin (weight_of (&candidates[others[k]]), MOST_WITNESSED * witnessed) };
        pace[side][step] = fmax (1e-3, weighted_median (values, n));
      }
  return true;
}

/* The share by which PACE changed, of the value below which are SHARE of the steps (0 – 1), as far as it is more than chance. */
static double
pace_change (Comparer *comparer, double *const pace[2], double share)
{
  double level[2], error2 = 0;

  for (int side = 0; side < 2; side++)
    {
      size_t n;
      double *values = lns_memdup (pace[side], comparer->runs[side].times->n * sizeof (double));
      const double *those = counted (comparer, side, pace[side], &n);
      memcpy (values, those, n * sizeof (double));
      level[side] = lns_quantile (values, n, share);
      const double error = median_error (comparer, values, n) / level[side];
      error2 += error * error;
      free (values);
    }
  const double change = level[1] / level[0] - 1;
  return change * change > 4 * error2 ? change : 0;
}

/* --- Comparisons ------------------------------------------------------------------------------ */

/* How the levels of two series are compared. */
typedef struct
{
  bool is_contended, is_witnessed, is_relative, of_quick; /* as LnsSeries has them               */
} Way;

static bool
find_shift (const Comparer *comparer,
            const double *const ns[2],
            Way way,
            double common,
            LnsShift *ret_shift)
{
  LnsSeries series[2];

  for (int side = 0; side < 2; side++)
    series[side] = (LnsSeries){ .values = ns[side],
                                .is_left_out = comparer->runs[side].is_left_out,
                                .n = comparer->runs[side].times->n,
                                .is_contended = way.is_contended,
                                .is_python = comparer->is_python,
                                .is_witnessed = way.is_witnessed,
                                .is_relative = way.is_relative,
                                .of_quick = way.of_quick,
                                .anywhere = fmax (ANYWHERE_NS, ANYWHERE * comparer->step_ns) };
  return lns_shift_find (&series[0], &series[1], common, ret_shift);
}

/* Whether a level that went from A to B is another one. */
static bool
is_worth (double a, double b)
{
  return fabs (b - a) >= LNS_LEAST_CHANGE * (a > 0 ? a : b);
}

static double
width (const LnsShift *shift)
{
  return shift->a > 0 ? (shift->high - shift->low) / shift->a : INFINITY;
}

/* Compares candidate I in one WAY. PACE is how slow the machine was in each step, which changed by COMMON; NULL where that is not known.
 * Returns p, 1 where the change does not count. */
static double
compare_in (const Comparer *comparer,
            size_t i,
            Way way,
            double *const *pace,
            double common,
            LnsShift *ret_shift)
{
  const Candidate *candidate = &comparer->candidates.items[i];
  double *relative[2] = { NULL, NULL };
  LnsShift shift;

  if (!find_shift (comparer, candidate->ns, way, 0, ret_shift) ||
      !is_worth (ret_shift->a, ret_shift->b) || ret_shift->p >= HINT)
    return 1;
  if (common != 0)
    find_shift (comparer, candidate->ns, way, common, ret_shift);
  /* How long the GPU is idle does not grow as what it waits for does. */
  if (pace == NULL || candidate->kind == LNS_PART_GAP)
    return ret_shift->p;
  for (int side = 0; side < 2; side++)
    {
      const size_t n = comparer->runs[side].times->n;
      relative[side] = lns_calloc (n, sizeof (double));
      for (size_t step = 0; step < n; step++)
        relative[side][step] = candidate->ns[side][step] / pace[side][step];
    }
  way.is_relative = true;
  const bool is_known = find_shift (comparer, (const double *const *)relative, way, 0, &shift) &&
                        is_worth (shift.a, shift.b) &&
                        (shift.change > 0) == (ret_shift->change > 0);
  free (relative[0]);
  free (relative[1]);
  return !is_known ? 1 : width (&shift) < width (ret_shift) ? shift.p : ret_shift->p;
}

/* Keeps in SHIFT, with probability *P, what QUICK, with QUICK_P, tells if that is surer and the typical level goes the same way. Both
 * were asked. */
static void
take_surer (LnsShift *shift, double *p, const LnsShift *quick, double quick_p)
{
  if (quick_p < *p && (quick->change > 0) == (shift->change > 0))
    {
      *shift = *quick;
      *p = quick_p;
    }
  *p = fmin (1, 2 * *p);
}

static void
find_run_pace (Comparer *comparer)
{
  for (int group = 0; comparer->levels != NULL && group < N_GROUPS; group++)
    {
      double **pace = comparer->run_pace[group];
      for (int side = 0; side < 2; side++)
        pace[side] = lns_calloc (comparer->levels[side].n, sizeof (double));
      if (lns_run_levels_pace (comparer->levels, group == OF_GPU, pace))
        continue;
      for (int side = 0; side < 2; side++)
        {
          free (pace[side]);
          pace[side] = NULL;
        }
    }
}

/* Compares candidate I by the levels of several runs. */
static void
compare_levels (Comparer *comparer, size_t i)
{
  Candidate *candidate = &comparer->candidates.items[i];
  uint64_t keys[2] = { 0, 0 };

  for (int side = 0; side < 2; side++)
    if (candidate->part[side] != 0 || candidate->is_step)
      keys[side] =
          lns_run_level_key (comparer->runs[side].times, candidate->part[side], candidate->is_self);
  if (!lns_run_levels_shift (comparer->levels, keys, NULL, &candidate->shift))
    return;
  /* Where the machine was faster in one run than in another, times beside those of other parts are nearer to one another. */
  LnsShift relative;
  if (candidate->group < N_GROUPS && comparer->run_pace[candidate->group][0] != NULL &&
      lns_run_levels_shift (comparer->levels, keys, comparer->run_pace[candidate->group],
                            &relative) &&
      width (&relative) < width (&candidate->shift))
    candidate->shift = relative;
  if (is_worth (candidate->shift.a, candidate->shift.b))
    candidate->p = candidate->shift.p;
}

/* Compares candidate I. */
static void
compare (Comparer *comparer, size_t i)
{
  Candidate *candidate = &comparer->candidates.items[i];
  const bool is_contended = comparer->is_contended && candidate->group != OF_GPU;
  double *pace[2] = { NULL, NULL };

  if (comparer->levels != NULL)
    {
      compare_levels (comparer, i);
      return;
    }
  /* A median is near enough to tell what cannot count. */
  if (fabs (candidate->level[1] - candidate->level[0]) <
          LNS_LEAST_CHANGE / 2 * fmax (candidate->level[0], candidate->level[1]) &&
      candidate->level[0] > 0)
    return;
  for (int side = 0; side < 2; side++)
    pace[side] = lns_calloc (comparer->runs[side].times->n, sizeof (double));
  const bool has_pace = find_pace (comparer, i, pace);
  const double common = has_pace ? pace_change (comparer, pace, 0.5) : 0;
  double *const *known = has_pace ? pace : NULL;
  candidate->p =
      compare_in (comparer, i, (Way){ .is_contended = is_contended, .is_witnessed = has_pace },
                  known, common, &candidate->shift);
  /* Of samples and gaps, a step may have none. */
  if (is_contended && candidate->group == OF_CPU)
    {
      LnsShift quick = { 0 };
      const double p = compare_in (
          comparer, i, (Way){ .is_contended = true, .is_witnessed = has_pace, .of_quick = true },
          known, has_pace ? pace_change (comparer, pace, LNS_QUICK) : 0, &quick);
      take_surer (&candidate->shift, &candidate->p, &quick, p);
    }
  free (pace[0]);
  free (pace[1]);
}

static bool
is_compared (const Comparer *comparer, const Candidate *candidate)
{
  return fmax (candidate->mean[0], candidate->mean[1]) >= LEAST_SHARE * comparer->step_ns;
}

/* The share by which the times of most parts of groups FROM to TO changed alike, as far as it is more than chance. */
static double
common_change (Comparer *comparer, unsigned from, unsigned to)
{
  Weighted values[N_GROUPS * MOST_WITNESSES];
  size_t n = 0;
  double sum = 0, most = 0, error2 = 0;

  for (unsigned group = from; group <= to; group++)
    for (unsigned k = 0; k < comparer->n_witnesses[group]; k++)
      {
        const Candidate *candidate = &comparer->candidates.items[comparer->witnesses[group][k]];
        const double weight = weight_of (candidate);
        double square = 0;
        for (int side = 0; side < 2; side++)
          {
            size_t n_values;
            const double *those = counted (comparer, side, candidate->ns[side], &n_values);
            double *own = lns_memdup (those, n_values * sizeof *those);
            const double error = median_error (comparer, own, n_values) / candidate->level[side];
            square += error * error;
            free (own);
          }
        values[n++] = (Weighted){ candidate->level[1] / candidate->level[0] - 1, weight };
        sum += weight;
        most = fmax (most, weight);
        error2 += weight * weight * square;
      }
  if (n <= LEAST_WITNESSES || most > sum / 2)
    return 0;
  const double change = weighted_median (values, n);
  return change * change > 4 * error2 / (sum * sum) ? change : 0;
}

/* --- What is told ----------------------------------------------------------------------------- */

/* Whether the sure changes of others explain that of candidate I. */
static bool
is_explained (const Comparer *comparer, size_t i)
{
  const Candidate *candidate = &comparer->candidates.items[i];
  double by_parts = 0, by_devices = 0, by_threads = 0;

  for (size_t k = 0; k < comparer->candidates.n; k++)
    {
      const Candidate *other = &comparer->candidates.items[k];
      if (k == i || !other->is_sure)
        continue;
      if ((other->around == i + 1 && !candidate->is_self) || is_member (comparer, other, candidate))
        by_parts += other->shift.change;
      if (other->is_total)
        continue;
      if (other->kind == LNS_PART_KERNEL || other->kind == LNS_PART_COPY)
        by_devices += other->shift.change;
      else if (other->is_on_thread && !other->is_wait && !other->has_self)
        by_threads += other->shift.change;
    }
  const double change = candidate->shift.change;
  const bool waits = candidate->is_wait || candidate->kind == LNS_PART_GAP;
  return by_parts / change >= EXPLAINED ||
         (candidate->is_wait && by_devices / change >= EXPLAINED) ||
         (waits && by_threads / change >= EXPLAINED);
}

static int
compare_changes (const void *a, const void *b)
{
  const LnsChange *ca = a, *cb = b;
  return LNS_COMPARE (fabs (cb->change_ns), fabs (ca->change_ns)) ?: LNS_COMPARE (ca->a, cb->a);
}

static LnsChange
change_of (const Comparer *comparer, const Candidate *candidate)
{
  const LnsShift *shift = &candidate->shift;
  const LnsStepPart *a = part_of (comparer, candidate, 0), *b = part_of (comparer, candidate, 1);

  return (LnsChange){
    .kind = candidate->kind,
    .type = candidate->is_step || (a != NULL && b != NULL)
                ? (shift->change > 0 ? LNS_CHANGE_SLOWER : LNS_CHANGE_FASTER)
            : b != NULL ? LNS_CHANGE_NEW
                        : LNS_CHANGE_GONE,
    .a = candidate->part[0],
    .b = candidate->part[1],
    .is_self = candidate->is_self,
    .is_step = candidate->is_step,
    .is_renamed = a != NULL && b != NULL && a->key != b->key,
    .a_ns = shift->a,
    .b_ns = shift->b,
    .change_ns = shift->change,
    .low_ns = shift->low,
    .high_ns = shift->high,
    .change = shift->a > 0 ? shift->change / shift->a : NAN,
    .p = candidate->p,
  };
}

static void
tell (Comparer *comparer, LnsChangesFound *found)
{
  bool *is_told = lns_calloc (comparer->candidates.n + 1, sizeof *is_told);

  /* Parts come after what they are in, and what explains is itself told or explained. */
  for (size_t i = 0; i < comparer->candidates.n; i++)
    is_told[i] = comparer->candidates.items[i].is_sure && !is_explained (comparer, i);
  for (size_t i = 0; i < comparer->candidates.n; i++)
    {
      const Candidate *candidate = &comparer->candidates.items[i];
      if (is_told[i])
        *lns_array_add (&found->changes) = change_of (comparer, candidate);
    }
  free (is_told);
  if (found->changes.n > 0)
    qsort (found->changes.items, found->changes.n, sizeof (LnsChange), compare_changes);
}

/* Finds what most of the change of the steps may be due to, where that is not sure. */
static void
suspect (Comparer *comparer, LnsChangesFound *found)
{
  double most = 0;

  for (size_t i = 0; i < comparer->candidates.n; i++)
    {
      const Candidate *candidate = &comparer->candidates.items[i];
      const double change = candidate->shift.change;
      if (!is_compared (comparer, candidate) || candidate->p >= SUSPICIOUS || candidate->is_wait ||
          (candidate->has_self && !candidate->is_total) || fabs (change) <= most ||
          (change > 0) != (found->steps.change > 0))
        continue;
      most = fabs (change);
      found->has_suspect = true;
      found->suspect = change_of (comparer, candidate);
    }
  if (most < SUSPICIOUS_SHARE * fabs (found->steps.change))
    found->has_suspect = false;
}

/* --- All -------------------------------------------------------------------------------------- */

/* Whether the thread of the steps waits for the GPU for most of them: that may take less, too, where others have the CPUs. */
static bool
waits_mostly (const Comparer *comparer)
{
  double waited_ns = 0;

  for (size_t i = 0; i < comparer->candidates.n; i++)
    {
      const Candidate *candidate = &comparer->candidates.items[i];
      if (candidate->is_wait && candidate->is_on_thread && !candidate->has_self)
        waited_ns += weight_of (candidate);
    }
  return waited_ns > comparer->step_ns / 2;
}

static void
find_steps (const Comparer *comparer, LnsChangesFound *found)
{
  const double *const ns[2] = { comparer->runs[0].times->ns, comparer->runs[1].times->ns };
  const bool is_witnessed = comparer->n_witnesses[OF_CPU] > LEAST_WITNESSES;
  LnsShift quick;

  if (comparer->levels != NULL)
    {
      const uint64_t key = lns_run_level_key (comparer->runs[0].times, 0, false);
      lns_run_levels_shift (comparer->levels, (const uint64_t[]){ key, key }, NULL, &found->steps);
      return;
    }
  find_shift (comparer, ns,
              (Way){ .is_contended = comparer->is_contended, .is_witnessed = is_witnessed },
              found->common, &found->steps);
  if (comparer->is_contended && !waits_mostly (comparer) &&
      find_shift (comparer, ns,
                  (Way){ .is_contended = true, .is_witnessed = is_witnessed, .of_quick = true },
                  found->common, &quick))
    take_surer (&found->steps, &found->steps.p, &quick, quick.p);
}

/* Decides whether the steps take another time, given what of their parts changed for sure. */
static void
judge_steps (Comparer *comparer, LnsChangesFound *found)
{
  double explained = 0;

  const double plain_p = found->steps.p;
  for (size_t i = 0; i < comparer->candidates.n; i++)
    {
      const Candidate *candidate = &comparer->candidates.items[i];
      if (candidate->is_sure && !candidate->has_self && !candidate->is_wait)
        explained += candidate->shift.change;
    }
  found->common = common_change (comparer, OF_CPU, OF_GPU);
  found->cpu_pace = common_change (comparer, OF_CPU, OF_CPU);
  found->gpu_pace = common_change (comparer, OF_GPU, OF_GPU);
  found->knows_gpu_pace = comparer->n_witnesses[OF_GPU] > LEAST_WITNESSES;
  if (found->common != 0 && explained / found->steps.change < EXPLAINED)
    find_steps (comparer, found);
  found->is_machine = plain_p < LNS_SURE && found->steps.p >= LNS_SURE;
  found->p = fmin (1, SHARE_OF_STEPS * found->steps.p);
  if (!is_worth (found->steps.a, found->steps.b))
    found->p = fmax (found->p, 0.05);
  found->is_sure = found->p < LNS_SURE;
  /* Waits follow from what takes longer: without that, they tell nothing. */
  for (size_t i = 0; i < comparer->candidates.n; i++)
    {
      Candidate *candidate = &comparer->candidates.items[i];
      candidate->is_sure &=
          !candidate->is_wait ||
          (found->is_sure && (candidate->shift.change > 0) == (found->steps.change > 0));
    }
}

/* Corrects the probabilities of the candidates, those of gaps or the others, for how many they are and for the other families. Returns
 * how many they are. */
static size_t
correct_family (Comparer *comparer, bool of_gaps)
{
  double *p = lns_calloc (comparer->candidates.n + 1, sizeof *p);
  size_t n = 0;

  for (int pass = 0; pass < 2; pass++)
    {
      size_t at = 0;
      for (size_t i = 0; i < comparer->candidates.n; i++)
        {
          Candidate *candidate = &comparer->candidates.items[i];
          if (!is_compared (comparer, candidate) || (candidate->kind == LNS_PART_GAP) != of_gaps)
            continue;
          if (pass == 0)
            p[n++] = fmin (1, (of_gaps ? SHARE_OF_GAPS : SHARE_OF_PARTS) * candidate->p);
          else
            {
              candidate->p = p[at++];
              candidate->is_sure = candidate->p < LNS_SURE;
            }
        }
      if (pass == 0)
        lns_holm (p, n);
    }
  free (p);
  return n;
}

LnsChangesFound
lns_changes_find (const LnsComparedRun *runs, const LnsIdMap *renamed, const LnsRunLevels *levels)
{
  LnsChangesFound found = { .p = 1 };
  Comparer comparer = { .runs = runs, .renamed = renamed, .levels = levels };
  const size_t n_a = runs[0].times->n, n_b = runs[1].times->n;

  comparer.room = lns_calloc ((n_a > n_b ? n_a : n_b) + 1, sizeof (double));
  for (int side = 0; side < 2; side++)
    {
      comparer.of_part[side] = lns_calloc (runs[side].times->parts.n + 1, sizeof (size_t));
      comparer.nothing[side] = lns_calloc (runs[side].times->n, sizeof (double));
      comparer.is_contended |=
          fmax (runs[side].times->waited_share, runs[side].times->unseen_share) > CONTENDED;
      comparer.is_python |= runs[side].times->is_python;
    }
  comparer.step_ns = median_of (&comparer, 0, runs[0].times->ns);
  add_parts (&comparer);
  add_selves (&comparer);
  for (size_t i = 0; i < comparer.candidates.n; i++)
    measure (&comparer, &comparer.candidates.items[i]);
  find_witnesses (&comparer);
  find_run_pace (&comparer);
  for (size_t i = 0; i < comparer.candidates.n; i++)
    if (is_compared (&comparer, &comparer.candidates.items[i]))
      compare (&comparer, i);
  found.n_compared = 1;
  found.is_contended = comparer.is_contended;
  find_steps (&comparer, &found);
  for (int of_gaps = 0; of_gaps < 2; of_gaps++)
    found.n_compared += correct_family (&comparer, of_gaps == 1);
  judge_steps (&comparer, &found);
  suspect (&comparer, &found);
  tell (&comparer, &found);
  for (size_t i = 0; i < comparer.candidates.n; i++)
    {
      free (comparer.candidates.items[i].owned[0]);
      free (comparer.candidates.items[i].owned[1]);
    }
  lns_array_clear (&comparer.candidates);
  for (int side = 0; side < 2; side++)
    {
      free (comparer.of_part[side]);
      free (comparer.nothing[side]);
    }
  for (int group = 0; group < N_GROUPS; group++)
    for (int side = 0; side < 2; side++)
      free (comparer.run_pace[group][side]);
  free (comparer.room);
  return found;
}

void
lns_changes_clear (LnsChangesFound *found)
{
  lns_array_clear (&found->changes);
}

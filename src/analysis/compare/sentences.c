/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/sentences.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/projection/cuda-keys.h"
#include "src/analysis/why/maker.h"
#include "src/base/memory.h"
#include "src/tables/enums.h"

/* A drift below this share of the level is not worth a note. */
#define LEAST_DRIFT 0.02

/* --- Names ------------------------------------------------------------------------------------ */

static const LnsStepPart *
part_of (const LnsComparison *comparison, const LnsChange *change, int *ret_side)
{
  *ret_side = change->b != 0 ? 1 : 0;
  const size_t part = change->b != 0 ? change->b : change->a;
  return part == 0 ? NULL : &comparison->runs[*ret_side].times->parts.items[part - 1];
}

/* The first SIZE_BYTES of NAME, with # for its numbers if IS_MANY names differ by them. To be freed. */
static char *
without_numbers (const char *name, size_t size_bytes, bool is_many)
{
  char *text = lns_calloc (size_bytes + 1, 1);
  size_t n = 0;

  for (size_t i = 0; i < size_bytes; i++)
    if (!is_many || !isdigit ((unsigned char)name[i]))
      text[n++] = name[i];
    else if (n == 0 || text[n - 1] != '#')
      text[n++] = '#';
  return text;
}

char *
lns_change_name (const LnsComparison *comparison, const LnsChange *change)
{
  int side;
  const LnsStepPart *part = part_of (comparison, change, &side);

  if (part == NULL || change->is_step)
    return lns_why_step_name (comparison->tables[side], comparison->why[side]);
  if (part->kind == LNS_PART_GAP)
    return lns_strdup (lns_cause_name (part->cause));
  if (part->kind == LNS_PART_COPY)
    {
      const char *label = part->copy == LNS_PART_SET ? "Memset"
                          : part->copy == LNS_PART_GRAPH
                              ? "Graph"
                              : lns_enum_label ("ENUM_CUDA_MEMCPY_OPER", part->copy);
      return part->copy == LNS_PART_SET     ? lns_strdup ("[CUDA memset]")
             : part->copy == LNS_PART_GRAPH ? lns_strdup ("[CUDA graph]")
                                            : lns_asprintf ("[CUDA memcpy %s]", label ?: "");
    }
  const char *name =
      lns_report_string (lns_tables_report (comparison->tables[side]), part->name, NULL);
  const size_t size = strlen (name);
  return without_numbers (name,
                          part->kind == LNS_PART_CALL ? lns_cuda_call_name_size (name, size) : size,
                          part->is_many_names);
}

char *
lns_change_range (const LnsComparison *comparison, const LnsChange *change)
{
  int side;
  const LnsStepPart *part = part_of (comparison, change, &side);

  if (part == NULL || change->is_step || part->range == 0)
    return NULL;
  const char *name =
      lns_report_string (lns_tables_report (comparison->tables[side]), part->range, NULL);
  return without_numbers (name, strlen (name), true);
}

uint32_t
lns_change_device (const LnsComparison *comparison, const LnsChange *change)
{
  int side;
  const LnsStepPart *part = part_of (comparison, change, &side);
  return part == NULL ? LNS_ID_NONE : part->device;
}

char *
_lns_change_subject (const LnsComparison *comparison, const LnsChange *change)
{
  char *name = lns_change_name (comparison, change), *range = lns_change_range (comparison, change);
  const uint32_t device = lns_change_device (comparison, change);
  char *text = range != NULL && device != LNS_ID_NONE
                   ? lns_asprintf (_ ("“%s” in “%s” on GPU %u"), name, range, device)
               : range != NULL         ? lns_asprintf (_ ("“%s” in “%s”"), name, range)
               : device != LNS_ID_NONE ? lns_asprintf (_ ("“%s” on GPU %u"), name, device)
                                       : lns_asprintf (_ ("“%s”"), name);

  free (name);
  free (range);
  return text;
}

char *
_lns_change_clause (const LnsComparison *comparison, const LnsChange *change)
{
  char ns[LNS_WHY_NS_SIZE], *text;
  char *subject = _lns_change_subject (comparison, change);

  _lns_why_ns ((int64_t)llround (fabs (change->change_ns)), ns);
  switch (change->type)
    {
    case LNS_CHANGE_SLOWER:
      text = lns_asprintf (_ ("%s takes %s longer"), subject, ns);
      break;
    case LNS_CHANGE_FASTER:
      text = lns_asprintf (_ ("%s takes %s less"), subject, ns);
      break;
    case LNS_CHANGE_NEW:
      text = lns_asprintf (_ ("%s is new and takes %s"), subject, ns);
      break;
    default:
      text = lns_asprintf (_ ("%s is gone, which took %s"), subject, ns);
    }
  free (subject);
  return text;
}

/* --- The verdict ------------------------------------------------------------------------------ */

static size_t
n_counted (const LnsComparedRun *run)
{
  return run->times->n - run->left.n_warm_up - run->left.n_outliers;
}

static char *
not_known (const LnsComparison *comparison)
{
  const int side = n_counted (&comparison->runs[0]) < LNS_LEAST_COMPARED ||
                           (comparison->runs[0].times->unseen_share > LNS_MOST_UNSEEN &&
                            n_counted (&comparison->runs[1]) >= LNS_LEAST_COMPARED)
                       ? 0
                       : 1;
  const char *run = side == 0 ? "A" : "B";

  if (comparison->runs[side].times->n_all == 0)
    return lns_asprintf (_ ("It cannot be known whether B is slower than A: %s has no steps; name "
                            "the NVTX range that is one with --steps=RANGE."),
                         run);
  if (n_counted (&comparison->runs[side]) >= LNS_LEAST_COMPARED)
    return lns_asprintf (
        _ ("It cannot be known whether B is slower than A: in %s the program had no CPU for %.0f "
           "%% of the time that it could have run, and when was not recorded. Record the "
           "scheduling of threads (--cpuctxsw), or on a quieter machine."),
        run, 100 * comparison->runs[side].times->unseen_share);
  return lns_asprintf (
      _ ("It cannot be known whether B is slower than A: %s has %zu steps that count, and "
         "%d are needed."),
      run, n_counted (&comparison->runs[side]), LNS_LEAST_COMPARED);
}

/* The change that the verdict names: the largest that goes the way of the steps, else the largest; or NULL. */
static const LnsChange *
main_change (const LnsComparison *comparison)
{
  const LnsChanges *changes = &comparison->found.changes;

  for (size_t i = 0; i < changes->n; i++)
    if (!comparison->found.is_sure || (changes->items[i].change_ns > 0) == (comparison->change > 0))
      return &changes->items[i];
  return changes->n > 0 ? &changes->items[0] : NULL;
}

/* Whether what is suspected tells more than MAIN, the largest change that is sure, or NULL. */
static bool
is_suspected (const LnsChangesFound *found, const LnsChange *main)
{
  return found->has_suspect &&
         (main == NULL || fabs (main->change_ns) < fabs (found->suspect.change_ns));
}

/* Where chance makes more than this, in percent, nobody may say that B takes as long as A. */
#define MOST_REACH 5

static char *
known (const LnsComparison *comparison)
{
  const LnsChangesFound *found = &comparison->found;
  const double change = 100 * comparison->change, reach = 50 * (comparison->high - comparison->low);
  char a[LNS_WHY_NS_SIZE], b[LNS_WHY_NS_SIZE];
  const LnsChange *main = main_change (comparison);
  char *clause = main != NULL ? _lns_change_clause (comparison, main) : NULL, *text;

  _lns_why_ns ((int64_t)comparison->p50_ns[0], a);
  _lns_why_ns ((int64_t)comparison->p50_ns[1], b);
  if (found->is_sure && clause != NULL)
    text = lns_asprintf (_ ("B takes %s a step instead of %s (%+.1f %%, ±%.1f): %s."), b, a, change,
                         reach, clause);
  else if (found->is_sure)
    text = lns_asprintf (_ ("B takes %s a step instead of %s (%+.1f %%, ±%.1f): which part of it "
                            "changed is not sure."),
                         b, a, change, reach);
  else if (is_suspected (found, main))
    {
      free (clause);
      clause = _lns_change_clause (comparison, &found->suspect);
      text = lns_asprintf (
          _ ("Whether B's steps take longer is not sure, %s instead of %s (%+.1f %%, ±%.1f); if "
             "so, %s."),
          b, a, change, reach, clause);
    }
  else if (clause != NULL)
    text =
        lns_asprintf (_ ("Whether B's steps take longer is not sure, %s instead of %s (%+.1f %%, "
                         "±%.1f), but %s."),
                      b, a, change, reach, clause);
  else if (found->is_machine)
    text = lns_asprintf (
        _ ("B takes %s a step instead of %s (%+.1f %%), but most of what is in a step changed "
           "alike (%+.1f %%): the reason is rather the machine than the program."),
        b, a, change, 100 * found->common);
  else if (reach > MOST_REACH && comparison->tells_runs)
    text = lns_asprintf (
        _ ("Whether B is slower or faster than A cannot be told: %s a step instead of %s (%+.1f "
           "%%), and runs of one program lie up to %.0f %% apart. Record more runs of each."),
        b, a, change, reach);
  else if (reach > MOST_REACH)
    text = lns_asprintf (
        _ ("Whether B is slower or faster than A cannot be told: %s a step instead of %s (%+.1f "
           "%%), and chance alone makes up to %.0f %%. Record on a quieter machine, or more "
           "steps."),
        b, a, change, reach);
  else
    text =
        lns_asprintf (_ ("B takes as long as A, %s a step instead of %s (%+.1f %%, ±%.1f): nothing "
                         "changed that chance does not explain."),
                      b, a, change, reach);
  free (clause);
  return text;
}

/* --- Notes ------------------------------------------------------------------------------------ */

#define note(comparison, ...) (*lns_array_add (&(comparison)->notes) = lns_asprintf (__VA_ARGS__))

static void
note_run (LnsComparison *comparison, int side)
{
  const LnsComparedRun *run = &comparison->runs[side];
  const char *name = side == 0 ? "A" : "B";
  const LnsShift *steps = &comparison->found.steps;
  const double drift = side == 0 ? steps->a_drift : steps->b_drift,
               level = side == 0 ? steps->a : steps->b;

  if (run->times->n < run->times->n_all)
    note (comparison, _ ("%s has %zu steps: %zu of them, evenly spread, were compared."), name,
          run->times->n_all, run->times->n);
  if (run->left.n_warm_up > 0)
    note (comparison, _ ("Steps at the beginning of %s that are warm-up and left out: %zu."), name,
          run->left.n_warm_up);
  if (run->left.n_outliers > 0)
    note (comparison, _ ("Steps of %s that are far from the others and left out: %zu."), name,
          run->left.n_outliers);
  if (run->times->waited_share >= 0.005)
    note (
        comparison,
        _ ("In %s the thread of the steps had no CPU for %.0f %% of their time: that is left out."),
        name, 100 * run->times->waited_share);
  if (comparison->is_known && level > 0 && fabs (drift) >= LEAST_DRIFT * level)
    note (comparison,
          _ ("The steps of %s drift by %+.1f %% over the run: their middle is compared."), name,
          100 * drift / level);
  if (run->times->n_left_out > 0)
    note (comparison,
          _ ("%s has more different parts than are compared: %ju events were left out."), name,
          (uintmax_t)run->times->n_left_out);
}

void
_lns_comparison_write_sentences (LnsComparison *comparison, bool in_language)
{
  const bool before = lns_text_in_english (!in_language);

  free (comparison->verdict);
  for (size_t i = 0; i < comparison->notes.n; i++)
    free (comparison->notes.items[i]);
  comparison->notes.n = 0;
  comparison->verdict = comparison->is_known ? known (comparison) : not_known (comparison);
  for (int side = 0; side < 2; side++)
    note_run (comparison, side);
  if (comparison->found.is_contended)
    note (
        comparison, "%s",
        comparison->tells_runs
            ? _ ("Other programs had the CPUs: quick steps were compared, too, which they disturb "
                 "least.")
            : _ ("Other programs had the CPUs: quick steps were compared, too, which they disturb "
                 "least, and one run of each tells only large changes of what the CPU does."));
  if (fabs (comparison->found.cpu_pace) >= LNS_LEAST_CHANGE)
    note (comparison,
          _ ("Most of what the CPU did changed by %+.1f %% in B: its clock, or other programs, are "
             "a likely reason."),
          100 * comparison->found.cpu_pace);
  if (fabs (comparison->found.gpu_pace) >= LNS_LEAST_CHANGE)
    note (comparison,
          _ ("Most kernels changed by %+.1f %% in B: the clock of the GPU is a likely reason."),
          100 * comparison->found.gpu_pace);
  else if (comparison->found.knows_gpu_pace)
    note (comparison, "%s", _ ("Most kernels took as long in B as in A: the GPU was as fast."));
  if (comparison->tells_runs)
    note (comparison,
          _ ("%zu comparisons were made in the typical runs of %zu of A and %zu of B; a change is "
             "told if most pairs of runs tell it, and runs "
             "of one program lie that far apart in less than %g %% of cases."),
          comparison->found.n_compared, comparison->n_runs[0], comparison->n_runs[1],
          100 * LNS_SURE);
  else if (comparison->is_known)
    note (comparison,
          _ ("%zu comparisons were made; a change is told if the scatter of the steps of both runs "
             "gives one that large in less than %g %% of cases. What a run has from its beginning "
             "to its end, such as where its memory lies, is not told apart from a change of the "
             "program: only further runs tell that."),
          comparison->found.n_compared, 100 * LNS_SURE);
  lns_text_in_english (before);
}

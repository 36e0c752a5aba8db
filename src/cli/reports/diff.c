/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope diff`: says whether a run of a program is slower than another, by how much, and because of what. */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/compare/votes.h"
#include "src/base/memory.h"
#include "src/cli/options/shared.h"
#include "src/cli/reports/baseline.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"

#define FAILED_ON_EXIT 3

/* With how many runs of --baseline a report is compared where --last does not say it. */
#define N_LAST 5

typedef struct
{
  const char *format, *steps, *baseline;
  LnsOptionList fail_on;
  int64_t n_top, n_last;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("format", CHOICE, Values, format), .letter = 'f', .choices = "text,json,markdown",
    .default_text = "text", .help = N_ ("Print lines for people, JSON, or Markdown.") },
  { LNS_SWITCH ("top", INTEGER, Values, n_top), .value_name = "N", .default_text = "10",
    .help = N_ ("Print at most this many changes, those of most time first; 0 prints all.") },
  { LNS_SWITCH ("steps", TEXT, Values, steps), .value_name = "RANGE",
    .help = N_ (
        "The NVTX range that is a step (numbers in names do not count); without it, the range that "
        "repeats and takes most of the time, or else the kernels that repeat.") },
  { LNS_SWITCH ("fail-on", LIST, Values, fail_on), .value_name = "'p50(step) > 5%'",
    .help =
        N_ ("Return 3 if B is slower than that for sure: p50(step) is the median step, p50(NAME) "
            "the time a step of the kernel, call or range NAME. The limit is a share of A's time "
            "(%) or a time (ns, us, ms, s).") },
  { LNS_SWITCH ("baseline", TEXT, Values, baseline), .value_name = "DIR",
    .help = N_ ("Compare B, which is then the only report, with the last runs in the folder DIR, "
                "and add a copy of B to "
                "it unless a limit of --fail-on was exceeded. What is told is sure beside most of "
                "these runs.") },
  { LNS_SWITCH ("last", INTEGER, Values, n_last), .value_name = "N", .least = 1, .most = 100,
    .default_text = "5", .help = N_ ("With --baseline: compare with this many runs.") },
};

/* --- --fail-on -------------------------------------------------------------------------------- */

typedef struct
{
  char *name; /* owned; NULL: of the step                                                        */
  double limit;
  bool is_share; /* of A's time, 1 = all; else in ns                                             */
} Limit;

/* Reads ITEM: "p50(NAME) > 5%". */
static bool
read_limit (const char *item, Limit *ret_limit, LnsError *error)
{
  static const struct
  {
    const char *name;
    double factor;
  } units[] = { { "%", 0.01 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
  const char *close = strrchr (item, ')');
  char *end = NULL;

  *ret_limit = (Limit){ 0 };
  if (strncmp (item, "p50(", 4) == 0 && close != NULL && close > item + 4)
    {
      const char *at = close + 1 + strspn (close + 1, " ");
      if (*at == '>')
        {
          ret_limit->limit = strtod (at + 1, &end);
          const char *unit = end + strspn (end, " ");
          for (size_t i = 0; end != at + 1 && i < sizeof units / sizeof *units; i++)
            if (strcmp (unit, units[i].name) == 0 && ret_limit->limit >= 0 &&
                isfinite (ret_limit->limit))
              {
                ret_limit->limit *= units[i].factor;
                ret_limit->is_share = i == 0;
                ret_limit->name = strncmp (item, "p50(step)", 9) == 0
                                      ? NULL
                                      : lns_asprintf ("%.*s", (int)(close - item - 4), item + 4);
                return true;
              }
        }
    }
  return lns_cli_usage (
      error, "--fail-on: “%s” is not valid; write p50(step) > 5%% or p50(NAME) > 1ms", item);
}

/* Whether COMPARISON is above LIMIT for sure. */
static bool
exceeds (const LnsComparison *comparison, const Limit *limit)
{
  const LnsChangesFound *found = &comparison->found;
  bool fails = false;

  if (limit->name == NULL)
    {
      /* Where other programs had the CPUs, medians may be apart by more than what is sure. */
      const LnsShift *steps = &found->steps;
      const double share = fmin (comparison->change, steps->change / steps->a),
                   ns = fmin (comparison->p50_ns[1] - comparison->p50_ns[0], steps->change);
      return found->is_sure && (limit->is_share ? share : ns) > limit->limit;
    }
  for (size_t i = 0; i < found->changes.n; i++)
    {
      const LnsChange *change = &found->changes.items[i];
      char *name = lns_change_name (comparison, change);
      /* What is new exceeds each share. */
      if (strcmp (name, limit->name) == 0 && change->change_ns > 0)
        fails |= (!limit->is_share         ? change->change_ns
                  : isnan (change->change) ? INFINITY
                                           : change->change) > limit->limit;
      free (name);
    }
  return fails;
}

/* Whether one of the runs has a kernel, call, range or function NAME in its steps. */
static bool
has_part (const LnsComparison *comparison, const char *name)
{
  bool found = false;

  for (int side = 0; side < 2; side++)
    for (size_t i = 1; !found && i <= comparison->runs[side].times->parts.n; i++)
      {
        const LnsChange one = { .a = side == 0 ? i : 0, .b = side == 0 ? 0 : i };
        char *own = lns_change_name (comparison, &one);
        found = strcmp (own, name) == 0;
        free (own);
      }
  return found;
}

/* Checks that what LIMIT is about is there: a gate with a wrong name would never close. */
static bool
check_name (const Limit *limit, const LnsComparison *comparison, LnsError *error)
{
  return limit->name == NULL || !comparison->is_known || has_part (comparison, limit->name) ||
         lns_cli_usage (error,
                        "--fail-on: the steps of neither run have a kernel, call, range or "
                        "function “%s”",
                        limit->name);
}

/* Sets RET_FAILS to whether one of LIMITS is exceeded. COMPARISON may be NULL: the limits are only checked. */
static bool
check_limits (const LnsOptionList *limits,
              const LnsComparison *comparison,
              bool *ret_fails,
              LnsError *error)
{
  bool good = true;

  *ret_fails = false;
  for (size_t i = 0; good && i < limits->n_items; i++)
    {
      Limit limit = { 0 };
      good = read_limit (limits->items[i], &limit, error) &&
             (comparison == NULL || check_name (&limit, comparison, error));
      *ret_fails |= good && comparison != NULL && exceeds (comparison, &limit);
      free (limit.name);
    }
  if (good && comparison != NULL && !comparison->is_known && limits->n_items > 0)
    lns_cli_say ("warning", "--fail-on: no limit was checked, as the runs cannot be compared");
  return good;
}

/* --- All -------------------------------------------------------------------------------------- */

static void
print (const LnsComparison *comparison, const Values *values)
{
  const char *format = values->format != NULL ? values->format : "text";
  const int64_t top = values->n_top == 0 ? -1 : values->n_top;

  if (strcmp (format, "json") == 0)
    lns_comparison_write_json (comparison, stdout);
  else if (strcmp (format, "markdown") == 0)
    lns_comparison_write_markdown (comparison, top, stdout);
  else
    {
      lns_cli_print_filled (stdout, comparison->verdict, strlen (comparison->verdict), 0,
                            lns_cli_columns (stdout));
      lns_comparison_write_text (comparison, top, stdout);
    }
}

/* A report that is open. */
typedef struct
{
  LnsReport *report;
  LnsTables *tables;
} Opened;

static bool
open_report (Opened *opened, const char *path, LnsError *error)
{
  *opened = (Opened){ .report = lns_cli_open_report (path, error) };
  /* Steps that were chosen because they are slow say nothing of a run's pace. */
  if (opened->report != NULL && lns_report_meta (opened->report, "keep_steps") != NULL)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "%s keeps only a part of its run and cannot be compared; record all of "
                          "it",
                          path);
  if (opened->report != NULL)
    opened->tables = lns_tables_new (opened->report, error);
  return opened->tables != NULL;
}

static void
close_report (Opened *opened)
{
  lns_tables_free (opened->tables);
  lns_report_close (opened->report);
}

static bool
in_language (const Values *values)
{
  return values->format == NULL || strcmp (values->format, "json") != 0;
}

/* Compares the report at PATH with B; the result is A's, too, which is to be closed after it is freed. NULL with ERROR. */
static LnsComparison *
compare_with (
    const Values *values, const char *path, const Opened *b, Opened *ret_a, LnsError *error)
{
  const LnsCompareOptions asked = { .step_range = values->steps,
                                    .in_language = in_language (values) };

  if (!open_report (ret_a, path, error))
    return NULL;
  return lns_compare ((LnsTables *const[]){ ret_a->tables, b->tables }, &asked,
                      lns_cli_catch_interrupt (), error);
}

/* Compares the runs of BASELINE with B. */
static LnsComparison *
compare_with_all (const Values *values,
                  const LnsCliBaseline *baseline,
                  const Opened *b,
                  Opened *ret_a,
                  LnsError *error)
{
  LnsVotes votes = { 0 };
  LnsComparison *comparison = NULL;
  bool good = true;

  for (size_t i = 0; good && i < baseline->paths.n; i++)
    {
      comparison = compare_with (values, baseline->paths.items[i], b, ret_a, error);
      good = comparison != NULL;
      if (good)
        lns_votes_add (&votes, comparison);
      lns_comparison_free (comparison);
      comparison = NULL;
      close_report (ret_a);
      *ret_a = (Opened){ 0 };
    }
  if (good)
    comparison =
        compare_with (values, baseline->paths.items[lns_votes_typical (&votes)], b, ret_a, error);
  if (comparison != NULL)
    lns_votes_apply (&votes, comparison, in_language (values));
  lns_votes_clear (&votes);
  return comparison;
}

/* Compares the reports at PATHS, A and B; or, with --baseline, the first of them with earlier runs. */
static int
compare (const Values *values, char *const *paths, LnsError *error)
{
  Opened a = { 0 }, b = { 0 };
  LnsCliBaseline baseline = { 0 };
  LnsComparison *comparison = NULL;
  const bool has_baseline = values->baseline != NULL;
  bool fails = false, good = check_limits (&values->fail_on, NULL, &fails, error) &&
                             open_report (&b, paths[has_baseline ? 0 : 1], error);

  if (good && has_baseline)
    good = lns_cli_baseline_open (&baseline, values->baseline,
                                  values->n_last > 0 ? (size_t)values->n_last : N_LAST, error);
  if (good && has_baseline && baseline.paths.n == 0)
    lns_cli_say ("note", N_ ("%s has no run yet; this is its first"), values->baseline);
  else if (good)
    {
      comparison = has_baseline ? compare_with_all (values, &baseline, &b, &a, error)
                                : compare_with (values, paths[0], &b, &a, error);
      good = comparison != NULL && check_limits (&values->fail_on, comparison, &fails, error);
      if (good)
        print (comparison, values);
    }
  good = good && lns_cli_flush (error);
  if (good && has_baseline && !fails)
    good = lns_cli_baseline_add (&baseline, lns_report_info (b.report)->path, error);
  lns_comparison_free (comparison);
  close_report (&a);
  close_report (&b);
  lns_cli_baseline_clear (&baseline);
  return !good ? lns_cli_fail (error) : fails ? FAILED_ON_EXIT : 0;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { .n_top = 10 };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  if (values.n_last > 0 && values.baseline == NULL)
    {
      lns_cli_usage (&error,
                     N_ ("--last says with how many runs of --baseline=DIR, which is missing"));
      exit_code = lns_cli_fail (&error);
    }
  else if (argc == (values.baseline != NULL ? 2 : 3))
    {
      for (int i = 1; i < argc; i++)
        lns_cli_find_report (argv[i]);
      exit_code = compare (&values, argv + 1, &error);
    }
  else
    {
      lns_cli_usage (&error,
                     values.baseline != NULL
                         ? N_ ("diff --baseline=DIR takes one report; usage: lanescope diff %s")
                         : N_ ("diff takes two reports; usage: lanescope diff %s"),
                     _ (command->usage));
      exit_code = lns_cli_fail (&error);
    }
  lns_cli_clear_lists (command, &values);
  return exit_code;
}

const LnsCommand lns_command_diff = {
  .name = "diff",
  .usage = N_ ("[switches] A B | [switches] --baseline=DIR B"),
  .summary = N_ ("say whether run B is slower than run A, and because of what"),
  .details = N_ (
      "Steps of both runs are compared, and what they were spent on: kernels, copies, NVTX ranges, "
      "calls, idle times of the GPU, and functions that samples found. Parts of A and B are the "
      "same if "
      "their names without numbers are, and where they are in the step; kernels that were renamed "
      "are found by "
      "place and shape.\n\n"
      "A change is told if it is sure: the scatter of the steps of both runs gives one that large "
      "in less than 1 % of cases, however many parts are compared, and if it is at least 1 %. "
      "p-values are those of a sieve bootstrap, corrected by Holm's method. Warm-up, outliers, "
      "drift, and time for which the thread of the steps had no CPU are left out, and that is "
      "said. Each run needs at least 10 steps.\n\n"
      "What a run has from its beginning to its end, such as where its memory lies or how fast its "
      "machine was then, is not told apart from a change of the program. Work that is bound by "
      "memory may differ by a tenth between runs of one program: repeat it, and give --baseline "
      "more runs."),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

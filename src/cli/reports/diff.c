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
  *opened = (Opened){ 0 };
}

static bool
in_language (const Values *values)
{
  return values->format == NULL || strcmp (values->format, "json") != 0;
}

/* Compares the runs that are OPENED, by LEVELS of all runs unless that is NULL. */
static LnsComparison *
compare_opened (const Values *values,
                const Opened opened[2],
                const LnsRunLevels *levels,
                LnsError *error)
{
  const LnsCompareOptions asked = { .step_range = values->steps,
                                    .in_language = in_language (values),
                                    .levels = levels };
  return lns_compare ((LnsTables *const[]){ opened[0].tables, opened[1].tables }, &asked,
                      lns_cli_catch_interrupt (), error);
}

/* Opens run AT of RUNS in the place of the one that is OPENED. */
static bool
open_run (Opened *opened, const LnsCliRuns *runs, size_t at, LnsError *error)
{
  close_report (opened);
  return open_report (opened, runs->items[at], error);
}

/* Has VOTES hear of each run of A and B once: beside one of the other side, as comparing all with all would take as long as they are many times many. */
static bool
hear_all (LnsVotes *votes,
          const Values *values,
          const LnsCliRuns runs[2],
          Opened opened[2],
          LnsError *error)
{
  const size_t n = runs[0].n > runs[1].n ? runs[0].n : runs[1].n;
  bool good = true;

  for (size_t i = 0; good && i < n; i++)
    {
      const bool is_new[] = { i < runs[0].n, i < runs[1].n };
      for (int side = 0; good && side < 2; side++)
        good = !is_new[side] || open_run (&opened[side], &runs[side], i, error);
      LnsComparison *comparison = good ? compare_opened (values, opened, NULL, error) : NULL;
      good = comparison != NULL;
      if (good)
        lns_votes_add (votes, comparison, is_new);
      lns_comparison_free (comparison);
    }
  return good;
}

/* Compares RUNS, which are those of A and B. What is told are the typical ones of each, which are OPENED then and to be closed, whatever is
 * returned, after the result is freed. NULL with ERROR. */
static LnsComparison *
compare_runs (const Values *values, const LnsCliRuns runs[2], Opened opened[2], LnsError *error)
{
  LnsVotes votes = { 0 };
  LnsComparison *comparison = NULL;
  const bool are_many = runs[0].n > 1 || runs[1].n > 1;
  bool good = !are_many || hear_all (&votes, values, runs, opened, error);

  const LnsRunLevels *levels = lns_votes_levels (&votes);
  for (int side = 0; good && side < 2; side++)
    good = open_run (&opened[side], &runs[side], lns_votes_typical (&votes, side), error);
  if (good)
    comparison = compare_opened (values, opened, levels, error);
  if (comparison != NULL && are_many && levels == NULL)
    lns_votes_apply (&votes, comparison, in_language (values));
  lns_votes_clear (&votes);
  return comparison;
}

/* Compares RUNS; B's is added to BASELINE, unless that is NULL, if no limit is exceeded. */
static int
compare (const Values *values,
         const LnsCliRuns runs[2],
         const LnsCliBaseline *baseline,
         LnsError *error)
{
  Opened opened[2] = { { 0 } };
  bool fails = false;
  LnsComparison *comparison = compare_runs (values, runs, opened, error);
  bool good = comparison != NULL && check_limits (&values->fail_on, comparison, &fails, error);

  if (good)
    print (comparison, values);
  good = good && lns_cli_flush (error);
  if (good && baseline != NULL && !fails)
    good = lns_cli_baseline_add (baseline, lns_report_info (opened[1].report)->path, error);
  lns_comparison_free (comparison);
  for (int side = 0; side < 2; side++)
    close_report (&opened[side]);
  return !good ? lns_cli_fail (error) : fails ? FAILED_ON_EXIT : 0;
}

/* Compares A and B, each a report or a folder of them. */
static int
compare_two (const Values *values, char *const *paths, LnsError *error)
{
  LnsCliRuns runs[2] = { { 0 } };
  bool ignored, good = check_limits (&values->fail_on, NULL, &ignored, error);

  for (int side = 0; good && side < 2; side++)
    good = lns_cli_runs_find (&runs[side], paths[side], error);
  const int exit_code = good ? compare (values, runs, NULL, error) : lns_cli_fail (error);
  for (int side = 0; side < 2; side++)
    lns_cli_runs_clear (&runs[side]);
  return exit_code;
}

/* The first run of BASELINE is the report at PATH: there is nothing to compare it with. */
static int
begin_baseline (const LnsCliBaseline *baseline,
                const char *folder,
                const char *path,
                LnsError *error)
{
  Opened opened;
  bool good = open_report (&opened, path, error);

  if (good)
    lns_cli_say ("note", N_ ("%s has no run yet; this is its first"), folder);
  good = good && lns_cli_baseline_add (baseline, lns_report_info (opened.report)->path, error);
  close_report (&opened);
  return good ? 0 : lns_cli_fail (error);
}

/* Compares earlier runs with the report at PATH, and keeps it beside them. */
static int
compare_with_baseline (const Values *values, const char *path, LnsError *error)
{
  LnsCliBaseline baseline = { 0 };
  LnsCliRuns b = { 0 };
  bool ignored;
  int exit_code;

  *lns_array_add (&b) = lns_strdup (path);
  if (!check_limits (&values->fail_on, NULL, &ignored, error) ||
      !lns_cli_baseline_open (&baseline, values->baseline,
                              values->n_last > 0 ? (size_t)values->n_last : N_LAST, error))
    exit_code = lns_cli_fail (error);
  else if (baseline.runs.n == 0)
    exit_code = begin_baseline (&baseline, values->baseline, path, error);
  else
    exit_code = compare (values, (const LnsCliRuns[]){ baseline.runs, b }, &baseline, error);
  lns_cli_runs_clear (&b);
  lns_cli_baseline_clear (&baseline);
  return exit_code;
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
      exit_code = values.baseline != NULL ? compare_with_baseline (&values, argv[1], &error)
                                          : compare_two (&values, argv + 1, &error);
    }
  else
    {
      lns_cli_usage (
          &error,
          values.baseline != NULL
              ? N_ ("diff --baseline=DIR takes one report; usage: lanescope diff %s")
              : N_ ("diff takes two reports or folders of them; usage: lanescope diff %s"),
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
      "memory may differ by a tenth between runs of one program. To be sure, record several runs "
      "of each: "
      "where A or B is a folder, all reports in it (*.rep) are runs of that side. From four runs "
      "on, a change is told only if runs "
      "of one program lie that far apart in less than 1 % of cases (Student's t)."),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope why`: says why a program was slow, in one sentence, with evidence. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/what-if/critical-path.h"
#include "src/analysis/why/why.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/cli/reports/filter.h"
#include "src/cli/reports/report.h"
#include "src/cli/options/shared.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/terminal/language.h"

#define FAILED_ON_EXIT 3

/* With --top=0: so many links of the critical path are printed. */
#define MOST_LINKS 1000

typedef struct
{
  LnsCliFilterValues filter;
  const char *format, *steps, *gap;
  LnsOptionList fail_on;
  int64_t n_top;
  bool critical_path;
} Values;

static bool
each_cause (size_t i, LnsChoice *ret_choice)
{
  /* The unknown one has no meaning, and is no choice. */
  const size_t cause = i < LNS_CAUSE_UNKNOWN ? i : i + 1;

  if (cause < LNS_N_CAUSES)
    *ret_choice = (LnsChoice){ lns_cause_name ((LnsCause)cause), lns_cause_help ((LnsCause)cause) };
  return cause < LNS_N_CAUSES;
}

static const LnsOption options[] = {
  { LNS_SWITCH ("format", CHOICE, Values, format), .letter = 'f',
    .choices = "text,json,table,csv,markdown", .default_text = "text",
    .help = N_ ("Print lines for people, JSON, or the findings as a table.") },
  { LNS_SWITCH ("top", INTEGER, Values, n_top), .value_name = "N", .default_text = "5",
    .help = N_ ("Print at most this many findings, those that cost most first; 0 prints all.") },
  { LNS_SWITCH ("steps", TEXT, Values, steps), .implied = "auto", .value_name = "RANGE",
    .help = N_ ("Print the steps, and what made the slow ones slow. RANGE is the NVTX range that "
                "is a step; without it, the range that repeats and takes most of the time, or else "
                "the kernels that repeat.") },
  { LNS_SWITCH ("gap", TEXT, Values, gap), .value_name = "TIME",
    .help = N_ ("Print what one gap was lost to, piece by piece: the longest one at TIME, such as "
                "1.204s, as far as its digits tell, or the next one.") },
  { LNS_SWITCH ("critical-path", FLAG, Values, critical_path),
    .help = N_ ("Print the critical path: the chain of pieces of threads and GPUs, from the run's "
                "beginning to its end, that everything else waits for; what has most of it, and "
                "its longest links.") },
  { LNS_SWITCH ("fail-on", LIST, Values, fail_on), .each_choice = each_cause, .open_choices = true,
    .value_name = "CAUSE[>SHARE]",
    .help = N_ ("Return 3 if a finding of this cause has more than SHARE of the time, in percent "
                "(`io-wait>5`).") },
  LNS_CLI_FILTER_SWITCHES (Values),
  LNS_CLI_INPUT,
};

static bool
is_format (const Values *values, const char *format)
{
  return strcmp (values->format != NULL ? values->format : "text", format) == 0;
}

/* --- --fail-on -------------------------------------------------------------------------------- */

/* Reads ITEM of --fail-on. */
static bool
read_limit (const char *item, LnsCause *ret_cause, double *ret_percent, LnsError *error)
{
  const size_t n = strcspn (item, ">");
  char *end = NULL;

  *ret_percent = item[n] == '>' ? strtod (item + n + 1, &end) : 0;
  if (!lns_cause_find (item, n, ret_cause))
    return lns_cli_usage (error, "--fail-on: unknown cause “%s”; `lanescope help why` lists them",
                          item);
  if (item[n] == '>' && (end == item + n + 1 || (*end != '\0' && strcmp (end, "%") != 0) ||
                         !(*ret_percent >= 0 && *ret_percent <= 100)))
    return lns_cli_usage (error, "--fail-on: “%s” is not valid; write CAUSE or CAUSE>PERCENT",
                          item);
  return true;
}

/* Sets RET_FAILS to whether one of LIMITS is exceeded. WHY may be NULL: the limits are only checked. */
static bool
check_limits (const LnsOptionList *limits, const LnsWhy *why, bool *ret_fails, LnsError *error)
{
  *ret_fails = false;
  for (size_t i = 0; i < limits->n_items; i++)
    {
      LnsCause cause;
      double percent, sum = 0;
      if (!read_limit (limits->items[i], &cause, &percent, error))
        return false;
      for (size_t k = 0; why != NULL && k < why->findings.n; k++)
        sum += why->findings.items[k].cause == cause ? 100 * why->findings.items[k].share : 0;
      *ret_fails |= sum > percent;
    }
  return true;
}

/* --- --gap ------------------------------------------------------------------------------------ */

/* Reads TEXT, a time as the answer prints it: RET_SPAN gets all that it may stand for, as digits are rounded. */
static bool
read_gap (const char *text, LnsFilterSpan *ret_span, LnsError *error)
{
  const size_t n_number = strspn (text, "0123456789."),
               n_decimals = strcspn (text, ".") < n_number ? n_number - strcspn (text, ".") - 1 : 0;
  LnsFilterSpan unit;
  char *both = lns_asprintf ("%s/%s", text, text), *one = lns_asprintf ("1%s/", text + n_number);
  const bool good = n_number > 0 && strchr (text, '/') == NULL &&
                    lns_filter_parse_time (both, ret_span, error) &&
                    lns_filter_parse_time (one, &unit, error);

  free (both);
  free (one);
  if (!good)
    return lns_cli_usage (error, "--gap: “%s” is no time; write a number with s, ms, us or ns",
                          text);
  int64_t precision_ns = unit.start_ns;
  for (size_t i = 0; i < n_decimals; i++)
    precision_ns /= 10;
  ret_span->start_ns = lns_difference (ret_span->start_ns, precision_ns);
  ret_span->end_ns = lns_sum (ret_span->end_ns, precision_ns);
  return true;
}

/* Whether what is said about --gap can be done. */
static bool
check_gap (const Values *values, LnsError *error)
{
  LnsFilterSpan at;

  if (values->gap == NULL)
    return true;
  if (!is_format (values, "text") && !is_format (values, "json"))
    return lns_cli_usage (error, "--gap is printed as text or JSON; leave out --format=%s",
                          values->format);
  if (values->steps != NULL)
    return lns_cli_usage (error, "--gap and --steps are two questions; leave out one");
  return read_gap (values->gap, &at, error);
}

static bool
print_gap (LnsTables *tables, const LnsWhy *why, const Values *values, LnsError *error)
{
  LnsFilterSpan at;
  LnsWhyStretch gap;

  if (!read_gap (values->gap, &at, error))
    return false;
  if (!lns_why_find_gap (why, at.start_ns, at.end_ns, &gap))
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "--gap: there is no gap at %s or after it",
                          values->gap);
  if (is_format (values, "json"))
    lns_why_write_gap_json (tables, why, &gap, stdout);
  else
    lns_why_write_gap (tables, why, &gap, stdout);
  return true;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static void
print_markdown (const LnsWhy *why, int64_t top)
{
  printf ("**%s**\n\n| cause | ms | %% | count | finding |\n|---|---|---|---|---|\n", why->verdict);
  for (size_t i = 0; i < why->findings.n && (top < 0 || i < (uint64_t)top); i++)
    {
      const LnsWhyFinding *finding = &why->findings.items[i];
      printf ("| %s | %.3f | %.1f | %ju | ", lns_cause_name (finding->cause),
              (double)finding->ns / 1e6, 100 * finding->share, (uintmax_t)finding->count);
      for (const char *c = finding->sentence; *c != '\0'; c++)
        printf (*c == '|' ? "\\%c" : "%c", *c);
      puts (" |");
    }
  for (size_t i = 0; i < why->abstained.n; i++)
    printf ("%s- Not known: %s %s\n", i == 0 ? "\n" : "", why->abstained.items[i].reason,
            why->abstained.items[i].advice);
}

static void
print (LnsTables *tables, const LnsWhy *why, const Values *values)
{
  const int64_t top = values->n_top == 0 ? -1 : values->n_top;

  if (is_format (values, "json"))
    lns_why_write_json (tables, why, stdout);
  else if (is_format (values, "markdown"))
    print_markdown (why, top);
  else if (!is_format (values, "text"))
    {
      const LnsStatsStyle style = { .format =
                                        is_format (values, "csv") ? LNS_STATS_CSV : LNS_STATS_TABLE,
                                    .is_terminal = lns_cli_is_terminal (stdout) };
      lns_why_write_table (tables, why, stdout, &style);
    }
  else
    {
      lns_cli_print_filled (stdout, why->verdict, strlen (why->verdict), 0,
                            lns_cli_columns (stdout));
      if (values->steps != NULL)
        lns_why_write_steps (tables, why, stdout);
      else
        lns_why_write_text (tables, why, top, stdout);
    }
}

/* --- --critical-path -------------------------------------------------------------------------- */

/* Whether what is said about --critical-path can be done. */
static bool
check_critical_path (const Values *values, LnsError *error)
{
  if (!values->critical_path)
    return true;
  if (!is_format (values, "text") && !is_format (values, "json"))
    return lns_cli_usage (
        error, "--critical-path is printed as text or JSON; leave out --format=%s", values->format);
  if (values->gap != NULL || values->steps != NULL || values->fail_on.n_items > 0)
    return lns_cli_usage (
        error, "--critical-path is a question of its own; leave out --gap, --steps and --fail-on");
  return true;
}

static bool
print_critical_path (const LnsCliFilter *filter, const Values *values, LnsError *error)
{
  LnsReport *report = lns_tables_report (filter->tables);
  LnsCriticalRun *run = lns_critical_run_new (report, lns_cli_catch_interrupt (), error);

  if (run == NULL)
    return false;
  LnsCriticalPath *critical =
      lns_critical_path_find (run, filter->span.start_ns, filter->span.end_ns,
                              values->n_top == 0 ? MOST_LINKS : (size_t)values->n_top, false);
  if (is_format (values, "json"))
    lns_critical_path_write_json (report, critical, stdout);
  else
    {
      char *sentence = lns_critical_path_sentence (report, critical);
      lns_cli_print_filled (stdout, sentence, strlen (sentence), 0, lns_cli_columns (stdout));
      free (sentence);
      lns_critical_path_write_text (report, critical, (size_t)values->n_top, stdout);
    }
  lns_critical_path_free (critical);
  lns_critical_run_free (run);
  return lns_cli_flush (error);
}

static int
answer (const Values *values, const char *input, LnsError *error)
{
  LnsCliFilter filter = { 0 };
  LnsWhy *why = NULL;
  bool fails = false;
  bool good = check_gap (values, error) && check_critical_path (values, error) &&
              check_limits (&values->fail_on, NULL, &fails, error) &&
              lns_cli_filter_open_span (&filter, &values->filter, input, error);

  if (good && values->critical_path)
    good = print_critical_path (&filter, values, error);
  else if (good)
    {
      /* Only lines and JSON have room for it, and only the whole run is foretold. */
      const bool foretells =
          values->gap == NULL && values->steps == NULL && values->filter.range == NULL &&
          values->filter.time == NULL &&
          (is_format (values, "text") || is_format (values, "json")) &&
          lns_report_info (lns_tables_report (filter.tables))->n_events <= LNS_WHY_MOST_FORETOLD;
      const LnsWhyOptions asked = {
        .span = filter.span,
        .keeps_gaps = values->gap != NULL || foretells,
        .in_language = !is_format (values, "json") && !is_format (values, "csv"),
        .step_range =
            values->steps != NULL && strcmp (values->steps, "auto") != 0 ? values->steps : NULL,
      };
      const atomic_bool *cancel = lns_cli_catch_interrupt ();
      why = lns_why_run (filter.tables, &asked, cancel, error);
      good = why != NULL && (!foretells || lns_why_foretell (filter.tables, why, cancel, error)) &&
             check_limits (&values->fail_on, why, &fails, error);
    }
  if (good && !values->critical_path)
    {
      if (values->gap == NULL)
        print (filter.tables, why, values);
      good = (values->gap == NULL || print_gap (filter.tables, why, values, error)) &&
             lns_cli_flush (error);
    }
  lns_why_free (why);
  lns_cli_filter_clear (&filter);
  return !good ? lns_cli_fail (error) : fails ? FAILED_ON_EXIT : 0;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { .n_top = 5 };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  const char *input = lns_cli_only_word (command, argc, argv, N_ ("one report"), &error);
  exit_code = input != NULL ? answer (&values, input, &error) : lns_cli_fail (&error);
  lns_cli_clear_lists (command, &values);
  return exit_code;
}

const LnsCommand lns_command_why = {
  .name = "why",
  .usage = N_ ("[switches] REPORT"),
  .summary = N_ ("say why a program was slow, in one sentence, with evidence"),
  .list = { N_ ("Each nanosecond in which a GPU was idle has one cause; without a GPU, each one of "
                "the "
                "thread that the program waits for:"),
            each_cause },
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

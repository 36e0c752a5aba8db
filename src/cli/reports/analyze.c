/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope analyze`: what keeps GPUs waiting, by rules. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/rules/rule.h"
#include "src/base/memory.h"
#include "src/cli/reports/doctor.h"
#include "src/cli/reports/filter.h"
#include "src/cli/reports/report.h"
#include "src/cli/reports/tables.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/terminal/language.h"

#define DOCTOR "What Is Wrong with the Report"

typedef struct
{
  LnsCliTableValues tables;
  LnsOptionList rules;
  const char *help_rules;
  LnsCliFilterValues filter;
  int64_t n_rows, gap_ms, busy_percent, n_chunks;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("rule", LIST, Values, rules), .letter = 'r',
    .choices =
        "all,doctor,cuda_memcpy_async,cuda_memcpy_sync,cuda_memset_sync,cuda_api_sync,gpu_gaps,"
        "gpu_time_util",
    .open_choices = true, .value_name = "RULE", .default_text = "all",
    .help = N_ ("Apply these rules. Put arguments after colons (`gpu_gaps:gap=100`).") },
  { LNS_SWITCH ("rows", INTEGER, Values, n_rows), .value_name = "N", .default_text = "50",
    .help = N_ ("Print at most this many findings of each rule, the worst first; 0 prints all.") },
  { LNS_SWITCH ("gap", INTEGER, Values, gap_ms), .value_name = "MILLISECONDS",
    .most = INT64_MAX / 1000000, .default_text = "500",
    .help = N_ ("Shortest time that gpu_gaps reports, in milliseconds.") },
  { LNS_SWITCH ("threshold", INTEGER, Values, busy_percent), .value_name = "PERCENT",
    .default_text = "50",
    .help =
        N_ ("gpu_time_util reports times in which a GPU was busy for less than this percentage.") },
  { LNS_SWITCH ("chunks", INTEGER, Values, n_chunks), .value_name = "N", .least = 1, .most = 10000,
    .default_text = "30",
    .help = N_ ("Number of equal parts of the time that gpu_time_util examines.") },
  LNS_CLI_FILTER_SWITCHES (Values),
  LNS_CLI_TABLE_SWITCHES,
  { LNS_SWITCH ("help-rules", TEXT, Values, help_rules), .implied = "ALL", .value_name = "NAME",
    .help = N_ ("Print all rules with their arguments and advice, or only NAME.") },
  LNS_CLI_NO_SQLITE_SWITCHES,
};

/* One rule to look by. */
typedef struct
{
  const LnsRule *rule; /* NULL: the doctor                                                      */
  const char *name;    /* with its arguments                                                    */
  LnsRuleOptions options;
  LnsCliTableOutput output;
} Job;

static void
print_advice (const char *text)
{
  lns_cli_print_filled (stdout, text, strlen (text), 0, 80);
}

static bool
print_rules (const char *name, LnsError *error)
{
  const LnsRule *rule;
  bool any = strcmp (name, "ALL") == 0 || strcmp (name, "doctor") == 0;

  if (any)
    printf ("doctor -- " DOCTOR "\n");
  for (size_t i = 0; (rule = lns_rule_at (i)) != NULL; i++)
    {
      if (strcmp (name, "ALL") != 0 && strcmp (name, rule->name) != 0)
        continue;
      printf ("%s%s%s -- %s\n", any ? "\n" : "", rule->name, rule->arguments, rule->title);
      print_advice (rule->advice);
      any = true;
    }
  return any ? lns_cli_flush (error)
             : lns_cli_usage (
                   error, "--help-rules: unknown rule “%s”; leave out the name to list all rules",
                   name);
}

static bool
write_result (void *data, FILE *stream, const LnsStatsStyle *style, LnsError *error)
{
  return lns_rule_result_write (data, stream, style, error);
}

static bool
run_job (Job *job,
         bool quiet,
         LnsTables *tables,
         const char *input,
         const atomic_bool *cancel,
         LnsError *error)
{
  bool for_people = lns_cli_table_output_is_for_people (&job->output), says = for_people && !quiet;

  if (says)
    lns_cli_tell_processing (input, job->name);
  LnsRuleResult *result = lns_rule_run (job->rule, &job->options, tables, cancel, error);
  if (result == NULL)
    return false;
  bool good = true;
  if (!lns_rule_result_has_data (result))
    fprintf (for_people ? stdout : stderr,
             "SKIPPED: %s could not be analyzed because it does not contain the required CUDA "
             "data. Does the program %s?\n",
             input, job->rule->needs);
  else
    {
      bool any = lns_rule_result_n_rows (result) > 0;
      if (for_people)
        {
          printf ("%s ** %s (%s):\n\n", says ? "\n" : "", job->rule->title, job->name);
          print_advice (any ? job->rule->advice : job->rule->none);
        }
      if (for_people && any)
        putchar ('\n');
      if (!for_people || any)
        good = lns_cli_table_output_write (&job->output, job->rule->title, write_result, result,
                                           error);
    }
  if (for_people)
    putchar ('\n');
  lns_rule_result_free (result);
  return good && lns_cli_flush (error);
}

/* What is wrong with the report itself. */
static bool
run_doctor (Job *job, bool quiet, LnsReport *report, const char *input, LnsError *error)
{
  bool for_people = lns_cli_table_output_is_for_people (&job->output);
  LnsCliDoctor doctor;

  if (for_people && !quiet)
    lns_cli_tell_processing (input, "doctor");
  if (!lns_cli_doctor_init (&doctor, report, error))
    {
      lns_cli_doctor_clear (&doctor);
      return false;
    }
  bool any = lns_cli_doctor_n_rows (&doctor) > 0, good = true;
  if (for_people)
    printf ("%s ** " DOCTOR " (doctor):\n\n%s", quiet ? "" : "\n",
            any ? "" : "Nothing is wrong with this report.\n");
  if (!for_people || any)
    good = lns_cli_table_output_write (&job->output, DOCTOR, lns_cli_doctor_write, &doctor, error);
  if (for_people)
    putchar ('\n');
  lns_cli_doctor_clear (&doctor);
  return good && lns_cli_flush (error);
}

static bool
make_job (
    const Values *values, size_t i, const char *name, const char *input, Job *job, LnsError *error)
{
  *job = (Job){ .name = name,
                .options = { .gap_ns = values->gap_ms * 1000000,
                             .busy_percent = (double)values->busy_percent,
                             .n_chunks = values->n_chunks,
                             .n_rows = values->n_rows == 0 ? -1 : values->n_rows } };
  bool is_doctor = strcmp (name, "doctor") == 0;
  job->rule = is_doctor ? NULL : lns_rule_find (name, &job->options, error);
  return (is_doctor || job->rule != NULL) &&
         lns_cli_table_output_init (&job->output, &values->tables, i, input, name,
                                    values->filter.range, error);
}

/* Fills JOBS, of which there is room for all: RET_N of them. "all" is each rule once. */
static bool
make_jobs (const Values *values, const char *input, Job *jobs, size_t *ret_n, LnsError *error)
{
  size_t n_items = values->rules.n_items, n = 0;
  const LnsRule *rule;
  bool good = true;

  for (size_t i = 0; good && i < (n_items > 0 ? n_items : 1); i++)
    if (n_items > 0 && strcmp (values->rules.items[i], "all") != 0)
      {
        good = make_job (values, n, values->rules.items[i], input, &jobs[n], error);
        n++;
      }
    else
      {
        good = make_job (values, n, "doctor", input, &jobs[n], error);
        n++;
        for (size_t k = 0; good && (rule = lns_rule_at (k)) != NULL; k++, n++)
          good = make_job (values, n, rule->name, input, &jobs[n], error);
      }
  *ret_n = n;
  return good;
}

static bool
run_jobs (const Values *values, const char *input, LnsError *error)
{
  size_t n_rules = 0, n_jobs = 0;
  LnsCliFilter filter = { 0 };

  while (lns_rule_at (n_rules) != NULL)
    n_rules++;
  Job *jobs = lns_calloc ((n_rules + 1) * (values->rules.n_items + 1), sizeof *jobs);
  bool good = make_jobs (values, input, jobs, &n_jobs, error) &&
              lns_cli_filter_open (&filter, &values->filter, input, error);
  const atomic_bool *cancel = lns_cli_catch_interrupt ();
  for (size_t i = 0; good && i < n_jobs; i++)
    good = jobs[i].rule == NULL
               ? run_doctor (&jobs[i], values->tables.quiet, filter.whole, input, error)
               : run_job (&jobs[i], values->tables.quiet, filter.tables, input, cancel, error);
  lns_cli_filter_clear (&filter);
  for (size_t i = 0; i < n_jobs; i++)
    lns_cli_table_output_clear (&jobs[i].output);
  free (jobs);
  return good;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { .n_rows = 50, .gap_ms = 500, .busy_percent = 50, .n_chunks = 30 };
  LnsError error = { 0 };
  int exit_code;
  bool good;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  if (values.help_rules != NULL)
    good = print_rules (values.help_rules, &error);
  else if (values.tables.help_formats != NULL)
    good = lns_cli_print_formats (values.tables.help_formats, &error);
  else
    {
      const char *input = lns_cli_only_word (command, argc, argv, N_ ("one report"), &error);
      good = input != NULL && run_jobs (&values, input, &error);
    }
  lns_option_list_clear (&values.rules);
  lns_cli_table_values_clear (&values.tables);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_analyze = {
  .name = "analyze",
  .usage = N_ ("[switches] REPORT"),
  .summary = N_ ("find what keeps GPUs waiting, and say what helps"),
  .details = N_ (
      "Rules:\n"
      "  doctor             what is wrong with the report as a recording, and what to do about it\n"
      "  cuda_memcpy_async  asynchronous copies that wait, as their host memory is pageable\n"
      "  cuda_memcpy_sync   copies that block the host\n"
      "  cuda_memset_sync   memsets that block the host\n"
      "  cuda_api_sync      calls that wait for all work of a device or stream\n"
      "  gpu_gaps           times in which a GPU had nothing to do\n"
      "  gpu_time_util      times in which a GPU had little to do"),
  .options = options,
  .n_options = sizeof options / sizeof *options,
  .run = run,
};

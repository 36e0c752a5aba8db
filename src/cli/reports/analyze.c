/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope analyze`: applies rules that find what keeps GPUs waiting. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/rules/doctor.h"
#include "src/analysis/rules/rule.h"
#include "src/analysis/why/why.h"
#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/cli/reports/filter.h"
#include "src/cli/reports/report.h"
#include "src/cli/options/shared.h"
#include "src/cli/reports/tables.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/terminal/language.h"
#include "src/tables/lanes.h"

#define DOCTOR   "What Is Wrong with the Report"
#define FINDINGS "What the Time Was Lost To"

/* Rows that are shorter in all than this part of the time cost nothing. */
#define WORTH 1000

typedef struct
{
  LnsCliTableValues tables;
  LnsOptionList rules;
  const char *help_rules;
  LnsCliFilterValues filter;
  int64_t n_rows, gap_ms, busy_percent, n_chunks;
} Values;

/* What --rule names beside the rules of src/analysis/rules. */
static const LnsChoice own_rules[] = {
  { "doctor", N_ ("what is wrong with the report as a recording, and what to do about it") },
  { "findings", N_ ("what the time was lost to, as `lanescope why` says it") },
};
#define N_OWN_RULES (sizeof own_rules / sizeof *own_rules)

static bool
each_rule (size_t i, LnsChoice *ret_choice)
{
  const LnsRule *rule = i < N_OWN_RULES ? NULL : lns_rule_at (i - N_OWN_RULES);

  if (i < N_OWN_RULES)
    *ret_choice = own_rules[i];
  else if (rule != NULL)
    *ret_choice = (LnsChoice){ rule->name, rule->help };
  return i < N_OWN_RULES || rule != NULL;
}

/* The same, and the word for all of them. */
static bool
each_choice (size_t i, LnsChoice *ret_choice)
{
  *ret_choice = (LnsChoice){ "all", NULL };
  return i == 0 || each_rule (i - 1, ret_choice);
}

#define TEXT_OF(number) #number
#define DEFAULT(number) TEXT_OF (number)

static const LnsOption options[] = {
  { LNS_SWITCH ("rule", LIST, Values, rules), .letter = 'r', .each_choice = each_choice,
    .open_choices = true, .value_name = "RULE", .default_text = "all",
    .help = N_ ("Apply these rules. Put arguments after colons (`gpu_gaps:gap=100`).") },
  { LNS_SWITCH ("rows", INTEGER, Values, n_rows), .value_name = "N",
    .default_text = DEFAULT (LNS_RULE_N_ROWS),
    .help = N_ ("Print at most this many findings of each rule, the worst first; 0 prints all.") },
  { LNS_SWITCH ("gap", INTEGER, Values, gap_ms), .value_name = "MILLISECONDS",
    .most = INT64_MAX / 1000000,
    .default_text =
        N_ ("a hundredth of the time from the GPU's first to its last operation, at most 500"),
    .help = N_ ("gpu_gaps reports times that are longer than this, in milliseconds.") },
  { LNS_SWITCH ("threshold", INTEGER, Values, busy_percent), .value_name = "PERCENT",
    .default_text = DEFAULT (LNS_RULE_BUSY_PERCENT),
    .help =
        N_ ("gpu_time_util reports times in which a GPU was busy for less than this percentage.") },
  { LNS_SWITCH ("chunks", INTEGER, Values, n_chunks), .value_name = "N", .least = 1, .most = 10000,
    .default_text = DEFAULT (LNS_RULE_N_CHUNKS),
    .help = N_ ("Number of equal parts of the time that gpu_time_util examines.") },
  LNS_CLI_FILTER_SWITCHES (Values),
  LNS_CLI_TABLE_SWITCHES,
  { LNS_SWITCH ("help-rules", TEXT, Values, help_rules), .implied = "ALL", .value_name = "NAME",
    .help = N_ ("Print all rules with their arguments and advice, or only NAME.") },
  LNS_CLI_NO_SQLITE_SWITCHES,
  LNS_CLI_INPUT,
};

/* --- The doctor ------------------------------------------------------------------------------- */

/* What is wrong with a report: its diagnostics and the findings of the doctor. */
typedef struct
{
  LnsReport *report; /* borrowed */
  LnsFinding *findings;
  size_t n;
  uint32_t *counts; /* by string id: how many diagnostics have that text */
  uint32_t *shown;  /* ids of the diagnostics that are rows */
  size_t n_shown;
} Doctor;

/* Whether DIAGNOSTIC is a note of another tool. */
static bool
is_foreign_note (LnsReport *report, const LnsDiagnostic *diagnostic)
{
  return diagnostic->severity == LNS_SEVERITY_INFO &&
         strncmp (lns_report_string (report, diagnostic->code, NULL), "LNS-", 4) != 0;
}

/* Lists the diagnostics that are rows: each text once, whatever number of processes it is about. */
static void
choose (Doctor *doctor)
{
  uint32_t n, n_strings = lns_report_n_strings (doctor->report);
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (doctor->report, &n);

  doctor->counts = lns_calloc ((size_t)n_strings + 1, sizeof *doctor->counts);
  doctor->shown = lns_calloc ((size_t)n + 1, sizeof *doctor->shown);
  for (int severity = LNS_SEVERITY_ERROR; severity >= LNS_SEVERITY_INFO; severity--)
    for (uint32_t i = 0; i < n; i++)
      {
        uint32_t text = diagnostics[i].text < n_strings ? diagnostics[i].text : n_strings;
        if ((int)diagnostics[i].severity == severity &&
            !is_foreign_note (doctor->report, &diagnostics[i]) && doctor->counts[text]++ == 0)
          doctor->shown[doctor->n_shown++] = i;
      }
}

static bool
examine (Doctor *doctor, LnsReport *report, LnsError *error)
{
  doctor->report = report;
  choose (doctor);
  return lns_doctor_examine (report, &doctor->findings, &doctor->n, error);
}

static void
clear_doctor (Doctor *doctor)
{
  free (doctor->findings);
  free (doctor->counts);
  free (doctor->shown);
}

static LnsResultCell
text (const char *bytes)
{
  return (LnsResultCell){ .bytes = bytes, .size_bytes = strlen (bytes) };
}

static void
add_row (LnsReport *report,
         LnsRows *rows,
         const char *code,
         LnsSeverity severity,
         uint32_t process,
         const char *message)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);
  LnsResultCell cells[] = {
    text (lns_cli_severity (severity)), text (code), { .is_empty = process >= n }, text (message)
  };

  if (process < n)
    cells[2].number = processes[process].pid;
  lns_rows_add (rows, cells, NULL);
}

/* Writes the rows, the gravest first: LnsCliTableFunc. */
static bool
write_doctor (void *data, FILE *stream, const LnsStatsStyle *style, LnsError *error)
{
  static const LnsResultColumn columns[] = {
    { "Severity", LNS_RESULT_TEXT },
    { "Code", LNS_RESULT_TEXT },
    { "PID", LNS_RESULT_ID },
    { "Finding", LNS_RESULT_TEXT },
  };
  const Doctor *doctor = data;
  /* Sentences are not shortened. */
  LnsStatsStyle whole = *style;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (doctor->report, NULL);
  whole.no_limit = true;
  LnsStatsTable *table = lns_stats_table_new (stream, &whole, columns, 4);

  for (size_t i = 0; i < doctor->n_shown; i++)
    {
      const LnsDiagnostic *diagnostic = &diagnostics[doctor->shown[i]];
      bool is_only = diagnostic->text >= lns_report_n_strings (doctor->report) ||
                     doctor->counts[diagnostic->text] == 1;
      add_row (doctor->report, lns_stats_table_rows (table),
               lns_report_string (doctor->report, diagnostic->code, NULL), diagnostic->severity,
               is_only ? diagnostic->process : LNS_ID_NONE,
               lns_report_string (doctor->report, diagnostic->text, NULL));
    }
  for (size_t i = 0; i < doctor->n; i++)
    add_row (doctor->report, lns_stats_table_rows (table), doctor->findings[i].code,
             doctor->findings[i].severity, doctor->findings[i].process, doctor->findings[i].text);
  lns_stats_table_finish (table);
  return true;
}

/* --- Rules ------------------------------------------------------------------------------------ */

/* One rule to apply. */
typedef struct
{
  const LnsRule *rule; /* NULL: the doctor, or findings */
  bool is_findings;
  bool is_of_all; /* --rule=all: what costs nothing is folded */
  LnsRuleResult *result;
  size_t place;     /* among those that were asked for */
  const char *name; /* with its arguments */
  LnsRuleOptions options;
  LnsCliTableOutput output;
} Job;

typedef LNS_ARRAY (Job) Jobs;

static void
print_advice (const char *text)
{
  lns_cli_print_filled (stdout, text, strlen (text), 0, 80);
}

static bool
print_rules (const char *name, LnsError *error)
{
  const LnsRule *rule;
  const bool all = strcmp (name, "ALL") == 0;
  bool any = all || strcmp (name, "doctor") == 0;

  if (any)
    printf ("doctor -- " DOCTOR "\n");
  if (all || strcmp (name, "findings") == 0)
    {
      printf ("%sfindings -- " FINDINGS "\n", any ? "\n" : "");
      print_advice ("What `lanescope why` says, as a table.");
      any = true;
    }
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

/* Prints that INPUT has nothing that the rule of JOB, whose RESULT is of the part that FILTER selected, could find wrong. False
 * and ERROR if it cannot be computed whether the whole report has. */
static bool
tell_skipped (FILE *stream,
              const Job *job,
              const LnsRuleResult *result,
              const LnsCliFilter *filter,
              const char *input,
              const atomic_bool *cancel,
              LnsError *error)
{
  LnsTables *tables = filter->part != NULL ? lns_tables_new (filter->whole, error) : NULL;
  LnsRuleResult *whole =
      tables != NULL ? lns_rule_run (job->rule, &job->options, tables, cancel, error) : NULL;
  const bool good = filter->part == NULL || whole != NULL;

  if (whole != NULL && lns_rule_result_has_data (whole))
    {
      fprintf (stream, "SKIPPED: %s contains the required CUDA data", input);
      lns_cli_filter_tell_none (stream, filter, lns_rule_result_kinds (result));
    }
  else if (good)
    fprintf (stream,
             "SKIPPED: %s could not be analyzed because it does not contain the required CUDA "
             "data. Does the program %s?\n",
             input, job->rule->needs);
  lns_rule_result_free (whole);
  lns_tables_free (tables);
  return good;
}

/* Findings, and the tables that they name events of. */
typedef struct
{
  LnsTables *tables;
  LnsWhy *why;
} Findings;

/* Writes the findings: LnsCliTableFunc. */
static bool
write_findings (void *data, FILE *stream, const LnsStatsStyle *style, LnsError *error)
{
  const Findings *findings = data;

  (void)error;
  lns_why_write_table (findings->tables, findings->why, stream, style);
  return true;
}

/* Prints what JOB looks at, and its title. */
static void
print_title (const Job *job, const char *title, bool quiet, const char *input)
{
  if (!quiet)
    lns_cli_tell_processing (input, job->name);
  printf ("%s ** %s (%s):\n\n", !quiet ? "\n" : "", title, job->name);
}

static bool
run_doctor (Job *job, bool quiet, const LnsCliFilter *filter, const char *input, LnsError *error)
{
  const bool for_people = lns_cli_table_output_is_for_people (&job->output);
  Doctor doctor = { 0 };
  bool good = examine (&doctor, filter->whole, error);

  if (good && for_people)
    print_title (job, DOCTOR, quiet, input);
  if (good && for_people && doctor.n_shown + doctor.n == 0)
    print_advice ("Nothing is wrong with this report.");
  else if (good)
    good = lns_cli_table_output_write (&job->output, DOCTOR, write_doctor, &doctor, error);
  clear_doctor (&doctor);
  return good;
}

static bool
run_findings (Job *job,
              bool quiet,
              const LnsCliFilter *filter,
              const char *input,
              const atomic_bool *cancel,
              LnsError *error)
{
  const bool for_people = lns_cli_table_output_is_for_people (&job->output);
  LnsReport *report = lns_tables_report (filter->tables);
  Findings findings = { .tables = filter->tables };
  const LnsWhyOptions asked = { .span = lns_filter_span (report) };

  findings.why = lns_why_run (filter->tables, &asked, cancel, error);
  bool good = findings.why != NULL;
  if (good && for_people)
    {
      print_title (job, FINDINGS, quiet, input);
      print_advice (findings.why->verdict);
      if (findings.why->findings.n > 0)
        putchar ('\n');
    }
  if (good && (!for_people || findings.why->findings.n > 0))
    good = lns_cli_table_output_write (&job->output, FINDINGS, write_findings, &findings, error);
  lns_why_free (findings.why);
  return good;
}

/* Whether what JOB found costs nothing, so that one line tells it. */
static bool
is_folded (const Job *job, LnsReport *report)
{
  int64_t start_ns, end_ns;
  const int64_t ns = lns_rule_result_ns (job->result);

  return job->is_of_all && lns_cli_table_output_is_for_people (&job->output) && ns > 0 &&
         lns_rule_result_n_rows (job->result) > 0 &&
         lns_span_of_events (report, 0, &start_ns, &end_ns) && ns < (end_ns - start_ns) / WORTH;
}

static bool
run_rule (Job *job,
          bool quiet,
          const LnsCliFilter *filter,
          const char *input,
          const atomic_bool *cancel,
          LnsError *error)
{
  const bool for_people = lns_cli_table_output_is_for_people (&job->output);
  const LnsRule *rule = job->rule;
  const size_t n = lns_rule_result_n_rows (job->result);
  char text[LNS_FORMAT_SIZE], line[256];

  if (!lns_rule_result_has_data (job->result))
    {
      if (for_people && !quiet)
        lns_cli_tell_processing (input, job->name);
      return tell_skipped (for_people ? stdout : stderr, job, job->result, filter, input, cancel,
                           error);
    }
  if (for_people)
    print_title (job, rule->title, quiet, input);
  if (for_people && is_folded (job, filter->whole))
    {
      snprintf (line, sizeof line,
                "%zu found, %s in all: less than a thousandth of the time. `-r %s` lists them.", n,
                lns_format_duration (lns_rule_result_ns (job->result), text), rule->name);
      print_advice (line);
      return true;
    }
  if (for_people && n == 0)
    print_advice (rule->none);
  else if (for_people)
    {
      print_advice (rule->advice);
      putchar ('\n');
    }
  return (for_people && n == 0) ||
         lns_cli_table_output_write (&job->output, rule->title, write_result, job->result, error);
}

static bool
run_job (Job *job,
         bool quiet,
         const LnsCliFilter *filter,
         const char *input,
         const atomic_bool *cancel,
         LnsError *error)
{
  const bool good = job->rule != NULL  ? run_rule (job, quiet, filter, input, cancel, error)
                    : job->is_findings ? run_findings (job, quiet, filter, input, cancel, error)
                                       : run_doctor (job, quiet, filter, input, error);

  if (good && lns_cli_table_output_is_for_people (&job->output))
    putchar ('\n');
  return good && lns_cli_flush (error);
}

/* What comes first: the doctor and the findings, then of all rules those that found most. */
static int
compare_jobs (const void *a, const void *b)
{
  const Job *ja = a, *jb = b;
  const int64_t na = ja->rule == NULL ? INT64_MAX : lns_rule_result_ns (ja->result),
                nb = jb->rule == NULL ? INT64_MAX : lns_rule_result_ns (jb->result);

  return LNS_COMPARE (nb, na) ?: LNS_COMPARE (ja->place, jb->place);
}

/* Applies the rules of JOBS, and puts those in order that nobody named. */
static bool
apply_rules (Jobs *jobs, const LnsCliFilter *filter, const atomic_bool *cancel, LnsError *error)
{
  bool are_of_all = true;

  for (size_t i = 0; i < jobs->n; i++)
    {
      Job *job = &jobs->items[i];
      job->place = i;
      are_of_all &= job->is_of_all;
      if (job->rule == NULL)
        continue;
      job->result = lns_rule_run (job->rule, &job->options, filter->tables, cancel, error);
      if (job->result == NULL)
        return false;
    }
  if (are_of_all && jobs->n > 0)
    qsort (jobs->items, jobs->n, sizeof *jobs->items, compare_jobs);
  return true;
}

static bool
add_job (Jobs *jobs,
         const Values *values,
         const char *name,
         bool is_of_all,
         const char *input,
         LnsError *error)
{
  const bool is_doctor = strcmp (name, "doctor") == 0, is_findings = strcmp (name, "findings") == 0;
  Job *job = lns_array_add (jobs);
  *job = (Job){ .name = name,
                .is_findings = is_findings,
                .is_of_all = is_of_all,
                .options = { .gap_ns = values->gap_ms != LNS_RULE_SHARE_OF_RUN
                                           ? values->gap_ms * 1000000
                                           : LNS_RULE_SHARE_OF_RUN,
                             .busy_percent = (double)values->busy_percent,
                             .n_chunks = values->n_chunks,
                             .n_rows = values->n_rows == 0 ? -1 : values->n_rows } };
  job->rule = is_doctor || is_findings ? NULL : lns_rule_find (name, &job->options, error);
  return (is_doctor || is_findings || job->rule != NULL) &&
         lns_cli_table_output_init (&job->output, &values->tables, jobs->n - 1, input, name,
                                    values->filter.range, error);
}

/* Adds the jobs of ITEM of --rule. "all" is each rule once. */
static bool
add_jobs (Jobs *jobs, const Values *values, const char *item, const char *input, LnsError *error)
{
  if (strcmp (item, "all") != 0)
    return add_job (jobs, values, item, false, input, error);
  const LnsRule *rule;
  bool good = add_job (jobs, values, "doctor", true, input, error) &&
              add_job (jobs, values, "findings", true, input, error);
  for (size_t i = 0; good && (rule = lns_rule_at (i)) != NULL; i++)
    good = add_job (jobs, values, rule->name, true, input, error);
  return good;
}

static bool
run_jobs (const Values *values, const char *input, LnsError *error)
{
  Jobs jobs = { 0 };
  LnsCliFilter filter = { 0 };
  bool good = values->rules.n_items > 0 || add_jobs (&jobs, values, "all", input, error);

  for (size_t i = 0; good && i < values->rules.n_items; i++)
    good = add_jobs (&jobs, values, values->rules.items[i], input, error);
  good = good && lns_cli_filter_open (&filter, &values->filter, input, error);
  const atomic_bool *cancel = lns_cli_catch_interrupt ();
  if (good)
    lns_cli_tell_kept (lns_tables_report (filter.tables), input);
  good = good && apply_rules (&jobs, &filter, cancel, error);
  for (size_t i = 0; good && i < jobs.n; i++)
    good = run_job (&jobs.items[i], values->tables.quiet, &filter, input, cancel, error);
  for (size_t i = 0; i < jobs.n; i++)
    {
      lns_rule_result_free (jobs.items[i].result);
      lns_cli_table_output_clear (&jobs.items[i].output);
    }
  lns_cli_filter_clear (&filter);
  lns_array_clear (&jobs);
  return good;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { .n_rows = LNS_RULE_N_ROWS,
                    .gap_ms = LNS_RULE_SHARE_OF_RUN,
                    .busy_percent = LNS_RULE_BUSY_PERCENT,
                    .n_chunks = LNS_RULE_N_CHUNKS };
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
  lns_cli_clear_lists (command, &values);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_analyze = {
  .name = "analyze",
  .usage = N_ ("[switches] REPORT"),
  .summary = N_ ("find what keeps GPUs waiting, and say what helps"),
  .list = { N_ ("Rules:"), each_rule },
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

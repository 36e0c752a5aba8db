/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope stats`: prints summary tables of reports. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/report.h"
#include "src/base/array.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/cli/reports/filter.h"
#include "src/cli/reports/query.h"
#include "src/cli/terminal/say.h"
#include "src/cli/reports/stats-sql.h"
#include "src/cli/options/shared.h"
#include "src/cli/reports/tables.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/terminal/language.h"

typedef struct
{
  LnsCliTableValues tables;
  LnsOptionList reports;
  LnsOptionList folders;
  LnsCliFilterValues filter;
  int64_t timeout_ns;
  const char *help_reports;
} Values;

#define TIMEOUT_NS (INT64_C (600) * 1000000000)

static bool
each_report (size_t i, LnsChoice *ret_choice)
{
  const LnsStatsReport *report = lns_stats_report_at (i);

  if (report != NULL)
    *ret_choice = (LnsChoice){ report->name, report->help };
  return report != NULL;
}

static const LnsOption options[] = {
  { LNS_SWITCH ("report", LIST, Values, reports), .letter = 'r', .each_choice = each_report,
    .open_choices = true, .value_name = "REPORT",
    .default_text = N_ ("what --help-reports marks with an asterisk"),
    .help =
        N_ ("Print these reports. Put arguments after colons (`cuda_gpu_kern_sum:base`). A path "
            "such as `./mine.sql` is a report of your own: a query, whose parameter :NAME is set "
            "by NAME=VALUE.") },
  { LNS_SWITCH ("report-dir", LIST, Values, folders), .value_name = "FOLDER",
    .help = N_ ("Look for NAME.sql in this folder first when -r names NAME. "
                "LANESCOPE_STATS_REPORT_PATH lists more folders, separated by colons.") },
  LNS_CLI_FILTER_SWITCHES (Values),
  LNS_CLI_TIMEOUT (Values, "600"),
  LNS_CLI_TABLE_SWITCHES,
  { LNS_SWITCH ("help-reports", TEXT, Values, help_reports), .implied = "ALL", .value_name = "NAME",
    .help = N_ ("Print all reports with their arguments and columns, or only NAME.") },
  LNS_CLI_NO_SQLITE_SWITCHES,
  LNS_CLI_INPUT,
};

/* One table to make. */
typedef struct
{
  const LnsStatsReport *stats;
  char *sql;        /* path of a query instead, or NULL                                         */
  const char *name; /* with its arguments                                                       */
  LnsCliTableOutput output;
} Job;

static bool
print_reports (const char *name, LnsError *error)
{
  const LnsStatsReport *report;
  bool any = false;

  for (size_t i = 0; (report = lns_stats_report_at (i)) != NULL; i++)
    {
      if (strcmp (name, "ALL") != 0 && strcmp (name, report->name) != 0)
        continue;
      printf ("%c %s%s -- %s\n      %s\n", report->is_default ? '*' : ' ', report->name,
              report->arguments, report->title, report->help);
      any = true;
    }
  return any ? lns_cli_flush (error)
             : lns_cli_usage (
                   error,
                   "--help-reports: unknown report “%s”; leave out the name to list all reports",
                   name);
}

typedef LNS_ARRAY (Job) Jobs;

static bool
add_job (Jobs *jobs, const Values *values, const char *name, const char *input, LnsError *error)
{
  Job *job = lns_array_add (jobs);
  job->name = name;
  job->sql = lns_stats_sql_find (name, &values->folders);
  if (job->sql == NULL)
    job->stats = lns_stats_report_find (name, error);
  return (job->sql != NULL || job->stats != NULL) &&
         lns_cli_table_output_init (&job->output, &values->tables, jobs->n - 1, input, name,
                                    values->filter.range, error);
}

/* A table that has been computed. */
typedef struct
{
  LnsStatsResult *result; /* of a built-in report, or NULL */
  LnsStatsSql *sql;       /* of a query, or NULL                                                 */
} Table;

static bool
write_table (void *data, FILE *stream, const LnsStatsStyle *style, LnsError *error)
{
  const Table *table = data;

  return table->sql != NULL ? lns_stats_sql_write (table->sql, stream, style, error)
                            : lns_stats_result_write (table->result, stream, style, error);
}

/* Makes the table of JOB. False and ERROR where it cannot be made. */
static bool
make_table (const Job *job,
            const Values *values,
            LnsTables *tables,
            const atomic_bool *cancel,
            Table *table,
            const char **ret_title,
            LnsError *error)
{
  if (job->sql != NULL)
    {
      table->sql = lns_stats_sql_run (job->sql, job->name, lns_tables_report (tables),
                                      values->timeout_ns, error);
      *ret_title = table->sql != NULL ? table->sql->title : NULL;
      return table->sql != NULL;
    }
  table->result = lns_stats_report_run (job->stats, job->name, tables, cancel, error);
  *ret_title = job->stats->title;
  return table->result != NULL;
}

/* Prints a note if some kernels lack the kind of name that JOB asks for. */
static void
tell_names (const Job *job, const Table *table, const char *input)
{
  uint64_t n = table->result != NULL ? lns_stats_result_n_unnamed (table->result) : 0;
  char count[LNS_FORMAT_SIZE];

  if (n > 0)
    lns_cli_say ("note",
                 strstr (job->name, ":mangled") != NULL
                     ? N_ ("%s lacks mangled names of kernels (%s); %s shows their demangled names")
                     : N_ ("%s lacks short names of kernels (%s); %s shows their demangled names"),
                 input, lns_format_unsigned (n, count), job->name);
}

/* Prints a note if samples of TABLE lack callers. */
static void
tell_cut_chains (const Table *table, const char *input)
{
  const char *share = table->result != NULL ? lns_stats_result_share_whole (table->result) : NULL;

  if (share != NULL)
    lns_cli_say ("note", N_ ("call chains complete in %s: %s; the others lack callers"), input,
                 share);
}

/* What the report lacks for TABLE; NULL if TABLE has rows. */
static const char *
lacks (const Table *table)
{
  if (table->sql != NULL)
    return table->sql->has_rows ? NULL : "what the query asks for";
  return lns_stats_result_n_rows (table->result) > 0 ? NULL
                                                     : lns_stats_result_lacks (table->result);
}

static void
clear_table (Table *table)
{
  lns_stats_result_free (table->result);
  lns_stats_sql_free (table->sql);
}

/* Finds whether the report has rows for JOB outside the part that FILTER selected, and in lanes of which kinds. False and
 * ERROR if that cannot be computed. */
static bool
look_outside (const Job *job,
              const Values *values,
              const LnsCliFilter *filter,
              const atomic_bool *cancel,
              bool *ret_any,
              uint32_t *ret_kinds,
              LnsError *error)
{
  Table table = { 0 };
  const char *title;
  LnsTables *whole = lns_tables_new (filter->whole, error);
  const bool good = whole != NULL && make_table (job, values, whole, cancel, &table, &title, error);

  if (good)
    {
      *ret_any = lacks (&table) == NULL;
      *ret_kinds = table.result != NULL ? lns_stats_result_kinds (table.result) : 0;
    }
  clear_table (&table);
  lns_tables_free (whole);
  return good;
}

/* Prints that INPUT has WHAT in lanes of KINDS, but none in the part that FILTER selected. */
static void
tell_outside (
    FILE *stream, const char *input, const char *what, const LnsCliFilter *filter, uint32_t kinds)
{
  fputs ("SKIPPED: ", stream);
  lns_cli_print_name (stream, input, strlen (input));
  fprintf (stream, " contains %s", what);
  lns_cli_filter_tell_none (stream, filter, kinds);
  putc ('\n', stream);
}

/* Prints why there is no table: INPUT lacks MISSING, this version cannot summarize the data, or a parameter of the
 * query has no value. */
static void
tell_skipped (
    FILE *stream, const Job *job, const Table *table, const char *input, const char *missing)
{
  const char *unread = table->result != NULL ? lns_stats_result_unread (table->result) : NULL,
             *unset = table->sql != NULL ? table->sql->unset : "";

  fputs ("SKIPPED: ", stream);
  lns_cli_print_name (stream, input, strlen (input));
  if (unread != NULL)
    fprintf (stream,
             " has a table %s, which this version does not sum up: `lanescope sql` reads it.\n\n",
             unread);
  else if (*unset != '\0')
    fprintf (stream,
             " has nothing for %s without a value for %s: give one with --report=%s%.*s=VALUE."
             "\n\n",
             job->name, unset, job->name, (int)strcspn (unset, ","), unset);
  else
    fprintf (stream, " does not contain %s.\n\n", missing);
}

/* IS_ONE_OF_SEVERAL: tables of other files are printed, too, so each table names its file. */
static bool
run_job (Job *job,
         const Values *values,
         bool is_one_of_several,
         const LnsCliFilter *filter,
         const char *input,
         const atomic_bool *cancel,
         LnsError *error)
{
  bool for_people = lns_cli_table_output_is_for_people (&job->output),
       says = for_people && (!values->tables.quiet || is_one_of_several);
  Table table = { 0 };
  const char *title;
  bool is_outside = false;
  uint32_t kinds = 0;

  if (says)
    lns_cli_tell_processing (input, job->name);
  bool good = make_table (job, values, filter->tables, cancel, &table, &title, error);
  const char *missing = good ? lacks (&table) : NULL;
  if (missing != NULL && filter->part != NULL)
    good = look_outside (job, values, filter, cancel, &is_outside, &kinds, error);
  if (good && is_outside)
    tell_outside (for_people ? stdout : stderr, input, missing, filter, kinds);
  else if (good && missing != NULL)
    tell_skipped (for_people ? stdout : stderr, job, &table, input, missing);
  else if (good)
    {
      if (for_people)
        printf ("%s ** %s (%s):\n\n", says ? "\n" : "", title, job->name);
      tell_names (job, &table, input);
      tell_cut_chains (&table, input);
      good = lns_cli_table_output_write (&job->output, title, write_table, &table, error);
      if (for_people)
        putchar ('\n');
    }
  clear_table (&table);
  return good && lns_cli_flush (error);
}

/* Adds the reports that were asked for, or the default ones. */
static bool
add_jobs (Jobs *jobs, const Values *values, const char *input, LnsError *error)
{
  const LnsOptionList *names = &values->reports;
  const LnsStatsReport *report;
  bool good = true;

  for (size_t i = 0; good && i < names->n_items; i++)
    good = add_job (jobs, values, names->items[i], input, error);
  for (size_t i = 0; good && names->n_items == 0 && (report = lns_stats_report_at (i)) != NULL; i++)
    good = !report->is_default || add_job (jobs, values, report->name, input, error);
  return good;
}

static bool
run_jobs (const Values *values, bool is_one_of_several, const char *input, LnsError *error)
{
  Jobs jobs = { 0 };
  LnsCliFilter filter = { 0 };
  bool good = add_jobs (&jobs, values, input, error) &&
              lns_cli_filter_open (&filter, &values->filter, input, error);

  const atomic_bool *cancel = lns_cli_catch_interrupt ();
  if (good)
    lns_cli_tell_kept (lns_tables_report (filter.tables), input);
  for (size_t i = 0; good && i < jobs.n; i++)
    good = run_job (&jobs.items[i], values, is_one_of_several, &filter, input, cancel, error);
  lns_cli_filter_clear (&filter);
  for (size_t i = 0; i < jobs.n; i++)
    {
      lns_cli_table_output_clear (&jobs.items[i].output);
      free (jobs.items[i].sql);
    }
  lns_array_clear (&jobs);
  return good;
}

/* Checks that --output gives the tables of each of several reports a name of their own. */
static bool
can_tell_apart (const Values *values, LnsError *error)
{
  const LnsOptionList *outputs = &values->tables.outputs;

  for (size_t i = 0; i < outputs->n_items; i++)
    if (strcmp (outputs->items[i], "-") != 0 && strcmp (outputs->items[i], ".") != 0 &&
        outputs->items[i][0] != '@')
      return lns_cli_usage (error,
                            "--output=%s is one name for the tables of several reports; use "
                            "--output=. to name each after its report",
                            outputs->items[i]);
  return true;
}

/* Prints the tables of the reports ARGV[1] and so on. If one fails, prints its error and goes on. Returns an exit
 * code. */
static int
run_reports (const LnsCommand *command, const Values *values, int argc, char **argv)
{
  LnsError error = { 0 };
  int exit_code = 0;

  if (argc < 3)
    {
      const char *input = lns_cli_only_word (command, argc, argv, N_ ("one report"), &error);
      return input != NULL && run_jobs (values, false, input, &error) ? 0 : lns_cli_fail (&error);
    }
  if (!can_tell_apart (values, &error))
    return lns_cli_fail (&error);
  for (int i = 1; i < argc; i++)
    {
      error = (LnsError){ 0 };
      lns_cli_find_report (argv[i]);
      if (!run_jobs (values, true, argv[i], &error))
        exit_code = lns_cli_fail (&error);
      if (error.domain == LNS_ERROR_CANCELLED || error.domain == LNS_ERROR_USAGE)
        break;
    }
  return exit_code;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { .timeout_ns = TIMEOUT_NS };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  if (values.help_reports != NULL)
    exit_code = print_reports (values.help_reports, &error) ? 0 : lns_cli_fail (&error);
  else if (values.tables.help_formats != NULL)
    exit_code =
        lns_cli_print_formats (values.tables.help_formats, &error) ? 0 : lns_cli_fail (&error);
  else
    exit_code = run_reports (command, &values, argc, argv);
  lns_cli_clear_lists (command, &values);
  return exit_code;
}

const LnsCommand lns_command_stats = {
  .name = "stats",
  .usage = N_ ("[switches] REPORT…"),
  .summary = N_ ("print summary tables of reports"),
  .list = { N_ ("Reports:"), each_report },
  .details = N_ (
      "Kernels go by their short names with `:base` after a report's name, by those of their\n"
      "symbols with `:mangled`, and with `:nvtx-name` by the innermost range around their calls,\n"
      "too: RANGE/KERNEL. Ranges are called DOMAIN:NAME; those without an end are left out."),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

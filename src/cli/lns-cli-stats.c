/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope stats`: summary tables of a report. */

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/analysis/lns-stats-report.h"
#include "src/base/lns-folders.h"
#include "src/cli/lns-cli-options.h"
#include "src/cli/lns-cli-report.h"

typedef struct
{
  LnsOptionList reports;
  LnsOptionList formats;
  LnsOptionList outputs;
  const char *unit;
  bool overwrite;
  bool quiet;
} Values;

static const LnsOption options[] = {
  { .name = "report",
    .letter = 'r',
    .kind = LNS_OPTION_LIST,
    .offset = offsetof (Values, reports),
    .choices = "nvtx_sum,nvtx_pushpop_sum,nvtx_startend_sum,nvtx_pushpop_trace,"
               "cuda_api_sum,cuda_api_trace,cuda_gpu_kern_sum,cuda_gpu_kern_gb_sum,"
               "cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum,cuda_gpu_sum,cuda_gpu_trace,"
               "cuda_api_gpu_sum,cuda_kern_exec_sum,cuda_kern_exec_trace,"
               "nvtx_kern_sum,nvtx_gpu_proj_sum,nvtx_gpu_proj_trace,"
               "um_sum,um_total_sum,um_cpu_page_faults_sum",
    .open_choices = true,
    .value_name = "REPORT",
    .default_text = "nvtx_sum; with CUDA also cuda_api_sum, cuda_gpu_kern_sum, "
                    "cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum",
    .help = "What to print. Kernels go by their short names with `:base` after a report's name, by "
            "those of their symbols with `:mangled`." },
  { .name = "format",
    .letter = 'f',
    .kind = LNS_OPTION_LIST,
    .offset = offsetof (Values, formats),
    .choices = "column,csv",
    .open_choices = true,
    .default_text = "column; csv for files",
    .help = "How: report k has format k, further ones have the last. `:nohdr` after it leaves the "
            "header out, "
            "`:nolimit` lets columns be wider than 100 characters, `:nofmt` leaves numbers "
            "ungrouped." },
  { .name = "output",
    .letter = 'o',
    .kind = LNS_OPTION_LIST,
    .offset = offsetof (Values, outputs),
    .value_name = "BASE",
    .default_text = "-",
    .help =
        "Where to, as with --format: `-` prints, BASE writes BASE_REPORT.csv (or .txt), `.` takes "
        "the report's name as BASE." },
  { .name = "timeunit",
    .kind = LNS_OPTION_CHOICE,
    .offset = offsetof (Values, unit),
    .choices = "nsec,usec,msec,seconds,nanoseconds,microseconds,milliseconds",
    .default_text = "nsec",
    .help = "The unit of times." },
  LNS_CLI_OVERWRITE (Values, 0, "Replace files that are there."),
  LNS_CLI_QUIET (Values, "Print the tables alone."),
};

/* One table to make. */
typedef struct
{
  const LnsStatsReport *stats;
  const char *name; /* with its argument                                                        */
  LnsStatsStyle style;
  char *path; /* NULL = stdout                                                                  */
} Job;

/* What is printed where nothing is asked for: ranges, and of a report about CUDA the rest too. */
static const char *const defaults[] = { "nvtx_sum", "cuda_api_sum", "cuda_gpu_kern_sum",
                                        "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum" };
#define N_DEFAULTS (sizeof defaults / sizeof defaults[0])

static bool
is_about_cuda (LnsReport *report)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (lanes[i].kind == LNS_LANE_CUDA_API || lanes[i].kind == LNS_LANE_CUDA_KERNEL)
      return true;
  return false;
}

/* Item I of LIST, the last one where it is shorter, NULL where it is empty. */
static const char *
item (const LnsOptionList *list, size_t i)
{
  return list->n_items == 0 ? NULL : list->items[i < list->n_items ? i : list->n_items - 1];
}

static bool
read_format (const char *text, LnsStatsStyle *style, LnsError *error)
{
  size_t length = strcspn (text, ":");

  if (length == 3 && strncmp (text, "csv", 3) == 0)
    style->format = LNS_STATS_CSV;
  else if (length == 6 && strncmp (text, "column", 6) == 0)
    style->format = LNS_STATS_COLUMN;
  else
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "--format knows no “%s”: give column or csv",
                          text);
  for (const char *argument = text + length; *argument == ':';
       argument += 1 + strcspn (argument + 1, ":"))
    {
      size_t size = strcspn (argument + 1, ":");
      if (size == 5 && strncmp (argument + 1, "nohdr", 5) == 0)
        style->no_header = true;
      else if (size == 7 && strncmp (argument + 1, "nolimit", 7) == 0)
        style->no_limit = true;
      else if (size == 5 && strncmp (argument + 1, "nofmt", 5) == 0)
        style->separator = "";
      else
        return lns_error_set (
            error, LNS_ERROR_USAGE, 0,
            "--format knows no “%s”: after the format go :nohdr, :nolimit and :nofmt", argument);
    }
  return true;
}

/* "nsec" and "nanoseconds" begin alike; the first letter of each unit tells. */
static LnsStatsUnit
read_unit (const char *text)
{
  return text == NULL || text[0] == 'n'                      ? LNS_STATS_NS
         : text[0] == 'u' || strncmp (text, "micro", 5) == 0 ? LNS_STATS_US
         : text[0] == 'm'                                    ? LNS_STATS_MS
                                                             : LNS_STATS_S;
}

static bool
make_job (const Values *values, size_t i, const char *input, Job *job, LnsError *error)
{
  const char *name = values->reports.n_items > 0 ? values->reports.items[i] : defaults[i];
  const char *format = item (&values->formats, i), *output = item (&values->outputs, i);
  bool to_file = output != NULL && strcmp (output, "-") != 0;

  job->name = name;
  job->stats = lns_stats_report_find (name);
  job->style = (LnsStatsStyle){ .format = to_file ? LNS_STATS_CSV : LNS_STATS_COLUMN,
                                .unit = read_unit (values->unit) };
  job->style.separator = localeconv ()->thousands_sep;
  if (job->stats == NULL)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--report knows no “%s”: `lanescope stats --help` lists the reports",
                          name);
  if (format != NULL && !read_format (format, &job->style, error))
    return false;
  if (!to_file)
    return true;
  if (output[0] == '@')
    return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                          "--output %s: commands are not run: print with `-` and pipe", output);
  char *base = strcmp (output, ".") == 0 ? lns_cli_replace_ending (input, "") : strdup (output);
  size_t n = strcspn (name, ":");
  if (base == NULL || asprintf (&job->path, "%s_%.*s%s%s.%s", base, (int)n, name,
                                name[n] != '\0' ? "_" : "", name + n + (name[n] != '\0'),
                                job->style.format == LNS_STATS_CSV ? "csv" : "txt") < 0)
    job->path = NULL;
  free (base);
  if (job->path == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory for statistics; close other programs");
  if (!values->overwrite && access (job->path, F_OK) == 0)
    return lns_error_set (
        error, LNS_ERROR_IO, EEXIST,
        "%s exists: give --force-overwrite=true to replace it, or another base with --output",
        job->path);
  return true;
}

/* Writes RESULT to the job's file, which appears once it is whole. */
static bool
write_file (const Job *job, const LnsStatsResult *result, LnsError *error)
{
  char *temporary = NULL;
  FILE *file = NULL;

  if (!lns_make_folders (job->path, 0777, error))
    return false;
  if (asprintf (&temporary, "%s.%ld.part", job->path, (long)getpid ()) < 0)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory for statistics; close other programs");
  file = fopen (temporary, "wx");
  bool good = file != NULL || lns_error_set_errno (error, errno, "%s cannot be written", job->path);
  good = good && lns_stats_result_write (result, file, &job->style, error);
  if (file != NULL && (ferror (file) | fclose (file)) != 0 && good)
    good = lns_error_set_errno (error, errno, "%s cannot be written", job->path);
  if (good && rename (temporary, job->path) != 0)
    good = lns_error_set_errno (error, errno, "%s cannot be written", job->path);
  if (!good && file != NULL)
    unlink (temporary);
  free (temporary);
  return good;
}

static bool
run_job (const Job *job,
         const Values *values,
         LnsTables *tables,
         const char *input,
         const atomic_bool *cancel,
         LnsError *error)
{
  bool says = !values->quiet && job->style.format == LNS_STATS_COLUMN && job->path == NULL;

  if (says)
    printf ("Processing [%s] with [%s]... \n", input, job->name);
  const char *argument = strchr (job->name, ':');
  LnsStatsResult *result = lns_stats_report_run (job->stats, argument != NULL ? argument + 1 : NULL,
                                                 tables, cancel, error);
  if (result == NULL)
    return false;
  bool good = true;
  if (lns_stats_result_n_rows (result) == 0)
    fprintf (job->style.format == LNS_STATS_COLUMN ? stdout : stderr,
             "SKIPPED: %s does not contain %s.\n\n", input, job->stats->lacks);
  else if (job->path != NULL)
    good = write_file (job, result, error);
  else
    {
      if (job->style.format == LNS_STATS_COLUMN)
        printf ("%s ** %s (%s):\n\n", says ? "\n" : "", job->stats->title, job->name);
      good = lns_stats_result_write (result, stdout, &job->style, error);
      if (job->style.format == LNS_STATS_COLUMN)
        putchar ('\n');
    }
  lns_stats_result_free (result);
  return good && lns_cli_flush (error);
}

static bool
run_jobs (const Values *values, const char *input, LnsError *error)
{
  size_t n_jobs = values->reports.n_items > 0 ? values->reports.n_items : N_DEFAULTS;
  Job *jobs = calloc (n_jobs, sizeof *jobs);
  LnsReport *report = NULL;
  LnsTables *tables = NULL;
  bool good = jobs != NULL;

  for (size_t i = 0; good && i < n_jobs; i++)
    good = make_job (values, i, input, &jobs[i], error);
  if (good)
    report = lns_cli_open_report (input, error);
  if (report != NULL)
    tables = lns_tables_new (report, error);
  good = good && tables != NULL;
  const atomic_bool *cancel = lns_cli_catch_interrupt ();
  size_t n_wanted = good && values->reports.n_items == 0 && !is_about_cuda (report) ? 1 : n_jobs;
  for (size_t i = 0; good && i < n_wanted; i++)
    good = run_job (&jobs[i], values, tables, input, cancel, error);
  lns_tables_free (tables);
  lns_report_close (report);
  for (size_t i = 0; jobs != NULL && i < n_jobs; i++)
    free (jobs[i].path);
  free (jobs);
  return good;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  /* Digits are grouped as the person's locale has it.                                            */
  setlocale (LC_NUMERIC, "");
  const char *input = lns_cli_only_word (command, argc, argv, "a report", &error);
  bool good = input != NULL && run_jobs (&values, input, &error);
  lns_option_list_clear (&values.reports);
  lns_option_list_clear (&values.formats);
  lns_option_list_clear (&values.outputs);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_stats = {
  .name = "stats",
  .usage = "[switches] REPORT",
  .summary = "print summary tables of a report",
  .details =
      "Reports:\n"
      "  nvtx_sum                push/pop and start/end ranges, summed up by name\n"
      "  nvtx_pushpop_sum        push/pop ranges alone\n"
      "  nvtx_startend_sum       start/end ranges alone\n"
      "  nvtx_pushpop_trace      push/pop ranges one by one, with their place in the stack\n"
      "  cuda_api_sum            calls of the CUDA API, summed up by name\n"
      "  cuda_api_trace          calls of the CUDA API one by one\n"
      "  cuda_gpu_kern_sum       kernels, summed up by name\n"
      "  cuda_gpu_kern_gb_sum    kernels, by name, grid and block\n"
      "  cuda_gpu_mem_time_sum   copies and sets, by the time they took\n"
      "  cuda_gpu_mem_size_sum   copies and sets, by their sizes\n"
      "  cuda_gpu_sum            kernels, copies and sets together\n"
      "  cuda_gpu_trace          kernels, copies and sets one by one\n"
      "  cuda_api_gpu_sum        calls, kernels, copies and sets together\n"
      "  cuda_kern_exec_sum      from calls through queues to the ends of kernels, summed up\n"
      "  cuda_kern_exec_trace    the same one by one\n"
      "  nvtx_kern_sum           kernels, by the ranges that launched them\n"
      "  nvtx_gpu_proj_sum       ranges from the first to the last of what they began on GPUs\n"
      "  nvtx_gpu_proj_trace     the same one by one, with their place in the stack\n"
      "  um_sum                  pages of unified memory that moved or were missing, by address\n"
      "                          (10 rows; `:rows=N` after the name gives N, -1 all)\n"
      "  um_total_sum            the same all together\n"
      "  um_cpu_page_faults_sum  pages that were missing, by the instruction that touched them\n"
      "Ranges are called DOMAIN:NAME. Those without an end are left out.",
  .options = options,
  .n_options = sizeof options / sizeof *options,
  .run = run,
};

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope export`: writes a report in a format of other programs. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/cli/options/shared.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/terminal/language.h"
#include "src/export/place.h"
#include "src/extract/extract.h"

/* Default of --filter-out: that of the script collapse_nsys_gpu_stacks.py of llm.c. */
#define FILTER_OUT "validation"

#define SHIFT_MAX_NS (INT64_C (1) << 61)

typedef struct
{
  const char *type;
  const char *output;
  bool overwrite;
  bool append;
  bool quiet;
  const char *lazy; /* "true", "false" or NULL */
  LnsOptionList tables;
  const char *times;
  LnsOptionList processes, devices;
  bool ts_normalize;
  const char *ts_shift;
  bool separate_strings;
  bool include_json, include_blobs;
  const char *dynamic_tables;
  const char *stacks;
  LnsExportFolding folding;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("type", CHOICE, Values, type), .letter = 't', .value_name = "TYPE",
    .choices = "sqlite,jsonlines,csv,chrome,folded,svg,perf-script,pprof,speedscope,firefox,arrow,"
               "arrowdir,"
               "parquetdir,rep,html,info",
    .open_choices = true, .default_text = "sqlite",
    .help = N_ (
        "Output format. `sqlite`: the tables of the nsys export; `jsonlines` (or `json`): one JSON "
        "object for each row; `csv`: a folder with one file for each table; `chrome`: a trace for "
        "Perfetto and chrome://tracing; `folded`: GPU time in ns by stacks of NVTX ranges, one "
        "line for each kernel and copy, or samples by call chain (--stacks); `svg`: a flame graph "
        "of the same; `perf-script`, `pprof`, `speedscope` and `firefox`: samples of CPUs and of "
        "Python with their call chains for these and other viewers; `arrow`: Arrow streams of "
        "all tables in one file; `arrowdir` and `parquetdir`: a folder with one file for each "
        "table, written by pyarrow; `rep`: a smaller report, of some of the time or of the rows; "
        "`html`: a page for browsers with the answer of `lanescope why` and the timeline, which "
        "needs no other file; `info`: the output of `lanescope info`.") },
  LNS_CLI_OUTPUT (Values,
                  N_ ("the report's name with the type's ending"),
                  N_ ("Write to PATH; - is the standard output, for formats that allow it.")),
  LNS_CLI_OVERWRITE (Values, 'f', N_ ("Replace a file that exists.")),
  { LNS_SWITCH ("append", BOOL, Values, append), .implied = "true", .default_text = "false",
    .help = N_ ("For formats that are folders: keep existing files and add the missing ones.") },
  { LNS_SWITCH ("lazy", CHOICE, Values, lazy), .letter = 'l', .choices = "true,false",
    .default_text = N_ ("true, except for sqlite"),
    .help =
        N_ ("Skip empty tables. `false` writes every table. By default, SQLite exports include the "
            "empty tables that common readers expect.") },
  { LNS_SWITCH ("tables", LIST, Values, tables), .value_name = "NAMES", .default_text = "all",
    .help =
        N_ ("Export only these tables: names, or POSIX basic regular expressions that match whole "
            "names in any case, such as StringIds,CUPTI.*.") },
  { LNS_SWITCH ("times", TEXT, Values, times), .value_name = "[:][START]/[END][:]",
    .default_text = "all",
    .help =
        N_ ("Export only events that begin and end in this time, such as 1s/2s500ms (units: ns us "
            "ms s m h). A colon at an end includes events that reach across it, as `rep` and "
            "`html` always do.") },
  { LNS_SWITCH ("processes", LIST, Values, processes), .value_name = "PIDS", .default_text = "all",
    .help = N_ ("For rep and html: keep only the rows of these processes, and those of CPUs.") },
  { LNS_SWITCH ("devices", LIST, Values, devices), .value_name = "NUMBERS", .default_text = "all",
    .help = N_ ("For rep and html: of the rows of GPUs, keep only those of these, by their CUDA "
                "numbers.") },
  { LNS_SWITCH ("ts-normalize", BOOL, Values, ts_normalize), .default_text = "false",
    .help = N_ ("Count times from 1970 (UTC) instead of from the start of the recording.") },
  { LNS_SWITCH ("ts-shift", TEXT, Values, ts_shift), .value_name = "NS", .default_text = "0",
    .help = N_ ("Add this many nanoseconds to each time; may be negative.") },
  { LNS_SWITCH ("separate-strings", BOOL, Values, separate_strings), .default_text = "true",
    .help = N_ ("Accepted for compatibility; strings are always on lines of their own.") },
  { LNS_SWITCH ("include-json", BOOL, Values, include_json), .default_text = "true",
    .help = N_ ("Include the payloads of NVTX events as JSON text.") },
  { LNS_SWITCH ("include-blobs", BOOL, Values, include_blobs), .default_text = "true",
    .help = N_ ("Include the payloads of NVTX events as bytes.") },
  { LNS_SWITCH ("dynamic-tables", TEXT, Values, dynamic_tables), .value_name = "REGEX",
    .default_text = "none",
    .help = N_ ("Accepted for compatibility; NVTX_EVENTS holds the payloads of all kinds.") },
  { LNS_SWITCH ("stacks", CHOICE, Values, stacks), .choices = "gpu,cpu",
    .default_text = N_ ("gpu where there is GPU work, else cpu"),
    .help = N_ ("For folded and svg: stacks of GPU time, or call chains of samples.") },
  { LNS_SWITCH ("strip-layer-number", BOOL, Values, folding.strip_layer_number),
    .default_text = "true",
    .help = N_ (
        "For folded and svg: skip ranges whose names begin with “Layer”, which adds layers up.") },
  { LNS_SWITCH ("strip-iteration-number", BOOL, Values, folding.strip_iteration_number),
    .default_text = "true",
    .help = N_ ("For folded and svg: skip ranges whose names begin with “Train step”.") },
  { LNS_SWITCH ("filter-out", TEXT, Values, folding.filter_out), .value_name = "REGEX",
    .default_text = FILTER_OUT,
    .help =
        N_ ("For folded and svg: skip stacks with a name that matches this POSIX extended regular "
            "expression; `none` skips no stack.") },
  { LNS_SWITCH ("doubled", BOOL, Values, folding.doubled), .default_text = "false",
    .help =
        N_ ("For folded: print each range of a stack, and each stack, twice, as the script "
            "collapse_nsys_gpu_stacks.py of llm.c does. By default, each is printed once, and the "
            "numbers add up to the GPU time in ns.") },
  LNS_CLI_QUIET (Values, N_ ("Print neither progress nor the path of the output.")),
  LNS_CLI_INPUT,
};

static const LnsExportType *
find_type (const char *name, LnsError *error)
{
  static const struct
  {
    const char *name, *answer;
  } others[] = {
    { "text", N_ ("jsonlines and csv hold the same rows") },
    { "hdf", N_ ("csv and sqlite hold the same tables") },
  };
  const LnsExportType *type =
      lns_export_type_find (strcmp (name, "json") == 0 ? "jsonlines" : name);

  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp (name, others[i].name) == 0)
      lns_cli_usage (error, "--type=%s is not supported; %s", name, _ (others[i].answer));
  if (type == NULL && error->domain == LNS_ERROR_NONE)
    lns_cli_usage (error, "--type: “%s” is not one of %s", name, options[0].choices);
  return type;
}

/* Creates the file at PATH for writing. */
static FILE *
create (const char *path, mode_t mode)
{
  const int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  return fd >= 0 ? fdopen (fd, "w") : NULL;
}

/* Prints the facts of `lanescope info`, or writes them to a file, completely or not at all. *RET_EXIT_CODE is the exit
 * code of that command. */
static bool
export_info (const Values *values, const char *input, int *ret_exit_code, LnsError *error)
{
  static const LnsExportType info = { .name = "info", .is_stream = true };
  const LnsExportOptions info_options = { .overwrite = values->overwrite, .source = input };
  const char *output = values->output != NULL ? values->output : "-";
  bool is_stdout = strcmp (output, "-") == 0;
  LnsReport *report = lns_cli_open_report (input, error);
  LnsExportPlace place;

  if (report == NULL)
    return false;
  FILE *printed = stdout, *file = NULL;
  bool good = lns_export_place_open (&place, report, &info, output, &info_options, error);
  if (good && !is_stdout && (file = create (place.temporary, place.mode)) == NULL)
    good = lns_error_set_errno (error, errno, "cannot write %s", output);
  stdout = file != NULL ? file : printed;
  if (good)
    {
      *ret_exit_code = lns_command_info.run (&lns_command_info, 2,
                                             (char *[]){ (char *)info.name, (char *)input, NULL });
      good = *ret_exit_code != 0 || lns_cli_flush (error);
    }
  stdout = printed;
  if (file != NULL && fclose (file) != 0)
    good = good && lns_error_set_errno (error, errno, "cannot write %s", output);
  bool is_whole = lns_export_place_close (&place, good && *ret_exit_code == 0, error);
  if (is_whole && !values->quiet && !is_stdout)
    lns_cli_tell_generated (stderr, output);
  lns_report_close (report);
  return good && (is_whole || *ret_exit_code != 0);
}

/* Makes RET_OPTIONS of VALUES. They borrow from both VALUES and RET_TIMES. */
static bool
make_options (const Values *values,
              LnsReport *report,
              LnsExportOptions *ret_options,
              LnsExportTimes *ret_times,
              LnsError *error)
{
  char *end = NULL;
  long long shift_ns = values->ts_shift != NULL ? strtoll (values->ts_shift, &end, 10) : 0;

  /* Within this limit, no time overflows, normalized or not. */
  if (end != NULL && (end == values->ts_shift || *end != '\0' || shift_ns < -SHIFT_MAX_NS ||
                      shift_ns > SHIFT_MAX_NS))
    return lns_cli_usage (error,
                          "--ts-shift: “%s” is not a number of nanoseconds of at most 73 years",
                          values->ts_shift);
  if (values->times != NULL && !lns_export_times_parse (values->times, ret_times, error))
    return false;
  ret_options->overwrite = values->overwrite;
  ret_options->append = values->append;
  if (values->lazy != NULL)
    ret_options->extent =
        strcmp (values->lazy, "true") == 0 ? LNS_EXPORT_FILLED_TABLES : LNS_EXPORT_ALL_TABLES;
  else if (values->type != NULL && strcmp (values->type, "sqlite") != 0)
    ret_options->extent = LNS_EXPORT_FILLED_TABLES;
  ret_options->tables = values->tables.items;
  ret_options->n_tables = values->tables.n_items;
  ret_options->times = values->times != NULL ? ret_times : NULL;
  ret_options->no_json = !values->include_json;
  ret_options->no_blobs = !values->include_blobs;
  ret_options->folding = values->folding;
  if (strcmp (values->folding.filter_out, "none") == 0)
    ret_options->folding.filter_out = NULL;
  ret_options->shift_ns =
      shift_ns + (values->ts_normalize ? lns_report_info (report)->t0_realtime_ns : 0);
  return true;
}

/* Warns about switches that have no effect with TYPE. */
static void
say_what_is_idle (const Values *values, const char *type)
{
#define PARTS   "rep,html"
#define ROWS    "sqlite,jsonlines,json,csv,arrow,arrowdir,parquetdir"
#define EVENTS  ROWS ",chrome"
#define STACKS  "folded,svg"
#define SAMPLES "perf-script,pprof,speedscope,firefox"
  const struct
  {
    const char *name;
    bool is_given;
    const char *types;
  } switches[] = {
    { "append", values->append, "csv,arrowdir,parquetdir" },
    { "lazy", values->lazy != NULL, ROWS },
    { "tables", values->tables.n_items > 0, EVENTS "," STACKS },
    { "times", values->times != NULL, EVENTS "," STACKS "," SAMPLES "," PARTS },
    { "processes", values->processes.n_items > 0, PARTS },
    { "devices", values->devices.n_items > 0, PARTS },
    { "ts-normalize", values->ts_normalize, EVENTS ",perf-script" },
    { "ts-shift", values->ts_shift != NULL, EVENTS ",perf-script" },
    { "include-json", !values->include_json, EVENTS },
    { "include-blobs", !values->include_blobs, ROWS },
    { "stacks", values->stacks != NULL, STACKS },
    { "strip-layer-number", !values->folding.strip_layer_number, STACKS },
    { "strip-iteration-number", !values->folding.strip_iteration_number, STACKS },
    { "filter-out", strcmp (values->folding.filter_out, FILTER_OUT) != 0, STACKS },
    { "doubled", values->folding.doubled, "folded" },
  };

  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
    if (switches[i].is_given && lns_option_choice (switches[i].types, type) == NULL)
      lns_cli_say ("note", "--%s has no effect with --type=%s", switches[i].name, type);
  if (!values->separate_strings)
    lns_cli_say (
        "note", "--separate-strings=false has no effect; strings are always on lines of their own");
  if (values->dynamic_tables != NULL && strcmp (values->dynamic_tables, "none") != 0)
    lns_cli_say ("note", "--dynamic-tables has no effect; NVTX_EVENTS.jsonText holds the payloads");
}

static bool
export_report (const Values *values, const LnsExportType *type, const char *input, LnsError *error)
{
  LnsReport *report = lns_cli_open_report (input, error);
  char *output = values->output != NULL
                     ? lns_strdup (values->output)
                     : lns_cli_replace_ending (input, lns_export_type_ending (type));
  bool is_stdout = strcmp (output, "-") == 0;
  bool shows = !values->quiet && isatty (STDERR_FILENO) && report != NULL;
  LnsExportOptions export_options = { .cancel = lns_cli_catch_interrupt (),
                                      .progress = shows ? lns_cli_show_progress : NULL,
                                      .progress_data = output };
  LnsExportTimes times;
  const char *lacks = NULL;

  export_options.ret_lacks = &lacks;
  export_options.source = input;
  if (values->stacks != NULL)
    export_options.stacks =
        strcmp (values->stacks, "cpu") == 0 ? LNS_EXPORT_CPU_STACKS : LNS_EXPORT_GPU_STACKS;
  bool good = report != NULL && make_options (values, report, &export_options, &times, error) &&
              lns_export (report, type, output, &export_options, error);
  if (shows)
    lns_cli_draw_nothing ();
  if (good && lacks != NULL)
    lns_cli_say ("warning", is_stdout ? N_ ("the output is empty: %s%s") : N_ ("%s is empty: %s"),
                 is_stdout ? "" : output, lacks);
  if (good && !values->quiet && !is_stdout)
    lns_cli_tell_generated (stderr, output);
  lns_report_close (report);
  free (output);
  return good && lns_cli_flush (error);
}

/* Reads LIST, of numbers, into N new ones. False and ERROR where one is not a number. */
static bool
read_numbers (const LnsOptionList *list, const char *name, int32_t **ret_numbers, LnsError *error)
{
  *ret_numbers = lns_calloc (list->n_items, sizeof **ret_numbers);
  for (size_t i = 0; i < list->n_items; i++)
    {
      char *end;
      errno = 0;
      long number = strtol (list->items[i], &end, 10);
      if (end == list->items[i] || *end != '\0' || errno != 0 || number < 0 || number > INT32_MAX)
        return lns_cli_usage (error, "--%s: “%s” is not a number", name, list->items[i]);
      (*ret_numbers)[i] = (int32_t)number;
    }
  return true;
}

/* What VALUES want of a report. RET_WANTED borrows PIDS and DEVICES, which are to be freed whatever is returned. */
static bool
make_extract (const Values *values,
              LnsExtract *ret_wanted,
              int32_t **ret_pids,
              int32_t **ret_devices,
              LnsError *error)
{
  LnsExportTimes times = { .min_ns = INT64_MIN, .max_ns = INT64_MAX };

  if ((values->times != NULL && !lns_export_times_parse (values->times, &times, error)) ||
      !read_numbers (&values->processes, "processes", ret_pids, error) ||
      !read_numbers (&values->devices, "devices", ret_devices, error))
    return false;
  ret_wanted->start_ns = times.min_ns;
  ret_wanted->end_ns = times.max_ns;
  ret_wanted->pids = *ret_pids;
  ret_wanted->n_pids = values->processes.n_items;
  ret_wanted->devices = (const uint32_t *)*ret_devices;
  ret_wanted->n_devices = values->devices.n_items;
  ret_wanted->overwrite = values->overwrite;
  return true;
}

/* Writes a part of the report, or a page. */
static bool
extract (const Values *values, const LnsExtractType *type, const char *input, LnsError *error)
{
  LnsReport *report = lns_cli_open_report (input, error);
  char *output = values->output != NULL
                     ? lns_strdup (values->output)
                     : lns_cli_replace_ending (input, lns_export_type_ending (type->place));
  bool shows = !values->quiet && isatty (STDERR_FILENO) && report != NULL;
  LnsExtract wanted = { .source = input,
                        .cancel = lns_cli_catch_interrupt (),
                        .progress = shows ? lns_cli_show_progress : NULL,
                        .progress_data = output };
  int32_t *pids = NULL, *devices = NULL;

  bool good = report != NULL && make_extract (values, &wanted, &pids, &devices, error) &&
              type->write (report, &wanted, output, error);
  if (shows)
    lns_cli_draw_nothing ();
  if (good && !values->quiet && strcmp (output, "-") != 0)
    lns_cli_tell_generated (stderr, output);
  lns_report_close (report);
  free (pids);
  free (devices);
  free (output);
  return good && lns_cli_flush (error);
}

/* Removes the value true or false, which nsys has, from --quiet: the switch alone means true. Returns the new length
 * of ARGV. */
static int
take_value_of_quiet (int argc, char **argv)
{
  static char quiet[] = "--quiet";
  int n = 1;

  for (int i = 1; i < argc; i++)
    {
      bool is_alone = strcmp (argv[i], "-q") == 0 || strcmp (argv[i], quiet) == 0;
      const char *value = is_alone && i + 1 < argc                ? argv[i + 1]
                          : strncmp (argv[i], "--quiet=", 8) == 0 ? argv[i] + 8
                          : strncmp (argv[i], "-q=", 3) == 0      ? argv[i] + 3
                                                                  : "";
      bool is_true = strcasecmp (value, "true") == 0;
      if (!is_true && strcasecmp (value, "false") != 0)
        {
          argv[n++] = argv[i];
          continue;
        }
      i += is_alone;
      if (is_true)
        argv[n++] = quiet;
    }
  return n;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { .separate_strings = true,
                    .include_json = true,
                    .include_blobs = true,
                    .folding = { .strip_layer_number = true,
                                 .strip_iteration_number = true,
                                 .filter_out = FILTER_OUT } };
  LnsError error = { 0 };
  int exit_code = 0;

  argc = take_value_of_quiet (argc, argv);
  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  const char *input = lns_cli_only_word (command, argc, argv, N_ ("one report"), &error);
  if (input == NULL)
    return lns_cli_fail (&error);
  const char *name = values.type != NULL ? values.type : "sqlite";
  bool is_info = strcmp (name, "info") == 0;
  const LnsExtractType *part = lns_extract_type_find (name);
  const LnsExportType *type = is_info || part != NULL ? NULL : find_type (name, &error);
  bool good = is_info || part != NULL || type != NULL;
  if (good)
    {
      say_what_is_idle (&values, name);
      good = is_info        ? export_info (&values, input, &exit_code, &error)
             : part != NULL ? extract (&values, part, input, &error)
                            : export_report (&values, type, input, &error);
    }
  lns_cli_clear_lists (command, &values);
  return good ? exit_code : lns_cli_fail (&error);
}

const LnsCommand lns_command_export = {
  .name = "export",
  .usage = N_ ("[switches] REPORT"),
  .summary = N_ ("write a report in a format that other programs read"),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

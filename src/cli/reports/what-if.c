/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope what-if`: says how long a run would take if something in it were different. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/what-if/what-if.h"
#include "src/base/memory.h"
#include "src/cli/options/shared.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"

typedef struct
{
  const char *format, *steps;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("format", CHOICE, Values, format), .letter = 'f', .choices = "text,json",
    .default_text = "text", .help = N_ ("Print lines for people, or JSON.") },
  { LNS_SWITCH ("steps", TEXT, Values, steps), .value_name = "RANGE",
    .help = N_ (
        "The NVTX range that is a step (numbers in names do not count); without it, the range that "
        "repeats and takes most of the time, or else the kernels that repeat.") },
  LNS_CLI_INPUT,
};

static bool
each_edit (size_t i, LnsChoice *ret_choice)
{
  static const LnsChoice edits[] = {
    { "kernel ~ gemm: 0.5", N_ ("Kernels whose names match take half as long.") },
    { "copy kind=HtoD: pinned", N_ ("Copies to the GPU are of pinned memory; "
                                    "`pinned=24GB/s` where the report has no such copy.") },
    { "range \"load\": other thread",
      N_ ("Another thread does what is in the range, ahead of the one that needs it, and puts it "
          "into a queue with room for one.") },
    { "range \"load\": none", N_ ("What is in the range takes no time.") },
    { "sync ~ Stream: none", N_ ("Calls that match wait for no GPU.") },
    { "call ~ cudaMalloc: none", N_ ("Calls that match take no time.") },
    { "wait: none", N_ ("Threads do not wait for each other.") },
  };

  if (i < sizeof edits / sizeof *edits)
    *ret_choice = edits[i];
  return i < sizeof edits / sizeof *edits;
}

static void
print (const LnsWhatIf *answer, const Values *values)
{
  if (values->format != NULL && strcmp (values->format, "json") == 0)
    {
      lns_what_if_write_json (answer, stdout);
      return;
    }
  char *sentence = lns_what_if_sentence (answer);
  lns_cli_print_filled (stdout, sentence, strlen (sentence), 0, lns_cli_columns (stdout));
  free (sentence);
  lns_what_if_write_text (answer, stdout);
}

/* Answers for the N_EDITS TEXTS and the report at PATH. */
static int
answer (const Values *values, const char *path, char **texts, size_t n_edits, LnsError *error)
{
  LnsEdit **edits = lns_calloc (n_edits + 1, sizeof *edits);
  LnsReport *report = NULL;
  LnsTables *tables = NULL;
  LnsWhatIf *answer = NULL;
  bool good = true;

  for (size_t i = 0; good && i < n_edits; i++)
    {
      edits[i] = lns_edit_new (texts[i], error);
      good = edits[i] != NULL;
    }
  if (good)
    report = lns_cli_open_report (path, error);
  if (report != NULL)
    tables = lns_tables_new (report, error);
  if (tables != NULL)
    answer =
        lns_what_if_run (tables, edits, n_edits, values->steps, lns_cli_catch_interrupt (), error);
  good = answer != NULL;
  if (good)
    {
      print (answer, values);
      good = lns_cli_flush (error);
    }
  lns_what_if_free (answer);
  lns_tables_free (tables);
  lns_report_close (report);
  for (size_t i = 0; i < n_edits; i++)
    lns_edit_free (edits[i]);
  free (edits);
  return good ? 0 : lns_cli_fail (error);
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  if (argc < 2)
    return lns_cli_refuse (
        "what-if takes a report and what would be different in it; name a report");
  lns_cli_find_report (argv[1]);
  exit_code = answer (&values, argv[1], argv + 2, (size_t)argc - 2, &error);
  lns_cli_clear_lists (command, &values);
  return exit_code;
}

const LnsCommand lns_command_what_if = {
  .name = "what-if",
  .usage = N_ ("[switches] REPORT 'WHAT: HOW' …"),
  .summary = N_ ("say how long a run would take if something in it were different"),
  .list = { N_ ("What would be different:"), each_edit },
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

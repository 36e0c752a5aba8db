/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope export`: a report in the format of others. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/lns-cli-options.h"
#include "src/cli/lns-cli-report.h"
#include "src/export/lns-export-sqlite.h"

typedef struct
{
  const char *type;
  const char *output;
  bool overwrite;
  bool quiet;
} Values;

static const LnsOption options[] = {
  { .name = "type",
    .letter = 't',
    .kind = LNS_OPTION_CHOICE,
    .offset = offsetof (Values, type),
    .choices = "sqlite",
    .default_text = "sqlite",
    .help = "The format: sqlite has the tables of the nsys export." },
  LNS_CLI_OUTPUT (Values, "the report's name with .sqlite", "Where to write to."),
  LNS_CLI_OVERWRITE (Values, 'f', "Replace a file that is there."),
  LNS_CLI_QUIET (Values, "Show no progress and no path."),
};

static void
show_progress (double fraction, void *data)
{
  fprintf (stderr, "\r[%3d%%] %s", (int)(fraction * 100), (const char *)data);
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  const char *input = lns_cli_only_word (command, argc, argv, "a report", &error);
  if (input == NULL)
    return lns_cli_fail (&error);
  char *output =
      values.output != NULL ? strdup (values.output) : lns_cli_replace_ending (input, ".sqlite");
  bool shows = !values.quiet && isatty (STDERR_FILENO);
  LnsExportOptions export_options = { .overwrite = values.overwrite,
                                      .cancel = lns_cli_catch_interrupt (),
                                      .progress = shows ? show_progress : NULL,
                                      .progress_data = output };
  LnsReport *report = output != NULL ? lns_cli_open_report (input, &error) : NULL;
  bool good = report != NULL && lns_export_sqlite (report, output, &export_options, &error);
  if (shows)
    fputs ("\r\033[K", stderr);
  if (good && !values.quiet)
    printf ("Generated:\n    %s\n", output);
  good = good && lns_cli_flush (&error);
  lns_report_close (report);
  free (output);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_export = {
  .name = "export",
  .usage = "[switches] REPORT",
  .summary = "write a report as an SQLite file that programs for nsys exports read",
  .options = options,
  .n_options = sizeof options / sizeof *options,
  .run = run,
};

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope import`: makes a report of another profiler's file. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/options/shared.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/terminal.h"
#include "src/import/open.h"
#include "src/cli/terminal/language.h"

typedef struct
{
  const char *output;
  bool overwrite;
  bool quiet;
} Values;

static const LnsOption options[] = {
  LNS_CLI_OUTPUT (Values, N_ ("the file's name with .rep"), N_ ("Write the report to PATH.")),
  LNS_CLI_OVERWRITE (Values, 'f', N_ ("Replace a file that exists.")),
  LNS_CLI_QUIET (Values, N_ ("Print neither progress nor the path, nor what was left out.")),
};

/* INPUT with its ending replaced by .rep; both endings of "x.json.gz" are. Owned. */
static char *
default_output (const char *input)
{
  const char *name = basename (input), *dot = strrchr (name, '.');
  size_t length = dot != NULL && dot != name ? (size_t)(dot - input) : strlen (input);

  if (dot != NULL && strcmp (dot, ".gz") == 0 && dot - name > 5 &&
      strncmp (dot - 5, ".json", 5) == 0)
    length -= 5;
  return lns_asprintf ("%.*s.rep", (int)length, input);
}

/* Prints what was left out of the report, each thing on its own line. */
static void
print_left_out (const LnsImportResult *result)
{
  const char *line = result->left_out != NULL ? result->left_out : "";

  for (size_t length; *line != '\0'; line += length + (line[length] == '\n'))
    {
      length = strcspn (line, "\n");
      fprintf (stderr, "lanescope: left out: %.*s\n", (int)length, line);
    }
  if (result->n_bad > 0)
    fprintf (stderr, "lanescope: left out: %" PRIu64 " %s without a usable time or place\n",
             result->n_bad, lns_plural (result->n_bad, "row", "rows"));
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  const char *input = lns_cli_only_word (command, argc, argv, N_ ("one file"), &error);
  if (input == NULL)
    return lns_cli_fail (&error);
  char *output = values.output != NULL ? lns_strdup (values.output) : default_output (input);
  bool shows = !values.quiet && isatty (STDERR_FILENO);
  LnsImportOptions import_options = { .overwrite = values.overwrite,
                                      .cancel = lns_cli_catch_interrupt (),
                                      .progress = shows ? lns_cli_show_progress : NULL,
                                      .progress_data = output };
  LnsImportResult result = { 0 };
  char count[LNS_FORMAT_SIZE];
  bool good = lns_import_file (input, output, &import_options, &result, &error);
  if (shows)
    lns_cli_draw_nothing ();
  if (good && !values.quiet)
    {
      print_left_out (&result);
      lns_cli_tell_generated (stdout, output);
    }
  good = good && lns_cli_flush (&error);
  if (good && result.complaint[0] != '\0')
    good = lns_error_set (
        &error, LNS_ERROR_FORMAT, 0,
        "cannot read %s to its end: %s; %s holds what comes before that (events: %s)", input,
        result.complaint, output, lns_format_unsigned (result.n_rows, count));
  free (result.left_out);
  free (output);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_import = {
  .name = "import",
  .usage = N_ ("[switches] FILE"),
  .summary = N_ ("make a report of what nsys, PyTorch or Chrome recorded"),
  .details =
      N_ ("FILE is an SQLite export of nsys, of any of its versions; a trace of PyTorch's "
          "profiler or in\n"
          "Chrome's format, plain or gzipped; or a .nsys-rep, which the nsys on PATH exports "
          "first. The\n"
          "other commands and the viewer take such files too: they import them into\n"
          "$XDG_CACHE_HOME/lanescope/imported, where the 32 used last stay, up to 8 GiB. A trace "
          "that is cut\n"
          "off becomes a report of what came before; the exit code is then 125."),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

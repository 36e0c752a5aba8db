/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope resolve`: names the functions of a report's call chains, on any machine that has the files. */

#include <string.h>
#include <unistd.h>

#include "src/base/format.h"
#include "src/cli/options/shared.h"
#include "src/cli/reports/frame-names.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"
#include "src/import/open.h"

typedef struct
{
  const char *folders;
  bool quiet;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("debug-symbols", TEXT, Values, folders), .value_name = "FOLDER[:FOLDER…]",
    .help = N_ ("Folders to search for programs, libraries and their debug symbols, before "
                "/usr/lib/debug and the servers in DEBUGINFOD_URLS.") },
  LNS_CLI_QUIET (Values, N_ ("Print nothing but errors.")),
};

static void
print_names (const LnsFrameNames *names)
{
  char named[LNS_FORMAT_SIZE], all[LNS_FORMAT_SIZE], new[LNS_FORMAT_SIZE];
  if (names->n_addresses == 0)
    {
      printf ("The report has no addresses that can be resolved.\n");
      return;
    }
  printf ("Resolved %s of %s address%s, %s of them now.\n",
          lns_format_unsigned (names->n_named, named),
          lns_format_unsigned (names->n_addresses, all), lns_plural (names->n_addresses, "", "es"),
          lns_format_unsigned (names->n_new, new));
  for (size_t i = 0; i < names->unnamed.n; i++)
    {
      const LnsUnnamedFile *file = &names->unnamed.items[i];
      printf ("Not resolved: %s in ", lns_format_unsigned (file->n_addresses, all));
      lns_cli_print_name (stdout, file->path, strlen (file->path));
      printf (": %s\n", file->why);
    }
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  LnsFrameNames names = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  char *input = (char *)lns_cli_only_word (command, argc, argv, N_ ("one report"), &error);
  if (input == NULL)
    return lns_cli_fail (&error);
  const bool shows = !values.quiet && isatty (STDERR_FILENO);
  const LnsFrameNamesOptions wanted = { .folders = values.folders,
                                        .uses_debuginfod = true,
                                        .stop = lns_cli_catch_interrupt (),
                                        .progress = shows ? lns_cli_show_progress : NULL,
                                        .progress_data = input };
  bool good = lns_import_kind (input) == LNS_INPUT_REPORT ||
              lns_cli_usage (&error,
                             "%s is not a Lanescope report; only addresses that Lanescope recorded "
                             "have the build-ids that names are looked up by",
                             input);
  good = good && lns_cli_name_frames (input, &wanted, &names, &error);
  if (shows)
    lns_cli_draw_nothing ();
  if (good && !values.quiet)
    {
      print_names (&names);
      good = lns_cli_flush (&error);
    }
  lns_cli_frame_names_clear (&names);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_resolve = {
  .name = "resolve",
  .usage = N_ ("[switches] REPORT"),
  .summary = N_ ("look up the functions of sampled addresses"),
  .details =
      N_ ("The names become part of the report. A file counts only if it has the build-id that "
          "was recorded, so that any machine with the same files can look names up. Names that "
          "the report has are kept, unless a better source is found for them. Ctrl-C leaves "
          "the report as it was."),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope recover`: rebuilds a report that is cut off or damaged. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/options/shared.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/terminal.h"
#include "src/store/recover/recover.h"
#include "src/cli/terminal/language.h"

typedef struct
{
  const char *output;
  bool overwrite;
} Values;

static const LnsOption options[] = {
  LNS_CLI_OUTPUT (Values,
                  N_ ("the report's name with -recovered.rep"),
                  N_ ("Write what could be recovered to PATH.")),
  LNS_CLI_OVERWRITE (Values, 'f', N_ ("Replace a file that exists.")),
};

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  LnsRecovery recovery;
  LnsOpenOptions following = { .cancel = lns_cli_catch_interrupt () };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  const char *input = lns_cli_only_word (command, argc, argv, N_ ("one report"), &error);
  if (input == NULL)
    return lns_cli_fail (&error);
  char *output = values.output != NULL ? lns_strdup (values.output)
                                       : lns_cli_replace_ending (input, "-recovered.rep");
  bool good = lns_recover (input, output, values.overwrite, &following, &recovery, &error);
  if (good)
    {
      printf ("Recovered %" PRIu64 " event%s in %" PRIu64 " chunk%s; missing: %s.\n",
              recovery.n_events, lns_plural (recovery.n_events, "", "s"), recovery.n_chunks,
              lns_plural (recovery.n_chunks, "", "s"), recovery.lost_text);
      if (recovery.n_damaged + recovery.n_missing > 0)
        printf ("Chunks that were unreadable: %" PRIu64 "; gone: %" PRIu64 ".\n",
                recovery.n_damaged, recovery.n_missing);
      lns_cli_tell_generated (stdout, output);
      good = lns_cli_flush (&error);
    }
  free (output);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_recover = {
  .name = "recover",
  .usage = N_ ("[switches] REPORT"),
  .summary = N_ ("rebuild a report that was cut off or damaged"),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

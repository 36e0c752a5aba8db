/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Says where a report would go, for the viewer's launch dialog. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/cli/profile/profile.h"

/* Prints where a `profile` in the folder argv[1] with the switches and the program behind that would write its report; macros
 * that are known only when it runs stay. */
static int
run_name (const LnsCommand *command, int argc, char **argv)
{
  LnsProfile profile = { .command = &lns_command_profile,
                         .options = LNS_PROFILE_DEFAULTS,
                         .folder = argc > 1 ? argv[1] : NULL,
                         .names_only = true };
  LnsError error = { 0 };
  const char *help;
  unsigned number = 1;
  if (profile.folder == NULL)
    return LNS_EXIT_FAILED;
  argc--;
  argv++;
  const bool is_there = access (profile.folder, X_OK) == 0 ||
                        lns_error_set_errno (&error, errno, "cannot enter “%s”", profile.folder);
  if (is_there &&
      lns_options_parse (profile.command, &argc, argv, &profile.options, &help, &error) &&
      lns_profile_check_exports (&profile, &error) && lns_profile_check_range (&profile, &error))
    {
      profile.argv = argv + 1;
      if (argc > 1 && help == NULL && lns_profile_choose_path (&profile, &number, &error))
        fputs (profile.path, stdout);
    }
  lns_cli_clear_lists (profile.command, &profile.options);
  free (profile.exports);
  free (profile.path);
  return error.domain == LNS_ERROR_NONE ? lns_cli_printed () : lns_cli_fail (&error);
}

const LnsCommand lns_command_name_report = { .name = "name-report", .run = run_name };

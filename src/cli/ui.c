/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope ui`: becomes the viewer. */

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/options/command.h"
#include "src/cli/terminal/language.h"

#define VIEWER "lanescope-ui"

/* Replaces this process by the viewer at FOLDER/BELOW, if there is one. */
static void
try_viewer (const char *folder, const char *below, char **argv)
{
  char path[PATH_MAX];

  if (snprintf (path, sizeof path, "%s/%s", folder, below) < (int)sizeof path &&
      access (path, X_OK) == 0)
    execv (path, argv);
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  char folder[PATH_MAX];
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, NULL, &exit_code))
    return exit_code;
  argv[0] = (char *)VIEWER;
  argv[argc] = NULL;
  ssize_t length = readlink ("/proc/self/exe", folder, sizeof folder - 1);
  if (length > 0)
    {
      folder[length] = '\0';
      *strrchr (folder, '/') = '\0';
      try_viewer (folder, VIEWER, argv);
      try_viewer (folder, "../../ui/" VIEWER, argv); /* in the build tree                       */
    }
  execvp (VIEWER, argv);
  if (errno == ENOENT)
    lns_error_set (
        &error, LNS_ERROR_UNSUPPORTED, 0,
        "cannot find %s beside lanescope or on PATH; install it, or build with -Dui=enabled",
        VIEWER);
  else
    lns_error_set_errno (&error, errno, "cannot start %s", VIEWER);
  return lns_cli_fail (&error);
}

const LnsCommand lns_command_ui = {
  .name = "ui",
  .usage = N_ ("[REPORT…]"),
  .summary = N_ ("open reports in the viewer"),
  .run = run,
};

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope ui`: becomes the viewer. */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/cli/options/command.h"
#include "src/cli/terminal/language.h"

#define VIEWER "lanescope-ui"

typedef struct
{
  bool compare;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("compare", FLAG, Values, compare),
    .help = N_ ("Open two reports in one window, on one axis, and compare the second with the "
                "first, as lanescope diff does.") },
};

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
  Values values = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  char **words = lns_calloc ((size_t)argc + 2, sizeof *words);
  words[0] = (char *)VIEWER;
  words[1] = (char *)"--compare";
  memcpy (&words[values.compare ? 2 : 1], argv + 1, (size_t)(argc - 1) * sizeof *words);
  words[argc + (values.compare ? 1 : 0)] = NULL;
  ssize_t length = readlink ("/proc/self/exe", folder, sizeof folder - 1);
  if (length > 0)
    {
      folder[length] = '\0';
      *strrchr (folder, '/') = '\0';
      try_viewer (folder, VIEWER, words);
      try_viewer (folder, "../../ui/" VIEWER, words); /* in the build tree                      */
    }
  execvp (VIEWER, words);
  if (errno == ENOENT)
    lns_error_set (
        &error, LNS_ERROR_UNSUPPORTED, 0,
        "cannot find %s beside lanescope or on PATH; install it, or build with -Dui=enabled",
        VIEWER);
  else
    lns_error_set_errno (&error, errno, "cannot start %s", VIEWER);
  free (words);
  return lns_cli_fail (&error);
}

const LnsCommand lns_command_ui = {
  .name = "ui",
  .usage = N_ ("[REPORT…] | --compare A B"),
  .summary = N_ ("open reports in the viewer"),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

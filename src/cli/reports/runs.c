/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/runs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/cli/terminal/language.h"

static bool
ends_with (const struct dirent *entry, const char *ending)
{
  const size_t n = strlen (entry->d_name), n_ending = strlen (ending);
  return entry->d_name[0] != '.' && n > n_ending &&
         strcmp (entry->d_name + n - n_ending, ending) == 0;
}

static int
is_report (const struct dirent *entry)
{
  return ends_with (entry, ".rep");
}

static int
is_export (const struct dirent *entry)
{
  return ends_with (entry, ".sqlite");
}

bool
lns_cli_runs_find (LnsCliRuns *runs, const char *path, LnsError *error)
{
  struct dirent **entries = NULL;
  struct stat status;

  if (stat (path, &status) != 0 || !S_ISDIR (status.st_mode))
    {
      *lns_array_add (runs) = lns_strdup (path);
      return true;
    }
  int n = scandir (path, &entries, is_report, alphasort);
  if (n == 0)
    {
      free (entries);
      n = scandir (path, &entries, is_export, alphasort);
    }
  if (n < 0)
    return lns_error_set_errno (error, errno, "cannot read the folder %s", path);
  for (int i = 0; i < n; i++)
    {
      *lns_array_add (runs) = lns_asprintf ("%s/%s", path, entries[i]->d_name);
      free (entries[i]);
    }
  free (entries);
  return n > 0 || lns_error_set (error, LNS_ERROR_USAGE, 0,
                                 N_ ("the folder %s has no report (*.rep) to compare"), path);
}

void
lns_cli_runs_clear (LnsCliRuns *runs)
{
  for (size_t i = 0; i < runs->n; i++)
    free (runs->items[i]);
  lns_array_clear (runs);
}

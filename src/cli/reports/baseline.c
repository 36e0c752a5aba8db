/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/baseline.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"

/* Runs are files called 000001.rep and so on. */
static unsigned long
number_of (const char *name)
{
  char *end;
  const unsigned long number = strtoul (name, &end, 10);
  return strspn (name, "0123456789") == 6 && strcmp (end, ".rep") == 0 ? number : 0;
}

static int
is_run (const struct dirent *entry)
{
  return number_of (entry->d_name) > 0;
}

bool
lns_cli_baseline_open (LnsCliBaseline *baseline, const char *folder, size_t n_last, LnsError *error)
{
  struct dirent **entries = NULL;

  *baseline = (LnsCliBaseline){ 0 };
  if (mkdir (folder, 0777) != 0 && errno != EEXIST)
    return lns_error_set_errno (error, errno, "--baseline: cannot make the folder %s", folder);
  const int n = scandir (folder, &entries, is_run, alphasort);
  if (n < 0)
    return lns_error_set_errno (error, errno, "--baseline: cannot read the folder %s", folder);
  for (int i = 0; i < n; i++)
    if ((size_t)(n - i) <= n_last)
      *lns_array_add (&baseline->runs) = lns_asprintf ("%s/%s", folder, entries[i]->d_name);
  baseline->next =
      lns_asprintf ("%s/%06lu.rep", folder, 1 + (n > 0 ? number_of (entries[n - 1]->d_name) : 0));
  for (int i = 0; i < n; i++)
    free (entries[i]);
  free (entries);
  return true;
}

static bool
copy (FILE *from, FILE *to)
{
  char bytes[1 << 16];
  size_t n;

  while ((n = fread (bytes, 1, sizeof bytes, from)) > 0)
    if (fwrite (bytes, 1, n, to) != n)
      return false;
  return !ferror (from);
}

bool
lns_cli_baseline_add (const LnsCliBaseline *baseline, const char *path, LnsError *error)
{
  char *part = lns_asprintf ("%s.part", baseline->next);
  FILE *from = fopen (path, "re"), *to = from != NULL ? fopen (part, "we") : NULL;
  bool good = to != NULL && copy (from, to);
  int code = errno;

  if (to != NULL && fclose (to) != 0 && good)
    {
      code = errno;
      good = false;
    }
  if (from != NULL)
    fclose (from);
  if (good && rename (part, baseline->next) != 0)
    {
      code = errno;
      good = false;
    }
  if (!good)
    {
      unlink (part);
      lns_error_set_errno (error, code, "--baseline: cannot copy %s to %s", path, baseline->next);
    }
  free (part);
  return good;
}

void
lns_cli_baseline_clear (LnsCliBaseline *baseline)
{
  lns_cli_runs_clear (&baseline->runs);
  free (baseline->next);
  baseline->next = NULL;
}

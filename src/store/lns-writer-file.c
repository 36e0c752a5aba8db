/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The place where a report goes: its folders, and what was there before. */

#include "src/store/lns-writer-private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/store/lns-sql.h"

#define JOURNAL "-journal"

bool
_lns_writer_make_folders (const char *path, LnsError *error)
{
  char *folder = strdup (path);
  if (folder == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "cannot create “%s”: out of memory", path);
  bool made = true;
  for (char *slash = strchr (folder + (folder[0] == '/'), '/'); made && slash != NULL;
       slash = strchr (slash + 1, '/'))
    {
      *slash = '\0';
      if (mkdir (folder, 0777) != 0)
        {
          int code = errno == EEXIST ? ENOTDIR : errno;
          struct stat status;
          /* One that is there may be refused too: on a read-only file system, or /. */
          if (stat (folder, &status) != 0 || !S_ISDIR (status.st_mode))
            made = lns_error_set_errno (error, code, "cannot make the folder “%s”", folder);
        }
      *slash = '/';
    }
  free (folder);
  return made;
}

/* BEFORE, then AFTER, in memory of the caller; NULL where there is none. */
static char *
join (const char *before, const char *after)
{
  char *joined = NULL;
  return asprintf (&joined, "%s%s", before, after) < 0 ? NULL : joined;
}

/* Moves the journal of FROM along to TO. */
static void
move_journal (const char *from, const char *to)
{
  char *from_journal = join (from, JOURNAL), *to_journal = join (to, JOURNAL);
  if (from_journal != NULL && to_journal != NULL)
    rename (from_journal, to_journal);
  free (from_journal);
  free (to_journal);
}

bool
_lns_writer_move_aside (const char *path, char **ret_aside_path, LnsError *error)
{
  struct stat status;
  *ret_aside_path = NULL;
  if (lstat (path, &status) != 0)
    return true;
  if (!S_ISREG (status.st_mode) && !S_ISLNK (status.st_mode))
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "“%s” is not a file that could be overwritten: choose another name",
                          path);
  for (unsigned i = 1; i < 1000; i++)
    {
      char suffix[16];
      snprintf (suffix, sizeof suffix, ".old%u", i);
      char *aside = join (path, suffix);
      if (aside == NULL)
        return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                              "cannot move “%s” aside: out of memory", path);
      if (lstat (aside, &status) == 0)
        {
          free (aside);
          continue;
        }
      if (rename (path, aside) != 0)
        {
          lns_error_set_errno (error, errno, "cannot move “%s” aside", path);
          free (aside);
          return false;
        }
      move_journal (path, aside);
      *ret_aside_path = aside;
      return true;
    }
  return lns_error_set (error, LNS_ERROR_USAGE, 0,
                        "cannot overwrite “%s”: remove the files “%s.old…” beside it", path, path);
}

void
_lns_writer_bring_back (const char *path, char *aside_path)
{
  if (aside_path == NULL)
    return;
  rename (aside_path, path);
  move_journal (aside_path, path);
  free (aside_path);
}

void
_lns_writer_remove_aside (char *aside_path)
{
  if (aside_path == NULL)
    return;
  lns_sql_remove (aside_path);
  free (aside_path);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/read/report-rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/store/database/guarded-vfs.h"
#include "src/store/read/report-cache.h"

#define COPY_BYTES ((size_t)1 << 20)

/* What the folder of copies may hold. */
#define COPIES_MAX       8
#define COPIES_MAX_BYTES (INT64_C (1) << 30)

char *
_lns_rescue_path (const char *path, LnsError *error)
{
  return lns_report_cache_path ("recovered", "", path, error);
}

static bool
copy_bytes (int from, int to)
{
  char *bytes = malloc (COPY_BYTES);
  ssize_t n = bytes != NULL ? 0 : -1;

  while (bytes != NULL && (n = read (from, bytes, COPY_BYTES)) > 0)
    for (ssize_t done = 0, now; done < n; done += now)
      {
        now = write (to, bytes + done, (size_t)(n - done));
        if (now < 0)
          {
            free (bytes);
            return false;
          }
      }
  free (bytes);
  return n == 0;
}

/* A new file: what lies at TO_PATH may be somebody's link to another one, or be open in another process. */
static bool
copy_file (const char *path, const char *to_path, LnsError *error)
{
  int from = open (path, O_RDONLY | O_CLOEXEC);
  if (from < 0)
    return lns_error_set_errno (error, errno, "cannot read %s", path);
  unlink (to_path);
  int to = open (to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool ok = to >= 0 && copy_bytes (from, to);
  if (!ok)
    lns_error_set_errno (error, errno, "cannot write %s, a copy of %s", to_path, path);
  close (from);
  if (to >= 0)
    close (to);
  return ok;
}

static void
journal_of (const char *path, char ret_path[PATH_MAX + 16])
{
  snprintf (ret_path, PATH_MAX + 16, "%s-journal", path);
}

bool
_lns_rescue_copy (const char *path, const char *to_path, LnsError *error)
{
  char journal[PATH_MAX + 16], to_journal[PATH_MAX + 16];

  journal_of (path, journal);
  journal_of (to_path, to_journal);
  if (!copy_file (path, to_path, error))
    return false;
  if (access (journal, F_OK) != 0)
    {
      unlink (to_journal);
      return true;
    }
  return copy_file (journal, to_journal, error);
}

void
_lns_rescue_prune (const char *newest_path)
{
  lns_report_cache_prune (newest_path, COPIES_MAX, COPIES_MAX_BYTES);
}

/* Lets SQLite see the journal: it rolls back before the first read. */
static bool
read_for_writing (const char *path)
{
  sqlite3 *db = NULL;

  bool ok = sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                             lns_guarded_vfs (LNS_GUARDED_REPORT)) == SQLITE_OK &&
            sqlite3_exec (db, "PRAGMA user_version", NULL, NULL, NULL) == SQLITE_OK &&
            sqlite3_db_readonly (db, "main") == 0;
  sqlite3_close (db);
  return ok;
}

char *
_lns_rescue_roll_back (const char *path, LnsError *error)
{
  if (!lns_journal_check (path, error))
    return NULL;
  if (read_for_writing (path))
    return strdup (path);

  char *copy = _lns_rescue_path (path, error);
  if (copy == NULL)
    return NULL;
  bool ok = _lns_rescue_copy (path, copy, error);
  if (ok && !read_for_writing (copy))
    ok = lns_error_set (error, LNS_ERROR_FORMAT, 0,
                        "%s: cannot roll back the journal beside it; recover the report with "
                        "\"lanescope recover\"",
                        path);
  if (!ok)
    {
      free (copy);
      return NULL;
    }
  _lns_rescue_prune (copy);
  return copy;
}

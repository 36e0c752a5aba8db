/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/lns-report-rescue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/lns-folders.h"
#include "src/base/lns-hash.h"
#include "src/store/lns-sql.h"

#define COPY_BYTES ((size_t)1 << 20)

/* What the folder of copies may hold. */
#define COPIES_MAX       8
#define COPIES_MAX_BYTES (INT64_C (1) << 30)

char *
_lns_rescue_path (const char *path, LnsError *error)
{
  const char *cache = getenv ("XDG_CACHE_HOME"), *home = getenv ("HOME");
  char folder[PATH_MAX], key[PATH_MAX + 64], *real = realpath (path, NULL), *text = NULL;
  struct stat status;

  /* The specification of base folders has relative ones ignored. */
  if (cache != NULL && cache[0] == '/')
    snprintf (folder, sizeof folder, "%s/lanescope/recovered/", cache);
  else
    snprintf (folder, sizeof folder, "%s/.cache/lanescope/recovered/",
              home != NULL && home[0] == '/' ? home : "/tmp");
  if (real == NULL || stat (real, &status) != 0)
    lns_error_set_errno (error, errno, "%s: it cannot be looked at", path);
  else if (!lns_make_folders (folder, 0700, NULL))
    lns_error_set_errno (error, errno,
                         "%s: no copy of the report can be made there; set XDG_CACHE_HOME to a "
                         "folder that can be written",
                         folder);
  else
    {
      int n = snprintf (key, sizeof key, "%s %" PRId64 " %" PRId64 ".%09ld", real,
                        (int64_t)status.st_size, (int64_t)status.st_mtim.tv_sec,
                        status.st_mtim.tv_nsec);
      const char *slash = strrchr (real, '/');
      if (asprintf (&text, "%s%.64s-%016" PRIx64 ".rep", folder, slash + 1,
                    lns_hash (key, (size_t)n)) < 0)
        {
          text = NULL;
          lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to open it", path);
        }
    }
  free (real);
  return text;
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

static bool
copy_file (const char *path, const char *to_path, LnsError *error)
{
  int from = open (path, O_RDONLY | O_CLOEXEC);
  if (from < 0)
    return lns_error_set_errno (error, errno, "%s: it cannot be read", path);
  int to = open (to_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool ok = to >= 0 && copy_bytes (from, to);
  if (!ok)
    lns_error_set_errno (error, errno, "%s: the copy of %s cannot be written", to_path, path);
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

static bool
is_copy (int folder_fd, const char *name, struct stat *ret_status)
{
  const size_t length = strlen (name);

  return length > 4 && strcmp (name + length - 4, ".rep") == 0 &&
         fstatat (folder_fd, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG (ret_status->st_mode);
}

/* Removes the oldest copy in FOLDER but NEWEST, if there are too many. Whether it did. */
static bool
remove_oldest (DIR *folder, const char *folder_path, const char *newest)
{
  char oldest[PATH_MAX] = "";
  struct stat status, oldest_status = { 0 };
  int64_t n = 0, n_bytes = 0;

  rewinddir (folder);
  for (struct dirent *entry; (entry = readdir (folder)) != NULL;)
    {
      if (!is_copy (dirfd (folder), entry->d_name, &status))
        continue;
      n++;
      n_bytes += status.st_size;
      if (strcmp (entry->d_name, newest) == 0 ||
          (oldest[0] != '\0' && status.st_mtime >= oldest_status.st_mtime))
        continue;
      snprintf (oldest, sizeof oldest, "%s/%s", folder_path, entry->d_name);
      oldest_status = status;
    }
  if (oldest[0] == '\0' || (n <= COPIES_MAX && n_bytes <= COPIES_MAX_BYTES))
    return false;
  lns_sql_remove (oldest);
  return access (oldest, F_OK) != 0;
}

void
_lns_rescue_prune (const char *newest_path)
{
  const char *slash = strrchr (newest_path, '/');
  char *folder_path = slash != NULL ? strndup (newest_path, (size_t)(slash - newest_path)) : NULL;
  DIR *folder = folder_path != NULL ? opendir (folder_path) : NULL;

  while (folder != NULL && remove_oldest (folder, folder_path, slash + 1))
    ;
  if (folder != NULL)
    closedir (folder);
  free (folder_path);
}

/* Lets SQLite see the journal: it rolls back before the first read. */
static bool
read_for_writing (const char *path)
{
  sqlite3 *db = NULL;

  bool ok =
      sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
      sqlite3_exec (db, "PRAGMA user_version", NULL, NULL, NULL) == SQLITE_OK &&
      sqlite3_db_readonly (db, "main") == 0;
  sqlite3_close (db);
  return ok;
}

char *
_lns_rescue_roll_back (const char *path, LnsError *error)
{
  if (read_for_writing (path))
    return strdup (path);

  char *copy = _lns_rescue_path (path, error);
  if (copy == NULL)
    return NULL;
  bool ok = _lns_rescue_copy (path, copy, error);
  if (ok && !read_for_writing (copy))
    ok = lns_error_set (error, LNS_ERROR_FORMAT, 0,
                        "%s: the journal beside it cannot be rolled back; get the report back with "
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

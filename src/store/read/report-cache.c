/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/read/report-cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/folders.h"
#include "src/base/hash.h"
#include "src/base/terminal.h"
#include "src/store/database/guarded-vfs.h"
#include "src/store/database/sql.h"

#define COPY_BYTES ((size_t)1 << 20)

/* Limits of the folder of copies. */
#define COPIES_MAX       8
#define COPIES_MAX_BYTES (INT64_C (1) << 30)

/* A file that changed so lately may be one that another process still writes, or is about to open. */
#define IN_USE_S 60

/* Prints the size and the modification time of the file at PATH + ENDING, as a part of a key. */
static int
print_condition (char *to, size_t to_bytes, const char *path, const char *ending)
{
  char name[PATH_MAX + 8];
  struct stat status;

  snprintf (name, sizeof name, "%s%s", path, ending);
  if (stat (name, &status) != 0)
    return snprintf (to, to_bytes, " -");
  return snprintf (to, to_bytes, " %" PRId64 " %" PRId64 ".%09ld", (int64_t)status.st_size,
                   (int64_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

/* Sets FOLDER, of PATH_MAX bytes, to the folder of KIND, and creates it. */
static bool
find_folder (const char *kind, char *folder, LnsError *error)
{
  if (lns_find_cache_folder (kind, folder))
    return true;
  const int cause = errno;
  if (cause != EPERM || strncmp (folder, "/tmp/lanescope-cache-", 21) != 0)
    return lns_error_set_errno (
        error, cause,
        "cannot make a copy of the report in %s; set XDG_CACHE_HOME to a writable folder", folder);
  folder[strlen ("/tmp/") + strcspn (folder + strlen ("/tmp/"), "/")] = '\0';
  return lns_error_set (error, LNS_ERROR_IO, EPERM,
                        "%s must be a folder that only you can enter; remove it, or set HOME or "
                        "XDG_CACHE_HOME to a folder of yours",
                        folder);
}

char *
lns_report_cache_path (const char *kind, const char *version, const char *path, LnsError *error)
{
  char folder[PATH_MAX], key[PATH_MAX + 240], *real = realpath (path, NULL), *text = NULL;
  struct stat status;

  if (real == NULL || stat (real, &status) != 0)
    lns_error_set_errno (error, errno, "cannot access %s", path);
  else if (find_folder (kind, folder, error))
    {
      int n = snprintf (key, sizeof key, "%s %s", real, version);
      n += print_condition (key + n, sizeof key - (size_t)n, real, "");
      n += print_condition (key + n, sizeof key - (size_t)n, real, "-journal");
      n += print_condition (key + n, sizeof key - (size_t)n, real, "-wal");
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
is_copy (int folder_fd, const char *name, struct stat *ret_status)
{
  const size_t length = strlen (name);

  return length > 4 && strcmp (name + length - 4, ".rep") == 0 &&
         fstatat (folder_fd, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG (ret_status->st_mode);
}

static int64_t
changed_at_ns (const struct stat *status)
{
  return (int64_t)status->st_mtim.tv_sec * INT64_C (1000000000) + status->st_mtim.tv_nsec;
}

/* Removes the oldest copy in FOLDER that nobody can be using, but not NEWEST, if there are too many. Returns whether it
 * did. */
static bool
remove_oldest (
    DIR *folder, const char *folder_path, const char *newest, int64_t max_copies, int64_t max_bytes)
{
  char oldest[PATH_MAX] = "";
  struct stat status;
  int64_t n = 0, n_bytes = 0;
  int64_t oldest_ns = ((int64_t)time (NULL) - IN_USE_S) * INT64_C (1000000000);

  rewinddir (folder);
  for (struct dirent *entry; (entry = readdir (folder)) != NULL;)
    {
      if (!is_copy (dirfd (folder), entry->d_name, &status))
        continue;
      n++;
      n_bytes += status.st_size;
      if (strcmp (entry->d_name, newest) == 0 || changed_at_ns (&status) >= oldest_ns)
        continue;
      snprintf (oldest, sizeof oldest, "%s/%s", folder_path, entry->d_name);
      oldest_ns = changed_at_ns (&status);
    }
  if (oldest[0] == '\0' || (n <= max_copies && n_bytes <= max_bytes))
    return false;
  lns_sql_remove (oldest);
  return access (oldest, F_OK) != 0;
}

void
lns_report_cache_prune (const char *newest_path, int64_t max_copies, int64_t max_bytes)
{
  const char *slash = strrchr (newest_path, '/');
  char *folder_path = slash != NULL ? strndup (newest_path, (size_t)(slash - newest_path)) : NULL;
  DIR *folder = folder_path != NULL ? opendir (folder_path) : NULL;

  while (folder != NULL && remove_oldest (folder, folder_path, slash + 1, max_copies, max_bytes))
    ;
  if (folder != NULL)
    closedir (folder);
  free (folder_path);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

char *
_lns_rescue_path (const char *path, LnsError *error)
{
  return lns_report_cache_path ("recovered", "", path, error);
}

static bool
copy_bytes (int from, int to)
{
  char *bytes = malloc (COPY_BYTES);
  ssize_t n = -1;

  while (bytes != NULL && (n = read (from, bytes, COPY_BYTES)) > 0)
    {
      errno = lns_write_all (to, bytes, (size_t)n);
      if (errno != 0)
        break;
    }
  free (bytes);
  return n == 0;
}

/* Copies the file FROM to TO_PATH. Always creates a new file: what lies at TO_PATH may be a link to another file, or be open
 * in another process. */
static bool
copy_file (int from, const char *to_path)
{
  unlink (to_path);
  int to = open (to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool ok = to >= 0 && copy_bytes (from, to);
  const int code = errno;
  if (to >= 0)
    close (to);
  errno = code;
  return ok;
}

void
_lns_rescue_prune (const char *newest_path)
{
  lns_report_cache_prune (newest_path, COPIES_MAX, COPIES_MAX_BYTES);
}

/* Opens the report for writing, so that SQLite rolls back the journal before its first read. */
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

/* Copies the report at PATH and its JOURNAL to COPY and rolls that back. */
static bool
roll_back_copy (const char *path, int journal, const char *copy, LnsError *error)
{
  char copy_journal[PATH_MAX + 64];
  int from = open (path, O_RDONLY | O_CLOEXEC);

  if (from < 0)
    return lns_error_set_errno (error, errno, "cannot read %s", path);
  snprintf (copy_journal, sizeof copy_journal, "%s-journal", copy);
  bool ok = copy_file (from, copy) && copy_file (journal, copy_journal);
  const int code = errno;
  close (from);
  if (!ok)
    return lns_error_set_errno (error, code, "cannot write %s, a copy of %s", copy, path);
  return read_for_writing (copy) ||
         lns_error_set (error, LNS_ERROR_FORMAT, 0,
                        "%s: cannot roll back the journal beside it; recover the report with "
                        "\"lanescope recover\"",
                        path);
}

char *
_lns_rescue_roll_back (const char *path, LnsError *error)
{
  static atomic_uint n_copies; /* of this process, which may make several at once */
  int journal;

  if (!lns_journal_check (path, &journal, error))
    return NULL;
  if (journal < 0)
    return strdup (path); /* rolled back meanwhile */
  /* Not the name that a recovered report has. */
  char *copy = lns_report_cache_path ("recovered", "journal", path, error);
  if (copy != NULL && access (copy, R_OK) != 0)
    {
      char new_copy[PATH_MAX + 48];
      snprintf (new_copy, sizeof new_copy, "%.*s-%d-%u.rep", (int)strlen (copy) - 4, copy,
                (int)getpid (), atomic_fetch_add (&n_copies, 1));
      bool ok = roll_back_copy (path, journal, new_copy, error);
      if (ok && rename (new_copy, copy) != 0)
        ok = lns_error_set_errno (error, errno, "cannot write %s, a copy of %s", copy, path);
      if (!ok)
        {
          lns_sql_remove (new_copy);
          free (copy);
          copy = NULL;
        }
    }
  close (journal);
  if (copy != NULL)
    {
      utimensat (AT_FDCWD, copy, NULL, 0); /* the copy that was opened last stays longest */
      _lns_rescue_prune (copy);
    }
  return copy;
}

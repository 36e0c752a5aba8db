/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/database/sql.h"
#include "src/store/database/careful-file.h"
#include "src/store/database/empty-report.h"
#include "src/store/database/guarded-vfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Readers read while the writer's transaction is open, so its pages must not be written to the file early (cache_spill),
 * nor to temporary files (temp_store). A crash of the machine may lose data (synchronous). A crash of the process loses
 * nothing after the first commit (lns_sql_made ()); before it there is nothing to lose, and if it fails the file is
 * removed. */
static const char settings[] = "PRAGMA synchronous = OFF;"
                               "PRAGMA journal_mode = OFF;"
                               "PRAGMA temp_store = MEMORY;"
                               "PRAGMA cache_spill = OFF;"
                               "PRAGMA cache_size = -4096";

/* The same for a report that was finished before. */
static const char safe_setting[] = "PRAGMA synchronous = FULL";
static const char reopened_settings[] = "PRAGMA synchronous = OFF;"
                                        "PRAGMA journal_mode = DELETE;"
                                        "PRAGMA temp_store = MEMORY;"
                                        "PRAGMA cache_spill = OFF;"
                                        "PRAGMA cell_size_check = ON";

static bool
run (sqlite3 *database, const char *sql)
{
  return sqlite3_exec (database, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* The errno of DATABASE's last failed call. It asks the file first, because the errno that SQLite keeps for the connection
 * may be from a later call. */
static int
file_errno (sqlite3 *database)
{
  sqlite3_file *journal = NULL;
  int system_code = 0;
  sqlite3_file_control (database, "main", SQLITE_FCNTL_LAST_ERRNO, &system_code);
  if (system_code == 0 &&
      sqlite3_file_control (database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal) ==
          SQLITE_OK &&
      journal != NULL && journal->pMethods != NULL)
    journal->pMethods->xFileControl (journal, SQLITE_FCNTL_LAST_ERRNO, &system_code);
  return system_code != 0 ? system_code : sqlite3_system_errno (database);
}

bool
lns_sql_error (LnsError *error, sqlite3 *database, const char *path, const char *doing)
{
  int code = sqlite3_errcode (database),
      system_code = code != SQLITE_NOMEM ? file_errno (database) : 0;
  if (code == SQLITE_FULL)
    system_code = ENOSPC;
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    return lns_error_set (error, LNS_ERROR_IO, EBUSY,
                          "cannot %s “%s”: another process has locked it; close it there", doing,
                          path);
  if (sqlite3_extended_errcode (database) == SQLITE_READONLY_DBMOVED)
    return lns_error_set (
        error, LNS_ERROR_IO, ENOENT,
        "cannot %s “%s”: it was removed or renamed; leave it in place until it is finished", doing,
        path);
  if ((code == SQLITE_IOERR || code == SQLITE_FULL || code == SQLITE_CANTOPEN ||
       code == SQLITE_READONLY) &&
      system_code != 0)
    return lns_error_set_errno (error, system_code, "cannot %s “%s”", doing, path);
  /* If SQLite has no error, an allocation failed too. */
  if (code == SQLITE_NOMEM || code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "cannot %s “%s”: out of memory", doing,
                          path);
  return lns_error_set (error, LNS_ERROR_IO, EIO, "cannot %s “%s”: %s", doing, path,
                        sqlite3_errmsg (database));
}

/* Removes the journal beside the report at PATH. Returns 0 or an errno. */
static int
remove_journal (const char *path)
{
  char *journal = NULL;
  if (asprintf (&journal, "%s-journal", path) < 0)
    return ENOMEM;
  const int code = unlink (journal) != 0 && errno != ENOENT ? errno : 0;
  free (journal);
  return code;
}

void
lns_sql_remove (const char *path)
{
  unlink (path);
  (void)remove_journal (path);
}

bool
lns_sql_can_lock (const char *path)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return true;
  struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };
  bool can = fcntl (fd, F_SETLK, &lock) == 0 ||
             (errno != ENOLCK && errno != ENOSYS && errno != EOPNOTSUPP && errno != EINVAL);
  close (fd);
  return can;
}

/* SQLite's own locks are at 1 GiB and beyond. This lock belongs to the open file, so it ends with the process at the
 * latest. */
static const struct flock claim = {
  .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1
};

/* Held as long as the file is being written. */
static const struct flock written = {
  .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 1
};

bool
lns_sql_made (sqlite3 *database, int claim_fd)
{
  struct flock unlock = claim;
  unlock.l_type = F_UNLCK;
  if (!run (database, "PRAGMA journal_mode = TRUNCATE") || !lns_careful_file_install (database))
    return false;
  (void)fcntl (claim_fd, F_OFD_SETLK, &unlock);
  return true;
}

void
lns_sql_let_go (int claim_fd)
{
  const struct flock unlock = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
  (void)fcntl (claim_fd, F_OFD_SETLK, &unlock);
  close (claim_fd);
}

/* Whether FD is open on FILE and another open file has the lock. */
static bool
is_locked_by_another (int fd, const struct stat *file)
{
  struct flock lock = written;
  struct stat status;
  return fstat (fd, &status) == 0 && status.st_dev == file->st_dev &&
         status.st_ino == file->st_ino && fcntl (fd, F_OFD_GETLK, &lock) == 0 &&
         lock.l_type != F_UNLCK;
}

bool
lns_sql_is_written (const char *path)
{
  struct stat file;
  bool found = false;
  DIR *folder = stat (path, &file) == 0 ? opendir ("/proc/self/fd") : NULL;
  for (struct dirent *entry; folder != NULL && !found && (entry = readdir (folder)) != NULL;)
    found = entry->d_name[0] != '.' && is_locked_by_another (atoi (entry->d_name), &file);
  if (folder != NULL)
    closedir (folder);
  return found;
}

bool
lns_sql_claim (const char *path, int *ret_fd)
{
  *ret_fd = open (path, O_RDWR | O_CLOEXEC);
  return *ret_fd < 0 || fcntl (*ret_fd, F_OFD_SETLK, &claim) == 0 ||
         (errno != EAGAIN && errno != EACCES);
}

bool
lns_sql_is_claimed (const char *path)
{
  struct flock lock = claim;
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool is_claimed = fcntl (fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close (fd);
  return is_claimed;
}

/* Writes a report without rows to FD. Allocates disk space for its zeros too, so that a commit that overwrites them cannot
 * run out of space halfway. */
static bool
write_empty (int fd)
{
  do
    errno = posix_fallocate (fd, 0, lns_empty_report_bytes);
  while (errno == EINTR);
  if (errno != 0)
    return false;
  for (unsigned i = 0; i < lns_empty_report_n_runs; i++)
    {
      const LnsFileRun *run = &lns_empty_report[i];
      ssize_t n = pwrite (fd, run->bytes, run->n_bytes, run->offset);
      if (n != (ssize_t)run->n_bytes)
        {
          errno = n < 0 ? errno : ENOSPC;
          return false;
        }
    }
  return true;
}

sqlite3 *
lns_sql_create (const char *path, unsigned mode, int *ret_claim_fd, LnsError *error)
{
  /* A report contains command lines, environments and names, so by default only its owner may read it. */
  int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    {
      lns_error_set_errno (error, errno, "cannot create “%s”", path);
      return NULL;
    }
  if (mode != 0)
    (void)fchmod (fd, mode);             /* ignored on file systems without permissions */
  (void)fcntl (fd, F_OFD_SETLK, &claim); /* both ignored on file systems without locks */
  (void)fcntl (fd, F_OFD_SETLK, &written);
  sqlite3 *database = NULL;
  /* SQLite would take what was left of another report of this name for a journal of this one, and roll it back. */
  const int code = remove_journal (path);
  if (code != 0)
    {
      lns_error_set_errno (error, code, "cannot remove “%s-journal”, a journal of another report",
                           path);
      goto failed;
    }
  if (!write_empty (fd))
    {
      lns_error_set_errno (error, errno, "cannot create “%s”", path);
      goto failed;
    }
  const char *vfs = lns_sql_can_lock (path) ? lns_guarded_vfs (LNS_GUARDED_REPORT)
                                            : lns_guarded_vfs (LNS_GUARDED_REPORT_UNLOCKED);

  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  if (sqlite3_open_v2 (path, &database, flags, vfs) != SQLITE_OK || !run (database, settings))
    {
      lns_sql_error (error, database, path, "create");
      goto failed;
    }
  *ret_claim_fd = fd;
  return database;

failed:
  sqlite3_close (database);
  lns_sql_remove (path);
  close (fd);
  return NULL;
}

void
lns_sql_distrust (sqlite3 *database)
{
  sqlite3_db_config (database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  sqlite3_db_config (database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_limit (database, SQLITE_LIMIT_LENGTH, 1 << 20);
}

sqlite3 *
lns_sql_reopen (const char *path, bool is_safe, int *ret_claim_fd, LnsError *error)
{
  sqlite3 *database = NULL;
  if (!lns_beside_check (path, "-journal", error))
    return NULL;
  const int fd = open (path, O_RDWR | O_CLOEXEC);
  if (fd < 0)
    {
      lns_error_set_errno (error, errno, "cannot write “%s”", path);
      return NULL;
    }
  if (fcntl (fd, F_OFD_SETLK, &written) != 0 && (errno == EAGAIN || errno == EACCES))
    {
      lns_error_set (error, LNS_ERROR_IO, EBUSY,
                     "another process is writing “%s”; wait until it ends", path);
      close (fd);
      return NULL;
    }
  const char *vfs = lns_sql_can_lock (path) ? lns_guarded_vfs (LNS_GUARDED_REPORT)
                                            : lns_guarded_vfs (LNS_GUARDED_REPORT_UNLOCKED);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  if (sqlite3_open_v2 (path, &database, flags, vfs) == SQLITE_OK)
    {
      lns_sql_distrust (database);
      if (run (database, reopened_settings) && (!is_safe || run (database, safe_setting)) &&
          lns_careful_file_install (database))
        {
          *ret_claim_fd = fd;
          return database;
        }
    }
  lns_sql_error (error, database, path, "write");
  sqlite3_close (database);
  close (fd);
  return NULL;
}

char *
lns_sql_immutable_uri (const char *path)
{
  static const char end[] = "?immutable=1";
  char *real = realpath (path, NULL);
  char *uri = real != NULL ? malloc (3 * strlen (real) + sizeof "file:" + sizeof end) : NULL;
  char *at = uri != NULL ? stpcpy (uri, "file:") : NULL;

  for (const char *c = real; at != NULL && *c != '\0'; c++)
    at += sprintf (at, strchr ("%?#", *c) != NULL ? "%%%02X" : "%c", (unsigned char)*c);
  if (at != NULL)
    strcpy (at, end);
  free (real);
  return uri;
}

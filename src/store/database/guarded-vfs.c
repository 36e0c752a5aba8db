/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/database/guarded-vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/store/database/sql.h"

#define JOURNAL "-journal"

/* A copy of SQLite's own VFS. The methods that are not overridden below use only the copied members of their argument
 * (pAppData, mxPathname). */
typedef struct
{
  sqlite3_vfs vfs;
  sqlite3_vfs *inner;
  const char *name, *inner_name;
  bool may_log;
} GuardedVfs;

static GuardedVfs installed[LNS_N_GUARDED] = {
  [LNS_GUARDED_REPORT] = { .name = "lanescope", .inner_name = "unix" },
  [LNS_GUARDED_REPORT_UNLOCKED] = { .name = "lanescope-none", .inner_name = "unix-none" },
  [LNS_GUARDED_EXPORT] = { .name = "lanescope-export", .inner_name = "unix", .may_log = true },
};

/* Returns 0 if SQLite may use a file with STATUS beside the database at PATH, else an errno: EINVAL if it is not a regular
 * file, EPERM if it is another user's. In a folder that all may write to, such as /tmp, anybody can put a journal beside a
 * report, and rolling it back would replace the report by what it holds. */
static int
refuse (const struct stat *status, const char *path)
{
  struct stat database;

  if (!S_ISREG (status->st_mode))
    return EINVAL;
  if (status->st_uid == geteuid () ||
      (stat (path, &database) == 0 && status->st_uid == database.st_uid))
    return 0;
  return EPERM;
}

/* The same for the journal or log at PATH, whose name ends with a dash and a word. Also ENOENT. */
static int
refuse_at (const char *path)
{
  struct stat status;

  if (lstat (path, &status) != 0)
    return errno;
  const char *dash = strrchr (path, '-');
  char *database = dash != NULL ? strndup (path, (size_t)(dash - path)) : NULL;
  const int code = database != NULL ? refuse (&status, database) : ENOMEM;
  free (database);
  return code;
}

/* Sets errno to the reason why the journal at PATH cannot be written, where sqlite3_system_errno () finds it. */
static void
tell_errno (const char *path)
{
  int fd = open (path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0)
    close (fd);
}

static int
guarded_open (
    sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *ret_flags)
{
  const GuardedVfs *guarded = (const GuardedVfs *)vfs;
  const bool is_log = (flags & SQLITE_OPEN_WAL) != 0;
  const bool is_journal = (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0;
  int got = 0;

  file->pMethods = NULL;
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0 || (is_log && !guarded->may_log))
    return SQLITE_CANTOPEN;
  int problem = is_log || is_journal ? refuse_at (path) : 0;
  if (problem != 0 && problem != ENOENT)
    {
      errno = problem;
      return SQLITE_CANTOPEN;
    }
  int code = guarded->inner->xOpen (guarded->inner, path, file, flags, &got);
  if (ret_flags != NULL)
    *ret_flags = got;
  if (!is_journal || (flags & SQLITE_OPEN_READWRITE) == 0)
    return code;
  /* SQLite accepts a journal that it can only read, and later fails to write it with EBADF. And somebody may have put
   * another file there since the first look. */
  problem = code == SQLITE_OK ? refuse_at (path) : 0;
  if (code == SQLITE_OK && problem == 0 && (got & SQLITE_OPEN_READONLY) == 0)
    return SQLITE_OK;
  if (code == SQLITE_OK)
    file->pMethods->xClose (file);
  file->pMethods = NULL;
  errno = problem;
  if (problem == 0)
    tell_errno (path);
  return SQLITE_CANTOPEN;
}

static int
guarded_delete (sqlite3_vfs *vfs, const char *path, int sync_folder)
{
  sqlite3_vfs *inner = ((GuardedVfs *)vfs)->inner;
  const size_t length = strlen (path);

  if (length < strlen (JOURNAL) || strcmp (path + length - strlen (JOURNAL), JOURNAL) != 0)
    return SQLITE_IOERR_DELETE;
  return inner->xDelete (inner, path, sync_folder);
}

static void
install (void)
{
  /* Nothing uses SQLite's memory statistics, which take a lock at each allocation. If SQLite was used before, it refuses
   * this, which does no harm. */
  sqlite3_config (SQLITE_CONFIG_MEMSTATUS, 0);
  /* By default each connection preallocates twenty pages, here of 64 KiB; most read four. */
  sqlite3_config (SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
  for (int i = 0; i < LNS_N_GUARDED; i++)
    {
      GuardedVfs *guarded = &installed[i];
      guarded->inner = sqlite3_vfs_find (guarded->inner_name);
      if (guarded->inner == NULL)
        continue; /* opening with that name will fail */
      guarded->vfs = *guarded->inner;
      guarded->vfs.zName = guarded->name;
      guarded->vfs.pNext = NULL;
      guarded->vfs.xOpen = guarded_open;
      guarded->vfs.xDelete = guarded_delete;
      sqlite3_vfs_register (&guarded->vfs, 0);
    }
}

const char *
lns_guarded_vfs (LnsGuarded guarded)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once (&once, install);
  return installed[guarded].name;
}

bool
lns_beside_check (const char *path, const char *ending, LnsError *error)
{
  char beside[PATH_MAX + 16];
  struct stat status;

  snprintf (beside, sizeof beside, "%s%s", path, ending);
  if (lstat (beside, &status) != 0)
    return true;
  switch (refuse (&status, path))
    {
    case EINVAL:
      return lns_error_set (error, LNS_ERROR_IO, EINVAL,
                            "%s: \"%s\", which lies beside it, is not a regular file; remove it",
                            path, beside);
    case EPERM:
      return lns_error_set (error, LNS_ERROR_IO, EPERM,
                            "%s: \"%s\", which lies beside it, belongs to another user (%u) and is "
                            "not used; remove it, or copy %s to a folder of yours",
                            path, beside, (unsigned)status.st_uid, path);
    default:
      return true;
    }
}

int
lns_journal_open (const char *path)
{
  char journal[PATH_MAX + sizeof JOURNAL];
  struct stat status;

  snprintf (journal, sizeof journal, "%s" JOURNAL, path);
  /* Opening a pipe would wait for its writer. */
  if (lstat (journal, &status) != 0 || (errno = refuse (&status, path)) != 0)
    return -1;
  int fd = open (journal, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return -1;
  const int problem = fstat (fd, &status) == 0 ? refuse (&status, path) : errno;
  if (problem != 0)
    {
      close (fd);
      fd = -1;
      errno = problem;
    }
  return fd;
}

/* A journal with a super-journal ends with 16 bytes: the length of the name, a checksum, and the magic that journals also
 * begin with (https://www.sqlite.org/src/file/src/pager.c, readSuperJournal). */
static bool
names_super_journal (int fd)
{
  static const unsigned char magic[8] = { 0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7 };
  unsigned char end[sizeof magic];
  struct stat status;

  return fstat (fd, &status) == 0 && status.st_size >= 16 &&
         pread (fd, end, sizeof end, status.st_size - (off_t)sizeof end) == sizeof end &&
         memcmp (end, magic, sizeof magic) == 0;
}

/* Whether the journal FD would change the database at PATH to a size that it cannot have had. A journal begins with the
 * magic, a number of pages, a nonce, and the number of pages that the database had, which a commit never makes less. */
static bool
has_other_size (int fd, const char *path)
{
  unsigned char head[20];
  struct stat status;

  if (pread (fd, head, sizeof head, 0) != sizeof head || stat (path, &status) != 0)
    return false; /* SQLite rolls nothing back */
  const uint64_t n_pages =
      (uint64_t)head[16] << 24 | (uint64_t)head[17] << 16 | (uint64_t)head[18] << 8 | head[19];
  return n_pages == 0 || n_pages > (uint64_t)status.st_size / LNS_SQL_PAGE_BYTES;
}

bool
lns_journal_check (const char *path, int *ret_fd, LnsError *error)
{
  *ret_fd = -1;
  if (!lns_beside_check (path, JOURNAL, error))
    return false;
  int fd = lns_journal_open (path);
  if (fd < 0)
    return errno == ENOENT || lns_error_set_errno (error, errno, "cannot read %s" JOURNAL, path);
  if (names_super_journal (fd))
    lns_error_set (error, LNS_ERROR_IO, EPERM,
                   "%s: the journal beside it, \"%s%s\", names another file to delete, "
                   "which Lanescope's journals never do; remove the journal, or recover the "
                   "report with \"lanescope recover\"",
                   path, path, JOURNAL);
  else if (has_other_size (fd, path))
    lns_error_set (error, LNS_ERROR_FORMAT, 0,
                   "%s: the journal beside it, \"%s%s\", does not fit it; remove the journal, or "
                   "recover the report with \"lanescope recover\"",
                   path, path, JOURNAL);
  else
    {
      *ret_fd = fd;
      return true;
    }
  close (fd);
  return false;
}

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
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool
is_regular_or_missing (const char *path)
{
  struct stat status;
  return lstat (path, &status) != 0 || S_ISREG (status.st_mode);
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
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0 || (is_log && !guarded->may_log) ||
      ((is_log || is_journal) && !is_regular_or_missing (path)))
    return SQLITE_CANTOPEN;
  int code = guarded->inner->xOpen (guarded->inner, path, file, flags, &got);
  if (ret_flags != NULL)
    *ret_flags = got;
  /* SQLite accepts a journal that it can only read, and later fails to write it with EBADF. */
  if (is_journal && (flags & SQLITE_OPEN_READWRITE) != 0 &&
      (code != SQLITE_OK || (got & SQLITE_OPEN_READONLY) != 0))
    {
      if (code == SQLITE_OK)
        file->pMethods->xClose (file);
      file->pMethods = NULL;
      code = SQLITE_CANTOPEN;
      tell_errno (path);
    }
  return code;
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

int
lns_journal_open (const char *path)
{
  char journal[PATH_MAX + sizeof JOURNAL];
  struct stat status;

  snprintf (journal, sizeof journal, "%s" JOURNAL, path);
  /* Opening a pipe would wait for its writer. */
  int fd = open (journal, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0 && (fstat (fd, &status) != 0 || !S_ISREG (status.st_mode)))
    {
      close (fd);
      errno = EINVAL;
      return -1;
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

bool
lns_journal_check (const char *path, LnsError *error)
{
  int fd = lns_journal_open (path);

  if (fd < 0 && (errno == ELOOP || errno == EINVAL || errno == ENXIO))
    return lns_error_set (
        error, LNS_ERROR_IO, errno,
        "%s: the journal beside it, \"%s%s\", is not a regular file; remove it, or recover the "
        "report with \"lanescope recover\"",
        path, path, JOURNAL);
  if (fd < 0)
    return true; /* there is none, or SQLite will report the error */
  bool is_foreign = names_super_journal (fd);
  close (fd);
  if (is_foreign)
    return lns_error_set (error, LNS_ERROR_IO, EPERM,
                          "%s: the journal beside it, \"%s%s\", names another file to delete, "
                          "which Lanescope's journals never do; remove the journal, or recover the "
                          "report with \"lanescope recover\"",
                          path, path, JOURNAL);
  return true;
}

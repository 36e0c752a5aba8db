/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/write/writer-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "src/store/database/guarded-vfs.h"
#include "src/store/format/identity.h"
#include "src/store/read/report.h"
#include "src/store/database/sql.h"

#define JOURNAL "-journal"
#define BUSY_MS 1000 /* a commit takes less */

/* A commit without events changes a few pages of 64 KiB, each of which is also in the journal. */
#define RESERVE_BYTES (1 << 20)

/* What several programs can write within a second. */
#define SHORT_BYTES (UINT64_C (4) << 30)

int
_lns_writer_reserve (const char *path)
{
  char *folder = strdup (path), *slash = folder != NULL ? strrchr (folder, '/') : NULL;
  if (slash != NULL)
    slash[slash == folder] = '\0';
  int fd = folder == NULL
               ? -1
               : open (slash != NULL ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  free (folder);
  if (fd >= 0 && fallocate (fd, 0, 0, RESERVE_BYTES) != 0)
    {
      close (fd);
      fd = -1;
    }
  return fd;
}

bool
_lns_writer_is_space_short (const char *path)
{
  struct statvfs status;
  return statvfs (path, &status) != 0 || (uint64_t)status.f_bavail * status.f_frsize < SHORT_BYTES;
}

/* BEFORE followed by AFTER, owned by the caller; NULL if memory runs out. */
static char *
join (const char *before, const char *after)
{
  char *joined = NULL;
  return asprintf (&joined, "%s%s", before, after) < 0 ? NULL : joined;
}

/* Renames the journal of FROM to that of TO. */
static void
move_journal (const char *from, const char *to)
{
  char *from_journal = join (from, JOURNAL), *to_journal = join (to, JOURNAL);
  if (from_journal != NULL && to_journal != NULL)
    rename (from_journal, to_journal);
  free (from_journal);
  free (to_journal);
}

/* Whether a live process is writing the report at PATH. Unlike opening the report, this does not change the file or its
 * journal. */
static bool
is_being_recorded (const char *path)
{
  static const char query[] =
      "SELECT writer.value FROM lns_meta AS writer, lns_meta AS state WHERE "
      "writer.key = 'writer' AND state.key = 'state' AND "
      "state.value = 'recording'";
  sqlite3 *database = NULL;
  sqlite3_stmt *statement = NULL;
  bool recording = sqlite3_open_v2 (path, &database, SQLITE_OPEN_READONLY,
                                    lns_guarded_vfs (LNS_GUARDED_REPORT)) == SQLITE_OK &&
                   sqlite3_busy_timeout (database, BUSY_MS) == SQLITE_OK &&
                   sqlite3_prepare_v2 (database, query, -1, &statement, NULL) == SQLITE_OK &&
                   sqlite3_step (statement) == SQLITE_ROW &&
                   sqlite3_column_type (statement, 0) == SQLITE_TEXT &&
                   (lns_identity_lives ((const char *)sqlite3_column_text (statement, 0)) ||
                    lns_sql_is_written (path));
  sqlite3_finalize (statement);
  sqlite3_close (database);
  return recording;
}

/* Claims the file at PATH. Returns false if it was replaced meanwhile, or another process is recording into it. */
static bool
claim_old (const char *path, int *ret_fd)
{
  struct stat claimed, now;
  return lns_sql_claim (path, ret_fd) &&
         (*ret_fd < 0 || (fstat (*ret_fd, &claimed) == 0 && stat (path, &now) == 0 &&
                          claimed.st_ino == now.st_ino)) &&
         !is_being_recorded (path);
}

/* Moves back the file that a killed writer of PATH had moved aside, if nothing was recorded since. Returns whether it
 * did. */
static bool
restore (const char *path)
{
  /* Files are moved aside to this name first, so if it is not there the report need not be opened. */
  char *first = join (path, ".old1");
  const bool may_be = first != NULL && access (first, F_OK) == 0;
  free (first);
  LnsReport *report = may_be ? lns_report_open (path, NULL, NULL) : NULL;
  char *aside = report != NULL ? lns_report_aside (report) : NULL;
  lns_report_close (report);
  if (aside == NULL)
    return false;
  lns_sql_remove (path);
  _lns_writer_bring_back (path, aside);
  return true;
}

bool
_lns_writer_move_aside (const char *path, int *ret_claim_fd, char **ret_aside_path, LnsError *error)
{
  struct stat status;
  *ret_aside_path = NULL;
  if (lstat (path, &status) != 0)
    return true;
  if (!S_ISREG (status.st_mode) && !S_ISLNK (status.st_mode))
    return lns_error_set (
        error, LNS_ERROR_USAGE, 0,
        "“%s” is not a regular file and cannot be overwritten; choose another name", path);
  bool claimed = claim_old (path, ret_claim_fd);
  if (claimed && restore (path))
    {
      if (*ret_claim_fd >= 0)
        lns_sql_let_go (*ret_claim_fd);
      claimed = claim_old (path, ret_claim_fd);
    }
  if (!claimed)
    return lns_error_set (
        error, LNS_ERROR_IO, EBUSY,
        "another process is recording into “%s”; wait until it ends, or choose another name", path);
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
                        "cannot overwrite “%s”; remove the files “%s.old…” beside it", path, path);
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

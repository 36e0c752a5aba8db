/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Newer snapshots of a report that grows. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/store/read/report-private.h"

/* What the file says of its last commit. */
typedef struct
{
  uint8_t uuid[16];
  bool has_uuid;
  uint64_t n_commits;
  bool is_written; /* it is not finished, and somebody writes it */
} Stand;

/* Another file has the report's path. */
static bool
say_replaced (const LnsReport *report, LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_IO, ESTALE,
                        "%s was replaced by another file while it was read; open it again",
                        report->info.path);
}

/* Whether the path still leads to the file that was opened. */
static bool
check_place (const LnsReport *report, LnsError *error)
{
  const LnsReportFile *file = &report->shared->file;
  struct stat status;

  if (stat (file->real_path, &status) != 0)
    return errno == ENOENT || errno == ENOTDIR
               ? lns_error_set (error, LNS_ERROR_IO, errno,
                                "%s was removed or renamed while it was read; open it where it is "
                                "now",
                                report->info.path)
               : lns_error_set_errno (error, errno, "cannot access %s", report->info.path);
  return (status.st_dev == file->device && status.st_ino == file->inode) ||
         say_replaced (report, error);
}

/* Reads the STAND of the file. The read transaction of CONNECTION begins with it. */
static bool
read_stand (const LnsReport *report, LnsConnection *connection, Stand *stand)
{
  char writer[256] = "";
  bool is_finished = true;
  int step = SQLITE_ERROR;

  *stand = (Stand){ .n_commits = 0 };
  sqlite3_stmt *statement = _lns_connection_query (connection, LNS_QUERY_STAND);
  while (statement != NULL && (step = sqlite3_step (statement)) == SQLITE_ROW)
    {
      const char *key = (const char *)sqlite3_column_text (statement, 0),
                 *value = (const char *)sqlite3_column_text (statement, 1);
      if (key == NULL || value == NULL)
        continue;
      if (strcmp (key, "commit") == 0)
        stand->n_commits = strtoull (value, NULL, 10);
      else if (strcmp (key, "state") == 0)
        is_finished = strcmp (value, "recording") != 0;
      else if (strcmp (key, "uuid") == 0)
        stand->has_uuid = _lns_report_parse_uuid (value, stand->uuid);
      else if (strlen (value) < sizeof writer)
        strcpy (writer, value);
    }
  if (statement != NULL)
    sqlite3_reset (statement);
  stand->is_written = !is_finished && _lns_report_is_written (report->shared->file.real_path,
                                                              writer[0] != '\0' ? writer : NULL);
  return step == SQLITE_DONE;
}

/* Opens the report anew, as its writer was killed within a commit: what it has left is rolled back in a copy. */
static bool
open_anew (const LnsReport *report, LnsReport **ret_newer, LnsError *error)
{
  LnsReport *newer = lns_report_open (report->info.path, NULL, error);

  if (newer == NULL)
    return false;
  if (memcmp (newer->info.uuid, report->info.uuid, sizeof newer->info.uuid) != 0 ||
      newer->info.n_commits < report->info.n_commits)
    {
      lns_report_close (newer);
      return say_replaced (report, error);
    }
  *ret_newer = newer;
  return true;
}

/* Whether the first read failed as a writer was killed within a commit. */
static bool
is_left_behind (LnsConnection *connection)
{
  const int code = sqlite3_extended_errcode (connection->db);

  return code == SQLITE_READONLY_ROLLBACK || (code & 0xff) == SQLITE_CANTOPEN;
}

/* Reads what is new, within the read transaction of CONNECTION. */
static bool
read_newer (LnsReport *report, LnsConnection *connection, LnsReport **ret_newer, LnsError *error)
{
  static const LnsOpenOptions no_options;
  LnsReport *newer;
  Stand stand;

  if (!read_stand (report, connection, &stand))
    return is_left_behind (connection)
               ? open_anew (report, ret_newer, error)
               : _lns_report_file_sqlite_error (&report->shared->file, connection, error);
  if (!stand.has_uuid)
    return _lns_report_file_damaged (&report->shared->file, error,
                                     "its state or its identity is missing");
  if (memcmp (stand.uuid, report->info.uuid, sizeof stand.uuid) != 0 ||
      stand.n_commits < report->info.n_commits)
    return say_replaced (report, error);
  if (stand.n_commits == report->info.n_commits && stand.is_written == report->is_live)
    return true;

  atomic_fetch_add_explicit (&report->shared->refs, 1, memory_order_relaxed);
  newer = _lns_report_new (report->shared);
  if (newer == NULL)
    return _lns_report_file_no_memory (&report->shared->file, error);
  if (!_lns_report_read (newer, report, connection, &no_options, error))
    {
      lns_report_close (newer);
      return false;
    }
  /* Its lanes come behind the report's. */
  LnsReport *derived = atomic_load_explicit (&report->derived, memory_order_acquire);
  if (derived != NULL && newer->n_lanes == report->n_lanes)
    atomic_init (&newer->derived, lns_report_ref (derived));
  *ret_newer = newer;
  return true;
}

bool
lns_report_refresh (LnsReport *report, LnsReport **ret_newer, LnsError *error)
{
  LnsReportFile *file = &report->shared->file;
  LnsConnection *connection;

  *ret_newer = NULL;
  if (!check_place (report, error) || (connection = _lns_report_file_take (file, error)) == NULL)
    return false;
  sqlite3_exec (connection->db, "BEGIN", NULL, NULL, NULL);
  const bool ok = read_newer (report, connection, ret_newer, error);
  for (int i = 0; i < LNS_N_QUERIES; i++)
    if (connection->statements[i] != NULL)
      sqlite3_reset (connection->statements[i]);
  sqlite3_exec (connection->db, "ROLLBACK", NULL, NULL, NULL);
  _lns_report_file_give (file, connection);
  return ok;
}

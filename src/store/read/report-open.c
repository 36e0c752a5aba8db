/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Opening and closing a report, and saying in one sentence why it cannot be opened. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/store/database/guarded-vfs.h"
#include "src/store/read/report-private.h"
#include "src/store/read/report-rescue.h"
#include "src/store/database/sql.h"

#define CACHE_BYTES_DEFAULT ((size_t)128 << 20)
#define N_TRIES_MAX         200 /* 10 ms apart: a file takes that long to come into being at most */

/* What the first 100 bytes of an SQLite database say. */
typedef struct
{
  bool is_sqlite;
  uint32_t application_id;
  uint64_t size_bytes; /* that the file should have; 0 = not known                              */
} FileHeader;

static uint32_t
load_be32 (const uint8_t *bytes)
{
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Reads through SQLite's own descriptor: closing another one of the same file would take away the
 * POSIX locks that a writer in this process has on it. */
static FileHeader
read_header (const LnsConnection *connection)
{
  sqlite3_file *file = NULL;
  uint8_t bytes[100] = { 0 };

  sqlite3_file_control (connection->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == NULL || file->pMethods == NULL ||
      file->pMethods->xRead (file, bytes, sizeof bytes, 0) != SQLITE_OK ||
      memcmp (bytes, "SQLite format 3", 16) != 0)
    return (FileHeader){ 0 };
  unsigned page_bytes = (unsigned)bytes[16] << 8 | (unsigned)bytes[17] << 16;
  /* The page count holds only where it was written with the change counter. */
  bool counted = memcmp (bytes + 24, bytes + 92, 4) == 0;
  return (FileHeader){ true, load_be32 (bytes + 68),
                       counted ? (uint64_t)load_be32 (bytes + 28) * page_bytes : 0 };
}

bool
_lns_report_damaged (const LnsReport *report, LnsError *error, const char *what, ...)
{
  char text[256];
  va_list arguments;

  va_start (arguments, what);
  vsnprintf (text, sizeof text, what, arguments);
  va_end (arguments);
  return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                        "%s: the report is damaged (%s); get the rest back with \"lanescope "
                        "recover\"",
                        report->path, text);
}

/* What to say where SQLite calls the file no database, or a broken one. */
static bool
say_what_file_is (const LnsReport *report, const LnsConnection *connection, LnsError *error)
{
  FileHeader header = read_header (connection);

  if (!header.is_sqlite)
    return lns_error_set (
        error, LNS_ERROR_FORMAT, 0,
        "%s: this is no Lanescope report, nor what `lanescope import` takes; give a "
        ".rep file that lanescope wrote",
        report->path);
  if (header.application_id != LNS_SQL_APPLICATION_ID)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s: this is an SQLite database but no Lanescope report; give a .rep "
                          "file that lanescope wrote",
                          report->path);
  if (header.size_bytes > report->info.file_bytes)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s: the report is cut short (%" PRIu64 " of %" PRIu64
                          " bytes are there); get back what they hold with \"lanescope recover\"",
                          report->path, report->info.file_bytes, header.size_bytes);
  return _lns_report_damaged (report, error, "%s", sqlite3_errmsg (connection->db));
}

bool
_lns_report_sqlite_error (const LnsReport *report, LnsConnection *connection, LnsError *error)
{
  int code = sqlite3_extended_errcode (connection->db);

  switch (code & 0xff)
    {
    case SQLITE_INTERRUPT:
      return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: reading was cancelled",
                            report->path);
    case SQLITE_NOMEM:
      return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                            "%s: not enough memory to read it; close other programs", report->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return lns_error_set (error, LNS_ERROR_IO, EBUSY,
                            "%s: its recording kept the file locked; try again", report->path);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return lns_error_set (error, LNS_ERROR_IO, EACCES,
                            "%s: it cannot be opened for reading (%s); check its permissions",
                            report->path, sqlite3_errmsg (connection->db));
    case SQLITE_IOERR:
      if (code != SQLITE_IOERR_SHORT_READ)
        return lns_error_set (error, LNS_ERROR_IO, EIO,
                              "%s: reading it failed (%s); check the disk or copy the file",
                              report->path, sqlite3_errmsg (connection->db));
      return say_what_file_is (report, connection, error);
    default:
      return say_what_file_is (report, connection, error);
    }
}

bool
_lns_report_check_file (const char *path, uint64_t *ret_bytes, LnsError *error)
{
  struct stat status;

  if (stat (path, &status) != 0)
    {
      if (errno == ENOENT || errno == ENOTDIR)
        return lns_error_set (error, LNS_ERROR_IO, errno,
                              "%s: there is no such file; check the path", path);
      return lns_error_set (error, LNS_ERROR_IO, errno,
                            "%s: it cannot be looked at (%s); check the path", path,
                            strerror (errno));
    }
  if (S_ISDIR (status.st_mode))
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s: this is a folder; give a .rep file in it", path);
  if (!S_ISREG (status.st_mode))
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s: this is no regular file; copy the report into one", path);
  if (access (path, R_OK) != 0)
    return lns_error_set (error, LNS_ERROR_IO, errno,
                          "%s: you may not read it; change its permissions or ask its owner", path);
  if (status.st_size == 0)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s: the file is empty; copy it again, or record again", path);
  *ret_bytes = (uint64_t)status.st_size;
  return true;
}

static bool
step_is_row (LnsConnection *connection, const char *text, int *ret_value)
{
  sqlite3_stmt *statement = NULL;

  if (sqlite3_prepare_v2 (connection->db, text, -1, &statement, NULL) != SQLITE_OK)
    return false;
  bool row = sqlite3_step (statement) == SQLITE_ROW;
  if (row)
    *ret_value = sqlite3_column_int (statement, 0);
  return sqlite3_finalize (statement) == SQLITE_OK && row;
}

static bool
roll_back (LnsReport *report, LnsError *error)
{
  char *path = _lns_rescue_roll_back (report->real_path, error);

  if (path == NULL)
    return false;
  free (report->real_path);
  report->real_path = path;
  return true;
}

/* Opens the first connection and begins the snapshot. Where a writer died within a commit, its
 * journal is rolled back first: in place if the folder can be written, else in a copy. Where the
 * file system has no locks, without them. */
static LnsConnection *
begin (LnsReport *report, LnsError *error)
{
  bool rolled_back = false;

  for (;;)
    {
      int code, version = 0;
      LnsConnection *connection =
          _lns_connection_open (report->real_path, report->vfs, SQLITE_OPEN_READONLY, &code);
      if (connection == NULL)
        {
          lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to open it",
                         report->path);
          return NULL;
        }
      if (code == SQLITE_OK &&
          sqlite3_exec (connection->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
          step_is_row (connection, "PRAGMA user_version", &version))
        return connection;

      code = sqlite3_extended_errcode (connection->db);
      bool again = false;
      if (!rolled_back && (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_CANTOPEN))
        again = rolled_back = roll_back (report, error);
      else if (report->vfs == NULL &&
               (code == SQLITE_IOERR_LOCK || code == SQLITE_IOERR_RDLOCK ||
                code == SQLITE_IOERR_CHECKRESERVEDLOCK ||
                (code == SQLITE_BUSY && !lns_sql_can_lock (report->real_path))))
        {
          report->vfs = lns_guarded_vfs (LNS_GUARDED_REPORT_UNLOCKED);
          again = true;
        }
      if (!again)
        _lns_report_sqlite_error (report, connection, error);
      _lns_connection_close (connection);
      if (!again)
        return NULL;
    }
}

/* Whether COLUMN of the table of chunks exists, or with NULL the table: RET_EXISTS. False where the
 * schema cannot be read. */
static bool
has_chunk_column (LnsConnection *connection, const char *column, bool *ret_exists)
{
  int code = sqlite3_table_column_metadata (connection->db, "main", "lns_chunk", column, NULL, NULL,
                                            NULL, NULL, NULL);

  *ret_exists = code == SQLITE_OK;
  return code == SQLITE_OK || code == SQLITE_ERROR; /* the latter says that there is none */
}

/* Refuses other databases, and newer and earlier reports, before any table of theirs is trusted. */
static bool
check_kind (LnsReport *report, LnsConnection *connection, LnsError *error)
{
  int application_id = 0, version = 0, page_bytes = 0;
  bool has_chunks, has_min, has_max;

  if (!step_is_row (connection, "PRAGMA application_id", &application_id) ||
      !step_is_row (connection, "PRAGMA user_version", &version) ||
      !step_is_row (connection, "PRAGMA page_size", &page_bytes))
    return _lns_report_sqlite_error (report, connection, error);
  /* SQLite lets the last page be short. */
  if (application_id != LNS_SQL_APPLICATION_ID ||
      read_header (connection).size_bytes > report->info.file_bytes)
    return say_what_file_is (report, connection, error);
  if (version > LNS_SQL_USER_VERSION)
    return lns_error_set (error, LNS_ERROR_VERSION, 0,
                          "%s: the report has format %d and this Lanescope reads up to %d; update "
                          "lanescope",
                          report->path, version, LNS_SQL_USER_VERSION);
  if (!has_chunk_column (connection, NULL, &has_chunks) ||
      !has_chunk_column (connection, "correlation_min", &has_min) ||
      !has_chunk_column (connection, "correlation_max", &has_max))
    return _lns_report_sqlite_error (report, connection, error);
  if (has_chunks && !(has_min && has_max))
    return lns_error_set (error, LNS_ERROR_VERSION, 0,
                          "%s: the report was written by an earlier version of Lanescope, whose "
                          "layout is no longer read; record again",
                          report->path);
  if (version < 1 || page_bytes != LNS_SQL_PAGE_BYTES)
    return _lns_report_damaged (report, error, "its page size or version cannot be");
  return true;
}

static bool
read_snapshot (LnsReport *report,
               LnsConnection *connection,
               const LnsOpenOptions *options,
               LnsError *error)
{
  return check_kind (report, connection, error) &&
         _lns_report_read_meta (report, connection, error) &&
         _lns_report_read_definitions (report, connection, options, error) &&
         _lns_report_init_strings (report, error) &&
         _lns_report_read_lanes (report, connection, options, error);
}

static LnsReport *
open_as_it_is (const char *path, const LnsOpenOptions *options, LnsError *error)
{
  LnsReport *report = calloc (1, sizeof *report);

  if (report != NULL)
    {
      pthread_mutex_init (&report->lock, NULL);
      report->path = strdup (path);
      report->info.path = report->path;
      report->cache = _lns_chunk_cache_new (options->cache_bytes != 0 ? options->cache_bytes
                                                                      : CACHE_BYTES_DEFAULT);
    }
  if (report == NULL || report->path == NULL || report->cache == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to open it", path);
      lns_report_close (report);
      return NULL;
    }

  LnsConnection *connection = NULL;
  bool ok = _lns_report_check_file (path, &report->info.file_bytes, error);
  if (ok)
    {
      /* The working folder may change before the next connection is opened. */
      report->real_path = realpath (path, NULL);
      if (report->real_path == NULL)
        ok = lns_error_set_errno (error, errno, "%s: it cannot be looked at", path);
    }
  if (ok)
    ok = (connection = begin (report, error)) != NULL;
  if (ok)
    {
      connection->cancel = options->cancel;
      struct stat status;
      if (stat (report->real_path, &status) == 0)
        report->info.file_bytes = (uint64_t)status.st_size;
      ok = read_snapshot (report, connection, options, error);
      connection->cancel = NULL;
      sqlite3_exec (connection->db, "ROLLBACK", NULL, NULL, NULL);
    }
  if (connection != NULL)
    _lns_report_give (report, connection);
  if (!ok)
    {
      lns_report_close (report);
      return NULL;
    }
  if (options->progress != NULL)
    options->progress (1.0, options->progress_data);
  return report;
}

/* Whether the file at PATH may be one that is just being created. A writer marks it as soon as it is
 * there; for the moments before, and after the mark is gone, one that was changed within the last
 * second counts too where MAY_BE_YOUNG. */
static bool
is_in_the_making (const char *path, bool may_be_young)
{
  struct stat status;
  struct timespec now;

  return stat (path, &status) == 0 && S_ISREG (status.st_mode) &&
         (lns_sql_is_claimed (path) ||
          (may_be_young && clock_gettime (CLOCK_REALTIME_COARSE, &now) == 0 &&
           now.tv_sec - status.st_mtim.tv_sec <= 1));
}

/* A file that is being created is empty at first, then without an identity: it is looked at again. */
LnsReport *
lns_report_open (const char *path, const LnsOpenOptions *options, LnsError *error)
{
  static const LnsOpenOptions no_options;
  static const struct timespec pause = { .tv_nsec = 10000000 };
  LnsReport *report;
  LnsError cause = { 0 };

  if (options == NULL)
    options = &no_options;
  for (unsigned n_tries = 0; (report = open_as_it_is (path, options, &cause)) == NULL; n_tries++)
    {
      if (cause.domain != LNS_ERROR_FORMAT || n_tries == N_TRIES_MAX ||
          !is_in_the_making (path, n_tries == 0))
        break;
      nanosleep (&pause, NULL);
    }
  if (report == NULL && error != NULL)
    *error = cause;
  return report;
}

void
lns_report_close (LnsReport *report)
{
  if (report == NULL)
    return;
  lns_report_close (report->derived);
  for (LnsConnection *connection = report->idle, *next; connection != NULL; connection = next)
    {
      next = connection->next;
      _lns_connection_close (connection);
    }
  _lns_report_free_lanes (report);
  _lns_report_free_strings (report);
  _lns_report_free_definitions (report);
  _lns_report_free_meta (report);
  _lns_chunk_cache_free (report->cache);
  pthread_mutex_destroy (&report->lock);
  free (report->real_path);
  free (report->path);
  free (report);
}

LnsConnection *
_lns_report_take (LnsReport *report, LnsError *error)
{
  pthread_mutex_lock (&report->lock);
  LnsConnection *connection = report->idle;
  if (connection != NULL)
    report->idle = connection->next;
  pthread_mutex_unlock (&report->lock);
  if (connection != NULL)
    return connection;

  int code = SQLITE_OK;
  connection = _lns_connection_open (report->real_path, report->vfs, SQLITE_OPEN_READONLY, &code);
  if (connection == NULL)
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to read it", report->path);
  else if (code != SQLITE_OK)
    {
      _lns_report_sqlite_error (report, connection, error);
      _lns_connection_close (connection);
      connection = NULL;
    }
  return connection;
}

void
_lns_report_give (LnsReport *report, LnsConnection *connection)
{
  for (int i = 0; i < LNS_N_QUERIES; i++)
    if (connection->statements[i] != NULL)
      sqlite3_reset (connection->statements[i]);
  atomic_fetch_add_explicit (&report->bytes_read, _lns_connection_take_bytes (connection),
                             memory_order_relaxed);
  pthread_mutex_lock (&report->lock);
  connection->next = report->idle;
  report->idle = connection;
  pthread_mutex_unlock (&report->lock);
}

const LnsReportInfo *
lns_report_info (const LnsReport *report)
{
  return &report->info;
}

char *
lns_report_aside (const LnsReport *report)
{
  const char *name = lns_report_meta (report, "aside");
  const char *slash = strrchr (report->path, '/');
  const char *own = slash != NULL ? slash + 1 : report->path;
  const size_t own_length = strlen (own);
  char *path = NULL;

  /* The file may lie: it may name none but those that the writer gives. */
  if (report->info.state != LNS_STATE_CUT_OFF || report->info.n_events > 0 || name == NULL ||
      strncmp (name, own, own_length) != 0 || strncmp (name + own_length, ".old", 4) != 0 ||
      strspn (name + own_length + 4, "0123456789") != strlen (name + own_length + 4) ||
      asprintf (&path, "%.*s%s", (int)(own - report->path), report->path, name) < 0)
    return NULL;
  if (access (path, F_OK) == 0)
    return path;
  free (path);
  return NULL;
}

LnsReportCounters
lns_report_counters (LnsReport *report)
{
  return (LnsReportCounters){
    .bytes_read = atomic_load_explicit (&report->bytes_read, memory_order_relaxed),
    .chunks_decoded = atomic_load_explicit (&report->chunks_decoded, memory_order_relaxed),
    .nodes_visited = atomic_load_explicit (&report->nodes_visited, memory_order_relaxed),
    .cache_bytes = _lns_chunk_cache_bytes (report->cache),
  };
}

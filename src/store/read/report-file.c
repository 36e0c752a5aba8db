/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/language.h"
#include "src/store/read/report-file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/store/database/guarded-vfs.h"
#include "src/store/database/sql.h"
#include "src/store/read/report-cache.h"

bool
_lns_report_file_init (LnsReportFile *file, const char *path)
{
  pthread_mutex_init (&file->lock, NULL);
  file->path = strdup (path);
  return file->path != NULL;
}

void
_lns_report_file_clear (LnsReportFile *file)
{
  for (LnsConnection *connection = file->idle, *next; connection != NULL; connection = next)
    {
      next = connection->next;
      _lns_connection_close (connection);
    }
  pthread_mutex_destroy (&file->lock);
  free (file->real_path);
  free (file->path);
}

/* From the first 100 bytes of an SQLite database. */
typedef struct
{
  bool is_sqlite;
  bool has_log; /* it asks for a write-ahead log */
  uint32_t application_id;
  uint64_t size_bytes; /* that the file should have; 0 = not known */
} FileHeader;

static uint32_t
load_be32 (const uint8_t *bytes)
{
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Reads through SQLite's own descriptor: closing another one of the same file would drop the POSIX locks that a writer in
 * this process has on it. */
static FileHeader
read_header (const LnsConnection *connection)
{
  sqlite3_file *opened = NULL;
  uint8_t bytes[100] = { 0 };

  sqlite3_file_control (connection->db, "main", SQLITE_FCNTL_FILE_POINTER, &opened);
  if (opened == NULL || opened->pMethods == NULL ||
      opened->pMethods->xRead (opened, bytes, sizeof bytes, 0) != SQLITE_OK ||
      memcmp (bytes, "SQLite format 3", 16) != 0)
    return (FileHeader){ 0 };
  unsigned page_bytes = (unsigned)bytes[16] << 8 | (unsigned)bytes[17] << 16;
  /* The page count is valid only if it was written together with the change counter. */
  bool counted = memcmp (bytes + 24, bytes + 92, 4) == 0;
  return (FileHeader){ true, bytes[18] == 2, load_be32 (bytes + 68),
                       counted ? (uint64_t)load_be32 (bytes + 28) * page_bytes : 0 };
}

bool
_lns_report_file_no_memory (const LnsReportFile *file, LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "%s: not enough memory to read it; close other programs", file->path);
}

bool
_lns_report_file_damaged (const LnsReportFile *file, LnsError *error, const char *what, ...)
{
  char text[256];
  va_list arguments;

  va_start (arguments, what);
  vsnprintf (text, sizeof text, lns_text (what), arguments);
  va_end (arguments);
  return lns_error_set (
      error, LNS_ERROR_FORMAT, 0,
      "%s: the report is damaged (%s); recover the rest with \"lanescope recover\"", file->path,
      text);
}

/* Sets ERROR for a file that SQLite does not accept as a database, or finds damaged. */
static bool
say_what_file_is (const LnsReportFile *file, const LnsConnection *connection, LnsError *error)
{
  const FileHeader header = read_header (connection);
  const uint64_t size_bytes = atomic_load_explicit (&file->size_bytes, memory_order_relaxed);

  if (!header.is_sqlite)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s is not a Lanescope report, and `lanescope import` cannot read it; "
                          "use a .rep file that lanescope wrote",
                          file->path);
  if (header.application_id != LNS_SQL_APPLICATION_ID)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s is an SQLite database, but not a Lanescope report; use a .rep file "
                          "that lanescope wrote",
                          file->path);
  if (header.size_bytes > size_bytes)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s: the report is cut short (%" PRIu64 " of %" PRIu64
                          " bytes are there); recover what they hold with \"lanescope recover\"",
                          file->path, size_bytes, header.size_bytes);
  return _lns_report_file_damaged (file, error, "%s", sqlite3_errmsg (connection->db));
}

bool
_lns_report_file_sqlite_error (const LnsReportFile *file,
                               LnsConnection *connection,
                               LnsError *error)
{
  int code = sqlite3_extended_errcode (connection->db);

  switch (code & 0xff)
    {
    case SQLITE_INTERRUPT:
      return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: reading was cancelled", file->path);
    case SQLITE_NOMEM:
      return _lns_report_file_no_memory (file, error);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return lns_error_set (error, LNS_ERROR_IO, EBUSY,
                            "%s: the recording keeps the file locked; try again", file->path);
    case SQLITE_CANTOPEN:
      if (read_header (connection).has_log)
        return _lns_report_file_damaged (file, error, "it asks for a log, which no report has");
      __attribute__ ((fallthrough));
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return lns_error_set (error, LNS_ERROR_IO, EACCES,
                            "cannot open %s (%s); check its permissions", file->path,
                            sqlite3_errmsg (connection->db));
    case SQLITE_IOERR:
      if (code != SQLITE_IOERR_SHORT_READ)
        return lns_error_set (error, LNS_ERROR_IO, EIO,
                              "cannot read %s (%s); check the disk or copy the file", file->path,
                              sqlite3_errmsg (connection->db));
      return say_what_file_is (file, connection, error);
    default:
      return say_what_file_is (file, connection, error);
    }
}

bool
_lns_report_file_check (const char *path, uint64_t *ret_bytes, LnsError *error)
{
  struct stat status;

  if (stat (path, &status) != 0)
    {
      if (errno == ENOENT || errno == ENOTDIR)
        return lns_error_set (error, LNS_ERROR_IO, errno, "%s does not exist; check the path",
                              path);
      return lns_error_set (error, LNS_ERROR_IO, errno, "cannot access %s (%s); check the path",
                            path, strerror (errno));
    }
  if (S_ISDIR (status.st_mode))
    return lns_error_set (error, LNS_ERROR_FORMAT, 0, "%s is a folder; use a .rep file in it",
                          path);
  if (!S_ISREG (status.st_mode))
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s is not a regular file; copy the report to a regular file first",
                          path);
  if (access (path, R_OK) != 0)
    return lns_error_set (
        error, LNS_ERROR_IO, errno,
        "%s: you do not have permission to read this file; change its permissions or ask its owner",
        path);
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
roll_back (LnsReportFile *file, LnsError *error)
{
  char *path = _lns_rescue_roll_back (file->real_path, error);

  if (path == NULL)
    return false;
  free (file->real_path);
  file->real_path = path;
  return true;
}

LnsConnection *
_lns_report_file_begin (LnsReportFile *file, LnsError *error)
{
  bool rolled_back = false;

  for (;;)
    {
      int code, version = 0;
      LnsConnection *connection =
          _lns_connection_open (file->real_path, file->vfs, SQLITE_OPEN_READONLY, &code);
      if (connection == NULL)
        {
          _lns_report_file_no_memory (file, error);
          return NULL;
        }
      if (code == SQLITE_OK &&
          sqlite3_exec (connection->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
          step_is_row (connection, "PRAGMA user_version", &version))
        return connection;

      code = sqlite3_extended_errcode (connection->db);
      bool again = false;
      if (!rolled_back && (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_CANTOPEN))
        again = rolled_back = roll_back (file, error);
      else if (file->vfs == NULL && (code == SQLITE_IOERR_LOCK || code == SQLITE_IOERR_RDLOCK ||
                                     code == SQLITE_IOERR_CHECKRESERVEDLOCK ||
                                     (code == SQLITE_BUSY && !lns_sql_can_lock (file->real_path))))
        {
          file->vfs = lns_guarded_vfs (LNS_GUARDED_REPORT_UNLOCKED);
          again = true;
        }
      if (!again)
        _lns_report_file_sqlite_error (file, connection, error);
      _lns_connection_close (connection);
      if (!again)
        return NULL;
    }
}

/* Sets RET_EXISTS to whether the table of chunks has COLUMN, or, if COLUMN is NULL, whether the table exists. Returns false
 * if the schema cannot be read. */
static bool
has_chunk_column (LnsConnection *connection, const char *column, bool *ret_exists)
{
  int code = sqlite3_table_column_metadata (connection->db, "main", "lns_chunk", column, NULL, NULL,
                                            NULL, NULL, NULL);

  *ret_exists = code == SQLITE_OK;
  return code == SQLITE_OK || code == SQLITE_ERROR; /* SQLITE_ERROR: it does not exist */
}

bool
_lns_report_file_check_kind (LnsReportFile *file, LnsConnection *connection, LnsError *error)
{
  int application_id = 0, version = 0, page_bytes = 0;
  bool has_chunks, has_min, has_max;

  if (!step_is_row (connection, "PRAGMA application_id", &application_id) ||
      !step_is_row (connection, "PRAGMA user_version", &version) ||
      !step_is_row (connection, "PRAGMA page_size", &page_bytes))
    return _lns_report_file_sqlite_error (file, connection, error);
  /* SQLite accepts a last page that is cut short. */
  if (application_id != LNS_SQL_APPLICATION_ID ||
      read_header (connection).size_bytes >
          atomic_load_explicit (&file->size_bytes, memory_order_relaxed))
    return say_what_file_is (file, connection, error);
  if (version > LNS_SQL_USER_VERSION)
    return lns_error_set (error, LNS_ERROR_VERSION, 0,
                          "%s: the report has format %d and this Lanescope reads up to %d; update "
                          "lanescope",
                          file->path, version, LNS_SQL_USER_VERSION);
  if (!has_chunk_column (connection, NULL, &has_chunks) ||
      !has_chunk_column (connection, "correlation_min", &has_min) ||
      !has_chunk_column (connection, "correlation_max", &has_max))
    return _lns_report_file_sqlite_error (file, connection, error);
  if (has_chunks && !(has_min && has_max))
    return lns_error_set (error, LNS_ERROR_VERSION, 0,
                          "%s: the report was written by an earlier version of Lanescope, whose "
                          "layout is no longer read; record again",
                          file->path);
  if (version < 1 || page_bytes != LNS_SQL_PAGE_BYTES)
    return _lns_report_file_damaged (file, error, "its page size or version cannot be");
  return true;
}

LnsConnection *
_lns_report_file_take (LnsReportFile *file, LnsError *error)
{
  pthread_mutex_lock (&file->lock);
  LnsConnection *connection = file->idle;
  if (connection != NULL)
    file->idle = connection->next;
  pthread_mutex_unlock (&file->lock);
  if (connection != NULL)
    return connection;

  int code = SQLITE_OK;
  connection = _lns_connection_open (file->real_path, file->vfs, SQLITE_OPEN_READONLY, &code);
  if (connection == NULL)
    _lns_report_file_no_memory (file, error);
  else if (code != SQLITE_OK)
    {
      _lns_report_file_sqlite_error (file, connection, error);
      _lns_connection_close (connection);
      connection = NULL;
    }
  return connection;
}

void
_lns_report_file_give (LnsReportFile *file, LnsConnection *connection)
{
  for (int i = 0; i < LNS_N_QUERIES; i++)
    if (connection->statements[i] != NULL)
      sqlite3_reset (connection->statements[i]);
  atomic_fetch_add_explicit (&file->bytes_read, _lns_connection_take_bytes (connection),
                             memory_order_relaxed);
  pthread_mutex_lock (&file->lock);
  connection->next = file->idle;
  file->idle = connection;
  pthread_mutex_unlock (&file->lock);
}

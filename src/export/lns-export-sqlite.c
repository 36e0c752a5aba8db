/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/lns-folders.h"
#include "src/export/lns-export-sqlite.h"
#include "src/schema/lns-row-cursor.h"

/* So many rows between looks at `cancel` and calls of `progress`. */
#define STRETCH 65536

typedef struct
{
  LnsReport *report;
  LnsTables *tables;
  const LnsExportOptions *options;
  sqlite3 *db;
  const char *path; /* what the person asked for: errors name it                                */
  uint64_t n_done, n_all;
} Export;

static bool
fail (Export *export, LnsError *error)
{
  int system = sqlite3_system_errno (export->db);

  if (sqlite3_errcode (export->db) == SQLITE_FULL || system == ENOSPC || system == EDQUOT)
    return lns_error_set (error, LNS_ERROR_IO, ENOSPC,
                          "%s cannot be written, since its disk is full: make room, or give "
                          "another place with --output",
                          export->path);
  return lns_error_set (error, LNS_ERROR_IO, system, "%s cannot be written: %s", export->path,
                        system != 0 ? strerror (system) : sqlite3_errmsg (export->db));
}

static bool
execute (Export *export, const char *sql, LnsError *error)
{
  return sqlite3_exec (export->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail (export, error);
}

static int
bind (sqlite3_stmt *insert, int parameter, const LnsValue *value)
{
  sqlite3_destructor_type lifetime = value->transient ? SQLITE_TRANSIENT : SQLITE_STATIC;

  switch (value->type)
    {
    case LNS_VALUE_INTEGER:
      return sqlite3_bind_int64 (insert, parameter, value->integer);
    case LNS_VALUE_REAL:
      return sqlite3_bind_double (insert, parameter, value->real);
    case LNS_VALUE_TEXT:
      return sqlite3_bind_text64 (insert, parameter, value->bytes, value->size_bytes, lifetime,
                                  SQLITE_UTF8);
    case LNS_VALUE_BLOB:
      return sqlite3_bind_blob64 (insert, parameter, value->bytes, value->size_bytes, lifetime);
    default:
      return sqlite3_bind_null (insert, parameter);
    }
}

/* Called now and then while rows are copied. */
static bool
look_up (Export *export, LnsError *error)
{
  const LnsExportOptions *options = export->options;

  if (options != NULL && options->cancel != NULL &&
      atomic_load_explicit (options->cancel, memory_order_relaxed))
    return lns_error_set (error, LNS_ERROR_CANCELLED, 0,
                          "%s was not written: the export was interrupted", export->path);
  if (options != NULL && options->progress != NULL && export->n_all > 0)
    options->progress ((double)export->n_done / (double)export->n_all, options->progress_data);
  return true;
}

static bool
copy_rows (Export *export,
           const LnsTable *table,
           LnsRowCursor *rows,
           sqlite3_stmt *insert,
           LnsError *error)
{
  bool was_null[64] = { 0 }, row;

  for (unsigned i = 0; i < table->n_columns; i++)
    was_null[i] = true;
  if (!lns_row_cursor_start (rows, NULL, 0, false, error))
    return false;
  for (;;)
    {
      if (!lns_row_cursor_next (rows, &row, error))
        return false;
      if (!row)
        return true;
      for (unsigned i = 0; i < table->n_columns; i++)
        {
          LnsValue value = lns_row_cursor_value (rows, i);
          /* Most columns of most events stay NULL.                                               */
          if (value.type == LNS_VALUE_NULL && was_null[i])
            continue;
          was_null[i] = value.type == LNS_VALUE_NULL;
          if (bind (insert, (int)i + 1, &value) != SQLITE_OK)
            return fail (export, error);
        }
      LnsValue rowid = { .type = LNS_VALUE_INTEGER, .integer = lns_row_cursor_rowid (rows) };
      if (table->passes != 0 && bind (insert, (int)table->n_columns + 1, &rowid) != SQLITE_OK)
        return fail (export, error);
      if (sqlite3_step (insert) != SQLITE_DONE)
        return fail (export, error);
      sqlite3_reset (insert);
      if (++export->n_done % STRETCH == 0 && !look_up (export, error))
        return false;
    }
}

/* The rowid comes last: rows that others passed by leave gaps, as in SQL. To be freed by SQLite. */
static char *
insert_sql (const LnsTable *table)
{
  sqlite3_str *sql = sqlite3_str_new (NULL);

  sqlite3_str_appendf (sql, "INSERT INTO \"%w\" (", table->name);
  for (unsigned i = 0; i < table->n_columns; i++)
    sqlite3_str_appendf (sql, "%s\"%w\"", i > 0 ? ", " : "", table->columns[i].name);
  if (table->passes != 0)
    sqlite3_str_appendall (sql, ", rowid");
  sqlite3_str_appendall (sql, ") VALUES (?");
  for (unsigned i = 1; i < table->n_columns + (table->passes != 0); i++)
    sqlite3_str_appendall (sql, ", ?");
  sqlite3_str_appendall (sql, ")");
  return sqlite3_str_finish (sql);
}

static bool
export_table (Export *export, const LnsTable *table, LnsError *error)
{
  if (table->is_optional && lns_tables_n_rows (export->tables, table) == 0)
    return true;

  LnsRowCursor *rows = NULL;
  sqlite3_stmt *insert = NULL;
  char *create = lns_table_sql (table, NULL), *sql = insert_sql (table);
  bool good = create != NULL && sql != NULL && execute (export, create, error);

  free (create);
  if (good && table->source != LNS_ROWS_NONE)
    {
      rows = lns_row_cursor_new (export->tables, table, error);
      good = rows != NULL &&
             (sqlite3_prepare_v2 (export->db, sql, -1, &insert, NULL) == SQLITE_OK ||
              fail (export, error)) &&
             copy_rows (export, table, rows, insert, error);
    }
  sqlite3_finalize (insert);
  sqlite3_free (sql);
  lns_row_cursor_free (rows);
  return good;
}

static bool
export_tables (Export *export, const char *temporary, LnsError *error)
{
  unsigned n;
  const LnsTable *tables = lns_table_all (&n);
  bool good;

  for (unsigned i = 0; i < n; i++)
    export->n_all += lns_tables_n_rows (export->tables, &tables[i]);
  if (sqlite3_open_v2 (temporary, &export->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
      SQLITE_OK)
    good = fail (export, error);
  else
    /* The file is nobody's until it is renamed: neither a journal nor locks protect anything.     */
    good = execute (export,
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = "
                    "EXCLUSIVE;PRAGMA cache_size = -65536; BEGIN",
                    error);
  for (unsigned i = 0; good && i < n; i++)
    good = export_table (export, &tables[i], error);
  good = good && execute (export, "COMMIT", error) && look_up (export, error);
  if (sqlite3_close (export->db) != SQLITE_OK && good)
    good = lns_error_set (error, LNS_ERROR_IO, 0, "%s cannot be written to its end", export->path);
  return good;
}

/* Whether PATH is the very file that REPORT is read from. */
static bool
is_report (LnsReport *report, const char *path)
{
  struct stat in, out;

  return stat (lns_report_info (report)->path, &in) == 0 && stat (path, &out) == 0 &&
         in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

bool
lns_export_sqlite (LnsReport *report,
                   const char *path,
                   const LnsExportOptions *options,
                   LnsError *error)
{
  Export export = { .report = report, .options = options, .path = path };
  bool overwrite = options != NULL && options->overwrite, good = false;
  struct stat status;
  char *temporary = NULL;

  if (stat (path, &status) == 0 && S_ISDIR (status.st_mode))
    return lns_error_set (error, LNS_ERROR_IO, EISDIR, "%s is a folder: give a file with --output",
                          path);
  if (is_report (report, path))
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "%s: a report cannot be replaced by its export; give another name with "
                          "--output",
                          path);
  if (!overwrite && access (path, F_OK) == 0)
    return lns_error_set (
        error, LNS_ERROR_IO, EEXIST,
        "%s exists: give --force-overwrite=true to replace it, or another name with --output",
        path);
  if (!lns_make_folders (path, 0777, error))
    return false;
  if (asprintf (&temporary, "%s.%ld.part", path, (long)getpid ()) < 0)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory for an export; close other programs");
  unlink (temporary);
  export.tables = lns_tables_new (report, error);
  good = export.tables != NULL && export_tables (&export, temporary, error);
  lns_tables_free (export.tables);
  if (good && overwrite)
    good = rename (temporary, path) == 0 ||
           lns_error_set_errno (error, errno, "%s cannot be written", path);
  /* link () refuses a name that came up meanwhile; where there are no links, rename () does not.  */
  else if (good && link (temporary, path) != 0)
    good = errno != EEXIST && rename (temporary, path) == 0;
  if (!good)
    lns_error_set (error, LNS_ERROR_IO, errno, "%s cannot be written: it came into being meanwhile",
                   path);
  unlink (temporary);
  free (temporary);
  return good;
}

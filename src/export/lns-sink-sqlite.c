/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows as an SQLite file in the layout of the nsys export: ordinary rowid tables with its names, types and
 * column order, so that the programs that read such files read it too. */

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/export/lns-sink.h"

typedef struct
{
  const LnsExportJob *job;
  sqlite3 *db;
  sqlite3_stmt *insert;
  unsigned n_columns;
  bool binds_rowid;
  uint64_t nulls; /* 1 << column that is bound to NULL                                           */
} Sink;

static bool
fail (Sink *sink, LnsError *error)
{
  int system = sqlite3_system_errno (sink->db);

  if (sqlite3_errcode (sink->db) == SQLITE_FULL || system == ENOSPC)
    system = ENOSPC;
  if (system != 0)
    return lns_export_fail (sink->job, system, error);
  return lns_error_set (error, LNS_ERROR_IO, 0, "%s cannot be written: %s", sink->job->path,
                        sqlite3_errmsg (sink->db));
}

static bool
execute (Sink *sink, const char *sql, LnsError *error)
{
  return sqlite3_exec (sink->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail (sink, error);
}

static bool
sqlite_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;

  sqlite3_finalize (sink->insert);
  good = good && execute (sink, "COMMIT", error);
  if (sqlite3_close (sink->db) != SQLITE_OK && good)
    good =
        lns_error_set (error, LNS_ERROR_IO, 0, "%s cannot be written to its end", sink->job->path);
  free (sink);
  return good;
}

static void *
sqlite_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = calloc (1, sizeof *sink);

  if (sink == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                     "not enough memory for an export; close other programs");
      return NULL;
    }
  sink->job = job;
  /* SQLite would try to read one that it cannot make, and tell of that. */
  int fd = open (job->temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0)
    {
      lns_export_fail (job, errno, error);
      free (sink);
      return NULL;
    }
  close (fd);
  /* The file is nobody's until it is renamed: neither a journal nor locks protect anything.       */
  if (sqlite3_open_v2 (job->temporary, &sink->db,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                       NULL) != SQLITE_OK
          ? !fail (sink, error)
          : !execute (sink,
                      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = "
                      "EXCLUSIVE;PRAGMA cache_size = -65536; BEGIN",
                      error))
    {
      sqlite_close (sink, false, NULL);
      return NULL;
    }
  return sink;
}

/* The rowid comes last: rows that others passed by leave gaps, as in SQL. To be freed by SQLite. */
static char *
insert_sql (const LnsTable *table, bool with_rowid)
{
  sqlite3_str *sql = sqlite3_str_new (NULL);

  sqlite3_str_appendf (sql, "INSERT INTO \"%w\" (", table->name);
  for (unsigned i = 0; i < table->n_columns; i++)
    sqlite3_str_appendf (sql, "%s\"%w\"", i > 0 ? ", " : "", table->columns[i].name);
  sqlite3_str_appendall (sql, with_rowid ? ", rowid) VALUES (?" : ") VALUES (?");
  for (unsigned i = 1; i < table->n_columns + with_rowid; i++)
    sqlite3_str_appendall (sql, ", ?");
  sqlite3_str_appendall (sql, ")");
  return sqlite3_str_finish (sql);
}

static bool
sqlite_begin (void *data, const LnsTable *table, LnsError *error)
{
  Sink *sink = data;
  bool has_key = table->columns[0].rule == LNS_COLUMN_KEY;

  for (unsigned i = 1; i < table->n_columns; i++)
    has_key = has_key || table->columns[i].rule == LNS_COLUMN_KEY;
  sink->n_columns = table->n_columns;
  sink->binds_rowid = !has_key && (table->passes != 0 || sink->job->options->times != NULL);
  sink->nulls = ~UINT64_C (0);
  char *create = lns_table_sql (table, NULL), *insert = insert_sql (table, sink->binds_rowid);
  bool good = create != NULL && insert != NULL && execute (sink, create, error) &&
              (sqlite3_prepare_v2 (sink->db, insert, -1, &sink->insert, NULL) == SQLITE_OK ||
               fail (sink, error));
  free (create);
  sqlite3_free (insert);
  return good;
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

static bool
sqlite_row (void *data, const LnsSinkRow *row, LnsError *error)
{
  Sink *sink = data;

  for (unsigned i = 0; i < sink->n_columns; i++)
    {
      bool is_null = row->values[i].type == LNS_VALUE_NULL;
      /* Most columns of most events stay NULL.                                                   */
      if (is_null && (sink->nulls >> i & 1))
        continue;
      sink->nulls = (sink->nulls & ~(UINT64_C (1) << i)) | (uint64_t)is_null << i;
      if (bind (sink->insert, (int)i + 1, &row->values[i]) != SQLITE_OK)
        return fail (sink, error);
    }
  if (sink->binds_rowid &&
      sqlite3_bind_int64 (sink->insert, (int)sink->n_columns + 1, row->rowid) != SQLITE_OK)
    return fail (sink, error);
  if (sqlite3_step (sink->insert) != SQLITE_DONE)
    return fail (sink, error);
  sqlite3_reset (sink->insert);
  return true;
}

static bool
sqlite_end (void *data, LnsError *error)
{
  Sink *sink = data;

  sqlite3_finalize (sink->insert);
  sink->insert = NULL;
  return true;
}

const LnsExportType lns_sink_sqlite = {
  .name = "sqlite",
  .ending = ".sqlite",
  .open = sqlite_open,
  .begin = sqlite_begin,
  .row = sqlite_row,
  .end = sqlite_end,
  .close = sqlite_close,
};

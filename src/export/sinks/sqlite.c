/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes rows to an SQLite file in the layout of the nsys export: ordinary rowid tables with its names, types and column
 * order, so that programs which read such files read this one too. */

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/export/sink.h"

/* The rows that one step inserts. This costs half as much as a step for each row. */
#define STEP_ROWS 32

typedef LnsValue Row[LNS_SINK_MAX_COLUMNS + 1];

/* An INSERT of some rows, and the values that are bound to it. */
typedef struct
{
  sqlite3_stmt *statement;
  Row bound[STEP_ROWS];
} Insert;

typedef struct
{
  const LnsExportJob *job;
  sqlite3 *db;
  unsigned n_columns,
      n_bound; /* of the table that was begun last; with the rowid, if that is bound */
  Insert one, many;
  unsigned n_rows; /* in `many`, which wait for a step                                           */
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

static void
drop_inserts (Sink *sink)
{
  sqlite3_finalize (sink->one.statement);
  sqlite3_finalize (sink->many.statement);
  sink->one.statement = sink->many.statement = NULL;
}

static bool
sqlite_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;

  drop_inserts (sink);
  good = good && execute (sink, "COMMIT", error);
  if (sqlite3_close (sink->db) != SQLITE_OK && good)
    good = lns_error_set (error, LNS_ERROR_IO, 0, "%s cannot be completed", sink->job->path);
  free (sink);
  return good;
}

static void *
sqlite_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = lns_calloc (1, sizeof *sink);

  sink->job = job;
  /* If SQLite cannot create the file it tries to read it, and reports that error instead. */
  int fd = open (job->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, job->mode);
  if (fd < 0)
    {
      lns_export_fail (job, errno, error);
      free (sink);
      return NULL;
    }
  close (fd);
  /* Nobody uses the file until it is renamed, so it needs neither a journal nor locks. */
  if (sqlite3_open_v2 (job->temporary, &sink->db,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                       NULL) != SQLITE_OK
          ? !fail (sink, error)
          : !execute (sink,
                      "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = "
                      "OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8192; BEGIN",
                      error))
    {
      sqlite_close (sink, false, NULL);
      return NULL;
    }
  return sink;
}

/* Prepares the insertion of N rows. The rowid comes last: rows that a filter leaves out leave gaps, as in SQL. */
static bool
prepare (Sink *sink, const LnsTable *table, unsigned n, Insert *insert, LnsError *error)
{
  sqlite3_str *text = sqlite3_str_new (sink->db);

  sqlite3_str_appendf (text, "INSERT INTO \"%w\" (", table->name);
  for (unsigned i = 0; i < table->n_columns; i++)
    sqlite3_str_appendf (text, "%s\"%w\"", i > 0 ? ", " : "", table->columns[i].name);
  sqlite3_str_appendall (text, sink->n_bound > sink->n_columns ? ", rowid) VALUES" : ") VALUES");
  for (unsigned row = 0; row < n; row++)
    for (unsigned i = 0; i < sink->n_bound; i++)
      sqlite3_str_appendall (text, i > 0 ? ", ?" : row > 0 ? "), (?" : " (?");
  sqlite3_str_appendall (text, ")");
  char *sql = sqlite3_str_finish (text);
  bool good =
      sql != NULL && sqlite3_prepare_v2 (sink->db, sql, -1, &insert->statement, NULL) == SQLITE_OK;
  memset (insert->bound, 0, sizeof insert->bound);
  sqlite3_free (sql);
  return good || fail (sink, error);
}

static bool
sqlite_begin (void *data, const LnsTable *table, LnsError *error)
{
  Sink *sink = data;
  bool has_key = table->columns[0].rule == LNS_COLUMN_KEY;

  for (unsigned i = 1; i < table->n_columns; i++)
    has_key = has_key || table->columns[i].rule == LNS_COLUMN_KEY;
  bool binds_rowid = !has_key && (table->passes != 0 || sink->job->options->times != NULL);
  sink->n_columns = table->n_columns;
  sink->n_bound = table->n_columns + binds_rowid;
  char *create = lns_table_sql (table, NULL);
  bool good = execute (sink, create, error);
  free (create);
  return good && prepare (sink, table, 1, &sink->one, error) &&
         prepare (sink, table, STEP_ROWS, &sink->many, error);
}

/* The value must live until the step. */
static int
bind_value (sqlite3_stmt *statement, int parameter, const LnsValue *value)
{
  switch (value->type)
    {
    case LNS_VALUE_INTEGER:
      return sqlite3_bind_int64 (statement, parameter, value->integer);
    case LNS_VALUE_REAL:
      return sqlite3_bind_double (statement, parameter, value->real);
    case LNS_VALUE_TEXT:
      return sqlite3_bind_text64 (statement, parameter, value->bytes, value->size_bytes,
                                  SQLITE_STATIC, SQLITE_UTF8);
    case LNS_VALUE_BLOB:
      return sqlite3_bind_blob64 (statement, parameter, value->bytes, value->size_bytes,
                                  SQLITE_STATIC);
    default:
      return sqlite3_bind_null (statement, parameter);
    }
}

/* Binds the VALUES of the row at POSITION of INSERT that differ from those bound before. Most columns of an event equal
 * those of the event before. */
static bool
bind_row (const Sink *sink, Insert *insert, unsigned position, const LnsValue *values)
{
  LnsValue *bound = insert->bound[position];
  int first = (int)(position * sink->n_bound) + 1;

  for (unsigned i = 0; i < sink->n_bound; i++)
    {
      if (values[i].type == bound[i].type && values[i].integer == bound[i].integer &&
          values[i].size_bytes == bound[i].size_bytes)
        continue;
      bound[i] = values[i];
      if (bind_value (insert->statement, first + (int)i, &values[i]) != SQLITE_OK)
        return false;
    }
  return true;
}

static bool
step (Insert *insert)
{
  return sqlite3_step (insert->statement) == SQLITE_DONE &&
         sqlite3_reset (insert->statement) == SQLITE_OK;
}

/* Inserts the rows that wait. */
static bool
insert_rows (Sink *sink, LnsError *error)
{
  unsigned n = sink->n_rows;
  bool good = n < STEP_ROWS || step (&sink->many);

  for (unsigned i = 0; good && n < STEP_ROWS && i < n; i++)
    good = bind_row (sink, &sink->one, 0, sink->many.bound[i]) && step (&sink->one);
  sink->n_rows = 0;
  return good || fail (sink, error);
}

static bool
sqlite_row (void *data, const LnsSinkRow *row, LnsError *error)
{
  Sink *sink = data;
  bool is_transient = false;

  for (unsigned i = 0; i < sink->n_columns; i++)
    is_transient = is_transient || row->values[i].transient;
  if (!bind_row (sink, &sink->many, sink->n_rows++, row->values))
    return fail (sink, error);
  return (sink->n_rows < STEP_ROWS && !is_transient) || insert_rows (sink, error);
}

static bool
sqlite_end (void *data, LnsError *error)
{
  Sink *sink = data;
  bool good = insert_rows (sink, error);

  drop_inserts (sink);
  return good;
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

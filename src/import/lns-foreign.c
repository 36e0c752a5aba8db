/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/lns-foreign-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/store/lns-sql.h"

#define CACHE_KIB   8192
#define VALUE_BYTES (64 << 20)
/* More cannot be in a file. */
#define MAX_ROWS       (INT64_C (1) << 40)
#define STEPS_PER_POLL 20000

/* ---- Opening --------------------------------------------------------------------------------- */

static bool
is_cancelled (const LnsForeign *foreign)
{
  return foreign->cancel != NULL && atomic_load_explicit (foreign->cancel, memory_order_relaxed);
}

static int
cancel_cb (void *data)
{
  return is_cancelled (data);
}

bool
_lns_foreign_fail (LnsForeign *foreign, LnsError *error)
{
  int code = sqlite3_errcode (foreign->db);

  if (is_cancelled (foreign))
    return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: cancelled", foreign->path);
  if (code == SQLITE_NOMEM)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "%s: not enough memory to read it; close other programs", foreign->path);
  if (code == SQLITE_BUSY)
    return lns_error_set (error, LNS_ERROR_IO, 0,
                          "%s: another program is writing it; try again when that has ended",
                          foreign->path);
  return lns_error_set (
      error, LNS_ERROR_FORMAT, 0,
      "%s: this SQLite file cannot be read (%s); make it again with \"nsys export "
      "--type sqlite\"",
      foreign->path, sqlite3_errmsg (foreign->db));
}

static bool
distrust (LnsForeign *foreign)
{
  sqlite3 *db = foreign->db;

  sqlite3_db_config (db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_limit (db, SQLITE_LIMIT_LENGTH, VALUE_BYTES);
  sqlite3_progress_handler (db, STEPS_PER_POLL, cancel_cb, foreign);
  char pragmas[128];
  snprintf (pragmas, sizeof pragmas,
            "PRAGMA cache_size = -%d; PRAGMA cell_size_check = ON; PRAGMA temp_store = FILE",
            CACHE_KIB);
  return sqlite3_exec (db, pragmas, NULL, NULL, NULL) == SQLITE_OK &&
         _lns_foreign_add_functions (foreign);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool
add_column (LnsForeignTable *table, const char *name, const char *type, bool is_not_null)
{
  const unsigned n = table->n_columns;
  char **columns = reallocarray (table->columns, n + 1, sizeof *columns);
  if (columns != NULL)
    table->columns = columns;
  char **types = reallocarray (table->types, n + 1, sizeof *types);
  if (types != NULL)
    table->types = types;
  bool *flags = reallocarray (table->is_not_null, n + 1, sizeof *flags);
  if (flags != NULL)
    table->is_not_null = flags;
  bool *is_used = reallocarray (table->is_used, n + 1, sizeof *is_used);
  if (is_used != NULL)
    table->is_used = is_used;
  if (columns == NULL || types == NULL || flags == NULL || is_used == NULL)
    return false;
  columns[n] = strdup (name);
  types[n] = strdup (type);
  flags[n] = is_not_null;
  is_used[n] = false;
  table->n_columns++;
  return columns[n] != NULL && types[n] != NULL;
}

/* The columns of all true tables, in one query. */
static bool
list_tables (LnsForeign *foreign, LnsError *error)
{
  sqlite3_stmt *rows = NULL;
  int code =
      sqlite3_prepare_v2 (foreign->db,
                          "SELECT m.name, c.name, c.type, c.\"notnull\" FROM sqlite_master m, "
                          "pragma_table_info (m.name) c WHERE m.type = 'table' AND "
                          "m.rootpage > 0 AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                          "ORDER BY m.rowid, c.cid",
                          -1, &rows, NULL);
  bool good = code == SQLITE_OK;

  while (good && (code = sqlite3_step (rows)) == SQLITE_ROW)
    {
      const char *name = (const char *)sqlite3_column_text (rows, 0),
                 *column = (const char *)sqlite3_column_text (rows, 1),
                 *type = (const char *)sqlite3_column_text (rows, 2);
      LnsForeignTable *last =
          foreign->n_tables > 0 ? &foreign->tables[foreign->n_tables - 1] : NULL;
      if (name == NULL || column == NULL)
        continue;
      if (last == NULL || strcmp (last->name, name) != 0)
        {
          LnsForeignTable *tables =
              reallocarray (foreign->tables, foreign->n_tables + 1, sizeof *tables);
          if (tables == NULL)
            break;
          foreign->tables = tables;
          last = &tables[foreign->n_tables];
          *last = (LnsForeignTable){ .name = strdup (name) };
          if (last->name == NULL)
            break;
          foreign->n_tables++;
        }
      if (!add_column (last, column, type != NULL ? type : "", sqlite3_column_int (rows, 3) != 0))
        break;
    }
  good = good && code == SQLITE_DONE;
  if (!good && code == SQLITE_ROW)
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to read it",
                   foreign->path);
  else if (!good)
    _lns_foreign_fail (foreign, error);
  sqlite3_finalize (rows);
  return good;
}

/* Whether the file at PATH is one with a write-ahead log, and the log is not there: SQLite would make one
 * beside it. */
static bool
is_without_its_log (const char *path)
{
  unsigned char head[20] = { 0 };
  char *log = sqlite3_mprintf ("%s-wal", path);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  bool result = fd >= 0 && read (fd, head, sizeof head) == sizeof head && head[18] == 2 &&
                log != NULL && access (log, F_OK) != 0;

  if (fd >= 0)
    close (fd);
  sqlite3_free (log);
  return result;
}

LnsForeign *
lns_foreign_open (const char *path, const atomic_bool *cancel, LnsError *error)
{
  LnsForeign *foreign = calloc (1, sizeof *foreign);
  char *folder = strdup (path), *uri = lns_sql_immutable_uri (path);
  bool good = foreign != NULL && folder != NULL && (foreign->path = strdup (path)) != NULL;

  if (good && access (path, R_OK) != 0)
    good = lns_error_set_errno (error, errno, "%s: it cannot be read", path);
  else if (good)
    {
      char *slash = strrchr (folder, '/');
      if (slash != NULL)
        slash[1] = '\0';
      /* Where no journal can be rolled back and no lock be had, none is waited for; and nothing is made
       * beside the file. */
      bool is_fixed = uri != NULL && (access (slash != NULL ? folder : ".", W_OK) != 0 ||
                                      is_without_its_log (path) || !lns_sql_can_lock (path));
      foreign->cancel = cancel;
      int code = sqlite3_open_v2 (
          is_fixed ? uri : path, &foreign->db,
          SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | (is_fixed ? SQLITE_OPEN_URI : 0), NULL);
      good = (code == SQLITE_OK && distrust (foreign)) || _lns_foreign_fail (foreign, error);
      good = good && list_tables (foreign, error);
    }
  else
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to read it", path);
  free (folder);
  free (uri);
  if (good)
    return foreign;
  lns_foreign_close (foreign);
  return NULL;
}

void
lns_foreign_close (LnsForeign *foreign)
{
  if (foreign == NULL)
    return;
  for (unsigned i = 0; i < foreign->n_tables; i++)
    {
      for (unsigned c = 0; c < foreign->tables[i].n_columns; c++)
        {
          free (foreign->tables[i].columns[c]);
          free (foreign->tables[i].types[c]);
        }
      free (foreign->tables[i].columns);
      free (foreign->tables[i].types);
      free (foreign->tables[i].is_not_null);
      free (foreign->tables[i].is_used);
      free (foreign->tables[i].name);
    }
  free (foreign->tables);
  sqlite3_close (foreign->db);
  free (foreign->path);
  free (foreign);
}

LnsForeignTable *
lns_foreign_tables (LnsForeign *foreign, unsigned *ret_n)
{
  *ret_n = foreign->n_tables;
  return foreign->tables;
}

LnsForeignTable *
lns_foreign_find (LnsForeign *foreign, const char *name)
{
  for (unsigned i = 0; i < foreign->n_tables; i++)
    if (strcasecmp (foreign->tables[i].name, name) == 0)
      return &foreign->tables[i];
  return NULL;
}

bool
lns_foreign_has_column (LnsForeignTable *table, const char *column)
{
  for (unsigned i = 0; table != NULL && i < table->n_columns; i++)
    if (strcasecmp (table->columns[i], column) == 0)
      return table->is_used[i] = true;
  return false;
}

uint64_t
lns_foreign_estimate (LnsForeign *foreign, const LnsForeignTable *table)
{
  char *sql = sqlite3_mprintf ("SELECT max (rowid) FROM \"%w\"", table->name);
  sqlite3_stmt *rows = NULL;
  int64_t n = 0;

  if (sql != NULL && sqlite3_prepare_v2 (foreign->db, sql, -1, &rows, NULL) == SQLITE_OK &&
      sqlite3_step (rows) == SQLITE_ROW)
    n = sqlite3_column_int64 (rows, 0);
  sqlite3_finalize (rows);
  sqlite3_free (sql);
  return n > 0 && n < MAX_ROWS ? (uint64_t)n : 0;
}

bool
lns_foreign_count (LnsForeign *foreign,
                   const LnsForeignTable *table,
                   uint64_t *ret_n,
                   LnsError *error)
{
  char *sql = sqlite3_mprintf ("SELECT count (*) FROM \"%w\"", table->name);
  sqlite3_stmt *rows = NULL;
  bool good = sql != NULL && sqlite3_prepare_v2 (foreign->db, sql, -1, &rows, NULL) == SQLITE_OK &&
              sqlite3_step (rows) == SQLITE_ROW;

  if (good)
    *ret_n = (uint64_t)sqlite3_column_int64 (rows, 0);
  else
    _lns_foreign_fail (foreign, error);
  sqlite3_finalize (rows);
  sqlite3_free (sql);
  return good;
}

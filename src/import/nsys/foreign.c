/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/foreign-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/import/nsys/foreign-record.h"
#include "src/store/database/guarded-vfs.h"
#include "src/store/database/sql.h"

#define CACHE_KIB 8192
/* More cannot be in a file. */
#define MAX_ROWS       (INT64_C (1) << 40)
#define STEPS_PER_POLL 20000

/* ---- Opening --------------------------------------------------------------------------------- */

bool
_lns_foreign_is_cancelled (const LnsForeign *foreign)
{
  return foreign->cancel != NULL && atomic_load_explicit (foreign->cancel, memory_order_relaxed);
}

static int
cancel_cb (void *data)
{
  return _lns_foreign_is_cancelled (data);
}

bool
_lns_foreign_fail_code (LnsForeign *foreign, int code, const char *text, LnsError *error)
{
  if (_lns_foreign_is_cancelled (foreign))
    return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: cancelled", foreign->name);
  if (code == SQLITE_NOMEM)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "%s: not enough memory to read it; close other programs", foreign->name);
  if (code == SQLITE_BUSY)
    return lns_error_set (error, LNS_ERROR_IO, 0,
                          "%s: another program is writing it; try again when that has ended",
                          foreign->name);
  /* SQLite would have to roll back what that had begun, in the file.                               */
  if (code == SQLITE_READONLY)
    return lns_error_set (
        error, LNS_ERROR_FORMAT, 0,
        "%s: what wrote it was interrupted, as %s-journal beside it tells; make it "
        "again with \"nsys export --type sqlite\"",
        foreign->name, foreign->name);
  return lns_error_set (
      error, LNS_ERROR_FORMAT, 0,
      "%s: this SQLite file cannot be read (%s); make it again with \"nsys export "
      "--type sqlite\"",
      foreign->name, text);
}

bool
_lns_foreign_fail (LnsForeign *foreign, LnsError *error)
{
  return _lns_foreign_fail_code (foreign, sqlite3_errcode (foreign->db),
                                 sqlite3_errmsg (foreign->db), error);
}

static bool
distrust (LnsForeign *foreign)
{
  sqlite3 *db = foreign->db;

  sqlite3_db_config (db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_limit (db, SQLITE_LIMIT_LENGTH, LNS_FOREIGN_VALUE_BYTES);
  sqlite3_progress_handler (db, STEPS_PER_POLL, cancel_cb, foreign);
  char pragmas[128];
  snprintf (pragmas, sizeof pragmas,
            "PRAGMA cache_size = -%d; PRAGMA cell_size_check = ON; PRAGMA temp_store = FILE; BEGIN",
            CACHE_KIB);
  return sqlite3_exec (db, pragmas, NULL, NULL, NULL) == SQLITE_OK;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Room for one more of N items of *LIST. */
static bool
grow (void *list_at, unsigned n, size_t item_bytes)
{
  void **list = list_at, *grown = reallocarray (*list, n + 1, item_bytes);

  if (grown != NULL)
    *list = grown;
  return grown != NULL;
}

/* Whether a column declared as TYPE makes real numbers of whole ones (https://www.sqlite.org/datatype3.html). */
static bool
is_of_reals (const char *type)
{
  static const char *const others[] = { "INT", "CHAR", "CLOB", "TEXT", "BLOB" };

  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcasestr (type, others[i]) != NULL)
      return false;
  return strcasestr (type, "REAL") != NULL || strcasestr (type, "FLOA") != NULL ||
         strcasestr (type, "DOUB") != NULL;
}

/* What the query of list_tables () tells. */
enum
{
  TABLE_NAME,
  TABLE_ROOT,
  COLUMN_NAME,
  COLUMN_TYPE,
  COLUMN_NOT_NULL,
  COLUMN_KEY,
  COLUMN_HIDDEN,
  COLUMN_HAS_DEFAULT
};

static bool
add_column (LnsForeignTable *table, sqlite3_stmt *row)
{
  const unsigned n = table->n_columns;
  const char *name = (const char *)sqlite3_column_text (row, COLUMN_NAME),
             *type = (const char *)sqlite3_column_text (row, COLUMN_TYPE);

  /* Computed columns are not in the tree, nor are defaults of columns that were added later.      */
  table->is_plain &= sqlite3_column_int (row, COLUMN_HIDDEN) == 0 &&
                     sqlite3_column_int (row, COLUMN_HAS_DEFAULT) == 0 && n < LNS_RECORD_VALUES_MAX;
  if (name == NULL || sqlite3_column_int (row, COLUMN_HIDDEN) != 0)
    return true;
  if (!grow (&table->columns, n, sizeof *table->columns) ||
      !grow (&table->types, n, sizeof *table->types) ||
      !grow (&table->is_not_null, n, sizeof *table->is_not_null) ||
      !grow (&table->is_real, n, sizeof *table->is_real) ||
      !grow (&table->is_rowid, n, sizeof *table->is_rowid) ||
      !grow (&table->is_used, n, sizeof *table->is_used))
    return false;
  type = type != NULL ? type : "";
  table->columns[n] = strdup (name);
  table->types[n] = strdup (type);
  table->is_not_null[n] = sqlite3_column_int (row, COLUMN_NOT_NULL) != 0;
  table->is_real[n] = is_of_reals (type);
  table->is_rowid[n] =
      sqlite3_column_int (row, COLUMN_KEY) == 1 && strcasecmp (type, "INTEGER") == 0;
  table->is_used[n] = false;
  table->n_columns++;
  return table->columns[n] != NULL && table->types[n] != NULL;
}

/* The table of ROW, which has one column of it; NULL without memory. */
static LnsForeignTable *
table_of (LnsForeign *foreign, sqlite3_stmt *row)
{
  const char *name = (const char *)sqlite3_column_text (row, TABLE_NAME);
  const unsigned n = foreign->n_tables;

  if (name != NULL && n > 0 && strcmp (foreign->tables[n - 1].name, name) == 0)
    return &foreign->tables[n - 1];
  if (name == NULL || !grow (&foreign->tables, n, sizeof *foreign->tables))
    return NULL;
  foreign->tables[n] =
      (LnsForeignTable){ .name = strdup (name),
                         .root_page = (uint32_t)sqlite3_column_int64 (row, TABLE_ROOT),
                         .is_plain = true,
                         .n_rows = UINT64_MAX };
  if (foreign->tables[n].name == NULL)
    return NULL;
  foreign->n_tables++;
  return &foreign->tables[n];
}

/* The columns of all true tables, in one query. */
static bool
list_tables (LnsForeign *foreign, LnsError *error)
{
  sqlite3_stmt *rows = NULL;
  int code = sqlite3_prepare_v2 (
      foreign->db,
      "SELECT m.name, m.rootpage, c.name, c.type, c.\"notnull\", c.pk, c.hidden, "
      "c.dflt_value IS NOT NULL FROM sqlite_master m, pragma_table_xinfo (m.name) c "
      "WHERE m.type = 'table' AND m.rootpage > 0 AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
      "ORDER BY m.rowid, c.cid",
      -1, &rows, NULL);
  bool good = code == SQLITE_OK;

  while (good && (code = sqlite3_step (rows)) == SQLITE_ROW)
    {
      LnsForeignTable *table = table_of (foreign, rows);
      if (table == NULL || !add_column (table, rows))
        break;
    }
  good = good && code == SQLITE_DONE;
  if (!good && code == SQLITE_ROW)
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to read it",
                   foreign->name);
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
lns_foreign_open (const char *path, const char *name, const atomic_bool *cancel, LnsError *error)
{
  LnsForeign *foreign = calloc (1, sizeof *foreign);
  char *folder = strdup (path), *uri = lns_sql_immutable_uri (path);
  bool good = foreign != NULL && folder != NULL && (foreign->name = strdup (name)) != NULL;

  if (good && access (path, R_OK) != 0)
    good = lns_error_set_errno (error, errno, "%s: it cannot be read", name);
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
      int code = sqlite3_open_v2 (is_fixed ? uri : path, &foreign->db,
                                  SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX |
                                      (is_fixed ? SQLITE_OPEN_URI : 0),
                                  lns_guarded_vfs (LNS_GUARDED_EXPORT));
      good = (code == SQLITE_OK && distrust (foreign)) || _lns_foreign_fail (foreign, error);
      good = good && list_tables (foreign, error);
    }
  else
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "%s: not enough memory to read it", name);
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
      free (foreign->tables[i].is_real);
      free (foreign->tables[i].is_rowid);
      free (foreign->tables[i].is_used);
      free (foreign->tables[i].name);
    }
  free (foreign->tables);
  sqlite3_close (foreign->db);
  free (foreign->name);
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
lns_foreign_use_column (LnsForeignTable *table, const char *column)
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
lns_foreign_count (LnsForeign *foreign, LnsForeignTable *table, uint64_t *ret_n, LnsError *error)
{
  *ret_n = table->n_rows;
  if (table->n_rows != UINT64_MAX)
    return true;
  char *sql = sqlite3_mprintf ("SELECT count (*) FROM \"%w\"", table->name);
  sqlite3_stmt *rows = NULL;
  bool good = sql != NULL && sqlite3_prepare_v2 (foreign->db, sql, -1, &rows, NULL) == SQLITE_OK &&
              sqlite3_step (rows) == SQLITE_ROW;

  if (good)
    *ret_n = table->n_rows = (uint64_t)sqlite3_column_int64 (rows, 0);
  else
    _lns_foreign_fail (foreign, error);
  sqlite3_finalize (rows);
  sqlite3_free (sql);
  return good;
}

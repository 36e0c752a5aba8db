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

#include "src/base/memory.h"
#include "src/import/nsys/foreign-record.h"
#include "src/store/database/guarded-vfs.h"
#include "src/store/database/sql.h"

#define CACHE_KIB 8192
/* No file has more. */
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
    lns_out_of_memory ();
  if (code == SQLITE_BUSY)
    return lns_error_set (
        error, LNS_ERROR_IO, 0,
        "%s: another program is writing to it; try again when that program has finished",
        foreign->name);
  /* SQLite would have to roll back, in the file, what that program had begun.                      */
  if (code == SQLITE_READONLY)
    return lns_error_set (
        error, LNS_ERROR_FORMAT, 0,
        "%s: the program that wrote it was interrupted and left %s-journal; export it again with "
        "\"nsys export --type sqlite\"",
        foreign->name, foreign->name);
  return lns_error_set (
      error, LNS_ERROR_FORMAT, 0,
      "%s: cannot read this SQLite file: %s; export it again with \"nsys export --type sqlite\"",
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

/* The columns of list_tables ()'s query. */
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

static void
add_column (LnsForeignTable *table, sqlite3_stmt *row)
{
  const char *name = (const char *)sqlite3_column_text (row, COLUMN_NAME),
             *type = (const char *)sqlite3_column_text (row, COLUMN_TYPE);

  /* Computed columns are not in the tree, nor are defaults of columns that were added later.      */
  table->is_plain &= sqlite3_column_int (row, COLUMN_HIDDEN) == 0 &&
                     sqlite3_column_int (row, COLUMN_HAS_DEFAULT) == 0 &&
                     table->columns.n < LNS_RECORD_VALUES_MAX;
  if (name == NULL || sqlite3_column_int (row, COLUMN_HIDDEN) != 0)
    return;
  type = type != NULL ? type : "";
  *lns_array_add (&table->columns) = (LnsForeignColumn){
    .name = lns_strdup (name),
    .type = lns_strdup (type),
    .is_not_null = sqlite3_column_int (row, COLUMN_NOT_NULL) != 0,
    .is_real = is_of_reals (type),
    .is_rowid = sqlite3_column_int (row, COLUMN_KEY) == 1 && strcasecmp (type, "INTEGER") == 0,
  };
}

/* The table of ROW, which has one column of it. */
static LnsForeignTable *
table_of (LnsForeign *foreign, sqlite3_stmt *row)
{
  const char *name = (const char *)sqlite3_column_text (row, TABLE_NAME);
  const size_t n = foreign->tables.n;

  if (name == NULL)
    lns_out_of_memory ();
  if (n > 0 && strcmp (foreign->tables.items[n - 1].name, name) == 0)
    return &foreign->tables.items[n - 1];
  LnsForeignTable *table = lns_array_add (&foreign->tables);
  *table = (LnsForeignTable){ .name = lns_strdup (name),
                              .root_page = (uint32_t)sqlite3_column_int64 (row, TABLE_ROOT),
                              .is_plain = true,
                              .n_rows = UINT64_MAX };
  return table;
}

/* Lists the columns of all tables but virtual ones, in one query. */
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

  while (code == SQLITE_OK || code == SQLITE_ROW)
    if ((code = sqlite3_step (rows)) == SQLITE_ROW)
      add_column (table_of (foreign, rows), rows);
  if (code != SQLITE_DONE)
    _lns_foreign_fail (foreign, error);
  sqlite3_finalize (rows);
  return code == SQLITE_DONE;
}

/* Whether the file at PATH uses a write-ahead log and has none: SQLite would create it beside the file. */
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
  LnsForeign *foreign = lns_calloc (1, sizeof *foreign);
  char *folder = lns_strdup (path), *slash = strrchr (folder, '/'),
       *uri = lns_sql_immutable_uri (path);
  bool good = true;

  foreign->name = lns_strdup (name);
  foreign->cancel = cancel;
  if (access (path, R_OK) != 0)
    good = lns_error_set_errno (error, errno, "%s: cannot open it", name);
  else
    {
      if (slash != NULL)
        slash[1] = '\0';
      /* Where no journal can be rolled back and no lock can be had, none is waited for, and nothing is created
       * beside the file. */
      bool is_fixed = uri != NULL && (access (slash != NULL ? folder : ".", W_OK) != 0 ||
                                      is_without_its_log (path) || !lns_sql_can_lock (path));
      int code = sqlite3_open_v2 (is_fixed ? uri : path, &foreign->db,
                                  SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX |
                                      (is_fixed ? SQLITE_OPEN_URI : 0),
                                  lns_guarded_vfs (LNS_GUARDED_EXPORT));
      good = (code == SQLITE_OK && distrust (foreign)) || _lns_foreign_fail (foreign, error);
      good = good && list_tables (foreign, error);
    }
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
  for (size_t i = 0; i < foreign->tables.n; i++)
    {
      LnsForeignTable *table = &foreign->tables.items[i];
      for (size_t c = 0; c < table->columns.n; c++)
        {
          free (table->columns.items[c].name);
          free (table->columns.items[c].type);
        }
      lns_array_clear (&table->columns);
      free (table->name);
    }
  lns_array_clear (&foreign->tables);
  sqlite3_close (foreign->db);
  free (foreign->name);
  free (foreign);
}

LnsForeignTable *
lns_foreign_tables (LnsForeign *foreign, unsigned *ret_n)
{
  *ret_n = (unsigned)foreign->tables.n;
  return foreign->tables.items;
}

LnsForeignTable *
lns_foreign_find (LnsForeign *foreign, const char *name)
{
  for (size_t i = 0; i < foreign->tables.n; i++)
    if (strcasecmp (foreign->tables.items[i].name, name) == 0)
      return &foreign->tables.items[i];
  return NULL;
}

bool
lns_foreign_use_column (LnsForeignTable *table, const char *column)
{
  for (size_t i = 0; i < table->columns.n; i++)
    if (strcasecmp (table->columns.items[i].name, column) == 0)
      return table->columns.items[i].is_used = true;
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

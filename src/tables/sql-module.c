/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <string.h>

#include "src/tables/sql-module.h"
#include "src/tables/sql-plan.h"

#define MODULE "lanescope"

typedef struct
{
  sqlite3_vtab base;
  LnsTables *tables;
  const LnsTable *table;
} Table;

typedef struct
{
  sqlite3_vtab_cursor base;
  LnsRowCursor *rows;
  bool on_row;
} Cursor;

/* ---- Tables ---------------------------------------------------------------------------------- */

/* argv[2] is the table's name. */
static int
connect_table (sqlite3 *db,
               void *data,
               int argc,
               const char *const *argv,
               sqlite3_vtab **ret_table,
               char **ret_message)
{
  const LnsTable *definition = lns_tables_find (data, argv[2]);
  char *sql = definition != NULL ? lns_table_sql (definition, NULL) : NULL;
  Table *table = sql != NULL ? sqlite3_malloc (sizeof *table) : NULL;
  int result = definition == NULL ? SQLITE_ERROR
               : table == NULL    ? SQLITE_NOMEM
                                  : sqlite3_declare_vtab (db, sql);

  if (definition == NULL)
    *ret_message = sqlite3_mprintf ("A report has no table %s.", argv[2]);
  free (sql);
  if (result != SQLITE_OK)
    {
      sqlite3_free (table);
      return result;
    }
  *table = (Table){ .tables = data, .table = definition };
  *ret_table = &table->base;
  return SQLITE_OK;
}

static int
disconnect_table (sqlite3_vtab *table)
{
  sqlite3_free (table);
  return SQLITE_OK;
}

static int
best_index (sqlite3_vtab *base, sqlite3_index_info *info)
{
  Table *table = (Table *)base;
  return _lns_sql_plan_make (table->tables, table->table, info);
}

/* ---- Cursors --------------------------------------------------------------------------------- */

/* Hands ERROR to SQLite, and through it to whoever asked. */
static int
fail (sqlite3_vtab *table, const LnsError *error)
{
  sqlite3_free (table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf ("%s", error->message);
  return error->domain == LNS_ERROR_NO_MEMORY ? SQLITE_NOMEM
         : error->domain == LNS_ERROR_FORMAT  ? SQLITE_CORRUPT_VTAB
                                              : SQLITE_IOERR;
}

static int
open_cursor (sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
  Table *table = (Table *)base;
  Cursor *cursor = sqlite3_malloc (sizeof *cursor);
  LnsError error = { 0 };

  if (cursor == NULL)
    return SQLITE_NOMEM;
  *cursor = (Cursor){ .rows = lns_row_cursor_new (table->tables, table->table, &error) };
  if (cursor->rows == NULL)
    {
      sqlite3_free (cursor);
      return fail (base, &error);
    }
  *ret_cursor = &cursor->base;
  return SQLITE_OK;
}

static int
close_cursor (sqlite3_vtab_cursor *base)
{
  lns_row_cursor_free (((Cursor *)base)->rows);
  sqlite3_free (base);
  return SQLITE_OK;
}

static int
next_row (sqlite3_vtab_cursor *base)
{
  Cursor *cursor = (Cursor *)base;
  LnsError error = { 0 };

  if (!lns_row_cursor_next (cursor->rows, &cursor->on_row, &error))
    return fail (base->pVtab, &error);
  return SQLITE_OK;
}

static int
filter (sqlite3_vtab_cursor *base, int number, const char *string, int argc, sqlite3_value **argv)
{
  Cursor *cursor = (Cursor *)base;
  const Table *table = (const Table *)base->pVtab;
  LnsRowConstraint constraints[LNS_ROW_MAX_CONSTRAINTS];
  LnsSqlPlan plan;
  LnsError error = { 0 };
  unsigned n =
      _lns_sql_plan_read (table->tables, table->table, string, &plan, argc, argv, constraints);

  lns_row_cursor_set_columns (cursor->rows, plan.columns);
  if (!lns_row_cursor_start (cursor->rows, constraints, n, plan.by_start, &error))
    return fail (base->pVtab, &error);
  return next_row (base);
}

static int
at_end (sqlite3_vtab_cursor *base)
{
  return !((Cursor *)base)->on_row;
}

static int
column (sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
  LnsValue value = lns_row_cursor_value (((Cursor *)base)->rows, (unsigned)number);
  sqlite3_destructor_type lifetime = value.transient ? SQLITE_TRANSIENT : SQLITE_STATIC;

  switch (value.type)
    {
    case LNS_VALUE_NULL:
      sqlite3_result_null (context);
      break;
    case LNS_VALUE_INTEGER:
      sqlite3_result_int64 (context, value.integer);
      break;
    case LNS_VALUE_REAL:
      sqlite3_result_double (context, value.real);
      break;
    case LNS_VALUE_TEXT:
      sqlite3_result_text64 (context, value.bytes, value.size_bytes, lifetime, SQLITE_UTF8);
      break;
    case LNS_VALUE_BLOB:
      sqlite3_result_blob64 (context, value.bytes, value.size_bytes, lifetime);
      break;
    }
  return SQLITE_OK;
}

static int
rowid (sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid)
{
  *ret_rowid = lns_row_cursor_rowid (((Cursor *)base)->rows);
  return SQLITE_OK;
}

static void
free_tables (void *tables)
{
  lns_tables_free (tables);
}

static const sqlite3_module module = {
  .xCreate = connect_table,
  .xConnect = connect_table,
  .xBestIndex = best_index,
  .xDisconnect = disconnect_table,
  .xDestroy = disconnect_table,
  .xOpen = open_cursor,
  .xClose = close_cursor,
  .xFilter = filter,
  .xNext = next_row,
  .xEof = at_end,
  .xColumn = column,
  .xRowid = rowid,
};

bool
lns_sql_attach (sqlite3 *db, LnsReport *report, LnsError *error)
{
  LnsTables *tables = lns_tables_new (report, error);
  unsigned n;
  char sql[512];

  if (tables == NULL)
    return false;
  const LnsTable *all = lns_tables_all (tables, &n);
  /* On failure SQLite frees the tables itself.                                                   */
  if (sqlite3_create_module_v2 (db, MODULE, &module, tables, free_tables) != SQLITE_OK)
    return lns_error_set (
        error, LNS_ERROR_NO_MEMORY, 0,
        "the report's tables cannot be made known to SQLite; this is a defect, please report it");
  for (unsigned i = 0; i < n; i++)
    {
      sqlite3_snprintf (sizeof sql, sql, "CREATE VIRTUAL TABLE temp.\"%w\" USING " MODULE,
                        all[i].name);
      if (sqlite3_exec (db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return lns_error_set (
            error, LNS_ERROR_UNSUPPORTED, 0,
            "the table %s cannot be offered (%s); this is a defect, please report it", all[i].name,
            sqlite3_errmsg (db));
    }
  return true;
}

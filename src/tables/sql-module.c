/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/sql-module.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/tables/row-cursor.h"

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

/* ---- Plans: which constraints, at what price --------------------------------------------------- */

/* Which constraints of a query a cursor takes over. A plan travels as text in idxStr, because xBestIndex and xFilter share
 * nothing else and EXPLAIN QUERY PLAN shows it: "COLUMNS lanes|start COLUMN:OP …". */
typedef struct
{
  uint64_t columns; /* mask of what the statement reads                                         */
  bool by_start;
  unsigned n_constraints;
  struct
  {
    int column; /* -1 = rowid                                                                  */
    unsigned char op; /* SQLITE_INDEX_CONSTRAINT_*                                              */
  } constraints[LNS_ROW_MAX_CONSTRAINTS];
} Plan;

/* Merging keeps a chunk of each lane at hand: beyond so many lanes SQLite's sorter is better. */
#define MAX_MERGED_LANES 256

/* Setting a cursor up, in units of a row passed by. */
#define START_COST 8.0

typedef struct
{
  double rows;   /* that come out                                                               */
  double looked; /* that are looked at for them                                                 */
  bool unique;
} Estimate;

/* The share of events that a comparison of start or end lets through: from the report's span where
 * the value is known while planning, else the planner's own rule of thumb. */
static double
share_of_span (LnsTables *tables, sqlite3_index_info *info, int i)
{
  const LnsReportInfo *report = lns_report_info (lns_tables_report (tables));
  double span = (double)report->end_ns - (double)report->start_ns, share;
  sqlite3_value *value = NULL;

  if (sqlite3_vtab_rhs_value (info, i, &value) != SQLITE_OK || value == NULL || span <= 0)
    return 0.25;
  share = (sqlite3_value_double (value) - (double)report->start_ns) / span;
  if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_GT ||
      info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_GE)
    share = 1 - share;
  return share < 1e-6 ? 1e-6 : share > 1 ? 1 : share;
}

/* The column of ids that stands for the texts of COLUMN, or COLUMN itself. A text is looked up once,
 * and its id compared. */
static int
column_of_ids (const LnsTable *table, int column)
{
  if (table->source == LNS_ROWS_NVTX && column == LNS_NVTX_TEXT)
    return LNS_NVTX_TEXT_ID;
  return table->source == LNS_ROWS_STRINGS && column == 1 ? 0 : column;
}

/* How many different values a column of ROLE has in TABLE, as far as definitions tell. */
static double
distinct_values (LnsTables *tables, const LnsTable *table, LnsColumnRole role)
{
  LnsReport *report = lns_tables_report (tables);
  uint32_t n = 2;

  if (role == LNS_ROLE_CORRELATION)
    return (double)lns_tables_n_rows (tables, table) + 1;
  if (table->kinds == 1u << LNS_LANE_COUNTER)
    lns_report_tracks (report, &n);
  else if (role == LNS_ROLE_THREAD)
    lns_report_threads (report, &n);
  else if (role == LNS_ROLE_DOMAIN)
    lns_report_domains (report, &n);
  else if (role == LNS_ROLE_NAME)
    n = lns_report_n_strings (report);
  return n > 1 ? n : 1;
}

static void
estimate_constraint (
    LnsTables *tables, const LnsTable *table, sqlite3_index_info *info, int i, Estimate *estimate)
{
  int column = column_of_ids (table, info->aConstraint[i].iColumn);
  bool equal = info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ;
  LnsColumnRole role = lns_table_column_role (table, column);
  double share;

  if (role == LNS_ROLE_ROWID && equal)
    {
      estimate->unique = true;
      estimate->rows = estimate->looked = 1;
      return;
    }
  if (!lns_table_has_events (table) || role == LNS_ROLE_ROWID)
    share = equal ? 1 / (estimate->rows + 1) : 0.25;
  else if (role == LNS_ROLE_START || role == LNS_ROLE_END)
    share = equal ? 1e-6 : share_of_span (tables, info, i);
  else
    share = 1 / distinct_values (tables, table, role);
  estimate->rows *= share;
  /* Names are compared one by one, but only the column of names is read. */
  estimate->looked *= role == LNS_ROLE_NAME && lns_table_has_events (table) ? 0.3 : share;
}

static bool
is_comparison (unsigned char op)
{
  return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
         op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
         op == SQLITE_INDEX_CONSTRAINT_LE;
}

/* Whether rows can come in the order that INFO asks for; BY_START gets which one. */
static bool
gives_order (LnsTables *tables,
             const LnsTable *table,
             const sqlite3_index_info *info,
             bool *ret_by_start)
{
  uint32_t n_lanes;
  bool of_events = lns_table_has_events (table);

  *ret_by_start = false;
  if (info->nOrderBy != 1 || info->aOrderBy[0].desc ||
      (!of_events && table->source != LNS_ROWS_STRINGS))
    return false;
  int column = info->aOrderBy[0].iColumn;
  if (column < 0 || table->columns[column].rule == LNS_COLUMN_KEY)
    return true;
  lns_report_lanes (lns_tables_report (tables), &n_lanes);
  *ret_by_start = of_events && lns_table_column_role (table, column) == LNS_ROLE_START &&
                  n_lanes <= MAX_MERGED_LANES;
  return *ret_by_start;
}

/* To be freed by SQLite; NULL without memory. */
static char *
write_plan (const Plan *plan)
{
  sqlite3_str *text = sqlite3_str_new (NULL);

  sqlite3_str_appendf (text, "%llx %s", (unsigned long long)plan->columns,
                       plan->by_start ? "start" : "lanes");
  for (unsigned i = 0; i < plan->n_constraints; i++)
    sqlite3_str_appendf (text, " %d:%d", plan->constraints[i].column, plan->constraints[i].op);
  return sqlite3_str_finish (text);
}

static void
read_plan (const char *text, Plan *ret_plan)
{
  char *at;

  *ret_plan = (Plan){ .columns = strtoull (text, &at, 16) };
  ret_plan->by_start = at[1] == 's';
  for (at += strlen (" lanes"); *at == ' ' && ret_plan->n_constraints < LNS_ROW_MAX_CONSTRAINTS;)
    {
      ret_plan->constraints[ret_plan->n_constraints].column = (int)strtol (at, &at, 10);
      ret_plan->constraints[ret_plan->n_constraints++].op = (unsigned char)strtol (at + 1, &at, 10);
    }
}

static int
best_index (sqlite3_vtab *base, sqlite3_index_info *info)
{
  LnsTables *tables = ((Table *)base)->tables;
  const LnsTable *table = ((Table *)base)->table;
  double n_rows = (double)lns_tables_n_rows (tables, table);
  Estimate estimate = { n_rows, n_rows, false };
  Plan plan = { .columns = info->colUsed };
  bool only_equal;

  for (int i = 0; i < info->nConstraint && plan.n_constraints < LNS_ROW_MAX_CONSTRAINTS; i++)
    {
      int column = info->aConstraint[i].iColumn, ids = column_of_ids (table, column);
      unsigned char op = info->aConstraint[i].op;
      if (!info->aConstraint[i].usable || !is_comparison (op) ||
          !lns_row_cursor_can_use (tables, table, ids, &only_equal) ||
          ((only_equal || ids != column) && op != SQLITE_INDEX_CONSTRAINT_EQ) ||
          (ids != column && strcmp (sqlite3_vtab_collation (info, i), "BINARY") != 0))
        continue;
      plan.constraints[plan.n_constraints].column = column;
      plan.constraints[plan.n_constraints].op = op;
      info->aConstraintUsage[i].argvIndex = (int)++plan.n_constraints;
      info->aConstraintUsage[i].omit = ids == column && op == SQLITE_INDEX_CONSTRAINT_EQ &&
                                       table->source != LNS_ROWS_KEPT &&
                                       !lns_table_has_events (table);
      estimate_constraint (tables, table, info, i, &estimate);
    }
  info->orderByConsumed = gives_order (tables, table, info, &plan.by_start);
  info->estimatedRows = (sqlite3_int64)estimate.rows + 1;
  info->estimatedCost = START_COST + estimate.looked * (plan.by_start ? 1.2 : 1);
  if (estimate.unique)
    info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
  info->idxStr = write_plan (&plan);
  info->needToFreeIdxStr = 1;
  return info->idxStr != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- Values of constraints ---------------------------------------------------------------------------------- */

static void
nothing (LnsRowConstraint *constraint)
{
  constraint->min = 1;
  constraint->max = 0;
}

static void
compare_with_integer (LnsRowConstraint *constraint, unsigned char op, int64_t value)
{
  if (op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE)
    constraint->min = value;
  if (op != SQLITE_INDEX_CONSTRAINT_GT && op != SQLITE_INDEX_CONSTRAINT_GE)
    constraint->max = value;
}

static void
compare_with_real (LnsRowConstraint *constraint, unsigned char op, double value)
{
  const bool is_equal = op == SQLITE_INDEX_CONSTRAINT_EQ, fits = value >= -0x1p63 && value < 0x1p63;

  if (is_equal && (!fits || value != floor (value)))
    nothing (constraint);
  else if (fits)
    compare_with_integer (constraint, op, (int64_t)floor (value));
}

/* SQLite compares values that are not texts, because it knows what '5' = 5 means here. */
static void
compare_with_text (LnsTables *tables, LnsRowConstraint *constraint, sqlite3_value *value)
{
  uint32_t id;

  if (sqlite3_value_type (value) == SQLITE_NULL)
    nothing (constraint);
  else if (sqlite3_value_type (value) == SQLITE_TEXT &&
           lns_tables_find_string (tables, sqlite3_value_text (value),
                                   (size_t)sqlite3_value_bytes (value), &id, NULL))
    {
      if (id == LNS_ID_NONE)
        nothing (constraint);
      else
        constraint->min = constraint->max = id;
    }
}

/* What the comparison OP of COLUMN of TABLE with VALUE says. Equality is exact. Other comparisons may let a few more rows
 * through, which SQLite compares itself. */
static LnsRowConstraint
read_constraint (
    LnsTables *tables, const LnsTable *table, int column, unsigned char op, sqlite3_value *value)
{
  LnsRowConstraint constraint = { column_of_ids (table, column), INT64_MIN, INT64_MAX };

  if (constraint.column != column)
    {
      compare_with_text (tables, &constraint, value);
      return constraint;
    }
  switch (sqlite3_value_numeric_type (value))
    {
    case SQLITE_INTEGER:
      compare_with_integer (&constraint, op, sqlite3_value_int64 (value));
      break;
    case SQLITE_FLOAT:
      compare_with_real (&constraint, op, sqlite3_value_double (value));
      break;
    case SQLITE_NULL:
      nothing (&constraint);
      break;
    default: /* Numbers come before texts and blobs.                                             */
      if (op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE)
        nothing (&constraint);
      break;
    }
  /* Columns of integers in kept tables may hold other values, too, which the cursor lets through. */
  if (table->source == LNS_ROWS_KEPT && constraint.min > constraint.max &&
      sqlite3_value_type (value) != SQLITE_NULL)
    constraint = (LnsRowConstraint){ column, INT64_MIN, INT64_MAX };
  return constraint;
}

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
    *ret_message = sqlite3_mprintf ("a report has no table “%s”", argv[2]);
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

/* ---- Cursors --------------------------------------------------------------------------------- */

/* Makes ERROR's message that of TABLE, so that SQLite returns it to the caller. */
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

  if (cursor == NULL)
    return SQLITE_NOMEM;
  *cursor = (Cursor){ .rows = lns_row_cursor_new (table->tables, table->table) };
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
  Plan plan;
  LnsError error = { 0 };

  read_plan (string, &plan);
  for (int i = 0; i < argc; i++)
    constraints[i] = read_constraint (table->tables, table->table, plan.constraints[i].column,
                                      plan.constraints[i].op, argv[i]);
  lns_row_cursor_set_columns (cursor->rows, plan.columns);
  if (!lns_row_cursor_start (cursor->rows, constraints, (unsigned)argc, plan.by_start, &error))
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
        "cannot register the report's tables with SQLite; this is a defect, please report it");
  for (unsigned i = 0; i < n; i++)
    {
      sqlite3_snprintf (sizeof sql, sql, "CREATE VIRTUAL TABLE temp.\"%w\" USING " MODULE,
                        all[i].name);
      if (sqlite3_exec (db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                              "cannot create the table %s (%s); this is a defect, please report it",
                              all[i].name, sqlite3_errmsg (db));
    }
  return true;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/why/sql.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/why/why.h"
#include "src/base/memory.h"

#define MODULE "lanescope_why"

/* Shared by the tables of one database. */
struct LnsWhySql
{
  LnsReport *report;
  const atomic_bool *cancel;
  LnsTables *tables;
  LnsWhy *why; /* or NULL: nobody asked yet                                                 */
  bool
      is_foretold; /* it says how long the run would take without its findings, as far as that is told */
};

typedef LnsWhySql Answer;

typedef struct
{
  const char *name, *columns;
  size_t (*n_rows) (const LnsWhy *why);
  void (*column) (const Answer *answer, size_t row, int column, sqlite3_context *context);
} Shape;

typedef struct
{
  sqlite3_vtab base;
  const Shape *shape;
  Answer *answer;
} Table;

typedef struct
{
  sqlite3_vtab_cursor base;
  size_t row, n;
} Cursor;

/* --- Values ----------------------------------------------------------------------------------- */

static void
give_text (sqlite3_context *context, const char *text)
{
  sqlite3_result_text (context, text, -1, SQLITE_TRANSIENT);
}

static void
give_name (const Answer *answer, uint32_t id, sqlite3_context *context)
{
  size_t size;
  const char *text = lns_report_string (answer->report, id, &size);

  if (id != 0)
    sqlite3_result_text64 (context, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void
give_tid (const Answer *answer, uint32_t thread, sqlite3_context *context)
{
  if (thread != LNS_ID_NONE)
    sqlite3_result_int64 (context, lns_tables_global_tid (answer->tables, thread));
}

static void
give_pid (const Answer *answer, size_t ledger, sqlite3_context *context)
{
  sqlite3_result_int64 (
      context, lns_tables_global_pid (answer->tables, answer->why->ledgers.items[ledger].process));
}

static void
give_device (const Answer *answer, size_t number, sqlite3_context *context)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (answer->report, &n);
  const LnsLedger *ledger = &answer->why->ledgers.items[number];

  if (ledger->is_device && ledger->device < n)
    sqlite3_result_int64 (context, devices[ledger->device].number);
}

/* --- Tables ----------------------------------------------------------------------------------- */

static size_t
n_ledgers (const LnsWhy *why)
{
  return why->ledgers.n;
}

static void
ledger_column (const Answer *answer, size_t row, int column, sqlite3_context *context)
{
  const LnsLedger *ledger = &answer->why->ledgers.items[row];
  const int64_t span_ns = ledger->span.end_ns - ledger->span.start_ns;

  switch (column)
    {
    case 0:
      sqlite3_result_int64 (context, (sqlite3_int64)row + 1);
      break;
    case 1:
      give_pid (answer, row, context);
      break;
    case 2:
      if (!ledger->is_device)
        give_tid (answer, ledger->thread, context);
      break;
    case 3:
      give_device (answer, row, context);
      break;
    case 4:
      sqlite3_result_int64 (context, ledger->span.start_ns);
      break;
    case 5:
      sqlite3_result_int64 (context, ledger->span.end_ns);
      break;
    case 6:
      sqlite3_result_int64 (context, ledger->busy_ns);
      break;
    default:
      sqlite3_result_int64 (context, span_ns - ledger->busy_ns);
    }
}

static size_t
n_findings (const LnsWhy *why)
{
  return why->findings.n;
}

static void
finding_column (const Answer *answer, size_t row, int column, sqlite3_context *context)
{
  const LnsWhyFinding *finding = &answer->why->findings.items[row];

  switch (column)
    {
    case 0:
      sqlite3_result_int64 (context, (sqlite3_int64)row + 1);
      break;
    case 1:
      give_text (context, lns_cause_name (finding->cause));
      break;
    case 2:
      give_text (context, lns_why_severity_name (finding->severity));
      break;
    case 3:
      give_pid (answer, finding->ledger, context);
      break;
    case 4:
      give_tid (answer, finding->own.thread, context);
      break;
    case 5:
      give_device (answer, finding->ledger, context);
      break;
    case 6:
      sqlite3_result_int64 (context, finding->ns);
      break;
    case 7:
      sqlite3_result_double (context, finding->share);
      break;
    case 8:
      sqlite3_result_int64 (context, (sqlite3_int64)finding->count);
      break;
    case 9:
      give_text (context, finding->sentence);
      break;
    case 10:
      give_text (context, finding->advice);
      break;
    case 11:
      give_text (context, lns_confidence_name (finding->confidence));
      break;
    case 12:
      sqlite3_result_int64 (context, finding->longest.start_ns);
      break;
    default:
      sqlite3_result_int64 (context, finding->longest.end_ns);
    }
}

static size_t
n_gaps (const LnsWhy *why)
{
  return why->gaps.n;
}

static void
gap_column (const Answer *answer, size_t row, int column, sqlite3_context *context)
{
  const LnsWhyGap *gap = &answer->why->gaps.items[row];

  switch (column)
    {
    case 0:
      sqlite3_result_int64 (context, gap->start_ns);
      break;
    case 1:
      sqlite3_result_int64 (context, gap->end_ns);
      break;
    case 2:
      give_text (context, lns_cause_name (gap->cause));
      break;
    case 3:
      give_pid (answer, gap->ledger, context);
      break;
    case 4:
      give_tid (answer, gap->thread, context);
      break;
    case 5:
      give_device (answer, gap->ledger, context);
      break;
    case 6:
      give_name (answer, gap->call, context);
      break;
    case 7:
      give_name (answer, gap->range, context);
      break;
    default:
      if (gap->finding != 0)
        sqlite3_result_int64 (context, gap->finding);
    }
}

static size_t
n_costs (const LnsWhy *why)
{
  return why->costs.n;
}

static void
cost_column (const Answer *answer, size_t row, int column, sqlite3_context *context)
{
  const LnsWhyCost *cost = &answer->why->costs.items[row];
  const int64_t values[] = { cost->start_ns, cost->end_ns, cost->ns, cost->finding };

  sqlite3_result_int64 (context, values[column]);
}

static size_t
n_steps (const LnsWhy *why)
{
  return why->steps.all.n;
}

static void
step_column (const Answer *answer, size_t row, int column, sqlite3_context *context)
{
  const LnsStep *step = &answer->why->steps.all.items[row];

  switch (column)
    {
    case 0:
      sqlite3_result_int64 (context, (sqlite3_int64)step->index);
      break;
    case 1:
      sqlite3_result_int64 (context, step->start_ns);
      break;
    case 2:
      sqlite3_result_int64 (context, step->end_ns);
      break;
    case 3:
      give_tid (answer, answer->why->steps.thread, context);
      break;
    case 4:
      give_name (answer, answer->why->steps.name, context);
      break;
    case 5:
      if (answer->why->ledgers.items[0].is_device) /* NULL: there is no GPU */
        sqlite3_result_int64 (context, step->busy_ns);
      break;
    default:
      give_text (context, step->is_busy ? "gpu-work" : lns_cause_name (step->cause));
    }
}

static const Shape shapes[] = {
  { "LNS_LEDGERS",
    "ledger INTEGER, globalPid INTEGER, globalTid INTEGER, deviceId INTEGER, start INTEGER, "
    "\"end\" "
    "INTEGER, busy INTEGER, idle INTEGER",
    n_ledgers, ledger_column },
  { "LNS_FINDINGS",
    "finding INTEGER, cause TEXT, severity TEXT, globalPid INTEGER, globalTid INTEGER, deviceId "
    "INTEGER, ns INTEGER, share REAL, count INTEGER, sentence TEXT, advice TEXT, confidence TEXT, "
    "start INTEGER, \"end\" INTEGER",
    n_findings, finding_column },
  { "LNS_GAPS",
    "start INTEGER, \"end\" INTEGER, cause TEXT, globalPid INTEGER, globalTid INTEGER, deviceId "
    "INTEGER, call TEXT, range TEXT, finding INTEGER",
    n_gaps, gap_column },
  { "LNS_COSTS", "start INTEGER, \"end\" INTEGER, ns INTEGER, finding INTEGER", n_costs,
    cost_column },
  { "LNS_STEPS",
    "step INTEGER, start INTEGER, \"end\" INTEGER, globalTid INTEGER, name TEXT, busy INTEGER, "
    "cause TEXT",
    n_steps, step_column },
};

#define N_SHAPES (sizeof shapes / sizeof *shapes)

const LnsWhy *
lns_why_sql_answer (LnsWhySql *sql, LnsTables **ret_tables, LnsError *error)
{
  if (sql->tables == NULL)
    sql->tables = lns_tables_new (sql->report, error);
  if (sql->tables != NULL && sql->why == NULL)
    sql->why = lns_why_run (
        sql->tables, &(LnsWhyOptions){ .span = lns_filter_span (sql->report), .keeps_gaps = true },
        sql->cancel, error);
  if (ret_tables != NULL)
    *ret_tables = sql->tables;
  return sql->why;
}

const LnsWhy *
lns_why_sql_foretell (LnsWhySql *sql, LnsTables **ret_tables, LnsError *error)
{
  if (lns_why_sql_answer (sql, ret_tables, error) == NULL)
    return NULL;
  /* As the command does, so that it prints the same. */
  const bool is_large = lns_report_info (sql->report)->n_events > LNS_WHY_MOST_FORETOLD;
  sql->is_foretold =
      sql->is_foretold || is_large || lns_why_foretell (sql->tables, sql->why, sql->cancel, error);
  return sql->is_foretold ? sql->why : NULL;
}

/* --- SQLite ----------------------------------------------------------------------------------- */

static int
fail (sqlite3_vtab *base, const LnsError *error)
{
  sqlite3_free (base->zErrMsg);
  base->zErrMsg = sqlite3_mprintf ("%s", error->message);
  return error->domain == LNS_ERROR_CANCELLED ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

static int
connect_table (sqlite3 *db,
               void *data,
               int argc,
               const char *const *argv,
               sqlite3_vtab **ret_table,
               char **ret_error)
{
  char sql[512];

  for (size_t i = 0; i < N_SHAPES; i++)
    if (argc > 2 && strcmp (argv[2], shapes[i].name) == 0)
      {
        sqlite3_snprintf (sizeof sql, sql, "CREATE TABLE x (%s)", shapes[i].columns);
        const int code = sqlite3_declare_vtab (db, sql);
        if (code != SQLITE_OK)
          return code;
        Table *table = lns_calloc (1, sizeof *table);
        table->shape = &shapes[i];
        table->answer = data;
        *ret_table = &table->base;
        return SQLITE_OK;
      }
  return SQLITE_ERROR;
}

static int
best_index (sqlite3_vtab *base, sqlite3_index_info *info)
{
  info->estimatedCost = 1e5;
  return SQLITE_OK;
}

static int
disconnect_table (sqlite3_vtab *base)
{
  free (base);
  return SQLITE_OK;
}

static int
open_cursor (sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
  Cursor *cursor = lns_calloc (1, sizeof *cursor);

  *ret_cursor = &cursor->base;
  return SQLITE_OK;
}

static int
close_cursor (sqlite3_vtab_cursor *base)
{
  free (base);
  return SQLITE_OK;
}

static int
filter (sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
  Cursor *cursor = (Cursor *)base;
  const Table *table = (Table *)base->pVtab;
  LnsError error = { 0 };
  const LnsWhy *why = lns_why_sql_answer (table->answer, NULL, &error);

  if (why == NULL)
    return fail (base->pVtab, &error);
  cursor->row = 0;
  cursor->n = table->shape->n_rows (why);
  return SQLITE_OK;
}

static int
next_row (sqlite3_vtab_cursor *base)
{
  ((Cursor *)base)->row++;
  return SQLITE_OK;
}

static int
at_end (sqlite3_vtab_cursor *base)
{
  const Cursor *cursor = (Cursor *)base;
  return cursor->row >= cursor->n;
}

static int
column (sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
  const Table *table = (Table *)base->pVtab;

  table->shape->column (table->answer, ((Cursor *)base)->row, number, context);
  return SQLITE_OK;
}

static int
rowid (sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid)
{
  *ret_rowid = (sqlite3_int64)((Cursor *)base)->row + 1;
  return SQLITE_OK;
}

static void
free_answer (void *data)
{
  Answer *answer = data;

  lns_why_free (answer->why);
  lns_tables_free (answer->tables);
  free (answer);
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

LnsWhySql *
lns_why_sql_attach (sqlite3 *db, LnsReport *report, const atomic_bool *cancel, LnsError *error)
{
  Answer *answer = lns_calloc (1, sizeof *answer);
  char sql[128];

  answer->report = report;
  answer->cancel = cancel;
  /* On failure SQLite frees the answer itself. */
  bool good = sqlite3_create_module_v2 (db, MODULE, &module, answer, free_answer) == SQLITE_OK;
  for (size_t i = 0; good && i < N_SHAPES; i++)
    {
      sqlite3_snprintf (sizeof sql, sql, "CREATE VIRTUAL TABLE temp.%s USING " MODULE,
                        shapes[i].name);
      good = sqlite3_exec (db, sql, NULL, NULL, NULL) == SQLITE_OK;
    }
  if (!good)
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                   "cannot register the tables of findings with SQLite; this is a "
                   "defect, please report it");
  return good ? answer : NULL;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/why/query.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/analysis/why/pattern.h"
#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/base/monotonic.h"
#include "src/tables/sql-module.h"

/* Numbers with a fraction have so many digits of it. */
#define DECIMALS 6
#define SCALE    1e6

/* Of a value in a query whose statements come from strangers. */
#define MAX_VALUE_BYTES (16 << 20)

/* Allows only actions that read. */
static int
authorize (void *data,
           int action,
           const char *first,
           const char *second,
           const char *third,
           const char *fourth)
{
  switch (action)
    {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_PRAGMA:
      return strcasecmp (first, "table_info") == 0 || strcasecmp (first, "table_xinfo") == 0 ||
                     strcasecmp (first, "table_list") == 0
                 ? SQLITE_OK
                 : SQLITE_DENY;
    default:
      return SQLITE_DENY;
    }
}

static int
stop_if_cancelled (void *data)
{
  LnsQuery *query = data;

  query->is_late =
      query->is_late || (query->timeout_ns > 0 && lns_monotonic_ns () > query->deadline_ns);
  return query->is_late ||
         (query->cancel != NULL && atomic_load_explicit (query->cancel, memory_order_relaxed));
}

LnsQuery *
lns_query_new (LnsReport *report, const LnsQueryOptions *options, LnsError *error)
{
  LnsQuery *query = lns_calloc (1, sizeof *query);

  if (sqlite3_open_v2 (":memory:", &query->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
      SQLITE_OK)
    lns_out_of_memory ();
  if (options->in_memory)
    {
      /* Before there are tables in TEMP, which this would drop. */
      sqlite3_exec (query->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
      sqlite3_limit (query->db, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
    }
  if (lns_sql_attach (query->db, report, error) && lns_pattern_attach (query->db, error) &&
      (query->why = lns_why_sql_attach (query->db, report, options->cancel, error)) != NULL)
    {
      /* SQLite makes this table when it is first read, which the authorizer would refuse. */
      sqlite3_exec (query->db, "SELECT * FROM pragma_table_info('')", NULL, NULL, NULL);
      query->cancel = options->cancel;
      lns_query_restart (query, options->timeout_ns);
      sqlite3_progress_handler (query->db, 1000, stop_if_cancelled, query);
      sqlite3_set_authorizer (query->db, authorize, NULL);
      return query;
    }
  lns_query_free (query);
  return NULL;
}

void
lns_query_restart (LnsQuery *query, int64_t timeout_ns)
{
  query->timeout_ns = timeout_ns;
  query->deadline_ns = lns_monotonic_ns () + timeout_ns;
  query->is_late = false;
}

void
lns_query_free (LnsQuery *query)
{
  if (query == NULL)
    return;
  sqlite3_close (query->db);
  free (query);
}

bool
lns_query_prepare (LnsQuery *query,
                   const char *sql,
                   sqlite3_stmt **ret_statement,
                   const char **ret_rest)
{
  query->is_refused = false;
  if (sqlite3_prepare_v2 (query->db, sql, -1, ret_statement, ret_rest) != SQLITE_OK)
    return false;
  if (*ret_statement == NULL || sqlite3_stmt_readonly (*ret_statement))
    return true;
  /* authorize () is not asked about VACUUM, which forgets the tables when what it does is denied. */
  sqlite3_finalize (*ret_statement);
  *ret_statement = NULL;
  query->is_refused = true;
  return false;
}

LnsQueryFailure
lns_query_failure (const LnsQuery *query)
{
  const char *message = sqlite3_errmsg (query->db);
  const int code = sqlite3_errcode (query->db);

  if (code == SQLITE_INTERRUPT)
    return query->is_late ? LNS_QUERY_LATE : LNS_QUERY_CANCELLED;
  /* Writing to a virtual table fails before SQLite calls authorize (). */
  if (query->is_refused || code == SQLITE_AUTH || strstr (message, "may not be modified") != NULL ||
      strstr (message, "not authorized") != NULL)
    return LNS_QUERY_WRITES;
  return code == SQLITE_CORRUPT || code == SQLITE_IOERR ? LNS_QUERY_DAMAGED
         : code == SQLITE_NOMEM                         ? LNS_QUERY_NO_MEMORY
                                                        : LNS_QUERY_WRONG;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* The rows of a statement, as SQLite has them. */
typedef struct
{
  sqlite3_stmt *statement;
  unsigned n_columns;
  LNS_ARRAY (sqlite3_value *) values; /* owned, row by row                                       */
  uint64_t n_more;
} Rows;

static void
clear (Rows *rows)
{
  for (size_t i = 0; i < rows->values.n; i++)
    sqlite3_value_free (rows->values.items[i]);
  lns_array_clear (&rows->values);
  sqlite3_finalize (rows->statement);
}

static bool
read (Rows *rows, size_t max_rows)
{
  int code;

  while ((code = sqlite3_step (rows->statement)) == SQLITE_ROW)
    if (rows->values.n >= max_rows * rows->n_columns)
      rows->n_more++;
    else
      for (unsigned i = 0; i < rows->n_columns; i++)
        *lns_array_add (&rows->values) =
            sqlite3_value_dup (sqlite3_column_value (rows->statement, (int)i));
  return code == SQLITE_DONE;
}

/* Whether a column called TITLE names things, and is not calculated with: as all that end so are called here, and with a prefix. */
static bool
is_of_ids (const char *title)
{
  static const char *const ends[] = { "Id",  "ID",    "Tid", "TID", "Pid",
                                      "PID", "rowid", "pid", "tid", "_id" };
  const size_t n = strlen (title);

  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (n >= strlen (ends[i]) && strcmp (title + n - strlen (ends[i]), ends[i]) == 0)
      return true;
  return strcmp (title, "id") == 0;
}

/* What column I is: numbers if all its values are. */
static LnsResultColumn
column_of (const Rows *rows, unsigned i)
{
  LnsResultColumn column = { .title = sqlite3_column_name (rows->statement, (int)i),
                             .type = LNS_RESULT_NUMBER };

  for (size_t k = i; k < rows->values.n; k += rows->n_columns)
    {
      const int type = sqlite3_value_type (rows->values.items[k]);
      if (type == SQLITE_FLOAT)
        column.decimals = DECIMALS;
      else if (type != SQLITE_INTEGER && type != SQLITE_NULL)
        return (LnsResultColumn){ .title = column.title, .type = LNS_RESULT_TEXT };
    }
  if (column.decimals == 0 && is_of_ids (column.title))
    column.type = LNS_RESULT_ID;
  return column;
}

static LnsResultCell
cell_of (sqlite3_value *value, const LnsResultColumn *column)
{
  const int type = sqlite3_value_type (value);
  LnsResultCell cell = { .is_empty = type == SQLITE_NULL };

  if (cell.is_empty)
    return cell;
  if (column->type == LNS_RESULT_TEXT)
    {
      cell.is_written = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
      cell.bytes = (const char *)sqlite3_value_text (value);
      cell.size_bytes = (size_t)sqlite3_value_bytes (value);
      cell.is_empty = cell.bytes == NULL;
    }
  else if (column->decimals == 0)
    cell.number = sqlite3_value_int64 (value);
  else
    {
      const double scaled = sqlite3_value_double (value) * SCALE;
      cell.is_empty = !(scaled > -9.2e18 && scaled < 9.2e18);
      cell.number = cell.is_empty ? 0 : (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    }
  return cell;
}

/* The number of the column called NAME, or n_columns. */
static unsigned
find_column (const Rows *rows, const char *name)
{
  unsigned i = 0;

  while (i < rows->n_columns &&
         strcasecmp (sqlite3_column_name (rows->statement, (int)i), name) != 0)
    i++;
  return i;
}

/* Whether the row at VALUES has a whole number in COLUMN, which RET_NUMBER gets. */
static bool
number_at (const Rows *rows, sqlite3_value **values, unsigned column, int64_t *ret_number)
{
  if (column == rows->n_columns || sqlite3_value_type (values[column]) != SQLITE_INTEGER)
    return false;
  *ret_number = sqlite3_value_int64 (values[column]);
  return true;
}

static LnsResult *
make_result (const Rows *rows, size_t max_rows)
{
  const unsigned n = rows->n_columns, start = find_column (rows, "start"),
                 end = find_column (rows, "end"), duration = find_column (rows, "duration");
  LnsResultColumn *columns = lns_calloc (n + 1, sizeof *columns);
  LnsResultCell *cells = lns_calloc (n + 1, sizeof *cells);

  for (unsigned i = 0; i < n; i++)
    columns[i] = column_of (rows, i);
  LnsResult *result = lns_result_new (columns, n, max_rows);
  for (size_t k = 0; k < rows->values.n; k += n)
    {
      sqlite3_value **values = &rows->values.items[k];
      int64_t start_ns, end_ns, ns = 0;
      LnsPlace place;
      for (unsigned i = 0; i < n; i++)
        cells[i] = cell_of (values[i], &columns[i]);
      const bool has_start = number_at (rows, values, start, &start_ns);
      if (has_start && !number_at (rows, values, duration, &ns) &&
          number_at (rows, values, end, &end_ns) && end_ns >= start_ns &&
          __builtin_sub_overflow (end_ns, start_ns, &ns))
        ns = INT64_MAX;
      if (has_start)
        place = lns_place (LNS_ID_NONE, 0, start_ns, ns);
      lns_rows_add (lns_result_rows (result), cells, has_start ? &place : NULL);
    }
  free (columns);
  free (cells);
  return result;
}

LnsResult *
lns_query_collect (LnsQuery *query, const char *statement, size_t max_rows, LnsError *error)
{
  Rows rows = { 0 };
  const char *rest;
  LnsResult *result = NULL;

  if (!lns_query_prepare (query, statement, &rows.statement, &rest))
    return NULL;
  if (rows.statement == NULL)
    lns_error_set (error, LNS_ERROR_USAGE, 0,
                   "there is no statement; write one that reads a table");
  else if (rest[strspn (rest, " \t\r\n;")] != '\0')
    lns_error_set (error, LNS_ERROR_USAGE, 0,
                   "there is more than one statement; run one at a time");
  else
    {
      rows.n_columns = (unsigned)sqlite3_column_count (rows.statement);
      if (read (&rows, max_rows))
        result = make_result (&rows, max_rows);
    }
  /* Before the statement goes, which has SQLite's message. */
  clear (&rows);
  return result;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports that are queries: their rows as they come, or sums by name. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/sql-module.h"

/* SQLite asks after so many steps of its machine whether to go on. */
#define STEPS_A_LOOK 1000

/* ---- Functions ------------------------------------------------------------------------------- */

static void
return_text (sqlite3_context *context, LnsResultCell text, sqlite3_destructor_type lifetime)
{
  sqlite3_result_text64 (context, text.bytes, text.size_bytes, lifetime, SQLITE_UTF8);
}

static void
find_text (sqlite3_context *context, int n, sqlite3_value **values)
{
  const uint32_t id = (uint32_t)sqlite3_value_int64 (values[0]);

  return_text (context, _lns_stats_string (sqlite3_user_data (context), id), SQLITE_STATIC);
}

static void
find_call_name (sqlite3_context *context, int n, sqlite3_value **values)
{
  const uint32_t id = (uint32_t)sqlite3_value_int64 (values[0]);

  return_text (context, _lns_stats_call_name (sqlite3_user_data (context), id), SQLITE_STATIC);
}

/* The track of the event whose table and rowid are the first two VALUES, or NULL. */
static const LnsTrack *
find_track (sqlite3_context *context, sqlite3_value **values)
{
  const LnsTables *tables = ((const LnsStatsResult *)sqlite3_user_data (context))->tables;
  /* SQLite keeps what belongs to a constant argument from row to row. */
  const LnsTable *table = sqlite3_get_auxdata (context, 0);

  if (table == NULL)
    {
      table = lns_table_find ((const char *)sqlite3_value_text (values[0]));
      sqlite3_set_auxdata (context, 0, (void *)table, NULL);
    }
  const uint32_t lane = lns_tables_lane (tables, table, sqlite3_value_int64 (values[1]));
  return lane != LNS_ID_NONE ? lns_track_of (lns_tables_report (tables), lane) : NULL;
}

static void
find_kernel_name (sqlite3_context *context, int n, sqlite3_value **values)
{
  const LnsStatsResult *result = sqlite3_user_data (context);
  const LnsTrack *track = find_track (context, values);
  const LnsCallRange *range = NULL;
  LnsBuffer text = { 0 };

  if (result->call_ranges != NULL && track != NULL)
    range = lns_call_ranges_find (result->call_ranges, track->process,
                                  (uint64_t)sqlite3_value_int64 (values[2]));
  return_text (
      context,
      _lns_stats_name_in_range (result, range, (uint32_t)sqlite3_value_int64 (values[3]), &text),
      SQLITE_TRANSIENT);
  lns_buffer_clear (&text);
}

static void
find_device_name (sqlite3_context *context, int n, sqlite3_value **values)
{
  const LnsStatsResult *result = sqlite3_user_data (context);
  LnsReport *report = lns_tables_report (result->tables);
  const LnsTrack *track = find_track (context, values);
  uint32_t n_devices;
  const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);

  if (track != NULL && track->device < n_devices)
    sqlite3_result_text (
        context,
        sqlite3_mprintf ("%s (%u)", lns_report_string (report, devices[track->device].name, NULL),
                         devices[track->device].number),
        -1, sqlite3_free);
}

static void
find_thread_name (sqlite3_context *context, int n, sqlite3_value **values)
{
  const LnsStatsResult *result = sqlite3_user_data (context);
  const LnsTrack *track = find_track (context, values);
  const uint32_t name =
      track != NULL ? lns_tables_thread_name (result->tables, track->thread) : LNS_ID_NONE;

  if (name != LNS_ID_NONE)
    return_text (context, _lns_stats_string (result, name), SQLITE_STATIC);
}

static void
find_mpi_rank (sqlite3_context *context, int n, sqlite3_value **values)
{
  const LnsStatsResult *result = sqlite3_user_data (context);
  const LnsTrack *track = find_track (context, values);
  uint32_t n_processes;
  const LnsProcess *processes =
      lns_report_processes (lns_tables_report (result->tables), &n_processes);

  if (track != NULL && track->process < n_processes && processes[track->process].mpi_rank != 0)
    sqlite3_result_int64 (context, (int64_t)processes[track->process].mpi_rank - 1);
}

/* Whether any of the N VALUES is NULL, as the result of a function then is, too. */
static bool
any_is_null (int n, sqlite3_value **values)
{
  while (n > 0 && sqlite3_value_type (values[n - 1]) != SQLITE_NULL)
    n--;
  return n > 0;
}

static void
find_covered (sqlite3_context *context, int n, sqlite3_value **values)
{
  const LnsFilterSpan *span = &((const LnsStatsResult *)sqlite3_user_data (context))->span;

  if (any_is_null (n, values))
    return;
  int64_t start_ns = sqlite3_value_int64 (values[0]), end_ns = sqlite3_value_int64 (values[1]);
  start_ns = start_ns > span->start_ns ? start_ns : span->start_ns;
  end_ns = end_ns < span->end_ns ? end_ns : span->end_ns;
  sqlite3_result_int64 (context, start_ns < end_ns ? lns_difference (end_ns, start_ns) : 0);
}

static void
find_last_end (sqlite3_context *context, int n, sqlite3_value **values)
{
  const LnsStatsResult *result = sqlite3_user_data (context);
  LnsReport *report = lns_tables_report (result->tables);
  const LnsTable *table = lns_table_find ("SCHED_EVENTS");
  const int64_t rowid = sqlite3_value_int64 (values[0]);
  const uint32_t lane = lns_tables_lane (result->tables, table, rowid);
  LnsEvent event;
  LnsError error = { 0 };
  int64_t end_ns;

  if (lane == LNS_ID_NONE)
    return;
  const int64_t first = lns_tables_rowid (result->tables, table, lane, 0);
  if (!lns_report_event (report, lane, (uint64_t)(rowid - first), &event, &error))
    {
      sqlite3_result_error (context, error.message, -1);
      sqlite3_result_error_code (context, SQLITE_CORRUPT);
    }
  else if (lns_switch_end (report, lane, &event, &end_ns))
    sqlite3_result_int64 (context, end_ns);
}

static void
subtract (sqlite3_context *context, int n, sqlite3_value **values)
{
  if (any_is_null (n, values))
    return;
  sqlite3_result_int64 (
      context, lns_difference (sqlite3_value_int64 (values[0]), sqlite3_value_int64 (values[1])));
}

static void
add_to_sum (sqlite3_context *context, int n, sqlite3_value **values)
{
  int64_t *sum = sqlite3_aggregate_context (context, sizeof *sum);

  if (sum == NULL)
    lns_out_of_memory ();
  *sum = lns_sum (*sum, sqlite3_value_int64 (values[0]));
}

static void
finish_sum (sqlite3_context *context)
{
  const int64_t *sum = sqlite3_aggregate_context (context, 0);

  sqlite3_result_int64 (context, sum != NULL ? *sum : 0);
}

static void
add_functions (LnsStatsResult *result)
{
  static const struct
  {
    const char *name;
    int n_arguments;
    void (*function) (sqlite3_context *, int, sqlite3_value **);
  } functions[] = { { "text", 1, find_text },
                    { "call_name", 1, find_call_name },
                    { "kernel_name", 4, find_kernel_name },
                    { "device_name", 2, find_device_name },
                    { "thread_name", 2, find_thread_name },
                    { "mpi_rank", 2, find_mpi_rank },
                    { "covered", 2, find_covered },
                    { "last_end", 1, find_last_end },
                    { "difference", 2, subtract } };
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  int code = sqlite3_create_function (result->db, "saturated_sum", 1, flags, NULL, NULL, add_to_sum,
                                      finish_sum);

  for (size_t i = 0; i < sizeof functions / sizeof *functions && code == SQLITE_OK; i++)
    code = sqlite3_create_function (result->db, functions[i].name, functions[i].n_arguments, flags,
                                    result, functions[i].function, NULL, NULL);
  if (code != SQLITE_OK)
    lns_out_of_memory ();
}

/* ---- Queries --------------------------------------------------------------------------------- */

static int
is_cancelled (void *cancel)
{
  return atomic_load_explicit ((const atomic_bool *)cancel, memory_order_relaxed);
}

/* Fills ERROR with why the last call to SQLite failed. Returns false. */
static bool
fail (const LnsStatsResult *result, LnsError *error)
{
  const int code = sqlite3_errcode (result->db);
  const char *message = sqlite3_errmsg (result->db);

  if (code == SQLITE_NOMEM)
    lns_out_of_memory ();
  if (code == SQLITE_INTERRUPT)
    return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
  /* Tables have said what is wrong with the report. */
  if (code == SQLITE_CORRUPT || code == SQLITE_IOERR)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0, "%s", message);
  return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                        "cannot sum up the report's tables (%s); export the report again", message);
}

/* Goes to the next row of the statement: RET_ROW gets whether there is one. */
static bool
next (const LnsStatsResult *result, bool *ret_row, LnsError *error)
{
  const int code = sqlite3_step (result->statement);

  *ret_row = code == SQLITE_ROW;
  return code == SQLITE_ROW || code == SQLITE_DONE || fail (result, error);
}

/* Opens a database with the report's tables. */
static bool
open_tables (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  if (sqlite3_open_v2 (":memory:", &result->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                       NULL) != SQLITE_OK)
    lns_out_of_memory ();
  add_functions (result);
  if (!lns_sql_attach (result->db, lns_tables_report (result->tables), error))
    return false;
  if (cancel != NULL)
    sqlite3_progress_handler (result->db, STEPS_A_LOOK, is_cancelled, (void *)cancel);
  return true;
}

/* Makes SQL the result's statement. */
static bool
prepare (LnsStatsResult *result, const char *sql, LnsError *error)
{
  sqlite3_finalize (result->statement);
  result->statement = NULL;
  return sqlite3_prepare_v2 (result->db, sql, -1, &result->statement, NULL) == SQLITE_OK ||
         fail (result, error);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Binds VALUE to the parameter called NAME, if the statement has it. */
static void
bind (const LnsStatsResult *result, const char *name, int64_t value)
{
  sqlite3_bind_int64 (result->statement, sqlite3_bind_parameter_index (result->statement, name),
                      value);
}

bool
_lns_stats_run_query (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  return _lns_stats_run_text (result, result->maker->way->sql, cancel, error);
}

bool
_lns_stats_run_text (LnsStatsResult *result,
                     const char *sql,
                     const atomic_bool *cancel,
                     LnsError *error)
{
  bool row;

  if (!open_tables (result, cancel, error) || !prepare (result, sql, error))
    return false;
  if (result->arguments.n_rows != LNS_STATS_DEFAULT_ROWS)
    bind (result, ":rows", result->arguments.n_rows);
  bind (result, ":naming", (int64_t)_lns_stats_naming (result));
  if (!next (result, &row, error))
    return false;
  result->n = row ? SIZE_MAX : 0;
  return true;
}

/* The value of column I of the row. */
static LnsResultCell
cell_of (sqlite3_stmt *statement, int i, const LnsResultColumn *column)
{
  if (sqlite3_column_type (statement, i) == SQLITE_NULL)
    return (LnsResultCell){ .is_empty = true };
  if (column->decimals > 0)
    return _lns_stats_number (
        _lns_stats_rounded (sqlite3_column_double (statement, i), column->decimals));
  if (column->type != LNS_RESULT_TEXT)
    return _lns_stats_number (sqlite3_column_int64 (statement, i));
  const char *bytes = (const char *)sqlite3_column_text (statement, i);
  if (bytes == NULL)
    lns_out_of_memory ();
  return _lns_stats_text (bytes, (size_t)sqlite3_column_bytes (statement, i));
}

/* The lane of the event that columns I and I + 1 tell by table and rowid, or LNS_ID_NONE if it is in none; its number there is in
 * RET_ORDINAL. TABLE is that of the row before, or NULL, and becomes the row's. */
static uint32_t
event_of (const LnsStatsResult *result, int i, const LnsTable **table, uint64_t *ret_ordinal)
{
  const char *name = (const char *)sqlite3_column_text (result->statement, i);
  const int64_t rowid = sqlite3_column_int64 (result->statement, i + 1);

  if (name == NULL)
    lns_out_of_memory ();
  if (*table == NULL || strcmp ((*table)->name, name) != 0)
    *table = lns_table_find (name);
  const uint32_t lane =
      *table != NULL ? lns_tables_lane (result->tables, *table, rowid) : LNS_ID_NONE;
  *ret_ordinal = lane != LNS_ID_NONE
                     ? (uint64_t)(rowid - lns_tables_rowid (result->tables, *table, lane, 0))
                     : 0;
  return lane;
}

/* The place that the values from column I on tell. TABLE is as before. */
static LnsPlace
place_of (const LnsStatsResult *result, int i, const LnsTable **table)
{
  const int64_t start_ns = sqlite3_column_int64 (result->statement, i + 2),
                end_ns = sqlite3_column_type (result->statement, i + 3) != SQLITE_NULL
                             ? sqlite3_column_int64 (result->statement, i + 3)
                             : start_ns;
  uint64_t ordinal;
  const uint32_t lane = event_of (result, i, table, &ordinal);

  return lns_place (lane, ordinal, start_ns, lns_difference (end_ns, start_ns));
}

bool
_lns_stats_write_query (const LnsStatsResult *result, LnsRows *rows, LnsError *error)
{
  const LnsStatsWay *way = result->maker->way;
  const int n_columns = (int)way->n_columns;
  const bool has_places =
      rows->wants_places && sqlite3_column_count (result->statement) > n_columns;
  const LnsTable *table = NULL;
  LnsResultCell *cells = lns_calloc (way->n_columns, sizeof *cells);
  LnsPlace place = { 0 };
  bool good = true, row = result->n > 0; /* which run () is at */

  while (good && row)
    {
      for (unsigned i = 0; i < way->n_columns; i++)
        cells[i] = cell_of (result->statement, (int)i, &way->columns[i]);
      if (has_places)
        place = place_of (result, n_columns, &table);
      lns_rows_add (rows, cells, has_places ? &place : NULL);
      good = next (result, &row, error);
    }
  free (cells);
  return good;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static int
compare_sums (const void *a, const void *b)
{
  const LnsRangeStat *sa = a, *sb = b;

  return LNS_COMPARE (sb->total_ns, sa->total_ns)
             ?: LNS_COMPARE (sa->source, sb->source)
             ?: LNS_COMPARE (sa->name, sb->name);
}

/* Adds the rows of SQL to VALUES: the number of a source, a string id, a value, and the event that it is of by table and rowid. */
static bool
collect (LnsStatsResult *result, const char *sql, LnsStatsValues *values, LnsError *error)
{
  const LnsTable *table = NULL;
  bool row = false, good = prepare (result, sql, error) && next (result, &row, error);

  for (; good && row; good = next (result, &row, error))
    {
      LnsStatsValue *value = lns_array_add (values);
      *value = (LnsStatsValue){ .source = (uint32_t)sqlite3_column_int64 (result->statement, 0),
                                .name = (uint32_t)sqlite3_column_int64 (result->statement, 1),
                                .value = sqlite3_column_int64 (result->statement, 2) };
      value->lane = event_of (result, 3, &table, &value->ordinal);
    }
  return good;
}

/* Makes the result the sums of VALUES, the largest first. */
static void
sum_up (LnsStatsResult *result, LnsStatsValues *values)
{
  _lns_stats_add_sums (result, values, LNS_STYLE_ROW);
  if (result->n > 0)
    qsort (result->sums, result->n, sizeof *result->sums, compare_sums);
}

bool
_lns_stats_run_query_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsStatsValues values = { 0 };
  const bool good = open_tables (result, cancel, error) &&
                    collect (result, result->maker->way->sql, &values, error);

  if (good)
    sum_up (result, &values);
  lns_array_clear (&values);
  return good;
}

/* ---- Sums of tables that only some files have ------------------------------------------------ */

/* Which rows of which tables a report sums up. */
static const struct
{
  const char *report;
  const char *prefix;    /* what the names of its tables begin with                             */
  const char *condition; /* of SQL */
} sources[] = {
  /* Rows of other classes say when the tracing began and ended: nobody called anything. */
  { "osrt_sum", "OSRT_API", " AND eventClass = 27" },
  { "openacc_sum", "CUPTI_ACTIVITY_KIND_OPENACC_", "" },
  { "openmp_sum", "OPENMP_EVENT_KIND_", "" },
  { "syscall_sum", "SYSCALL", "" },
};

/* Whether TABLE has the columns that a sum needs. */
static bool
is_table_of (const LnsTable *table, const char *prefix)
{
  return strncmp (table->name, prefix, strlen (prefix)) == 0 &&
         lns_table_column (table, "start") >= 0 && lns_table_column (table, "end") >= 0 &&
         lns_table_column (table, "nameId") >= 0;
}

/* Asks each table by itself: one statement takes at most 500 (SQLITE_MAX_COMPOUND_SELECT), and a file may have more. */
bool
_lns_stats_run_row_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  unsigned n_tables, source = 0;
  const LnsTable *tables = lns_tables_all (result->tables, &n_tables);
  LnsStatsValues values = { 0 };
  bool good = open_tables (result, cancel, error);

  while (!_lns_stats_is_called (result, sources[source].report))
    source++;
  for (unsigned i = 0; good && i < n_tables; i++)
    if (is_table_of (&tables[i], sources[source].prefix))
      {
        char *sql = sqlite3_mprintf ("SELECT 0, nameId, difference(end, start), '%q', rowid"
                                     " FROM \"%w\" WHERE typeof(end) = 'integer'%s",
                                     tables[i].name, tables[i].name, sources[source].condition);
        if (sql == NULL)
          lns_out_of_memory ();
        good = collect (result, sql, &values, error);
        sqlite3_free (sql);
      }
  if (good)
    sum_up (result, &values);
  lns_array_clear (&values);
  return good;
}

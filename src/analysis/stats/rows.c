/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports that are queries: their rows as they come, or sums by name. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/memory.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

bool
_lns_stats_run_query (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  const int64_t n_rows = result->arguments.n_rows;
  bool row;

  result->query = _lns_stats_query_new (lns_tables_report (result->tables), cancel, error);
  if (result->query == NULL)
    return false;
  result->statement = _lns_stats_query_start (result->query, result->maker->way->sql, error);
  if (result->statement == NULL)
    return false;
  if (n_rows != LNS_STATS_DEFAULT_ROWS)
    sqlite3_bind_int64 (result->statement,
                        sqlite3_bind_parameter_index (result->statement, ":rows"), n_rows);
  if (!_lns_stats_query_next (result->query, &row, error))
    return false;
  result->n = row ? SIZE_MAX : 0;
  return true;
}

/* The value of column I of the row. */
static LnsStatsCell
cell_of (sqlite3_stmt *statement, int i, const LnsStatsColumn *column)
{
  if (sqlite3_column_type (statement, i) == SQLITE_NULL)
    return (LnsStatsCell){ .is_empty = true };
  if (column->decimals > 0)
    return _lns_stats_number (
        _lns_stats_rounded (sqlite3_column_double (statement, i), column->decimals));
  if (!column->is_text)
    return _lns_stats_number (sqlite3_column_int64 (statement, i));
  const char *bytes = (const char *)sqlite3_column_text (statement, i);
  if (bytes == NULL)
    lns_out_of_memory ();
  return _lns_stats_text (bytes, (size_t)sqlite3_column_bytes (statement, i));
}

bool
_lns_stats_write_query (const LnsStatsResult *result, LnsStatsTable *table, LnsError *error)
{
  const LnsStatsWay *way = result->maker->way;
  LnsStatsCell *cells = lns_calloc (way->n_columns, sizeof *cells);
  bool good = true, row = result->n > 0; /* which run () is at */

  while (good && row)
    {
      for (unsigned i = 0; i < way->n_columns; i++)
        cells[i] = cell_of (result->statement, (int)i, &way->columns[i]);
      lns_stats_table_add (table, cells);
      good = _lns_stats_query_next (result->query, &row, error);
    }
  free (cells);
  return good;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Adds the rows of SQL: the number of a source, a string id, and a value. */
static bool
add_values (LnsStatsQuery *query, const char *sql, LnsStatsValues *values, LnsError *error)
{
  sqlite3_stmt *statement = _lns_stats_query_start (query, sql, error);
  bool row = statement != NULL, good = row;

  while (good && row && (good = _lns_stats_query_next (query, &row, error)) && row)
    *lns_array_add (values) =
        (LnsStatsValue){ .source = (uint32_t)sqlite3_column_int64 (statement, 0),
                         .name = (uint32_t)sqlite3_column_int64 (statement, 1),
                         .value = sqlite3_column_int64 (statement, 2) };
  return good;
}

static int
compare_sums (const void *a, const void *b)
{
  const LnsRangeStat *sa = a, *sb = b;

  if (sa->total_ns != sb->total_ns)
    return sa->total_ns > sb->total_ns ? -1 : 1;
  if (sa->source != sb->source)
    return sa->source < sb->source ? -1 : 1;
  return sa->name < sb->name ? -1 : sa->name > sb->name;
}

/* Makes the sums of VALUES those of the result, the largest first. */
static void
sum_up (LnsStatsResult *result, LnsStatsValues *values)
{
  _lns_stats_add_sums (result, values, LNS_STYLE_ROW);
  qsort (result->sums, result->n, sizeof *result->sums, compare_sums);
}

bool
_lns_stats_run_query_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsStatsQuery *query = _lns_stats_query_new (lns_tables_report (result->tables), cancel, error);
  LnsStatsValues values = { 0 };
  const bool good = query != NULL && add_values (query, result->maker->way->sql, &values, error);

  if (good)
    sum_up (result, &values);
  lns_array_clear (&values);
  _lns_stats_query_free (query);
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

bool
_lns_stats_run_row_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  unsigned n_tables, source = 0;
  const LnsTable *tables = lns_tables_all (result->tables, &n_tables);
  LnsStatsQuery *query = NULL;
  LnsStatsValues values = { 0 };
  bool good = true;

  while (!_lns_stats_is_called (result, sources[source].report))
    source++;
  for (unsigned i = 0; good && i < n_tables; i++)
    {
      if (strncmp (tables[i].name, sources[source].prefix, strlen (sources[source].prefix)) != 0 ||
          lns_table_column (&tables[i], "start") < 0 || lns_table_column (&tables[i], "end") < 0 ||
          lns_table_column (&tables[i], "nameId") < 0)
        continue;
      char *sql = sqlite3_mprintf ("SELECT 0, nameId, difference(end, start) FROM \"%w\""
                                   " WHERE typeof(end) = 'integer'%s",
                                   tables[i].name, sources[source].condition);
      if (query == NULL)
        query = _lns_stats_query_new (lns_tables_report (result->tables), cancel, error);
      if (sql == NULL)
        lns_out_of_memory ();
      good = query != NULL && add_values (query, sql, &values, error);
      sqlite3_free (sql);
    }
  if (good)
    sum_up (result, &values);
  lns_array_clear (&values);
  _lns_stats_query_free (query);
  return good;
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/query.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/sql-module.h"

/* SQLite asks after so many steps of its machine whether to go on. */
#define STEPS_A_LOOK 1000

struct LnsStatsQuery
{
  sqlite3 *db;
  sqlite3_stmt *statement;
  const atomic_bool *cancel;
};

/* ---- Functions ------------------------------------------------------------------------------- */

static void
find_text (sqlite3_context *context, int n, sqlite3_value **values)
{
  size_t size;
  const char *bytes = lns_report_string (sqlite3_user_data (context),
                                         (uint32_t)sqlite3_value_int64 (values[0]), &size);

  (void)n;
  sqlite3_result_text64 (context, bytes, size, SQLITE_STATIC, SQLITE_UTF8);
}

static void
subtract (sqlite3_context *context, int n, sqlite3_value **values)
{
  (void)n;
  sqlite3_result_int64 (
      context, lns_difference (sqlite3_value_int64 (values[0]), sqlite3_value_int64 (values[1])));
}

static void
add_to_sum (sqlite3_context *context, int n, sqlite3_value **values)
{
  int64_t *sum = sqlite3_aggregate_context (context, sizeof *sum);

  (void)n;
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

/* ---- Queries --------------------------------------------------------------------------------- */

static int
is_cancelled (void *cancel)
{
  return atomic_load_explicit ((const atomic_bool *)cancel, memory_order_relaxed);
}

/* Fills ERROR with why the last call to SQLite failed. Returns false. */
static bool
fail (LnsStatsQuery *query, LnsError *error)
{
  const int code = sqlite3_errcode (query->db);
  const char *message = sqlite3_errmsg (query->db);

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

LnsStatsQuery *
_lns_stats_query_new (LnsReport *report, const atomic_bool *cancel, LnsError *error)
{
  LnsStatsQuery *query = lns_calloc (1, sizeof *query);
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;

  if (sqlite3_open_v2 (":memory:", &query->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
      SQLITE_OK)
    lns_out_of_memory ();
  query->cancel = cancel;
  if (lns_sql_attach (query->db, report, error) &&
      ((sqlite3_create_function (query->db, "text", 1, flags, report, find_text, NULL, NULL) ==
            SQLITE_OK &&
        sqlite3_create_function (query->db, "difference", 2, flags, NULL, subtract, NULL, NULL) ==
            SQLITE_OK &&
        sqlite3_create_function (query->db, "saturated_sum", 1, flags, NULL, NULL, add_to_sum,
                                 finish_sum) == SQLITE_OK) ||
       fail (query, error)))
    {
      if (cancel != NULL)
        sqlite3_progress_handler (query->db, STEPS_A_LOOK, is_cancelled, (void *)cancel);
      return query;
    }
  _lns_stats_query_free (query);
  return NULL;
}

void
_lns_stats_query_free (LnsStatsQuery *query)
{
  if (query == NULL)
    return;
  sqlite3_finalize (query->statement);
  sqlite3_close (query->db);
  free (query);
}

sqlite3_stmt *
_lns_stats_query_start (LnsStatsQuery *query, const char *sql, LnsError *error)
{
  bool row;

  for (const char *rest = sql; *rest != '\0';)
    {
      if (rest != sql && !_lns_stats_query_next (query, &row, error))
        return NULL;
      sqlite3_finalize (query->statement);
      query->statement = NULL;
      if (sqlite3_prepare_v2 (query->db, rest, -1, &query->statement, &rest) != SQLITE_OK)
        {
          fail (query, error);
          return NULL;
        }
    }
  return query->statement;
}

bool
_lns_stats_query_next (LnsStatsQuery *query, bool *ret_row, LnsError *error)
{
  const int code = sqlite3_step (query->statement);

  *ret_row = code == SQLITE_ROW;
  return code == SQLITE_ROW || code == SQLITE_DONE || fail (query, error);
}

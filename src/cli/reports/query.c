/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/query.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/why/sql.h"
#include "src/base/memory.h"
#include "src/base/monotonic.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"
#include "src/tables/sql-module.h"

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
stop_if_interrupted (void *data)
{
  LnsCliQuery *query = data;

  query->is_late =
      query->is_late || (query->timeout_ns > 0 && lns_monotonic_ns () > query->deadline_ns);
  return query->is_late || atomic_load_explicit (query->cancel, memory_order_relaxed);
}

LnsCliQuery *
lns_cli_query_new (LnsReport *report, int64_t timeout_ns, LnsError *error)
{
  LnsCliQuery *query = lns_calloc (1, sizeof *query);

  if (sqlite3_open_v2 (":memory:", &query->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
      SQLITE_OK)
    lns_out_of_memory ();
  if (lns_sql_attach (query->db, report, error) &&
      lns_why_sql_attach (query->db, report, lns_cli_interrupted (), error))
    {
      /* SQLite makes this table when it is first read, which the authorizer would refuse. */
      sqlite3_exec (query->db, "SELECT * FROM pragma_table_info('')", NULL, NULL, NULL);
      query->cancel = lns_cli_catch_interrupt ();
      query->timeout_ns = timeout_ns;
      query->deadline_ns = lns_monotonic_ns () + timeout_ns;
      sqlite3_progress_handler (query->db, 1000, stop_if_interrupted, query);
      sqlite3_set_authorizer (query->db, authorize, NULL);
      return query;
    }
  lns_cli_query_free (query);
  return NULL;
}

void
lns_cli_query_free (LnsCliQuery *query)
{
  if (query == NULL)
    return;
  sqlite3_close (query->db);
  free (query);
}

/* What to do about MESSAGE, SQLite's reason for not understanding a statement. */
static const char *
advice_for (const char *message)
{
  if (strncmp (message, "no such table", strlen ("no such table")) == 0)
    return N_ ("`lanescope sql REPORT .tables` lists the tables");
  if (strncmp (message, "no such column", strlen ("no such column")) == 0)
    return N_ (
        "`lanescope sql REPORT '.schema TABLE'` lists the columns of a table, and texts need "
        "'single quotes'");
  if (strncmp (message, "no such function", strlen ("no such function")) == 0)
    return N_ ("use the functions of SQLite");
  return N_ ("correct the statement and try again");
}

bool
lns_cli_query_fail (LnsCliQuery *query, LnsError *error)
{
  const char *message = sqlite3_errmsg (query->db);
  int code = sqlite3_errcode (query->db);

  if (code == SQLITE_INTERRUPT && query->is_late)
    return lns_error_set (
        error, LNS_ERROR_CANCELLED, 0,
        "the query took longer than %.3f s; give it more time with --timeout, or ask for less",
        (double)query->timeout_ns / 1e9);
  if (code == SQLITE_INTERRUPT)
    return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "the query was interrupted");
  /* Writing to a virtual table fails before SQLite calls authorize (). */
  if (code == SQLITE_AUTH || strstr (message, "may not be modified") != NULL ||
      strstr (message, "not authorized") != NULL)
    return lns_cli_usage (error, "sql only reads, and this statement would change something; "
                                 "export the report to change a copy");
  /* The report is damaged. The message already names the file, the reason and what to do. */
  if (code == SQLITE_CORRUPT || code == SQLITE_IOERR)
    return lns_error_set (error, LNS_ERROR_FORMAT, 0, "%s", message);
  if (code == SQLITE_NOMEM)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory for the query; ask for fewer rows or columns at once");
  return lns_cli_usage (error, "the query failed: %s; %s", message, _ (advice_for (message)));
}

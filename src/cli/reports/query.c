/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/query.h"

#include <string.h>

#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"

LnsQuery *
lns_cli_query_new (LnsReport *report, int64_t timeout_ns, LnsError *error)
{
  const LnsQueryOptions options = { .cancel = lns_cli_interrupted (), .timeout_ns = timeout_ns };
  LnsQuery *query = lns_query_new (report, &options, error);

  if (query != NULL)
    lns_cli_catch_interrupt ();
  return query;
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
lns_cli_query_fail (LnsQuery *query, LnsError *error)
{
  const char *message = sqlite3_errmsg (query->db);

  switch (lns_query_failure (query))
    {
    case LNS_QUERY_LATE:
      return lns_error_set (
          error, LNS_ERROR_CANCELLED, 0,
          "the query took longer than %.3f s; give it more time with --timeout, or ask for less",
          (double)query->timeout_ns / 1e9);
    case LNS_QUERY_CANCELLED:
      return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "the query was interrupted");
    case LNS_QUERY_WRITES:
      return lns_cli_usage (error, "sql only reads, and this statement would change something; "
                                   "export the report to change a copy");
    case LNS_QUERY_DAMAGED:
      return lns_error_set (error, LNS_ERROR_FORMAT, 0, "%s", message);
    case LNS_QUERY_NO_MEMORY:
      return lns_error_set (
          error, LNS_ERROR_NO_MEMORY, 0,
          "not enough memory for the query; ask for fewer rows or columns at once");
    case LNS_QUERY_WRONG:
      break;
    }
  return lns_cli_usage (error, "the query failed: %s; %s", message, _ (advice_for (message)));
}

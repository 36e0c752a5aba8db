/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tool sql: the rows of a statement, which can only read. */

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/cli/mcp/message.h"
#include "src/cli/mcp/statement.h"
#include "src/cli/mcp/subjects.h"

/* The values of the row, by column. Columns of one name are told apart by numbers. */
static json_t *
values_of (sqlite3_stmt *statement)
{
  json_t *values = lns_mcp_made (json_object ());

  for (int i = 0; i < sqlite3_column_count (statement); i++)
    {
      json_t *name = lns_mcp_text (sqlite3_column_name (statement, i));
      if (json_object_get (values, json_string_value (name)) != NULL)
        {
          char *other = lns_asprintf ("%s #%d", json_string_value (name), i + 1);
          json_decref (name);
          name = lns_mcp_text (other);
          free (other);
        }
      json_object_set_new (values, json_string_value (name),
                           lns_mcp_statement_value (statement, i));
      json_decref (name);
    }
  return values;
}

/* Adds the first MOST rows of STATEMENT. */
static bool
add_rows (LnsMcpCall *call, LnsMcpReport *of, sqlite3_stmt *statement, size_t most, LnsError *error)
{
  size_t n = 0;
  bool has_room = true;
  char at[24];
  int code;

  while ((code = sqlite3_step (statement)) == SQLITE_ROW && has_room && n < most)
    {
      snprintf (at, sizeof at, "/%zu", n);
      has_room = lns_mcp_answer_add (call->answer, &(LnsMcpRow){ .at = at }, values_of (statement));
      n += has_room;
    }
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    return lns_mcp_statement_fail (of, error);
  lns_mcp_answer_say (call->answer, of->handle, "%zu row%s%s.", n, n == 1 ? "" : "s",
                      code == SQLITE_ROW ? ", the first of more" : "");
  if (code == SQLITE_ROW)
    {
      lns_mcp_answer_leave_out_some (call->answer);
      lns_mcp_answer_note (call->answer,
                           "There are more rows: ask for sums (count, sum, max), a WHERE, or ORDER "
                           "BY with LIMIT rather than for all rows.");
    }
  return true;
}

static bool
run_sql (LnsMcpCall *call, LnsError *error)
{
  LnsMcpReport *of = lns_mcp_report_of (call, "report", error);
  const char *text = lns_mcp_text_of (call, "statement"), *rest;
  sqlite3_stmt *statement = NULL;
  bool good;

  if (of == NULL)
    return false;
  lns_query_restart (of->query, lns_mcp_number_of (call, "seconds") * INT64_C (1000000000));
  if (!lns_query_prepare (of->query, text, &statement, &rest))
    good = lns_mcp_statement_fail (of, error);
  else if (statement == NULL)
    good = lns_mcp_refuse (error, "there is no statement; write one that reads a table");
  else if (rest[strspn (rest, " \t\r\n;")] != '\0')
    good = lns_mcp_refuse (error, "there is more than one statement; run one at a time");
  else
    {
      lns_mcp_answer_set_statement (call->answer, text);
      good = add_rows (call, of, statement, (size_t)lns_mcp_number_of (call, "top"), error);
    }
  sqlite3_finalize (statement);
  return good;
}

const LnsMcpTool lns_mcp_sql = {
  .name = "sql",
  .title = "SQL over a report",
  .help =
      "Runs one SELECT of SQLite over the tables of the nsys export and those of the findings "
      "(LNS_LEDGERS, LNS_FINDINGS, LNS_GAPS, LNS_COSTS, LNS_STEPS). Times are ns; names are ids "
      "in StringIds. SELECT name FROM pragma_table_info ('NVTX_EVENTS') lists columns; regexp "
      "(PATTERN, TEXT) and regexpi are there. Ask for sums, not for pages of rows.",
  .parameters = { LNS_MCP_REPORT,
                  { .name = "statement", .help = "one SELECT", .is_required = true },
                  LNS_MCP_TOP (50, 200),
                  { .name = "seconds",
                    .help = "the time that it may take",
                    .is_number = true,
                    .least = 1,
                    .most = 60,
                    .otherwise = 10 } },
  .run = run_sql,
};

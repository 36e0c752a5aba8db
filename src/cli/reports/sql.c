/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope sql`: SQL over a report's tables, for reading. */

#include <inttypes.h>
#include <string.h>

#include "src/base/json.h"
#include "src/cli/reports/query.h"
#include "src/cli/terminal/terminal.h"

typedef struct
{
  bool header;
  bool json;
  int64_t timeout_ns;
} Values;

static const LnsOption options[] = {
  { .name = "header",
    .kind = LNS_OPTION_FLAG,
    .offset = offsetof (Values, header),
    .help = "Print the names of the columns first." },
  { .name = "json",
    .letter = 'j',
    .kind = LNS_OPTION_FLAG,
    .offset = offsetof (Values, json),
    .help = "Print an array of objects, one a row. Bytes that are no UTF-8 become U+FFFD." },
  LNS_CLI_TIMEOUT (Values, "0"),
};

static void
print_hexadecimal (sqlite3_stmt *statement, int column)
{
  const unsigned char *bytes = sqlite3_column_blob (statement, column);

  for (int i = 0; i < sqlite3_column_bytes (statement, column); i++)
    printf ("%02X", bytes[i]);
}

/* Bytes as they are, but for terminals: who needs tabs and newlines told apart asks for JSON. */
static void
print_row (sqlite3_stmt *statement)
{
  for (int i = 0; i < sqlite3_column_count (statement); i++)
    {
      if (i > 0)
        putchar ('\t');
      if (sqlite3_column_type (statement, i) == SQLITE_BLOB)
        {
          print_hexadecimal (statement, i);
          continue;
        }
      const unsigned char *text = sqlite3_column_text (statement, i);
      if (text != NULL)
        lns_cli_print_name (stdout, (const char *)text,
                            (size_t)sqlite3_column_bytes (statement, i));
    }
  putchar ('\n');
}

static void
print_json_value (sqlite3_stmt *statement, int column)
{
  switch (sqlite3_column_type (statement, column))
    {
    case SQLITE_INTEGER:
      printf ("%" PRId64, (int64_t)sqlite3_column_int64 (statement, column));
      break;
    case SQLITE_FLOAT:
      lns_json_write_double (stdout, sqlite3_column_double (statement, column));
      break;
    case SQLITE_TEXT:
      {
        const unsigned char *text = sqlite3_column_text (statement, column);
        lns_json_write_string (stdout, text, (size_t)sqlite3_column_bytes (statement, column));
        break;
      }
    case SQLITE_BLOB:
      putchar ('"');
      print_hexadecimal (statement, column);
      putchar ('"');
      break;
    default:
      fputs ("null", stdout);
      break;
    }
}

static void
print_json_row (sqlite3_stmt *statement, bool first)
{
  fputs (first ? "[{" : ",\n{", stdout);
  for (int i = 0; i < sqlite3_column_count (statement); i++)
    {
      const char *name = sqlite3_column_name (statement, i);
      fputs (i > 0 ? "," : "", stdout);
      lns_json_write_string (stdout, name, strlen (name));
      putchar (':');
      print_json_value (statement, i);
    }
  putchar ('}');
}

static void
print_header (sqlite3_stmt *statement)
{
  for (int i = 0; i < sqlite3_column_count (statement); i++)
    printf ("%s%s", i > 0 ? "\t" : "", sqlite3_column_name (statement, i));
  putchar ('\n');
}

static bool
run_statement (LnsCliQuery *query, sqlite3_stmt *statement, const Values *values, LnsError *error)
{
  bool first = true;
  int result;

  if (values->header && !values->json && sqlite3_column_count (statement) > 0)
    print_header (statement);
  for (; (result = sqlite3_step (statement)) == SQLITE_ROW && !ferror (stdout); first = false)
    if (values->json)
      print_json_row (statement, first);
    else
      print_row (statement);
  if (result != SQLITE_ROW && result != SQLITE_DONE)
    return lns_cli_query_fail (query, error);
  if (values->json)
    fputs (first ? "[]\n" : "]\n", stdout);
  return lns_cli_flush (error);
}

static bool
run_statements (LnsCliQuery *query, const char *sql, const Values *values, LnsError *error)
{
  bool good = true, any = false;

  while (good && *sql != '\0')
    {
      sqlite3_stmt *statement = NULL;
      good = sqlite3_prepare_v2 (lns_cli_query_database (query), sql, -1, &statement, &sql) ==
                 SQLITE_OK ||
             lns_cli_query_fail (query, error);
      good = good && (statement == NULL || run_statement (query, statement, values, error));
      any = any || statement != NULL;
      sqlite3_finalize (statement);
    }
  if (good && !any)
    return lns_error_set (
        error, LNS_ERROR_USAGE, 0,
        "the statement is empty; write a query, as in 'SELECT * FROM NVTX_EVENTS'");
  return good;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  if (argc != 3 || argv[1][0] == '\0')
    {
      lns_error_set (&error, LNS_ERROR_USAGE, 0,
                     "sql needs a report and a statement: lanescope sql %s", command->usage);
      return lns_cli_fail (&error);
    }
  lns_cli_find_report (argv[1]);
  LnsReport *report = lns_cli_open_report (argv[1], &error);
  if (report == NULL)
    return lns_cli_fail (&error);
  LnsCliQuery *query = lns_cli_query_new (report, values.timeout_ns, &error);
  bool good = query != NULL && run_statements (query, argv[2], &values, &error);
  lns_cli_query_free (query);
  lns_report_close (report);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_sql = {
  .name = "sql",
  .usage = "[switches] REPORT STATEMENT",
  .summary = "query a report with SQL, in the table names of the nsys export",
  .details =
      "Rows come as lines, values between tabs, text byte for byte, NULL as nothing and blobs in\n"
      "hexadecimal. LNS_COUNTERS, LNS_LOSSES and LNS_NVTX_RESOURCES hold what the nsys export\n"
      "has no table for.",
  .options = options,
  .n_options = sizeof options / sizeof *options,
  .run = run,
};

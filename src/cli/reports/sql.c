/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope sql`: runs SQL that reads the tables of a report, from the command line or the standard input. */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/cli/reports/query.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/terminal/language.h"

typedef struct
{
  const char *header;
  bool json;
  int64_t timeout_ns;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("header", CHOICE, Values, header), .choices = "auto,true,false", .implied = "true",
    .default_text = N_ ("auto, which is true on a terminal"),
    .help = N_ ("Print the names of the columns first.") },
  { LNS_SWITCH ("json", FLAG, Values, json), .letter = 'j',
    .help = N_ ("Print an array of objects, one for each row. Bytes that are not UTF-8 become "
                "U+FFFD.") },
  LNS_CLI_TIMEOUT (Values, "0"),
};

/* One run of the command. */
typedef struct
{
  LnsQuery *query;
  bool has_header, is_json;
} Shell;

static void
print_hexadecimal (sqlite3_stmt *statement, int column)
{
  const unsigned char *bytes = sqlite3_column_blob (statement, column);

  for (int i = 0; i < sqlite3_column_bytes (statement, column); i++)
    printf ("%02X", bytes[i]);
}

/* Texts are printed unchanged, except to terminals. JSON output escapes tabs and newlines within texts. */
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

/* --- Statements ------------------------------------------------------------------------------- */

static bool
run_statement (const Shell *shell, sqlite3_stmt *statement, LnsError *error)
{
  bool first = true;
  int result;

  if (shell->has_header && !shell->is_json && sqlite3_column_count (statement) > 0)
    print_header (statement);
  for (; (result = sqlite3_step (statement)) == SQLITE_ROW && !ferror (stdout); first = false)
    if (shell->is_json)
      print_json_row (statement, first);
    else
      print_row (statement);
  if (result != SQLITE_ROW && result != SQLITE_DONE)
    return lns_cli_query_fail (shell->query, error);
  if (shell->is_json)
    fputs (first ? "[]\n" : "]\n", stdout);
  return lns_cli_flush (error);
}

/* Runs the statements in SQL. *RET_ANY tells whether there was one. */
static bool
run_statements (const Shell *shell, const char *sql, bool *ret_any, LnsError *error)
{
  bool good = true;

  *ret_any = false;
  while (good && *sql != '\0')
    {
      sqlite3_stmt *statement = NULL;
      good = lns_query_prepare (shell->query, sql, &statement, &sql) ||
             lns_cli_query_fail (shell->query, error);
      good = good && (statement == NULL || run_statement (shell, statement, error));
      *ret_any = *ret_any || statement != NULL;
      sqlite3_finalize (statement);
    }
  return good;
}

/* --- Commands that begin with a dot ----------------------------------------------------------- */

/* Formats a text as sqlite3_mprintf () does. To be freed with sqlite3_free (). */
static char *
make_sql (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  char *text = sqlite3_vmprintf (format, arguments);
  va_end (arguments);
  if (text == NULL)
    lns_out_of_memory ();
  return text;
}

/* Whether the table NAME has rows. True for a damaged table, too: a query then tells what is wrong with it. */
static bool
has_rows (const Shell *shell, const char *name)
{
  sqlite3_stmt *statement = NULL;
  char *sql = make_sql ("SELECT 1 FROM \"%w\" LIMIT 1", name);
  const bool has = sqlite3_prepare_v2 (shell->query->db, sql, -1, &statement, NULL) != SQLITE_OK ||
                   sqlite3_step (statement) != SQLITE_DONE;
  sqlite3_finalize (statement);
  sqlite3_free (sql);
  return has;
}

/* Prints the names of the tables that are LIKE PATTERN, or with IS_SCHEMA the statements that would create them.
 * PATTERN "" selects all tables with rows, except those with names of numbers (ENUM_…), which every report has. */
static bool
list_tables (const Shell *shell, const char *pattern, bool is_schema, LnsError *error)
{
  static const char names[] = "SELECT name FROM sqlite_temp_master WHERE type = 'table' AND name "
                              "LIKE ?1 ORDER BY name";
  static const char schema[] =
      "printf('CREATE TABLE \"%w\" (%s);', name, (SELECT group_concat(printf('\"%w\" %s', "
      "column.name, column.type), ', ') FROM pragma_table_info(master.name) AS column)) AS sql";
  sqlite3_stmt *statement = NULL;
  sqlite3_str *list = sqlite3_str_new (NULL);
  bool any;

  if (sqlite3_prepare_v2 (shell->query->db, names, -1, &statement, NULL) == SQLITE_OK)
    sqlite3_bind_text (statement, 1, *pattern != '\0' ? pattern : "%", -1, SQLITE_STATIC);
  while (sqlite3_step (statement) == SQLITE_ROW)
    {
      const char *name = (const char *)sqlite3_column_text (statement, 0);
      if (*pattern != '\0' || (strncmp (name, "ENUM_", 5) != 0 && has_rows (shell, name)))
        sqlite3_str_appendf (list, "%s%Q", sqlite3_str_length (list) > 0 ? "," : "", name);
    }
  sqlite3_finalize (statement);
  if (sqlite3_str_errcode (list) == SQLITE_NOMEM)
    lns_out_of_memory ();
  char *listed = sqlite3_str_finish (list);
  char *sql =
      make_sql ("SELECT %s FROM sqlite_temp_master AS master WHERE name IN (%s) ORDER BY name",
                is_schema ? schema : "name", listed != NULL ? listed : "");
  const bool good = run_statements (shell, sql, &any, error);
  sqlite3_free (sql);
  sqlite3_free (listed);
  return good;
}

/* Whether TEXT is the command NAME. *RET_WORD is the word after it, without blanks and semicolon; TEXT is cut at its
 * end. */
static bool
is_command (char *text, const char *name, const char **ret_word)
{
  const size_t length = strlen (name);
  if (strncmp (text, name, length) != 0 ||
      (text[length] != '\0' && !isspace ((unsigned char)text[length])))
    return false;
  char *word = text + length;
  word += strspn (word, " \t\r\n");
  size_t n = strlen (word);
  while (n > 0 && strchr (" \t\r\n;", word[n - 1]) != NULL)
    n--;
  word[n] = '\0';
  *ret_word = word;
  return true;
}

/* Runs COMMAND, which begins with a dot. Sets *RET_ENDS if it is .quit. */
static bool
run_command (Shell *shell, char *command, bool *ret_ends, LnsError *error)
{
  static const char help[] =
      ".tables [PATTERN]  list the tables that hold rows, or those like PATTERN\n"
      ".schema [PATTERN]  show the columns of these tables\n"
      ".headers on|off    print the names of the columns first, or do not\n"
      ".quit              end; the end of the input does too\n";
  const char *word;
  if (is_command (command, ".tables", &word))
    return list_tables (shell, word, false, error);
  if (is_command (command, ".schema", &word))
    return list_tables (shell, word, true, error);
  if ((is_command (command, ".headers", &word) || is_command (command, ".header", &word)) &&
      (strcmp (word, "on") == 0 || strcmp (word, "off") == 0))
    {
      shell->has_header = strcmp (word, "on") == 0;
      return true;
    }
  if (is_command (command, ".help", &word))
    return fputs (help, stdout) >= 0 || lns_cli_flush (error);
  if (is_command (command, ".quit", &word) || is_command (command, ".exit", &word))
    return *ret_ends = true;
  return lns_cli_usage (error,
                        "unknown command “%.*s”; use .tables, .schema, .headers on|off or .help",
                        (int)strcspn (command, "\r\n"), command);
}

/* --- Input ------------------------------------------------------------------------------------ */

/* Runs TEXT: statements, or one command with a dot. */
static bool
run_text (Shell *shell, char *text, bool *ret_any, bool *ret_ends, LnsError *error)
{
  char *begin = text + strspn (text, " \t\r\n");
  if (*begin != '.')
    return run_statements (shell, text, ret_any, error);
  *ret_any = true;
  return run_command (shell, begin, ret_ends, error);
}

/* Runs TEXT, which lines of the standard input up to number LINE hold. On a terminal, prints an error and goes on. */
static bool
run_lines (Shell *shell, char *text, unsigned line, bool is_asking, bool *ret_ends, LnsError *error)
{
  bool any;
  LnsError here = { 0 };
  if (run_text (shell, text, &any, ret_ends, &here))
    return true;
  if (is_asking && here.domain == LNS_ERROR_USAGE)
    {
      lns_cli_fail (&here);
      return true;
    }
  *error = here;
  return is_asking ? false : lns_error_prefix (error, "line %u", line);
}

/* Runs the standard input: each statement when its semicolon is read, and each line that begins with a dot. The last
 * statement needs no semicolon. */
static bool
run_input (Shell *shell, LnsError *error)
{
  const bool is_asking = isatty (STDIN_FILENO) && isatty (STDERR_FILENO);
  char *line = NULL, *text = NULL;
  size_t room = 0, n = 0;
  bool good = true, ends = false;
  for (unsigned number = 1; good && !ends; number++)
    {
      if (is_asking)
        fputs (n == 0 ? "lanescope> " : "      ...> ", stderr);
      const ssize_t length = getline (&line, &room, stdin);
      if (length < 0)
        {
          good = n == 0 || run_lines (shell, text, number - 1, is_asking, &ends, error);
          break;
        }
      text = lns_realloc (text, n + (size_t)length + 1, 1);
      memcpy (text + n, line, (size_t)length + 1);
      n += (size_t)length;
      if (text[strspn (text, " \t\r\n")] != '.' && !sqlite3_complete (text))
        continue;
      good = run_lines (shell, text, number, is_asking, &ends, error);
      n = 0;
    }
  if (good && ferror (stdin) && errno != EINTR)
    good = lns_error_set_errno (error, errno, "cannot read the standard input");
  free (line);
  free (text);
  return good;
}

/* Runs the statement on the command line. */
static bool
run_argument (Shell *shell, char *text, LnsError *error)
{
  bool any, ends;
  return run_text (shell, text, &any, &ends, error) &&
         (any ||
          lns_cli_usage (error, "the statement is empty; write a query, as in 'SELECT * FROM "
                                "NVTX_EVENTS'"));
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { .header = "auto" };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  if (argc < 2 || argc > 3 || argv[1][0] == '\0')
    return lns_cli_refuse ("sql takes a report and at most one statement; usage: lanescope sql %s",
                           _ (command->usage));
  lns_cli_find_report (argv[1]);
  LnsReport *report = lns_cli_open_report (argv[1], &error);
  if (report == NULL)
    return lns_cli_fail (&error);
  Shell shell = { .query = lns_cli_query_new (report, values.timeout_ns, &error),
                  .has_header =
                      strcmp (values.header, "true") == 0 ||
                      (strcmp (values.header, "auto") == 0 && lns_cli_is_terminal (stdout)),
                  .is_json = values.json };
  const bool reads = argc == 2 || strcmp (argv[2], "-") == 0;
  const bool good = shell.query != NULL &&
                    (reads ? run_input (&shell, &error) : run_argument (&shell, argv[2], &error));
  lns_query_free (shell.query);
  lns_report_close (report);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_sql = {
  .name = "sql",
  .usage = N_ ("[switches] REPORT [STATEMENT]"),
  .summary = N_ ("query a report with SQL, in the table names of the nsys export"),
  .details = N_ (
      "Without STATEMENT, or with -, statements are read from the standard input. These commands "
      "stand "
      "for statements:\n"
      "  .tables [PATTERN]  list the tables that hold rows, or those like PATTERN\n"
      "  .schema [PATTERN]  show the columns of these tables\n"
      "  .headers on|off    print the names of the columns first, or do not\n"
      "  .quit              end\n"
      "\n"
      "Each row is a line with tabs between its values. Texts are printed byte for byte, NULL as "
      "nothing, and blobs in hexadecimal. Tables whose names begin with LNS_ hold what the nsys "
      "export has no table for."),
  LNS_COMMAND_OPTIONS (options),
  .run = run,
};

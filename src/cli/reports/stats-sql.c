/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/stats-sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/analysis/stats/table.h"
#include "src/base/buffer.h"
#include "src/base/memory.h"
#include "src/cli/reports/query.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"

#define MAX_COLUMNS 256

/* ---- Finding --------------------------------------------------------------------------------- */

/* The path of NAME.sql in FOLDER, which has SIZE > 0 bytes. Owned; NULL if the file cannot be read. */
static char *
look_in (const char *folder, size_t size, const char *name)
{
  char *path = lns_asprintf ("%.*s/%.*s.sql", (int)size, folder, (int)strcspn (name, ":"), name);

  if (access (path, R_OK) == 0)
    return path;
  free (path);
  return NULL;
}

char *
lns_stats_sql_find (const char *name, const LnsOptionList *folders)
{
  const char *variable = getenv ("LANESCOPE_STATS_REPORT_PATH");
  size_t n = strcspn (name, ":");
  char *path = NULL;

  if (memchr (name, '/', n) != NULL || (n > 4 && memcmp (name + n - 4, ".sql", 4) == 0))
    return lns_memdup (name, n);
  for (size_t i = 0; i < folders->n_items && path == NULL; i++)
    path = look_in (folders->items[i], strlen (folders->items[i]), name);
  for (const char *at = variable; at != NULL && *at != '\0' && path == NULL;)
    {
      n = strcspn (at, ":");
      path = n > 0 ? look_in (at, n, name) : NULL;
      at += n + (at[n] != '\0');
    }
  return path;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The title: the first line of TEXT if that is a comment, else the name of the file. */
static char *
make_title (const char *text, const char *path)
{
  if (strncmp (text, "--", 2) != 0)
    return lns_strdup (basename (path));
  text += 2 + strspn (text + 2, " -");
  return lns_memdup (text, strcspn (text, "\r\n"));
}

/* Lists the parameters without a value. IS_SET is indexed by their numbers, which begin at 1. */
static void
list_unset (LnsStatsSql *sql, const bool *is_set)
{
  size_t n = 0;

  for (int i = 1; i <= sqlite3_bind_parameter_count (sql->statement); i++)
    {
      const char *parameter = sqlite3_bind_parameter_name (sql->statement, i);
      if (is_set[i] || parameter == NULL || n + strlen (parameter) + 3 > sizeof sql->unset)
        continue;
      n += (size_t)snprintf (sql->unset + n, sizeof sql->unset - n, "%s%s", n > 0 ? ", " : "",
                             parameter);
    }
}

/* Binds each ":NAME=VALUE" in NAME, as a number if it is one. */
static bool
bind_arguments (LnsStatsSql *sql, const char *name, LnsError *error)
{
  const char *at = name + strcspn (name, ":");
  bool *is_set =
      lns_calloc ((size_t)sqlite3_bind_parameter_count (sql->statement) + 1, sizeof *is_set);

  for (size_t size; *at == ':'; at += 1 + size)
    {
      size = strcspn (at + 1, ":");
      size_t n = strcspn (at + 1, "=:");
      char parameter[128], *end;
      snprintf (parameter, sizeof parameter, ":%.*s", (int)n, at + 1);
      int index = n < size ? sqlite3_bind_parameter_index (sql->statement, parameter) : 0;
      if (index == 0)
        {
          free (is_set);
          return lns_cli_usage (error,
                                "--report: the query has no parameter for “%.*s”; write NAME=VALUE "
                                "here, and :NAME in the query",
                                (int)size, at + 1);
        }
      is_set[index] = true;
      const char *value = at + 2 + n;
      size_t n_value = size - n - 1;
      long long number = strtoll (value, &end, 10);
      if (n_value > 0 && end == value + n_value)
        sqlite3_bind_int64 (sql->statement, index, number);
      else
        sqlite3_bind_text (sql->statement, index, value, (int)n_value, SQLITE_TRANSIENT);
    }
  list_unset (sql, is_set);
  free (is_set);
  return true;
}

/* Whether REST, the text behind the first statement, holds another statement. Blanks and comments are none. */
static bool
is_rest (LnsStatsSql *sql, const char *rest)
{
  sqlite3_stmt *next = NULL;
  int code = sqlite3_prepare_v2 (sql->query->db, rest, -1, &next, NULL);
  bool any = code != SQLITE_OK || next != NULL;

  sqlite3_finalize (next);
  return any;
}

static bool
step (LnsStatsSql *sql, LnsError *error)
{
  int code = sqlite3_step (sql->statement);

  sql->has_rows = code == SQLITE_ROW;
  return code == SQLITE_ROW || code == SQLITE_DONE || lns_cli_query_fail (sql->query, error);
}

static bool
start (LnsStatsSql *sql, const char *name, LnsError *error)
{
  const char *rest;

  if (sqlite3_prepare_v2 (sql->query->db, sql->text, -1, &sql->statement, &rest) != SQLITE_OK)
    return lns_cli_query_fail (sql->query, error);
  int n_columns = sqlite3_column_count (sql->statement);
  if (n_columns == 0 || n_columns > MAX_COLUMNS || is_rest (sql, rest))
    return lns_cli_usage (error, "the file must hold one query of at most %d columns", MAX_COLUMNS);
  return bind_arguments (sql, name, error) && step (sql, error);
}

LnsStatsSql *
lns_stats_sql_run (
    const char *path, const char *name, LnsReport *report, int64_t timeout_ns, LnsError *error)
{
  LnsStatsSql *sql = lns_calloc (1, sizeof *sql);

  if ((sql->text = lns_option_read_text (path, "report", error)) != NULL)
    {
      sql->title = make_title (sql->text, path);
      sql->query = lns_cli_query_new (report, timeout_ns, error);
      if (sql->query != NULL && start (sql, name, error))
        return sql;
      if (sql->query != NULL)
        lns_error_prefix (error, "%s", path);
    }
  lns_stats_sql_free (sql);
  return NULL;
}

void
lns_stats_sql_free (LnsStatsSql *sql)
{
  if (sql == NULL)
    return;
  sqlite3_finalize (sql->statement);
  lns_query_free (sql->query);
  free (sql->text);
  free (sql->title);
  free (sql);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The value of column I. TEXT holds the bytes of a blob in hexadecimal. */
static LnsResultCell
make_cell (sqlite3_stmt *statement, int i, LnsBuffer *text)
{
  static const char digits[] = "0123456789ABCDEF";
  int type = sqlite3_column_type (statement, i);
  LnsResultCell cell = { .is_empty = type == SQLITE_NULL };

  if (type == SQLITE_NULL)
    return cell;
  if (type == SQLITE_BLOB)
    {
      const uint8_t *bytes = sqlite3_column_blob (statement, i);
      size_t n = (size_t)sqlite3_column_bytes (statement, i);
      uint8_t *room = lns_buffer_reserve (text, 2 * n + 1);
      for (size_t b = 0; room != NULL && b < n; b++)
        {
          room[2 * b] = (uint8_t)digits[bytes[b] >> 4];
          room[2 * b + 1] = (uint8_t)digits[bytes[b] & 15];
        }
      cell.bytes = (const char *)room;
      cell.size_bytes = room != NULL ? 2 * n : 0;
      return cell;
    }
  cell.is_written = type == SQLITE_INTEGER ||
                    (type == SQLITE_FLOAT && isfinite (sqlite3_column_double (statement, i)));
  cell.bytes = (const char *)sqlite3_column_text (statement, i);
  cell.size_bytes = (size_t)sqlite3_column_bytes (statement, i);
  return cell;
}

static void
add_row (LnsStatsSql *sql, LnsRows *rows, LnsBuffer texts[MAX_COLUMNS])
{
  LnsResultCell cells[MAX_COLUMNS];

  for (int i = 0; i < sqlite3_column_count (sql->statement); i++)
    {
      cells[i] = make_cell (sql->statement, i, &texts[i]);
      if (!cells[i].is_empty && cells[i].bytes == NULL)
        lns_out_of_memory ();
    }
  lns_rows_add (rows, cells, NULL);
}

bool
lns_stats_sql_write (LnsStatsSql *sql, FILE *stream, const LnsStatsStyle *style, LnsError *error)
{
  LnsResultColumn columns[MAX_COLUMNS] = { 0 };
  LnsBuffer texts[MAX_COLUMNS] = { 0 };
  int n = sqlite3_column_count (sql->statement);
  bool good = true;

  for (int i = 0; i < n; i++)
    columns[i] = (LnsResultColumn){ sqlite3_column_name (sql->statement, i), LNS_RESULT_TEXT };
  LnsStatsTable *table = lns_stats_table_new (stream, style, columns, (unsigned)n);
  while (good && sql->has_rows && !ferror (stream))
    {
      add_row (sql, lns_stats_table_rows (table), texts);
      good = step (sql, error);
    }
  lns_stats_table_finish (table);
  for (int i = 0; i < n; i++)
    lns_buffer_clear (&texts[i]);
  return good;
}

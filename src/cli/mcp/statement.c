/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/mcp/statement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/cli/mcp/message.h"

/* --- SQL -------------------------------------------------------------------------------------- */

/* What to do about MESSAGE, SQLite's reason for not understanding a statement. */
static const char *
advice_for (const char *message)
{
  if (strncmp (message, "no such table", strlen ("no such table")) == 0)
    return "SELECT name FROM sqlite_temp_master lists the tables";
  if (strncmp (message, "no such column", strlen ("no such column")) == 0)
    return "SELECT name FROM pragma_table_info ('TABLE') lists the columns of a table, and texts "
           "need 'single quotes'";
  return "correct the statement and try again";
}

bool
lns_mcp_statement_fail (LnsMcpReport *of, LnsError *error)
{
  const char *message = sqlite3_errmsg (of->query->db);

  switch (lns_query_failure (of->query))
    {
    case LNS_QUERY_LATE:
      return lns_mcp_refuse (error,
                             "the statement took longer than %.0f s; ask for less, such as a "
                             "shorter time or one table",
                             (double)of->query->timeout_ns / 1e9);
    case LNS_QUERY_CANCELLED:
      return lns_mcp_refuse (error, "the call was cancelled");
    case LNS_QUERY_WRITES:
      return lns_mcp_refuse (error,
                             "reports are only read, and this statement would change something; "
                             "use SELECT");
    case LNS_QUERY_NO_MEMORY:
      return lns_mcp_refuse (error,
                             "the statement needs too much memory; ask for fewer rows or columns");
    case LNS_QUERY_DAMAGED:
      return lns_mcp_refuse (error, "%s", message);
    case LNS_QUERY_WRONG:
      break;
    }
  return lns_mcp_refuse (error, "the statement failed: %s; %s", message, advice_for (message));
}

/* Bytes as hexadecimal digits, the first 64. */
static json_t *
hexadecimal (const unsigned char *bytes, size_t n)
{
  char text[2 * 64 + 1];

  n = n < 64 ? n : 64;
  for (size_t i = 0; i < n; i++)
    snprintf (text + 2 * i, 3, "%02X", bytes[i]);
  return lns_mcp_bytes (text, 2 * n);
}

json_t *
lns_mcp_statement_value (sqlite3_stmt *statement, int column)
{
  switch (sqlite3_column_type (statement, column))
    {
    case SQLITE_INTEGER:
      return lns_mcp_made (json_integer (sqlite3_column_int64 (statement, column)));
    case SQLITE_FLOAT:
      {
        const double value = sqlite3_column_double (statement, column);
        return isfinite (value) ? lns_mcp_made (json_real (value)) : json_null ();
      }
    case SQLITE_TEXT:
      {
        const char *text = (const char *)sqlite3_column_text (statement, column);
        return text != NULL ? lns_mcp_bytes (text, (size_t)sqlite3_column_bytes (statement, column))
                            : json_null ();
      }
    case SQLITE_BLOB:
      return hexadecimal (sqlite3_column_blob (statement, column),
                          (size_t)sqlite3_column_bytes (statement, column));
    default:
      return json_null ();
    }
}

bool
lns_mcp_add_statement (LnsMcpCall *call,
                       LnsMcpReport *of,
                       const char *handle,
                       const char *text,
                       const char *statement,
                       bool *ret_any,
                       LnsError *error)
{
  sqlite3_stmt *prepared = NULL;
  const char *rest;
  int code = SQLITE_ERROR;

  lns_query_restart (of->query, LNS_MCP_STATEMENT_NS);
  if (lns_query_prepare (of->query, statement, &prepared, &rest))
    code = sqlite3_step (prepared);
  const bool has_row = code == SQLITE_ROW,
             has_any = has_row && sqlite3_column_double (prepared, 0) != 0;
  if (ret_any != NULL)
    *ret_any = has_any;
  if (has_row && (ret_any == NULL || has_any))
    {
      json_t *values = lns_mcp_made (json_object ());
      for (int i = 0; i < sqlite3_column_count (prepared); i++)
        json_object_set_new (values, sqlite3_column_name (prepared, i),
                             lns_mcp_statement_value (prepared, i));
      lns_mcp_answer_add (call->answer,
                          &(LnsMcpRow){ .handle = handle, .text = text, .statement = statement },
                          values);
    }
  const bool good = code == SQLITE_ROW || code == SQLITE_DONE || lns_mcp_statement_fail (of, error);
  sqlite3_finalize (prepared);
  return good;
}

/* --- Commands --------------------------------------------------------------------------------- */

FILE *
lns_mcp_printed_begin (LnsMcpPrinted *printed)
{
  printed->stream = lns_memory_stream (&printed->text, &printed->n);
  return printed->stream;
}

json_t *
lns_mcp_printed_end (LnsMcpPrinted *printed, LnsError *error)
{
  lns_memory_stream_end (printed->stream);
  json_t *root = json_loadb (printed->text, printed->n, JSON_ALLOW_NUL, NULL);
  free (printed->text);
  if (root == NULL)
    lns_mcp_refuse (error, "the answer is not JSON; this is a defect, please report it");
  return root;
}

const json_t *
lns_mcp_at (const json_t *root, const char *at)
{
  char name[64];

  while (root != NULL && at[0] == '/')
    {
      const size_t n = strcspn (at + 1, "/");
      snprintf (name, sizeof name, "%.*s", (int)n, at + 1);
      root = json_is_array (root) ? json_array_get (root, strtoul (name, NULL, 10))
                                  : json_object_get (root, name);
      at += 1 + n;
    }
  return root;
}

bool
lns_mcp_add_printed (LnsMcpCall *call,
                     const json_t *root,
                     const char *at,
                     const char *keys,
                     const char *handle,
                     const char *text)
{
  const json_t *object = lns_mcp_at (root, at);
  json_t *values;

  if (!json_is_object (object))
    return false;
  values = lns_mcp_made (json_object ());
  for (const char *key = keys; *key != '\0'; key += key[0] == ',')
    {
      char name[64];
      const size_t n = strcspn (key, ",");
      snprintf (name, sizeof name, "%.*s", (int)n, key);
      json_t *value = json_object_get (object, name);
      if (value != NULL)
        json_object_set (values, name, value);
      key += n;
    }
  return lns_mcp_answer_add (call->answer, &(LnsMcpRow){ .handle = handle, .text = text, .at = at },
                             values);
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/lns-import-private.h"

bool
_lns_import_integer (sqlite3_value *value, int64_t *ret_number)
{
  switch (sqlite3_value_type (value))
    {
    case SQLITE_INTEGER:
      *ret_number = sqlite3_value_int64 (value);
      return true;
    case SQLITE_FLOAT: /* programs that rewrite tables turn columns with NULLs into these          */
      *ret_number = sqlite3_value_int64 (value);
      return (double)*ret_number == sqlite3_value_double (value);
    default:
      return false;
    }
}

int64_t
_lns_import_number (sqlite3_value *value)
{
  int64_t number;
  return _lns_import_integer (value, &number) ? number : 0;
}

bool
_lns_import_time (sqlite3_value *value, int64_t *ret_ns)
{
  return _lns_import_integer (value, ret_ns) && *ret_ns >= -LNS_IMPORT_TIME_MAX &&
         *ret_ns <= LNS_IMPORT_TIME_MAX;
}

uint32_t
_lns_import_text (LnsImport *import, sqlite3_value *value)
{
  if (sqlite3_value_type (value) == SQLITE_NULL)
    return 0;
  const unsigned char *text = sqlite3_value_text (value);
  return text != NULL
             ? lns_writer_string (import->writer, text, (size_t)sqlite3_value_bytes (value))
             : 0;
}

uint32_t
_lns_import_string (LnsImport *import, sqlite3_value *value)
{
  int64_t id;

  /* An id that StringIds does not have is the empty string from now on.                           */
  return _lns_import_integer (value, &id)
             ? lns_string_table_intern (import->strings, &id, sizeof id, 0)
             : 0;
}

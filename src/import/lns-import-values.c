/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/lns-import-private.h"

#include <stdlib.h>
#include <string.h>

/* Ids of StringIds below it are looked up in a list, of at most 16 MB. */
#define SMALL_IDS (INT64_C (1) << 22)

bool
_lns_import_integer (const LnsKeptValue *value, int64_t *ret_number)
{
  if (value->type == LNS_KEPT_INTEGER)
    {
      *ret_number = value->integer;
      return true;
    }
  /* Programs that rewrite tables turn columns with NULLs into these.                              */
  if (value->type != LNS_KEPT_REAL || !(value->real >= -0x1p62 && value->real <= 0x1p62))
    return false;
  *ret_number = (int64_t)value->real;
  return (double)*ret_number == value->real;
}

double
_lns_import_real (const LnsKeptValue *value)
{
  return value->type == LNS_KEPT_REAL      ? value->real
         : value->type == LNS_KEPT_INTEGER ? (double)value->integer
                                           : 0;
}

int64_t
_lns_import_number (const LnsKeptValue *value)
{
  int64_t number;
  return _lns_import_integer (value, &number) ? number : 0;
}

bool
_lns_import_time (const LnsKeptValue *value, int64_t *ret_ns)
{
  return _lns_import_integer (value, ret_ns) && *ret_ns >= -LNS_IMPORT_TIME_MAX &&
         *ret_ns <= LNS_IMPORT_TIME_MAX;
}

uint32_t
_lns_import_text (LnsImport *import, const LnsKeptValue *value)
{
  return value->type == LNS_KEPT_TEXT || value->type == LNS_KEPT_BLOB
             ? lns_writer_string (import->writer, value->bytes, value->size_bytes)
             : 0;
}

void
_lns_import_note_string (LnsImport *import, int64_t id, uint32_t string)
{
  lns_string_table_intern (import->strings, &id, sizeof id, string);
  if (id < 0 || id >= SMALL_IDS)
    return;
  if (id >= import->n_string_list)
    {
      uint32_t n = 1024;
      while (n <= id)
        n *= 2;
      uint32_t *list = reallocarray (import->string_list, n, sizeof *list);
      if (list == NULL)
        return;
      memset (list + import->n_string_list, 0, (n - import->n_string_list) * sizeof *list);
      import->string_list = list;
      import->n_string_list = n;
    }
  import->string_list[id] = string;
}

uint32_t
_lns_import_string (LnsImport *import, const LnsKeptValue *value)
{
  int64_t id;

  if (!_lns_import_integer (value, &id))
    return 0;
  if (id >= 0 && id < import->n_string_list)
    return import->string_list[id];
  /* An id that StringIds does not have is the empty string from now on.                           */
  return lns_string_table_intern (import->strings, &id, sizeof id, 0);
}

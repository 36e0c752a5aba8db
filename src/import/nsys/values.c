/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/import-private.h"

#include <strings.h>

#include "src/base/memory.h"

/* Ids of StringIds below this are looked up in an array of at most 32 MB. */
#define SMALL_IDS (INT64_C (1) << 23)

/* Texts are interned until the table holds this many bytes, including SLOT_BYTES for each text. Then a new table
 * begins. */
#define TEXT_BYTES_MAX ((size_t)64 << 20)
#define SLOT_BYTES     64

bool
_lns_import_integer (const LnsKeptValue *value, int64_t *ret_number)
{
  if (value->type == LNS_KEPT_INTEGER)
    {
      *ret_number = value->integer;
      return true;
    }
  /* Some programs that rewrite tables convert integer columns with NULLs to real ones. */
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

/* ---- Texts ----------------------------------------------------------------------------------- */

uint32_t
_lns_import_bytes (LnsImport *import, const void *bytes, size_t size_bytes)
{
  if (import->text_bytes > TEXT_BYTES_MAX)
    {
      lns_string_table_free (import->texts);
      import->texts = NULL;
      import->text_bytes = 0;
    }
  if (import->texts == NULL && (import->texts = lns_string_table_new ()) == NULL)
    lns_out_of_memory ();
  if (size_bytes == 0)
    return lns_writer_bytes (import->writer, bytes, size_bytes);
  const uint32_t next = lns_writer_n_strings (import->writer),
                 id = lns_string_table_intern (import->texts, bytes, size_bytes, next);
  if (id != next)
    return id;
  import->text_bytes += size_bytes + SLOT_BYTES;
  return lns_writer_bytes (import->writer, bytes, size_bytes);
}

uint32_t
_lns_import_text (LnsImport *import, const LnsKeptValue *value)
{
  return value->type == LNS_KEPT_TEXT || value->type == LNS_KEPT_BLOB
             ? _lns_import_bytes (import, value->bytes, value->size_bytes)
             : 0;
}

void
_lns_import_note_string (LnsImport *import, int64_t id, uint32_t string)
{
  if (id < 0 || id >= SMALL_IDS)
    {
      _lns_import_intern (&import->large_strings, (uint64_t)id, string);
      return;
    }
  while (import->strings.n <= (size_t)id)
    *lns_array_add (&import->strings) = LNS_ID_NONE;
  import->strings.items[id] = string;
}

/* Returns the string of row ID of StringIds, or LNS_ID_NONE. */
static uint32_t
find_string (LnsImport *import, int64_t id)
{
  if (id < 0 || id >= SMALL_IDS)
    return _lns_import_find (&import->large_strings, (uint64_t)id, LNS_ID_NONE);
  return (size_t)id < import->strings.n ? import->strings.items[id] : LNS_ID_NONE;
}

uint32_t
_lns_import_string (LnsImport *import, const LnsKeptValue *value)
{
  int64_t id;
  uint32_t string = _lns_import_integer (value, &id) ? find_string (import, id) : LNS_ID_NONE;

  return string != LNS_ID_NONE ? string : 0;
}

bool
_lns_import_is_string_id (const char *name)
{
  static const char *const names[] = {
    "nameId",     "shortName",  "demangledName", "mangledName", "textId",
    "jsonTextId", "filenameId", "contentId",     "symbol",      "module",
    "srcFile",    "funcName",   "varName",       "kernelName",  "endNameId",
    "sourceFile", "taskName",   "providerName",  "description", "CpuInstruction",
  };

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcasecmp (names[i], name) == 0)
      return true;
  return false;
}

LnsKeptValue
_lns_import_keep (LnsImport *import, const LnsKeptValue *value, bool is_string_id)
{
  int64_t id = value->integer;

  if (!is_string_id || value->type != LNS_KEPT_INTEGER)
    return *value;
  const uint32_t string = find_string (import, id);
  const bool is_known = string != LNS_ID_NONE;
  if (!is_known && id >= 0 && id < lns_writer_n_strings (import->writer))
    id = -1;
  return (LnsKeptValue){ .type = is_known ? LNS_KEPT_STRING : LNS_KEPT_INTEGER,
                         .integer = is_known ? (int64_t)string : id };
}

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/call-times.h"

#include <stdlib.h>

typedef struct
{
  int64_t process;
  uint64_t correlation;
} Key;

static Key
key_of (int64_t global_id, uint64_t correlation)
{
  return (Key){ global_id >> 24, correlation };
}

static bool
wanted_cb (void *data, const LnsKeptValue *values)
{
  LnsImportCallTimes *times = data;
  const Key key =
      key_of (_lns_import_number (&values[0]), (uint64_t)_lns_import_number (&values[1]));

  times->n += lns_string_table_intern (times->places, &key, sizeof key, times->n) == times->n;
  return true;
}

static bool
call_cb (void *data, const LnsKeptValue *values)
{
  LnsImportCallTimes *times = data;
  const Key key =
      key_of (_lns_import_number (&values[0]), (uint64_t)_lns_import_number (&values[1]));
  uint32_t place = lns_string_table_find (times->places, &key, sizeof key, times->n);
  int64_t start_ns;

  if (place < times->n && _lns_import_time (&values[2], &start_ns))
    times->starts_ns[place] = start_ns;
  return true;
}

bool
_lns_import_call_times_read (LnsImportCallTimes *times, LnsImport *import, LnsForeignTable *table)
{
  static const char *const wanted[] = { "globalPid", "correlationId" }, *const told[] = {
    "globalTid", "correlationId", "start"
  };
  LnsForeignTable *calls = lns_foreign_find (import->foreign, "CUPTI_ACTIVITY_KIND_RUNTIME");

  times->places = lns_string_table_new ();
  if (times->places == NULL)
    return lns_error_set (import->error, LNS_ERROR_NO_MEMORY, 0, "not enough memory to import");
  if (!lns_foreign_read (import->foreign, table, wanted, 2, LNS_FOREIGN_AS_IT_LIES, wanted_cb,
                         times, import->error))
    return false;
  times->starts_ns = calloc ((size_t)times->n + 1, sizeof *times->starts_ns);
  if (times->starts_ns == NULL)
    return lns_error_set (import->error, LNS_ERROR_NO_MEMORY, 0, "not enough memory to import");
  return times->n == 0 || calls == NULL ||
         lns_foreign_read (import->foreign, calls, told, 3, LNS_FOREIGN_AS_IT_LIES, call_cb, times,
                           import->error);
}

void
_lns_import_call_times_clear (LnsImportCallTimes *times)
{
  lns_string_table_free (times->places);
  free (times->starts_ns);
}

int64_t
_lns_import_call_time (const LnsImportCallTimes *times, int64_t global_pid, uint64_t correlation)
{
  const Key key = key_of (global_pid, correlation);
  uint32_t place = lns_string_table_find (times->places, &key, sizeof key, times->n);

  return place < times->n ? times->starts_ns[place] : 0;
}

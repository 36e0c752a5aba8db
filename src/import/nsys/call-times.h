/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* When the calls were made that rows belong to: exports of schemas before 3.24 do not tell when CUDA events
 * were recorded, but which call did it. Zero it before first use. */

#pragma once

#include "src/import/nsys/import-private.h"

typedef struct
{
  LnsStringTable *places; /* of process and correlation → in `starts_ns`; owned                  */
  int64_t *starts_ns;     /* owned                                                               */
  uint32_t n;
} LnsImportCallTimes;

/* Reads the calls of the rows of TABLE. False and import->error where the file cannot be read. */
bool
_lns_import_call_times_read (LnsImportCallTimes *times, LnsImport *import, LnsForeignTable *table);
void _lns_import_call_times_clear (LnsImportCallTimes *times);

/* When the call of CORRELATION in the process of GLOBAL_PID was made; 0 where that is not known. */
int64_t
_lns_import_call_time (const LnsImportCallTimes *times, int64_t global_pid, uint64_t correlation);

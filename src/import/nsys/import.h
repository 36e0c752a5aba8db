/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Converts recordings of other programs into .rep files. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

typedef struct
{
  bool overwrite;                                 /* an existing output is replaced             */
  const atomic_bool *cancel;                      /* or NULL; true ends it, LNS_ERROR_CANCELLED */
  void (*progress) (double fraction, void *data); /* or NULL; 0 to 1, ascending                 */
  void *progress_data;
  const char *origin;    /* what the report says that it was imported from; NULL = the path      */
  const char *complaint; /* NULL, or why the source could not be read to its end                 */
  const char *left_out;  /* NULL, or lines: what earlier steps left out                          */
} LnsImportOptions;

typedef struct
{
  uint64_t n_rows;     /* that became events                                                      */
  uint64_t n_bad;      /* without a usable time, or too many at once: left out                    */
  char *left_out;      /* what was not kept, a line each ("TABLE: 12 rows"), or ""; to be freed   */
  char complaint[200]; /* "", or why the source could not be read to its end                    */
} LnsImportResult;

/* Writes the nsys SQLite export at PATH, of any schema, as a report at OUT_PATH. RET_RESULT may be NULL. On failure it
 * returns false, fills ERROR, and leaves OUT_PATH as it was. Memory is bounded: rows that are out of order are sorted in
 * the temporary folder. Any thread. */
bool lns_import_sqlite (const char *path,
                        const char *out_path,
                        const LnsImportOptions *options,
                        LnsImportResult *ret_result,
                        LnsError *error);

/* The same for a trace of PyTorch's profiler or in Chrome's format, as JSON, plain or gzipped. If the trace is cut off,
 * its complete events are kept, and the report's state is LNS_STATE_RECOVERED. */
bool lns_import_trace (const char *path,
                       const char *out_path,
                       const LnsImportOptions *options,
                       LnsImportResult *ret_result,
                       LnsError *error);

/* Writes the .nsys-rep at PATH as a report at OUT_PATH, through an SQLite export that the `nsys` on PATH makes in the
 * temporary folder. Otherwise like lns_import_sqlite (); without an nsys the error says what to do. */
bool lns_import_nsys (const char *path,
                      const char *out_path,
                      const LnsImportOptions *options,
                      LnsImportResult *ret_result,
                      LnsError *error);

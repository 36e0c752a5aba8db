/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Opens any file that holds a recording: reports directly, files of other programs through a cache of imported reports,
 * $XDG_CACHE_HOME/lanescope/imported. */

#pragma once

#include "src/import/nsys/import.h"
#include "src/store/read/report.h"

/* The kind of a file, by its first bytes. */
typedef enum
{
  LNS_INPUT_REPORT, /* a .rep, or nothing that is known: opening it says what is wrong           */
  LNS_INPUT_SQLITE, /* of another program, or an export                                          */
  LNS_INPUT_TRACE,  /* of PyTorch or Chrome: JSON, plain or gzipped                              */
  LNS_INPUT_NSYS    /* a .nsys-rep, which only nsys can read                                     */
} LnsInputKind;

LnsInputKind lns_import_kind (const char *path);

/* The report that `profile -o PATH` wrote instead of PATH: where PATH has the ending of an nsys report and does not
 * exist, but a .rep of that name does. To be freed; NULL where there is no such report. */
char *lns_import_stand_in (const char *path) __attribute__ ((warn_unused_result));

/* Writes the file at PATH, of any kind but LNS_INPUT_REPORT, as a report at OUT_PATH, like lns_import_sqlite (). The
 * command `import` does this. */
bool lns_import_file (const char *path,
                      const char *out_path,
                      const LnsImportOptions *options,
                      LnsImportResult *ret_result,
                      LnsError *error);

/* Opens the report of the file at PATH, which is not a report itself: the one in the cache, or else a new one that is
 * put there. OPTIONS may be NULL; they report the progress of the import and cancel it. To be closed. NULL and ERROR
 * where that fails. */
LnsReport *lns_import_open (const char *path, const LnsImportOptions *options, LnsError *error)
    __attribute__ ((warn_unused_result));

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Opening whatever holds a recording: reports as they are, what other programs wrote through a cache of
 * imported reports, $XDG_CACHE_HOME/lanescope/imported. */

#pragma once

#include "src/import/nsys/import.h"
#include "src/store/read/report.h"

/* What a file is, by its first bytes. */
typedef enum
{
  LNS_INPUT_REPORT, /* a .rep, or nothing that is known: opening it says what is wrong           */
  LNS_INPUT_SQLITE, /* of another program, or an export                                          */
  LNS_INPUT_TRACE,  /* of PyTorch or Chrome: JSON, plain or gzipped                              */
  LNS_INPUT_NSYS    /* a .nsys-rep, which only nsys can read                                     */
} LnsInputKind;

LnsInputKind lns_import_kind (const char *path);

/* The report that `profile -o PATH` wrote in the place of PATH: where PATH ends as reports of nsys do and
 * is not there, but a .rep of that name is. To be freed; NULL where there is none such. */
char *lns_import_stand_in (const char *path) __attribute__ ((warn_unused_result));

/* Makes the report at OUT_PATH of the file at PATH, of whatever kind but LNS_INPUT_REPORT: what
 * `import` does. As lns_import_sqlite (). */
bool lns_import_file (const char *path,
                      const char *out_path,
                      const LnsImportOptions *options,
                      LnsImportResult *ret_result,
                      LnsError *error);

/* Opens the report that stands for the file at PATH, which is no report: the one in the cache, or a new
 * one in there. OPTIONS (may be NULL) follow and cancel the importing; nothing half is left.
 * To be closed. NULL and ERROR where it cannot. */
LnsReport *lns_import_open (const char *path, const LnsImportOptions *options, LnsError *error)
    __attribute__ ((warn_unused_result));

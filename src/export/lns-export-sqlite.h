/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A report as an SQLite file in the layout of the nsys export: ordinary rowid tables with its names,
 * types and column order, so that the programs that read such files read it too. */

#pragma once

#include "src/store/lns-report.h"

typedef struct
{
  bool overwrite;            /* an existing file may be replaced                                 */
  const atomic_bool *cancel; /* or NULL; true ends the export with LNS_ERROR_CANCELLED           */
  LnsProgressFunc progress;  /* or NULL; called on this thread, a few times a second             */
  void *progress_data;
} LnsExportOptions;

/* Writes REPORT to PATH (missing folders are made), all or nothing: the file appears under its name
 * once it is whole. False and ERROR where PATH exists without `overwrite` (said before any work),
 * cannot be written, or a chunk of the report is damaged. O(rows), memory bounded. */
bool lns_export_sqlite (LnsReport *report,
                        const char *path,
                        const LnsExportOptions *options,
                        LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes an export under a temporary name beside the requested one, and renames it once it is complete. */

#pragma once

#include <sys/types.h>

#include "src/export/sink.h"

typedef struct
{
  const char *path; /* borrowed */
  char
      *temporary; /* owned: a free name, or a folder that was made; "-" for the standard output   */
  mode_t mode;    /* of files to create, before the umask */
  const LnsExportType *type;
  bool overwrite, append;
} LnsExportPlace;

/* Prepares PATH for a file of TYPE. Returns false and fills ERROR if PATH cannot be created, or exists and may not be
 * replaced: it is REPORT itself, or a folder with other files. PLACE must be closed with GOOD = false then. */
bool lns_export_place_open (LnsExportPlace *place,
                            LnsReport *report,
                            const LnsExportType *type,
                            const char *path,
                            const LnsExportOptions *options,
                            LnsError *error);

/* Renames what was written if GOOD, and removes it otherwise. Frees what PLACE owns. Returns GOOD; or returns false and
 * fills ERROR if it cannot be renamed. */
bool lns_export_place_close (LnsExportPlace *place, bool good, LnsError *error);

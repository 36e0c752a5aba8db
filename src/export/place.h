/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where an export goes: made under a temporary name beside the asked one, which it gets once it is whole. */

#pragma once

#include "src/export/sink.h"

typedef struct
{
  const char *path; /* borrowed */
  char
      *temporary; /* owned: a free name, or a folder that was made; "-" for the standard output   */
  const LnsExportType *type;
  bool overwrite, append;
} LnsExportPlace;

/* Prepares PATH for a file of TYPE. False and ERROR where it exists and may not be replaced, is REPORT
 * itself or a folder with files of others, or cannot be made. Then nothing is to be published. */
bool lns_export_place_open (LnsExportPlace *place,
                            LnsReport *report,
                            const LnsExportType *type,
                            const char *path,
                            const LnsExportOptions *options,
                            LnsError *error);

/* Gives what was made its name if GOOD; else removes it. Frees the place's own. Returns GOOD, or false
 * and ERROR where the name cannot be given. */
bool lns_export_place_close (LnsExportPlace *place, bool good, LnsError *error);

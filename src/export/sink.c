/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/export/sink.h"

#include <errno.h>
#include <string.h>

int
lns_export_column (const LnsTable *table, const char *name)
{
  for (unsigned i = 0; i < table->n_columns; i++)
    if (strcmp (table->columns[i].name, name) == 0)
      return (int)i;
  return -1;
}

bool
lns_export_fail (const LnsExportJob *job, int code, LnsError *error)
{
  if (code == ENOSPC || code == EDQUOT)
    return lns_error_set (
        error, LNS_ERROR_IO, ENOSPC,
        "%s cannot be written: its disk is full; make room, or choose another disk "
        "with --output",
        job->path);
  return lns_error_set_errno (error, code, "%s cannot be written", job->path);
}

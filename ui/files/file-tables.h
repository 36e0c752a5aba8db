/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a report holds beside events: how the program was started and recorded, its environment, what it printed, devices, modules and
 * source files. For workers: they read the report. */

#pragma once

#include <glib.h>
#include <stdatomic.h>

#include "src/analysis/result.h"
#include "src/store/read/report.h"

typedef enum
{
  LNS_FILE_RUN,
  LNS_FILE_ENVIRONMENT,
  LNS_FILE_OUTPUT, /* a text, not a table */
  LNS_FILE_DEVICES,
  LNS_FILE_MODULES,
  LNS_FILE_SOURCES,
  LNS_N_FILE_SECTIONS
} LnsFileSection;

/* What SECTION is called, and why a report has nothing of it, as a sentence. Static, translated. */
const char *lns_file_section_title (LnsFileSection section);
const char *lns_file_section_lacks (LnsFileSection section);

/* SECTION of REPORT as a table, without rows where it has none. NULL and ERROR where a chunk is damaged, or CANCEL was set. To be
 * freed. */
LnsResult *lns_file_table (LnsReport *report,
                           LnsFileSection section,
                           const atomic_bool *cancel,
                           LnsError *error);

/* What the program printed, as far as REPORT holds it: UTF-8, NULL if it holds nothing. Free with g_free (). */
char *lns_file_output (LnsReport *report);

/* The lines of the file at PATH with the samples of REPORT in each, as a table; NULL and ERROR, a sentence, where the file cannot be read.
 * RET_IS_NEWER tells whether it was changed after the recording began. To be freed. */
LnsResult *lns_file_source (LnsReport *report,
                            const char *path,
                            const atomic_bool *cancel,
                            bool *ret_is_newer,
                            LnsError *error);

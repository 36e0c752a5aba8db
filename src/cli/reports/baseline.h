/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A folder of reports of earlier runs, with which `diff --baseline` compares. */

#pragma once

#include "src/cli/reports/runs.h"

typedef struct
{
  LnsCliRuns runs; /* its last ones, the oldest first                                            */
  char *next;      /* owned: the path of the run to come                                         */
} LnsCliBaseline;

/* Finds the last N_LAST runs in FOLDER, which is made if it is missing. To be cleared whatever is returned. False with ERROR if it
 * cannot be made or read. */
bool lns_cli_baseline_open (LnsCliBaseline *baseline,
                            const char *folder,
                            size_t n_last,
                            LnsError *error);

/* Adds a copy of the report at PATH. False with ERROR if it cannot be written. */
bool lns_cli_baseline_add (const LnsCliBaseline *baseline, const char *path, LnsError *error);

void lns_cli_baseline_clear (LnsCliBaseline *baseline);

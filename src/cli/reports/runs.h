/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The runs that one side of `diff` is: a report, or the reports of a folder. */

#pragma once

#include "src/base/array.h"
#include "src/base/error.h"

typedef LNS_ARRAY (char *) LnsCliRuns; /* paths, owned */

/* Adds PATH to RUNS or, where it is a folder, the reports in it by name: *.rep or, if there are none, exports of nsys (*.sqlite). To be cleared whatever is returned. False with ERROR if the
 * folder cannot be read or has none. */
bool lns_cli_runs_find (LnsCliRuns *runs, const char *path, LnsError *error);

void lns_cli_runs_clear (LnsCliRuns *runs);

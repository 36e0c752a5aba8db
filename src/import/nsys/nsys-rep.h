/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports of nsys itself, whose format only nsys knows: the one that the user has exports them. */

#pragma once

#include "src/import/nsys/import.h"

/* Writes the .nsys-rep at PATH as a report at OUT_PATH, by way of an SQLite export in the temporary
 * folder that the `nsys` on PATH makes. As lns_import_sqlite (); without an nsys the error says what to do. */
bool lns_import_nsys (const char *path,
                      const char *out_path,
                      const LnsImportOptions *options,
                      LnsImportResult *ret_result,
                      LnsError *error);

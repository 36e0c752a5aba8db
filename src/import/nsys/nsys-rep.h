/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Imports reports of nsys itself. Only nsys can read their format, so the user's nsys exports them first. */

#pragma once

#include "src/import/nsys/import.h"

/* Writes the .nsys-rep at PATH as a report at OUT_PATH, through an SQLite export that the `nsys` on PATH makes in the
 * temporary folder. Otherwise like lns_import_sqlite (); without an nsys the error says what to do. */
bool lns_import_nsys (const char *path,
                      const char *out_path,
                      const LnsImportOptions *options,
                      LnsImportResult *ret_result,
                      LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports that stand for other files, under $XDG_CACHE_HOME/lanescope: what was recovered of damaged
 * ones, what was imported. */

#pragma once

#include <stdint.h>

#include "src/base/error.h"

/* Where the report goes that stands for the file at PATH: in the folder KIND, the same for the same
 * file in the same condition (path, size and modification time, also of the write-ahead log beside it) and
 * VERSION (of who makes it).
 * Folders are made. Owned by the caller; NULL and ERROR where there can be none. */
char *
lns_report_cache_path (const char *kind, const char *version, const char *path, LnsError *error);

/* Removes the oldest of the reports beside NEWEST_PATH, which stays, until MAX_COPIES and MAX_BYTES are
 * left. What is no report stays. */
void lns_report_cache_prune (const char *newest_path, int64_t max_copies, int64_t max_bytes);

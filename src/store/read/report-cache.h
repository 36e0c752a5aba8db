/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports made from other files, under $XDG_CACHE_HOME/lanescope: recovered from damaged reports, or imported. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

/* The path of the report made from the file at PATH, in the folder KIND. It depends on the file's path, size and
 * modification time, on those of the journal and the write-ahead log beside it, and on the VERSION of the code that makes
 * the report.
 * Creates the folders. Owned by the caller; NULL and ERROR on failure. */
char *
lns_report_cache_path (const char *kind, const char *version, const char *path, LnsError *error);

/* Removes the oldest reports beside NEWEST_PATH, but not that one, until at most MAX_COPIES and MAX_BYTES are left. Leaves
 * other files alone, and those that changed within the last minute, which other processes may be writing or about to open: so
 * many processes at once may go over the limits for that long. */
void lns_report_cache_prune (const char *newest_path, int64_t max_copies, int64_t max_bytes);

/* The functions below make copies of reports that cannot be opened where they are. */

/* The path of the copy of the report at PATH, in the folder "recovered", as by lns_report_cache_path (). */
char *_lns_rescue_path (const char *path, LnsError *error);

/* Rolls back the journal beside the report at PATH in a copy, as readers never write a report. Returns the path of the
 * copy, owned by the caller; an earlier copy is used again as long as the report and its journal stay as they are. NULL and
 * ERROR if the journal must not be rolled back (lns_journal_check ()), or the copy cannot be made. */
char *_lns_rescue_roll_back (const char *path, LnsError *error);

/* Removes the oldest copies beside NEWEST_PATH, but not that one, until at most 8 and 1 GiB are left. */
void _lns_rescue_prune (const char *newest_path);

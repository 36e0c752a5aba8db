/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reports that stand for other files, under $XDG_CACHE_HOME/lanescope: what was recovered of damaged
 * ones, what was imported. */

#pragma once

#include <stdbool.h>
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

/* The functions below make copies of reports that cannot be opened where they are. */

/* Where the copy of the report at PATH goes: the same for the same file in the same condition
 * (path, size and modification time). Folders are made. Owned by the caller; NULL and ERROR where
 * there can be none. */
char *_lns_rescue_path (const char *path, LnsError *error);

/* Rolls the journal back that lies beside the report at PATH: in place, or where that may not be
 * written, in a copy. The path of what can be opened now, owned by the caller; NULL and ERROR where
 * neither worked, or the journal may not be rolled back (see lns_journal_check ()). */
char *_lns_rescue_roll_back (const char *path, LnsError *error);

/* Copies the report at PATH and its journal, if any, to TO_PATH, over what is there. */
bool _lns_rescue_copy (const char *path, const char *to_path, LnsError *error);

/* Removes the oldest of the copies beside NEWEST_PATH, which stays, until 8 and 1 GiB are left. Of what
 * is no copy nothing is touched. */
void _lns_rescue_prune (const char *newest_path);

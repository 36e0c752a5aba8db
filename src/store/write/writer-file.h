/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The path of a new report: moves an old file aside, and reserves disk space for the last commit. */

#pragma once

#include <stdbool.h>

#include "src/base/error.h"

/* Reserves space on the file system of PATH: a file without a name, which is freed when the descriptor is closed or the
 * process dies. Returns −1 if there is no space, or the file system does not support such files. */
int _lns_writer_reserve (const char *path);
/* Whether the file system of PATH has so little space that a report may fill it within a second. */
bool _lns_writer_is_space_short (const char *path);
/* Renames the file at PATH, and its journal, to a free name beside it: RET_ASIDE_PATH (owned by the caller), or NULL if
 * there is no such file. If a killed writer had moved a file aside and recorded nothing since, first moves that one back.
 * Fails if another process is recording into the file. RET_CLAIM_FD (owned by the caller, -1 for none) keeps others from
 * it until it is closed. */
bool _lns_writer_move_aside (const char *path,
                             int *ret_claim_fd,
                             char **ret_aside_path,
                             LnsError *error);
/* Moves the file at ASIDE_PATH back, or removes it. Both free ASIDE_PATH; NULL is fine. */
void _lns_writer_bring_back (const char *path, char *aside_path);
void _lns_writer_remove_aside (char *aside_path);

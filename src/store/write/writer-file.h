/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The place where a report goes: what was there before, and room for the end. */

#pragma once

#include <stdbool.h>

#include "src/base/error.h"

/* Takes room on the file system of PATH that is given back by closing the descriptor, also where
 * this process dies: the file has no name. −1 where there is none, or no such files. */
int _lns_writer_reserve (const char *path);
/* Moves what is at PATH (and its journal) to a free name beside it, of which RET_ASIDE_PATH (owned
 * by the caller) tells; NULL where there is nothing to move. Refuses what another process
 * records. What a killed writer had moved aside without recording anything since comes back first. RET_CLAIM_FD (owned by the caller, -1 for none) keeps others from it until it is closed. */
bool _lns_writer_move_aside (const char *path,
                             int *ret_claim_fd,
                             char **ret_aside_path,
                             LnsError *error);
/* Brings it back, or removes it. Both free ASIDE_PATH; NULL is fine. */
void _lns_writer_bring_back (const char *path, char *aside_path);
void _lns_writer_remove_aside (char *aside_path);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a recorder has counted since the last commit to its report, kept in an extended attribute of the file. To write it
 * takes no transaction, no lock and no page of the file, so it can be done often, beside a commit that takes long. If the
 * recorder is killed, readers learn from it how much the report lacks. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LNS_TALLY_ATTRIBUTE "user.lanescope.seen"

typedef struct
{
  int64_t seen_ns;  /* report time up to which the next two are counted */
  uint64_t n_begun; /* events recorded since the report began, written or not */
  uint64_t n_lost;  /* lost since then */
} LnsTally;

/* Keeps TALLY in the file of FD, which is open for writing. Does nothing where the file system has no such attributes. Any
 * thread. One system call. */
void lns_tally_write (int fd, const LnsTally *tally);

/* Removes it from the file of FD, if it is there. */
void lns_tally_remove (int fd);

/* Reads the tally of the file at PATH. False if it has none that makes sense. */
bool lns_tally_read (const char *path, LnsTally *ret_tally);

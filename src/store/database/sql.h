/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The SQLite side of a .rep file: its tables and how it is opened for writing. */

#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "src/base/error.h"

#define LNS_SQL_APPLICATION_ID 0x4C4E5352 /* "LNSR" */
#define LNS_SQL_USER_VERSION   1
#define LNS_SQL_PAGE_BYTES     65536

/* Feature bits in lns_meta that this build knows: none yet. */
#define LNS_FEATURES_COMPATIBLE   UINT64_C (0)
#define LNS_FEATURES_INCOMPATIBLE UINT64_C (0)

/* Creates the file at PATH, which must not exist, with permissions MODE (0: 0600) and the empty tables of
 * a report, and returns its only writing connection (for one thread). Where the file system refuses locks
 * SQLite works without them: creation is exclusive, so there is one writer all the same. NULL and ERROR
 * where it cannot; nothing is left behind then. RET_CLAIM_FD (owned by the caller) marks the file as one
 * in the making, which lns_sql_made () ends as soon as the file tells who writes it. It also holds the
 * lock by which others see that the file is written: close it when the connection is closed. */
sqlite3 *lns_sql_create (const char *path, unsigned mode, int *ret_claim_fd, LnsError *error)
    __attribute__ ((warn_unused_result));

/* After the first commit to DATABASE: from now on each keeps what those before have written, whenever the
 * process is killed. Ends the mark of CLAIM_FD that the file is in the making; that it is written stays.
 * False where it cannot: lns_sql_error (). */
bool lns_sql_made (sqlite3 *database, int claim_fd) __attribute__ ((warn_unused_result));

/* Whether a process, perhaps of another PID namespace, writes the report at PATH, which this process
 * has open: no file is opened, as closing it would drop the locks of its connections. False where the
 * file system has no locks. O(open files). */
bool lns_sql_is_written (const char *path);

/* Marks the file at PATH likewise, as one to be overwritten: RET_FD (owned by the caller) is -1 where
 * it cannot be. False where another process has marked it. Call it only where this process has no
 * connection to the file, as with lns_sql_can_lock (). */
bool lns_sql_claim (const char *path, int *ret_fd);

/* Whether a process has marked the file at PATH, so that it may not tell yet what it is. Call it only
 * where this process has no connection to the file, as with lns_sql_can_lock (). */
bool lns_sql_is_claimed (const char *path);

/* Removes the file at PATH and its journal, as far as they are there. */
void lns_sql_remove (const char *path);

/* Whether the file system of the file at PATH knows the locks that SQLite takes; true where the file
 * cannot be opened. Call it only where this process has no other connection to the file: closing a
 * file drops the locks that its process holds on it. */
bool lns_sql_can_lock (const char *path);

/* PATH as the URI of a file that nobody changes: no journal is looked at and no lock taken. To be freed;
 * NULL where there is no such file or memory ran out. */
char *lns_sql_immutable_uri (const char *path);

/* Fills ERROR with what DATABASE says of its last call, after the sentence's beginning DOING
 * ("cannot write “x.rep”"). Returns false. */
bool lns_sql_error (LnsError *error, sqlite3 *database, const char *path, const char *doing);

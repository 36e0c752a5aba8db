/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Creates .rep files as SQLite databases, and the locks that tell others what happens to them. */

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

/* Creates the file at PATH, which must not exist, with permissions MODE (0: 0600) and the empty tables of a report, and
 * removes a journal that lies there without its report. Returns its only writing connection, for one thread; NULL and ERROR
 * if it fails, without leaving a file. If the file system has no locks, SQLite works without them: creation is exclusive,
 * so there is still only one writer. RET_CLAIM_FD (owned by the caller) holds two locks: one marks the file as unfinished
 * until lns_sql_made (), the other tells others that the file is being written. Give it to lns_sql_let_go () after the
 * connection is closed. */
sqlite3 *lns_sql_create (const char *path, unsigned mode, int *ret_claim_fd, LnsError *error)
    __attribute__ ((warn_unused_result));

/* Call it after the first commit to DATABASE. From then on commits never lose what earlier ones wrote, whenever the process
 * is killed (careful-file.h). Removes the mark of CLAIM_FD that the file is unfinished, but not the one that it is being
 * written. Returns false on failure; lns_sql_error () has the reason. */
bool lns_sql_made (sqlite3 *database, int claim_fd) __attribute__ ((warn_unused_result));

/* Opens the report at PATH to change it, and takes the lock that tells others that it is being written. If IS_SAFE,
 * commits survive a crash of the machine, unlike those of lns_sql_create (): what they could damage was safe before.
 * RET_CLAIM_FD as there.
 * NULL and ERROR if it fails; EBUSY if another process is writing the file. */
sqlite3 *lns_sql_reopen (const char *path, bool is_safe, int *ret_claim_fd, LnsError *error)
    __attribute__ ((warn_unused_result));

/* Gives up the locks of CLAIM_FD and closes it. They would stay as long as a process has the file open that was forked
 * meanwhile, if only until it executes another program. */
void lns_sql_let_go (int claim_fd);

/* Prevents a hostile file from running its own code (views, triggers, functions in its schema) and from making one value
 * very large. */
void lns_sql_distrust (sqlite3 *database);

/* Whether a process, perhaps of another PID namespace, is writing the report at PATH, which this process has open. It opens
 * no file, because closing one would drop the locks of this process's connections. False if the file system has no locks.
 * O(open files). */
bool lns_sql_is_written (const char *path);

/* Marks the file at PATH, which is to be overwritten, as lns_sql_create () marks a new one. RET_FD (owned by the caller) is
 * -1 if it cannot be marked. Returns false if another process has marked it. Call it only if this process has no
 * connection to the file (see lns_sql_can_lock ()). */
bool lns_sql_claim (const char *path, int *ret_fd);

/* Whether a process has marked the file at PATH, so that its contents may be incomplete. Call it only if this process has
 * no connection to the file (see lns_sql_can_lock ()). */
bool lns_sql_is_claimed (const char *path);

/* Removes the file at PATH and its journal, if they exist. */
void lns_sql_remove (const char *path);

/* Whether the file system of the file at PATH supports the locks that SQLite uses; true if the file cannot be opened. Call
 * it only if this process has no connection to the file: closing a file drops the locks that its process holds on it. */
bool lns_sql_can_lock (const char *path);

/* PATH as a URI that makes SQLite ignore journals and take no locks. The caller frees it. NULL if there is no such file or
 * memory runs out. */
char *lns_sql_immutable_uri (const char *path);

/* Sets ERROR to "cannot DOING “PATH”" and the reason why DATABASE's last call failed. Returns false. */
bool lns_sql_error (LnsError *error, sqlite3 *database, const char *path, const char *doing);

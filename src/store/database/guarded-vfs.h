/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* SQLite file systems for databases that may be hostile. SQLite trusts the files beside a database: it rolls back the
 * journal that lies there, whoever put it there; a rollback deletes the super-journal that the journal's trailer names,
 * whatever file that is; a header that asks for a write-ahead log makes SQLite create two files; and opening a pipe waits
 * forever. With these file systems a connection deletes only journals, opens no super-journal, and uses as journals and
 * logs only regular files of the database's owner or of this process's user. */

#pragma once

#include <stdbool.h>

#include "src/base/error.h"

typedef enum
{
  LNS_GUARDED_REPORT,          /* has no write-ahead log */
  LNS_GUARDED_REPORT_UNLOCKED, /* the same without locks, as SQLite's "unix-none" */
  LNS_GUARDED_EXPORT,          /* databases of other programs, which may have a log */
  LNS_N_GUARDED
} LnsGuarded;

/* The name of the sqlite3_vfs to open a database with. Any thread. */
const char *lns_guarded_vfs (LnsGuarded guarded);

/* Whether SQLite may use the file PATH + ENDING, beside the database at PATH: true if it does not exist, or is a regular
 * file of the database's owner or of this process's user. Otherwise returns false and sets ERROR. */
bool lns_beside_check (const char *path, const char *ending, LnsError *error);

/* Opens the journal beside the database at PATH for reading. Returns a descriptor that the caller owns, or -1 and errno:
 * ENOENT if there is none, EINVAL if it is not a regular file, EPERM if it belongs to neither the database's owner nor
 * this process's user. */
int lns_journal_open (const char *path);

/* The same for a report whose journal is to be rolled back. Sets RET_FD to -1 if there is none. Returns false and sets
 * ERROR if SQLite must not roll it back: as above, or it would change the report to a size that it cannot have had, or has
 * a trailer that names a super-journal. SQLite writes such a trailer only for transactions over several databases, which
 * Lanescope never makes. */
bool lns_journal_check (const char *path, int *ret_fd, LnsError *error);

/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* SQLite file systems for databases that may be hostile. SQLite trusts the files beside a database: a rollback deletes the
 * super-journal that the journal's trailer names, whatever file that is; a header that asks for a write-ahead log makes
 * SQLite create two files; and opening a pipe waits forever. With these file systems a connection deletes only journals,
 * opens no super-journal, and uses only regular files as journals and logs. */

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

/* Opens the journal beside the database at PATH for reading. Returns a descriptor that the caller owns, or -1 and errno if
 * there is none or it is not a regular file (ELOOP, EINVAL). */
int lns_journal_open (const char *path);

/* Whether SQLite may roll back the journal beside PATH, if there is one. Returns false and sets ERROR if the journal is not
 * a regular file, or has a trailer that names a super-journal. SQLite writes such a trailer only for transactions over
 * several databases, which Lanescope never makes. */
bool lns_journal_check (const char *path, LnsError *error);
